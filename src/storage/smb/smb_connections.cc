// The connections of the SMB backend: the answers of their processes, their start and their loss.
// smb_storage.cc begins with how the backend works.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "storage/errno_text.h"
#include "storage/remote/remote_names.h"
#include "storage/smb/smb_storage.h"

namespace streamsim::storage::smb {
namespace {

/// Keeps the line in order, the oldest operation first.
void insert_by_age(OpQueue& line, Op& op) {
    OpQueue rest = line.take();
    while (!rest.empty() && rest.first()->submitted_at <= op.submitted_at) line.push(rest.pop());
    line.push(op);
    while (!rest.empty()) line.push(rest.pop());
}

}  // namespace

// --- answers

void SmbStorage::take_completions() {
    bool any_at_all = false;
    for (Node& node : nodes_) {
        bool any = false;
        for (Connection& connection : node.connections) {
            if (!std::exchange(connection.readable, false)) continue;
            receive(connection);
            any = true;
        }
        if (any) pump(node);
        any_at_all = any_at_all || any;
    }
    if (any_at_all) arm();
}

void SmbStorage::receive(Connection& connection) {
    SmbAnswer answer;
    while (connection.process != nullptr) {
        const auto received = connection.process->receive(answer);
        if (received == SmbProcess::Received::nothing) return;
        if (received == SmbProcess::Received::gone) return process_gone(connection);
        if (connection.state == Connection::State::up) {
            take(connection, answer);
        } else if (answer.error == 0 && answer.directory_error == 0) {
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
    const bool expected = answer.id < kSmbDepth && connection.jobs[answer.id].busy;
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
        File& file = files_[static_cast<ReadOp&>(*job.op).file];
        file.at[connection.index] = answer.file;
        if (file.home == nullptr) file.home = &connection;
        ask_read(connection, job);
    }
    if (!job.reads || answer.error != 0) {
        complete(*job.op, answer.error, {answer.completed_ns});
        free_job(connection, job);
    }
    for (Job& other : connection.jobs) {
        if (std::exchange(other.waits, false)) start(connection, other);
    }
}

FileId SmbStorage::add_file(Connection& connection, const OpenOp& op, std::int32_t at) {
    const FileId id = files_.add();
    File& file = files_[id];
    file.open = true;
    file.node = connection.node;
    file.home = &connection;
    file.path = path_on_server(op.path);
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
    files_[op.file].read_bytes += answer.bytes;
    const std::span<std::byte> into = op.buffer.subspan(op.bytes, answer.bytes);
    const std::uint32_t slot = job.slot;
    op.bytes += answer.bytes;
    if (answer.bytes == job.asked && op.bytes < op.buffer.size() && !job.cancelled) {
        job.slot = connection.free_slots.back();
        connection.free_slots.pop_back();
        ask_read(connection, job);
    } else {
        const bool cancelled = answer.bytes == job.asked && op.bytes < op.buffer.size();
        complete(op, cancelled ? ECANCELED : 0, {answer.completed_ns});
        free_job(connection, job);
        // Until its data are copied below, the slot must not be used again: kSmbDepth jobs have others.
        std::swap(connection.free_slots.front(), connection.free_slots.back());
        std::erase(connection.free_slots, slot);
        give_work(connection);
    }
    std::memcpy(into.data(), connection.process->slot(slot).data(), into.size());
    connection.free_slots.push_back(slot);
}

// --- connections

Result<void> SmbStorage::start_process(Connection& connection) {
    auto session = start_smb_session(login_, connection.node->address);
    if (!session) return session.error();
    take_session(connection, std::move(*session));
    return {};
}

void SmbStorage::take_session(Connection& connection, SmbSession session) {
    connection.process = std::move(session.process);
    connection.free_slots.clear();
    for (std::uint32_t slot = 0; slot < kSmbSlots; ++slot) connection.free_slots.push_back(slot);
    connection.state = Connection::State::connecting;
    connection.until = loop().now() + place_.timeout;
    watch(connection);
    if (session.connected) connected(connection, *session.connected);
}

void SmbStorage::watch(Connection& connection) {
    connection.poll = new uv_poll_t;  // until libuv has closed it
    connection.poll->data = &connection;
    const int made = uv_poll_init(uv_, connection.poll, connection.process->socket());
    STREAMSIM_CHECK(made == 0, "libuv polls a socket");
    uv_poll_start(connection.poll, UV_READABLE | UV_DISCONNECT, [](uv_poll_t* handle, int, int) {
        static_cast<Connection*>(handle->data)->readable = true;  // reap() follows in this turn
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
    if (connection.was_up && std::exchange(notified_lost_, false) && notice_)
        notice_(fmt::format("{}: connected to {} again", login_.share(), node.address));
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

/// The exit status of a process is known a moment after its socket was closed.
void SmbStorage::process_gone(Connection& connection) {
    uv_poll_stop(connection.poll);
    if (connection.state == Connection::State::up) --connection.node->up;
    connection.state = Connection::State::ending;
    connection.ending_since = loop().now();
    await_end(connection);
}

void SmbStorage::await_end(Connection& connection) {
    const Instant now = loop().now();
    const auto crashed = connection.process->crashed();
    if (crashed || now - connection.ending_since > kEndingGrace)
        return lose(connection, crashed.value_or(true));
    connection.until = now + kEndingPollPause;
    arm();
}

/// Kills the process; its operations go back into their lines, or fail.
void SmbStorage::lose(Connection& connection, bool crashed) {
    const Instant now = loop().now();
    Node& node = *connection.node;
    const bool up = connection.state == Connection::State::up || connection.state == Connection::State::ending;
    if (up && connection.was_up && !std::exchange(notified_lost_, true) && notice_) {
        notice_(fmt::format("{}: a connection to {} was lost; connecting again", login_.share(), node.address));
    }
    drop_process(connection);
    connection.until = now + connection.backoff;
    connection.backoff = std::min(connection.backoff + connection.backoff, kBackoffMax);
    if (connection.jobs[0].order > connection.jobs[1].order) std::swap(connection.jobs[0], connection.jobs[1]);
    for (Job& job : connection.jobs) {
        const Job ended = std::exchange(job, {});
        if (!ended.busy) continue;
        const bool was_current = std::exchange(crashed, false);  // requests are performed in order
        if (ended.op == nullptr) continue;
        Op& op = *ended.op;
        op.backend = nullptr;
        if (ended.cancelled) {
            complete(op, ECANCELED, now);
        } else if (expires(op) <= now) {
            complete(op, error_or_own_shortage(ETIMEDOUT), now);
        } else if (was_current) {
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

}  // namespace streamsim::storage::smb
