// Progress: counters for the live view, which the player's thread writes and any thread reads. The writer never
// waits and never allocates.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "streamsim/outcome.h"

namespace streamsim {

enum class StreamState : std::uint8_t {
    idle,        // before preroll
    prerolling,  // the stream fills its read-ahead, or waits for others that do
    playing,
    waiting,  // the play clock is stopped for a frame
    ended,    // every slot is settled
    removed,  // the stream was ended before its last slot
};

/// A slot that was not on time, or for which the play clock stopped.
struct Miss {
    std::int64_t at_ns = 0;  // its deadline, from the first play_start of the run
    std::uint64_t slot = 0;
    FrameKind kind = FrameKind::dropped;
    DropReason reason = DropReason::late;
    bool stall = false;  // the clock stopped; kind has no meaning then
    std::uint64_t clip_frame = 0;
};

/// The last few misses of one stream. One thread adds, any thread reads.
class RecentMisses {
public:
    static constexpr std::size_t kKept = 8;

    void add(const Miss& miss) {
        Entry& entry = entries_[added_++ % kKept];
        // Each store after the first one releases, so that a reader of a new field also sees that the entry is
        // being written.
        entry.number.store(0, std::memory_order_relaxed);
        entry.at_ns.store(miss.at_ns, std::memory_order_release);
        entry.slot.store(miss.slot, std::memory_order_release);
        entry.clip_frame.store(miss.clip_frame, std::memory_order_release);
        entry.what.store(static_cast<std::uint32_t>(miss.kind) | static_cast<std::uint32_t>(miss.reason) << 8 |
                             static_cast<std::uint32_t>(miss.stall) << 16,
                         std::memory_order_release);
        entry.number.store(added_, std::memory_order_release);
    }

    /// Appends the misses in any order; leaves out one that is being written.
    void read(std::vector<Miss>& to) const {
        for (const Entry& entry : entries_) {
            const std::uint64_t number = entry.number.load(std::memory_order_acquire);
            if (number == 0) continue;
            Miss miss;
            miss.at_ns = entry.at_ns.load(std::memory_order_acquire);
            miss.slot = entry.slot.load(std::memory_order_acquire);
            miss.clip_frame = entry.clip_frame.load(std::memory_order_acquire);
            const std::uint32_t what = entry.what.load(std::memory_order_acquire);
            miss.kind = static_cast<FrameKind>(what & 0xff);
            miss.reason = static_cast<DropReason>(what >> 8 & 0xff);
            miss.stall = what >> 16 != 0;
            if (entry.number.load(std::memory_order_relaxed) == number) to.push_back(miss);
        }
    }

private:
    struct Entry {
        std::atomic<std::uint64_t> number{0};  // 1 is the first that was added; 0: being written, or never
        std::atomic<std::int64_t> at_ns{0};
        std::atomic<std::uint64_t> slot{0};
        std::atomic<std::uint64_t> clip_frame{0};
        std::atomic<std::uint32_t> what{0};
    };
    std::array<Entry, kKept> entries_;
    std::uint64_t added_ = 0;  // the writer's own
};

/// One writer, relaxed; in cache lines of its own, so that a reader does not slow the player down.
struct alignas(64) StreamProgress {
    // In one cache line: what each frame writes.
    std::atomic<StreamState> state{StreamState::idle};
    std::atomic<std::uint32_t> buffered{0};  // complete frames ahead
    std::atomic<std::uint64_t> due{0};       // slots whose deadline has passed
    std::atomic<std::uint64_t> on_time{0};
    std::atomic<std::uint64_t> bad{0};    // dropped, late or failed
    std::atomic<std::uint64_t> bytes{0};  // read, or written by one that records
    std::atomic<std::int64_t> margin_min_ns{INT64_MAX};
    std::atomic<std::int64_t> margin_lately_ns{INT64_MAX};  // the smallest of the last second or two

    std::atomic<std::uint64_t> stalls{0};
    std::atomic<std::int64_t> play_start_ns{INT64_MIN};  // from the run's first; INT64_MIN: not yet
    RecentMisses misses;
};

/// The completed operations of one meter on one seat. One writer, relaxed.
struct alignas(64) MeterProgress {
    std::atomic<std::uint64_t> done{0};
    std::atomic<std::uint64_t> failed{0};
    std::atomic<std::uint64_t> bytes_read{0};
    std::atomic<std::uint64_t> bytes_written{0};
    std::atomic<std::int64_t> response_sum_ns{0};
    std::atomic<std::int64_t> at_ns{0};  // of the last completion, from the start of play
};

}  // namespace streamsim
