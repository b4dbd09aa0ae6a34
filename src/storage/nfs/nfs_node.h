// One node of an NFS server, as one loop uses it: its connections, its root, and for version 4 the name by
// which the server knows us. Nothing blocks.
//
// From nothing to ready: version 3 asks the port mapper for what the URL does not say, and the mount service
// for the longest part of the path that is an export; then all connections are made, and each asks for the
// server's facts. Version 4 has one port and one root. A connection that is lost is made again, after 50 ms
// first and a second at most; the root stays, unless the server says that it is stale.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "storage/nfs/nfs_link.h"
#include "storage/nfs/nfs_requests.h"
#include "streamsim/remote_place.h"
#include "streamsim/storage.h"

namespace streamsim::storage {

class NfsNode;

/// A connection with what is made of it; the data of its epoll events.
struct NfsLane {
    enum class Stage : std::uint8_t { down, connecting, asking, up };

    NfsLane(NfsNode& its_node, const RemotePlace& place, int epoll)
        : node(its_node), link(place, epoll, this) {}

    NfsNode& node;
    NfsLink link;
    Stage stage = Stage::down;
    bool was_up = false;
    Instant since;     // of connecting
    Instant retry_at;  // down
    Duration pause;    // before the next try
    NfsCall call;
};

class NfsNode {
public:
    /// `directory`: something that is wanted of this node, to find its export by.
    NfsNode(const RemotePlace& place,
            std::string address,
            std::uint32_t version,
            std::string directory,
            int epoll,
            NoticeSink notice);

    ~NfsNode() { drop_all(); }
    NfsNode(const NfsNode&) = delete;
    NfsNode& operator=(const NfsNode&) = delete;

    const std::string& address() const { return address_; }
    std::uint32_t version() const { return version_; }
    const NfsRequests& requests() const { return requests_; }

    void begin(Instant now);
    /// Of the last call with a time.
    Instant now() const { return now_; }
    /// Answers what has come on a connection.
    void serve(NfsLane& lane, std::uint32_t events, Instant now);
    /// Tries again what is due, and gives up connections that are silent. Often: every 50 ms.
    void tick(Instant now);
    /// Sends what waits. At the end of a turn.
    void flush(Instant now);

    /// Answers everything as lost.
    void drop_all();

    /// At least one connection is up (all_up: every one), and requests can be made.
    bool ready() const;
    bool all_up() const;
    /// Why it did not become ready at first; nothing: it has, or it may still.
    const std::optional<std::string>& failure() const { return failure_; }
    /// What is going on or went wrong last, for people.
    std::string trouble() const;

    /// The connection with the least to do. REQUIRES: ready().
    NfsLink& pick();
    const NfsHandle& root() const { return root_; }
    /// The path of root(), and where its services are. REQUIRES: ready().
    const std::string& mounted() const { return mounted_; }
    std::uint16_t nfs_port() const { return nfs_port_; }
    std::uint16_t mount_port() const { return mount_port_; }
    /// A path of the server, seen from root(). Nothing: it is not below.
    std::optional<std::string_view> below_root(std::string_view path) const;
    std::uint32_t read_bytes() const { return read_bytes_; }
    std::uint32_t write_bytes() const { return write_bytes_; }
    std::uint64_t client() const { return client_; }
    std::uint64_t new_owner() { return ++owners_; }

    /// The server knows this client, or the root, no more: ready() once it knows it again.
    void client_expired(std::uint64_t client);
    void root_stale(Instant now);

    /// Handles of directories, by their paths.
    std::unordered_map<std::string, NfsHandle>& directories() { return directories_; }

    // What it was.
    std::vector<std::uint32_t> seats;
    std::uint64_t received_bytes = 0;
    ServerTraffic traffic() const;
    /// Calls that are not answered.
    std::uint32_t outstanding() const;
    void count_request() { ++requests_made_; }

private:
    enum class Step : std::uint8_t {
        none,
        map_mount,
        map_nfs,
        connect_mount,
        mount,
        exports,
        join,
        failed,
    };
    enum class Client : std::uint8_t { unknown, asking, confirmed };

    std::string silence() const;  // who does not answer
    void enter(Step step) {
        step_ = step;
        step_due_ = true;
    }
    void advance();
    void take_step();
    void connect_helper(std::uint16_t port, Step then);
    void ask_helper();
    static void on_helper(void* self, NfsCall& call, const NfsReply& reply);
    void on_port(const NfsReply& reply);
    void on_mount(const NfsReply& reply);
    void on_exports(const NfsReply& reply);
    void fail(const std::string& why);

    void start_lane(NfsLane& lane);
    void lane_lost(NfsLane& lane);
    void lane_up(NfsLane& lane);
    static void on_facts(void* lane, NfsCall& call, const NfsReply& reply);
    void make_client();
    static void on_client(void* self, NfsCall& call, const NfsReply& reply);
    static void on_renewed(void* self, NfsCall& call, const NfsReply& reply);
    void say(const std::string& text) const {
        if (notice_) notice_(text);
    }
    std::string name() const;

    const RemotePlace& place_;
    const std::string address_;
    const std::uint32_t version_;
    const std::string directory_;
    const NoticeSink notice_;
    const NfsRequests requests_;
    Instant now_;

    // To the export.
    NfsLane helper_;
    Instant retry_at_ = Instant::never();
    Step step_ = Step::none;
    bool step_due_ = false;
    Step after_connect_ = Step::none;
    bool booted_ = false;  // it was ready once
    std::uint16_t mount_port_ = 0;
    std::uint16_t nfs_port_ = 0;
    int mount_error_ = 0;
    std::string mounting_;
    std::optional<std::string> failure_;
    std::string last_trouble_;

    std::vector<std::unique_ptr<NfsLane>> lanes_;
    std::size_t turn_ = 0;
    NfsHandle root_;
    std::string mounted_;  // the path of root_
    bool has_root_ = false;
    bool troubled_ = false;  // that was said
    std::uint32_t read_bytes_ = kNfsReadMost;
    std::uint32_t write_bytes_ = kNfsReadMost;

    Client client_state_ = Client::unknown;
    bool renewing_ = false;
    std::uint64_t client_ = 0;
    std::uint64_t boot_ = 0;
    std::uint32_t lease_s_ = 0;
    Instant renew_at_ = Instant::never();
    NfsCall client_call_;
    NfsCall renew_call_;
    std::uint64_t owners_ = 0;

    std::unordered_map<std::string, NfsHandle> directories_;
    std::uint64_t requests_made_ = 0;
    std::uint64_t reconnects_ = 0;
    std::uint32_t most_up_ = 0;
};

}  // namespace streamsim::storage
