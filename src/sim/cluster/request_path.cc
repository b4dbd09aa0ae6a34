#include "sim/cluster/request_path.h"

#include <cerrno>

#include "base/prng.h"
#include "sim/parts/latency.h"

namespace streamsim::sim {
namespace {

using Kind = Job::Kind;

bool is_on_name(const Job& job) {
    return job.kind == Kind::open || job.kind == Kind::name;
}

}  // namespace

void RequestPath::advance(Job& job) {
    switch (job.stage) {
        case Stage::request_cpu:
        case Stage::failover: return leave_seat(job);
        case Stage::connections_out: return leave_connection(job);
        case Stage::link_out: return travel_to_node(job);
        case Stage::way_out: return reach_node(job);
        case Stage::front_end_in: return enter_processor(job);
        case Stage::node_cpu: return leave_processor(job);
        case Stage::metadata_line: return leave_metadata_line(job);
        case Stage::file: return leave_coordinator(job);
        case Stage::read_line: return read_blocks(job);
        case Stage::journal: return leave_journal(job);
        case Stage::journal_way:
        case Stage::blocks:
        case Stage::retransmit: return answer(job);
        case Stage::front_end: return travel_back(job);
        case Stage::way_back: return reach_port(job);
        case Stage::switch_port: return leave_port(job);
        case Stage::connections: return reach_link(job);
        case Stage::seat_link: return copy(job);
        default: return finish(job);
    }
}

void RequestPath::reroute(Job& job) {
    if (job.kind == Kind::read) job.error = 0;
    leave_seat(job);
}

// ---- to the node

void RequestPath::start(Job& job) {
    Seat& seat = parts_.seats[job.seat];
    const std::uint64_t sent = job.kind == Kind::write ? job.bytes : 0;
    if (seat.request_time == Duration{} && (sent == 0 || seat.cpu.rate().unlimited())) return leave_seat(job);
    seat.cpu.enter(job.enter_stage(Stage::request_cpu), kProtocolFlow, seat.request_time, sent);
}

void RequestPath::leave_seat(Job& job) {
    Seat& seat = parts_.seats[job.seat];
    if (seat.node == Seat::kNoNode) {
        job.error = EIO;
        return finish(job);
    }
    const Instant now = parts_.calendar.now();
    if (now < seat.back_at) return parts_.delay(job, Stage::failover, seat.back_at - now);
    job.node = seat.node;
    if (job.kind != Kind::write) return travel_to_node(job);
    if (!seat.connections_out) return leave_connection(job);
    seat.connections_out->enter(job.enter_stage(Stage::connections_out), job.stream, {}, sent_bytes(job));
}

void RequestPath::leave_connection(Job& job) {
    parts_.seats[job.seat].link_out.enter(job.enter_stage(Stage::link_out), job.stream, {}, sent_bytes(job));
}

void RequestPath::travel_to_node(Job& job) {
    const NodeModel& node = parts_.model().node;
    const Duration latency = parts_.seats[job.seat].latency + node.front_end.latency;
    parts_.delay(job, Stage::way_out, latency + draw_latency(node.response, job.chance));
}

void RequestPath::reach_node(Job& job) {
    if (node_lost(job)) return reroute(job);
    if (job.kind != Kind::write) return enter_processor(job);
    parts_.nodes[job.node].front_end_in.enter(job.enter_stage(Stage::front_end_in), job.seat, {},
                                              sent_bytes(job));
}

// ---- at the node

void RequestPath::enter_processor(Job& job) {
    if (node_lost(job)) return reroute(job);
    Node& node = parts_.nodes[job.node];
    job.stage = Stage::node_cpu;
    switch (job.kind) {
        case Kind::sync: return node.cpu.enter(job, 0, node.request_time, 0);
        case Kind::open:
        case Kind::name:
            job.metadata_time = metadata_time(job);
            return node.cpu.enter(job, 0, job.metadata_time, 0);
        case Kind::write: return node.cpu.enter(job, 0, node.write_time + node.writing.time(job.bytes), 0);
        default: return node.cpu.enter(job, 0, read_time(job), job.bytes);
    }
}

Duration RequestPath::read_time(Job& job) {
    const Node& node = parts_.nodes[job.node];
    job.paged = read_ahead_.takes_pages(job);
    if (job.paged) return node.request_time;
    const Duration time = node.request_time + (begins_frame(job) ? node.frame_time : Duration{});
    switch (read_ahead_.strategy_of(parts_.files[job.file])) {
        case AccessStrategy::streaming: return time + node.streaming.time(job.bytes);
        case AccessStrategy::filename_prefetch: return time + node.filename.time(job.bytes);
        default: return time;
    }
}

/// The first read of a frame that reaches the node.
bool RequestPath::begins_frame(Job& job) {
    OpenFile* const handle = open_files_.of(job);
    if (handle == nullptr || job.op == nullptr || !parts_.files[job.file].of_media) return false;
    if (job.op->tag.slot < handle->frame_slots) return false;
    handle->frame_slots = job.op->tag.slot + 1;
    job.goes_back = job.offset < handle->frame_begin;
    handle->frame_begin = job.offset;
    return true;
}

Duration RequestPath::metadata_time(const Job& job) const {
    const Node& node = parts_.nodes[job.node];
    const MetadataModel& model = parts_.model().node.metadata;
    const auto on_core = [&node](double s) { return ceil_ns(s / node.core_speed); };
    if (job.kind == Kind::open) return job.changes ? on_core(model.cpu_s_per_create) : node.open_time;
    switch (job.path_op) {
        case PathOp::Kind::stat: return on_core(model.cpu_s_per_stat);
        case PathOp::Kind::list: return on_core(model.cpu_s_per_list);
        case PathOp::Kind::make_directory: return on_core(model.cpu_s_per_create);
        case PathOp::Kind::remove: return on_core(model.cpu_s_per_remove);
        case PathOp::Kind::rename: return on_core(model.cpu_s_per_rename);
    }
    return node.open_time;
}

void RequestPath::leave_processor(Job& job) {
    if (node_lost(job)) return reroute(job);
    const ClusterModel& model = parts_.model();
    if (is_on_name(job)) return enter_metadata_line(job);
    if (job.kind == Kind::sync) return parts_.delay(job, Stage::journal_way, model.node.journal.latency);
    const bool writes = job.kind == Kind::write;
    const double rate = writes ? model.file_write_bytes_per_s : model.file_bytes_per_s;
    if (rate == 0) return reach_file(job);
    if (parts_.files[job.file].sequence == SimFile::kNone)
        return coordinator_of(job, rate).enter(job.enter_stage(Stage::file), job.seat, {}, job.bytes);
    const Instant now = parts_.calendar.now();
    const Instant done = parts_.files.coordinate(job, now, Rate::of(rate).time(job.bytes));
    parts_.delay(job, Stage::file, done - now);
}

void RequestPath::leave_coordinator(Job& job) {
    if (parts_.files[job.file].sequence != SimFile::kNone)
        parts_.files.leave_coordinator(job, parts_.calendar.now());
    reach_file(job);
}

Station& RequestPath::coordinator_of(const Job& job, double bytes_per_s) {
    const bool writes = job.kind == Kind::write;
    const std::uint64_t key = job.file | (writes ? std::uint64_t{1} << 32 : 0);
    std::uint32_t number = coordinator_index_.find(key);
    if (number == FlatIndex::kNone) {
        number = static_cast<std::uint32_t>(coordinators_.size());
        coordinators_.push_back({job.file, writes, {parts_.calendar, {1, Rate::of(bytes_per_s), true}}});
        coordinator_index_.insert(key, number);
    }
    return coordinators_[number].station;
}

void RequestPath::enter_metadata_line(Job& job) {
    Node& node = parts_.nodes[job.node];
    if (node.metadata_lines.empty()) return leave_metadata_line(job);
    const double share = parts_.model().node.metadata.line_share;
    const Duration held{static_cast<std::int64_t>(static_cast<double>(job.metadata_time.ns) * share)};
    node.metadata_lines[mix64(job.path_hash) % node.metadata_lines.size()].enter(
        job.enter_stage(Stage::metadata_line), 0, held, 0);
}

void RequestPath::leave_metadata_line(Job& job) {
    if (node_lost(job)) return reroute(job);
    if (job.changes) return reach_journal(job);
    travel_back(job);
}

void RequestPath::reach_file(Job& job) {
    if (job.kind == Kind::write) return reach_journal(job);
    if (node_lost(job)) return reroute(job);
    Node& node = parts_.nodes[job.node];
    if (node.read_lines.empty() || job.bytes == 0) return read_blocks(job);
    const std::uint64_t place = parts_.files.hash_of_block(job.file, job.offset / parts_.model().block_bytes);
    const Duration access = draw_latency(parts_.model().node.read_lines.access, derive_seed(job.chance, 1));
    node.read_lines[place % node.read_lines.size()].enter(job.enter_stage(Stage::read_line), 0, access,
                                                          job.bytes);
}

void RequestPath::read_blocks(Job& job) {
    if (node_lost(job)) return reroute(job);
    job.port_rest = job.bytes > 0 ? sent_bytes(job) : 0;
    job.stage = Stage::blocks;
    if (job.bytes > 0) {
        blocks_.request(job, read_ahead_.distance(job));
        read_ahead_.follow(job);
    }
    if (job.waits_for == 0) answer(job);
}

void RequestPath::reach_journal(Job& job) {
    if (node_lost(job)) return reroute(job);
    const bool writes = job.kind == Kind::write;
    if (writes) blocks_.keep_written(job);
    if (parts_.model().node.journal.bytes > 0) return writes_.enter_journal(job);
    if (!writes || job.bytes == 0) return travel_back(job);
    writes_.write_through(job);
}

void RequestPath::leave_journal(Job& job) {
    writes_.leave_journal(job);
    parts_.delay(job, Stage::journal_way, parts_.model().node.journal.latency);
}

/// Sends from the node's cache what the switch port has not passed on yet: all of the answer, or its lost part.
void RequestPath::answer(Job& job) {
    if (node_lost(job)) return reroute(job);
    if (job.error != 0 || job.port_rest == 0) return travel_back(job);
    parts_.nodes[job.node].front_end.enter(job.enter_stage(Stage::front_end), job.seat, {}, job.port_rest);
}

// ---- back to the seat

void RequestPath::travel_back(Job& job) {
    if (node_lost(job)) return reroute(job);
    parts_.delay(job, Stage::way_back, parts_.seats[job.seat].latency + parts_.model().node.front_end.latency);
}

void RequestPath::reach_port(Job& job) {
    Seat& seat = parts_.seats[job.seat];
    if (job.kind != Kind::read || job.error != 0) return finish(job);
    if (!seat.port || job.port_rest == 0) return reach_connection(job);
    if (seat.port->enter(job.enter_stage(Stage::switch_port), job.stream)) return;
    parts_.delay(job, Stage::retransmit, seat.port->send_again_at(job) - parts_.calendar.now());
}

void RequestPath::leave_port(Job& job) {
    SwitchPort& port = *parts_.seats[job.seat].port;
    port.leave(job);
    if (job.port_rest == 0) return reach_connection(job);
    parts_.delay(job, Stage::retransmit, port.send_again_at(job) - parts_.calendar.now());
}

void RequestPath::reach_connection(Job& job) {
    Seat& seat = parts_.seats[job.seat];
    if (!seat.connections) return reach_link(job);
    seat.connections->enter(job.enter_stage(Stage::connections), job.stream, {}, sent_bytes(job));
}

void RequestPath::reach_link(Job& job) {
    parts_.seats[job.seat].link.enter(job.enter_stage(Stage::seat_link), job.stream, {}, sent_bytes(job));
}

void RequestPath::copy(Job& job) {
    Seat& seat = parts_.seats[job.seat];
    if (seat.cpu.rate().unlimited()) return finish(job);
    seat.cpu.enter(job.enter_stage(Stage::data_cpu), kProtocolFlow, {}, job.bytes);
}

void RequestPath::finish(Job& job) {
    if (job.op == nullptr) return parts_.jobs.give(job);
    if (job.error == 0) set_result(job);
    completions_.add_operation(job);
}

void RequestPath::set_result(Job& job) {
    if (job.kind == Kind::open) {
        parts_.add_opened(job.node, job.file);
        static_cast<OpenOp*>(job.op)->file = open_files_.open(job.file);
    } else if (job.kind == Kind::write) {
        static_cast<WriteOp*>(job.op)->bytes = job.bytes;
    } else if (job.kind == Kind::read) {
        static_cast<ReadOp*>(job.op)->bytes = job.bytes;
    }
}

}  // namespace streamsim::sim
