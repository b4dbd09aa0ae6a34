// One TCP connection to a service of an NFS server, for libnfs's remote procedure calls. It never blocks and
// never reconnects by itself.
//
// The code that waits for the socket calls service(); nothing else delivers replies. Calls go out with flush()
// or with the next service(). libnfs reads the socket until it is empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "storage/nfs/nfs_call.h"
#include "storage/nfs/system/socket_poll.h"
#include "streamsim/remote_place.h"

struct AUTH;
struct nfs_context;
struct rpc_context;

namespace streamsim::storage {

/// The user who opens files: that of this process, or the one in the URL.
AUTH* make_nfs_auth(const RemotePlace& place);
/// For messages: "the server refuses user 1000 (...)".
std::string nfs_user_refused(const RemotePlace& place);
/// "?": unknown.
std::string own_host_name();

class NfsTransport {
public:
    enum class State : std::uint8_t { down, connecting, connected };

    explicit NfsTransport(const RemotePlace& place) : place_(place) {}
    ~NfsTransport() { drop(); }
    NfsTransport(const NfsTransport&) = delete;
    NfsTransport& operator=(const NfsTransport&) = delete;

    State state() const { return state_; }
    /// Calls without a reply.
    std::uint32_t outstanding() const { return outstanding_; }
    /// The time of the last reply or of a good part of one, or of the first call that waits for one. A few
    /// bytes now and then do not count.
    Instant heard() const { return heard_; }
    /// The last error, for messages.
    const std::string& problem() const { return problem_; }

    /// REQUIRES: down. False: connecting failed at once, and problem() says why.
    bool connect(const std::string& address, std::uint16_t port, Instant now);
    /// From here on the socket's events wake this loop.
    void watch_by(uv_loop_t* loop);
    /// The socket with the events to wait for; none: there is no socket.
    std::optional<pollfd> polled() const;
    /// Delivers the replies that have arrived; `events` are those of poll(). False: the connection is lost,
    /// every call was answered `lost`, and the state is down.
    bool service(int events, Instant now);
    /// Sends the calls that wait. Returns as service().
    bool flush();
    /// Every outstanding call is answered `lost`. Never within the callback of a reply.
    void drop();
    /// Drops the connection for this reason.
    void give_up(const char* why) {
        problem_ = why;
        drop();
    }

    /// Calls that were sent, and TCP segments that were sent again, on this connection and all before.
    std::uint64_t calls() const { return calls_; }
    std::uint64_t retransmitted_segments() const { return retransmitted_before_ + retransmitted_; }
    std::optional<std::int64_t> rtt_ns() const { return rtt_ns_; }
    void measure();

    // For the functions in nfs_requests.cc and nfs_changes.cc.
    rpc_context* rpc() const { return rpc_; }
    void sent(NfsCall& call, Instant now);
    void answered() {
        --outstanding_;
        ++answers_;
    }

private:
    static void on_connected(rpc_context* rpc, int status, void* data, void* self);
    bool run(int events);
    void watch_socket();
    void note_problem(const std::string& fallback);
    /// The reason why connecting failed.
    std::string not_connected(int events) const;
    std::uint64_t bytes_received() const;

    const RemotePlace& place_;
    uv_loop_t* loop_ = nullptr;
    SocketWatch watch_;
    State state_ = State::down;
    nfs_context* nfs_ = nullptr;
    rpc_context* rpc_ = nullptr;
    bool failed_ = false;  // connecting failed
    std::uint32_t outstanding_ = 0;
    std::uint64_t calls_ = 0;
    std::uint64_t answers_ = 0;
    Instant heard_;
    std::uint64_t heard_bytes_ = 0;  // received until heard_
    std::string problem_;
    std::uint64_t retransmitted_ = 0;
    std::uint64_t retransmitted_before_ = 0;
    std::optional<std::int64_t> rtt_ns_;
};

}  // namespace streamsim::storage
