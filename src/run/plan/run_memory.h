// RunMemory: the memory of a run's frames and blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "storage/buffer_arena.h"
#include "streamsim/storage.h"

namespace streamsim::run {

/// Pages, or only addresses for a storage that never touches its buffers: there all streams share one buffer.
class RunMemory {
public:
    RunMemory();
    ~RunMemory();
    RunMemory(const RunMemory&) = delete;
    RunMemory& operator=(const RunMemory&) = delete;

    /// Errors: environment: there are not `bytes` left.
    Result<void> reserve_pages(std::uint64_t bytes, const NoticeSink& notice);
    /// Addresses for the largest stream or meter.
    void reserve_addresses(std::uint64_t bytes);

    bool is_shared() const { return !arena_.has_value(); }
    std::span<std::byte> all() const { return all_; }
    /// The memory of a stream that is added during play. Any thread. Errors: as reserve_pages.
    Result<std::span<std::byte>> add(std::uint64_t bytes, const NoticeSink& notice);
    /// Bytes of pages, with those that were added. Any thread.
    std::uint64_t page_bytes() const;

private:
    class AddressRange;

    std::optional<storage::BufferArena> arena_;
    std::unique_ptr<AddressRange> addresses_;
    std::span<std::byte> all_;
    mutable std::mutex mutex_;
    std::vector<storage::BufferArena> added_;  // protected by mutex_; an arena for each stream that was added
};

}  // namespace streamsim::run
