#include "seats/seat_channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/units.h"

namespace streamsim::seats {
namespace {

constexpr std::uint32_t kNoRank = UINT32_MAX;
constexpr std::size_t kHeaderBytes = 4;
/// Strangers that are kept at once, for each rank.
constexpr std::size_t kStrangersPerRankMax = 2;
/// A stranger is not closed for a newer one before its greeting could be read.
constexpr Duration kStrangerGrace = milliseconds(5);
constexpr std::size_t kReadBytes = std::size_t{64} << 10;
/// A further part is sent when at most so many bytes are queued.
constexpr std::size_t kQueuedBytesMax = 4 * kSeatPartBytes;
/// The time for one address.
constexpr Duration kConnectTimeout = seconds(2);
/// Queued messages that a rank which leaves waits for.
constexpr Duration kLeaveTimeout = seconds(1);
constexpr int kBacklog = 1024;

std::chrono::nanoseconds chrono_of(Duration duration) {
    return std::chrono::nanoseconds(duration.ns);
}

uv_stream_t* stream_of(uv_tcp_t& tcp) {
    return reinterpret_cast<uv_stream_t*>(&tcp);
}

/// The socket address of an address as a number.
sockaddr_storage socket_address(const char* address, int port) {
    sockaddr_storage out{};
    if (uv_ip4_addr(address, port, reinterpret_cast<sockaddr_in*>(&out)) != 0)
        uv_ip6_addr(address, port, reinterpret_cast<sockaddr_in6*>(&out));
    return out;
}

}  // namespace

struct SeatChannel::Connection {
    SeatChannel* channel = nullptr;
    uv_tcp_t tcp{};
    uv_connect_t connecting{};
    uv_shutdown_t ending{};
    std::uint32_t rank = kNoRank;  // until it has shown the token
    std::string in;                // received, and not yet a whole message
    std::vector<char> buffer;      // of a stranger: the missing bytes of its greeting
    Instant begun;
    Instant heard;
    Instant try_until = Instant::never();
    bool left = false;  // it announced so
    bool closing = false;
};

struct SeatChannel::Write {
    uv_write_t request{};
    std::array<char, kHeaderBytes> header{};
    std::string text;
    SeatChannel* channel = nullptr;
};

SeatChannel::SeatChannel(SeatChannelOptions options) : options_(std::move(options)) {
    if (const int result = uv_loop_init(&loop_); result != 0)
        throw std::system_error(-result, std::generic_category(), "an event loop cannot be made");
    wake_.data = timer_.data = stranger_timer_.data = listener_.data = this;
    greeted_.resize(options_.ranks);
    if (!greeted_.empty()) greeted_[0] = true;
    uv_async_init(&loop_, &wake_, [](uv_async_t* handle) { static_cast<SeatChannel*>(handle->data)->woken(); });
    uv_timer_init(&loop_, &timer_);
    uv_timer_init(&loop_, &stranger_timer_);
    last_tick_ = now();
}

Result<std::unique_ptr<SeatChannel>> SeatChannel::host(SeatChannelOptions options) {
    STREAMSIM_CHECK(options.rank == 0, "rank 0 listens");
    std::unique_ptr<SeatChannel> channel(new SeatChannel(std::move(options)));
    std::array<std::uint8_t, 24> random{};
    STREAMSIM_CHECK(uv_random(nullptr, nullptr, random.data(), random.size(), 0, nullptr) == 0,
                    "the kernel gives random bytes");
    const std::string digits = fmt::format("{:02x}", fmt::join(random, ""));
    channel->join_token_.token = digits.substr(0, kTokenBytes);
    channel->join_token_.run_id = digits.substr(kTokenBytes);
    channel->join_token_.machine = this_machine();
    channel->join_token_.addresses = own_addresses();
    const auto listens = channel->listen();
    channel->start();  // also where the channel cannot listen: the destructor ends the thread
    if (!listens) return listens.error();
    return channel;
}

Result<void> SeatChannel::listen() {
    uv_tcp_init(&loop_, &listener_);
    listening_ = true;
    int error = UV_EINVAL;
    for (const char* any : {"::", "0.0.0.0"}) {
        const sockaddr_storage address = socket_address(any, 0);
        if (error != 0) error = uv_tcp_bind(&listener_, reinterpret_cast<const sockaddr*>(&address), 0);
    }
    if (error == 0) {
        error = uv_listen(stream_of(listener_), kBacklog, [](uv_stream_t* stream, int status) {
            auto& self = *static_cast<SeatChannel*>(stream->data);
            self.connection_waits_ = self.connection_waits_ || status == 0;
            self.check_strangers();
        });
    }
    sockaddr_storage bound{};
    int size = sizeof bound;
    if (error == 0) error = uv_tcp_getsockname(&listener_, reinterpret_cast<sockaddr*>(&bound), &size);
    if (error != 0) {
        return environment_error(
            fmt::format("the seat channel cannot listen for the other ranks: {}", uv_strerror(error)));
    }
    join_token_.port = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port
                                                         : reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
    return {};
}

Result<std::unique_ptr<SeatChannel>> SeatChannel::join(SeatChannelOptions options,
                                                       JoinToken join_token,
                                                       Duration timeout) {
    STREAMSIM_CHECK(options.rank != 0, "rank 0 hosts the channel, the others join");
    if (join_token.machine == this_machine())
        join_token.addresses.insert(join_token.addresses.begin(), {"127.0.0.1", "::1"});
    if (join_token.addresses.empty())
        return environment_error("rank 0 cannot be reached: its computer has no network interface that is up");
    std::unique_ptr<SeatChannel> channel(new SeatChannel(std::move(options)));
    channel->join_token_ = std::move(join_token);
    channel->start();
    {
        MutexLock lock(channel->mutex_);
        const Instant end = now() + timeout;
        while (!channel->joined_ && now() < end) lock.wait_for(channel->changed_, chrono_of(end - now()));
        if (channel->joined_) return channel;
    }
    return environment_error(fmt::format(
        "rank 0 cannot be reached within {}, on port {} of {}: the seat channel needs a TCP connection to it",
        show_duration(timeout), channel->join_token_.port, fmt::join(channel->join_token_.addresses, ", ")));
}

void SeatChannel::start() {
    const auto every = static_cast<std::uint64_t>(options_.heartbeat.ns / 1'000'000);
    uv_timer_start(
        &timer_, [](uv_timer_t* handle) { static_cast<SeatChannel*>(handle->data)->tick(); }, every, every);
    thread_ = std::thread([this] { run(); });
}

SeatChannel::~SeatChannel() {
    {
        const MutexLock lock(mutex_);
        leaving_ = true;
    }
    uv_async_send(&wake_);
    thread_.join();
    STREAMSIM_CHECK(uv_loop_close(&loop_) == 0, "every handle of the channel was closed");
}

void SeatChannel::run() {
    if (options_.rank != 0) connect_next();
    if (options_.rank == 0) stop_listening_when_all_are_here();  // one rank alone waits for nobody
    uv_run(&loop_, UV_RUN_DEFAULT);
}

void SeatChannel::send(std::uint32_t rank, const Json& message) {
    std::string text = json_text(message);
    {
        const MutexLock lock(mutex_);
        queued_bytes_ += text.size();
        outbox_.emplace_back(rank, std::move(text));
    }
    uv_async_send(&wake_);
}

bool SeatChannel::send_part(const Json& message) {
    {
        MutexLock lock(mutex_);
        while (!ended_ && queued_bytes_ > kQueuedBytesMax) lock.wait(changed_);
        if (ended_) return false;
    }
    send(0, message);
    return true;
}

void SeatChannel::bytes_sent(std::size_t bytes) {
    const MutexLock lock(mutex_);
    queued_bytes_ -= std::min(queued_bytes_, bytes);
    changed_.notify_all();
}

std::optional<ClockReading> SeatChannel::measure_clock(std::uint32_t exchanges, Duration timeout) {
    const Instant end = now() + timeout;
    MutexLock lock(mutex_);
    clock_ = {};
    pings_left_ = exchanges;
    ping_wanted_ = true;
    uv_async_send(&wake_);
    while (pings_left_ > 0 && now() < end) lock.wait_for(changed_, chrono_of(end - now()));
    pings_left_ = 0;
    return clock_.best();
}

/// Messages wait, a clock is to be measured, or this rank leaves.
void SeatChannel::woken() {
    std::vector<std::pair<std::uint32_t, std::string>> outbox;
    bool leaving = false;
    bool measuring = false;
    {
        const MutexLock lock(mutex_);
        outbox.swap(outbox_);
        leaving = leaving_;
        measuring = std::exchange(ping_wanted_, false);
    }
    for (auto& [rank, text] : outbox) {
        const auto to = std::find_if(connections_.begin(), connections_.end(), [rank = rank](const auto& each) {
            return each->rank == rank && !each->closing;
        });
        const std::size_t bytes = text.size();
        if (to == connections_.end()) {
            bytes_sent(bytes);
        } else if (bytes > kSeatMessageBytesMax) {
            disconnect(**to, fmt::format("a message for it has {}, and {} are allowed", show_bytes(bytes),
                                         show_bytes(kSeatMessageBytesMax)));
            bytes_sent(bytes);
        } else {
            write(**to, std::move(text));
        }
    }
    if (measuring) send_ping();
    if (leaving && leave_by_ == Instant::never()) begin_to_leave();
}

void SeatChannel::tick() {
    const Instant at = now();
    // A process that was stopped has not read the heartbeats that came meanwhile.
    const bool was_stopped = at - last_tick_ > options_.heartbeat + options_.heartbeat;
    last_tick_ = at;
    Json heartbeat = {{"do", "alive"}};
    if (options_.events.progress) {
        if (Json progress = options_.events.progress(); !progress.is_null())
            heartbeat["news"] = std::move(progress);
    }
    for (const auto& connection : connections_) {
        if (connection->closing) continue;
        if (was_stopped) connection->heard = at;
        if (at >= connection->try_until) {
            close(*connection);
        } else if (at - connection->heard > options_.heartbeat_timeout) {
            disconnect(*connection,
                       fmt::format("no heartbeat for {}", show_duration(options_.heartbeat_timeout)));
        } else if (connection->rank != kNoRank) {
            send_own(*connection, heartbeat);
        }
    }
}

SeatChannel::Connection& SeatChannel::add_connection() {
    connections_.push_back(std::make_unique<Connection>());
    Connection& connection = *connections_.back();
    connection.channel = this;
    connection.begun = connection.heard = now();
    uv_tcp_init(&loop_, &connection.tcp);
    connection.tcp.data = &connection;
    return connection;
}

/// Rank 0's connections that have not shown the token, the oldest first.
std::vector<SeatChannel::Connection*> SeatChannel::strangers() const {
    std::vector<Connection*> out;
    for (const auto& each : connections_) {
        if (each->rank == kNoRank && !each->closing) out.push_back(each.get());
    }
    return out;
}

/// Accepts the connection that waits, if any. Few strangers are kept: the oldest one is closed for a newer one
/// once its greeting could have been read, so that a rank gets in beside any number of strangers. libuv offers
/// no further connection before this one is accepted, and the loop reads and sends heartbeats between two of
/// them.
void SeatChannel::check_strangers() {
    if (!listening_ || leave_by_ != Instant::never()) return;
    for (Connection* const stranger : strangers()) {
        if (now() >= stranger->try_until) close(*stranger);
    }
    auto kept = strangers();
    if (connection_waits_ && kept.size() >= kStrangersPerRankMax * options_.ranks &&
        now() - kept.front()->begun >= kStrangerGrace) {
        close(*kept.front());
        kept.erase(kept.begin());
    }
    if (connection_waits_ && kept.size() < kStrangersPerRankMax * options_.ranks) {
        connection_waits_ = false;
        accept_stranger();
    }
    kept = strangers();
    if (kept.empty()) return;
    const Instant next = connection_waits_ ? kept.front()->begun + kStrangerGrace : kept.front()->try_until;
    const std::int64_t wait_ms = std::max<std::int64_t>((next - now()).ns / 1'000'000, 0) + 1;
    const auto check = [](uv_timer_t* timer) { static_cast<SeatChannel*>(timer->data)->check_strangers(); };
    uv_timer_start(&stranger_timer_, check, static_cast<std::uint64_t>(wait_ms), 0);
}

void SeatChannel::accept_stranger() {
    Connection& connection = add_connection();
    if (uv_accept(stream_of(listener_), stream_of(connection.tcp)) != 0) return close(connection);
    connection.try_until = now() + options_.greeting_timeout;
    read_from(connection);
}

void SeatChannel::stop_listening_when_all_are_here() {
    if (!listening_ || std::find(greeted_.begin(), greeted_.end(), false) != greeted_.end()) return;
    listening_ = false;
    uv_close(reinterpret_cast<uv_handle_t*>(&listener_), nullptr);
    for (Connection* const stranger : strangers()) close(*stranger);
}

void SeatChannel::connect_next() {
    if (leave_by_ != Instant::never()) return;
    Connection& connection = add_connection();
    const std::string& address = join_token_.addresses[next_address_++ % join_token_.addresses.size()];
    const sockaddr_storage to = socket_address(address.c_str(), join_token_.port);
    connection.try_until = now() + kConnectTimeout;
    const int error = uv_tcp_connect(
        &connection.connecting, &connection.tcp, reinterpret_cast<const sockaddr*>(&to),
        [](uv_connect_t* request, int status) {
            auto& made = *static_cast<Connection*>(request->handle->data);
            if (made.closing) return;
            if (status != 0) return made.channel->connect_failed(made);
            SeatChannel& self = *made.channel;
            self.read_from(made);
            self.write(made, seat_greeting(self.join_token_.token, self.options_.rank), Framing::greeting);
            self.send_own(made, {{"do", "hello"}, {"introduction", self.options_.introduction}});
        });
    if (error != 0) connect_failed(connection);
}

/// Tries the next address at once; after the last one the first, at the next heartbeat.
void SeatChannel::connect_failed(Connection& connection) {
    if (next_address_ % join_token_.addresses.size() != 0) return close(connection);
    connection.try_until = Instant{};
}

void SeatChannel::close(Connection& connection) {
    if (connection.closing) return;
    connection.closing = true;
    uv_close(reinterpret_cast<uv_handle_t*>(&connection.tcp), [](uv_handle_t* handle) {
        auto* const closed = static_cast<Connection*>(handle->data);
        SeatChannel& self = *closed->channel;
        const bool tried = self.options_.rank != 0 && closed->rank == kNoRank;
        self.connections_.remove_if([closed](const auto& each) { return each.get() == closed; });
        if (tried) self.connect_next();
        self.check_strangers();
        if (self.leave_by_ != Instant::never() && self.connections_.empty()) self.finish_leaving();
    });
}

/// The other end has closed, or sent an invalid message.
void SeatChannel::disconnect(Connection& connection, const std::string& why) {
    if (connection.closing) return;
    close(connection);
    if (connection.rank == kNoRank) return;
    if (options_.rank != 0) {
        const MutexLock lock(mutex_);
        ended_ = true;
        changed_.notify_all();
    }
    if (connection.left) {
        options_.events.left(connection.rank);
    } else {
        options_.events.lost(connection.rank, why);
    }
}

void SeatChannel::read_from(Connection& connection) {
    uv_tcp_nodelay(&connection.tcp, 1);
    uv_read_start(
        stream_of(connection.tcp),
        [](uv_handle_t* handle, std::size_t, uv_buf_t* buffer) {
            auto& from = *static_cast<Connection*>(handle->data);
            const bool stranger = from.rank == kNoRank && from.channel->options_.rank == 0;
            from.buffer.resize(stranger ? kGreetingBytes - from.in.size() : kReadBytes);
            *buffer = uv_buf_init(from.buffer.data(), static_cast<unsigned>(from.buffer.size()));
        },
        [](uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer) {
            auto& from = *static_cast<Connection*>(stream->data);
            if (from.closing) return;
            if (count > 0) from.channel->received(from, {buffer->base, static_cast<std::size_t>(count)});
            if (count < 0) from.channel->disconnect(from, "its connection ended");
        });
}

void SeatChannel::received(Connection& connection, std::string_view bytes) {
    connection.heard = now();
    connection.in += bytes;
    if (options_.rank == 0 && connection.rank == kNoRank) {
        if (connection.in.size() == kGreetingBytes) greeting_received(connection);
        return;
    }
    std::size_t used = 0;
    while (!connection.closing && connection.in.size() - used >= kHeaderBytes) {
        std::size_t length = 0;
        for (std::size_t i = 0; i < kHeaderBytes; ++i)
            length = length << 8 | static_cast<std::uint8_t>(connection.in[used + i]);
        if (length > kSeatMessageBytesMax)
            return disconnect(connection, fmt::format("it sent a message of {}, and {} are allowed",
                                                      show_bytes(length), show_bytes(kSeatMessageBytesMax)));
        if (connection.in.size() - used - kHeaderBytes < length) break;
        auto message =
            parse_json(std::string_view(connection.in).substr(used + kHeaderBytes, length), "message");
        used += kHeaderBytes + length;
        if (!message) return disconnect(connection, "it sent a message that is not JSON");
        try {
            handle(connection, *message);
        } catch (const Json::exception& error) {
            return disconnect(connection, fmt::format("it sent an invalid message ({})", error.what()));
        }
    }
    connection.in.erase(0, used);
}

/// Rank 0 has the whole greeting of a stranger. A stranger with the token is a rank, and is welcome.
void SeatChannel::greeting_received(Connection& connection) {
    const auto rank = rank_that_greets(connection.in, join_token_.token);
    connection.in.clear();
    const bool taken = rank && std::any_of(connections_.begin(), connections_.end(),
                                           [&rank](const auto& each) { return each->rank == *rank; });
    if (!rank || *rank == 0 || *rank >= options_.ranks || taken) return close(connection);
    connection.rank = *rank;
    connection.try_until = Instant::never();
    send_own(connection, {{"do", "welcome"}});
    greeted_[*rank] = true;
    stop_listening_when_all_are_here();
    check_strangers();
}

void SeatChannel::handle(Connection& connection, Json& message) {
    const std::string what = message.at("do");
    if (connection.rank == kNoRank) return welcome_received(connection, message);
    if (what == "ping") {
        message["do"] = "pong";
        message["arrived"] = connection.heard.ns;
        message["answered"] = now().ns;
        send_own(connection, message);
    } else if (what == "pong") {
        pong_received(message);
    } else if (what == "bye") {
        connection.left = true;
    } else if (what != "alive" || message.contains("news")) {
        options_.events.message(connection.rank, message);
    }
}

/// The first message of rank 0 to another rank.
void SeatChannel::welcome_received(Connection& connection, const Json& message) {
    if (message.at("do") != "welcome") return close(connection);
    connection.rank = 0;
    connection.try_until = Instant::never();
    const MutexLock lock(mutex_);
    joined_ = true;
    changed_.notify_all();
}

void SeatChannel::send_ping() {
    for (const auto& connection : connections_) {
        if (connection->rank == 0 && !connection->closing)
            send_own(*connection, {{"do", "ping"}, {"sent", now().ns}});
    }
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

/// Sends a short message of the channel itself.
void SeatChannel::send_own(Connection& connection, const Json& message) {
    std::string text = json_text(message);
    {
        const MutexLock lock(mutex_);
        queued_bytes_ += text.size();
    }
    write(connection, std::move(text));
}

/// `text` counts in queued_bytes_ until it is sent.
void SeatChannel::write(Connection& connection, std::string text, Framing framing) {
    auto* const out = new Write();
    out->channel = this;
    out->text = std::move(text);
    for (std::size_t i = 0; i < kHeaderBytes; ++i)
        out->header[i] = static_cast<char>(out->text.size() >> (8 * (kHeaderBytes - 1 - i)) & 0xff);
    out->request.data = out;
    const unsigned header = framing == Framing::message ? kHeaderBytes : 0;
    const std::array buffers = {uv_buf_init(out->header.data(), header),
                                uv_buf_init(out->text.data(), static_cast<unsigned>(out->text.size()))};
    const auto done = [](uv_write_t* request, int) {
        const std::unique_ptr<Write> written(static_cast<Write*>(request->data));
        written->channel->bytes_sent(written->text.size());
    };
    if (uv_write(&out->request, stream_of(connection.tcp), buffers.data(),
                 static_cast<unsigned>(buffers.size()), done) != 0)
        done(&out->request, 0);
}

void SeatChannel::begin_to_leave() {
    leave_by_ = now() + kLeaveTimeout;
    for (const auto& connection : connections_) {
        if (connection->closing) continue;
        if (connection->rank == kNoRank) {
            close(*connection);
            continue;
        }
        connection->left = true;  // the end of this connection is no loss
        send_own(*connection, {{"do", "bye"}});
        const int error =
            uv_shutdown(&connection->ending, stream_of(connection->tcp), [](uv_shutdown_t* request, int) {
                auto& ended = *static_cast<Connection*>(request->handle->data);
                ended.channel->close(ended);
            });
        if (error != 0) close(*connection);
    }
    if (connections_.empty()) finish_leaving();
    uv_timer_start(
        &timer_, [](uv_timer_t* handle) { static_cast<SeatChannel*>(handle->data)->finish_leaving(); },
        static_cast<std::uint64_t>(kLeaveTimeout.ns / 1'000'000), 0);
}

void SeatChannel::finish_leaving() {
    for (const auto& connection : connections_) close(*connection);
    const auto close_once = [](uv_handle_t* handle) {
        if (!uv_is_closing(handle)) uv_close(handle, nullptr);
    };
    if (listening_) close_once(reinterpret_cast<uv_handle_t*>(&listener_));
    listening_ = false;
    close_once(reinterpret_cast<uv_handle_t*>(&stranger_timer_));
    close_once(reinterpret_cast<uv_handle_t*>(&wake_));
    close_once(reinterpret_cast<uv_handle_t*>(&timer_));
}

}  // namespace streamsim::seats
