#include "run/calibration/model_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "base/system/parallel_for.h"
#include "base/units.h"
#include "fit/minimise.h"
#include "fit/queueing.h"
#include "fit/uncertainty.h"
#include "run/calibration/calibrated_document.h"
#include "run/calibration/direct_numbers.h"
#include "run/calibration/measurement_notes.h"
#include "run/calibration/probes.h"
#include "run/calibration/seat_limits.h"
#include "run/calibration/virtual_target.h"
#include "sim/model/model_document.h"
#include "sim/model/model_draws.h"

namespace streamsim::run {
namespace {

using Values = std::vector<double>;  // of the free numbers, logarithms

/// No fit of this kind is nearer to a storage than this, standard deviation of ln rate.
constexpr double kModelErrorMin = 0.015;
constexpr double kModelErrorMax = 1;
/// The error where the ladder ended before anything was full: no prediction is narrow enough then.
constexpr double kModelErrorOfPart = 0.3;
/// A read at a random place that differs by more is not described.
constexpr double kDescribed = 1.5;
/// A step of a derivative.
constexpr double kDerivativeStep = 0.03;
/// A probe that the forward model does ends after so many operations.
constexpr double kForwardOperations = 3000;
constexpr double kForwardRounds = 30;  // response times, at least
/// Files of the forward model: no cache of the model holds them, as what caches do is in the measured times.
constexpr std::uint64_t kForwardSetBytes = std::uint64_t{1} << 40;
/// Reads that wait in lines are looked for where the rates differ by more, ln, and taken where the squares fall
/// to this share.
constexpr double kNearEnough = 0.015;
constexpr double kClearly = 0.7;
constexpr double kLinesMin = 2;
constexpr double kLinesMax = 256;
constexpr double kServerBeyond = 2.5;  // times its likely rate
/// Rates decide, and long waits between structures of the same rates.
constexpr double kWeightOfWaits = 0.01;
constexpr std::uint32_t kReadsThatWait = 8;  // in flight
/// A number that changes the rates by less than this share of its own change decides nothing.
constexpr double kDecidesNothing = 0.1;
/// The value of a limit that is not met, in times of where the fit left it.
constexpr double kBeyondLines = 20;

/// A structure, with its numbers and where the optimiser ended.
struct Trial {
    std::vector<CalibratedNumber> values;
    std::vector<fit::FreeParameter> free;  // logarithms
    std::vector<std::size_t> free_at;      // in `values`
    Values best;
    double squares = 0;  // that the optimiser left

    void add_free(CalibratedNumber value, double low, double high, double step = 0.05) {
        value.free = true;
        free.push_back({std::log(std::clamp(value.value, low, high)), std::log(low), std::log(high), step});
        free_at.push_back(values.size());
        values.push_back(std::move(value));
    }
    /// The free number of this pointer stays as it is. REQUIRES: there is one.
    void fix(const std::string& pointer) {
        const auto at = static_cast<std::size_t>(
            std::ranges::find_if(free_at, [&](std::size_t i) { return values[i].pointer == pointer; }) -
            free_at.begin());
        const auto index = static_cast<std::ptrdiff_t>(at);
        free.erase(free.begin() + index);
        free_at.erase(free_at.begin() + index);
        best.erase(best.begin() + index);
    }
    /// REQUIRES: there is one.
    CalibratedNumber& number(const std::string& pointer) {
        return *std::ranges::find(values, pointer, &CalibratedNumber::pointer);
    }
    bool is_free(const std::string& pointer) const {
        return std::ranges::any_of(free_at, [&](std::size_t i) { return values[i].pointer == pointer; });
    }
};

class Fit {
public:
    Fit(const Measurement& measured, const FitOptions& options)
        : measured_(measured), forward_(measured), options_(options) {
        forward_.rows.clear();
        forward_.set_bytes = kForwardSetBytes;
        out_.measured = measured;
        out_.name = options.name;
    }

    Result<Calibration> run();

private:
    Result<void> check() const;
    void take_direct_numbers();
    void choose_free_numbers();
    void optimise();
    void optimise(Trial& trial, int evaluations) const;
    Trial with_lines(const Trial& without, bool whole_read, double server) const;
    double likely_lines() const;
    void find_lines(Trial& trial) const;
    void fix_what_decides_nothing();
    void find_uncertainty();
    void compare_all();
    void add_notes();
    void note_random_reads();
    bool ladder_is_whole() const { return find_row(measured_, "ladder-64") != nullptr; }

    CalibratedNumber& value_at(const char* pointer);
    double measured_rate(const ProbeRow& row) const;
    std::vector<ProbeRow> fitted_rows(const Trial& trial, const Values& at) const;
    std::vector<double> fitted_rates(const Trial& trial, const Values& at) const;
    double squares_of_waits(const std::vector<ProbeRow>& fitted) const;
    std::shared_ptr<const ClusterModel> model_at(const Trial& trial, const Values& at, bool other_load) const;
    double squares_of(const std::vector<double>& fitted) const;
    Probe shortened(const ProbeRow& row) const;

    const Measurement& measured_;
    Measurement forward_;  // of the model: its files
    const FitOptions& options_;
    Calibration out_;
    SeatLimits limits_;
    ResponseParts parts_;
    std::optional<fit::SlowPeriods> other_;
    Trial trial_;
    std::vector<const ProbeRow*> rows_;  // that are fitted: the ladder and the seats
    fit::Uncertainty uncertainty_;
};

Result<void> Fit::check() const {
    Error problems{ErrorKind::bad_input, {}};
    for (const char* id : {"latency-4k", "ladder-1"}) {
        const ProbeRow* const row = find_row(measured_, id);
        if (row == nullptr)
            problems.problems.push_back(fmt::format("the probe {} was not measured", id));
        else if (row->operations == 0)
            problems.problems.push_back(fmt::format(
                "the probe {} has no operation that was done by its end ({} failed)", id, row->failed));
    }
    if (problems.problems.empty() && highest_rate(measured_) <= 0)
        problems.problems.emplace_back("no probe of the ladder delivered a byte");
    if (!problems.problems.empty()) return problems;
    return {};
}

double Fit::measured_rate(const ProbeRow& row) const {
    return other_ ? undisturbed_bytes_per_s(row, *other_, measured_.seats) : steady_bytes_per_s(row);
}

CalibratedNumber& Fit::value_at(const char* pointer) {
    auto& values = trial_.values;
    const auto found = std::ranges::find(values, pointer, &CalibratedNumber::pointer);
    return found != values.end() ? *found : values.emplace_back();
}

void Fit::take_direct_numbers() {
    const auto add = [this](std::vector<CalibratedNumber> values) {
        std::move(values.begin(), values.end(), std::back_inserter(trial_.values));
    };
    other_ = other_load_of(measured_);
    parts_ = response_parts(measured_);
    add(response_values(measured_, parts_));
    const ProbeRow* const one = find_row(measured_, "opens-1");
    const ProbeRow* const many = find_row(measured_, "opens-16");
    if (one != nullptr && many != nullptr) add(open_values(*one, *many, parts_.trip_ns));
    if (const auto file = file_value(measured_)) trial_.values.push_back(*file);
    add(write_values(measured_, parts_.trip_ns));
    trial_.values.push_back({kRequestTime, "processor time of a read", 5e-6, 0, std::nullopt, false,
                             "assumed: a system call and its completion"});
    out_.other_load = other_.has_value();
    if (!other_) return;
    const auto* const other = &*other_;
    const double error = 0.5 / std::sqrt(static_cast<double>(other->periods));
    const std::string basis =
        fmt::format("measured: {} periods in the ladder in which less was delivered", other->periods);
    const auto between = [error, &basis](const char* pointer, const char* name, double value, double most) {
        return CalibratedNumber{pointer, name, value, value / (1 + error), std::min(value * (1 + error), most),
                                false,   basis};
    };
    trial_.values.push_back(
        between(kOtherLoadShare, "share of other load", std::min(other->share, 0.95), 0.95));
    trial_.values.push_back(
        between(kOtherLoadLength, "length of other load", other->mean_length_s * 1e9, 3600e9));
    trial_.values.push_back(between(kOtherLoadGap, "gap without other load", other->mean_gap_s * 1e9, 3600e9));
}

void Fit::choose_free_numbers() {
    std::vector<fit::LadderPoint> ladder;
    double highest = 0;
    for (const ProbeRow& row : measured_.rows) {
        const bool ladder_step = row.probe.kind == ProbeKind::ladder || row.probe.kind == ProbeKind::steady;
        if (!ladder_step && row.probe.kind != ProbeKind::seats) continue;
        if (row.operations == 0 || measured_rate(row) <= 0) continue;
        rows_.push_back(&row);
        if (!ladder_step) continue;
        const double rate = measured_rate(row);
        highest = std::max(highest, rate);
        ladder.push_back({row.probe.all_inflight(), rate / static_cast<double>(kProbeBlock)});
    }
    // The queue of reads of one size is shorter than with exponential service, so the rate lies between the
    // highest that was measured and the estimate.
    const double estimate = static_cast<double>(kProbeBlock) / fit::bottleneck_of(ladder).demands_s.front();
    const double start = std::sqrt(highest * std::clamp(estimate, highest, 1.5 * highest));
    limits_ = seat_limits(measured_, [this](const ProbeRow& row) { return measured_rate(row); });
    // The model passes a read on whole, from the server to the link; a network passes it on in packets. With
    // two limits of about the same rate that shows where few reads are in flight.
    constexpr std::uint32_t kReadsThatHideIt = 4;
    if (limits_.told_apart)
        std::erase_if(rows_, [](const ProbeRow* row) { return row->probe.all_inflight() < kReadsThatHideIt; });
    const double wire = 8 / payload_share(measured_.mtu);
    for (CalibratedNumber& value : limits_.fixed) {
        value.value *= wire;
        value.low *= wire;
        if (value.high) value.high = *value.high * wire;
        trial_.values.push_back(std::move(value));
    }
    for (CalibratedNumber& value : limits_.free) {
        const double from = value.value > 0 ? value.value : start;
        value.value = from * wire;
        value.low *= wire;
        trial_.add_free(std::move(value), from * wire * 0.5, from * wire * 3);
    }
    const double slope_s = parts_.bytes_ns / 1e9 / static_cast<double>(kProbeBlock);
    constexpr double kLeast = 1e-14;
    const double most = std::max(slope_s, 2 * kLeast);
    const double guess = std::clamp(slope_s - 1 / highest, kLeast, most);
    trial_.add_free({kSecondsPerByte, "time of a byte of one read", guess, 0, std::nullopt, true,
                     "fitted to the rates of the ladder: what reads in flight do not share"},
                    kLeast, most);
}

Probe Fit::shortened(const ProbeRow& row) const {
    Probe probe = row.probe;
    const double least = kForwardRounds * static_cast<double>(row.response_ns.p50);
    const double enough = kForwardOperations * 1e9 / std::max(row.operations_per_s, 1.0);
    probe.duration_ns = std::min(probe.duration_ns, static_cast<std::int64_t>(std::max({least, enough, 50e6})));
    return probe;
}

std::shared_ptr<const ClusterModel> Fit::model_at(const Trial& trial, const Values& at, bool other_load) const {
    std::vector<CalibratedNumber> values = trial.values;
    for (std::size_t i = 0; i < trial.free_at.size(); ++i) values[trial.free_at[i]].value = std::exp(at[i]);
    if (!other_load)
        std::erase_if(
            values, [](const CalibratedNumber& each) { return each.pointer.starts_with("/node/other_load"); });
    auto model = sim::read_model_document(trial_document(options_.name, measured_.mtu, values), options_.name);
    if (!model) return nullptr;
    return std::make_shared<const ClusterModel>(std::move(*model));
}

/// The rows that the model gives for the probes, without other load.
std::vector<ProbeRow> Fit::fitted_rows(const Trial& trial, const Values& at) const {
    std::vector<ProbeRow> fitted(rows_.size());
    const auto model = model_at(trial, at, false);
    if (model == nullptr) return fitted;
    const PlayRequest base = request_on(model);
    parallel_for(
        rows_.size(),
        [&](std::size_t i) {
            auto row = do_probe(base, shortened(*rows_[i]), forward_, options_.program);
            if (row) fitted[i] = std::move(*row);
        },
        computing_threads());
    return fitted;
}

std::vector<double> Fit::fitted_rates(const Trial& trial, const Values& at) const {
    std::vector<double> rates;
    for (const ProbeRow& row : fitted_rows(trial, at)) rates.push_back(steady_bytes_per_s(row));
    return rates;
}

/// The squares of the longest responses' differences in ln, where reads wait: they tell a line for all from
/// many lines, whose rates may be the same.
double Fit::squares_of_waits(const std::vector<ProbeRow>& fitted) const {
    if (other_) return 0;
    double sum = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const std::int64_t measured = rows_[i]->response_ns.p99;
        const std::int64_t modelled = fitted[i].response_ns.p99;
        if (rows_[i]->probe.all_inflight() < kReadsThatWait || measured <= 0 || modelled <= 0) continue;
        sum += std::pow(std::log(static_cast<double>(modelled) / static_cast<double>(measured)), 2);
    }
    return sum;
}

double Fit::squares_of(const std::vector<double>& fitted) const {
    double sum = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i)
        sum += std::pow(std::log(std::max(fitted[i], 1.0) / std::max(measured_rate(*rows_[i]), 1.0)), 2);
    return sum;
}

void Fit::optimise(Trial& trial, int evaluations) const {
    int done = 0;
    const auto distance = [&](const Values& at) {
        const auto fitted = fitted_rows(trial, at);
        std::vector<double> rates;
        rates.reserve(fitted.size());
        for (const ProbeRow& row : fitted) rates.push_back(steady_bytes_per_s(row));
        const double sum = squares_of(rates);
        if (++done % 10 == 0)
            options_.progress(fmt::format("fit: {} models tried, rates differ by {:.1f} %", done,
                                          100 * std::sqrt(sum / static_cast<double>(rows_.size()))));
        return sum + kWeightOfWaits * squares_of_waits(fitted);
    };
    const fit::Minimum found = fit::minimise(trial.free, distance, evaluations, 0.002);
    trial.best = found.at;
    trial.squares = found.value;
    for (std::size_t i = 0; i < trial.free_at.size(); ++i)
        trial.values[trial.free_at[i]].value = std::exp(trial.best[i]);
}

/// The structure in which reads wait in lines for those of the same place, by their bytes or altogether. One
/// line for all, or a line for each, is what the model without them has.
Trial Fit::with_lines(const Trial& without, bool whole_read, double server) const {
    Trial out;
    for (CalibratedNumber value : without.values) {
        if (value.pointer == kSecondsPerByte) continue;
        if (whole_read && value.pointer.starts_with(kAccess))
            value.pointer.replace(0, std::strlen(kAccess), kLineAccess);
        if (!without.is_free(value.pointer)) {
            out.values.push_back(std::move(value));
            continue;
        }
        const double at = value.value;
        if (value.pointer == kServerRate) value.value *= server;
        out.add_free(std::move(value), at * 0.5, at * 3);
    }
    if (whole_read)
        out.values.push_back({std::string(kAccess) + "median", "time of a drive", 0, 0, std::nullopt, false,
                              "assumed: within the lines"});
    const double slope_s = std::max(parts_.bytes_ns / 1e9 / static_cast<double>(kProbeBlock), 1e-14);
    out.add_free({kLineRate, "rate of a line of reads", 1 / slope_s, 0, std::nullopt, true,
                  "fitted to the rates of the ladder: what reads of the same place share"},
                 0.9 / slope_s, 10 / slope_s);
    CalibratedNumber lines{kReadLines,
                           "lines of reads",
                           likely_lines(),
                           0,
                           std::nullopt,
                           true,
                           "fitted to the rates of the ladder: reads wait for others of the same place"};
    out.values.push_back(std::move(lines));
    return out;
}

/// As many lines as let half of the ladder's reads be served at once, where service times are exponential; they
/// are shorter, and so are the lines.
double Fit::likely_lines() const {
    constexpr std::size_t kHalfWay = 16;  // reads in flight, of which some wait
    constexpr double kShorter = 0.6;
    const ProbeRow* const row = find_row(measured_, fmt::format("ladder-{}", kHalfWay));
    if (row == nullptr) return kLinesMin;
    const double alone = steady_bytes_per_s(*find_row(measured_, "ladder-1"));
    const double served = std::min(measured_rate(*row) / std::max(alone, 1.0), 0.9 * kHalfWay);
    return std::clamp(std::round(kShorter * served * (kHalfWay - 1) / (kHalfWay - served)), kLinesMin,
                      kLinesMax);
}

/// Finds the number of lines: from the likely one in steps that become smaller.
void Fit::find_lines(Trial& trial) const {
    for (double step = 1.4; step > 1.03;) {
        const double before = trial.number(kReadLines).value;
        for (const double lines : {std::round(before * step), std::round(before / step)}) {
            if (lines == before || lines < kLinesMin || lines > kLinesMax) continue;
            Trial other = trial;
            other.number(kReadLines).value = lines;
            for (std::size_t i = 0; i < other.free.size(); ++i) other.free[i].start = trial.best[i];
            optimise(other, options_.evaluations / 3);
            if (other.squares < trial.squares) trial = std::move(other);
        }
        if (trial.number(kReadLines).value == before) step = std::sqrt(step);
    }
}

/// Seats that fill lines tell nothing about a limit beyond them.
void Fit::fix_what_decides_nothing() {
    if (!limits_.told_apart || !trial_.is_free(kServerRate) || trial_.free.size() < 2) return;
    const auto before = fitted_rates(trial_, trial_.best);
    Values higher = trial_.best;
    for (std::size_t i = 0; i < higher.size(); ++i) {
        if (trial_.values[trial_.free_at[i]].pointer == kServerRate) higher[i] += kDerivativeStep;
    }
    const auto after = fitted_rates(trial_, higher);
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (std::abs(std::log(std::max(after[i], 1.0) / std::max(before[i], 1.0))) >
            kDecidesNothing * kDerivativeStep)
            return;
    }
    trial_.fix(kServerRate);
    CalibratedNumber& server = value_at(kServerRate);
    server.value *= kBeyondLines;
    server.free = false;
    server.low = 0;
    server.high.reset();
    server.basis = "assumed: the lines of reads are full first";
}

void Fit::optimise() {
    optimise(trial_, options_.evaluations);
    const double squares = squares_of(fitted_rates(trial_, trial_.best));
    if (std::sqrt(squares / static_cast<double>(rows_.size())) < kNearEnough) return;
    Trial lines;
    lines.squares = HUGE_VAL;
    const auto try_lines = [&](bool whole_read, double server) {
        Trial trial = with_lines(trial_, whole_read, server);
        optimise(trial, options_.evaluations * 2 / 3);
        if (trial.squares < lines.squares) lines = std::move(trial);
    };
    try_lines(false, 1);
    try_lines(true, 1);
    // Lines that are full look like a server that is.
    const bool whole_read = std::ranges::any_of(
        lines.values, [](const CalibratedNumber& each) { return each.pointer.starts_with(kLineAccess); });
    try_lines(whole_read, kServerBeyond);
    find_lines(lines);
    if (lines.squares >= kClearly * trial_.squares) return;
    trial_ = std::move(lines);
    fix_what_decides_nothing();
}

/// Standard deviations of the free numbers, from how the rates vary from second to second.
void Fit::find_uncertainty() {
    const auto at_best = fitted_rates(trial_, trial_.best);
    std::vector<std::vector<double>> derivatives(rows_.size(), std::vector<double>(trial_.free.size(), 0));
    const std::vector<double> spreads = spreads_of_rates(rows_, measured_.seed);
    for (std::size_t k = 0; k < trial_.free.size(); ++k) {
        Values moved = trial_.best;
        moved[k] += kDerivativeStep;
        const auto rates = fitted_rates(trial_, moved);
        for (std::size_t i = 0; i < rows_.size(); ++i)
            derivatives[i][k] = std::log(std::max(rates[i], 1.0) / std::max(at_best[i], 1.0)) / kDerivativeStep;
    }
    uncertainty_ = fit::uncertainty_of(derivatives, spreads);
    const double residual = std::sqrt(squares_of(at_best) / static_cast<double>(rows_.size()));
    const double drift = std::log(drift_of(measured_).value_or(1)) / 2;
    out_.model_error =
        std::min(std::sqrt(std::pow(std::max(residual, kModelErrorMin), 2) + drift * drift), kModelErrorMax);
    if (!ladder_is_whole()) out_.model_error = std::max(out_.model_error, kModelErrorOfPart);
    for (std::size_t k = 0; k < trial_.free.size(); ++k) {
        CalibratedNumber& value = trial_.values[trial_.free_at[k]];
        const bool at_least = value.low > 0 && !value.high;
        const double spread = sim::kScoreOf95 * std::min(uncertainty_.deviations[k], 1.0);
        // A bound that was seen stays where nothing else tells it.
        constexpr double kUnknown = 0.5;
        const bool stays = at_least && uncertainty_.deviations[k] >= kUnknown;
        value.low = stays ? std::min(value.low, value.value) : value.value * std::exp(-spread);
        if (!at_least) value.high = value.value * std::exp(spread);
    }
}

void Fit::compare_all() {
    const auto model = model_at(trial_, trial_.best, true);
    if (model == nullptr) return;
    const PlayRequest base = request_on(model);
    struct Pair {
        const ProbeRow* measured;
        ProbeRow fitted;
    };
    std::vector<Pair> pairs;
    for (const ProbeRow& row : measured_.rows) {
        if (row.operations > 0 && row.probe.kind != ProbeKind::again) pairs.push_back({&row, {}});
    }
    parallel_for(
        pairs.size(),
        [&](std::size_t i) {
            Probe probe = pairs[i].measured->probe;
            if (!out_.other_load) probe.duration_ns = 3 * shortened(*pairs[i].measured).duration_ns;
            probe.duration_ns = std::min(probe.duration_ns, pairs[i].measured->probe.duration_ns);
            auto row = do_probe(base, probe, forward_, options_.program);
            if (row) pairs[i].fitted = std::move(*row);
        },
        computing_threads());
    for (const Pair& pair : pairs) {
        const ProbeRow& row = *pair.measured;
        const bool used = std::ranges::count(rows_, &row) > 0;
        const bool opens = row.probe.kind == ProbeKind::opens;
        out_.residuals.push_back(
            {row.probe.id, "rate", opens ? "operations/s" : "bytes/s",
             opens ? steady_operations_per_s(row) : steady_bytes_per_s(row),
             opens ? steady_operations_per_s(pair.fitted) : steady_bytes_per_s(pair.fitted), used});
        const auto add = [&](const char* quantity, std::int64_t measured, std::int64_t fitted) {
            out_.residuals.push_back({row.probe.id, quantity, "ns", static_cast<double>(measured),
                                      static_cast<double>(fitted), false});
        };
        add("median response", row.response_ns.p50, pair.fitted.response_ns.p50);
        add("p99 response", row.response_ns.p99, pair.fitted.response_ns.p99);
    }
}

void Fit::add_notes() {
    out_.told_apart = limits_.told_apart;
    out_.notes = limits_.notes;
    std::ranges::move(measurement_notes(measured_), std::back_inserter(out_.notes));
    if (out_.other_load)
        out_.notes.push_back(fmt::format(
            "other load was there: in {:.0f} % of the time {:.0f} % less was delivered; measure again "
            "while the storage is idle to know it without",
            100 * value_at(kOtherLoadLength).value /
                (value_at(kOtherLoadLength).value + value_at(kOtherLoadGap).value),
            100 * value_at(kOtherLoadShare).value));
    note_random_reads();
    if (!ladder_is_whole())
        out_.notes.push_back(
            "the ladder ended before anything was full: the rates are lower bounds, and predictions "
            "will be refused");
    for (const std::string& text : measured_.left_out) out_.notes.push_back(text);
}

/// Reads at random places are compared and not fitted: players read in order.
void Fit::note_random_reads() {
    for (const FitResidual& residual : out_.residuals) {
        if (residual.probe != "latency-1m" || residual.quantity != "median response" || residual.fitted <= 0)
            continue;
        const double times = residual.measured / residual.fitted;
        if (times < kDescribed && times > 1 / kDescribed) return;
        out_.notes.push_back(fmt::format(
            "a read of 1 MiB at a random place takes {}, and {} in the model, which describes reads in order: "
            "it "
            "says nothing about scrubbing and jumps",
            show_duration({std::llround(residual.measured)}), show_duration({std::llround(residual.fitted)})));
    }
}

Result<Calibration> Fit::run() {
    if (auto checked = check(); !checked) return checked.error();
    take_direct_numbers();
    choose_free_numbers();
    options_.progress(fmt::format("fit: begins at {} a second",
                                  show_bytes(static_cast<std::uint64_t>(highest_rate(measured_)))));
    optimise();
    find_uncertainty();
    compare_all();
    add_notes();
    std::vector<std::string> names;
    for (const std::size_t at : trial_.free_at) names.push_back(trial_.values[at].pointer);
    std::erase_if(trial_.values, [](const CalibratedNumber& each) { return each.pointer.empty(); });
    if (model_at(trial_, trial_.best, true) == nullptr)
        return bad_input(
            "no model describes these probes: their times or rates are beyond what a model may have");
    out_.values = trial_.values;
    out_.correlation = uncertainty_.correlation;
    out_.correlated = std::move(names);
    out_.document = calibrated_document(out_);
    return std::move(out_);
}

}  // namespace

Result<Calibration> fit_model(const Measurement& measured, const FitOptions& options) {
    return Fit(measured, options).run();
}

}  // namespace streamsim::run
