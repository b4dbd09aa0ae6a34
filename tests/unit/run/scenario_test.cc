// Scenarios through whole runs: when streams begin and end to the nanosecond, which media they get, what a
// fault hits, and that a storage is asked for the same in real and in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "judge/run_verdicts.h"
#include "run/plan/meters.h"
#include "run/scenario_run.h"
#include "run/session/session.h"
#include "unit/run/reading_log.h"

namespace streamsim::run {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kMs = 1'000'000;

const media::Catalogue& catalogue() {
    static const auto loaded = media::Catalogue::load(STREAMSIM_SOURCE_DIR "/formats/media");
    return *loaded;
}

Result<Scenario> read(const std::string& duration, const std::string& seats, const std::string& more = "") {
    return scenario::read_scenario(R"({"schema": "streamsim.scenario", "version": 1, "duration": ")" +
                                       duration + R"(", "seats": [)" + seats + "]" + more + "}",
                                   "test.json", scenario_words(catalogue(), STREAMSIM_SOURCE_DIR "/formats"));
}

RunResult run_scenario(const Scenario& scenario, test::ReadingLog* log = nullptr, std::uint32_t loops = 0) {
    PlayRequest request = common_request(scenario);
    request.loops = loops;
    request.keep_frames = true;
    if (log != nullptr) request.through = log->wrapper();
    auto parts = find_media(nullptr, parts_of(scenario), nullptr);
    EXPECT_TRUE(parts);
    Session session(request, std::move(*parts), scenario.faults, {}, [](const std::string&) {});
    auto result = session.execute();
    EXPECT_TRUE(result) << (result ? "" : result.error().problems.front());
    return result ? *result : RunResult{};
}

RunResult run_scenario(const std::string& duration, const std::string& seats, const std::string& more = "") {
    const auto scenario = read(duration, seats, more);
    EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().problems.front());
    return scenario ? run_scenario(*scenario) : RunResult{};
}

/// "seat.stream: begins at so many ms, has so many slots, the last due at".
std::vector<std::string> phases(const RunResult& result) {
    std::vector<std::string> out;
    for (const StreamResult& stream : result.streams) {
        EXPECT_EQ(stream.play_start_ns % kMs, 0);
        out.push_back(std::to_string(stream.seat) + "." + std::to_string(stream.stream) + ": " +
                      std::to_string(stream.play_start_ns / kMs) + " " +
                      std::to_string(stream.counts.scheduled) + " " + std::to_string(stream.last_due_ns / kMs));
    }
    return out;
}

TEST(ScenarioPhases, StreamsBeginAndEndAtTheirInstants) {
    const RunResult result = run_scenario("10s", R"(
        {"count": 3, "target": "sim:null", "start": "500ms", "one_more_every": "2s", "stop": "9s", "streams": [
            {"format": "dpx10", "count": 2, "one_more_every": "1s"},
            {"format": "prores-hd", "start": "250ms", "stop": "2250ms"}]},
        {"target": "sim:null", "streams": [{"format": "dpx10"}]})");
    EXPECT_THAT(phases(result),
                ElementsAre("0.0: 500 204 8458", "0.1: 1500 180 7458", "0.2: 750 60 1966", "1.0: 2500 156 6458",
                            "1.1: 3500 132 5458", "1.2: 2750 60 1966", "2.0: 4500 108 4458",
                            "2.1: 5500 84 3458", "2.2: 4750 60 1966", "3.0: 0 240 9958"));
    EXPECT_TRUE(result.verdict.pass);
    // All 7 of DPX play from 5.5 s on, and then one of the others too, from 4.75 to 6.75 s.
    EXPECT_NEAR(result.required_bytes_per_s,
                7 * result.streams[0].required_bytes_per_s + result.streams[8].required_bytes_per_s, 1);
    // As a line of steps: each that begins or ends, with what all need from then on.
    const double dpx = result.streams[0].required_bytes_per_s;
    const double prores = result.streams[2].required_bytes_per_s;
    std::vector<std::pair<std::int64_t, double>> steps;
    for (const RequiredRate& step : result.required_rates)
        steps.emplace_back(step.t_ns / kMs, step.bytes_per_s);
    ASSERT_EQ(steps.size(), 13u);
    EXPECT_EQ(steps[0], std::pair(std::int64_t{0}, dpx));
    EXPECT_EQ(steps[1], std::pair(std::int64_t{500}, 2 * dpx));
    EXPECT_EQ(steps[2].first, 750);
    EXPECT_NEAR(steps[2].second, 2 * dpx + prores, 1);
    EXPECT_NEAR(steps[3].second, 3 * dpx + prores, 1);
    EXPECT_NEAR(static_cast<double>(steps.back().first), 10'000, 1);
    EXPECT_EQ(steps.back().second, 0.0);
    EXPECT_EQ(result.totals.on_time, result.totals.scheduled);
    const std::int64_t end_ns = result.timeline.back().t_ns + result.timeline.back().interval_ns;
    EXPECT_NEAR(static_cast<double>(end_ns), 10e9, 50e6);
}

TEST(ScenarioPhases, AStreamThatNobodyStopsPlaysToTheEndAndNeverMoreFramesThanItMay) {
    const RunResult result = run_scenario("4s", R"({"target": "sim:null", "streams": [
        {"format": "dpx10", "start": "1s"}, {"format": "dpx10", "frames": 10},
        {"format": "dpx10", "fps": "48"}]})");
    EXPECT_THAT(phases(result), ElementsAre("0.0: 1000 72 2958", "0.1: 0 10 375", "0.2: 0 192 3979"));
}

TEST(ScenarioPhases, ThoseThatBeginTogetherPlayFromOneInstant) {
    // The frames that stream 1 of seat 0 prerolls take 300 ms more; the others of its start group wait for it.
    const std::string seats = R"({"count": 2, "target": "sim:null", "streams": [
        {"format": "dpx10", "count": 2, "start": "1s"}, {"format": "dpx10", "start": "1100ms"}]})";
    const RunResult result = run_scenario("4s", seats, R"(, "faults": [
        {"kind": "delays", "at": "1s", "for": "100ms", "delay": "300ms", "seat": 0, "stream": 1}])");
    const std::int64_t together = result.streams[1].play_start_ns;
    EXPECT_GE(together, 1300 * kMs);
    for (const std::size_t i : {0u, 1u, 3u, 4u}) EXPECT_EQ(result.streams[i].play_start_ns, together);
    for (const std::size_t i : {2u, 5u}) EXPECT_EQ(result.streams[i].play_start_ns, 1100 * kMs);
}

TEST(ScenarioPhases, ThoseThatBeginTogetherDoSoInSeveralLoopsToo) {
    const auto scenario = read("400ms", R"({"target": "null:", "streams": [
        {"format": "dpx10", "count": 5}, {"format": "dpx10", "count": 4, "start": "100ms"}]})");
    ASSERT_TRUE(scenario);
    const RunResult result = run_scenario(*scenario, nullptr, 3);
    EXPECT_EQ(result.client.loops, 3U);
    ASSERT_EQ(result.streams.size(), 9U);
    for (std::size_t i = 0; i < 9; ++i)
        EXPECT_EQ(result.streams[i].play_start_ns, result.streams[i < 5 ? 0 : 5].play_start_ns) << i;
    EXPECT_GE(result.streams[5].play_start_ns, 100 * kMs);
}

TEST(ScenarioPhases, ReadingWithoutDeadlinesStopsInTime) {
    const RunResult result = run_scenario("300ms", R"({"target": "null:", "streams": [
        {"format": "dpx10", "fps": "max", "stop": "100ms"},
        {"format": "prores-hd", "fps": "max", "start": "200ms"},
        {"format": "dpx10", "fps": "max", "frames": 5}]})");
    EXPECT_GT(result.streams[0].counts.on_time, 10u);
    EXPECT_GT(result.streams[1].counts.on_time, 10u);
    EXPECT_EQ(result.streams[2].counts.on_time, 5u);
    EXPECT_TRUE(result.verdict.pass);
    EXPECT_GE(result.wall_ns, 290 * kMs) << "the second reads to the end of the run";
}

/// The problems of the meters of seats with this workload; one user of it begins each 10 ms, 100 on a seat.
std::vector<std::string> meter_problems(const std::string& duration, const std::string& more = "") {
    const auto scenario = read(duration, R"({"target": "sim:null", "streams": [{"format": "dpx10"}],
        "meters": [{"workload": "vdi-login")" +
                                             more + "}]}");
    EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().problems.front());
    if (!scenario) return {};
    const auto checked = check_meters(common_request(*scenario));
    return checked ? std::vector<std::string>{} : checked.error().problems;
}

TEST(ScenarioMeters, WhoseUsersNeverBeginAreRefused) {
    EXPECT_THAT(meter_problems("1s"), IsEmpty());
    EXPECT_THAT(meter_problems("900ms"),
                ElementsAre(testing::HasSubstr("vdi-login-login: the last of 100 users")));
    EXPECT_THAT(meter_problems("1s", R"(, "start": "20ms")"), ElementsAre(testing::HasSubstr("at 1.0 s")));
    EXPECT_THAT(meter_problems("2s", R"(, "stop": "500ms")"), ElementsAre(testing::HasSubstr("at 500.0 ms")));
    EXPECT_THAT(meter_problems("900ms", R"(, "scale": 0.5)"), IsEmpty()) << "50 users";
}

TEST(ScenarioMeters, BeginAndEndWithTheirSeat) {
    const auto scenario = read("10s", R"(
        {"target": "sim:null", "streams": [{"format": "dpx10"}]},
        {"count": 3, "target": "sim:null", "start": "1s", "one_more_every": "2s", "stop": "9s",
         "streams": [{"format": "dpx10"}],
         "meters": [{"workload": "vdi-steady", "scale": 0.1, "start": "500ms", "stop": "4500ms"}]})");
    ASSERT_TRUE(scenario);
    const PlayRequest request = common_request(*scenario);
    EXPECT_TRUE(check_meters(request));
    std::vector<std::string> times;
    for (const load::MeterPlan& plan : meter_plans(request)) {
        times.push_back(std::to_string(plan.seat) + ": " + std::to_string(plan.spec.start.ns / kMs) + " to " +
                        std::to_string(plan.spec.end.value_or(Duration{}).ns / kMs));
        EXPECT_EQ(plan.seats, 3U);
        EXPECT_EQ(plan.first_user, (plan.seat - 1) * plan.spec.users);
        EXPECT_EQ(plan.number, 0U);
    }
    EXPECT_THAT(times, ElementsAre("1: 1500 to 5500", "2: 3500 to 7500", "3: 5500 to 9000"));
    const RunResult result = run_scenario(*scenario);
    std::vector<std::int64_t> played;
    for (const MeterResult& meter : result.meters) played.push_back(meter.wall_ns / kMs);
    EXPECT_THAT(played, ElementsAre(4000, 4000, 3500));
    std::map<std::uint32_t, std::int64_t> first;
    for (const OperationRow& row : result.operations) first.emplace(row.seat, row.submitted_ns / kMs);
    EXPECT_EQ(first.size(), 3U);
    for (const auto& [seat, begun] : first) EXPECT_GE(begun, 2000 * seat - 500) << seat;
}

TEST(ScenarioMeters, RunOnWhenAllStreamsHaveEnded) {
    const RunResult result = run_scenario("10s", R"(
        {"target": "sim:null", "streams": [{"format": "dpx10", "stop": "2s"}],
         "meters": [{"workload": "vdi-steady", "scale": 0.1, "start": "4s", "stop": "9s"}]},
        {"target": "sim:null", "streams": [{"format": "dpx10", "frames": 60}],
         "meters": [{"workload": "vdi-steady", "scale": 0.1}]})");
    std::vector<std::int64_t> played;
    for (const MeterResult& meter : result.meters) {
        played.push_back(meter.wall_ns / kMs);
        EXPECT_GT(meter.all.done, 0U);
    }
    EXPECT_THAT(played, ElementsAre(5000, 10'000));
    EXPECT_TRUE(result.verdict.pass);
}

/// A run has one connection to a server: options of a later target would be ignored.
TEST(ScenarioTargets, OnOneServerHaveTheSameOptions) {
    const auto problems = [](const std::string& first, const std::string& second) {
        const std::string streams = R"(", "streams": [{"format": "dpx10"}]})";
        const auto scenario =
            read("1s", R"({"target": ")" + first + streams + R"(, {"target": ")" + second + streams);
        return scenario ? std::vector<std::string>{} : scenario.error().problems;
    };
    const std::string nfs = "nfs://host/export/b", smb = "host/share/b";
    EXPECT_THAT(problems("nfs://host/export/a", nfs + "?connections=1&timeout=10s"), IsEmpty());
    EXPECT_THAT(problems("nfs://host/export/a?uid=7&version=3", nfs + "?version=3&uid=7"), IsEmpty());
    for (const char* option : {"addresses=10.0.0.1", "nfsport=9", "mountport=9", "version=3", "connections=2",
                               "rsize=1MiB", "uid=7", "gid=7", "timeout=100ms"}) {
        EXPECT_THAT(problems("nfs://host/export/a", nfs + "?" + option),
                    ElementsAre(HasSubstr("/seats/1/target: the seats of a run have one storage in common")))
            << option;
    }
    EXPECT_THAT(problems("smb://me@host/share/a", "smb://me@" + smb + "?connections=4"), IsEmpty());
    for (const std::string& other : {"smb://you@" + smb, "smb://work;me@" + smb, "smb://me@" + smb + "?port=9"})
        EXPECT_THAT(problems("smb://me@host/share/a", other), ElementsAre(HasSubstr("/seats/1/target: ")));
}

TEST(ScenarioMedia, OwnClipsAreNobodyElsesAndSharedOnesEverybodys) {
    const RunResult result = run_scenario("1s", R"(
        {"count": 2, "target": "sim:null", "streams": [
            {"format": "dpx10"}, {"format": "dpx10", "media": "same"}]},
        {"target": "sim:null", "streams": [
            {"format": "dpx10", "media": "same"}, {"format": "dpx10", "layers": 2},
            {"format": "prores-hd"}]})");
    std::vector<std::string> clips;
    for (const StreamResult& stream : result.streams) clips.push_back(stream.clip);
    EXPECT_THAT(clips,
                ElementsAre("sim:null/dpx10/clip-0002", "sim:null/dpx10/clip-0001", "sim:null/dpx10/clip-0003",
                            "sim:null/dpx10/clip-0001", "sim:null/dpx10/clip-0001",
                            "2 layers: sim:null/dpx10/clip-0004 ... sim:null/dpx10/clip-0005",
                            "sim:null/prores-hd/clip-0001"));
}

TEST(ScenarioMedia, HandsOfTwoGroupsDoNotMoveAlike) {
    const std::string group = R"({"target": "sim:null", "streams": [
        {"format": "prores-hd", "order": "random", "media": "same"}]})";
    const RunResult result = run_scenario("4s", group + "," + group);
    std::map<std::uint32_t, std::vector<std::uint64_t>> shown;
    for (const FrameRow& row : result.frames) shown[row.seat].push_back(row.outcome.clip_frame);
    EXPECT_EQ(shown[0].size(), 120u);
    EXPECT_NE(shown[0], shown[1]);
}

std::vector<std::uint64_t> slots_with(const RunResult& result, std::uint32_t seat, FrameKind kind) {
    std::vector<std::uint64_t> slots;
    for (const DropRecord& drop : result.drops) {
        if (drop.seat == seat && drop.kind == kind) slots.push_back(drop.frame);
    }
    return slots;
}

TEST(ScenarioFaults, HitTheFramesThatAreDueInTheirTime) {
    const RunResult result = run_scenario("10s", R"(
        {"count": 3, "target": "sim:null", "one_more_every": "2s", "streams": [{"format": "dpx10"}]})",
                                          R"(, "faults": [
        {"kind": "errors", "at": "5s", "for": "125ms", "error": "EIO", "seat": 1},
        {"kind": "errors", "at": "1s", "for": "1100ms", "error": "EIO", "seat": 1},
        {"kind": "errors", "at": "9900ms", "for": "9s", "error": "EIO", "seat": 2}])");
    EXPECT_THAT(slots_with(result, 0, FrameKind::failed), IsEmpty());
    EXPECT_THAT(slots_with(result, 1, FrameKind::failed), ElementsAre(0, 1, 2, 72, 73, 74))
        << "it begins at 2 s; 5 s is its slot 72";
    EXPECT_THAT(slots_with(result, 2, FrameKind::failed), ElementsAre(142, 143)) << "from 5.9 s of its 6";
    EXPECT_EQ(result.totals.on_time, result.totals.scheduled - 8);
}

TEST(ScenarioFaults, AreCountedAndHaveTheirFrames) {
    const RunResult result =
        run_scenario("10s", R"({"target": "sim:null", "streams": [{"format": "dpx10", "count": 2}]})",
                     R"(, "faults": [
        {"kind": "errors", "at": "1s", "for": "125ms", "error": "EIO", "seat": 0, "stream": 1},
        {"kind": "throughput-gap", "at": "3s", "for": "500ms"},
        {"kind": "throughput-gap", "at": "7s", "for": "600ms"}])");
    ASSERT_TRUE(result.faults_injected);
    EXPECT_GE(result.faults_injected->operations_failed, 3u) << "of each frame several pieces at once";
    EXPECT_EQ(slots_with(result, 0, FrameKind::failed).size(), 3u);
    EXPECT_GT(result.faults_injected->operations_delayed, 0u);
    EXPECT_EQ(result.faults_injected->frames_met, result.drops.size());
    for (const DropRecord& drop : result.drops) EXPECT_EQ(drop.cause, Cause::injected_fault) << drop.frame;
    EXPECT_EQ(result.verdict.limit, Limit::unknown);
    ASSERT_EQ(result.throughput_gaps.size(), 2u) << "two stalls are two";
    EXPECT_NEAR(static_cast<double>(result.throughput_gaps[0].from_ns), 3e9, 50e6);
    EXPECT_NEAR(static_cast<double>(result.throughput_gaps[1].to_ns), 7.6e9, 50e6);
    EXPECT_FALSE(
        run_scenario("1s", R"({"target": "sim:null", "streams": [{"format": "dpx10"}]})").faults_injected);
}

TEST(ScenarioFaults, ADelayMovesNothingElse) {
    const RunResult result = run_scenario("4s", R"({"target": "sim:null", "streams": [
        {"format": "dpx10", "count": 2, "readahead": 1, "on_miss": "hold"}]})",
                                          R"(, "faults": [
        {"kind": "delays", "at": "2s", "for": "40ms", "delay": "50ms"}])");
    EXPECT_THAT(slots_with(result, 0, FrameKind::late), ElementsAre(48, 48)) << "of both streams";
}

TEST(ScenarioFaults, AThroughputGapCountsFromTheBeginningNotFromTheFirstRead) {
    // From 5 s to 5.5 s of the run; the stream begins at 3 s, its slot 48 is due at 5 s.
    const RunResult result =
        run_scenario("8s", R"({"target": "sim:null", "start": "3s", "streams": [{"format": "dpx10"}]})",
                     R"(, "faults": [{"kind": "throughput-gap", "at": "5s", "for": "500ms"}])");
    EXPECT_THAT(slots_with(result, 0, FrameKind::dropped), ElementsAre(56, 57, 58, 59))
        << "8 of the 12 that are due in it were read before";
}

TEST(ScenarioFaults, ThoseOfAModelGoToTheModel) {
    const auto words = [] {
        scenario::ScenarioWords all = scenario_words(catalogue(), STREAMSIM_SOURCE_DIR "/formats");
        all.target = [](const std::string& typed) -> Result<scenario::ScenarioTarget> {
            return scenario::ScenarioTarget{scenario::ScenarioTarget::Kind::model, typed, 4, 15};
        };
        return all;
    }();
    auto scenario =
        scenario::read_scenario(R"({"schema": "streamsim.scenario", "version": 1, "duration": "9s", "seats": [
        {"count": 3, "target": "sim:null", "node": [1, 3], "link": {"bits_per_s": 1e9},
         "streams": [{"format": "dpx10"}]}, {"target": "sim:null", "streams": [{"format": "dpx10"}]}],
        "faults": [{"kind": "throughput-gap", "at": "1s", "for": "1s"}, {"kind": "cache-flush", "at": "1s"},
                   {"kind": "throughput-gap", "at": "1s", "for": "1s", "node": 2}]})",
                                "x", words);
    ASSERT_TRUE(scenario);
    const PlayRequest request = common_request(*scenario);
    ASSERT_THAT(request.seat_settings, testing::SizeIs(4));
    EXPECT_EQ(request.seat_settings[0].node, 1u);
    EXPECT_EQ(request.seat_settings[1].node, 3u);
    EXPECT_EQ(request.seat_settings[2].node, 1u);
    EXPECT_EQ(request.seat_settings[2].link_bits_per_s, 1e9);
    EXPECT_EQ(request.seat_settings[3].node, std::nullopt);
    ASSERT_THAT(request.model_faults, testing::SizeIs(2));
    EXPECT_EQ(request.model_faults[1].node, 2u);
}

TEST(ScenarioExpectations, AreComparedWithWhatCame) {
    RunResult result;
    result.verdict = {false, "", Limit::storage};
    result.totals.dropped = 14;
    result.totals.startup_drops = 2;
    ScenarioExpectation expected;
    EXPECT_THAT(judge::surprises(expected, result), IsEmpty());
    expected.plays = false;
    expected.limit = "storage";
    expected.dropped = {12, 12};
    expected.late = {0, 0};
    EXPECT_THAT(judge::surprises(expected, result), IsEmpty());
    expected.plays = true;
    expected.limit = "network";
    expected.dropped = {0, 11};
    expected.stalls = {1, 2};
    EXPECT_THAT(judge::surprises(expected, result), testing::SizeIs(4));
}

TEST(ScenarioInVirtualTime, OneSeedGivesOneRun) {
    const std::string seats = R"({"count": 2, "target": "sim:null", "one_more_every": "100ms", "streams": [
        {"format": "prores-hd", "count": 2, "order": "random", "readahead": 2}]})";
    const std::string faults = R"(, "faults": [{"kind": "delays", "at": "1s", "for": "2s", "delay": "90ms",
        "probability": 0.3}])";
    const RunResult first = run_scenario("4s", seats, faults);
    EXPECT_GT(first.totals.dropped, 10u);
    EXPECT_EQ(run_scenario("4s", seats, faults).timing_digest, first.timing_digest);
    EXPECT_NE(run_scenario("4s", seats, faults + R"(, "seed": 2)").timing_digest, first.timing_digest);
}

TEST(OneScenarioInRealAndVirtualTime, AsksForTheSameInTheSameOrderAtTheSameTimes) {
    const std::string seats = R"({"count": 2, "target": "TARGET", "one_more_every": "200ms", "streams": [
        {"format": "dpx10", "inflight": 1, "on_miss": "hold", "fps": "120", "frames": 60},
        {"format": "prores-hd", "inflight": 1, "on_miss": "hold", "start": "100ms", "stop": "600ms"},
        {"format": "prores-hd", "inflight": 1, "on_miss": "hold", "order": "random", "pattern": "on-demand",
         "io_size": "frame", "clip_duration": "1s"}]})";
    const auto on = [&seats](const std::string& target, test::ReadingLog& log) {
        std::string text = seats;
        text.replace(text.find("TARGET"), 6, target);
        return run_scenario(*read("1s", text), &log);
    };
    test::ReadingLog virtual_log;
    test::ReadingLog real_log;
    const RunResult in_virtual_time = on("sim:null", virtual_log);
    const RunResult in_real_time = on("null:", real_log);
    ASSERT_THAT(virtual_log.streams(), testing::SizeIs(6));
    EXPECT_EQ(real_log.streams(), virtual_log.streams());
    for (const auto& [stream, operations] : virtual_log.streams()) EXPECT_GT(operations.reads.size(), 10u);
    // Frames that are scheduled while playing: their times follow from the play start alone.
    ASSERT_EQ(in_real_time.frames.size(), in_virtual_time.frames.size());
    for (std::size_t i = 0; i < in_real_time.frames.size(); ++i) {
        const FrameOutcome& real = in_real_time.frames[i].outcome;
        const FrameOutcome& modelled = in_virtual_time.frames[i].outcome;
        EXPECT_EQ(real.deadline, modelled.deadline);
        if (real.slot < 8) continue;  // prerolled
        EXPECT_EQ(real.scheduled, modelled.scheduled);
    }
}

}  // namespace
}  // namespace streamsim::run
