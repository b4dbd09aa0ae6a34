// From the time stamps of a container to a rate or to times. The input is lists of numbers, as a damaged or
// hostile file may have them.
#include <algorithm>

#include "fuzz/fuzz.h"
#include "media/container/container_times.h"

namespace streamsim::fuzz {
namespace {

std::int64_t ticks(Taker& taker, int kind) {
    if (kind % 4 == 0) return static_cast<std::int64_t>(taker.number(8));
    if (kind % 4 == 1) return static_cast<std::int64_t>(taker.number(4));
    return static_cast<std::int64_t>(taker.number(2)) - 0x8000;
}

}  // namespace
}  // namespace streamsim::fuzz

STREAMSIM_FUZZ(container_times) {
    using namespace streamsim;
    using fuzz::require;
    fuzz::Taker taker(input);
    media::FrameStamps stamps;
    const int kind = taker.byte();
    stamps.tick_num = 1 + static_cast<std::int64_t>(taker.number(4) % INT32_MAX);
    stamps.tick_den = 1 + static_cast<std::int64_t>(taker.number(4) % INT32_MAX);
    if ((kind & 4) != 0) stamps.tick_num = 1;
    stamps.cut = (kind & 8) != 0;
    stamps.last_ticks = fuzz::ticks(taker, kind);
    for (int rates = kind >> 6; rates > 0; --rates) {
        const auto num = static_cast<std::int64_t>(taker.number(4)),
                   den = static_cast<std::int64_t>(taker.number(2));
        stamps.stated_rates.push_back({num % INT32_MAX, den});
    }
    std::int64_t at = 0;
    while (!taker.empty() && stamps.decode.size() < 500) {
        const std::int64_t next = fuzz::ticks(taker, kind);
        const bool absolute = (kind & 16) != 0 || kind % 4 == 0;
        at = absolute ? next : at + (next + 0x8000) % (std::int64_t{1} << 40);
        stamps.decode.push_back(at);
        if ((kind & 32) != 0) stamps.show.push_back(at / 2 + (fuzz::ticks(taker, 2) >> 8));
    }
    if (stamps.decode.empty()) return;
    const auto timing = media::time_frames(stamps);
    if (!timing) return;
    require(timing->rate.num > 0 && timing->rate.den > 0, "a rate is above 0");
    if (timing->due_ns.empty()) return;
    require(timing->due_ns.size() == stamps.decode.size() + 1, "each frame is due, and there is an end");
    require(timing->due_ns.front() == 0, "the first frame is due at 0");
    require(std::adjacent_find(timing->due_ns.begin(), timing->due_ns.end(), std::greater_equal<>()) ==
                timing->due_ns.end(),
            "due times rise");
}
