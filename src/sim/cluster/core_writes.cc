// What changes files and names: the way of writes, syncs and what is done by name, and how a journal reaches
// the drives.
//
// A write: the seat's processor (the request and its bytes) -> the seat's connections and link, outwards -> the
// way to the node -> its front-end link, inwards -> its processor -> where the model has one, the coordinator
// of the file's writes -> the journal -> the way back. The node's RAM keeps what was written. A sync finds all
// of its file in the journal, as every answered write is: it takes a request and the journal's latency. Names:
// processor, then their line where the model has lines, and the journal for what they change.
//
// The journal. A write waits, in order, until there is room; what is in it goes to the drives in batches, as
// many at a time as keep every drive of the node's share busy: a block's worth of what was written in order, as
// one access; or merge_pages pages of what was written at random: one after the other on flash, each an access
// of its own, and sorted into one on a disk. Protection is paid with bytes in order ((data + protection) / data
// of them) and with accesses at random (one for the page and one for each protection unit). Batches go around
// all drives, over the back end of those that are another node's, and the journal has room again when the drive
// is done. Less than a batch waits for more, unless somebody waits for room and nothing is under way. Without a
// journal a write is complete when its own drives have it.
//
// Assumptions: the old data and protection that a small write changes are in memory; what was written over in
// the journal is written to drives all the same; an entry of a name is 8 KiB, written in order; copies in the
// caches of other nodes are brought up to date at no cost.
#include <algorithm>
#include <cerrno>

#include "base/prng.h"
#include "sim/cluster/core.h"
#include "sim/latency.h"

namespace streamsim::sim {
namespace {

/// What the seeds of writes and names differ by from those of reads.
constexpr std::uint64_t kWriting = 0x7772697465;
constexpr std::uint64_t kNames = 0x6e616d6573;
/// Of what was done by name, in the journal.
constexpr std::uint64_t kNameBytes = 8 << 10;
/// Writes follow each other when they are no farther apart than so many of their length: several are under way.
constexpr std::uint64_t kNear = 16;
/// Of each server of the node's drives, under way at once.
constexpr std::uint64_t kBatchesAServer = 2;

std::uint64_t kept_bytes(const Job& job) {
    return job.kind == Job::Kind::write ? job.bytes : kNameBytes;
}

}  // namespace

// ---- operations
// ------------------------------------------------------------------------------------------------

void ClusterCore::write(WriteOp& op, SimStorage& storage) {
    op.bytes = 0;
    Job& job = begin(op, Job::Kind::write, storage);
    if (!follows(job, op.file)) return;
    job.offset = op.offset;
    job.bytes = op.buffer.size();
    job.chance =
        derive_seed(seed_ ^ kWriting ^ (std::uint64_t{op.tag.seat} << 40 | op.tag.stream), op.tag.slot) ^
        mix64(op.offset);
    Handle& handle = handles_[job.handle];
    const std::uint64_t end = job.offset + job.bytes;
    const std::uint64_t near = kNear * job.bytes;
    const bool in_order = job.offset <= handle.written_end + near && handle.written_end <= end + near;
    job.paged = !in_order && job.bytes < options_.model.block_bytes;
    handle.written_end = end;
    files_.extend(job.file, end);
    request(job);
}

void ClusterCore::sync(SyncOp& op, SimStorage& storage) {
    Job& job = begin(op, Job::Kind::sync, storage);
    if (!follows(job, op.file)) return;
    job.chance =
        derive_seed(seed_ ^ kWriting ^ (std::uint64_t{op.tag.seat} << 40 | op.tag.stream), op.tag.slot);
    request(job);
}

void ClusterCore::perform(PathOp& op, SimStorage& storage) {
    op.bytes = op.entries = 0;
    Job& job = begin(op, Job::Kind::name, storage);
    job.name = op.kind;
    job.chance = derive_seed(seed_ ^ kNames ^ (std::uint64_t{op.tag.seat} << 40 | op.tag.stream), op.tag.slot);
    switch (op.kind) {
        case PathOp::Kind::stat: job.error = files_.stat(op.path, op.bytes); break;
        case PathOp::Kind::list: job.error = files_.list(op.path, op.entries); break;
        case PathOp::Kind::make_directory: job.error = files_.make_directory(op.path); break;
        case PathOp::Kind::remove: job.error = files_.remove(op.path); break;
        case PathOp::Kind::rename: job.error = files_.rename(op.path, op.to); break;
    }
    const bool looks = op.kind == PathOp::Kind::stat || op.kind == PathOp::Kind::list;
    job.changes = job.error == 0 && !looks;
    job.line = FileTable::hash_of(op.path);
    request(job);
}

// ---- the way
// ---------------------------------------------------------------------------------------------------

void ClusterCore::send_data(Job& job) {
    Seat& seat = seats_[job.seat];
    if (!seat.connections_out) {
        job.stage = Stage::link_out;
        return seat.link_out.enter(job, job.stream, {}, job.bytes);
    }
    job.stage = Stage::connections_out;
    seat.connections_out->enter(job, job.stream, {}, job.bytes);
}

void ClusterCore::leave_link(Job& job) {
    if (job.stage == Stage::link_out) return set_out(job);
    job.stage = Stage::link_out;
    seats_[job.seat].link_out.enter(job, job.stream, {}, job.bytes);
}

/// What is done by name, by the processor.
void ClusterCore::take_name(Job& job) {
    Node& node = nodes_[job.node];
    const MetadataModel& model = options_.model.node.metadata;
    const auto of_core = [&node](double s) { return ceil_ns(s / node.core_speed); };
    Duration time = node.open_time;
    if (job.kind == Job::Kind::open) {
        if (job.changes) time = of_core(model.cpu_s_per_create);
    } else {
        switch (job.name) {
            case PathOp::Kind::stat: time = of_core(model.cpu_s_per_stat); break;
            case PathOp::Kind::list: time = of_core(model.cpu_s_per_list); break;
            case PathOp::Kind::make_directory: time = of_core(model.cpu_s_per_create); break;
            case PathOp::Kind::remove: time = of_core(model.cpu_s_per_remove); break;
            case PathOp::Kind::rename: time = of_core(model.cpu_s_per_rename); break;
        }
    }
    job.cost = time;
    node.cpu.enter(job, 0, time, 0);
}

void ClusterCore::take_line(Job& job) {
    Node& node = nodes_[job.node];
    if (node.lines.empty()) return do_name(job);
    const double held = static_cast<double>(job.cost.ns) * options_.model.node.metadata.line_share;
    job.stage = Stage::line;
    node.lines[mix64(job.line) % node.lines.size()].enter(job, 0, Duration{static_cast<std::int64_t>(held)}, 0);
}

void ClusterCore::do_name(Job& job) {
    if (nodes_[job.node].lost) return fail_over(job);
    if (job.changes) return keep(job);
    come_back(job);
}

// ---- the journal
// -----------------------------------------------------------------------------------------------

void ClusterCore::keep(Job& job) {
    Node& node = nodes_[job.node];
    if (node.lost) return fail_over(job);
    if (job.kind == Job::Kind::write) remember(job);
    if (options_.model.node.journal.bytes == 0) return write_through(job);
    if (node.journal.waiting.empty() && node.journal.has_room(kept_bytes(job))) return enter_journal(job);
    node.journal.waiting.push(job);
    destage(job.node);
}

void ClusterCore::enter_journal(Job& job) {
    WriteJournal& journal = nodes_[job.node].journal;
    journal.used += kept_bytes(job);
    job.stage = Stage::journal;
    journal.entry.enter(job, 0, {}, kept_bytes(job));
}

void ClusterCore::keep_waiting(std::uint32_t node) {
    WriteJournal& journal = nodes_[node].journal;
    while (!journal.waiting.empty() && journal.has_room(kept_bytes(*journal.waiting.first())))
        enter_journal(journal.waiting.pop());
}

void ClusterCore::kept(Job& job) {
    WriteJournal& journal = nodes_[job.node].journal;
    if (job.kind == Job::Kind::write && job.paged) {
        const std::uint64_t unit = unit_of_write();
        journal.paged += job.bytes;
        journal.pages += (job.offset % unit + job.bytes + unit - 1) / unit;
    } else {
        journal.in_order += kept_bytes(job);
    }
    destage(job.node);
    delay(job, Stage::journal_way, options_.model.node.journal.latency);
}

/// What was written can be read from the node's RAM.
void ClusterCore::remember(const Job& job) {
    Node& node = nodes_[job.node];
    if (node.ram.capacity() == 0 || job.bytes == 0) return;
    const bool paged = job.paged && options_.model.page_bytes > 0;
    const std::uint64_t unit = paged ? options_.model.page_bytes : options_.model.block_bytes;
    const std::uint64_t last = (job.offset + job.bytes - 1) / unit;
    for (std::uint64_t at = job.offset / unit; at <= last; ++at) {
        const std::uint64_t key = FileTable::key(job.file, static_cast<std::uint32_t>(at));
        cache(node, paged ? key | BlockCache::kPage : key);
    }
}

std::uint64_t ClusterCore::unit_of_write() const {
    const ClusterModel& model = options_.model;
    return model.page_bytes > 0 ? model.page_bytes : model.block_bytes;
}

std::uint64_t ClusterCore::protected_bytes(std::uint64_t bytes) const {
    const ClusterModel& model = options_.model;
    return bytes + bytes * model.protection_drives / std::max<std::uint32_t>(model.data_drives, 1);
}

void ClusterCore::destage(std::uint32_t number) {
    WriteJournal& journal = nodes_[number].journal;
    const ClusterModel& model = options_.model;
    const bool flash = model.drive.kind == DriveModel::Kind::flash;
    const std::uint64_t most = kBatchesAServer * model.node.drives * (flash ? model.drive.channels : 1);
    const std::uint64_t merged = std::max<std::uint32_t>(model.node.journal.merge_pages, 1);
    bool begun = true;
    while (begun && journal.under_way < most) {
        const bool now = !journal.waiting.empty() && journal.under_way == 0;
        if (journal.pages >= merged) {  // of what they hold, the share of so many
            begun = begin_destage(number, journal.paged * merged / journal.pages, merged);
        } else if (journal.in_order >= model.block_bytes) {
            begun = begin_destage(number, model.block_bytes, 0);
        } else if (now && journal.pages > 0) {
            begun = begin_destage(number, journal.paged, journal.pages);
        } else if (now && journal.in_order > 0) {
            begun = begin_destage(number, journal.in_order, 0);
        } else {
            begun = false;
        }
    }
}

/// `pages` of `bytes` in all; 0: bytes in order. False: there is no drive for them.
bool ClusterCore::begin_destage(std::uint32_t number, std::uint64_t bytes, std::uint64_t pages) {
    WriteJournal& journal = nodes_[number].journal;
    const ClusterModel& model = options_.model;
    const std::uint64_t turn = journal.batches++;
    // Each node begins elsewhere.
    const std::uint64_t start = std::uint64_t{number} * files_.ring_size() / nodes_.size();
    const auto ring = static_cast<std::uint32_t>((start + turn) % files_.ring_size());
    const std::uint32_t live = live_after((ring + files_.ring_size() - 1) % files_.ring_size());
    if (live == kNone) return false;
    (pages > 0 ? journal.paged : journal.in_order) -= bytes;
    journal.pages -= pages;
    ++journal.under_way;
    Job& job = jobs_.take();
    job.kind = Job::Kind::destage;
    job.node = number;
    job.bytes = bytes;
    job.chance = derive_seed(seed_ ^ kWriting ^ number, turn);
    const std::uint32_t units = model.protection_drives + 1;
    job.on_drive = pages > 0 ? pages * unit_of_write() * units : protected_bytes(bytes);
    const bool disk = model.drive.kind == DriveModel::Kind::rotational;
    job.accesses = pages == 0 ? 1 : disk ? units : static_cast<std::uint32_t>(pages) * units;
    const std::uint64_t blocks = std::max<std::uint64_t>(model.drive.capacity_bytes / model.block_bytes, 1);
    const std::uint64_t row = pages > 0 ? mix64(job.chance) : mix64(number) + turn / files_.ring_size();
    job.offset = row % blocks * model.block_bytes;
    to_drive_with(job, live);
    return true;
}

/// To that drive, or the next that lives.
void ClusterCore::to_drive_with(Job& job, std::uint32_t ring) {
    const std::uint32_t live = live_after((ring + files_.ring_size() - 1) % files_.ring_size());
    job.home = live;
    if (live == kNone) {
        job.error = EIO;
        job.stage = Stage::drive;
        calendar_.at(calendar_.now(), Callback::of<&Job::arrive>(&job));
        return;
    }
    const std::uint32_t home = files_.node_of(live);
    if (home == job.node) {
        job.stage = Stage::drive;
        drive_at(live).enter(job, job.offset, job.on_drive, job.chance);
        return;
    }
    job.stage = Stage::back_end;
    nodes_[home].back_end.enter(job, job.seat, {}, job.on_drive);
}

void ClusterCore::advance_destage(Job& job) {
    if (job.stage == Stage::back_end) return delay(job, Stage::back_way, options_.model.node.back_end.latency);
    if (job.stage == Stage::back_way) {
        job.stage = Stage::drive;
        if (drive_at(job.home).dead) return to_drive_with(job, job.home);
        drive_at(job.home).enter(job, job.offset, job.on_drive, job.chance);
        return;
    }
    const std::uint32_t number = job.node;
    const std::uint64_t bytes = job.bytes;
    Job* const writer = job.parent;
    if (writer != nullptr && job.error != 0) writer->error = job.error;
    jobs_.give(job);
    if (writer != nullptr) {
        if (--writer->waits_for == 0) answer(*writer);
        return;
    }
    WriteJournal& journal = nodes_[number].journal;
    journal.used -= bytes;
    --journal.under_way;
    keep_waiting(number);
    destage(number);
}

/// There is no journal.
void ClusterCore::write_through(Job& job) {
    if (job.kind != Job::Kind::write || job.bytes == 0) return come_back(job);
    const std::uint64_t size = options_.model.block_bytes;
    const std::uint64_t first = job.offset / size;
    const std::uint64_t last = (job.offset + job.bytes - 1) / size;
    const std::uint32_t units = options_.model.protection_drives + 1;
    job.stage = Stage::blocks;
    job.waits_for = static_cast<std::uint32_t>(last - first + 1);
    for (std::uint64_t at = first; at <= last; ++at) {
        const std::uint64_t from = std::max(job.offset, at * size);
        const std::uint64_t to = std::min(job.offset + job.bytes, (at + 1) * size);
        Job& part = jobs_.take();
        part.kind = Job::Kind::destage;
        part.parent = &job;
        part.seat = job.seat;
        part.node = job.node;
        part.bytes = to - from;
        part.on_drive = job.paged ? part.bytes * units : protected_bytes(part.bytes);
        part.accesses = job.paged ? units : 1;
        part.chance = derive_seed(job.chance, at);
        const BlockPlace place = files_.place(job.file, static_cast<std::uint32_t>(at));
        part.offset = place.position + from % size;
        to_drive_with(part, place.ring);
    }
}

}  // namespace streamsim::sim
