// Paths of the file system library from UTF-8 text and back. The library would take and give plain strings in
// another code page on Windows.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace streamsim {

inline std::filesystem::path utf8_path(std::string_view text) {
    return std::u8string(text.begin(), text.end());
}

inline std::string utf8_text(const std::filesystem::path& path) {
    const std::u8string text = path.u8string();
    return {text.begin(), text.end()};
}

/// With '/' between its parts on every system.
inline std::string utf8_generic_text(const std::filesystem::path& path) {
    // generic_string() of GCC makes a folder of the drive of a share, "/server" of "\\server".
    std::string text = utf8_text(path);
    if constexpr (std::filesystem::path::preferred_separator != '/')
        std::replace(text.begin(), text.end(), '\\', '/');
    return text;
}

/// The absolute path without links, as far as the path exists; the same text where the system cannot tell.
inline std::string canonical_text(std::string_view text) {
    std::error_code error;
    const auto canonical = std::filesystem::weakly_canonical(utf8_path(text), error);
    return error ? std::string(text) : utf8_generic_text(canonical);
}

/// The path for a call of the system. On Windows paths of any length work, and "C:" is the root of the drive.
std::filesystem::path system_path(std::string_view text);

}  // namespace streamsim
