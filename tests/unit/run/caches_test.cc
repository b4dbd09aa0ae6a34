// Results say what came from caches: from this computer's own, and perhaps from those of a server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "run/conclude/result_builder.h"
#include "target/target_locations.h"
#include "unit/run/sessions.h"

namespace streamsim::run {
namespace {

using test::request_on;
using testing::HasSubstr;

/// The streams of a play, and all that its result is made from.
struct Played {
    PlayRequest request;
    std::vector<StreamPlan> streams;
    LoopStats loop;
    RunFacts facts;
    std::uint64_t frames = 1;  // of each stream
};

/// Frames of 1 MB that were read through the page cache, with --require-cold, while the process read 2 MB from
/// disks; one of one stream, unless `more` says else. `cached`: the share of the 96 frames of the stream that
/// is in the cache; `before`: the command has read it before.
RunResult read_through_cache(
    bool meters,
    std::optional<double> cached,
    bool before = false,
    const std::function<void(Played&)>& more = [](Played&) {}) {
    Played played;
    PlayRequest& request = played.request;
    request = request_on("null:", {"dpx10"});
    const std::vector<PlayPart> parts = one_part(request, *find_media(nullptr, request, nullptr));
    played.streams = *plan_parts(parts, 1);
    request.target = *target::parse_target("/mnt/x");
    request.require_cold = true;
    request.media_read_before = before;
    if (meters) request.meters.emplace_back();
    RunFacts& facts = played.facts;
    facts.counts_storage_reads = true;
    facts.before.storage_read_bytes = 0;
    facts.after.storage_read_bytes = 2'000'000;
    facts.cached_before = facts.cached_after = cached;
    more(played);
    FrameOutcome outcome;
    outcome.bytes = 1'000'000;
    outcome.scheduled = outcome.submitted = Instant{} + milliseconds(1);
    outcome.delivered = outcome.completed = Instant{} + milliseconds(2);
    outcome.deadline = Instant{} + milliseconds(40);
    metrics::TimeSeries series;
    std::deque<play::DeadlineLedger> ledgers;
    for (std::size_t i = 0; i < played.streams.size(); ++i) {
        play::DeadlineLedger& ledger = ledgers.emplace_back(play::LedgerOptions{}, series);
        ledger.play_started({}, {}, {});
        for (outcome.slot = 0; outcome.slot < played.frames; ++outcome.slot) {
            ledger.scheduled();
            ledger.settle(outcome);
        }
        ledger.close();
        facts.ledgers.push_back(&ledger);
    }
    facts.request = &request;
    facts.streams = &played.streams;
    facts.playback_loops = {&played.loop};
    RunResult result;
    fill_result(facts, result);
    return result;
}

TEST(PageCache, IsNotToldByWhatMetersReadBesideTheStreams) {
    EXPECT_EQ(read_through_cache(false, {}).client.page_cache_bytes, 0u);
    EXPECT_TRUE(read_through_cache(false, {}).verdict.pass);
    EXPECT_EQ(read_through_cache(true, 1).client.page_cache_bytes, 1'000'000u);
    EXPECT_FALSE(read_through_cache(true, 1).verdict.pass);
    EXPECT_TRUE(read_through_cache(true, 0).verdict.pass);
    const RunResult unknown = read_through_cache(true, {});
    EXPECT_FALSE(unknown.client.page_cache_bytes);
    EXPECT_FALSE(unknown.verdict.pass);
    EXPECT_THAT(unknown.verdict.reason, HasSubstr("a cache may have helped"));
}

TEST(PageCache, MayAnswerDirectReadsOfSomeFileSystems) {
    const auto directly = [](const char* type, bool uses_page_cache) {
        return read_through_cache(true, 1, false, [&](Played& played) {
            played.loop.capabilities.direct = true;
            played.facts.mount.emplace().type = type;
            played.facts.direct_uses_page_cache = uses_page_cache;
        });
    };
    EXPECT_EQ(directly("ext4", false).client.page_cache_bytes, 0u);
    EXPECT_EQ(directly("btrfs", true).client.page_cache_bytes, 1'000'000u);
    EXPECT_FALSE(directly("btrfs", true).verdict.pass);
    EXPECT_FALSE(directly("zfs", false).client.page_cache_bytes) << "nobody can say";
    EXPECT_FALSE(directly("fuse.mergerfs", false).verdict.pass);
}

TEST(PageCache, IsTheLeastThatCameFromAFileSystemWithAHiddenCache) {
    const auto buffered = [](double cached) {
        const auto fuse = [](Played& played) { played.facts.mount.emplace().type = "fuse.sshfs"; };
        return read_through_cache(false, cached, false, fuse).client.page_cache_bytes;
    };
    EXPECT_EQ(buffered(1), 1'000'000u);
    EXPECT_FALSE(buffered(0));
}

TEST(PageCache, IsHiddenWhereAnyClipIsOnAFileSystemWithAHiddenCache) {
    const auto directly = [](const char* type, bool records) {
        return read_through_cache(true, 1, false, [&](Played& played) {
            played.loop.capabilities.direct = true;
            played.facts.mount.emplace().type = "ext4";
            StreamPlan& plan = played.streams.front();
            played.facts.mounts[target::directory_of(plan.clips.front())].type = type;
            if (records) plan.record = std::make_shared<RecordPlan>();
        });
    };
    EXPECT_EQ(directly("xfs", false).client.page_cache_bytes, 0u);
    EXPECT_FALSE(directly("fuse.sshfs", false).client.page_cache_bytes);
    EXPECT_FALSE(directly("fuse.sshfs", false).verdict.pass);
    EXPECT_EQ(directly("fuse.sshfs", true).client.page_cache_bytes, 0u) << "a recorder reads nothing";
}

TEST(PageCache, IsNotToldByPartsThatWereNotPlayed) {
    EXPECT_FALSE(read_through_cache(true, 0.01).client.page_cache_bytes) << "one of 96 frames was played";
    EXPECT_FALSE(read_through_cache(true, 0.01).verdict.pass);
}

TEST(PageCache, MayHoldWhatAnotherStreamHasJustRead) {
    const auto of_two = [](double before, double after) {
        return read_through_cache(true, before, false, [after](Played& played) {
            played.facts.cached_after = after;
            played.streams.push_back(played.streams.front());
        });
    };
    EXPECT_EQ(of_two(1, 1).client.page_cache_bytes, 2'000'000u);
    EXPECT_EQ(of_two(0, 1).client.page_cache_bytes, 1'000'000u) << "the first of them filled the cache";
    EXPECT_FALSE(of_two(0, 0.02).client.page_cache_bytes) << "nobody can say";
    EXPECT_TRUE(of_two(0, 0.02).media.shared);
}

TEST(PageCache, MayHoldAClipThatAStreamShowsInTwoLayers) {
    const auto cached = [](double before) {
        return read_through_cache(true, before, false, [](Played& played) {
            auto& clips = played.streams.front().clips;
            clips.push_back(clips.front());
            played.facts.cached_after = 1;
        });
    };
    EXPECT_FALSE(cached(0).client.page_cache_bytes) << "the second layer, and nobody can say";
    EXPECT_EQ(cached(1).client.page_cache_bytes, 1'000'000u);
}

TEST(PageCache, MayHoldThePartThatTwoStreamsShare) {
    const auto shared = read_through_cache(true, 0, false, [](Played& played) {
        played.facts.cached_after = 1;
        played.streams.push_back(played.streams.front());
        Clip own;
        own.file = "own";
        own.index = played.streams.front().clips.front().index;
        played.streams.back().clips.push_back(own);
    });
    EXPECT_EQ(shared.client.page_cache_bytes, 500'000u) << "half of what the second stream read";
}

TEST(PageCache, MayHoldFramesThatAreShownTwiceInAPass) {
    const auto cached = [](const char* order) {
        const RunResult result = read_through_cache(true, 0, false, [order](Played& played) {
            StreamPlan& plan = played.streams.front();
            plan.path = make_path(plan.path->sources(), *play::PlayOrder::parse(order), std::nullopt, 1);
            played.frames = 96;
        });
        EXPECT_EQ(result.streams.front().counts.passes, 1u) << order;
        return result.client.page_cache_bytes;
    };
    EXPECT_EQ(cached("forward"), 0u);
    EXPECT_FALSE(cached("random"));
}

TEST(ServerCache, MayHoldWhatTheCommandHasReadBefore) {
    const RunResult result = read_through_cache(false, {}, true);
    EXPECT_TRUE(result.media.server_cache_may_be_warm);
    EXPECT_FALSE(result.verdict.pass);
    EXPECT_FALSE(read_through_cache(false, {}).media.server_cache_may_be_warm);
}

TEST(ServerCache, MayHoldWhatWasReadForAnIndex) {
    for (const bool emptied : {false, true}) {
        const RunResult result = read_through_cache(false, {}, false, [emptied](Played& played) {
            played.streams.front().clips.front().read_through = true;
            played.request.caches_emptied = emptied;
        });
        EXPECT_EQ(result.media.read_for_index, !emptied);
        EXPECT_EQ(result.media.server_cache_may_be_warm, !emptied);
        EXPECT_EQ(result.verdict.pass, emptied);
    }
}

TEST(ServerCache, HoldsMediaThatWereYoungWhenPlayBegan) {
    constexpr std::int64_t kTouchedS = 1'700'000'000;
    const auto aged = [](std::int64_t age_s) {
        return read_through_cache(false, {}, false, [&](Played& played) {
            played.streams.front().clips.front().touched_s = kTouchedS;
            played.facts.began_s = kTouchedS + age_s;
        });
    };
    EXPECT_EQ(aged(3599).media.age_s, 3599);
    EXPECT_TRUE(aged(3599).media.server_cache_may_be_warm);
    EXPECT_FALSE(aged(3600).media.server_cache_may_be_warm);
    EXPECT_EQ(aged(-5).media.age_s, 0) << "the clock of the server is ahead";
}

}  // namespace
}  // namespace streamsim::run
