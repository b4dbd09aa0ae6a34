#include "judge/search/max_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <utility>

#include "base/check.h"
#include "judge/judge.h"

namespace streamsim::judge {
namespace {

/// Failed runs that make a number fail.
constexpr int kFailedRunsMax = 2;
/// Runs of a number that fail because of this computer and do not count.
constexpr int kDisturbedRunsMax = 2;
/// A run whose buffers empty is followed by one that is at most so many times as long. The confirmation covers
/// longer times.
constexpr std::int64_t kLongRunFactor = 3;
/// Such a run lasts 5/4 of the time in which the buffers should empty.
constexpr std::int64_t kBeyondNum = 5, kBeyondDen = 4;
/// Runs of one step, at most, in lengths of the first: it fails, another empties its buffers, two longer ones
/// are disturbed and two pass.
constexpr std::int64_t kStepLengths = 2 + (kDisturbedRunsMax + 2) * kLongRunFactor;
constexpr std::int64_t kConfirmLengths = 3 + kDisturbedRunsMax;
/// Buffers that lose fewer frames between a quarter of the run and its end only vary.
constexpr double kFramesLostMin = 1.5;

class Search {
public:
    Search(const MaxSearchOptions& options, const MaxPlay& play) : options_(options), play_(play) {}

    Result<MaxFormat> run(std::optional<Error>* ended_by);

private:
    enum class Answer { plays, fails, cannot_be_tried, interrupted, storage_gone };

    Answer try_number(std::uint64_t streams, MaxStep::Purpose purpose);
    Answer repeat(std::uint64_t streams, MaxStep& step);
    bool search();
    bool confirm();
    std::uint64_t most_played_below(std::uint64_t streams) const;
    Duration at_most(std::uint64_t streams, const MaxStep& step) const;
    std::int64_t steps_left(std::uint64_t streams) const;

    const MaxSearchOptions& options_;
    const MaxPlay& play_;
    MaxFormat found_;
    std::optional<std::uint64_t> above_;  // the smallest number that failed or could not be tried
    std::optional<Error> why_not_;        // why above_ could not be tried
    bool ended_by_error_ = false;         // why_not_
};

Search::Answer Search::try_number(std::uint64_t streams, MaxStep::Purpose purpose) {
    MaxStep step;
    step.streams = streams;
    step.purpose = purpose;
    const Answer answer = repeat(streams, step);
    step.pass = answer == Answer::plays;
    if (!step.runs.empty()) found_.steps.push_back(std::move(step));
    return answer;
}

/// Plays a number until it has failed twice, or has passed more often than it failed. Disturbed runs do not
/// count.
Search::Answer Search::repeat(std::uint64_t streams, MaxStep& step) {
    const bool confirming = step.purpose == MaxStep::Purpose::confirm;
    Duration length = confirming ? options_.confirm : options_.step;
    bool emptied = false;
    int passed = 0;
    int failed = 0;
    int disturbed = 0;
    while (failed < kFailedRunsMax && passed <= failed) {
        MaxNext next{streams, length, step.purpose, found_.streams, found_.fails_at, at_most(streams, step)};
        auto run = play_(next);
        if (!run) {
            why_not_ = run.error();
            return run.error().kind == ErrorKind::interrupted ? Answer::interrupted : Answer::cannot_be_tried;
        }
        if (run->storage_gone) {
            ended_by_error_ = true;
            why_not_ = environment_error(run->reason);
            return Answer::storage_gone;
        }
        step.runs.push_back(*run);
        const bool client = run->limit == Limit::client_cpu || run->limit == Limit::client_scheduling;
        if (!run->pass && client && options_.repeatable && disturbed < kDisturbedRunsMax) {
            step.runs.back().disturbed = true;
            ++disturbed;
            continue;
        }
        if (!run->pass) {
            // An expected failure, or one in virtual time, is not noise.
            failed += emptied || !options_.repeatable ? kFailedRunsMax : 1;
            continue;
        }
        const auto longest = Duration{options_.step.ns * kLongRunFactor};
        const Duration enough{run->empty_after_ns.value_or(INT64_MAX / kBeyondNum) / kBeyondDen * kBeyondNum};
        if (!confirming && !emptied && enough <= longest) {
            step.runs.back().undecided = emptied = true;
            length = std::max(enough, length);
        } else {
            ++passed;
        }
    }
    return failed < kFailedRunsMax ? Answer::plays : Answer::fails;
}

/// Numbers that the search tries in the worst case, from this one on.
std::int64_t Search::steps_left(std::uint64_t streams) const {
    const auto halvings = [](std::uint64_t between) {
        return static_cast<std::int64_t>(std::bit_width(between));
    };
    if (above_) return halvings(*above_ - found_.streams - 1);
    // The last doubling fails, and the search halves the range before it.
    return 1 + halvings((options_.most - 1) / streams) + halvings(options_.most / 2);
}

Duration Search::at_most(std::uint64_t streams, const MaxStep& step) const {
    if (step.purpose == MaxStep::Purpose::confirm)
        return {options_.confirm.ns * (kConfirmLengths - static_cast<std::int64_t>(step.runs.size()))};
    const std::int64_t lengths =
        kStepLengths * steps_left(streams) - static_cast<std::int64_t>(step.runs.size());
    return {options_.step.ns * lengths + options_.confirm.ns * kConfirmLengths};
}

/// False: the search was interrupted, or its first run failed.
bool Search::search() {
    std::uint64_t next = 1;
    while (found_.streams < options_.most && (!above_ || found_.streams + 1 < *above_)) {
        const Answer answer = try_number(next, MaxStep::Purpose::search);
        if (answer == Answer::interrupted || answer == Answer::storage_gone) return false;
        if (answer == Answer::plays) {
            found_.streams = next;
        } else {
            above_ = next;
            if (answer == Answer::fails) {
                found_.fails_at = next;
                why_not_.reset();
            } else if (found_.steps.empty()) {
                return false;
            }
        }
        const std::uint64_t doubled = found_.streams > options_.most / 2 ? options_.most : found_.streams * 2;
        next = above_ ? found_.streams + (*above_ - found_.streams) / 2 : doubled;
    }
    return true;
}

/// Plays the number that was found for longer. If it fails, the search goes on below it with runs of that
/// length: down by 1, 2, 4, ..., at last to 1, until one plays, then by halving. False: the search was
/// interrupted, or a run ended it with an error.
bool Search::confirm() {
    if (options_.confirm.ns == 0) return true;
    std::uint64_t next = found_.streams;
    std::uint64_t most = next;  // that may play for longer
    std::uint64_t plays = 0;    // confirmed
    for (std::uint64_t down = 1; next > plays;) {
        const Answer answer = try_number(next, MaxStep::Purpose::confirm);
        // As many have played before: the error is that of the storage or of its server now.
        ended_by_error_ |= answer == Answer::cannot_be_tried;
        if (answer == Answer::plays) {
            found_.streams = plays = next;
            found_.confirmed = true;
            found_.confirm_ns = options_.confirm.ns;
        } else if (answer == Answer::fails) {
            above_ = found_.fails_at = next;
            most = next - 1;
            if (plays == 0) found_.streams = most_played_below(next);
            why_not_.reset();
        } else {
            return false;
        }
        if (plays > 0) {
            next = plays + (most - plays + 1) / 2;
        } else {
            next = next > down ? next - down : std::min<std::uint64_t>(next - 1, 1);
            down *= 2;
        }
    }
    return true;
}

std::uint64_t Search::most_played_below(std::uint64_t streams) const {
    std::uint64_t most = 0;
    for (const MaxStep& step : found_.steps) {
        if (step.pass && step.streams < streams) most = std::max(most, step.streams);
    }
    return most;
}

Result<MaxFormat> Search::run(std::optional<Error>* ended_by) {
    STREAMSIM_CHECK(options_.most > 0, "at least one stream may be tried");
    const bool ended = search() && confirm();
    if (ended_by_error_) {
        if (found_.streams == 0 || ended_by == nullptr) return *why_not_;
        *ended_by = *why_not_;
    }
    if (found_.streams == 0 && why_not_ && why_not_->kind != ErrorKind::interrupted) return *why_not_;
    found_.interrupted = !ended;
    if (found_.interrupted && !ended_by_error_) {
        found_.at_least = "interrupted";
    } else if (why_not_) {
        found_.at_least = fmt::format("{}", fmt::join(why_not_->problems, "; "));
    } else if (!above_) {
        found_.at_least = options_.why_most;
    }
    return std::move(found_);
}

/// The run for which the search asks after `so_far`, and then runs that pass or fail as `assumed`; nullopt: it
/// is over.
std::optional<MaxNext> run_after(const MaxSearchOptions& options,
                                 const std::vector<Result<MaxRun>>& so_far,
                                 const std::vector<bool>& assumed) {
    std::optional<MaxNext> asked;
    std::size_t calls = 0;
    (void)find_max(options, [&](const MaxNext& next) -> Result<MaxRun> {
        const std::size_t call = calls++;
        if (call < so_far.size()) return so_far[call];
        if (call - so_far.size() < assumed.size()) {
            MaxRun run;
            run.pass = assumed[call - so_far.size()];
            return run;
        }
        asked = next;
        return interrupted_error();
    });
    return asked;
}

double median_of(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

std::string headroom_lacks(const MaxRun& run, double headroom_percent) {
    return fmt::format(
        "it plays, but without the headroom: the p1 margin of a stream is {:.0f} % of a frame period, and {:g} "
        "% "
        "are required",
        run.margin_p1_percent.value_or(0), headroom_percent);
}

}  // namespace

Duration longest_run(const MaxSearchOptions& options) {
    return std::max(options.confirm, Duration{options.step.ns * kLongRunFactor});
}

Result<MaxFormat> find_max(const MaxSearchOptions& options,
                           const MaxPlay& play,
                           std::optional<Error>* ended_by) {
    return Search(options, play).run(ended_by);
}

// Compares three quarters of the run, without the first, in which play settles. A stall in one of them does not
// move its median.
std::optional<Duration> buffers_empty_after(const std::vector<TimelineEntry>& timeline) {
    std::vector<double> frames;
    std::int64_t interval_ns = 0;
    for (const TimelineEntry& entry : timeline) {
        if (entry.t_ns < 0 || !entry.buffer_frames_min) continue;
        frames.push_back(static_cast<double>(*entry.buffer_frames_min));
        interval_ns = std::max(interval_ns, entry.interval_ns);
    }
    const std::size_t quarter = frames.size() / 4;
    if (quarter == 0) return std::nullopt;
    double level[3];
    for (std::size_t i = 0; i < 3; ++i) {
        const auto begin = frames.end() - static_cast<std::ptrdiff_t>((3 - i) * quarter);
        level[i] = median_of({begin, begin + static_cast<std::ptrdiff_t>(quarter)});
    }
    const double lost = level[0] - level[2];
    if (lost < kFramesLostMin || level[1] > level[0] || level[2] > level[1]) return std::nullopt;
    // Two quarters lie between the middles of the first and the last.
    const double per_ns = lost / static_cast<double>(2 * quarter) / static_cast<double>(interval_ns);
    const double middle_ns = (static_cast<double>(frames.size()) - static_cast<double>(quarter) / 2) *
                             static_cast<double>(interval_ns);
    return Duration{static_cast<std::int64_t>(middle_ns + level[2] / per_ns)};
}

Result<std::uint64_t> most_near(std::uint64_t guess,
                                std::uint64_t limit,
                                const std::function<Result<bool>(std::uint64_t streams)>& plays) {
    std::uint64_t good = 0, bad = limit + 1;  // the largest number that plays, and the smallest that does not
    std::uint64_t at = std::min(std::max<std::uint64_t>(guess, 1), limit);
    for (std::uint64_t step = 1; good + 1 < bad; step *= 2) {
        const auto played = plays(at);
        if (!played) return played.error();
        (*played ? good : bad) = at;
        if (bad > limit)
            at = std::min(at + step, limit);
        else if (good == 0)
            at -= std::min(step, at - 1);
        else
            at = good + (bad - good) / 2;
    }
    return good;
}

std::vector<MaxNext> runs_ahead(const MaxSearchOptions& options,
                                const std::vector<Result<MaxRun>>& so_far,
                                std::size_t most) {
    std::vector<MaxNext> ahead;
    std::deque<std::vector<bool>> open = {{}};
    for (; !open.empty() && ahead.size() < most; open.pop_front()) {
        const std::vector<bool>& assumed = open.front();
        const auto next = run_after(options, so_far, assumed);
        if (!next) continue;
        const bool known =
            std::ranges::any_of(ahead, [&next](const MaxNext& each) { return each.same(*next); });
        if (!assumed.empty() && !known) ahead.push_back(*next);
        // As long as the number doubles, it is likelier to play; afterwards the smaller number is sooner
        // played.
        for (const bool pass : {!next->fails, next->fails.has_value()}) {
            open.push_back(open.front());
            open.back().push_back(pass);
        }
    }
    return ahead;
}

MaxRun max_run(const RunResult& result, Duration length, double headroom_percent) {
    MaxRun run;
    run.duration_ns = length.ns;
    run.pass = result.verdict.pass;
    run.limit = result.verdict.limit;
    run.reason = result.verdict.reason;
    for (const CauseResult& cause : result.causes) {
        if (cause.cause != Cause::storage_gone) continue;
        run.storage_gone = true;
        run.reason = cause.summary;
    }
    run.missed = bad_frames(result.totals);
    run.startup_drops = result.totals.startup_drops;
    if (result.margin_ns) run.margin_min_ns = result.margin_ns->min;
    for (const StreamResult& stream : result.streams) {
        if (!stream.margin_ns) continue;
        const double percent =
            100.0 * static_cast<double>(stream.margin_ns->p1) / static_cast<double>(stream.rate.period().ns);
        if (run.margin_p1_percent && *run.margin_p1_percent <= percent) continue;
        run.margin_p1_percent = percent;
        run.margin_p1_ns = stream.margin_ns->p1;
    }
    run.required_bytes_per_s = result.required_bytes_per_s;
    run.read_bytes_per_s = result.read_bytes_per_s;
    run.before_step = result.before_step;
    run.counters = result.counters;
    if (!run.pass) return run;
    if (const auto empty = buffers_empty_after(in_seconds(result.timeline))) run.empty_after_ns = empty->ns;
    if (headroom_percent > 0 && run.margin_p1_percent.value_or(0) < headroom_percent) {
        run.pass = false;
        run.limit = Limit::unknown;
        run.reason = headroom_lacks(run, headroom_percent);
    }
    return run;
}

}  // namespace streamsim::judge
