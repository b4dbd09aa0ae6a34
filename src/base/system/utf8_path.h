// Paths as the file system library takes them, of UTF-8, which is what all text here is. A path made of a
// string takes it for another code on Windows.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace streamsim {

inline std::filesystem::path utf8_path(std::string_view text) {
    return std::u8string(text.begin(), text.end());
}

}  // namespace streamsim
