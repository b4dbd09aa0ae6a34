// The path to the server: when it counts as gone, and when lost segments matter.
#include "judge/network_path.h"

#include <gtest/gtest.h>

#include "evidence_samples.h"
#include "judge/host_window.h"

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

}  // namespace
}  // namespace streamsim::judge
