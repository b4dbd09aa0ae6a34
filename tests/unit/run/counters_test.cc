// Counters that a command printed: every form that is read, and what is none.
#include "run/process/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace streamsim::run {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

using Named = std::vector<std::pair<std::string, double>>;

CounterReading read(const std::string& text) {
    auto reading = read_counters(text);
    EXPECT_TRUE(reading) << (reading ? "" : reading.error().problems.front());
    return reading ? std::move(*reading) : CounterReading{};
}

Named named(const CounterReading& reading) {
    Named out;
    for (const Counter& counter : reading.counters) out.emplace_back(counter.name, counter.value);
    return out;
}

std::string problem(const std::string& text) {
    const auto reading = read_counters(text);
    return reading ? "" : reading.error().problems.front();
}

TEST(Counters, LinesOfEachForm) {
    EXPECT_THAT(named(read("a 1\nb: 2\nc=3\n  d =  4 \r\ne:5\nf\t-6.5\ng 1e3\nh +7\n")),
                ElementsAre(Pair("a", 1), Pair("b", 2), Pair("c", 3), Pair("d", 4), Pair("e", 5),
                            Pair("f", -6.5), Pair("g", 1000), Pair("h", 7)));
}

TEST(Counters, LabelsBelongToTheName) {
    EXPECT_THAT(named(read("# TYPE x counter\nx_total{drive=\"1\", node=\"a:b\"} 8\nnode-1:reads 9")),
                ElementsAre(Pair("x_total{drive=\"1\", node=\"a:b\"}", 8), Pair("node-1:reads", 9)));
}

TEST(Counters, ATimeBehindTheValueIsNoValue) {
    const CounterReading reading = read(R"(x{d="sda"} 0 1795864798318
y{d="}\"{"}: 7 1.5
z{d="sda"} 4 at 5
v{d="sda"} 4 # {trace="1"} 0.67
hits 4 123456)");
    EXPECT_THAT(named(reading), ElementsAre(Pair(R"(x{d="sda"})", 0), Pair(R"(y{d="}\"{"})", 7)));
    EXPECT_EQ(reading.other_lines, 3U) << "ZFS prints \"hits TYPE VALUE\"";
}

TEST(Counters, OtherLinesAreCounted) {
    const CounterReading reading = read(
        "hits 1\n   8  0 sda 12 3\nflushed 3 nodes in 12\nMemFree: 12 kB\n12 34\nx nan\ny inf\nz 0x10\n\n# "
        "no\n");
    EXPECT_THAT(named(reading), ElementsAre(Pair("hits", 1)));
    EXPECT_EQ(reading.other_lines, 7U);
    EXPECT_EQ(reading.first_other, "8  0 sda 12 3");
}

TEST(Counters, JsonObjectOfNumbers) {
    EXPECT_THAT(named(read(" {\"hits\": 3, \"read_bytes\": 9007199254740993, \"share\": 0.5}\n")),
                ElementsAre(Pair("hits", 3), Pair("read_bytes", 9007199254740992.0), Pair("share", 0.5)));
    EXPECT_THAT(problem("{\"hits\": \"3\"}"), HasSubstr("the counter \"hits\" is no number but \"3\""));
    EXPECT_THAT(problem("{\"a\": {\"b\": 1}}"), HasSubstr("the counter \"a\" is no number"));
    EXPECT_THAT(problem("{\"a\": 1"), HasSubstr("the counters"));
    EXPECT_THAT(problem("{}"), HasSubstr("no counter"));
}

TEST(Counters, NothingTwiceOrTooManyIsAnError) {
    EXPECT_THAT(problem(""), HasSubstr("it printed no counter"));
    EXPECT_THAT(problem("no number at all\n"), HasSubstr("it printed no counter"));
    EXPECT_THAT(problem("a 1\nb 2\na 3\n"), HasSubstr("the counter a twice"));
    std::string many;
    for (int i = 0; i < 1001; ++i) many += "c" + std::to_string(i) + " 1\n";
    EXPECT_THAT(problem(many), HasSubstr("1001 counters"));
}

TEST(Counters, DifferencesOfLargeCountersAreExact) {
    const auto changes = changes_between(read("a 9007199254740993\nb 2\nc 1.5\nd 9"),
                                         read("b 5\na 9007199254740996\nc 1\nd 4\ne 1"));
    ASSERT_EQ(changes.size(), 4U);
    EXPECT_EQ(changes[0].name, "a");
    EXPECT_EQ(changes[0].difference, 3);
    EXPECT_EQ(changes[1].difference, 3);
    EXPECT_EQ(changes[2].difference, -0.5);
    EXPECT_EQ(changes[3].difference, -5);
    EXPECT_EQ(changes[3].before, 9);
    EXPECT_EQ(changes[3].after, 4);
}

TEST(Counters, OnesThatOneReadingHasAreNamed) {
    EXPECT_THAT(not_in_both(read("a 1\nb 2"), read("b 2\nc 3")), ElementsAre("a", "c"));
    EXPECT_THAT(not_in_both(read("a 1"), read("a 2")), IsEmpty());
}

}  // namespace
}  // namespace streamsim::run
