// The memory that frames are read into: one mapping, on huge pages if available, touched before play. The first
// touch of a page costs microseconds, which must not delay a frame, and a large read into ordinary pages costs
// ten times the CPU of one into huge pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "base/system/thread_group.h"
#include "streamsim/storage.h"

namespace streamsim::storage {

/// The memory that this process may still allocate, and the limit that applies.
struct MemoryAvailable {
    std::uint64_t bytes = 0;
    std::string limit;  // "this machine", "the memory limit of control group /path"
};

/// The smallest of MemAvailable, what `ulimit -v` leaves, and the memory limits of this process's control
/// groups (v1 or v2, with their parents); page cache that can be dropped counts as available. `root` is
/// prefixed to /proc and /sys, for tests.
MemoryAvailable memory_available(const std::string& root = "");

/// Owns its mapping. Movable; the memory does not move with it.
class BufferArena {
public:
    BufferArena(BufferArena&&) = default;
    BufferArena& operator=(BufferArena&& other) noexcept;
    ~BufferArena() = default;

    /// Allocates `bytes` of zeroes, from an address aligned to 2 MiB, with every page touched; uses several
    /// threads. 0 bytes is an arena without memory. `notice` is told when huge pages were refused (not below 2
    /// MiB).
    ///
    /// Errors: environment, when less memory is available; the message has both sizes and the options to lower.
    static Result<BufferArena> make(std::uint64_t bytes, const NoticeSink& notice);
    /// The first part of make(): returns while threads touch the pages. Nobody may use the memory before
    /// finish().
    static Result<BufferArena> begin(std::uint64_t bytes);
    /// The second part: returns when all pages are touched. Once.
    void finish(const NoticeSink& notice);

    /// Empty after a move.
    std::span<std::byte> memory() const {
        return mapping_ != nullptr ? std::span<std::byte>(mapping_.get(), bytes_) : std::span<std::byte>();
    }
    /// At least nine tenths are on huge pages.
    bool huge_pages() const { return huge_pages_; }

private:
    BufferArena() = default;

    struct Unmap {
        std::size_t bytes;
        void operator()(std::byte* memory) const;
    };
    std::unique_ptr<std::byte, Unmap> mapping_;
    std::size_t bytes_ = 0;
    bool huge_pages_ = false;
    std::unique_ptr<ThreadGroup> touching_;  // behind the mapping, which it must not outlive
};

}  // namespace streamsim::storage
