#include "media/libav/libav.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "media/libav/shared_library.h"

namespace streamsim::media {
namespace {

[[noreturn]] void give_up(const std::string& what) {
    fmt::print(stderr,
               "streamsim: {} cannot be loaded ({}): containers and encoded pictures need libavformat {}, "
               "libavcodec {} and libavutil {}\n",
               what, why_no_library(), LIBAVFORMAT_VERSION_MAJOR, LIBAVCODEC_VERSION_MAJOR,
               LIBAVUTIL_VERSION_MAJOR);
    std::_Exit(3);
}

void* open_library(const char* name, int major) {
    void* const library = load_library(name, major);
    if (library == nullptr) give_up(name);
    return library;
}

template <typename Function>
void find(void* library, const char* name, Function& function) {
    void* const address = find_function(library, name);
    if (address == nullptr) give_up(name);
    function = reinterpret_cast<Function>(address);
}

Libav load() {
    // Each after those that it needs: libraries beside the program are found for it, not for one another.
    void* const util = open_library("avutil", LIBAVUTIL_VERSION_MAJOR);
    void* const codec = open_library("avcodec", LIBAVCODEC_VERSION_MAJOR);
    void* const format = open_library("avformat", LIBAVFORMAT_VERSION_MAJOR);
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

}  // namespace streamsim::media
