// A library that is loaded before the C library: its clock says a day later. Media are old then, whose time of
// change nobody can set.
#include <time.h>

extern "C" time_t time(time_t* into) noexcept {
    constexpr time_t kDayS = 86'400;
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    const time_t later = now.tv_sec + kDayS;
    if (into != nullptr) *into = later;
    return later;
}
