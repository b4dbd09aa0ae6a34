#include <gmock/gmock.h>

#include "base/document/json.h"
#include "report/html/html_report.h"
#include "report/text/text_report.h"
#include "result/json_report.h"
#include "result/max_reader.h"
#include "unit/report/golden.h"
#include "unit/report/sample_results.h"
#include "unit/report/schema_check.h"

namespace streamsim::report {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

MaxRun plays_with(double share_free) {
    MaxRun run;
    run.duration_ns = seconds(20).ns;
    run.pass = true;
    run.limit = Limit::none;
    run.reason = "no frame was missed";
    run.margin_min_ns = 150'000'000;
    run.margin_p1_ns = 200'000'000;
    run.margin_p1_percent = share_free;
    run.required_bytes_per_s = 8.36e9;
    run.read_bytes_per_s = 8.4e9;
    return run;
}

MaxRun drops(std::uint64_t frames) {
    MaxRun run = plays_with(-20);
    run.pass = false;
    run.limit = Limit::network;
    run.reason = "the network was full";
    run.missed = frames;
    return run;
}

MaxStep step(std::uint64_t streams, std::vector<MaxRun> runs) {
    MaxStep out;
    out.streams = streams;
    out.pass = runs.back().pass;
    out.runs = std::move(runs);
    return out;
}

/// Seven play and eight do not; six needed three runs, eight emptied their buffers first.
MaxFormat seven() {
    MaxFormat format;
    format.format = "dpx12";
    format.width = 3840;
    format.height = 2160;
    format.streams = 7;
    format.fails_at = 8;
    format.confirmed = true;
    format.confirm_ns = seconds(300).ns;
    MaxRun emptied = plays_with(480);
    emptied.empty_after_ns = seconds(31).ns;
    emptied.undecided = true;
    format.steps = {step(4, {plays_with(480)}), step(8, {emptied, drops(1'021)}),
                    step(6, {drops(2), plays_with(480), plays_with(480)}), step(7, {plays_with(480)}),
                    step(7, {plays_with(480)})};
    format.steps.back().purpose = MaxStep::Purpose::confirm;
    format.steps.back().runs.back().duration_ns = seconds(300).ns;
    return format;
}

MaxFormat none() {
    MaxFormat format;
    format.format = "dpx 16 bit 8192x4320";
    format.rate = {24000, 1001};
    format.fails_at = 1;
    format.steps = {step(1, {drops(400), drops(300)})};
    return format;
}

MaxFormat at_least() {
    MaxFormat format;
    format.format = "prores-hd";
    format.width = 1920;
    format.height = 1080;
    format.rate = {30, 1};
    format.streams = 64;
    format.at_least = "there is no space";
    format.steps = {step(64, {plays_with(700)})};
    return format;
}

MaxResult sample() {
    MaxResult result;
    result.common = samples::plays();
    result.seats = 2;
    result.headroom_percent = 20;
    result.step_ns = seconds(20).ns;
    result.confirm_ns = seconds(300).ns;
    result.server_cache_may_be_warm = true;
    result.notices = {"direct I/O is not available"};
    result.formats = {seven(), none(), at_least()};
    return result;
}

TEST(MaxReport, LooksAsAgreed) {
    expect_golden(max_text_report(sample(), TextDetail::full), "max.txt");
    expect_golden(max_text_report(sample(), TextDetail::screen), "max.screen.txt");
}

TEST(MaxReport, SaysThatBuffersWereEmptyWhereTheRunOutlastedThem) {
    MaxResult result = sample();
    MaxRun& emptied = result.formats[0].steps[1].runs[0];
    for (const auto& [seconds_in, text] :
         {std::pair(4, "the buffers were empty after about 4.0 s; played again for longer"),
          std::pair(20, "the buffers were empty after about 20.0 s;"),
          std::pair(21, "the buffers emptied: they would have lasted 21.0 s; played again for longer")}) {
        emptied.empty_after_ns = seconds(seconds_in).ns;
        EXPECT_THAT(max_text_report(result, TextDetail::full), HasSubstr(text));
    }
}

TEST(MaxReport, TheDocumentLooksAsAgreed) {
    expect_golden(result::max_json_report(sample()), "max.json");
}

TEST(MaxReport, KeepsToItsSchema) {
    MaxResult interrupted = sample();
    interrupted.formats = {MaxFormat{}};
    interrupted.formats.front().interrupted = true;
    interrupted.formats.front().at_least = "interrupted";
    MaxResult modelled = sample();
    modelled.common.model = ModelFacts{"h500", "a cluster", 4, 1, false};
    for (const MaxResult& result : {sample(), interrupted, modelled, MaxResult{.common = samples::plays()}}) {
        const std::string text = result::max_json_report(result);
        EXPECT_THAT(text, StartsWith(result::kMaxReportBegins));
        EXPECT_THAT(schema_problems(schema("max.json"), Json::parse(text)), IsEmpty());
    }
}

TEST(MaxReport, AnotherDocumentDoesNotFitTheSchema) {
    Json document = Json::parse(result::max_json_report(sample()));
    document["formats"][0].erase("confirmed");
    document["formats"][0]["steps"][0]["runs"] = Json::array();
    document["formats"][0]["steps"][1]["limit"] = "disk";
    document["seats"] = 0;
    EXPECT_EQ(schema_problems(schema("max.json"), document).size(), 4U);
}

TEST(MaxReport, AStepSaysWhatItsLastRunSaid) {
    const Json document = Json::parse(result::max_json_report(sample()));
    const Json& found = document["formats"][0];
    EXPECT_EQ(found["streams_per_seat"], 3);
    EXPECT_EQ(found["limit"], "network");
    EXPECT_EQ(found["reason"], "the network was full");
    EXPECT_EQ(found["at_least"], false);
    const Json& eight = found["steps"][1];
    EXPECT_EQ(eight["missed"], 1'021);
    EXPECT_EQ(eight["pass"], false);
    EXPECT_EQ(eight["repeated"], 1);
    EXPECT_EQ(eight["runs"][0]["empty_after_ns"], seconds(31).ns);
    EXPECT_EQ(found["steps"][2]["noisy"], true);
}

TEST(MaxReport, NamesOfOthersDoNotReachTheTerminal) {
    MaxResult result = sample();
    result.formats.front().format = "a\x1b[2Jb";
    EXPECT_THAT(max_text_report(result, TextDetail::screen), Not(HasSubstr("\x1b")));
}

TEST(MaxReport, AModelIsNoMeasurement) {
    MaxResult result = sample();
    EXPECT_THAT(max_text_report(result, TextDetail::screen), Not(HasSubstr("no measurement")));
    result.common.model = ModelFacts{"h500", "a cluster", 4, 1, false};
    EXPECT_THAT(max_text_report(result, TextDetail::screen),
                HasSubstr("This is no measurement: h500 is a model (a cluster)"));
}

TEST(MaxReport, CountsInjectedFaultsWhereItKnowsThem) {
    MaxResult result = sample();
    result.common.streams.clear();
    result.common.faults_injected = FaultsInjected{12, 3, 1, 0, 7};
    EXPECT_THAT(max_text_report(result, TextDetail::screen),
                HasSubstr("no statement about storage: 12 operations delayed, 3 failed, 1 cut short\n"));
    const auto read = result::read_max(result::max_json_report(result), "max.json");
    ASSERT_TRUE(read) << read.error().problems.front();
    EXPECT_THAT(max_text_report(*read, TextDetail::screen),
                HasSubstr("no statement about storage: faults were injected\n"));
}

TEST(MaxReport, ADocumentThatIsReadBackIsTheSame) {
    MaxResult of_seats = sample();
    of_seats.counts = MaxCounts::seats;
    of_seats.streams_of_seat = 3;
    MaxResult a_seat = sample();
    a_seat.counts = MaxCounts::streams_per_seat;
    a_seat.common.model = {.name = "h500", .title = "a model"};
    a_seat.common.project = {
        .title = "Stage 4", .client = "ACME", .note = "n", .logo = "data:image/png;base64,AA=="};
    for (const MaxResult& result : {sample(), of_seats, a_seat}) {
        const std::string text = result::max_json_report(result);
        const auto read = result::read_max(text, "max.json");
        ASSERT_TRUE(read) << read.error().problems.front();
        EXPECT_EQ(result::max_json_report(*read), text);
    }
}

TEST(MaxReport, EveryProblemOfADocumentIsNamed) {
    Json document = Json::parse(result::max_json_report(sample()));
    document["seats"] = 0;
    document["formats"][0]["steps"][1]["runs"] = Json::array();
    document["formats"][1]["streams"] = 5'000'000'000;
    const auto read = result::read_max(document.dump(), "max.json");
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().problems,
                testing::ElementsAre("max.json: /seats: expected 1 or more, found 0",
                                     "max.json: /formats/0/steps/1/runs: expected one run or more",
                                     HasSubstr("/formats/1/streams: expected at most 1000000")));
    document["formats"][0]["steps"] = "none";
    EXPECT_THAT(result::read_max(document.dump(), "m").error().problems.front(),
                StartsWith("m: /formats/0/steps: "));
    EXPECT_FALSE(result::is_max_document("{"));
    EXPECT_FALSE(result::is_max_document("[]"));
}

TEST(MaxSheet, HasEachFormatWithItsLimitAndItsClaim) {
    const std::string page = max_html_report({sample()});
    EXPECT_TRUE(page.starts_with(kMaxHtmlBegins));
    for (const char* part :
         {"dpx12 3840x2160", "<strong>7</strong> streams", "limited by network", "p1 margin 200.0 ms",
          "confirmed by a run of 5 m 00 s", "not one plays", "<strong>\u2265 64</strong> streams",
          "<span class=\"soft\">not confirmed</span>",
          "<data value=\"8\" data-key=\"formats.0.fails_at\">8</data>", "4 plays, 6 plays, 7 plays, 8 fails"})
        EXPECT_THAT(page, HasSubstr(part));
}

TEST(MaxSheet, SaysThatTheNumberWasPlayedAgainOnlyWhereItWas) {
    constexpr const char* kAgain = "20.0 s; the number found was played again for 5 m 00 s";
    MaxResult result = sample();
    EXPECT_THAT(max_html_report({result}), HasSubstr(kAgain));
    result.confirm_ns = 0;
    EXPECT_THAT(max_html_report({result}), Not(HasSubstr("the number found")));
    result = sample();
    result.formats.front().confirmed = false;
    EXPECT_THAT(max_html_report({result}), Not(HasSubstr("the number found")));
}

TEST(MaxSheet, AMarginWithoutItsShareOfAFrameIsShown) {
    MaxResult result = sample();
    for (MaxStep& step : result.formats.front().steps) {
        for (MaxRun& run : step.runs) run.margin_p1_percent.reset();
    }
    EXPECT_THAT(max_html_report({result}), HasSubstr("p1 margin 200.0 ms<"));
}

TEST(MaxSheet, HoldsSearchesSideBySide) {
    MaxResult other = sample();
    other.common.url = "/mnt/<b>other</b>";
    other.formats.pop_back();
    const std::string page = max_html_report({sample(), other});
    EXPECT_THAT(page, HasSubstr("2 searches compared"));
    EXPECT_THAT(page, HasSubstr("&lt;b&gt;other&lt;/b&gt;, 24 fps, 2 seats"));
    EXPECT_THAT(page, HasSubstr("<td>\u2013</td>"));
    EXPECT_THAT(page, Not(HasSubstr("<b>other")));
}

/// The search in which the counters of the server were read around each run.
MaxResult counted_search() {
    MaxResult result = sample();
    result.formats = {seven()};
    for (MaxStep& step : result.formats[0].steps) {
        for (MaxRun& run : step.runs) {
            run.before_step = {"flush", "", 0, 0, 1000};
            run.counters = {"count", {{"disk_read_bytes", 0, 80, 80}}, 80, ColdReads::cold, "cold: proven"};
        }
    }
    result.formats[0].steps.front().runs.front().counters->reads = ColdReads::not_cold;
    return result;
}

TEST(MaxReport, CountersOfTheRunThatDecidedAreToldAndWarmRunsAreCounted) {
    const std::string text = max_text_report(counted_search(), TextDetail::full);
    EXPECT_THAT(text, HasSubstr("7 streams: cold: proven"));
    EXPECT_THAT(text, HasSubstr("not all reads were cold in 1 of "));
    EXPECT_THAT(max_html_report({counted_search()}), HasSubstr("Before each step"));
}

TEST(MaxReport, CommandsOfItsRunsComeBack) {
    const std::string document = result::max_json_report(counted_search());
    EXPECT_THAT(schema_problems(schema("max.json"), Json::parse(document)), IsEmpty());
    const auto read = result::read_max(document, "m.json");
    ASSERT_TRUE(read);
    EXPECT_EQ(result::max_json_report(*read), document);
    const MaxRun& run = read->formats[0].steps[0].runs[0];
    EXPECT_EQ(run.before_step->command, "flush");
    EXPECT_EQ(run.counters->values[0].difference, 80);
}

}  // namespace
}  // namespace streamsim::report
