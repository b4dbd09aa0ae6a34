#include "result/merge_seats.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace streamsim::result {
namespace {

using SeatState = SeatResult::State;

/// Orders what documents say of one seat: the greater one knows more.
auto worth(const SeatResult& seat) {
    // State: complete comes first, missing last.
    return std::tuple(-static_cast<int>(seat.state), seat.totals.scheduled, !seat.host.name.empty());
}

/// Ranks whose play is in the document, not only their names.
std::set<std::uint32_t> ranks_in(const RunResult& part) {
    std::set<std::uint32_t> active;  // seats with streams or meters
    for (const StreamResult& stream : part.streams) active.insert(stream.seat);
    for (const MeterResult& meter : part.meters) active.insert(meter.seat);
    std::set<std::uint32_t> ranks;
    for (const SeatResult& seat : part.seats) {
        const bool ended = seat.state == SeatState::complete || seat.state == SeatState::interrupted;
        const bool played =
            std::ranges::any_of(seat.seats, [&](std::uint32_t each) { return active.contains(each); });
        if (ended || (played && seat.state != SeatState::missing)) ranks.insert(seat.rank);
    }
    return ranks;
}

const SeatResult& seat_of(const RunResult& part, std::uint32_t rank) {
    return *std::ranges::find_if(part.seats, [rank](const SeatResult& seat) { return seat.rank == rank; });
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

/// One entry for each rank, from the document that knows most about it.
std::vector<SeatResult> seats_of(const std::vector<RunResult>& parts) {
    std::vector<SeatResult> seats(parts.front().ranks);
    for (std::uint32_t rank = 0; rank < seats.size(); ++rank) {
        seats[rank].rank = rank;
        seats[rank].state = SeatState::missing;
        seats[rank].why = "there is no result and no journal of it";
        seats[rank].verdict = {false, seats[rank].why, Limit::unknown};
    }
    for (const RunResult& part : parts) {
        for (const SeatResult& seat : part.seats) {
            // One that is missing here, too, may say why.
            const bool unnamed = seats[seat.rank].seats.empty();
            if (worth(seat) > worth(seats[seat.rank]) || (unnamed && worth(seat) == worth(seats[seat.rank])))
                seats[seat.rank] = seat;
        }
    }
    return seats;
}

}  // namespace

bool is_merged(const RunResult& result) {
    return result.seats.size() == result.ranks;
}

Result<ChosenParts> choose_parts(std::vector<RunResult> parts) {
    ChosenParts out;
    out.seats = seats_of(parts);
    std::vector<Candidate> candidates;
    for (RunResult& part : parts) {
        std::set<std::uint32_t> ranks = ranks_in(part);
        candidates.push_back({std::move(part), std::move(ranks)});
    }
    std::ranges::stable_sort(candidates, std::ranges::greater{}, &Candidate::order);
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
                judge::seat_name(seat_of(candidate.part, *candidate.ranks.begin()))));
        }
        if (taken > 0 || (candidate.ranks.empty() && !chosen.empty())) continue;
        chosen.push_back(&candidate);
        for (const std::uint32_t rank : candidate.ranks) speakers[rank] = &candidate;
    }
    if (!problems.empty()) return Error{ErrorKind::bad_input, std::move(problems)};
    std::ranges::sort(chosen, {}, &Candidate::ranks);
    for (Candidate* each : chosen) {
        for (const std::uint32_t rank : each->ranks) out.seats[rank] = seat_of(each->part, rank);
        out.parts.push_back(std::move(each->part));
    }
    return out;
}

}  // namespace streamsim::result
