#include "judge/interval_fit.h"

#include <algorithm>
#include <cmath>

namespace streamsim::judge {
namespace {

/// The ends of an interval lie within this share of the boundary.
constexpr double kPrecision = 0.002;
constexpr int kDigits = 4;
/// A value lies so far inside its only end: no answer hangs on the last digit.
constexpr double kReserve = 0.02;

/// Rounded to some digits, towards `towards`, so that an end stays inside its interval.
double rounded(double value, double towards) {
    const double scale = std::pow(10.0, kDigits - 1 - std::floor(std::log10(value)));
    return (towards < value ? std::floor(value * scale) : std::ceil(value * scale)) / scale;
}

/// The pair of neighbouring values between which `holds` changes from true (towards `good`) to false. REQUIRES:
/// holds(good), !holds(bad).
struct Boundary {
    double good, bad;
};
Boundary boundary(double good, double bad, const std::function<bool(double)>& holds) {
    while (std::max(good / bad, bad / good) > 1 + kPrecision) {
        const double middle = std::sqrt(good * bad);
        (holds(middle) ? good : bad) = middle;
    }
    return {good, bad};
}

}  // namespace

FitInterval interval_of(const FitParameter& parameter,
                        const PublishedRow& row,
                        std::uint32_t more,
                        const PlaysWith& plays) {
    FitInterval out{row.id, std::nullopt, std::nullopt};
    // The best value is the smallest cost, or the highest rate.
    const double best = parameter.rate ? parameter.most : parameter.least;
    const double worst = parameter.rate ? parameter.least : parameter.most;
    auto& end_of_playing = parameter.rate ? out.low : out.high;
    auto& end_of_failing = parameter.rate ? out.high : out.low;
    const auto plays_printed = [&](double value) { return plays(value, row.printed); };
    const auto more_fail = [&](double value) { return !plays(value, more); };
    if (!plays_printed(worst)) {
        end_of_playing = plays_printed(best) ? boundary(best, worst, plays_printed).good : best;
    }
    if (!more_fail(best) && more_fail(worst)) end_of_failing = boundary(worst, best, more_fail).good;
    return out;
}

FittedParameter parameter_of(const FitParameter& parameter,
                             const std::vector<FitInterval>& intervals,
                             const std::string& left_out) {
    FittedParameter out;
    out.name = parameter.name;
    out.title = parameter.title;
    out.intervals = intervals;
    for (const FitInterval& interval : intervals) {
        if (interval.row == left_out) continue;
        if (interval.low) out.low = std::max(out.low.value_or(*interval.low), *interval.low);
        if (interval.high) out.high = std::min(out.high.value_or(*interval.high), *interval.high);
    }
    const double middle = std::sqrt(parameter.least * parameter.most);
    if (out.low && out.high) {
        out.contradicted = *out.low > *out.high;
        const double between = std::sqrt(*out.low * *out.high);
        out.value = rounded(between, *out.high);
        if (out.value > *out.high) out.value = between;
    } else if (out.low) {
        out.value = rounded(*out.low * (1 + kReserve), HUGE_VAL);
    } else if (out.high) {
        out.value = rounded(*out.high * (1 - kReserve), 0);
    } else {
        out.value = rounded(middle, middle);
    }
    return out;
}

}  // namespace streamsim::judge
