// Clips that are on several mounts: whose facts decide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/mount.h"
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

/// A clip of 96 frames in one file that is not there.
class ClipIn final : public FrameIndex {
public:
    explicit ClipIn(const std::string& directory) : path_(directory + "/streamsim-none.mov") {}

    std::uint64_t count() const override { return 96; }
    FrameRate rate() const override { return {24, 1}; }
    bool file_per_frame() const override { return false; }
    void write_path(std::uint64_t, char* into) const override { std::ranges::copy(path_ + '\0', into); }
    std::size_t path_capacity() const override { return path_.size() + 1; }
    Extent extent(std::uint64_t frame) const override { return {frame * 4096, 4096}; }
    std::uint64_t largest_frame_bytes() const override { return 4096; }

private:
    const std::string path_;
};

TEST(SeveralStorages, MayEachUseThePageCacheForDirectReads) {
    const auto memory = host::mount_of("/dev/shm");
    if (!memory || memory->type != "tmpfs") GTEST_SKIP() << "this system has no such file system";
    PlayRequest request = test::request_on("null:", {"prores-hd"});
    request.streams = 2;
    std::vector<PlayPart> parts = one_part(request, *find_media(nullptr, request, nullptr));
    std::vector<Clip>& clips = parts.front().media.clips.front();
    ASSERT_EQ(clips.size(), 2u);
    clips.front().index = std::make_shared<ClipIn>("/proc");
    clips.back().index = std::make_shared<ClipIn>("/dev/shm");
    request.target = parts.front().request.target = *target::parse_target("/");
    NoticeLog log([](const std::string&) {});
    PlaybackPlan plan(request, std::move(parts), {}, log);
    ASSERT_TRUE(plan.make());
    EXPECT_TRUE(plan.direct_uses_page_cache());
}

TEST(SeveralStorages, HaveThatOfTheRecordings) {
    namespace fs = std::filesystem;
    const fs::path top = fs::temp_directory_path() / "streamsim-mount-of-recordings";
    fs::create_directories(top);
    PlayRequest request = test::request_on("null:", {"prores-hd"});
    std::swap(request.formats, request.record.formats);
    request.streams = 0;
    request.record.streams = 1;
    request.target = *target::parse_target(top.string());
    NoticeLog log([](const std::string&) {});
    {
        PlaybackPlan plan(request, one_part(request, {}), {}, log);
        ASSERT_TRUE(plan.make());
        const auto here = host::mount_of(top.string());
        const auto found = plan.mounts().find(target::directory_of(plan.streams().front().clips.front()));
        EXPECT_EQ(found != plan.mounts().end(), here.has_value());
        if (here && found != plan.mounts().end()) EXPECT_EQ(found->second.point, here->point);
    }
    fs::remove_all(top);
}

}  // namespace
}  // namespace streamsim::run
