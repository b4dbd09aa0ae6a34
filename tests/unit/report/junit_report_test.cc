#include "report/junit/junit_report.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>

#include "report/facts/markup.h"
#include "unit/report/golden.h"
#include "unit/report/sample_results.h"

namespace streamsim::report {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
}

TEST(JunitReport, LooksAsAgreed) {
    expect_golden(junit_report(samples::seats_and_stalls()), "seats_and_stalls.junit.xml");
}

TEST(JunitReport, AStreamThatPlaysIsACaseThatPasses) {
    const std::string xml = junit_report(samples::plays());
    EXPECT_TRUE(xml.starts_with(kJunitReportBegins));
    EXPECT_EQ(count(xml, "<testcase "), 4U);
    EXPECT_EQ(count(xml, "tests=\"4\" failures=\"0\" errors=\"0\""), 2U);
    EXPECT_THAT(xml, Not(HasSubstr("<failure")));
    EXPECT_THAT(xml, HasSubstr("<property name=\"seed\" value=\"42\"/>"));
}

TEST(JunitReport, AStreamThatDoesNotIsAFailureWithSentenceAndCounts) {
    RunResult result = samples::many_streams();
    result.verdict.detail = "more in flight would help";
    const std::string xml = junit_report(result);
    EXPECT_EQ(count(xml, "<testcase "), 100U);
    EXPECT_EQ(count(xml, "tests=\"100\" failures=\"1\" errors=\"0\""), 2U);
    EXPECT_THAT(xml, HasSubstr("name=\"stream 97: clip98\" time=\"10.455\">\n"
                               "      <failure message=\"the storage did not keep up: 50 frames were missed\" "
                               "type=\"storage\">240 frames scheduled: 190 on time, 0 late, 50 dropped"));
    EXPECT_THAT(xml, HasSubstr("&#10;more in flight would help&#10;0:"));
    EXPECT_THAT(xml, HasSubstr(" on 1 stream, "));
    EXPECT_THAT(xml, HasSubstr(" (stream 97)</failure>"));
}

TEST(JunitReport, BeginsEachFailureOfARunWithFaultsSo) {
    RunResult result = samples::many_streams();
    result.faults_injected.emplace();
    std::string xml = junit_report(result);
    EXPECT_THAT(xml, HasSubstr("<failure message=\"FAULTS INJECTED: "));
    EXPECT_THAT(xml, HasSubstr(">FAULTS INJECTED: 240 frames scheduled"));
    result.interrupted = true;
    xml = junit_report(result);
    EXPECT_EQ(count(xml, "<error message=\""), count(xml, "<error message=\"FAULTS INJECTED: "));
    result.faults_injected.reset();
    result.backend = "null";
    EXPECT_THAT(junit_report(result), HasSubstr("<failure message=\"no statement about storage: "));
}

TEST(JunitReport, StartUpDropsAloneDoNotFail) {
    RunResult result = samples::plays();
    result.streams[0].counts.dropped = result.streams[0].counts.startup_drops = 3;
    EXPECT_THAT(junit_report(result), HasSubstr("failures=\"0\""));
}

TEST(JunitReport, AClaimIsACaseThatFailsUnlessItStands) {
    RunResult result = samples::plays();
    ProveResult& prove = result.claims->prove.emplace();
    prove.sentence = "fewer than 1 drop event a day: not decided";
    for (const ProveDecision decided : {ProveDecision::undecided, ProveDecision::failed}) {
        prove.decided = decided;
        const std::string xml = junit_report(result);
        EXPECT_EQ(count(xml, "tests=\"5\" failures=\"1\""), 2U);
        EXPECT_THAT(xml, HasSubstr("classname=\"streamsim\" name=\"claim\" time=\"0.000\">\n"
                                   "      <failure message=\"fewer than 1 drop event a day: not decided\" "
                                   "type=\"claim\">"));
    }
    prove.decided = ProveDecision::stands;
    EXPECT_EQ(count(junit_report(result), "tests=\"5\" failures=\"0\""), 2U);
}

TEST(JunitReport, AnInterruptedRunIsNoSuccess) {
    RunResult result = samples::interrupted();
    EXPECT_THAT(junit_report(result), HasSubstr("<error message=\"interrupted before its end\""));
    EXPECT_THAT(junit_report(result), HasSubstr("tests=\"1\" failures=\"0\" errors=\"1\""));
    result.streams.clear();
    EXPECT_THAT(junit_report(result), HasSubstr("name=\"verdict\""));
    EXPECT_THAT(junit_report(result), HasSubstr("tests=\"1\" failures=\"0\" errors=\"1\""));
}

TEST(JunitReport, AVerdictThatNoStreamCausesIsACaseOfItsOwn) {
    RunResult result = samples::plays();
    result.verdict = {false, "a cache may have been warm", Limit::unknown, "", ""};
    const std::string xml = junit_report(result);
    EXPECT_EQ(count(xml, "tests=\"5\" failures=\"1\""), 2U);
    EXPECT_THAT(xml,
                HasSubstr("name=\"verdict\" time=\"0.000\">\n      <failure message=\"a cache may have been"));
}

MissEvent event_of(std::int64_t from_ms, std::int64_t to_ms, Cause cause) {
    MissEvent event;
    event.from_ns = from_ms * 1'000'000;
    event.to_ns = to_ms * 1'000'000;
    event.cause = cause;
    event.frames = 1;
    event.first.stream = 7;
    return event;
}

TEST(JunitReport, NamesTheEventsOfAStreamsDropsAlsoWhereTheyOverlap) {
    RunResult result = samples::many_streams();
    // The first one lasts; the drops of stream 97 are due from 4,167 to 6,208 ms.
    result.events = {event_of(1'000, 9'000, Cause::bandwidth), event_of(1'100, 4'000, Cause::slow_reads),
                     event_of(4'200, 4'300, Cause::slow_reads), event_of(6'100, 9'000, Cause::network),
                     event_of(6'300, 6'400, Cause::slow_reads)};
    for (DropRecord& drop : result.drops) drop.cause = Cause::slow_reads;
    result.drops.back().cause = Cause::bandwidth;
    std::swap(result.drops.front(), result.drops.back());
    const std::string xml = junit_report(result);
    EXPECT_EQ(count(xml, " on 0 streams, "), 2U);
    EXPECT_THAT(xml, HasSubstr("&#10;0:01.000 for 8.0 s"));
    EXPECT_THAT(xml, HasSubstr("&#10;0:04.200 for 100.0 ms"));
}

TEST(Markup, NothingBreaksOut) {
    EXPECT_EQ(markup("a<b>&\"c\"\t\r\n"), "a&lt;b&gt;&amp;&quot;c&quot;&#9;&#13;&#10;");
    EXPECT_EQ(markup("gr\xc3\xb6\xc3\x9f \xf0\x9f\x8e\xac"), "gr\xc3\xb6\xc3\x9f \xf0\x9f\x8e\xac");
    const std::string no = "\xef\xbf\xbd";
    EXPECT_EQ(markup(std::string_view("\x1b[2J\0x", 6)), no + "[2J" + no + "x");
    for (const char* bad : {"\xff", "\xc3", "\xef\xbf\xbe", "\xef\xbf\xbf", "\x7"}) EXPECT_EQ(markup(bad), no);
    EXPECT_EQ(markup("\xc0\xaf"), no + no);                    // longer than it has to be
    EXPECT_EQ(markup("\xed\xa0\x80"), no + no + no);           // a surrogate
    EXPECT_EQ(markup("\xf4\x90\x80\x80"), no + no + no + no);  // beyond Unicode
    EXPECT_EQ(markup("\xe2\x82"
                     "a"),
              no + no + "a");
}

}  // namespace
}  // namespace streamsim::report
