// The rates that were measured without deadlines, and the causes that they speak for.
#include <gmock/gmock.h>

#include <algorithm>
#include <optional>

#include "evidence_samples.h"
#include "judge/judge.h"

namespace streamsim::judge {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kNotMeasured = 0;

std::optional<ProbeResult> measured(double mb_per_s) {
    if (mb_per_s == kNotMeasured) return std::nullopt;
    return ProbeResult{"", 2, 1 << 20, 8, mb_per_s * 1e6};
}

/// A run that missed 200 frames, with these rates; 207.3 MB/s are required.
Judgement judged_by_rates(double as_played, double usual, double more_in_flight) {
    Evidence e = test::good_run();
    test::drop(e, 200, &ReasonCounts::late);
    e.required_bytes_per_s = 207.3e6;
    e.as_played = measured(as_played);
    e.usual = measured(usual);
    e.more_in_flight = measured(more_in_flight);
    return judge(e);
}

TEST(MeasuredRates, ThatAloneAreEnoughAreTheRemedy) {
    EXPECT_EQ(judged_by_rates(181.3, 229.2, 230.7).causes.front().cause, Cause::too_little_in_flight);
    const Judgement usual = judged_by_rates(181.3, kNotMeasured, 230.7);
    EXPECT_EQ(usual.causes.front().cause, Cause::slow_reads);
    EXPECT_THAT(usual.verdict.detail, HasSubstr("more in flight would help"));
    EXPECT_EQ(judged_by_rates(150, kNotMeasured, 190).causes.front().cause, Cause::bandwidth) << "too little";
}

/// Measurements of one storage differ by a tenth.
TEST(MeasuredRates, ThatAreHardlyEnoughSpeakAgainstNobodyElse) {
    EXPECT_EQ(judged_by_rates(200, 212, kNotMeasured).causes.front().cause, Cause::slow_reads);
    const Judgement found = judged_by_rates(200, kNotMeasured, 212);
    EXPECT_EQ(found.causes.front().cause, Cause::slow_reads);
    EXPECT_THAT(found.verdict.detail, HasSubstr("it gives about what is required"));
    EXPECT_THAT(found.verdict.detail, Not(HasSubstr("would not help")));
}

/// 128 reads in flight, of which the thread pool of this computer carries out few.
TEST(MeasuredRates, AreNotTheStoragesLimitWhereThisComputerReadsFewAtOnce) {
    Evidence e = test::good_run();
    test::drop(e, 200, &ReasonCounts::late);
    e.as_played = ProbeResult{"", 16, 1 << 20, 8, 100e6};
    e.reads_at_once_max = 128;
    EXPECT_EQ(judge(e).causes.front().cause, Cause::bandwidth);
    e.reads_at_once_max = 127;
    EXPECT_EQ(judge(e).causes.front().cause, Cause::slow_reads);
    EXPECT_THAT(judge(e).verdict.next, HasSubstr("play again with more threads (UV_THREADPOOL_SIZE"));
}

/// A server on the network whose rate is too low, while one of 64 processors was full for `full_ms` of each
/// second.
Evidence served_by_one_processor(std::int64_t full_ms) {
    Evidence e = test::good_run();
    test::drop(e, 200, &ReasonCounts::late);
    e.cpus = 64;
    e.remote = true;
    e.as_played = e.more_in_flight = measured(100);
    e.connections = 1;
    e.more_connections = "nconnect=4 to 8";
    for (std::int64_t i = 0; i <= 50; ++i) {
        SystemSample& sample = e.system.emplace_back();
        sample.at_ns = i * test::kSecond;
        sample.full_processor_ns = i * full_ms * test::kMs;
        sample.links = {{"eth0", 100'000'000'000, static_cast<std::uint64_t>(i) * 400'000'000}};
    }
    return e;
}

TEST(MeasuredRates, AreNotTheStoragesLimitWhileOneProcessorIsFull) {
    Evidence e = served_by_one_processor(600);
    const Judgement found = judge(e);
    EXPECT_EQ(found.causes.front().cause, Cause::unknown);
    EXPECT_EQ(found.verdict.limit, Limit::unknown);
    EXPECT_THAT(found.verdict.reason, HasSubstr("a full processor of this computer"));
    EXPECT_THAT(found.verdict.detail,
                HasSubstr("while 200 of these 200 frames were missed, one of 64 processors"));
    EXPECT_THAT(found.verdict.next, HasSubstr("more connections to the server (nconnect=4 to 8)"));
    e.remote = false;
    e.local_disk = true;
    EXPECT_EQ(judge(e).causes.front().cause, Cause::bandwidth) << "no connection needs a processor";
    EXPECT_EQ(judge(served_by_one_processor(400)).causes.front().cause, Cause::bandwidth);
}

/// Full from 1 s to 4 s, and for some of the rest: for half of the time, and while a third of the frames were
/// missed.
TEST(MeasuredRates, AreNotTheStoragesLimitWhileOneProcessorIsFullForMostOfTheTime) {
    Evidence e = served_by_one_processor(300);
    for (std::int64_t i = 0; i <= 50; ++i)
        *e.system[static_cast<std::size_t>(i)].full_processor_ns +=
            700 * test::kMs * std::clamp<std::int64_t>(i - 1, 0, 3);
    const Verdict verdict = judge(e).verdict;
    EXPECT_EQ(verdict.limit, Limit::unknown);
    EXPECT_THAT(verdict.reason, HasSubstr("a full processor of this computer"));
    EXPECT_THAT(verdict.next, HasSubstr("more connections to the server"));
}

TEST(MeasuredRates, OfOneConnectionAreToBeMeasuredWithMore) {
    Evidence e = served_by_one_processor(0);
    EXPECT_EQ(judge(e).verdict.limit, Limit::storage);
    EXPECT_THAT(judge(e).verdict.next,
                HasSubstr("more connections to the server (nconnect=4 to 8): if it gives"));
    e.connections = 4;
    EXPECT_EQ(judge(e).verdict.next, "");
}

}  // namespace
}  // namespace streamsim::judge
