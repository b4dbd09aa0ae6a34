// One io_uring and its eventfd, with what differs between kernels and users settled. Private to this folder.
#pragma once

#include <liburing.h>

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace streamsim::storage {

/// Single-threaded: the thread that calls enable() makes all later calls.
class Ring {
public:
    /// `requests` can be in flight at once. Errors: environment, with the reason why io_uring cannot be had.
    static Result<std::unique_ptr<Ring>> make(std::uint32_t requests);
    ~Ring();
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;

    /// Readable when completions may have come.
    int eventfd() const { return eventfd_; }
    void clear_eventfd();

    /// Once, before the first entry(), on the thread that will use the ring. `workers` is how many requests may
    /// block in the kernel at once: a blocked one then holds up nobody else.
    void enable(std::uint32_t workers);
    bool enabled() const { return enabled_; }

    /// A zeroed submission entry; submits what is there when the queue is full.
    io_uring_sqe& entry();
    std::uint32_t entries_waiting() const { return waiting_; }
    /// Hands the entries to the kernel. False: it cannot take them now, try again.
    bool submit();

    /// Calls `seen(data, result)`, with what was set as the entry's data, for each completion that is there.
    template <typename Seen>
    void drain(Seen&& seen) {
        fetch();
        io_uring_cqe* completion = nullptr;
        while (io_uring_peek_cqe(&ring_, &completion) == 0) {
            void* const data = io_uring_cqe_get_data(completion);
            const std::int32_t result = completion->res;
            io_uring_cqe_seen(&ring_, completion);
            seen(data, result);
        }
    }

    /// Whether this kernel knows an operation, IORING_OP_...
    bool has(int operation) const { return operations_.test(static_cast<std::size_t>(operation)); }

    /// Pins `memory` for fixed reads and writes. An errno, 0 for success. Before the first entry().
    int register_memory(std::span<std::byte> memory);
    /// Index of the registered buffer that holds all of `part`, or -1.
    int registered(std::span<const std::byte> part) const;

private:
    Ring() = default;
    void fetch();

    io_uring ring_{};
    int eventfd_ = -1;
    bool enabled_ = false;
    std::uint32_t waiting_ = 0;
    std::bitset<256> operations_;
    std::vector<std::span<std::byte>> buffers_;
    std::size_t stride_ = 0;  // from one registered buffer to the next, which overlap
};

}  // namespace streamsim::storage
