#include "run/seat_channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/units.h"

namespace streamsim {
namespace {

constexpr std::uint32_t kNobody = UINT32_MAX;
constexpr std::size_t kHeaderBytes = 4;
/// Of a message from somebody who has not shown the token yet, and of any.
constexpr std::size_t kStrangerBytes = 64 << 10;
constexpr std::size_t kMessageBytes = 1 << 30;
/// One address is tried for this long.
constexpr Duration kTry = seconds(2);
/// What is still on its way when this rank leaves is waited for.
constexpr Duration kLeave = seconds(1);
constexpr int kBacklog = 1024;

std::string hex(const std::uint8_t* bytes, std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i) out += fmt::format("{:02x}", bytes[i]);
    return out;
}

/// Two processes with the same word share their loopback interface.
std::string this_machine() {
    std::array<char, UV_MAXHOSTNAMESIZE> name{};
    std::size_t size = name.size();
    if (uv_os_gethostname(name.data(), &size) != 0) size = 0;
    std::string out(name.data(), size);
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    out += "/" + boot;
    uv_fs_t request{};  // the network namespace, where there is such a thing
    if (uv_fs_readlink(nullptr, &request, "/proc/self/ns/net", nullptr) == 0)
        out += fmt::format("/{}", static_cast<const char*>(request.ptr));
    uv_fs_req_cleanup(&request);
    return out;
}

std::vector<std::string> own_addresses() {
    uv_interface_address_t* all = nullptr;
    int count = 0;
    std::vector<std::string> out;
    if (uv_interface_addresses(&all, &count) != 0) return out;
    for (int i = 0; i < count; ++i) {
        if (all[i].is_internal) continue;
        std::array<char, INET6_ADDRSTRLEN> text{};
        const bool v4 = all[i].address.address4.sin_family == AF_INET;
        const int failed = v4 ? uv_ip4_name(&all[i].address.address4, text.data(), text.size())
                              : uv_ip6_name(&all[i].address.address6, text.data(), text.size());
        const std::string address(text.data());
        if (failed != 0 || address.starts_with("fe80")) continue;  // those of one link need its name, too
        out.insert(v4 ? out.begin() + std::count_if(out.begin(), out.end(),
                                                    [](const std::string& each) {
                                                        return each.find(':') == std::string::npos;
                                                    })
                      : out.end(),
                   address);
    }
    uv_free_interface_addresses(all, count);
    return out;
}

std::chrono::nanoseconds chrono_of(Duration duration) {
    return std::chrono::nanoseconds(duration.ns);
}

}  // namespace

std::string SeatInvitation::to_text() const {
    return Json{
        {"run", run_id}, {"token", token}, {"machine", machine}, {"addresses", addresses}, {"port", port}}
        .dump();
}

Result<SeatInvitation> SeatInvitation::parse(const std::string& text) {
    const auto json = parse_json(text, "the seat channel");
    if (!json) return json.error();
    try {
        SeatInvitation out;
        out.run_id = json->at("run");
        out.token = json->at("token");
        out.machine = json->at("machine");
        out.addresses = json->at("addresses").get<std::vector<std::string>>();
        out.port = json->at("port");
        return out;
    } catch (const Json::exception& error) {
        return environment_error(
            fmt::format("the seat channel: rank 0 is another streamsim: {}", error.what()));
    }
}

struct SeatChannel::Connection {
    SeatChannel* channel = nullptr;
    uv_tcp_t tcp{};
    uv_connect_t connecting{};
    uv_shutdown_t ending{};
    std::uint32_t rank = kNobody;  // until it has shown the token
    std::string in;                // received, and not yet a whole message
    std::vector<char> buffer;
    Instant heard;
    Instant try_until = Instant::never();
    bool left = false;  // it said so
    bool closing = false;
};

struct SeatChannel::Write {
    uv_write_t request{};
    std::string bytes;
};

SeatChannel::SeatChannel(SeatChannelOptions options) : options_(std::move(options)) {
    if (const int result = uv_loop_init(&loop_); result != 0)
        throw std::system_error(-result, std::generic_category(), "an event loop cannot be made");
    wake_.data = timer_.data = listener_.data = this;
    uv_async_init(&loop_, &wake_, [](uv_async_t* handle) { static_cast<SeatChannel*>(handle->data)->woken(); });
    uv_timer_init(&loop_, &timer_);
    last_tick_ = now();
}

Result<std::unique_ptr<SeatChannel>> SeatChannel::host(SeatChannelOptions options) {
    STREAMSIM_CHECK(options.rank == 0, "rank 0 listens");
    std::unique_ptr<SeatChannel> channel(new SeatChannel(std::move(options)));
    std::array<std::uint8_t, 24> random{};
    STREAMSIM_CHECK(uv_random(nullptr, nullptr, random.data(), random.size(), 0, nullptr) == 0,
                    "the kernel gives random bytes");
    channel->invitation_.token = hex(random.data(), 16);
    channel->invitation_.run_id = hex(random.data() + 16, 8);
    channel->invitation_.machine = this_machine();
    channel->invitation_.addresses = own_addresses();
    const auto listens = channel->listen();
    channel->start();  // also where it does not listen: the destructor ends the thread
    if (!listens) return listens.error();
    return channel;
}

Result<void> SeatChannel::listen() {
    uv_tcp_init(&loop_, &listener_);
    listening_ = true;
    sockaddr_in6 any6{};
    sockaddr_in any4{};
    uv_ip6_addr("::", 0, &any6);
    uv_ip4_addr("0.0.0.0", 0, &any4);
    int error = uv_tcp_bind(&listener_, reinterpret_cast<const sockaddr*>(&any6), 0);
    if (error != 0) error = uv_tcp_bind(&listener_, reinterpret_cast<const sockaddr*>(&any4), 0);
    if (error == 0) {
        error = uv_listen(reinterpret_cast<uv_stream_t*>(&listener_), kBacklog,
                          [](uv_stream_t* stream, int) { static_cast<SeatChannel*>(stream->data)->accept(); });
    }
    sockaddr_storage bound{};
    int size = sizeof bound;
    if (error == 0) error = uv_tcp_getsockname(&listener_, reinterpret_cast<sockaddr*>(&bound), &size);
    if (error != 0) {
        return environment_error(
            fmt::format("the seat channel cannot listen for the other ranks: {}", uv_strerror(error)));
    }
    invitation_.port = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port
                                                         : reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
    return {};
}

Result<std::unique_ptr<SeatChannel>> SeatChannel::join(SeatChannelOptions options,
                                                       SeatInvitation invitation,
                                                       Duration patience) {
    STREAMSIM_CHECK(options.rank != 0, "rank 0 is the one that is joined");
    if (invitation.machine == this_machine())
        invitation.addresses.insert(invitation.addresses.begin(), {"127.0.0.1", "::1"});
    if (invitation.addresses.empty())
        return environment_error("rank 0 cannot be reached: its computer has no network interface that is up");
    std::unique_ptr<SeatChannel> channel(new SeatChannel(std::move(options)));
    channel->invitation_ = std::move(invitation);
    channel->start();
    {
        std::unique_lock lock(channel->mutex_);
        if (channel->changed_.wait_for(lock, chrono_of(patience), [&] { return channel->joined_; }))
            return channel;
    }
    return environment_error(fmt::format(
        "rank 0 cannot be reached within {}, on port {} of {}: the seat channel needs a TCP connection to it",
        show_duration(patience), channel->invitation_.port, fmt::join(channel->invitation_.addresses, ", ")));
}

void SeatChannel::start() {
    const auto every = static_cast<std::uint64_t>(options_.heartbeat.ns / 1'000'000);
    uv_timer_start(
        &timer_, [](uv_timer_t* handle) { static_cast<SeatChannel*>(handle->data)->tick(); }, every, every);
    thread_ = std::thread([this] { run(); });
}

SeatChannel::~SeatChannel() {
    {
        const std::lock_guard lock(mutex_);
        leaving_ = true;
    }
    uv_async_send(&wake_);
    thread_.join();
    STREAMSIM_CHECK(uv_loop_close(&loop_) == 0, "every handle of the channel was closed");
}

void SeatChannel::run() {
    if (options_.rank != 0) connect_next();
    uv_run(&loop_, UV_RUN_DEFAULT);
}

void SeatChannel::send(std::uint32_t rank, const Json& message) {
    std::string text = message.dump(-1, ' ', false, Json::error_handler_t::replace);
    {
        const std::lock_guard lock(mutex_);
        outbox_.emplace_back(rank, std::move(text));
    }
    uv_async_send(&wake_);
}

std::optional<ClockReading> SeatChannel::measure_clock(std::uint32_t exchanges, Duration at_most) {
    std::unique_lock lock(mutex_);
    clock_ = {};
    pings_left_ = exchanges;
    ping_wanted_ = true;
    uv_async_send(&wake_);
    changed_.wait_for(lock, chrono_of(at_most), [this] { return pings_left_ == 0; });
    pings_left_ = 0;
    return clock_.best();
}

/// Something waits to be sent, a clock to be measured, or this rank leaves.
void SeatChannel::woken() {
    std::vector<std::pair<std::uint32_t, std::string>> outbox;
    bool leaving = false;
    bool measuring = false;
    {
        const std::lock_guard lock(mutex_);
        outbox.swap(outbox_);
        leaving = leaving_;
        measuring = std::exchange(ping_wanted_, false);
    }
    for (auto& [rank, text] : outbox) {
        for (const auto& connection : connections_) {
            if (connection->rank == rank && !connection->closing) write(*connection, text);
        }
    }
    if (measuring) ping();
    if (leaving && leave_by_ == Instant::never()) begin_to_leave();
}

void SeatChannel::tick() {
    const Instant at = now();
    // Where this process itself stood still, what came meanwhile has not been read yet.
    const bool stood_still = at - last_tick_ > options_.heartbeat + options_.heartbeat;
    last_tick_ = at;
    Json news = {{"do", "alive"}};
    if (options_.events.news) {
        if (Json told = options_.events.news(); !told.is_null()) news["news"] = std::move(told);
    }
    for (const auto& connection : connections_) {
        if (connection->closing) continue;
        if (stood_still) connection->heard = at;
        if (at >= connection->try_until) {
            close(*connection);
        } else if (at - connection->heard > options_.silence) {
            gone(*connection, fmt::format("it has been silent for {}", show_duration(options_.silence)));
        } else if (connection->rank != kNobody) {
            say(*connection, news);
        }
    }
}

SeatChannel::Connection& SeatChannel::add_connection() {
    connections_.push_back(std::make_unique<Connection>());
    Connection& connection = *connections_.back();
    connection.channel = this;
    connection.heard = now();
    connection.buffer.resize(64 << 10);
    uv_tcp_init(&loop_, &connection.tcp);
    connection.tcp.data = &connection;
    return connection;
}

void SeatChannel::accept() {
    Connection& connection = add_connection();
    if (uv_accept(reinterpret_cast<uv_stream_t*>(&listener_),
                  reinterpret_cast<uv_stream_t*>(&connection.tcp)) != 0)
        return close(connection);
    read_from(connection);
}

void SeatChannel::connect_next() {
    if (leave_by_ != Instant::never()) return;
    Connection& connection = add_connection();
    const std::string& address = invitation_.addresses[next_address_++ % invitation_.addresses.size()];
    sockaddr_in6 v6{};
    sockaddr_in v4{};
    const bool is_v4 = uv_ip4_addr(address.c_str(), invitation_.port, &v4) == 0;
    if (!is_v4) uv_ip6_addr(address.c_str(), invitation_.port, &v6);
    connection.try_until = now() + kTry;
    const auto* const to = is_v4 ? reinterpret_cast<const sockaddr*>(&v4) : reinterpret_cast<sockaddr*>(&v6);
    const int error =
        uv_tcp_connect(&connection.connecting, &connection.tcp, to, [](uv_connect_t* request, int status) {
            auto& made = *static_cast<Connection*>(request->handle->data);
            if (made.closing) return;
            if (status != 0) return made.channel->not_reached(made);
            SeatChannel& self = *made.channel;
            self.read_from(made);
            self.say(made, {{"do", "hello"},
                            {"token", self.invitation_.token},
                            {"rank", self.options_.rank},
                            {"introduction", self.options_.introduction}});
        });
    if (error != 0) not_reached(connection);
}

/// Nobody listens there: the next address; after the last one all once more, with the next heartbeat.
void SeatChannel::not_reached(Connection& connection) {
    if (next_address_ % invitation_.addresses.size() != 0) return close(connection);
    connection.try_until = Instant{};
}

void SeatChannel::close(Connection& connection) {
    if (connection.closing) return;
    connection.closing = true;
    uv_close(reinterpret_cast<uv_handle_t*>(&connection.tcp), [](uv_handle_t* handle) {
        auto* const closed = static_cast<Connection*>(handle->data);
        SeatChannel& self = *closed->channel;
        const bool tried = self.options_.rank != 0 && closed->rank == kNobody;
        self.connections_.remove_if([closed](const auto& each) { return each.get() == closed; });
        if (tried) self.connect_next();
        if (self.leave_by_ != Instant::never() && self.connections_.empty()) self.finish_leaving();
    });
}

/// The other end has closed, or is no longer to be trusted.
void SeatChannel::gone(Connection& connection, const std::string& why) {
    if (connection.closing) return;
    close(connection);
    if (connection.rank == kNobody) return;
    if (connection.left) {
        options_.events.left(connection.rank);
    } else {
        options_.events.lost(connection.rank, why);
    }
}

void SeatChannel::read_from(Connection& connection) {
    uv_tcp_nodelay(&connection.tcp, 1);
    uv_read_start(
        reinterpret_cast<uv_stream_t*>(&connection.tcp),
        [](uv_handle_t* handle, std::size_t, uv_buf_t* buffer) {
            auto& own = static_cast<Connection*>(handle->data)->buffer;
            *buffer = uv_buf_init(own.data(), static_cast<unsigned>(own.size()));
        },
        [](uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer) {
            auto& from = *static_cast<Connection*>(stream->data);
            if (from.closing) return;
            if (count > 0) from.channel->received(from, {buffer->base, static_cast<std::size_t>(count)});
            if (count < 0) from.channel->gone(from, "its connection ended");
        });
}

void SeatChannel::received(Connection& connection, std::string bytes) {
    connection.heard = now();
    connection.in += bytes;
    std::size_t used = 0;
    while (!connection.closing && connection.in.size() - used >= kHeaderBytes) {
        std::size_t length = 0;
        for (std::size_t i = 0; i < kHeaderBytes; ++i)
            length = length << 8 | static_cast<std::uint8_t>(connection.in[used + i]);
        if (length > (connection.rank == kNobody ? kStrangerBytes : kMessageBytes))
            return gone(connection, "it sent what is no message");
        if (connection.in.size() - used - kHeaderBytes < length) break;
        auto message =
            parse_json(std::string_view(connection.in).substr(used + kHeaderBytes, length), "message");
        used += kHeaderBytes + length;
        if (!message) return gone(connection, "it sent what is no message");
        try {
            handle(connection, *message);
        } catch (const Json::exception& error) {
            return gone(connection, fmt::format("it sent what is no message ({})", error.what()));
        }
    }
    connection.in.erase(0, used);
}

void SeatChannel::handle(Connection& connection, Json& message) {
    const std::string what = message.at("do");
    if (connection.rank == kNobody) return let_in(connection, message);
    if (what == "ping") {
        message["do"] = "pong";
        message["arrived"] = connection.heard.ns;
        message["answered"] = now().ns;
        say(connection, message);
    } else if (what == "pong") {
        answered(message);
    } else if (what == "bye") {
        connection.left = true;
    } else if (what != "alive" || message.contains("news")) {
        options_.events.message(connection.rank, message);
    }
}

/// The first message of a connection: a rank shows the token; rank 0 answers that it is welcome.
void SeatChannel::let_in(Connection& connection, const Json& message) {
    if (options_.rank != 0) {
        if (message.at("do") != "welcome") return close(connection);
        connection.rank = 0;
        connection.try_until = Instant::never();
        const std::lock_guard lock(mutex_);
        joined_ = true;
        changed_.notify_all();
        return;
    }
    const std::uint32_t rank = message.at("rank");
    const bool taken = std::any_of(connections_.begin(), connections_.end(),
                                   [rank](const auto& each) { return each->rank == rank; });
    if (message.at("token") != invitation_.token || rank == 0 || rank >= options_.ranks || taken)
        return close(connection);
    connection.rank = rank;
    say(connection, {{"do", "welcome"}});
    Json introduction = {{"do", "hello"}, {"introduction", message.at("introduction")}};
    options_.events.message(rank, introduction);
}

void SeatChannel::ping() {
    for (const auto& connection : connections_) {
        if (connection->rank == 0 && !connection->closing)
            say(*connection, {{"do", "ping"}, {"sent", now().ns}});
    }
}

void SeatChannel::answered(const Json& message) {
    const Instant at = now();
    const std::lock_guard lock(mutex_);
    if (pings_left_ == 0) return;
    clock_.add({message.at("sent")}, {message.at("arrived")}, {message.at("answered")}, at);
    if (--pings_left_ > 0) return ping();
    changed_.notify_all();
}

void SeatChannel::say(Connection& connection, const Json& message) {
    write(connection, message.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void SeatChannel::write(Connection& connection, const std::string& text) {
    auto* const out = new Write();
    for (std::size_t i = 0; i < kHeaderBytes; ++i)
        out->bytes += static_cast<char>(text.size() >> (8 * (kHeaderBytes - 1 - i)) & 0xff);
    out->bytes += text;
    out->request.data = out;
    const uv_buf_t buffer = uv_buf_init(out->bytes.data(), static_cast<unsigned>(out->bytes.size()));
    const auto done = [](uv_write_t* request, int) { delete static_cast<Write*>(request->data); };
    if (uv_write(&out->request, reinterpret_cast<uv_stream_t*>(&connection.tcp), &buffer, 1, done) != 0)
        delete out;
}

void SeatChannel::begin_to_leave() {
    leave_by_ = now() + kLeave;
    for (const auto& connection : connections_) {
        if (connection->closing) continue;
        if (connection->rank == kNobody) {
            close(*connection);
            continue;
        }
        connection->left = true;  // whatever the other end does now is not news
        say(*connection, {{"do", "bye"}});
        const int error = uv_shutdown(&connection->ending, reinterpret_cast<uv_stream_t*>(&connection->tcp),
                                      [](uv_shutdown_t* request, int) {
                                          auto& ended = *static_cast<Connection*>(request->handle->data);
                                          ended.channel->close(ended);
                                      });
        if (error != 0) close(*connection);
    }
    if (connections_.empty()) finish_leaving();
    uv_timer_start(
        &timer_, [](uv_timer_t* handle) { static_cast<SeatChannel*>(handle->data)->finish_leaving(); },
        static_cast<std::uint64_t>(kLeave.ns / 1'000'000), 0);
}

void SeatChannel::finish_leaving() {
    for (const auto& connection : connections_) close(*connection);
    const auto close_once = [](uv_handle_t* handle) {
        if (!uv_is_closing(handle)) uv_close(handle, nullptr);
    };
    if (listening_) close_once(reinterpret_cast<uv_handle_t*>(&listener_));
    close_once(reinterpret_cast<uv_handle_t*>(&wake_));
    close_once(reinterpret_cast<uv_handle_t*>(&timer_));
}

}  // namespace streamsim
