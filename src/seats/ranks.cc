#include "seats/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <utility>

#include "base/system/utf8_path.h"
#include "base/time_of_day.h"
#include "base/units.h"
#include "host/host.h"
#include "seats/message_values.h"
#include "seats/mpi_start.h"

namespace streamsim::seats {
namespace {

/// Ranks that have begun MPI connect at once; a rank that takes longer cannot be reached.
constexpr std::chrono::seconds kGatherTimeout{25};
/// The wait of rank 0, at its end, for the others to leave.
constexpr std::chrono::seconds kRanksLeaveTimeout{3};
/// The wait of a seat for a host that was interrupted to write the result of all.
constexpr std::chrono::seconds kWrittenTimeout{10};
/// A seat of a meeting is awaited: one whose connection has ended may have died, one that is silent may be cut
/// off.
constexpr Duration kReturnAfterEnd = seconds(10);
constexpr Duration kReturnAfterCut = seconds(300);
constexpr Duration kUntilGivenUp = seconds(1'000'000'000);
/// The clock of a seat that has come.
constexpr std::uint32_t kArrivalExchanges = 20;
constexpr Duration kArrivalTimeout = seconds(5);
constexpr std::chrono::milliseconds kLobbyTick{200};
/// Exit codes of runs that have no result.
constexpr int kExitBadInput = 2;
constexpr int kExitCannotRun = 3;

}  // namespace

Ranks::Ranks(std::uint32_t rank, std::uint32_t ranks, bool first_plays)
    : group_(rank, ranks, first_plays),
      start_(group_),
      collector_(group_, start_),
      reports_(ranks),
      progress_(ranks) {}

SeatEvents Ranks::events() {
    SeatEvents events;
    events.message = [this](std::uint32_t from, Json& message) { hear(from, message); };
    events.lost = [this](std::uint32_t who, const std::string& why) {
        rank_gone(who, [&](RankGroup::Peer& peer) {
            if (!std::exchange(peer.lost, true)) peer.why = why;
            if (in_lobby_) happened_.push_back(fmt::format("{} was lost: {}", name_of(who), why));
        });
    };
    events.left = [this](std::uint32_t who) {
        rank_gone(who, [&](RankGroup::Peer& peer) {
            peer.left = true;
            if (in_lobby_) happened_.push_back(name_of(who) + " has left");
        });
    };
    events.away = [this](std::uint32_t who, const std::string& why) {
        CommonStart::Due due;
        std::unique_lock lock(group_.mutex);
        group_.peer(who).away = true;
        happened_.push_back(
            fmt::format("{} is cut off: {}; {}", name_of(who), why,
                        first() && !in_lobby_ ? "it plays on, and is awaited" : "it is awaited"));
        start_.rank_away(due);
        group_.changed.notify_all();
        start_.call(lock, due);
    };
    events.back = [this](std::uint32_t who) {
        const std::lock_guard lock(group_.mutex);
        group_.peer(who).away = false;
        if (!group_.peer(who).lost) happened_.push_back(fmt::format("{} is back", name_of(who)));
        group_.changed.notify_all();
    };
    events.refused = [this](const std::string& who, const std::string& why) {
        const std::lock_guard lock(group_.mutex);
        happened_.push_back(fmt::format("{} was refused: {}", who.empty() ? "a seat" : who, why));
        group_.changed.notify_all();
    };
    events.progress = [this]() -> Json {
        const std::lock_guard lock(group_.mutex);
        const auto progress = own_progress_ ? own_progress_() : std::nullopt;
        return progress ? to_json(*progress) : Json();
    };
    return events;
}

SeatChannelOptions Ranks::channel_options() {
    SeatChannelOptions options;
    options.rank = rank();
    options.ranks = size();
    options.introduction = to_json(group_.peer(rank()).host);
    options.events = events();
    return options;
}

Result<std::unique_ptr<Ranks>> Ranks::meet(const Meeting& meeting) {
    std::unique_ptr<Ranks> all(new Ranks(0, meeting.seats + 1, false));
    SeatChannelOptions options = all->channel_options();
    options.address = meeting.address;
    options.port = meeting.port;
    options.keys = meeting.keys;
    options.return_after_end = kReturnAfterEnd;
    options.return_after_cut = kReturnAfterCut;
    options.version = meeting.version;
    options.places_return = true;
    all->in_lobby_ = true;
    all->targets_ = meeting.targets;
    const std::lock_guard lock(all->group_.mutex);  // no event comes before the channel is known
    auto channel = SeatChannel::host(std::move(options));
    if (!channel) return channel.error();
    all->channel_ = std::move(*channel);
    all->group_.set_channel(*all->channel_);
    return all;
}

Result<std::unique_ptr<Ranks>> Ranks::join_meeting(const Meeting& meeting,
                                                   const SeatThatJoins& seat,
                                                   const std::function<bool()>& given_up,
                                                   const std::function<void(const std::string&)>& trouble) {
    JoinToken token;
    token.keys = meeting.keys;
    token.addresses = {meeting.address};
    token.port = meeting.port;
    SeatChannelOptions options;
    options.rank = kAnyRank;
    options.introduction = to_json(host::read_host_facts());
    options.introduction["seat"] = seat.name;
    options.introduction["allows"] = seat.allows;
    options.version = meeting.version;
    options.first = "the host";
    options.computer = meeting.address;
    options.trouble = trouble;
    options.return_after_end = options.return_after_cut = kReturnAfterCut;
    if (const auto found = addresses_of(meeting.address); !found) trouble(found.error().problems.front());
    auto channel = SeatChannel::join(std::move(options), token, kUntilGivenUp, given_up);
    if (!channel) return channel.error();
    std::unique_ptr<Ranks> all(new Ranks((*channel)->rank(), (*channel)->ranks(), false));
    all->channel_ = std::move(*channel);
    all->group_.set_channel(*all->channel_);
    if (!seat.name.empty()) all->group_.peer(all->rank()).host.name = seat.name;
    all->channel_->listen_to(all->events());
    all->report_seat(seat.look);
    return all;
}

/// Measures the clock, looks at the targets, and tells rank 0.
void Ranks::report_seat(const LookAtTargets& look) {
    const auto clock = channel_->measure_clock(kArrivalExchanges, kArrivalTimeout);
    std::unique_lock lock(group_.mutex);
    group_.changed.wait_for(lock, std::chrono::nanoseconds(kArrivalTimeout.ns),
                            [this] { return asked_targets_ || group_.stopped || group_.first_is_gone(); });
    const std::vector<std::string> targets = asked_targets_.value_or(std::vector<std::string>());
    lock.unlock();
    const std::vector<TargetSeen> seen = look(targets);
    Json message = {{"do", "ready"}, {"targets", to_json(seen)}, {"bound_ns", nullptr}, {"clock_ns", nullptr}};
    if (clock) {
        message["bound_ns"] = clock->bound.ns;
        message["clock_ns"] = clock->theirs(SeatChannel::now()).ns;
        message["time_of_day_ns"] = time_of_day_ns();
    }
    group_.send_to_first(message);
}

/// "h3 (Linux 6.1.0, 8 processors) is here; it allows /mnt/media".
std::string Ranks::arrival(std::uint32_t rank) const {
    const RankGroup::Peer& peer = group_.peer(rank);
    return fmt::format("{} is here: {}, {} processors; it allows {}", name_of(rank), peer.host.os,
                       peer.host.cpus, fmt::join(peer.allows, ", "));
}

/// REQUIRES: the group's mutex is held.
Lobby Ranks::lobby() {
    Lobby lobby;
    lobby.news = std::exchange(happened_, {});
    for (std::uint32_t rank = group_.first_player(); rank < size(); ++rank) {
        const RankGroup::Peer& peer = group_.peer(rank);
        lobby.seats.push_back(
            {peer.here, peer.away, peer.gone(), name_of(rank), peer.host, peer.allows, peer.report});
    }
    return lobby;
}

Result<void> Ranks::wait_for_seats(const std::function<Result<bool>(const Lobby& lobby)>& begins) {
    std::unique_lock lock(group_.mutex);
    for (;;) {
        const Lobby now = lobby();
        const bool stopped = group_.stopped;
        lock.unlock();
        const auto begun = begins(now);
        if (stopped) return interrupted_error();
        if (!begun) return begun.error();
        if (*begun) channel_->close_places();
        lock.lock();
        if (*begun) break;
        if (happened_.empty()) group_.changed.wait_for(lock, kLobbyTick);
    }
    in_lobby_ = false;
    for (std::uint32_t rank = 1; rank < size(); ++rank) {
        RankGroup::Peer& peer = group_.peer(rank);
        if (peer.gone() || (peer.report && !peer.away)) continue;
        peer.lost = true;
        peer.why = !peer.here  ? "it did not come"
                   : peer.away ? "it was cut off when the run began"
                               : "it still looked at the targets";
        // One that is cut off hears so when it is back.
        if (peer.here)
            channel_->send(rank, {{"do", "end"}, {"why", "the run has begun without this seat: " + peer.why}});
    }
    while (group_.media_maker + 1 < size() && group_.peer(group_.media_maker).gone()) ++group_.media_maker;
    group_.send_to_others({{"do", "media-maker"}, {"rank", group_.media_maker}});
    return {};
}

Result<std::unique_ptr<Ranks>> Ranks::host(std::uint32_t ranks) {
    std::unique_ptr<Ranks> all(new Ranks(0, ranks));
    auto channel = SeatChannel::host(all->channel_options());
    if (!channel) return channel.error();
    all->channel_ = std::move(*channel);
    all->group_.set_channel(*all->channel_);
    return all;
}

Result<std::unique_ptr<Ranks>> Ranks::join(std::uint32_t rank,
                                           std::uint32_t ranks,
                                           const JoinToken& join_token) {
    std::unique_ptr<Ranks> all(new Ranks(rank, ranks));
    auto channel = SeatChannel::join(all->channel_options(), join_token);
    if (!channel) return channel.error();
    all->channel_ = std::move(*channel);
    all->group_.set_channel(*all->channel_);
    return all;
}

Result<std::unique_ptr<Ranks>> Ranks::begin() {
    std::unique_ptr<Ranks> all;
    const auto begun = begin_mpi([&all](MpiPlace place) -> Result<std::string> {
        auto hosted = host(place.ranks);
        if (!hosted) return hosted.error();
        all = std::move(*hosted);
        return all->join_token().to_text();
    });
    if (!begun) return begun.error();
    if (all == nullptr) {
        const auto join_token = JoinToken::parse(begun->text);
        if (!join_token) return join_token.error();
        auto joined = join(begun->place.rank, begun->place.ranks, *join_token);
        if (!joined) return joined.error();
        all = std::move(*joined);
    }
    return all;
}

Result<void> Ranks::gather(const std::vector<std::string>& command) {
    if (first()) {
        std::unique_lock lock(group_.mutex);
        group_.changed.wait_for(lock, kGatherTimeout, [this] {
            return group_.all_gone_or([this](std::uint32_t rank) { return group_.peer(rank).here; });
        });
        for (std::uint32_t rank = 0; rank < size(); ++rank) {
            RankGroup::Peer& peer = group_.peer(rank);
            if (peer.here || peer.gone()) continue;
            peer.lost = true;
            peer.why = fmt::format("it did not connect within {} s", kGatherTimeout.count());
        }
    }
    const auto of_first = share(Json(command));
    if (!of_first) return of_first.error();
    if (*of_first == Json(command)) return agree({});
    return agree(
        bad_input(fmt::format("it is another streamsim than rank 0, or was started with other options: all "
                              "ranks of one run are alike, found '{}'",
                              fmt::join(command, " "))));
}

void Ranks::hear(std::uint32_t rank, Json& message) {
    const std::string what = message.at("do");
    if (message.contains("play")) return hear_of_play(rank, what, message);
    // Rank 0 tells all ranks; a seat that came by itself ends by itself.
    if (what == "stop" && first()) return is_meeting() ? void() : stop();
    const bool is_of_first =
        what == "share" || what == "answer" || what == "end" || what == "targets" || what == "media-maker";
    if (is_of_first && first()) return;
    const std::lock_guard lock(group_.mutex);
    if (what == "stop") group_.stopped = stopped_by_first_ = true;
    if (what == "hello") {
        hear_hello(rank, message.at("introduction"));
    } else if (what == "targets") {
        asked_targets_ = message.at("targets").get<std::vector<std::string>>();
    } else if (what == "ready") {
        hear_report(rank, message);
    } else if (what == "alive") {
        progress_[rank] = progress_from_json(message.at("news"));
    } else if (what == "report") {
        reports_[rank].insert_or_assign(whole_of<std::uint64_t>(message.at("step")),
                                        outcome_from_json(message.at("outcome")));
    } else if (what == "answer") {
        answers_.insert_or_assign(whole_of<std::uint64_t>(message.at("step")),
                                  outcome_from_json(message.at("outcome")));
    } else if (what == "share") {
        shared_[whole_of<std::uint64_t>(message.at("step"))] = message.at("value");
    } else if (what == "media-maker") {
        group_.media_maker = whole_of<std::uint32_t>(message.at("rank"));
    } else if (what == "failed") {
        group_.peer(rank).failed = true;
    } else if (what == "end") {
        ended_ = true;
        part_is_written_ = message.value("written", false);
        why_ended_ = message.value("why", "");
    }
    group_.changed.notify_all();
}

/// Another one was there before where it was lost in the lobby.
void Ranks::hear_hello(std::uint32_t rank, const Json& introduction) {
    RankGroup::Peer& peer = group_.peer(rank);
    if (first() && is_meeting() && !in_lobby_) {  // it was let in at the last moment
        channel_->send(rank, {{"do", "end"}, {"why", "the run has begun"}});
        return;
    }
    peer = {};
    peer.here = true;
    peer.host = host_from_json(introduction);
    if (!introduction.contains("seat")) return;
    if (const std::string name = introduction.at("seat"); !name.empty()) peer.host.name = name;
    peer.allows = introduction.at("allows").get<std::vector<std::string>>();
    happened_.push_back(arrival(rank));
    channel_->send(rank, {{"do", "targets"}, {"targets", targets_}});
}

void Ranks::hear_report(std::uint32_t rank, const Json& message) {
    SeatReport report = seat_report_from_json(message, {time_of_day_ns() - SeatChannel::now().ns});
    if (report.ahead) {
        happened_.push_back(
            fmt::format("{}: its clock is known to +-{}", name_of(rank), show_duration(*report.clock_error)));
    }
    for (const TargetSeen& seen : report.targets) {
        if (!seen.problem.empty()) happened_.push_back(fmt::format("{}: {}", name_of(rank), seen.problem));
    }
    group_.peer(rank).report = std::move(report);
}

/// A seat of a meeting that is interrupted leaves, and the others go on.
bool Ranks::is_own_interruption(const Error& error) const {
    return is_meeting() && error.kind == ErrorKind::interrupted;
}

Result<void> Ranks::agree(const Result<void>& own) {
    if (!own && own.error().kind == ErrorKind::interrupted) group_.stop();
    std::unique_lock lock(group_.mutex);
    const std::uint64_t step = ++step_;
    if (!first()) return ask_first(lock, step, own);
    reports_[0].insert_or_assign(step, own);
    group_.changed.wait(lock, [&] {
        return group_.stopped || !own || group_.all_gone_or([&](std::uint32_t rank) {
            return reports_[rank].contains(step) || group_.peer(rank).failed;
        });
    });
    if (group_.stopped) return interrupted_error();
    std::map<std::uint32_t, Error> errors;
    for (std::uint32_t rank = 0; rank < size(); ++rank) {
        ByStep& reports = reports_[rank];
        const auto report = reports.find(step);
        if (report != reports.end() && !report->second && !is_own_interruption(report->second.error()))
            errors[rank] = report->second.error();
        if (report == reports.end() && group_.peer(rank).failed)
            errors[rank] = environment_error("it has ended with an error of its own");
        reports.erase(reports.begin(), reports.upper_bound(step));
    }
    Result<void> together = errors.empty() ? Result<void>() : Result<void>(group_.joined(errors));
    group_.send_to_others({{"do", "answer"}, {"step", step}, {"outcome", to_json(together)}});
    return together;
}

Result<void> Ranks::ask_first(std::unique_lock<std::mutex>& lock, std::uint64_t step, const Result<void>& own) {
    group_.send_to_first({{"do", "report"}, {"step", step}, {"outcome", to_json(own)}});
    group_.changed.wait(lock,
                        [&] { return group_.stopped || answers_.contains(step) || group_.first_is_gone(); });
    if (const auto answer = answers_.find(step); answer != answers_.end()) return answer->second;
    if (group_.stopped) return interrupted_error();
    return gone_error();
}

/// REQUIRES: the group's mutex is held.
Error Ranks::gone_error() const {
    const RankGroup::Peer& first = group_.peer(0);
    return environment_error(fmt::format("{} is gone: {}", is_meeting() ? "the host" : "rank 0",
                                         first.lost ? first.why : "it has ended"));
}

Error Ranks::why_rank_0_is_gone() const {
    const std::lock_guard lock(group_.mutex);
    if (is_meeting() && stopped_by_first_) return {ErrorKind::interrupted, {"the host was interrupted"}};
    if (!group_.stopped && !why_ended_.empty()) return environment_error("the host has ended: " + why_ended_);
    if (group_.stopped || !group_.first_is_gone()) return interrupted_error();
    return gone_error();
}

bool Ranks::may_rank_0_return() const {
    const std::lock_guard lock(group_.mutex);
    return !group_.stopped && !ended_ && group_.peer(0).lost;
}

Result<Json> Ranks::share(const Json& value) {
    std::unique_lock lock(group_.mutex);
    const std::uint64_t step = ++step_;
    if (first()) {
        group_.send_to_others({{"do", "share"}, {"step", step}, {"value", value}});
        return value;
    }
    group_.changed.wait(
        lock, [&] { return group_.stopped || shared_.contains(step) || group_.first_is_gone() || ended_; });
    if (!why_ended_.empty()) return interrupted_error();  // the run may have begun without this seat
    if (const auto found = shared_.find(step); found != shared_.end()) {
        Json shared = std::move(found->second);
        shared_.erase(found);
        return shared;
    }
    return interrupted_error();
}

void Ranks::hear_of_play(std::uint32_t rank, const std::string& what, Json& message) {
    CommonStart::Due due;
    std::unique_lock lock(group_.mutex);
    if (message.at("play") > group_.play) {  // another rank begins to play again while this one still merges
        early_.emplace_back(rank, std::move(message));
        return;
    }
    if (message.at("play") < group_.play) return;
    if (collector_.hear_part(rank, what, message)) return;
    if (what == "played") {
        collector_.hear_played(rank, message, due);
    } else {
        start_.hear(rank, what, message, due);
    }
    group_.changed.notify_all();
    start_.call(lock, due);
}

/// Nobody waits for the rank any more, whether it was lost or has left.
void Ranks::rank_gone(std::uint32_t rank, const std::function<void(RankGroup::Peer&)>& note) {
    CommonStart::Due due;
    std::unique_lock lock(group_.mutex);
    note(group_.peer(rank));
    start_.rank_gone(due);
    group_.changed.notify_all();
    start_.call(lock, due);
}

void Ranks::stop() {
    group_.stop();
    if (!first() && is_meeting()) channel_->hurry();
}

bool Ranks::stopped() const {
    const std::lock_guard lock(group_.mutex);
    return group_.stopped;
}

bool Ranks::play_is_off() const {
    const std::lock_guard lock(group_.mutex);
    return start_.called_off();
}

Result<void> Ranks::planned(const std::vector<Duration>& groups) {
    {
        const std::lock_guard lock(group_.mutex);
        last_play_ = group_.play_id();
    }
    return start_.planned(groups);
}

Result<RunResult> Ranks::collect(Result<RunResult> own, const Collecting& how) {
    if (!first() && own && !stopped()) start_.measure_clock_again();
    auto result = collector_.collect(std::move(own), how, [this] { next_play(); });
    if (!first() && is_meeting()) delivered_ = channel_->wait_until_delivered();
    std::unique_lock lock(group_.mutex);
    auto early = std::exchange(early_, {});
    lock.unlock();
    for (auto& [rank, message] : early) hear(rank, message);
    return result;
}

/// REQUIRES: the group's mutex is held.
void Ranks::next_play() {
    ++group_.play;
    start_.next_play();
    collector_.next_play();
    for (auto& progress : progress_) progress.reset();
}

void Ranks::report_progress(std::function<std::optional<RankProgress>()> progress) {
    const std::lock_guard lock(group_.mutex);
    own_progress_ = std::move(progress);
}

std::vector<std::optional<RankProgress>> Ranks::progress_of_others() const {
    const std::lock_guard lock(group_.mutex);
    std::vector<std::optional<RankProgress>> out;
    for (std::uint32_t rank = 0; rank < size(); ++rank)
        out.push_back(group_.peer(rank).gone() ? std::nullopt : progress_[rank]);
    return out;
}

std::vector<std::string> Ranks::newly_lost() {
    const std::lock_guard lock(group_.mutex);
    std::vector<std::string> out = std::exchange(happened_, {});
    for (std::uint32_t rank = 0; rank < size(); ++rank) {
        RankGroup::Peer& peer = group_.peer(rank);
        if (!peer.lost || std::exchange(peer.loss_reported, true)) continue;
        const char* const verb = group_.seat_count_of(rank) > 1 ? "were" : "was";
        out.push_back(fmt::format("{} {} lost: {}", name_of(rank), verb, peer.why));
    }
    return out;
}

void Ranks::note_written(const RunResult& result) {
    const std::lock_guard lock(group_.mutex);
    if (result.run_id != last_play_) return;  // the last play has no result
    for (const SeatResult& seat : result.seats) {
        group_.peer(seat.rank + group_.first_player()).part_written =
            seat.state == SeatResult::State::complete || seat.state == SeatResult::State::interrupted;
    }
}

void Ranks::keep_journal(std::string path) {
    const std::lock_guard lock(group_.mutex);
    journal_ = std::move(path);
}

std::string Ranks::kept_journal() const {
    const std::lock_guard lock(group_.mutex);
    return journal_;
}

int Ranks::finish(int code, const std::string& why) {
    std::unique_lock lock(group_.mutex);
    own_progress_ = {};
    if (first()) {
        const bool written = code != kExitBadInput && code != kExitCannotRun;
        for (std::uint32_t rank = 1; rank < size(); ++rank) {
            const RankGroup::Peer& peer = group_.peer(rank);
            if (peer.gone()) continue;
            channel_->send(rank, {{"do", "end"}, {"why", why}, {"written", written && peer.part_written}});
        }
        group_.changed.wait_for(lock, kRanksLeaveTimeout, [this] {
            return group_.all_gone_or(
                [this](std::uint32_t rank) { return rank == 0 || !group_.peer(rank).here; });
        });
        return code;
    }
    if (code != 0 && !ended_ && !(is_meeting() && group_.stopped)) group_.send_to_first({{"do", "failed"}});
    // A seat that came by itself ends when it was interrupted; the others go on without it.
    group_.changed.wait(
        lock, [this] { return ended_ || group_.first_is_gone() || (is_meeting() && group_.stopped); });
    // A host that was interrupted still writes its result.
    if (stopped_by_first_ && !journal_.empty())
        group_.changed.wait_for(lock, kWrittenTimeout,
                                [this] { return ended_ || group_.first_is_gone() || group_.peer(0).away; });
    if (part_is_written_ && !journal_.empty()) {
        std::error_code error;
        std::filesystem::remove(system_path(std::exchange(journal_, {})), error);
    }
    const bool ended_itself = is_meeting() && group_.stopped && !stopped_by_first_;
    const bool could_not_run = is_meeting() && (code == kExitBadInput || code == kExitCannotRun);
    return ended_itself || could_not_run || (group_.peer(0).lost && !ended_) ? code : 0;
}

}  // namespace streamsim::seats
