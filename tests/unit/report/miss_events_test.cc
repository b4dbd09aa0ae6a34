// Events: which missed frames belong together.
#include "result/miss_events.h"

#include <gmock/gmock.h>

#include "unit/report/sample_results.h"

namespace streamsim::result {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kPeriodNs = 1'000'000'000 / 24;

/// `count` misses of a stream in consecutive slots, the first one due at `from_ns`.
void add(std::vector<Miss>& to,
         std::uint32_t stream,
         std::int64_t from_ns,
         int count,
         Cause cause = Cause::storage_stall) {
    for (int i = 0; i < count; ++i) {
        const std::int64_t due_ns = from_ns + i * kPeriodNs;
        to.push_back({.stream = stream,
                      .slot = static_cast<std::uint64_t>(due_ns / kPeriodNs),
                      .from_ns = due_ns,
                      .to_ns = due_ns + kPeriodNs,
                      .period_ns = kPeriodNs,
                      .cause = cause});
    }
}

std::vector<std::uint64_t> frames_of(const std::vector<MissGroup>& groups) {
    std::vector<std::uint64_t> out;
    for (const MissGroup& group : groups) out.push_back(group.event.frames);
    return out;
}

TEST(MissEvents, TwoStallsAreTwoEvents) {
    std::vector<Miss> misses;
    for (std::uint32_t stream = 0; stream < 3; ++stream) {
        add(misses, stream, 7'000 * kMs, 10);
        add(misses, stream, 2'000 * kMs + stream, 12);
    }
    const auto groups = group_misses(misses, {});
    ASSERT_THAT(frames_of(groups), ElementsAre(36u, 30u));
    const MissEvent& first = groups[0].event;
    EXPECT_EQ(first.from_ns, 2'000 * kMs);
    EXPECT_EQ(first.to_ns, 2'000 * kMs + 2 + 12 * kPeriodNs);
    EXPECT_EQ(first.streams, 3u);
    EXPECT_EQ(first.first.stream, 0u);
    EXPECT_EQ(misses[groups[0].misses.front()].from_ns, 2'000 * kMs);
    EXPECT_EQ(first.cause, Cause::storage_stall);
    EXPECT_EQ(first.stalls, 0u);
}

TEST(MissEvents, APauseOfThreePeriodsEndsOne) {
    std::vector<Miss> within, beyond;
    add(within, 0, 0, 1);
    add(within, 0, 4 * kPeriodNs, 1);
    add(beyond, 0, 0, 1);
    add(beyond, 0, 5 * kPeriodNs, 1);
    EXPECT_THAT(group_misses(within, {}), SizeIs(1));
    EXPECT_THAT(group_misses(beyond, {}), SizeIs(2));
}

TEST(MissEvents, ANewGapBeginsANewEventWithoutAPause) {
    std::vector<Miss> misses;
    add(misses, 0, 2'000 * kMs, 24);
    const std::vector<ThroughputGap> gaps{{1'900 * kMs, 2'400 * kMs}, {2'490 * kMs, 2'990 * kMs}};
    EXPECT_THAT(frames_of(group_misses(misses, gaps)), ElementsAre(12u, 12u));
}

TEST(MissEvents, AFullStorageIsOneEvent) {
    std::vector<Miss> misses;
    for (int i = 0; i < 20; ++i) add(misses, 0, 1'000 * kMs + i * 500 * kMs, 2, Cause::bandwidth);
    const std::vector<ThroughputGap> gaps{{1'020 * kMs, 1'120 * kMs}};  // between two misses without a pause
    EXPECT_THAT(frames_of(group_misses(misses, gaps)), ElementsAre(40u));
    add(misses, 0, 13'000 * kMs, 1, Cause::bandwidth);
    EXPECT_THAT(frames_of(group_misses(misses, gaps)), ElementsAre(40u, 1u));
}

TEST(MissEvents, AModelsStallsAreApartWhenPlayRecovered) {
    std::vector<Miss> misses;
    add(misses, 0, 2'000 * kMs, 6, Cause::model_part);
    add(misses, 0, 2'700 * kMs, 6, Cause::model_part);
    EXPECT_THAT(group_misses(misses, {}), SizeIs(1));
    EXPECT_THAT(group_misses(misses, {{1'900 * kMs, 2'200 * kMs}, {2'600 * kMs, 2'900 * kMs}}), SizeIs(2));
}

TEST(MissEvents, CausesAtOneTimeAreEventsOfTheirOwn) {
    std::vector<Miss> misses;
    add(misses, 0, 0, 5);
    add(misses, 1, 0, 3, Cause::damaged_file);
    EXPECT_THAT(frames_of(group_misses(misses, {})), ElementsAre(5u, 3u));
}

TEST(MissEvents, StallsAreCountedApart) {
    std::vector<Miss> misses;
    add(misses, 0, 0, 1);
    misses.back().stall = true;
    misses.back().to_ns = 480 * kMs;
    const auto groups = group_misses(misses, {});
    ASSERT_THAT(groups, SizeIs(1));
    EXPECT_EQ(groups[0].event.stalls, 1u);
    EXPECT_EQ(groups[0].event.frames, 0u);
    EXPECT_EQ(groups[0].event.to_ns, 480 * kMs);
}

/// As the misses.
std::vector<StreamResult> streams_at_24_fps(std::size_t count) {
    StreamResult stream;
    stream.rate = FrameRate{24, 1};
    return std::vector<StreamResult>(count, stream);
}

TEST(MissEvents, SeatsOfOneStallShareItsEvent) {
    const auto event = [](std::uint32_t seat, std::int64_t from_ns, std::uint64_t frames) {
        MissEvent out;
        out.from_ns = from_ns;
        out.to_ns = from_ns + 500 * kMs;
        out.frames = frames;
        out.streams = 2;
        out.cause = Cause::storage_stall;
        out.first.seat = seat;
        out.evidence.no_data_ns = seat;
        return out;
    };
    const auto merged = merged_events(
        {event(1, 2'010 * kMs, 20), event(0, 2'000 * kMs, 10), event(1, 7'000 * kMs, 3)}, streams_at_24_fps(8));
    ASSERT_THAT(merged, SizeIs(2));
    EXPECT_EQ(merged[0].from_ns, 2'000 * kMs);
    EXPECT_EQ(merged[0].to_ns, 2'510 * kMs);
    EXPECT_EQ(merged[0].frames, 30u);
    EXPECT_EQ(merged[0].streams, 4u);
    EXPECT_EQ(merged[0].first.seat, 0u);
    EXPECT_EQ(merged[0].evidence.no_data_ns, 0) << "of the one that began first";
    EXPECT_EQ(merged[1].frames, 3u);
    // Two events of one computer that another's event joins: their streams are the same.
    const auto joined = merged_events(
        {event(0, 2'000 * kMs, 1), event(0, 2'900 * kMs, 1), event(1, 2'450 * kMs, 1)}, streams_at_24_fps(4));
    ASSERT_THAT(joined, SizeIs(1));
    EXPECT_EQ(joined[0].streams, 4u);
}

/// As on one computer: within 0.1 s or three frame periods, and within a second for a cause that lasts.
TEST(MissEvents, SeatsThatMissOneAfterTheOtherShareAnEventUpToAPause) {
    const auto events = [](std::int64_t pause_ns, Cause cause) {
        MissEvent first, second;
        first.to_ns = 500 * kMs;
        second.from_ns = first.to_ns + pause_ns;
        second.to_ns = second.from_ns + 500 * kMs;
        second.first.seat = 1;
        first.cause = second.cause = cause;
        return merged_events({first, second}, streams_at_24_fps(2)).size();
    };
    EXPECT_EQ(events(3 * kPeriodNs, Cause::storage_stall), 1u);
    EXPECT_EQ(events(4 * kPeriodNs, Cause::storage_stall), 2u);
    EXPECT_EQ(events(1'000 * kMs, Cause::bandwidth), 1u);
    EXPECT_EQ(events(1'100 * kMs, Cause::bandwidth), 2u);
}

TEST(MissEvents, ADocumentWithoutEventsHasThoseOfItsDrops) {
    const RunResult result = samples::does_not_play();
    const std::vector<MissEvent> events = events_of_drops(result);
    std::uint64_t frames = 0;
    for (const MissEvent& event : events) frames += event.frames;
    EXPECT_EQ(frames, result.drops.size());
    EXPECT_EQ(events.front().first.file, result.drops.back().file);
    EXPECT_FALSE(events.front().first.timecode.empty());
}

}  // namespace
}  // namespace streamsim::result
