#include "media/write/clip_proof.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <vector>

#include "base/path.h"
#include "base/prng.h"
#include "media/catalogue/catalogue.h"
#include "media/clips/clip_index.h"
#include "media/container/container_clip.h"
#include "media/frames/frame_maker.h"
#include "media/frames/payload.h"
#include "media/sequence/sequence_index.h"
#include "media/sequence/sequence_names.h"
#include "media/write/clip_record.h"

namespace streamsim::media {
namespace {

constexpr std::size_t kProbeBytes = 8192;  // bytes compared at each end
constexpr std::uint64_t kFrameBytesMax = std::uint64_t{1} << 30;

bool holds(ByteSource& file, std::uint64_t offset, std::span<const std::byte> wanted) {
    std::vector<std::byte> bytes(wanted.size());
    const auto got = file.read_at(offset, bytes);
    return got && *got == bytes.size() && std::equal(bytes.begin(), bytes.end(), wanted.begin());
}

/// Compares stored frames with those that a maker makes.
class Prover {
public:
    Prover(const StoredClip& clip, const FrameMaker& maker, const MediaFormat& format, std::uint64_t set)
        : clip_(clip), maker_(maker), set_(set), key_(format_key(format, clip.frames)) {}

    bool frame(ByteSource& file,
               std::uint64_t offset,
               std::uint64_t bytes,
               std::uint64_t frame,
               std::string_view name) {
        const FrameLimits limits = maker_.limits(frame);
        if (bytes < limits.min || bytes > std::min(limits.max, kFrameBytesMax)) return false;
        buffer_.resize(bytes);
        maker_.make(buffer_, {frame, kFirstFrameNumber + frame,
                              payload_key(set_, key_, clip_.name.number, frame), name});
        const std::span<const std::byte> wanted(buffer_);
        const std::size_t probe = std::min(kProbeBytes, wanted.size());
        return holds(file, offset, wanted.first(probe)) &&
               holds(file, offset + bytes - probe, wanted.last(probe));
    }

    /// Compares a frame, which may be truncated, up to its end.
    bool beginning(ByteSource& file,
                   std::uint64_t bytes,
                   std::uint64_t whole,
                   std::uint64_t frame,
                   std::string_view name) {
        buffer_.resize(whole);
        maker_.make(buffer_, {frame, kFirstFrameNumber + frame,
                              payload_key(set_, key_, clip_.name.number, frame), name});
        return holds(file, 0,
                     std::span<const std::byte>(buffer_).first(std::min<std::uint64_t>(bytes, kProbeBytes)));
    }

private:
    const StoredClip& clip_;
    const FrameMaker& maker_;
    std::uint64_t set_;
    std::uint64_t key_;
    std::vector<std::byte> buffer_;
};

/// Bytes between the offset that libavformat reports for a frame in an MXF file and the data: a key and a
/// length.
std::uint64_t klv_bytes(ByteSource& file, std::uint64_t offset) {
    constexpr std::size_t kKeyBytes = 16;
    constexpr std::byte kKeyBegins[] = {std::byte{0x06}, std::byte{0x0e}, std::byte{0x2b}, std::byte{0x34}};
    std::vector<std::byte> head(kKeyBytes + 1);
    const auto got = file.read_at(offset, head);
    if (!got || *got != head.size() || !std::equal(std::begin(kKeyBegins), std::end(kKeyBegins), head.begin()))
        return 0;
    const auto length = std::to_integer<unsigned>(head.back());
    return head.size() + (length < 0x80 ? 0 : length & 0x7f);
}

bool prove_container(ByteStore& store, const StoredClip& clip, Prover& prover) {
    const auto read = index_container(store, clip.path, clip.path, {});
    if (!read || read->index->count() != clip.frames) return false;
    auto file = store.open(clip.path);
    if (!file) return false;
    for (const std::uint64_t frame : {std::uint64_t{0}, clip.frames - 1}) {
        const Extent extent = read->index->extent(frame);
        const std::uint64_t at = extent.offset + klv_bytes(**file, extent.offset);
        if (!prover.frame(**file, at, extent.bytes, frame, {})) return false;
    }
    return true;
}

bool prove_sequence(ByteStore& store,
                    const StoredClip& clip,
                    const MediaFormat& format,
                    const FrameMaker& maker,
                    Prover& prover,
                    bool every_frame) {
    const FramePattern pattern = prepared_pattern(frame_extension(format));
    const auto entries = store.list(clip.path);
    if (!entries) return false;
    std::vector<DirectoryEntry> frames;
    for (const DirectoryEntry& entry : *entries) {
        const auto number = number_in(pattern, entry.name);
        const bool named = number && *number >= kFirstFrameNumber && *number < kFirstFrameNumber + clip.frames;
        if (named && !entry.directory && !entry.symbolic_link) frames.push_back(entry);
    }
    if (!every_frame && frames.size() > 2) frames.erase(frames.begin() + 1, frames.end() - 1);
    std::size_t compared = 0;
    for (const DirectoryEntry& entry : frames) {
        const std::uint64_t frame = *number_in(pattern, entry.name) - kFirstFrameNumber;
        auto file = store.open(join_path(clip.path, entry.name));
        if (!file) return false;
        const auto bytes = (*file)->size();
        if (!bytes) return false;
        if (*bytes == 0) continue;
        const FrameLimits limits = maker.limits(frame);
        const bool cut = every_frame && *bytes < limits.min && limits.min == limits.max;
        if (cut ? !prover.beginning(**file, *bytes, limits.min, frame, entry.name)
                : !prover.frame(**file, 0, *bytes, frame, entry.name))
            return false;
        ++compared;
    }
    return compared > 0;
}

}  // namespace

std::uint64_t format_key(const MediaFormat& format, std::uint64_t frames) {
    std::uint64_t key = frames;
    for (const char c : format_identity(format).dump()) key = mix64(key ^ static_cast<unsigned char>(c));
    return key;
}

std::optional<MediaFormat> format_of_identity(const Json& identity) {
    using Kind = FrameSizeModel::Kind;
    MediaFormat format;
    try {
        format.name = identity.at("name");
        format.codec = identity.at("codec");
        format.width = identity.at("width");
        format.height = identity.at("height");
        format.rate = {identity.at("rate").at(0), identity.at("rate").at(1)};
        if (format.codec == "dpx") {
            format.dpx.bits = identity.at("bits");
            format.dpx.packing = identity.at("packing");
            format.dpx.big_endian = identity.at("big_endian");
            format.dpx.image_offset = identity.at("image_offset");
        } else {
            format.profile = identity.at(format.codec == "prores" ? "fourcc" : "profile");
            format.container = MediaFormat::Container::quicktime;
            for (const auto each :
                 {MediaFormat::Container::sequence, MediaFormat::Container::mp4, MediaFormat::Container::mxf}) {
                if (identity.value("container", "") == container_word(each)) format.container = each;
            }
            FrameSizeModel& size = format.size;
            if (identity.contains("table")) {
                size.kind = Kind::table;
                size.table = identity.at("table").get<decltype(size.table)>();
            } else {
                size.mean_bytes = identity.at("mean_bytes");
                size.kind = Kind::constant;
            }
            if (identity.contains("gop")) {
                size.kind = Kind::long_gop;
                size.gop = identity.at("gop");
                size.weight_i = identity.at("weights").at(0);
                size.weight_p = identity.at("weights").at(1);
                size.weight_b = identity.at("weights").at(2);
                size.variation = identity.at("variation");
                size.cap = identity.at("cap");
            } else if (identity.contains("level")) {
                size.kind = Kind::scene;
                size.level_min = identity.at("level").at(0);
                size.level_max = identity.at("level").at(1);
                size.shot_frames_min = identity.at("shot_frames").at(0);
                size.shot_frames_max = identity.at("shot_frames").at(1);
                size.variation = identity.at("variation");
                size.correlation = identity.at("correlation");
                size.cap = identity.at("cap");
            }
        }
    } catch (const Json::exception&) {
        return std::nullopt;
    }
    if (format_identity(format) != identity) return std::nullopt;
    return format;
}

bool is_proven(
    ByteStore& store, const StoredClip& clip, const MediaFormat& format, std::uint64_t set, bool every_frame) {
    if (clip.frames == 0 || !format.not_prepared.empty()) return false;
    const auto maker = make_frame_maker(format, clip.frames);
    if (!maker) return false;
    Prover prover(clip, **maker, format, set);
    if (clip.name.is_file()) return !clip.name.partial && prove_container(store, clip, prover);
    return prove_sequence(store, clip, format, **maker, prover, every_frame);
}

Result<bool> is_ours(ByteStore& store,
                     const StoredClip& clip,
                     const std::optional<MediaFormat>& format,
                     std::uint64_t set,
                     bool every_frame) {
    const auto record = read_record(store, parent_of(clip.path), set, clip.name.number);
    return record ? is_ours(store, clip, format, set, every_frame, *record) : record.error();
}

Result<bool> is_ours(ByteStore& store,
                     const StoredClip& clip,
                     const std::optional<MediaFormat>& format,
                     std::uint64_t set,
                     bool every_frame,
                     const std::optional<ClipRecord>& record) {
    const auto info = store.stat(clip.path);
    if (!info) return info.error();
    if (!*info || (*info)->symbolic_link || (*info)->directory == clip.name.is_file()) return false;
    if (record) {
        const bool file = record->kind.starts_with('.');
        return record->frames == clip.frames && file == clip.name.is_file() && is_recorded(*record, **info);
    }
    return format && is_proven(store, clip, *format, set, every_frame);
}

}  // namespace streamsim::media
