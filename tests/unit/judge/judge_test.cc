#include "judge/judge.h"

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "evidence_samples.h"

namespace streamsim::judge {
namespace {

using test::drop;
using test::fail;
using test::good_run;
using test::stall;
using testing::HasSubstr;

/// 50 frames read too late on a model of which this much was busy, while this computer had no processor time
/// left.
void on_a_model(Evidence& evidence, std::vector<BusyPart> parts) {
    drop(evidence, 50, &ReasonCounts::late);
    evidence.cpu_percent = 200;
    evidence.loop_lateness_p50_ns = 30'000'000;
    evidence.modelled = true;
    evidence.parts = std::move(parts);
}

struct VerdictCase {
    const char* name;
    std::function<void(Evidence&)> change;
    bool pass;
    Limit limit;
    const char* says;
};

const std::vector<VerdictCase> kVerdictCases = {
    {"all_on_time", [](Evidence&) {}, true, Limit::none, "every frame was on time"},
    {"startup_drops_only",
     [](Evidence& e) {
         e.totals.on_time = 990;
         e.totals.dropped = e.totals.startup_drops = 10;
     },
     true, Limit::none, "after the first second"},
    {"play_that_ended_in_its_first_second",
     [](Evidence& e) {
         e.totals.on_time = 1;
         e.totals.dropped = e.totals.startup_drops = 999;
         e.longest_play_ns = 958'333'333;
     },
     true, Limit::none, "too short to tell"},
    {"play_within_the_read_ahead", [](Evidence& e) { e.within_readahead = true; }, true, Limit::none,
     "no longer than its read-ahead: too short to tell"},
    {"one_steady_drop_besides_startup_drops",
     [](Evidence& e) {
         e.totals.on_time = 990;
         e.totals.dropped = e.totals.startup_drops = 10;
         drop(e, 1, &ReasonCounts::late);
     },
     false, Limit::storage, "cold start: 11 frames"},
    {"slow_storage", [](Evidence& e) { drop(e, 212, &ReasonCounts::late); }, false, Limit::storage,
     "212 frames were late or dropped"},
    {"held_late_frame",
     [](Evidence& e) {
         drop(e, 1, &ReasonCounts::late);
         std::swap(e.totals.dropped, e.totals.late);
     },
     false, Limit::storage, "1 frame was late or dropped"},
    {"stalls",
     [](Evidence& e) {
         stall(e, 3, DropReason::late);
         e.totals.stall_ns = 1'300'000'000;
     },
     false, Limit::storage, "stalled 3 times for 1.3 s"},
    {"client_stall",
     [](Evidence& e) {
         stall(e, 1, DropReason::client);
         e.loop_stalled_ns = 300'000'000;
     },
     false, Limit::client_scheduling, "scheduling stalls: 300.0 ms"},
    {"process_stopped",
     [](Evidence& e) {
         drop(e, 7, &ReasonCounts::client);
         e.loop_stalled_ns = 300'000'000;
     },
     false, Limit::client_scheduling, "7 frames cannot be held against the storage"},
    {"client_without_processor_time",
     [](Evidence& e) {
         drop(e, 7, &ReasonCounts::client);
         e.cpu_percent = 97;
     },
     false, Limit::client_cpu, "ran out of processor time"},
    {"half_client_half_storage_is_not_called_storage",
     [](Evidence& e) {
         drop(e, 5, &ReasonCounts::client);
         drop(e, 5, &ReasonCounts::late);
     },
     false, Limit::client_scheduling, "5 frames"},
    {"a_little_client_much_storage",
     [](Evidence& e) {
         drop(e, 2, &ReasonCounts::client);
         drop(e, 50, &ReasonCounts::late);
     },
     false, Limit::storage, "50 frames"},
    {"late_frames_on_a_full_computer",
     [](Evidence& e) {
         drop(e, 50, &ReasonCounts::late);
         e.cpu_percent = 195;
     },
     false, Limit::client_cpu, "ran out of processor time"},
    {"late_frames_beside_one_busy_processor_of_two_are_the_storage",
     [](Evidence& e) {
         drop(e, 50, &ReasonCounts::late);
         e.cpu_percent = 99;
     },
     false, Limit::storage, "50 frames"},
    {"late_frames_of_a_player_behind_its_own_timers",
     [](Evidence& e) {
         drop(e, 50, &ReasonCounts::late);
         e.loop_lateness_p50_ns = 30'000'000;
     },
     false, Limit::client_scheduling, "timer lateness: median 30.0 ms"},
    {"read_errors", [](Evidence& e) { fail(e, 500, &ReasonCounts::error); }, false, Limit::storage,
     "an error for 500 frames"},
    {"missing_file", [](Evidence& e) { fail(e, 1, &ReasonCounts::missing); }, false, Limit::media,
     "1 frame was missing"},
    {"missing_and_short",
     [](Evidence& e) {
         fail(e, 2, &ReasonCounts::missing);
         fail(e, 3, &ReasonCounts::short_read);
     },
     false, Limit::media, "2 frames were missing and 3 frames were cut short"},
    {"one_short_frame_among_many_slow_ones",
     [](Evidence& e) {
         fail(e, 1, &ReasonCounts::short_read);
         drop(e, 9, &ReasonCounts::late);
     },
     false, Limit::storage, "9 frames"},
    {"slow_and_erroneous",
     [](Evidence& e) {
         drop(e, 9, &ReasonCounts::late);
         fail(e, 2, &ReasonCounts::error);
     },
     false, Limit::storage, "besides, the storage gave an error for 2 frames"},
    {"no_reason_known",
     [](Evidence& e) {
         e.totals.dropped = 4;
         e.totals.on_time = 996;
     },
     false, Limit::unknown, "the cause is not known"},
    {"warm_but_nobody_minds", [](Evidence& e) { e.server_cache_may_be_warm = true; }, true, Limit::none,
     "every frame"},
    {"warm_but_cold_required", [](Evidence& e) { e.server_cache_may_be_warm = e.require_cold = true; }, false,
     Limit::unknown, "a cache may have helped"},
    {"cold_and_required", [](Evidence& e) { e.require_cold = true; }, true, Limit::none, "every frame"},
    {"drops_are_named_even_where_cold_was_required",
     [](Evidence& e) {
         e.server_cache_may_be_warm = e.require_cold = true;
         drop(e, 3, &ReasonCounts::late);
     },
     false, Limit::storage, "3 frames"},
    {"as_fast_as_it_goes",
     [](Evidence& e) {
         e.paced = false;
         e.shortest_period_ns = 0;
     },
     true, Limit::none, "nothing was required"},
    {"as_fast_as_it_goes_without_a_frame",
     [](Evidence& e) {
         e.paced = false;
         e.shortest_period_ns = 0;
         e.totals = {};
     },
     false, Limit::unknown, "no frame was read or written before the end"},
    {"interrupted_in_preroll",
     [](Evidence& e) {
         e.totals.on_time = 0;
         e.totals.cancelled = e.totals.scheduled = 8;
         e.interrupted = true;
     },
     false, Limit::unknown, "says nothing"},
    {"model_full_processor_of_a_seat",
     [](Evidence& e) {
         on_a_model(e, {{PartKind::drive, "node 0 drive 3", 0.5, 9},
                        {PartKind::seat_cpu, "seat 0 processor", 0.98, 1}});
     },
     false, Limit::client_cpu, "the processor of seat 0 was 98 % busy when frames were missed: 50 frames"},
    {"model_that_gives_less_than_is_required",
     [](Evidence& e) {
         on_a_model(e, {{PartKind::drive, "node 0 drive 3", 0.98, 9}});
         e.as_played = ProbeResult{"without deadlines", 2, 1 << 20, 8, 5.5e9};
         e.required_bytes_per_s = 14.3e9;
     },
     false, Limit::storage,
     "; read without deadlines the model gives 5,500.0 MB/s at most, and 14,300.0 MB/s are required"},
    {"model_full_link_of_a_seat",
     [](Evidence& e) {
         on_a_model(e, {{PartKind::seat_link, "seat 12 link", 0.99, 3},
                        {PartKind::front_end, "node 0 front end", 0.8, 9}});
     },
     false, Limit::network, "the link of seat 12 was 99 % busy"},
    {"model_full_link_not_told_apart",
     [](Evidence& e) {
         on_a_model(e, {{PartKind::front_end, "node 0 front end", 0.99, 3}});
         e.links_told_apart = false;
     },
     false, Limit::unknown,
     "the link of a seat or of the server (the calibration could not tell them apart) was"},
    {"model_full_switch_port",
     [](Evidence& e) {
         on_a_model(e, {{PartKind::switch_port, "seat 0 switch port", 1, 3}});
     },
     false, Limit::network, "the switch port of seat 0 was 100 % busy"},
    {"model_full_front_end",
     [](Evidence& e) {
         on_a_model(e, {{PartKind::front_end, "node 2 front end", 0.95, 3}});
     },
     false, Limit::storage, "the front end of node 2 was 95 % busy"},
    {"model_full_coordinator_of_a_file",
     [](Evidence& e) {
         on_a_model(e, {{PartKind::file, "file 3", 1, 3}});
     },
     false, Limit::storage, "file 3 was 100 % busy"},
    {"model_full_coordinators_of_sequences",
     [](Evidence& e) {
         on_a_model(e, {{PartKind::file, "sequence files", 1, 3}});
     },
     false, Limit::storage, "sequence files were 100 % busy"},
    {"model_several_full_drives",
     [](Evidence& e) {
         on_a_model(e, {{PartKind::drive, "node 0 drive 3", 0.96, 2},
                        {PartKind::drive, "node 0 drive 4", 0.97, 2},
                        {PartKind::drive, "node 0 drive 5", 0.4, 2},
                        {PartKind::node_cpu, "node 0 processor", 0.93, 2}});
     },
     false, Limit::storage, "drive 4 of node 0 (and 1 more like it) was 97 % busy"},
    {"model_two_full_parts_and_most_waits_at_one",
     [](Evidence& e) {
         on_a_model(e, {{PartKind::front_end, "node 0 front end", 0.991, 40},
                        {PartKind::seat_link, "seat 0 link", 0.994, 2}});
     },
     false, Limit::storage, "the front end of node 0 was 99 % busy"},
    {"model_nothing_full",
     [](Evidence& e) {
         on_a_model(e, {{PartKind::drive, "node 0 drive 3", 0.61, 2}});
     },
     false, Limit::storage, "no part of the model was full, the busiest was drive 3 of node 0 with 61 %"},
    {"model_lost_segments_are_the_networks",
     [](Evidence& e) {
         on_a_model(e, {{PartKind::drive, "node 0 drive 3", 0.61, 2},
                        {PartKind::switch_port, "seat 1 switch port", 0.02, 1, 3856, 0.9}});
     },
     false, Limit::network, "the switch port of seat 1 had no room for 3,856 segments"},
    {"model_a_long_way_is_the_networks",
     [](Evidence& e) {
         on_a_model(e, {{PartKind::drive, "node 0 drive 3", 0.61, 2}});
         e.service_p50_ns = 650'000'000;
         e.path_rtt_ns = 600'000'000;
     },
     false, Limit::network, "of the 650.0 ms (median) that a frame took, 600.0 ms are round trips"},
    {"model_a_short_way_is_not",
     [](Evidence& e) {
         on_a_model(e, {{PartKind::drive, "node 0 drive 3", 0.61, 2}});
         e.service_p50_ns = 650'000'000;
         e.path_rtt_ns = 300'000'000;
     },
     false, Limit::storage, "time was missing"},
    {"model_full_connections_are_several",
     [](Evidence& e) {
         on_a_model(e, {{PartKind::seat_link, "seat 12 connections", 0.99, 3}});
     },
     false, Limit::network, "the connections of seat 12 were 99 % busy"},
    {"model_segments_lost_at_other_times_are_not",
     [](Evidence& e) {
         on_a_model(e, {{PartKind::switch_port, "seat 1 switch port", 0.02, 1, 48, 0.2}});
     },
     false, Limit::storage, "time was missing"},
    {"model_decoding_late_with_nothing_full",
     [](Evidence& e) {
         on_a_model(e, {{PartKind::seat_cpu, "seat 0 processor", 0.5, 2}});
         e.reasons.client = std::exchange(e.reasons.late, 0);
     },
     false, Limit::client_cpu, "decoding a frame took longer than its seat had"},
    {"model_decoding_late_as_frames_came_late",
     [](Evidence& e) {
         on_a_model(e, {{PartKind::seat_cpu, "seat 0 processor", 0.5, 2}});
         drop(e, 60, &ReasonCounts::client);
     },
     false, Limit::storage, "110 frames were late or dropped; no part of the model was full"},
    {"model_media_come_first",
     [](Evidence& e) {
         on_a_model(e, {{PartKind::drive, "node 0 drive 3", 1, 2}});
         fail(e, 200, &ReasonCounts::missing);
     },
     false, Limit::media, "200 frames were missing"},
    {"model_that_plays",
     [](Evidence& e) {
         e.modelled = true;
         e.parts = {{PartKind::drive, "node 0 drive 3", 1, 2}};
     },
     true, Limit::none, "every frame was on time"},
    {"interrupted_later", [](Evidence& e) { e.interrupted = true; }, true, Limit::none,
     "up to the interruption"},
};

class Judge : public testing::TestWithParam<std::size_t> {};

TEST_P(Judge, SaysWhetherAndWhy) {
    const VerdictCase& expected = kVerdictCases[GetParam()];
    Evidence evidence = good_run();
    expected.change(evidence);
    const Verdict verdict = judge(evidence).verdict;
    EXPECT_EQ(verdict.pass, expected.pass) << verdict.reason;
    EXPECT_STREQ(to_string(verdict.limit), to_string(expected.limit)) << verdict.reason;
    EXPECT_THAT(verdict.reason, HasSubstr(expected.says));
    if (!evidence.require_cold && evidence.totals.on_time > 0) {
        EXPECT_EQ(verdict.pass, bad_frames(evidence.totals) == 0) << "the exit code's sum";
    }
}

INSTANTIATE_TEST_SUITE_P(Cases,
                         Judge,
                         testing::Range(std::size_t{0}, kVerdictCases.size()),
                         [](const auto& param) { return kVerdictCases[param.param].name; });

TEST(Limits, HaveTheNamesOfTheResult) {
    EXPECT_STREQ(to_string(Limit::client_cpu), "client-cpu");
    EXPECT_STREQ(to_string(Limit::client_scheduling), "client-scheduling");
    EXPECT_STREQ(to_string(Limit::none), "none");
}

TEST(Causes, HaveTheStallsAndFramesThatNoTableKeeps) {
    Evidence evidence = good_run();
    stall(evidence, 3, DropReason::late);
    evidence.totals.stalls = 5'000;
    std::uint64_t stalls = 0;
    for (const CauseResult& cause : judge(evidence).causes) stalls += cause.stalls;
    EXPECT_EQ(stalls, 5'000u);
}

TEST(Causes, SayWhatAMissedFrameTook) {
    Evidence evidence = good_run();
    drop(evidence, 200, &ReasonCounts::late);
    EXPECT_THAT(judge(evidence).causes.front().summary, HasSubstr("a missed frame took 400.0 ms (median)"));
}

TEST(Limits, AreNotWeighedByDropsOfTheFirstSecond) {
    Evidence evidence = good_run();
    drop(evidence, 12, &ReasonCounts::late);
    for (std::size_t i = 0; i < 12; ++i) evidence.missed[i] = test::missed(500 + i, DropReason::late);
    evidence.delivery_gaps.push_back({491 * test::kPeriodNs, 512 * test::kPeriodNs});
    drop(evidence, 1, &ReasonCounts::client);
    for (std::uint64_t slot = 2; slot < 22; ++slot) {
        evidence.missed.push_back(test::missed(slot, DropReason::client));
        evidence.missed.back().startup = true;
    }
    evidence.totals.dropped += 20;
    evidence.totals.startup_drops = 20;
    evidence.totals.on_time -= 20;
    const Judgement found = judge(evidence);
    EXPECT_EQ(found.verdict.limit, Limit::storage);
    EXPECT_THAT(found.verdict.reason, HasSubstr("the storage gave no data"));
    ASSERT_EQ(found.causes.size(), 2u);
    EXPECT_EQ(found.causes[0].cause, Cause::storage_stall);
    EXPECT_EQ(found.causes[1].cause, Cause::client_scheduling);
    EXPECT_EQ(found.causes[1].frames, 21u) << "with those that do not count";
}

}  // namespace
}  // namespace streamsim::judge
