// How much of a frame's time is the way to its server: by frames that were re-read alone.
#include "judge/distance.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "evidence_samples.h"

namespace streamsim::judge {
namespace {

using test::deliver;
using test::drop;
using test::good_run;
using test::kMs;

constexpr std::int64_t kRttNs = 24 * kMs;

/// A server 24 ms away, 2 frames in flight one behind the other: what SMB gives, measured over a real server.
struct FarRun {
    Evidence evidence = good_run();
    NetworkPathFacts path;

    FarRun() {
        drop(evidence, 100, &ReasonCounts::late);
        for (MissedFrame& each : evidence.missed) {
            each.submitted_ns = each.due_ns - 28 * kMs;
            deliver(each, 130 * kMs);
        }
        evidence.as_played = ProbeResult{"", 2, 1 << 20, 8, 18e6};
        SystemSample first;
        first.path = SystemSample::Path();
        first.path->peer = "10.0.0.1";
        first.links.push_back({"eth0", 10'000'000'000, 0});
        SystemSample last = first;
        last.at_ns = 40'000 * kMs;
        last.links[0].received_bytes = evidence.bytes_read;
        last.connection = {"10.0.0.1", evidence.bytes_read, 0, 0};
        evidence.system = {first, last};
        path.rtt_min_ns = kRttNs;
        for (const std::int64_t took_ns : {190, 65, 64, 69, 65}) add(took_ns * kMs);
    }
    void add(std::int64_t took_ns, std::int64_t open_ns = 0) {
        evidence.rereads.push_back({0, evidence.rereads.size(), true, false, took_ns, open_ns});
    }
    DistanceShare share() const {
        std::vector<std::size_t> frames(evidence.missed.size());
        std::iota(frames.begin(), frames.end(), std::size_t{0});
        return distance_share(evidence, path, frames);
    }
};

TEST(Distance, IsAllThatFramesReadAloneTook) {
    EXPECT_EQ(FarRun().share(), DistanceShare::most);
}

TEST(Distance, IsNotWhatAServerTakesLongerThanItsRoundTrips) {
    FarRun run;
    run.evidence.rereads.clear();
    for (int i = 0; i < 5; ++i) run.add(80 * kMs);
    EXPECT_EQ(run.share(), DistanceShare::some) << "3.3 round trips";
    for (Reread& each : run.evidence.rereads) each.open_ns = 40 * kMs;
    EXPECT_EQ(run.share(), DistanceShare::most) << "with an open";
}

TEST(Distance, IsNotWhatFramesTookInPlayBeyondWaitingForEachOther) {
    FarRun run;
    for (MissedFrame& each : run.evidence.missed) deliver(each, 200 * kMs);
    EXPECT_EQ(run.share(), DistanceShare::some);
    run.evidence.as_played->inflight = 4;
    EXPECT_EQ(run.share(), DistanceShare::most);
    run.evidence.as_played.reset();
    EXPECT_EQ(run.share(), DistanceShare::some);
}

TEST(Distance, CountsAnOpenOnceWhetherItWasAheadOrNot) {
    FarRun run;
    run.evidence.rereads.clear();
    for (MissedFrame& each : run.evidence.missed) {
        deliver(each, 90 * kMs);
        each.open_ns = 40 * kMs;
        each.read_ns = 50 * kMs;  // on demand: its open began with it
    }
    EXPECT_EQ(run.share(), DistanceShare::part) << "90 ms";
    for (MissedFrame& each : run.evidence.missed) each.read_ns = 90 * kMs;  // its open had ended before
    EXPECT_EQ(run.share(), DistanceShare::some) << "130 ms";
}

TEST(Distance, IsNotOfFramesThatAreReadAloneInTime) {
    FarRun run;
    run.evidence.shortest_period_ns = 66 * kMs;
    EXPECT_EQ(run.share(), DistanceShare::some);
}

TEST(Distance, IsToldByThreeReadingsThatDidNotFail) {
    FarRun run;
    run.evidence.rereads.resize(3);
    run.evidence.rereads[0].took_ns = 65 * kMs;
    EXPECT_EQ(run.share(), DistanceShare::most);
    run.evidence.rereads[2].failed = true;
    EXPECT_EQ(run.share(), DistanceShare::some);
}

TEST(Distance, OfANearServerIsNoCause) {
    FarRun run;
    run.path.rtt_min_ns = 4 * kMs;
    EXPECT_EQ(run.share(), DistanceShare::little);
}

}  // namespace
}  // namespace streamsim::judge
