#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/byte_order.h"
#include "media/image/image_readers.h"

namespace streamsim::media {
namespace {

constexpr std::uint64_t kEntriesMax = 4096;
/// Longer lists of strips are not read, because the size of the file tells the length too.
constexpr std::uint64_t kListBytesMax = std::uint64_t{256} << 10;

std::size_t type_bytes(std::uint32_t type) {
    constexpr std::size_t kBytes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
    return type < std::size(kBytes) ? kBytes[type] : 0;
}

const char* compression_name(std::uint64_t compression) {
    constexpr std::pair<std::uint64_t, const char*> kNames[] = {
        {1, "none"},     {2, "fax"},      {3, "fax"},     {4, "fax"},     {5, "lzw"},
        {6, "jpeg"},     {7, "jpeg"},     {8, "zip"},     {32946, "zip"}, {32773, "packbits"},
        {34925, "lzma"}, {50000, "zstd"}, {50001, "webp"}};
    for (const auto& [number, name] : kNames) {
        if (number == compression) return name;
    }
    return "compressed";
}

struct Entry {
    std::uint32_t type = 0;
    std::uint64_t count = 0;      // values; 0: the directory has no such entry
    std::uint64_t entry_at = 0;   // byte offset of the entry
    std::uint64_t values_at = 0;  // byte offset of its first value
};

class TiffReader {
public:
    TiffReader(HeaderBytes& bytes, ImageHeader& header) : bytes_(bytes), header_(header) {}

    void read() {
        read_directory(begin());
        read_raster();
        read_image();
        read_rate();
    }

    void read_rate_alone() {
        read_directory(begin());
        read_rate();
    }

private:
    template <typename... Args>
    void fail(std::uint64_t byte, fmt::format_string<Args...> what, Args&&... args) {
        bytes_.fail(byte, fmt::format(what, std::forward<Args>(args)...));
    }

    std::uint64_t number(std::span<const std::byte> from, std::size_t at, std::size_t bytes) const {
        switch (bytes) {
            case 1: return load<std::uint8_t>(from, at, big_endian_);
            case 2: return load<std::uint16_t>(from, at, big_endian_);
            case 4: return load<std::uint32_t>(from, at, big_endian_);
            default: return load<std::uint64_t>(from, at, big_endian_);
        }
    }

    /// The offset of the first directory.
    std::uint64_t begin() {
        const auto head = bytes_.all_of(0, 8, "the beginning of a TIFF file");
        const auto order = load<std::uint16_t>(head, 0, true);
        big_endian_ = order == 0x4d4d;
        const std::uint64_t version = number(head, 2, 2);
        if ((!big_endian_ && order != 0x4949) || (version != 42 && version != 43)) {
            fail(0, "expected II or MM and 42 or 43, the beginning of a TIFF file, found {:08x}",
                 load<std::uint32_t>(head, 0, true));
        }
        big_ = version == 43;
        offset_bytes_ = directory_field_ = big_ ? 8 : 4;
        return number(bytes_.all_of(directory_field_, offset_bytes_, "the offset of the first directory"), 0,
                      offset_bytes_);
    }

    void read_directory(std::uint64_t at) {
        const std::size_t count_bytes = big_ ? 8 : 2;
        const std::size_t entry_bytes = big_ ? 20 : 12;
        if (at < 8 || at >= bytes_.file_bytes()) {
            return fail(directory_field_,
                        "the directory is at byte {}, expected a place before the end of the file at {}", at,
                        bytes_.file_bytes());
        }
        const std::uint64_t count =
            number(bytes_.all_of(at, count_bytes, "the number of entries of the directory"), 0, count_bytes);
        if (count < 1 || count > kEntriesMax)
            return fail(at, "expected 1 to {} entries, found {}", kEntriesMax, count);
        const std::size_t list_bytes = static_cast<std::size_t>(count) * entry_bytes;
        const auto list = bytes_.all_of(at + count_bytes, list_bytes, "an entry of the directory");
        end_ = at + count_bytes + list_bytes + offset_bytes_;
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t entry_at = i * entry_bytes;
            Entry entry;
            entry.type = static_cast<std::uint32_t>(number(list, entry_at + 2, 2));
            entry.count = number(list, entry_at + 4, offset_bytes_);
            entry.entry_at = at + count_bytes + entry_at;
            const std::size_t value_at = entry_at + 4 + offset_bytes_;
            const Wide value_bytes = Wide{entry.count} * type_bytes(entry.type);
            const bool inside = value_bytes <= offset_bytes_;
            entry.values_at = inside ? at + count_bytes + value_at : number(list, value_at, offset_bytes_);
            if (!inside && entry.values_at + value_bytes <= bytes_.file_bytes())
                end_ = std::max(end_, entry.values_at + static_cast<std::uint64_t>(value_bytes));
            remember(number(list, entry_at, 2), entry);
        }
        // The offset of the next directory is optional in practice: a file may end right after its last entry.
        const auto next = bytes_.up_to(at + count_bytes + list_bytes, offset_bytes_);
        more_directories_ = next.size() == offset_bytes_ && number(next, 0, offset_bytes_) != 0;
    }

    /// Keeps the first entry with a tag that is used here; an image is in strips or in tiles.
    void remember(std::uint64_t tag, const Entry& entry) {
        constexpr std::pair<std::uint64_t, Entry TiffReader::*> kTags[] = {
            {256, &TiffReader::width_},       {257, &TiffReader::height_},
            {258, &TiffReader::bits_},        {259, &TiffReader::compression_},
            {277, &TiffReader::samples_},     {339, &TiffReader::sample_format_},
            {273, &TiffReader::offsets_},     {324, &TiffReader::offsets_},
            {279, &TiffReader::sizes_},       {325, &TiffReader::sizes_},
            {51044, &TiffReader::frame_rate_}};
        for (const auto& [known, slot] : kTags) {
            if (known == tag && (this->*slot).count == 0) this->*slot = entry;
        }
    }

    void check_list(const Entry& entry) {
        const Wide end = Wide{entry.values_at} + Wide{entry.count} * type_bytes(entry.type);
        if (entry.count == 0 || end <= bytes_.file_bytes()) return;
        fail(entry.entry_at, "{} values at byte {} go past the end of the file at {}", entry.count,
             entry.values_at, bytes_.file_bytes());
    }

    /// The values of an entry: whole numbers only; a zero after an error. REQUIRES: entry.count > 0.
    std::vector<std::uint64_t> values(const Entry& entry, const char* what) {
        const std::size_t bytes = type_bytes(entry.type);
        const bool whole = entry.type == 1 || entry.type == 3 || entry.type == 4 || entry.type == 13 ||
                           entry.type == 16 || entry.type == 18;
        if (!whole) fail(entry.entry_at + 2, "expected {} as whole numbers, found type {}", what, entry.type);
        check_list(entry);
        if (bytes_.error()) return {0};
        const auto field = bytes_.all_of(entry.values_at, static_cast<std::size_t>(entry.count) * bytes, what);
        std::vector<std::uint64_t> out;
        out.reserve(static_cast<std::size_t>(entry.count));
        for (std::size_t at = 0; at < field.size(); at += bytes) out.push_back(number(field, at, bytes));
        return out;
    }

    /// The first value of an entry that may be missing.
    std::uint64_t first(Entry entry, std::uint64_t otherwise, const char* what) {
        if (entry.count == 0) return otherwise;
        entry.count = 1;  // a list of values may lie elsewhere, but a hostile count is not followed
        return values(entry, what).front();
    }

    void read_raster() {
        for (const auto& [entry, into, what] : {std::tuple{&width_, &header_.width, "the width"},
                                                std::tuple{&height_, &header_.height, "the height"}}) {
            if (entry->count == 0) return fail(directory_field_, "its directory does not say {}", what);
            *into = first(*entry, 0, what);
            if (*into == 0) return fail(entry->entry_at, "{} is 0", what);
        }
        header_.raster_at = width_.entry_at;
    }

    void read_image() {
        const std::uint64_t bits = first(bits_, 1, "the bits of a sample");
        const std::uint64_t samples = first(samples_, 1, "the samples of a pixel");
        const std::uint64_t compression = first(compression_, 1, "the compression");
        const std::uint64_t sample_format = first(sample_format_, 1, "the format of a sample");
        const std::string packing = compression == 1 ? "" : fmt::format(" {}", compression_name(compression));
        header_.format = fmt::format("tiff {} bit{}{} {}x{}", bits, sample_format == 3 ? " float" : "", packing,
                                     header_.width, header_.height);
        if (samples != 3) header_.format += fmt::format(", {} samples", samples);

        if (samples > 1024 || bits < 1 || bits > 64) {
            return fail((samples > 1024 ? samples_ : bits_).entry_at,
                        "expected 1 to 64 bits and up to 1024 samples a pixel, found {} and {}", bits, samples);
        }
        const Wide line = (Wide{header_.width} * samples * bits + 7) / 8;
        if (header_.height > kImageBytesMax || line > kImageBytesMax ||
            line * header_.height > kImageBytesMax) {
            return fail(width_.entry_at, "an image of {} x {} would be larger than a TiB", header_.width,
                        header_.height);
        }
        if (offsets_.count == 0) return fail(directory_field_, "its directory does not say where the image is");
        header_.image_begins_at = offsets_.entry_at;
        check_list(offsets_);
        check_list(sizes_);
        const bool short_list = Wide{offsets_.count} * type_bytes(offsets_.type) <= kListBytesMax &&
                                Wide{sizes_.count} * type_bytes(sizes_.type) <= kListBytesMax;
        if (short_list) place_image(static_cast<std::uint64_t>(line * header_.height), compression != 1);
    }

    void place_image(std::uint64_t image_bytes, bool compressed) {
        const std::vector<std::uint64_t> offsets = values(offsets_, "the offsets of the image");
        header_.image_begins = *std::min_element(offsets.begin(), offsets.end());
        if (compressed) return find_cut(offsets);
        if (more_directories_) return;
        // One strip without a length is the whole image; writers of old left it out.
        std::vector<std::uint64_t> sizes{image_bytes};
        if (sizes_.count > 0) sizes = values(sizes_, "the lengths of the image");
        if (sizes.size() != offsets.size()) {
            return fail(offsets_.entry_at, "expected as many offsets as lengths, found {} and {}",
                        offsets.size(), sizes.size());
        }
        Wide end = end_;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            // Tiles and the last strip may be larger than what is left of the image, but not by much.
            if (sizes[i] > 2 * Wide{image_bytes} + kHeaderBytesMax) {
                return fail(sizes_.entry_at, "expected lengths that fit an image of {} bytes, found {}",
                            image_bytes, sizes[i]);
            }
            end = std::max(end, Wide{offsets[i]} + sizes[i]);
        }
        if (end > kImageBytesMax) return fail(offsets_.entry_at, "expected an image that ends within a TiB");
        header_.expected_bytes = static_cast<std::uint64_t>(end);
    }

    /// A compressed image is as long as its file; its lists only tell whether the image is complete.
    void find_cut(const std::vector<std::uint64_t>& offsets) {
        if (sizes_.count != offsets.size()) return;
        const std::vector<std::uint64_t> sizes = values(sizes_, "the lengths of the image");
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            if (Wide{offsets[i]} + sizes[i] <= bytes_.file_bytes()) continue;
            header_.cut =
                bytes_.problem(bytes_.file_bytes(),
                               fmt::format("the file ends here, expected {} bytes of the image at byte {}",
                                           sizes[i], offsets[i]));
            return;
        }
    }

    /// CinemaDNG's tag, which others use as well: a signed fraction.
    void read_rate() {
        if (frame_rate_.count != 1 || type_bytes(frame_rate_.type) != 8 || frame_rate_.type == 12) return;
        const auto field = bytes_.up_to(frame_rate_.values_at, 8);
        if (field.size() < 8) return;
        const auto num = static_cast<std::int32_t>(load<std::uint32_t>(field, 0, big_endian_));
        const auto den = static_cast<std::int32_t>(load<std::uint32_t>(field, 4, big_endian_));
        if (num > 0 && den > 0) header_.rate = rate_from(static_cast<double>(num) / den);
    }

    HeaderBytes& bytes_;
    ImageHeader& header_;
    bool big_endian_ = false;
    bool big_ = false;  // 64-bit offsets
    std::size_t offset_bytes_ = 4;
    std::uint64_t directory_field_ = 4;  // byte offset of the field that says where the directory is
    std::uint64_t end_ = 0;              // end of the directory and of its values
    bool more_directories_ = false;
    Entry width_, height_, bits_, compression_, samples_, sample_format_, offsets_, sizes_, frame_rate_;
};

}  // namespace

void read_tiff_header(HeaderBytes& bytes, ImageHeader& header) {
    TiffReader(bytes, header).read();
}

std::optional<FrameRate> read_tiff_rate(HeaderBytes& bytes) {
    ImageHeader header;
    TiffReader(bytes, header).read_rate_alone();
    return header.rate;
}

}  // namespace streamsim::media
