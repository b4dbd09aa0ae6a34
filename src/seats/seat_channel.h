// The seat channel: the messages that the processes of one run send each other while they play. Rank 0 listens
// on TCP, every other rank has one connection to it. A message is a JSON value behind its length. A rank whose
// connection ends, or whose heartbeats stop for some seconds, is reported at once, and disturbs no other rank.
//
// The channel has a thread of its own, which sleeps but for one heartbeat a second. A process that connects
// must know the token of the run, which only its ranks have: the first bytes of a connection are a greeting of
// a fixed length with the token in it (join_token.h), and no byte is parsed before the token was compared. A
// connection that has not shown the token is a stranger: rank 0 keeps few strangers at once, each for a short
// time, and stops listening once every rank is here.
#pragma once

#include <uv.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/document/json.h"
#include "base/result.h"
#include "base/system/mutex.h"
#include "base/time.h"
#include "seats/join_token.h"
#include "seats/rank_clock.h"

namespace streamsim::seats {

/// The channel's thread calls these; they must not block.
struct SeatEvents {
    std::function<void(std::uint32_t rank, Json& message)> message;
    /// The connection ended without notice, or the heartbeats stopped. Once for each rank.
    std::function<void(std::uint32_t rank, const std::string& why)> lost;
    /// The rank announced that it has ended its part, and closed.
    std::function<void(std::uint32_t rank)> left;
    /// The content of the heartbeat, which arrives as a message; null: none. May be empty.
    std::function<Json()> progress;
};

struct SeatChannelOptions {
    std::uint32_t rank = 0;
    std::uint32_t ranks = 1;
    Json introduction;  // arrives as the first message of this rank
    SeatEvents events;
    Duration heartbeat = seconds(1);
    Duration heartbeat_timeout = seconds(5);  // a rank that is not heard for longer is lost
    Duration greeting_timeout = seconds(2);   // of a stranger
};

/// The limit of one message. A longer one ends the connection, at its sender and at its receiver.
inline constexpr std::size_t kSeatMessageBytesMax = std::size_t{16} << 20;
/// Large data is sent in messages of about this size, so that no heartbeat waits behind it.
inline constexpr std::size_t kSeatPartBytes = std::size_t{256} << 10;

class SeatChannel {
public:
    /// Rank 0's end: listens on all interfaces. Errors: environment.
    static Result<std::unique_ptr<SeatChannel>> host(SeatChannelOptions options);
    /// Another rank's end: tries every address, again and again, for `timeout`. Blocks. Errors: environment,
    /// naming the addresses.
    static Result<std::unique_ptr<SeatChannel>> join(SeatChannelOptions options,
                                                     JoinToken join_token,
                                                     Duration timeout = seconds(20));
    /// Announces that this rank leaves, when all messages are sent; waits for that a second at most.
    ~SeatChannel();
    SeatChannel(const SeatChannel&) = delete;
    SeatChannel& operator=(const SeatChannel&) = delete;

    const JoinToken& join_token() const { return join_token_; }
    /// Any thread. A message to a rank that is gone is dropped. REQUIRES: sender or receiver is rank 0.
    void send(std::uint32_t rank, const Json& message);
    /// As send() to rank 0, but waits first until few bytes are queued: large data, part by part, is in memory
    /// only once. False: rank 0 is gone. Any thread but the channel's. REQUIRES: not rank 0.
    bool send_part(const Json& message);

    /// Measures the own clock against rank 0's. Blocks for `timeout` at most; nullopt: no answer came. One call
    /// at a time. REQUIRES: not rank 0.
    std::optional<ClockReading> measure_clock(std::uint32_t exchanges, Duration timeout);

    /// The clock that measure_clock() compares.
    static Instant now() { return {static_cast<std::int64_t>(uv_hrtime())}; }

private:
    struct Connection;
    struct Write;

    explicit SeatChannel(SeatChannelOptions options);
    Result<void> listen();
    void start();
    void run();
    void woken();
    void tick();
    void check_strangers();
    void accept_stranger();
    void stop_listening_when_all_are_here();
    std::vector<Connection*> strangers() const;
    Connection& add_connection();
    void connect_next();
    void connect_failed(Connection& connection);
    void close(Connection& connection);
    void disconnect(Connection& connection, const std::string& why);
    void read_from(Connection& connection);
    void received(Connection& connection, std::string_view bytes);
    void greeting_received(Connection& connection);
    void handle(Connection& connection, Json& message);
    void welcome_received(Connection& connection, const Json& message);
    void pong_received(const Json& message);
    void send_ping();
    void send_own(Connection& connection, const Json& message);
    enum class Framing : std::uint8_t { message, greeting };
    void write(Connection& connection, std::string text, Framing framing = Framing::message);
    void bytes_sent(std::size_t bytes);
    void begin_to_leave();
    void finish_leaving();

    SeatChannelOptions options_;
    JoinToken join_token_;
    uv_loop_t loop_{};
    uv_tcp_t listener_{};
    uv_async_t wake_{};
    uv_timer_t timer_{};
    uv_timer_t stranger_timer_{};
    std::list<std::unique_ptr<Connection>> connections_;  // the thread's own
    std::size_t next_address_ = 0;                        // the thread's own
    Instant last_tick_;                                   // the thread's own
    Instant leave_by_ = Instant::never();                 // the thread's own
    bool listening_ = false;
    bool connection_waits_ = false;  // to be accepted; the thread's own
    std::vector<bool> greeted_;      // by rank; the thread's own
    std::thread thread_;

    Mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::pair<std::uint32_t, std::string>> outbox_ GUARDED_BY(mutex_);
    std::size_t queued_bytes_ GUARDED_BY(mutex_) = 0;
    bool leaving_ GUARDED_BY(mutex_) = false;
    bool joined_ GUARDED_BY(mutex_) = false;
    bool ended_ GUARDED_BY(mutex_) = false;  // rank 0 is gone
    ClockEstimate clock_ GUARDED_BY(mutex_);
    std::uint32_t pings_left_ GUARDED_BY(mutex_) = 0;
    bool ping_wanted_ GUARDED_BY(mutex_) = false;
};

}  // namespace streamsim::seats
