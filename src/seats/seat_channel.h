// The seat channel: the messages that the processes of one run send each other while they play. Rank 0 listens
// on TCP, every other rank has one connection to it. A rank whose connection ends, or whose heartbeats stop for
// some seconds, is reported at once, and disturbs no other rank.
//
// The channel is ZeroMQ's with CURVE: it is encrypted, both sides prove that they have the keys of the run, and
// connections are made again by the library. Messages that were under way when one broke are sent once more:
// each has a number, and each one back has the number of the last that came. The channel has a thread of its
// own, which sleeps but for one heartbeat a second.
#pragma once

#include <uv.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
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
#include "seats/zmq_socket.h"

namespace streamsim::seats {

/// The channel's thread calls these; they must not block.
struct SeatEvents {
    std::function<void(std::uint32_t rank, Json& message)> message;
    /// The connection ended without notice, or the heartbeats stopped, and the rank did not return in time.
    /// Once for each rank.
    std::function<void(std::uint32_t rank, const std::string& why)> lost;
    /// The same, and the rank is awaited; it has returned. May be empty.
    std::function<void(std::uint32_t rank, const std::string& why)> away;
    std::function<void(std::uint32_t rank)> back;
    /// In rank 0: somebody with the keys was sent away. May be empty.
    std::function<void(const std::string& who, const std::string& why)> refused;
    /// The rank announced that it has ended its part, and closed.
    std::function<void(std::uint32_t rank)> left;
    /// The content of the heartbeat, which arrives as a message; null: none. May be empty.
    std::function<Json()> progress;
};

/// Instead of a rank: rank 0 gives one.
inline constexpr std::uint32_t kAnyRank = UINT32_MAX;

struct SeatChannelOptions {
    std::uint32_t rank = 0;
    std::uint32_t ranks = 1;
    Json introduction;             // arrives as the first message of this rank
    std::string address = "*";     // that rank 0 listens on
    std::uint16_t port = 0;        // 0: any
    std::optional<SeatKeys> keys;  // of rank 0; nothing: new ones
    std::string version;           // where not empty: rank 0 refuses those with another one
    std::string first = "rank 0";  // its name in messages
    /// Not of rank 0: the name of its computer, whose addresses are looked up anew each time that all of them
    /// were tried. Empty: they are those of the join token.
    std::string computer;
    /// Rank 0: the place of a rank that is lost, or that left, is free again until close_places().
    bool places_return = false;
    SeatEvents events;
    Duration heartbeat = seconds(1);
    Duration heartbeat_timeout = seconds(5);  // a rank that is not heard for longer is lost
    Duration greeting_timeout = seconds(2);   // of a connection that has not shown the keys
    /// Not of rank 0: why it cannot connect, when that is not for lack of an answer. On the channel's thread.
    /// May be empty.
    std::function<void(const std::string& why)> trouble;
    // A rank is awaited for so long when its connection has ended, and when it has fallen silent. Rank 0
    // refuses one that returns later.
    Duration return_after_end;
    Duration return_after_cut;
};

/// The limit of one message. A longer one ends the connection, at its sender and at its receiver.
inline constexpr std::size_t kSeatMessageBytesMax = std::size_t{16} << 20;
/// Large data is sent in messages of about this size, so that no heartbeat waits behind it.
inline constexpr std::size_t kSeatPartBytes = std::size_t{256} << 10;

class SeatChannel {
public:
    /// Rank 0's end: listens on all interfaces. Errors: environment.
    static Result<std::unique_ptr<SeatChannel>> host(SeatChannelOptions options);
    /// Another rank's end: tries every address, again and again, for `timeout`, or until `given_up` is true.
    /// Blocks. With kAnyRank, no event comes before listen_to(). Errors: environment, naming the addresses;
    /// rank 0 has refused it.
    static Result<std::unique_ptr<SeatChannel>> join(SeatChannelOptions options,
                                                     JoinToken join_token,
                                                     Duration timeout = seconds(20),
                                                     const std::function<bool()>& given_up = {});
    /// Announces that this rank leaves, when all messages are sent; waits for that a second at most.
    ~SeatChannel();
    SeatChannel(const SeatChannel&) = delete;
    SeatChannel& operator=(const SeatChannel&) = delete;

    const JoinToken& join_token() const { return join_token_; }
    std::uint32_t rank() const { return options_.rank; }
    std::uint32_t ranks() const { return options_.ranks; }
    /// From now on nobody new is let in. Any thread.
    void close_places();
    /// The events from the first on, where the channel was made before whoever hears them. Once.
    void listen_to(SeatEvents events);
    /// Any thread. A message to a rank that is gone is dropped. REQUIRES: sender or receiver is rank 0.
    void send(std::uint32_t rank, const Json& message);
    /// As send() to rank 0, but waits first until few bytes are queued: large data, part by part, is in memory
    /// only once. False: rank 0 is gone, or has not answered after hurry(). Any thread but the channel's.
    /// REQUIRES: not rank 0.
    bool send_part(const Json& message);

    /// Blocks until all messages have come to rank 0. False: it is gone, or has not answered after hurry().
    /// REQUIRES: not rank 0.
    bool wait_until_delivered();
    /// From now on send_part() and wait_until_delivered() wait less than a second for each answer of rank 0.
    /// Any thread.
    void hurry();

    /// Measures the own clock against rank 0's. Blocks for `timeout` at most; nullopt: no answer came. One call
    /// at a time. REQUIRES: not rank 0.
    std::optional<ClockReading> measure_clock(std::uint32_t exchanges, Duration timeout);

    /// The clock that measure_clock() compares.
    static Instant now() { return {static_cast<std::int64_t>(uv_hrtime())}; }

private:
    struct Peer;

    explicit SeatChannel(SeatChannelOptions options);
    Result<void> listen();
    void start();
    void run();
    void woken();
    void tick();
    void connect_next();
    void received(const std::string& from, int connection, std::string_view numbers, std::string_view text);
    void handle(Peer& peer, Json& message);
    Peer* peer_of(const std::string& from, std::string_view text);
    void receive_all();
    void check_keys();
    void watch_connections();
    void lose(Peer& peer, const std::string& why);
    void await(Peer& peer, const std::string& why, Duration how_long);
    void returned(Peer& peer);
    void key_refused();
    Peer* meet(const std::string& from, const Json& hello);
    bool places_are_closed();
    Peer* free_place(const std::string& who);
    void answer_refused(const std::string& from, const std::string& why);
    void answer_gone(const Peer& peer);
    void refuse(const std::string& from, const std::string& who, const std::string& why);
    void tell(std::function<void(SeatEvents& events)> what);
    bool is_heard();
    void send_again(Peer& peer);
    void write(Peer& peer, std::uint64_t number, std::string_view text);
    void post(Peer& peer, const Json& message);
    void wait_for_queue(MutexLock& lock, std::size_t bytes) REQUIRES(mutex_);
    void number_received(Peer& peer, std::uint64_t number);
    void forget(Peer& peer);
    bool nothing_waits() const;
    void leave();
    void pong_received(const Json& message);
    void send_ping();
    std::uint32_t rank_of(const Peer& peer) const;

    SeatChannelOptions options_;
    JoinToken join_token_;
    ZmqContext context_;
    ZmqSocket link_;
    ZmqSocket connections_;  // tells when they are made and when they end
    ZmqSocket keys_;         // rank 0: asks whether a key is of this run
    ZmqSocket wake_receiver_;
    std::string endpoint_;                // where this rank listens, or connects to
    std::vector<std::string> addresses_;  // of rank 0; the thread's own, as what follows
    std::size_t next_address_ = 0;
    Instant next_tick_;
    Instant last_tick_;
    Instant connect_by_ = Instant::never();
    Instant say_key_refused_at_;
    std::vector<Peer> peers_;  // by rank
    std::thread thread_;

    Mutex mutex_;
    std::condition_variable changed_;
    ZmqSocket wake_sender_ GUARDED_BY(mutex_);
    std::vector<std::pair<std::uint32_t, std::string>> outbox_ GUARDED_BY(mutex_);
    std::size_t queued_bytes_ GUARDED_BY(mutex_) = 0;
    bool leaving_ GUARDED_BY(mutex_) = false;
    bool places_closed_ GUARDED_BY(mutex_) = false;
    bool joined_ GUARDED_BY(mutex_) = false;
    std::string refusal_ GUARDED_BY(mutex_);  // of rank 0
    bool heard_by_somebody_ GUARDED_BY(mutex_) = true;
    std::vector<std::function<void(SeatEvents&)>> early_ GUARDED_BY(mutex_);  // before listen_to()
    bool ended_ GUARDED_BY(mutex_) = false;                                   // rank 0 is gone
    bool undelivered_ GUARDED_BY(mutex_) = false;  // a message for rank 0 was dropped
    bool hurries_ GUARDED_BY(mutex_) = false;
    ClockEstimate clock_ GUARDED_BY(mutex_);
    std::uint32_t pings_left_ GUARDED_BY(mutex_) = 0;
    bool ping_wanted_ GUARDED_BY(mutex_) = false;
};

}  // namespace streamsim::seats
