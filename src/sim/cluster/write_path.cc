#include "sim/cluster/write_path.h"

#include <algorithm>
#include <cerrno>

#include "base/prng.h"

namespace streamsim::sim {
namespace {

/// The journal's entry for an operation on a name.
constexpr std::uint64_t kNameBytes = 8 << 10;
/// Batches in transit at once, for each server of the node's drives.
constexpr std::uint64_t kBatchesAServer = 2;
/// The batches of all journals are one flow of a back end, as the blocks of a seat are.
constexpr std::uint32_t kJournalSeat = UINT32_MAX;

std::uint64_t entry_bytes(const Job& job) {
    return job.kind == Job::Kind::write ? job.bytes : kNameBytes;
}

}  // namespace

void WritePath::enter_journal(Job& job) {
    WriteJournal& journal = parts_.nodes[job.node].journal;
    if (journal.waiting.empty() && journal.has_room(entry_bytes(job))) return serve(job);
    journal.waiting.push(job);
    start_batches(job.node);
}

void WritePath::serve(Job& job) {
    WriteJournal& journal = parts_.nodes[job.node].journal;
    journal.used += entry_bytes(job);
    journal.entry.enter(job.enter_stage(Stage::journal), 0, {}, entry_bytes(job));
}

void WritePath::serve_waiting(std::uint32_t node) {
    WriteJournal& journal = parts_.nodes[node].journal;
    while (!journal.waiting.empty() && journal.has_room(entry_bytes(*journal.waiting.first())))
        serve(journal.waiting.pop());
}

/// Every drive is dead: the journal never has room again.
void WritePath::fail_waiting(std::uint32_t node) {
    WriteJournal& journal = parts_.nodes[node].journal;
    while (!journal.waiting.empty()) parts_.fail(journal.waiting.pop(), Stage::journal_way, EIO);
}

void WritePath::leave_journal(const Job& job) {
    WriteJournal& journal = parts_.nodes[job.node].journal;
    if (job.kind == Job::Kind::write && job.paged) {
        const std::uint64_t page = page_bytes();
        journal.paged += job.bytes;
        journal.pages += (job.offset % page + job.bytes + page - 1) / page;
    } else {
        journal.in_order += entry_bytes(job);
    }
    start_batches(job.node);
}

std::uint64_t WritePath::page_bytes() const {
    const ClusterModel& model = parts_.model();
    return model.page_bytes > 0 ? model.page_bytes : model.block_bytes;
}

std::uint64_t WritePath::protected_bytes(std::uint64_t bytes) const {
    const ClusterModel& model = parts_.model();
    return bytes + bytes * model.protection_drives / std::max<std::uint32_t>(model.data_drives, 1);
}

void WritePath::start_batches(std::uint32_t node) {
    WriteJournal& journal = parts_.nodes[node].journal;
    const ClusterModel& model = parts_.model();
    const bool flash = model.drive.kind == DriveModel::Kind::flash;
    const std::uint64_t batches_max = kBatchesAServer * model.node.drives * (flash ? model.drive.channels : 1);
    const std::uint64_t merged = std::max<std::uint32_t>(model.node.journal.merge_pages, 1);
    bool started = true;
    while (started && journal.batches_in_transit < batches_max) {
        const bool urgent = !journal.waiting.empty() && journal.batches_in_transit == 0;
        if (journal.pages >= merged) {  // the average content of so many pages
            started = start_batch(node, journal.paged * merged / journal.pages, merged);
        } else if (journal.in_order >= model.block_bytes) {
            started = start_batch(node, model.block_bytes, 0);
        } else if (urgent && journal.pages > 0) {
            started = start_batch(node, journal.paged, journal.pages);
        } else if (urgent && journal.in_order > 0) {
            started = start_batch(node, journal.in_order, 0);
        } else {
            started = false;
        }
    }
}

/// `bytes` in `pages` pages, or in order where `pages` is 0. False: every drive is dead.
bool WritePath::start_batch(std::uint32_t node, std::uint64_t bytes, std::uint64_t pages) {
    WriteJournal& journal = parts_.nodes[node].journal;
    const ClusterModel& model = parts_.model();
    const std::uint32_t ring_size = parts_.files.ring_size();
    const std::uint64_t batch = journal.batches++;
    // Each node starts at another drive.
    const std::uint64_t start = std::uint64_t{node} * ring_size / parts_.nodes.size();
    const std::uint32_t live = parts_.live_drive(static_cast<std::uint32_t>((start + batch) % ring_size));
    if (live == ClusterParts::kNoDrive) {
        fail_waiting(node);
        return false;
    }
    (pages > 0 ? journal.paged : journal.in_order) -= bytes;
    journal.pages -= pages;
    ++journal.batches_in_transit;
    Job& job = parts_.jobs.take(*this, Job::Kind::destage);
    job.seat = kJournalSeat;
    job.node = node;
    job.bytes = bytes;
    job.chance = derive_seed(parts_.options.seed ^ kWriteSeed ^ node, batch);
    job.drive_bytes = pages > 0 ? pages * page_bytes() * drives_a_page() : protected_bytes(bytes);
    const bool disk = model.drive.kind == DriveModel::Kind::rotational;
    job.accesses = pages == 0 ? 1
                   : disk     ? drives_a_page()
                              : static_cast<std::uint32_t>(pages) * drives_a_page();
    const std::uint64_t row = pages > 0 ? mix64(job.chance) : mix64(node) + batch / ring_size;
    job.offset = row % parts_.files.blocks_a_drive() * model.block_bytes;
    enter_drive(job, live);
    return true;
}

/// Takes the next live drive where that one is dead.
void WritePath::enter_drive(Job& job, std::uint32_t ring) {
    job.ring = parts_.live_drive(ring);
    if (job.ring == ClusterParts::kNoDrive) return parts_.fail(job, Stage::drive, EIO);
    const std::uint32_t home = parts_.files.node_of(job.ring);
    if (home == job.node)
        return parts_.drive_at(job.ring).enter(job.enter_stage(Stage::drive), job.offset, job.drive_bytes,
                                               job.chance);
    parts_.nodes[home].back_end.enter(job.enter_stage(Stage::back_end), job.seat, {}, job.drive_bytes);
}

void WritePath::advance(Job& job) {
    if (job.stage == Stage::back_end)
        return parts_.delay(job, Stage::back_way, parts_.model().node.back_end.latency);
    if (job.stage == Stage::drive) return finish(job);
    if (parts_.drive_at(job.ring).dead) return enter_drive(job, job.ring);
    parts_.drive_at(job.ring).enter(job.enter_stage(Stage::drive), job.offset, job.drive_bytes, job.chance);
}

/// The drive in whose queue the job waited is dead.
void WritePath::reroute(Job& job) {
    enter_drive(job, job.ring);
}

void WritePath::finish(Job& job) {
    const std::uint32_t node = job.node;
    const std::uint64_t bytes = job.bytes;
    Job* const write = job.parent;
    if (write != nullptr && job.error != 0) write->error = job.error;
    parts_.jobs.give(job);
    if (write != nullptr) {
        if (--write->waits_for == 0) write->arrive();
        return;
    }
    WriteJournal& journal = parts_.nodes[node].journal;
    journal.used -= bytes;
    --journal.batches_in_transit;
    serve_waiting(node);
    start_batches(node);
}

void WritePath::write_through(Job& write) {
    const std::uint64_t size = parts_.model().block_bytes;
    const std::uint64_t first = write.offset / size;
    const std::uint64_t last = (write.offset + write.bytes - 1) / size;
    write.stage = Stage::blocks;
    write.waits_for = static_cast<std::uint32_t>(last - first + 1);
    for (std::uint64_t at = first; at <= last; ++at) {
        const std::uint64_t from = std::max(write.offset, at * size);
        const std::uint64_t to = std::min(write.offset + write.bytes, (at + 1) * size);
        Job& part = parts_.jobs.take(*this, Job::Kind::destage);
        part.parent = &write;
        part.seat = write.seat;
        part.node = write.node;
        part.bytes = to - from;
        part.drive_bytes = write.paged ? part.bytes * drives_a_page() : protected_bytes(part.bytes);
        part.accesses = write.paged ? drives_a_page() : 1;
        part.chance = derive_seed(write.chance, at);
        const BlockPlace place = parts_.files.place(write.file, static_cast<std::uint32_t>(at));
        part.offset = place.position + from % size;
        enter_drive(part, place.ring);
    }
}

}  // namespace streamsim::sim
