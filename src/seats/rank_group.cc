#include "seats/rank_group.h"

#include <fmt/format.h>

#include <utility>

#include "host/host.h"
#include "result/merge.h"

namespace streamsim::seats {

RankGroup::RankGroup(std::uint32_t rank, std::uint32_t ranks, bool first_plays)
    : rank_(rank), size_(ranks), leaders_(first_plays ? 0 : 1), seats_(players()), peers_(ranks) {
    media_maker = first_player();
    peers_[rank].here = true;
    peers_[rank].host = host::read_host_facts();
}

std::uint32_t RankGroup::seat_count_of(std::uint32_t rank) const {
    if (rank < leaders_) return 0;
    if (order_ == SeatOrder::blocks) return first_seat_of(rank + 1) - first_seat_of(rank);
    return seats_ / players() + (rank - leaders_ < seats_ % players() ? 1 : 0);
}

std::vector<std::uint32_t> RankGroup::seats_of(std::uint32_t rank) const {
    std::vector<std::uint32_t> seats;
    for (std::uint32_t i = 0; i < seat_count_of(rank); ++i)
        seats.push_back(first_seat_of(rank) + i * seat_step());
    return seats;
}

std::string RankGroup::name_of(std::uint32_t rank) const {
    if (rank < leaders_) return "the host";
    SeatResult seat;
    seat.rank = rank;
    seat.seats = seats_of(rank);
    seat.host = peers_[rank].host;
    return result::seat_name(seat);
}

void RankGroup::send_to_others(const Json& message) {
    if (!first()) return send_to_first(message);
    for (std::uint32_t rank = 1; rank < size_; ++rank) {
        if (!peers_[rank].gone()) channel_->send(rank, message);
    }
}

void RankGroup::stop() {
    const std::lock_guard lock(mutex);
    if (std::exchange(stopped, true)) return;
    changed.notify_all();
    send_to_others({{"do", "stop"}});
}

bool RankGroup::all_gone_or(const std::function<bool(std::uint32_t rank)>& holds) const {
    for (std::uint32_t rank = 0; rank < size_; ++rank) {
        if (!peers_[rank].gone() && !holds(rank)) return false;
    }
    return true;
}

Error RankGroup::joined(const std::map<std::uint32_t, Error>& errors) const {
    Error all{ErrorKind::environment, {}};
    std::map<std::string, std::vector<std::string>> names_by_problem;
    std::vector<std::string> order;
    for (const auto& [rank, error] : errors) {
        if (error.kind == ErrorKind::bad_input) all.kind = ErrorKind::bad_input;
        for (const std::string& problem : error.problems) {
            if (!names_by_problem.contains(problem)) order.push_back(problem);
            names_by_problem[problem].push_back(rank == 0 ? "" : name_of(rank));
        }
    }
    for (const std::string& problem : order) {
        const std::vector<std::string>& names = names_by_problem[problem];
        const bool of_rank_0 = names.front().empty();  // a problem of rank 0 has no name before it
        all.problems.push_back(of_rank_0 ? problem : fmt::format("{}: {}", fmt::join(names, ", "), problem));
    }
    return all;
}

}  // namespace streamsim::seats
