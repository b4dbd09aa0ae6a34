// UTF-8 text as a path of the file system library, which would read a plain string in another code page on
// Windows.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace streamsim {

inline std::filesystem::path utf8_path(std::string_view text) {
    return std::u8string(text.begin(), text.end());
}

}  // namespace streamsim
