#include "judge/claims/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <numeric>

#include "base/units.h"

namespace streamsim::judge {
namespace {

constexpr double kHoursOfDay = 24;
constexpr double kHourNs = 3.6e12;
constexpr double kDoubt = 1 - kClaimConfidence;
/// Less likely times between events are those of groups.
constexpr double kGroupedBelow = 0.05;
/// A share of the time: the number of events says little from there on.
constexpr double kMostlyDropping = 0.25;
constexpr double kGroupsAccepted = 0.2;
constexpr std::int64_t kLeastWaitNs = 1'000'000;

double chi_squared_quantile(double degrees, double below) {
    return 2 * boost::math::gamma_p_inv(degrees / 2, below);
}

/// Interval of the sum of Poisson counts with weights; `unseen`: the weight of an event that was not seen.
RateInterval interval_of(const std::vector<double>& weights, double unseen) {
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    const double variance = std::inner_product(weights.begin(), weights.end(), weights.begin(), 0.0);
    if (sum <= 0) return {0, 0, -unseen * std::log(kDoubt)};
    const double low = variance / (2 * sum) * chi_squared_quantile(2 * sum * sum / variance, kDoubt / 2);
    const double more = sum + unseen;
    const double more_variance = variance + unseen * unseen;
    const double high =
        more_variance / (2 * more) * chi_squared_quantile(2 * more * more / more_variance, 1 - kDoubt / 2);
    return {sum, low, high};
}

/// By time, events that overlap as one.
std::vector<ClaimEvent> apart(std::vector<ClaimEvent> events, std::uint64_t streams) {
    std::ranges::sort(events, {},
                      [](const ClaimEvent& event) { return std::pair(event.from_ns, event.to_ns); });
    std::vector<ClaimEvent> out;
    for (const ClaimEvent& event : events) {
        if (out.empty() || event.from_ns > out.back().to_ns) {
            out.push_back(event);
            continue;
        }
        out.back().to_ns = std::max(out.back().to_ns, event.to_ns);
        out.back().streams = std::min(out.back().streams + event.streams, streams);
    }
    return out;
}

/// The times in which the next event could have begun, until it did: after an event not sooner than `gap_ns`.
std::vector<std::int64_t> waits_of(const std::vector<ClaimEvent>& events, std::int64_t gap_ns) {
    std::vector<std::int64_t> waits;
    std::int64_t since_ns = 0;
    for (const ClaimEvent& event : events) {
        waits.push_back(event.from_ns - since_ns);
        since_ns = event.to_ns + gap_ns;
    }
    return waits;
}

/// Events that follow each other within `gap_ns` as one, with the streams of the one that hit most.
std::vector<ClaimEvent> joined(const std::vector<ClaimEvent>& events, std::int64_t gap_ns) {
    std::vector<ClaimEvent> out;
    for (const ClaimEvent& event : events) {
        if (out.empty() || event.from_ns - out.back().to_ns > gap_ns) {
            out.push_back(event);
        } else {
            out.back().to_ns = event.to_ns;
            out.back().streams = std::max(out.back().streams, event.streams);
        }
    }
    return out;
}

/// Groups of events, and the pause that separates two of them.
struct Groups {
    std::vector<ClaimEvent> events;
    std::int64_t gap_ns = 0;
};

/// The groups whose times the test accepts, with the shortest pause between groups that does it.
Groups groups_of(const std::vector<ClaimEvent>& events) {
    Groups groups{events, 0};
    const std::int64_t all_ns = events.back().from_ns;
    for (std::int64_t gap_ns = kLeastWaitNs; gap_ns < all_ns; gap_ns += gap_ns / 2) {
        groups = {joined(events, gap_ns), gap_ns};
        const auto p = dispersion_p(waits_of(groups.events, gap_ns));
        if (!p || *p >= kGroupsAccepted) break;
    }
    return groups;
}

/// The share of the time in which an event could begin: neither in another one, nor so soon after it that it
/// would be of its group.
double live_share(const Groups& groups, double all_ns) {
    constexpr double kLeast = 0.01;
    double dead_ns = 0;
    for (const ClaimEvent& event : groups.events)
        dead_ns += std::min(static_cast<double>(event.to_ns - event.from_ns + groups.gap_ns),
                            all_ns - static_cast<double>(event.from_ns));
    return std::max(1 - dead_ns / all_ns, kLeast);
}

/// A rate with the digits that a person needs; bounds from above are rounded up.
std::string rate_text(double rate, bool up) {
    const auto rounded = [up](double value) { return up ? std::ceil(value - 1e-9) : std::round(value); };
    if (rate <= 0) return "0";
    const double digits = std::floor(std::log10(rate));
    const double unit = rate >= 1000 ? std::pow(10, digits - 2) : rate >= 1 ? 1 : std::pow(10, digits - 1);
    const double shown = rounded(rate / unit) * unit;
    if (shown >= 1) return show_count(static_cast<std::uint64_t>(std::llround(shown)));
    return fmt::format("{:.2g}", shown);
}

std::string stream_time_text(double hours) {
    const char* unit = hours >= 1 ? "hour" : hours * 60 >= 1 ? "minute" : "second";
    const double time = hours >= 1 ? hours : hours * 60 >= 1 ? hours * 60 : hours * 3600;
    const std::string shown =
        time >= 1000 ? show_count(static_cast<std::uint64_t>(std::llround(time))) : fmt::format("{:.3g}", time);
    return fmt::format("{} stream-{}{}", shown, unit, shown == "1" ? "" : "s");
}

std::string interval_text(const Claims& claims, bool several) {
    const RateInterval& alone = claims.per_stream_day;
    const RateInterval& together = claims.per_stream_day_together;
    const bool differ = several && rate_text(together.high, true) != rate_text(alone.high, true);
    if (claims.drop_events == 0) {
        std::string text = fmt::format("fewer than {} a day and stream", rate_text(alone.high, true));
        if (differ)
            text += fmt::format(" if streams drop independently, {} if they drop together",
                                rate_text(together.high, true));
        return text;
    }
    std::string text = fmt::format("{} to {} {}a day and stream", rate_text(alone.low, false),
                                   rate_text(alone.high, true), claims.grouped ? "groups " : "");
    if (differ) text += fmt::format(", up to {} if streams drop together", rate_text(together.high, true));
    return text;
}

double hours(std::int64_t ns) {
    return static_cast<double>(ns) / kHourNs;
}

std::string sentence_of(const Claims& claims, std::uint64_t streams, double dropping_share) {
    std::string events = claims.drop_events == 0 ? "no drop event" : counted(claims.drop_events, "drop event");
    if (claims.grouped)
        events = fmt::format("the events come in groups: {} in {}", events, counted(claims.groups, "group"));
    const std::string played = fmt::format("{} in {}{}", events, stream_time_text(claims.stream_hours),
                                           claims.of_model ? " of the model" : "");
    if (dropping_share >= kMostlyDropping)
        return fmt::format("{}: dropping lasts for {:.0f} % of the time", played, dropping_share * 100);
    return fmt::format("{}: at {:.0f} %, {}", played, claims.confidence * 100,
                       interval_text(claims, streams > 1));
}

struct PlayTime {
    std::int64_t from_ns = 0, to_ns = 0;
};

/// The times in which some stream played against deadlines: by time, apart from one another.
std::vector<PlayTime> play_times(const RunResult& result) {
    std::vector<PlayTime> streams;
    for (const StreamResult& stream : result.streams) {
        if (stream.paced && stream.last_due_ns > 0)
            streams.push_back({stream.play_start_ns, stream.play_start_ns + stream.last_due_ns});
    }
    std::ranges::sort(streams, {}, &PlayTime::from_ns);
    std::vector<PlayTime> out;
    for (const PlayTime& stream : streams) {
        if (out.empty() || stream.from_ns > out.back().to_ns) out.push_back(stream);
        out.back().to_ns = std::max(out.back().to_ns, stream.to_ns);
    }
    return out;
}

/// How much of these times is over at an instant.
std::int64_t played_ns(const std::vector<PlayTime>& times, std::int64_t at_ns) {
    std::int64_t sum_ns = 0;
    for (const PlayTime& time : times) sum_ns += std::clamp(at_ns, time.from_ns, time.to_ns) - time.from_ns;
    return sum_ns;
}

}  // namespace

std::optional<double> dispersion_p(const std::vector<std::int64_t>& waits_ns) {
    if (waits_ns.size() < 2) return std::nullopt;
    double logs = 0;
    double all_ns = 0;
    for (const std::int64_t wait_ns : waits_ns) {
        const auto counted_ns = static_cast<double>(std::max(wait_ns, kLeastWaitNs));
        logs += std::log(counted_ns);
        all_ns += counted_ns;
    }
    const auto count = static_cast<double>(waits_ns.size());
    const double statistic = 2 * (count * std::log(all_ns / count) - logs) / (1 + (count + 1) / (6 * count));
    return boost::math::gamma_q((count - 1) / 2, std::max(statistic, 0.0) / 2);  // chi-squared, from above
}

Claims claims_of(const ClaimPlay& play) {
    Claims out;
    out.confidence = kClaimConfidence;
    out.of_model = play.of_model;
    out.stream_hours = play.stream_hours;
    out.run_hours = play.run_hours;
    Groups observed{apart(play.events, play.streams), 0};
    out.drop_events = observed.events.size();
    double dropping_ns = 0;
    for (const ClaimEvent& event : observed.events) {
        out.stream_drop_events += event.streams;
        dropping_ns += static_cast<double>(event.to_ns - event.from_ns);
    }
    out.dispersion_p = dispersion_p(waits_of(observed.events, 0));
    out.grouped = out.dispersion_p && *out.dispersion_p < kGroupedBelow;
    if (out.grouped) observed = groups_of(observed.events);
    out.groups = observed.events.size();
    const double live = live_share(observed, play.run_hours * kHourNs);
    const double stream_hours = play.stream_hours * live;
    std::vector<double> weights;
    double unseen = 1 / stream_hours;
    for (const ClaimEvent& event : observed.events) {
        weights.push_back(static_cast<double>(event.streams) / stream_hours);
        unseen = std::max(unseen, weights.back());
    }
    const auto per_day = [&weights](double heaviest) {
        const RateInterval an_hour = interval_of(weights, heaviest);
        return RateInterval{an_hour.estimate * kHoursOfDay, an_hour.low * kHoursOfDay,
                            an_hour.high * kHoursOfDay};
    };
    out.per_stream_day = per_day(unseen);
    out.per_stream_day_together = per_day(std::max(unseen, 1 / (play.run_hours * live)));
    out.sentence = sentence_of(out, play.streams, dropping_ns / (play.run_hours * kHourNs));
    return out;
}

std::optional<Claims> claims_of(const RunResult& result) {
    ClaimPlay play;
    play.streams = 0;
    for (const StreamResult& stream : result.streams) {
        if (!stream.paced || stream.last_due_ns <= 0) continue;
        ++play.streams;
        play.stream_hours += hours(stream.last_due_ns);
    }
    if (play.streams == 0) return std::nullopt;
    const std::vector<PlayTime> times = play_times(result);
    play.run_hours = hours(played_ns(times, INT64_MAX));
    play.of_model = result.backend == "sim";
    for (const MissEvent& event : result.events) {
        if (event.frames + event.stalls <= event.startup_frames) continue;
        play.events.push_back({played_ns(times, event.from_ns), played_ns(times, event.to_ns), event.streams});
    }
    const std::uint64_t unlisted = misses_in_no_event(result);
    if (unlisted == 0) return claims_of(play);
    Claims none;
    none.of_model = play.of_model;
    none.stream_hours = play.stream_hours;
    none.run_hours = play.run_hours;
    none.drop_events = play.events.size();
    none.sentence = fmt::format("{} listed, and {} not: no rate is claimed",
                                counted(none.drop_events, "drop event"), counted(unlisted, "missed frame"));
    return none;
}

}  // namespace streamsim::judge
