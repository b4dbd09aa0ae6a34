#include <dlfcn.h>

#include "media/libav/shared_library.h"

namespace streamsim::media {

void* load_library(const std::string& name, int major) {
#ifdef __APPLE__
    const std::string file = "lib" + name + "." + std::to_string(major) + ".dylib";
#else
    const std::string file = "lib" + name + ".so." + std::to_string(major);
#endif
    return dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
}

void* find_function(void* library, const char* name) {
    return dlsym(library, name);
}

std::string why_no_library() {
    const char* const why = dlerror();
    return why != nullptr ? why : "no reason given";
}

}  // namespace streamsim::media
