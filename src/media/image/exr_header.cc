#include "media/image/exr_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "base/byte_order.h"
#include "base/wide.h"
#include "media/image/image_rate.h"

namespace streamsim::media {
namespace {

constexpr std::uint32_t kMagic = 20000630;  // little-endian: 76 2f 31 01
// Flags of the version field.
constexpr std::uint32_t kTiled = 0x200;
constexpr std::uint32_t kDeep = 0x800;
constexpr std::uint32_t kMultipart = 0x1000;

constexpr std::size_t kNameMax = 256;  // attribute name with its end; 32 without the long-names flag
constexpr std::size_t kPartsMax = 1024;
constexpr std::uint32_t kNegative = 0x80000000;
constexpr Wide kImageBytesMax = Wide{1} << 40;

constexpr const char* kCompressions[] = {"none", "rle",  "zips", "zip",  "piz",  "pxr24",
                                         "b44",  "b44a", "dwaa", "dwab", "htj2k"};

/// Lines in a chunk, by compression; unknown for later compressions.
constexpr int kChunkLines[] = {1, 1, 1, 16, 32, 16, 32, 32, 32, 256};
/// Limit of the table of chunks; no frame has so many lines.
constexpr std::uint64_t kTableBytesMax = std::uint64_t{256} << 10;

struct Channel {
    int type = 0;  // 0 uint, 1 half, 2 float
    std::int64_t x_sampling = 1;
    std::int64_t y_sampling = 1;
};

struct Part {
    std::int64_t x_min = 0;
    std::int64_t y_min = 0;
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::uint64_t window_at = 0;  // 0: not seen
    int compression = -1;         // -1: not seen
    std::vector<Channel> channels;
    std::uint64_t tile_width = 0;  // 0: scan lines
    std::uint64_t tile_height = 0;
    int level_mode = 0;  // 0 one level, 1 each half of the one before, 2 each combination of halves
    bool round_up = false;
    bool deep = false;
    std::optional<FrameRate> rate;
    std::string timecode;
};

/// Bytes of a value whose type says how long it is.
std::optional<std::uint32_t> fixed_bytes(std::string_view type) {
    constexpr std::pair<std::string_view, std::uint32_t> kTypes[] = {
        {"box2f", 16},      {"box2i", 16},   {"chromaticities", 32},
        {"compression", 1}, {"double", 8},   {"envmap", 1},
        {"float", 4},       {"int", 4},      {"keycode", 28},
        {"lineOrder", 1},   {"m33d", 72},    {"m33f", 36},
        {"m44d", 128},      {"m44f", 64},    {"rational", 8},
        {"tiledesc", 9},    {"timecode", 8}, {"v2d", 16},
        {"v2f", 8},         {"v2i", 8},      {"v3d", 24},
        {"v3f", 12},        {"v3i", 12}};
    for (const auto& [name, bytes] : kTypes) {
        if (name == type) return bytes;
    }
    return std::nullopt;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
    return a / b - (a % b < 0 ? 1 : 0);
}

/// Number of coordinates in [min, min + count) are multiples of `sampling`.
std::uint64_t samples(std::int64_t min, std::int64_t count, std::int64_t sampling) {
    return static_cast<std::uint64_t>(floor_div(min + count - 1, sampling) - floor_div(min - 1, sampling));
}

std::uint64_t sample_bytes(const Channel& channel) {
    return channel.type == 1 ? 2 : 4;
}

/// The sizes of one side in each level of detail, the whole first.
std::vector<std::uint64_t> level_sizes(std::uint64_t size, std::uint64_t longest, bool round_up) {
    std::vector<std::uint64_t> sizes{size};
    const std::uint64_t halved = round_up ? (longest > 1 ? longest - 1 : 0) : longest >> 1;
    const auto more = static_cast<int>(std::bit_width(halved));  // levels after the first
    for (int level = 1; level <= more; ++level) {
        const std::uint64_t up = round_up ? (std::uint64_t{1} << level) - 1 : 0;
        sizes.push_back(std::max<std::uint64_t>(1, (size + up) >> level));
    }
    return sizes;
}

/// Offset table and chunks of an uncompressed part.
Wide part_bytes(const Part& part, bool multipart) {
    const Wide part_number = multipart ? 4 : 0;
    if (part.tile_width == 0) {
        Wide bytes = 0;
        for (const Channel& channel : part.channels) {
            bytes += Wide{samples(part.x_min, part.width, channel.x_sampling)} *
                     samples(part.y_min, part.height, channel.y_sampling) * sample_bytes(channel);
        }
        return bytes + (8 + 4 + 4 + part_number) * static_cast<std::uint64_t>(part.height);
    }
    std::uint64_t pixel = 0;
    for (const Channel& channel : part.channels) pixel += sample_bytes(channel);
    const auto width = static_cast<std::uint64_t>(part.width);
    const auto height = static_cast<std::uint64_t>(part.height);
    const bool ripmap = part.level_mode == 2;
    auto widths = level_sizes(width, ripmap ? width : std::max(width, height), part.round_up);
    auto heights = level_sizes(height, ripmap ? height : std::max(width, height), part.round_up);
    if (part.level_mode == 0) {
        widths.resize(1);
        heights.resize(1);
    }
    Wide bytes = 0;
    const auto add = [&](std::uint64_t w, std::uint64_t h) {
        const Wide tiles =
            Wide{(w + part.tile_width - 1) / part.tile_width} * ((h + part.tile_height - 1) / part.tile_height);
        bytes += Wide{w} * h * pixel + tiles * (8 + 16 + 4 + part_number);
    };
    for (std::size_t y = 0; y < heights.size(); ++y) {
        if (!ripmap) {
            add(widths[y], heights[y]);
            continue;
        }
        for (const std::uint64_t w : widths) add(w, heights[y]);
    }
    return bytes;
}

std::string type_name(const Part& part) {
    if (part.channels.empty()) return "no channels";
    const int type = part.channels.front().type;
    for (const Channel& channel : part.channels) {
        if (channel.type != type) return "mixed";
    }
    constexpr const char* kTypes[] = {"uint", "half", "float"};
    return kTypes[type];
}

class ExrReader {
public:
    explicit ExrReader(HeaderBytes& bytes) : bytes_(bytes) {}

    Result<ImageHeader> read() {
        const auto begin = bytes_.all_of(0, 8, "the beginning of an OpenEXR file");
        if (!begin) return begin.error();
        const auto magic = load<std::uint32_t>(*begin, 0, false);
        const auto version = load<std::uint32_t>(*begin, 4, false);
        if (magic != kMagic) {
            return bytes_.wrong(0, fmt::format("expected 76 2f 31 01, the beginning of an OpenEXR file, found "
                                               "{:08x}",
                                               load<std::uint32_t>(*begin, 0, true)));
        }
        if ((version & 0xff) != 2) {
            return bytes_.wrong(4, fmt::format("expected version 2 of OpenEXR, found {}", version & 0xff));
        }
        flags_ = version;
        at_ = 8;
        const bool multipart = (flags_ & kMultipart) != 0;
        do {
            Part part;
            part.deep = (flags_ & kDeep) != 0;
            if (auto done = read_part(part); !done) return done.error();
            parts_.push_back(std::move(part));
            if (!multipart) break;
            if (parts_.size() > kPartsMax)
                return bytes_.wrong(at_, fmt::format("expected no more than {} parts", kPartsMax));
            const auto next = bytes_.all_of(at_, 1, "another part, or the end of the list of parts");
            if (!next) return next.error();
            if ((*next)[0] != std::byte{0}) continue;
            ++at_;
            break;
        } while (true);
        auto header = result(multipart);
        if (!header || multipart || header->expected_bytes > 0) return header;
        if (auto ends = find_cut(parts_.front(), *header); !ends) return ends.error();
        return header;
    }

private:
    /// A table lists the chunks of compressed lines; the last chunk shows whether the file is whole.
    Result<void> find_cut(const Part& part, ImageHeader& header) {
        const bool known = part.compression < static_cast<int>(std::size(kChunkLines));
        if (!known || part.deep || part.tile_width > 0) return {};
        const auto lines = static_cast<std::uint64_t>(kChunkLines[part.compression]);
        const std::uint64_t table_bytes = (static_cast<std::uint64_t>(part.height) + lines - 1) / lines * 8;
        if (table_bytes > kTableBytesMax || at_ >= bytes_.file_bytes()) return {};
        const auto table = bytes_.up_to(at_, static_cast<std::size_t>(table_bytes));
        if (!table) return of_environment(table.error());
        std::uint64_t last = at_ + table_bytes;
        for (std::size_t at = 0; at + 8 <= table->size(); at += 8)
            last = std::max(last, load<std::uint64_t>(*table, at, false));
        const auto chunk = bytes_.up_to(last, 8);
        if (!chunk) return of_environment(chunk.error());
        const bool whole =
            chunk->size() == 8 && load<std::uint32_t>(*chunk, 4, false) <= bytes_.file_bytes() - last - 8;
        if (whole) return {};
        header.cut =
            bytes_
                .wrong(bytes_.file_bytes(),
                       fmt::format("the file ends here, expected the chunk of lines at byte {} by its table",
                                   last))
                .problems.front();
        return {};
    }

    /// A check beyond the part of the header that was read is skipped without an error.
    static Result<void> of_environment(const Error& error) {
        if (error.kind == ErrorKind::bad_input) return {};
        return error;
    }

    /// A text that ends with a zero.
    Result<std::string> text(const char* what) {
        const auto have = bytes_.up_to(at_, kNameMax);
        if (!have) return have.error();
        const auto end = std::find(have->begin(), have->end(), std::byte{0});
        if (end == have->end()) {
            if (have->size() < kNameMax) {
                return bytes_.wrong(bytes_.file_bytes(), fmt::format("the file ends here, expected {}", what));
            }
            return bytes_.wrong(at_, fmt::format("expected {} of at most {} letters", what, kNameMax - 1));
        }
        std::string out(reinterpret_cast<const char*>(have->data()),
                        static_cast<std::size_t>(end - have->begin()));
        at_ += out.size() + 1;
        return out;
    }

    Result<void> read_part(Part& part) {
        const std::uint64_t begin = at_;
        for (;;) {
            const std::uint64_t attribute_at = at_;
            const auto name = text("the name of an attribute");
            if (!name) return name.error();
            if (name->empty()) break;
            const auto type = text("the type of an attribute");
            if (!type) return type.error();
            const auto size_field = bytes_.all_of(at_, 4, "the size of an attribute");
            if (!size_field) return size_field.error();
            const auto written = load<std::uint32_t>(*size_field, 0, false);
            const std::uint64_t value = at_ + 4;
            if (written >= kNegative) {
                return bytes_.wrong(at_, fmt::format("the attribute at byte {} has a negative size, {}",
                                                     attribute_at, static_cast<std::int32_t>(written)));
            }
            // Values whose kind implies a length are read by that length, as all readers do, because some files
            // state wrong sizes.
            if (*type == "chlist") {
                at_ = value;
                if (auto read = read_channels(part); !read) return read.error();
                continue;
            }
            const std::uint32_t size = fixed_bytes(*type).value_or(written);
            if (size > bytes_.file_bytes() || value > bytes_.file_bytes() - size) {
                return bytes_.wrong(at_,
                                    fmt::format("the attribute at byte {} has {} bytes, more than there are "
                                                "up to the end of the file at {}",
                                                attribute_at, size, bytes_.file_bytes()));
            }
            at_ = value;
            if (auto read = read_attribute(*name, *type, size, part); !read) return read.error();
            at_ = value + size;
        }
        return check_part(part, begin);
    }

    Result<void> check_part(const Part& part, std::uint64_t begin) const {
        if (part.window_at == 0) return bytes_.wrong(begin, "expected a header with the attribute dataWindow");
        if (part.compression < 0)
            return bytes_.wrong(begin, "expected a header with the attribute compression");
        if (part.channels.empty()) return bytes_.wrong(begin, "expected a header with at least one channel");
        const bool tiled = (flags_ & kTiled) != 0 && (flags_ & kMultipart) == 0;
        if (tiled && part.tile_width == 0)
            return bytes_.wrong(begin, "expected a header with the attribute tiles");
        return {};
    }

    Result<void> read_attribute(const std::string& name,
                                const std::string& type,
                                std::uint32_t size,
                                Part& part) {
        const auto value = [&](std::size_t bytes) { return bytes_.all_of(at_, bytes, name); };
        if (name == "compression" && type == "compression") {
            const auto field = value(1);
            if (!field) return field.error();
            part.compression = std::to_integer<int>((*field)[0]);
        } else if (name == "dataWindow" && type == "box2i") {
            const auto field = value(16);
            if (!field) return field.error();
            return read_window(*field, part);
        } else if (name == "tiles" && type == "tiledesc") {
            const auto field = value(9);
            if (!field) return field.error();
            return read_tiles(*field, part);
        } else if (name == "type" && type == "string" && size < kNameMax) {
            const auto field = value(size);
            if (!field) return field.error();
            const std::string kind(reinterpret_cast<const char*>(field->data()), field->size());
            part.deep = part.deep || kind.starts_with("deep");
        } else if (name == "framesPerSecond" && type == "rational") {
            const auto field = value(8);
            if (!field) return field.error();
            const auto num = static_cast<std::int32_t>(load<std::uint32_t>(*field, 0, false));
            const auto den = load<std::uint32_t>(*field, 4, false);
            if (num > 0 && den > 0) part.rate = rate_from(static_cast<double>(num) / static_cast<double>(den));
        } else if (name == "timeCode" && type == "timecode") {
            const auto field = value(8);
            if (!field) return field.error();
            part.timecode = time_code(load<std::uint32_t>(*field, 0, false));
        }
        return {};
    }

    /// SMPTE: two digits a byte, flags above them: frames, seconds, minutes, hours from the low end.
    static std::string time_code(std::uint32_t field) {
        const auto two = [&](unsigned shift, unsigned tens_mask) {
            return (field >> (shift + 4) & tens_mask) * 10 + (field >> shift & 15);
        };
        const unsigned hours = two(24, 3);
        const unsigned minutes = two(16, 7);
        const unsigned seconds = two(8, 7);
        if (field == 0 || hours > 23 || minutes > 59 || seconds > 59) return "";
        return fmt::format("{:02}:{:02}:{:02}:{:02}", hours, minutes, seconds, two(0, 3));
    }

    Result<void> read_window(std::span<const std::byte> field, Part& part) {
        const auto i32 = [&](std::size_t offset) {
            return std::int64_t{static_cast<std::int32_t>(load<std::uint32_t>(field, offset, false))};
        };
        part.window_at = at_;
        part.x_min = i32(0);
        part.y_min = i32(4);
        part.width = i32(8) - i32(0) + 1;
        part.height = i32(12) - i32(4) + 1;
        if (part.width >= 1 && part.height >= 1) return {};
        return bytes_.wrong(at_, fmt::format("expected a data window of one pixel at least, found ({}, {}) to "
                                             "({}, {})",
                                             i32(0), i32(4), i32(8), i32(12)));
    }

    Result<void> read_tiles(std::span<const std::byte> field, Part& part) {
        part.tile_width = load<std::uint32_t>(field, 0, false);
        part.tile_height = load<std::uint32_t>(field, 4, false);
        const auto mode = std::to_integer<unsigned>(field[8]);
        part.level_mode = static_cast<int>(mode & 15);
        part.round_up = mode >> 4 != 0;
        if (part.tile_width > 0 && part.tile_height > 0 && part.level_mode <= 2) return {};
        return bytes_.wrong(at_,
                            fmt::format("expected tiles with a size and a level mode of 0 to 2, found {} x "
                                        "{}, mode {}",
                                        part.tile_width, part.tile_height, part.level_mode));
    }

    Result<void> read_channels(Part& part) {
        for (;;) {
            const auto name = text("the name of a channel");
            if (!name) return name.error();
            if (name->empty()) return {};
            const auto field = bytes_.all_of(at_, 16, "a channel");
            if (!field) return field.error();
            Channel channel;
            channel.type = static_cast<int>(load<std::uint32_t>(*field, 0, false) & 0xff);
            channel.x_sampling = static_cast<std::int32_t>(load<std::uint32_t>(*field, 8, false));
            channel.y_sampling = static_cast<std::int32_t>(load<std::uint32_t>(*field, 12, false));
            if (load<std::uint32_t>(*field, 0, false) > 2) {
                return bytes_.wrong(at_, fmt::format("expected pixel type 0, 1 or 2, found {}",
                                                     load<std::uint32_t>(*field, 0, false)));
            }
            if (channel.x_sampling < 1 || channel.y_sampling < 1) {
                return bytes_.wrong(at_ + 8, fmt::format("expected a sampling of 1 or more, found {} and {}",
                                                         channel.x_sampling, channel.y_sampling));
            }
            part.channels.push_back(channel);
            at_ += 16;
        }
    }

    Result<ImageHeader> result(bool multipart) const {
        const Part& first = parts_.front();
        ImageHeader header;
        header.width = static_cast<std::uint64_t>(first.width);
        header.height = static_cast<std::uint64_t>(first.height);
        header.raster_at = first.window_at;
        header.rate = first.rate;
        header.timecode = first.timecode;
        Wide bytes = at_;
        bool by_size = false;
        for (const Part& part : parts_) {
            by_size = by_size || part.deep || part.compression != 0;
            if (by_size) break;
            bytes += part_bytes(part, multipart);
            if (bytes > kImageBytesMax) {
                return bytes_.wrong(part.window_at, fmt::format("an image of {} x {} with {} channels would be "
                                                                "larger than a TiB",
                                                                part.width, part.height, part.channels.size()));
            }
        }
        if (!by_size) header.expected_bytes = static_cast<std::uint64_t>(bytes);
        header.image_begins = at_;
        header.image_begins_at = 8;
        const auto known = static_cast<int>(std::size(kCompressions));
        const std::string compression = first.compression < known
                                            ? kCompressions[first.compression]
                                            : fmt::format("compression {}", first.compression);
        header.format =
            fmt::format("exr {}{} {}{} {}x{}", first.deep ? "deep " : "", type_name(first), compression,
                        first.tile_width > 0 ? " tiled" : "", first.width, first.height);
        if (parts_.size() > 1) header.format += fmt::format(", {} parts", parts_.size());
        return header;
    }

    HeaderBytes& bytes_;
    std::uint32_t flags_ = 0;
    std::uint64_t at_ = 0;
    std::vector<Part> parts_;
};

}  // namespace

Result<ImageHeader> read_exr_header(HeaderBytes& bytes) {
    return ExrReader(bytes).read();
}

}  // namespace streamsim::media
