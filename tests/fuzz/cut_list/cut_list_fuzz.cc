// Cut lists of both kinds, resolved against a few clips: sequences A001, A002 and shot_b.
#include <map>
#include <string>
#include <vector>

#include "fuzz/fuzz.h"
#include "fuzz/memory_store.h"
#include "media/cuts/cut_list.h"

namespace streamsim::fuzz {
namespace {

/// A DPX file of 16 x 8 pixels at 24 frames a second, whose image is in a hole behind its header.
std::vector<std::byte> dpx_file() {
    std::vector<std::byte> bytes(2048 + 16 * 8 * 4);
    const auto put = [&](std::size_t at, std::uint32_t value, int count) {
        for (int i = 0; i < count; ++i)
            bytes[at + static_cast<std::size_t>(i)] = static_cast<std::byte>(value >> (8 * (count - 1 - i)));
    };
    put(0, 0x53445058, 4);
    put(4, 2048, 4);
    put(16, static_cast<std::uint32_t>(bytes.size()), 4);
    put(24, 1664, 4);
    put(28, 384, 4);
    put(770, 1, 2);
    put(772, 16, 4);
    put(776, 8, 4);
    put(800, 50, 1);
    put(803, 10, 1);
    put(804, 1, 2);
    put(808, 2048, 4);
    put(1724, 0x41c00000, 4);
    return bytes;
}

const MemoryStore& clips() {
    static const std::vector<std::byte> file = dpx_file();
    static const MemoryStore store = [] {
        MemoryStore made;
        for (const char* name : {"A001/A001", "A002/A002", "reels/shot_b"}) {
            for (int number = 100; number < 125; ++number)
                made.add("media/" + std::string(name) + ".0000" + std::to_string(number) + ".dpx", file);
        }
        return made;
    }();
    return store;
}

void require_cuts(const CutList& list) {
    require(list.frames > 0 && !list.segments.empty() && !list.clips.empty(), "a cut list shows something");
    require(list.rate.num > 0 && list.rate.den > 0, "a rate is above 0");
    std::uint64_t last = 0;
    for (const CutSegment& segment : list.segments) {
        require(segment.at >= last, "segments are sorted");
        last = segment.at;
        require(segment.clip < list.clips.size(), "a segment shows a clip");
        require(
            segment.frames > 0 && segment.frames <= list.frames && segment.at <= list.frames - segment.frames,
            "a segment lies inside the timeline");
        const auto count = static_cast<std::int64_t>(list.clips[segment.clip].index->count());
        for (const std::uint64_t at : {segment.at, segment.at + segment.frames - 1}) {
            const std::int64_t frame = clip_frame_at(segment, at);
            require(frame >= 0 && frame < count, "a segment shows frames that the clip has");
        }
    }
}

}  // namespace
}  // namespace streamsim::fuzz

STREAMSIM_FUZZ(cut_list) {
    using namespace streamsim;
    const std::string source = "cuts";
    const auto list = media::parse_cut_list(fuzz::text_of(input), source);
    if (!list) return fuzz::require_refusal(list.error(), source);
    fuzz::MemoryStore store = fuzz::clips();
    for (const std::optional<FrameRate> rate : {std::optional<FrameRate>(), std::optional(FrameRate{24, 1})}) {
        const auto cuts = media::resolve_cut_list(store, "media", *list, rate);
        if (cuts) {
            fuzz::require_cuts(*cuts);
        } else {
            fuzz::require_refusal(cuts.error(), source);
        }
    }
}
