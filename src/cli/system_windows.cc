#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>
#include <windows.h>

#include <filesystem>

#include "base/utf8_path.h"
#include "cli/system.h"

namespace streamsim {

std::vector<std::string> begin_program(int argc, const char* const* argv) {
    _setmode(_fileno(stdout), _O_BINARY);
    _setmode(_fileno(stderr), _O_BINARY);
    SetConsoleOutputCP(CP_UTF8);
    // argv is in the code page of the system, which has not every character.
    int count = 0;
    wchar_t** const words = CommandLineToArgvW(GetCommandLineW(), &count);
    if (words == nullptr) return {argv, argv + argc};
    std::vector<std::string> arguments;
    for (int i = 0; i < count; ++i) arguments.push_back(std::filesystem::path(words[i]).string());
    LocalFree(words);
    return arguments;
}

std::FILE* open_output(const std::string& path, bool is_new) {
    const std::filesystem::path name = utf8_path(path == "/dev/null" ? "NUL" : path);
    const int flags = _O_WRONLY | _O_BINARY | _O_CREAT | _O_NOINHERIT | (is_new ? _O_EXCL : _O_TRUNC);
    const int file = _wopen(name.c_str(), flags, _S_IREAD | _S_IWRITE);
    return file < 0 ? nullptr : _fdopen(file, "wb");
}

}  // namespace streamsim
