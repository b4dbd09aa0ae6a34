#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/growing_list.h"
#include "base/prng.h"
#include "base/time.h"
#include "base/units.h"

namespace streamsim {
namespace {

TEST(FrameRate, DeadlinesAreExactForADayAndForTenYears) {
    constexpr FrameRate kFilm{24000, 1001};
    EXPECT_EQ(kFilm.slots_in(seconds(86400)), 2'071'529u);
    EXPECT_EQ(kFilm.due(2'071'528).ns, 86'399'980'333'333);  // 2071528 * 1001 * 10^9 / 24000, rounded down
    EXPECT_EQ(kFilm.due(24000).ns, 1'001'000'000'000);
    EXPECT_EQ((FrameRate{60000, 1001}.due(60000ull * 315'360).ns), 1001ll * 315'360 * 1'000'000'000);
}

TEST(FrameRate, ALengthThatIsAWholeNumberOfFramesHasNoSlotMore) {
    EXPECT_EQ((FrameRate{24, 1}.slots_in(seconds(10))), 240u);
    EXPECT_EQ((FrameRate{24, 1}.slots_in(seconds(10) + nanoseconds(1))), 241u);
    EXPECT_EQ((FrameRate{30, 1}.slots_in(milliseconds(1))), 1u);
    EXPECT_EQ((FrameRate{30, 1}.slots_in({})), 0u);
}

TEST(FrameRate, ReadsWhatTheTradeWrites) {
    EXPECT_EQ(*FrameRate::parse("24"), (FrameRate{24, 1}));
    EXPECT_EQ(*FrameRate::parse("23.976"), (FrameRate{24000, 1001}));
    EXPECT_EQ(*FrameRate::parse("29.97"), (FrameRate{30000, 1001}));
    EXPECT_EQ(*FrameRate::parse("60000/1001"), (FrameRate{60000, 1001}));
    EXPECT_EQ(*FrameRate::parse("50/2"), (FrameRate{25, 1}));
    EXPECT_EQ(*FrameRate::parse("12.5"), (FrameRate{25, 2}));
    for (const char* wrong : {"", "0", "24/0", "-24", "24fps", "24/", "1e3", "nan", "24.", "99999999999"}) {
        EXPECT_FALSE(FrameRate::parse(wrong).has_value()) << wrong;
    }
}

TEST(Units, ANumberWithoutAUnitIsNotAGuess) {
    EXPECT_EQ(parse_duration("10s")->ns, 10'000'000'000);
    EXPECT_EQ(parse_duration("1.5ms")->ns, 1'500'000);
    EXPECT_EQ(parse_duration("24h")->ns, 86'400'000'000'000);
    EXPECT_EQ(parse_duration("0")->ns, 0);
    EXPECT_EQ(*parse_size("1MiB"), 1u << 20);
    EXPECT_EQ(*parse_size("1.5kB"), 1500u);
    for (const char* wrong : {"10", "s", "", "-1s", "1 s", "1.s", "1.2.3s", "1S", "3000000h", "ten s"}) {
        EXPECT_FALSE(parse_duration(wrong).has_value()) << wrong;
    }
    for (const char* wrong : {"4096", "1mib", "1KB", "20000000TiB"}) {
        EXPECT_FALSE(parse_size(wrong).has_value()) << wrong;
    }
}

TEST(Units, TimecodeDropsLabelsWhereTheStandardDoes) {
    EXPECT_EQ(timecode(24 * 3661 + 5, {24, 1}), "01:01:01:05");
    EXPECT_EQ(timecode(24 * 60, {24000, 1001}), "00:01:00:00");
    EXPECT_EQ(timecode(1799, {30000, 1001}), "00:00:59;29");
    EXPECT_EQ(timecode(1800, {30000, 1001}), "00:01:00;02");
    EXPECT_EQ(timecode(17981, {30000, 1001}), "00:09:59;29");
    EXPECT_EQ(timecode(17982, {30000, 1001}), "00:10:00;00");
    EXPECT_EQ(timecode(35964, {60000, 1001}), "00:10:00;00");
    EXPECT_EQ(timecode(3600, {60000, 1001}), "00:01:00;04");
}

TEST(Units, ShowsPeopleWhatTheyCanRead) {
    EXPECT_EQ(show_bytes(999), "999 B");
    EXPECT_EQ(show_bytes(49'774'592), "49.8 MB");
    EXPECT_EQ(show_bytes(999'999), "1.0 MB");
    EXPECT_EQ(show_count(1'234'567), "1,234,567");
    EXPECT_EQ(show_count(12), "12");
    EXPECT_EQ(show_duration(microseconds(41'667)), "41.7 ms");
    EXPECT_EQ(show_duration({999'949}), "999.9 us");
    EXPECT_EQ(show_duration({999'960}), "1.0 ms");
    EXPECT_EQ(show_duration({-999'970'000}), "-1.0 s");
    EXPECT_EQ(show_duration({-185'000'000'000}), "-3 m 05 s");
    EXPECT_EQ(show_duration({-3'725'000'000'000}), "-1 h 02 m");
    EXPECT_EQ(show_duration({INT64_MIN}), "-2562047 h 47 m");
}

TEST(Prng, GivesTheSameNumbersEverywhere) {
    Prng prng(1);
    EXPECT_EQ(prng.next(), 6791897765849424158ull);
    EXPECT_EQ(prng.next(), 17405687883870564846ull);
    Prng bounded(7);
    for (int i = 0; i < 1000; ++i) EXPECT_LT(bounded.below(10), 10u);
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < 100'000; ++i) {
        const double value = bounded.bell();
        sum += value;
        squares += value * value;
    }
    EXPECT_NEAR(sum / 100'000, 0, 0.02);
    EXPECT_NEAR(squares / 100'000, 1, 0.02);
    EXPECT_NE(derive_seed(1, 2), derive_seed(2, 1));
    EXPECT_NE(entropy64(), entropy64());
}

TEST(Check, ABrokenPromiseEndsTheProcess) {
    EXPECT_DEATH(STREAMSIM_CHECK(1 + 1 == 3, "sums are right"),
                 "CHECK failed: 1 \\+ 1 == 3 \\(sums are right\\)");
}

TEST(GrowingList, KeepsItsElementsInPlace) {
    GrowingList<std::unique_ptr<int>> list;
    EXPECT_TRUE(list.empty());
    std::vector<const std::unique_ptr<int>*> places;
    for (int i = 0; i < 1000; ++i) places.push_back(&list.emplace_back(std::make_unique<int>(i)));
    ASSERT_EQ(list.size(), 1000u);
    std::size_t count = 0;
    for (const auto& each : list) {
        EXPECT_EQ(&each, places[count]);
        EXPECT_EQ(*each, static_cast<int>(count));
        EXPECT_EQ(&list[count], places[count]);
        ++count;
    }
    EXPECT_EQ(count, 1000u);
    EXPECT_EQ(*list.front(), 0);
    EXPECT_EQ(*list.back(), 999);
}

}  // namespace
}  // namespace streamsim
