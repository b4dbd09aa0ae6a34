#include "media/write/clip_content.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/path.h"
#include "media/catalogue/catalogue.h"
#include "media/clips/frame_checksums.h"
#include "media/frames/frame_maker.h"
#include "media/frames/payload.h"
#include "media/sequence/sequence_index.h"
#include "media/write/clip_proof.h"
#include "media/write/clip_record.h"
#include "media/write/media_set_names.h"

namespace streamsim::media {
namespace {

/// An index together with the contents of its frames.
class IndexWithContent final : public FrameIndex {
public:
    IndexWithContent(std::shared_ptr<const FrameIndex> index, std::shared_ptr<const FrameContent> content)
        : index_(std::move(index)), content_(std::move(content)) {}

    std::uint64_t count() const override { return index_->count(); }
    FrameRate rate() const override { return index_->rate(); }
    bool file_per_frame() const override { return index_->file_per_frame(); }
    void write_path(std::uint64_t frame, char* into) const override { index_->write_path(frame, into); }
    std::size_t path_capacity() const override { return index_->path_capacity(); }
    Extent extent(std::uint64_t frame) const override { return index_->extent(frame); }
    std::uint64_t largest_frame_bytes() const override { return index_->largest_frame_bytes(); }
    std::uint64_t frame_number(std::uint64_t frame) const override { return index_->frame_number(frame); }
    bool listed(std::uint64_t frame) const override { return index_->listed(frame); }
    std::uint64_t sync_frame(std::uint64_t frame) const override { return index_->sync_frame(frame); }
    bool variable_rate() const override { return index_->variable_rate(); }
    Duration due(std::uint64_t frame) const override { return index_->due(frame); }
    const FrameContent* content() const override { return content_.get(); }
    std::span<const Extent> audio(std::uint64_t frame) const override { return index_->audio(frame); }
    std::uint64_t largest_audio_bytes() const override { return index_->largest_audio_bytes(); }

private:
    std::shared_ptr<const FrameIndex> index_;
    std::shared_ptr<const FrameContent> content_;
};

/// A clip of a media set, as its path and the documents above it name it.
struct PreparedClip {
    MediaFormat format;
    std::uint64_t frames = 0;
    std::uint32_t number = 1;
    std::uint64_t set = 0;
};

/// The header before each frame of an MXF file, without its length; empty: there is none.
struct KlvHeader {
    std::vector<std::byte> key;
    std::size_t length_bytes = 0;  // the first of them says how many follow

    std::size_t bytes() const { return key.size() + length_bytes; }
    void write(std::span<std::byte> into, std::uint64_t length) const {
        std::copy(key.begin(), key.end(), into.begin());
        for (std::size_t i = 1; i < length_bytes; ++i)
            into[bytes() - i] = static_cast<std::byte>(length >> (8 * (i - 1)) & 0xff);
        into[key.size()] = static_cast<std::byte>(0x80 | (length_bytes - 1));
    }
};

constexpr std::size_t kKeyBytes = 16;
constexpr std::size_t kLengthBytesMax = 9;

/// The header that at least two of three frames have, so that one damaged frame is not taken for the measure.
Result<KlvHeader> klv_header(ByteStore& store, const FrameIndex& index) {
    auto file = store.open(index.path_of(0));
    if (!file) return file.error();
    std::array<std::vector<std::byte>, 3> heads;
    for (std::size_t i = 0; i < heads.size(); ++i) {
        heads[i].resize(kKeyBytes + 1);
        const auto got = (*file)->read_at(index.extent(i * (index.count() - 1) / 2).offset, heads[i]);
        if (!got) return got.error();
        heads[i].resize(*got);
    }
    std::sort(heads.begin(), heads.end());
    const std::vector<std::byte>& head = heads[1];
    KlvHeader header;
    if (head.size() <= kKeyBytes) return header;
    const auto length = std::to_integer<std::size_t>(head.back());
    if (length <= 0x80 || length >= 0x80 + kLengthBytesMax) return header;
    header.key.assign(head.begin(), head.end() - 1);
    header.length_bytes = 1 + length - 0x80;
    return header;
}

class PreparedContent final : public FrameContent {
public:
    PreparedContent(PreparedClip clip,
                    std::unique_ptr<FrameMaker> maker,
                    KlvHeader header,
                    std::shared_ptr<const FrameIndex> index)
        : clip_(std::move(clip)),
          key_(format_key(clip_.format, clip_.frames)),
          maker_(std::move(maker)),
          header_(std::move(header)),
          index_(std::move(index)) {}

    std::optional<std::uint64_t> first_difference(std::uint64_t frame,
                                                  std::span<const ContentPiece> pieces) const override {
        const Extent extent = index_->extent(frame);
        const FrameLimits limits = maker_->limits(frame);
        // A length that prepare cannot have written: the index is not the one that it wrote.
        if (extent.bytes < limits.min || extent.bytes > limits.max) return extent.offset;
        thread_local std::vector<std::byte> made;
        made.resize(header_.bytes() + extent.bytes);
        if (header_.bytes() > 0) header_.write(made, extent.bytes);
        const std::uint64_t number = kFirstFrameNumber + frame;
        const std::string name = index_->file_per_frame() ? base_name(index_->path_of(frame)) : std::string();
        maker_->make(std::span(made).subspan(header_.bytes()),
                     {frame, number, payload_key(clip_.set, key_, clip_.number, frame), name});
        for (const ContentPiece& piece : pieces) {
            const std::byte* const wanted = made.data() + (piece.offset - extent.offset);
            if (std::memcmp(piece.bytes.data(), wanted, piece.bytes.size()) == 0) continue;
            const auto differs = std::mismatch(piece.bytes.begin(), piece.bytes.end(), wanted);
            return piece.offset + static_cast<std::uint64_t>(differs.first - piece.bytes.begin());
        }
        return std::nullopt;
    }

private:
    PreparedClip clip_;
    std::uint64_t key_;
    std::unique_ptr<FrameMaker> maker_;
    KlvHeader header_;
    std::shared_ptr<const FrameIndex> index_;
};

/// Nothing: the path is not that of a clip of a media set.
Result<std::optional<PreparedClip>> prepared_clip(ByteStore& store, const FrameIndex& index, std::string path) {
    if (index.file_per_frame()) path = parent_of(path);
    const std::string length = parent_of(path);
    const std::string format = parent_of(length);
    const std::string root = parent_of(format);
    const auto name = clip_name_in(base_name(path));
    const auto frames = length_in(base_name(length));
    if (!name || name->partial || !frames || base_name(root) != kMediaDirectory)
        return std::optional<PreparedClip>();
    const auto set = read_marker(store, root);
    if (!set) {
        if (set.error().kind == ErrorKind::bad_input) return std::optional<PreparedClip>();
        return set.error();
    }
    const auto identity = read_identity(store, format);
    if (!identity) return identity.error();
    auto described = *identity ? format_of_identity(**identity) : std::nullopt;
    if (!*set || !described) return std::optional<PreparedClip>();
    // A clip that was copied from another set has bytes that depend on the id of that set.
    const StoredClip clip{*frames, *name, path};
    const auto record = read_record(store, key_of(clip, **set));
    if (!record) return record.error();
    const ClipProof proof{&*described, **set};
    const auto ours = *record ? has_record(store, clip, **record) : is_ours(store, clip, proof, {}, {});
    if (!ours) return ours.error();
    if (!*ours && !(*record && is_proven(store, clip, proof))) return std::optional<PreparedClip>();
    return std::optional(PreparedClip{std::move(*described), *frames, name->number, **set});
}

Result<std::shared_ptr<const FrameContent>> prepared_content(ByteStore& store,
                                                             const Clip& clip,
                                                             const std::string& first_file) {
    auto prepared = prepared_clip(store, *clip.index, first_file.empty() ? clip.index->path_of(0) : first_file);
    if (!prepared) return prepared.error();
    if (!*prepared) return std::shared_ptr<const FrameContent>();
    if ((*prepared)->frames != clip.index->count()) {
        return bad_input(fmt::format("{}: {} frames can be found in it, and prepare made {}: it is damaged",
                                     clip.name, clip.index->count(), (*prepared)->frames));
    }
    auto maker = make_frame_maker((*prepared)->format, (*prepared)->frames);
    if (!maker) return maker.error();
    KlvHeader header;
    if ((*prepared)->format.container == MediaFormat::Container::mxf) {
        auto found = klv_header(store, *clip.index);
        if (!found) return found.error();
        header = std::move(*found);
    }
    return std::shared_ptr<const FrameContent>(std::make_shared<PreparedContent>(
        std::move(**prepared), std::move(*maker), std::move(header), clip.index));
}

}  // namespace

Result<Clip> with_content(ByteStore& store, Clip clip, const std::string& first_file) {
    auto content = prepared_content(store, clip, first_file);
    if (!content) return content.error();
    if (*content == nullptr) content = kept_checksums(store, clip);
    if (!content) return content.error();
    clip.index = std::make_shared<IndexWithContent>(clip.index, std::move(*content));
    return clip;
}

}  // namespace streamsim::media
