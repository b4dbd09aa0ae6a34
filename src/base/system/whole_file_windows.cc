#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>
#include <windows.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/system/utf8_path.h"
#include "base/system/whole_file.h"

namespace streamsim {
namespace {

/// Limit of one write.
constexpr std::size_t kCallBytesMax = std::size_t{1} << 30;

std::string last_error() {
    return std::system_category().message(static_cast<int>(GetLastError()));
}

/// Returns the error as strerror(3) words it; empty: success.
std::string write_piece(int file, std::string_view text) {
    while (!text.empty()) {
        const auto bytes = static_cast<unsigned>(std::min(text.size(), kCallBytesMax));
        const int written = _write(file, text.data(), bytes);
        if (written <= 0) return std::strerror(written < 0 ? errno : ENOSPC);
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

/// Writes what `source` gives to the disk.
std::string write_all(int file, const TextSource& source) {
    std::string problem;
    source([&problem, file](std::string_view piece) {
        if (problem.empty()) problem = write_piece(file, piece);
    });
    if (problem.empty() && _commit(file) != 0) problem = std::strerror(errno);
    return problem;
}

/// Why the existing file of this name must not be replaced; empty: it may be replaced, or no file has the name.
std::string why_kept(const std::filesystem::path& path) {
    constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    constexpr DWORD kLinksAndFolders = FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS;
    const HANDLE file = CreateFileW(path.c_str(), FILE_READ_ATTRIBUTES, kShareAll, nullptr, OPEN_EXISTING,
                                    kLinksAndFolders, nullptr);
    if (file == INVALID_HANDLE_VALUE) return GetLastError() == ERROR_FILE_NOT_FOUND ? "" : last_error();
    BY_HANDLE_FILE_INFORMATION info{};
    const std::string problem = GetFileInformationByHandle(file, &info) ? "" : last_error();
    CloseHandle(file);
    if (!problem.empty()) return problem;
    if ((info.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0)
        return "found a symbolic link, expected an earlier journal";
    if ((info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0)
        return "found something that is no file, expected an earlier journal";
    return info.nNumberOfLinks == 1
               ? ""
               : "found a file with several names (hard links), expected an earlier journal";
}

}  // namespace

std::string write_whole(const std::string& temporary, const std::string& path, const TextSource& source) {
    const std::filesystem::path from = system_path(temporary);
    const std::filesystem::path to = system_path(path);
    constexpr int kFlags = _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY | _O_NOINHERIT;
    const int file = _wopen(from.c_str(), kFlags, _S_IREAD | _S_IWRITE);
    if (file < 0) return std::strerror(errno);
    std::error_code error;
    std::string problem;
    try {
        problem = write_all(file, source);
    } catch (...) {
        _close(file);
        std::filesystem::remove(from, error);
        throw;
    }
    if (_close(file) != 0 && problem.empty()) problem = std::strerror(errno);
    if (problem.empty()) problem = why_kept(to);
    if (problem.empty()) {
        std::filesystem::rename(from, to, error);
        if (error) problem = error.message();
    }
    if (!problem.empty()) std::filesystem::remove(from, error);
    return problem;
}

}  // namespace streamsim
