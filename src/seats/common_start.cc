#include "seats/common_start.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "seats/message_values.h"

namespace streamsim::seats {
namespace {

/// The quickest of so many exchanges gives the clock.
constexpr std::uint32_t kClockExchanges = 40;
constexpr Duration kClockTimeout = seconds(2);
/// Between the message to begin and the beginning: a busy computer reads a message that late.
constexpr Duration kBeginLead = milliseconds(150);
/// No two computers that play together take longer to compare their clocks.
constexpr Duration kClockBoundMax = seconds(60);

Duration bound_in(const Json& message) {
    const Duration bound{time_of(message.at("bound_ns"))};
    if (bound < Duration{} || bound > kClockBoundMax) throw malformed("the bound of a clock is out of range");
    return bound;
}

}  // namespace

/// Until rank 0 has answered: instants of its clock mean nothing before. Without an answer nobody begins.
void CommonStart::measure_clock() {
    for (;;) {
        const auto clock = group_.channel().measure_clock(kClockExchanges, kClockTimeout);
        const std::lock_guard lock(group_.mutex);
        clock_ = clock.value_or(ClockReading{});
        clock_at_ = SeatChannel::now();
        if (clock || group_.stopped || called_off_ || group_.first_is_gone()) return;
    }
}

Result<void> CommonStart::planned(const std::vector<Duration>& groups) {
    if (!group_.first()) measure_clock();
    std::vector<std::int64_t> own;
    own.reserve(groups.size());
    for (const Duration group : groups) own.push_back(group.ns);
    std::unique_lock lock(group_.mutex);
    if (group_.first()) {
        peers_[0].groups = own;
        group_.changed.wait(lock, [this] {
            return group_.stopped || called_off_ ||
                   group_.all_gone_or([this](std::uint32_t rank) { return peers_[rank].groups.has_value(); });
        });
        all_planned_ = !group_.stopped && !called_off_;
        if (all_planned_) group_.send_to_others({{"do", "go"}, {"play", group_.play}});
    } else {
        group_.send_to_first(
            {{"do", "planned"}, {"play", group_.play}, {"start_groups", own}, {"bound_ns", clock_.bound.ns}});
        group_.changed.wait(
            lock, [this] { return group_.stopped || called_off_ || all_planned_ || group_.first_is_gone(); });
    }
    return all_planned_ ? Result<void>() : interrupted_error();
}

void CommonStart::ready(Duration group, Begin begin) {
    Due due;
    std::unique_lock lock(group_.mutex);
    if (!group_.first() && group_.first_is_gone()) {
        if (!begun_.empty()) due.emplace_back(std::move(begin), SeatChannel::now());
    } else {
        waiting_[group.ns] = std::move(begin);
        peers_[group_.rank()].ready.insert(group.ns);
        if (begun_.contains(group.ns)) begin_waiting(group.ns, due);
        if (group_.first()) begin_ready_groups(due);
        if (!group_.first())
            group_.send_to_first({{"do", "ready"}, {"play", group_.play}, {"start_group", group.ns}});
    }
    call(lock, due);
}

void CommonStart::ended() {
    std::unique_lock lock(group_.mutex);
    peers_[group_.rank()].ended = true;
    if (group_.first()) {
        check_all_ended();
    } else {
        group_.send_to_first({{"do", "ended"}, {"play", group_.play}});
    }
    group_.changed.wait(
        lock, [this] { return group_.stopped || called_off_ || all_ended_ || group_.first_is_gone(); });
}

void CommonStart::measure_clock_again() {
    const auto after = group_.channel().measure_clock(kClockExchanges, kClockTimeout);
    const std::lock_guard lock(group_.mutex);
    clock_after_ = after;
    clock_after_at_ = SeatChannel::now();
}

void CommonStart::hear(std::uint32_t rank, const std::string& what, const Json& message, Due& due) {
    const bool is_of_first = what == "go" || what == "begin" || what == "all-ended" || what == "off";
    if (is_of_first && group_.first()) return;
    Peer& peer = peers_[rank];
    if (what == "planned") {
        peer.groups = times_of(message.at("start_groups"));
        clock_bound_max_ = std::max(clock_bound_max_, bound_in(message));
    } else if (what == "go") {
        all_planned_ = true;
    } else if (what == "ready") {
        peer.ready.insert(time_of(message.at("start_group")));
        begin_ready_groups(due);
    } else if (what == "begin") {
        origin_ = Instant{time_of(message.at("origin"))};
        begin_own(time_of(message.at("start_group")), clock_.own({time_of(message.at("at"))}), due);
    } else if (what == "ended") {
        peer.ended = true;
        check_all_ended();
    } else if (what == "all-ended") {
        all_ended_ = true;
    } else if (what == "off") {
        called_off_ = true;
    }
}

void CommonStart::rank_gone(Due& due) {
    if (group_.first()) {
        begin_ready_groups(due);
        check_all_ended();
    } else if (begun_.empty()) {
        called_off_ = true;
    } else {
        // This rank plays on alone: its start groups begin when they are ready here.
        for (const auto& [group, begin] : waiting_) due.emplace_back(begin, SeatChannel::now());
        waiting_.clear();
    }
}

void CommonStart::rank_away(Due& due) {
    if (group_.first()) begin_ready_groups(due);
}

void CommonStart::rank_played(std::uint32_t rank, Due& due) {
    peers_[rank].played = true;
    begin_ready_groups(due);
    check_all_ended();
}

void CommonStart::call(std::unique_lock<std::mutex>& lock, const Due& due) {
    calling_ += due.size();
    lock.unlock();
    for (const auto& [begin, at] : due) begin(at);
    lock.lock();
    calling_ -= due.size();
    group_.changed.notify_all();
}

void CommonStart::call_off() {
    if (std::exchange(called_off_, true)) return;
    if (group_.first()) group_.send_to_others({{"do", "off"}, {"play", group_.play}});
    group_.changed.notify_all();
}

void CommonStart::drop_waiting(std::unique_lock<std::mutex>& lock) {
    waiting_.clear();
    group_.changed.wait(lock, [this] { return calling_ == 0; });
}

void CommonStart::check_all_ended() {
    if (all_ended_) return;
    if (!group_.all_gone_or([this](std::uint32_t rank) { return peers_[rank].ended || peers_[rank].played; }))
        return;
    all_ended_ = true;
    group_.send_to_others({{"do", "all-ended"}, {"play", group_.play}});
}

/// Every rank that plays this start group is ready, or gone, or cut off while others play.
bool CommonStart::ready_everywhere(std::int64_t group) const {
    return group_.all_gone_or([this, group](std::uint32_t rank) {
        const Peer& peer = peers_[rank];
        const bool plays =
            peer.groups && std::find(peer.groups->begin(), peer.groups->end(), group) != peer.groups->end();
        const bool holds_up_play = !begun_.empty() && group_.peer(rank).away;
        return !plays || peer.played || peer.ready.contains(group) || holds_up_play;
    });
}

/// Rank 0 alone.
void CommonStart::begin_ready_groups(Due& due) {
    if (!all_planned_) return;
    std::set<std::int64_t> groups;
    for (const Peer& peer : peers_) groups.insert(peer.ready.begin(), peer.ready.end());
    for (const std::int64_t group : groups) {
        if (begun_.contains(group) || !ready_everywhere(group)) continue;
        const Instant at = SeatChannel::now() + kBeginLead + Duration{4 * clock_bound_max_.ns};
        if (!origin_) origin_ = at;
        group_.send_to_others({{"do", "begin"},
                               {"play", group_.play},
                               {"start_group", group},
                               {"at", at.ns},
                               {"origin", origin_->ns}});
        begin_own(group, at, due);
    }
}

/// `at` is of the own clock.
void CommonStart::begin_own(std::int64_t group, Instant at, Due& due) {
    begun_.emplace(group, at);
    begin_waiting(group, due);
}

/// A start group whose message comes too late, or that is ready too late, begins at once, and its lateness is
/// in the result.
void CommonStart::begin_waiting(std::int64_t group, Due& due) {
    const auto found = waiting_.find(group);
    if (found == waiting_.end()) return;
    const Instant agreed = begun_.at(group);
    const Instant at = std::max(agreed, SeatChannel::now());
    late_ = std::max(late_, at - agreed);
    if (!play_start_) play_start_ = at;
    due.emplace_back(std::move(found->second), at);
    waiting_.erase(found);
}

void CommonStart::fill(SeatResult& seat, bool plays_virtual) const {
    seat.clock_offset_ns = clock_.offset.ns;
    seat.clock_bound_ns = clock_.bound.ns;
    seat.start_late_ns = late_.ns;
    double drift = 0;  // from the two measurements, for the instant between them at which play began
    if (clock_after_) {
        seat.clock_offset_after_ns = clock_after_->offset.ns;
        seat.clock_bound_after_ns = clock_after_->bound.ns;
        const auto between = static_cast<double>(std::max<std::int64_t>((clock_after_at_ - clock_at_).ns, 1));
        drift = static_cast<double>((clock_after_->offset - clock_.offset).ns) / between;
    }
    if (play_start_ && origin_) {
        const double since = static_cast<double>((*play_start_ - clock_at_).ns);
        seat.start_ns = (clock_.theirs(*play_start_) - *origin_).ns + std::llround(drift * since);
    } else if (plays_virtual) {
        seat.start_ns = 0;
    }
}

void CommonStart::next_play() {
    called_off_ = all_planned_ = all_ended_ = false;
    waiting_.clear();
    begun_.clear();
    late_ = {};
    origin_.reset();
    play_start_.reset();
    clock_bound_max_ = {};
    clock_after_.reset();
    for (Peer& peer : peers_) peer = {};
}

}  // namespace streamsim::seats
