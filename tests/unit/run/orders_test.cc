// Orders, groups and layers through whole runs, in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "media/catalogue/catalogue.h"
#include "run/session/session.h"

namespace streamsim::run {
namespace {

using testing::HasSubstr;

PlayRequest request_for(const char* format) {
    PlayRequest request;
    request.target = *target::parse_target("sim:null");
    const auto catalogue = media::Catalogue::load(STREAMSIM_SOURCE_DIR "/formats/media");
    request.formats.push_back(*catalogue->find(format));
    request.duration = seconds(4);
    request.keep_frames = true;
    return request;
}

Result<RunResult> play(const PlayRequest& request) {
    auto media = find_media(nullptr, request, nullptr);
    if (!media) return media.error();
    return Session(request, std::move(*media), {}, [](const std::string&) {}).execute();
}

/// The read of one slot of one stream takes so much longer.
storage::FaultPlan one_delay(std::uint32_t stream, std::uint64_t slot, Duration delay) {
    storage::FaultRule rule;
    rule.operation = storage::FaultRule::Operation::read;
    rule.stream = stream;
    rule.slots = {slot, slot, 1};
    rule.delay = delay;
    storage::FaultPlan plan;
    plan.rules.push_back(rule);
    return plan;
}

/// By how much a slot of a stream was due later than on its own.
std::int64_t clock_shift_ns(const RunResult& result, std::uint32_t stream, std::uint64_t slot) {
    for (const FrameRow& row : result.frames) {
        if (row.stream == stream && row.outcome.slot == slot)
            return row.outcome.deadline.ns - FrameRate{24, 1}.due(slot).ns;
    }
    ADD_FAILURE() << "no such slot";
    return -1;
}

TEST(Sync, StreamsOnOneClockStallTogether) {
    PlayRequest request = request_for("dpx10");
    request.streams = 3;
    request.readahead = 1;
    request.on_miss = play::OnMiss::stall;
    request.faults = one_delay(1, 20, milliseconds(500));
    const auto apart = play(request);
    request.sync = true;
    const auto together = play(request);
    ASSERT_TRUE(apart && together);
    const std::int64_t stall_ns = apart->streams[1].counts.stall_ns;
    EXPECT_GT(stall_ns, 400'000'000);
    EXPECT_EQ(together->streams[1].counts.stall_ns, stall_ns);
    for (const std::uint32_t stream : {0u, 1u, 2u}) {
        EXPECT_EQ(clock_shift_ns(*apart, stream, 30), stream == 1 ? stall_ns : 0);
        EXPECT_EQ(clock_shift_ns(*together, stream, 19), 0);
        EXPECT_EQ(clock_shift_ns(*together, stream, 30), stall_ns);
        EXPECT_EQ(together->streams[stream].counts.stalls, stream == 1 ? 1u : 0u) << "it is the cause alone";
        EXPECT_EQ(together->streams[stream].counts.on_time, 96u);
    }
}

TEST(Sync, WaitsOfSeveralStreamsCountOnce) {
    PlayRequest request = request_for("dpx10");
    request.streams = 2;
    request.readahead = 1;
    request.on_miss = play::OnMiss::stall;
    request.sync = true;
    request.faults = one_delay(0, 20, milliseconds(500));
    request.faults->rules.push_back(one_delay(1, 20, milliseconds(300)).rules.front());
    const auto result = play(request);
    ASSERT_TRUE(result);
    const std::int64_t longest =
        std::max(result->streams[0].counts.stall_ns, result->streams[1].counts.stall_ns);
    EXPECT_EQ(clock_shift_ns(*result, 0, 30), longest);
    EXPECT_EQ(clock_shift_ns(*result, 1, 30), longest);
}

TEST(Sync, StreamsOfTwoRatesHaveNoCommonClock) {
    PlayRequest request = request_for("dpx10");
    request.formats.push_back(request_for("prores-hd").formats.front());
    request.sync = true;
    const auto result = play(request);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::bad_input);
    EXPECT_THAT(result.error().problems.front(), HasSubstr("--sync"));
    request.rate = FrameRate{24, 1};
    EXPECT_TRUE(play(request));
}

TEST(Sync, ScrubbingAnglesJumpTogether) {
    PlayRequest request = request_for("prores-hd");
    request.streams = 2;
    request.order.kind = play::PlayOrder::Kind::scrub;
    request.duration = seconds(20);
    const auto apart = play(request);
    request.sync = true;
    const auto together = play(request);
    ASSERT_TRUE(apart && together);
    const auto slots_of = [](const RunResult& result, std::uint32_t stream) {
        std::vector<std::uint64_t> slots;
        for (const SeekRecord& seek : result.seeks) {
            if (seek.stream == stream) slots.push_back(seek.frame);
        }
        return slots;
    };
    EXPECT_NE(slots_of(*apart, 0), slots_of(*apart, 1));
    EXPECT_EQ(slots_of(*together, 0), slots_of(*together, 1));
    EXPECT_GT(slots_of(*together, 0).size(), 10u);
}

TEST(Sync, LayersAndAnglesOfTwoRatesAreRefused) {
    PlayRequest request = request_for("dpx10");
    const PlayRequest other = request_for("prores-hd");
    const auto two_rates = [&] {
        FoundMedia media = *find_media(nullptr, request, nullptr);
        media.clips.front().back() = find_media(nullptr, other, nullptr)->clips.front().front();
        return Session(request, std::move(media), {}, [](const std::string&) {}).execute();
    };
    request.layers = 2;
    const auto layers = two_rates();
    ASSERT_FALSE(layers);
    EXPECT_EQ(layers.error().kind, ErrorKind::bad_input);
    EXPECT_THAT(layers.error().problems.front(),
                testing::AllOf(HasSubstr("--layers: "), HasSubstr("has 24 fps"), HasSubstr("give --fps")));
    request.layers = 1;
    request.streams = 2;
    request.multicam = MultiCam::active;
    const auto angles = two_rates();
    ASSERT_FALSE(angles);
    EXPECT_THAT(angles.error().problems.front(), HasSubstr("--multicam active: "));
    request.rate = FrameRate{24, 1};
    EXPECT_TRUE(two_rates());
}

TEST(MultiCam, ACutBetweenAnglesIsASeekOnlyWhereOneAngleIsRead) {
    PlayRequest request = request_for("prores-uhd");
    request.streams = 4;
    request.duration = seconds(30);
    request.multicam = MultiCam::all;
    request.sync = true;
    const auto all = play(request);
    request.multicam = MultiCam::active;
    request.sync = false;
    const auto active = play(request);
    ASSERT_TRUE(all && active);
    EXPECT_EQ(all->streams.size(), 4u);
    EXPECT_EQ(all->totals.seeks, 0u);
    EXPECT_EQ(active->streams.size(), 1u);
    EXPECT_GT(active->totals.seeks, 4u);
    EXPECT_EQ(active->totals.scheduled, 900u);
    EXPECT_THAT(active->streams[0].clip, HasSubstr("4 angles"));
}

TEST(Layers, MultiplyWhatAStreamReadsAndNotItsFrames) {
    PlayRequest request = request_for("dpx12");
    const auto one = play(request);
    request.layers = 3;
    const auto three = play(request);
    ASSERT_TRUE(one && three);
    EXPECT_EQ(three->totals.scheduled, one->totals.scheduled);
    EXPECT_EQ(three->totals.bytes_read, 3 * one->totals.bytes_read);
    EXPECT_NEAR(three->required_bytes_per_s, 3 * one->required_bytes_per_s, 1);
}

TEST(Orders, OneSeedGivesOneRunAndAnotherAnother) {
    for (const play::PlayOrder::Kind kind : {play::PlayOrder::Kind::scrub, play::PlayOrder::Kind::random}) {
        PlayRequest request = request_for("prores-hd");  // frames differ in size
        request.order.kind = kind;
        const std::string first = play(request)->digest;
        EXPECT_EQ(play(request)->digest, first);
        request.seed = 2;
        EXPECT_NE(play(request)->digest, first);
    }
}

}  // namespace
}  // namespace streamsim::run
