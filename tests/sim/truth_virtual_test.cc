// The player against arithmetic: random schedules of delays and errors, every slot compared with the predictor.
#include <cerrno>

#include "base/prng.h"
#include "sim/predictor.h"
#include "unit/play/player_fixture.h"

namespace streamsim::test {
namespace {

constexpr std::uint64_t kSlots = 2000;
constexpr int kRuns = 240;  // 480,000 frames

struct Schedule {
    Play play;
    predictor::Plan plan;
};

predictor::Policy policy_of(play::OnMiss on_miss) {
    switch (on_miss) {
        case play::OnMiss::drop: return predictor::Policy::drop;
        case play::OnMiss::skip: return predictor::Policy::skip;
        case play::OnMiss::hold: return predictor::Policy::hold;
        case play::OnMiss::stall: return predictor::Policy::stall;
    }
    return predictor::Policy::drop;
}

predictor::Kind kind_of(FrameKind kind) {
    switch (kind) {
        case FrameKind::on_time: return predictor::Kind::on_time;
        case FrameKind::late: return predictor::Kind::late;
        case FrameKind::dropped: return predictor::Kind::dropped;
        default: return predictor::Kind::failed;
    }
}

/// The delay and the error that the fault rules give to one slot. An error reaches the reader at once.
predictor::ReadFate fate(const storage::FaultPlan& faults, std::uint64_t slot) {
    predictor::ReadFate fate;
    for (const storage::FaultRule& rule : faults.rules) {
        if (!rule.slots.contains(slot)) continue;
        fate.service_ns += rule.delay.ns;
        fate.fails = fate.fails || rule.error != 0;
    }
    return fate;
}

void make(std::uint64_t seed, Schedule& schedule) {
    Prng prng(seed);
    Play& play = schedule.play;
    const FrameRate rates[] = {{24, 1}, {24000, 1001}, {30, 1}, {60000, 1001}};
    const play::OnMiss policies[] = {play::OnMiss::drop, play::OnMiss::hold, play::OnMiss::stall,
                                     play::OnMiss::skip};
    play.rate = rates[prng.below(4)];
    play.options.on_miss = policies[seed % 4];
    play.options.slots = kSlots;
    play.options.readahead = static_cast<std::uint32_t>(1 + prng.below(8));
    play.options.inflight = static_cast<std::uint32_t>(1 + prng.below(4));
    play.options.pattern =
        prng.below(2) == 0 ? play::AccessPattern::on_demand : play::AccessPattern::filename_prefetch;
    play.clip_frames = 1 + prng.below(100);
    if (prng.below(3) > 0) {
        play.reads_take(microseconds(static_cast<std::int64_t>(prng.below(45'000))));
    } else if (prng.below(2) == 0) {  // longer than many a read-ahead
        play.reads_take(microseconds(static_cast<std::int64_t>(prng.below(300'000))));
    }
    const std::uint64_t rules = 5 + prng.below(40);
    for (std::uint64_t i = 0; i < rules; ++i) {
        storage::FaultRule rule;
        rule.operation = storage::FaultRule::Operation::read;
        rule.slots = {prng.below(kSlots), UINT64_MAX, 1 + prng.below(400)};
        if (prng.below(10) == 0) rule.slots.last = rule.slots.first + prng.below(30);
        rule.delay = nanoseconds(static_cast<std::int64_t>(prng.below(1ull << (18 + prng.below(12)))));
        play.faults.rules.push_back(rule);
    }
    if (prng.below(3) == 0) play.fail({prng.below(50), UINT64_MAX, 1 + prng.below(90)}, EIO);
    schedule.plan.rate_num = play.rate.num;
    schedule.plan.rate_den = play.rate.den;
    schedule.plan.slots = kSlots;
    schedule.plan.readahead = play.options.readahead;
    schedule.plan.inflight = play.options.inflight;
    schedule.plan.policy = policy_of(play.options.on_miss);
    schedule.plan.read = [&faults = play.faults](std::uint64_t slot, std::int64_t) {
        return fate(faults, slot);
    };
}

std::int64_t ns_or_never(const std::optional<std::int64_t>& ns) {
    return ns.value_or(Instant::never().ns);
}

class TruthInVirtualTime : public testing::TestWithParam<int> {};

TEST_P(TruthInVirtualTime, EverySlotIsWhatArithmeticSays) {
    for (int run = 0; run < kRuns / 12; ++run) {
        const auto seed = static_cast<std::uint64_t>(GetParam() * 1000 + run);
        SCOPED_TRACE("seed " + std::to_string(seed));
        Schedule schedule;
        make(seed, schedule);
        schedule.play.run();
        const predictor::Prediction truth = predictor::predict(schedule.plan);
        ASSERT_EQ(schedule.play.frames.size(), kSlots);
        EXPECT_EQ(schedule.play.play_start.ns, truth.play_start_ns);
        EXPECT_EQ(schedule.play.counts.stalls, truth.stalls);
        EXPECT_EQ(schedule.play.counts.stall_ns, truth.stall_ns);
        for (std::uint64_t slot = 0; slot < kSlots; ++slot) {
            SCOPED_TRACE("slot " + std::to_string(slot));
            const FrameOutcome& seen = schedule.play.frames[slot];
            const predictor::Slot& said = truth.slots[slot];
            ASSERT_EQ(predictor::to_string(kind_of(seen.kind)), predictor::to_string(said.kind));
            ASSERT_EQ(seen.deadline.ns, said.deadline_ns);
            ASSERT_EQ(seen.scheduled.ns, said.scheduled_ns);
            ASSERT_EQ(seen.submitted.ns, ns_or_never(said.submitted_ns));
            ASSERT_EQ(seen.completed.ns, ns_or_never(said.completed_ns));
            ASSERT_NE(seen.reason, DropReason::client) << "in virtual time the client is never late";
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, TruthInVirtualTime, testing::Range(0, 12));

}  // namespace
}  // namespace streamsim::test
