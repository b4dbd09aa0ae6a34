// The cause that each missed frame is attributed to, from its evidence.
#include <gmock/gmock.h>

#include <functional>
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
using test::missed;
using test::read_again;
using testing::HasSubstr;

ProbeResult gives(double bytes_per_s) {
    return {"", 2, 1 << 20, 8, bytes_per_s};
}

/// The shares of each second that a computer spends; watched() makes a sample of them every 200 ms.
struct Computer {
    double busy = 0.1;    // of both processors
    double waiting = 0;   // of the thread that waits most
    double pressure = 0;  // of the time some task waits
    std::uint64_t received_per_s = 0;
    std::optional<std::uint64_t> link_bits_per_s;
    std::optional<std::int64_t> rtt_ns;
    std::optional<std::int64_t> rtt_min_ns;  // after play
};

SystemHistory watched(const Computer& computer, int seconds = 50) {
    SystemHistory history;
    for (int i = 0; i <= seconds * 5; ++i) {
        SystemSample sample;
        sample.at_ns = i * 200 * kMs;
        const auto part = [i](double share) { return static_cast<std::int64_t>(share * i * 200e6); };
        sample.run_queue_wait_ns = part(computer.waiting);
        sample.cpu_pressure_ns = part(computer.pressure);
        sample.cpu_ticks = static_cast<std::uint64_t>(i) * 40;
        sample.idle_ticks = static_cast<std::uint64_t>((1 - computer.busy) * i * 40);
        sample.links.push_back(
            {"eth0", computer.link_bits_per_s, computer.received_per_s * static_cast<std::uint64_t>(i) / 5});
        sample.rtt_ns = i == seconds * 5 && computer.rtt_min_ns ? computer.rtt_min_ns : computer.rtt_ns;
        history.push_back(std::move(sample));
    }
    return history;
}

struct CauseCase {
    const char* name;
    std::function<void(Evidence&)> change;
    Cause cause;
    Limit limit;
    const char* says;  // in reason or detail
};

const std::vector<CauseCase> kCauseCases = {
    {"more_in_flight_gives_more",
     [](Evidence& e) {
         drop(e, 200, &ReasonCounts::late);
         e.as_played = gives(100e6);
         e.more_in_flight = gives(380e6);
     },
     Cause::slow_reads, Limit::storage, "more in flight would help"},
    {"more_in_flight_gives_no_more",
     [](Evidence& e) {
         drop(e, 200, &ReasonCounts::late);
         e.as_played = gives(100e6);
         e.more_in_flight = gives(101e6);
     },
     Cause::bandwidth, Limit::storage, "it gives 100.0 MB/s, and 400.0 MB/s are required"},
    {"more_in_flight_was_not_measured",
     [](Evidence& e) {
         drop(e, 200, &ReasonCounts::late);
         e.as_played = gives(100e6);
     },
     Cause::slow_reads, Limit::storage, "read without deadlines the storage gives 100.0 MB/s"},
    {"more_in_flight_is_not_tried",
     [](Evidence& e) {
         drop(e, 200, &ReasonCounts::late);
         e.as_played = ProbeResult{"", 16, 1 << 20, 8, 100e6};
     },
     Cause::bandwidth, Limit::storage, "its bandwidth is the limit; read without deadlines"},
    {"enough_on_average",
     [](Evidence& e) {
         drop(e, 20, &ReasonCounts::late);
         e.as_played = gives(900e6);
         e.more_in_flight = gives(910e6);
     },
     Cause::slow_reads, Limit::storage, "not at every moment"},
    {"asked_for_less_than_is_usual",
     [](Evidence& e) {
         drop(e, 200, &ReasonCounts::late);
         e.as_played = gives(100e6);
         e.usual = gives(420e6);
     },
     Cause::too_little_in_flight, Limit::client_scheduling, "has too little in flight"},
    {"the_usual_is_not_enough_either",
     [](Evidence& e) {
         drop(e, 200, &ReasonCounts::late);
         e.as_played = gives(100e6);
         e.usual = gives(220e6);
         e.more_in_flight = gives(380e6);
     },
     Cause::slow_reads, Limit::storage, "more in flight would help"},
    {"pieces_too_small",
     [](Evidence& e) {
         drop(e, 200, &ReasonCounts::late);
         e.io_size = 4096;
         e.as_played = gives(100e6);
         e.larger_reads = gives(900e6);
     },
     Cause::too_small_reads, Limit::client_scheduling, "pieces that are too small (4 KiB)"},
    {"pieces_too_small_for_this_computer",
     [](Evidence& e) {
         drop(e, 200, &ReasonCounts::client);
         e.cpu_percent = 99;
         e.io_size = 4096;
         e.as_played = gives(100e6);
         e.larger_reads = gives(900e6);
     },
     Cause::too_small_reads, Limit::client_scheduling, "larger I/O size"},
    {"opening_takes_longer_than_reading",
     [](Evidence& e) {
         drop(e, 200, &ReasonCounts::late);
         for (MissedFrame& each : e.missed) {
             each.open_ns = 300 * kMs;
             each.read_ns = 20 * kMs;
         }
     },
     Cause::slow_opens, Limit::storage, "opening files takes too long"},
    {"one_frame_is_slow_again_when_it_is_read_alone",
     [](Evidence& e) {
         drop(e, 1, &ReasonCounts::late);
         read_again(e, {30}, 900 * kMs);
     },
     Cause::slow_file, Limit::media, "slow in one place"},
    {"frames_that_were_held_up_by_a_slow_one_are_its",
     [](Evidence& e) {
         drop(e, 6, &ReasonCounts::late);
         test::deliver(e.missed[2], 2 * kSecond);
         read_again(e, {32}, 900 * kMs);
     },
     Cause::slow_file, Limit::media, "6 frames"},
    {"a_frame_that_is_fine_when_it_is_read_alone_is_not_the_medias",
     [](Evidence& e) {
         drop(e, 1, &ReasonCounts::late);
         read_again(e, {30}, 3 * kMs);
     },
     Cause::slow_reads, Limit::storage, "did not keep up"},
    {"slow_on_each_pass_where_nothing_was_read_again",
     [](Evidence& e) {
         e.streams.front().pass_slots = 250;
         for (int pass = 0; pass < 4; ++pass) drop(e, 1, &ReasonCounts::late);
         for (std::size_t i = 0; i < 4; ++i) {
             e.missed[i] = missed(70 + 250 * i, DropReason::late);
             e.missed[i].clip_frame = 70;
         }
     },
     Cause::slow_file, Limit::media, "missed on each pass"},
    {"a_file_that_cannot_be_read_again_either",
     [](Evidence& e) {
         fail(e, 1, &ReasonCounts::error);
         read_again(e, {30}, 0, true);
     },
     Cause::damaged_file, Limit::media, "1 frame was unreadable"},
    {"a_server_that_is_gone_also_when_it_is_asked_again",
     [](Evidence& e) {
         fail(e, 1, &ReasonCounts::error);
         e.missed.front().no_answer = true;
         read_again(e, {30}, 0, true);
     },
     Cause::storage_error, Limit::storage, "gave an error for 1 frame"},
    {"an_error_that_does_not_come_again",
     [](Evidence& e) {
         fail(e, 1, &ReasonCounts::error);
         read_again(e, {30}, 3 * kMs);
     },
     Cause::storage_error, Limit::storage, "gave an error for 1 frame"},
    {"a_missing_file_that_is_there_later_is_the_storages",
     [](Evidence& e) {
         fail(e, 1, &ReasonCounts::missing);
         read_again(e, {30}, 3 * kMs);
     },
     Cause::storage_error, Limit::storage, "gave an error"},
    {"errors_everywhere_are_the_storages_though_they_stay",
     [](Evidence& e) {
         fail(e, 500, &ReasonCounts::error);
         read_again(e, {30, 31, 32}, 0, true);
         for (std::size_t i = 0; i < 5; ++i) e.rereads.pop_back();
     },
     Cause::storage_error, Limit::storage, "gave an error for 500 frames"},
    {"every_processor_busy_and_the_player_waiting",
     [](Evidence& e) {
         drop(e, 60, &ReasonCounts::late);
         e.system = watched({.busy = 1, .waiting = 0.7, .pressure = 0.99});
         e.as_played = gives(900e6);
     },
     Cause::client_cpu, Limit::client_cpu, "processor time"},
    {"every_processor_busy_and_the_storage_too_slow_all_the_same",
     [](Evidence& e) {
         drop(e, 600, &ReasonCounts::late);
         e.system = watched({.busy = 1, .waiting = 0.1, .pressure = 0.99});
         e.as_played = gives(100e6);
         e.more_in_flight = gives(100e6);
     },
     Cause::bandwidth, Limit::storage, "did not keep up"},
    {"not_run_because_others_had_the_processors",
     [](Evidence& e) {
         drop(e, 60, &ReasonCounts::client);
         e.loop_stalled_ns = 3 * kSecond;
         e.system = watched({.busy = 1, .waiting = 0.8, .pressure = 0.99});
     },
     Cause::client_cpu, Limit::client_cpu, "cannot be held against the storage"},
    {"not_run_for_a_quarter_of_the_time",
     [](Evidence& e) {
         drop(e, 60, &ReasonCounts::client);
         e.loop_stalled_ns = 3 * kSecond;
         e.system = watched({.busy = 1, .waiting = 0.25, .pressure = 0.99});
     },
     Cause::client_cpu, Limit::client_cpu, "cannot be held against the storage"},
    {"stopped_on_a_busy_computer",
     [](Evidence& e) {
         drop(e, 60, &ReasonCounts::client);
         e.loop_stalled_ns = 3 * kSecond;
         e.system = watched({.busy = 1, .waiting = 0.02, .pressure = 0.99});
     },
     Cause::client_scheduling, Limit::client_scheduling, "scheduling stalls: 3.0 s"},
    {"nobody_got_a_byte",
     [](Evidence& e) {
         drop(e, 12, &ReasonCounts::late);
         e.delivery_gaps.push_back({30 * kPeriodNs - 9 * kPeriodNs, 42 * kPeriodNs});
     },
     Cause::storage_stall, Limit::storage, "the storage gave no data"},
    {"gaps_all_the_time_are_slow_reads",
     [](Evidence& e) {
         drop(e, 900, &ReasonCounts::late);
         for (std::int64_t at = 0; at < 40; ++at)
             e.delivery_gaps.push_back({at * kSecond, at * kSecond + 800 * kMs});
     },
     Cause::slow_reads, Limit::storage, "did not keep up"},
    {"a_full_interface",
     [](Evidence& e) {
         drop(e, 200, &ReasonCounts::late);
         e.system = watched({.received_per_s = 380'000'000, .link_bits_per_s = 3'200'000'000});
         e.as_played = gives(380e6);
     },
     Cause::network, Limit::network, "eth0 was 95 % busy"},
    {"a_round_trip_that_waits_in_a_queue",
     [](Evidence& e) {
         drop(e, 200, &ReasonCounts::late);
         e.system = watched({.received_per_s = 380'000'000, .rtt_ns = 16 * kMs, .rtt_min_ns = 50'000});
         e.as_played = gives(380e6);
     },
     Cause::network, Limit::network, "the network was full"},
    {"a_round_trip_that_does_not",
     [](Evidence& e) {
         drop(e, 200, &ReasonCounts::late);
         e.system = watched({.received_per_s = 380'000'000, .rtt_ns = 60'000, .rtt_min_ns = 50'000});
         e.as_played = e.more_in_flight = gives(380e6);
     },
     Cause::bandwidth, Limit::storage, "did not keep up"},
    {"a_round_trip_time_of_a_fast_network_that_wavers",
     [](Evidence& e) {
         drop(e, 200, &ReasonCounts::late);
         e.system = watched({.received_per_s = 380'000'000, .rtt_ns = 300'000, .rtt_min_ns = 50'000});
         e.as_played = e.more_in_flight = gives(380e6);
     },
     Cause::bandwidth, Limit::storage, "did not keep up"},
    {"a_network_that_carried_something_else",
     [](Evidence& e) {
         drop(e, 200, &ReasonCounts::late);
         e.system = watched({.received_per_s = 10'000'000, .link_bits_per_s = 80'000'000});
         e.as_played = e.more_in_flight = gives(380e6);
     },
     Cause::bandwidth, Limit::storage, "did not keep up"},
    {"a_full_interface_beside_a_disk_of_this_computer",
     [](Evidence& e) {
         drop(e, 200, &ReasonCounts::late);
         e.local_disk = true;
         e.system = watched({.received_per_s = 380'000'000, .link_bits_per_s = 3'200'000'000});
         e.as_played = e.more_in_flight = gives(380e6);
     },
     Cause::bandwidth, Limit::storage, "did not keep up"},
    {"a_server_far_away_of_which_nothing_is_known",
     [](Evidence& e) {
         drop(e, 200, &ReasonCounts::late);
         e.remote = true;
         e.as_played = gives(100e6);
     },
     Cause::unknown, Limit::unknown, "the storage or the network delayed them is not known"},
    {"early_drops_that_go_on_from_the_first_second",
     [](Evidence& e) {
         drop(e, 20, &ReasonCounts::late);
         e.totals.startup_drops = 12;
         e.totals.dropped += 12;
         e.totals.on_time -= 12;
         for (std::uint64_t slot = 12; slot < 24; ++slot) {
             e.missed.push_back(missed(slot, DropReason::late));
             e.missed.back().startup = true;
         }
     },
     Cause::cold_start, Limit::storage, "cold start"},
    {"what_is_read_for_the_first_time",
     [](Evidence& e) {
         e.streams.front().pass_slots = 400;
         drop(e, 100, &ReasonCounts::late);
     },
     Cause::cold_start, Limit::storage, "cold start"},
    {"what_is_read_for_the_first_time_on_each_pass",
     [](Evidence& e) {
         e.streams.front().pass_slots = 400;
         drop(e, 900, &ReasonCounts::late);
         for (MissedFrame& each : e.missed) {
             each.clip_frame = each.slot % 400;
             each.delivered_ns.reset();
             each.submitted_ns.reset();
         }
     },
     Cause::slow_reads, Limit::storage, "did not keep up"},
    {"frames_of_a_clip_that_are_slow_again_speak_for_its_others",
     [](Evidence& e) {
         drop(e, 40, &ReasonCounts::late);
         for (std::size_t i = 0; i < 40; ++i) e.missed[i] = missed(30 + 20 * i, DropReason::late);
         read_again(e, {30, 50, 70}, 900 * kMs);
     },
     Cause::slow_file, Limit::media, "40 frames"},
    {"a_client_that_was_never_late_is_not_to_blame",
     [](Evidence& e) {
         drop(e, 40, &ReasonCounts::client);
         e.loop_lateness_p50_ns = 0;
         e.cpu_percent = 100;
     },
     Cause::slow_reads, Limit::storage, "did not keep up"},
    {"what_is_read_for_the_first_time_and_again",
     [](Evidence& e) {
         e.streams.front().pass_slots = 400;
         drop(e, 100, &ReasonCounts::late);
         for (std::size_t i = 50; i < 100; ++i) e.missed[i] = missed(380 + i, DropReason::late);
         for (std::size_t i = 50; i < 100; ++i) e.missed[i].clip_frame -= 400;
     },
     Cause::slow_reads, Limit::storage, "did not keep up"},
};

class Causes : public testing::TestWithParam<std::size_t> {};

TEST_P(Causes, AreWhatTheEvidenceShows) {
    const CauseCase& expected = kCauseCases[GetParam()];
    Evidence evidence = good_run();
    expected.change(evidence);
    const Judgement found = judge(evidence);
    ASSERT_FALSE(found.causes.empty());
    EXPECT_STREQ(to_string(found.causes.front().cause), to_string(expected.cause));
    EXPECT_STREQ(to_string(found.verdict.limit), to_string(expected.limit));
    EXPECT_THAT(found.verdict.reason + "; " + found.verdict.detail, HasSubstr(expected.says));
    EXPECT_FALSE(found.verdict.pass);
    ASSERT_EQ(found.missed_causes.size(), evidence.missed.size());
    std::uint64_t frames = 0;
    for (const CauseResult& each : found.causes) {
        frames += each.frames;
        EXPECT_FALSE(each.summary.empty());
    }
    EXPECT_EQ(frames, evidence.totals.dropped + evidence.totals.late + evidence.totals.failed);
}

INSTANTIATE_TEST_SUITE_P(Cases,
                         Causes,
                         testing::Range(std::size_t{0}, kCauseCases.size()),
                         [](const auto& param) { return kCauseCases[param.param].name; });

TEST(TwoCauses, AreBothNamedAndTheLargerOneIsTheLimit) {
    Evidence evidence = good_run();
    drop(evidence, 200, &ReasonCounts::late);
    fail(evidence, 3, &ReasonCounts::missing);
    const Judgement found = judge(evidence);
    EXPECT_EQ(found.verdict.limit, Limit::storage);
    EXPECT_THAT(found.verdict.reason, HasSubstr("did not keep up"));
    EXPECT_THAT(found.verdict.reason, HasSubstr("besides, 3 frames were missing"));
    EXPECT_EQ(found.missed_causes[0], Cause::slow_reads);
    EXPECT_EQ(found.missed_causes[202], Cause::damaged_file);
}

TEST(TwoCauses, AStallWeighsAsManyFramesAsItLasted) {
    Evidence evidence = good_run();
    drop(evidence, 60, &ReasonCounts::late);
    test::stall(evidence, 1, DropReason::client);
    evidence.missed.back().slot = evidence.missed.back().clip_frame = 700;
    evidence.missed.back().due_ns = 700 * kPeriodNs;
    evidence.missed.back().submitted_ns = 692 * kPeriodNs;
    const auto lasts = [&evidence](std::int64_t periods) {
        evidence.missed.back().delivered_ns = (700 + periods) * kPeriodNs + 1;
        return judge(evidence).verdict.limit;
    };
    EXPECT_EQ(lasts(50), Limit::storage);
    EXPECT_EQ(lasts(70), Limit::client_scheduling);
}

TEST(TwoCauses, FramesThatAreNotInTheTableCountToTheLargest) {
    Evidence evidence = good_run();
    drop(evidence, 100, &ReasonCounts::late);
    evidence.totals.dropped += 400;
    evidence.reasons.late += 400;
    evidence.totals.on_time -= 400;
    EXPECT_EQ(judge(evidence).causes.front().frames, 500u);
}

TEST(ClientTooLate, IsNotTheCauseWhereTheStorageWouldNotHaveKeptUp) {
    Evidence evidence = good_run();
    drop(evidence, 60, &ReasonCounts::client);
    for (MissedFrame& each : evidence.missed) each.delivered_ns = each.due_ns + kPeriodNs / 2;
    evidence.as_played = ProbeResult{"", 2, 1 << 20, 8, 100e6};
    EXPECT_EQ(judge(evidence).verdict.limit, Limit::storage);
    evidence.as_played->bytes_per_s = 800e6;
    EXPECT_EQ(judge(evidence).verdict.limit, Limit::client_scheduling);
}

TEST(ClientTooLate, IsNotTheCauseWhereItsShortDelaysAreLessThanTheStorageLacks) {
    Evidence evidence = good_run();
    drop(evidence, 60, &ReasonCounts::client);
    for (MissedFrame& each : evidence.missed) each.delivered_ns = each.due_ns + 2 * kPeriodNs;
    evidence.as_played = ProbeResult{"", 2, 1 << 20, 8, evidence.required_bytes_per_s * 0.8};
    evidence.loop_lateness_max_ns = kPeriodNs / 5;
    evidence.loop_stalled_ns = evidence.longest_play_ns / 10;
    EXPECT_EQ(judge(evidence).verdict.limit, Limit::storage);
    evidence.loop_stalled_ns = evidence.longest_play_ns / 4;
    EXPECT_EQ(judge(evidence).verdict.limit, Limit::client_scheduling);
    evidence.loop_stalled_ns = evidence.longest_play_ns / 10;
    evidence.loop_lateness_max_ns = 2 * kPeriodNs;  // one of them explains a miss
    EXPECT_EQ(judge(evidence).verdict.limit, Limit::client_scheduling);
}

TEST(ClientTooLate, IsNotShortOfProcessorsForItsHelpers) {
    Evidence evidence = good_run();
    drop(evidence, 60, &ReasonCounts::client);
    evidence.cpu_percent = 95;
    EXPECT_EQ(judge(evidence).missed_causes[0], Cause::client_cpu);
    evidence.helpers_cpu_percent = 80;
    EXPECT_EQ(judge(evidence).missed_causes[0], Cause::client_scheduling);
}

/// The computer slept for a minute, between two samples around slot 30.
Evidence slept_at_slot_30() {
    Evidence evidence = good_run();
    for (int i = 0; i < 200; ++i) {
        SystemSample sample;
        sample.at_ns = i * 200 * kMs;
        sample.suspended_ns = sample.at_ns < 30 * kPeriodNs ? 5'000 : 60'000'005'000;
        evidence.system.push_back(sample);
    }
    return evidence;
}

TEST(ClientTooLate, ForDecodingSaysSo) {
    Evidence evidence = good_run();
    drop(evidence, 40, &ReasonCounts::client);
    evidence.decode_cpu_ns = 5 * kMs;
    EXPECT_THAT(judge(evidence).verdict.reason, HasSubstr("decoding, at 5.0 ms of processor time a frame"));
    evidence.loop_stalled_ns = 100 * kMs;
    EXPECT_THAT(judge(evidence).verdict.reason, testing::Not(HasSubstr("decoding, at")));
}

TEST(ClientTooLate, InVirtualTimeTheLoadOfThisComputerIsNotTold) {
    Evidence evidence = good_run();
    drop(evidence, 40, &ReasonCounts::client);
    evidence.decode_cpu_ns = 5 * kMs;
    EXPECT_THAT(judge(evidence).verdict.detail, HasSubstr("streamsim used 12 %"));
    evidence.virtual_time = true;
    EXPECT_EQ(judge(evidence).verdict.detail, "");
}

TEST(NextMeasurement, IsToLetARunMeasureWhereItCouldHave) {
    Evidence evidence = good_run();
    drop(evidence, 200, &ReasonCounts::late);
    EXPECT_EQ(judge(evidence).verdict.next, "") << "it ended by itself";
    evidence.interrupted = true;
    EXPECT_THAT(judge(evidence).verdict.next, HasSubstr("let a run end by itself"));
    evidence.preroll_took_too_long = true;
    EXPECT_THAT(judge(evidence).verdict.next,
                testing::StartsWith("play again with a longer --preroll-timeout: then it"));
    evidence.find_cause = false;
    EXPECT_THAT(judge(evidence).verdict.next, HasSubstr("without --no-probes"));
    evidence.any_player = false;
    EXPECT_EQ(judge(evidence).verdict.next, "") << "nothing measures writes";
    evidence = good_run();
    fail(evidence, 3, &ReasonCounts::missing);
    EXPECT_EQ(judge(evidence).verdict.next, "");
}

TEST(Suspend, IsThisComputersAndNotTheStorages) {
    for (const auto reason : {&ReasonCounts::late, &ReasonCounts::error}) {
        Evidence evidence = slept_at_slot_30();
        test::miss(evidence, 12, reason,
                   reason == &ReasonCounts::late ? FrameKind::dropped : FrameKind::failed);
        const Verdict verdict = judge(evidence).verdict;
        EXPECT_EQ(verdict.limit, Limit::client_scheduling);
        EXPECT_THAT(verdict.reason, HasSubstr("this computer was suspended for"));
    }
}

TEST(Suspend, DamagesNoMediaAndExcusesNone) {
    Evidence evidence = slept_at_slot_30();
    test::fail(evidence, 12, &ReasonCounts::missing);
    EXPECT_EQ(judge(evidence).verdict.limit, Limit::media);
}

TEST(Suspend, ExcusesNothingThatWasMissedLongAfterIt) {
    Evidence evidence = slept_at_slot_30();
    for (std::uint64_t slot = 600; slot < 630; ++slot) {
        evidence.missed.push_back(missed(slot, DropReason::late));
        ++evidence.reasons.late;
        ++evidence.totals.dropped;
        --evidence.totals.on_time;
    }
    EXPECT_EQ(judge(evidence).verdict.limit, Limit::storage);
}

TEST(StartupDrops, AreAColdStartThatNobodyIsBlamedFor) {
    Evidence evidence = good_run();
    evidence.totals.startup_drops = evidence.totals.dropped = 5;
    evidence.totals.on_time -= 5;
    for (std::uint64_t slot = 8; slot < 13; ++slot) {
        evidence.missed.push_back(missed(slot, DropReason::late));
        evidence.missed.back().startup = true;
    }
    const Judgement found = judge(evidence);
    EXPECT_TRUE(found.verdict.pass);
    EXPECT_EQ(found.verdict.limit, Limit::none);
    EXPECT_THAT(found.verdict.reason, HasSubstr("cold start"));
    EXPECT_EQ(found.causes.front().cause, Cause::cold_start);
    EXPECT_EQ(found.causes.front().limit, Limit::none);
}

TEST(OwnMemory, IsSaidAboveOneTwentieth) {
    Evidence evidence = good_run();
    evidence.own_memory_share = 0.05;
    EXPECT_THAT(judge(evidence).verdict.reason, testing::Not(HasSubstr("own memory")));
    evidence.own_memory_share = 0.06;
    EXPECT_THAT(judge(evidence).verdict.reason,
                HasSubstr("6 % of the bytes came from this computer's own memory"));
    EXPECT_TRUE(judge(evidence).verdict.pass);
    evidence.require_cold = true;
    EXPECT_FALSE(judge(evidence).verdict.pass);
}

TEST(Places, AreTheSameWhereEachPassMissesThem) {
    Evidence evidence = good_run();
    EXPECT_EQ(judge(evidence).places.answer, PlaceTest::Answer::nothing_missed);
    evidence.streams.front().pass_slots = 250;
    drop(evidence, 8, &ReasonCounts::late);
    for (std::size_t i = 0; i < 8; ++i) {
        evidence.missed[i] = missed(70 + i % 2 + 250 * (i / 2), DropReason::late);
        evidence.missed[i].clip_frame = 70 + i % 2;
    }
    PlaceTest places = judge(evidence).places;
    EXPECT_EQ(places.answer, PlaceTest::Answer::same_place);
    EXPECT_EQ(places.places, 2u);
    EXPECT_EQ(places.every_pass, 2u);
    for (std::size_t i = 0; i < 8; ++i) {
        evidence.missed[i] = missed(70 + 17 * i + 250 * (i / 2), DropReason::late);
        evidence.missed[i].clip_frame = 70 + 17 * i;
    }
    places = judge(evidence).places;
    EXPECT_EQ(places.answer, PlaceTest::Answer::random);
    EXPECT_EQ(places.places, 8u);
    evidence.streams.front().pass_slots = 2000;
    EXPECT_EQ(judge(evidence).places.answer, PlaceTest::Answer::one_pass);
    evidence.streams.front().pass_slots = 500;
    EXPECT_NE(judge(evidence).places.answer, PlaceTest::Answer::one_pass) << "two passes";
    evidence = good_run();
    evidence.streams.front().pass_slots = 250;
    drop(evidence, 400, &ReasonCounts::late);
    EXPECT_EQ(judge(evidence).places.answer, PlaceTest::Answer::everywhere)
        << "which would be the same by chance";
}

/// A frame late in the clip is due less often than one at its beginning.
TEST(Places, AreTheSameWhereTheLastPassEndsBeforeThem) {
    Evidence evidence = good_run();
    evidence.streams.front().pass_slots = 300;  // 1000 slots: three passes and a third of one
    drop(evidence, 3, &ReasonCounts::late);
    for (std::size_t i = 0; i < 3; ++i) {
        evidence.missed[i] = missed(250 + 300 * i, DropReason::late);
        evidence.missed[i].clip_frame = 250;
    }
    const PlaceTest places = judge(evidence).places;
    EXPECT_EQ(places.every_pass, 1u);
    EXPECT_EQ(places.answer, PlaceTest::Answer::same_place);
}

}  // namespace
}  // namespace streamsim::judge
