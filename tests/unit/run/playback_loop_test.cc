// One playback loop, led as Playback leads it, in virtual time.
#include "run/playback/playback_loop.h"

#include <gtest/gtest.h>

#include <optional>

#include "run/playback/loop_options.h"
#include "unit/run/sessions.h"

namespace streamsim::run {
namespace {

/// The end of play and the begin of the second stream come in one turn, as they can from other threads.
TEST(PlaybackLoop, AStreamThatWasEndedBeforeItBeganDoesNotPlay) {
    PlayRequest request = test::request_on("sim:null", {"dpx10"});
    request.streams = 2;
    request.stagger = seconds(1);
    NoticeLog log([](const std::string&) {});
    PlaybackPlan plan(request, one_part(request, *find_media(nullptr, request, nullptr)), {}, log);
    ASSERT_TRUE(plan.make());
    PlaybackLoop loop(loop_options(plan, 1).front());
    loop.on_ready = [](PlaybackLoop& ready, Duration offset) {
        if (offset.ns == 0) return ready.start(offset, std::nullopt);
        ready.end_play();
        ready.start(offset, Instant{} + offset);
    };
    ASSERT_TRUE(loop.run());
    EXPECT_FALSE(loop.interrupted());
    const FrameCounts& first = loop.ledgers()[0]->counts();
    EXPECT_GT(first.on_time, 20u);
    EXPECT_EQ(first.on_time + first.cancelled, first.scheduled);
    const FrameCounts& second = loop.ledgers()[1]->counts();
    EXPECT_GT(second.scheduled, 0u);
    EXPECT_EQ(second.cancelled, second.scheduled);
}

}  // namespace
}  // namespace streamsim::run
