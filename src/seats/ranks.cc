#include "seats/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "host/host.h"
#include "seats/mpi_start.h"
#include "seats/ranks_words.h"

namespace streamsim::seats {
namespace {

/// Ranks that have begun MPI connect at once; what takes longer than this is not to be reached.
constexpr std::chrono::seconds kAllHere{25};
/// At its end rank 0 waits so long for the others to leave.
constexpr std::chrono::seconds kAllLeave{3};

}  // namespace

Ranks::Ranks(std::uint32_t rank, std::uint32_t ranks)
    : rank_(rank), size_(ranks), seats_(ranks), peers_(ranks) {
    peers_[rank].here = true;
    peers_[rank].host = host::read_host_facts();
}

Ranks::~Ranks() = default;

SeatChannelOptions Ranks::channel_options() {
    SeatChannelOptions options;
    options.rank = rank_;
    options.ranks = size_;
    options.introduction = words_of(peers_[rank_].host);
    options.events.message = [this](std::uint32_t from, Json& message) { heard(from, message); };
    options.events.lost = [this](std::uint32_t who, const std::string& why) {
        gone(who, [&why](Peer& peer) {
            peer.lost = true;
            peer.why = why;
        });
    };
    options.events.left = [this](std::uint32_t who) { gone(who, [](Peer& peer) { peer.left = true; }); };
    options.events.news = [this]() -> Json {
        const std::lock_guard lock(mutex_);
        const auto news = news_ ? news_() : std::nullopt;
        return news ? words_of(*news) : Json();
    };
    return options;
}

Result<std::unique_ptr<Ranks>> Ranks::host(std::uint32_t ranks) {
    std::unique_ptr<Ranks> all(new Ranks(0, ranks));
    auto channel = SeatChannel::host(all->channel_options());
    if (!channel) return channel.error();
    all->channel_ = std::move(*channel);
    return all;
}

Result<std::unique_ptr<Ranks>> Ranks::join(std::uint32_t rank,
                                           std::uint32_t ranks,
                                           const JoinToken& join_token) {
    std::unique_ptr<Ranks> all(new Ranks(rank, ranks));
    auto channel = SeatChannel::join(all->channel_options(), join_token);
    if (!channel) return channel.error();
    all->channel_ = std::move(*channel);
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
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, kAllHere,
                          [this] { return all([](const Peer& peer) { return peer.here || peer.gone(); }); });
        for (Peer& peer : peers_) {
            if (peer.here || peer.gone()) continue;
            peer.lost = true;
            peer.why = fmt::format("it did not connect within {} s", kAllHere.count());
        }
    }
    const auto typed = share(Json(command));
    if (!typed) return typed.error();
    if (*typed == Json(command)) return agree({});
    return agree(
        bad_input(fmt::format("it is another streamsim than rank 0, or was started with other options: all "
                              "ranks of one run are alike, found '{}'",
                              fmt::join(command, " "))));
}

bool Ranks::all(const std::function<bool(const Peer&)>& holds) const {
    return std::all_of(peers_.begin(), peers_.end(), holds);
}

std::string Ranks::name_of(std::uint32_t rank) const {
    const std::uint32_t from = first_seat_of(rank);
    const std::uint32_t to = first_seat_of(rank + 1);
    std::string out = to > from + 1 ? fmt::format("seats {}-{}", from, to - 1) : fmt::format("seat {}", from);
    const std::string& host = peers_[rank].host.name;
    return host.empty() ? out : fmt::format("{} (host {})", out, host);
}

void Ranks::send_to_others(const Json& message) {
    if (!first()) return channel_->send(0, message);
    for (std::uint32_t rank = 1; rank < size_; ++rank) channel_->send(rank, message);
}

void Ranks::heard(std::uint32_t rank, Json& message) {
    const std::string what = message.at("do");
    if (message.contains("play")) return heard_of_play(rank, what, message);
    if (what == "stop" && first()) return stop();  // which tells it to all
    const std::lock_guard lock(mutex_);
    stopped_ = stopped_ || what == "stop";
    Peer& peer = peers_[rank];
    if (what == "hello") {
        peer.here = true;
        peer.host = host_of(message.at("introduction"));
    } else if (what == "alive") {
        peer.news = news_of(message.at("news"));
    } else if (what == "report") {
        peer.reports.insert_or_assign(message.at("step").get<std::uint64_t>(),
                                      outcome_of(message.at("outcome")));
    } else if (what == "answer") {
        answers_.insert_or_assign(message.at("step").get<std::uint64_t>(), outcome_of(message.at("outcome")));
    } else if (what == "share") {
        shared_[message.at("step")] = message.at("value");
    } else if (what == "end") {
        ended_ = true;
    }
    changed_.notify_all();
}

/// Nobody waits for it any more, however it went.
void Ranks::gone(std::uint32_t rank, const std::function<void(Peer&)>& note) {
    Begun begun;
    std::unique_lock lock(mutex_);
    note(peers_[rank]);
    if (first()) {
        begin_ready_cues(begun);
        all_may_have_ended();
    } else if (begun_.empty()) {
        play_is_off_ = true;
    } else {
        // It plays on alone: what is ready begins when it is.
        for (const auto& [cue, begin] : cues_) begun.emplace_back(begin, SeatChannel::now());
        cues_.clear();
    }
    changed_.notify_all();
    call(lock, begun);
}

Error Ranks::errors_of(const std::map<std::uint32_t, Error>& errors) const {
    Error all{ErrorKind::environment, {}};
    std::map<std::string, std::vector<std::string>> by_problem;
    std::vector<std::string> order;
    for (const auto& [rank, error] : errors) {
        if (error.kind == ErrorKind::bad_input) all.kind = ErrorKind::bad_input;
        for (const std::string& problem : error.problems) {
            if (!by_problem.contains(problem)) order.push_back(problem);
            by_problem[problem].push_back(rank == 0 ? "" : name_of(rank));
        }
    }
    for (const std::string& problem : order) {
        const std::vector<std::string>& who = by_problem[problem];
        const bool of_rank_0 = who.front().empty();  // nothing of a seat's own: it is said as ever
        all.problems.push_back(of_rank_0 ? problem : fmt::format("{}: {}", fmt::join(who, ", "), problem));
    }
    return all;
}

Result<void> Ranks::agree(const Result<void>& own) {
    if (!own && own.error().kind == ErrorKind::interrupted) stop();
    std::unique_lock lock(mutex_);
    const std::uint64_t step = ++step_;
    if (!first()) {
        channel_->send(0, {{"do", "report"}, {"step", step}, {"outcome", words_of(own)}});
        changed_.wait(lock, [&] { return stopped_ || answers_.contains(step) || peers_[0].gone(); });
        if (const auto answer = answers_.find(step); answer != answers_.end()) return answer->second;
        if (stopped_) return interrupted_error();
        return environment_error("rank 0 is gone: " + (peers_[0].lost ? peers_[0].why : "it has ended"));
    }
    peers_[0].reports.insert_or_assign(step, own);
    changed_.wait(lock, [&] {
        return stopped_ || !own ||
               all([step](const Peer& peer) { return peer.gone() || peer.reports.contains(step); });
    });
    if (stopped_) return interrupted_error();
    std::map<std::uint32_t, Error> errors;
    for (std::uint32_t rank = 0; rank < size_; ++rank) {
        const auto report = peers_[rank].reports.find(step);
        if (report != peers_[rank].reports.end() && !report->second) errors[rank] = report->second.error();
        peers_[rank].reports.erase(peers_[rank].reports.begin(), peers_[rank].reports.upper_bound(step));
    }
    const Result<void> together = errors.empty() ? Result<void>() : Result<void>(errors_of(errors));
    send_to_others({{"do", "answer"}, {"step", step}, {"outcome", words_of(together)}});
    return together;
}

Result<Json> Ranks::share(const Json& value) {
    std::unique_lock lock(mutex_);
    const std::uint64_t step = ++step_;
    if (first()) {
        send_to_others({{"do", "share"}, {"step", step}, {"value", value}});
        return value;
    }
    changed_.wait(lock, [&] { return stopped_ || shared_.contains(step) || peers_[0].gone() || ended_; });
    if (const auto found = shared_.find(step); found != shared_.end()) {
        Json shared = std::move(found->second);
        shared_.erase(found);
        return shared;
    }
    return interrupted_error();
}

void Ranks::stop() {
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(stopped_, true)) return;
        changed_.notify_all();
    }
    send_to_others({{"do", "stop"}});
}

bool Ranks::stopped() const {
    const std::lock_guard lock(mutex_);
    return stopped_;
}

bool Ranks::rank_0_is_lost() const {
    const std::lock_guard lock(mutex_);
    return peers_[0].lost;
}

void Ranks::tell(std::function<std::optional<RankNews>()> news) {
    const std::lock_guard lock(mutex_);
    news_ = std::move(news);
}

std::vector<std::optional<RankNews>> Ranks::told() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::optional<RankNews>> out;
    for (const Peer& peer : peers_) out.push_back(peer.gone() ? std::nullopt : peer.news);
    return out;
}

std::vector<std::string> Ranks::newly_lost() {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> out;
    for (std::uint32_t rank = 0; rank < size_; ++rank) {
        Peer& peer = peers_[rank];
        if (!peer.lost || std::exchange(peer.said_lost, true)) continue;
        out.push_back(fmt::format("{} was lost: {}", name_of(rank), peer.why));
    }
    return out;
}

int Ranks::finish(int code) {
    std::unique_lock lock(mutex_);
    news_ = {};
    if (first()) {
        send_to_others({{"do", "end"}});
        changed_.wait_for(lock, kAllLeave, [this] {
            return std::all_of(peers_.begin() + 1, peers_.end(), [](const Peer& peer) { return peer.gone(); });
        });
        return code;
    }
    changed_.wait(lock, [this] { return ended_ || peers_[0].gone(); });
    return peers_[0].lost && !ended_ ? code : 0;
}

}  // namespace streamsim::seats
