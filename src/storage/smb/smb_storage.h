// The SMB backend, for its two files: smb_storage.cc has the operations and explains how the backend works,
// smb_connections.cc has the processes and their answers.
#pragma once

#include <uv.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/containers.h"
#include "storage/operation_intake.h"
#include "storage/remote/remote_options.h"
#include "storage/smb/smb_process.h"
#include "storage/smb/smb_sessions.h"
#include "streamsim/event_loop.h"
#include "streamsim/storage.h"

namespace streamsim::storage::smb {

constexpr std::uint64_t kSpreadBytes = std::uint64_t{64} << 20;
constexpr std::size_t kWaitingClosesMax = 16;  // beyond, closes no longer wait for an idle process
constexpr Duration kBackoff = milliseconds(50);
constexpr Duration kBackoffMax = seconds(1);
constexpr Duration kCancelGrace = milliseconds(300);
constexpr Duration kEndingGrace = milliseconds(300);
constexpr Duration kEndingPollPause = milliseconds(1);

struct Node;

/// The in-flight slot of a request that a process has.
struct Job {
    bool busy = false;
    SmbCall call = SmbCall::read;  // under way; a read may have to open its file in this process first
    bool waits = false;            // the other job is opening the same file
    Op* op = nullptr;              // null: a close
    bool reads = false;            // op is a ReadOp, not an OpenOp
    std::uint32_t slot = 0;
    std::uint64_t asked = 0;
    std::uint64_t order = 0;  // the number of the request
    bool cancelled = false;
};

struct Connection {
    enum class State : std::uint8_t { down, connecting, up, ending };

    Node* node = nullptr;
    std::size_t index = 0;  // in its node
    State state = State::down;
    Instant until;  // down: when to connect again; connecting: the timeout; ending: when to check again
    Instant ending_since;
    Duration backoff = kBackoff;
    std::unique_ptr<SmbProcess> process;
    uv_poll_t* poll = nullptr;
    bool readable = false;
    bool was_up = false;
    bool was_idle = false;  // the process was taken over (smb_sessions.h)
    std::array<Job, kSmbDepth> jobs;
    std::uint32_t busy = 0;
    std::vector<std::uint32_t> free_slots;
    OpQueue reads;                             // for files that are open in this process
    std::vector<std::int32_t> closes;          // files whose close has not been requested yet
    std::uint64_t retransmitted_segments = 0;  // by this process
};

struct Node {
    std::string address;
    std::vector<Connection> connections;
    std::size_t next = 0;  // the connection that takes work first
    OpQueue opens;
    OpQueue reads;  // for any connection
    std::uint32_t up = 0;
    ServerTraffic traffic;
};

struct File {
    bool open = false;
    Node* node = nullptr;
    Connection* home = nullptr;  // null: no process has the file open
    std::string path;
    std::uint64_t read_bytes = 0;
    std::vector<std::int32_t> at;  // by connection: the file's number in that process; -1: not open
};

class SmbStorage final : public PolledIntake {
public:
    SmbStorage(EventLoop& loop,
               uv_loop_t* uv,
               const RemotePlace& place,
               const std::string& directory,
               const RemoteOptions& options);
    ~SmbStorage() override;

    Result<void> connect();

    void close(FileId file) override;
    void cancel(Op& op) override;
    /// Never writes: libsmbclient cannot flush a file, and renames over another one in two steps.
    StorageCapabilities capabilities() const override { return {"smb", true, 1, true}; }
    std::vector<ServerTraffic> traffic() const override;

private:
    Node& node_of(std::uint32_t seat) {
        return nodes_[node_by_seat_[(seat - first_seat_) / seat_step_ % node_by_seat_.size()]];
    }
    /// The time in which this process could not run does not count.
    Instant expires(const Op& op) const {
        return op.submitted_at + place_.timeout + loop().stalled_within(op.submitted_at, Instant::never());
    }
    void begin(Op& op) override;
    void take_completions() override;
    void after_delivery() override { arm(); }
    bool close_all() override;
    void begin_open(OpenOp& op);
    void begin_read(ReadOp& op);
    void complete(Op& op, int error, Instant at);

    void pump(Node& node);
    bool give_work(Connection& connection);
    Job& take_job(Connection& connection);
    void free_job(Connection& connection, Job& job);
    void start(Connection& connection, Job& job);
    void ask_close(Connection& connection);
    void ask_open(Connection& connection, Job& job, const char* path);
    void ask_read(Connection& connection, Job& job);
    void ask(Connection& connection, Job& job, SmbRequest request, std::string_view text = {});

    Result<void> start_process(Connection& connection);
    void take_session(Connection& connection, SmbSession session);
    void connected(Connection& connection, const SmbAnswer& answer);
    void drop_process(Connection& connection);
    void lose(Connection& connection, bool crashed = false);
    void process_gone(Connection& connection);
    void await_end(Connection& connection);
    void watch(Connection& connection);
    void forget_files(Connection& connection);

    void receive(Connection& connection);
    void take(Connection& connection, const SmbAnswer& answer);
    void take_open(Connection& connection, Job& job, const SmbAnswer& answer);
    void take_read(Connection& connection, Job& job, const SmbAnswer& answer);
    FileId add_file(Connection& connection, const OpenOp& op, std::int32_t at);

    void arm();
    void tick();
    void expire(OpQueue& line, Instant now);
    void check(Connection& connection, Instant now);

    uv_loop_t* const uv_;
    const RemotePlace place_;
    const SmbLogin login_;
    const std::shared_ptr<SmbSessions> sessions_;
    NoticeSink notice_;
    std::vector<Node> nodes_;
    std::uint32_t first_seat_ = 0;
    std::uint32_t seat_step_ = 1;
    std::vector<std::size_t> node_by_seat_;
    std::uint64_t piece_bytes_ = kSmbSlotBytes;  // the largest read of one request
    FileTable<File> files_;
    std::uint64_t order_ = 0;
    TimerId timer_ = 0;
    Instant timer_at_ = Instant::never();
    Instant give_up_at_ = Instant::never();  // never: not only cancelled operations are outstanding
    bool notified_lost_ = false;
};

}  // namespace streamsim::storage::smb
