// Which streams read a clip that another one reads: by its file, however often and by whatever path it was
// found. How long a stream plays at most. A plan says which clips stay in the page cache.
#include "run/plan/stream_plan.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "run/plan/playback_plan.h"
#include "unit/media/fixtures.h"

namespace streamsim::run {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class SharedClips : public ::testing::Test {
protected:
    SharedClips() {
        std::filesystem::create_directory(place_.at("reel"));
        const MediaFormat format = streamsim::testing::small_prores("p", 64, 36, 5000);
        streamsim::testing::write_mov(store_, place_.at("reel/x.mov"), format, 3);
    }
    static PlayPart part(const std::string& target, bool same_media = false, bool audio = false) {
        PlayPart part;
        part.request.target = *target::parse_target(target);
        part.request.same_media = same_media;
        part.request.audio = audio;
        return part;
    }
    /// For each stream, one of each part: whether it shares its clip.
    std::vector<bool> shared(std::vector<PlayPart> parts) {
        const auto found = find_media(&store_, std::move(parts), nullptr);
        EXPECT_TRUE(found) << streamsim::testing::all_problems(found.error());
        std::vector<bool> out;
        if (!found) return out;
        const auto streams = plan_parts(*found, 1);
        EXPECT_TRUE(streams);
        for (const StreamPlan& plan : *streams) out.push_back(plan.shares_clip);
        return out;
    }

    streamsim::testing::Place place_;
    streamsim::testing::DirectoryStore store_;
};

TEST_F(SharedClips, OneClipWithAndWithoutAudioIsOne) {
    EXPECT_THAT(shared({part(place_.path())}), ElementsAre(false));
    EXPECT_THAT(shared({part(place_.path(), true), part(place_.path(), true, true)}), ElementsAre(true, true));
}

using Staggered = SharedClips;

TEST_F(Staggered, StreamsBeginInTheirOrderOrAreRefused) {
    PlayPart late = part(place_.path(), true);
    late.request.streams = 3;
    const auto planned = [&](std::int64_t hours) {
        late.request.stagger = seconds(hours * 3600);
        const auto found = find_media(&store_, {late}, nullptr);
        EXPECT_TRUE(found);
        return plan_parts(*found, 1);
    };
    const auto streams = planned(29'200);
    ASSERT_TRUE(streams);
    EXPECT_EQ(streams->back().start_offset, seconds(std::int64_t{2} * 29'200 * 3600));
    const auto refused = planned(29'201);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::bad_input);
    EXPECT_THAT(refused.error().problems.front(), ::testing::StartsWith("--stagger: the last of 3 streams"));
}

TEST_F(SharedClips, AClipOfTwoTargetsIsOne) {
    EXPECT_THAT(shared({part(place_.path()), part(place_.at("reel"))}), ElementsAre(true, true));
    std::filesystem::create_directory_symlink("reel", place_.at("link"));
    EXPECT_THAT(shared({part(place_.at("reel/x.mov")), part(place_.at("link"))}), ElementsAre(true, true));
    std::filesystem::create_directory(place_.at("other"));
    std::filesystem::copy_file(place_.at("reel/x.mov"), place_.at("other/x.mov"));
    EXPECT_THAT(shared({part(place_.at("reel")), part(place_.at("other"))}), ElementsAre(false, false));
}

TEST_F(SharedClips, AComputerThatOnlyLeadsHasNone) {
    const auto found = find_media(nullptr, {part(place_.path()), part(place_.path(), false, true)}, nullptr);
    ASSERT_TRUE(found);
    for (const PlayPart& each : *found) EXPECT_THAT(each.media.clips, IsEmpty());
    const auto streams = plan_parts(*found, 1);
    ASSERT_TRUE(streams);
    EXPECT_THAT(*streams, IsEmpty());
}

using LongPlay = SharedClips;

TEST_F(LongPlay, IsRefusedWhereItsDeadlinesHaveNoNumber) {
    PlayPart slow = part(place_.path());
    slow.request.rate = FrameRate{1, 1'000'000};
    const auto planned = [&](std::uint64_t frames) {
        slow.request.frames = frames;
        const auto found = find_media(&store_, {slow}, nullptr);
        EXPECT_TRUE(found);
        return plan_parts(*found, 1);
    };
    EXPECT_TRUE(planned(4612));  // 2^62 ns are 4,611.7 frames
    const auto refused = planned(4613);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::bad_input);
    EXPECT_THAT(refused.error().problems,
                ElementsAre("--fps: a stream of 4,613 frames at 1/1000000 fps plays for more than 146 years"));
    slow.schedule = PartSchedule{.start = [](std::uint32_t, std::uint32_t) { return seconds(0); },
                                 .end = [](std::uint32_t) { return seconds(60); }};
    const auto scheduled = planned(4613);
    ASSERT_TRUE(scheduled);
    EXPECT_EQ(scheduled->front().options.slots, 1u);
}

TEST_F(LongPlay, ARecorderBesideACutListRecordsAsLongAsTheListPlays) {
    const auto found = find_media(&store_, {part(place_.path())}, nullptr);
    ASSERT_TRUE(found);
    PlayPart cut = part(place_.path());
    cut.request.order.kind = play::PlayOrder::Kind::cuts;
    cut.request.record = {.streams = 1, .formats = {streamsim::testing::small_prores("r", 64, 36, 5000)}};
    cut.request.record.formats.front().rate = {25, 1};
    CutList& list = cut.media.cuts.emplace();
    list.rate = {24, 1};
    list.clips = found->front().media.clips.front();
    list.segments = {{.frames = 3}};
    list.frames = 48;
    const auto slots = [&cut] {
        std::vector<std::uint64_t> out;
        const auto streams = plan_parts({cut}, 1);
        EXPECT_TRUE(streams);
        for (const StreamPlan& plan : *streams) out.push_back(plan.options.slots);
        return out;
    };
    EXPECT_THAT(slots(), ElementsAre(48u, 50u));
    cut.request.rate = FrameRate{12, 1};
    EXPECT_THAT(slots(), ElementsAre(48u, 48u)) << "both at this rate";
    cut.media.cuts.reset();
    cut.request.rate.reset();
    EXPECT_THAT(slots(), ElementsAre(60u * 25)) << "a minute without the list";
}

using ColdPlay = SharedClips;

TEST_F(ColdPlay, SaysThatFilesCouldNotBeEvicted) {
    PlayPart cold = part(place_.path());
    cold.request.cold = true;
    cold.request.direct = false;
    const auto found = find_media(&store_, {cold}, nullptr);
    ASSERT_TRUE(found);
    const auto said = [&] {
        std::vector<std::string> notices;
        NoticeLog log([&notices](const std::string& text) {
            if (text.starts_with("--cold")) notices.push_back(text);
        });
        EXPECT_TRUE(PlaybackPlan(cold.request, *found, {}, log).make());
        return notices;
    };
    const std::string file = place_.at("reel/x.mov");
    EXPECT_THAT(said(), IsEmpty());
    std::filesystem::remove(file);
    EXPECT_THAT(said(), IsEmpty()) << "a file that is missing fails at its slot";
    std::filesystem::create_directory(file);
    EXPECT_THAT(said(), ElementsAre(AllOf(StartsWith("--cold: 1 of 1 file could not be evicted: cannot open "),
                                          HasSubstr(file))));
    cold.request.cold = false;
    cold.request.evict = true;
    EXPECT_THAT(said(), IsEmpty()) << "nobody asked for it";
}

TEST_F(ColdPlay, OnlyFramesThatArePlayedAreEvictedWhereNobodyAskedForIt) {
    std::filesystem::create_directory(place_.at("shot"));
    const std::vector<std::string> numbers = {"1", "2", "3", "4", "5", "6", "7", "8", "9"};
    streamsim::testing::write_sequence(place_, "shot/f.", ".dpx", numbers,
                                       streamsim::testing::small_dpx("d", 64, 36));
    PlayPart some = part(place_.at("shot"));
    some.request.direct = false;
    some.request.frames = 3;
    const auto found = find_media(&store_, {some}, nullptr);
    ASSERT_TRUE(found);
    for (const std::string& number : numbers) {
        const std::string file = place_.at("shot/f." + number + ".dpx");
        std::filesystem::remove(file);
        std::filesystem::create_directory(file);
    }
    const auto left = [&] {
        std::vector<PlayPart> parts = *found;
        parts.front().request.frames = some.request.frames;
        NoticeLog log([](const std::string&) {});
        PlaybackPlan plan(some.request, std::move(parts), {}, log);
        EXPECT_TRUE(plan.make());
        return plan.evict_clips();
    };
    EXPECT_THAT(left(), StartsWith("3 of 3 files"));
    some.request.frames = 20;
    EXPECT_THAT(left(), StartsWith("9 of 9 files")) << "each frame twice";
    some.request.frames = 3;
    some.request.cold = true;
    EXPECT_THAT(left(), StartsWith("9 of 9 files")) << "as was asked for";
}

}  // namespace
}  // namespace streamsim::run
