// How the SMB backend works
// =========================
//
// libsmbclient blocks, so each connection is a process of its own (smb_wire.h, smb_process.h) that performs one
// request after the other. A process has up to kSmbDepth requests, so that it never waits for this loop. There
// are RemotePlace::connections processes for each node in use. A process reads into a slot of shared memory;
// this loop copies the data from there into the operation's buffer after the next request has been sent.
//
// Which process. Operations wait in line; the process with the fewest requests takes the oldest operation. The
// reads of a file go to the process that opened it, so that a frame in a file of its own costs one open; a file
// of which more than kSpreadBytes have been read is read by all processes, each of which opens it once.
//
// Stamps. The process stamps the answer right after libsmbclient returned, by the clock of this loop
// (CLOCK_MONOTONIC); CompletionPollTimes (operation_intake.h) says when that stamp could be late.
//
// Failures. When a connection is lost, a process ends, or a process has an operation for longer than
// RemotePlace::timeout, the process is killed and another one started, after a wait that doubles from kBackoff
// to kBackoffMax. Its operations go back to the head of their line, and its files are opened again when they
// are read again. An operation older than the timeout fails with ETIMEDOUT, wherever it is. A process that
// crashes fails its current operation with EIO.
//
// Cancelling takes an operation out of its line. A process keeps a cancelled operation until it ends or is
// older than the timeout, since others may wait for this process, or have files open in it. If only cancelled
// operations are outstanding for kCancelGrace, the processes that have them are killed.
#include "storage/smb/smb_storage.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "storage/backends.h"
#include "storage/errno_text.h"
#include "storage/remote/remote_names.h"

namespace streamsim::storage {
namespace smb {

SmbStorage::SmbStorage(EventLoop& loop,
                       uv_loop_t* uv,
                       const RemotePlace& place,
                       const std::string& directory,
                       const RemoteOptions& options)
    : PolledIntake(loop),
      uv_(uv),
      place_(place),
      login_(place, directory, options.credentials),
      sessions_(place.sharing->of<SmbSessions>()),
      notice_(options.notice) {
    std::vector<std::string> addresses = place.addresses;
    if (addresses.empty()) addresses.push_back(place.host);
    first_seat_ = options.first_seat;
    seat_step_ = options.seat_step;
    for (std::uint32_t i = 0; i < std::max(options.seats, 1u); ++i) {
        const std::uint32_t seat = first_seat_ + i * seat_step_;
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
}

SmbStorage::~SmbStorage() {
    close_all();
}

/// Takes idle sessions and starts the other processes, all at once, then waits for each. Before the loop runs.
Result<void> SmbStorage::connect() {
    const Instant deadline = loop().now() + place_.timeout;
    for (Node& node : nodes_) {
        for (Connection& connection : node.connections) {
            auto session = sessions_->take(login_.identity(node.address));
            connection.was_idle = session.has_value();
            if (session) {
                take_session(connection, std::move(*session));
            } else if (auto started = start_process(connection); !started) {
                return started;
            }
        }
    }
    for (Node& node : nodes_) {
        for (Connection& connection : node.connections) {
            if (connection.state == Connection::State::up) continue;
            auto answer = await_connected(*connection.process, login_, node.address, deadline);
            if (!answer && connection.was_idle) {  // the server may have been away when it was begun
                drop_process(connection);
                if (auto started = start_process(connection); !started) return started;
                answer = await_connected(*connection.process, login_, node.address, deadline);
            }
            if (!answer) return answer.error();
            if (auto there = login_.check_directory(*answer); !there) return there;
            connected(connection, *answer);
        }
    }
    return {};
}

// --- operations

void SmbStorage::begin(Op& op) {
    if (op.operation == OpKind::open) {
        begin_open(static_cast<OpenOp&>(op));
    } else {
        begin_read(static_cast<ReadOp&>(op));
    }
}

void SmbStorage::begin_open(OpenOp& op) {
    if (!SmbProcess::fits({path_on_server(op.path)})) return settle_now(op, ENAMETOOLONG);
    Node& node = node_of(op.tag.seat);
    node.opens.push(op);
    pump(node);
    arm();
}

void SmbStorage::begin_read(ReadOp& op) {
    const File* const file = files_.find(op.file);
    if (file == nullptr) return settle_now(op, EBADF);
    const bool spread = file->home == nullptr || file->read_bytes > kSpreadBytes;
    (spread ? file->node->reads : file->home->reads).push(op);
    pump(*file->node);
    arm();
}

void SmbStorage::close(FileId id) {
    File& file = files_.get(id);
    for (Connection& connection : file.node->connections) {
        const std::int32_t there = std::exchange(file.at[connection.index], -1);
        if (there >= 0) connection.closes.push_back(there);
    }
    file.open = false;
    file.home = nullptr;
    files_.give_back(id);
    pump(*file.node);
}

void SmbStorage::cancel(Op& op) {
    if (op.backend != nullptr) {
        static_cast<Job*>(op.backend)->cancelled = true;
        return arm();
    }
    for (Node& node : nodes_) {
        bool found = node.opens.remove(op) || node.reads.remove(op);
        for (Connection& connection : node.connections) found = found || connection.reads.remove(op);
        if (found) return settle_now(op, ECANCELED);
    }
}

void SmbStorage::complete(Op& op, int error, Instant at) {
    settle_stamped(op, error, std::clamp(at, op.submitted_at, std::max(op.submitted_at, now())));
}

// --- operations go to processes

/// Gives each process a first operation, then each a second.
void SmbStorage::pump(Node& node) {
    const std::size_t count = node.connections.size();
    for (std::uint32_t depth = 0; depth < kSmbDepth; ++depth) {
        for (std::size_t i = 0; i < count; ++i) {
            Connection& connection = node.connections[(node.next + i) % count];
            if (connection.state != Connection::State::up || connection.busy != depth) continue;
            if (give_work(connection) && i == 0) node.next = (node.next + 1) % count;
        }
    }
}

/// False: no operation waits for this process.
bool SmbStorage::give_work(Connection& connection) {
    OpQueue* line = nullptr;
    for (OpQueue* each : {&connection.reads, &connection.node->reads, &connection.node->opens}) {
        if (each->empty()) continue;
        if (line == nullptr || each->first()->submitted_at < line->first()->submitted_at) line = each;
    }
    const bool idle = line == nullptr && connection.busy == 0;
    if (!connection.closes.empty() && (idle || connection.closes.size() >= kWaitingClosesMax)) {
        ask_close(connection);
        return true;
    }
    if (line == nullptr) return false;
    Job& job = take_job(connection);
    job.op = &line->pop();
    job.op->backend = &job;
    job.reads = line != &connection.node->opens;
    start(connection, job);
    return true;
}

Job& SmbStorage::take_job(Connection& connection) {
    Job& job = connection.jobs[connection.jobs[0].busy ? 1 : 0];
    static_assert(kSmbDepth == 2);
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

void SmbStorage::start(Connection& connection, Job& job) {
    if (!job.reads) return ask_open(connection, job, path_on_server(static_cast<OpenOp&>(*job.op).path));
    const FileId id = static_cast<ReadOp&>(*job.op).file;
    const File& file = files_[id];
    if (file.at[connection.index] >= 0) return ask_read(connection, job);
    for (const Job& other : connection.jobs) {
        const bool opens = &other != &job && other.busy && other.reads && other.call == SmbCall::open;
        job.waits = job.waits || (opens && static_cast<ReadOp&>(*other.op).file == id);
    }
    if (job.waits) return;
    ask_open(connection, job, file.path.c_str());
}

void SmbStorage::ask_open(Connection& connection, Job& job, const char* path) {
    ask(connection, job, {.call = SmbCall::open}, path);
}

/// Requests the rest of a read, or as much of it as a slot holds.
void SmbStorage::ask_read(Connection& connection, Job& job) {
    const auto& op = static_cast<ReadOp&>(*job.op);
    job.asked = std::min<std::uint64_t>(op.buffer.size() - op.bytes, piece_bytes_);
    ask(connection, job,
        {.call = SmbCall::read,
         .file = files_[op.file].at[connection.index],
         .slot = job.slot,
         .offset = op.offset + op.bytes,
         .bytes = job.asked});
}

void SmbStorage::ask_close(Connection& connection) {
    const std::int32_t file = connection.closes.back();
    connection.closes.pop_back();
    ask(connection, take_job(connection), {.call = SmbCall::close, .file = file});
}

/// A send that fails needs no handling here: the process is gone, and its socket will say so.
void SmbStorage::ask(Connection& connection, Job& job, SmbRequest request, std::string_view text) {
    job.call = request.call;
    request.id = static_cast<std::uint32_t>(&job - connection.jobs.data());
    (void)connection.process->send(request, {text});
}

// --- time

/// Sets the timer for the first timeout, retry or grace period that ends, while an operation is outstanding.
void SmbStorage::arm() {
    if (outstanding() == 0) {
        loop().cancel(std::exchange(timer_, 0));
        timer_at_ = give_up_at_ = Instant::never();
        return;
    }
    Instant first = Instant::never();
    bool cancelled = false;
    bool others = false;
    const auto consider = [&](OpQueue& line) {
        if (line.empty()) return;
        first = std::min(first, expires(*line.first()));
        others = true;
    };
    for (Node& node : nodes_) {
        consider(node.opens);
        consider(node.reads);
        for (Connection& connection : node.connections) {
            consider(connection.reads);
            if (connection.state != Connection::State::up) first = std::min(first, connection.until);
            for (const Job& job : connection.jobs) {
                if (job.op == nullptr) continue;
                first = std::min(first, expires(*job.op));
                (job.cancelled ? cancelled : others) = true;
            }
        }
    }
    if (others || !cancelled) {
        give_up_at_ = Instant::never();
    } else if (give_up_at_ == Instant::never()) {
        give_up_at_ = loop().now() + kCancelGrace;
    }
    first = std::min(first, give_up_at_);
    if (first >= timer_at_) return;
    loop().cancel(timer_);
    timer_at_ = first;
    timer_ = loop().at(first, Callback::of<&SmbStorage::tick>(this));
}

void SmbStorage::tick() {
    timer_ = 0;
    timer_at_ = Instant::never();
    const Instant now = loop().now();
    for (Node& node : nodes_) {
        expire(node.opens, now);
        expire(node.reads, now);
        for (Connection& connection : node.connections) {
            expire(connection.reads, now);
            check(connection, now);
        }
        pump(node);
    }
    deliver();
    arm();
}

void SmbStorage::expire(OpQueue& line, Instant now) {
    while (!line.empty() && expires(*line.first()) <= now)
        complete(line.pop(), error_or_own_shortage(ETIMEDOUT), now);
}

void SmbStorage::check(Connection& connection, Instant now) {
    if (connection.state == Connection::State::up) {
        const bool stuck = std::any_of(connection.jobs.begin(), connection.jobs.end(), [&](const Job& job) {
            return job.op != nullptr && (expires(*job.op) <= now || (job.cancelled && give_up_at_ <= now));
        });
        if (stuck) lose(connection);
        return;
    }
    if (connection.until > now) return;
    if (connection.state == Connection::State::ending) return await_end(connection);
    if (connection.state == Connection::State::connecting) return lose(connection);
    if (!start_process(connection)) connection.until = now + kBackoffMax;
}

bool SmbStorage::close_all() {
    for (Node& node : nodes_) {
        for (Connection& connection : node.connections) drop_process(connection);
    }
    return true;
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
