// The memory that frames are read into: one mapping, on huge pages where they can be had, touched before play.
// The first touch of a page costs microseconds, which a frame's deadline must not pay for, and a large read
// into ordinary pages costs ten times the CPU of one into huge pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "streamsim/storage.h"

namespace streamsim::storage {

/// What this process may still allocate, and who says so.
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
    /// `bytes` of zeroes, from an address aligned to 2 MiB, every page touched. 0 bytes is an arena without
    /// memory. `notice` is told when huge pages were refused (not for less than 2 MiB). May use several
    /// threads; returns when all is touched.
    ///
    /// Errors: environment, when there is less memory than that; names both and the options to lower.
    static Result<BufferArena> make(std::uint64_t bytes, const NoticeSink& notice);

    BufferArena(BufferArena&& other) noexcept;
    BufferArena& operator=(BufferArena&& other) noexcept;
    ~BufferArena();

    std::span<std::byte> memory() const { return memory_; }
    /// At least nine tenths are on huge pages.
    bool huge_pages() const { return huge_pages_; }

private:
    BufferArena() = default;

    std::span<std::byte> memory_;
    std::size_t mapped_bytes_ = 0;
    bool huge_pages_ = false;
};

}  // namespace streamsim::storage
