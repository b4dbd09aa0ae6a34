#include "media/container/container_mxf.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "base/byte_order.h"

namespace streamsim::media {
namespace {

using Key = std::array<std::byte, 16>;

constexpr std::size_t kWindowBytes = 4096;
constexpr std::size_t kWindowsAtOnce = 32;
constexpr std::size_t kPeriodMax = 4;
/// Essence bytes skipped for each header that is read, at least: below that, reading everything is as fast.
constexpr std::uint64_t kWorthBytes = 64 * 1024;

struct Klv {
    Key key{};
    std::uint64_t offset = 0;
    std::uint64_t header = 0;  // key and length, in bytes
    std::uint64_t bytes = 0;   // length of the value

    std::uint64_t end() const { return offset + header + bytes; }
};

bool is_universal_label(const Key& key) {
    return load<std::uint32_t>(key, 0, true) == 0x060e2b34u;
}

/// An essence element: 06.0e.2b.34.01.02.01.xx.0d or 0e (private).
bool is_essence(const Key& key) {
    return is_universal_label(key) && load<std::uint16_t>(key, 4, true) == 0x0102u;
}

class MxfWalker {
public:
    MxfWalker(ByteSource& source, const MxfTracks& first, IndexProgress* progress)
        : source_(source), first_(first), progress_(progress) {}

    Result<std::optional<MxfTracks>> walk() {
        auto size = source_.size();
        if (!size) return size.error();
        size_ = *size;
        std::optional<MxfTracks> out = frame_wrapped();
        if (!out && !error_ && first_.size() == 1) out = clip_wrapped();
        if (error_) return *error_;
        if (out && !gives_first(*out)) out.reset();
        return out;
    }

private:
    /// The header at a place of the file; nothing at its end, where there is none, and where the value would
    /// end behind the end of the file.
    std::optional<Klv> klv_at(std::uint64_t offset) {
        const auto head = read(offset, 25);
        if (head.size() < 17) return std::nullopt;
        Klv klv;
        std::copy_n(head.begin(), klv.key.size(), klv.key.begin());
        if (!is_universal_label(klv.key)) return std::nullopt;
        const auto first = std::to_integer<unsigned>(head[16]);
        std::size_t more = 0;  // bytes of the length behind its first
        klv.bytes = first;
        if (first >= 0x80) {
            more = first & 0x7f;
            if (more == 0 || more > 8 || head.size() < 17 + more) return std::nullopt;
            klv.bytes = 0;
            for (std::size_t i = 0; i < more; ++i)
                klv.bytes = klv.bytes << 8 | std::to_integer<std::uint64_t>(head[17 + i]);
        }
        klv.offset = offset;
        klv.header = 17 + more;
        if (klv.bytes > size_ - offset - klv.header) return std::nullopt;
        return klv;
    }

    std::span<const std::byte> read(std::uint64_t offset, std::size_t bytes) {
        if (error_ || offset >= size_) return {};
        const Window* window = window_of(offset, bytes);
        if (window == nullptr) {
            if (progress_ != nullptr && progress_->cancelled()) error_ = interrupted_error();
            if (!error_) read_windows(offset);
            if (error_) return {};
            window = windows_.data();
        } else if (window->at != last_window_) {  // bytes read ahead count when they are used
            count_window(window->at);
        }
        const std::size_t at = static_cast<std::size_t>(offset - window->at);
        return std::span<const std::byte>(window->bytes)
            .subspan(at, std::min(bytes, window->bytes.size() - at));
    }

    struct Window {
        std::uint64_t at = 0;
        std::vector<std::byte> bytes;
    };

    void count_window(std::uint64_t at) {
        if (at > last_window_) strides_.push_back(at - last_window_);
        last_window_ = at;
        ++reads_;
        if (progress_ != nullptr) progress_->bytes_done = at;
    }

    const Window* window_of(std::uint64_t offset, std::size_t bytes) const {
        for (const Window& window : windows_) {
            const std::uint64_t end = window.at + window.bytes.size();
            if (offset >= window.at && (offset + bytes <= end || (offset < end && end == size_)))
                return &window;
        }
        return nullptr;
    }

    /// After how many strides between windows they repeat themselves; 0: they do not. Frames of one size do
    /// after one, or after as many as their edit unit has elements that are far apart.
    std::size_t period() const {
        for (std::size_t period = 1; period <= kPeriodMax; ++period) {
            if (strides_.size() < 2 * period) return 0;
            if (std::equal(strides_.end() - static_cast<std::ptrdiff_t>(period), strides_.end(),
                           strides_.end() - static_cast<std::ptrdiff_t>(2 * period)))
                return period;
        }
        return 0;
    }

    /// The window at `offset`, and those that are likely to be wanted after it: each read costs a round trip.
    void read_windows(std::uint64_t offset) {
        std::vector<std::uint64_t> offsets = {offset};
        count_window(offset);
        if (const std::size_t repeats = period(); repeats > 0) {
            for (std::size_t i = 0; i + 1 < kWindowsAtOnce; ++i) {
                const std::uint64_t stride = strides_[strides_.size() - repeats + i % repeats];
                if (stride >= size_ - offsets.back()) break;
                offsets.push_back(offsets.back() + stride);
            }
        }
        windows_.clear();
        std::vector<ByteSource::Piece> pieces;
        for (const std::uint64_t at : offsets) windows_.push_back({at, std::vector<std::byte>(kWindowBytes)});
        for (Window& window : windows_) pieces.push_back({window.at, window.bytes});
        if (auto got = source_.read_each(pieces); !got) error_ = got.error();
        for (std::size_t i = 0; i < pieces.size(); ++i) windows_[i].bytes.resize(pieces[i].got);
    }

    /// The key of a track: that of the element at each of its first packets.
    std::optional<Key> key_of(const std::vector<Extent>& packets) {
        std::optional<Key> key;
        for (const Extent& packet : packets) {
            const auto klv = klv_at(packet.offset);
            if (!klv || !is_essence(klv->key) || klv->bytes != packet.bytes) return std::nullopt;
            if (key && *key != klv->key) return std::nullopt;
            key = klv->key;
        }
        return key;
    }

    std::optional<MxfTracks> frame_wrapped() {
        std::vector<Key> keys;
        std::uint64_t at = size_;
        for (const auto& packets : first_) {
            const auto key = key_of(packets);
            if (!key || std::find(keys.begin(), keys.end(), *key) != keys.end()) return std::nullopt;
            keys.push_back(*key);
            at = std::min(at, packets.front().offset);
        }
        MxfTracks found(first_.size());
        const std::uint64_t begin = at;
        while (at < size_) {
            const auto klv = klv_at(at);
            if (!klv) return std::nullopt;
            const auto key = std::find(keys.begin(), keys.end(), klv->key);
            if (key != keys.end()) {
                if (klv->bytes == 0) return std::nullopt;
                found[static_cast<std::size_t>(key - keys.begin())].push_back({klv->offset, klv->bytes});
            }
            at = klv->end();
            constexpr std::uint64_t kTrial = 64;
            if (reads_ == kTrial && (at - begin) / kTrial < kWorthBytes) return std::nullopt;
        }
        return found;
    }

    std::optional<MxfTracks> clip_wrapped() {
        const Extent frame = first_.front().front();
        for (std::size_t k = 1; k < first_.front().size(); ++k) {
            const Extent& next = first_.front()[k];
            if (next.bytes != frame.bytes || next.offset != frame.offset + k * frame.bytes) return std::nullopt;
        }
        // Its length was written with 1 to 9 bytes.
        for (std::uint64_t header = 17; header <= 25 && header <= frame.offset; ++header) {
            const auto klv = klv_at(frame.offset - header);
            if (!klv || klv->header != header || !is_essence(klv->key)) continue;
            if (klv->bytes % frame.bytes != 0 || !nothing_else(*klv)) return std::nullopt;
            MxfTracks out(1);
            for (std::uint64_t k = 0; k < klv->bytes / frame.bytes; ++k)
                out.front().push_back({frame.offset + k * frame.bytes, frame.bytes});
            return out;
        }
        return std::nullopt;
    }

    /// No second element of the same track behind it.
    bool nothing_else(const Klv& essence) {
        for (std::uint64_t at = essence.end(); at < size_;) {
            const auto klv = klv_at(at);
            if (!klv || klv->key == essence.key) return false;
            at = klv->end();
        }
        return true;
    }

    bool gives_first(const MxfTracks& walked) const {
        const auto same = [](const Extent& a, const Extent& b) {
            return a.offset == b.offset && a.bytes == b.bytes;
        };
        return std::equal(
            first_.begin(), first_.end(), walked.begin(), [&](const auto& first, const auto& all) {
                return all.size() >= first.size() && std::equal(first.begin(), first.end(), all.begin(), same);
            });
    }

    ByteSource& source_;
    const MxfTracks& first_;
    IndexProgress* progress_;
    std::uint64_t size_ = 0;
    std::vector<Window> windows_;
    std::uint64_t last_window_ = 0;
    std::vector<std::uint64_t> strides_;  // between the windows that were used
    std::uint64_t reads_ = 0;
    std::optional<Error> error_;
};

}  // namespace

Result<std::optional<MxfTracks>> walk_mxf(ByteSource& source, const MxfTracks& first, IndexProgress* progress) {
    return MxfWalker(source, first, progress).walk();
}

/// ST 377-1 annex: byte 13 is the complexity of the items, byte 14 that of the packages (a, b, c).
std::string mxf_pattern(std::string_view label) {
    const auto at = label.rfind('.');
    if (at == std::string_view::npos || label.size() - at < 5) return "";
    const std::string_view item = label.substr(at + 1, 2);
    const std::string_view package = label.substr(at + 3, 2);
    if (item == "10") return "OP-Atom";
    if (item < "01" || item > "03" || package < "01" || package > "03") return "";
    return fmt::format("OP{}{}", item[1], static_cast<char>('a' + (package[1] - '1')));
}

}  // namespace streamsim::media
