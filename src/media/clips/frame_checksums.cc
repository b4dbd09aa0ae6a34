#include "media/clips/frame_checksums.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/byte_order.h"
#include "base/fnv1a.h"
#include "base/path.h"
#include "base/prng.h"
#include "base/system/mutex.h"
#include "base/system/parallel_for.h"
#include "media/own_files/own_names.h"

namespace streamsim::media {
namespace {

constexpr std::string_view kChecksumsMagic = "streamsim-checksums\n";
/// Another one wherever frames get other extents: checksums are those of the bytes that are read.
constexpr std::uint32_t kChecksumsVersion = 2;
constexpr std::size_t kChecksumsHead = kChecksumsMagic.size() + 4 + 8;
constexpr std::size_t kReadPieceBytes = std::size_t{4} << 20;
/// Parts of a clip that are read at once.
constexpr std::size_t kReadersMax = 8;

class ChecksummedContent final : public FrameContent {
public:
    explicit ChecksummedContent(std::vector<std::uint64_t> checksums) : checksums_(std::move(checksums)) {}

    std::optional<std::uint64_t> first_difference(std::uint64_t frame,
                                                  std::span<const ContentPiece> pieces) const override {
        FrameChecksum sum;
        for (const ContentPiece& piece : pieces) sum.add(piece.bytes);
        if (sum.value() == checksums_[frame]) return std::nullopt;
        return pieces.empty() ? 0 : pieces.front().offset;
    }

private:
    std::vector<std::uint64_t> checksums_;  // by frame
};

/// Reads the frames of one part of a clip.
class PartReader {
public:
    PartReader(ByteStore& store, const FrameIndex& index) : store_(store), index_(index) {}

    Result<std::uint64_t> checksum(std::uint64_t frame, IndexProgress& progress) {
        const std::string path = index_.path_of(frame);
        if (file_ == nullptr || index_.file_per_frame()) {
            auto file = store_.open(path);
            if (!file) return file.error();
            file_ = std::move(*file);
        }
        const Extent extent = index_.extent(frame);
        FrameChecksum sum;
        for (std::uint64_t at = 0; at < extent.bytes;) {
            piece_.resize(std::min<std::uint64_t>(kReadPieceBytes, extent.bytes - at));
            const auto got = file_->read_at(extent.offset + at, piece_);
            if (!got) return got.error();
            if (*got < piece_.size()) {
                return bad_input(fmt::format("{}: frame {} is to have {} bytes at {}, and the file ends at {}",
                                             path, frame, extent.bytes, extent.offset,
                                             extent.offset + at + *got));
            }
            sum.add(piece_);
            at += *got;
            progress.bytes_done += *got;
        }
        return sum.value();
    }

private:
    ByteStore& store_;
    const FrameIndex& index_;
    std::unique_ptr<ByteSource> file_;
    std::vector<std::byte> piece_;
};

Result<std::vector<std::uint64_t>> checksums_of(ByteStore& store,
                                                const FrameIndex& index,
                                                IndexProgress& progress) {
    const std::uint64_t count = index.count();
    std::uint64_t bytes = 0;
    for (std::uint64_t frame = 0; frame < count; ++frame) {
        if (!index.listed(frame)) {
            return bad_input(fmt::format("{}: frame {} is missing: checksums need every frame",
                                         index.path_of(frame), index.frame_number(frame)));
        }
        bytes += index.extent(frame).bytes;
    }
    progress.bytes_done = 0;
    progress.bytes_total = bytes;
    std::vector<std::uint64_t> sums(count);
    const std::size_t parts = std::min<std::uint64_t>(kReadersMax, count);
    std::vector<std::optional<Error>> errors(parts);
    std::atomic<bool> failed{false};
    parallel_for(
        parts,
        [&](std::size_t part) {
            PartReader reader(store, index);
            for (std::uint64_t frame = count * part / parts; frame < count * (part + 1) / parts; ++frame) {
                if (progress.cancelled() || failed) return;
                const auto sum = reader.checksum(frame, progress);
                if (!sum) {
                    errors[part] = sum.error();
                    failed = true;
                    return;
                }
                sums[frame] = *sum;
            }
        },
        kReadersMax);
    if (progress.cancelled()) return interrupted_error();
    for (const std::optional<Error>& error : errors) {
        if (error) return *error;
    }
    return sums;
}

std::vector<std::byte> encode_checksums(const std::vector<std::uint64_t>& sums) {
    std::vector<std::byte> bytes(kChecksumsHead + 8 * sums.size() + 8);
    const std::span<std::byte> all(bytes);
    std::memcpy(bytes.data(), kChecksumsMagic.data(), kChecksumsMagic.size());
    store<std::uint32_t>(all, kChecksumsMagic.size(), false, kChecksumsVersion);
    store<std::uint64_t>(all, kChecksumsMagic.size() + 4, false, sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i)
        store<std::uint64_t>(all, kChecksumsHead + 8 * i, false, sums[i]);
    const std::size_t end = bytes.size() - 8;
    store<std::uint64_t>(all, end, false, fnv1a(std::span<const std::byte>(bytes).first(end)));
    return bytes;
}

/// Beside the first file; with a directory in its name, which can be held.
std::string checksums_path(const Clip& clip) {
    const std::string first = clip.index->path_of(0);
    return (first.find('/') == std::string::npos ? "./" + first : first) + kChecksumsSuffix;
}

}  // namespace

void FrameChecksum::add(std::span<const std::byte> bytes) {
    for (; !bytes.empty() && bytes_ % 8 != 0; bytes = bytes.subspan(1)) {
        word_ |= std::to_integer<std::uint64_t>(bytes.front()) << (8 * (bytes_++ % 8));
        if (bytes_ % 8 == 0) state_ = mix64(state_ ^ std::exchange(word_, 0));
    }
    for (; bytes.size() >= 8; bytes = bytes.subspan(8), bytes_ += 8)
        state_ = mix64(state_ ^ load<std::uint64_t>(bytes, 0, false));
    for (const std::byte byte : bytes) word_ |= std::to_integer<std::uint64_t>(byte) << (8 * (bytes_++ % 8));
}

std::uint64_t FrameChecksum::value() {
    state_ = mix64(state_ ^ word_);
    return mix64(state_ ^ bytes_);
}

Result<void> keep_checksums(ByteStore& store, const Clip& clip, IndexProgress& progress) {
    const std::string beside = checksums_path(clip);
    const auto held = store.beneath(parent_of(beside));
    if (!held) return held.error();
    const auto there = (*held)->stat(beside);
    if (!there) return there.error();
    if (*there) {
        return environment_error(fmt::format(
            "{}: is there already, and nothing is replaced: remove it to keep new checksums", beside));
    }
    const auto sums = checksums_of(store, *clip.index, progress);
    if (!sums) return sums.error();
    const std::string partial = beside + partial_suffix(entropy64());
    auto sink = (*held)->create(partial);
    if (!sink) return sink.error();
    const auto write = [&]() -> Result<void> {
        if (auto written = (*sink)->write_at(0, encode_checksums(*sums)); !written) return written;
        if (auto closed = (*sink)->close(); !closed) return closed;
        return (*held)->rename(partial, beside);
    };
    auto written = write();
    if (!written) (void)(*held)->remove(partial);
    return written;
}

Result<std::shared_ptr<const FrameContent>> kept_checksums(ByteStore& store, const Clip& clip) {
    const std::string beside = checksums_path(clip);
    const auto refused = [&](const std::string& why) {
        return bad_input(fmt::format("{}: --verify cannot check it: {}", clip.name, why));
    };
    const auto info = store.stat(beside);
    if (!info) return info.error();
    if (!*info) {
        return refused(
            fmt::format("prepare did not make it, and there is no {}; "
                        "streamsim inspect CLIP --keep-checksums makes it, from media that are right",
                        beside));
    }
    const std::size_t bytes = kChecksumsHead + 8 * clip.index->count() + 8;
    if ((*info)->bytes != bytes)
        return refused(fmt::format("{} has {} bytes, expected {} for {} frames", beside, (*info)->bytes, bytes,
                                   clip.index->count()));
    auto file = store.open(beside);
    if (!file) return file.error();
    std::vector<std::byte> text(bytes);
    const auto got = (*file)->read_at(0, text);
    if (!got) return got.error();
    const std::span<const std::byte> all(text);
    const bool begins = std::memcmp(text.data(), kChecksumsMagic.data(), kChecksumsMagic.size()) == 0;
    if (*got < bytes || !begins || load<std::uint32_t>(all, kChecksumsMagic.size(), false) != kChecksumsVersion)
        return refused(
            fmt::format("{} does not hold checksums of version {}: remove it, and run "
                        "streamsim inspect CLIP --keep-checksums again, with media that are right",
                        beside, kChecksumsVersion));
    if (load<std::uint64_t>(all, bytes - 8, false) != fnv1a(all.first(bytes - 8)))
        return refused(fmt::format("{} is damaged", beside));
    std::vector<std::uint64_t> sums(clip.index->count());
    for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] = load<std::uint64_t>(all, kChecksumsHead + 8 * i, false);
    return std::shared_ptr<const FrameContent>(std::make_shared<ChecksummedContent>(std::move(sums)));
}

}  // namespace streamsim::media
