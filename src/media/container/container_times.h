// From the time stamps of a container's frames to a rate, if they have one. Pure. Inside media/ only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "base/wide.h"

namespace streamsim::media {

/// A stamp that the container does not give.
inline constexpr std::int64_t kNoStamp = INT64_MIN;

/// Time stamps of the frames in stored order, in ticks of tick_num / tick_den seconds.
struct FrameStamps {
    std::int64_t tick_num = 1;  // both: 1 ... 2^31 - 1; tick_den four times that after count_pictures()
    std::int64_t tick_den = 1;
    std::vector<std::int64_t> decode;     // one a frame; kNoStamp where there is none
    std::vector<std::int64_t> show;       // one a frame, or empty: not known
    std::int64_t last_ticks = 0;          // duration of the last frame; 0: unknown
    std::vector<FrameRate> stated_rates;  // rates that the container names, the best first
    bool cut = false;                     // frames at its end are missing
};

/// "00:00:04.000000000", as a tag of Matroska has it, in ns; 0: anything else.
std::int64_t tagged_ns(std::string_view text);

/// The duration that a track's length leaves for its last frame, which includes the delay between decoding and
/// display. 0: a length that leaves more than reordering can explain is ignored. `decode`: as in FrameStamps.
std::int64_t plausible_last(const std::vector<std::int64_t>& decode, std::int64_t ticks);

/// Makes the stamps and rates of edit units those of the `each` pictures that every unit holds. REQUIRES: each
/// is 1 to 4.
void count_pictures(FrameStamps& stamps, std::int64_t each);

struct FrameTiming {
    FrameRate rate;
    std::vector<std::int64_t> due_ns;  // empty: the rate is constant; else of each frame, and the length
    std::vector<std::string> notes;
};

/// A container that claims more is not trusted.
inline constexpr std::int64_t kContainerRateMax = 10'000;  // frames a second
/// Nor one that claims to last longer: 31 years. Times in nanoseconds hold 292.
inline constexpr std::int64_t kContainerSecondsMax = 1'000'000'000;
inline bool is_playable_rate(FrameRate rate, std::uint64_t frames) {
    if (rate.num <= 0 || rate.den <= 0 || rate.num / rate.den >= kContainerRateMax) return false;
    const auto num = static_cast<std::uint64_t>(rate.num), den = static_cast<std::uint64_t>(rate.den);
    return Wide{frames} * den / num <= static_cast<std::uint64_t>(kContainerSecondsMax);
}

/// The rate is constant when every stamp lies on its grid: within a tick of the container (which may be a
/// millisecond), or within a millisecond for a standard rate, for stamps that were copied from such a
/// container. A standard rate comes before all others, also when the stamps give a rate that is off by less
/// than 5 in a million: some writers turn 24000/1001 into 2997/125. A first frame alone that is up to twice as
/// long (writers of fragments make room for the lead-in of the audio there) does not make a rate variable; a
/// note reports it. Otherwise the frames have times of their own: their decode stamps; where these are missing
/// or do not rise, the show stamps in their order (a decoder needs the k-th frame not later than the k-th is
/// shown). In a truncated file frames are missing among the last ones shown, because they were to be decoded
/// behind others; they do not make the rate variable. Empty when the stamps are unusable and no rate is named.
/// REQUIRES: decode is not empty.
std::optional<FrameTiming> time_frames(const FrameStamps& stamps);

}  // namespace streamsim::media
