// The options of a stream that plays or records.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "play/play_clock.h"
#include "streamsim/decoder.h"
#include "streamsim/verifier.h"

namespace streamsim::play {

/// The policy for a frame that misses its deadline; the head of player.h has the exact meaning.
enum class OnMiss { drop, skip, hold, stall };
enum class AccessPattern {
    filename_prefetch,  // sequences: the next names are opened and hinted when they enter the window
    streaming,          // containers: front to back in pieces of io_size, each read once
    on_demand,          // neither
};

/// Values with the words that options, scenarios and results have for them.
template <typename T>
using Words = std::vector<std::pair<std::string, T>>;
inline const Words<OnMiss> kOnMissWords = {
    {"drop", OnMiss::drop}, {"skip", OnMiss::skip}, {"hold", OnMiss::hold}, {"stall", OnMiss::stall}};
inline const Words<AccessPattern> kPatternWords = {{"filename-prefetch", AccessPattern::filename_prefetch},
                                                   {"streaming", AccessPattern::streaming},
                                                   {"on-demand", AccessPattern::on_demand}};

/// REQUIRES: `words` have the value.
template <typename T>
const std::string& word_of(const Words<T>& words, T value) {
    return std::find_if(words.begin(), words.end(), [&](const auto& each) { return each.second == value; })
        ->first;
}
/// Nothing: `words` do not have the word.
template <typename T>
std::optional<T> value_of(const Words<T>& words, const std::string& word) {
    for (const auto& [each, value] : words) {
        if (each == word) return value;
    }
    return std::nullopt;
}

/// How the frames of a stream are read or written, as the user asks for it.
struct ReadSettings {
    bool paced = true;                     // false: no deadlines, as fast as the storage allows
    std::uint32_t readahead = 8;           // REQUIRES: >= 1. More: smoother over stalls, more memory
    std::uint32_t inflight = 2;            // REQUIRES: >= 1
    std::uint64_t io_size = 1 << 20;       // bytes of one piece; 0: a frame in one operation
    std::uint32_t io_depth = 8;            // pieces of one frame in flight
    std::optional<AccessPattern> pattern;  // nothing: by the kind of clip; for a player: on demand
    OnMiss on_miss = OnMiss::drop;
    bool verify = false;  // the bytes of each frame are checked, as far as its index knows them

    std::uint32_t inflight_slots() const { return inflight < readahead ? inflight : readahead; }
    /// A frame that misses its deadline is not shown.
    bool drops_late_frames() const { return on_miss == OnMiss::drop || on_miss == OnMiss::skip; }

    friend bool operator==(const ReadSettings&, const ReadSettings&) = default;
};

struct PlayerOptions : ReadSettings {
    std::uint32_t seat = 0;
    std::uint32_t stream = 0;
    std::uint64_t slots = 0;       // REQUIRES: > 0; UINT64_MAX with paced = false: until stop_submitting()
    std::uint32_t alignment = 1;   // StorageCapabilities::alignment
    Decoder* decoder = nullptr;    // decodes each frame that was read; a frame is complete when it is decoded
    Verifier* verifier = nullptr;  // with `verify`: checks each frame that was read
    PlayClock* clock = nullptr;  // shared by players with one rate and one play_start; null: a clock of its own
};

}  // namespace streamsim::play
