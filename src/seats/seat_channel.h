// The seat channel: what the processes of one run tell each other while they play. Rank 0 listens on TCP, every
// other rank has one connection to it. A message is a JSON value behind its length; one that dies, or is silent
// for some seconds, is told of at once, and nobody else is disturbed by it.
//
// It has a thread of its own, which sleeps but for a heartbeat a second. Whoever connects must know the token
// of the run, which only its ranks are told: the first bytes of a connection are a greeting of a fixed length
// with the token in it (seat_greeting.h), and nothing is parsed before the token was compared. Rank 0 keeps few
// such strangers at once, each for a short time, and stops listening once every rank is here.
#pragma once

#include <uv.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/document/json.h"
#include "base/result.h"
#include "base/time.h"
#include "seats/rank_clock.h"

namespace streamsim::seats {

/// How to reach rank 0, and to be let in.
struct JoinToken {
    std::string run_id;
    std::string token;
    std::string machine;                 // the same for two processes that share their loopback interface
    std::vector<std::string> addresses;  // of all interfaces, as numbers; loopback is not among them
    std::uint16_t port = 0;

    std::string to_text() const;
    /// Errors: environment.
    static Result<JoinToken> parse(const std::string& text);
};

/// Two processes with the same word share their loopback interface.
std::string this_machine();
/// Of all interfaces that are up, as numbers, IPv4 first; without loopback and those of one link.
std::vector<std::string> own_addresses();

/// Are called on the channel's thread and must not block.
struct SeatEvents {
    std::function<void(std::uint32_t rank, Json& message)> message;
    /// It ended without a word, or is silent. Once for each rank.
    std::function<void(std::uint32_t rank, const std::string& why)> lost;
    /// It said that it has done its part, and closed.
    std::function<void(std::uint32_t rank)> left;
    /// What the heartbeat carries: comes as a message; null: nothing. May be empty.
    std::function<Json()> news;
};

struct SeatChannelOptions {
    std::uint32_t rank = 0;
    std::uint32_t ranks = 1;
    Json introduction;  // arrives as the first message of this rank
    SeatEvents events;
    Duration heartbeat = seconds(1);
    Duration silence = seconds(5);           // after which a rank is lost
    Duration greeting_timeout = seconds(2);  // of a connection that has not shown the token
};

/// Of one message. A sender whose message is longer ends the connection, and so does a receiver.
inline constexpr std::size_t kSeatMessageBytesMax = std::size_t{16} << 20;
/// Large data is sent in messages of about this size, between which a heartbeat waits for nothing.
inline constexpr std::size_t kSeatPartBytes = std::size_t{256} << 10;

class SeatChannel {
public:
    /// Rank 0's end: listens on all interfaces. Errors: environment.
    static Result<std::unique_ptr<SeatChannel>> host(SeatChannelOptions options);
    /// Another rank's: tries every address, and once more, for `patience`. Blocks. Errors: environment, naming
    /// the addresses.
    static Result<std::unique_ptr<SeatChannel>> join(SeatChannelOptions options,
                                                     JoinToken join_token,
                                                     Duration patience = seconds(20));
    /// Says that this rank leaves, once everything that was sent is on its way, for a second at most.
    ~SeatChannel();
    SeatChannel(const SeatChannel&) = delete;
    SeatChannel& operator=(const SeatChannel&) = delete;

    const JoinToken& join_token() const { return join_token_; }
    /// Any thread. To a rank that is not there: dropped. REQUIRES: one of the two is rank 0.
    void send(std::uint32_t rank, const Json& message);
    /// As send() to rank 0, but waits first until little is on its way: large data, part by part, is in memory
    /// only once. False: rank 0 is gone. Any thread but the channel's. REQUIRES: not rank 0.
    bool send_part(const Json& message);

    /// The own clock against rank 0's. Blocks, for `at_most`; nullopt: there was no answer. One at a time.
    /// REQUIRES: not rank 0.
    std::optional<ClockReading> measure_clock(std::uint32_t exchanges, Duration at_most);

    /// Of the clock that is meant.
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
    void look_after_strangers();
    void accept_stranger();
    void stop_listening_when_all_are_here();
    std::vector<Connection*> strangers() const;
    Connection& add_connection();
    void connect_next();
    void not_reached(Connection& connection);
    void close(Connection& connection);
    void gone(Connection& connection, const std::string& why);
    void read_from(Connection& connection);
    void received(Connection& connection, std::string_view bytes);
    void greeted(Connection& connection);
    void handle(Connection& connection, Json& message);
    void welcomed(Connection& connection, const Json& message);
    void answered(const Json& message);
    void ping();
    void say(Connection& connection, const Json& message);
    enum class Framing : std::uint8_t { message, greeting };
    void write(Connection& connection, std::string text, Framing framing = Framing::message);
    void not_queued_any_more(std::size_t bytes);
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
    bool one_waits_ = false;      // a connection that is not accepted yet; the thread's own
    std::vector<bool> was_here_;  // by rank; the thread's own
    std::thread thread_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::pair<std::uint32_t, std::string>> outbox_;  // protected by mutex_
    std::size_t queued_bytes_ = 0;                               // protected by mutex_
    bool leaving_ = false;                                       // protected by mutex_
    bool joined_ = false;                                        // protected by mutex_
    bool ended_ = false;                                         // rank 0 is gone; protected by mutex_
    ClockEstimate clock_;                                        // protected by mutex_
    std::uint32_t pings_left_ = 0;                               // protected by mutex_
    bool ping_wanted_ = false;                                   // protected by mutex_
};

}  // namespace streamsim::seats
