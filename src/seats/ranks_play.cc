// What the ranks of a run do together while they play: a common beginning, and one result at the end.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <span>
#include <utility>

#include "base/document/document.h"
#include "base/units.h"
#include "result/json_report.h"
#include "result/merge.h"
#include "result/result_reader.h"
#include "seats/journal.h"
#include "seats/ranks.h"
#include "seats/ranks_words.h"

namespace streamsim::seats {
namespace {

/// Exchanges of which the quickest tells the clock, and how long they may take in all.
constexpr std::uint32_t kExchanges = 40;
constexpr Duration kMeasured = seconds(2);
/// From the word to begin to the beginning: a busy computer reads a message that late.
constexpr Duration kLead = milliseconds(150);
/// After an interruption rank 0 says what it knows by then: whoever sent the signal may kill a second later.
constexpr std::chrono::milliseconds kMeanwhile{600};
/// And waits so long for those whose storage keeps them.
constexpr std::chrono::seconds kLast{6};

/// Of --csv; each has some 150 bytes, and the name of its file.
constexpr std::size_t kRowsAPart = 1000;

/// A part of a text ends before a character, not in it: half a character is no JSON.
bool continues_character(char c) {
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

/// REQUIRES: the channel takes an exception for the end of whoever sent the part.
void add_result_part(std::shared_ptr<std::string>& document, const std::string& text) {
    if (!document) document = std::make_shared<std::string>();
    if (document->size() + text.size() > kResultBytesMax)
        throw Json::other_error::create(
            501, fmt::format("its result is larger than {}", show_bytes(kResultBytesMax)), nullptr);
    *document += text;
}

}  // namespace

void Ranks::call(std::unique_lock<std::mutex>& lock, const Begun& begun) {
    calling_ += begun.size();
    lock.unlock();
    for (const auto& [begin, at] : begun) begin(at);
    lock.lock();
    calling_ -= begun.size();
    changed_.notify_all();
}

bool Ranks::play_is_off() const {
    const std::lock_guard lock(mutex_);
    return play_is_off_;
}

/// REQUIRES: mutex_ is held, also by what follows.
void Ranks::call_off_play() {
    if (std::exchange(play_is_off_, true)) return;
    if (first()) send_to_others({{"do", "off"}, {"play", play_}});
    changed_.notify_all();
}

void Ranks::next_play() {
    ++play_;
    play_is_off_ = go_ = all_ended_ = false;
    cues_.clear();
    begun_.clear();
    origin_.reset();
    play_start_.reset();
    slowest_ = {};
    clock_after_.reset();
    for (Peer& peer : peers_) {
        peer.cues.reset();
        peer.ready.clear();
        peer.ended = false;
        peer.played.reset();
        peer.result.reset();
        peer.rows.reset();
        peer.news.reset();
    }
}

Result<void> Ranks::planned(const std::vector<Duration>& cues) {
    if (!first()) {
        const auto clock = channel_->measure_clock(kExchanges, kMeasured);
        const std::lock_guard lock(mutex_);
        clock_ = clock.value_or(ClockReading{});
        clock_at_ = SeatChannel::now();
    }
    std::vector<std::int64_t> own;
    own.reserve(cues.size());
    for (const Duration cue : cues) own.push_back(cue.ns);
    std::unique_lock lock(mutex_);
    if (first()) {
        peers_[0].cues = own;
        changed_.wait(lock, [this] {
            return stopped_ || play_is_off_ || all([](const Peer& peer) { return peer.gone() || peer.cues; });
        });
        go_ = !stopped_ && !play_is_off_;
        if (go_) send_to_others({{"do", "go"}, {"play", play_}});
    } else {
        channel_->send(0, {{"do", "planned"}, {"play", play_}, {"cues", own}, {"bound_ns", clock_.bound.ns}});
        changed_.wait(lock, [this] { return stopped_ || play_is_off_ || go_ || peers_[0].gone(); });
    }
    return go_ ? Result<void>() : interrupted_error();
}

void Ranks::ready(Duration cue, Begin begin) {
    Begun begun;
    std::unique_lock lock(mutex_);
    if (!first() && peers_[0].gone()) {
        if (!begun_.empty()) begun.emplace_back(std::move(begin), SeatChannel::now());
    } else {
        cues_[cue.ns] = std::move(begin);
        peers_[rank_].ready.insert(cue.ns);
        if (first()) begin_ready_cues(begun);
        if (!first()) channel_->send(0, {{"do", "ready"}, {"play", play_}, {"cue", cue.ns}});
    }
    call(lock, begun);
}

void Ranks::ended() {
    std::unique_lock lock(mutex_);
    peers_[rank_].ended = true;
    if (first()) {
        all_may_have_ended();
    } else {
        channel_->send(0, {{"do", "ended"}, {"play", play_}});
    }
    changed_.wait(lock, [this] { return stopped_ || play_is_off_ || all_ended_ || peers_[0].gone(); });
}

void Ranks::all_may_have_ended() {
    if (all_ended_ || !all([](const Peer& peer) { return peer.gone() || peer.ended || peer.played; })) return;
    all_ended_ = true;
    send_to_others({{"do", "all-ended"}, {"play", play_}});
}

/// Rank 0: what is ready wherever it is to be played begins.
void Ranks::begin_ready_cues(Begun& begun) {
    if (!go_) return;
    std::set<std::int64_t> cues;
    for (const Peer& peer : peers_) cues.insert(peer.ready.begin(), peer.ready.end());
    for (const std::int64_t cue : cues) {
        const bool everywhere = all([cue](const Peer& peer) {
            const bool has =
                peer.cues && std::find(peer.cues->begin(), peer.cues->end(), cue) != peer.cues->end();
            return !has || peer.gone() || peer.played || peer.ready.contains(cue);
        });
        if (!everywhere || begun_.contains(cue)) continue;
        const Instant at = SeatChannel::now() + kLead + Duration{4 * slowest_.ns};
        if (!origin_) origin_ = at;
        send_to_others(
            {{"do", "begin"}, {"play", play_}, {"cue", cue}, {"at", at.ns}, {"origin", origin_->ns}});
        begin_own(cue, at, begun);
    }
}

/// `at`: of the own clock. What comes too late begins at once, and its lateness is in the result.
void Ranks::begin_own(std::int64_t cue, Instant at, Begun& begun) {
    begun_.insert(cue);
    const auto found = cues_.find(cue);
    if (found == cues_.end()) return;
    at = std::max(at, SeatChannel::now());
    if (!play_start_) play_start_ = at;
    begun.emplace_back(std::move(found->second), at);
    cues_.erase(found);
}

void Ranks::heard_of_play(std::uint32_t rank, const std::string& what, Json& message) {
    Begun begun;
    std::unique_lock lock(mutex_);
    if (message.at("play") > play_) {  // another rank begins to play again while this one still merges
        early_.emplace_back(rank, std::move(message));
        return;
    }
    if (message.at("play") < play_) return;
    Peer& peer = peers_[rank];
    if (what == "planned") {
        peer.cues = message.at("cues").get<std::vector<std::int64_t>>();
        slowest_ = std::max(slowest_, Duration{message.at("bound_ns")});
    } else if (what == "go") {
        go_ = true;
    } else if (what == "ready") {
        peer.ready.insert(message.at("cue").get<std::int64_t>());
        begin_ready_cues(begun);
    } else if (what == "begin") {
        origin_ = Instant{message.at("origin")};
        begin_own(message.at("cue"), clock_.own({message.at("at")}), begun);
    } else if (what == "ended") {
        peer.ended = true;
        all_may_have_ended();
    } else if (what == "all-ended") {
        all_ended_ = true;
    } else if (what == "off") {
        play_is_off_ = true;
    } else if (what == "result-part") {
        add_result_part(peer.result, message.at("text").get_ref<const std::string&>());
        return;
    } else if (what == "rows") {
        if (!peer.rows) peer.rows = std::make_shared<std::vector<FrameRow>>();
        add_rows(message.at("rows"), *peer.rows);
        return;
    } else if (what == "played") {
        if (message.contains("error")) call_off_play();
        peer.played = std::make_shared<const Json>(std::move(message));
        begin_ready_cues(begun);
        all_may_have_ended();
    }
    changed_.notify_all();
    call(lock, begun);
}

/// REQUIRES: mutex_ is held.
SeatResult Ranks::own_seat(const RunResult& own, const std::string& journal) const {
    SeatResult seat;
    seat.rank = rank_;
    seat.journal = journal;
    for (std::uint32_t i = 0; i < own_seats(); ++i) seat.seats.push_back(first_seat() + i);
    for (const ServerResult& server : own.servers)
        seat.node += fmt::format("{}{}", seat.node.empty() ? "" : ", ", server.address);
    seat.clock_offset_ns = clock_.offset.ns;
    seat.clock_bound_ns = clock_.bound.ns;
    double drift = 0;  // what the two measurements say of the moment between them at which play began
    if (clock_after_) {
        seat.clock_offset_after_ns = clock_after_->offset.ns;
        seat.clock_bound_after_ns = clock_after_->bound.ns;
        const auto between = static_cast<double>(std::max<std::int64_t>((clock_after_at_ - clock_at_).ns, 1));
        drift = static_cast<double>((clock_after_->offset - clock_.offset).ns) / between;
    }
    if (play_start_ && origin_) {
        const double since = static_cast<double>((*play_start_ - clock_at_).ns);
        seat.start_ns = (clock_.theirs(*play_start_) - *origin_).ns + std::llround(drift * since);
    } else if (is_virtual_ && !own.streams.empty()) {
        seat.start_ns = 0;
    }
    return seat;
}

void Ranks::become_own_part(RunResult& result, const std::string& journal) const {
    const std::lock_guard lock(mutex_);
    result::become_part(run_id(), size_, own_seat(result, journal), result);
}

/// The document of this rank and its rows, in parts, so that no heartbeat waits behind them. Blocks.
/// REQUIRES: mutex_ is not held: rank 0's words are heard meanwhile.
void Ranks::send_result(const RunResult& own) {
    const std::string document = result::json_report(own);
    for (std::size_t at = 0; at < document.size();) {
        std::size_t end = std::min(at + kSeatPartBytes, document.size());
        while (end < document.size() && continues_character(document[end])) --end;
        const Json part = {{"do", "result-part"}, {"play", play_}, {"text", document.substr(at, end - at)}};
        if (!channel_->send_part(part)) return;
        at = end;
    }
    for (std::size_t at = 0; at < own.frames.size(); at += kRowsAPart) {
        const auto rows = std::span(own.frames).subspan(at, std::min(kRowsAPart, own.frames.size() - at));
        if (!channel_->send_part({{"do", "rows"}, {"play", play_}, {"rows", words_of(rows)}})) return;
    }
}

void Ranks::send_played(const Result<RunResult>& own, const Collecting& how) {
    Json message = {{"do", "played"}, {"play", play_}};
    if (!own) {
        message["error"] = words_of(Result<void>(own.error()));
        message["preroll"] = how.preroll_took_too_long;
    }
    channel_->send(0, message);
}

Result<RunResult> Ranks::collect(Result<RunResult> own, const Collecting& how) {
    std::optional<ClockReading> after;
    if (!first() && own && !stopped()) after = channel_->measure_clock(kExchanges, kMeasured);
    std::unique_lock lock(mutex_);
    clock_after_ = after;
    clock_after_at_ = SeatChannel::now();
    is_virtual_ = how.virtual_time;
    // What is ready here and has not begun never will: whoever waited for it is no more.
    cues_.clear();
    changed_.wait(lock, [this] { return calling_ == 0; });
    lock.unlock();
    if (own) {
        const std::string journal =
            how.journals.empty() ? "" : how.journals + "/" + Journal::file_name(rank_, run_id());
        become_own_part(*own, journal);
        if (how.keep) how.keep(*own);
    }
    if (!first() && own) send_result(*own);
    lock.lock();
    if (!first()) {
        send_played(own, how);
        next_play();
        return own;
    }
    wait_for_played(lock, own, how);
    auto result = merged(lock, own, how);
    next_play();
    auto early = std::exchange(early_, {});
    lock.unlock();
    for (auto& [rank, message] : early) heard(rank, message);
    return result;
}

/// Rank 0 has come to its end, and waits for the others.
void Ranks::wait_for_played(std::unique_lock<std::mutex>& lock,
                            const Result<RunResult>& own,
                            const Collecting& how) {
    peers_[0].played = std::make_shared<const Json>();
    preroll_took_too_long_ = !own && how.preroll_took_too_long;
    if (!own && own.error().kind != ErrorKind::interrupted) call_off_play();
    Begun begun;
    begin_ready_cues(begun);
    all_may_have_ended();
    const auto all_known = [this] {
        return all([](const Peer& peer) { return peer.gone() || peer.played != nullptr; });
    };
    changed_.wait(lock, [&] { return stopped_ || all_known(); });
    if (all_known() || changed_.wait_for(lock, kMeanwhile, all_known)) return;
    const auto meanwhile = merged(lock, own, how);
    lock.unlock();
    if (meanwhile && how.meanwhile) how.meanwhile(*meanwhile);
    lock.lock();
    changed_.wait_for(lock, kLast, all_known);
}

/// A rank that says nothing any more: what its journal holds, where that can be read here, else only its name.
RunResult Ranks::nothing_of(std::uint32_t rank, const Collecting& how) const {
    const Peer& peer = peers_[rank];
    const std::string path =
        how.journals.empty()
            ? ""
            : (std::filesystem::path(how.journals) / Journal::file_name(rank, run_id())).string();
    if (const auto text = path.empty() ? bad_input("") : read_document(path, kResultBytesMax)) {
        auto journal = result::read_result(*text, path);
        if (journal && journal->run_id == run_id() && journal->seats.size() == 1) {
            SeatResult& seat = journal->seats.front();
            if (seat.state != SeatResult::State::complete) seat.why = peer.why;
            return std::move(*journal);
        }
    }
    RunResult nothing = how.nothing();
    SeatResult seat;
    seat.rank = rank;
    for (std::uint32_t i = first_seat_of(rank); i < first_seat_of(rank + 1); ++i) seat.seats.push_back(i);
    result::become_part(run_id(), size_, std::move(seat), nothing);
    SeatResult& own = nothing.seats.front();
    own.state = SeatResult::State::missing;
    own.why = peer.why;
    own.host = peer.host;
    return nothing;
}

/// What rank 0 knows by now, as one result. Documents may be large: the lock is let go of meanwhile.
Result<RunResult> Ranks::merged(std::unique_lock<std::mutex>& lock,
                                const Result<RunResult>& own,
                                const Collecting& how) {
    std::map<std::uint32_t, Error> errors;
    std::vector<RunResult> parts;
    if (own) {
        parts.push_back(*own);
    } else {
        errors[0] = own.error();
    }
    for (std::uint32_t rank = 1; rank < size_; ++rank) {
        const std::shared_ptr<const Json> played = peers_[rank].played;
        if (played == nullptr) {
            parts.push_back(nothing_of(rank, how));
        } else if (played->contains("error")) {
            errors[rank] = outcome_of(played->at("error")).error();
            preroll_took_too_long_ = preroll_took_too_long_ || played->at("preroll");
        } else {
            const std::string name = name_of(rank);
            const auto document = peers_[rank].result;
            const auto rows = peers_[rank].rows;  // nothing is added any more
            lock.unlock();
            auto part = result::read_result(document ? *document : std::string(), name);
            if (part && rows) part->frames = *rows;
            lock.lock();
            if (!part) return part.error();
            parts.push_back(std::move(*part));
        }
    }
    // Interrupted are those whom another's error ended, too.
    std::erase_if(errors, [](const auto& each) { return each.second.kind == ErrorKind::interrupted; });
    if (!errors.empty()) return errors_of(errors);
    if (parts.empty()) return interrupted_error();
    lock.unlock();
    auto all = result::merge_results(std::move(parts));
    lock.lock();
    return all;
}

}  // namespace streamsim::seats
