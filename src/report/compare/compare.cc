#include "report/compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "judge/compare_rule.h"
#include "report/compare/compare_report.h"
#include "report/facts/headline.h"
#include "report/facts/selection.h"
#include "report/facts/show.h"

namespace streamsim::report {
namespace {

using judge::clearly_differs;
using judge::FigureKind;
using judge::frames_due;
using judge::pass_and_failure;
using Number = std::optional<double>;
using Runs = std::vector<NamedResult>;

constexpr double kSigmas = 3;
constexpr double kValuesMin = 10;  // fewer values do not tell how they vary
/// A histogram's percentile is wrong by at most 1/256 of its value, either way, in both results.
constexpr double kResolution = 2.0 / 256;

enum class Better { lower, higher, neither };

using NumberOf = std::function<Number(const RunResult&)>;

struct Figure {
    const char* key;
    const char* label;
    Unit unit;
    Better better;
    NumberOf value;
    NumberOf noise;  // inside the run; nullopt: unknown
    FigureKind kind = FigureKind::other;
    bool per_frame = false;        // a count, compared per frame that was due
    bool needs_same_rate = false;  // is compared only where the same rate was required
    std::function<std::string(const RunResult&)> words = {};
};

template <class Summary, class Member>
Number number_of(const std::optional<Summary>& summary, Member Summary::*which) {
    if (!summary) return std::nullopt;
    return static_cast<double>((*summary).*which);
}

Number deviation(const std::vector<double>& values) {
    if (values.size() < 2) return std::nullopt;
    const auto n = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    return std::sqrt(squares / (n - 1));
}

/// The larger of the known ones.
Number larger(Number a, Number b) {
    if (!a || !b) return a ? a : b;
    return std::max(*a, *b);
}

/// One value of each whole second of play, or of each longer interval.
template <typename Value>
std::vector<double> of_intervals(const RunResult& run, Value value) {
    std::vector<double> out;
    const std::vector<TimelineEntry> seconds = in_seconds(run.timeline);
    for (const TimelineEntry& entry : seconds) {
        const bool last = &entry == &seconds.back();
        if (entry.t_ns < 0 || entry.interval_ns <= 0 || last) continue;
        if (const Number number = value(entry)) out.push_back(*number);
    }
    return out;
}

/// The deviation between streams of one format; the largest over the formats.
template <typename Value>
Number between_streams(const RunResult& run, bool of_mean, Value value) {
    std::map<std::string, std::vector<double>> formats;
    for (const StreamResult& stream : run.streams) {
        if (const Number number = value(stream)) formats[kind_of(stream)].push_back(*number);
    }
    Number most;
    for (const auto& [format, values] : formats) {
        Number one = deviation(values);
        if (one && of_mean) *one /= std::sqrt(static_cast<double>(values.size()));
        most = larger(most, one);
    }
    return most;
}

double frames_read(const RunResult& run) {
    return std::max(1.0, static_cast<double>(run.totals.on_time + run.totals.late));
}

/// A sequence opens a file for each frame, a container one for each stream.
double opens(const RunResult& run) {
    double out = 0;
    for (const StreamResult& stream : run.streams) {
        const bool sequence = stream.pattern == "filename-prefetch";
        out += sequence ? static_cast<double>(stream.counts.on_time + stream.counts.late) : 1;
    }
    return std::max(1.0, out);
}

Number not_known(const RunResult& /*run*/) {
    return std::nullopt;
}

/// The deviation between the slowest frames of the intervals.
Number between_slowest(const RunResult& run) {
    return deviation(of_intervals(
        run, [](const TimelineEntry& entry) { return static_cast<double>(entry.service_ns_max); }));
}

/// The deviation between the least margins of the intervals; of the slowest frames if there are no margins.
Number between_tightest(const RunResult& run) {
    const Number tightest = deviation(of_intervals(run, [](const TimelineEntry& entry) -> Number {
        return entry.margin_ns_min ? Number(static_cast<double>(*entry.margin_ns_min)) : std::nullopt;
    }));
    return tightest ? tightest : between_slowest(run);
}

/// A percentile and its neighbours, seen as a latency: the far end is the bad one.
struct Tail {
    double share = 0.01;  // share of the values beyond it
    double near_share = 0.1, far_share = 0.001;
    double value = 0, near = 0, far = 0;
    double typical = 0;
};

/// The standard error of a percentile of `n` values, from the slope between its neighbours. If fewer values lie
/// beyond it than one interval has, one bad interval may have caused it: then also from the deviation between
/// `intervals`.
Number percentile_error(const RunResult& run, const Tail& tail, double n, const Number& intervals) {
    if (n * tail.share < 1) return std::abs(tail.value - tail.typical);
    const double slope = std::abs(tail.far - tail.near) / (tail.near_share - tail.far_share);
    const Number error = std::sqrt(tail.share * (1 - tail.share) / n) * slope;
    const bool one_interval = tail.share * static_cast<double>(in_seconds(run.timeline).size()) < 1;
    return one_interval ? larger(error, intervals) : error;
}

Number sigmas(Number error, Number value) {
    if (!error || !value) return std::nullopt;
    return kSigmas * *error + std::abs(*value) * kResolution;
}

using Latency = std::optional<LatencySummary>;

struct LatencyOf {
    Latency RunResult::*whole;
    Latency StreamResult::*part;
    Number (*intervals)(const RunResult& run);
    double (*count)(const RunResult& run);
};

Number latency_error(const RunResult& run, const LatencyOf& of, std::int64_t LatencySummary::*which) {
    if (of.count(run) < kValuesMin) return std::nullopt;
    const LatencySummary& all = *(run.*of.whole);
    const auto p50 = static_cast<double>(all.p50);
    const auto p90 = static_cast<double>(all.p90);
    const auto p99_9 = static_cast<double>(all.p99_9);
    const Number intervals = of.intervals(run);
    const bool extreme = which == &LatencySummary::max;
    const Number streams = between_streams(
        run, !extreme, [&](const StreamResult& stream) { return number_of(stream.*of.part, which); });
    if (extreme) return larger(streams, larger(intervals, (static_cast<double>(all.max) - p99_9) / kSigmas));
    if (which == &LatencySummary::p50)
        return larger(streams, percentile_error(run, {0.5, 0.5, 0.1, p50, p50, p90, p50}, of.count(run), {}));
    const Tail tail{0.01, 0.1, 0.001, static_cast<double>(all.p99), p90, p99_9, p50};
    return larger(streams, percentile_error(run, tail, of.count(run), intervals));
}

/// One percentile of a latency.
Figure latency_figure(const char* key,
                      const char* label,
                      const LatencyOf& of,
                      std::int64_t LatencySummary::*which) {
    const auto value = [of, which](const RunResult& run) { return number_of(run.*of.whole, which); };
    const auto noise = [=](const RunResult& run) -> Number {
        if (!(run.*of.whole)) return std::nullopt;
        return sigmas(latency_error(run, of, which), value(run));
    };
    const FigureKind kind = which == &LatencySummary::max ? FigureKind::other : FigureKind::percentile;
    return {key, label, Unit::ns, Better::lower, value, noise, kind};
}

Number margin_error(const RunResult& run, std::int64_t MarginSummary::*which) {
    const MarginSummary& all = *run.margin_ns;
    const auto p1 = static_cast<double>(all.p1);
    const auto p10 = static_cast<double>(all.p10);
    const auto p0_1 = static_cast<double>(all.p0_1);
    const bool extreme = which == &MarginSummary::min;
    const Number streams = between_streams(
        run, !extreme, [which](const StreamResult& stream) { return number_of(stream.margin_ns, which); });
    const Number intervals = between_tightest(run);
    if (extreme) return larger(streams, larger(intervals, (p0_1 - static_cast<double>(all.min)) / kSigmas));
    const Tail tail{0.01, 0.1, 0.001, p1, p10, p0_1, static_cast<double>(all.p50)};
    return larger(streams, percentile_error(run, tail, frames_read(run), intervals));
}

Figure compared_margin(const char* key, const char* label, std::int64_t MarginSummary::*which) {
    const auto value = [which](const RunResult& run) { return number_of(run.margin_ns, which); };
    const auto noise = [=](const RunResult& run) -> Number {
        if (!run.margin_ns) return std::nullopt;
        return sigmas(margin_error(run, which), value(run));
    };
    return {key, label, Unit::ns, Better::higher, value, noise, FigureKind::margin};
}

/// A count of frames. `interval`: its member of the time line; nullptr for none.
Figure count_figure(const char* key,
                    const char* label,
                    std::uint64_t FrameCounts::*which,
                    std::uint64_t TimelineEntry::*interval) {
    const auto value = [which](const RunResult& run) { return static_cast<double>(run.totals.*which); };
    const auto noise = [=](const RunResult& run) -> Number {
        const double chance = 2 * std::sqrt(value(run));
        if (interval == nullptr) return chance;
        const auto intervals = of_intervals(
            run, [interval](const TimelineEntry& entry) { return static_cast<double>(entry.*interval); });
        const Number each = deviation(intervals);
        if (!each) return chance;
        return std::max(chance, kSigmas * *each * std::sqrt(static_cast<double>(intervals.size())));
    };
    const FigureKind kind = which == &FrameCounts::startup_drops ? FigureKind::other : FigureKind::misses;
    return {key, label, Unit::count, Better::lower, value, noise, kind, true};
}

Figure measured(const char* key, const char* label, Unit unit, Better better, NumberOf value, NumberOf noise) {
    return {key, label, unit, better, std::move(value), std::move(noise)};
}

/// A requested value, without noise.
Figure given(const char* key, const char* label, Unit unit, NumberOf value) {
    return measured(key, label, unit, Better::neither, std::move(value), [](const RunResult&) { return 0.0; });
}

Figure words(const char* key,
             const char* label,
             Better better,
             std::function<std::string(const RunResult&)> text) {
    Figure figure{key, label, Unit::words, better, {}, {}};
    figure.words = std::move(text);
    return figure;
}

Number missed_share(const RunResult& run) {
    if (run.totals.scheduled <= run.totals.cancelled) return std::nullopt;
    return static_cast<double>(missed(run.totals)) / frames_due(run);
}

Number missed_share_noise(const RunResult& run) {
    const Number share = missed_share(run);
    if (!share) return std::nullopt;
    const double chance = 2 * std::sqrt(*share / frames_due(run));
    const auto shares = of_intervals(run, [](const TimelineEntry& entry) -> Number {
        const auto bad = static_cast<double>(missed(entry));
        const double all = bad + static_cast<double>(entry.frames_on_time);
        return all > 0 ? Number(bad / all) : std::nullopt;
    });
    const Number each = deviation(shares);
    if (!each) return chance;
    return std::max(chance, kSigmas * *each / std::sqrt(static_cast<double>(shares.size())));
}

Number finite(double value) {
    return std::isfinite(value) ? Number(value) : std::nullopt;
}

Number read_rate_noise(const RunResult& run) {
    const auto rates = of_intervals(run, bytes_per_s);
    const Number each = deviation(rates);
    if (!each) return std::nullopt;
    return kSigmas * *each / std::sqrt(static_cast<double>(rates.size()));
}

Number start_delay(const RunResult& run) {
    Number longest;
    for (const StreamResult& stream : run.streams)
        longest = larger(longest, static_cast<double>(stream.start_delay_ns));
    return longest;
}

/// The deviation between streams, and between reads, of which a start consists.
Number start_delay_noise(const RunResult& run) {
    Number noise = between_streams(
        run, false, [](const StreamResult& stream) { return static_cast<double>(stream.start_delay_ns); });
    if (run.service_ns) noise = larger(noise, static_cast<double>(run.service_ns->p99 - run.service_ns->p50));
    return sigmas(noise, start_delay(run));
}

std::string verdict_words(const RunResult& run) {
    return to_lower(first_word(run).word);
}

/// The verdict says whether the storage serves these streams.
bool is_decided(const RunResult& run) {
    const std::string word = first_word(run).word;
    return word != "TOO SHORT TO TELL" && word != "INCOMPLETE" && !word.starts_with("NOTHING ") &&
           !word.ends_with("BUT NOT TOGETHER") && !word.ends_with("BUT PERHAPS FROM A CACHE");
}

/// One passed and the other failed at the same kind of work.
bool better_or_worse(const RunResult& a, const RunResult& b) {
    return pass_and_failure(a, b) && is_decided(a) && is_decided(b) && only_records(a) == only_records(b) &&
           paced(a) == paced(b);
}

std::vector<Figure> frame_figures() {
    Figure share = measured("frames_missed_share", "missed, of the frames due", Unit::share, Better::lower,
                            missed_share, missed_share_noise);
    share.kind = FigureKind::misses;
    return {
        words("verdict", "verdict", Better::higher, verdict_words),
        words("limit", "limited by", Better::neither,
              [](const RunResult& run) { return std::string(to_string(run.verdict.limit)); }),
        words("cause", "cause", Better::neither,
              [](const RunResult& run) {
                  const Cause unsaid = run.verdict.pass ? Cause::none : Cause::unknown;
                  return std::string(to_string(run.causes.empty() ? unsaid : run.causes[0].cause));
              }),
        given("streams", "streams", Unit::count,
              [](const RunResult& run) { return static_cast<double>(run.streams.size()); }),
        given("frames_scheduled", "frames", Unit::count,
              [](const RunResult& run) { return static_cast<double>(run.totals.scheduled); }),
        share,
        count_figure("frames_dropped", "dropped", &FrameCounts::dropped, &TimelineEntry::frames_dropped),
        count_figure("startup_drops", "of them in the first second", &FrameCounts::startup_drops, nullptr),
        count_figure("frames_late", "late", &FrameCounts::late, &TimelineEntry::frames_late),
        count_figure("frames_failed", "failed", &FrameCounts::failed, &TimelineEntry::frames_failed),
        count_figure("stalls", "stalls", &FrameCounts::stalls, nullptr),
    };
}

std::vector<Figure> time_figures() {
    const auto lateness = [](const RunResult& run) {
        return static_cast<double>(run.client.loop_lateness_p99_ns);
    };
    const auto lateness_noise = [](const RunResult& run) {
        return static_cast<double>(run.client.loop_lateness_p99_ns - run.client.loop_lateness_p50_ns);
    };
    Figure read = measured(
        "read_bytes_per_s", "read", Unit::bytes_per_s, Better::higher,
        [](const RunResult& run) { return finite(run.read_bytes_per_s); }, read_rate_noise);
    read.needs_same_rate = true;
    const LatencyOf service{&RunResult::service_ns, &StreamResult::service_ns, between_slowest, frames_read};
    const LatencyOf response{&RunResult::response_ns, &StreamResult::response_ns, between_tightest,
                             frames_read};
    const LatencyOf open{&RunResult::open_ns, &StreamResult::open_ns, not_known, opens};
    return {
        compared_margin("margin_ns_min", "min margin", &MarginSummary::min),
        compared_margin("margin_ns_p1", "p1 margin", &MarginSummary::p1),
        read,
        given("required_bytes_per_s", "required", Unit::bytes_per_s,
              [](const RunResult& run) { return finite(run.required_bytes_per_s); }),
        latency_figure("service_ns_p50", "service median", service, &LatencySummary::p50),
        latency_figure("service_ns_p99", "service p99", service, &LatencySummary::p99),
        latency_figure("service_ns_max", "service max", service, &LatencySummary::max),
        latency_figure("response_ns_p99", "response p99", response, &LatencySummary::p99),
        latency_figure("response_ns_max", "response max", response, &LatencySummary::max),
        latency_figure("open_ns_p99", "open p99", open, &LatencySummary::p99),
        measured("start_delay_ns_max", "start max", Unit::ns, Better::lower, start_delay, start_delay_noise),
        measured("loop_lateness_ns_p99", "timer lateness p99", Unit::ns, Better::lower, lateness,
                 lateness_noise),
    };
}

/// A number for each result; results of one set-up have the same one.
std::vector<std::size_t> setups(const Runs& runs) {
    std::vector<std::size_t> out;
    std::map<std::vector<std::string>, std::size_t> known;
    for (const NamedResult& run : runs) {
        std::vector<std::string> key;
        for (SetupFact& fact : setup_facts(run.result)) {
            if (fact.of_setup) key.push_back(std::move(fact.value));
        }
        out.push_back(known.try_emplace(std::move(key), known.size()).first->second);
    }
    return out;
}

std::vector<SetupDifference> differences(const Runs& runs) {
    std::vector<std::vector<SetupFact>> facts;
    for (const NamedResult& run : runs) facts.push_back(setup_facts(run.result));
    std::vector<SetupDifference> out;
    for (std::size_t i = 0; i < facts.front().size(); ++i) {
        SetupDifference row{facts.front()[i].what, {}};
        for (const auto& each : facts) row.values.push_back(each[i].value);
        const std::set<std::string> distinct(row.values.begin(), row.values.end());
        if (distinct.size() > 1) out.push_back(std::move(row));
    }
    return out;
}

/// Judges one figure of all results.
class Judge {
public:
    Judge(const Runs& runs, const std::vector<std::size_t>& setups, const Figure& figure)
        : runs_(runs), setups_(setups), figure_(figure) {}

    ComparedFigure row() const {
        ComparedFigure out{figure_.key, figure_.label, figure_.unit, {}};
        for (std::size_t i = 0; i < runs_.size(); ++i) out.values.push_back(value(i));
        return out;
    }

private:
    const RunResult& run(std::size_t index) const { return runs_[index].result; }

    /// Calls `take` for each run of the set-up, except for the judged one.
    template <typename Take>
    void repeats(std::size_t judged, std::size_t setup, Take take) const {
        for (std::size_t i = 0; i < runs_.size(); ++i) {
            const bool itself = i == judged && setups_[judged] == setups_[0];
            if (setups_[i] == setup && !itself) take(run(i));
        }
    }
    Number between_runs(std::size_t judged) const {
        Number noise;
        for (const std::size_t setup : {setups_[0], setups_[judged]}) {
            std::vector<double> values;
            repeats(judged, setup, [&](const RunResult& result) {
                if (const Number number = figure_.value(result)) values.push_back(*number);
            });
            if (const Number each = deviation(values)) noise = larger(noise, kSigmas * *each);
        }
        return noise;
    }
    /// The runs of one set-up do not agree among themselves.
    bool words_vary(std::size_t judged) const {
        for (const std::size_t setup : {setups_[0], setups_[judged]}) {
            std::set<std::string> seen;
            repeats(judged, setup, [&](const RunResult& result) { seen.insert(figure_.words(result)); });
            if (seen.size() > 1) return true;
        }
        return false;
    }

    bool comparable(const RunResult& a, const RunResult& b) const {
        return !figure_.needs_same_rate ||
               std::abs(a.required_bytes_per_s - b.required_bytes_per_s) <= 1e-3 * a.required_bytes_per_s;
    }

    /// The noise inside the two runs; a run with a count of 0 has intervals that tell nothing about chance.
    Number inside_runs(const RunResult& a, const RunResult& b, double value_a, double value_b) const {
        const bool counted = figure_.unit == Unit::count || figure_.unit == Unit::share;
        if (counted && figure_.better == Better::lower && (value_a == 0 || value_b == 0)) {
            const double some = std::max(value_a, value_b);
            if (figure_.unit == Unit::count) return 2 * std::sqrt(some);
            return 2 * std::sqrt(some / static_cast<double>(std::max<std::uint64_t>(1, b.totals.scheduled)));
        }
        const Number noise_a = figure_.noise(a);
        const Number noise_b = figure_.noise(b);
        if (!noise_a || !noise_b) return larger(noise_a, noise_b);
        return std::hypot(*noise_a, *noise_b);
    }

    ComparedValue value(std::size_t index) const {
        ComparedValue out;
        if (figure_.unit == Unit::words) {
            out.words = figure_.words(run(index));
            if (index > 0) judge_words(index, out);
            return out;
        }
        out.number = figure_.value(run(index));
        if (index > 0) judge_number(index, out);
        return out;
    }

    /// Otherwise no difference is better or worse: the run is no measurement of a storage.
    bool both_judge_storage(std::size_t index) const {
        return judges_storage(run(0)) && judges_storage(run(index));
    }

    void judge_words(std::size_t index, ComparedValue& out) const {
        const std::string reference = figure_.words(run(0));
        if (run(0).interrupted || run(index).interrupted) {
            out.verdict = ChangeVerdict::not_comparable;
        } else if (out.words == reference || (words_vary(index) && !pass_and_failure(run(0), run(index)))) {
            out.verdict = ChangeVerdict::within_noise;
        } else {
            out.verdict = ChangeVerdict::changed;
            if (figure_.better == Better::higher && both_judge_storage(index) &&
                better_or_worse(run(0), run(index)))
                out.direction = run(index).verdict.pass ? Direction::better : Direction::worse;
        }
    }

    void judge_number(std::size_t index, ComparedValue& out) const {
        const RunResult& reference = run(0);
        const RunResult& other = run(index);
        const Number before = figure_.value(reference);
        out.verdict = ChangeVerdict::not_comparable;
        if (!before || !out.number || !comparable(reference, other)) return;
        const bool exact = reference.timing_digest && other.timing_digest && reference.seed == other.seed;
        out.noise = exact ? Number(0.0)
                          : larger(inside_runs(reference, other, *before, *out.number), between_runs(index));
        const double scale = figure_.per_frame ? frames_due(reference) / frames_due(other) : 1;
        const double difference = *out.number * scale - *before;
        const bool clear = clearly_differs(figure_.kind, reference, other, *before, *out.number);
        if (!out.noise && difference != 0 && !clear) return;
        const bool changed = clear || std::abs(difference) > out.noise.value_or(0) * std::max(scale, 1.0);
        out.verdict = changed ? ChangeVerdict::changed : ChangeVerdict::within_noise;
        if (!changed || figure_.better == Better::neither || !both_judge_storage(index)) return;
        const bool better = (difference > 0) == (figure_.better == Better::higher);
        out.direction = better ? Direction::better : Direction::worse;
    }

    const Runs& runs_;
    const std::vector<std::size_t>& setups_;
    const Figure& figure_;
};

}  // namespace

Comparison compare(const std::vector<NamedResult>& results) {
    STREAMSIM_CHECK(results.size() >= 2, "a comparison has two results or more");
    Comparison out;
    const std::vector<std::size_t> setup = setups(results);
    std::ptrdiff_t with_faults = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const RunResult& result = results[i].result;
        out.results.push_back({results[i].name, result.started_at, verdict_line(result), setup[i]});
        if (judges_storage(result)) continue;
        // Results with faults come first: the banner is in the first line.
        const auto at = result.faults_injected ? out.remarks.begin() + with_faults++ : out.remarks.end();
        out.remarks.insert(
            at, fmt::format("{} ({}): {}{}", column_name(i), results[i].name,
                            result.faults_injected ? "FAULTS INJECTED: " : "", disclaimer_text(result)));
    }
    if (!out.remarks.empty())
        out.remarks.emplace_back("differences from such a result are shown, and are neither better nor worse");
    for (std::size_t i = 1; i < results.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (setup[i] != setup[j] || !pass_and_failure(results[i].result, results[j].result)) continue;
            out.remarks.push_back(fmt::format("{} and {} have one set-up, and only one of them passed",
                                              column_name(j), column_name(i)));
            break;
        }
    }
    out.setup = differences(results);
    for (const auto& figures : {frame_figures(), time_figures()}) {
        for (const Figure& figure : figures) out.figures.push_back(Judge(results, setup, figure).row());
    }
    return out;
}

}  // namespace streamsim::report
