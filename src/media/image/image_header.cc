#include "media/image/image_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/path.h"
#include "base/units.h"
#include "media/image/dpx.h"
#include "media/image/image_readers.h"

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

/// Most headers are within the first few KiB; a reader that comes back for more gets more at a time.
constexpr std::size_t kFirstWindow = std::size_t{8} << 10;
constexpr std::size_t kWindow = std::size_t{64} << 10;

/// Limit of a side; a header beyond it counts as damaged.
constexpr std::uint64_t kSideMax = 1'000'000;
/// A frame of this size or more counts only when the file is that long.
constexpr std::uint64_t kBelievedBytes = std::uint64_t{1} << 30;

const Known* find_in(std::string_view name) {
    std::string extension = extension_of(name);
    const bool digits = !extension.empty() && extension.find_first_not_of("0123456789") == std::string::npos;
    if (digits) extension = extension_of(name.substr(0, name.size() - extension.size() - 1));
    const auto* const at = std::find_if(std::begin(kKnown), std::end(kKnown),
                                        [&](const Known& known) { return known.extension == extension; });
    return at == std::end(kKnown) ? nullptr : at;
}

std::string image_past_end(const HeaderBytes& bytes, std::uint64_t at, std::uint64_t begins) {
    return bytes.problem(
        at, fmt::format("the image begins at byte {}, expected a place before the end of the file at {}",
                        begins, bytes.file_bytes()));
}

void read_dpx(HeaderBytes& bytes, const std::string& file, ImageHeader& header) {
    const auto dpx = parse_dpx_header(bytes.up_to(0, kDpxHeaderBytes), file);
    if (!dpx) return bytes.fail(dpx.error());
    header = static_cast<const ImageHeader&>(*dpx);
    if (dpx->run_length) header.expected_bytes = 0;
    // The header states two offsets of the image, one of them behind the end of the file. No writer makes such
    // a header, and readers differ in the offset they take.
    if (dpx->image_offset >= bytes.file_bytes() && dpx->image_begins < bytes.file_bytes())
        return bytes.fail(bad_input(image_past_end(bytes, dpx_fields::kImageOffset, dpx->image_offset)));
    // A file that is as long as its header declares is whole.
    const bool believed = dpx->declared_bytes == bytes.file_bytes() && !dpx->run_length &&
                          dpx->declared_bytes + kLineFill * dpx->height >= dpx->expected_bytes;
    if (believed) header.expected_bytes = dpx->declared_bytes;
}

void read_by_size(HeaderBytes& bytes, ByteSource& source, const std::string& file, ImageHeader& header) {
    if (bytes.file_bytes() == 0) bytes.fail(0, "the file is empty, expected an image");
    if (const Known* const known = find_in(base_name(file))) header.format = known->extension;
    header.rate_is_read = header.format == "dng";
    if (!header.rate_is_read) return;
    HeaderBytes alone(source, bytes.file_bytes(), file);  // its errors are none of the image
    header.rate = read_tiff_rate(alone);
}

void check_against_file(ImageHeader& header, HeaderBytes& bytes) {
    if (header.width > kSideMax || header.height > kSideMax) {
        return bytes.fail(header.raster_at,
                          fmt::format("expected a raster of at most {} pixels and lines, found {} x {}",
                                      show_count(kSideMax), header.width, header.height));
    }
    if (header.image_begins >= bytes.file_bytes()) {
        header.cut = image_past_end(bytes, header.image_begins_at, header.image_begins);
        if (header.image_begins > kHeaderBytesMax) return bytes.fail(bad_input(header.cut));
    }
    if (header.expected_bytes > kBelievedBytes && header.expected_bytes > bytes.file_bytes()) {
        return bytes.fail(header.raster_at,
                          fmt::format("by its header ({}) the file has {} bytes; it has {}", header.format,
                                      show_count(header.expected_bytes), show_count(bytes.file_bytes())));
    }
    if (header.cut.empty() && header.expected_bytes > bytes.file_bytes()) {
        header.cut = bytes.problem(bytes.file_bytes(),
                                   fmt::format("the file ends here, expected {} bytes by its header ({})",
                                               show_count(header.expected_bytes), header.format));
    }
}

}  // namespace

std::string HeaderBytes::problem(std::uint64_t byte, const std::string& what) const {
    return fmt::format("{}: byte {}: {}", file_, byte, what);
}

Result<std::span<const std::byte>> HeaderBytes::look(std::uint64_t offset, std::size_t bytes) {
    if (offset >= file_bytes_) return std::span<const std::byte>();
    bytes = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, file_bytes_ - offset));
    const bool there =
        offset >= window_begins_ && offset - window_begins_ + bytes <= window_.size() && !window_.empty();
    if (!there) {
        const std::size_t usual = bytes_read_ == 0 ? kFirstWindow : kWindow;
        std::size_t window = std::max(bytes, usual);
        window = static_cast<std::size_t>(std::min<std::uint64_t>(window, file_bytes_ - offset));
        if (bytes > kHeaderBytesMax || bytes_read_ + window > kHeaderBytesMax) {
            return bad_input(problem(
                offset,
                fmt::format("the header goes on here, and {} bytes of it are read; no header needs more "
                            "than {}",
                            show_count(bytes_read_), show_count(kHeaderBytesMax))));
        }
        window_.resize(window);
        const auto got = source_.read_at(offset, window_);
        if (!got) return got.error();
        window_.resize(*got);
        window_begins_ = offset;
        bytes_read_ += window;
    }
    const std::span<const std::byte> have(window_);
    const std::size_t begin = static_cast<std::size_t>(offset - window_begins_);
    if (begin >= have.size()) return std::span<const std::byte>();
    return have.subspan(begin, std::min(bytes, have.size() - begin));
}

std::span<const std::byte> HeaderBytes::up_to(std::uint64_t offset, std::size_t bytes) {
    if (error_) return {};
    const auto have = look(offset, bytes);
    if (have) return *have;
    fail(have.error());
    return {};
}

std::span<const std::byte> HeaderBytes::all_of(std::uint64_t offset,
                                               std::size_t bytes,
                                               const std::string& what) {
    const auto have = up_to(offset, bytes);
    if (have.size() == bytes) return have;
    fail(std::min(offset + have.size(), file_bytes_), "the file ends here, expected " + what);
    zeroes_.assign(bytes, std::byte{0});
    return zeroes_;
}

std::optional<ImageKind> image_kind(std::string_view name) {
    const Known* const known = find_in(name);
    return known == nullptr ? std::nullopt : std::optional(known->kind);
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
    ImageHeader header;
    switch (kind) {
        case ImageKind::dpx: read_dpx(bytes, file, header); break;
        case ImageKind::exr: read_exr_header(bytes, header); break;
        case ImageKind::tiff: read_tiff_header(bytes, header); break;
        case ImageKind::cineon: read_cineon_header(bytes, header); break;
        case ImageKind::by_size: read_by_size(bytes, source, file, header); break;
    }
    if (!bytes.error()) check_against_file(header, bytes);
    if (bytes.error()) return *bytes.error();
    return header;
}

std::optional<FrameRate> rate_from(double frames_per_s) {
    if (!std::isfinite(frames_per_s) || frames_per_s < 0.01 || frames_per_s > 1000) return std::nullopt;
    for (const std::int64_t nominal : {24, 30, 48, 60, 120}) {
        const double exact = static_cast<double>(nominal) * 1000 / 1001;
        if (std::abs(frames_per_s - exact) < 0.0002 * exact) return FrameRate{nominal * 1000, 1001};
    }
    const double whole = std::round(frames_per_s);
    if (whole > 0 && std::abs(frames_per_s - whole) < 0.0002 * whole)
        return FrameRate{static_cast<std::int64_t>(whole), 1};
    const auto thousandths = static_cast<std::int64_t>(std::round(frames_per_s * 1000));
    const std::int64_t common = std::gcd(thousandths, std::int64_t{1000});
    return FrameRate{thousandths / common, 1000 / common};
}

}  // namespace streamsim::media
