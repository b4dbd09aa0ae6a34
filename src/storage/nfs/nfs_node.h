// One node of an NFS server, as one loop uses it: its connections, its root handle, and for version 4 the
// client id. Nothing blocks.
//
// Start. Version 3 asks the port mapper for the ports that the URL does not give, and the mount service for the
// longest part of the path that is an export and a directory; then the node makes all connections, and each
// asks for the server's limits. Version 4 has one port and one root. The node makes a lost connection again,
// after 50 ms at first and a second at most; the root handle stays valid until the server calls it stale.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "storage/nfs/nfs_requests.h"
#include "storage/nfs/nfs_transport.h"
#include "streamsim/remote_place.h"
#include "streamsim/storage.h"

namespace streamsim::storage {

class NfsNode;

/// One connection with its state.
struct NfsConnection {
    /// refused: the server did not tell its limits.
    enum class Stage : std::uint8_t { down, connecting, asking, refused, up };

    NfsConnection(NfsNode& its_node, const RemotePlace& place) : node(its_node), transport(place) {}

    bool is_up() const { return stage == Stage::up; }
    void drop() {
        transport.drop();
        stage = Stage::down;
    }

    NfsNode& node;
    NfsTransport transport;
    Stage stage = Stage::down;
    bool was_up = false;
    Instant since;                      // connecting, refused: when it began
    Instant retry_at;                   // down: when to connect again
    Instant ask_at = Instant::never();  // refused: when to ask for the limits again
    Duration pause;                     // before the next attempt
    NfsCall call;
};

class NfsNode {
public:
    /// The export of `directory` is mounted.
    NfsNode(const RemotePlace& place,
            std::string address,
            std::uint32_t version,
            std::string directory,
            NoticeSink notice);

    ~NfsNode() { drop_all(); }
    NfsNode(const NfsNode&) = delete;
    NfsNode& operator=(const NfsNode&) = delete;

    void notify(NoticeSink notice) { notice_ = std::move(notice); }
    const std::string& address() const { return address_; }
    std::uint32_t version() const { return version_; }

    void begin(Instant now);
    /// The `now` of the last call that had one.
    Instant now() const { return now_; }
    /// Handles the replies that have arrived on a connection.
    void serve(NfsConnection& connection, int events, Instant now);
    /// Reconnects when a retry is due, and gives up connections that do not answer. Call every 50 ms.
    void tick(Instant now);
    /// Sends the requests that wait. Call at the end of a turn.
    void flush(Instant now);

    /// Calls `use` with each connection, whether it is up or not.
    template <typename Use>
    void each_connection(Use use) {
        use(helper_);
        for (auto& connection : connections_) use(*connection);
    }

    /// Drops all connections; every call is answered as lost.
    void drop_all();

    /// At least one connection (all_up: every one) is up, and requests can be made.
    bool ready() const;
    bool all_up() const;
    /// The reason why the node never became ready; none: it did, or it still may.
    const std::optional<std::string>& failure() const { return failure_; }
    /// The last error, or the service that does not answer, for messages.
    std::string problem() const;

    /// Requests on the connection with the fewest outstanding calls. REQUIRES: ready().
    NfsRequests requests(Instant now);
    const NfsHandle& root() const { return root_; }
    /// The path of root(), and the ports of the services. REQUIRES: ready().
    const std::string& mounted() const { return mounted_; }
    std::uint16_t nfs_port() const { return nfs_port_; }
    std::uint16_t mount_port() const { return mount_port_; }
    /// A path of the server relative to root(); none: the path is not below root().
    std::optional<std::string_view> below_root(std::string_view path) const;
    std::uint32_t read_bytes() const { return read_bytes_; }
    std::uint32_t write_bytes() const { return write_bytes_; }
    std::uint64_t client() const { return client_; }
    std::uint64_t new_owner() { return ++owners_; }

    /// The server has forgotten this client, or the root handle: ready() is false until both are known again.
    void client_expired(std::uint64_t client);
    void root_stale(Instant now);

    /// Handles of directories, by path.
    std::unordered_map<std::string, NfsHandle>& directories() { return directories_; }

    // Statistics.
    std::vector<std::uint32_t> seats;
    std::uint64_t received_bytes = 0;
    ServerTraffic traffic() const;
    /// Calls without a reply.
    std::uint32_t outstanding() const;

private:
    enum class Step : std::uint8_t { none, map_mount, map_nfs, connect_mount, mount, exports, join, failed };
    enum class Client : std::uint8_t { unknown, asking, confirmed };

    std::string service() const;     // that this step asks, as messages name it
    std::string unanswered() const;  // names the service that does not answer
    void enter(Step step) {
        step_ = step;
        step_due_ = true;
    }
    void advance();
    void take_step();
    void connect_helper(std::uint16_t port, Step then);
    void start_helper();
    /// Connects anew where packets were lost, and fails where a service does not answer.
    void check_helper();
    /// How long the port mapper may be silent, and how long a service of version 3 may be out of reach.
    Duration service_timeout() const;
    void ask_helper();
    static void on_helper(void* self, NfsCall& call, const NfsReply& reply);
    void on_port(const NfsReply& reply);
    void on_mount(const NfsReply& reply);
    void on_exports(const NfsReply& reply);
    void mount_above(NfsConnection& asked);
    void fail(const std::string& why);

    void start_connection(NfsConnection& connection);
    void ask_limits(NfsConnection& connection);
    void connection_lost(NfsConnection& connection);
    void told_later(NfsConnection& connection);
    void connection_up(NfsConnection& connection);
    bool has_told(NfsConnection& connection, const NfsReply& reply);
    static void on_root_kind(void* connection, NfsCall& call, const NfsReply& reply);
    static void on_limits(void* connection, NfsCall& call, const NfsReply& reply);
    void ask_root(Instant now);
    static void on_root(void* self, NfsCall& call, const NfsReply& reply);
    void make_client();
    static void on_client(void* self, NfsCall& call, const NfsReply& reply);
    void renew_later();
    static void on_renewed(void* self, NfsCall& call, const NfsReply& reply);
    void say(const std::string& text) const {
        if (notice_) notice_(text);
    }
    std::string name() const;

    const RemotePlace& place_;
    const std::string address_;
    const std::uint32_t version_;
    const std::string directory_;
    NoticeSink notice_;
    Instant now_;

    // Finding the export.
    NfsConnection helper_;
    Instant retry_at_ = Instant::never();
    Step step_ = Step::none;
    bool step_due_ = false;
    Step after_connect_ = Step::none;
    std::uint16_t helper_port_ = 0;
    Instant helper_until_;  // connected by then
    bool booted_ = false;   // all connections were up once, and version 4 had its client
    std::uint16_t mount_port_ = 0;
    std::uint16_t nfs_port_ = 0;
    int mount_error_ = 0;
    std::string longest_;  // path to mount: directory_, or a part of it where that is a file
    std::string mounting_;
    std::optional<std::string> failure_;
    std::string last_problem_;

    std::vector<std::unique_ptr<NfsConnection>> connections_;
    std::size_t turn_ = 0;
    NfsHandle root_;
    std::string mounted_;  // the path of root_
    bool has_root_ = false;
    bool notified_ = false;  // the user was told that a connection was lost
    std::uint32_t read_bytes_ = kNfsTransferBytesMax;
    std::uint32_t write_bytes_ = kNfsTransferBytesMax;

    Client client_state_ = Client::unknown;
    bool renewing_ = false;
    std::uint64_t client_ = 0;
    std::uint64_t boot_ = 0;
    std::uint32_t lease_s_ = 0;
    Instant ask_client_at_;  // not before
    Instant ask_root_at_ = Instant::never();
    bool root_asked_ = false;
    Instant renew_at_ = Instant::never();
    NfsCall client_call_;
    NfsCall root_call_;
    NfsCall renew_call_;
    std::uint64_t owners_ = 0;

    std::unordered_map<std::string, NfsHandle> directories_;
    std::uint64_t reconnects_ = 0;
    std::uint32_t connections_max_ = 0;
};

}  // namespace streamsim::storage
