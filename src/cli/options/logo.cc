#include "cli/options/logo.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "base/system/utf8_path.h"

namespace streamsim::cli {
namespace {

constexpr std::size_t kBytesMax = 512 << 10;

/// The media type by the first bytes; empty: another kind of file.
std::string_view type_of(std::string_view bytes) {
    if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return "image/png";
    if (bytes.starts_with("\xff\xd8\xff")) return "image/jpeg";
    const std::string_view begin = bytes.substr(0, 1024);
    if (begin.find('\0') == std::string_view::npos && begin.find("<svg") != std::string_view::npos)
        return "image/svg+xml";
    return {};
}

std::string base64(std::string_view bytes) {
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t count = std::min<std::size_t>(bytes.size() - i, 3);
        std::uint32_t bits = 0;
        for (std::size_t k = 0; k < 3; ++k)
            bits = bits << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
        for (std::size_t k = 0; k < 4; ++k) out += k <= count ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
    }
    return out;
}

}  // namespace

Result<std::string> logo_uri(const std::string& path) {
    std::error_code error;
    const auto file_path = system_path(path);
    if (!std::filesystem::is_regular_file(file_path, error))
        return bad_input(fmt::format("--logo: {}: expected an image file", path));
    if (const auto size = std::filesystem::file_size(file_path, error); error || size > kBytesMax)
        return bad_input(
            fmt::format("--logo: {}: expected an image of at most 512 KiB, found {} bytes", path, size));
    std::ifstream file(file_path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    if (!file && !file.eof()) return bad_input(fmt::format("--logo: {}: it cannot be read", path));
    if (bytes.empty())
        return bad_input(
            fmt::format("--logo: {}: expected an image, found nothing, or no permission to read it", path));
    const std::string_view type = type_of(bytes);
    if (type.empty()) return bad_input(fmt::format("--logo: {}: expected a PNG, JPEG or SVG image", path));
    return fmt::format("data:{};base64,{}", type, base64(bytes));
}

}  // namespace streamsim::cli
