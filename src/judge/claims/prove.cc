#include "judge/claims/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>
#include <regex>

#include "base/units.h"

namespace streamsim::judge {
namespace {

constexpr double kDayNs = 86'400e9;
constexpr double kHourNs = 3'600e9;
constexpr double kPerDayLeast = 0.05;
constexpr double kPerDayMost = 2400;
constexpr std::size_t kTextBytesMax = 100;

// The weights of rates below N, and the mean distance of rates above N from it.
constexpr double kLowShare = 0.05;
constexpr double kLowWeight = 0.8;
constexpr double kHighMean = 5;

/// Misses with shorter pauses are of one event.
constexpr Duration kEventPause = seconds(1);
/// A group is no longer, nor is an event that counts once.
constexpr Duration kGroupMost = seconds(60);
constexpr Duration kGroupLeast = seconds(2);
/// The same as a share of the mean time between events at N.
constexpr double kGroupShare = 0.05;
constexpr double kLongestMeans = 40;
/// More frames than a stream may have would come at high rates.
constexpr double kLongestDays = 90;

double log_sum(double a, double b) {
    const double most = std::max(a, b);
    return most + std::log(std::exp(a - most) + std::exp(b - most));
}

/// log of the likelihood ratio of rates below N against N: `events` in x means.
double log_stands(std::uint64_t events, double x) {
    const auto n = static_cast<double>(events);
    const double low = std::log(kLowWeight) + (1 - kLowShare) * x + n * std::log(kLowShare);
    const double even_weight = std::log(1 - kLowWeight);
    if (x < 1e-6) return log_sum(low, even_weight - std::log(n + 1));
    const double even =
        even_weight + std::lgamma(n + 1) + std::log(boost::math::gamma_p(n + 1, x)) + x - (n + 1) * std::log(x);
    return log_sum(low, even);
}

/// log of the likelihood ratio of rates above N against N.
double log_failed(std::uint64_t groups, double x) {
    const auto n = static_cast<double>(groups);
    const double y = x + 1 / kHighMean;
    return y - std::log(kHighMean) + std::lgamma(n + 1) + std::log(boost::math::gamma_q(n + 1, y)) -
           (n + 1) * std::log(y);
}

/// The means without a further event after which rates below N are likely enough.
double means_needed(std::uint64_t events) {
    const double wanted = -std::log(kProveAlpha);
    double high = 1;
    while (log_stands(events, high) < wanted) high *= 2;
    double low = 0;
    for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        (log_stands(events, middle) < wanted ? low : high) = middle;
    }
    return high;
}

/// "1 drop event a day", "0.5 drop events a day".
std::string wanted_text(double per_day) {
    const std::string number = per_day >= 100 ? show_count(static_cast<std::uint64_t>(std::llround(per_day)))
                                              : fmt::format("{:.3g}", per_day);
    return fmt::format("{} drop event{} a day", number, per_day == 1 ? "" : "s");
}

std::string sentence_of(const ProveResult& result) {
    const std::string claim = fmt::format("fewer than {}", wanted_text(result.wanted_per_day));
    const std::string seen =
        fmt::format("{} in {}", result.events == 0 ? "no drop event" : counted(result.events, "drop event"),
                    long_time(result.hours));
    switch (result.decided) {
        case ProveDecision::stands:
            return fmt::format("{} at {:.0f} %: {}", claim, (1 - result.alpha) * 100, seen);
        case ProveDecision::failed:
            return fmt::format("not {} at {:.0f} %: {}", claim, (1 - result.beta) * 100, seen);
        case ProveDecision::undecided: break;
    }
    return fmt::format("{}: not decided: {}; it takes {} if no other comes", claim, seen,
                       long_time(result.needed_hours));
}

}  // namespace

Result<double> parse_prove(const std::string& text) {
    static const std::regex form(R"( *([0-9]*\.?[0-9]+) *drops?( events?)? */ *(hour|day|week) *)");
    const Error expected = bad_input(fmt::format(
        "'{}': expected a rate such as '1 drop/day', '2 drops/hour' or '1 drop/week', from {} to {} a day",
        text.substr(0, kTextBytesMax), kPerDayLeast, kPerDayMost));
    // The regular expression takes stack for each character.
    std::smatch parts;
    if (text.size() > kTextBytesMax || !std::regex_match(text, parts, form)) return expected;
    double per_day = std::strtod(parts.str(1).c_str(), nullptr);
    if (parts.str(3) == "hour") per_day *= 24;
    if (parts.str(3) == "week") per_day /= 7;
    if (!(per_day >= kPerDayLeast && per_day <= kPerDayMost)) return expected;
    return per_day;
}

ProveTest::ProveTest(double wanted_per_day)
    : means_per_ns_(wanted_per_day / kDayNs),
      group_span_{std::llround(std::clamp(kGroupShare / means_per_ns_,
                                          static_cast<double>(kGroupLeast.ns),
                                          static_cast<double>(kGroupMost.ns)))} {
    result_.wanted_per_day = wanted_per_day;
    result_.alpha = kProveAlpha;
    result_.beta = kProveBeta;
    needed_ = needed(0);
}

Duration ProveTest::needed(std::uint64_t events) const {
    return {static_cast<std::int64_t>(std::ceil(means_needed(events) / means_per_ns_))};
}

Duration ProveTest::longest() const {
    return {std::llround(std::min(kLongestMeans / means_per_ns_, kLongestDays * kDayNs))};
}

void ProveTest::advance(std::vector<Duration> misses, Duration settled) {
    std::ranges::sort(misses);
    for (const Duration at : misses) {
        pass_time(at);
        add_miss(at);
    }
    pass_time(settled);
}

void ProveTest::pass_time(Duration to) {
    if (decided() != ProveDecision::undecided || to <= settled_) return;
    const Duration begin = std::max(settled_, dead_until_);
    settled_ = to;
    if (to > begin) live_ += to - begin;
    if (live_ >= needed_) decide(ProveDecision::stands, to - (live_ - needed_));
}

void ProveTest::add_miss(Duration at) {
    if (decided() != ProveDecision::undecided) return;
    const bool first = result_.events == 0;
    if (first || at >= dead_until_ || at >= event_until_) {
        ++result_.events;
        event_until_ = at + kGroupMost;
        needed_ = needed(result_.events);
    }
    dead_until_ = at + kEventPause;
    if (!first && at < group_until_) return;
    ++result_.groups;
    group_until_ = at + group_span_;
    const double x = static_cast<double>(at.ns) * means_per_ns_;
    if (log_failed(result_.groups, x) >= -std::log(kProveBeta)) decide(ProveDecision::failed, at);
}

void ProveTest::decide(ProveDecision decision, Duration at) {
    result_.decided = decision;
    settled_ = at;
}

ProveResult ProveTest::result() const {
    ProveResult result = result_;
    result.hours = static_cast<double>(settled_.ns) / kHourNs;
    result.needed_hours = static_cast<double>((settled_ - live_ + needed_).ns) / kHourNs;
    if (decided() == ProveDecision::stands) result.needed_hours = result.hours;
    result.sentence = sentence_of(result);
    return result;
}

std::string long_time(double hours) {
    if (hours >= 24) {
        const auto whole = static_cast<std::uint64_t>(std::ceil(hours));
        return whole % 24 == 0 ? counted(whole / 24, "day")
                               : fmt::format("{} {} h", counted(whole / 24, "day"), whole % 24);
    }
    return show_duration({std::llround(std::ceil(hours * 3600)) * 1'000'000'000});
}

std::string prove_beginning(const ProveTest& test) {
    const ProveResult begun = test.result();
    return fmt::format("to prove fewer than {} at {:.0f} % takes at least {} without a drop event",
                       wanted_text(begun.wanted_per_day), (1 - begun.alpha) * 100,
                       long_time(begun.needed_hours));
}

}  // namespace streamsim::judge
