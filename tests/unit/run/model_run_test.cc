// Whole runs on models, seen through the statistics of their parts.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/run/play_document.h"

namespace streamsim::run {
namespace {

RunResult run_on_models(const std::string& seats, const std::string& more = "") {
    return test::play_document(
        R"({"schema": "streamsim.scenario", "version": 1, "duration": "10s", "seats": [)" + seats + "]" + more +
        "}");
}

const PartResult& part(const RunResult& result, const std::string& name) {
    for (const PartResult& each : result.parts) {
        if (each.stats.name == name) return each;
    }
    ADD_FAILURE() << "there is no part " << name;
    return result.parts.front();
}

TEST(ModelRun, AGroupOfSeatsHasALinkOfItsOwnWithItsEfficiency) {
    const RunResult result = run_on_models(R"(
        {"target": "sim:h500", "link": {"bits_per_s": 10e9, "efficiency": 0.5},
         "streams": [{"format": "prores-hd"}]},
        {"target": "sim:h500", "link": {"efficiency": 0.25}, "streams": [{"format": "prores-hd"}]},
        {"target": "sim:h500", "streams": [{"format": "prores-hd"}]})");
    constexpr double kPayload = 8948.0 / 9038;  // of the model's frames of 9000 bytes
    EXPECT_NEAR(part(result, "seat 0 link").stats.bytes_per_s, 0.625e9 * kPayload, 1);
    EXPECT_NEAR(part(result, "seat 1 link").stats.bytes_per_s, 1.25e9 * kPayload, 1) << "40 Gb/s, the model's";
    EXPECT_NEAR(part(result, "seat 2 link").stats.bytes_per_s, 5e9 * kPayload, 1);
}

TEST(ModelRun, AScenarioThatFailsSaysWhatTheModelDelivers) {
    std::vector<double> gives;
    for (const char* count : {"10", "20"}) {  // 5 play
        const RunResult result = run_on_models(fmt::format(
            R"({{"target": "sim:h500?nodes=4", "count": {},
                 "streams": [{{"format": "dpx12", "frames": 72}}]}})",
            count));
        ASSERT_EQ(result.probes.size(), 1U);
        gives.push_back(result.probes.front().bytes_per_s);
        EXPECT_THAT(result.verdict.reason, testing::HasSubstr("read without deadlines the model gives"));
    }
    EXPECT_NEAR(gives[1] / gives[0], 1, 0.05);
    EXPECT_GT(gives[0], 0.95 * 5 * 1194.6e6) << "what plays";
}

TEST(ModelRun, NothingIsDecodedWhereNothingHasADeadline) {
    const char* const paced = R"({"target": "sim:h500", "streams": [{"format": "prores-uhd", "frames": 100}]})";
    const char* const unpaced =
        R"({"target": "sim:h500", "streams": [{"format": "prores-uhd", "frames": 100, "fps": "max"}]})";
    const std::int64_t decoding = part(run_on_models(paced), "seat 0 processor").stats.busy_ns;
    const std::int64_t reading = part(run_on_models(unpaced), "seat 0 processor").stats.busy_ns;
    // A frame takes 0.12 core seconds to decode, 4.4 ms of 85 % of 32 cores, and 3.5 MB to copy some 30 us.
    EXPECT_GT(decoding, 100 * 4'300'000);
    EXPECT_LT(reading, 100 * 200'000);
    EXPECT_GT(reading, 0);
}

TEST(ModelRun, HowFullAPartWasWhenFramesWereMissedIsTheMedianOverTheFrames) {
    // Two streams of 830 Mb/s each on a link that has 790 Mb/s for three seconds of ten: it is full in those,
    // and not in the others.
    const char* const seats = R"({"target": "sim:h500", "streams": [{"format": "prores-uhd", "count": 2}]})";
    const RunResult slow = run_on_models(seats, R"(, "faults": [
        {"kind": "link-slows", "at": "4500ms", "for": "3s", "seat": 0, "factor": 0.02}])");
    EXPECT_GT(slow.totals.dropped, 10u);
    const PartResult& link = part(slow, "seat 0 link");
    EXPECT_LT(link.utilisation, 0.7);
    ASSERT_TRUE(link.utilisation_missed);
    EXPECT_GT(*link.utilisation_missed, 0.95) << "not the mean with the seconds at its edges";
    EXPECT_LE(*link.utilisation_missed, 1);
    EXPECT_LT(*part(slow, "seat 0 processor").utilisation_missed, 0.5);
    EXPECT_EQ(slow.verdict.limit, Limit::network);
    const RunResult fine = run_on_models(seats);
    EXPECT_EQ(fine.totals.dropped, 0u);
    EXPECT_FALSE(part(fine, "seat 0 link").utilisation_missed) << "nothing was missed";
}

TEST(ModelRun, APartThatNothingCameToAnyMoreWasIdleWhenFramesWereMissed) {
    // The only seat's node is lost after two seconds: from then on its front end does nothing.
    const RunResult result =
        run_on_models(R"({"target": "sim:h500", "node": 0, "streams": [{"format": "prores-uhd", "count": 6}]})",
                      R"(, "faults": [{"kind": "node-lost", "at": "2s", "node": 0, "failover": "7s"}])");
    EXPECT_GT(result.totals.dropped, 1000U);
    EXPECT_GT(part(result, "node 0 front end").utilisation, 0);
    EXPECT_EQ(part(result, "node 0 front end").utilisation_missed, 0);
}

TEST(ModelRun, OnePoolOfClipsIsLongEnoughForAllWhoPlayFromIt) {
    const RunResult result = run_on_models(R"({"target": "sim:h500", "streams": [
        {"format": "prores-hd", "frames": 10}, {"format": "prores-hd"},
        {"format": "prores-hd", "order": "shuttle:4"}]})");
    for (const StreamResult& stream : result.streams) EXPECT_EQ(stream.counts.passes, 1U) << stream.stream;
    EXPECT_FALSE(result.media.looped);
}

TEST(ModelRun, WhatAPatternIsNotForIsSaidOfTheStreamsThatHaveIt) {
    const RunResult result = run_on_models(R"({"target": "sim:h500", "streams": [
        {"format": "prores-hd", "pattern": "streaming"}, {"format": "dpx10"},
        {"format": "prores-uhd", "pattern": "filename-prefetch"}]})");
    EXPECT_THAT(result.notices, testing::ElementsAre(testing::HasSubstr("prores-uhd: this --pattern")));
}

TEST(ModelRun, DropsOfAnInjectedThroughputGapAreTheFaultsAtAnyLinkLatency) {
    const std::string gap = R"(, "faults": [{"kind": "throughput-gap", "at": "4s", "for": "3s"}])";
    const RunResult far = run_on_models(R"({"target": "sim:h500", "link": {"latency": "5ms"},
        "streams": [{"format": "prores-hd", "count": 2}]})",
                                        gap);
    EXPECT_GT(far.totals.dropped, 100U);
    EXPECT_EQ(far.verdict.limit, Limit::unknown) << far.verdict.reason;
    EXPECT_THAT(far.drops, testing::Each(testing::Field(&DropRecord::cause, Cause::injected_fault)));
    const RunResult held =
        run_on_models(R"({"target": "sim:f800", "streams": [
        {"format": "dpx10", "readahead": 4, "on_miss": "hold"}]})",
                      R"(, "faults": [{"kind": "throughput-gap", "at": "4010ms", "for": "900ms"}])");
    EXPECT_GT(held.totals.late, 10U);
    EXPECT_EQ(held.verdict.limit, Limit::unknown) << held.verdict.reason;
    EXPECT_EQ(held.causes.front().cause, Cause::injected_fault);
}

}  // namespace
}  // namespace streamsim::run
