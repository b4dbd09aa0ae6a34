#include "run/calibration/direct_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "fit/resample.h"
#include "run/calibration/calibrated_document.h"
#include "run/calibration/probes.h"
#include "sim/model/model_draws.h"

namespace streamsim::run {
namespace {

/// Intervals in which other load is looked for, ns.
constexpr std::int64_t kShortestInterval = 200'000'000;
/// Reads in flight of a seat that fill what it can.
constexpr std::uint32_t kInflightThatFills = 64;
/// Reads that are in one place of any storage.
constexpr std::uint64_t kSmallBlock = 64 << 10;
/// The share of intervals below the rate that a probe has when nothing slows it.
constexpr double kUndisturbed = 0.75;

using Quantile = std::pair<double, double>;  // share, ns

std::vector<Quantile> quantiles_of(const ResponseQuantiles& of) {
    return {{0.1, static_cast<double>(of.p10)},     {0.5, static_cast<double>(of.p50)},
            {0.9, static_cast<double>(of.p90)},     {0.99, static_cast<double>(of.p99)},
            {0.999, static_cast<double>(of.p99_9)}, {1, static_cast<double>(of.max)}};
}

/// Between the quantiles in proportion.
double at_share(const std::vector<Quantile>& quantiles, double share) {
    if (share <= quantiles.front().first) return quantiles.front().second;
    for (std::size_t i = 1; i < quantiles.size(); ++i) {
        const auto& [above, value] = quantiles[i];
        const auto& [below, before] = quantiles[i - 1];
        if (share <= above) return before + (share - below) / (above - below) * (value - before);
    }
    return quantiles.back().second;
}

std::string measured_by(const std::string& probe, const std::string& more) {
    return fmt::format("measured: {}, {}", probe, more);
}

/// The rates of a row by intervals of at least 200 ms, bytes a second. The first and the last are left out.
std::vector<double> rates_of(const ProbeRow& row) {
    if (row.interval_ns <= 0) return {};
    const auto joined =
        static_cast<std::size_t>(std::max<std::int64_t>(kShortestInterval / row.interval_ns, 1));
    std::vector<double> rates;
    for (std::size_t i = joined; i + joined < row.bytes.size(); i += joined) {
        double bytes = 0;
        for (std::size_t k = 0; k < joined; ++k) bytes += static_cast<double>(row.bytes[i + k]);
        rates.push_back(bytes * 1e9 / static_cast<double>(joined * static_cast<std::size_t>(row.interval_ns)));
    }
    return rates;
}

}  // namespace

double steady_operations_per_s(const ProbeRow& row) {
    if (row.operations == 0 || row.operations_per_s <= 0) return 0;
    if (row.probe.operations_per_s > 0) return row.operations_per_s;
    // The intervals after the first reads have come back, where there are enough of them.
    const std::size_t all = row.operations_in.size();
    const auto first_back =
        static_cast<std::size_t>(row.response_ns.p99 / std::max<std::int64_t>(row.interval_ns, 1));
    const std::size_t from = std::min(first_back + 1, all / 2);
    constexpr std::size_t kEnough = 8;
    if (row.interval_ns > 0 && all - from >= kEnough) {
        std::uint64_t operations = 0;
        for (std::size_t i = from; i < all; ++i) operations += row.operations_in[i];
        const auto length_ns = static_cast<double>(row.interval_ns) * static_cast<double>(all - from);
        if (operations >= kEnough) return static_cast<double>(operations) * 1e9 / length_ns;
    }
    const double in_flight = row.probe.all_inflight();
    return row.operations_per_s * (1 + in_flight / 2 / static_cast<double>(row.operations));
}

double steady_bytes_per_s(const ProbeRow& row) {
    if (row.operations_per_s <= 0) return 0;
    return row.bytes_per_s * steady_operations_per_s(row) / row.operations_per_s;
}

ResponseParts response_parts(const Measurement& measured) {
    const ProbeRow& small = *find_row(measured, "latency-4k");
    const ProbeRow& first = *find_row(measured, "ladder-1");
    const ProbeRow* const opens = find_row(measured, "opens-1");
    const auto median = static_cast<double>(first.response_ns.p50);
    ResponseParts parts;
    // The bytes take at least what they take at the highest rate; a read of few bytes shows the rest, unless it
    // has to go to a place of its own, as on a disk.
    parts.limit_ns = static_cast<double>(kProbeBlock) * 1e9 / highest_rate(measured);
    const double fastest_ns = std::min(parts.limit_ns, median);
    const double longer_ns = median - static_cast<double>(small.response_ns.p50);
    parts.bytes_ns = std::clamp(longer_ns, fastest_ns, median);
    parts.anywhere = longer_ns >= fastest_ns;
    parts.trip_ns = std::max(static_cast<double>(first.response_ns.p10) - parts.bytes_ns, 0.0);
    if (opens != nullptr && opens->operations > 0)
        parts.trip_ns = std::min(parts.trip_ns, static_cast<double>(opens->response_ns.p50));
    return parts;
}

namespace {

/// The distribution of the time of a read without its bytes: the mean of the rows' distributions around their
/// medians.
struct ReadTimes {
    std::vector<Quantile> quantiles;
    double count = 0;
};
ReadTimes read_times(const Measurement& measured, const ResponseParts& parts) {
    const ProbeRow& first = *find_row(measured, "ladder-1");
    ReadTimes out{quantiles_of({}), 0};
    for (const ProbeRow& row : measured.rows) {
        // A longer read at a random place may take the longest of several times.
        const bool small = row.probe.kind == ProbeKind::latency && row.probe.block_bytes <= kSmallBlock;
        const bool of_it = &row == &first || (parts.anywhere && small);
        if (!of_it || row.operations == 0) continue;
        const auto own = quantiles_of(row.response_ns);
        const auto weight = static_cast<double>(row.operations);
        for (std::size_t i = 0; i < own.size(); ++i)
            out.quantiles[i].second += weight * (own[i].second - own[1].second);
        out.count += weight;
    }
    const double base_ns = static_cast<double>(first.response_ns.p50) - parts.bytes_ns;
    out.count = std::max(out.count, 1.0);
    for (Quantile& each : out.quantiles) each.second = base_ns + each.second / out.count;
    return out;
}

/// The mean of a distribution with these quantiles, in proportion between them.
double mean_of(const std::vector<Quantile>& quantiles) {
    double mean = quantiles.front().first * quantiles.front().second;
    for (std::size_t i = 1; i < quantiles.size(); ++i) {
        const auto& [above, value] = quantiles[i];
        const auto& [below, before] = quantiles[i - 1];
        mean += (above - below) * (value + before) / 2;
    }
    return mean;
}

/// The share of what reads take beyond their bytes and the trip that is no wait for the limit.
double share_without_limit(const ProbeRow& first, const ResponseParts& parts, std::vector<Quantile> quantiles) {
    constexpr double kFull = 0.8;
    const double mean_ns = 1e9 / std::max(steady_operations_per_s(first), 1e-9);
    if (parts.limit_ns < kFull * mean_ns) return 1;
    for (Quantile& each : quantiles) each.second = std::max(each.second - parts.trip_ns, 0.0);
    const double own_ns = std::max(mean_ns - std::max(parts.limit_ns, parts.bytes_ns) - parts.trip_ns, 0.0);
    return std::min(own_ns / std::max(mean_of(quantiles), 1.0), 1.0);
}

}  // namespace

std::vector<CalibratedNumber> response_values(const Measurement& measured, const ResponseParts& parts) {
    static constexpr const char* kNames[] = {"p10", "p50", "p90", "p99", "p99_9", "max"};
    const auto [quantiles, count] = read_times(measured, parts);
    const double own = share_without_limit(*find_row(measured, "ladder-1"), parts, quantiles);
    const auto rest = [&parts = parts, own](double value) {
        return own * std::max(value - parts.trip_ns, 0.0);
    };
    std::vector<CalibratedNumber> values;
    values.push_back({kTripTime, "response of any operation", parts.trip_ns, parts.trip_ns * 0.95,
                      parts.trip_ns * 1.05, false,
                      measured_by("opens-1 and ladder-1", "what the fastest operations take")});
    std::string basis =
        measured_by(parts.anywhere ? "ladder-1 and latency" : "ladder-1",
                    fmt::format("less {:.0f} us for a MiB and {:.0f} us that any operation takes",
                                parts.bytes_ns / 1e3, parts.trip_ns / 1e3));
    if (own < 1) basis += fmt::format(", and {:.0f} % of the rest as wait for the limit", 100 * (1 - own));
    double before = 0;
    for (std::size_t i = 0; i < quantiles.size(); ++i) {
        const auto& [share, ns] = quantiles[i];
        const double error = sim::kScoreOf95 * std::sqrt(std::max(share * (1 - share), 0.5 / count) / count);
        CalibratedNumber value;
        value.pointer = std::string(kAccess) + kNames[i];
        value.name = fmt::format("more of a read, {}", kNames[i]);
        value.value = std::max(rest(ns), before);
        value.low = std::min(rest(at_share(quantiles, share - error)), value.value);
        value.high = std::max(rest(at_share(quantiles, std::min(share + error, 1.0))), value.value);
        value.basis = basis;
        before = value.value;
        values.push_back(std::move(value));
    }
    return values;
}

std::vector<CalibratedNumber> open_values(const ProbeRow& one, const ProbeRow& many, double trip_ns) {
    const double rate = steady_operations_per_s(many);
    if (one.operations == 0 || rate <= 0) return {};
    const double open_s = std::max(static_cast<double>(one.response_ns.p50) - trip_ns, 0.0) / 1e9;
    CalibratedNumber time{kOpenTime,
                          "time of an open",
                          open_s,
                          open_s * 0.95,
                          open_s * 1.05,
                          false,
                          measured_by(one.probe.id, "less what any operation takes")};
    const double alone = steady_operations_per_s(one);
    constexpr double kFull = 0.8;
    if (rate >= kFull * alone * many.probe.all_inflight()) return {time};
    // The opens of several users take turns in so many lines.
    constexpr double kLeast = 1e-7;
    time.value = std::max(time.value, kLeast);
    time.high = std::max(*time.high, kLeast);
    const double lines = std::max(std::round(rate * time.value), 1.0);
    const std::string basis = measured_by(many.probe.id, fmt::format("{:.0f} opens/s", rate));
    return {time,
            {kOpenLines, "opens at once", lines, 0, std::nullopt, false, basis},
            {kOpenLineShare, "share of an open in line", lines / (rate * time.value), 0, std::nullopt, false,
             basis}};
}

std::optional<CalibratedNumber> file_value(const Measurement& measured) {
    constexpr double kClearly = 0.85;
    double one = 0;
    double many = 0;
    std::string probe;
    for (const ProbeRow& row : measured.rows) {
        if (row.probe.kind != ProbeKind::one_file) continue;
        const ProbeRow* const step = find_row(measured, fmt::format("ladder-{}", row.probe.all_inflight()));
        if (step == nullptr || steady_bytes_per_s(row) <= one) continue;
        one = steady_bytes_per_s(row);
        many = steady_bytes_per_s(*step);
        probe = row.probe.id;
    }
    if (one <= 0 || one > kClearly * many) return std::nullopt;
    return CalibratedNumber{kFileRate,
                            "rate of one file",
                            one,
                            one * 0.97,
                            one * 1.03,
                            false,
                            measured_by(probe, "many files deliver more")};
}

std::vector<CalibratedNumber> write_values(const Measurement& measured, double trip_ns) {
    const ProbeRow* const one = find_row(measured, "writes-1");
    const ProbeRow* const many = find_row(measured, "writes-8");
    if (one == nullptr || many == nullptr || one->operations == 0 || many->operations == 0) return {};
    if (one->failed > 0 || many->failed > 0) return {};
    const double rate = std::max(steady_bytes_per_s(*many), steady_bytes_per_s(*one));
    if (rate <= 0) return {};  // each write was complete after the end of its probe only
    const double bytes_ns = static_cast<double>(one->probe.block_bytes) * 1e9 / rate;
    // A write and its fsync are two operations, each with the journal's latency; its bytes go in once more.
    const double in_ns = static_cast<double>(one->probe.block_bytes) * 1e9 / highest_rate(measured);
    const double latency =
        std::max((static_cast<double>(one->response_ns.p50) - 2 * trip_ns - bytes_ns - in_ns) / 2, 0.0);
    return {{kJournalBytes, "journal", static_cast<double>(std::uint64_t{1} << 36), 0, std::nullopt, false,
             "assumed: it takes what recorders write; how long the storage sustains that was not measured"},
            {kJournalRate, "rate of writes", rate, rate * 0.95, rate * 1.05, false,
             measured_by(many->probe.id, "each write of 1 MiB synced")},
            {kJournalLatency, "time of a synced write", latency, latency * 0.9, latency * 1.1, false,
             measured_by(one->probe.id, "less its bytes and what any operation takes")}};
}

bool fills_storage(const ProbeRow& row, std::uint32_t seats) {
    const Probe& probe = row.probe;
    const bool reads =
        probe.kind == ProbeKind::ladder || probe.kind == ProbeKind::steady || probe.kind == ProbeKind::seats;
    return reads && probe.seats == seats && probe.users * probe.inflight >= kInflightThatFills;
}

std::optional<fit::SlowPeriods> other_load_of(const Measurement& measured) {
    constexpr double kShareMin = 0.2;
    std::vector<std::vector<double>> series;
    std::int64_t interval_ns = kShortestInterval;
    for (const ProbeRow& row : measured.rows) {
        if (!fills_storage(row, measured.seats)) continue;
        interval_ns = std::max(interval_ns, row.interval_ns);
        series.push_back(rates_of(row));
    }
    return fit::slow_periods(series, static_cast<double>(interval_ns) / 1e9, kShareMin);
}

double undisturbed_bytes_per_s(const ProbeRow& row, const fit::SlowPeriods& other, std::uint32_t seats) {
    constexpr double kNearly = 0.9;
    // Slow from its beginning to its end, or in parts: without other load it has the level of all.
    const double own = steady_bytes_per_s(row);
    const double least = other.level * (1 - other.share) * kNearly;
    if (own >= least && fills_storage(row, seats)) return std::max(own, other.level);
    const auto rates = rates_of(row);
    return rates.size() < 4 ? own : std::max(own, fit::quantile(rates, kUndisturbed));
}

namespace {

std::optional<double> spread_of_rate(const ProbeRow& row, std::uint64_t seed) {
    std::vector<double> values;
    for (const std::uint64_t operations : row.operations_in) values.push_back(static_cast<double>(operations));
    const std::size_t second =
        row.interval_ns > 0
            ? static_cast<std::size_t>(std::max<std::int64_t>(1'000'000'000 / row.interval_ns, 1))
            : 1;
    return fit::spread_of_mean(values, second, seed);
}

}  // namespace

std::vector<double> spreads_of_rates(const std::vector<const ProbeRow*>& rows, std::uint64_t seed) {
    constexpr double kLeast = 0.002;
    constexpr double kUnknown = 0.05;
    // The spread of a mean falls with the root of the time.
    const auto root_s = [](const ProbeRow& row) {
        return std::sqrt(std::max(static_cast<double>(row.probe.duration_ns) / 1e9, 0.1));
    };
    std::vector<std::optional<double>> told;
    std::optional<double> of_second;  // the largest
    for (std::size_t i = 0; i < rows.size(); ++i) {
        told.push_back(spread_of_rate(*rows[i], seed + i));
        if (told[i]) of_second = std::max(of_second.value_or(0), *told[i] * root_s(*rows[i]));
    }
    std::vector<double> spreads;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double unknown = of_second ? *of_second / root_s(*rows[i]) : kUnknown;
        spreads.push_back(std::max(told[i].value_or(unknown), kLeast));
    }
    return spreads;
}

std::optional<double> drift_of(const Measurement& measured) {
    double low = HUGE_VAL;
    double high = 0;
    int count = 0;
    for (const ProbeRow& row : measured.rows) {
        if (row.probe.kind != ProbeKind::reference || row.operations == 0) continue;
        low = std::min(low, steady_bytes_per_s(row));
        high = std::max(high, steady_bytes_per_s(row));
        ++count;
    }
    if (count < 2 || low <= 0) return std::nullopt;
    return high / low;
}

}  // namespace streamsim::run
