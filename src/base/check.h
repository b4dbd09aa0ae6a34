// CHECK: a broken promise between two parts of the program is a bug, and a bug ends the process with
// the place and the reason. It stays on in release builds, because a wrong count is worse than no count.
#pragma once

namespace streamsim {

/// Prints `file:line: CHECK failed: expression (why)` on standard error and aborts. Never returns.
[[noreturn]] void check_failed(const char* file, int line, const char* expression, const char* why);

}  // namespace streamsim

/// Aborts when `condition` is false; `why` says which promise was broken.
#define STREAMSIM_CHECK(condition, why)                                     \
    do {                                                                    \
        if (!(condition)) [[unlikely]] {                                    \
            ::streamsim::check_failed(__FILE__, __LINE__, #condition, why); \
        }                                                                   \
    } while (false)
