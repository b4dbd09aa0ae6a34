// The buffer of a user, by exact arithmetic: 1,000 bytes/s consume a byte in a millisecond.
#include "load/buffer.h"

#include <gtest/gtest.h>

#include "unit/load/meter_rig.h"

namespace streamsim::test {
namespace {

using load::BufferLevel;

constexpr std::int64_t kMs = 1'000'000;

Instant at_ms(std::int64_t ms) {
    return Instant{} + milliseconds(ms);
}

BufferSpec spec(std::int64_t length_ms, std::int64_t threshold_ms) {
    return {1000, milliseconds(length_ms), milliseconds(threshold_ms)};
}

TEST(BufferLevel, NeedsTheLongestDeficit) {
    BufferLevel level(spec(1000, 0), at_ms(0));
    level.completed(at_ms(100), 100);  // just in time for all that was consumed
    level.completed(at_ms(250), 150);
    EXPECT_EQ(level.needed_ns(), 150 * kMs);
    level.completed(at_ms(550), 100);  // 300 were consumed since
    EXPECT_EQ(level.needed_ns(), 300 * kMs);
    level.completed(at_ms(650), 300);  // 200 remained, and 100 more were consumed
    EXPECT_EQ(level.needed_ns(), 300 * kMs);
    level.end(at_ms(1000));
    EXPECT_EQ(level.needed_ns(), 350 * kMs) << "the time until the end counts";
}

TEST(BufferLevel, KeepsNoMoreThanItHolds) {
    BufferLevel level(spec(1000, 0), at_ms(0));
    level.completed(at_ms(10), 1'000'000);  // far more than was consumed: the rest is not kept
    level.completed(at_ms(410), 1);
    EXPECT_EQ(level.needed_ns(), 400 * kMs);
}

TEST(BufferLevel, CountsHowOftenAndHowLongItIsBelowTheThresholdAndDry) {
    BufferLevel level(spec(500, 200), at_ms(0));
    level.completed(at_ms(300), 300);  // down to 200: at the threshold, not below it
    EXPECT_EQ(level.below_times(), 0u);
    level.completed(at_ms(701), 101);  // down to 99, then up to 200 again
    EXPECT_EQ(level.below_times(), 1u);
    EXPECT_EQ(level.below_ns(), 101 * kMs);
    EXPECT_EQ(level.dry_times(), 0u);
    level.completed(at_ms(1201), 300);  // 500 more: 300 below 0, and still 0 after
    EXPECT_EQ(level.below_times(), 2u);
    EXPECT_EQ(level.below_ns(), (101 + 500) * kMs);
    EXPECT_EQ(level.dry_times(), 1u);
    EXPECT_EQ(level.dry_ns(), 300 * kMs);
    level.completed(at_ms(1301), 1);  // never above the threshold in between: the same time below it
    EXPECT_EQ(level.below_times(), 2u);
    EXPECT_EQ(level.dry_times(), 2u) << "it was at 0 for a moment, which is not below";
    EXPECT_EQ(level.needed_ns(), 800 * kMs);
}

TEST(BufferLevel, IsExactForRatesThatDivideNothing) {
    BufferLevel level({3, seconds(10), Duration{}}, at_ms(0));
    // Each block is worth a third of a second: 999 of them and 333 s leave nothing over.
    for (int i = 1; i <= 999; ++i) level.completed(Instant{} + Duration{std::int64_t{i} * 333'333'333}, 1);
    EXPECT_EQ(level.needed_ns(), 333'333'333);
    EXPECT_EQ(level.deficit_ns(Instant{} + Duration{999ll * 333'333'333 + 1}), 1);
    BufferLevel late({3, seconds(10), Duration{}}, at_ms(0));
    for (int i = 1; i <= 999; ++i) late.completed(Instant{} + Duration{std::int64_t{i} * 333'333'334}, 1);
    // 333,333,334 ns first, then two thirds of a nanosecond more with each of the 998 others, rounded up.
    EXPECT_EQ(late.needed_ns(), 333'333'334 + 666);
}

TEST(MeterBuffer, IsOfEachUserFromItsBegin) {
    Rig rig;
    rig.weigh(LoadOperation::read, 1);
    rig.spec.users = 2;
    rig.spec.one_more_every = milliseconds(100);
    rig.spec.blocks = {{4096, 1}};
    rig.spec.buffer = BufferSpec{4'096'000, milliseconds(50), milliseconds(20)};  // a block each millisecond
    rig.storage.fixed = milliseconds(1);
    rig.storage.stall_from = rig.start() + milliseconds(200);
    rig.storage.stall_to = rig.start() + milliseconds(260);
    const MeterResult& result = rig.run(milliseconds(400));
    ASSERT_TRUE(result.buffer);
    // Reads keep up exactly until the stall, which takes 60 ms and the read itself.
    EXPECT_EQ(result.buffer->needed_ns, 61 * kMs);
    EXPECT_EQ(result.buffer->users_below, 2u);
    // The reads after the stall make good for nothing: from 30 ms into it a buffer of 50 ms is below 20 ms.
    EXPECT_EQ(result.buffer->below_times, 2u);
    EXPECT_EQ(result.buffer->below_ns, 2 * (400 - 230) * kMs);
    EXPECT_EQ(result.buffer->dry_times, 2u);
    EXPECT_EQ(result.buffer->dry_ns, 2 * (400 - 250) * kMs);
    std::int64_t most = 0;
    for (const OperationRow& row : rig.meter->rows()) {
        ASSERT_TRUE(row.deficit_ns);
        most = std::max(most, *row.deficit_ns);
    }
    EXPECT_EQ(most, 61 * kMs);
}

/// 16 blocks, of which a millisecond consumes one.
Rig& reads_once(Rig& rig) {
    rig.weigh(LoadOperation::read, 1);
    rig.spec.read_once = true;
    rig.spec.blocks = {{64 << 10, 1}};
    rig.spec.set = {1, 1 << 20, 1, 0, WorkingSet::Of::user};
    rig.spec.buffer = BufferSpec{(64 << 10) * 1000, milliseconds(50), milliseconds(20)};
    rig.storage.fixed = milliseconds(1);
    return rig;
}

TEST(MeterBuffer, LastsUntilItsUserHasReadAll) {
    Rig rig;
    reads_once(rig).spec.users = 2;
    rig.spec.one_more_every = milliseconds(500);
    const MeterResult& result = rig.run(seconds(10));
    EXPECT_EQ(result.wall_ns, 516 * kMs);
    EXPECT_EQ(result.buffer->needed_ns, kMs) << "the first user needs nothing after 16 ms";
    EXPECT_EQ(result.buffer->below_times, 0u);
    EXPECT_EQ(result.buffer->dry_times, 0u);
}

TEST(MeterBuffer, CountsWhatHasNotComeByTheEnd) {
    Rig rig;
    reads_once(rig).spec.inflight = 17;  // all reads begin at once, and no other does
    rig.storage.stall_from = rig.start();
    rig.storage.stall_to = rig.start() + seconds(1);
    const MeterResult& result = rig.run(milliseconds(400));
    EXPECT_EQ(result.buffer->needed_ns, 400 * kMs);
    EXPECT_EQ(result.buffer->dry_times, 1u);
}

TEST(MeterBuffer, IsNotThereUnlessAskedFor) {
    Rig rig;
    rig.weigh(LoadOperation::read, 1);
    EXPECT_FALSE(rig.run(milliseconds(50)).buffer);
    for (const OperationRow& row : rig.meter->rows()) EXPECT_FALSE(row.deficit_ns);
}

}  // namespace
}  // namespace streamsim::test
