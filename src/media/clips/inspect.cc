#include "media/clips/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/timecode.h"
#include "base/units.h"
#include "media/sequence/sequence_index.h"

namespace streamsim::media {
namespace {

/// The layout of frames as a reader meets them front to back in one file.
struct Interleave {
    std::uint64_t between = 0;    // bytes that are in no frame, from the first frame to the last
    std::uint64_t runs = 0;       // runs of frames with nothing between them
    std::uint64_t run_min = 0;    // frames
    std::uint64_t run_max = 0;    // frames
    std::uint64_t gap_min = 0;    // bytes
    std::uint64_t gap_max = 0;    // bytes
    std::uint64_t backwards = 0;  // frames that lie before the one that precedes them

    void end_run(std::uint64_t frames) {
        run_min = runs == 0 ? frames : std::min(run_min, frames);
        run_max = std::max(run_max, frames);
        ++runs;
    }
};

Interleave interleave_of(const FrameIndex& index) {
    Interleave out;
    std::uint64_t end = index.extent(0).offset;
    std::uint64_t in_run = 0;
    for (std::uint64_t frame = 0; frame < index.count(); ++frame) {
        const Extent extent = index.extent(frame);
        const bool joins = extent.offset == end;
        if (!joins) {
            out.end_run(in_run);
            in_run = 0;
        }
        if (extent.offset < end) {
            ++out.backwards;
        } else if (!joins) {
            const std::uint64_t gap = extent.offset - end;
            out.gap_min = out.between == 0 ? gap : std::min(out.gap_min, gap);
            out.gap_max = std::max(out.gap_max, gap);
            out.between += gap;
        }
        ++in_run;
        end = extent.offset + extent.bytes;
    }
    out.end_run(in_run);
    return out;
}

std::string range(const std::string& min, const std::string& max) {
    return min == max ? min : fmt::format("{} to {}", min, max);
}

void describe_container(const FrameIndex& index, InspectFacts& facts) {
    const Interleave lie = interleave_of(index);
    facts.layout = fmt::format("one file, first frame at byte {}", show_count(index.extent(0).offset));
    if (lie.between == 0 && lie.backwards == 0) {
        facts.layout += ", frames back to back";
        return;
    }
    if (lie.between > 0) facts.layout += fmt::format(", {} in all between frames", show_bytes(lie.between));
    if (lie.backwards > 0)
        facts.layout += fmt::format(", {} frames before the one that precedes them", show_count(lie.backwards));
    const std::string frames = range(show_count(lie.run_min), show_count(lie.run_max));
    facts.interleave =
        fmt::format("{} runs of {} {}", show_count(lie.runs), frames, lie.run_max == 1 ? "frame" : "frames");
    if (lie.between > 0)
        facts.interleave += fmt::format(", {} of other bytes between them",
                                        range(show_bytes(lie.gap_min), show_bytes(lie.gap_max)));
}

void count_audio(const FrameIndex& index, AudioFacts& audio) {
    if (index.largest_audio_bytes() == 0) return;
    for (std::uint64_t frame = 0; frame < index.count(); ++frame) {
        for (const Extent& chunk : index.audio(frame)) {
            ++audio.chunks;
            audio.bytes += chunk.bytes;
            audio.chunk_bytes_max = std::max(audio.chunk_bytes_max, chunk.bytes);
        }
    }
}

/// REQUIRES: sizes is not empty.
void measure(std::vector<std::uint64_t> sizes, InspectFacts& facts) {
    const auto [min, max] = std::minmax_element(sizes.begin(), sizes.end());
    facts.frame_bytes_min = *min;
    facts.frame_bytes_max = *max;
    for (const std::uint64_t bytes : sizes) facts.bytes_total += bytes;
    facts.frame_bytes_mean = static_cast<double>(facts.bytes_total) / static_cast<double>(sizes.size());
    const auto p99 = sizes.begin() + static_cast<std::ptrdiff_t>((sizes.size() * 99 + 99) / 100 - 1);
    std::nth_element(sizes.begin(), p99, sizes.end());
    facts.frame_bytes_p99 = *p99;
}

/// A sequence with a stray number may have very many slots: none of them is counted.
void measure_sequence(const SequenceFacts& sequence, InspectFacts& facts) {
    const std::uint64_t there = facts.frames - facts.frames_missing;
    const std::uint64_t last = sequence.first + sequence.count - 1;
    facts.layout = facts.frames == 1 ? "a file a frame, one file"
                                     : fmt::format("a file a frame, numbers {} to {}", sequence.first, last);
    if (sequence.looked_at > 0) {
        facts.layout += fmt::format("; the sizes of {} of {} files were compared",
                                    show_count(sequence.looked_at), show_count(there));
    }
    if (!sequence.frame_sizes.empty()) return measure(sequence.frame_sizes, facts);
    facts.frame_bytes_min = facts.frame_bytes_p99 = facts.frame_bytes_max = sequence.frame_bytes;
    facts.frame_bytes_mean = static_cast<double>(sequence.frame_bytes);
    facts.bytes_total = sequence.frame_bytes * there;
}

void measure_container(const FrameIndex& index, InspectFacts& facts) {
    std::vector<std::uint64_t> sizes;
    sizes.reserve(facts.frames);
    for (std::uint64_t frame = 0; frame < facts.frames; ++frame) {
        const Extent extent = index.extent(frame);
        sizes.push_back(extent.bytes);
        if (extent.offset % kAlignment != 0) ++facts.frames_unaligned;
    }
    measure(std::move(sizes), facts);
    describe_container(index, facts);
    count_audio(index, facts.audio);
}

/// The rate at which the clip's time code counts: without drop-frame labels the nominal one.
FrameRate counting_of(const Clip& clip) {
    const FrameRate rate = label_rate(clip.index->rate(), clip.timecode_each);
    return clip.drop ? rate : FrameRate{static_cast<std::int64_t>(nominal_rate(rate)), 1};
}

/// Empty where the first number is no time of day: a sequence may count as it likes. Behind midnight it begins
/// anew.
void show_timecodes(const Clip& clip, InspectFacts& facts) {
    facts.timecode = clip_timecode(clip, facts.frames + clip.timecode_each - 1);
    TimecodeLabel midnight;
    midnight.hours = 24;
    const FrameRate counted = counting_of(clip);
    const std::uint64_t day = *frames_of(midnight, counted, has_drop_frame(counted)) * clip.timecode_each;
    if (!clip.start_timecode || *clip.start_timecode >= day) return;
    facts.start_timecode = clip_timecode(clip, *clip.start_timecode);
    facts.end_timecode = clip_timecode(clip, (*clip.start_timecode + facts.frames - 1) % day);
}

void warn(const FrameIndex& index, const FrameGaps& gaps, InspectFacts& facts) {
    if (facts.variable_rate) {
        facts.warnings.push_back(
            fmt::format("variable frame rate: {} fps is the mean, frames are due at their own "
                        "time stamps",
                        facts.rate.to_string()));
    }
    if (gaps.missing > 0) facts.warnings.push_back(gaps.text);
    if (facts.frames_unaligned > 0) {
        facts.warnings.push_back(
            fmt::format("{} of {} frames do not begin at a multiple of {} bytes: direct I/O "
                        "reads a little more than them",
                        show_count(facts.frames_unaligned), show_count(facts.frames), kAlignment));
    }
    const bool differ = facts.frame_bytes_min != facts.frame_bytes_max;
    if (index.file_per_frame() && differ) {
        facts.warnings.push_back(fmt::format("its files differ in size, {} to {} bytes: the rate is a mean",
                                             show_count(facts.frame_bytes_min),
                                             show_count(facts.frame_bytes_max)));
    }
}

}  // namespace

std::string clip_timecode(const Clip& clip, std::uint64_t frame) {
    return timecode(frame / clip.timecode_each, counting_of(clip));
}

InspectFacts inspect(const Clip& clip) {
    const FrameIndex& index = *clip.index;
    InspectFacts facts;
    facts.frames = index.count();
    facts.rate = index.rate();
    facts.variable_rate = index.variable_rate();
    facts.duration = index.due(facts.frames);
    show_timecodes(clip, facts);
    facts.notes = clip.notes;
    for (const std::string& text : clip.skipped) facts.notes.push_back("left out of its folder: " + text);
    facts.structure = clip.structure;
    facts.first_path = index.path_of(0);
    facts.last_path = index.path_of(facts.frames - 1);
    FrameGaps gaps;
    if (const SequenceFacts* const sequence = sequence_facts(index)) {
        gaps = gaps_of(*sequence);
        facts.frames_missing = gaps.missing;
        measure_sequence(*sequence, facts);
    } else {
        measure_container(index, facts);
    }
    facts.bytes_per_s = facts.frame_bytes_mean * facts.rate.per_second();
    warn(index, gaps, facts);
    return facts;
}

}  // namespace streamsim::media
