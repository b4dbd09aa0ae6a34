#include "judge/run_verdicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/system/errno_name.h"
#include "base/units.h"
#include "judge/judge.h"
#include "judge/sides.h"

namespace streamsim::judge {
namespace {

struct Totals {
    std::uint64_t done = 0;
    std::uint64_t failed = 0;
    std::uint64_t failed_after_end = 0;
    std::uint64_t blocks = 0;
    const MeterResult::Error* first = nullptr;  // also of an open before play or a sync at the end
    const MeterResult* unanswered = nullptr;    // a meter without a single answer by its end
    const MeterResult* idle = nullptr;          // a meter that never ran

    /// Something that was asked of the storage failed, or had no answer.
    bool failures() const { return failed + failed_after_end > 0 || first != nullptr || unanswered != nullptr; }
};

bool has_answers(const MeterResult& meter) {
    return meter.all.done + meter.all.failed + meter.blocks_done + meter.blocks_failed > 0;
}

Totals totals_of(const std::vector<MeterResult>& meters) {
    Totals out;
    for (const MeterResult& meter : meters) {
        out.done += meter.all.done;
        out.failed += meter.all.failed;
        out.failed_after_end += meter.failed_after_end;
        out.blocks += meter.blocks_done;
        if (out.first == nullptr && !meter.errors.empty()) out.first = &meter.errors.front();
        if (!has_answers(meter) && meter.unfinished > 0) out.unanswered = &meter;
        if (never_ran(meter)) out.idle = &meter;
    }
    return out;
}

/// The side that most of the errors speak for: storage where there are none, only operations without an answer.
Limit limit_of_errors(const RunResult& result) {
    if (!judges_storage(result)) return Limit::unknown;
    const bool remote = result.backend == "nfs" || result.backend == "smb" ||
                        (result.mount && is_remote_file_system(result.mount->type));
    std::map<Limit, std::uint64_t> times;
    for (const MeterResult& meter : result.meters) {
        for (const MeterResult::Error& each : meter.errors)
            times[limit_of_error(each.error, remote)] += each.times;
    }
    const auto most =
        std::ranges::max_element(times, [](const auto& a, const auto& b) { return a.second < b.second; });
    return most != times.end() ? most->first : Limit::storage;
}

/// Why the meters fail the verdict; empty: they do not.
std::string failure_of(const Totals& totals) {
    const char* const known = totals.first != nullptr ? errno_name(totals.first->error) : nullptr;
    const char* const name = known != nullptr ? known : "an error";
    if (totals.failed + totals.failed_after_end > 0) {
        std::string text = totals.failed > 0
                               ? fmt::format("{} of {} operations of the meters failed",
                                             show_count(totals.failed), show_count(totals.done + totals.failed))
                               : fmt::format("{} of the meters failed after the end",
                                             counted(totals.failed_after_end, "operation"));
        if (totals.first == nullptr) return text;
        return text + fmt::format(", the first with {} ({}) on {}", name, to_string(totals.first->operation),
                                  totals.first->path);
    }
    if (totals.first != nullptr) {
        const bool opens = totals.first->operation == LoadOperation::open;
        return fmt::format("{} of {} failed with {}", opens ? "the open before play" : "the sync at the end",
                           totals.first->path, name);
    }
    if (totals.unanswered != nullptr)
        return fmt::format("meter {} had no answer to any of its {} operations before its end",
                           totals.unanswered->name, show_count(totals.unanswered->unfinished));
    if (totals.idle == nullptr) return "";
    return fmt::format("meter {} never ran: it begins when play has ended", totals.idle->name);
}

using State = SeatResult::State;

/// Clock errors and busy computers stay below this.
constexpr std::int64_t kStartLateMaxNs = 500'000'000;

bool vanished(const SeatResult& seat) {
    return seat.state == State::missing || seat.state == State::partial;
}

/// All seats are interrupted where a user ended the run: then each has played as long as it should.
bool all_as_long_as_they_should(const std::vector<SeatResult>& seats) {
    const auto all = [&](State state) {
        return std::ranges::all_of(seats, [=](const SeatResult& seat) { return seat.state == state; });
    };
    return all(State::complete) || all(State::interrupted);
}

/// Why a seat does not pass, for an editor.
std::string failure_of(const SeatResult& seat) {
    switch (seat.state) {
        case State::missing: return "nothing is known of what it played: " + seat.why;
        case State::partial:
            return fmt::format("it vanished: {}{}", seat.why,
                               bad_frames(seat.totals) > 0 ? "; " + seat.verdict.reason : "");
        case State::interrupted: return seat.why + ": " + seat.verdict.reason;
        case State::complete: return seat.verdict.reason;
    }
    return {};
}

/// The shortest frame period of the streams; 0: none has deadlines.
std::int64_t shortest_period_ns(const std::vector<StreamResult>& streams) {
    std::int64_t shortest_ns = 0;
    for (const StreamResult& stream : streams) {
        if (!stream.paced) continue;
        const std::int64_t period_ns = stream.rate.period().ns;
        shortest_ns = shortest_ns == 0 ? period_ns : std::min(shortest_ns, period_ns);
    }
    return shortest_ns;
}

/// A seat that did not play as it should, and the frames that it lost: a stall as many as it lasted.
struct FailedSeat {
    const SeatResult* seat = nullptr;
    std::uint64_t lost = 0;
};

FailedSeat failed_seat(const SeatResult& seat, std::int64_t period_ns) {
    const FrameCounts& totals = seat.totals;
    const std::int64_t stood = period_ns > 0 ? std::max<std::int64_t>(totals.stall_ns / period_ns, 0) : 0;
    return {&seat,
            bad_frames(totals) - totals.stalls + std::max(totals.stalls, static_cast<std::uint64_t>(stood))};
}

/// The limit that most frames are attributed to; where none was missed, the one that all seats agree on.
Limit seat_limit(const std::vector<FailedSeat>& failed) {
    std::map<Limit, std::uint64_t> frames;
    for (const auto& [seat, lost] : failed) {
        if (!seat->verdict.pass) frames[seat->verdict.limit] += lost;
    }
    if (frames.size() == 1) return frames.begin()->first;
    Limit most = Limit::unknown;
    for (const auto& [limit, lost] : frames) {
        if (lost > frames[most]) most = limit;
    }
    return most;
}

std::string several(std::size_t count, std::size_t all) {
    return fmt::format("{} of {} computers did not play as they should: ", count, all);
}

Verdict failed_verdict(std::vector<FailedSeat> failed, std::size_t all) {
    constexpr std::size_t kReasonsMax = 4;
    Verdict verdict;
    verdict.limit = seat_limit(failed);
    // A seat that vanished comes first: others often end because of it.
    std::ranges::stable_sort(failed, std::ranges::greater{}, [](const FailedSeat& each) {
        return std::tuple(each.lost, vanished(*each.seat));
    });
    if (failed.size() > 1) verdict.reason = several(failed.size(), all);
    for (std::size_t i = 0; i < failed.size(); ++i) {
        const SeatResult& seat = *failed[i].seat;
        if (i > 0) verdict.reason += i < kReasonsMax ? "; " : i == kReasonsMax ? "; and " : ", ";
        verdict.reason += seat_name(seat);
        if (i < kReasonsMax) verdict.reason += ": " + failure_of(seat);
    }
    const SeatResult& worst = *failed.front().seat;
    if (!worst.verdict.detail.empty())
        verdict.detail = fmt::format("{}: {}", seat_name(worst), worst.verdict.detail);
    verdict.next = worst.verdict.next;
    return verdict;
}

/// True: streams or meters were assigned to the seat's computer.
bool had_work(const SeatResult& seat, const std::vector<MeterResult>& meters) {
    return seat.totals.scheduled > 0 || std::ranges::any_of(meters, [&seat](const MeterResult& meter) {
               return std::ranges::find(seat.seats, meter.seat) != seat.seats.end();
           });
}

/// The reason that most seats have; then the others, each with its seat: a cold start, a cache.
Verdict passed_verdict(const RunResult& result) {
    std::map<std::string, std::size_t> times;
    const auto works = [&result](const SeatResult& seat) { return had_work(seat, result.meters); };
    const bool none_works = std::ranges::none_of(result.seats, works);
    for (const SeatResult& seat : result.seats) {
        if (none_works || works(seat)) ++times[seat.verdict.reason];
    }
    const auto most =
        std::ranges::max_element(times, [](const auto& a, const auto& b) { return a.second < b.second; });
    Verdict verdict{true, most->first, Limit::none};
    for (const SeatResult& seat : result.seats) {
        if (times.contains(seat.verdict.reason) && seat.verdict.reason != most->first)
            verdict.reason += fmt::format("; {}: {}", seat_name(seat), seat.verdict.reason);
    }
    return verdict;
}

using SeatsOfType = std::pair<std::string, std::vector<const SeatResult*>>;

/// The seats by the file systems that they see, in the order of the seats; fewer than two: they see the same.
std::vector<SeatsOfType> mounts_on_one_target(const std::vector<SeatResult>& seats) {
    std::vector<SeatsOfType> all;
    const std::string* target = nullptr;
    for (const SeatResult& seat : seats) {
        if (!seat.mount || seat.mount->target.empty()) continue;
        if (target == nullptr) target = &seat.mount->target;
        if (seat.mount->target != *target) return {};
        const auto same = std::ranges::find(all, seat.mount->type, &SeatsOfType::first);
        if (same == all.end()) {
            all.push_back({seat.mount->type, {&seat}});
        } else {
            same->second.push_back(&seat);
        }
    }
    return all;
}

void compare(std::vector<std::string>& out,
             const char* what,
             const std::optional<ScenarioExpectation::Bounds>& expected,
             std::uint64_t found) {
    if (!expected || (found >= expected->min && found <= expected->max)) return;
    out.push_back(fmt::format("{} {}, and {} to {} were expected", show_count(found), what,
                              show_count(expected->min), show_count(expected->max)));
}

}  // namespace

Verdict interrupted_before_play() {
    return {false, "interrupted before anything was played", Limit::unknown};
}

Verdict nothing_assigned() {
    return {true, "no stream was assigned to this computer", Limit::none};
}

void judge_vanished_recording(const std::string& file, RunResult& result) {
    if (!result.verdict.pass) return;
    const Limit limit = judges_storage(result) ? Limit::storage : Limit::unknown;
    result.verdict = {false, file + " vanished while it was being recorded", limit};
}

void withhold_storage(RunResult& result) {
    if (judges_storage(result)) return;
    if (result.verdict.limit == Limit::storage) result.verdict.limit = Limit::unknown;
    for (CauseResult& cause : result.causes) {
        if (cause.limit == Limit::storage) cause.limit = Limit::unknown;
    }
}

bool never_ran(const MeterResult& meter) {
    return meter.wall_ns == 0 && meter.unfinished == 0 && !has_answers(meter);
}

bool server_cache_may_be_warm(const MediaFacts& media) {
    const bool young = media.age_s && *media.age_s < kServerCacheSeconds;
    return young || media.looped || media.shared || media.read_for_index;
}

void judge_meters(RunResult& result) {
    if (result.meters.empty()) return;
    Totals totals = totals_of(result.meters);
    if (result.interrupted) totals.unanswered = totals.idle = nullptr;
    const bool alone = result.streams.empty();
    const bool nothing = totals.done + totals.blocks == 0;
    if (alone && nothing) totals.idle = nullptr;
    const std::string failure = failure_of(totals);
    if (failure.empty()) {
        if (!alone) return;
        result.verdict = {true,
                          fmt::format("the meters did {} operations; none failed", show_count(totals.done)),
                          Limit::none};
        if (nothing)
            result.verdict = {false, "the meters did nothing: there is nothing to judge", Limit::unknown};
        else if (totals.done == 0)
            result.verdict.reason = fmt::format(
                "the meters did {} blocks of operations that were not complete at the end; none failed",
                show_count(totals.blocks));
        return;
    }
    const bool streams_passed = result.verdict.pass;
    result.verdict.pass = false;
    if (alone || streams_passed) {
        result.verdict.limit = totals.failures() ? limit_of_errors(result) : Limit::unknown;
        result.verdict.reason = alone ? failure : "the streams played, but " + failure;
    } else {
        result.verdict.reason += "; " + failure;
    }
}

std::string seat_list(const std::vector<std::uint32_t>& seats) {
    constexpr std::size_t kSeatsListed = 4;
    if (seats.size() == 1) return fmt::format("seat {}", seats.front());
    if (seats.back() - seats.front() == seats.size() - 1)
        return fmt::format("seats {} to {}", seats.front(), seats.back());
    const std::size_t all = seats.size();
    const std::size_t listed = all > kSeatsListed + 1 ? kSeatsListed : all - 1;
    const std::string first = fmt::format("seats {}", fmt::join(std::span(seats).first(listed), ", "));
    return all - listed == 1 ? fmt::format("{} and {}", first, seats.back())
                             : fmt::format("{} and {} more", first, all - listed);
}

std::string seat_name(const SeatResult& seat) {
    const std::string name = seat.seats.empty() ? fmt::format("rank {}", seat.rank) : seat_list(seat.seats);
    return seat.host.name.empty() ? name : fmt::format("{} (host {})", name, seat.host.name);
}

bool began_late(const SeatResult& seat) {
    return seat.start_late_ns > kStartLateMaxNs;
}

void judge_start(SeatResult& seat) {
    if (!began_late(seat)) return;
    const std::string late = fmt::format("it began {} after the others", show_duration({seat.start_late_ns}));
    if (seat.verdict.pass) {
        seat.verdict = {false, late, Limit::unknown};
    } else {
        seat.verdict.reason += "; " + late;
    }
}

Verdict verdict_of_seats(const RunResult& result) {
    const bool whole = all_as_long_as_they_should(result.seats);
    const std::int64_t period_ns = shortest_period_ns(result.streams);
    std::vector<FailedSeat> failed;
    for (const SeatResult& seat : result.seats) {
        if (seat.verdict.pass && (seat.state == State::complete || whole)) continue;
        failed.push_back(failed_seat(seat, period_ns));
    }
    return failed.empty() ? passed_verdict(result) : failed_verdict(std::move(failed), result.seats.size());
}

void judge_meters_of_seats(RunResult& result) {
    if (!result.streams.empty() || result.meters.empty()) return;
    if (!all_as_long_as_they_should(result.seats) || std::ranges::any_of(result.seats, began_late)) return;
    Verdict of_seats = result.verdict;
    judge_meters(result);
    withhold_storage(result);
    if (result.verdict.pass) return;
    of_seats.limit = result.verdict.limit;
    result.verdict = std::move(of_seats);
}

std::string mounts_apart(const std::vector<SeatResult>& seats) {
    const auto mounts = mounts_on_one_target(seats);
    if (mounts.size() < 2) return "";
    const auto most =
        std::ranges::max_element(mounts, {}, [](const SeatsOfType& each) { return each.second.size(); });
    std::string text;
    for (auto each = mounts.begin(); each != mounts.end(); ++each) {
        if (each == most) continue;
        const SeatResult& seat = *each->second.front();
        const std::size_t more = each->second.size() - 1;
        text += fmt::format("{}{}{} {} on {}", text.empty() ? "" : "; ", seat_name(seat),
                            more == 0 ? " reads" : fmt::format(" and {} more read", more), each->first,
                            seat.mount->point);
    }
    return text + fmt::format(", and the others {} on {}", most->first, most->second.front()->mount->point);
}

bool read_several_storages(const std::vector<SeatResult>& seats) {
    const auto mounts = mounts_on_one_target(seats);
    const auto any = [&mounts](bool (*is)(std::string_view type)) {
        return std::ranges::any_of(mounts, is, &SeatsOfType::first);
    };
    return any(is_local_file_system) && any(is_remote_file_system);
}

void judge_mounts(RunResult& result) {
    const std::string text = mounts_apart(result.seats);
    if (text.empty()) return;
    if (std::ranges::find(result.notices, text) == result.notices.end()) result.notices.push_back(text);
    if (!read_several_storages(result.seats)) return;
    if (result.verdict.pass) {
        result.verdict = {false, "the computers do not read one storage: " + text, Limit::unknown};
    } else {
        result.verdict.reason += "; they do not read one storage: " + text;
    }
}

std::vector<std::string> surprises(const ScenarioExpectation& expected, const RunResult& result) {
    std::vector<std::string> out;
    if (expected.plays && *expected.plays != result.verdict.pass) {
        out.emplace_back(result.verdict.pass ? "it plays, and was expected not to"
                                             : "it does not play, and was expected to");
    }
    const std::string limit = to_string(result.verdict.limit);
    if (expected.limit && *expected.limit != limit)
        out.push_back(fmt::format("the limit is {}, and {} was expected", limit, *expected.limit));
    compare(out, "frames dropped", expected.dropped, result.totals.dropped - result.totals.startup_drops);
    compare(out, "frames late", expected.late, result.totals.late);
    compare(out, "frames failed", expected.failed, result.totals.failed);
    compare(out, "stalls", expected.stalls, result.totals.stalls);
    return out;
}

}  // namespace streamsim::judge
