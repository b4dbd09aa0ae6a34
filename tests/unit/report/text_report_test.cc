#include "report/text/text_report.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"
#include "base/utf8.h"
#include "report/facts/headline.h"
#include "report/facts/run_lines.h"
#include "report/facts/show.h"
#include "report/html/html_report.h"
#include "report/tables/load_tables.h"
#include "report/tables/run_tables.h"
#include "report/text/screen.h"
#include "unit/report/golden.h"
#include "unit/report/sample_results.h"

namespace streamsim::report {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string in_full(const RunResult& result) {
    return text_report(result, TextDetail::full, false);
}

std::string screen(const RunResult& result) {
    return text_report(result, TextDetail::screen, false);
}

constexpr samples::Sample kTexts[] = {{"plays", samples::plays},
                                      {"does_not_play", samples::does_not_play},
                                      {"failures", samples::failures},
                                      {"seats_and_stalls", samples::seats_and_stalls},
                                      {"several_computers", samples::several_computers},
                                      {"as_fast_as_it_goes", samples::as_fast_as_it_goes},
                                      {"interrupted", samples::interrupted},
                                      {"many_streams", samples::many_streams},
                                      {"modelled", samples::modelled}};

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

TEST(TextReport, LooksAsAgreed) {
    for (const samples::Sample& sample : kTexts) {
        expect_golden(in_full(sample.make()), std::string(sample.name) + ".txt");
        expect_golden(screen(sample.make()), std::string(sample.name) + ".screen.txt");
    }
}

TEST(TextReport, FitsOnOneScreenWithTheVerdictFirstAndLast) {
    RunResult long_words = samples::told_in_full();
    const std::string word(400, 'w');
    long_words.url = "/mnt/" + word;
    long_words.verdict.reason = long_words.verdict.next = word + " " + word;
    for (int i = 0; i < 30; ++i) long_words.notices.push_back(word);
    for (StreamResult& stream : long_words.streams) stream.clip = stream.format = word;
    std::vector<RunResult> results{long_words, samples::hostile(), samples::told_in_full()};
    for (const samples::Sample& sample : kTexts) results.push_back(sample.make());
    for (const RunResult& sample : {samples::seats_and_stalls(), samples::interrupted()}) {
        RunResult& faults_and_stalls = results.emplace_back(sample);
        faults_and_stalls.faults_injected.emplace();
        faults_and_stalls.totals.stalls = 1'515;
        faults_and_stalls.totals.stall_ns = 1'600'000'000;
        faults_and_stalls.totals.scheduled += 10'000;
    }
    RunResult& records_too = results.emplace_back(samples::seats_and_stalls());
    records_too.faults_injected.emplace();
    records_too.totals.stalls = 5'425;
    records_too.totals.scheduled += 10'000;
    for (StreamResult& stream : records_too.streams) stream.records = stream.stream == 0;
    for (const RunResult& result : results) {
        const std::vector<std::string> lines = lines_of(screen(result));
        EXPECT_LE(lines.size(), 24u);
        for (const std::string& line : lines) EXPECT_LE(shown_width(line), 80u) << line;
        EXPECT_THAT(lines.front(), StartsWith(headline(result).word));
        EXPECT_EQ(lines.back(), closing_line(result).word + closing_line(result).rest);
    }
}

TEST(TextReport, LeavesOutTheLastNumbersOfATableThatIsTooWideForAScreen) {
    Table table;
    table.left({"name"});
    table.right({"eleven wide", "twelve wide.", "eleven wide", "eleven wide", "eleven wide", "eleven wide"});
    table.left({"clip"});
    table.row({Cell("drawn-0123456789"), Cell("1"), Cell("2"), Cell("3"), Cell("4"), Cell("5"), Cell("6"),
               Cell("drawn/clip-0001")});
    const std::vector<std::string> lines = lines_of(table_lines(table, Form::screen, 80));
    ASSERT_EQ(lines.size(), 2u);
    for (const std::string& line : lines) EXPECT_LE(shown_width(line), 80u) << line;
    EXPECT_THAT(lines[1], AllOf(HasSubstr("  1  "), HasSubstr("  5  "), Not(HasSubstr("  6  "))));
    EXPECT_THAT(lines[1], EndsWith("01"));
}

TEST(TextReport, ShowsTheWorstStreamsOnTheScreen) {
    const std::vector<std::string> lines = lines_of(screen(samples::many_streams()));
    const auto heading = std::find_if(lines.begin(), lines.end(),
                                      [](const std::string& line) { return line.starts_with("  stream "); });
    ASSERT_NE(heading, lines.end());
    EXPECT_THAT(heading[1], StartsWith("  97 "));
    EXPECT_TRUE(std::regex_search(screen(samples::many_streams()), std::regex("  and [0-9]+ more: -v\n")));
}

TEST(TextReport, CallsARecordingARecording) {
    RunResult result = samples::plays();
    result.streams[0].records = true;
    EXPECT_THAT(verdict_line(result), StartsWith("PLAYS AND RECORDS: "));
    for (StreamResult& stream : result.streams) stream.records = true;
    EXPECT_THAT(verdict_line(result), StartsWith("RECORDS: 4 streams of recorded dpx12"));
    EXPECT_EQ(closing_line(result).rest, ": 960 frames, 0 missed");
    result = samples::does_not_play();
    for (StreamResult& stream : result.streams) stream.records = true;
    EXPECT_THAT(verdict_line(result), StartsWith("DOES NOT RECORD: "));
    result.streams[0].records = false;
    EXPECT_THAT(verdict_line(result), StartsWith("DOES NOT PLAY OR RECORD: "));
}

TEST(TextReport, CallsPlayWithinTheReadAheadTooShort) {
    RunResult result = samples::plays();
    for (StreamResult& stream : result.streams) {
        stream.counts.scheduled = result.readahead;
        stream.margin_ns.reset();
    }
    EXPECT_THAT(verdict_line(result), StartsWith("TOO SHORT TO TELL: "));
    RunResult jumps = result;
    jumps.streams.back().counts.seeks = 1;  // behind which frames are read during play
    EXPECT_THAT(verdict_line(jumps), StartsWith("PLAYS: "));
    result.streams.back().counts.scheduled = result.readahead + 1;
    EXPECT_THAT(verdict_line(result), StartsWith("PLAYS: "));
}

TEST(TextReport, SaysHowFarAnInterruptedRunCame) {
    EXPECT_THAT(verdict_line(samples::interrupted()),
                StartsWith("INTERRUPTED after 120.0 ms: 0 missed so far: "));
    EXPECT_EQ(closing_line(samples::interrupted()).rest, " after 120.0 ms: 0 missed so far");
}

/// Play whose storage hung after 2 of 12 s.
RunResult hung() {
    RunResult result = samples::does_not_play();
    result.interrupted = true;
    result.wall_ns = 2'000'000'000;
    for (StreamResult& stream : result.streams) stream.last_due_ns = 11'600'000'000;
    return result;
}

TEST(TextReport, ARunThatHungLastedUntilItsLastDeadlineAndReadUntilItsLastFrame) {
    RunResult result = hung();
    EXPECT_THAT(verdict_line(result), StartsWith("INTERRUPTED after 12.0 s: 200 missed so far"));
    EXPECT_EQ(closing_line(result).rest, " after 12.0 s: 200 missed so far");
    EXPECT_THAT(in_full(result), HasSubstr("MB/s until the last frame came, after 2.0 s, 4,777.8 MB/s"));
    EXPECT_THAT(screen(result), HasSubstr("MB/s until the last frame came, 4,777.8 MB/s required\n"));
    EXPECT_THAT(html_report(result), HasSubstr("2.0 s</data> until the last frame came, in <data"));
    EXPECT_THAT(html_report(samples::plays()), Not(HasSubstr("until the last frame")));
    // Under on-miss stall no deadline passes.
    for (StreamResult& stream : result.streams) stream.last_due_ns = 1'600'000'000;
    result.events.back().stalls = 1;
    result.events.back().to_ns = 11'600'000'000;
    EXPECT_EQ(closing_line(result).rest, " after 12.0 s: 200 missed so far");
}

TEST(TextReport, DropsOfTheFirstSecondAreNotMissedSoFar) {
    RunResult result = samples::plays();
    result.interrupted = true;
    result.totals.dropped = result.totals.startup_drops = 13;
    EXPECT_EQ(closing_line(result).rest, " after 10.4 s: 0 missed so far");
    result.totals.late = 1;
    EXPECT_EQ(closing_line(result).rest, " after 10.4 s: 1 missed so far");
}

TEST(TextReport, WhatTookNoTimeHasNoRate) {
    RunResult result = samples::as_fast_as_it_goes();
    for (StreamResult& stream : result.streams) stream.records = true;
    result.totals.bytes_written = 1'000;
    result.wall_ns = 0;
    EXPECT_THAT(verdict_line(result), EndsWith(" as fast as it went: 480 frames"));
    result.meters.resize(1);
    result.meters[0].all.done = 12'345;
    EXPECT_EQ(meters_table(result).rows[0][3].text, kNoValue);
}

TEST(TextReport, SaysThatNothingWasReadWithoutDeadlines) {
    RunResult result = samples::as_fast_as_it_goes();
    result.totals = {};
    result.verdict = {false, "no frame was read or written before the end", Limit::unknown};
    EXPECT_THAT(verdict_line(result), StartsWith("NOTHING READ: "));
}

TEST(TextReport, EndsWithWhatProveDecided) {
    RunResult result = samples::plays();
    result.claims.emplace();
    EXPECT_EQ(closing_line(result).rest, ": 960 frames, 0 missed");
    result.claims->prove.emplace();
    EXPECT_EQ(closing_line(result).rest, ": 960 frames, 0 missed; claim undecided");
    EXPECT_THAT(verdict_line(result), EndsWith("; claim undecided"));
    EXPECT_EQ(closing_line(result).tone, Tone::doubtful);
    result.claims->prove->decided = ProveDecision::stands;
    EXPECT_EQ(closing_line(result).rest, ": 960 frames, 0 missed; claim stands");
    EXPECT_EQ(closing_line(result).tone, Tone::good);
    result.claims->prove->decided = ProveDecision::failed;
    EXPECT_EQ(closing_line(result).rest, ": 960 frames, 0 missed; claim failed");
    EXPECT_EQ(closing_line(result).tone, Tone::bad);
}

TEST(TextReport, AttributesFramesAndStalls) {
    RunResult result = samples::told_in_full();
    result.causes[0].stalls = 2;
    EXPECT_THAT(
        in_full(result),
        HasSubstr("Attributed  190 frames and 2 stalls to too-little-in-flight, 22 frames to slow-reads\n"));
}

TEST(TextReport, CallsMetersAloneDone) {
    RunResult result;
    result.meters.resize(2);
    result.verdict.pass = true;
    EXPECT_THAT(verdict_line(result), StartsWith("DONE: "));
    EXPECT_EQ(closing_line(result).rest, ": 2 meters");
    EXPECT_THAT(in_full(result),
                AllOf(HasSubstr("Meters"), Not(HasSubstr("Throughput")), Not(HasSubstr("Played"))));
    const std::string page = html_report(result);
    EXPECT_THAT(page, HasSubstr("<caption><span>Meters</span></caption>"));
    for (const char* of_streams : {"Frames on time", "over the clips", "id=\"streams\"", "id=\"margin\""})
        EXPECT_THAT(page.substr(page.find("<body>")), Not(HasSubstr(of_streams)));
    result.seats.resize(2);
    EXPECT_THAT(html_report(result), HasSubstr("<caption><span>Seats</span></caption>"));
}

TEST(TextReport, GivesTheVerdictInTheFirstLine) {
    EXPECT_EQ(verdict_line(samples::plays()),
              "PLAYS: 4 streams of dpx12 at 24 fps from /mnt/x: 960 frames, 0 dropped, min margin 31.2 ms");
    EXPECT_EQ(
        verdict_line(samples::does_not_play()),
        "DOES NOT PLAY: 4 streams of dpx12 at 24 fps from /mnt/x: 212 of 960 frames dropped (12 of them in the "
        "first second), min margin -120.0 ms");
    EXPECT_THAT(in_full(samples::plays()), StartsWith(verdict_line(samples::plays()) + "\n"));
}

TEST(TextReport, SaysFirstThatFaultsWereInjected) {
    RunResult result = samples::seats_and_stalls();
    result.faults_injected = FaultsInjected{12, 3, 1, 0, 7};
    const std::string text = in_full(result);
    EXPECT_THAT(text, StartsWith("FAULTS INJECTED: DOES NOT PLAY: "));
    EXPECT_THAT(
        text,
        HasSubstr("Faults      no statement about storage: 12 operations delayed, 3 failed, 1 cut short\n"));
}

TEST(TextReport, SaysThatTheNullStorageSaysNothing) {
    RunResult result = samples::plays();
    result.backend = result.io = "null";
    std::string text = in_full(result);
    EXPECT_LT(text.find("no statement about storage"), text.find("\nReason"));
    result.backend = "sim";
    text = in_full(result);
    EXPECT_THAT(text, HasSubstr("no statement about storage"));
    EXPECT_THAT(in_full(samples::modelled()), Not(HasSubstr("no statement about storage")));
}

TEST(TextReport, SaysTheRequiredRateStepByStep) {
    RunResult result = samples::plays();
    constexpr std::int64_t kSecond = 1'000'000'000;
    result.required_rates = {{0, 120e6}, {60 * kSecond, 240e6}, {120 * kSecond, 0}};
    EXPECT_THAT(in_full(result),
                HasSubstr("Required    120.0 MB/s from 0 ns, 240.0 MB/s from 60.0 s to 2 m 00 s\n"));
    for (std::int64_t i = 0; i < 20; ++i) result.required_rates.push_back({(121 + i) * kSecond, 1e6});
    EXPECT_THAT(required_text(result), HasSubstr(", and 16 steps more"));
}

TEST(TextReport, NamesWhatOfTheTargetWasNotPlayed) {
    RunResult result = samples::plays();
    result.media.skipped = {"/mnt/x/a.mov: byte 0: the file is empty", "/mnt/x/b.jpg: one still picture"};
    EXPECT_THAT(
        in_full(result),
        HasSubstr("Not played  /mnt/x/a.mov: byte 0: the file is empty\n            /mnt/x/b.jpg: one"));
    RunResult nothing;
    nothing.verdict.pass = true;
    EXPECT_THAT(verdict_line(nothing), StartsWith("NOTHING PLAYED: "));
}

TEST(TextReport, SaysNotThatASeatPlaysThatVanished) {
    RunResult result = samples::several_computers();
    result.seats[1].verdict.pass = true;
    ASSERT_EQ(result.seats[1].state, SeatResult::State::partial);
    EXPECT_THAT(in_full(result), HasSubstr("partial   unknown"));
    EXPECT_THAT(html_report(result), HasSubstr(">unknown<"));
}

TEST(TextReport, NamesWhatTheFirstSecondCost) {
    RunResult result = samples::plays();
    result.totals.dropped = result.totals.startup_drops = 3;
    EXPECT_THAT(verdict_line(result), HasSubstr("960 frames, 0 dropped after the first second (3 in it)"));
}

TEST(TextReport, DoesNotCallARunThatMayBeCachedAStorageThatFails) {
    RunResult result = samples::plays();
    result.verdict = {false, "a cache may have helped, and cold media were required", Limit::unknown};
    EXPECT_THAT(verdict_line(result), StartsWith("PLAYS, BUT PERHAPS FROM A CACHE: "));
}

TEST(TextReport, CallsMetersThatFailedNoCache) {
    RunResult result = samples::plays();
    result.verdict = {false, "the streams played, but operations of the meters failed", Limit::unknown};
    result.meters.emplace_back().errors.push_back({LoadOperation::read, 110, 1, "/mnt/a/file"});
    EXPECT_THAT(verdict_line(result), StartsWith("PLAYS, BUT NOT ALL WAS DONE: "));
    result.meters.front().errors.clear();  // then it never ran
    EXPECT_THAT(verdict_line(result), StartsWith("PLAYS, BUT NOT ALL WAS DONE: "));
    result.meters.clear();
    result.verdict.limit = Limit::client_cpu;
    EXPECT_THAT(verdict_line(result), StartsWith("PLAYS, BUT NOT ALL WAS DONE: "));
}

TEST(TextReport, CallsSeatsThatDidNotPlayTogetherNoCache) {
    RunResult result = samples::plays();
    result.verdict = {false, "seat 1: it began 12.9 s after the others", Limit::unknown};
    result.seats.resize(2);
    result.seats[1].start_late_ns = 12'900'000'000;
    EXPECT_EQ(first_word(result).word, "PLAYS, BUT NOT TOGETHER");
    EXPECT_EQ(first_word(result).tone, Tone::bad);
    result.backend = "null";
    EXPECT_EQ(first_word(result).word, "PLAYS, BUT NOT TOGETHER");
    result.backend = "local";
    result.seats[1].start_late_ns = 0;
    EXPECT_EQ(first_word(result).word, "PLAYS, BUT PERHAPS FROM A CACHE");
    for (SeatResult& seat : result.seats) {
        MountFacts& mount = seat.mount.emplace();
        mount.type = &seat == result.seats.data() ? "ext4" : "nfs4";
        mount.point = mount.target = "/mnt/x";
    }
    EXPECT_EQ(first_word(result).word, "PLAYS, BUT NOT TOGETHER");
    EXPECT_EQ(first_word(result).tone, Tone::bad);
}

TEST(TextReport, ColoursTheVerdictOnlyWhenAsked) {
    EXPECT_THAT(in_full(samples::plays()), Not(HasSubstr("\x1b")));
    EXPECT_THAT(text_report(samples::plays(), TextDetail::full, true),
                StartsWith("\x1b[1;32mPLAYS\x1b[0m: 4 streams"));
    EXPECT_THAT(text_report(samples::does_not_play(), TextDetail::screen, true),
                StartsWith("\x1b[1;31mDOES NOT PLAY\x1b[0m"));
}

TEST(TextReport, ShowsNamesWithoutTheirControlCharacters) {
    const std::string text = in_full(samples::hostile());
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, HasSubstr("/mnt/\\x1b[2Jx\\x0a"));
    EXPECT_THAT(text, HasSubstr("- MB/s over the whole run"));
}

TEST(TextReport, KeepsTheWorstStreamWhereNotAllFit) {
    const std::string table = table_text(streams_table(samples::many_streams(), 40, StreamOrder::as_numbered));
    EXPECT_THAT(table, HasSubstr("\n  97 "));
    EXPECT_LT(table.find("\n  97 "), table.find("\n  0 "));
    EXPECT_THAT(table, HasSubstr("and 60 more, none worse than these"));
}

TEST(TextReport, TellsMissedFramesAsEvents) {
    const RunResult result = samples::does_not_play();
    const std::string table = table_text(events_table(result, 20));
    EXPECT_THAT(table, HasSubstr(show_first_frame(result, result.events.front())));
    EXPECT_THAT(table, HasSubstr("209 missed frames in no event"));
    EXPECT_THAT(table, Not(HasSubstr("frame 2")));
    RunResult many = samples::many_streams();
    many.events.resize(30, many.events.front());
    const std::string long_one = table_text(events_table(many, 20));
    EXPECT_EQ(std::count(long_one.begin(), long_one.end(), '\n'), 23);
    EXPECT_THAT(long_one, HasSubstr("10 more events: events in --json"));
}

TEST(TextReport, NamesTheShareItsHintsAndTheServersThatWereSpokenTo) {
    RunResult result = samples::told_in_full();
    result.streams.back().seat = 5;
    const std::string text = in_full(result);
    EXPECT_THAT(text,
                HasSubstr("NFSv4.2 from filer, 1 connection, reads of up to 1 MiB, the kernel reads 128 KiB"));
    EXPECT_THAT(text, HasSubstr("nconnect=1: one connection seldom fills a link"));
    EXPECT_THAT(text, HasSubstr("10.0.0.1, NFSv3, 4 connections, reads of up to 1 MiB; seats 0 to 2, 5\n"));
    EXPECT_THAT(text,
                HasSubstr("12,345 requests, 27.5 a frame, for 38.0 GB; 1 reconnect; 3 segments sent again; "
                          "RTT 250.0 us"));
    EXPECT_THAT(text, HasSubstr("10.0.0.2, NFSv3, 4 connections, reads of up to 1 MiB; seats 3, 4\n"));
    EXPECT_THAT(text, HasSubstr("345 requests, 27.5 a frame, for 38.0 MB\n"));
}

TEST(TextReport, SaysHowManyRowsOfOperationsTheTableLacks) {
    RunResult result = samples::plays();
    result.meters.resize(2);
    LoadResult load;
    load.steps.resize(2);
    const auto texts = [&result, &load] {
        for (LoadStep& step : load.steps) step.result = result;
        return std::vector{std::pair("1,234", in_full(result)),
                           std::pair("1,234", screen(result)),
                           std::pair("1,234", html_report(result)),
                           std::pair("2,468", load_text_report(load, TextDetail::full)),
                           std::pair("2,468", load_text_report(load, TextDetail::screen)),
                           std::pair("2,468", load_html_report(load))};
    };
    for (const auto& [rows, text] : texts()) EXPECT_THAT(text, Not(HasSubstr("--csv has the first rows")));
    result.meters[0].rows_omitted = 1'000;
    result.meters[1].rows_omitted = 234;
    for (const auto& [rows, text] : texts()) {
        EXPECT_THAT(text, HasSubstr("--csv has the first rows of each meter only: " + std::string(rows) +
                                    " more left out"));
    }
}

TEST(LoadReport, FindsTheCountersOfEachStepByTheirNames) {
    LoadResult load;
    load.steps.resize(3);
    load.steps[0].result.counters = {"count", {{"hits", 0, 5, 5}, {"misses", 0, 7, 7}}, 0, {}, ""};
    load.steps[2].result.counters = {"count", {{"misses", 0, 8, 8}, {"new", 0, 9, 9}}, 0, {}, ""};
    const Table table = counters_table(load);
    std::vector<std::string> headings;
    for (const Column& column : table.columns) headings.push_back(column.heading);
    EXPECT_THAT(headings, testing::ElementsAre("", "read meanwhile", "hits", "misses", "new"));
    ASSERT_EQ(table.rows.size(), 2u);
    const auto texts = [&table](std::size_t row) {
        std::vector<std::string> out;
        for (std::size_t i = 2; i < table.rows[row].size(); ++i) out.push_back(table.rows[row][i].text);
        return out;
    };
    EXPECT_THAT(texts(0), testing::ElementsAre("+5", "+7", kNoValue));
    EXPECT_THAT(texts(1), testing::ElementsAre(kNoValue, "+8", "+9"));
}

TEST(LoadReport, ShowsLowRates) {
    LoadResult load;
    load.steps.resize(1);
    load.steps[0].all.operations_per_s = 0.25;
    load.steps[0].all.read_bytes_per_s = 1'024;
    load.steps[0].result.meters.resize(1);
    MeterResult& meter = load.steps[0].result.meters[0];
    meter.wall_ns = 40'000'000'000;
    meter.all.done = 10;
    EXPECT_THAT(load_text_report(load, TextDetail::full), AllOf(HasSubstr("0.25"), HasSubstr("0.001")));
    EXPECT_THAT(load_html_report(load), HasSubstr("<dd class=\"figure\">0.25/s</dd>"));
    EXPECT_EQ(meters_table(load.steps[0].result).rows[0][3].text, "0.25");
    EXPECT_EQ(show_per_second(9.994), "9.99");
    EXPECT_EQ(show_per_second(12'345.4), "12,345");
}

TEST(LoadReport, HasOneWordForOperationsThatFailed) {
    LoadResult load;
    load.steps.resize(1);
    EXPECT_THAT(load_text_report(load, TextDetail::screen), StartsWith("DONE, WITH FAILURES: "));
    EXPECT_THAT(load_html_report(load), HasSubstr(">DONE, WITH FAILURES<"));
}

/// A calibration whose model predicts 8 to 10 streams of dpx12, and whose held-back run played so many.
TEST(TextTables, LeaveOutColumnsWithoutValues) {
    Table table{.title = "t"};
    table.left({"a"});
    table.right({"none", "some"}, Column::Keep::where_not_zero);
    table.right({"page"}, Column::Keep::always, Column::Form::page);
    table.row({"x", "0", "0", "1"});
    table.row({"y", kNoValue, "3", "2"});
    EXPECT_EQ(table_text(table), "t\n  a  some\n  x     0\n  y     3\n");
}

TEST(TextTables, CutTheLastColumnAtItsFront) {
    Table table;
    table.left({"n", "clip"});
    table.row({"1", "folder/long-name-of-a-clip.mov"});
    EXPECT_EQ(table_lines(table, Column::Form::screen, 20), "  n  clip\n  1  ..of-a-clip.mov\n");
}

TEST(Wrap, BreaksAtSpacesAndInsideLongWords) {
    EXPECT_THAT(wrapped("one two three", {.columns = 8, .indent = 2}),
                testing::ElementsAre("one two", "  three"));
    EXPECT_THAT(wrapped("abcdefghij", {.columns = 6, .indent = 2}), testing::ElementsAre("abcdef", "  ghij"));
    EXPECT_THAT(wrapped("one two three four", {.columns = 8, .lines_max = 2}),
                testing::ElementsAre("one two", "three..."));
    EXPECT_THAT(wrapped("", {}), testing::ElementsAre(""));
}

TEST(TextTables, ShowNumbersForPeople) {
    EXPECT_EQ(show_clock(3'466'666'667, true), "0:03.467");
    EXPECT_EQ(show_clock(3'723'000'000'000, false), "1:02:03");
    EXPECT_EQ(show_clock(-400'000'000, true), "-0:00.400");
    EXPECT_EQ(show_clock(-400'000'000, false), "0:00");
    RunResult short_steps = samples::plays();
    short_steps.timeline[1].t_ns = short_steps.timeline[0].interval_ns = 10'000'000;
    EXPECT_EQ(time_table(short_steps).rows[1][0].text, "0:00.010");
    EXPECT_EQ(show_rate(4'777'574'400.0), "4,777.6 MB/s");
    EXPECT_EQ(show_rate(999'960'000.0), "1,000.0 MB/s");
    EXPECT_EQ(show_fps({24000, 1001}), "23.976 fps");
    EXPECT_EQ(show_fps({60000, 1001}), "59.94 fps");
    EXPECT_EQ(show_fps({25, 2}), "12.5 fps");
    EXPECT_EQ(counted(1, "frame") + ", " + counted(1024, "frame"), "1 frame, 1,024 frames");
}

RunResult with_counters(ColdReads reads) {
    RunResult result = samples::plays();
    result.media.server_cache_may_be_warm = true;
    result.before_step = {"flush all", "", 0, 0, 1'500'000'000};
    result.counters = {"count",
                       {{"disk_read_bytes", 0, 8e9, 8e9}, {"hits", 5, 2, -3}, {"share", 0.25, 0.5, 0.25}},
                       8'000'000'000,
                       reads,
                       "the proof"};
    return result;
}

TEST(TextReport, CommandAndCountersAreInTheWholeReport) {
    const std::string text = text_report(with_counters(ColdReads::cold), TextDetail::full, false);
    EXPECT_THAT(text, HasSubstr("Before      flush all: exit code 0 after 1.5 s"));
    EXPECT_THAT(text, HasSubstr("disk_read_bytes +8.0 GB"));
    EXPECT_THAT(text, HasSubstr("hits -3"));
    EXPECT_THAT(text, HasSubstr("share +0.25"));
    EXPECT_THAT(text, HasSubstr("8.0 GB were read meanwhile"));
}

TEST(TextReport, AServersCacheIsWarmForReasonsThatCount) {
    const auto cache = [](const MediaFacts& media) {
        RunResult result = samples::plays();
        result.media = media;
        result.media.server_cache_may_be_warm = true;
        const std::string text = text_report(result, TextDetail::full, false);
        const std::size_t begin = text.find("server's cache");
        return text.substr(begin, text.find("Computer", begin) - begin);
    };
    const std::string older =
        "\n            to measure its disks, play media that are older and longer than its memory\n";
    const std::string shared = "several streams played one clip (--media own gives each its own)";
    EXPECT_EQ(cache({.age_s = 3600}), "server's cache" + older) << "an hour is no reason";
    EXPECT_EQ(cache({.age_s = 3600, .shared = true}), "server's cache: " + shared + "\n");
    EXPECT_EQ(cache({.read_for_index = true}),
              "server's cache: the media were read through for their index (--keep-index)\n");
    EXPECT_EQ(cache({.age_s = 0}),
              "server's cache: the media were written or changed less than a second ago" + older);
    EXPECT_EQ(cache({.age_s = 3540, .looped = true, .shared = true}),
              "server's cache: the media were written or changed 59 m 00 s ago and played more than once; " +
                  shared + older);
}

TEST(TextReport, ThatNobodyKnowsWhatOwnMemoryGaveIsSaid) {
    for (const TextDetail detail : {TextDetail::full, TextDetail::screen}) {
        RunResult result = samples::plays();
        EXPECT_THAT(text_report(result, detail, false), Not(HasSubstr("is not known")));
        result.client.page_cache_bytes.reset();
        const std::string text = text_report(result, detail, false);
        EXPECT_THAT(text, HasSubstr("Cache       how much came from this computer's own memory is not known"));
        EXPECT_THAT(text, Not(HasSubstr("no sign of a warm cache")));
    }
}

TEST(TextReport, ProofOfColdReadsReplacesTheDoubt) {
    for (const TextDetail detail : {TextDetail::full, TextDetail::screen}) {
        const std::string cold = text_report(with_counters(ColdReads::cold), detail, false);
        EXPECT_THAT(cold, HasSubstr("Cache       the proof"));
        EXPECT_THAT(cold, Not(HasSubstr("may have come from the server's cache")));
        const std::string open = text_report(with_counters(ColdReads::not_known), detail, false);
        EXPECT_THAT(open, HasSubstr("the proof"));
        EXPECT_THAT(open, HasSubstr("may have come from the server's cache"));
    }
}

}  // namespace
}  // namespace streamsim::report
