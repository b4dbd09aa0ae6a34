#include "media/container/container_kept.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/byte_order.h"
#include "base/fnv1a.h"
#include "base/path.h"
#include "base/prng.h"
#include "media/container/container_times.h"
#include "media/own_files/checked_removal.h"
#include "media/own_files/own_names.h"

namespace streamsim::media {
namespace {

constexpr std::string_view kMagic = "streamsim-index\n";
constexpr std::uint32_t kVersion = 2;
constexpr std::uint32_t kWithAudio = 1;
constexpr std::size_t kHeadBytes = kMagic.size() + 4 + 4 + 8 + 8;
/// An index of 40 million frames; a larger file of this name is not one.
constexpr std::uint64_t kIndexBytesMax = std::uint64_t{1} << 30;
constexpr std::size_t kPieceBytes = std::size_t{4} << 20;

class Writer {
public:
    template <typename T>
    void number(T value) {
        const std::size_t at = bytes.size();
        bytes.resize(at + sizeof(T));
        store(std::span(bytes), at, false, static_cast<std::make_unsigned_t<T>>(value));
    }
    void raw(std::string_view text) {
        const auto from = std::as_bytes(std::span(text));
        bytes.insert(bytes.end(), from.begin(), from.end());
    }
    void text(std::string_view text) {
        number(std::uint64_t{text.size()});
        raw(text);
    }
    template <typename T>
    void list(const std::vector<T>& values) {
        number(std::uint64_t{values.size()});
        for (const T value : values) number(value);
    }
    void extents(const std::vector<Extent>& list) {
        number(std::uint64_t{list.size()});
        for (const Extent& extent : list) {
            number(extent.offset);
            number(extent.bytes);
        }
    }

    std::vector<std::byte> bytes;
};

/// Reads what Writer wrote; once it has run out of bytes everything is zero and empty. A list is as long as the
/// bytes that are there at most.
class Reader {
public:
    explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    template <typename T>
    T number() {
        if (bytes_.size() - at_ < sizeof(T)) {
            good_ = false;
            return T{};
        }
        const auto value = static_cast<T>(load<std::make_unsigned_t<T>>(bytes_, at_, false));
        at_ += sizeof(T);
        return value;
    }
    std::size_t length(std::size_t bytes_each) {
        const auto count = number<std::uint64_t>();
        if (count > (bytes_.size() - at_) / bytes_each) good_ = false;
        return good_ ? static_cast<std::size_t>(count) : 0;
    }
    std::string text() {
        const std::size_t count = length(1);
        const char* from = reinterpret_cast<const char*>(bytes_.data() + at_);
        at_ += count;
        return count == 0 ? std::string() : std::string(from, count);
    }
    template <typename T>
    std::vector<T> list() {
        std::vector<T> out(length(sizeof(T)));
        for (T& value : out) value = number<T>();
        return out;
    }
    std::vector<Extent> extents() {
        std::vector<Extent> out(length(16));
        for (Extent& extent : out) {
            extent.offset = number<std::uint64_t>();
            extent.bytes = number<std::uint64_t>();
        }
        return out;
    }
    bool done() const { return good_ && at_ == bytes_.size(); }

private:
    std::span<const std::byte> bytes_;
    std::size_t at_ = 0;
    bool good_ = true;
};

std::vector<std::byte> encode(const FileInfo& media, bool audio, const KeptClip& kept) {
    Writer out;
    out.raw(kMagic);
    out.number(kVersion);
    out.number(audio ? kWithAudio : std::uint32_t{0});
    out.number(media.bytes);
    out.number(media.modified_s);
    out.text(kept.clip.format);
    out.text(kept.clip.structure);
    out.number(std::uint64_t{kept.clip.notes.size()});
    for (const std::string& note : kept.clip.notes) out.text(note);
    out.number(static_cast<std::uint8_t>(kept.clip.start_timecode.has_value()));
    out.number(kept.clip.start_timecode.value_or(0));
    out.number(static_cast<std::uint8_t>(kept.clip.drop));
    const ContainerFrames& frames = kept.frames;
    out.number(frames.rate.num);
    out.number(frames.rate.den);
    out.extents(frames.extents);
    out.list(frames.sync);
    out.list(frames.due_ns);
    out.extents(frames.audio);
    out.list(frames.audio_begin);
    out.number(fnv1a(out.bytes));
    return std::move(out.bytes);
}

/// Every extent lies in a file of so many bytes, and no byte is in two of them: nothing else bounds the rate at
/// which frames are read.
bool lie_in_file(const std::vector<Extent>& extents, std::uint64_t file_bytes) {
    std::uint64_t left = file_bytes;
    for (const Extent& extent : extents) {
        if (extent.bytes > left || extent.offset > file_bytes - extent.bytes) return false;
        left -= extent.bytes;
    }
    return extents.size() <= file_bytes;
}

bool plays_within_bounds(const ContainerFrames& frames) {
    if (!is_playable_rate(frames.rate)) return false;
    if (frames.due_ns.empty()) return true;
    const auto count = static_cast<std::int64_t>(frames.extents.size());
    return frames.due_ns.back() / count >= 1'000'000'000 / kContainerRateMax;
}

/// The checksum finds damage; this finds what would break the index all the same.
bool sound(const ContainerFrames& frames, std::uint64_t file_bytes) {
    const std::size_t count = frames.extents.size();
    if (count == 0 || !lie_in_file(frames.extents, file_bytes) || !lie_in_file(frames.audio, file_bytes))
        return false;
    if (!plays_within_bounds(frames)) return false;
    if (!frames.sync.empty() && frames.sync.size() != count) return false;
    for (std::size_t k = 0; k < frames.sync.size(); ++k) {
        if (frames.sync[k] > k) return false;
    }
    if (!frames.due_ns.empty() && (frames.due_ns.size() != count + 1 || frames.due_ns.front() != 0))
        return false;
    for (std::size_t k = 1; k < frames.due_ns.size(); ++k) {
        if (frames.due_ns[k] <= frames.due_ns[k - 1]) return false;
    }
    if (frames.audio_begin.empty()) return frames.audio.empty();
    if (frames.audio_begin.size() != count + 1 || frames.audio_begin.front() != 0) return false;
    for (std::size_t k = 1; k <= count; ++k) {
        if (frames.audio_begin[k] < frames.audio_begin[k - 1]) return false;
    }
    return frames.audio_begin.back() == frames.audio.size();
}

std::optional<KeptClip> decode(std::span<const std::byte> bytes, std::uint64_t file_bytes) {
    Reader in(bytes);
    KeptClip kept;
    kept.clip.format = in.text();
    kept.clip.structure = in.text();
    kept.clip.notes.resize(in.length(8));
    for (std::string& note : kept.clip.notes) note = in.text();
    const bool timed = in.number<std::uint8_t>() != 0;
    const auto timecode = in.number<std::uint64_t>();
    if (timed) kept.clip.start_timecode = timecode;
    kept.clip.drop = in.number<std::uint8_t>() != 0;
    kept.frames.rate.num = in.number<std::int64_t>();
    kept.frames.rate.den = in.number<std::int64_t>();
    kept.frames.extents = in.extents();
    kept.frames.sync = in.list<std::uint32_t>();
    kept.frames.due_ns = in.list<std::int64_t>();
    kept.frames.audio = in.extents();
    kept.frames.audio_begin = in.list<std::uint32_t>();
    if (!in.done() || !sound(kept.frames, file_bytes)) return std::nullopt;
    return kept;
}

bool begins_as_ours(std::span<const std::byte> bytes) {
    return bytes.size() >= kMagic.size() && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

/// Empty when the file cannot be read, or is larger than an index can be; only its beginning when it is no
/// index.
std::optional<std::vector<std::byte>> read_all(ByteStore& store, const std::string& path) {
    auto source = store.open(path);
    if (!source) return std::nullopt;
    const auto size = (*source)->size();
    if (!size || *size > kIndexBytesMax) return std::nullopt;
    std::vector<std::byte> bytes;
    while (bytes.size() < *size) {
        const std::size_t at = bytes.size();
        bytes.resize(at + std::min<std::uint64_t>(kPieceBytes, *size - at));
        const auto got = (*source)->read_at(at, std::span(bytes).subspan(at));
        if (!got || *got == 0) return std::nullopt;
        bytes.resize(at + *got);
        if (at == 0 && !begins_as_ours(bytes)) return bytes;  // the rest is nothing for us
    }
    return bytes;
}

/// Still what find_kept() saw.
bool is_ours(ByteStore& store, const std::string& path) {
    const auto info = store.stat(path);
    if (!info || !info->has_value() || (*info)->directory || (*info)->symbolic_link) return false;
    const auto bytes = read_all(store, path);
    return bytes && begins_as_ours(*bytes);
}

}  // namespace

KeptFound find_kept(ByteStore& store, const std::string& path, const FileInfo& media, bool audio) {
    KeptFound found;
    const std::string beside = path + kKeptSuffix;
    const auto info = store.stat(beside);
    if (!info || !info->has_value()) return found;
    const auto bytes = (*info)->directory ? std::nullopt : read_all(store, beside);
    if (!bytes || !begins_as_ours(*bytes) || (*info)->symbolic_link) {
        found.foreign = true;
        found.note = fmt::format("{} is no index by streamsim: neither used nor replaced", beside);
        return found;
    }
    found.ours = true;
    const auto unused = [&](const std::string& why) {
        found.note = fmt::format("the index kept beside it is not used: {}", why);
        return found;
    };
    const std::span<const std::byte> all(*bytes);
    if (all.size() < kHeadBytes + 8) return unused("it is cut");
    if (load<std::uint64_t>(all, all.size() - 8, false) != fnv1a(all.first(all.size() - 8)))
        return unused("its checksum is wrong");
    Reader head(all.subspan(kMagic.size(), kHeadBytes - kMagic.size()));
    if (const auto version = head.number<std::uint32_t>(); version != kVersion)
        return unused(fmt::format("it has version {}, this program writes {}", version, kVersion));
    const bool with_audio = (head.number<std::uint32_t>() & kWithAudio) != 0;
    if (head.number<std::uint64_t>() != media.bytes || head.number<std::int64_t>() != media.modified_s)
        return unused("the clip has changed since");
    if (with_audio != audio) return unused(audio ? "it was made without audio" : "it was made with audio");
    found.clip = decode(all.subspan(kHeadBytes, all.size() - kHeadBytes - 8), media.bytes);
    if (!found.clip) return unused("its frame table is not plausible");
    return found;
}

Result<void> keep(ByteStore& store,
                  const std::string& path,
                  const FileInfo& media,
                  bool audio,
                  const KeptFound& found,
                  const KeptClip& clip) {
    if (!sound(clip.frames, media.bytes)) return {};  // it would not be used: frames of it lie behind its end
    // All in one directory that is held: the clip's, wherever the links of its path lead.
    const std::string beside = (path.find('/') == std::string::npos ? "./" + path : path) + kKeptSuffix;
    if (found.foreign)
        return environment_error(fmt::format("{}: there is a file of this name that is not ours", beside));
    const std::string directory = parent_of(beside);
    const auto held = store.beneath(directory);
    if (!held) return held.error();
    const std::string partial = beside + partial_suffix(entropy64());
    auto sink = (*held)->create(partial);
    if (!sink) return sink.error();
    const auto write = [&]() -> Result<void> {
        const std::vector<std::byte> bytes = encode(media, audio, clip);
        for (std::size_t at = 0; at < bytes.size(); at += kPieceBytes) {
            const auto piece = std::span(bytes).subspan(at, std::min(kPieceBytes, bytes.size() - at));
            if (auto written = (*sink)->write_at(at, piece); !written) return written;
        }
        if (auto closed = (*sink)->close(); !closed) return closed;
        const auto old = (*held)->stat(beside);
        if (!old) return old.error();
        if (found.ours && *old && is_ours(**held, beside)) {
            const auto removed =
                remove_seen(**held, beside, **old, [&](const std::string& at) { return is_ours(**held, at); });
            if (!removed) return removed.error();
        }
        return (*held)->rename(partial, beside);
    };
    auto written = write();
    if (!written) (void)(*held)->remove(partial);
    return written;
}

}  // namespace streamsim::media
