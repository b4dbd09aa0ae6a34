#include "media/libav.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace streamsim {
namespace {

[[noreturn]] void give_up() {
    const char* why = dlerror();
    fmt::print(stderr, "streamsim: libav cannot be loaded: {}\n", why != nullptr ? why : "no reason given");
    std::_Exit(3);
}

/// Never closed: what libav keeps for the process points into it.
void* open_library(const char* name) {
    void* const library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) give_up();
    return library;
}

template <typename Function>
void find(void* library, const char* name, Function& function) {
    void* const address = dlsym(library, name);
    if (address == nullptr) give_up();
    function = reinterpret_cast<Function>(address);
}

Libav load() {
    void* const format = open_library("libavformat.so." AV_STRINGIFY(LIBAVFORMAT_VERSION_MAJOR));
    void* const codec = open_library("libavcodec.so." AV_STRINGIFY(LIBAVCODEC_VERSION_MAJOR));
    void* const util = open_library("libavutil.so." AV_STRINGIFY(LIBAVUTIL_VERSION_MAJOR));
    Libav functions{};
#define STREAMSIM_FIND_FORMAT(name) find(format, #name, functions.name);
#define STREAMSIM_FIND_CODEC(name) find(codec, #name, functions.name);
#define STREAMSIM_FIND_UTIL(name) find(util, #name, functions.name);
    STREAMSIM_LIBAV(STREAMSIM_FIND_FORMAT, STREAMSIM_FIND_CODEC, STREAMSIM_FIND_UTIL)
#undef STREAMSIM_FIND_FORMAT
#undef STREAMSIM_FIND_CODEC
#undef STREAMSIM_FIND_UTIL
    return functions;
}

}  // namespace

const Libav& libav() {
    static const Libav functions = load();
    return functions;
}

}  // namespace streamsim
