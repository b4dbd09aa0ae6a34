#include "report/text/text_report.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "base/units.h"
#include "report/html/html_report.h"
#include "report/text/text_tables.h"
#include "unit/report/golden.h"
#include "unit/report/sample_results.h"

namespace streamsim::report {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(TextReport, LooksAsAgreed) {
    expect_golden(text_report(samples::plays(), false), "plays.txt");
    expect_golden(text_report(samples::does_not_play(), false), "does_not_play.txt");
    expect_golden(text_report(samples::failures(), false), "failures.txt");
    expect_golden(text_report(samples::seats_and_stalls(), false), "seats_and_stalls.txt");
    expect_golden(text_report(samples::several_computers(), false), "several_computers.txt");
    expect_golden(text_report(samples::as_fast_as_it_goes(), false), "as_fast_as_it_goes.txt");
    expect_golden(text_report(samples::interrupted(), false), "interrupted.txt");
    expect_golden(text_report(samples::many_streams(), false), "many_streams.txt");
    expect_golden(text_report(samples::modelled(), false), "modelled.txt");
}

TEST(TextReport, GivesTheVerdictInTheFirstLine) {
    EXPECT_EQ(
        verdict_line(samples::plays()),
        "PLAYS: 4 streams of dpx12 at 24 fps from /mnt/x: 960 frames, 0 dropped, tightest margin 31.2 ms");
    EXPECT_EQ(
        verdict_line(samples::does_not_play()),
        "DOES NOT PLAY: 4 streams of dpx12 at 24 fps from /mnt/x: 212 of 960 frames dropped (12 of them in the "
        "first second), tightest margin -120.0 ms");
    EXPECT_THAT(text_report(samples::plays(), false), StartsWith(verdict_line(samples::plays()) + "\n"));
}

TEST(TextReport, SaysFirstThatFaultsWereInjected) {
    RunResult result = samples::seats_and_stalls();
    result.faults_injected = FaultsInjected{12, 3, 1, 0, 7};
    const std::string text = text_report(result, false);
    EXPECT_THAT(text, StartsWith("FAULTS INJECTED: DOES NOT PLAY: "));
    EXPECT_THAT(
        text,
        HasSubstr("Faults      12 operations delayed, 3 failed, 1 cut short; no statement about storage\n"));
}

TEST(TextReport, SaysThatTheNullStorageSaysNothing) {
    RunResult result = samples::plays();
    result.backend = result.io = "null";
    std::string text = text_report(result, false);
    EXPECT_LT(text.find("no statement about storage"), text.find("\nBecause"));
    result.backend = "sim";
    text = text_report(result, false);
    EXPECT_THAT(text, HasSubstr("no statement about storage"));
    EXPECT_THAT(text_report(samples::modelled(), false), Not(HasSubstr("no statement about storage")));
}

TEST(TextReport, SaysTheRequiredRateStepByStep) {
    RunResult result = samples::plays();
    constexpr std::int64_t kSecond = 1'000'000'000;
    result.required_rates = {{0, 120e6}, {60 * kSecond, 240e6}, {120 * kSecond, 0}};
    EXPECT_THAT(text_report(result, false),
                HasSubstr("Required    120.0 MB/s from 0 ns, 240.0 MB/s from 60.0 s to 2 m 00 s\n"));
    for (std::int64_t i = 0; i < 20; ++i) result.required_rates.push_back({(121 + i) * kSecond, 1e6});
    EXPECT_THAT(required_text(result), HasSubstr(", and 16 steps more"));
}

TEST(TextReport, NamesWhatOfTheTargetWasNotPlayed) {
    RunResult result = samples::plays();
    result.media.skipped = {"/mnt/x/a.mov: byte 0: the file is empty", "/mnt/x/b.jpg: one still picture"};
    EXPECT_THAT(
        text_report(result, false),
        HasSubstr("Not played  /mnt/x/a.mov: byte 0: the file is empty\n            /mnt/x/b.jpg: one"));
    RunResult nothing;
    nothing.verdict.pass = true;
    EXPECT_THAT(verdict_line(nothing), StartsWith("NOTHING PLAYED: "));
}

TEST(TextReport, SaysNotThatASeatPlaysThatVanished) {
    RunResult result = samples::several_computers();
    result.seats[1].verdict.pass = true;
    ASSERT_EQ(result.seats[1].state, SeatResult::State::partial);
    EXPECT_THAT(text_report(result, false), HasSubstr("partial   unknown"));
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

TEST(TextReport, ColoursTheVerdictOnlyWhenAsked) {
    EXPECT_THAT(text_report(samples::plays(), false), Not(HasSubstr("\x1b")));
    EXPECT_THAT(text_report(samples::plays(), true), StartsWith("\x1b[1;32mPLAYS\x1b[0m: 4 streams"));
    EXPECT_THAT(text_report(samples::does_not_play(), true), StartsWith("\x1b[1;31mDOES NOT PLAY\x1b[0m"));
}

TEST(TextReport, ShowsNamesWithoutTheirControlCharacters) {
    const std::string text = text_report(samples::hostile(), false);
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, HasSubstr("/mnt/\\x1b[2Jx\\x0a"));
    EXPECT_THAT(text, HasSubstr("- MB/s over the whole run"));
}

TEST(TextReport, KeepsTheWorstStreamWhereNotAllFit) {
    const std::string table = streams_table(samples::many_streams());
    EXPECT_THAT(table, HasSubstr("\n  97 "));
    EXPECT_LT(table.find("\n  97 "), table.find("\n  0 "));
    EXPECT_THAT(table, HasSubstr("and 60 more, none worse than these"));
}

TEST(TextReport, ShowsTheEarliestDropsOfAllStreams) {
    const std::string table = drops_table(samples::does_not_play());
    EXPECT_LT(table.find("clip2/"), table.find("clip1/"));
    EXPECT_THAT(table, HasSubstr("the first 3 of 212"));
    const std::string long_one = drops_table(samples::many_streams());
    EXPECT_EQ(std::count(long_one.begin(), long_one.end(), '\n'), 23);
}

TEST(TextReport, NamesTheShareItsHintsAndTheServersThatWereSpokenTo) {
    RunResult result = samples::told_in_full();
    result.streams.back().seat = 5;
    const std::string text = text_report(result, false);
    EXPECT_THAT(text,
                HasSubstr("NFSv4.2 from filer, 1 connection, reads of up to 1 MiB, the kernel reads 128 KiB"));
    EXPECT_THAT(text, HasSubstr("nconnect=1: one connection seldom fills a link"));
    EXPECT_THAT(text, HasSubstr("10.0.0.1, NFSv3, 4 connections, reads of up to 1 MiB; seats 0 to 2, 5\n"));
    EXPECT_THAT(text,
                HasSubstr("12,345 requests, 27.5 a frame, for 38.0 GB; 1 reconnect; 3 segments sent again; "
                          "round trip 250.0 us"));
    EXPECT_THAT(text, HasSubstr("10.0.0.2, NFSv3, 4 connections, reads of up to 1 MiB; seats 3, 4\n"));
    EXPECT_THAT(text, HasSubstr("345 requests, 27.5 a frame, for 38.0 MB\n"));
}

TEST(TextTables, ShowNumbersForPeople) {
    EXPECT_EQ(show_rate(4'777'574'400.0), "4,777.6 MB/s");
    EXPECT_EQ(show_rate(999'960'000.0), "1,000.0 MB/s");
    EXPECT_EQ(show_fps({24000, 1001}), "23.976 fps");
    EXPECT_EQ(show_fps({60000, 1001}), "59.94 fps");
    EXPECT_EQ(show_fps({25, 2}), "12.5 fps");
    EXPECT_EQ(counted(1, "frame") + ", " + counted(1024, "frame"), "1 frame, 1,024 frames");
}

}  // namespace
}  // namespace streamsim::report
