#include "sim/cluster/block_reader.h"

#include <algorithm>
#include <cerrno>

#include "base/prng.h"

namespace streamsim::sim {
namespace {

std::uint64_t key_of(std::uint32_t file, std::uint32_t number, bool paged) {
    return FileTable::key(file, number) | (paged ? BlockCache::kPage : 0);
}

}  // namespace

void BlockReader::request(Job& read) {
    Node& node = parts_.nodes[read.node];
    const std::uint64_t size = unit_bytes(read);
    const std::uint64_t last = (read.offset + read.bytes - 1) / size;
    for (std::uint64_t at = read.offset / size; at <= last; ++at) {
        const auto block = static_cast<std::uint32_t>(at);
        const std::uint64_t key = key_of(read.file, block, read.paged);
        if (read.paged ? has_page(node, read.file, block, node.ram) : node.ram.take(key)) continue;
        if (!node.arrivals.expects(key)) fetch(read, read.file, block, read.paged);
        node.arrivals.wait(key, read);
        ++read.waits_for;
    }
}

void BlockReader::fetch_ahead(const Job& read, std::uint32_t file, std::uint64_t block) {
    Node& node = parts_.nodes[read.node];
    if (node.ram.capacity() == 0) return;  // the block could not wait there until somebody asks for it
    const auto number = static_cast<std::uint32_t>(block);
    const std::uint64_t key = key_of(file, number, false);
    if (node.arrivals.expects(key) || node.ram.has(key)) return;
    fetch(read, file, number, false);
}

void BlockReader::keep_written(const Job& write) {
    Node& node = parts_.nodes[write.node];
    if (node.ram.capacity() == 0 || write.bytes == 0) return;
    const ClusterModel& model = parts_.model();
    const bool paged = write.paged && model.page_bytes > 0;
    const std::uint64_t unit = paged ? model.page_bytes : model.block_bytes;
    const std::uint64_t last = (write.offset + write.bytes - 1) / unit;
    for (std::uint64_t at = write.offset / unit; at <= last; ++at)
        cache(node, key_of(write.file, static_cast<std::uint32_t>(at), paged));
}

/// In a warm cache, a page that nobody asked for before is present with the chance that the cache's size gives,
/// among the files that are open at this node. One draw decides for both levels.
bool BlockReader::has_page(Node& node, std::uint32_t file, std::uint32_t page, BlockCache& cache) const {
    const ClusterModel& model = parts_.model();
    const std::uint64_t key = key_of(file, page, true);
    const std::uint64_t pages_a_block = model.block_bytes / model.page_bytes;
    const std::uint64_t block = FileTable::key(file, static_cast<std::uint32_t>(page / pages_a_block));
    bool was_there = false;
    if (parts_.options.warm) {
        std::uint64_t room = cache.capacity();
        if (&cache == &node.ssd) room += node.ram.capacity();
        const double pages = static_cast<double>(node.opened_bytes) / static_cast<double>(model.page_bytes);
        was_there = Prng(parts_.options.seed ^ key).unit() * pages < static_cast<double>(room);
    }
    return cache.take_page(key, block, was_there);
}

/// A block that leaves the RAM goes to the SSD.
void BlockReader::cache(Node& node, std::uint64_t key) {
    for (auto evicted = node.ram.put(key); evicted; evicted = node.ram.evict()) {
        if (node.ssd.capacity() == 0) continue;
        node.ssd.put(*evicted);
        while (node.ssd.evict()) {
        }
    }
}

void BlockReader::fetch(const Job& read, std::uint32_t file, std::uint32_t block, bool paged) {
    Node& node = parts_.nodes[read.node];
    Job& job = parts_.jobs.take(*this, Job::Kind::fetch);
    job.paged = paged;
    job.seat = read.seat;
    job.node = read.node;
    job.file = file;
    job.block = block;
    const std::uint64_t key = key_of(file, block, paged);
    node.arrivals.expect(key);
    const std::uint64_t size = unit_bytes(job);
    const std::uint64_t offset = block * size;
    const std::uint64_t end = parts_.files[file].bytes;
    job.bytes = end - offset < size ? end - offset : size;
    job.chance = mix64(read.chance ^ key);
    const bool on_ssd =
        node.ssd.capacity() > 0 && (paged ? has_page(node, file, block, node.ssd) : node.ssd.take(key));
    if (on_ssd) {
        node.ssd_reads.enter(job.enter_stage(Stage::ssd), 0, node.ssd_time, job.bytes);
    } else {
        enter_drive(job);
    }
}

void BlockReader::advance(Job& job) {
    const NodeModel& node = parts_.model().node;
    switch (job.stage) {
        case Stage::ssd: return parts_.delay(job, Stage::ssd_way, node.ssd.latency);
        case Stage::drive: return leave_drive(job);
        case Stage::back_end: return parts_.delay(job, Stage::back_way, node.back_end.latency);
        default: return come(job);
    }
}

BlockPlace BlockReader::place_of(const Job& job) const {
    const ClusterModel& model = parts_.model();
    if (!job.paged) return parts_.files.place(job.file, job.block);
    const std::uint64_t at = job.block * model.page_bytes;
    BlockPlace place = parts_.files.place(job.file, static_cast<std::uint32_t>(at / model.block_bytes));
    place.position += at % model.block_bytes;
    return place;
}

void BlockReader::enter_drive(Job& job) {
    const std::uint32_t ring = place_of(job).ring;
    if (parts_.drive_at(ring).dead) return rebuild(job, ring);
    enter_live_drive(job, ring);
}

void BlockReader::enter_live_drive(Job& job, std::uint32_t ring) {
    job.ring = ring;
    parts_.drive_at(ring).enter(job.enter_stage(Stage::drive), place_of(job).position, job.bytes, job.chance);
}

void BlockReader::rebuild(Job& job, std::uint32_t ring) {
    std::uint32_t live = 0;
    for (std::uint32_t at = 0; at < parts_.files.ring_size(); ++at) {
        if (!parts_.drive_at(at).dead) ++live;
    }
    const std::uint32_t needed = std::max<std::uint32_t>(parts_.model().data_drives, 1);
    if (live < needed) return parts_.fail(job, Stage::back_way, EIO);
    job.waits_for = needed;
    for (std::uint32_t i = 0; i < needed; ++i) {
        ring = parts_.live_drive_after(ring);
        Job& part = parts_.jobs.take(*this, Job::Kind::fetch);
        part.parent = &job;
        part.seat = job.seat;
        part.node = job.node;
        part.file = job.file;
        part.block = job.block;
        part.paged = job.paged;
        part.bytes = job.bytes;
        part.chance = derive_seed(job.chance, i);
        enter_live_drive(part, ring);
    }
}

/// The drive in whose queue the job waited is dead.
void BlockReader::reroute(Job& job) {
    if (job.parent == nullptr) return enter_drive(job);
    const std::uint32_t other = parts_.live_drive_after(job.ring);
    if (other != ClusterParts::kNoDrive) return enter_live_drive(job, other);
    parts_.fail(job, Stage::back_way, EIO);
}

void BlockReader::leave_drive(Job& job) {
    if (parts_.files.node_of(job.ring) == job.node) return come(job);
    parts_.nodes[job.node].back_end.enter(job.enter_stage(Stage::back_end), job.seat, {}, job.bytes);
}

void BlockReader::come(Job& job) {
    if (job.parent != nullptr) {
        Job& whole = *job.parent;
        if (job.error != 0) whole.error = job.error;
        parts_.jobs.give(job);
        if (--whole.waits_for == 0) come(whole);
        return;
    }
    Node& node = parts_.nodes[job.node];
    const std::uint64_t key = key_of(job.file, job.block, job.paged);
    const int error = job.error;
    parts_.jobs.give(job);
    std::uint32_t waiter = node.arrivals.arrived(key);
    if (error == 0) cache(node, key);
    while (Job* const read = node.arrivals.next(waiter)) {
        if (error != 0) read->error = error;
        if (--read->waits_for == 0) read->arrive();
    }
}

}  // namespace streamsim::sim
