#include "media/write/recording.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/path.h"
#include "base/prng.h"
#include "media/catalogue/frame_sizes.h"
#include "media/container/container_file.h"
#include "media/frames/frame_maker.h"
#include "media/frames/payload.h"
#include "media/own_files/document_file.h"
#include "media/own_files/own_names.h"
#include "media/sequence/sequence_index.h"
#include "media/write/clip_record.h"
#include "media/write/media_set.h"
#include "media/write/media_set_names.h"
#include "media/write/planned_index.h"

namespace streamsim::media {
namespace {

/// Approximate memory for one stream's frames, and limits of their number.
constexpr double kBytesKept = 64e6;
constexpr double kFramesMin = 4;
constexpr double kFramesMax = 48;
constexpr std::string_view kStreamsSchema = "streamsim.recording-record";
constexpr std::string_view kRun = "run-";
constexpr std::string_view kSeat = "seat", kStream = "-stream";
/// Limit of frame numbers: more than a year at 24 fps.
constexpr std::uint64_t kFrames = 1'000'000'000;

class RecordingIndex final : public FrameIndex {
public:
    /// `named` gives the file names.
    RecordingIndex(std::shared_ptr<const FrameIndex> named,
                   std::vector<std::uint32_t> sizes,
                   std::uint64_t first,
                   std::uint32_t alignment)
        : named_(std::move(named)), sizes_(std::move(sizes)) {
        const auto up = [alignment](std::uint64_t value) {
            return (value + alignment - 1) / alignment * alignment;
        };
        first_ = up(first);
        for (const std::uint32_t bytes : sizes_) {
            offsets_.push_back(round_);
            round_ += up(bytes);
        }
    }
    std::uint64_t count() const override { return kFrames; }
    FrameRate rate() const override { return named_->rate(); }
    bool file_per_frame() const override { return named_->file_per_frame(); }
    void write_path(std::uint64_t frame, char* into) const override { named_->write_path(frame, into); }
    std::size_t path_capacity() const override { return named_->path_capacity(); }
    Extent extent(std::uint64_t frame) const override {
        const std::size_t which = frame % sizes_.size();
        if (file_per_frame()) return {0, sizes_[which]};
        return {first_ + frame / sizes_.size() * round_ + offsets_[which], sizes_[which]};
    }
    std::uint64_t largest_frame_bytes() const override {
        return *std::max_element(sizes_.begin(), sizes_.end());
    }
    std::uint64_t frame_number(std::uint64_t frame) const override { return named_->frame_number(frame); }

private:
    std::shared_ptr<const FrameIndex> named_;
    std::vector<std::uint32_t> sizes_;
    std::vector<std::uint64_t> offsets_;  // offsets within one round of the distinct frames
    std::uint64_t first_ = 0;
    std::uint64_t round_ = 0;
};

}  // namespace

std::uint32_t distinct_frames(const MediaFormat& format) {
    const double frames =
        std::clamp(kBytesKept / std::max(format.mean_frame_bytes, 1.0), kFramesMin, kFramesMax);
    const std::size_t group = std::max<std::size_t>(format.size.gop.size(), 1);
    const std::size_t table = format.size.kind == FrameSizeModel::Kind::table ? format.size.table.size() : 1;
    const std::size_t unit = std::max(group, table);  // whole groups, and a table's sizes all
    return static_cast<std::uint32_t>((static_cast<std::size_t>(frames) + unit - 1) / unit * unit);
}

std::shared_ptr<const FrameIndex> recording_index(const MediaFormat& format,
                                                  std::uint64_t seed,
                                                  std::uint32_t alignment,
                                                  const std::string& path) {
    const std::uint32_t distinct = distinct_frames(format);
    std::vector<std::uint32_t> sizes = plan_frame_bytes(format, distinct, seed, 0);
    std::shared_ptr<const FrameIndex> named;
    if (format.container == MediaFormat::Container::sequence) {
        named = make_sequence_index({.directory = path,
                                     .pattern = prepared_pattern(frame_extension(format)),
                                     .first = kFirstFrameNumber,
                                     .count = kFrames,
                                     .frame_bytes = sizes.front(),
                                     .rate = format.rate});
    } else {
        const std::string file = path + std::string(container_extension(format.container));
        named = make_container_index(file, {.rate = format.rate, .extents = {{0, sizes.front()}}});
    }
    return std::make_shared<RecordingIndex>(std::move(named), std::move(sizes),
                                            essence_offset(format.container), alignment);
}

Result<void> make_recorded_frames(const MediaFormat& format,
                                  const FrameIndex& index,
                                  std::uint64_t key,
                                  std::uint64_t stride,
                                  std::span<std::byte> memory) {
    const std::uint32_t distinct = distinct_frames(format);
    std::unique_ptr<FrameMaker> maker;
    if (format.not_prepared.empty()) {
        auto made = make_frame_maker(format, distinct);
        if (!made) return made.error();
        maker = std::move(*made);
    }
    for (std::uint32_t i = 0; i < distinct; ++i) {
        const std::span<std::byte> slot = memory.subspan(i * stride, stride);
        const std::span<std::byte> frame = slot.first(index.extent(i).bytes);
        const FrameToMake at{i, kFirstFrameNumber + i, mix64(key + i), {}};
        if (maker != nullptr) {
            maker->make(frame, at);
        } else {
            fill_payload(frame, at.key, {});
        }
        std::fill(slot.begin() + static_cast<std::ptrdiff_t>(frame.size()), slot.end(), std::byte{});
    }
    return {};
}

std::string recording_name(std::uint32_t seat, std::uint32_t stream) {
    return fmt::format("{}{}{}{}", kSeat, seat, kStream, stream);
}

bool is_recording(std::string_view name) {
    const std::size_t at = name.find(kStream);
    if (at == std::string_view::npos || !name.starts_with(kSeat)) return false;
    const auto seat = whole_number<std::uint32_t>(name.substr(kSeat.size(), at - kSeat.size()));
    const auto stream = whole_number<std::uint32_t>(name.substr(at + kStream.size()));
    return seat && stream && name == recording_name(*seat, *stream);
}

std::string run_name(std::uint64_t id) {
    return fmt::format("{}{}", kRun, id_text(id));
}

bool is_run(std::string_view name) {
    return name.starts_with(kRun) && is_id(name.substr(kRun.size()));
}

Result<std::string> make_recordings(ByteStore& store, const std::string& target) {
    constexpr int kAttempts = 5;  // others may make the media set at the same time
    const auto confined = store.beneath(target);
    if (!confined) return confined.error();
    const std::string root = media_root(target);
    Result<std::uint64_t> id = ensure_marker(**confined, root);
    for (int attempt = 1; !id && attempt < kAttempts; ++attempt) id = ensure_marker(**confined, root);
    if (!id) return id.error();
    const std::string path = join_path(join_path(root, kRecordings), run_name(entropy64()));
    if (auto made = (*confined)->make_directories(path); !made) return made.error();
    return path;
}

RecordedStream recorded_stream(const MediaFormat& format, const std::string& name, std::uint64_t frames) {
    return {name, record_kind(format), frames};
}

Result<void> record_streams(ByteStore& store,
                            const std::string& target,
                            const std::string& directory,
                            const std::vector<RecordedStream>& streams) {
    const auto confined = store.beneath(target);
    if (!confined) return confined.error();
    const auto id = read_marker(**confined, media_root(target));
    if (!id) return id.error();
    Json document = {{"set", id_text(id->value_or(0))}, {"streams", Json::array()}};
    for (const RecordedStream& stream : streams)
        document["streams"].push_back(
            {{"name", stream.name}, {"kind", stream.kind}, {"frames", stream.frames}});
    return write_document(**confined, join_path(directory, kRecordedStreams), kStreamsSchema,
                          [&](auto) { return document; });
}

Result<std::vector<RecordedStream>> read_recorded_streams(ByteStore& store,
                                                          const std::string& directory,
                                                          std::uint64_t set) {
    std::vector<RecordedStream> streams;
    const std::string path = join_path(directory, kRecordedStreams);
    const auto read = read_own_document(store, path, kStreamsSchema);
    if (!read) return read.error();
    const std::optional<Json>& document = *read;
    if (!document || document->value("set", Json()) != id_text(set)) return streams;
    try {
        for (const Json& stream : document->at("streams"))
            streams.push_back({stream.at("name"), stream.at("kind"), stream.at("frames")});
    } catch (const Json::exception&) {
        streams.clear();  // a damaged record names nothing
    }
    std::erase_if(streams, [](const RecordedStream& stream) { return !is_recording(stream.name); });
    return streams;
}

const RecordedStream* find_stream(const std::vector<RecordedStream>& streams, std::string_view name) {
    for (const RecordedStream& stream : streams) {
        if (name == (stream.is_file() ? stream.name + stream.kind : stream.name)) return &stream;
    }
    return nullptr;
}

std::vector<std::string> remove_recordings(ByteStore& store,
                                           const std::string& target,
                                           const std::string& directory) {
    std::vector<std::string> problems;
    const auto there = store.stat(directory);
    if (there && *there) {
        const auto report = clean_recordings_of_run(store, target, directory);
        if (!report) problems = report.error().problems;
        if (report) {
            for (const std::string& kept : report->kept) problems.push_back(kept + ": is not ours, and stays");
        }
    }
    const auto confined = store.beneath(target);
    if (!confined) return problems;
    const std::string root = media_root(target);
    const auto runs = (*confined)->list(join_path(root, kRecordings));
    if (runs && runs->empty()) (void)(*confined)->remove_directory(join_path(root, kRecordings));
    // The media set was made for the recordings, and has no media.
    const auto left = (*confined)->list(root);
    if (left && left->size() == 1 && left->front().name == kMarkerName) (void)clean(store, target);
    return problems;
}

}  // namespace streamsim::media
