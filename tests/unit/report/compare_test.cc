#include "report/compare/compare.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "report/compare/compare_report.h"
#include "unit/report/golden.h"
#include "unit/report/sample_results.h"
#include "unit/report/schema_check.h"

namespace streamsim::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A run of a minute in which the slowest frame of an interval took `slowest_ms` and a little, in turns.
RunResult steady(std::int64_t slowest_ms = 30) {
    RunResult out = samples::plays();
    out.timeline.clear();
    for (std::int64_t i = 0; i < 60; ++i) {
        const std::int64_t more_ns = i % 3 * 100'000;
        out.timeline.push_back({i * 1'000'000'000, 1'000'000'000,
                                4'780'000'000 + static_cast<std::uint64_t>(i % 2) * 1'000'000, 96, 0, 0, 0,
                                slowest_ms * 1'000'000 + more_ns, 3, 31'000'000 - more_ns});
    }
    out.service_ns->p99_9 = out.service_ns->max = slowest_ms * 1'000'000 + 200'000;
    for (StreamResult& stream : out.streams) stream.service_ns = out.service_ns;
    return out;
}

/// The same, with `count` frames dropped in each of the first `intervals`.
RunResult dropping(std::uint64_t count, std::size_t intervals) {
    RunResult out = steady();
    for (std::size_t i = 0; i < intervals; ++i) {
        out.timeline[i].frames_dropped = count;
        out.timeline[i].frames_on_time -= count;
    }
    out.totals.dropped = count * intervals;
    out.totals.on_time -= out.totals.dropped;
    out.verdict = {false, "the storage did not keep up", Limit::storage, "", ""};
    return out;
}

Comparison compared(std::vector<RunResult> results) {
    std::vector<NamedResult> named;
    for (RunResult& result : results)
        named.push_back({std::string(1, static_cast<char>('a' + named.size())) + ".json", std::move(result)});
    return compare(named);
}

/// The value and the change of a figure of one result, as shown.
std::string said(const Comparison& comparison, const std::string& key, std::size_t result = 1) {
    for (const ComparedFigure& figure : comparison.figures) {
        if (figure.key != key) continue;
        const ComparedValue& value = figure.values[result];
        std::string out = to_string(value.verdict);
        if (value.direction != Direction::neither) out += std::string(": ") + to_string(value.direction);
        return out;
    }
    return "no such figure";
}

TEST(Compare, ARunAgainstItselfDiffersInNothing) {
    for (const RunResult& sample :
         {samples::plays(), samples::does_not_play(), samples::modelled(), steady()}) {
        const Comparison comparison = compared({sample, sample});
        EXPECT_THAT(comparison.setup, IsEmpty());
        for (const ComparedFigure& figure : comparison.figures)
            EXPECT_NE(figure.values[1].verdict, ChangeVerdict::changed) << figure.key;
    }
}

TEST(Compare, SaysWhatGotWorseAndWhatGotBetter) {
    const Comparison worse = compared({steady(), dropping(2, 60)});
    EXPECT_EQ(said(worse, "verdict"), "changed: worse");
    EXPECT_EQ(said(worse, "limit"), "changed");
    EXPECT_EQ(said(worse, "frames_dropped"), "changed: worse");
    EXPECT_EQ(said(worse, "frames_missed_share"), "changed: worse");
    EXPECT_EQ(said(worse, "frames_scheduled"), "within the noise");
    EXPECT_EQ(said(worse, "service_ns_p99"), "within the noise");
    const Comparison better = compared({dropping(2, 60), steady()});
    EXPECT_EQ(said(better, "verdict"), "changed: better");
    EXPECT_EQ(said(better, "frames_dropped"), "changed: better");
    const Comparison slower = compared({steady(30), steady(60)});
    EXPECT_EQ(said(slower, "service_ns_max"), "changed: worse");
    EXPECT_EQ(said(slower, "service_ns_p50"), "within the noise");
}

TEST(Compare, AFewDropsMayBeChanceWhereBothFail) {
    EXPECT_EQ(said(compared({dropping(1, 1), dropping(3, 1)}), "frames_dropped"), "within the noise");
    // 90 and 105 in bursts: the intervals of each run differ by more.
    EXPECT_EQ(said(compared({dropping(30, 3), dropping(35, 3)}), "frames_dropped"), "within the noise");
}

TEST(Compare, APassAndAFailureDifferHoweverFewTheFrames) {
    for (const std::uint64_t frames : {1U, 3U, 40U}) {
        const Comparison worse = compared({steady(), dropping(frames, 1)});
        const Comparison better = compared({dropping(frames, 1), steady()});
        for (const char* figure : {"verdict", "frames_dropped", "frames_missed_share"}) {
            EXPECT_EQ(said(worse, figure), "changed: worse") << figure << " " << frames;
            EXPECT_EQ(said(better, figure), "changed: better") << figure << " " << frames;
        }
        EXPECT_EQ(said(worse, "limit"), "changed");
    }
    // Also where the runs of a set-up differ among themselves: that is said on top.
    const Comparison varying = compared({steady(), dropping(60, 1), steady(), dropping(40, 1)});
    for (const char* figure : {"verdict", "frames_dropped", "frames_missed_share", "limit"})
        EXPECT_THAT(said(varying, figure, 3), testing::StartsWith("changed")) << figure;
    EXPECT_THAT(varying.remarks, testing::Contains(HasSubstr("A and B have one set-up, and only one of them")));
    // And where they were not as long as each other.
    RunResult longer = dropping(1, 40);
    longer.totals.scheduled *= 3;
    longer.totals.on_time = longer.totals.scheduled - 40;
    EXPECT_EQ(said(compared({steady(), longer}), "frames_dropped"), "changed: worse");
    EXPECT_EQ(said(compared({steady(), longer}), "verdict"), "changed: worse");
}

/// A run whose intervals are as different as they are where a storage stalls now and then.
RunResult uneven(RunResult out) {
    for (std::size_t i = 0; i < out.timeline.size(); i += 7) {
        out.timeline[i].service_ns_max = 400'000'000;
        out.timeline[i].margin_ns_min = -150'000'000;
    }
    return out;
}

TEST(Compare, AMarginThatIsNoneAnyMoreIsAChange) {
    const auto with_margin = [](RunResult run, std::int64_t least, std::int64_t p1) {
        run.margin_ns->min = least;
        run.margin_ns->p1 = p1;
        return uneven(std::move(run));
    };
    const RunResult plays = with_margin(steady(), 258'000'000, 262'000'000);
    const RunResult fails = with_margin(dropping(40, 1), -18'000'000, -4'000'000);
    for (const char* figure : {"margin_ns_min", "margin_ns_p1"}) {
        EXPECT_EQ(said(compared({plays, fails}), figure), "changed: worse") << figure;
        EXPECT_EQ(said(compared({fails, plays}), figure), "changed: better") << figure;
        EXPECT_EQ(said(compared({plays, plays, fails}), figure, 2), "changed: worse") << figure;
        // Runs of one set-up on both sides of 0.
        EXPECT_EQ(said(compared({plays, fails, plays, fails}), figure, 3), "changed: worse") << figure;
    }
    // If both pass, a few milliseconds about 0 are noise.
    const RunResult near = with_margin(steady(), 2'000'000, 5'000'000);
    const RunResult below = with_margin(steady(), -3'000'000, 5'000'000);
    EXPECT_EQ(said(compared({near, below}), "margin_ns_min"), "within the noise");
}

TEST(Compare, ALatencyThatTookAwayFramesIsAChange) {
    const auto with_p99 = [](std::int64_t ns) {
        RunResult run = uneven(steady());
        run.service_ns->p99 = run.response_ns->p99 = ns;
        run.service_ns->p99_9 = run.response_ns->p99_9 = ns * 3;
        for (StreamResult& stream : run.streams) stream.service_ns = run.service_ns;
        return run;
    };
    for (const char* figure : {"service_ns_p99", "response_ns_p99"}) {
        EXPECT_EQ(said(compared({with_p99(9'500'000), with_p99(75'000'000)}), figure), "changed: worse");
        EXPECT_EQ(said(compared({with_p99(75'000'000), with_p99(9'500'000)}), figure), "changed: better");
        // Three times of next to nothing is nothing to a frame.
        EXPECT_EQ(said(compared({with_p99(400'000), with_p99(1'300'000)}), figure), "within the noise");
        EXPECT_EQ(said(compared({with_p99(9'500'000), with_p99(11'000'000)}), figure), "within the noise");
    }
}

TEST(Compare, WhatSaysNothingOfAStorageIsNeitherBetterNorWorse) {
    RunResult faulted = dropping(40, 1);
    faulted.faults_injected.emplace();
    faulted.verdict.limit = Limit::unknown;
    for (const auto& pair : {std::vector{steady(), faulted}, std::vector{faulted, steady()}}) {
        const Comparison comparison = compared(pair);
        EXPECT_EQ(said(comparison, "verdict"), "changed");
        EXPECT_EQ(said(comparison, "frames_dropped"), "changed");
        EXPECT_NE(comparison.results[0].setup, comparison.results[1].setup);
        const std::string text = comparison_text(comparison);
        EXPECT_THAT(text.substr(0, text.find('\n')), HasSubstr("FAULTS INJECTED"));
        EXPECT_THAT(text, Not(HasSubstr(": better")));
        EXPECT_THAT(text, Not(HasSubstr(": worse")));
        EXPECT_THAT(comparison_html(comparison), HasSubstr("<strong>"));
        EXPECT_THAT(comparison_json(comparison), HasSubstr("FAULTS INJECTED"));
    }
    RunResult null = steady();
    null.backend = null.io = "null";
    const std::string text = comparison_text(compared({null, dropping(40, 1)}));
    EXPECT_THAT(text.substr(0, text.find('\n')), HasSubstr("no statement about storage"));
    EXPECT_THAT(text, Not(HasSubstr(": worse")));
}

TEST(Compare, TheVerdictIsBetterOrWorseOnlyWhereBothAreDecided) {
    const auto verdict = [](const RunResult& a, const RunResult& b) {
        return said(compared({a, b}), "verdict");
    };
    RunResult cached = steady();
    cached.verdict = {false, "a cache may have helped", Limit::unknown, "", ""};
    EXPECT_EQ(verdict(steady(), cached), "changed");
    EXPECT_EQ(verdict(cached, dropping(2, 60)), "changed");
    RunResult late = cached;
    late.seats.resize(1);
    late.seats[0].start_late_ns = 12'900'000'000;
    EXPECT_EQ(verdict(steady(), late), "changed");
    RunResult incomplete = cached;
    incomplete.seats.resize(1);
    incomplete.seats[0].state = SeatResult::State::partial;
    EXPECT_EQ(verdict(steady(), incomplete), "changed");
    RunResult brief = steady();
    brief.totals.on_time = 0;
    EXPECT_EQ(verdict(dropping(2, 60), brief), "changed");
    RunResult records = steady();
    for (StreamResult& stream : records.streams) stream.records = true;
    EXPECT_EQ(verdict(steady(), records), "changed");
    EXPECT_EQ(verdict(dropping(2, 60), records), "changed");
    EXPECT_EQ(verdict(dropping(2, 60), samples::as_fast_as_it_goes()), "changed");
    EXPECT_THAT(comparison_csv(compared({steady(), cached})),
                HasSubstr("\r\nverdict,words,plays,\"plays, but perhaps from a cache\",changed\r\n"));
}

TEST(Compare, OneBadIntervalIsToldAndIsNoTrend) {
    RunResult hiccup = steady();
    hiccup.timeline[20].service_ns_max = 900'000'000;
    hiccup.timeline[20].margin_ns_min = -500'000'000;
    hiccup.service_ns->p99 = 200'000'000;
    hiccup.service_ns->p99_9 = hiccup.service_ns->max = 900'000'000;
    const Comparison comparison = compared({steady(), hiccup});
    EXPECT_EQ(said(comparison, "service_ns_p99"), "changed: worse") << "ten times as long";
    EXPECT_EQ(said(comparison, "service_ns_p50"), "within the noise");
    hiccup.service_ns->p99 = 40'000'000;
    EXPECT_EQ(said(compared({steady(), hiccup}), "service_ns_p99"), "within the noise") << "twice as long";
}

TEST(Compare, RunsOfOneSetUpSayWhatIsNoise) {
    const auto with_p50 = [](std::int64_t p50) {
        RunResult out = steady();
        out.service_ns->p50 = p50;
        return out;
    };
    // Each run is steady in itself, and they differ by 2 ms.
    const RunResult a = with_p50(12'000'000), b = with_p50(14'000'000), c = with_p50(15'000'000);
    EXPECT_EQ(said(compared({a, c}), "service_ns_p50"), "changed: worse");
    EXPECT_EQ(said(compared({a, b, c}), "service_ns_p50", 2), "within the noise");
    // The one that is judged does not count as noise itself.
    EXPECT_EQ(said(compared({a, a, with_p50(30'000'000)}), "service_ns_p50", 2), "changed: worse");
    RunResult other = c;
    other.inflight = 8;
    const Comparison comparison = compared({a, b, other});
    EXPECT_EQ(said(comparison, "service_ns_p50", 2), "within the noise");
    EXPECT_EQ(comparison.results[1].setup, 0U);
    EXPECT_EQ(comparison.results[2].setup, 1U);
    EXPECT_EQ(said(compared({a, b, dropping(2, 60)}), "verdict", 2), "changed: worse");
}

TEST(Compare, WhatIsNotTheSameThingIsNotCompared) {
    RunResult longer = dropping(2, 60);
    longer.totals.scheduled *= 2;
    longer.required_bytes_per_s *= 2;
    const Comparison comparison = compared({steady(), longer});
    EXPECT_EQ(said(comparison, "frames_dropped"), "changed: worse") << "per frame that was due";
    EXPECT_EQ(said(comparison, "read_bytes_per_s"), "not comparable");
    EXPECT_EQ(said(comparison, "frames_missed_share"), "changed: worse");
    EXPECT_EQ(said(comparison, "frames_scheduled"), "changed");
    const Comparison unpaced = compared({steady(), samples::as_fast_as_it_goes()});
    EXPECT_EQ(said(unpaced, "margin_ns_min"), "not comparable");
    const Comparison nothing = compared({steady(), samples::interrupted()});
    EXPECT_EQ(said(nothing, "margin_ns_min"), "not comparable");
    EXPECT_EQ(said(nothing, "verdict"), "not comparable");
    EXPECT_EQ(said(compared({samples::hostile(), samples::hostile()}), "read_bytes_per_s"), "not comparable");
}

TEST(Compare, VirtualTimeHasNoNoise) {
    RunResult a = samples::modelled();
    RunResult b = a;
    b.service_ns->p50 += 1;
    EXPECT_EQ(said(compared({a, b}), "service_ns_p50"), "changed: worse");
    b.seed = a.seed + 1;
    EXPECT_EQ(said(compared({a, b}), "service_ns_p50"), "within the noise");
}

TEST(Compare, SaysWhatDiffersInTheSetUp) {
    RunResult a = steady();
    a.command = {"streamsim", "--dpx12",      "--json",         "a.json",   "--seed=4", "-q",
                 "--web",     "8080",         "--journal=/tmp", "--title",  "Day 1",    "--client",
                 "Studio",    "--note=again", "--logo",         "logo.png", "/mnt/x"};
    RunResult b = a;
    b.command = {"/opt/streamsim", "--dpx12", "--json=b.json", "--seed", "5", "/mnt/x"};
    b.host.name = "edit-4";
    b.seed = 5;
    b.mount = {"/mnt/x", "server:/x", "nfs4", "rw"};
    const Comparison comparison = compared({a, b});
    std::vector<std::string> what;
    for (const SetupDifference& row : comparison.setup) what.push_back(row.what);
    EXPECT_THAT(what, ElementsAre("host", "mount", "seed"));
    EXPECT_THAT(comparison.setup[1].values, ElementsAre("not known", "server:/x on /mnt/x, nfs4 (rw)"));
    b.command.push_back("--cold");
    EXPECT_THAT(compared({a, b}).setup[0].values, ElementsAre("--dpx12 /mnt/x", "--dpx12 /mnt/x --cold"));
}

TEST(Compare, RunsOnOtherComputersAreOfAnotherSetUp) {
    const RunResult a = samples::several_computers();
    EXPECT_THAT(compared({a, a}).setup, IsEmpty());
    const auto differs = [&a](const RunResult& b) {
        const Comparison comparison = compared({a, b});
        EXPECT_NE(comparison.results[0].setup, comparison.results[1].setup);
        EXPECT_EQ(comparison.setup.size(), 1u);
        return comparison.setup.empty() ? "" : comparison.setup[0].what + ": " + comparison.setup[0].values[1];
    };
    RunResult b = a;
    b.seats[1].host.name = "h2";
    EXPECT_THAT(differs(b), testing::MatchesRegex("computers: 0: .*server:/export.*, 1: h2 .*, 2: not known"));
    b = a;
    b.seats[1].host.cpus = 3;
    EXPECT_THAT(differs(b), HasSubstr("1: h1 (3 processors, server:/export)"));
    b = a;
    b.seats[1].mount->source = "other:/export";
    EXPECT_THAT(differs(b), HasSubstr(", other:/export)"));
    RunResult alone = steady();
    alone.seats.resize(1);  // a run of one computer that kept a journal
    EXPECT_THAT(compared({steady(), alone}).setup, IsEmpty());
}

TEST(CompareReport, LooksAsAgreed) {
    const Comparison comparison = compared({steady(), dropping(2, 60), samples::modelled()});
    expect_golden(comparison_text(comparison), "comparison.txt");
}

TEST(CompareReport, KeepsToItsSchema) {
    const std::string path = std::string(STREAMSIM_SOURCE_DIR) + "/formats/schema/comparison.json";
    const Json schema = parse_json(read_whole(path), path).value();
    const std::vector<std::vector<RunResult>> all = {{steady(), dropping(2, 60)},
                                                     {samples::hostile(), samples::modelled()},
                                                     {samples::interrupted(), RunResult{}, samples::plays()}};
    for (const auto& results : all) {
        const std::string text = comparison_json(compared(results));
        EXPECT_TRUE(text.starts_with(kComparisonJsonBegins));
        const Json document = Json::parse(text);
        EXPECT_THAT(schema_problems(schema, document), IsEmpty());
        for (const Json& figure : document["figures"]) EXPECT_EQ(figure["values"].size(), results.size());
    }
}

TEST(CompareReport, ATableForSpreadsheets) {
    Comparison comparison = compared({steady(), dropping(2, 60)});
    comparison.results[1].name = "b, \"new\".json";
    const std::string csv = comparison_csv(comparison);
    EXPECT_TRUE(csv.starts_with(kComparisonCsvBegins));
    EXPECT_THAT(csv,
                HasSubstr("figure,unit,a.json,\"b, \"\"new\"\".json\",\"b, \"\"new\"\".json: change\"\r\n"));
    EXPECT_THAT(csv, HasSubstr("\r\nverdict,words,plays,does not play,changed: worse\r\n"));
    EXPECT_THAT(csv, HasSubstr("\r\nframes_dropped,count,0,120,changed: worse\r\n"));
    EXPECT_THAT(csv, HasSubstr("\r\nservice_ns_p50,ns,12300000,12300000,within the noise\r\n"));
}

TEST(CompareReport, APageThatNamesCannotBreak) {
    Comparison comparison = compared({steady(), dropping(2, 60)});
    comparison.results[0].name = "<script>alert(1)</script>";
    comparison.setup.push_back({"mount", {"\"><img src=x>", "\x1b[2J"}});
    const std::string page = comparison_html(comparison);
    EXPECT_TRUE(page.starts_with(kComparisonHtmlBegins));
    EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
    EXPECT_THAT(page, Not(HasSubstr("<img")));
    EXPECT_THAT(page, Not(HasSubstr("\x1b")));
    EXPECT_THAT(page, HasSubstr("default-src 'none'"));
    EXPECT_THAT(page, HasSubstr("<td class=\"n\">120</td><td class=\"bad\">changed: worse</td>"));
    EXPECT_THAT(page, HasSubstr("B against A: <strong class=\"bad\">worse</strong> in verdict, "));
}

}  // namespace
}  // namespace streamsim::report
