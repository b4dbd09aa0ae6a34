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
#include "storage/smb/smb_storage.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "storage/own_shortage.h"
#include "storage/smb/smb_parts.h"

namespace streamsim::storage {
namespace smb {

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
      poll_times_(loop) {
    std::vector<std::string> addresses = place.addresses;
    if (addresses.empty()) addresses.push_back(place.host);
    first_seat_ = options.first_seat;
    for (std::uint32_t i = 0; i < std::max(options.seats, 1u); ++i) {
        const std::uint32_t seat = first_seat_ + i;
        const std::string& address = addresses[seat % addresses.size()];
        auto node = std::find_if(nodes_.begin(), nodes_.end(),
                                 [&](const Node& each) { return each.address == address; });
        if (node == nodes_.end()) {
            node = nodes_.insert(nodes_.end(), Node{});
            node->address = node->traffic.address = address;
        }
        node->traffic.seats.push_back(seat);
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
    STREAMSIM_CHECK(op.access == Access::read, "this storage writes");
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
    op.not_before = poll_times_.not_before(op.submitted_at, op.completed_at);
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
    const FileId id = static_cast<ReadOp&>(*job.op).file;
    const File& file = files_[static_cast<std::size_t>(id)];
    if (file.at[connection.index] >= 0) return ask_read(connection, job);
    for (const Job& other : connection.jobs) {
        const bool opens = &other != &job && other.busy && other.reads && other.call == SmbCall::open;
        job.waits = job.waits || (opens && static_cast<ReadOp&>(*other.op).file == id);
    }
    if (job.waits) return;
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
    while (!line.empty() && expires(line.front()) <= now)
        complete(line.pop(), error_or_own_shortage(ETIMEDOUT), now);
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
    if (connection.state == Connection::State::ending) return await_end(connection);
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

}  // namespace smb

Result<std::unique_ptr<Storage>> make_smb_storage(EventLoop& loop,
                                                  uv_loop_t* uv,
                                                  const RemotePlace& place,
                                                  const std::string& directory,
                                                  const RemoteOptions& options) {
    auto storage = std::make_unique<smb::SmbStorage>(loop, uv, place, directory, options);
    if (auto up = storage->connect(); !up) return up.error();
    return std::unique_ptr<Storage>(std::move(storage));
}

}  // namespace streamsim::storage
