// Runs that say nothing about a storage (injected faults, the null storage), and stalls that are two.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "evidence_samples.h"
#include "judge/judge.h"

namespace streamsim {
namespace {

using test::drop;
using test::fail;
using test::good_run;
using test::kMs;
using test::kPeriodNs;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kSecond = 1'000'000'000;

/// Everything that a reader is told.
std::string sentences(const Judgement& judgement) {
    const Verdict& verdict = judgement.verdict;
    std::string out = verdict.reason + "\n" + verdict.detail + "\n" + verdict.next;
    for (const CauseResult& cause : judgement.causes) out += "\n" + cause.summary + "\n" + cause.detail;
    return out;
}

void expect_no_storage(const Judgement& judgement) {
    EXPECT_NE(judgement.verdict.limit, Limit::storage);
    for (const CauseResult& cause : judgement.causes) EXPECT_NE(cause.limit, Limit::storage) << cause.summary;
    EXPECT_THAT(sentences(judgement), Not(HasSubstr("storage")));
    EXPECT_THAT(sentences(judgement), Not(HasSubstr("gave no data")));
}

Evidence stalled_by_faults() {
    Evidence evidence = good_run();
    evidence.faults_injected = true;
    drop(evidence, 12, &ReasonCounts::late);
    evidence.silences.push_back({30 * kPeriodNs - 9 * kPeriodNs, 42 * kPeriodNs});
    return evidence;
}

TEST(InjectedFaults, HaveTheFramesThatTheyMetAndThoseBehindThem) {
    Evidence evidence = stalled_by_faults();
    evidence.missed[0].injected = true;  // the others waited for its place
    const Judgement judgement = judge(evidence);
    EXPECT_THAT(judgement.booked, Each(Cause::injected_fault));
    EXPECT_EQ(judgement.verdict.limit, Limit::unknown);
    EXPECT_THAT(judgement.verdict.reason, HasSubstr("injected faults: 12 frames"));
    EXPECT_THAT(judgement.verdict.next, HasSubstr("without the injected faults"));
    expect_no_storage(judgement);
}

TEST(InjectedFaults, DoNotHaveFramesThatTheyDidNotMeetNorHasTheStorage) {
    Evidence evidence = stalled_by_faults();
    drop(evidence, 3, &ReasonCounts::late);
    for (std::size_t i = 12; i < 15; ++i) {  // far from the others
        evidence.missed[i].slot += 500;
        evidence.missed[i].due_ns += 500 * kPeriodNs;
    }
    evidence.missed[5].injected = true;
    evidence.as_played = ProbeResult{"", 2, 1 << 20, 8, 100e6};
    const Judgement judgement = judge(evidence);
    ASSERT_EQ(judgement.causes.size(), 2u);
    EXPECT_EQ(judgement.causes[0].cause, Cause::injected_fault);
    EXPECT_EQ(judgement.causes[0].frames, 12u);
    EXPECT_EQ(judgement.causes[1].cause, Cause::unknown);
    EXPECT_THAT(judgement.causes[1].summary,
                HasSubstr("3 frames were not there when due, and no injected fault"));
    expect_no_storage(judgement);
}

TEST(InjectedFaults, AreNotTheCauseWhereThisComputerWas) {
    Evidence evidence = good_run();
    evidence.faults_injected = true;
    drop(evidence, 60, &ReasonCounts::client);
    evidence.loop_stalled_ns = 3 * kSecond;
    const Judgement judgement = judge(evidence);
    EXPECT_THAT(judgement.booked, Each(Cause::client_scheduling));
    EXPECT_EQ(judgement.verdict.limit, Limit::client_scheduling);
    expect_no_storage(judgement);
}

TEST(InjectedFaults, OfFilesAreNoDamagedMedia) {
    Evidence evidence = good_run();
    evidence.faults_injected = true;
    fail(evidence, 2, &ReasonCounts::short_read);
    fail(evidence, 2, &ReasonCounts::error);
    for (MissedFrame& missed : evidence.missed) missed.injected = true;
    const Judgement judgement = judge(evidence);
    EXPECT_THAT(judgement.booked, Each(Cause::injected_fault));
    EXPECT_EQ(judgement.verdict.limit, Limit::unknown);
    expect_no_storage(judgement);
}

TEST(InjectedFaults, OverAModelAreNotTheModelsStorage) {
    Evidence evidence = stalled_by_faults();
    evidence.modelled = true;
    evidence.parts.push_back({PartKind::drive, "drive 3 of node 1", 0.97, 4, 0, 0});
    Judgement judgement = judge(evidence);  // a fault inside the model: no operation says that it was met
    EXPECT_THAT(judgement.booked, Each(Cause::model_part));
    EXPECT_EQ(judgement.verdict.limit, Limit::unknown);
    for (MissedFrame& missed : evidence.missed) missed.injected = true;
    judgement = judge(evidence);
    EXPECT_THAT(judgement.booked, Each(Cause::injected_fault));
    expect_no_storage(judgement);
}

TEST(InjectedFaults, AreNamedWhereTheRunPasses) {
    Evidence evidence = good_run();
    evidence.faults_injected = true;
    EXPECT_THAT(judge(evidence).verdict.reason, HasSubstr("with the faults that were injected"));
    drop(evidence, 2, &ReasonCounts::late);
    evidence.totals.startup_drops = 2;
    for (MissedFrame& missed : evidence.missed) missed.startup = true;
    const Judgement judgement = judge(evidence);
    EXPECT_TRUE(judgement.verdict.pass);
    EXPECT_EQ(judgement.verdict.limit, Limit::none);
    expect_no_storage(judgement);
}

TEST(NullStorage, LeavesThisComputerAlone) {
    Evidence evidence = stalled_by_faults();
    evidence.faults_injected = false;
    evidence.null_storage = true;
    const Judgement judgement = judge(evidence);
    EXPECT_THAT(judgement.booked, Each(Cause::client_scheduling));
    EXPECT_EQ(judgement.verdict.limit, Limit::client_scheduling);
    expect_no_storage(judgement);
}

/// 12 frames missed in each of two times without a byte, 20 seconds apart.
Evidence twice_silent() {
    Evidence evidence = good_run();
    drop(evidence, 24, &ReasonCounts::late);
    for (std::size_t i = 12; i < 24; ++i) {
        evidence.missed[i].slot += 480;
        evidence.missed[i].due_ns += 480 * kPeriodNs;
        *evidence.missed[i].submitted_ns += 480 * kPeriodNs;
        *evidence.missed[i].delivered_ns += 480 * kPeriodNs;
    }
    const std::int64_t first = evidence.missed[0].due_ns - 8 * kPeriodNs;
    const std::int64_t second = evidence.missed[12].due_ns - 8 * kPeriodNs;
    evidence.silences.push_back({first, first + 800 * kMs});
    evidence.silences.push_back({second, second + 700 * kMs});
    return evidence;
}

TEST(Stalls, TwoAreTwo) {
    const Judgement judgement = judge(twice_silent());
    EXPECT_THAT(judgement.booked, Each(Cause::storage_stall));
    EXPECT_THAT(judgement.verdict.reason,
                HasSubstr("the storage gave no data 2 times, for 800.0 ms and 700.0 ms: 24 frames"));
    EXPECT_THAT(judgement.verdict.detail, HasSubstr("all went on after each"));
}

TEST(Stalls, ThatNoFrameWasWantedInAreNotTold) {
    Evidence evidence = twice_silent();
    evidence.missed.resize(12);
    evidence.totals.dropped = 12;
    evidence.totals.on_time += 12;
    evidence.reasons.late = 12;
    EXPECT_THAT(judge(evidence).verdict.reason, HasSubstr("the storage gave no data for 800.0 ms: 12"));
}

TEST(Stalls, OfInjectedFaultsAreTwoAsWell) {
    Evidence evidence = twice_silent();
    evidence.faults_injected = true;
    evidence.missed[0].injected = evidence.missed[12].injected = true;
    const Judgement judgement = judge(evidence);
    EXPECT_THAT(judgement.verdict.detail,
                HasSubstr("no stream received data 2 times, for 800.0 ms and 700.0 ms"));
    expect_no_storage(judgement);
}

}  // namespace
}  // namespace streamsim
