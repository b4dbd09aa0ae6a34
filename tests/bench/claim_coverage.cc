// Coverage of the claims: event processes with known rates, many times each. Prints two tables: how often the
// interval held the true rate, and what the sequential test of --prove decided, after how long. Exit code 1: an
// interval held the rate in fewer than 90 %, or the test erred more often than it says. Usage: claim_coverage
// [RUNS]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "judge/claims/claims.h"
#include "judge/claims/prove.h"

namespace {

using namespace streamsim;

constexpr double kHourNs = 3.6e12;
constexpr double kHeldLeast = 90;  // percent

bool good = true;  // so far

/// A process of drop events on streams that share their storage.
struct Process {
    const char* name;
    std::uint64_t streams = 1;
    bool together = false;   // an event hits all streams; else one of them
    double mixed = 0;        // share of events that hit all streams
    double group_mean = 1;   // events of a group; 1: events come alone
    double group_gap_s = 0;  // mean time between events of a group
};

struct Event {
    double at_h = 0;
    std::uint64_t streams = 1;
};

/// Events in [0, hours), with `per_hour` events of the run on average.
std::vector<Event> events_of(const Process& process, double per_hour, double hours, std::mt19937_64& random) {
    std::vector<Event> out;
    std::exponential_distribution<double> gap(per_hour / process.group_mean);
    std::uniform_real_distribution<double> share;
    for (double at = gap(random); at < hours; at += gap(random)) {
        std::uint64_t size = 1;
        if (process.group_mean > 1)
            size = 1 + std::geometric_distribution<std::uint64_t>(1 / process.group_mean)(random);
        double when = at;
        for (std::uint64_t i = 0; i < size && when < hours; ++i) {
            const bool all = process.together || share(random) < process.mixed;
            out.push_back({when, all ? process.streams : 1});
            if (process.group_gap_s > 0)
                when += std::exponential_distribution<double>(3600 / process.group_gap_s)(random);
        }
    }
    std::ranges::sort(out, {}, &Event::at_h);
    return out;
}

double streams_of_event(const Process& process) {
    if (process.together) return static_cast<double>(process.streams);
    return process.mixed * static_cast<double>(process.streams) + 1 - process.mixed;
}

void coverage(const Process& process, double expected_events, int runs) {
    constexpr double kHours = 4;
    const double per_hour = expected_events / kHours;
    const double truth =
        per_hour / process.group_mean * 24 * streams_of_event(process) / static_cast<double>(process.streams);
    std::mt19937_64 random(1);
    int alone = 0, together = 0, grouped = 0, none = 0;
    for (int i = 0; i < runs; ++i) {
        judge::ClaimPlay play;
        play.streams = process.streams;
        play.run_hours = kHours;
        play.stream_hours = kHours * static_cast<double>(process.streams);
        for (const Event& event : events_of(process, per_hour, kHours, random)) {
            const auto from_ns = static_cast<std::int64_t>(event.at_h * kHourNs);
            play.events.push_back({from_ns, from_ns + 100'000'000, event.streams});
        }
        const Claims claims = judge::claims_of(play);
        alone += claims.per_stream_day.low <= truth && truth <= claims.per_stream_day.high;
        together += claims.per_stream_day_together.low <= truth && truth <= claims.per_stream_day_together.high;
        grouped += claims.grouped;
        none += claims.drop_events == 0;
    }
    const auto percent = [runs](int count) { return 100.0 * count / runs; };
    good &= percent(together) >= kHeldLeast;
    fmt::print("| {} | {:g} | {:.1f} % | {:.1f} % | {:.1f} % | {:.1f} % |\n", process.name, expected_events,
               percent(alone), percent(together), percent(grouped), percent(none));
}

void prove(const Process& process, double rate_of_wanted, int runs) {
    std::mt19937_64 random(1);
    int stands = 0, failed = 0;
    double means = 0;
    for (int i = 0; i < runs; ++i) {
        judge::ProveTest test(1);
        const double longest_h = static_cast<double>(test.longest().ns) / kHourNs;
        std::vector<Duration> misses;
        for (const Event& event :
             events_of(process, rate_of_wanted / 24 * process.group_mean, longest_h, random))
            misses.push_back({static_cast<std::int64_t>(event.at_h * kHourNs)});
        test.advance(misses, test.longest());
        stands += test.decided() == ProveDecision::stands;
        failed += test.decided() == ProveDecision::failed;
        means += test.result().hours / 24;
    }
    const auto percent = [runs](int count) { return 100.0 * count / runs; };
    const double by_chance = 5 + 3.1 * std::sqrt(5.0 * 95 / runs);
    if (rate_of_wanted >= 1) good &= percent(stands) <= by_chance;
    if (rate_of_wanted * process.group_mean <= 1) good &= percent(failed) <= by_chance;
    fmt::print("| {} | {:g} | {:.1f} % | {:.1f} % | {:.1f} % | {:.2f} |\n", process.name, rate_of_wanted,
               percent(stands), percent(failed), percent(runs - stands - failed), means / runs);
}

}  // namespace

int main(int argc, char** argv) {
    const int runs = argc > 1 ? std::atoi(argv[1]) : 1000;
    const Process processes[] = {
        {"1 stream", 1},
        {"8 streams, each on its own", 8},
        {"8 streams, all together", 8, true},
        {"8 streams, one event in five hits all", 8, false, 0.2},
        {"1 stream, groups of 5 within a minute", 1, false, 0, 5, 10},
        {"8 streams, groups of 5 that hit all", 8, true, 0, 5, 10},
        {"1 stream, groups of 3 within two minutes", 1, false, 0, 3, 40},
        {"1 stream, groups of 30 within a minute", 1, false, 0, 30, 2},
    };
    fmt::print("Intervals at 95 %: runs of 4 hours, {} of each kind\n\n", runs);
    fmt::print(
        "| events | expected | holds | holds, together | in groups | no event |\n|---|---|---|---|---|---|\n");
    for (const Process& process : processes) {
        for (const double expected : {0.5, 2.0, 5.0, 20.0, 100.0}) coverage(process, expected, runs);
    }
    fmt::print("\n--prove '1 drop/day': {} runs of each kind\n\n", runs);
    fmt::print(
        "| events | groups / wanted | stands | failed | undecided | days, mean |\n|---|---|---|---|---|---|\n");
    for (const Process& process : {processes[0], processes[2], processes[4]}) {
        for (const double rate : {0.0001, 0.05, 0.1, 0.3, 0.5, 1.0, 2.0, 5.0, 20.0}) prove(process, rate, runs);
    }
    return good ? 0 : 1;
}
