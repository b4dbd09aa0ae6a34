#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace streamsim {

void check_failed(const char* file, int line, const char* expression, const char* why) {
    std::fprintf(stderr, "%s:%d: CHECK failed: %s (%s)\n", file, line, expression, why);
    std::fflush(stderr);
    std::abort();
}

}  // namespace streamsim
