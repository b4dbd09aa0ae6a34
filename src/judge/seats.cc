#include "judge/seats.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "judge/judge.h"

namespace streamsim::judge {
namespace {

using State = SeatResult::State;

bool vanished(const SeatResult& seat) {
    return seat.state == State::missing || seat.state == State::partial;
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

/// The limit that missed frames are attributed to most; unknown where none was missed.
Limit limit_of(const std::vector<const SeatResult*>& failed) {
    std::map<Limit, std::uint64_t> frames;
    for (const SeatResult* seat : failed) {
        if (!seat->verdict.pass) frames[seat->verdict.limit] += bad_frames(seat->totals);
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
    constexpr std::size_t kReasonsMax = 4;
    Verdict verdict;
    verdict.limit = limit_of(failed);
    // A seat that vanished comes first: others often end because of it.
    std::stable_sort(failed.begin(), failed.end(), [](const SeatResult* a, const SeatResult* b) {
        const auto key = [](const SeatResult& seat) {
            return std::tuple(bad_frames(seat.totals), vanished(seat));
        };
        return key(*a) > key(*b);
    });
    if (failed.size() > 1) verdict.reason = several(failed.size(), all);
    for (std::size_t i = 0; i < failed.size(); ++i) {
        if (i > 0) verdict.reason += i < kReasonsMax ? "; " : i == kReasonsMax ? "; and " : ", ";
        verdict.reason += seat_name(*failed[i]);
        if (i < kReasonsMax) verdict.reason += ": " + failure_of(*failed[i]);
    }
    const SeatResult& worst = *failed.front();
    if (!worst.verdict.detail.empty())
        verdict.detail = fmt::format("{}: {}", seat_name(worst), worst.verdict.detail);
    verdict.next = worst.verdict.next;
    return verdict;
}

/// The reason that most seats have; then the others, each with its seat: a cold start, a cache.
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

}  // namespace

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

Verdict verdict_of_seats(const std::vector<SeatResult>& seats) {
    // All seats are interrupted where a user ended the run: then each has played as long as it should.
    const bool ended_by_hand = std::all_of(
        seats.begin(), seats.end(), [](const SeatResult& seat) { return seat.state == State::interrupted; });
    std::vector<const SeatResult*> failed;
    for (const SeatResult& seat : seats) {
        if (seat.verdict.pass && (seat.state == State::complete || ended_by_hand)) continue;
        failed.push_back(&seat);
    }
    return failed.empty() ? passed_verdict(seats) : failed_verdict(std::move(failed), seats.size());
}

}  // namespace streamsim::judge
