#include "media/container/container_clip.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/timecode.h"
#include "base/units.h"
#include "media/container/container_file.h"
#include "media/container/container_kept.h"
#include "media/container/container_reader.h"
#include "media/container/container_structure.h"
#include "media/container/container_tables.h"

namespace streamsim::media {
namespace {

/// Frames that a truncated file states: beyond these they are not counted.
constexpr std::uint64_t kMissingMax = 10'000'000;

constexpr const char* kNoAudio = "it has no audio";

/// "2.0 frames back to back on average": a reader with read-ahead reads adjacent frames in one piece.
std::string describe_extents(const std::vector<Extent>& extents) {
    std::size_t runs = 1;
    for (std::size_t k = 1; k < extents.size(); ++k) {
        if (extents[k - 1].offset + extents[k - 1].bytes != extents[k].offset) ++runs;
    }
    if (runs == 1) return extents.size() == 1 ? "" : "frames back to back";
    if (runs == extents.size()) return "each frame apart";
    return fmt::format("{:.1f} frames back to back on average",
                       static_cast<double>(extents.size()) / static_cast<double>(runs));
}

std::string describe_audio_chunks(const std::vector<std::vector<AudioPiece>>& tracks) {
    std::size_t chunks = 0;
    double length = 0;
    for (const auto& track : tracks) {
        chunks += track.size();
        for (const AudioPiece& chunk : track) length += static_cast<double>(chunk.length_ns);
    }
    if (chunks == 0) return "";
    return fmt::format(
        "audio in {} chunks of {} on average", show_count(chunks),
        show_duration(nanoseconds(static_cast<std::int64_t>(length / static_cast<double>(chunks)))));
}

std::string structure_line(const ContainerStructure& structure, const ReadContainer& read) {
    std::string line = structure.line;
    if (!read.pattern.empty()) line += " " + read.pattern;
    for (const std::string& part :
         {read.tracks, describe_extents(read.extents), describe_audio_chunks(read.audio)}) {
        if (!part.empty()) line += (line.empty() ? "" : "; ") + part;
    }
    return line;
}

/// Frames that a truncated file no longer has keep their slots: they begin at its end, as long as the others
/// are on average, and fail.
void add_missing(std::uint64_t missing, std::uint64_t file_bytes, ContainerFrames& frames) {
    std::uint64_t bytes = 0;
    for (const Extent& extent : frames.extents) bytes += extent.bytes;
    const std::uint64_t mean = bytes / frames.extents.size();
    const std::int64_t end_ns = frames.due_ns.empty() ? 0 : frames.due_ns.back();
    for (std::uint64_t k = 0; k < missing; ++k) {
        if (!frames.sync.empty()) frames.sync.push_back(static_cast<std::uint32_t>(frames.extents.size()));
        if (!frames.due_ns.empty()) frames.due_ns.push_back(end_ns + frames.rate.due(k + 1).ns);
        frames.extents.push_back({file_bytes + k * mean, mean});
    }
}

void note_frames_behind(const std::vector<Extent>& extents, std::uint64_t size, Clip& clip) {
    std::uint64_t behind = 0;
    std::size_t first = 0;
    for (std::size_t k = 0; k < extents.size(); ++k) {
        if (extents[k].offset <= size && extents[k].bytes <= size - extents[k].offset) continue;
        if (behind++ == 0) first = k;
    }
    if (behind == 0) return;
    clip.notes.push_back(fmt::format(
        "{} of {} frames, from frame {} on, end behind the end of the file (byte {}): they will fail",
        show_count(behind), show_count(extents.size()), first, size));
}

/// A time code that counts fewer frames a second than there are (25 in 50) counts every second frame.
void take_timecode(const ReadContainer& read, FrameRate rate, Clip& clip) {
    if (!read.timecode) return;
    const std::uint64_t nominal = nominal_rate(rate);
    const auto stated = static_cast<std::uint64_t>(read.timecode_rate);
    const std::uint64_t each = stated > 0 && nominal % stated == 0 ? nominal / stated : 1;
    const FrameRate labels = label_rate(rate, each);
    const auto parsed = parse_timecode(*read.timecode, labels);
    if (!parsed) {
        clip.notes.push_back("its time code is not used: " + parsed.error().problems.front());
        return;
    }
    clip.start_timecode = *parsed * each;
    clip.timecode_each = each;
    clip.drop = !has_drop_frame(labels) || read_timecode_label(*read.timecode)->says_drop();
}

Result<ReadContainer> read_frames(ByteSource& source,
                                  const std::string& path,
                                  const ContainerStructure& structure,
                                  const IndexOptions& options) {
    auto tables = read_tables(source, structure, options);
    if (!tables) return tables.error();
    if (*tables) return std::move(**tables);
    return read_container(source, path, structure, options);
}

Result<KeptClip> make_clip(ByteStore& store, const std::string& path, const IndexOptions& options) {
    auto source = store.open(path);
    if (!source) return source.error();
    const auto size = (*source)->size();
    if (!size) return size.error();
    auto structure = container_structure(**source, options.progress);
    if (!structure) return structure.error();
    auto read = read_frames(**source, path, *structure, options);
    if (!read) return read.error();
    auto timing = time_frames(read->stamps);
    const std::uint64_t missing = std::min({read->missing, *size, kMissingMax});
    const std::uint64_t count = read->extents.size() + missing;
    if (!timing || !is_playable_rate(timing->rate, count)) {
        const std::string says =
            timing ? fmt::format(
                         "says {} frames a second, {} frames: expected fewer than {} a second, and 31 years at "
                         "most",
                         timing->rate.to_string(), show_count(count), kContainerRateMax)
                   : "has no frame rate";
        return bad_input(fmt::format("{}: byte {}: its video track, which begins here, {}", path,
                                     read->extents.front().offset, says));
    }
    KeptClip made;
    Clip& clip = made.clip;
    clip.format = read->format;
    for (auto& track : read->audio) track = join_audio(track);
    clip.structure = structure_line(*structure, *read);
    clip.notes = std::move(timing->notes);
    clip.notes.insert(clip.notes.end(), read->notes.begin(), read->notes.end());
    clip.notes.insert(clip.notes.end(), structure->notes.begin(), structure->notes.end());
    made.read_through = read->read_through;
    made.frames = {.rate = timing->rate,
                   .extents = std::move(read->extents),
                   .sync = std::move(read->sync),
                   .due_ns = std::move(timing->due_ns)};
    add_missing(missing, *size, made.frames);
    note_frames_behind(made.frames.extents, *size, clip);
    take_timecode(*read, timing->rate, clip);
    if (!options.audio) return made;
    std::vector<AudioPiece> chunks;
    for (const auto& track : read->audio) chunks.insert(chunks.end(), track.begin(), track.end());
    if (read->audio_in_frames) {
        clip.notes.emplace_back("its audio lies between its frames, and is read with them");
    } else if (chunks.empty()) {
        clip.notes.emplace_back(kNoAudio);
    } else {
        give_audio(made.frames, chunks);
    }
    return made;
}

}  // namespace

Result<Clip> index_container(ByteStore& store,
                             const std::string& path,
                             const std::string& name,
                             const IndexOptions& options,
                             FileInfo* file) {
    if (path.ends_with(kKeptSuffix))
        return bad_input(path + ": this is an index that streamsim keeps beside a clip, not a clip");
    const auto info = store.stat(path);
    const FileInfo media = info && *info ? **info : FileInfo{};
    if (file != nullptr) *file = media;
    KeptFound found;
    if (options.keep_index) found = find_kept(store, path, media, options.audio);
    const bool used = found.clip.has_value();
    auto made = used ? Result<KeptClip>(std::move(*found.clip)) : make_clip(store, path, options);
    if (!made) return made.error();
    Clip clip = made->clip;
    clip.audio = options.audio && std::ranges::find(clip.notes, kNoAudio) == clip.notes.end();
    if (!found.note.empty()) clip.notes.push_back(found.note);
    if (options.keep_index && !used && !found.foreign) {  // the notes that follow are not kept
        if (const auto kept = keep(store, path, media, options.audio, found, *made); !kept)
            clip.notes.push_back("its index is not kept: " + kept.error().problems.front());
    }
    clip.read_through = made->read_through;
    if (clip.read_through) {
        clip.notes.emplace_back(
            "its container has no complete frame table: the whole file was read for the index");
    }
    clip.name = name;
    clip.touched_s = media.touched_s();
    clip.index = make_container_index(path, std::move(made->frames));
    return clip;
}

}  // namespace streamsim::media
