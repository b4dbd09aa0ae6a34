#include "seats/seat_channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <span>
#include <utility>

#include "base/byte_order.h"
#include "base/check.h"
#include "base/units.h"

namespace streamsim::seats {
namespace {

/// Before each text: its number, 0 for what is not sent again, and the number of the last message that came.
constexpr std::size_t kNumbersBytes = 16;
/// A further part is sent when at most so many bytes are queued.
constexpr std::size_t kQueuedBytesMax = 4 * kSeatPartBytes;
/// The time for one address.
constexpr Duration kConnectTimeout = seconds(2);
/// Queued messages that a rank which leaves waits for.
constexpr Duration kLeaveTimeout = seconds(1);
constexpr int kLingerMs = 500;
constexpr int kBacklog = 1024;
constexpr int kNoHandshake = ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                             ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
constexpr const char* kConnections = "inproc://connections";
constexpr const char* kKeys = "inproc://zeromq.zap.01";
constexpr const char* kWake = "inproc://wake";

std::chrono::nanoseconds chrono_of(Duration duration) {
    return std::chrono::nanoseconds(duration.ns);
}

int ms_of(Duration duration) {
    return static_cast<int>(duration.ns / 1'000'000);
}

std::string random_digits(std::size_t bytes) {
    std::vector<std::uint8_t> random(bytes);
    STREAMSIM_CHECK(uv_random(nullptr, nullptr, random.data(), random.size(), 0, nullptr) == 0,
                    "the kernel gives random bytes");
    return fmt::format("{:02x}", fmt::join(random, ""));
}

/// The key of 32 bytes that ZeroMQ writes as `text`.
std::string key_bytes(const std::string& text) {
    std::array<std::uint8_t, 32> key{};
    if (zmq_z85_decode(key.data(), text.c_str()) == nullptr) return {};
    return {key.begin(), key.end()};
}

}  // namespace

struct SeatChannel::Peer {
    std::string name;                          // by which rank 0's socket reaches it
    int connection = -1;                       // that its last message came by
    bool connected = false;                    // what is written now arrives there, or the connection ends
    bool gone = false;                         // lost, or left
    Instant awaited_until = Instant::never();  // away; never: it is here
    std::string why;                           // it is away
    Instant heard;
    std::uint64_t sent = 0;  // the number of the last message to it
    std::uint64_t came = 0;  // the number of the last message from it
    struct Out {
        std::uint64_t number;
        std::string text;
    };
    std::deque<Out> unanswered;  // messages that have not come there, as far as is known
};

SeatChannel::SeatChannel(SeatChannelOptions options)
    : options_(std::move(options)),
      link_(context_, options_.rank == 0 ? ZMQ_ROUTER : ZMQ_DEALER),
      connections_(context_, ZMQ_PAIR),
      keys_(context_, ZMQ_REP),
      wake_receiver_(context_, ZMQ_PAIR),
      peers_(options_.rank == 0 ? options_.ranks : 1),
      wake_sender_(context_, ZMQ_PAIR) {
    (void)wake_receiver_.bind(kWake);
    (void)wake_sender_.connect(kWake);
    // Later than tick() finds out, and tells why.
    const int heartbeat_timeout = std::max(1, 2 * ms_of(options_.heartbeat_timeout));
    link_.set(ZMQ_IPV6, 1);
    link_.set(ZMQ_LINGER, 0);
    link_.set(ZMQ_SNDHWM, 0);  // send_part() limits what is queued
    link_.set(ZMQ_HEARTBEAT_IVL, std::max(1, ms_of(options_.heartbeat)));
    link_.set(ZMQ_HEARTBEAT_TIMEOUT, heartbeat_timeout);
    link_.set(ZMQ_HANDSHAKE_IVL, std::max(1, ms_of(options_.greeting_timeout)));
    link_.watch(kConnections, ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED |
                                  ZMQ_EVENT_CONNECT_RETRIED | kNoHandshake);
    (void)connections_.connect(kConnections);
    last_tick_ = now();
    next_tick_ = last_tick_ + options_.heartbeat;
    for (Peer& peer : peers_) peer.heard = last_tick_;
}

Result<std::unique_ptr<SeatChannel>> SeatChannel::host(SeatChannelOptions options) {
    STREAMSIM_CHECK(options.rank == 0, "rank 0 listens");
    std::unique_ptr<SeatChannel> channel(new SeatChannel(std::move(options)));
    channel->join_token_.run_id = random_digits(8);
    channel->join_token_.keys = channel->options_.keys ? *channel->options_.keys : SeatKeys::make();
    channel->join_token_.machine = this_machine();
    channel->join_token_.addresses = own_addresses();
    if (const auto listens = channel->listen(); !listens) return listens.error();
    channel->start();
    return channel;
}

Result<void> SeatChannel::listen() {
    link_.set(ZMQ_CURVE_SERVER, 1);
    link_.set(ZMQ_CURVE_SECRETKEY, join_token_.keys.host_secret);
    link_.set(ZMQ_ZAP_DOMAIN, "seats");
    link_.set(ZMQ_ROUTER_HANDOVER, 1);  // a connection that was made again takes the place of the broken one
    link_.set(ZMQ_BACKLOG, kBacklog);
    const std::int64_t longest = static_cast<std::int64_t>(kSeatMessageBytesMax);
    link_.set(ZMQ_MAXMSGSIZE, std::string_view(reinterpret_cast<const char*>(&longest), sizeof longest));
    (void)keys_.bind(kKeys);
    const std::string endpoint =
        fmt::format("tcp://{}:{}", options_.address, options_.port == 0 ? "*" : std::to_string(options_.port));
    int error = link_.bind(endpoint);
    if (error != 0) {
        link_.set(ZMQ_IPV6, 0);
        error = link_.bind(endpoint);
    }
    if (error != 0)
        return environment_error(fmt::format("{}: cannot be listened on: {}", endpoint, zmq_strerror(error)));
    endpoint_ = link_.last_endpoint();
    join_token_.port = static_cast<std::uint16_t>(std::stoul(endpoint_.substr(endpoint_.rfind(':') + 1)));
    return {};
}

Result<std::unique_ptr<SeatChannel>> SeatChannel::join(SeatChannelOptions options,
                                                       JoinToken join_token,
                                                       Duration timeout,
                                                       const std::function<bool()>& given_up) {
    STREAMSIM_CHECK(options.rank != 0, "rank 0 hosts the channel, the others join");
    if (join_token.machine == this_machine())
        join_token.addresses.insert(join_token.addresses.begin(), {"127.0.0.1", "::1"});
    if (join_token.addresses.empty())
        return environment_error("rank 0 cannot be reached: its computer has no network interface that is up");
    std::unique_ptr<SeatChannel> channel(new SeatChannel(std::move(options)));
    channel->join_token_ = std::move(join_token);
    const SeatKeys& keys = channel->join_token_.keys;
    channel->link_.set(ZMQ_CURVE_SERVERKEY, keys.host_public);
    channel->link_.set(ZMQ_CURVE_PUBLICKEY, keys.seat_public);
    channel->link_.set(ZMQ_CURVE_SECRETKEY, keys.seat_secret);
    channel->link_.set(ZMQ_ROUTING_ID, random_digits(16));
    channel->peers_.front().name = "rank 0";
    const bool any = channel->options_.rank == kAnyRank;
    channel->post(channel->peers_.front(), {{"do", "hello"},
                                            {"channel", kChannelVersion},
                                            {"rank", any ? Json() : Json(channel->options_.rank)},
                                            {"introduction", channel->options_.introduction}});
    {
        MutexLock lock(channel->mutex_);
        channel->heard_by_somebody_ = !any;
        channel->start();
        constexpr Duration kLook = milliseconds(100);
        const Instant end = now() + timeout;
        bool stop = false;
        while (!channel->joined_ && channel->refusal_.empty() && now() < end && !stop) {
            lock.wait_for(channel->changed_, chrono_of(std::min(end - now(), kLook)));
            stop = given_up && given_up();
        }
        if (channel->joined_) return channel;
        if (!channel->refusal_.empty()) return environment_error(channel->refusal_);
        if (stop) return interrupted_error();
    }
    return environment_error(fmt::format(
        "rank 0 cannot be reached within {}, on port {} of {}: the seat channel needs a TCP connection to it",
        show_duration(timeout), channel->join_token_.port, fmt::join(channel->join_token_.addresses, ", ")));
}

void SeatChannel::start() {
    thread_ = std::thread([this] { run(); });
}

SeatChannel::~SeatChannel() {
    if (!thread_.joinable()) return;
    {
        const MutexLock lock(mutex_);
        leaving_ = true;
        (void)wake_sender_.send("");
    }
    thread_.join();
}

void SeatChannel::run() {
    if (options_.rank != 0) connect_next();
    Instant leave_by = Instant::never();
    for (;;) {
        std::array<zmq_pollitem_t, 4> items = {{{link_.get(), 0, ZMQ_POLLIN, 0},
                                                {connections_.get(), 0, ZMQ_POLLIN, 0},
                                                {keys_.get(), 0, ZMQ_POLLIN, 0},
                                                {wake_receiver_.get(), 0, ZMQ_POLLIN, 0}}};
        const Instant next = std::min({next_tick_, connect_by_, leave_by});
        const long wait_ms = std::max<long>(ms_of(next - now() + Duration{999'999}), 0);
        (void)zmq_poll(items.data(), static_cast<int>(items.size()), wait_ms);
        if (options_.rank == 0) check_keys();
        receive_all();  // first: what came before a connection ended
        watch_connections();
        woken();
        if (now() >= connect_by_) connect_next();
        if (now() >= next_tick_) tick();
        {
            const MutexLock lock(mutex_);
            if (leaving_ && leave_by == Instant::never()) leave_by = now() + kLeaveTimeout;
        }
        if (leave_by != Instant::never() && (now() >= leave_by || nothing_waits())) return leave();
    }
}

std::uint32_t SeatChannel::rank_of(const Peer& peer) const {
    return static_cast<std::uint32_t>(&peer - peers_.data());
}

bool SeatChannel::nothing_waits() const {
    return std::all_of(peers_.begin(), peers_.end(),
                       [](const Peer& peer) { return !peer.connected || peer.unanswered.empty(); });
}

void SeatChannel::leave() {
    link_.set(ZMQ_LINGER, kLingerMs);
    for (Peer& peer : peers_) {
        if (peer.connected && !peer.gone) write(peer, 0, json_text(Json{{"do", "bye"}}));
    }
}

void SeatChannel::send(std::uint32_t rank, const Json& message) {
    std::string text = json_text(message);
    const MutexLock lock(mutex_);
    queued_bytes_ += text.size();
    undelivered_ = undelivered_ || ended_;
    outbox_.emplace_back(rank, std::move(text));
    (void)wake_sender_.send("");
}

bool SeatChannel::send_part(const Json& message) {
    {
        MutexLock lock(mutex_);
        while (!ended_ && queued_bytes_ > kQueuedBytesMax) lock.wait(changed_);
        undelivered_ = undelivered_ || ended_;
        if (ended_) return false;
    }
    send(0, message);
    return true;
}

bool SeatChannel::wait_until_delivered() {
    MutexLock lock(mutex_);
    while (!ended_ && queued_bytes_ > 0) lock.wait(changed_);
    return !undelivered_;
}

std::optional<ClockReading> SeatChannel::measure_clock(std::uint32_t exchanges, Duration timeout) {
    const Instant end = now() + timeout;
    MutexLock lock(mutex_);
    clock_ = {};
    pings_left_ = exchanges;
    ping_wanted_ = true;
    (void)wake_sender_.send("");
    while (pings_left_ > 0 && now() < end) lock.wait_for(changed_, chrono_of(end - now()));
    pings_left_ = 0;
    return clock_.best();
}

/// Messages wait, or a clock is to be measured.
void SeatChannel::woken() {
    while (wake_receiver_.receive()) {
    }
    std::vector<std::pair<std::uint32_t, std::string>> outbox;
    std::vector<std::function<void(SeatEvents&)>> early;
    bool measuring = false;
    {
        const MutexLock lock(mutex_);
        outbox.swap(outbox_);
        if (heard_by_somebody_) early.swap(early_);
        measuring = std::exchange(ping_wanted_, false);
    }
    for (const auto& event : early) event(options_.events);
    for (auto& [rank, text] : outbox) {
        Peer& peer = peers_[rank];
        peer.unanswered.push_back({++peer.sent, std::move(text)});
        const Peer::Out& out = peer.unanswered.back();
        if (peer.gone || peer.name.empty()) {
            forget(peer);
        } else if (out.text.size() > kSeatMessageBytesMax - kNumbersBytes) {
            lose(peer, fmt::format("a message for it has {}, and {} are allowed", show_bytes(out.text.size()),
                                   show_bytes(kSeatMessageBytesMax)));
        } else {
            write(peer, out.number, out.text);
        }
    }
    if (measuring) send_ping();
}

void SeatChannel::tick() {
    const Instant at = now();
    next_tick_ = at + options_.heartbeat;
    // A process that was stopped has not read the heartbeats that came meanwhile.
    const bool was_stopped = at - last_tick_ > options_.heartbeat + options_.heartbeat;
    last_tick_ = at;
    Json heartbeat = {{"do", "alive"}};
    if (is_heard() && options_.events.progress) {
        if (Json progress = options_.events.progress(); !progress.is_null())
            heartbeat["news"] = std::move(progress);
    }
    const std::string text = json_text(heartbeat);
    for (Peer& peer : peers_) {
        if (at >= peer.awaited_until && !peer.gone) lose(peer, peer.why);
        if (peer.gone || !peer.connected) continue;
        if (was_stopped) peer.heard = at;
        if (at - peer.heard > options_.heartbeat_timeout) {
            await(peer, fmt::format("no heartbeat for {}", show_duration(options_.heartbeat_timeout)),
                  options_.return_after_silence);
        } else {
            write(peer, 0, text);
        }
    }
}

/// Tries the next address; after the last one the first.
void SeatChannel::connect_next() {
    if (!endpoint_.empty()) link_.disconnect(endpoint_);
    const std::string& address = join_token_.addresses[next_address_++ % join_token_.addresses.size()];
    const bool v6 = address.find(':') != std::string::npos;
    endpoint_ = fmt::format("tcp://{}{}{}:{}", v6 ? "[" : "", address, v6 ? "]" : "", join_token_.port);
    connect_by_ = now() + kConnectTimeout;
    if (link_.connect(endpoint_) != 0) endpoint_.clear();
}

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
            "1.0", request.size() > 1 ? request[1] : "", known ? "200" : "400", "", "", ""};
        for (std::size_t i = 0; i < answer.size(); ++i) (void)keys_.send(answer[i], i + 1 < answer.size());
    }
}

void SeatChannel::watch_connections() {
    while (const auto frame = connections_.receive()) {
        if (frame->more) (void)connections_.receive();  // the address
        std::uint16_t event = 0;
        std::uint32_t value = 0;
        std::memcpy(&event, frame->bytes.data(), sizeof event);
        std::memcpy(&value, frame->bytes.data() + sizeof event, sizeof value);
        if ((event & kNoHandshake) != 0) {
            key_refused();
            continue;
        }
        if (options_.rank == 0) {
            const auto peer = std::find_if(peers_.begin(), peers_.end(), [value](const Peer& each) {
                return each.connected && each.connection == static_cast<int>(value);
            });
            if (event == ZMQ_EVENT_DISCONNECTED && peer != peers_.end())
                await(*peer, "its connection ended", options_.return_after_end);
            continue;
        }
        Peer& first = peers_.front();
        if (event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED && !first.gone) {
            first.connected = true;
            first.heard = now();
            send_again(first);
        } else if (event == ZMQ_EVENT_DISCONNECTED && first.connected) {
            first.connected = false;
            if (connect_by_ == Instant::never())
                await(first, "its connection ended", options_.return_after_end);
        } else if (event == ZMQ_EVENT_CONNECT_RETRIED && connect_by_ != Instant::never()) {
            // Nobody listens there. All addresses are tried anew at each heartbeat.
            connect_by_ = next_address_ % join_token_.addresses.size() == 0 ? next_tick_ : now();
        }
    }
}

/// Somebody without the keys, or rank 0 has others. Said once.
void SeatChannel::key_refused() {
    if (std::exchange(said_key_refused_, true)) return;
    if (options_.rank == 0) {
        tell([](SeatEvents& events) {
            if (events.refused) events.refused("somebody", "without the key of this run");
        });
    } else if (options_.trouble) {
        options_.trouble("its key is not the one of this run");
    }
}

/// The rank may return.
void SeatChannel::await(Peer& peer, const std::string& why, Duration how_long) {
    if (how_long == Duration{}) return lose(peer, why);
    peer.connected = false;
    if (peer.awaited_until != Instant::never() || peer.gone) return;
    peer.awaited_until = now() + how_long;
    peer.why = why;
    tell([rank = rank_of(peer), why](SeatEvents& events) {
        if (events.away) events.away(rank, why);
    });
}

void SeatChannel::returned(Peer& peer) {
    peer.connected = true;
    if (std::exchange(peer.awaited_until, Instant::never()) == Instant::never()) return;
    tell([rank = rank_of(peer)](SeatEvents& events) {
        if (events.back) events.back(rank);
    });
}

/// Nobody waits for this rank any more.
void SeatChannel::lose(Peer& peer, const std::string& why) {
    if (std::exchange(peer.gone, true)) return;
    if (options_.rank != 0) {
        link_.disconnect(endpoint_);
        const MutexLock lock(mutex_);
        ended_ = true;
        undelivered_ = queued_bytes_ > 0;
        changed_.notify_all();
    }
    forget(peer);
    tell([rank = rank_of(peer), why](SeatEvents& events) {
        if (why.empty()) {
            events.left(rank);
        } else {
            events.lost(rank, why);
        }
    });
}

/// Drops what waits for it.
void SeatChannel::forget(Peer& peer) {
    number_received(peer, peer.sent);
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
    if (message->value("do", Json()) == "hello") return meet(from, *message);
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
    const Json rank = hello.value("rank", Json());
    Peer* place = nullptr;
    if (rank.is_null()) {
        const auto free = std::find_if(peers_.begin() + 1, peers_.end(),
                                       [](const Peer& peer) { return peer.name.empty() && !peer.gone; });
        if (free != peers_.end()) place = &*free;
    } else if (rank.is_number_unsigned() && rank > 0 && rank < peers_.size() &&
               peers_[rank.get<std::size_t>()].name.empty()) {
        place = &peers_[rank.get<std::size_t>()];
    }
    if (place == nullptr) {
        refuse(from, who, "all places are taken");
        return nullptr;
    }
    place->name = from;
    place->connected = true;
    return place;
}

void SeatChannel::refuse(const std::string& from, const std::string& who, const std::string& why) {
    Peer stranger;
    stranger.name = from;
    stranger.connected = true;
    write(stranger, 0, json_text(Json{{"do", "refused"}, {"why", why}}));
    tell([who, why](SeatEvents& events) {
        if (events.refused) events.refused(who, why);
    });
}

void SeatChannel::received(const std::string& from,
                           int connection,
                           std::string_view numbers,
                           std::string_view text) {
    Peer* const peer = peer_of(from, text);
    if (peer == nullptr || peer->gone) return;
    peer->heard = now();
    returned(*peer);
    if (std::exchange(peer->connection, connection) != connection && options_.rank == 0) send_again(*peer);
    const auto bytes = std::as_bytes(std::span(numbers));
    const auto number = load<std::uint64_t>(bytes, 0, true);
    number_received(*peer, load<std::uint64_t>(bytes, sizeof number, true));
    if (text.empty()) return;
    if (number != 0) {
        // What was under way when a connection broke comes twice, or before what was lost there and comes
        // again.
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
        const std::string why = "rank 0 has refused this one: " + message.at("why").get<std::string>();
        {
            const MutexLock lock(mutex_);
            refusal_ = why;
            changed_.notify_all();
        }
        lose(peer, why);
    } else if (what == "welcome") {
        connect_by_ = Instant::never();
        const MutexLock lock(mutex_);
        options_.rank = message.at("rank");
        options_.ranks = message.at("ranks");
        join_token_.run_id = message.at("run");
        joined_ = true;
        changed_.notify_all();
    } else if (what != "alive" || message.contains("news")) {
        if (what == "hello") {
            post(peer, {{"do", "welcome"},
                        {"rank", rank_of(peer)},
                        {"ranks", options_.ranks},
                        {"run", join_token_.run_id}});
            for (const char* own : {"rank", "channel"}) message.erase(own);
        }
        tell([rank = rank_of(peer), message = std::move(message)](SeatEvents& events) mutable {
            events.message(rank, message);
        });
    }
}

bool SeatChannel::is_heard() {
    const MutexLock lock(mutex_);
    return heard_by_somebody_;
}

void SeatChannel::tell(std::function<void(SeatEvents& events)> what) {
    {
        const MutexLock lock(mutex_);
        if (!heard_by_somebody_) return early_.push_back(std::move(what));
    }
    what(options_.events);
}

void SeatChannel::listen_to(SeatEvents events) {
    const MutexLock lock(mutex_);
    options_.events = std::move(events);
    heard_by_somebody_ = true;
    (void)wake_sender_.send("");
}

void SeatChannel::send_ping() {
    write(peers_.front(), 0, json_text(Json{{"do", "ping"}, {"sent", now().ns}}));
}

void SeatChannel::pong_received(const Json& message) {
    const Instant at = now();
    {
        const MutexLock lock(mutex_);
        if (pings_left_ == 0) return;
        clock_.add({message.at("sent")}, {message.at("arrived")}, {message.at("answered")}, at);
        if (--pings_left_ == 0) return changed_.notify_all();
    }
    send_ping();
}

/// Sends a message of the channel itself that has to arrive.
void SeatChannel::post(Peer& peer, const Json& message) {
    peer.unanswered.push_back({++peer.sent, json_text(message)});
    if (peer.connected) write(peer, peer.sent, peer.unanswered.back().text);
}

/// Sends the messages that may have been lost with a connection, on the one that took its place.
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

}  // namespace streamsim::seats
