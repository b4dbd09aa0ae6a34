#include "result/merge_seats.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "judge/judge.h"

namespace streamsim::result {
namespace {

using State = SeatResult::State;

/// More is better.
auto worth(const SeatResult& seat) {
    int state = 0;
    switch (seat.state) {
        case State::complete: state = 3; break;
        case State::interrupted: state = 2; break;
        case State::partial: state = 1; break;
        case State::missing: state = 0; break;
    }
    return std::tuple(state, seat.totals.scheduled, !seat.host.name.empty());
}

/// Ranks whose play is in the document, not only their names.
std::set<std::uint32_t> ranks_in(const RunResult& part) {
    std::set<std::uint32_t> with_streams;  // seats
    for (const StreamResult& stream : part.streams) with_streams.insert(stream.seat);
    std::set<std::uint32_t> ranks;
    for (const SeatResult& seat : part.seats) {
        const bool ended = seat.state == State::complete || seat.state == State::interrupted;
        const bool played = std::any_of(seat.seats.begin(), seat.seats.end(),
                                        [&](std::uint32_t each) { return with_streams.contains(each); });
        if (ended || (played && seat.state != State::missing)) ranks.insert(seat.rank);
    }
    return ranks;
}

const SeatResult& seat_of(const RunResult& part, std::uint32_t rank) {
    return *std::find_if(part.seats.begin(), part.seats.end(),
                         [rank](const SeatResult& seat) { return seat.rank == rank; });
}

/// One document and the ranks that it speaks for.
struct Candidate {
    RunResult part;
    std::set<std::uint32_t> ranks;

    auto order() const {
        return std::tuple(ranks.size(),
                          worth(ranks.empty() ? part.seats.front() : seat_of(part, *ranks.begin())));
    }
};

bool vanished(const SeatResult& seat) {
    return seat.state == State::missing || seat.state == State::partial;
}

/// Of a seat that does not pass, what an editor has to know.
std::string trouble(const SeatResult& seat) {
    switch (seat.state) {
        case State::missing: return "nothing is known of what it played: " + seat.why;
        case State::partial:
            return fmt::format("it vanished: {}{}", seat.why,
                               judge::bad_frames(seat.totals) > 0 ? "; " + seat.verdict.reason : "");
        case State::interrupted: return seat.why + ": " + seat.verdict.reason;
        case State::complete: return seat.verdict.reason;
    }
    return {};
}

/// Whose frames cost most; unknown where none was missed.
Limit limit_of(const std::vector<const SeatResult*>& failed) {
    std::map<Limit, std::uint64_t> frames;
    for (const SeatResult* seat : failed) {
        if (!seat->verdict.pass) frames[seat->verdict.limit] += judge::bad_frames(seat->totals);
    }
    Limit most = Limit::unknown;
    for (const auto& [limit, bad] : frames) {
        if (bad > frames[most]) most = limit;
    }
    return most;
}

std::string several(std::size_t count, std::size_t all) {
    return fmt::format("{} of {} computers did not play as they should: ", count, all);
}

Verdict failed_verdict(std::vector<const SeatResult*> failed, std::size_t all) {
    constexpr std::size_t kSaid = 4;  // with their reasons
    Verdict verdict;
    verdict.limit = limit_of(failed);
    // Where one vanished, others are often ended for it: it comes before them.
    std::stable_sort(failed.begin(), failed.end(), [](const SeatResult* a, const SeatResult* b) {
        const auto key = [](const SeatResult& seat) {
            return std::tuple(judge::bad_frames(seat.totals), vanished(seat));
        };
        return key(*a) > key(*b);
    });
    if (failed.size() > 1) verdict.reason = several(failed.size(), all);
    for (std::size_t i = 0; i < failed.size(); ++i) {
        if (i > 0) verdict.reason += i < kSaid ? "; " : i == kSaid ? "; and " : ", ";
        verdict.reason += seat_name(*failed[i]);
        if (i < kSaid) verdict.reason += ": " + trouble(*failed[i]);
    }
    const SeatResult& worst = *failed.front();
    if (!worst.verdict.detail.empty())
        verdict.detail = fmt::format("{}: {}", seat_name(worst), worst.verdict.detail);
    verdict.next = worst.verdict.next;
    return verdict;
}

/// What all say; then what one alone says (a cold start, a cache), with its name.
Verdict passed_verdict(const std::vector<SeatResult>& seats) {
    std::map<std::string, std::size_t> times;
    for (const SeatResult& seat : seats) ++times[seat.verdict.reason];
    const auto most = std::max_element(times.begin(), times.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    Verdict verdict{true, most->first, Limit::none};
    for (const SeatResult& seat : seats) {
        if (seat.verdict.reason != most->first)
            verdict.reason += fmt::format("; {}: {}", seat_name(seat), seat.verdict.reason);
    }
    return verdict;
}

/// One entry for each rank, of the document that says most of it.
std::vector<SeatResult> seats_of(const std::vector<RunResult>& parts) {
    std::vector<SeatResult> seats(parts.front().ranks);
    for (std::uint32_t rank = 0; rank < seats.size(); ++rank) {
        seats[rank].rank = rank;
        seats[rank].state = State::missing;
        seats[rank].why = "there is no result and no journal of it";
        seats[rank].verdict = {false, seats[rank].why, Limit::unknown};
    }
    for (const RunResult& part : parts) {
        for (const SeatResult& seat : part.seats) {
            if (worth(seat) > worth(seats[seat.rank])) seats[seat.rank] = seat;
        }
    }
    return seats;
}

}  // namespace

bool is_merged(const RunResult& result) {
    return result.seats.size() == result.ranks;
}

std::string seat_name(const SeatResult& seat) {
    std::string name;
    if (seat.seats.empty()) {
        name = fmt::format("rank {}", seat.rank);
    } else if (seat.seats.size() == 1) {
        name = fmt::format("seat {}", seat.seats.front());
    } else {
        name = fmt::format("seats {} to {}", seat.seats.front(), seat.seats.back());
    }
    return seat.host.name.empty() ? name : fmt::format("{} (host {})", name, seat.host.name);
}

Result<ChosenParts> choose_parts(std::vector<RunResult> parts) {
    ChosenParts out;
    out.seats = seats_of(parts);
    std::vector<Candidate> candidates;
    for (RunResult& part : parts) {
        std::set<std::uint32_t> ranks = ranks_in(part);
        candidates.push_back({std::move(part), std::move(ranks)});
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.order() > b.order(); });
    std::map<std::uint32_t, const Candidate*> speakers;
    std::vector<Candidate*> chosen;
    std::vector<std::string> problems;
    for (Candidate& candidate : candidates) {
        bool better = false;
        std::size_t taken = 0;
        for (const std::uint32_t rank : candidate.ranks) {
            const auto speaker = speakers.find(rank);
            if (speaker == speakers.end()) continue;
            ++taken;
            better |= worth(seat_of(candidate.part, rank)) > worth(seat_of(speaker->second->part, rank));
        }
        if (better || (taken > 0 && taken < candidate.ranks.size())) {
            problems.push_back(fmt::format(
                "what {} played is in two merged documents, or a merged one and one that knows more: merge the "
                "documents of single ranks instead",
                seat_name(seat_of(candidate.part, *candidate.ranks.begin()))));
        }
        if (taken > 0 || (candidate.ranks.empty() && !chosen.empty())) continue;
        chosen.push_back(&candidate);
        for (const std::uint32_t rank : candidate.ranks) speakers[rank] = &candidate;
    }
    if (!problems.empty()) return Error{ErrorKind::bad_input, std::move(problems)};
    std::sort(chosen.begin(), chosen.end(),
              [](const Candidate* a, const Candidate* b) { return a->ranks < b->ranks; });
    for (Candidate* each : chosen) {
        for (const std::uint32_t rank : each->ranks) out.seats[rank] = seat_of(each->part, rank);
        out.parts.push_back(std::move(each->part));
    }
    return out;
}

Verdict verdict_of_seats(const std::vector<SeatResult>& seats) {
    // Where all were interrupted somebody ended the run: then each has played what was to be played.
    const bool ended_by_hand = std::all_of(
        seats.begin(), seats.end(), [](const SeatResult& seat) { return seat.state == State::interrupted; });
    std::vector<const SeatResult*> failed;
    for (const SeatResult& seat : seats) {
        if (seat.verdict.pass && (seat.state == State::complete || ended_by_hand)) continue;
        failed.push_back(&seat);
    }
    return failed.empty() ? passed_verdict(seats) : failed_verdict(std::move(failed), seats.size());
}

}  // namespace streamsim::result
