#include <windows.h>

#include <string>

#include "base/system/utf8_path.h"

namespace streamsim {
namespace {

/// From its drive or share on, with '\' between its parts and without "." and ".."; empty: the system does not
/// know. The file system library of GCC takes a share for a folder of the drive.
std::wstring whole_path(const std::wstring& path) {
    const DWORD room = GetFullPathNameW(path.c_str(), 0, nullptr, nullptr);
    std::wstring whole(room, L'\0');
    whole.resize(GetFullPathNameW(path.c_str(), room, whole.data(), nullptr));
    return whole;
}

}  // namespace

std::filesystem::path system_path(std::string_view text) {
    constexpr std::size_t kPlainLengthMax = 240;  // longer paths need a prefix, which forbids '/', "." and ".."
    std::string named(text);
    if (named.size() == 2 && named[1] == ':') named += '/';
    const std::filesystem::path path = utf8_path(named);
    const std::wstring start = path.native().substr(0, 4);
    const bool prefixed = start == L"//?/" || start == L"//./" || start == LR"(\\?\)" || start == LR"(\\.\)";
    if (prefixed || named.empty()) return path;
    // The length that counts is that of the whole path.
    const std::wstring whole = whole_path(path.native());
    if (whole.size() < kPlainLengthMax) return path;
    return whole.starts_with(LR"(\\)") ? LR"(\\?\UNC\)" + whole.substr(2) : LR"(\\?\)" + whole;
}

}  // namespace streamsim
