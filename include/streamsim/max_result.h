// MaxResult: the largest number of streams that plays, as a search found it, with every step of the search.
// Units are in the names; nullopt is "not known" or "there is none".
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "streamsim/fields.h"
#include "streamsim/run_result.h"

namespace streamsim {

/// The number that the steps of a search try.
enum class MaxCounts {
    streams,           // of all seats together
    streams_per_seat,  // of each of them
    seats,             // each with the streams that were asked for
};

constexpr const char* to_string(MaxCounts counts) {
    switch (counts) {
        case MaxCounts::streams: return "streams";
        case MaxCounts::streams_per_seat: return "streams-per-seat";
        case MaxCounts::seats: return "seats";
    }
    return "?";
}

/// One run of a number of streams.
struct MaxRun {
    std::int64_t duration_ns = 0;  // that was asked for
    bool pass = false;             // no frame missed after the first second, and the headroom kept
    Limit limit = Limit::unknown;
    std::string reason;
    std::uint64_t missed = 0;  // dropped, late, failed or stalled for; drops in the first second are apart
    std::uint64_t startup_drops = 0;
    std::optional<std::int64_t> margin_min_ns;
    /// The margin of the stream that has least, measured in its frame periods. Margins are from a frame's
    /// completion to its deadline, so that the frames that are buffered ahead are part of them.
    std::optional<std::int64_t> margin_p1_ns;
    std::optional<double> margin_p1_percent;  // of that stream's frame period
    /// Nothing was missed so far, but the buffers emptied all the time: they last so long from the beginning of
    /// play.
    std::optional<std::int64_t> empty_after_ns;
    bool undecided = false;     // that happened so fast that a longer run had to follow
    bool storage_gone = false;  // the source of play vanished: nothing is known, and the search ends
    bool disturbed = false;  // this computer had other things to do, and frames were missed for that: repeated
    double required_bytes_per_s = 0;
    double read_bytes_per_s = 0;
    std::optional<BeforeStep> before_step;  // as in RunResult
    std::optional<Counters> counters;
};
void outcome_fields(ConstOr<MaxRun> auto& run, auto& visit) {
    visit("duration_ns", run.duration_ns);
    visit("pass", run.pass);
    visit("limit", run.limit);
    visit("reason", run.reason);
    visit("missed", run.missed);
    visit("startup_drops", run.startup_drops);
    visit("margin_min_ns", run.margin_min_ns);
    visit("margin_p1_ns", run.margin_p1_ns);
    visit("margin_p1_percent", run.margin_p1_percent);
    visit("empty_after_ns", run.empty_after_ns);
    visit("undecided", run.undecided);
    visit("disturbed", run.disturbed);
    visit("required_bytes_per_s", whole(run.required_bytes_per_s));
    visit("read_bytes_per_s", whole(run.read_bytes_per_s));
}
void fields(ConstOr<MaxRun> auto& run, auto& visit) {
    outcome_fields(run, visit);
    visit("before_step", run.before_step, only_if(run.before_step.has_value()));
    visit("counters", run.counters, only_if(run.counters.has_value()));
}

/// A number of streams that was tried, as often as it took to know.
struct MaxStep {
    enum class Purpose {
        search,
        confirm,  // the number that was found, for longer
    };
    std::uint64_t streams = 0;
    Purpose purpose = Purpose::search;
    bool pass = false;
    std::vector<MaxRun> runs;  // the last one decided

    /// Its runs did not agree. Undecided ones do not count.
    bool noisy() const;
};

constexpr const char* to_string(MaxStep::Purpose purpose) {
    switch (purpose) {
        case MaxStep::Purpose::search: return "search";
        case MaxStep::Purpose::confirm: return "confirm";
    }
    return "?";
}

inline bool MaxStep::noisy() const {
    for (const MaxRun& run : runs) {
        if (!run.undecided && run.pass != pass) return true;
    }
    return false;
}

/// The largest number that plays of one format. "Streams" below are streams or seats, as MaxResult::counts
/// says.
struct MaxFormat {
    std::string format;  // its name, or what the clips were found to be
    int width = 0;       // 0: not known
    int height = 0;
    FrameRate rate;

    std::uint64_t streams = 0;              // plays; 0: not one does
    std::optional<std::uint64_t> fails_at;  // the least number that was seen to fail
    bool confirmed = false;                 // by a longer run
    std::int64_t confirm_ns = 0;            // how long that was; 0: none was asked for
    /// The reason for trying no more where more than `streams` may play; empty: `streams` + 1 fail.
    std::string at_least;
    bool interrupted = false;              // the search did not come to its end
    std::optional<Prediction> prediction;  // over draws of a calibrated model
    std::vector<MaxStep> steps;

    /// The run that decided about this number; null when it was not tried.
    const MaxRun* decided(std::uint64_t count) const;
    /// The run that says what keeps one more from playing; null: there is none.
    const MaxRun* one_more() const { return fails_at ? decided(*fails_at) : nullptr; }
};

inline const MaxRun* MaxFormat::decided(std::uint64_t count) const {
    const MaxRun* last = nullptr;
    for (const MaxStep& step : steps) {
        if (step.streams == count && !step.runs.empty()) last = &step.runs.back();
    }
    return last;
}

struct MaxResult {
    RunResult common;  // program, host, target, and how it was played; no streams
    MaxCounts counts = MaxCounts::streams;
    std::uint32_t seats = 1;            // that there are; in a search for seats the most
    std::uint32_t streams_of_seat = 1;  // in a search for seats
    double headroom_percent = 0;
    std::int64_t step_ns = 0;     // a step, at least
    std::int64_t confirm_ns = 0;  // 0: found numbers are not played again
    bool interrupted = false;
    bool server_cache_may_be_warm = false;
    std::vector<std::string> notices;
    std::vector<MaxFormat> formats;

    /// Streams that one more of what is counted stands for.
    std::uint64_t streams_of_one() const {
        if (counts == MaxCounts::streams) return 1;
        return counts == MaxCounts::seats ? streams_of_seat : seats;
    }
    /// Seats that play when so many of what is counted do.
    std::uint64_t seats_of(std::uint64_t count) const { return counts == MaxCounts::seats ? count : seats; }
};

/// A step says what the run says that decided about it; then come all of its runs.
void fields(const MaxStep& step, const MaxResult& result, auto& visit) {
    visit.derived("streams", step.streams * result.streams_of_one());
    visit.derived("seats", result.seats_of(step.streams));
    visit("purpose", step.purpose);
    visit.derived("repeated", step.runs.empty() ? std::size_t{0} : step.runs.size() - 1);
    visit.derived("noisy", step.noisy());
    MaxRun decided = step.runs.empty() ? MaxRun{} : step.runs.back();
    decided.pass = step.pass;
    outcome_fields(decided, visit);
    visit("runs", step.runs);
}
void fields(const MaxFormat& format, const MaxResult& result, auto& visit) {
    const std::uint64_t seats = result.seats_of(format.streams);
    const std::uint64_t streams = format.streams * result.streams_of_one();
    std::optional<std::uint64_t> fails_at = format.fails_at;
    if (fails_at) *fails_at *= result.streams_of_one();
    const MaxRun* const one_more = format.one_more();
    const MaxRun* const decided = format.decided(format.streams);
    const MaxRun plays = decided != nullptr ? *decided : MaxRun{};
    visit("format", format.format);
    visit("width", format.width);
    visit("height", format.height);
    visit("rate", format.rate);
    visit.derived("streams", streams);
    visit.derived("streams_per_seat", seats > 0 ? streams / seats : 0);
    visit.derived("seats", seats);
    visit.derived("fails_at", fails_at);
    visit("confirmed", format.confirmed);
    visit("confirm_ns", format.confirm_ns);
    visit.derived("limit", one_more != nullptr ? one_more->limit : Limit::none);
    visit.derived("reason", one_more != nullptr ? one_more->reason : std::string());
    visit.derived("at_least", !format.at_least.empty());
    visit("at_least_because", format.at_least);
    visit("interrupted", format.interrupted);
    visit.derived("required_bytes_per_s", whole(plays.required_bytes_per_s));
    visit.derived("margin_min_ns", plays.margin_min_ns);
    visit.derived("margin_p1_ns", plays.margin_p1_ns);
    visit.derived("margin_p1_percent", plays.margin_p1_percent);
    visit("prediction", format.prediction, only_if(format.prediction.has_value()));
    visit.rows("steps", format.steps, [&result](const MaxStep& step, auto& row) { fields(step, result, row); });
}
/// The members of a step that a reader takes over; the others follow from its runs. `streams`: of all seats, as
/// documents count.
void read_fields(MaxStep& step, std::uint64_t& streams, auto& visit) {
    visit("streams", streams);
    visit("purpose", step.purpose);
    visit("pass", step.pass);
    visit("runs", step.runs);
}
/// The same of a format.
void read_fields(MaxFormat& format, const MaxResult& result, auto& visit) {
    const std::uint64_t one = std::max<std::uint64_t>(result.streams_of_one(), 1);
    visit("format", format.format);
    visit("width", format.width);
    visit("height", format.height);
    visit("rate", format.rate);
    visit("streams", format.streams);
    visit("fails_at", format.fails_at);
    visit("confirmed", format.confirmed);
    visit("confirm_ns", format.confirm_ns);
    visit("at_least_because", format.at_least);
    visit("interrupted", format.interrupted);
    visit("prediction", format.prediction, only_if(format.prediction.has_value()));
    visit.rows("steps", format.steps, [one](MaxStep& step, auto& row) {
        read_fields(step, step.streams, row);
        step.streams /= one;
    });
    format.streams /= one;
    if (format.fails_at) *format.fails_at /= one;
}
/// Members that a reader takes as they are.
void common_fields(ConstOr<MaxResult> auto& result, auto& visit) {
    auto& common = result.common;
    program_fields(common, visit);
    visit("host", common.host);
    target_fields(common, visit);
    visit.object("play", [&common](auto& play) {
        play_fields(common, play);
        play("order", common.order);
    });
    visit("counts", result.counts);
    visit("seats", result.seats);
    visit("streams_of_seat", result.streams_of_seat, kAdded);
    visit("headroom_percent", result.headroom_percent);
    visit("step_ns", result.step_ns);
    visit("confirm_ns", result.confirm_ns);
    visit("interrupted", result.interrupted);
    visit("server_cache_may_be_warm", result.server_cache_may_be_warm);
    visit("notices", result.notices);
}
void fields(const MaxResult& result, auto& visit) {
    common_fields(result, visit);
    const RunResult& common = result.common;
    visit.derived("model", common.model ? std::optional(common.model->name) : std::nullopt);
    visit.derived("model_title", common.model ? std::optional(common.model->title) : std::nullopt, kAdded);
    visit.derived("model_trust", common.model ? common.model->trust : std::vector<std::string>(), kAdded);
    visit.derived("faults_injected", common.faults_injected.has_value());
    visit.rows("formats", result.formats,
               [&result](const MaxFormat& format, auto& row) { fields(format, result, row); });
}
void read_fields(MaxResult& result, auto& visit) {
    common_fields(result, visit);
    std::optional<std::string> model;
    std::optional<std::string> title;
    std::vector<std::string> trust;
    visit("model", model);
    visit("model_title", title, kAdded);
    visit("model_trust", trust, kAdded);
    if (model) result.common.model = {.name = *model, .title = title.value_or(""), .trust = std::move(trust)};
    bool faults_injected = false;
    visit("faults_injected", faults_injected);
    if (faults_injected) result.common.faults_injected.emplace();
    visit.rows("formats", result.formats,
               [&result](MaxFormat& format, auto& row) { read_fields(format, result, row); });
}

}  // namespace streamsim
