// One TCP connection to a service of an NFS server, on libnfs's remote procedure calls. It never blocks and
// never connects again by itself.
//
// A link registers its socket with the epoll descriptor that it was given, with `user` as the
// data. Whoever
// waits there calls service(); nothing else brings answers. Calls go out when flush() is called, or the next
// service(). libnfs takes what has come out of the socket until it is empty.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "storage/nfs/nfs_call.h"
#include "streamsim/remote_place.h"

struct AUTH;
struct nfs_context;
struct rpc_context;

namespace streamsim::storage {

/// As whom files are opened: this process, or who the URL says.
AUTH* make_nfs_auth(const RemotePlace& place);

class NfsLink {
public:
    enum class State : std::uint8_t { down, connecting, connected };

    NfsLink(const RemotePlace& place, int epoll, void* user) : place_(place), epoll_(epoll), user_(user) {}
    ~NfsLink() { drop(); }
    NfsLink(const NfsLink&) = delete;
    NfsLink& operator=(const NfsLink&) = delete;

    State state() const { return state_; }
    /// Calls that are not answered yet.
    std::uint32_t outstanding() const { return outstanding_; }
    /// When the server last gave an answer or a good part of one, or began to have something to answer. A few
    /// bytes now and then are no answer.
    Instant heard() const { return heard_; }
    /// What went wrong last, for people.
    const std::string& trouble() const { return trouble_; }

    /// REQUIRES: down. False: not even begun, trouble() says why.
    bool connect(const std::string& address, std::uint16_t port, Instant now);
    /// What is there is answered; `events` are epoll's. False: the connection is gone, everything was answered
    /// `lost`, it is down.
    bool service(std::uint32_t events, Instant now);
    /// Sends what waits; as service().
    bool flush();
    /// Everything outstanding is answered `lost`. Never inside an answer.
    void drop();
    /// drop(), for this reason.
    void give_up(const char* why) {
        trouble_ = why;
        drop();
    }

    /// By TCP, of this connection and the ones before.
    std::uint64_t retransmitted_segments() const { return retransmitted_before_ + retransmitted_; }
    std::optional<std::int64_t> rtt_ns() const { return rtt_ns_; }
    void measure();

    // For the requests in nfs_requests.cc.
    rpc_context* rpc() const { return rpc_; }
    void sent(NfsCall& call, Instant now);
    void answered() {
        --outstanding_;
        ++answers_;
    }

private:
    static void on_connected(rpc_context* rpc, int status, void* data, void* self);
    bool run(int events);
    void register_socket();
    void say(const std::string& fallback);
    /// Why connecting failed: only a refusal is called one.
    std::string not_connected(int events) const;
    std::uint64_t bytes_received() const;

    const RemotePlace& place_;
    const int epoll_;
    void* const user_;
    State state_ = State::down;
    nfs_context* nfs_ = nullptr;
    rpc_context* rpc_ = nullptr;
    bool failed_ = false;  // to connect
    int registered_ = -1;  // the socket
    std::uint32_t events_ = 0;
    std::uint32_t outstanding_ = 0;
    std::uint64_t answers_ = 0;
    Instant heard_;
    std::uint64_t heard_bytes_ = 0;  // that had come then
    std::string trouble_;
    std::uint64_t retransmitted_ = 0;
    std::uint64_t retransmitted_before_ = 0;
    std::optional<std::int64_t> rtt_ns_;
};

}  // namespace streamsim::storage
