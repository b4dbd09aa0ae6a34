// Clips that are on several mounts: whose facts decide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "run/conclude/result_builder.h"
#include "target/target_locations.h"
#include "unit/run/sessions.h"

namespace streamsim::run {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

MountFacts mounted(const char* point, const char* type, const char* server = "") {
    MountFacts mount;
    mount.point = point;
    mount.type = type;
    mount.server = server;
    return mount;
}

/// The first of two clips dropped a frame. Each is on a mount of its own.
RunResult played_from(const MountFacts& first, const MountFacts& second) {
    PlayRequest request = test::request_on("null:", {"dpx10", "dpx12"});
    const std::vector<PlayPart> parts = one_part(request, *find_media(nullptr, request, nullptr));
    const std::vector<StreamPlan> streams = *plan_parts(parts, 1);
    request.target = *target::parse_target("/mnt/x");
    FrameOutcome outcome;
    outcome.kind = FrameKind::dropped;
    outcome.reason = DropReason::late;
    outcome.scheduled = outcome.submitted = Instant{} + seconds(29);
    outcome.deadline = Instant{} + seconds(30);
    metrics::TimeSeries series;
    play::LedgerOptions options;
    options.drops_kept = 1;
    play::DeadlineLedger dropped(options, series);
    dropped.play_started({}, {}, {});
    dropped.scheduled();
    dropped.settle(outcome);
    dropped.close();
    play::DeadlineLedger none({}, series);
    none.play_started({}, {}, {});
    none.close();
    LoopStats loop;
    loop.origin = Instant{};
    RunFacts facts;
    facts.request = &request;
    facts.streams = &streams;
    facts.ledgers = {&dropped, &none};
    facts.playback_loops = {&loop};
    facts.mount = first;
    facts.mounts[target::directory_of(streams.front().clips.front())] = first;
    facts.mounts[target::directory_of(streams.back().clips.front())] = second;
    EXPECT_EQ(facts.mounts.size(), 2U);
    RunResult result;
    fill_result(facts, result);
    return result;
}

TEST(SeveralStorages, AreNotJudgedByTheMountOfTheFirst) {
    const MountFacts disk = mounted("/", "ext4");
    const MountFacts share = mounted("/mnt/nas", "nfs4", "nas");
    const RunResult slow_disk = played_from(disk, share);
    EXPECT_EQ(slow_disk.verdict.limit, Limit::storage);
    EXPECT_THAT(slow_disk.notices, Contains(HasSubstr("several mounts: / (ext4), /mnt/nas (nfs4)")));
    const RunResult slow_share = played_from(share, disk);
    EXPECT_EQ(slow_share.verdict.limit, Limit::unknown);
    EXPECT_THAT(slow_share.verdict.next, HasSubstr("each storage alone"));
    EXPECT_THAT(played_from(share, mounted("/mnt/b", "cifs", "other")).notices, Contains(HasSubstr("several")));
}

TEST(SeveralStorages, AreNeitherTwoDisksNorTwoSharesOfAServer) {
    EXPECT_THAT(played_from(mounted("/", "ext4"), mounted("/mnt/raid", "xfs")).notices, IsEmpty());
    EXPECT_EQ(played_from(mounted("/", "ext4"), mounted("/mnt/raid", "xfs")).verdict.limit, Limit::storage);
    EXPECT_THAT(played_from(mounted("/a", "nfs4", "nas"), mounted("/b", "nfs4", "nas")).notices, IsEmpty());
}

}  // namespace
}  // namespace streamsim::run
