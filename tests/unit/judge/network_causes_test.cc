// A path that is gone, one that loses packets, and a server that is gone: by what evidence they are told apart.
#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <vector>

#include "evidence_samples.h"
#include "judge/host_window.h"
#include "judge/judge.h"
#include "judge/network_path.h"

namespace streamsim::judge {
namespace {

using test::drop;
using test::fail;
using test::good_run;
using test::kMs;
using test::kPeriodNs;
using test::kSecond;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Growth of the path's counters in each second between two instants.
struct PathRates {
    std::int64_t from_ns = 0, to_ns = 0;
    std::int64_t quiet_ns = 0, no_carrier_ns = 0, unanswered_ns = 0, unacknowledged_ns = 0;
    std::uint64_t quiet_answers = 0, refused = 0, out_of_order = 0, resent = 0, lossy_samples = 0;
};

/// Samples of every 200 ms over 50 s of a server that all bytes came from, with 20,000 segments a second in and
/// 2,000 out, over an interface that carries a third of what it can.
SystemHistory path(const std::vector<PathRates>& rates, std::optional<std::int64_t> rtt_ns = {}) {
    SystemHistory history;
    SystemSample::Path sum;
    sum.peer = "10.0.0.1";
    std::uint64_t received = 0;
    for (std::int64_t i = 0; i <= 250; ++i) {
        SystemSample sample;
        sample.at_ns = i * 200 * kMs;
        for (const PathRates& each : rates) {
            if (sample.at_ns <= each.from_ns || sample.at_ns > each.to_ns) continue;
            sum.quiet_ns += each.quiet_ns / 5;
            sum.no_carrier_ns += each.no_carrier_ns / 5;
            sum.unanswered_ns += each.unanswered_ns / 5;
            sum.unacknowledged_ns += each.unacknowledged_ns / 5;
            sum.quiet_answers += each.quiet_answers / 5;
            sum.refused += each.refused / 5;
            sum.out_of_order += each.out_of_order / 5;
            sum.resent += each.resent / 5;
            sum.lossy_samples += each.lossy_samples / 5;
        }
        sum.received_segments += 4'000;
        sum.sent_segments += 400;
        received += 80'000'000;
        sample.path = sum;
        sample.connection = {"10.0.0.1", received, sum.received_segments, sum.out_of_order};
        sample.links.push_back({"eth0", 10'000'000'000, received});
        sample.rtt_ns = rtt_ns;
        history.push_back(std::move(sample));
    }
    return history;
}

/// From slot 30 on: for two seconds nothing comes.
void no_data_for_two_seconds(Evidence& e) {
    e.remote = true;
    drop(e, 48, &ReasonCounts::late);
    e.delivery_gaps.push_back({30 * kPeriodNs - 9 * kPeriodNs, 78 * kPeriodNs});
}

PathRates in_throughput_gap() {
    PathRates rates;
    rates.from_ns = 800 * kMs;
    rates.to_ns = 3200 * kMs;
    rates.quiet_ns = kSecond;
    return rates;
}

/// From slot 30 on, for nearly all of play.
void gone_for_good(Evidence& e) {
    e.remote = true;
    drop(e, 900, &ReasonCounts::late);
    for (std::size_t i = 1; i < e.missed.size(); ++i) {
        e.missed[i].submitted_ns.reset();
        e.missed[i].delivered_ns.reset();
        e.missed[i].read_ns = 0;
    }
    e.delivery_gaps.push_back({30 * kPeriodNs - 9 * kPeriodNs, 930 * kPeriodNs, true});
    e.as_played = ProbeResult{"", 2, 1 << 20, 8, 100e6};
}

PathRates to_the_end() {
    PathRates rates = in_throughput_gap();
    rates.to_ns = 50 * kSecond;
    return rates;
}

void slow_for_long(Evidence& e) {
    e.remote = true;
    drop(e, 200, &ReasonCounts::late);
    e.as_played = ProbeResult{"", 2, 1 << 20, 8, 100e6};
    e.more_in_flight = ProbeResult{"", 8, 1 << 20, 8, 101e6};
}

PathRates always() {
    PathRates rates;
    rates.to_ns = 50 * kSecond;
    return rates;
}

void failed(Evidence& e, bool unreachable, bool refused) {
    e.remote = true;
    fail(e, 40, &ReasonCounts::error);
    for (MissedFrame& each : e.missed) {
        each.no_answer = true;
        each.unreachable = unreachable;
        each.refused = refused;
    }
}

/// All of it, and with others.
void make_busy(Evidence& e) {
    for (SystemSample& sample : e.system) {
        sample.run_queue_wait_ns = sample.cpu_pressure_ns = sample.at_ns;
        sample.cpu_ticks = static_cast<std::uint64_t>(sample.at_ns / 5'000'000);
    }
}

template <typename Change>
PathRates with(PathRates rates, Change change) {
    change(rates);
    return rates;
}

/// Frames that take `took_ns` over a path whose round trip takes `rtt_ns`.
void slow_over(Evidence& e, std::int64_t took_ns, std::int64_t rtt_ns) {
    slow_for_long(e);
    for (MissedFrame& each : e.missed) test::deliver(each, took_ns);
    e.system = path({}, rtt_ns);
}

struct NetworkCase {
    const char* name;
    std::function<void(Evidence&)> change;
    Cause cause;
    Limit limit;
    const char* says;  // in reason, detail or next
};

const std::vector<NetworkCase> kNetworkCases = {
    {"no_data_and_unanswered",
     [](Evidence& e) {
         no_data_for_two_seconds(e);
         e.system = path({with(in_throughput_gap(), [](PathRates& r) { r.unanswered_ns = kSecond; })}, 100'000);
     },
     Cause::network_down, Limit::network, "the network to 10.0.0.1 was gone"},
    {"silent_without_carrier",
     [](Evidence& e) {
         no_data_for_two_seconds(e);
         e.system = path({with(in_throughput_gap(), [](PathRates& r) { r.no_carrier_ns = kSecond; })});
     },
     Cause::network_down, Limit::network, "had no carrier"},
    {"no_data_and_unacknowledged",
     [](Evidence& e) {
         no_data_for_two_seconds(e);
         e.system = path({with(in_throughput_gap(), [](PathRates& r) { r.unacknowledged_ns = kSecond; })});
     },
     Cause::network_down, Limit::network, "not acknowledged"},
    {"gone_in_the_beginning_of_a_silence_and_answered_while_tcp_still_waits",
     [](Evidence& e) {
         no_data_for_two_seconds(e);
         PathRates gone = with(in_throughput_gap(), [](PathRates& r) { r.unanswered_ns = kSecond; });
         gone.to_ns = 1600 * kMs;
         PathRates back = with(in_throughput_gap(), [](PathRates& r) { r.quiet_answers = 10; });
         back.from_ns = 1600 * kMs;
         e.system = path({gone, back}, 100'000);
     },
     Cause::network_down, Limit::network, "was gone"},
    {"no_data_and_answered",
     [](Evidence& e) {
         no_data_for_two_seconds(e);
         e.system = path({with(in_throughput_gap(), [](PathRates& r) { r.quiet_answers = 10; })}, 100'000);
     },
     Cause::storage_stall, Limit::storage, "the host of 10.0.0.1 answered meanwhile"},
    {"no_data_and_answered_before_the_first_frame_was_missed",
     [](Evidence& e) {
         no_data_for_two_seconds(e);
         e.system = path({with(in_throughput_gap(),
                               [](PathRates& r) {
                                   r.to_ns = 1200 * kMs;  // slot 30 is due later
                                   r.quiet_answers = 10;
                               })},
                         100'000);
     },
     Cause::storage_stall, Limit::storage, "the host of 10.0.0.1 answered meanwhile"},
    {"no_data_and_refused",
     [](Evidence& e) {
         no_data_for_two_seconds(e);
         e.system = path({with(in_throughput_gap(), [](PathRates& r) { r.quiet_answers = r.refused = 10; })});
     },
     Cause::storage_stall, Limit::storage, "refused connections meanwhile"},
    {"no_data_and_nothing_known",
     [](Evidence& e) {
         no_data_for_two_seconds(e);
         e.system = path({in_throughput_gap()});
     },
     Cause::unknown, Limit::unknown, "let the server's host answer pings"},
    {"no_data_and_no_server_known", [](Evidence& e) { no_data_for_two_seconds(e); }, Cause::unknown,
     Limit::unknown, "the storage or the network delayed them is not known"},
    {"silent_where_no_server_is",
     [](Evidence& e) {
         no_data_for_two_seconds(e);
         e.remote = false;
         e.bytes_read = 400'000'000'000;  // little of it came over the network
         e.system = path({with(in_throughput_gap(), [](PathRates& r) { r.unanswered_ns = kSecond; })});
     },
     Cause::storage_stall, Limit::storage, "no data"},
    {"no_data_and_answered_after_a_short_cut",
     [](Evidence& e) {
         no_data_for_two_seconds(e);
         PathRates cut = with(in_throughput_gap(), [](PathRates& r) { r.unanswered_ns = kSecond; });
         cut.to_ns = kSecond;
         PathRates back = with(in_throughput_gap(), [](PathRates& r) { r.quiet_answers = 10; });
         back.from_ns = kSecond;
         e.system = path({cut, back}, 100'000);
     },
     Cause::storage_stall, Limit::storage, "answered meanwhile"},
    {"no_data_and_answered_over_a_path_that_loses",
     [](Evidence& e) {
         no_data_for_two_seconds(e);
         e.system = path(
             {with(always(),
                   [](PathRates& r) { r.out_of_order = 4'000, r.lossy_samples = 10, r.quiet_answers = 10; })},
             100'000);
     },
     Cause::storage_stall, Limit::storage, "answered meanwhile"},
    {"silent_again_and_again_and_never_for_long",
     [](Evidence& e) {
         slow_for_long(e);
         for (std::int64_t at = 0; at < 41 * kSecond; at += 250 * kMs)
             e.delivery_gaps.push_back({at, at + 150 * kMs});
         e.system =
             path({with(always(), [](PathRates& r) { r.quiet_ns = kSecond, r.quiet_answers = 10; })}, 100'000);
     },
     Cause::bandwidth, Limit::storage, "did not keep up"},
    {"silent_again_and_again_while_bytes_came",
     [](Evidence& e) {
         slow_for_long(e);
         for (std::int64_t at = 0; at < 40 * kSecond; at += 2 * kSecond)
             e.delivery_gaps.push_back({at, at + 1500 * kMs});
         e.system = path({with(always(), [](PathRates& r) { r.quiet_answers = 10; })}, 100'000);
     },
     Cause::bandwidth, Limit::storage, "did not keep up"},
    {"cut_again_and_again",
     [](Evidence& e) {
         e.remote = true;
         drop(e, 192, &ReasonCounts::late);
         std::vector<PathRates> rates;
         for (std::int64_t at = kSecond; at < 9 * kSecond; at += 2 * kSecond) {
             e.delivery_gaps.push_back({at, at + 1200 * kMs});
             rates.push_back(with(in_throughput_gap(), [at](PathRates& r) {
                 r.from_ns = at;
                 r.to_ns = at + 400 * kMs;
                 r.unanswered_ns = kSecond;
             }));
         }
         e.system = path(rates, 100'000);
     },
     Cause::network_down, Limit::network, "was gone"},
    {"silent_for_less_than_tcp_waits",
     [](Evidence& e) {
         e.remote = true;
         drop(e, 2, &ReasonCounts::late);
         for (MissedFrame& each : e.missed) each.submitted_ns = each.due_ns - 3 * kPeriodNs;
         e.delivery_gaps.push_back({27 * kPeriodNs, 27 * kPeriodNs + 150 * kMs});
         e.system = path({});
     },
     Cause::storage_stall, Limit::storage, "no data"},
    {"missed_after_a_cut_in_which_something_came",
     [](Evidence& e) {
         e.remote = true;
         drop(e, 48, &ReasonCounts::late);
         e.system = path({with(in_throughput_gap(), [](PathRates& r) { r.unanswered_ns = kSecond; })}, 100'000);
     },
     Cause::network_down, Limit::network, "was gone"},
    {"a_server_that_is_gone_for_good",
     [](Evidence& e) {
         gone_for_good(e);
         e.system = path({with(to_the_end(), [](PathRates& r) { r.quiet_answers = r.refused = 10; })});
     },
     Cause::storage_stall, Limit::storage, "nothing came up to the end"},
    {"a_network_that_is_gone_for_good",
     [](Evidence& e) {
         gone_for_good(e);
         e.system = path({with(to_the_end(), [](PathRates& r) { r.unanswered_ns = kSecond; })}, 100'000);
     },
     Cause::network_down, Limit::network, "was gone"},
    {"gone_for_good_and_nothing_known",
     [](Evidence& e) {
         gone_for_good(e);
         e.system = path({to_the_end()});
     },
     Cause::unknown, Limit::unknown, "the storage or the network delayed them is not known"},
    {"two_round_trips_are_a_frames_time", [](Evidence& e) { slow_over(e, 400 * kMs, 170 * kMs); },
     Cause::network, Limit::network, "is too long for this way to play"},
    {"no_storage_could_be_in_time",
     [](Evidence& e) {
         slow_over(e, 400 * kMs, 90 * kMs);
         for (MissedFrame& each : e.missed) each.submitted_ns = each.due_ns - 2 * kPeriodNs;
         for (MissedFrame& each : e.missed) test::deliver(each, 400 * kMs);
     },
     Cause::network, Limit::network, "is too long for this way to play"},
    {"a_round_trip_of_a_quarter_of_a_frames_time",
     [](Evidence& e) {
         slow_over(e, 400 * kMs, 110 * kMs);
         e.more_in_flight->bytes_per_s = 200e6;
     },
     Cause::unknown, Limit::unknown, "a round trip to 10.0.0.1 takes 110.0 ms"},
    {"a_long_path_and_a_slow_storage",
     [](Evidence& e) {
         slow_over(e, 400 * kMs, 20 * kMs);
         e.more_in_flight->bytes_per_s = 200e6;
     },
     Cause::slow_reads, Limit::storage, "did not keep up"},
    {"a_rate_over_a_long_path", [](Evidence& e) { slow_over(e, 400 * kMs, 20 * kMs); }, Cause::unknown,
     Limit::unknown, "a round trip to 10.0.0.1 takes 20.0 ms"},
    {"a_rate_over_a_long_path_and_once_no_data_while_no_frame_was_missed",
     [](Evidence& e) {
         slow_over(e, 400 * kMs, 20 * kMs);
         e.delivery_gaps.push_back({20 * kSecond, 22 * kSecond});
     },
     Cause::unknown, Limit::unknown, "play the same on a computer that is nearer"},
    {"a_rate_over_a_short_path", [](Evidence& e) { slow_over(e, 400 * kMs, 4 * kMs); }, Cause::bandwidth,
     Limit::storage, "its bandwidth is the limit"},
    {"slow_for_long_with_a_cut_in_it",
     [](Evidence& e) {
         slow_for_long(e);
         e.system = path({with(in_throughput_gap(),
                               [](PathRates& r) {
                                   r.to_ns = 1400 * kMs;
                                   r.unanswered_ns = kSecond;
                               })},
                         100'000);
     },
     Cause::bandwidth, Limit::storage, "did not keep up"},
    {"losses_where_a_ping_is_answered",
     [](Evidence& e) {
         slow_for_long(e);
         e.system = path({with(always(), [](PathRates& r) { r.out_of_order = 1'000, r.lossy_samples = 10; })},
                         20 * kMs);
     },
     Cause::network_loss, Limit::network, "lost packets"},
    {"losses_where_none_works",
     [](Evidence& e) {
         slow_for_long(e);
         e.system = path({with(always(), [](PathRates& r) { r.out_of_order = 1'000, r.lossy_samples = 10; })});
     },
     Cause::network_loss, Limit::network, "losses: "},
    {"few_losses_on_a_long_path",
     [](Evidence& e) {
         slow_for_long(e);
         e.system =
             path({with(always(), [](PathRates& r) { r.out_of_order = 400, r.lossy_samples = 10; })}, 20 * kMs);
     },
     Cause::network_loss, Limit::network, "losses: "},
    {"few_losses_on_a_short_path",
     [](Evidence& e) {
         slow_for_long(e);
         e.system =
             path({with(always(), [](PathRates& r) { r.out_of_order = 400, r.lossy_samples = 10; })}, 60'000);
     },
     Cause::bandwidth, Limit::storage, "did not keep up"},
    {"losses_of_requests",
     [](Evidence& e) {
         slow_for_long(e);
         e.system = path({with(always(), [](PathRates& r) { r.resent = 100; })}, 20 * kMs);
     },
     Cause::network_loss, Limit::network, "were lost and sent again"},
    {"losses_and_a_short_silence",
     [](Evidence& e) {
         e.remote = true;
         drop(e, 8, &ReasonCounts::late);
         e.delivery_gaps.push_back({28 * kPeriodNs, 38 * kPeriodNs});
         e.system = path(
             {with(always(),
                   [](PathRates& r) { r.out_of_order = 1'000, r.lossy_samples = 10, r.quiet_answers = 5; })},
             20 * kMs);
     },
     Cause::network_loss, Limit::network, "lost packets"},
    {"losses_that_make_a_frame_slow_again",
     [](Evidence& e) {
         slow_for_long(e);
         for (std::uint64_t slot = 900; slot < 905; ++slot)
             e.rereads.push_back({0, slot, false, false, 2 * kMs});
         for (const std::uint64_t slot : std::initializer_list<std::uint64_t>{30, 40, 50})
             e.rereads.push_back({0, slot, true, false, 300 * kMs});
         e.system = path({with(always(), [](PathRates& r) { r.out_of_order = 1'000, r.lossy_samples = 10; })},
                         20 * kMs);
     },
     Cause::network_loss, Limit::network, "lost packets"},
    {"many_losses_on_a_busy_computer",
     [](Evidence& e) {
         slow_for_long(e);
         e.system = path({with(always(), [](PathRates& r) { r.out_of_order = 4'000, r.lossy_samples = 10; })});
         make_busy(e);
     },
     Cause::network_loss, Limit::network, "lost packets"},
    {"few_losses_on_a_busy_computer",
     [](Evidence& e) {
         slow_for_long(e);
         e.system = path({with(always(), [](PathRates& r) { r.out_of_order = 400, r.lossy_samples = 10; })});
         make_busy(e);
     },
     Cause::client_cpu, Limit::client_cpu, "ran out of processor time"},
    {"losses_where_no_server_is",
     [](Evidence& e) {
         slow_for_long(e);
         e.remote = false;
         e.bytes_read = 400'000'000'000;  // little of it came over the network
         e.system = path({with(always(), [](PathRates& r) { r.out_of_order = 1'000, r.lossy_samples = 10; })});
     },
     Cause::bandwidth, Limit::storage, "did not keep up"},
    {"losses_at_another_time",
     [](Evidence& e) {
         slow_for_long(e);
         e.system = path({with(always(),
                               [](PathRates& r) {
                                   r.from_ns = 20 * kSecond, r.out_of_order = 1'000, r.lossy_samples = 10;
                               })},
                         4 * kMs);
     },
     Cause::bandwidth, Limit::storage, "did not keep up"},
    {"segments_that_seldom_come_out_of_order",
     [](Evidence& e) {
         slow_for_long(e);
         e.system = path(
             {with(always(), [](PathRates& r) { r.out_of_order = 20, r.lossy_samples = 10, r.resent = 5; })},
             4 * kMs);
     },
     Cause::bandwidth, Limit::storage, "did not keep up"},
    {"a_burst_that_comes_out_of_order_on_this_computer",
     [](Evidence& e) {
         e.remote = true;
         drop(e, 8, &ReasonCounts::late);
         e.as_played = e.more_in_flight = ProbeResult{"", 2, 1 << 20, 8, 100e6};
         e.system = path({with(in_throughput_gap(),
                               [](PathRates& r) {
                                   r.quiet_ns = 0;
                                   r.to_ns = 1 * kSecond;
                                   r.out_of_order = 10'000;
                                   r.lossy_samples = 5;
                               })},
                         100'000);
     },
     Cause::bandwidth, Limit::storage, "did not keep up"},
    {"losses_of_a_full_network",
     [](Evidence& e) {
         slow_for_long(e);
         e.system = path({with(always(), [](PathRates& r) { r.out_of_order = 1'000, r.lossy_samples = 10; })},
                         20 * kMs);
         e.system.back().rtt_ns = 100'000;
     },
     Cause::network, Limit::network, "was full"},
    {"a_quiet_path_without_round_trip_times",
     [](Evidence& e) {
         slow_for_long(e);
         e.system = path({});
     },
     Cause::bandwidth, Limit::storage, "did not keep up"},
    {"a_quiet_path_of_an_interface_without_a_speed",
     [](Evidence& e) {
         slow_for_long(e);
         e.system = path({}, 100'000);
         for (SystemSample& sample : e.system) sample.links[0].bits_per_s.reset();
     },
     Cause::bandwidth, Limit::storage, "did not keep up"},
    {"a_path_of_which_nothing_is_known",
     [](Evidence& e) {
         slow_for_long(e);
         e.system = path({});
         for (SystemSample& sample : e.system) sample.links[0].bits_per_s.reset();
     },
     Cause::unknown, Limit::unknown, "the storage or the network delayed them is not known"},
    {"reads_that_time_out_on_a_path_that_loses",
     [](Evidence& e) {
         failed(e, false, false);
         e.system = path({with(always(), [](PathRates& r) {
             r.out_of_order = 1'000, r.lossy_samples = 10, r.quiet_answers = 10;
         })});
     },
     Cause::network_loss, Limit::network, "lost packets"},
    {"reads_that_fail_as_there_is_no_route", [](Evidence& e) { failed(e, true, false); }, Cause::network_down,
     Limit::network, "was gone"},
    {"reads_that_fail_as_the_server_refuses", [](Evidence& e) { failed(e, false, true); }, Cause::storage_error,
     Limit::storage, "gave an error"},
    {"reads_that_time_out_unanswered",
     [](Evidence& e) {
         failed(e, false, false);
         e.system = path({with(in_throughput_gap(), [](PathRates& r) { r.unanswered_ns = kSecond; })});
     },
     Cause::network_down, Limit::network, "was gone"},
    {"reads_that_time_out_with_a_host_that_answers",
     [](Evidence& e) {
         failed(e, false, false);
         e.system = path({with(in_throughput_gap(), [](PathRates& r) { r.quiet_answers = 10; })});
     },
     Cause::storage_error, Limit::storage, "gave an error"},
    {"reads_that_time_out_and_nothing_known", [](Evidence& e) { failed(e, false, false); }, Cause::unknown,
     Limit::unknown, "the storage or the network delayed them is not known"},
    {"frames_that_this_computer_missed_in_a_cut",
     [](Evidence& e) {
         e.remote = true;
         drop(e, 48, &ReasonCounts::client);
         e.loop_stalled_ns = 2 * kSecond;
         e.system = path({with(in_throughput_gap(), [](PathRates& r) { r.unanswered_ns = kSecond; })});
     },
     Cause::client_scheduling, Limit::client_scheduling, "did not let the player run"},
};

class NetworkCauses : public testing::TestWithParam<std::size_t> {};

TEST_P(NetworkCauses, AreWhatTheEvidenceShows) {
    const NetworkCase& expected = kNetworkCases[GetParam()];
    Evidence evidence = good_run();
    expected.change(evidence);
    const Judgement found = judge(evidence);
    ASSERT_THAT(found.causes, Not(IsEmpty()));
    EXPECT_STREQ(to_string(found.causes.front().cause), to_string(expected.cause));
    EXPECT_STREQ(to_string(found.verdict.limit), to_string(expected.limit));
    EXPECT_THAT(found.verdict.reason + "\n" + found.verdict.detail + "\n" + found.verdict.next,
                HasSubstr(expected.says));
    const bool answered = !evidence.system.empty() && evidence.system.back().path->quiet_answers > 0;
    if (!answered) {
        EXPECT_THAT(found.verdict.detail, Not(HasSubstr("answered meanwhile")));
    }
    if (expected.cause == Cause::unknown) {
        EXPECT_THAT(found.verdict.next, Not(IsEmpty()));
    }
    if (expected.cause == Cause::network_down) {
        const std::string& detail = found.causes.front().detail;
        const auto says = [&detail](const char* text) { return detail.find(text) != std::string::npos; };
        const bool measured = says("no carrier") || says("answered no ping") || says("not acknowledged");
        EXPECT_NE(measured, says("this computer reports that the server is unreachable")) << detail;
    }
    if (expected.cause == Cause::network_loss) {
        EXPECT_THAT(found.verdict.reason, Not(HasSubstr("full")));
    }
}

INSTANTIATE_TEST_SUITE_P(All,
                         NetworkCauses,
                         testing::Range(std::size_t{0}, kNetworkCases.size()),
                         [](const auto& each) { return std::string(kNetworkCases[each.param].name); });

TEST(NetworkLosses, TellOfNoFullQueueWhereRoundTripsWaitedInOne) {
    Evidence e = good_run();
    slow_for_long(e);
    e.bytes_read = 400'000'000'000;  // little of it came over the network
    e.system =
        path({with(always(), [](PathRates& r) { r.out_of_order = 1'000, r.lossy_samples = 10; })}, 20 * kMs);
    EXPECT_THAT(judge(e).verdict.detail, HasSubstr("RTT median 20.0 ms, min 20.0 ms: no full queue"));
    e.system.back().rtt_ns = 100'000;
    EXPECT_EQ(judge(e).causes.front().cause, Cause::network_loss);
    EXPECT_THAT(judge(e).verdict.detail, Not(HasSubstr("no full queue")));
}

/// The other gap ends before the missed frames were asked for, or at that instant.
TEST(NetworkAnswers, InAnotherGapAreNotThoseOfTheMissedFrames) {
    for (const std::int64_t before_ns : {kSecond / 2, std::int64_t{0}}) {
        Evidence e = good_run();
        e.remote = true;
        drop(e, 2, &ReasonCounts::late);
        const std::int64_t asked_ns = e.missed.front().due_ns - 3 * kPeriodNs;
        for (MissedFrame& each : e.missed) each.submitted_ns = each.due_ns - 3 * kPeriodNs;
        e.delivery_gaps = {{asked_ns - before_ns - 200 * kMs, asked_ns - before_ns},
                           {27 * kPeriodNs, 27 * kPeriodNs + 150 * kMs}};
        e.system = path({with(in_throughput_gap(), [&](PathRates& r) {
            r.from_ns = 0;
            r.to_ns = asked_ns - asked_ns % (200 * kMs);
            r.quiet_answers = 10;
        })});
        const Judgement found = judge(e);
        EXPECT_STREQ(to_string(found.causes.front().cause), "storage-stall");
        EXPECT_THAT(found.verdict.detail, Not(HasSubstr("answered meanwhile"))) << before_ns;
    }
}

}  // namespace
}  // namespace streamsim::judge
