#include "seats/seat_channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/units.h"
#include "seats/seat_peer.h"

namespace streamsim::seats {
namespace {

/// A further part is sent when at most so many bytes are queued.
constexpr std::size_t kQueuedBytesMax = 4 * kSeatPartBytes;
/// The time for one address.
constexpr Duration kConnectTimeout = seconds(2);
/// Queued messages that a rank which leaves waits for.
constexpr Duration kLeaveTimeout = seconds(1);
constexpr int kLingerMs = 500;
/// An answer of rank 0 to a rank that hurries.
constexpr Duration kHurriedTimeout = milliseconds(800);
constexpr Duration kKeyRefusedAgain = seconds(10);
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

}  // namespace

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
        return environment_error(options.first +
                                 " cannot be reached: its computer has no network interface that is up");
    std::unique_ptr<SeatChannel> channel(new SeatChannel(std::move(options)));
    channel->join_token_ = std::move(join_token);
    const SeatKeys& keys = channel->join_token_.keys;
    channel->link_.set(ZMQ_CURVE_SERVERKEY, keys.host_public);
    channel->link_.set(ZMQ_CURVE_PUBLICKEY, keys.seat_public);
    channel->link_.set(ZMQ_CURVE_SECRETKEY, keys.seat_secret);
    channel->link_.set(ZMQ_ROUTING_ID, random_digits(16));
    channel->peers_.front().name = channel->options_.first;
    const bool any = channel->options_.rank == kAnyRank;
    channel->post(channel->peers_.front(), {{"do", "hello"},
                                            {"channel", kChannelVersion},
                                            {"version", channel->options_.version},
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
        "{} cannot be reached within {}, on port {} of {}: the seat channel needs a TCP connection to it",
        channel->options_.first, show_duration(timeout), channel->join_token_.port,
        fmt::join(channel->join_token_.addresses, ", ")));
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
        wait_for_queue(lock, kQueuedBytesMax);
        undelivered_ = undelivered_ || ended_ || queued_bytes_ > kQueuedBytesMax;
        if (undelivered_) return false;
    }
    send(0, message);
    return true;
}

bool SeatChannel::wait_until_delivered() {
    MutexLock lock(mutex_);
    wait_for_queue(lock, 0);
    return !undelivered_ && queued_bytes_ == 0;
}

void SeatChannel::hurry() {
    const MutexLock lock(mutex_);
    hurries_ = true;
    changed_.notify_all();
}

/// Waits until so few bytes are queued; after hurry() as long as rank 0 goes on to answer.
void SeatChannel::wait_for_queue(MutexLock& lock, std::size_t bytes) {
    Instant answered = now();
    while (!ended_ && !undelivered_ && queued_bytes_ > bytes) {
        const Duration left = answered + kHurriedTimeout - now();
        if (hurries_ && left.ns <= 0) return;
        const std::size_t before = queued_bytes_;
        lock.wait_for(changed_, chrono_of(hurries_ ? left : kHurriedTimeout));
        if (queued_bytes_ < before) answered = now();
    }
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
                  options_.return_after_cut);
        } else {
            write(peer, 0, text);
        }
    }
}

/// Tries the next address; after the last one the first.
void SeatChannel::connect_next() {
    if (!endpoint_.empty()) link_.disconnect(endpoint_);
    if (next_address_ == addresses_.size()) {
        const auto found = options_.computer.empty() ? join_token_.addresses : addresses_of(options_.computer);
        addresses_ = found ? *found : join_token_.addresses;
        next_address_ = 0;
    }
    const std::string& address = addresses_[next_address_++];
    const bool v6 = address.find(':') != std::string::npos;
    endpoint_ = fmt::format("tcp://{}{}{}:{}", v6 ? "[" : "", address, v6 ? "]" : "", join_token_.port);
    connect_by_ = now() + kConnectTimeout;
    if (link_.connect(endpoint_) != 0) endpoint_.clear();
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
            if (event != ZMQ_EVENT_DISCONNECTED || peer == peers_.end()) continue;
            peer->ended = true;
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
            connect_by_ = next_address_ == addresses_.size() ? next_tick_ : now();
        }
    }
}

/// Somebody without the keys, or rank 0 has others. Said again after a while: it may be somebody else.
void SeatChannel::key_refused() {
    if (now() < say_key_refused_at_) return;
    say_key_refused_at_ = options_.rank == 0 ? now() + kKeyRefusedAgain : Instant::never();
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
    peer.ended = false;
    if (std::exchange(peer.awaited_until, Instant::never()) == Instant::never()) return;
    tell([rank = rank_of(peer)](SeatEvents& events) {
        if (events.back) events.back(rank);
    });
}

/// Nobody waits for this rank any more.
void SeatChannel::lose(Peer& peer, const std::string& why) {
    if (std::exchange(peer.gone, true)) return;
    peer.why = why;
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

void SeatChannel::close_places() {
    const MutexLock lock(mutex_);
    places_closed_ = true;
}

bool SeatChannel::places_are_closed() {
    const MutexLock lock(mutex_);
    return places_closed_;
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

}  // namespace streamsim::seats
