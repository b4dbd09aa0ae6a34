// The messages of the seat channel: who may send them, their numbers, and those that the channel answers
// itself.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/byte_order.h"
#include "base/units.h"
#include "seats/message_values.h"
#include "seats/seat_channel.h"
#include "seats/seat_peer.h"
#include "streamsim/run_result.h"

namespace streamsim::seats {
namespace {

/// The key of 32 bytes that ZeroMQ writes as `text`.
std::string key_bytes(const std::string& text) {
    std::array<std::uint8_t, 32> key{};
    if (zmq_z85_decode(key.data(), text.c_str()) == nullptr) return {};
    return {key.begin(), key.end()};
}

}  // namespace

/// Answers ZeroMQ, which asks whether a connection's key is of this run: a message of ZAP (ZeroMQ RFC 27).
void SeatChannel::check_keys() {
    while (auto frame = keys_.receive()) {
        std::vector<std::string> request = {std::move(frame->bytes)};
        for (bool more = frame->more; more; more = frame->more) {
            frame = keys_.receive();
            request.push_back(std::move(frame->bytes));
        }
        const bool known = request.size() == 7 && request[6] == key_bytes(join_token_.keys.seat_public);
        const std::array<std::string_view, 6> answer = {
            "1.0", request.size() > 1 ? std::string_view(request[1]) : "", known ? "200" : "400", "", "", ""};
        for (std::size_t i = 0; i < answer.size(); ++i) (void)keys_.send(answer[i], i + 1 < answer.size());
    }
}

void SeatChannel::receive_all() {
    while (auto frame = link_.receive()) {
        std::string from;
        if (options_.rank == 0) {
            if (!frame->more) continue;
            from = std::move(frame->bytes);
            frame = link_.receive();
        }
        const std::string numbers = std::move(frame->bytes);
        std::string text;
        bool whole = frame->more;
        if (whole) {
            frame = link_.receive();
            text = std::move(frame->bytes);
        }
        while (frame->more) {
            frame = link_.receive();
            whole = false;
        }
        if (whole && numbers.size() == kNumbersBytes) received(from, frame->connection, numbers, text);
    }
}

/// The rank with this name; a new name is of the rank whose introduction comes with it. Null: none.
SeatChannel::Peer* SeatChannel::peer_of(const std::string& from, std::string_view text) {
    if (options_.rank != 0) return &peers_.front();
    for (Peer& peer : peers_) {
        if (peer.name == from) return &peer;
    }
    const auto message = parse_json(text, "message");
    if (!message || !message->is_object()) return nullptr;
    try {
        if (message->value("do", Json()) == "hello") return meet(from, *message);
    } catch (const Json::exception&) {  // a member of another type
        refuse(from, "", "its greeting is not one of streamsim");
        return nullptr;
    }
    refuse(from, "", "it is of a run that this one knows nothing of");
    return nullptr;
}

/// Gives a place to the rank that says hello, or none.
SeatChannel::Peer* SeatChannel::meet(const std::string& from, const Json& hello) {
    const Json introduction = hello.value("introduction", Json());
    const std::string computer = introduction.is_object() ? introduction.value("name", "") : "";
    const std::string seat = introduction.is_object() ? introduction.value("seat", "") : "";
    const std::string& who = seat.empty() ? computer : seat;
    if (hello.value("channel", Json()) != kChannelVersion) {
        refuse(from, who, "it is another version of streamsim");
        return nullptr;
    }
    const std::string version = hello.value("version", "");
    if (version != options_.version) {
        refuse(from, who, fmt::format("it is streamsim {}, and this is {}", version, options_.version));
        return nullptr;
    }
    const Json rank = hello.value("rank", Json());
    Peer* place = nullptr;
    if (rank.is_null() && places_are_closed()) {
        refuse(from, who, "the run has begun");
        return nullptr;
    }
    if (rank.is_null()) {
        place = free_place(who);
    } else if (rank.is_number_unsigned() && rank > 0 && rank < peers_.size() &&
               peers_[rank.get<std::size_t>()].name.empty()) {
        place = &peers_[rank.get<std::size_t>()];
    }
    if (place == nullptr) {
        refuse(from, who, "all places are taken");
        return nullptr;
    }
    forget(*place);
    *place = {};
    place->name = from;
    place->who = who;
    place->connected = true;
    return place;
}

/// A new place; else that of a rank that is gone, that was cut off and calls itself the same, or whose
/// connection has ended.
SeatChannel::Peer* SeatChannel::free_place(const std::string& who) {
    const auto first_of = [this](const auto& is_free) {
        const auto found = std::find_if(peers_.begin() + 1, peers_.end(), is_free);
        return found == peers_.end() ? nullptr : &*found;
    };
    if (Peer* const place = first_of([](const Peer& peer) { return peer.name.empty() && !peer.gone; }))
        return place;
    if (!options_.places_return) return nullptr;
    if (Peer* const place = first_of([](const Peer& peer) { return peer.gone; })) return place;
    if (Peer* const place = first_of([&who](const Peer& peer) { return !peer.connected && peer.who == who; }))
        return place;
    return first_of([](const Peer& peer) { return peer.ended; });
}

void SeatChannel::answer_refused(const std::string& from, const std::string& why) {
    Peer stranger;
    stranger.name = from;
    stranger.connected = true;
    write(stranger, 0, json_text(Json{{"do", "refused"}, {"why", why}}));
}

void SeatChannel::refuse(const std::string& from, const std::string& who, const std::string& why) {
    answer_refused(from, why);
    tell([who, why](SeatEvents& events) {
        if (events.refused) events.refused(who, why);
    });
}

/// A rank that was awaited and has returned too late would wait for answers.
void SeatChannel::answer_gone(const Peer& peer) {
    const bool was_awaited = options_.return_after_end != Duration{};
    if (options_.rank == 0 && was_awaited && !peer.why.empty())
        answer_refused(peer.name, "it was given up: " + peer.why);
}

void SeatChannel::received(const std::string& from,
                           int connection,
                           std::string_view numbers,
                           std::string_view text) {
    Peer* const peer = peer_of(from, text);
    if (peer == nullptr) return;
    if (peer->gone) return answer_gone(*peer);
    peer->heard = now();
    const bool was_away = !peer->connected;
    const bool is_new_connection = std::exchange(peer->connection, connection) != connection;
    returned(*peer);
    const auto bytes = std::as_bytes(std::span(numbers));
    const auto number = load<std::uint64_t>(bytes, 0, true);
    number_received(*peer, load<std::uint64_t>(bytes, sizeof number, true));
    // Nothing was written to a rank that was away, also where its connection was kept.
    if (was_away || (is_new_connection && options_.rank == 0)) send_again(*peer);
    if (text.empty()) return;
    if (number != 0) {
        // A message that was under way when a connection broke comes twice, or before one that was lost there.
        if (number != peer->came + 1) return;
        peer->came = number;
    }
    auto message = parse_json(text, "message");
    if (!message) return lose(*peer, "it sent a message that is not JSON");
    try {
        handle(*peer, *message);
    } catch (const Json::exception& error) {
        return lose(*peer, fmt::format("it sent an invalid message ({})", error.what()));
    }
    if (number != 0 && !peer->gone) write(*peer, 0, "");  // tells its number
}

void SeatChannel::handle(Peer& peer, Json& message) {
    const std::string what = message.at("do");
    const bool is_of_first = what == "welcome" || what == "refused" || what == "pong";
    if (is_of_first && options_.rank == 0) return lose(peer, "it sent a message that only rank 0 sends");
    if (what == "ping") {
        message["do"] = "pong";
        message["arrived"] = peer.heard.ns;
        message["answered"] = now().ns;
        write(peer, 0, json_text(message));
    } else if (what == "pong") {
        pong_received(message);
    } else if (what == "bye") {
        lose(peer, "");
    } else if (what == "refused") {
        const std::string why =
            options_.first + " has refused this one: " + message.at("why").get<std::string>();
        {
            const MutexLock lock(mutex_);
            refusal_ = why;
            changed_.notify_all();
        }
        lose(peer, why);
    } else if (what == "welcome") {
        connect_by_ = Instant::never();
        const MutexLock lock(mutex_);
        const auto rank = whole_of<std::uint32_t>(message.at("rank"));
        const auto ranks = whole_of<std::uint32_t>(message.at("ranks"));
        if (rank == 0 || rank >= ranks || ranks > kRanksMax) throw malformed("there is no such rank");
        options_.rank = rank;
        options_.ranks = ranks;
        join_token_.run_id = message.at("run");
        joined_ = true;
        changed_.notify_all();
    } else if (what != "alive" || message.contains("news")) {
        if (what == "hello") {
            post(peer, {{"do", "welcome"},
                        {"rank", rank_of(peer)},
                        {"ranks", options_.ranks},
                        {"run", join_token_.run_id}});
            for (const char* own : {"rank", "channel", "version"}) message.erase(own);
        }
        tell([rank = rank_of(peer), message = std::move(message)](SeatEvents& events) mutable {
            events.message(rank, message);
        });
    }
}

void SeatChannel::pong_received(const Json& message) {
    const Instant at = now();
    {
        const MutexLock lock(mutex_);
        if (pings_left_ == 0) return;
        clock_.add({time_of(message.at("sent"))}, {time_of(message.at("arrived"))},
                   {time_of(message.at("answered"))}, at);
        if (--pings_left_ == 0) return changed_.notify_all();
    }
    send_ping();
}

/// The messages up to this number have come there.
void SeatChannel::number_received(Peer& peer, std::uint64_t number) {
    std::size_t bytes = 0;
    while (!peer.unanswered.empty() && peer.unanswered.front().number <= number) {
        bytes += peer.unanswered.front().text.size();
        peer.unanswered.pop_front();
    }
    if (bytes == 0) return;
    const MutexLock lock(mutex_);
    queued_bytes_ -= std::min(queued_bytes_, bytes);
    changed_.notify_all();
}

/// Drops what waits for it.
void SeatChannel::forget(Peer& peer) {
    number_received(peer, peer.sent);
}

/// Sends the messages that may have been lost with a connection, or that were kept while the rank was away.
void SeatChannel::send_again(Peer& peer) {
    for (const Peer::Out& out : peer.unanswered) write(peer, out.number, out.text);
}

void SeatChannel::write(Peer& peer, std::uint64_t number, std::string_view text) {
    if (!peer.connected) return;
    std::array<char, kNumbersBytes> numbers{};
    const auto bytes = std::as_writable_bytes(std::span(numbers));
    store(bytes, 0, true, number);
    store(bytes, sizeof number, true, peer.came);
    if (options_.rank == 0 && !link_.send(peer.name, true)) return;
    if (link_.send({numbers.data(), numbers.size()}, true)) (void)link_.send(text);
}

/// Sends a message of the channel itself that has to arrive.
void SeatChannel::post(Peer& peer, const Json& message) {
    peer.unanswered.push_back({++peer.sent, json_text(message)});
    if (peer.connected) write(peer, peer.sent, peer.unanswered.back().text);
}

}  // namespace streamsim::seats
