#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>
#include <windows.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/system/utf8_path.h"
#include "cli/process/system.h"

namespace streamsim::cli {
namespace {

/// Renames a file. While another program has one of the two open, as a scanner does, it tries again for a
/// second. Returns an errno; 0: done.
int move_file(const std::string& from, const std::string& to, DWORD flags) {
    constexpr int kTries = 10;
    constexpr DWORD kPauseMs = 100;
    for (int i = 0;; ++i) {
        if (MoveFileExW(system_path(from).c_str(), system_path(to).c_str(), flags | MOVEFILE_WRITE_THROUGH) !=
            0)
            return 0;
        const DWORD error = GetLastError();
        if (error == ERROR_ALREADY_EXISTS || error == ERROR_FILE_EXISTS) return EEXIST;
        const bool may_be_open = error == ERROR_SHARING_VIOLATION || error == ERROR_ACCESS_DENIED;
        if (!may_be_open || i == kTries) return EACCES;
        Sleep(kPauseMs);
    }
}

}  // namespace

std::vector<std::string> begin_program(int argc, const char* const* argv) {
    _setmode(_fileno(stdout), _O_BINARY);
    _setmode(_fileno(stderr), _O_BINARY);
    SetConsoleOutputCP(CP_UTF8);
    // argv is in the code page of the system, which has not every character.
    int count = 0;
    wchar_t** const words = CommandLineToArgvW(GetCommandLineW(), &count);
    if (words == nullptr) return {argv, argv + argc};
    std::vector<std::string> arguments;
    for (int i = 0; i < count; ++i) arguments.push_back(utf8_text(words[i]));
    LocalFree(words);
    return arguments;
}

bool standard_output_is_open() {
    return _get_osfhandle(_fileno(stdout)) >= 0;
}

std::size_t free_descriptors(std::size_t most) {
    return most;  // there is no such limit
}

int to_disk(std::FILE* file) {
    return _commit(_fileno(file)) == 0 ? 0 : errno;
}

int name_new(const std::string& temporary, const std::string& path) {
    return move_file(temporary, path, 0);
}

int replace_file(const std::string& temporary, const std::string& path) {
    return move_file(temporary, path, MOVEFILE_REPLACE_EXISTING);
}

FileIdentity identity_of(const std::string& path) {
    std::error_code error;
    const std::filesystem::path name = system_path(path);
    if (!std::filesystem::exists(name, error)) return {};
    FileIdentity identity;
    identity.exists = true;
    identity.bytes = std::filesystem::file_size(name, error);
    identity.written_ns = static_cast<std::int64_t>(
        std::filesystem::last_write_time(name, error).time_since_epoch().count());  // in its own unit
    return identity;
}

void use_one_heap() {}

std::FILE* open_output(const std::string& path, bool is_new) {
    const std::filesystem::path name = path == "/dev/null" ? "NUL" : system_path(path);
    const int flags = _O_WRONLY | _O_BINARY | _O_CREAT | _O_NOINHERIT | (is_new ? _O_EXCL : _O_TRUNC);
    const int file = _wopen(name.c_str(), flags, _S_IREAD | _S_IWRITE);
    return file < 0 ? nullptr : _fdopen(file, "wb");
}

std::FILE* open_descriptor(int descriptor) {
    const int copy = _dup(descriptor);
    return copy < 0 ? nullptr : _fdopen(copy, "wb");
}

/// The folder's rights decide who may read it.
std::FILE* open_secret(const std::string& path) {
    return open_output(path, true);
}

}  // namespace streamsim::cli
