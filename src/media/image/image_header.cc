#include "media/image/image_header.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/path.h"
#include "base/units.h"
#include "media/image/cineon_header.h"
#include "media/image/dpx.h"
#include "media/image/exr_header.h"
#include "media/image/header_bytes.h"
#include "media/image/tiff_header.h"

namespace streamsim::media {
namespace {

struct Known {
    std::string_view extension;
    ImageKind kind;
};
constexpr Known kKnown[] = {
    {"dpx", ImageKind::dpx},     {"exr", ImageKind::exr},      {"tif", ImageKind::tiff},
    {"tiff", ImageKind::tiff},   {"cin", ImageKind::cineon},   {"jp2", ImageKind::by_size},
    {"j2c", ImageKind::by_size}, {"j2k", ImageKind::by_size},  {"png", ImageKind::by_size},
    {"jpg", ImageKind::by_size}, {"jpeg", ImageKind::by_size}, {"tga", ImageKind::by_size},
    {"dng", ImageKind::by_size}, {"ari", ImageKind::by_size},  {"arx", ImageKind::by_size},
    {"sgi", ImageKind::by_size}, {"rgb", ImageKind::by_size},
};

/// Limit of a side; a header beyond it counts as damaged.
constexpr std::uint64_t kSideMax = 1'000'000;
/// A frame of this size or more counts only when the file is that long.
constexpr std::uint64_t kBelievedBytes = std::uint64_t{1} << 30;

constexpr std::uint64_t kDpxImageOffsetAt = 4;
/// Writers of DPX fill up their lines in more ways than one; a file that is as long as its header declares is
/// whole where that many bytes a line make the difference.
constexpr std::uint64_t kLineFill = 4;

bool same_letters(std::string_view name, std::string_view lower) {
    return std::equal(name.begin(), name.end(), lower.begin(), lower.end(),
                      [](char a, char b) { return to_lower(a) == b; });
}

const Known* find(std::string_view extension) {
    const auto* const at = std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& known) {
        return same_letters(extension, known.extension);
    });
    return at == std::end(kKnown) ? nullptr : at;
}

const Known* find_in(std::string_view name) {
    std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return nullptr;
    const std::string_view last = name.substr(dot + 1);
    const bool digits = !last.empty() && last.find_first_not_of("0123456789") == std::string_view::npos;
    if (!digits) return find(last);
    name = name.substr(0, dot);
    dot = name.rfind('.');
    return dot == std::string_view::npos || dot == 0 ? nullptr : find(name.substr(dot + 1));
}

Error image_past_end(const HeaderBytes& bytes, std::uint64_t at, std::uint64_t begins) {
    return bytes.wrong(at, fmt::format("the image begins at byte {}, expected a place before the end of the "
                                       "file at {}",
                                       begins, bytes.file_bytes()));
}

Result<ImageHeader> read_dpx(HeaderBytes& bytes, const std::string& file) {
    const auto begin = bytes.up_to(0, kDpxHeaderBytes);
    if (!begin) return begin.error();
    const auto dpx = parse_dpx_header(*begin, file);
    if (!dpx) return dpx.error();
    ImageHeader header;
    header.format = dpx->describe();
    header.width = dpx->width;
    header.height = dpx->height;
    header.expected_bytes = dpx->run_length ? 0 : dpx->expected_bytes;
    header.rate = dpx->rate;
    header.timecode = dpx->timecode;
    header.raster_at = 772;
    header.image_begins = dpx->data_offset;
    header.image_begins_at = dpx->data_offset_at;
    // The header states two offsets of the image, one of them behind the end of the file. No writer makes such
    // a header, and readers differ in the offset they take.
    if (dpx->image_offset >= bytes.file_bytes() && dpx->data_offset < bytes.file_bytes())
        return image_past_end(bytes, kDpxImageOffsetAt, dpx->image_offset);
    const bool believed = dpx->declared_bytes == bytes.file_bytes() && !dpx->run_length &&
                          dpx->declared_bytes + kLineFill * dpx->height >= dpx->expected_bytes;
    if (believed) header.expected_bytes = dpx->declared_bytes;
    return header;
}

Result<void> check_against_file(ImageHeader& header, const HeaderBytes& bytes) {
    if (header.width > kSideMax || header.height > kSideMax) {
        return bytes.wrong(header.raster_at,
                           fmt::format("expected a raster of at most {} pixels and lines, found {} x {}",
                                       show_count(kSideMax), header.width, header.height));
    }
    if (header.image_begins >= bytes.file_bytes()) {
        const Error past = image_past_end(bytes, header.image_begins_at, header.image_begins);
        if (header.image_begins > kHeaderBytesMax) return past;
        header.cut = past.problems.front();
    }
    if (header.expected_bytes > kBelievedBytes && header.expected_bytes > bytes.file_bytes()) {
        return bytes.wrong(header.raster_at,
                           fmt::format("by its header ({}) the file has {} bytes; it has {}", header.format,
                                       show_count(header.expected_bytes), show_count(bytes.file_bytes())));
    }
    if (header.cut.empty() && header.expected_bytes > bytes.file_bytes()) {
        const Error ends = bytes.wrong(bytes.file_bytes(),
                                       fmt::format("the file ends here, expected {} bytes by its header ({})",
                                                   show_count(header.expected_bytes), header.format));
        header.cut = ends.problems.front();
    }
    return {};
}

}  // namespace

std::optional<ImageKind> image_kind(std::string_view name) {
    const Known* const known = find_in(name);
    return known == nullptr ? std::nullopt : std::optional(known->kind);
}

std::string image_extension(std::string_view name) {
    const Known* const known = find_in(name);
    return known == nullptr ? "" : std::string(known->extension);
}

std::string known_image_extensions() {
    std::string out;
    for (const Known& known : kKnown) out += fmt::format("{}{}", out.empty() ? "" : ", ", known.extension);
    return out;
}

Result<ImageHeader> read_image_header(ByteSource& source, ImageKind kind, const std::string& file) {
    const auto size = source.size();
    if (!size) return size.error();
    HeaderBytes bytes(source, *size, file);
    const auto read = [&]() -> Result<ImageHeader> {
        switch (kind) {
            case ImageKind::dpx: return read_dpx(bytes, file);
            case ImageKind::exr: return read_exr_header(bytes);
            case ImageKind::tiff: return read_tiff_header(bytes);
            case ImageKind::cineon: return read_cineon_header(bytes);
            case ImageKind::by_size: break;
        }
        if (*size == 0) return bytes.wrong(0, "the file is empty, expected an image");
        ImageHeader header;
        header.format = image_extension(base_name(file));
        return header;
    };
    auto header = read();
    if (!header) return header;
    if (auto fits = check_against_file(*header, bytes); !fits) return fits.error();
    return header;
}

}  // namespace streamsim::media
