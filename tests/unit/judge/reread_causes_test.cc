// Missed frames that are read again, alone: what their readings say of the place, the media and the storage.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <vector>

#include "evidence_samples.h"
#include "judge/judge.h"

namespace streamsim::judge {
namespace {

using test::drop;
using test::fail;
using test::good_run;
using test::kMs;
using test::read_again;
using testing::HasSubstr;

/// Missed frames that are read again alone in `took_ns`, while others take `usual_ns`.
Judgement reread_in(std::int64_t took_ns, std::int64_t usual_ns) {
    Evidence evidence = good_run();
    drop(evidence, 6, &ReasonCounts::late);
    read_again(evidence, {30, 31, 32, 33, 34, 35}, took_ns);
    for (Reread& each : evidence.rereads) {
        if (!each.missed) each.took_ns = usual_ns;
    }
    return judge(evidence);
}

TEST(SlowAgain, IsThreeTimesTheOthersAndAQuarterOfAPeriodMore) {
    const auto is_slow_file = [](std::int64_t took_ns, std::int64_t usual_ns) {
        return reread_in(took_ns, usual_ns).causes.front().cause == Cause::slow_file;
    };
    EXPECT_TRUE(is_slow_file(61 * kMs, 20 * kMs));
    EXPECT_FALSE(is_slow_file(59 * kMs, 20 * kMs));
    EXPECT_TRUE(is_slow_file(13 * kMs, 2 * kMs));
    EXPECT_FALSE(is_slow_file(12 * kMs, 2 * kMs));
    EXPECT_THAT(reread_in(61 * kMs, 20 * kMs).verdict.detail,
                HasSubstr("re-read alone the frame took 61.0 ms, others take 20.0 ms"));
}

TEST(SlowAgain, IsEachReadingOfAPlaceAndNotOneOfThree) {
    constexpr std::array<std::int64_t, 3> kInTurn = {80 * kMs, 1 * kMs, 2 * kMs};  // a disk behind a limit
    const auto judged = [&kInTurn](bool always) {
        Evidence evidence = good_run();
        drop(evidence, 6, &ReasonCounts::late);
        for (std::size_t i = 0; i < 18; ++i) {
            evidence.rereads.push_back(
                {0, 30 + i % 6, true, false, always ? 80 * kMs : kInTurn[(i + i / 6) % 3]});
            if (i % 6 == 0) evidence.rereads.push_back({0, 900, false, false, 1 * kMs});
        }
        return judge(evidence);
    };
    EXPECT_EQ(judged(true).causes.front().cause, Cause::slow_file);
    EXPECT_NE(judged(false).causes.front().cause, Cause::slow_file);
}

TEST(SlowAgain, IsToldByTheFastestReadingOfAFrame) {
    Evidence evidence = good_run();
    drop(evidence, 6, &ReasonCounts::late);
    for (const std::int64_t took_ns : {95 * kMs, 80 * kMs, 88 * kMs})
        read_again(evidence, {30, 31, 32, 33, 34, 35}, took_ns);
    EXPECT_THAT(judge(evidence).verdict.detail,
                HasSubstr("re-read alone the frame took 80.0 ms, others take 2.0 ms"));
}

TEST(SlowAgain, IsNoPlaceWhereOthersAreAsSlowNowAndThen) {
    Evidence evidence = good_run();
    drop(evidence, 6, &ReasonCounts::late);
    for (std::int64_t reading = 0; reading < 3; ++reading) {
        evidence.rereads.push_back({0, 30, true, false, (80 + reading) * kMs});  // by chance each time
        for (std::uint64_t slot = 31; slot < 36; ++slot)
            evidence.rereads.push_back(
                {0, slot, true, false, slot % 3 == 0 && reading == 1 ? 90 * kMs : 1 * kMs});
        evidence.rereads.push_back({0, 900, false, false, 1 * kMs});
    }
    EXPECT_EQ(judge(evidence).causes.front().cause, Cause::slow_file) << "one of 18 other readings";
    evidence.rereads.back().took_ns = 90 * kMs;
    EXPECT_NE(judge(evidence).causes.front().cause, Cause::slow_file) << "two of 18";
}

TEST(Damage, IsNotAFrameThatIsWholeInOneOfItsReadings) {
    Evidence evidence = good_run();
    fail(evidence, 1, &ReasonCounts::error);
    read_again(evidence, {30}, 2 * kMs, true);
    EXPECT_EQ(judge(evidence).missed_causes[0], Cause::damaged_file);
    read_again(evidence, {30}, 2 * kMs);
    EXPECT_EQ(judge(evidence).missed_causes[0], Cause::storage_error);
}

TEST(Damage, IsSeenAroundAFrameThatFailsAgain) {
    Evidence evidence = good_run();
    fail(evidence, 4, &ReasonCounts::error);
    read_again(evidence, {33}, 2 * kMs, true);
    read_again(evidence, {30, 31, 32}, 2 * kMs);
    EXPECT_EQ(judge(evidence).missed_causes[0], Cause::damaged_file) << "three frames before it";
    evidence.missed[3].slot = evidence.missed[3].clip_frame = 25;
    evidence.rereads.front().clip_frame = 25;
    EXPECT_EQ(judge(evidence).missed_causes[0], Cause::damaged_file) << "five frames behind it";
    evidence.missed[3].slot = evidence.missed[3].clip_frame = 21;
    evidence.rereads.front().clip_frame = 21;
    EXPECT_EQ(judge(evidence).missed_causes[0], Cause::storage_error) << "farther than a read-ahead";
}

/// `streams` that play one clip of 240 frames six times each, and whose frames fail from slot `from` on where
/// `fails` says so; those of the first five that are re-read fail again.
Cause cause_of_errors(std::uint32_t streams, std::uint64_t from, bool (*fails)(std::uint64_t clip_frame)) {
    Evidence evidence = good_run();
    evidence.streams.assign(streams, {0, test::kPeriodNs, 8, 1440, 240, {0}});
    evidence.totals.scheduled = evidence.totals.on_time = std::uint64_t{1440} * streams;
    std::vector<std::uint64_t> failed;
    for (std::uint32_t stream = 0; stream < streams; ++stream) {
        for (std::uint64_t slot = from; slot < 1440; ++slot) {
            if (!fails(slot % 240)) continue;
            fail(evidence, 1, &ReasonCounts::error);
            evidence.missed.back() = test::missed(slot, DropReason::error);
            evidence.missed.back().kind = FrameKind::failed;
            evidence.missed.back().stream = stream;
            evidence.missed.back().clip_frame = slot % 240;
            failed.push_back(slot % 240);
        }
    }
    failed.resize(std::min<std::size_t>(failed.size(), 5));
    read_again(evidence, failed, 2 * kMs, true);
    return judge(evidence).causes.front().cause;
}

TEST(Damage, IsNotAStorageThatFailsEverywhereThoughClipsLoop) {
    const auto all = [](std::uint64_t /*clip_frame*/) { return true; };
    EXPECT_EQ(cause_of_errors(1, 360, all), Cause::storage_error);
    EXPECT_EQ(cause_of_errors(4, 360, all), Cause::storage_error) << "streams that share a clip";
    EXPECT_EQ(cause_of_errors(4, 1200, all), Cause::storage_error) << "on the last pass alone";
}

TEST(Damage, IsAFewFramesOfAClipThatLoops) {
    const auto few = [](std::uint64_t clip_frame) { return clip_frame >= 100 && clip_frame < 103; };
    EXPECT_EQ(cause_of_errors(1, 0, few), Cause::damaged_file);
    EXPECT_EQ(cause_of_errors(4, 0, few), Cause::damaged_file);
    const auto quarter = [](std::uint64_t clip_frame) { return clip_frame < 60; };
    EXPECT_EQ(cause_of_errors(1, 0, quarter), Cause::damaged_file);
    const auto more = [](std::uint64_t clip_frame) { return clip_frame < 61; };
    EXPECT_EQ(cause_of_errors(1, 0, more), Cause::storage_error);
}

}  // namespace
}  // namespace streamsim::judge
