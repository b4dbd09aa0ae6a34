#include "sim/cluster/core.h"

#include <algorithm>
#include <cerrno>

#include "base/check.h"
#include "base/prng.h"
#include "sim/latency.h"
#include "sim/sim_storage.h"

namespace streamsim::sim {
namespace {

/// The flow of requests and copies among the decoders of a seat.
constexpr std::uint32_t kProtocolFlow = 0;
/// What the seeds of opens differ by from those of reads.
constexpr std::uint64_t kOpens = 0x6f70656e;

}  // namespace

ClusterCore::ClusterCore(EventLoop& loop, ClusterOptions options)
    : loop_(loop),
      options_(std::move(options)),
      calendar_(loop),
      jobs_(*this),
      files_(options_.model, options_.media),
      seed_(options_.seed) {
    const ClusterModel& model = options_.model;
    STREAMSIM_CHECK(model.nodes > 0 && model.node.drives > 0, "a cluster has nodes with drives");
    for (const SeatPlace& place : options_.seats) seats_.emplace_back(calendar_, model, place);
    for (std::uint32_t i = 0; i < model.nodes; ++i) nodes_.emplace_back(calendar_, model, options_.warm);
    loop_.add_reaper(this);
}

ClusterCore::~ClusterCore() {
    loop_.remove_reaper(this);
}

// ---- operations
// ------------------------------------------------------------------------------------------------

Job& ClusterCore::begin(Op& op, Job::Kind kind, SimStorage& storage) {
    STREAMSIM_CHECK(op.tag.seat < seats_.size(), "an operation is of a seat of the cluster");
    op.error = 0;
    op.submitted_at = calendar_.now();
    Job& job = jobs_.take();
    job.kind = kind;
    job.op = &op;
    job.storage = &storage;
    job.seat = op.tag.seat;
    job.stream = op.tag.stream;
    op.backend = &job;
    return job;
}

void ClusterCore::open(OpenOp& op, SimStorage& storage) {
    op.file = kNoFile;
    Job& job = begin(op, Job::Kind::open, storage);
    if (op.access == Access::create || op.access == Access::create_new) {
        const FileTable::Created created = files_.create(op.path);
        job.file = created.file;
        job.changes = created.is_new;
        if (op.access == Access::create_new && !created.is_new) job.error = EEXIST;
    } else {
        job.file = files_.find(op.path);
        if (job.file == SimFile::kNone) job.error = ENOENT;
    }
    job.line = FileTable::hash_of(op.path);
    job.chance = derive_seed(seed_ ^ kOpens ^ (std::uint64_t{op.tag.seat} << 40 | op.tag.stream), op.tag.slot) ^
                 mix64(op.tag.clip_frame);
    request(job);
}

void ClusterCore::read(ReadOp& op, SimStorage& storage) {
    op.bytes = 0;
    Job& job = begin(op, Job::Kind::read, storage);
    if (!follows(job, op.file)) return;
    job.offset = op.offset;
    const std::uint64_t end = files_[job.file].bytes;
    job.bytes = op.offset < end ? std::min<std::uint64_t>(op.buffer.size(), end - op.offset) : 0;
    job.chance =
        derive_seed(seed_ ^ (std::uint64_t{op.tag.seat} << 40 | op.tag.stream), op.tag.slot) ^ mix64(op.offset);
    request(job);
}

/// False: the file is not open, and the job has ended.
bool ClusterCore::follows(Job& job, FileId file) {
    const auto handle = static_cast<std::uint32_t>(file);
    if (file < 0 || handle >= handles_.size() || handles_[handle].file == kNone) {
        job.error = EBADF;
        finish(job);
        return false;
    }
    job.handle = handle;
    job.opening = handles_[handle].opening;
    job.file = handles_[handle].file;
    return true;
}

void ClusterCore::close(FileId file) {
    handles_[static_cast<std::uint32_t>(file)].file = kNone;
    free_handles_.push_back(file);
}

/// The caller has it back at once; what is under way for it goes on, as it does in a storage.
void ClusterCore::cancel(Op& op) {
    if (op.backend == nullptr) return;
    Job& job = *static_cast<Job*>(op.backend);
    job.op = nullptr;
    Job& answer = jobs_.take();
    answer.kind = Job::Kind::give_back;
    answer.op = &op;
    answer.storage = job.storage;
    answer.error = ECANCELED;
    finish(answer);
}

std::uint32_t ClusterCore::add_decoder(std::uint32_t seat) {
    STREAMSIM_CHECK(seat < seats_.size(), "a decoder is of a seat of the cluster");
    return ++seats_[seat].decoders;
}

void ClusterCore::decode(DecodeOp& op, std::uint32_t seat, std::uint32_t flow, Duration cost) {
    Job& job = jobs_.take();
    job.kind = Job::Kind::decode;
    job.stage = Stage::decode;
    job.decode = &op;
    job.vetted = true;
    op.skipped = false;
    seats_[seat].cpu.enter(job, flow, cost, 0);
}

bool ClusterCore::wanted(Job& job, Instant complete) {
    job.decode->skipped = job.decode->too_late(complete);
    return !job.decode->skipped;
}

// ---- the way
// ---------------------------------------------------------------------------------------------------

void ClusterCore::reap() {
    reaping_ = true;
    calendar_.run_due();
    reaping_ = false;
    deliver();
}

void ClusterCore::delay(Job& job, Stage stage, Duration time) {
    job.stage = stage;
    if (time <= Duration{}) {
        advance(job);
    } else {
        calendar_.at(calendar_.now() + time, Callback::of<&Job::arrive>(&job));
    }
}

void ClusterCore::advance(Job& job) {
    switch (job.stage) {
        case Stage::request_cpu:
        case Stage::failover: return send_out(job);
        case Stage::connections_out:
        case Stage::link_out: return leave_link(job);
        case Stage::way_out: return reach_node(job);
        case Stage::front_end_in: return take_request(job);
        case Stage::node_cpu: return at_file(job);
        case Stage::line: return do_name(job);
        case Stage::file: return job.kind == Job::Kind::write ? keep(job) : look_up(job);
        case Stage::journal: return kept(job);
        case Stage::journal_way:
        case Stage::blocks: return answer(job);
        case Stage::front_end: return come_back(job);
        case Stage::way_back: return reach_port(job);
        case Stage::switch_port: return leave_port(job);
        case Stage::retransmit: return answer(job);
        case Stage::connections: return reach_link(job);
        case Stage::seat_link: return copy(job);
        case Stage::data_cpu:
        case Stage::decode: return finish(job);
        default: return job.kind == Job::Kind::destage ? advance_destage(job) : advance_fetch(job);
    }
}

void ClusterCore::request(Job& job) {
    Seat& seat = seats_[job.seat];
    const std::uint64_t sent = job.kind == Job::Kind::write ? job.bytes : 0;
    if (seat.request_time == Duration{} && (sent == 0 || seat.cpu.rate().unlimited())) return send_out(job);
    job.stage = Stage::request_cpu;
    seat.cpu.enter(job, kProtocolFlow, seat.request_time, sent);
}

void ClusterCore::send_out(Job& job) {
    const Seat& seat = seats_[job.seat];
    if (seat.node == Seat::kNoNode) {
        job.error = EIO;
        return finish(job);
    }
    if (calendar_.now() < seat.back_at) return delay(job, Stage::failover, seat.back_at - calendar_.now());
    job.node = seat.node;
    if (job.kind == Job::Kind::write) return send_data(job);
    set_out(job);
}

void ClusterCore::set_out(Job& job) {
    const NodeModel& node = options_.model.node;
    const Duration latency = seats_[job.seat].latency + node.front_end.latency;
    delay(job, Stage::way_out, latency + draw_latency(node.response, job.chance));
}

/// The node is not there any more: once more, to the one that the seat will be on.
void ClusterCore::fail_over(Job& job) {
    if (job.kind == Job::Kind::read) job.error = 0;
    send_out(job);
}

void ClusterCore::reach_node(Job& job) {
    Node& node = nodes_[job.node];
    if (node.lost) return fail_over(job);
    if (job.kind == Job::Kind::write) {
        job.stage = Stage::front_end_in;
        return node.front_end_in.enter(job, job.seat, {}, job.bytes);
    }
    take_request(job);
}

void ClusterCore::take_request(Job& job) {
    Node& node = nodes_[job.node];
    if (node.lost) return fail_over(job);
    job.stage = Stage::node_cpu;
    if (job.kind == Job::Kind::sync) return node.cpu.enter(job, 0, node.request_time, 0);
    if (job.kind == Job::Kind::open || job.kind == Job::Kind::name) return take_name(job);
    if (job.kind == Job::Kind::write)
        return node.cpu.enter(job, 0, node.write_time + node.writing.time(job.bytes), 0);
    job.paged = by_pages(job);
    if (job.paged) return node.cpu.enter(job, 0, node.request_time, job.bytes);
    const AccessStrategy strategy = strategy_of(files_[job.file]);
    Duration time = node.request_time;
    if (strategy == AccessStrategy::streaming) time = time + node.streaming.time(job.bytes);
    if (strategy == AccessStrategy::filename_prefetch) time = time + node.filename.time(job.bytes);
    node.cpu.enter(job, 0, time, job.bytes);
}

void ClusterCore::at_file(Job& job) {
    if (nodes_[job.node].lost) return fail_over(job);
    if (job.kind == Job::Kind::open || job.kind == Job::Kind::name) return take_line(job);
    if (job.kind == Job::Kind::sync) return delay(job, Stage::journal_way, options_.model.node.journal.latency);
    const bool writes = job.kind == Job::Kind::write;
    const double rate = writes ? options_.model.file_write_bytes_per_s : options_.model.file_bytes_per_s;
    if (rate == 0 || files_[job.file].sequence != SimFile::kNone) return writes ? keep(job) : look_up(job);
    job.stage = Stage::file;
    coordinator_of(job, rate).enter(job, job.seat, {}, job.bytes);
}

Station& ClusterCore::coordinator_of(const Job& job, double bytes_per_s) {
    const std::uint64_t key = job.file | (job.kind == Job::Kind::write ? kWrites : 0);
    std::uint32_t coordinator = coordinators_by_file_.find(key);
    if (coordinator == FlatIndex::kNone) {
        coordinator = static_cast<std::uint32_t>(coordinators_.size());
        coordinators_.emplace_back(calendar_, StationOptions{1, Rate::of(bytes_per_s), true});
        coordinators_by_file_.insert(key, coordinator);
        coordinated_.push_back(key);
    }
    return coordinators_[coordinator];
}

void ClusterCore::look_up(Job& job) {
    Node& node = nodes_[job.node];
    if (node.lost) return fail_over(job);
    job.port_rest = job.bytes;
    job.stage = Stage::blocks;
    if (job.bytes > 0) {
        const std::uint64_t size = unit_of(job);
        const std::uint64_t last = (job.offset + job.bytes - 1) / size;
        for (std::uint64_t at = job.offset / size; at <= last; ++at) {
            const auto block = static_cast<std::uint32_t>(at);
            const std::uint64_t key = key_of(job, block);
            if (job.paged ? has_page(node, job.file, block, node.ram) : node.ram.take(key)) continue;
            if (!node.arrivals.expects(key)) fetch(job, job.file, block, job.paged);
            node.arrivals.wait(key, job);
            ++job.waits_for;
        }
        read_ahead(job);
    }
    if (job.waits_for == 0) answer(job);
}

/// From the node's cache to the wire: all of it, or what a port has lost.
void ClusterCore::answer(Job& job) {
    Node& node = nodes_[job.node];
    if (node.lost) return fail_over(job);
    if (job.error != 0 || job.port_rest == 0) return come_back(job);
    job.stage = Stage::front_end;
    node.front_end.enter(job, job.seat, {}, job.port_rest);
}

void ClusterCore::come_back(Job& job) {
    if (nodes_[job.node].lost) return fail_over(job);
    delay(job, Stage::way_back, seats_[job.seat].latency + options_.model.node.front_end.latency);
}

void ClusterCore::reach_port(Job& job) {
    Seat& seat = seats_[job.seat];
    if (job.kind != Job::Kind::read || job.error != 0) return finish(job);
    if (!seat.port || job.port_rest == 0) return reach_seat(job);
    job.stage = Stage::switch_port;
    if (seat.port->enter(job, job.stream)) return;
    delay(job, Stage::retransmit, seat.port->send_again_at(job) - calendar_.now());
}

void ClusterCore::leave_port(Job& job) {
    SwitchPort& port = *seats_[job.seat].port;
    port.leave(job);
    if (job.port_rest == 0) return reach_seat(job);
    delay(job, Stage::retransmit, port.send_again_at(job) - calendar_.now());
}

void ClusterCore::reach_seat(Job& job) {
    Seat& seat = seats_[job.seat];
    if (!seat.connections) return reach_link(job);
    job.stage = Stage::connections;
    seat.connections->enter(job, job.stream, {}, job.bytes);
}

void ClusterCore::reach_link(Job& job) {
    job.stage = Stage::seat_link;
    seats_[job.seat].link.enter(job, job.stream, {}, job.bytes);
}

void ClusterCore::copy(Job& job) {
    Seat& seat = seats_[job.seat];
    if (seat.cpu.rate().unlimited()) return finish(job);
    job.stage = Stage::data_cpu;
    seat.cpu.enter(job, kProtocolFlow, {}, job.bytes);
}

// ---- the end
// ---------------------------------------------------------------------------------------------------

/// Stamps it; its callback runs when everything of this instant is stamped.
void ClusterCore::finish(Job& job) {
    if (job.kind == Job::Kind::decode) {
        job.decode->completed_at = calendar_.now();
    } else if (job.op == nullptr) {  // taken back
        jobs_.give(job);
        return;
    } else {
        Op& op = *job.op;
        op.backend = nullptr;
        op.error = job.error;
        op.completed_at = op.not_before = calendar_.now();
        if (job.error == 0 && job.kind == Job::Kind::open) {
            static_cast<OpenOp&>(op).file = open_handle(job);
        } else if (job.error == 0 && job.kind == Job::Kind::write) {
            static_cast<WriteOp&>(op).bytes = job.bytes;
        } else if (job.error == 0 && job.kind == Job::Kind::read) {
            static_cast<ReadOp&>(op).bytes = job.bytes;
        }
    }
    if (finished_.empty() && !reaping_) {  // inside a call of a user: at the next turn
        calendar_.at(calendar_.now(), {[](void*) {}, nullptr});
    }
    finished_.push(job);
}

void ClusterCore::deliver() {
    JobQueue batch;
    std::swap(batch, finished_);
    while (!batch.empty()) {
        Job& job = batch.pop();
        const Callback done = job.kind == Job::Kind::decode ? job.decode->done : job.op->done;
        SimStorage* const storage = job.storage;
        jobs_.give(job);
        done();
        if (storage != nullptr) storage->delivered();
    }
}

FileId ClusterCore::open_handle(const Job& job) {
    Node& node = nodes_[job.node];
    const std::uint64_t bytes = files_[job.file].bytes;
    if (options_.warm && bytes != UINT64_MAX && node.opened.find(job.file) == FlatIndex::kNone) {
        node.opened.insert(job.file, 0);
        node.opened_bytes += bytes;
    }
    FileId id = 0;
    if (free_handles_.empty()) {
        id = static_cast<FileId>(handles_.size());
        handles_.emplace_back();
        free_handles_.reserve(handles_.capacity());
    } else {
        id = free_handles_.back();
        free_handles_.pop_back();
    }
    Handle& handle = handles_[static_cast<std::uint32_t>(id)];
    const std::uint32_t opening = handle.opening + 1;
    handle = Handle{};
    handle.file = job.file;
    handle.opening = opening;
    return id;
}

}  // namespace streamsim::sim
