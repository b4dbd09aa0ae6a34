#include "media/planned_index.h"

#include "media/container_file.h"
#include "media/container_writer.h"
#include "media/frame_maker.h"
#include "media/frame_sizes.h"
#include "media/sequence_index.h"
#include "media/sized_sequence.h"

namespace streamsim {

std::shared_ptr<const FrameIndex> planned_index(const MediaFormat& format,
                                                std::uint64_t frames,
                                                std::uint64_t seed,
                                                std::uint32_t clip,
                                                const std::string& path) {
    if (format.container == MediaFormat::Container::sequence) {
        SequenceFacts facts{.directory = path,
                            .pattern = prepared_pattern(frame_extension(format)),
                            .first = kFirstFrameNumber,
                            .count = frames,
                            .frame_bytes = static_cast<std::uint64_t>(format.mean_frame_bytes),
                            .rate = format.rate};
        if (format.size.kind == FrameSizeModel::Kind::constant) return make_sequence_index(std::move(facts));
        return make_sized_sequence(std::move(facts), plan_frame_bytes(format, frames, seed, clip));
    }
    std::vector<Extent> extents;
    extents.reserve(frames);
    std::uint64_t offset = kQuickTimeDataOffset;
    for (const std::uint32_t bytes : plan_frame_bytes(format, frames, seed, clip)) {
        extents.push_back({offset, bytes});
        offset += bytes;
    }
    return make_container_index(path, format.rate, std::move(extents));
}

}  // namespace streamsim
