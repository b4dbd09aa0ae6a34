#include "media/write/clip_proof.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "base/path.h"
#include "base/prng.h"
#include "media/catalogue/catalogue.h"
#include "media/container/container_clip.h"
#include "media/frames/frame_maker.h"
#include "media/frames/payload.h"
#include "media/sequence/sequence_index.h"
#include "media/sequence/sequence_names.h"

namespace streamsim::media {
namespace {

constexpr std::size_t kProbeBytes = 8192;  // bytes compared at each end
constexpr std::uint64_t kProvenFrameBytesMax = std::uint64_t{1} << 30;
/// Added to a number of 32 bits it changes each of its bytes, whatever is carried.
constexpr std::uint64_t kOtherLength = 0x01010101;

bool holds(ByteSource& file, std::uint64_t offset, std::span<const std::byte> wanted) {
    std::vector<std::byte> bytes(wanted.size());
    const auto got = file.read_at(offset, bytes);
    return got && *got == bytes.size() && std::equal(bytes.begin(), bytes.end(), wanted.begin());
}

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

/// True when the file has the first and the last bytes of `wanted`, which begins at `offset`.
bool holds_ends(ByteSource& file, std::uint64_t offset, std::span<const std::byte> wanted) {
    const std::size_t probe = std::min(kProbeBytes, wanted.size());
    return holds(file, offset, wanted.first(probe)) &&
           holds(file, offset + wanted.size() - probe, wanted.last(probe));
}

class Prover {
public:
    Prover(ByteStore& store, const StoredClip& clip, const FrameMaker& maker, const ClipProof& proof)
        : store_(store),
          clip_(clip),
          maker_(maker),
          proof_(proof),
          key_(format_key(*proof.format, clip.frames)) {}

    bool container() {
        const auto read = index_container(store_, clip_.path, clip_.path, {});
        if (!read || read->index->count() != clip_.frames) return false;
        auto file = store_.open(clip_.path);
        if (!file) return false;
        for (const std::uint64_t frame : {std::uint64_t{0}, clip_.frames - 1}) {
            const Extent extent = read->index->extent(frame);
            const std::uint64_t at = extent.offset + klv_bytes(**file, extent.offset);
            if (!is_frame(**file, {at, extent.bytes}, frame, {})) return false;
        }
        return true;
    }

    bool sequence() {
        const FramePattern pattern = prepared_pattern(frame_extension(*proof_.format));
        const auto entries = store_.list(clip_.path);
        if (!entries) return false;
        std::vector<std::string> names;
        for (const DirectoryEntry& entry : *entries) {
            const auto number = number_in(pattern, entry.name);
            const bool named =
                number && *number >= kFirstFrameNumber && *number < kFirstFrameNumber + clip_.frames;
            if (named && !entry.directory && !entry.symbolic_link) names.push_back(entry.name);
        }
        if (!proof_.every_frame && names.size() > 2) names.erase(names.begin() + 1, names.end() - 1);
        std::size_t compared = 0;
        for (const std::string& name : names) {
            const std::uint64_t frame = *number_in(pattern, name) - kFirstFrameNumber;
            auto file = store_.open(join_path(clip_.path, name));
            if (!file) return false;
            const auto bytes = (*file)->size();
            if (!bytes) return false;
            if (*bytes == 0) continue;
            const FrameLimits limits = maker_.limits(frame);
            const bool cut = proof_.every_frame && *bytes < limits.min && limits.min == limits.max;
            const bool same =
                cut ? holds(**file, 0,
                            made(limits.min, frame, name).first(std::min<std::uint64_t>(*bytes, kProbeBytes)))
                    : is_frame(**file, {0, *bytes}, frame, name);
            if (!same) return false;
            ++compared;
        }
        return compared > 0;
    }

private:
    bool is_frame(ByteSource& file, Extent at, std::uint64_t frame, std::string_view name) {
        const FrameLimits limits = maker_.limits(frame);
        if (at.bytes < limits.min || at.bytes > std::min(limits.max, kProvenFrameBytesMax)) return false;
        return holds_ends(file, at.offset, made(at.bytes, frame, name));
    }

    std::span<const std::byte> made(std::uint64_t bytes, std::uint64_t frame, std::string_view name) {
        buffer_.resize(bytes);
        const std::uint64_t key = payload_key(proof_.set, key_, clip_.name.number, frame);
        maker_.make(buffer_, {frame, kFirstFrameNumber + frame, key, name});
        return buffer_;
    }

    ByteStore& store_;
    const StoredClip& clip_;
    const FrameMaker& maker_;
    const ClipProof& proof_;
    std::uint64_t key_;
    std::vector<std::byte> buffer_;
};

}  // namespace

std::uint64_t format_key(const MediaFormat& format, std::uint64_t frames) {
    std::uint64_t key = frames;
    for (const char c : json_text(format_identity(format))) key = mix64(key ^ static_cast<unsigned char>(c));
    return key;
}

bool is_proven(ByteStore& store, const StoredClip& clip, const ClipProof& proof) {
    const auto maker = known_maker(proof.format, clip.frames);
    if (maker == nullptr) return false;
    Prover prover(store, clip, *maker, proof);
    return clip.name.is_file() ? !clip.name.partial && prover.container() : prover.sequence();
}

std::unique_ptr<FrameMaker> known_maker(const MediaFormat* format, std::uint64_t frames) {
    if (format == nullptr || frames == 0 || !format->not_prepared.empty()) return nullptr;
    auto maker = make_frame_maker(*format, frames);
    return maker ? std::move(*maker) : nullptr;
}

Result<bool> begins_as_made(ByteStore& store,
                            const std::string& path,
                            const FrameMaker* maker,
                            std::uint64_t number,
                            std::string_view name) {
    if (maker == nullptr) return true;
    auto file = store.open(path);
    if (!file) return file.error();
    const auto bytes = (*file)->size();
    if (!bytes) return bytes.error();
    const FrameToMake at{number - kFirstFrameNumber, number, 0, name};
    const auto made = maker->beginning(*bytes, at);
    const auto longer = maker->beginning(std::max(*bytes, maker->limits(at.frame).min) + kOtherLength, at);
    std::vector<std::byte> found(made.size());
    const auto got = (*file)->read_at(0, found);
    if (!got) return got.error();
    for (std::size_t i = 0; i < *got; ++i) {
        const bool states_length = made[i] != longer[i];
        if (found[i] != made[i] && found[i] != std::byte{0} && !states_length) return false;
    }
    return true;
}

Result<bool> has_record(ByteStore& store, const StoredClip& clip, const ClipRecord& record) {
    const auto info = store.stat(clip.path);
    if (!info) return info.error();
    const bool file = record.kind.starts_with('.');
    if (!*info || (file ? !(*info)->is_regular() : !(*info)->directory)) return false;
    return record.frames == clip.frames && file == clip.name.is_file() && is_recorded(record, **info);
}

Result<bool> is_ours(ByteStore& store, const StoredClip& clip, const ClipProof& proof) {
    const ClipKey key = key_of(clip, proof.set);
    const auto record = read_record(store, key);
    if (!record) return record.error();
    const bool finished = *record && clip.name.is_file() && !clip.name.partial;
    const auto sums = finished ? read_sums(store, key) : std::optional<ClipSums>();
    if (!sums) return sums.error();
    return is_ours(store, clip, proof, *record, *sums);
}

Result<bool> is_ours(ByteStore& store,
                     const StoredClip& clip,
                     const ClipProof& proof,
                     const std::optional<ClipRecord>& record,
                     const std::optional<ClipSums>& sums) {
    if (record) {
        auto named = has_record(store, clip, *record);
        if (!named || !*named || !clip.name.is_file()) return named;
        // No file of others has the name of an unfinished one, with the id of its run.
        if (clip.name.partial) return clip.name.ending != kPartial;
        return sums ? begins_as_recorded(store, clip.path, *sums) : is_proven(store, clip, proof);
    }
    const auto info = store.stat(clip.path);
    if (!info) return info.error();
    if (!*info || (*info)->symbolic_link || (*info)->directory == clip.name.is_file()) return false;
    return is_proven(store, clip, proof);
}

}  // namespace streamsim::media
