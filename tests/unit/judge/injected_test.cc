// Runs that say nothing about a storage (injected faults, the null storage), and stalls that are two.
#include <gmock/gmock.h>

#include <cerrno>
#include <string>
#include <vector>

#include "evidence_samples.h"
#include "judge/judge.h"

namespace streamsim::judge {
namespace {

using test::drop;
using test::fail;
using test::good_run;
using test::kMs;
using test::kPeriodNs;
using test::kSecond;
using test::stall;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

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
    evidence.delivery_gaps.push_back({30 * kPeriodNs - 9 * kPeriodNs, 42 * kPeriodNs});
    return evidence;
}

TEST(InjectedFaults, HaveTheFramesThatTheyMetAndThoseBehindThem) {
    Evidence evidence = stalled_by_faults();
    evidence.missed[0].injected = true;  // the others waited for its in-flight slot
    evidence.streams[0].faults.push_back({22 * kPeriodNs, 34 * kPeriodNs});
    const Judgement judgement = judge(evidence);
    EXPECT_THAT(judgement.missed_causes, Each(Cause::injected_fault));
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
        *evidence.missed[i].submitted_ns += 500 * kPeriodNs;
        *evidence.missed[i].delivered_ns += 500 * kPeriodNs;
    }
    evidence.missed[5].injected = true;
    evidence.streams[0].faults.push_back({22 * kPeriodNs, 34 * kPeriodNs});
    evidence.as_played = ProbeResult{"", 2, 1 << 20, 8, 100e6};
    const Judgement judgement = judge(evidence);
    ASSERT_EQ(judgement.causes.size(), 2u);
    EXPECT_EQ(judgement.causes[0].cause, Cause::injected_fault);
    EXPECT_EQ(judgement.causes[0].frames, 12u);
    EXPECT_EQ(judgement.causes[1].cause, Cause::unknown);
    EXPECT_THAT(judgement.causes[1].summary, HasSubstr("3 frames were late or dropped, and no injected fault"));
    expect_no_storage(judgement);
}

/// By slot, with one fault that held the stream back while its slots 100 to 112 were due.
std::vector<std::uint64_t> slots_of_faults(Evidence evidence, const std::vector<std::uint64_t>& slots) {
    evidence.faults_injected = true;
    drop(evidence, slots.size(), &ReasonCounts::late);
    for (std::size_t i = 0; i < slots.size(); ++i)
        evidence.missed[i] = test::missed(slots[i], DropReason::late);
    evidence.streams[0].faults.push_back({100 * kPeriodNs, 112 * kPeriodNs});
    const Judgement judgement = judge(evidence);
    std::vector<std::uint64_t> out;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        EXPECT_TRUE(judgement.missed_causes[i] == Cause::injected_fault ||
                    judgement.missed_causes[i] == Cause::unknown);
        if (judgement.missed_causes[i] == Cause::injected_fault) out.push_back(slots[i]);
    }
    return out;
}

TEST(InjectedFaults, HaveNoFrameOutsideTheirTimeHoweverNearAMissedOneIs) {
    // A storage that misses every fourth frame, whatever is injected: each is within the read-ahead of the
    // next.
    std::vector<std::uint64_t> slots;
    for (std::uint64_t slot = 60; slot < 200; slot += 4) slots.push_back(slot);
    EXPECT_THAT(slots_of_faults(good_run(), slots), ElementsAre(100, 104, 108, 112, 116, 120))
        << "120 is the last whose read window, of 8 frames, begins before the fault is over";
}

TEST(InjectedFaults, HaveTheirBacklogForAsLongAsTheyLasted) {
    std::vector<std::uint64_t> slots, behind;
    for (std::uint64_t slot = 105; slot < 160; ++slot) slots.push_back(slot);
    for (std::uint64_t slot = 105; slot <= 132; ++slot) behind.push_back(slot);
    EXPECT_EQ(slots_of_faults(good_run(), slots), behind) << "112 and 12 frames of backlog, and the read-ahead";
    slots = {105, 106, 121, 122};
    EXPECT_THAT(slots_of_faults(good_run(), slots), ElementsAre(105, 106)) << "those between were on time";
}

TEST(InjectedFaults, HaveAFrameThatWasAskedForOrDeliveredInTheirTime) {
    const auto cause_of = [](std::int64_t submitted, std::int64_t delivered) {
        Evidence evidence = good_run();
        evidence.faults_injected = true;
        drop(evidence, 1, &ReasonCounts::late);  // slot 30: its read window is 22 to 30
        evidence.missed[0].submitted_ns = submitted * kPeriodNs;
        evidence.missed[0].delivered_ns = delivered * kPeriodNs;
        evidence.streams[0].faults = {{10 * kPeriodNs, 20 * kPeriodNs}, {40 * kPeriodNs, 50 * kPeriodNs}};
        return judge(evidence).missed_causes[0];
    };
    EXPECT_EQ(cause_of(22, 39), Cause::unknown);
    EXPECT_EQ(cause_of(19, 39), Cause::injected_fault) << "a recorder, or a search, asks early";
    EXPECT_EQ(cause_of(22, 41), Cause::injected_fault) << "it was late already, and came later for the fault";
}

TEST(InjectedFaults, HaveAFrameThatTheyKeptFromBeingAskedFor) {
    for (const std::int64_t due : {34, 36, 37}) {
        Evidence evidence = good_run();
        evidence.faults_injected = true;
        evidence.missed.push_back(test::missed(static_cast<std::uint64_t>(due), DropReason::late));
        evidence.totals.dropped = evidence.reasons.late = 1;
        evidence.missed[0].submitted_ns.reset();
        evidence.missed[0].delivered_ns.reset();
        evidence.streams[0].faults = {{20 * kPeriodNs, 28 * kPeriodNs}};
        EXPECT_EQ(judge(evidence).missed_causes[0], due <= 36 ? Cause::injected_fault : Cause::unknown) << due;
    }
}

TEST(InjectedFaults, HaveWhatADecoderWasLateForWhenTheyMetIt) {
    Evidence evidence = good_run();
    evidence.faults_injected = true;
    evidence.decode_cpu_ns = 10 * kMs;
    drop(evidence, 2, &ReasonCounts::client);
    evidence.missed[0].injected = true;
    EXPECT_THAT(judge(evidence).missed_causes, ElementsAre(Cause::injected_fault, Cause::client_cpu));
}

TEST(InjectedFaults, OfOneStreamHaveNoFrameOfAnother) {
    Evidence evidence = good_run();
    evidence.faults_injected = true;
    evidence.streams.push_back(evidence.streams[0]);
    drop(evidence, 4, &ReasonCounts::late);
    for (std::size_t i = 2; i < 4; ++i) evidence.missed[i].stream = 1;
    evidence.missed[0].injected = true;
    evidence.streams[0].faults.push_back({25 * kPeriodNs, 35 * kPeriodNs});
    EXPECT_THAT(judge(evidence).missed_causes,
                ElementsAre(Cause::injected_fault, Cause::injected_fault, Cause::unknown, Cause::unknown));
}

TEST(InjectedFaults, ThatFailAFrameHoldNoOtherUp) {
    Evidence evidence = good_run();
    evidence.faults_injected = true;
    drop(evidence, 3, &ReasonCounts::late);
    evidence.missed[1].injected = true;
    EXPECT_THAT(judge(evidence).missed_causes,
                ElementsAre(Cause::unknown, Cause::injected_fault, Cause::unknown));
}

/// A piece of a container that two frames share is read for one of them.
TEST(InjectedFaults, HaveTheFailedFramesThatShareAPieceWithTheirs) {
    Evidence evidence = good_run();
    evidence.faults_injected = true;
    fail(evidence, 4, &ReasonCounts::error);
    evidence.missed[1].slot = evidence.missed[0].slot + 1;
    evidence.missed[2].slot = evidence.missed[0].slot + 2;
    evidence.missed[3].slot = evidence.missed[0].slot + 9;
    evidence.missed[1].injected = true;
    EXPECT_THAT(judge(evidence).missed_causes, ElementsAre(Cause::injected_fault, Cause::injected_fault,
                                                           Cause::injected_fault, Cause::unknown));
}

TEST(InjectedFaults, AreNotTheCauseWhereThisComputerWas) {
    Evidence evidence = good_run();
    evidence.faults_injected = true;
    drop(evidence, 60, &ReasonCounts::client);
    evidence.loop_stalled_ns = 3 * kSecond;
    const Judgement judgement = judge(evidence);
    EXPECT_THAT(judgement.missed_causes, Each(Cause::client_scheduling));
    EXPECT_EQ(judgement.verdict.limit, Limit::client_scheduling);
    expect_no_storage(judgement);
}

TEST(InjectedFaults, SayWhatBecameOfTheFrames) {
    Evidence evidence = good_run();
    evidence.faults_injected = true;
    const auto reason = [&evidence] {
        for (MissedFrame& missed : evidence.missed) missed.injected = true;
        return judge(evidence).verdict.reason;
    };
    fail(evidence, 24, &ReasonCounts::error);
    EXPECT_EQ(reason(), "injected faults: 24 frames failed");
    evidence.totals.failed = 30;  // beyond the table
    EXPECT_EQ(reason(), "injected faults: 30 frames failed");
    stall(evidence, 2, DropReason::late);
    EXPECT_THAT(reason(), HasSubstr("injected faults: 30 frames failed, and play stalled 2 times for "));
    drop(evidence, 3, &ReasonCounts::late);
    EXPECT_THAT(reason(), HasSubstr(": 3 frames were late or dropped, 30 frames failed, and play stalled 2 "));
}

TEST(InjectedFaults, OfFilesAreNoDamagedMedia) {
    Evidence evidence = good_run();
    evidence.faults_injected = true;
    fail(evidence, 2, &ReasonCounts::short_read);
    fail(evidence, 2, &ReasonCounts::error);
    for (MissedFrame& missed : evidence.missed) missed.injected = true;
    const Judgement judgement = judge(evidence);
    EXPECT_THAT(judgement.missed_causes, Each(Cause::injected_fault));
    EXPECT_EQ(judgement.verdict.limit, Limit::unknown);
    expect_no_storage(judgement);
}

TEST(InjectedFaults, OfAResourceAreNoShortageOfThisComputer) {
    Evidence evidence = good_run();
    evidence.faults_injected = true;
    fail(evidence, 5, &ReasonCounts::error);
    for (MissedFrame& missed : evidence.missed) missed.shortage = ENOMEM;
    evidence.missed[0].shortage = EMFILE;
    evidence.missed[0].injected = evidence.missed[3].injected = true;
    evidence.missed[1].slot = 100;
    evidence.missed[2].slot = 200;  // the one before a frame that failed by a fault: they share a piece
    evidence.missed[3].slot = 201;
    evidence.missed[4].slot = 300;
    EXPECT_THAT(judge(evidence).missed_causes,
                ElementsAre(Cause::injected_fault, Cause::client_memory, Cause::injected_fault,
                            Cause::injected_fault, Cause::client_memory));
}

TEST(InjectedFaults, OverAModelAreNotTheModelsStorage) {
    Evidence evidence = stalled_by_faults();
    evidence.modelled = true;
    evidence.parts.push_back({PartKind::drive, "drive 3 of node 1", 0.97, 4, 0, 0});
    Judgement judgement = judge(evidence);  // a fault inside the model: no operation says that it was met
    EXPECT_THAT(judgement.missed_causes, Each(Cause::model_part));
    EXPECT_EQ(judgement.verdict.limit, Limit::unknown);
    for (MissedFrame& missed : evidence.missed) missed.injected = true;
    judgement = judge(evidence);
    EXPECT_THAT(judgement.missed_causes, Each(Cause::injected_fault));
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
    EXPECT_THAT(judgement.missed_causes, Each(Cause::client_scheduling));
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
    evidence.delivery_gaps.push_back({first, first + 800 * kMs});
    evidence.delivery_gaps.push_back({second, second + 700 * kMs});
    return evidence;
}

TEST(Stalls, TwoAreTwo) {
    const Judgement judgement = judge(twice_silent());
    EXPECT_THAT(judgement.missed_causes, Each(Cause::storage_stall));
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
    for (const DeliveryGap& each : evidence.delivery_gaps)
        evidence.streams[0].faults.push_back({each.from_ns, each.to_ns});
    const Judgement judgement = judge(evidence);
    EXPECT_THAT(judgement.verdict.detail,
                HasSubstr("no stream received data 2 times, for 800.0 ms and 700.0 ms"));
    expect_no_storage(judgement);
}

}  // namespace
}  // namespace streamsim::judge
