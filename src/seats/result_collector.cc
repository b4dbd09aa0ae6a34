#include "seats/result_collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <span>
#include <utility>

#include "base/document/document.h"
#include "base/units.h"
#include "base/utf8.h"
#include "result/json_report.h"
#include "result/merge.h"
#include "result/result_reader.h"
#include "seats/journal.h"
#include "seats/rank_messages.h"

namespace streamsim::seats {
namespace {

/// After an interruption rank 0 reports what it knows by then: the sender of the signal may kill a second
/// later.
constexpr std::chrono::milliseconds kInterruptedTimeout{600};
/// The further wait of rank 0 for ranks whose storage does not answer.
constexpr std::chrono::seconds kLastTimeout{6};
/// Rows of --csv in one message; each has some 150 bytes, and the name of its file.
constexpr std::size_t kRowsAMessage = 1000;

/// A part of a text ends before a character, not in it: half a character is no JSON.
void add_part(std::shared_ptr<std::string>& document, const std::string& text) {
    if (!document) document = std::make_shared<std::string>();
    if (document->size() + text.size() > kResultBytesMax)
        throw Json::other_error::create(
            501, fmt::format("its result is larger than {}", show_bytes(kResultBytesMax)), nullptr);
    *document += text;
}

}  // namespace

bool ResultCollector::hear_part(std::uint32_t rank, const std::string& what, const Json& message) {
    Received& received = received_[rank];
    if (what == "result-part") {
        add_part(received.document, message.at("text").get_ref<const std::string&>());
        return true;
    }
    if (what != "rows" && what != "operations") return false;
    if (!received.rows) received.rows = std::make_shared<Rows>();
    if (what == "rows") add_rows(message.at("rows"), received.rows->frames);
    if (what == "operations") add_rows(message.at("rows"), received.rows->operations);
    return true;
}

void ResultCollector::hear_played(std::uint32_t rank, Json& message, CommonStart::Due& due) {
    if (message.contains("error")) {
        const Result<void> outcome = outcome_from_json(message.at("error"));
        if (outcome) throw malformed("an error is none");
        (void)message.at("preroll").get<bool>();  // both are read again when all have played
        if (!is_own_interruption(outcome.error())) start_.call_off();
    }
    received_[rank].played = std::make_shared<const Json>(std::move(message));
    start_.rank_played(rank, due);
}

/// A seat of a meeting that is interrupted leaves, and the others play on.
bool ResultCollector::is_own_interruption(const Error& error) const {
    return group_.first_player() > 0 && error.kind == ErrorKind::interrupted;
}

void ResultCollector::next_play() {
    for (Received& received : received_) received = {};
}

// The own part

/// REQUIRES: the group's mutex is held.
SeatResult ResultCollector::own_seat(const RunResult& own, const std::string& journal) const {
    SeatResult seat;
    seat.rank = group_.part_of(group_.rank());
    seat.journal = journal;
    seat.seats = group_.seats_of(group_.rank());
    for (const ServerResult& server : own.servers)
        seat.node += fmt::format("{}{}", seat.node.empty() ? "" : ", ", server.address);
    start_.fill(seat, virtual_time_ && !(own.streams.empty() && own.meters.empty()));
    return seat;
}

void ResultCollector::become_own_part(RunResult& result, const std::string& journal) const {
    const std::lock_guard lock(group_.mutex);
    result.host.name = group_.peer(group_.rank()).host.name;
    result::become_part(group_.play_id(), group_.players(), own_seat(result, journal), result);
}

std::string ResultCollector::journal_of(std::uint32_t rank, const Options& options) const {
    if (options.journals.empty()) return "";
    return options.journals + "/" + Journal::file_name(group_.part_of(rank), group_.run_id());
}

/// Sends the document of this rank and its rows in parts, so that no heartbeat waits behind them. Blocks.
/// False: rank 0 is gone, or does not answer. REQUIRES: the group's mutex is not held: messages of rank 0 come
/// meanwhile.
bool ResultCollector::send_result(const RunResult& own) const {
    const std::string document = result::json_report(own);
    for (std::size_t at = 0; at < document.size();) {
        std::size_t end = std::min(at + kSeatPartBytes, document.size());
        while (end < document.size() && continues_character(document[end])) --end;
        const Json part = {
            {"do", "result-part"}, {"play", group_.play}, {"text", document.substr(at, end - at)}};
        if (!group_.channel().send_part(part)) return false;
        at = end;
    }
    return send_rows("rows", own.frames) && send_rows("operations", own.operations);
}

/// False: as above.
template <typename Row>
bool ResultCollector::send_rows(const char* what, const std::vector<Row>& all) const {
    for (std::size_t at = 0; at < all.size(); at += kRowsAMessage) {
        const auto rows = std::span(all).subspan(at, std::min(kRowsAMessage, all.size() - at));
        if (!group_.channel().send_part({{"do", what}, {"play", group_.play}, {"rows", to_json(rows)}}))
            return false;
    }
    return true;
}

void ResultCollector::send_played(const Result<RunResult>& own, const Options& options) const {
    Json message = {{"do", "played"}, {"play", group_.play}};
    if (!own) {
        message["error"] = to_json(Result<void>(own.error()));
        message["preroll"] = options.preroll_took_too_long;
    }
    group_.send_to_first(message);
}

// Collecting

Result<RunResult> ResultCollector::collect(Result<RunResult> own,
                                           const Options& options,
                                           const std::function<void()>& next_play) {
    std::unique_lock lock(group_.mutex);
    virtual_time_ = options.virtual_time;
    // A start group that has not begun never will: a rank that it waited for is gone.
    start_.drop_waiting(lock);
    lock.unlock();
    if (own) {
        become_own_part(*own, journal_of(group_.rank(), options));
        if (options.keep) options.keep(*own);
    }
    const bool sent = group_.first() || !own || send_result(*own);
    lock.lock();
    if (!group_.first()) {
        if (sent) send_played(own, options);  // half a result is none
        next_play();
        return own;
    }
    wait_for_all(lock, own, options);
    auto result = merged(lock, own, options);
    next_play();
    return result;
}

/// Rank 0 has ended its part, and waits for the others.
void ResultCollector::wait_for_all(std::unique_lock<std::mutex>& lock,
                                   const Result<RunResult>& own,
                                   const Options& options) {
    received_[0].played = std::make_shared<const Json>();
    preroll_took_too_long_ = !own && options.preroll_took_too_long;
    if (!own && own.error().kind != ErrorKind::interrupted) start_.call_off();
    CommonStart::Due due;
    start_.rank_played(0, due);  // none is due: rank 0's own start groups were dropped
    const auto known = [this] {
        return group_.all_gone_or([this](std::uint32_t rank) { return received_[rank].played != nullptr; });
    };
    group_.changed.wait(lock, [&] { return group_.stopped || known(); });
    if (known() || group_.changed.wait_for(lock, kInterruptedTimeout, known)) return;
    const auto meanwhile = merged(lock, own, options);
    lock.unlock();
    if (meanwhile && options.meanwhile) options.meanwhile(*meanwhile);
    lock.lock();
    group_.changed.wait_for(lock, kLastTimeout, known);
}

/// The result that the rank has sent. Documents may be large: the lock is released meanwhile.
Result<RunResult> ResultCollector::part_of(std::unique_lock<std::mutex>& lock, std::uint32_t rank) const {
    const std::string name = group_.name_of(rank);
    const auto document = received_[rank].document;
    const auto rows = received_[rank].rows;  // no further rows come
    lock.unlock();
    auto part = result::read_result(document ? *document : std::string(), name);
    if (part && rows) {
        part->frames = rows->frames;
        part->operations = rows->operations;
    }
    lock.lock();
    return part;
}

/// Why a rank has not sent its result, or not all of it; `journal` says it by its own words, or is empty.
std::string ResultCollector::why_incomplete(std::uint32_t rank, const std::string& journal) const {
    const RankGroup::Peer& peer = group_.peer(rank);
    if (!peer.why.empty()) return peer.why;
    if (received_[rank].played != nullptr) return "it was interrupted";
    if (peer.left) return "it has left";
    return journal.empty() ? "it did not answer in time" : journal;
}

/// The part of a rank that was lost: its journal, where this computer can read it, else only its name.
RunResult ResultCollector::part_of_lost(std::uint32_t rank, const Options& options) const {
    const RankGroup::Peer& peer = group_.peer(rank);
    const std::string path = journal_of(rank, options);
    if (const auto text = path.empty() ? bad_input("") : read_document(path, kResultBytesMax)) {
        auto journal = result::read_result(*text, path);
        if (journal && journal->run_id == group_.play_id() && journal->seats.size() == 1) {
            SeatResult& seat = journal->seats.front();
            const bool ended =
                seat.state == SeatResult::State::complete || seat.state == SeatResult::State::interrupted;
            if (!ended) seat.why = why_incomplete(rank, seat.why);
            return std::move(*journal);
        }
    }
    RunResult nothing = options.nothing();
    SeatResult seat;
    seat.rank = group_.part_of(rank);
    seat.seats = group_.seats_of(rank);
    result::become_part(group_.play_id(), group_.players(), std::move(seat), nothing);
    SeatResult& own = nothing.seats.front();
    own.state = SeatResult::State::missing;
    own.why = why_incomplete(rank, "");
    own.host = peer.host;
    return nothing;
}

/// All that rank 0 knows by now, as one result.
Result<RunResult> ResultCollector::merged(std::unique_lock<std::mutex>& lock,
                                          const Result<RunResult>& own,
                                          const Options& options) {
    std::map<std::uint32_t, Error> errors;
    std::vector<RunResult> parts;
    bool all_played = own.has_value() || group_.first_player() > 0;
    if (!own) {
        errors[0] = own.error();
    } else if (group_.first_player() == 0) {
        parts.push_back(*own);
    }
    for (std::uint32_t rank = 1; rank < group_.size(); ++rank) {
        const std::shared_ptr<const Json> played = received_[rank].played;
        all_played = all_played && played != nullptr && !played->contains("error");
        if (played == nullptr) {
            parts.push_back(part_of_lost(rank, options));
        } else if (played->contains("error")) {
            errors[rank] = outcome_from_json(played->at("error")).error();
            if (is_own_interruption(errors[rank]) && !group_.stopped)
                parts.push_back(part_of_lost(rank, options));
            preroll_took_too_long_ = preroll_took_too_long_ || played->at("preroll");
        } else {
            auto part = part_of(lock, rank);
            if (!part) return part.error();
            parts.push_back(std::move(*part));
        }
    }
    // A rank that another's error ended is interrupted, too.
    std::erase_if(errors, [](const auto& each) { return each.second.kind == ErrorKind::interrupted; });
    if (!errors.empty()) return group_.joined(errors);
    if (parts.empty()) return interrupted_error();
    lock.unlock();
    auto all = result::merge_results(std::move(parts));
    lock.lock();
    // One seat of a meeting that was interrupted is named; the others played on.
    const auto complete = [](const SeatResult& seat) { return seat.state == SeatResult::State::complete; };
    if (all && group_.first_player() > 0 && !group_.stopped && std::ranges::any_of(all->seats, complete))
        all->interrupted = false;
    // The others may have played to their end.
    if (all && group_.stopped && !all_played) all->interrupted = true;
    return all;
}

}  // namespace streamsim::seats
