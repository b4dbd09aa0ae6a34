#include <windows.h>

#include <system_error>

#include "media/libav/shared_library.h"

namespace streamsim::media {

void* load_library(const std::string& name, int major) {
    const std::string file = name + "-" + std::to_string(major) + ".dll";
    return reinterpret_cast<void*>(LoadLibraryA(file.c_str()));
}

void* find_function(void* library, const char* name) {
    return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}

std::string why_no_library() {
    return std::system_category().message(static_cast<int>(GetLastError()));
}

}  // namespace streamsim::media
