#include "media/container/container_kept.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/byte_order.h"
#include "base/fnv1a.h"
#include "base/path.h"
#include "base/prng.h"
#include "base/timecode.h"
#include "media/container/container_times.h"
#include "media/own_files/checked_removal.h"
#include "media/own_files/own_names.h"

namespace streamsim::media {
namespace {

constexpr std::string_view kKeptMagic = "streamsim-index\n";
constexpr std::uint32_t kKeptVersion = 5;
constexpr std::uint32_t kWithAudio = 1;
constexpr std::size_t kHeadBytes = kKeptMagic.size() + 4 + 4 + 8 + 8;
/// An index of 40 million frames; a larger file of this name is not one.
constexpr std::uint64_t kIndexBytesMax = std::uint64_t{1} << 30;
constexpr std::size_t kKeptPieceBytes = std::size_t{4} << 20;

/// Appends values: each list and text with its length before it.
class KeptWriter {
public:
    void raw(std::string_view text) {
        const auto from = std::as_bytes(std::span(text));
        bytes.insert(bytes.end(), from.begin(), from.end());
    }
    template <typename T>
    void value(T number) {
        const std::size_t at = bytes.size();
        bytes.resize(at + sizeof(T));
        store(std::span(bytes), at, false, static_cast<std::make_unsigned_t<T>>(number));
    }
    void value(bool flag) { value(static_cast<std::uint8_t>(flag)); }
    void value(const Extent& extent) {
        value(extent.offset);
        value(extent.bytes);
    }
    void value(const std::string& text) {
        value(std::uint64_t{text.size()});
        raw(text);
    }
    template <typename T>
    void value(const std::vector<T>& list) {
        value(std::uint64_t{list.size()});
        for (const T& each : list) value(each);
    }
    void value(const std::optional<std::uint64_t>& number) {
        value(number.has_value());
        value(number.value_or(0));
    }

    std::vector<std::byte> bytes;
};

/// Reads what KeptWriter wrote; once it has run out of bytes everything is zero and empty. A list is as long as
/// the bytes that are there at most.
class KeptReader {
public:
    explicit KeptReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    template <typename T>
    T number() {
        if (bytes_.size() - at_ < sizeof(T)) {
            good_ = false;
            return T{};
        }
        const auto from = at_;
        at_ += sizeof(T);
        return static_cast<T>(load<std::make_unsigned_t<T>>(bytes_, from, false));
    }
    template <typename T>
    void value(T& into) {
        into = number<T>();
    }
    void value(bool& into) { into = number<std::uint8_t>() != 0; }
    void value(Extent& into) {
        value(into.offset);
        value(into.bytes);
    }
    void value(std::string& into) {
        const std::size_t count = length(1);
        into.assign(reinterpret_cast<const char*>(bytes_.data() + at_), count);
        at_ += count;
    }
    template <typename T>
    void value(std::vector<T>& into) {
        into.resize(length(std::is_same_v<T, std::string> ? sizeof(std::uint64_t) : sizeof(T)));
        for (T& each : into) value(each);
    }
    void value(std::optional<std::uint64_t>& into) {
        const bool there = number<std::uint8_t>() != 0;
        into = number<std::uint64_t>();
        if (!there) into.reset();
    }
    bool done() const { return good_ && at_ == bytes_.size(); }

private:
    std::size_t length(std::size_t bytes_each) {
        const auto count = number<std::uint64_t>();
        if (count > (bytes_.size() - at_) / bytes_each) good_ = false;
        return good_ ? static_cast<std::size_t>(count) : 0;
    }

    std::span<const std::byte> bytes_;
    std::size_t at_ = 0;
    bool good_ = true;
};

/// The stored facts in the order of the file, for a KeptWriter or a KeptReader.
template <typename Stream, typename Kept>
void pass_facts(Stream& stream, Kept& kept) {
    stream.value(kept.clip.format);
    stream.value(kept.clip.structure);
    stream.value(kept.clip.notes);
    stream.value(kept.clip.start_timecode);
    stream.value(kept.clip.timecode_each);
    stream.value(kept.clip.drop);
    stream.value(kept.frames.rate.num);
    stream.value(kept.frames.rate.den);
    stream.value(kept.frames.extents);
    stream.value(kept.frames.sync);
    stream.value(kept.frames.due_ns);
    stream.value(kept.frames.audio);
    stream.value(kept.frames.audio_begin);
}

std::vector<std::byte> encode(const FileInfo& media, bool audio, const KeptClip& kept) {
    KeptWriter out;
    out.raw(kKeptMagic);
    out.value(kKeptVersion);
    out.value(audio ? kWithAudio : std::uint32_t{0});
    out.value(media.bytes);
    out.value(media.modified_s);
    pass_facts(out, kept);
    out.value(fnv1a(out.bytes));
    return std::move(out.bytes);
}

/// Every extent has bytes and lies in a file of so many, and no byte is in two of them: nothing else bounds the
/// rate at which frames are read.
bool lie_in_file(const std::vector<Extent>& extents, std::uint64_t file_bytes) {
    std::uint64_t left = file_bytes;
    for (const Extent& extent : extents) {
        if (extent.bytes == 0 || extent.bytes > left || extent.offset > file_bytes - extent.bytes) return false;
        left -= extent.bytes;
    }
    return extents.size() <= file_bytes;
}

bool plays_within_bounds(const ContainerFrames& frames) {
    if (!is_playable_rate(frames.rate, frames.extents.size())) return false;
    if (frames.due_ns.empty()) return true;
    const auto count = static_cast<std::int64_t>(frames.extents.size());
    return frames.due_ns.back() / count >= 1'000'000'000 / kContainerRateMax &&
           frames.due_ns.back() / 1'000'000'000 <= kContainerSecondsMax;
}

/// The checksum finds damage; this finds what would break the index all the same.
bool sound(const ContainerFrames& frames, std::uint64_t file_bytes) {
    const std::size_t count = frames.extents.size();
    if (count == 0 || !lie_in_file(frames.extents, file_bytes) || !lie_in_file(frames.audio, file_bytes))
        return false;
    if (!plays_within_bounds(frames)) return false;
    if (!frames.sync.empty() && frames.sync.size() != count) return false;
    for (std::size_t k = 0; k < frames.sync.size(); ++k) {
        if (frames.sync[k] > k || frames.sync[frames.sync[k]] != frames.sync[k]) return false;
    }
    const auto& due = frames.due_ns;
    if (!due.empty() && (due.size() != count + 1 || due.front() != 0)) return false;
    if (std::adjacent_find(due.begin(), due.end(), std::greater_equal<>()) != due.end()) return false;
    const auto& begin = frames.audio_begin;
    if (begin.empty()) return frames.audio.empty();
    return begin.size() == count + 1 && begin.front() == 0 && begin.back() == frames.audio.size() &&
           std::is_sorted(begin.begin(), begin.end());
}

bool counts_labels(FrameRate rate, std::uint64_t each) {
    if (each <= 1) return each == 1;
    return rate.num <= INT32_MAX && rate.den <= INT32_MAX && nominal_rate(rate) % each == 0;
}

std::optional<KeptClip> decode(std::span<const std::byte> bytes, std::uint64_t file_bytes) {
    KeptReader in(bytes);
    KeptClip kept;
    pass_facts(in, kept);
    if (!in.done() || !sound(kept.frames, file_bytes)) return std::nullopt;
    if (!counts_labels(kept.frames.rate, kept.clip.timecode_each)) return std::nullopt;
    return kept;
}

bool begins_as_ours(std::span<const std::byte> bytes) {
    return bytes.size() >= kKeptMagic.size() &&
           std::memcmp(bytes.data(), kKeptMagic.data(), kKeptMagic.size()) == 0;
}

/// Empty when the file cannot be read, or is larger than an index can be; only its beginning when it is no
/// index.
std::optional<std::vector<std::byte>> read_kept_file(ByteStore& store, const std::string& path) {
    auto source = store.open(path);
    if (!source) return std::nullopt;
    const auto size = (*source)->size();
    if (!size || *size > kIndexBytesMax) return std::nullopt;
    std::vector<std::byte> bytes;
    while (bytes.size() < *size) {
        const std::size_t at = bytes.size();
        bytes.resize(at + std::min<std::uint64_t>(kKeptPieceBytes, *size - at));
        const auto got = (*source)->read_at(at, std::span(bytes).subspan(at));
        if (!got || *got == 0) return std::nullopt;
        bytes.resize(at + *got);
        if (at == 0 && !begins_as_ours(bytes)) return bytes;  // the rest is nothing for us
    }
    return bytes;
}

/// Still what find_kept() saw.
bool is_kept_index(ByteStore& store, const std::string& path) {
    const auto info = store.stat(path);
    if (!info || !info->has_value() || (*info)->directory || (*info)->symbolic_link) return false;
    const auto bytes = read_kept_file(store, path);
    return bytes && begins_as_ours(*bytes);
}

}  // namespace

KeptFound find_kept(ByteStore& store, const std::string& path, const FileInfo& media, bool audio) {
    KeptFound found;
    const std::string beside = path + kKeptSuffix;
    const auto info = store.stat(beside);
    if (!info || !info->has_value()) return found;
    const auto bytes = (*info)->directory ? std::nullopt : read_kept_file(store, beside);
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
    KeptReader head(all.subspan(kKeptMagic.size(), kHeadBytes - kKeptMagic.size()));
    if (const auto version = head.number<std::uint32_t>(); version != kKeptVersion)
        return unused(fmt::format("it has version {}, this program writes {}", version, kKeptVersion));
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
        for (std::size_t at = 0; at < bytes.size(); at += kKeptPieceBytes) {
            const auto piece = std::span(bytes).subspan(at, std::min(kKeptPieceBytes, bytes.size() - at));
            if (auto written = (*sink)->write_at(at, piece); !written) return written;
        }
        if (auto closed = (*sink)->close(); !closed) return closed;
        const auto old = (*held)->stat(beside);
        if (!old) return old.error();
        if (found.ours && *old && is_kept_index(**held, beside)) {
            const auto removed = remove_seen(**held, beside, **old,
                                             [&](const std::string& at) { return is_kept_index(**held, at); });
            if (!removed) return removed.error();
        }
        return (*held)->rename(partial, beside);
    };
    auto written = write();
    if (!written) (void)(*held)->remove(partial);
    return written;
}

}  // namespace streamsim::media
