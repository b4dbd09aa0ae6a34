#include "media/inspect.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"

namespace streamsim {
namespace {

std::string path_of(const FrameIndex& index, std::uint64_t frame) {
    std::string path(index.path_capacity(), '\0');
    index.write_path(frame, path.data());
    path.resize(path.find('\0'));
    return path;
}

/// How the frames lie in one file: what a reader that runs front to back passes over between them.
std::string container_layout(const FrameIndex& index) {
    std::uint64_t end = index.extent(0).offset;
    std::uint64_t between = 0;
    std::uint64_t backwards = 0;
    for (std::uint64_t frame = 0; frame < index.count(); ++frame) {
        const Extent extent = index.extent(frame);
        if (extent.offset >= end) {
            between += extent.offset - end;
        } else {
            ++backwards;
        }
        end = extent.offset + extent.bytes;
    }
    std::string layout = fmt::format("one file, first frame at byte {}", show_count(index.extent(0).offset));
    if (between == 0 && backwards == 0) return layout + ", frames back to back";
    if (between > 0) layout += fmt::format(", {} between frames", show_bytes(between));
    if (backwards > 0)
        layout += fmt::format(", {} frames before the one that precedes them", show_count(backwards));
    return layout;
}

}  // namespace

InspectFacts inspect(const Clip& clip) {
    const FrameIndex& index = *clip.index;
    InspectFacts facts;
    facts.frames = index.count();
    facts.rate = index.rate();
    facts.duration = facts.rate.due(facts.frames);
    facts.timecode = timecode(facts.frames, facts.rate);
    facts.notes = clip.notes;
    facts.first_path = path_of(index, 0);
    facts.last_path = path_of(index, facts.frames - 1);
    if (index.file_per_frame()) {
        // Alike by construction, and a sequence with a stray number may have very many slots.
        const Extent extent = index.extent(0);
        facts.bytes_total = extent.bytes * facts.frames;
        facts.frame_bytes_min = facts.frame_bytes_p99 = facts.frame_bytes_max = extent.bytes;
        facts.layout = fmt::format("a file a frame, numbers {} to {}", index.frame_number(0),
                                   index.frame_number(facts.frames - 1));
    } else {
        std::vector<std::uint64_t> sizes;
        sizes.reserve(facts.frames);
        for (std::uint64_t frame = 0; frame < facts.frames; ++frame) sizes.push_back(index.extent(frame).bytes);
        for (const std::uint64_t bytes : sizes) facts.bytes_total += bytes;
        std::sort(sizes.begin(), sizes.end());
        facts.frame_bytes_min = sizes.front();
        facts.frame_bytes_p99 = sizes[(sizes.size() * 99 + 99) / 100 - 1];
        facts.frame_bytes_max = sizes.back();
        facts.layout = container_layout(index);
    }
    facts.frame_bytes_mean = static_cast<double>(facts.bytes_total) / static_cast<double>(facts.frames);
    facts.bytes_per_s = facts.frame_bytes_mean * facts.rate.per_second();
    return facts;
}

}  // namespace streamsim
