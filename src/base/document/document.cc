#include "base/document/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/system/utf8_path.h"

namespace streamsim {
namespace {

constexpr std::uint64_t kPieceBytes = std::uint64_t{64} << 10;

}  // namespace

Result<std::string> read_document(const std::string& path, std::uint64_t bytes_max) {
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(system_path(path), error);
    if (!std::filesystem::exists(status)) return bad_input(fmt::format("{}: there is no such file", path));
    if (std::filesystem::is_directory(status))
        return bad_input(fmt::format("{}: expected a file with a document, found a directory", path));
    const auto too_large = [&] {
        return bad_input(
            fmt::format("{}: is larger than {} MiB, the limit of such a document", path, bytes_max >> 20));
    };
    const bool regular = std::filesystem::is_regular_file(status);
    if (regular) {
        const std::uint64_t bytes = std::filesystem::file_size(system_path(path), error);
        if (!error && bytes > bytes_max) return too_large();
    }
    std::ifstream in(system_path(path), std::ios::binary);
    if (!in) return bad_input(fmt::format("{}: cannot be read", path));
    std::string text;
    while (in) {
        // One byte more than the limit shows that there is more.
        const std::size_t at = text.size();
        const std::uint64_t piece = std::min(kPieceBytes, bytes_max + 1 - at);
        text.resize(at + piece);
        in.read(text.data() + at, static_cast<std::streamsize>(piece));
        text.resize(at + static_cast<std::size_t>(in.gcount()));
        if (!regular && text.find('\0', at) != std::string::npos)
            return bad_input(
                fmt::format("{}: byte {}: expected text, found a zero byte", path, text.find('\0', at)));
        if (text.size() > bytes_max) return too_large();
    }
    if (in.bad()) return bad_input(fmt::format("{}: cannot be read", path));
    return text;
}

}  // namespace streamsim
