#include "base/time_of_day.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>

namespace streamsim {
namespace {

/// Seconds since 1970 at a local time.
std::int64_t local(int year, int month, int day, int hour, int minute, int second = 0) {
    std::tm time{};
    time.tm_year = year - 1900;
    time.tm_mon = month - 1;
    time.tm_mday = day;
    time.tm_hour = hour;
    time.tm_min = minute;
    time.tm_sec = second;
    time.tm_isdst = -1;
    return std::mktime(&time);
}

TEST(LocalTime, IsTheNextTimeThatItIsSoLate) {
    const std::int64_t noon = local(2026, 11, 30, 12, 0);
    EXPECT_EQ(parse_local_time("14:30", noon).value(), local(2026, 11, 30, 14, 30));
    EXPECT_EQ(parse_local_time("12:00", noon).value(), noon);
    EXPECT_EQ(parse_local_time("11:59:59", noon).value(), local(2026, 12, 1, 11, 59, 59));
    EXPECT_EQ(parse_local_time("00:00", noon).value(), local(2026, 12, 1, 0, 0));
}

TEST(LocalTime, MayHaveADate) {
    const std::int64_t noon = local(2026, 11, 30, 12, 0);
    EXPECT_EQ(parse_local_time("2027-02-28T09:05", noon).value(), local(2027, 2, 28, 9, 5));
    EXPECT_EQ(parse_local_time("2026-11-30T12:00:01", noon).value(), noon + 1);
    EXPECT_EQ(parse_local_time("2026-11-30T11:59", noon).error().problems.front(),
              "'2026-11-30T11:59': is over");
}

TEST(LocalTime, OfAnotherFormIsRefused) {
    for (const char* text :
         {"", "14", "14:3", "24:00", "14:60", "14:30:60", "14h30", "14:30Z", "2026-13-01T10:00",
          "2026-02-30T10:00", "2026-11-30 14:30", "2026-11-30", "-1:30", "14:30:05.5"})
        EXPECT_FALSE(parse_local_time(text, local(2026, 1, 1, 0, 0)).has_value()) << text;
}

TEST(LocalTime, IsShownWithItsDate) {
    EXPECT_EQ(show_local_time(local(2026, 11, 29, 0, 1)), "2026-11-29 00:01:00");
    EXPECT_EQ(show_local_time(local(2026, 7, 1, 14, 30, 5)), "2026-07-01 14:30:05");
}

}  // namespace
}  // namespace streamsim
