// The seat channel: what the processes of one run tell each other while they play. Rank 0 listens on TCP, every
// other rank has one connection to it. A message is a JSON value behind its length; one that dies, or is silent
// for some seconds, is told of at once, and nobody else is disturbed by it.
//
// It has a thread of its own, which sleeps but for a heartbeat a second. Whoever connects must know the token
// of the run, which only its ranks are told.
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
#include <thread>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "run/rank_clock.h"

namespace streamsim {

/// How to reach rank 0, and to be let in.
struct SeatInvitation {
    std::string run_id;
    std::string token;
    std::string machine;                 // the same for two processes that share their loopback interface
    std::vector<std::string> addresses;  // of all interfaces, as numbers; loopback is not among them
    std::uint16_t port = 0;

    std::string to_text() const;
    /// Errors: environment.
    static Result<SeatInvitation> parse(const std::string& text);
};

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
    Duration silence = seconds(5);  // after which a rank is lost
};

class SeatChannel {
public:
    /// Rank 0's end: listens on all interfaces. Errors: environment.
    static Result<std::unique_ptr<SeatChannel>> host(SeatChannelOptions options);
    /// Another rank's: tries every address, and once more, for `patience`. Blocks. Errors: environment, naming
    /// the addresses.
    static Result<std::unique_ptr<SeatChannel>> join(SeatChannelOptions options,
                                                     SeatInvitation invitation,
                                                     Duration patience = seconds(20));
    /// Says that this rank leaves, once everything that was sent is on its way, for a second at most.
    ~SeatChannel();
    SeatChannel(const SeatChannel&) = delete;
    SeatChannel& operator=(const SeatChannel&) = delete;

    const SeatInvitation& invitation() const { return invitation_; }
    /// Any thread. To a rank that is not there: dropped. REQUIRES: one of the two is rank 0.
    void send(std::uint32_t rank, const Json& message);

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
    void accept();
    Connection& add_connection();
    void connect_next();
    void not_reached(Connection& connection);
    void close(Connection& connection);
    void gone(Connection& connection, const std::string& why);
    void read_from(Connection& connection);
    void received(Connection& connection, std::string bytes);
    void handle(Connection& connection, Json& message);
    void let_in(Connection& connection, const Json& message);
    void answered(const Json& message);
    void ping();
    void say(Connection& connection, const Json& message);
    void write(Connection& connection, const std::string& text);
    void begin_to_leave();
    void finish_leaving();

    SeatChannelOptions options_;
    SeatInvitation invitation_;
    uv_loop_t loop_{};
    uv_tcp_t listener_{};
    uv_async_t wake_{};
    uv_timer_t timer_{};
    std::list<std::unique_ptr<Connection>> connections_;  // the thread's own
    std::size_t next_address_ = 0;                        // the thread's own
    Instant last_tick_;                                   // the thread's own
    Instant leave_by_ = Instant::never();                 // the thread's own
    bool listening_ = false;
    std::thread thread_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::pair<std::uint32_t, std::string>> outbox_;  // protected by mutex_
    bool leaving_ = false;                                       // protected by mutex_
    bool joined_ = false;                                        // protected by mutex_
    ClockEstimate clock_;                                        // protected by mutex_
    std::uint32_t pings_left_ = 0;                               // protected by mutex_
    bool ping_wanted_ = false;                                   // protected by mutex_
};

}  // namespace streamsim
