#include <string>
#include <system_error>

#include "base/system/utf8_path.h"

namespace streamsim {

std::filesystem::path system_path(std::string_view text) {
    constexpr std::size_t kPlainLengthMax = 240;  // longer paths need a prefix, which forbids '/', "." and ".."
    std::string named(text);
    if (named.size() == 2 && named[1] == ':') named += '/';
    const std::filesystem::path path = utf8_path(named);
    const std::wstring start = path.native().substr(0, 4);
    const bool prefixed = start == L"//?/" || start == L"//./" || start == LR"(\\?\)" || start == LR"(\\.\)";
    // The length that counts is that of the whole path.
    std::error_code error;
    const std::filesystem::path whole =
        prefixed || named.empty() ? path : std::filesystem::absolute(path, error);
    if (error || prefixed || whole.native().size() < kPlainLengthMax) return path;
    const std::wstring plain = whole.lexically_normal().make_preferred().native();
    return plain.starts_with(LR"(\\)") ? LR"(\\?\UNC\)" + plain.substr(2) : LR"(\\?\)" + plain;
}

}  // namespace streamsim
