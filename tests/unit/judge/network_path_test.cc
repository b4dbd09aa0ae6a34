// The path to the server: when it counts as gone, and when lost segments matter.
#include "judge/network_path.h"

#include <gtest/gtest.h>

#include <string>

#include "evidence_samples.h"
#include "judge/host_window.h"
#include "judge/judge.h"

namespace streamsim::judge {
namespace {

using test::kMs;
using test::kSecond;

TEST(PathGone, IsSeenAfterAWhile) {
    const auto gone = [](std::int64_t no_carrier_ms, std::int64_t unanswered_ms) {
        PathSpan span;
        span.no_carrier_ns = no_carrier_ms * kMs;
        span.unanswered_ns = unanswered_ms * kMs;
        return path_gone_ns(span) / kMs;
    };
    EXPECT_EQ(gone(49, 0), 0);
    EXPECT_EQ(gone(50, 0), 50);
    EXPECT_EQ(gone(0, 149), 0) << "an answer may be late";
    EXPECT_EQ(gone(0, 150), 150);
}

/// lost_share() of a path with 50 segments a second, which lost some in one of ten seconds.
double share_of(std::uint64_t out_of_order, std::uint64_t lossy_samples, std::int64_t from_ns) {
    SystemHistory history;
    for (std::int64_t i = 0; i <= 10; ++i) {
        SystemSample sample;
        sample.at_ns = i * kSecond;
        sample.path = SystemSample::Path{};
        sample.path->received_segments = 50 * static_cast<std::uint64_t>(i);
        sample.path->out_of_order = i >= 2 ? out_of_order : 0;
        sample.path->lossy_samples = i >= 2 ? lossy_samples : 0;
        history.push_back(std::move(sample));
    }
    return lost_share(history, from_ns, from_ns + 100 * kMs);
}

TEST(PathLosses, AreSeveralThatGoOnBesideWhatWasMissed) {
    EXPECT_GT(share_of(3, 3, 1'400 * kMs), 0);
    EXPECT_EQ(share_of(2, 3, 1'400 * kMs), 0) << "too few";
    EXPECT_EQ(share_of(100, 2, 1'400 * kMs), 0) << "a burst that this computer itself put out of order";
    EXPECT_GT(share_of(30, 3, 2'400 * kMs), 0) << "lost just before";
    EXPECT_EQ(share_of(30, 3, 2'600 * kMs), 0);
}

TEST(PathLosses, DelayWhatIsRequiredWhereTheRoundTripIsLong) {
    constexpr double kRequired = 100e6;
    EXPECT_TRUE(losses_can_delay(0.02, 20 * kMs, kRequired)) << "7 MB/s at most";
    EXPECT_FALSE(losses_can_delay(0.02, 60'000, kRequired)) << "2.4 GB/s";
    EXPECT_TRUE(losses_can_delay(0.09, 150'000, kRequired)) << "215 MB/s are too near";
}

/// A run whose server's host answers while no data come, 12 frames long, from `gap_ms` before the last of them
/// on, and whose segments come out of order now and then (3 %).
Evidence run_with_gap(std::int64_t gap_ms, std::int64_t rtt_ns, std::uint64_t resent = 0) {
    Evidence e = test::good_run();
    e.remote = true;
    test::drop(e, 12, &ReasonCounts::late);
    const std::int64_t end_ns = e.missed.back().due_ns;
    for (MissedFrame& each : e.missed) each.submitted_ns = end_ns - gap_ms * kMs;
    for (MissedFrame& each : e.missed) each.due_ns = end_ns;
    e.delivery_gaps.push_back({end_ns - gap_ms * kMs, end_ns});
    for (std::uint64_t i = 0; i <= 250; ++i) {
        SystemSample sample;
        sample.at_ns = static_cast<std::int64_t>(i) * 200 * kMs;
        sample.rtt_ns = rtt_ns;
        sample.path = {.peer = "10.0.0.1",
                       .received_segments = 1'000 * i,
                       .out_of_order = 30 * i,
                       .lossy_samples = i,
                       .sent_segments = 100 * i,
                       .resent = resent * i,
                       .quiet_answers = i};
        e.system.push_back(std::move(sample));
    }
    return e;
}

/// Segments come out of order on a busy computer too, without a loss.
TEST(ThroughputGap, WhoseHostAnswersIsNotOfLossesThatTcpMakesUpFor) {
    const auto cause = [](std::int64_t gap_ms, std::int64_t rtt_ns, std::uint64_t resent = 0) {
        return judge(run_with_gap(gap_ms, rtt_ns, resent)).causes.front().cause;
    };
    EXPECT_EQ(cause(520, 50'000), Cause::storage_stall);
    EXPECT_EQ(cause(520, 20 * kMs), Cause::network_loss) << "they delay data at this round trip";
    EXPECT_EQ(cause(520, 50'000, 2), Cause::network_loss) << "requests were lost";
    EXPECT_EQ(cause(150, 50'000), Cause::storage_stall) << "TCP does not wait for so short a time";
    EXPECT_EQ(cause(300, 50'000), Cause::unknown) << "TCP may have waited once";
    const Verdict verdict = judge(run_with_gap(300, 50'000)).verdict;
    EXPECT_NE(verdict.detail.find("answered meanwhile, but segments came out of order"), std::string::npos)
        << verdict.detail;
    EXPECT_NE(verdict.next, "");
}

TEST(ReadThatTimedOut, IsNotOfLossesThatTcpMakesUpFor) {
    MissedFrame read = test::missed(100, DropReason::error);
    EXPECT_EQ(cause_of_timeout(run_with_gap(300, 50'000), read), Cause::storage_error);
    EXPECT_EQ(cause_of_timeout(run_with_gap(300, 20 * kMs), read), Cause::network_loss);
    const Evidence resent = run_with_gap(300, 50'000, 2);
    EXPECT_EQ(cause_of_timeout(resent, read), Cause::network_loss) << "requests were lost";
    read.delivered_ns = *read.submitted_ns + 5 * kSecond;
    EXPECT_EQ(cause_of_timeout(resent, read), Cause::storage_error) << "TCP sends again much sooner";
}

}  // namespace
}  // namespace streamsim::judge
