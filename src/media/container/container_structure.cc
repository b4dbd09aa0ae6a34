#include "media/container/container_structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/byte_order.h"
#include "base/units.h"
#include "base/wide.h"

namespace streamsim::media {
namespace {

/// Limit of steps through one file; an hour of one-frame fragments has fewer.
constexpr int kStepsMax = 1'000'000;
constexpr std::size_t kShownAtoms = 12;

constexpr std::string_view kAtoms[] = {"ftyp", "moov", "mdat", "wide", "free", "skip", "pnot",
                                       "uuid", "styp", "sidx", "moof", "prfl", "udta", "meta"};

struct Atom {
    std::string type;
    std::uint64_t offset = 0;
    std::uint64_t header = 8;  // 16: a 64-bit size
    std::uint64_t bytes = 0;   // length that the atom claims, header included
    bool to_the_end = false;   // a size of 0

    std::uint64_t body() const { return offset + header; }
    std::uint64_t end() const { return offset + bytes; }
};

class Walker {
public:
    Walker(ByteSource& source, const IndexProgress* progress) : source_(source), progress_(progress) {}

    Result<ContainerStructure> walk() {
        auto size = source_.size();
        if (!size) return size.error();
        size_ = *size;
        const auto head = read(0, 12);
        const std::uint32_t magic = head.size() < 12 ? 0 : load<std::uint32_t>(head, 0, true);
        if (magic == 0x1a45dfa3) {
            walk_matroska();
        } else if (std::find(std::begin(kAtoms), std::end(kAtoms), text(head, 4)) != std::end(kAtoms)) {
            walk_quicktime();
        } else if (magic == 0x52494646) {
            out_.line = "AVI";
            walk_riff();
        } else if (magic == 0x000001ba) {
            out_.line = "MPEG program stream";
        } else if (magic == 0x060e2b34) {
            out_.line = "MXF";
            find_footer();
        } else if (!head.empty() && head.front() == std::byte{0x47}) {
            out_.line = "MPEG transport stream";
            read_packets();
        }
        if (error_) return *error_;
        return std::move(out_);
    }

private:
    /// Empty at and behind the end, after an error, and when there were too many steps.
    std::span<const std::byte> read(std::uint64_t offset, std::size_t bytes) {
        if (error_ || offset >= size_ || ++steps_ > kStepsMax) return {};
        if (progress_ != nullptr && progress_->cancelled()) {
            error_ = interrupted_error();
            return {};
        }
        const auto got = source_.read_at(offset, std::span(buffer_).first(bytes));
        if (!got) error_ = got.error();
        return std::span(buffer_).first(got ? *got : 0);
    }

    static std::string text(std::span<const std::byte> bytes, std::size_t at) {
        std::string out;
        for (std::size_t i = at; i < at + 4 && i < bytes.size(); ++i) {
            const auto c = std::to_integer<unsigned char>(bytes[i]);
            out += c >= ' ' && c < 127 ? static_cast<char>(c) : '?';
        }
        return out;
    }

    std::optional<Atom> atom_at(std::uint64_t offset, std::uint64_t end) {
        const auto head = read(offset, 16);
        if (head.size() < 8) return std::nullopt;
        Atom atom;
        atom.offset = offset;
        atom.type = text(head, 4);
        atom.bytes = load<std::uint32_t>(head, 0, true);
        if (atom.bytes == 0) {
            atom.to_the_end = true;
            atom.bytes = end - offset;
        } else if (atom.bytes == 1) {
            if (head.size() < 16) return std::nullopt;
            atom.header = 16;
            atom.bytes = load<std::uint64_t>(head, 8, true);
        }
        if (atom.bytes < atom.header) return std::nullopt;
        return atom;
    }

    /// Calls `visit` for each atom in [from, end). An atom that claims more bytes than exist is the last one.
    void each_atom(std::uint64_t from, std::uint64_t end, const std::function<void(const Atom&)>& visit) {
        while (from < end) {
            const auto atom = atom_at(from, end);
            if (!atom) return;
            visit(*atom);
            if (atom->bytes > end - from) return;  // true also for an overflow of offset + bytes
            from = atom->end();
        }
    }

    void walk_quicktime() {
        std::string brand = "qt  ";
        std::vector<std::string> parts;
        std::uint64_t fragments = 0;
        std::uint64_t seen_end = 0;
        bool moov_last = false;
        bool plain = true;
        each_atom(0, size_, [&](const Atom& atom) {
            if (atom.bytes > size_ - atom.offset) note_cut(atom.type, atom.offset, atom.bytes);
            if (atom.type == "ftyp") brand = text(read(atom.body(), 4), 0);
            if (atom.type == "moov") read_moov(atom);
            if (atom.type == "moof") ++fragments;
            plain = plain && is_plain(atom);
            // A truncated file still claims all of its media, and plays up to its end.
            if (atom.type == "mdat") media_end_ = std::max(media_end_, bounded_end(atom));
            seen_end = atom.bytes > size_ - atom.offset ? size_ : atom.end();
            if (fragments > 0 && (atom.type == "moof" || atom.type == "mdat" || atom.type == "styp")) return;
            moov_last = atom.type == "moov";
            if (parts.size() <= kShownAtoms) parts.push_back(describe(atom));
        });
        for (const Atom& table : sample_tables_) check_samples(table);
        const bool seen = steps_ <= kStepsMax && (seen_end == size_ || out_.cut);
        if (!plain || media_end_ == 0 || !seen) out_.header = {};
        if (parts.size() > kShownAtoms) parts.back() = "...";
        out_.fragmented = fragments > 0;
        out_.line = brand == "qt  " ? "MOV: " : fmt::format("MP4 ({}): ", brand);
        out_.line += fmt::format("{}", fmt::join(parts, ", "));
        if (moov_last && fragments == 0 && parts.size() > 2) out_.line += " last";
        if (fragments > 0) out_.line += fmt::format(", {} fragments", show_count(fragments));
        if (seen_end < size_ && !error_) {
            out_.line += fmt::format(", then {} that are no atom", show_bytes(size_ - seen_end));
        }
    }

    /// Takes the place of the header from the atom moov.
    bool is_plain(const Atom& atom) {
        const bool whole = atom.bytes <= size_ - atom.offset && !atom.to_the_end;
        if (atom.offset == 0) return atom.type == "ftyp" && whole && atom.bytes >= atom.header + 8;
        if (atom.type == "moov") {
            if (out_.header.bytes > 0 || !whole) return false;
            out_.header = {atom.body(), atom.bytes - atom.header};
            return true;
        }
        return (atom.type == "mdat" && !atom.to_the_end) || atom.type == "wide" || atom.type == "free" ||
               atom.type == "skip";
    }

    void note_cut(std::string_view what, std::uint64_t offset, std::uint64_t bytes) {
        out_.cut = true;
        out_.notes.push_back(fmt::format(
            "its {} at byte {} claims {} bytes, but the file ends {} bytes behind its beginning: the "
            "file is truncated or damaged",
            what, offset, bytes, size_ - offset));
    }

    /// An AVI of many GB has several. The length of an unfinished one is meaningless; some writers count the 8
    /// bytes of its header.
    void walk_riff() {
        for (std::uint64_t at = 0; at < size_;) {
            const auto head = read(at, 8);
            if (head.size() < 8 || text(head, 0) != "RIFF") return;
            const std::uint64_t bytes = load<std::uint32_t>(head, 4, false);
            if (bytes == 0 || bytes == UINT32_MAX) return;
            if (bytes > size_ - at) return note_cut("RIFF", at, 8 + bytes);
            at += 8 + bytes + bytes % 2;
        }
    }

    /// The first pack of MXF says where the footer is, once the file has one: partition pack, length, and in
    /// the value, behind two versions, a grid and two offsets, the offset of the footer.
    void find_footer() {
        const auto head = read(0, 16);
        const bool pack = head.size() == 16 && load<std::uint32_t>(head, 4, true) == 0x02050101 &&
                          load<std::uint32_t>(head, 8, true) == 0x0d010201 &&
                          load<std::uint16_t>(head, 12, true) == 0x0102;
        const auto length = read(16, 1);
        if (!pack || length.empty()) return;
        const auto first = std::to_integer<std::uint64_t>(length.front());
        const auto field = read(17 + (first >= 0x80 ? first & 0x7f : 0) + 24, 8);
        if (field.size() < 8) return;
        const auto footer = load<std::uint64_t>(field, 0, true);
        if (footer < size_) return;
        out_.cut = true;
        out_.notes.push_back(fmt::format(
            "its footer is to be at byte {}, but the file ends at {}: the file is truncated or damaged", footer,
            size_));
    }

    /// Packets have one length, without error correction or with it.
    void read_packets() {
        for (const std::uint64_t bytes : {188u, 204u}) {
            const auto next = read(bytes, 1);
            if (next.empty() || next.front() != std::byte{0x47}) continue;
            if (size_ % bytes != 0) note_cut("packet", size_ - size_ % bytes, bytes);
            return;
        }
    }

    std::string describe(const Atom& atom) const {
        const std::string bytes = show_bytes(std::min(atom.bytes, size_ - atom.offset));
        if (atom.type != "mdat") return fmt::format("{} {}", atom.type, bytes);
        return fmt::format("{} {} at byte {}{}{}", atom.type, bytes, show_count(atom.offset),
                           atom.header == 16 ? " (64-bit size)" : "", atom.to_the_end ? " (to the end)" : "");
    }

    struct Track {
        bool video = false;
        bool edit_list = false;
        std::optional<std::uint64_t> elsewhere;  // the byte of the reference to another file
        std::optional<Atom> samples;             // the table of their sizes
        int width = 0;
        int height = 0;
    };

    void read_moov(const Atom& moov) {
        bool found = false;
        each_atom(moov.body(), std::min(size_, bounded_end(moov)), [&](const Atom& atom) {
            if (atom.type != "trak") return;
            Track track;
            read_atoms(atom, 0, track);
            if (track.samples && !track.elsewhere) sample_tables_.push_back(*track.samples);
            if (!track.video || found) return;
            found = true;
            out_.edit_list = track.edit_list;
            if (track.elsewhere)
                out_.refusal = {*track.elsewhere, "the frames of its video track are in another file"};
            out_.width = track.width;
            out_.height = track.height;
        });
    }

    static std::uint64_t bounded_end(const Atom& atom) {
        return atom.bytes > UINT64_MAX - atom.offset ? UINT64_MAX : atom.end();
    }

    void read_atoms(const Atom& parent, int depth, Track& track) {
        each_atom(parent.body(), std::min(size_, bounded_end(parent)), [&](const Atom& atom) {
            if (atom.type == "vmhd") track.video = true;
            if (atom.type == "elst") track.edit_list = true;
            if (atom.type == "tkhd") read_raster(atom, track);
            if (atom.type == "dref" && is_elsewhere(atom)) track.elsewhere = atom.offset;
            if (atom.type == "stsz" || atom.type == "stz2") track.samples = atom;
            const bool holds = atom.type == "edts" || atom.type == "mdia" || atom.type == "minf" ||
                               atom.type == "dinf" || atom.type == "stbl";
            if (holds && depth < 4) read_atoms(atom, depth + 1, track);
        });
    }

    /// The last two numbers of a track header, in 1/65536 pixels; how far they are depends on its version.
    void read_raster(const Atom& tkhd, Track& track) {
        const auto version = read(tkhd.body(), 1);
        if (version.empty()) return;
        const auto raster = read(tkhd.body() + (version.front() == std::byte{1} ? 88 : 76), 8);
        if (raster.size() < 8) return;
        track.width = load<std::uint16_t>(raster, 0, true);
        track.height = load<std::uint16_t>(raster, 4, true);
    }

    /// The first data reference: flag 1 says that the data is in this file.
    bool is_elsewhere(const Atom& dref) {
        const auto head = read(dref.body() + 8, 12);
        if (head.size() < 12) return false;
        const std::string type = text(head, 4);
        return (type == "url " || type == "alis" || type == "urn ") &&
               (load<std::uint32_t>(head, 8, true) & 1) == 0;
    }

    /// A table of sample sizes says how many samples there are, and what follows allocates by it: the table has
    /// to hold a size for each, or the media samples of the one size that all have, those of all such tracks
    /// together.
    void check_samples(const Atom& table) {
        const auto head = read(table.body() + 4, 8);
        if (head.size() < 8) return;
        const std::uint64_t count = load<std::uint32_t>(head, 4, true);
        const bool compact = table.type == "stz2";
        const std::uint64_t each = compact ? 0 : load<std::uint32_t>(head, 0, true);
        const std::uint64_t bits = compact ? std::to_integer<std::uint64_t>(head[3]) : 32;
        const std::uint64_t room = std::min(table.bytes, size_ - table.offset) - table.header;
        if (each == 0) {
            if (12 + (count * bits + 7) / 8 <= room) return;
            return refuse(table, fmt::format("its {} claims the sizes of {} samples, but has {} bytes",
                                             table.type, show_count(count), table.bytes));
        }
        samples_ += count;
        sample_bytes_ += Wide{each} * count;
        const Wide media = std::max(size_, media_end_);
        // Two tracks may share their media.
        if (Wide{each} * count <= media && sample_bytes_ <= 2 * media && samples_ <= size_) return;
        const std::string all =
            samples_ == count ? "" : fmt::format(", {} with the tracks before it", show_count(samples_));
        refuse(table, fmt::format("its {} claims {} samples of {} bytes each{}, but the file has {} bytes",
                                  table.type, show_count(count), show_count(each), all, show_count(size_)));
    }

    void refuse(const Atom& atom, std::string why) {
        if (!out_.refusal) out_.refusal = {atom.offset, std::move(why)};
    }

    struct Element {
        std::uint64_t id = 0;
        std::uint64_t body = 0;
        std::uint64_t bytes = 0;
        bool unknown = false;  // its size is: it goes on until one of its own level
    };

    /// One EBML element: two numbers, each of which says in its first byte how long it is.
    std::optional<Element> element_at(std::uint64_t offset) {
        const auto head = read(offset, 12);
        Element element;
        std::size_t at = 0;
        for (int number = 0; number < 2; ++number) {
            if (at >= head.size()) return std::nullopt;
            const auto first = std::to_integer<unsigned>(head[at]);
            std::size_t length = 1;
            while (length <= 8 && (first & (0x100u >> length)) == 0) ++length;
            if (length > (number == 0 ? 4u : 8u) || at + length > head.size()) return std::nullopt;
            std::uint64_t value = number == 0 ? first : first & (0xffu >> length);
            for (std::size_t i = 1; i < length; ++i)
                value = value << 8 | std::to_integer<std::uint64_t>(head[at + i]);
            at += length;
            if (number == 0) {
                element.id = value;
            } else {
                element.bytes = value;
                element.unknown = value == (std::uint64_t{1} << (7 * length)) - 1;
            }
        }
        element.body = offset + at;
        return element;
    }

    void walk_matroska() {
        constexpr std::uint64_t kSegment = 0x18538067;
        constexpr std::uint64_t kCluster = 0x1f43b675;
        constexpr std::uint64_t kCues = 0x1c53bb6b;
        out_.line = "Matroska";
        std::uint64_t clusters = 0;
        bool cues = false;
        bool cues_behind = false;
        bool whole = true;
        for (std::uint64_t at = 0; at < size_;) {
            const auto element = element_at(at);
            if (!element) {
                whole = false;
                break;
            }
            if (element->id == kCluster) ++clusters;
            if (element->id == kCues) {
                cues = true;
                cues_behind = clusters > 0;
            }
            if (!element->unknown && element->bytes > size_ - std::min(size_, element->body) && !out_.cut) {
                note_cut(element->id == kSegment ? "segment" : "element", at,
                         element->bytes + (element->body - at));
            }
            if (element->id == kSegment) {
                at = element->body;
                continue;
            }
            if (element->unknown || element->bytes > size_ - element->body) {
                whole = element->id == kCluster && !element->unknown;
                break;
            }
            at = element->body + element->bytes;
        }
        if (cues_behind) out_.cut = false;
        out_.line += fmt::format(": {}{} clusters{}", whole ? "" : "at least ", show_count(clusters),
                                 cues ? ", cues" : "");
    }

    ByteSource& source_;
    const IndexProgress* progress_;
    std::uint64_t size_ = 0;
    int steps_ = 0;
    std::uint64_t media_end_ = 0;  // end of the mdat atoms by their claim, perhaps behind the end of the file
    std::vector<Atom> sample_tables_;  // sample tables of tracks whose media is in this file
    std::uint64_t samples_ = 0;        // samples of one size, of all tracks so far
    Wide sample_bytes_ = 0;            // of these
    std::array<std::byte, 16> buffer_{};
    std::optional<Error> error_;
    ContainerStructure out_;
};

}  // namespace

Result<ContainerStructure> container_structure(ByteSource& source, const IndexProgress* progress) {
    return Walker(source, progress).walk();
}

}  // namespace streamsim::media
