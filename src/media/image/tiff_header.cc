#include "media/image/tiff_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/byte_order.h"
#include "base/wide.h"
#include "media/image/image_rate.h"

namespace streamsim::media {
namespace {

// Tags that are used here.
constexpr std::uint32_t kWidth = 256;
constexpr std::uint32_t kHeight = 257;
constexpr std::uint32_t kBits = 258;
constexpr std::uint32_t kCompression = 259;
constexpr std::uint32_t kStripOffsets = 273;
constexpr std::uint32_t kSamples = 277;
constexpr std::uint32_t kStripBytes = 279;
constexpr std::uint32_t kTileOffsets = 324;
constexpr std::uint32_t kTileBytes = 325;
constexpr std::uint32_t kSampleFormat = 339;
constexpr std::uint32_t kFrameRate = 51044;

constexpr std::uint64_t kEntriesMax = 4096;
/// Longer lists of strips are not read, because the size of the file tells the length too.
constexpr std::uint64_t kListBytesMax = std::uint64_t{256} << 10;
constexpr Wide kImageBytesMax = Wide{1} << 40;

std::size_t type_bytes(std::uint32_t type) {
    constexpr std::size_t kBytes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
    return type < std::size(kBytes) ? kBytes[type] : 0;
}

const char* compression_name(std::uint64_t compression) {
    switch (compression) {
        case 1: return "none";
        case 2:
        case 3:
        case 4: return "fax";
        case 5: return "lzw";
        case 6:
        case 7: return "jpeg";
        case 8:
        case 32946: return "zip";
        case 32773: return "packbits";
        case 34925: return "lzma";
        case 50000: return "zstd";
        case 50001: return "webp";
        default: return "compressed";
    }
}

struct Entry {
    std::uint32_t type = 0;
    std::uint64_t count = 0;      // values; 0: the directory has no such entry
    std::uint64_t entry_at = 0;   // byte offset of the entry
    std::uint64_t values_at = 0;  // byte offset of its first value
};

class TiffReader {
public:
    explicit TiffReader(HeaderBytes& bytes) : bytes_(bytes) {}

    Result<ImageHeader> read() {
        auto directory = begin();
        if (!directory) return directory.error();
        if (auto entries = read_directory(*directory); !entries) return entries.error();
        if (auto raster = read_raster(); !raster) return raster.error();
        if (auto image = read_image(); !image) return image.error();
        if (auto rate = read_rate(); !rate) return rate.error();
        return header_;
    }

private:
    std::uint64_t number(std::span<const std::byte> from, std::size_t at, std::size_t bytes) const {
        switch (bytes) {
            case 1: return load<std::uint8_t>(from, at, big_endian_);
            case 2: return load<std::uint16_t>(from, at, big_endian_);
            case 4: return load<std::uint32_t>(from, at, big_endian_);
            default: return load<std::uint64_t>(from, at, big_endian_);
        }
    }

    /// The offset of the first directory.
    Result<std::uint64_t> begin() {
        const auto head = bytes_.all_of(0, 8, "the beginning of a TIFF file");
        if (!head) return head.error();
        const auto order = load<std::uint16_t>(*head, 0, true);
        big_endian_ = order == 0x4d4d;
        const std::uint64_t version = number(*head, 2, 2);
        if ((!big_endian_ && order != 0x4949) || (version != 42 && version != 43)) {
            return bytes_.wrong(0, fmt::format("expected II or MM and 42 or 43, the beginning of a TIFF file, "
                                               "found {:08x}",
                                               load<std::uint32_t>(*head, 0, true)));
        }
        big_ = version == 43;
        directory_field_ = big_ ? 8 : 4;
        const std::size_t offset_bytes = big_ ? 8 : 4;
        const auto field = bytes_.all_of(directory_field_, offset_bytes, "the offset of the first directory");
        if (!field) return field.error();
        return number(*field, 0, offset_bytes);
    }

    Result<void> read_directory(std::uint64_t at) {
        const std::size_t count_bytes = big_ ? 8 : 2;
        const std::size_t entry_bytes = big_ ? 20 : 12;
        const std::size_t offset_bytes = big_ ? 8 : 4;
        if (at < 8 || at >= bytes_.file_bytes()) {
            return bytes_.wrong(directory_field_, fmt::format("the directory is at byte {}, expected a place "
                                                              "before the end of the file at {}",
                                                              at, bytes_.file_bytes()));
        }
        const auto count_field = bytes_.all_of(at, count_bytes, "the number of entries of the directory");
        if (!count_field) return count_field.error();
        const std::uint64_t count = number(*count_field, 0, count_bytes);
        if (count < 1 || count > kEntriesMax) {
            return bytes_.wrong(at, fmt::format("expected 1 to {} entries, found {}", kEntriesMax, count));
        }
        const std::size_t list_bytes = static_cast<std::size_t>(count) * entry_bytes;
        const auto list = bytes_.all_of(at + count_bytes, list_bytes, "an entry of the directory");
        if (!list) return list.error();
        end_ = at + count_bytes + list_bytes + offset_bytes;
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t entry_at = i * entry_bytes;
            const auto tag = static_cast<std::uint32_t>(number(*list, entry_at, 2));
            Entry entry;
            entry.type = static_cast<std::uint32_t>(number(*list, entry_at + 2, 2));
            entry.count = number(*list, entry_at + 4, offset_bytes);
            entry.entry_at = at + count_bytes + entry_at;
            const std::size_t value_at = entry_at + 4 + offset_bytes;
            const Wide value_bytes = Wide{entry.count} * type_bytes(entry.type);
            const bool inside = value_bytes <= offset_bytes;
            entry.values_at = inside ? at + count_bytes + value_at : number(*list, value_at, offset_bytes);
            if (!inside && entry.values_at + value_bytes <= bytes_.file_bytes())
                end_ = std::max(end_, entry.values_at + static_cast<std::uint64_t>(value_bytes));
            remember(tag, entry);
        }
        // The offset of the next directory is optional in practice: a file may end right after its last entry.
        const auto next = bytes_.up_to(at + count_bytes + list_bytes, offset_bytes);
        if (!next) return next.error();
        more_directories_ = next->size() == offset_bytes && number(*next, 0, offset_bytes) != 0;
        return {};
    }

    void remember(std::uint32_t tag, const Entry& entry) {
        for (const auto& [known, slot] : slots()) {
            if (known == tag && slot->count == 0) *slot = entry;
        }
    }
    std::vector<std::pair<std::uint32_t, Entry*>> slots() {
        return {{kWidth, &width_},          {kHeight, &height_},        {kBits, &bits_},
                {kCompression, &packed_},   {kStripOffsets, &offsets_}, {kSamples, &samples_},
                {kStripBytes, &sizes_},     {kTileOffsets, &offsets_},  {kTileBytes, &sizes_},
                {kSampleFormat, &numbers_}, {kFrameRate, &frame_rate_}};
    }

    Result<void> check_list(const Entry& entry) const {
        const Wide end = Wide{entry.values_at} + Wide{entry.count} * type_bytes(entry.type);
        if (entry.count == 0 || end <= bytes_.file_bytes()) return {};
        return bytes_.wrong(entry.entry_at,
                            fmt::format("{} values at byte {} go past the end of the file at {}", entry.count,
                                        entry.values_at, bytes_.file_bytes()));
    }

    /// The values of an entry: whole numbers only. REQUIRES: entry.count > 0.
    Result<std::vector<std::uint64_t>> values(const Entry& entry, const char* what) {
        const std::size_t bytes = type_bytes(entry.type);
        const bool whole = entry.type == 1 || entry.type == 3 || entry.type == 4 || entry.type == 13 ||
                           entry.type == 16 || entry.type == 18;
        if (!whole) {
            return bytes_.wrong(entry.entry_at + 2,
                                fmt::format("expected {} as whole numbers, found type {}", what, entry.type));
        }
        if (auto fits = check_list(entry); !fits) return fits.error();
        const auto field = bytes_.all_of(entry.values_at, static_cast<std::size_t>(entry.count) * bytes, what);
        if (!field) return field.error();
        std::vector<std::uint64_t> out;
        out.reserve(static_cast<std::size_t>(entry.count));
        for (std::size_t at = 0; at < field->size(); at += bytes) out.push_back(number(*field, at, bytes));
        return out;
    }

    /// The first value of an entry that may be missing.
    Result<std::uint64_t> first(Entry entry, std::uint64_t otherwise, const char* what) {
        if (entry.count == 0) return otherwise;
        // Only the first: a list of values may lie elsewhere, but a hostile count is not followed.
        entry.count = std::min<std::uint64_t>(entry.count, 1);
        const auto all = values(entry, what);
        if (!all) return all.error();
        return all->front();
    }

    Result<void> read_raster() {
        for (const auto& [entry, into, what] : {std::tuple{&width_, &header_.width, "the width"},
                                                std::tuple{&height_, &header_.height, "the height"}}) {
            if (entry->count == 0) {
                return bytes_.wrong(directory_field_, fmt::format("its directory does not say {}", what));
            }
            const auto value = first(*entry, 0, what);
            if (!value) return value.error();
            if (*value == 0) return bytes_.wrong(entry->entry_at, fmt::format("{} is 0", what));
            *into = *value;
        }
        header_.raster_at = width_.entry_at;
        return {};
    }

    Result<void> read_image() {
        const auto bits = first(bits_, 1, "the bits of a sample");
        if (!bits) return bits.error();
        const auto samples = first(samples_, 1, "the samples of a pixel");
        if (!samples) return samples.error();
        const auto compression = first(packed_, 1, "the compression");
        if (!compression) return compression.error();
        const auto numbers = first(numbers_, 1, "the format of a sample");
        if (!numbers) return numbers.error();
        const std::string packing = *compression == 1 ? "" : fmt::format(" {}", compression_name(*compression));
        header_.format = fmt::format("tiff {} bit{}{} {}x{}", *bits, *numbers == 3 ? " float" : "", packing,
                                     header_.width, header_.height);
        if (*samples != 3) header_.format += fmt::format(", {} samples", *samples);

        const Wide line = (Wide{header_.width} * *samples * *bits + 7) / 8;
        const bool possible = *samples <= 1024 && *bits >= 1 && *bits <= 64;
        if (!possible) {
            const Entry& entry = *samples > 1024 ? samples_ : bits_;
            return bytes_.wrong(entry.entry_at, fmt::format("expected 1 to 64 bits and up to 1024 samples a "
                                                            "pixel, found {} and {}",
                                                            *bits, *samples));
        }
        if (header_.height > kImageBytesMax || line > kImageBytesMax ||
            line * header_.height > kImageBytesMax) {
            return bytes_.wrong(width_.entry_at, fmt::format("an image of {} x {} would be larger than a TiB",
                                                             header_.width, header_.height));
        }
        if (offsets_.count == 0)
            return bytes_.wrong(directory_field_, "its directory does not say where the image is");
        header_.image_begins_at = offsets_.entry_at;
        for (const Entry* const list : {&offsets_, &sizes_}) {
            if (auto fits = check_list(*list); !fits) return fits.error();
        }
        const bool short_list = Wide{offsets_.count} * type_bytes(offsets_.type) <= kListBytesMax &&
                                Wide{sizes_.count} * type_bytes(sizes_.type) <= kListBytesMax;
        if (!short_list) return {};
        return place_image(static_cast<std::uint64_t>(line * header_.height), *compression != 1);
    }

    /// Reads the locations of the strips or tiles.
    Result<void> place_image(std::uint64_t image_bytes, bool compressed) {
        const auto offsets = values(offsets_, "the offsets of the image");
        if (!offsets) return offsets.error();
        header_.image_begins = *std::min_element(offsets->begin(), offsets->end());
        if (compressed) return find_cut(*offsets);
        if (more_directories_) return {};
        // One strip without a length is the whole image; writers of old left it out.
        std::vector<std::uint64_t> sizes{image_bytes};
        if (sizes_.count > 0) {
            auto listed = values(sizes_, "the lengths of the image");
            if (!listed) return listed.error();
            sizes = std::move(*listed);
        }
        if (sizes.size() != offsets->size()) {
            return bytes_.wrong(offsets_.entry_at, fmt::format("expected as many offsets as lengths, found {} "
                                                               "and {}",
                                                               offsets->size(), sizes.size()));
        }
        Wide end = end_;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            // Tiles and the last strip may be larger than what is left of the image, but not by much.
            if (sizes[i] > 2 * Wide{image_bytes} + kHeaderBytesMax) {
                return bytes_.wrong(sizes_.entry_at,
                                    fmt::format("expected lengths that fit an image of {} bytes, "
                                                "found {}",
                                                image_bytes, sizes[i]));
            }
            end = std::max(end, Wide{(*offsets)[i]} + sizes[i]);
        }
        if (end > kImageBytesMax) {
            return bytes_.wrong(offsets_.entry_at, "expected an image that ends within a TiB");
        }
        header_.expected_bytes = static_cast<std::uint64_t>(end);
        return {};
    }

    /// A compressed image is as long as its file; its lists only tell whether the image is complete.
    Result<void> find_cut(const std::vector<std::uint64_t>& offsets) {
        if (sizes_.count != offsets.size()) return {};
        const auto sizes = values(sizes_, "the lengths of the image");
        if (!sizes) return sizes.error();
        for (std::size_t i = 0; i < sizes->size(); ++i) {
            const Wide end = Wide{offsets[i]} + (*sizes)[i];
            if (end <= bytes_.file_bytes()) continue;
            const Error ends = bytes_.wrong(
                bytes_.file_bytes(), fmt::format("the file ends here, expected {} bytes of the image at byte "
                                                 "{}",
                                                 (*sizes)[i], offsets[i]));
            header_.cut = ends.problems.front();
            break;
        }
        return {};
    }

    /// CinemaDNG's tag, which others use as well: a signed fraction.
    Result<void> read_rate() {
        if (frame_rate_.count != 1 || type_bytes(frame_rate_.type) != 8 || frame_rate_.type == 12) return {};
        const auto field = bytes_.up_to(frame_rate_.values_at, 8);
        if (!field) return field.error();
        if (field->size() < 8) return {};
        const auto num = static_cast<std::int32_t>(load<std::uint32_t>(*field, 0, big_endian_));
        const auto den = static_cast<std::int32_t>(load<std::uint32_t>(*field, 4, big_endian_));
        if (num > 0 && den > 0) header_.rate = rate_from(static_cast<double>(num) / den);
        return {};
    }

    HeaderBytes& bytes_;
    bool big_endian_ = false;
    bool big_ = false;  // 64-bit offsets
    std::uint64_t directory_field_ = 4;
    std::uint64_t end_ = 0;  // end of the directory and of its values
    bool more_directories_ = false;
    Entry width_, height_, bits_, packed_, offsets_, samples_, sizes_, numbers_, frame_rate_;
    ImageHeader header_;
};

}  // namespace

Result<ImageHeader> read_tiff_header(HeaderBytes& bytes) {
    return TiffReader(bytes).read();
}

}  // namespace streamsim::media
