// What a live view may look at while streams play: counters that the player's thread writes and any thread
// reads.
#pragma once

#include <atomic>
#include <cstdint>

namespace streamsim {

/// One writer, relaxed; a cache line of its own, so that watching costs the player nothing.
struct alignas(64) StreamProgress {
    std::atomic<std::uint64_t> due{0};  // slots whose deadline has passed
    std::atomic<std::uint64_t> on_time{0};
    std::atomic<std::uint64_t> bad{0};  // dropped, late or failed
    std::atomic<std::uint64_t> stalls{0};
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<std::uint32_t> buffered{0};  // complete frames ahead
    std::atomic<std::int64_t> margin_min_ns{INT64_MAX};
};

}  // namespace streamsim
