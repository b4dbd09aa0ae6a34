// The frames that each order shows, against lists written by hand.
#include "play/play_path.h"

#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <set>
#include <thread>

#include "player_fixture.h"

namespace streamsim::test {
namespace {

using Frames = std::vector<std::uint64_t>;

std::shared_ptr<const FrameIndex> clip_of(std::uint64_t frames, FrameRate rate = {24, 1}) {
    return std::make_shared<TinyClip>(frames, true, rate);
}

std::shared_ptr<const play::PlayPath> path_of(const char* order, std::uint64_t frames, std::uint64_t seed = 1) {
    return make_path({clip_of(frames)}, *play::PlayOrder::parse(order), std::nullopt, seed);
}

Frames first_frames(const play::PlayPath& path, std::uint64_t slots) {
    Frames out;
    for (std::uint64_t slot = 0; slot < slots; ++slot) out.push_back(path.named(slot).frame);
    return out;
}

TEST(PlayOrder, IsReadAsItIsTypedAndShownSo) {
    for (const char* text :
         {"forward", "reverse", "ping-pong", "shuttle:8", "shuttle:-3", "scrub", "random", "cuts"}) {
        const auto order = play::PlayOrder::parse(text);
        ASSERT_TRUE(order) << text;
        EXPECT_EQ(order->text(), text);
    }
    for (const char* text : {"", "backwards", "shuttle", "shuttle:", "shuttle:0", "shuttle:x", "shuttle:2.5",
                             "shuttle:9999999999999", "shuttle:-9223372036854775808", "forward ", "shuttle4",
                             "shuttlex4", "xhuttle:4", "shuttles:4"}) {
        const auto order = play::PlayOrder::parse(text);
        ASSERT_FALSE(order) << text;
        EXPECT_EQ(order.error().kind, ErrorKind::bad_input);
    }
}

TEST(PlayPath, OrdersShowWhatAHandWouldWriteDown) {
    EXPECT_EQ(first_frames(*path_of("forward", 5), 12), (Frames{0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1}));
    EXPECT_EQ(first_frames(*path_of("reverse", 5), 12), (Frames{4, 3, 2, 1, 0, 4, 3, 2, 1, 0, 4, 3}));
    EXPECT_EQ(first_frames(*path_of("ping-pong", 5), 18),
              (Frames{0, 1, 2, 3, 4, 3, 2, 1, 0, 1, 2, 3, 4, 3, 2, 1, 0, 1}));
    EXPECT_EQ(first_frames(*path_of("shuttle:3", 10), 8), (Frames{0, 3, 6, 9, 2, 5, 8, 1}));
    EXPECT_EQ(first_frames(*path_of("shuttle:2", 6), 7), (Frames{0, 2, 4, 0, 2, 4, 0}));
    EXPECT_EQ(first_frames(*path_of("shuttle:-4", 10), 6), (Frames{9, 5, 1, 7, 3, 9}));
}

TEST(PlayPath, AClipOfOneFrameHasEveryOrder) {
    for (const char* order : {"forward", "reverse", "ping-pong", "shuttle:8", "scrub", "random"}) {
        EXPECT_EQ(first_frames(*path_of(order, 1), 50), Frames(50, 0)) << order;
    }
    EXPECT_EQ(first_frames(*path_of("ping-pong", 2), 5), (Frames{0, 1, 0, 1, 0}));
}

TEST(PlayPath, APassIsOneRunThroughTheClip) {
    EXPECT_EQ(path_of("forward", 10)->pass_slots(), 10u);
    EXPECT_EQ(path_of("ping-pong", 10)->pass_slots(), 18u);
    EXPECT_EQ(path_of("shuttle:3", 10)->pass_slots(), 4u);
    EXPECT_EQ(path_of("shuttle:-3", 10)->pass_slots(), 4u);
}

TEST(PlayPath, RandomIsSeededGoesEverywhereAndNeedsNoSeek) {
    const auto path = path_of("random", 20);
    const Frames frames = first_frames(*path, 400);
    EXPECT_EQ(frames, first_frames(*path_of("random", 20), 400));
    EXPECT_NE(frames, first_frames(*path_of("random", 20, 2), 400));
    EXPECT_EQ(std::set<std::uint64_t>(frames.begin(), frames.end()).size(), 20u);
    for (std::uint64_t slot = 0; slot < 400; ++slot) EXPECT_FALSE(path->sought(slot));
}

TEST(PlayPath, ScrubPlaysOnFromEachJumpInTheRhythmOfAHand) {
    const auto path = path_of("scrub", 2400);
    std::vector<std::uint64_t> jumps = {0};
    std::uint64_t near = 0;
    EXPECT_FALSE(path->sought(0)) << "where it begins is prerolled";
    for (std::uint64_t slot = 1; slot < 40'000; ++slot) {
        const std::uint64_t frame = path->named(slot).frame;
        const std::uint64_t played_on = (path->named(slot - 1).frame + 1) % 2400;
        if (!path->sought(slot)) {
            ASSERT_EQ(frame, played_on) << slot;
            continue;
        }
        const std::uint64_t way =
            std::min((frame + 2400 - played_on) % 2400, (played_on + 2400 - frame) % 2400);
        near += way <= 48 ? 1u : 0u;
        const std::uint64_t stay = slot - jumps.back();
        EXPECT_GE(stay, 4u) << slot;        // 0.2 s
        EXPECT_LE(stay, 38u + 4u) << slot;  // 1.6 s, and what is too short for another
        jumps.push_back(slot);
    }
    const double mean = 40'000.0 / static_cast<double>(jumps.size());
    EXPECT_NEAR(mean, 0.9 * 24, 1.5);
    EXPECT_NEAR(static_cast<double>(near) / static_cast<double>(jumps.size()), 0.8, 0.05);
}

TEST(PlayPath, AnySlotCanBeAskedForInAnyOrder) {
    for (const char* order : {"scrub", "random"}) {
        const auto path = path_of(order, 500);
        const Frames forwards = first_frames(*path, 40'000);
        for (std::uint64_t slot = 40'000; slot-- > 0;)
            ASSERT_EQ(path->named(slot).frame, forwards[slot]) << order;
    }
}

TEST(PlayPath, LayersAreAllShownAndAShorterOneBeginsAgain) {
    const auto path = play::make_path({clip_of(6), clip_of(4)}, {}, std::nullopt, 1);
    std::vector<play::ShownFrame> shown;
    path->shown(5, shown);
    EXPECT_EQ(shown, (std::vector<play::ShownFrame>{{0, 5}, {1, 1}}));
    EXPECT_EQ(path->shown_max(), 2u);
    EXPECT_EQ(path->pass_slots(), 6u);
}

TEST(PlayPath, AnglesAreShownOneAtATimeAndACutBetweenThemIsSought) {
    const auto path = play::make_angle_path({clip_of(100), clip_of(100), clip_of(100)}, {}, std::nullopt, 7);
    std::vector<play::ShownFrame> shown;
    std::uint32_t angle = 0;
    std::uint64_t cuts = 0;
    for (std::uint64_t slot = 0; slot < 10'000; ++slot) {
        path->shown(slot, shown);
        ASSERT_EQ(shown.size(), 1u);
        EXPECT_EQ(shown[0].frame, slot % 100) << "the scene goes on whoever shows it";
        EXPECT_EQ(path->sought(slot), shown[0].source != angle) << slot;
        cuts += shown[0].source != angle ? 1u : 0u;
        angle = shown[0].source;
    }
    EXPECT_NEAR(10'000.0 / 24 / static_cast<double>(cuts), 3.5, 0.5) << "seconds an angle";
}

/// Frames with times of their own: 0, 10, 50, 60 ms, and 100 ms long.
class UnevenClip final : public FrameIndex {
public:
    std::uint64_t count() const override { return 4; }
    FrameRate rate() const override { return {40, 1}; }
    bool file_per_frame() const override { return false; }
    void write_path(std::uint64_t, char* into) const override { *into = '\0'; }
    std::size_t path_capacity() const override { return 1; }
    Extent extent(std::uint64_t frame) const override { return {frame * 10, 10}; }
    std::uint64_t largest_frame_bytes() const override { return 10; }
    bool variable_rate() const override { return true; }
    Duration due(std::uint64_t frame) const override {
        constexpr std::int64_t kTimes_ms[] = {0, 10, 50, 60, 100};
        return milliseconds(kTimes_ms[frame]);
    }
};

TEST(PlayPath, AVariableRateIsPlayedByItsOwnTimeStamps) {
    const auto path = play::make_path({std::make_shared<UnevenClip>()}, {}, std::nullopt, 1);
    EXPECT_EQ(path->due(2), milliseconds(50));
    EXPECT_EQ(path->due(4), milliseconds(100));
    EXPECT_EQ(path->due(11), milliseconds(260));
    EXPECT_EQ(path->slots_in(milliseconds(50)), 2u);
    EXPECT_EQ(path->slots_in(milliseconds(51)), 3u);
    EXPECT_EQ(path->slots_in(milliseconds(251)), 11u);
    const auto paced = play::make_path({std::make_shared<UnevenClip>()}, {}, FrameRate{25, 1}, 1);
    EXPECT_EQ(paced->due(2), milliseconds(80)) << "another rate was asked for";
}

Clip named_clip(std::uint64_t frames) {
    Clip clip;
    clip.index = clip_of(frames);
    return clip;
}

TEST(CutPath, ShowsCutsTransitionsBlackSpeedAndReverseAsWritten) {
    CutList list;
    list.rate = {25, 1};
    list.clips = {named_clip(100), named_clip(50)};
    list.frames = 20;
    list.segments = {{0, 6, 0, 10, 1, 1, "event 001"},    // 10 .. 15
                     {4, 6, 1, 0, 1, 1, "event 002"},     // from 4 on over the first: a dissolve of 2
                     {12, 4, 0, 50, 2, 1, "event 003"},   // after black, at double speed
                     {16, 4, 1, 9, -1, 2, "event 004"}};  // backwards at half speed
    const auto path = play::make_cut_path(list, std::nullopt);
    std::vector<std::vector<play::ShownFrame>> slots(21);
    for (std::uint64_t slot = 0; slot < slots.size(); ++slot) path->shown(slot, slots[slot]);
    using Shown = std::vector<play::ShownFrame>;
    EXPECT_EQ(slots[0], (Shown{{0, 10}}));
    EXPECT_EQ(slots[3], (Shown{{0, 13}}));
    EXPECT_EQ(slots[4], (Shown{{1, 0}, {0, 14}}));
    EXPECT_EQ(slots[5], (Shown{{1, 1}, {0, 15}}));
    EXPECT_EQ(slots[6], (Shown{{1, 2}}));
    EXPECT_EQ(slots[9], (Shown{{1, 5}}));
    EXPECT_EQ(slots[10], Shown{});
    EXPECT_EQ(slots[11], Shown{});
    EXPECT_EQ(slots[12], (Shown{{0, 50}}));
    EXPECT_EQ(slots[15], (Shown{{0, 56}}));
    EXPECT_EQ(slots[16], (Shown{{1, 9}}));
    EXPECT_EQ(slots[17], (Shown{{1, 8}}));
    EXPECT_EQ(slots[18], (Shown{{1, 8}}));
    EXPECT_EQ(slots[19], (Shown{{1, 7}}));
    EXPECT_EQ(slots[20], slots[0]) << "and again";
    EXPECT_EQ(path->shown_max(), 2u);
    EXPECT_EQ(path->pass_slots(), 20u);
    EXPECT_EQ(path->due(25), seconds(1));
    for (std::uint64_t slot = 0; slot < 40; ++slot)
        EXPECT_FALSE(path->sought(slot)) << "a cut list is known ahead";
    EXPECT_FALSE(path->repeats_within(18));
    EXPECT_TRUE(path->repeats_within(19)) << "frame 8 of clip 1, at half speed";
}

/// The number of slots up to the first frame that was shown before.
std::uint64_t slots_without_repetition(const play::PlayPath& path) {
    std::uint64_t slots = 0;
    while (!path.repeats_within(slots + 1)) ++slots;
    return slots;
}

TEST(PlayPath, RepetitionsBeginWithTheFirstFrameThatIsShownAgain) {
    EXPECT_EQ(slots_without_repetition(*path_of("forward", 50)), 50u);
    EXPECT_EQ(slots_without_repetition(*path_of("reverse", 50)), 50u);
    EXPECT_EQ(slots_without_repetition(*path_of("ping-pong", 50)), 50u) << "frame 48 on the way back";
    EXPECT_EQ(slots_without_repetition(*path_of("ping-pong", 2)), 2u);
    EXPECT_EQ(slots_without_repetition(*path_of("shuttle:8", 64)), 8u);
    for (const char* order : {"scrub", "random"}) {
        const auto path = path_of(order, 500);
        const Frames frames = first_frames(*path, slots_without_repetition(*path) + 1);
        EXPECT_EQ(std::set(frames.begin(), frames.end()).size(), frames.size() - 1) << order;
    }
    EXPECT_EQ(slots_without_repetition(*play::make_path({clip_of(6), clip_of(4)}, {}, std::nullopt, 1)), 4u);
    EXPECT_EQ(slots_without_repetition(*play::make_angle_path({clip_of(9)}, {}, std::nullopt, 1)), 9u);
}

/// A journal asks for them on its own thread.
TEST(PlayPath, RepetitionsAreLookedForBesideAPlayer) {
    const auto angles = [] {
        return play::make_angle_path({clip_of(9'000), clip_of(9'000)}, {}, std::nullopt, 1);
    };
    const auto scrubbed = [] { return path_of("scrub", 9'000); };
    const auto fast = [] { return path_of("shuttle:7", 9'000); };
    for (const std::function<std::shared_ptr<const play::PlayPath>()>& make :
         {std::function(angles), std::function(scrubbed), std::function(fast)}) {
        constexpr std::uint64_t kSlots = 40'000;
        const Frames expected = first_frames(*make(), kSlots);
        const auto path = make();
        const bool repeats = make()->repeats_within(1'000);
        Frames played;
        std::atomic<bool> done = false;
        std::thread player([&] {
            played = first_frames(*path, kSlots);
            done = true;
        });
        while (!done) EXPECT_EQ(path->repeats_within(1'000), repeats);
        player.join();
        EXPECT_EQ(played, expected);
    }
}

}  // namespace
}  // namespace streamsim::test
