#include "media/write/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/path.h"
#include "base/prng.h"
#include "media/clips/recording_index.h"
#include "media/frames/frame_maker.h"
#include "media/frames/payload.h"
#include "media/own_files/document_file.h"
#include "media/own_files/own_names.h"
#include "media/sequence/sequence_index.h"
#include "media/write/clip_record.h"
#include "media/write/media_set.h"
#include "media/write/media_set_names.h"

namespace streamsim::media {
namespace {

constexpr std::string_view kStreamsSchema = "streamsim.recording-record";
constexpr std::string_view kRun = "run-";
constexpr std::string_view kSeat = "seat", kStream = "-stream";

}  // namespace

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
    const auto confined = store.beneath(target);
    if (!confined) return confined.error();
    const std::string root = media_root(target);
    if (auto id = ensure_marker(**confined, root); !id) return id.error();
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
                                           const std::string& directory,
                                           const std::function<bool()>& stopped) {
    std::vector<std::string> problems;
    const auto add = [&problems](const Error& error) {
        problems.insert(problems.end(), error.problems.begin(), error.problems.end());
    };
    const auto there = store.stat(directory);
    if (!there) add(there.error());
    if (there && *there) {
        const auto report = clean_recordings_of_run(store, target, directory, stopped);
        if (!report) add(report.error());
        if (!report && report.error().kind == ErrorKind::interrupted) return problems;
        if (report) {
            for (const std::string& kept : report->kept) problems.push_back(kept + ": is not ours, and stays");
        }
    }
    const auto confined = store.beneath(target);
    if (!confined) {
        add(confined.error());
        return problems;
    }
    const std::string root = media_root(target);
    const auto runs = (*confined)->list(join_path(root, kRecordings));
    if (runs && runs->empty()) (void)(*confined)->remove_directory(join_path(root, kRecordings));
    // The media set was made for the recordings, and has no media.
    const auto left = (*confined)->list(root);
    if (left && left->size() == 1 && left->front().name == kMarkerName) (void)clean(store, target);
    return problems;
}

}  // namespace streamsim::media
