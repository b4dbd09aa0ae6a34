// One io_uring; hides the differences between kernels and between users. Private to this
// folder.
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
    /// Makes a ring for `requests` requests in flight. Errors: environment, with the reason why io_uring is not
    /// available.
    static Result<std::unique_ptr<Ring>> make(std::uint32_t requests);
    ~Ring();
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;

    /// Once, before the first entry(), on the thread that will use the ring. `workers` is the number of
    /// requests that may block in the kernel at once without delaying others.
    void enable(std::uint32_t workers);
    bool enabled() const { return enabled_; }

    /// Returns a zeroed submission entry; submits the queued entries first when the queue is full.
    io_uring_sqe& entry();
    std::uint32_t entries_waiting() const { return waiting_; }
    /// Hands the entries to the kernel; it may take some of them, or none: try again. `wait`: returns when
    /// there is a completion, or at a signal.
    void submit(bool wait = false);

    /// Calls `seen(data, result)` for each completion; `data` is the entry's user data.
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

    /// True when this kernel supports an operation, IORING_OP_...
    bool has(int operation) const { return operations_.test(static_cast<std::size_t>(operation)); }

    /// Pins `memory` for fixed reads and writes. Returns zero or an errno. Before the first entry().
    int register_memory(std::span<std::byte> memory);
    /// Index of the registered buffer that holds all of `part`, or -1.
    int registered(std::span<const std::byte> part) const;

private:
    Ring() = default;
    void fetch();

    io_uring ring_{};
    bool enabled_ = false;
    std::uint32_t waiting_ = 0;
    std::bitset<256> operations_;
    std::vector<std::span<std::byte>> buffers_;
    std::size_t stride_ = 0;  // from one registered buffer to the next, which overlap
};

}  // namespace streamsim::storage
