// The options of a stream that plays or records.
#pragma once

#include <cstdint>

#include "play/play_clock.h"
#include "streamsim/decoder.h"

namespace streamsim::play {

enum class OnMiss { drop, hold, stall };
enum class AccessPattern {
    filename_prefetch,  // sequences: the next names are opened and hinted when they enter the window
    streaming,          // containers: front to back in pieces of io_size, each read once
    on_demand,          // neither
};

struct PlayerOptions {
    std::uint32_t seat = 0;
    std::uint32_t stream = 0;
    bool paced = true;            // false: no deadlines, as fast as the storage allows
    std::uint64_t slots = 0;      // REQUIRES: > 0; UINT64_MAX with paced = false: until stop_submitting()
    std::uint32_t readahead = 8;  // REQUIRES: >= 1. More: smoother over stalls, more memory
    std::uint32_t inflight = 2;   // REQUIRES: >= 1
    std::uint64_t io_size = 1 << 20;
    std::uint32_t io_depth = 8;
    std::uint32_t alignment = 1;
    AccessPattern pattern = AccessPattern::on_demand;
    OnMiss on_miss = OnMiss::drop;
    Decoder* decoder = nullptr;  // decodes each frame that was read; a frame is complete when it is decoded
    PlayClock* clock = nullptr;  // shared by players with one rate and one play_start; null: a clock of its own

    std::uint32_t inflight_slots() const { return inflight < readahead ? inflight : readahead; }
};

}  // namespace streamsim::play
