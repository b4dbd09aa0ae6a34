#include "run/playback/claim_watch.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "run/diagnosis/diagnosis.h"
#include "unit/run/sessions.h"

namespace streamsim::run {
namespace {

constexpr Instant kOrigin{5'000'000'000};
constexpr double kPerDay = 2400;  // stands after 119 s without an event

Instant at(std::int64_t second) {
    return kOrigin + seconds(second);
}

ClaimWatch::News settled(std::int64_t second, bool ended = false) {
    return {.misses = {}, .settled = at(second), .last = at(second), .ended = ended};
}

TEST(ClaimWatch, WaitsForTheLoopThatHasSettledLeast) {
    ClaimWatch watch(kPerDay, 2);
    int decided = 0;
    watch.on_decided = [&decided] { ++decided; };
    watch.tell(0, kOrigin, settled(200));
    EXPECT_FALSE(watch.is_decided());
    watch.tell(1, kOrigin, settled(60));
    EXPECT_FALSE(watch.is_decided());
    watch.tell(1, kOrigin, settled(130));
    EXPECT_TRUE(watch.is_decided());
    EXPECT_EQ(decided, 1);
    watch.tell(0, kOrigin, settled(300));
    EXPECT_EQ(decided, 1) << "once";
}

TEST(ClaimWatch, TakesMissesOfAllLoopsByTheirTime) {
    ClaimWatch watch(kPerDay, 2);
    ClaimWatch::News early = settled(200);
    early.misses = {at(100)};
    watch.tell(0, kOrigin, early);
    ClaimWatch::News late = settled(130);
    late.misses = {at(100), at(20)};
    watch.tell(1, kOrigin, late);
    EXPECT_FALSE(watch.is_decided());
    EXPECT_EQ(watch.result().events, 2u) << "a stall that hits streams of both loops is one event";
}

TEST(ClaimWatch, DoesNotWaitForALoopThatHasEnded) {
    ClaimWatch watch(kPerDay, 2);
    watch.tell(0, kOrigin, settled(60, true));
    watch.tell(1, kOrigin, settled(100));
    EXPECT_FALSE(watch.is_decided());
    EXPECT_NEAR(watch.result().hours * 3600, 100, 1e-6);
    watch.tell(1, kOrigin, settled(110, true));
    EXPECT_FALSE(watch.is_decided()) << "after the end there is no more time";
    EXPECT_NEAR(watch.result().hours * 3600, 110, 1e-6);
}

/// Plays for 200 s on storage without latency, with a table of drops and one of stalls of one row each. `rule`
/// hits a frame every 5 s.
ProveResult claim_of_play(PlayRequest request, storage::FaultRule rule) {
    request.duration = seconds(200);
    request.io_size = 0;
    rule.operation = storage::FaultRule::Operation::read;
    rule.slots = {150, UINT64_MAX, 150};
    request.faults.emplace().rules = {std::move(rule)};
    const std::vector<PlayPart> parts = one_part(request, *find_media(nullptr, request, nullptr));
    const std::vector<StreamPlan> plans = *plan_parts(parts, 1);
    std::vector<std::byte> memory(plans.front().memory_bytes());
    StreamProgress progress;
    ClaimWatch watch(kPerDay, 1);
    PlaybackLoopOptions options;
    static_cast<StorageRequest&>(options.storage) = request;
    options.streams = {{&plans.front(), &progress}};
    options.memory = memory;
    options.drops_kept = 1;
    options.notice = [](const std::string&) {};
    options.claim = &watch;
    PlaybackLoop loop(std::move(options));
    EXPECT_TRUE(DiagnosisControl().run(loop));
    return watch.result();
}

TEST(ClaimOfPlay, FailsByMissesThatTheTablesDoNotKeep) {
    storage::FaultRule fails;
    fails.error = EIO;
    EXPECT_EQ(claim_of_play(test::request_on("sim:null", {"prores-hd"}), fails).decided, ProveDecision::failed);
    storage::FaultRule slow;
    slow.delay = seconds(1);
    PlayRequest request = test::request_on("sim:null", {"prores-hd"});
    request.on_miss = play::OnMiss::stall;
    EXPECT_EQ(claim_of_play(request, slow).decided, ProveDecision::failed);
}

}  // namespace
}  // namespace streamsim::run
