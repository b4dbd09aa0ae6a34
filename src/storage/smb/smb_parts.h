// The parts of the SMB backend, for its two files: smb_storage.cc has the operations and says how it all works,
// smb_connections.cc has the processes and what they answer. Nobody else includes this.
#pragma once

#include <uv.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/completion_poll_times.h"
#include "storage/op_list.h"
#include "storage/remote/remote_options.h"
#include "storage/smb/smb_process.h"
#include "streamsim/event_loop.h"
#include "streamsim/storage.h"

namespace streamsim::storage::smb {

constexpr std::uint32_t kDepth = 2;           // requests that a process has at a time
constexpr std::uint32_t kSlots = kDepth + 1;  // one is copied from meanwhile
constexpr std::uint64_t kSpreadBytes = std::uint64_t{64} << 20;
constexpr std::size_t kCloses = 16;  // that wait for a process with nothing else to do
constexpr Duration kBackoff = milliseconds(50);
constexpr Duration kBackoffMost = seconds(1);
constexpr Duration kGrace = milliseconds(300);
constexpr Duration kEndingLook = milliseconds(1);
constexpr std::uint32_t kConnectId = kDepth;

struct Node;

/// A request that a process has.
struct Job {
    bool busy = false;
    SmbCall call = SmbCall::read;  // under way; a read may have to open its file here first
    bool waits = false;            // for the other job to open the file that it reads, too
    Op* op = nullptr;              // null: a close
    bool reads = false;            // op is a ReadOp, not an OpenOp
    std::uint32_t slot = 0;
    std::uint64_t asked = 0;
    std::uint64_t order = 0;                // of being given
    Instant give_up_at = Instant::never();  // it was cancelled
};

struct Connection {
    enum class State : std::uint8_t { down, connecting, up, ending };

    Node* node = nullptr;
    std::size_t index = 0;  // in its node
    State state = State::down;
    Instant until;  // down: when to try again; connecting: when to give up; ending: when to look again
    Instant ending_since;
    Duration backoff = kBackoff;
    std::unique_ptr<SmbProcess> process;
    uv_poll_t* poll = nullptr;
    bool readable = false;
    bool was_up = false;
    std::array<Job, kDepth> jobs;
    std::uint32_t busy = 0;
    std::vector<std::uint32_t> free_slots;
    OpList reads;                              // of files that are open here
    std::vector<std::int32_t> closes;          // that have not been asked for yet
    std::uint64_t retransmitted_segments = 0;  // of this process
};

struct Node {
    std::string address;
    std::vector<Connection> connections;
    std::size_t next = 0;  // the one that takes work first, of equals
    OpList opens;
    OpList reads;  // for any of them
    std::uint32_t up = 0;
    ServerTraffic traffic;
};

struct File {
    bool open = false;
    Node* node = nullptr;
    Connection* home = nullptr;  // null: none has it open
    std::string path;
    std::uint64_t read_bytes = 0;
    std::vector<std::int32_t> at;  // by connection: its number there; -1: not open
};

class SmbStorage final : public Storage, public Reaper {
public:
    SmbStorage(EventLoop& loop,
               uv_loop_t* uv,
               const RemotePlace& place,
               const std::string& directory,
               const RemoteOptions& options);
    ~SmbStorage() override;

    Result<void> connect();

    void open(OpenOp& op) override;
    void read(ReadOp& op) override;
    void hint(FileId, std::uint64_t, std::uint64_t) override {}
    void close(FileId file) override;
    void cancel(Op& op) override;
    /// It does not write: libsmbclient has no way to flush a file, and renames over another one in two steps.
    StorageCapabilities capabilities() const override { return {"smb", true, 1, true}; }
    std::vector<ServerTraffic> traffic() const override;
    void use_memory(std::span<std::byte>) override {}
    void shutdown(Callback done) override;
    void reap() override;

private:
    Node& node_of(std::uint32_t seat) {
        return nodes_[node_by_seat_[(seat - first_seat_) % node_by_seat_.size()]];
    }
    Instant expires(const Op& op) const { return op.submitted_at + place_.timeout; }
    void accept(Op& op);
    void settle_later(Op& op, int error);
    void deliver_settled();
    void complete(Op& op, int error, Instant at);
    void deliver(OpList ops);

    void pump(Node& node);
    bool give_work(Connection& connection);
    Job& take_job(Connection& connection);
    void free_job(Connection& connection, Job& job);
    void begin(Connection& connection, Job& job);
    void ask_close(Connection& connection);
    void ask_open(Connection& connection, Job& job, const char* path);
    void ask_read(Connection& connection, Job& job);
    void ask(Connection& connection, Job& job, SmbRequest request, std::string_view text = {});

    Result<void> start_process(Connection& connection);
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
    void expire(OpList& line, Instant now);
    void look_at(Connection& connection, Instant now);
    void advance_shutdown();

    EventLoop& loop_;
    uv_loop_t* const uv_;
    const RemotePlace place_;
    const SmbLogin login_;
    NoticeSink notice_;
    std::vector<Node> nodes_;
    std::uint32_t first_seat_ = 0;
    std::vector<std::size_t> node_by_seat_;
    std::uint64_t piece_bytes_ = kSmbSlotBytes;  // of one request
    std::vector<File> files_;                    // by FileId
    std::vector<FileId> free_files_;
    std::size_t outstanding_ = 0;  // operations whose callback has not run
    std::uint64_t order_ = 0;
    CompletionPollTimes poll_times_;
    OpList settled_;  // without a server; deferred
    OpList done_;     // to be delivered by reap() or tick()
    TimerId timer_ = 0;
    Instant timer_at_ = Instant::never();
    bool said_lost_ = false;
    bool shutting_ = false;
    Callback shutdown_;
};

}  // namespace streamsim::storage::smb
