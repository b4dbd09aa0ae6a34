// How the SMB backend works
// =========================
//
// libsmbclient blocks, so each connection is a process of its own (smb_wire.h, smb_process.h) that does one
// thing after the other; kDepth requests are given to it at a time, so that it never waits for this loop. There
// are RemotePlace::connections of them for each node in use. What a process reads it puts into a slot of memory
// that both have; from there it is copied into the operation's buffer, after the next request is on its way.
//
// Which process. Operations wait in line; the process with the least to do takes the oldest. The reads of a
// file go to the process that opened it, so that a frame in a file of its own costs one open; a file of which
// more than kSpreadBytes have been read is read by all, each of which opens it once.
//
// Stamps. The process stamps the answer right after libsmbclient returned, by the clock of this loop
// (CLOCK_MONOTONIC). It can only be late when the process could not run; then this loop could not either, and
// not_before is set as in threads_storage.cc.
//
// Failures. A connection that is lost, a process that ends, and one that has an operation for longer than
// RemotePlace::timeout come to the same: the process is ended and another one started, after a wait that
// doubles from kBackoff to kBackoffMost. What was with it goes back into the line, first of all, and its
// files are opened again when they are read again. An operation older than the timeout fails with ETIMEDOUT,
// wherever it is: nothing waits for ever. A process that crashes fails the operation that it was at with EIO.
//
// Cancelling takes back what waits in line; a process that still has a cancelled operation after kGrace is
// ended.
#include "storage/smb_storage.h"

#include <fmt/format.h>
#include <uv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/check.h"
#include "storage/looks.h"
#include "storage/op_list.h"
#include "storage/smb_process.h"

namespace streamsim {
namespace {

constexpr std::uint32_t kDepth = 2;           // requests that a process has at a time
constexpr std::uint32_t kSlots = kDepth + 1;  // one is copied from meanwhile
constexpr std::uint64_t kSpreadBytes = std::uint64_t{64} << 20;
constexpr std::size_t kCloses = 16;  // that wait for a process with nothing else to do
constexpr Duration kBackoff = milliseconds(50);
constexpr Duration kBackoffMost = seconds(1);
constexpr Duration kGrace = milliseconds(300);
constexpr std::uint32_t kConnectId = kDepth;

struct Node;

/// A request that a process has.
struct Job {
    bool busy = false;
    SmbCall call = SmbCall::read;  // under way; a read may have to open its file here first
    Op* op = nullptr;              // null: a close
    bool reads = false;            // op is a ReadOp, not an OpenOp
    std::uint32_t slot = 0;
    std::uint64_t asked = 0;
    std::uint64_t order = 0;                // of being given
    Instant give_up_at = Instant::never();  // it was cancelled
};

struct Connection {
    enum class State : std::uint8_t { down, connecting, up };

    Node* node = nullptr;
    std::size_t index = 0;  // in its node
    State state = State::down;
    Instant until;  // down: when to try again; connecting: when to give up
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

/// The oldest first.
void insert_by_age(OpList& line, Op& op) {
    OpList rest = line.take();
    while (!rest.empty() && rest.front().submitted_at <= op.submitted_at) line.push(rest.pop());
    line.push(op);
    while (!rest.empty()) line.push(rest.pop());
}

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
    StorageCapabilities capabilities() const override { return {"smb", true, 1, true}; }
    std::vector<ServerTraffic> traffic() const override;
    void use_memory(std::span<std::byte>) override {}
    void shutdown(Callback done) override;
    void reap() override;

private:
    Node& node_of(std::uint32_t seat) { return nodes_[node_by_seat_[seat % node_by_seat_.size()]]; }
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
    std::vector<std::size_t> node_by_seat_;
    std::uint64_t piece_bytes_ = kSmbSlotBytes;  // of one request
    std::vector<File> files_;                    // by FileId
    std::vector<FileId> free_files_;
    std::size_t outstanding_ = 0;  // operations whose callback has not run
    std::uint64_t order_ = 0;
    Looks looks_;
    OpList settled_;  // without a server; deferred
    OpList done_;     // to be delivered by reap() or tick()
    TimerId timer_ = 0;
    Instant timer_at_ = Instant::never();
    bool said_lost_ = false;
    bool shutting_ = false;
    Callback shutdown_;
};

SmbStorage::SmbStorage(EventLoop& loop,
                       uv_loop_t* uv,
                       const RemotePlace& place,
                       const std::string& directory,
                       const RemoteOptions& options)
    : loop_(loop),
      uv_(uv),
      place_(place),
      login_(place, directory, options.credentials),
      notice_(options.notice),
      looks_(loop) {
    std::vector<std::string> addresses = place.addresses;
    if (addresses.empty()) addresses.push_back(place.host);
    const std::size_t seats = std::max<std::size_t>(options.seats, 1);
    for (std::size_t seat = 0; seat < seats; ++seat) {
        const std::string& address = addresses[seat % addresses.size()];
        auto node = std::find_if(nodes_.begin(), nodes_.end(),
                                 [&](const Node& each) { return each.address == address; });
        if (node == nodes_.end()) {
            node = nodes_.insert(nodes_.end(), Node{});
            node->address = node->traffic.address = address;
        }
        node->traffic.seats.push_back(static_cast<std::uint32_t>(seat));
        node_by_seat_.push_back(static_cast<std::size_t>(node - nodes_.begin()));
    }
    if (place.read_bytes > 0) piece_bytes_ = std::min<std::uint64_t>(place.read_bytes, kSmbSlotBytes);
    for (Node& node : nodes_) {
        node.connections.resize(std::max(place.connections, 1u));
        for (std::size_t i = 0; i < node.connections.size(); ++i) {
            node.connections[i].node = &node;
            node.connections[i].index = i;
        }
    }
    loop_.add_reaper(this);
}

SmbStorage::~SmbStorage() {
    STREAMSIM_CHECK(outstanding_ == 0, "shutdown() comes before destruction");
    for (Node& node : nodes_) {
        for (Connection& connection : node.connections) drop_process(connection);
    }
    loop_.remove_reaper(this);
}

/// Before the loop runs: all at once, and then each is waited for.
Result<void> SmbStorage::connect() {
    const Instant deadline = loop_.now() + place_.timeout;
    for (Node& node : nodes_) {
        for (Connection& connection : node.connections) {
            if (auto started = start_process(connection); !started) return started;
        }
    }
    for (Node& node : nodes_) {
        for (Connection& connection : node.connections) {
            const auto answer = await_connected(*connection.process, login_, node.address, deadline.ns);
            if (!answer) return answer.error();
            connected(connection, *answer);
        }
    }
    return {};
}

// --- operations come, and go

void SmbStorage::accept(Op& op) {
    STREAMSIM_CHECK(!shutting_, "no operation comes after shutdown()");
    op.error = 0;
    op.submitted_at = loop_.now();
    op.backend = nullptr;
    ++outstanding_;
    loop_.hold();
}

void SmbStorage::open(OpenOp& op) {
    accept(op);
    op.file = kNoFile;
    if (!SmbProcess::fits({op.path})) return settle_later(op, ENAMETOOLONG);
    Node& node = node_of(op.tag.seat);
    node.opens.push(op);
    pump(node);
    arm();
}

void SmbStorage::read(ReadOp& op) {
    accept(op);
    op.bytes = 0;
    const auto index = static_cast<std::size_t>(op.file);
    if (index >= files_.size() || !files_[index].open) return settle_later(op, EBADF);
    const File& file = files_[index];
    const bool spread = file.home == nullptr || file.read_bytes > kSpreadBytes;
    (spread ? file.node->reads : file.home->reads).push(op);
    pump(*file.node);
    arm();
}

void SmbStorage::close(FileId id) {
    const auto index = static_cast<std::size_t>(id);
    STREAMSIM_CHECK(index < files_.size() && files_[index].open, "a file that is closed was open");
    File& file = files_[index];
    for (Connection& connection : file.node->connections) {
        const std::int32_t there = std::exchange(file.at[connection.index], -1);
        if (there >= 0) connection.closes.push_back(there);
    }
    file.open = false;
    file.home = nullptr;
    free_files_.push_back(id);
    pump(*file.node);
}

void SmbStorage::cancel(Op& op) {
    if (op.backend != nullptr) {
        auto& job = *static_cast<Job*>(op.backend);
        if (job.give_up_at == Instant::never()) job.give_up_at = loop_.now() + kGrace;
        return arm();
    }
    for (Node& node : nodes_) {
        bool found = node.opens.remove(op) || node.reads.remove(op);
        for (Connection& connection : node.connections) found = found || connection.reads.remove(op);
        if (found) return settle_later(op, ECANCELED);
    }
}

/// For the callback outside the call.
void SmbStorage::settle_later(Op& op, int error) {
    op.error = error;
    op.completed_at = op.not_before = loop_.now();
    if (settled_.empty()) loop_.defer(Callback::of<&SmbStorage::deliver_settled>(this));
    settled_.push(op);
}

void SmbStorage::deliver_settled() {
    deliver(settled_.take());
}

void SmbStorage::complete(Op& op, int error, Instant at) {
    op.error = error;
    op.backend = nullptr;
    op.completed_at = std::clamp(at, op.submitted_at, std::max(op.submitted_at, loop_.now()));
    op.not_before = op.completed_at;
    const Instant look = std::clamp(looks_.last(), op.submitted_at, op.completed_at);
    if (loop_.stalled_within(look, op.completed_at) > Duration{}) op.not_before = look;
    done_.push(op);
}

void SmbStorage::deliver(OpList ops) {
    while (!ops.empty()) {
        Op& op = ops.pop();
        --outstanding_;
        loop_.release();
        op.done();  // the operation may be gone or submitted again afterwards
    }
    arm();
    if (shutting_) advance_shutdown();
}

// --- operations go to processes

/// Everybody first gets one, then a second.
void SmbStorage::pump(Node& node) {
    const std::size_t count = node.connections.size();
    for (std::uint32_t depth = 0; depth < kDepth; ++depth) {
        for (std::size_t i = 0; i < count; ++i) {
            Connection& connection = node.connections[(node.next + i) % count];
            if (connection.state != Connection::State::up || connection.busy != depth) continue;
            if (give_work(connection) && i == 0) node.next = (node.next + 1) % count;
        }
    }
}

/// False: there is nothing for it.
bool SmbStorage::give_work(Connection& connection) {
    OpList* line = nullptr;
    for (OpList* each : {&connection.reads, &connection.node->reads, &connection.node->opens}) {
        if (each->empty()) continue;
        if (line == nullptr || each->front().submitted_at < line->front().submitted_at) line = each;
    }
    const bool idle = line == nullptr && connection.busy == 0;
    if (!connection.closes.empty() && (idle || connection.closes.size() >= kCloses)) {
        ask_close(connection);
        return true;
    }
    if (line == nullptr) return false;
    Job& job = take_job(connection);
    job.op = &line->pop();
    job.op->backend = &job;
    job.reads = line != &connection.node->opens;
    begin(connection, job);
    return true;
}

Job& SmbStorage::take_job(Connection& connection) {
    Job& job = connection.jobs[connection.jobs[0].busy ? 1 : 0];
    static_assert(kDepth == 2);
    STREAMSIM_CHECK(!job.busy && !connection.free_slots.empty(), "a process with room has a job and a slot");
    job = {};
    job.busy = true;
    job.order = ++order_;
    job.slot = connection.free_slots.back();
    connection.free_slots.pop_back();
    ++connection.busy;
    return job;
}

void SmbStorage::free_job(Connection& connection, Job& job) {
    connection.free_slots.push_back(job.slot);
    if (job.op != nullptr) job.op->backend = nullptr;
    job = {};
    --connection.busy;
}

void SmbStorage::begin(Connection& connection, Job& job) {
    if (!job.reads) return ask_open(connection, job, static_cast<OpenOp&>(*job.op).path);
    const File& file = files_[static_cast<std::size_t>(static_cast<ReadOp&>(*job.op).file)];
    if (file.at[connection.index] >= 0) return ask_read(connection, job);
    ask_open(connection, job, file.path.c_str());
}

void SmbStorage::ask_open(Connection& connection, Job& job, const char* path) {
    SmbRequest request;
    request.call = SmbCall::open;
    ask(connection, job, request, path);
}

/// The rest, or as much of it as there is room for.
void SmbStorage::ask_read(Connection& connection, Job& job) {
    const auto& op = static_cast<ReadOp&>(*job.op);
    job.asked = std::min<std::uint64_t>(op.buffer.size() - op.bytes, piece_bytes_);
    SmbRequest request;
    request.call = SmbCall::read;
    request.file = files_[static_cast<std::size_t>(op.file)].at[connection.index];
    request.slot = job.slot;
    request.offset = op.offset + op.bytes;
    request.bytes = job.asked;
    ask(connection, job, request);
}

void SmbStorage::ask_close(Connection& connection) {
    SmbRequest request;
    request.call = SmbCall::close;
    request.file = connection.closes.back();
    connection.closes.pop_back();
    ask(connection, take_job(connection), request);
}

/// A process that cannot be told anything is gone, which its socket says soon.
void SmbStorage::ask(Connection& connection, Job& job, SmbRequest request, std::string_view text) {
    job.call = request.call;
    request.id = static_cast<std::uint32_t>(&job - connection.jobs.data());
    (void)connection.process->send(request, {text});
}

// --- answers

void SmbStorage::reap() {
    const Instant look = loop_.now();
    for (Node& node : nodes_) {
        bool any = false;
        for (Connection& connection : node.connections) {
            if (!std::exchange(connection.readable, false)) continue;
            receive(connection);
            any = true;
        }
        if (any) pump(node);
    }
    looks_.looked(look);
    if (!done_.empty()) deliver(done_.take());
}

void SmbStorage::receive(Connection& connection) {
    SmbAnswer answer;
    while (connection.process != nullptr) {
        const auto received = connection.process->receive(answer);
        if (received == SmbProcess::Received::nothing) return;
        if (received == SmbProcess::Received::gone) return lose(connection, connection.process->crashed());
        if (connection.state == Connection::State::up) {
            take(connection, answer);
        } else if (answer.error == 0) {
            connected(connection, answer);
        } else {
            lose(connection);
        }
    }
}

void SmbStorage::take(Connection& connection, const SmbAnswer& answer) {
    ServerTraffic& traffic = connection.node->traffic;
    traffic.requests += answer.requests;
    connection.retransmitted_segments = answer.retransmitted_segments;
    if (answer.rtt_ns >= 0) traffic.rtt_ns = answer.rtt_ns;
    const bool expected = answer.id < kDepth && connection.jobs[answer.id].busy;
    if (!expected || answer.lost) return lose(connection);
    Job& job = connection.jobs[answer.id];
    if (job.call == SmbCall::open) {
        take_open(connection, job, answer);
    } else if (job.call == SmbCall::read) {
        take_read(connection, job, answer);
    } else {
        free_job(connection, job);
    }
}

void SmbStorage::take_open(Connection& connection, Job& job, const SmbAnswer& answer) {
    if (!job.reads) {
        auto& op = static_cast<OpenOp&>(*job.op);
        if (answer.error == 0) op.file = add_file(connection, op, answer.file);
    } else if (answer.error == 0) {
        File& file = files_[static_cast<std::size_t>(static_cast<ReadOp&>(*job.op).file)];
        file.at[connection.index] = answer.file;
        if (file.home == nullptr) file.home = &connection;
        return ask_read(connection, job);
    }
    complete(*job.op, answer.error, {answer.completed_ns});
    free_job(connection, job);
}

FileId SmbStorage::add_file(Connection& connection, const OpenOp& op, std::int32_t at) {
    if (free_files_.empty()) {
        free_files_.push_back(static_cast<FileId>(files_.size()));
        files_.emplace_back();
    }
    const FileId id = free_files_.back();
    free_files_.pop_back();
    File& file = files_[static_cast<std::size_t>(id)];
    file.open = true;
    file.node = connection.node;
    file.home = &connection;
    file.path = op.path;
    file.read_bytes = 0;
    file.at.assign(connection.node->connections.size(), -1);
    file.at[connection.index] = at;
    return id;
}

void SmbStorage::take_read(Connection& connection, Job& job, const SmbAnswer& answer) {
    auto& op = static_cast<ReadOp&>(*job.op);
    if (answer.error != 0 || answer.bytes > job.asked) {
        complete(op, answer.error != 0 ? answer.error : EIO, {answer.completed_ns});
        return free_job(connection, job);
    }
    connection.node->traffic.received_bytes += answer.bytes;
    files_[static_cast<std::size_t>(op.file)].read_bytes += answer.bytes;
    const std::span<std::byte> into = op.buffer.subspan(op.bytes, answer.bytes);
    const std::uint32_t slot = job.slot;
    op.bytes += answer.bytes;
    if (answer.bytes == job.asked && op.bytes < op.buffer.size() && job.give_up_at == Instant::never()) {
        job.slot = connection.free_slots.back();
        connection.free_slots.pop_back();
        ask_read(connection, job);
    } else {
        const bool cut = answer.bytes == job.asked && op.bytes < op.buffer.size();  // it was cancelled
        complete(op, cut ? ECANCELED : 0, {answer.completed_ns});
        free_job(connection, job);
        // The slot that is copied from is the last to be used again: kDepth jobs have others.
        std::swap(connection.free_slots.front(), connection.free_slots.back());
        std::erase(connection.free_slots, slot);
        give_work(connection);
    }
    std::memcpy(into.data(), connection.process->slot(slot).data(), into.size());
    connection.free_slots.push_back(slot);
}

// --- connections come, and go

Result<void> SmbStorage::start_process(Connection& connection) {
    auto process = SmbProcess::start(kSlots);
    if (!process) return process.error();
    connection.process = std::move(*process);
    connection.free_slots.clear();
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) connection.free_slots.push_back(slot);
    connection.state = Connection::State::connecting;
    connection.until = loop_.now() + place_.timeout;
    watch(connection);
    (void)login_.ask(*connection.process, connection.node->address, kConnectId);
    return {};
}

void SmbStorage::watch(Connection& connection) {
    connection.poll = new uv_poll_t;  // until libuv has closed it
    connection.poll->data = &connection;
    const int made = uv_poll_init(uv_, connection.poll, connection.process->socket());
    STREAMSIM_CHECK(made == 0, "libuv polls a socket");
    uv_poll_start(connection.poll, UV_READABLE | UV_DISCONNECT, [](uv_poll_t* handle, int, int) {
        static_cast<Connection*>(handle->data)->readable = true;  // reap() comes after all of them
    });
}

void SmbStorage::connected(Connection& connection, const SmbAnswer& answer) {
    Node& node = *connection.node;
    ServerTraffic& traffic = node.traffic;
    connection.state = Connection::State::up;
    connection.backoff = kBackoff;
    ++node.up;
    traffic.connections = std::max(traffic.connections, node.up);
    traffic.reconnects += connection.was_up ? 1 : 0;
    traffic.requests += answer.requests;
    traffic.read_bytes = std::min<std::uint64_t>(piece_bytes_, answer.read_bytes);
    const std::uint32_t dialect = answer.dialect;
    traffic.protocol = fmt::format("SMB {}.{}", dialect >> 8, dialect >> 4 & 15);
    if ((dialect & 15) != 0) traffic.protocol += fmt::format(".{}", dialect & 15);
    if (answer.rtt_ns >= 0) traffic.rtt_ns = answer.rtt_ns;
    connection.was_up = true;
}

void SmbStorage::drop_process(Connection& connection) {
    if (connection.process == nullptr) return;
    uv_poll_stop(connection.poll);
    uv_close(reinterpret_cast<uv_handle_t*>(std::exchange(connection.poll, nullptr)),
             [](uv_handle_t* handle) { delete reinterpret_cast<uv_poll_t*>(handle); });
    connection.process.reset();
    connection.readable = false;
    if (connection.state == Connection::State::up) --connection.node->up;
    connection.state = Connection::State::down;
    connection.node->traffic.retransmitted_segments += std::exchange(connection.retransmitted_segments, 0);
}

/// Ends the process; what was with it goes back into line, or fails.
void SmbStorage::lose(Connection& connection, bool crashed) {
    const Instant now = loop_.now();
    Node& node = *connection.node;
    if (connection.state == Connection::State::up && !std::exchange(said_lost_, true) && notice_) {
        notice_(fmt::format("{}: a connection to {} was lost; connecting again", login_.share(), node.address));
    }
    drop_process(connection);
    connection.until = now + connection.backoff;
    connection.backoff = std::min(connection.backoff + connection.backoff, kBackoffMost);
    if (connection.jobs[0].order > connection.jobs[1].order) std::swap(connection.jobs[0], connection.jobs[1]);
    for (Job& job : connection.jobs) {
        const Job ended = std::exchange(job, {});
        if (!ended.busy) continue;
        const bool was_at_it = std::exchange(crashed, false);  // they are done in order
        if (ended.op == nullptr) continue;
        Op& op = *ended.op;
        op.backend = nullptr;
        if (ended.give_up_at != Instant::never()) {
            complete(op, ECANCELED, now);
        } else if (expires(op) <= now) {
            complete(op, ETIMEDOUT, now);
        } else if (was_at_it) {
            complete(op, EIO, now);
        } else if (ended.reads) {
            static_cast<ReadOp&>(op).bytes = 0;
            insert_by_age(node.reads, op);
        } else {
            insert_by_age(node.opens, op);
        }
    }
    connection.busy = 0;
    while (!connection.reads.empty()) insert_by_age(node.reads, connection.reads.pop());
    forget_files(connection);
}

void SmbStorage::forget_files(Connection& connection) {
    connection.closes.clear();
    for (File& file : files_) {
        if (!file.open || file.node != connection.node) continue;
        file.at[connection.index] = -1;
        if (file.home == &connection) file.home = nullptr;
    }
}

std::vector<ServerTraffic> SmbStorage::traffic() const {
    std::vector<ServerTraffic> all;
    for (const Node& node : nodes_) {
        all.push_back(node.traffic);
        for (const Connection& connection : node.connections)
            all.back().retransmitted_segments += connection.retransmitted_segments;
    }
    return all;
}

// --- time

/// While anything is outstanding a timer is set for the first thing that may have to be done about it.
void SmbStorage::arm() {
    if (outstanding_ == 0) {
        loop_.cancel(std::exchange(timer_, 0));
        timer_at_ = Instant::never();
        return;
    }
    Instant first = Instant::never();
    const auto consider = [&](OpList& line) {
        if (!line.empty()) first = std::min(first, expires(line.front()));
    };
    for (Node& node : nodes_) {
        consider(node.opens);
        consider(node.reads);
        for (Connection& connection : node.connections) {
            consider(connection.reads);
            if (connection.state != Connection::State::up) first = std::min(first, connection.until);
            for (const Job& job : connection.jobs) {
                if (job.op != nullptr) first = std::min({first, expires(*job.op), job.give_up_at});
            }
        }
    }
    if (first >= timer_at_) return;
    loop_.cancel(timer_);
    timer_at_ = first;
    timer_ = loop_.at(first, Callback::of<&SmbStorage::tick>(this));
}

void SmbStorage::tick() {
    timer_ = 0;
    timer_at_ = Instant::never();
    const Instant now = loop_.now();
    for (Node& node : nodes_) {
        expire(node.opens, now);
        expire(node.reads, now);
        for (Connection& connection : node.connections) {
            expire(connection.reads, now);
            look_at(connection, now);
        }
        pump(node);
    }
    deliver(done_.take());
}

void SmbStorage::expire(OpList& line, Instant now) {
    while (!line.empty() && expires(line.front()) <= now) complete(line.pop(), ETIMEDOUT, now);
}

void SmbStorage::look_at(Connection& connection, Instant now) {
    if (connection.state == Connection::State::up) {
        const bool stuck = std::any_of(connection.jobs.begin(), connection.jobs.end(), [&](const Job& job) {
            return job.op != nullptr && std::min(expires(*job.op), job.give_up_at) <= now;
        });
        if (stuck) lose(connection);
        return;
    }
    if (connection.until > now) return;
    if (connection.state == Connection::State::connecting) return lose(connection);
    if (!start_process(connection)) connection.until = now + kBackoffMost;
}

void SmbStorage::shutdown(Callback done) {
    shutdown_ = done;
    shutting_ = true;
    loop_.hold();
    loop_.defer(Callback::of<&SmbStorage::advance_shutdown>(this));
}

void SmbStorage::advance_shutdown() {
    if (!shutdown_ || outstanding_ > 0) return;
    for (Node& node : nodes_) {
        for (Connection& connection : node.connections) drop_process(connection);
    }
    loop_.release();
    loop_.defer(std::exchange(shutdown_, {}));  // from outside reap(): it may destroy us
}

}  // namespace

Result<std::unique_ptr<Storage>> make_smb_storage(EventLoop& loop,
                                                  uv_loop_t* uv,
                                                  const RemotePlace& place,
                                                  const std::string& directory,
                                                  const RemoteOptions& options) {
    auto storage = std::make_unique<SmbStorage>(loop, uv, place, directory, options);
    if (auto up = storage->connect(); !up) return up.error();
    return std::unique_ptr<Storage>(std::move(storage));
}

}  // namespace streamsim
