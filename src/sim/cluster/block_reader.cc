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

void BlockReader::request(Job& read, std::uint64_t ahead) {
    Node& node = parts_.nodes[read.node];
    if (read.paged) parts_.add_opened(read.node, read.file);
    const std::uint64_t size = unit_bytes(read);
    const std::uint64_t last = (read.offset + read.bytes - 1) / size;
    for (std::uint64_t at = read.offset / size; at <= last; ++at) {
        const auto block = static_cast<std::uint32_t>(at);
        const std::uint64_t key = key_of(read.file, block, read.paged);
        if (read.paged ? take_page(node, read.file, block, node.ram) : node.ram.take(key)) continue;
        if (!node.arrivals.expects(key)) fetch(read, read.file, block, read.paged, ahead);
        node.arrivals.wait(key, read);
        ++read.waits_for;
    }
}

void BlockReader::fetch_ahead(const Job& read, std::uint32_t file, std::uint64_t block, std::uint64_t ahead) {
    Node& node = parts_.nodes[read.node];
    if (node.ram.capacity() == 0) return;  // the block could not wait there until somebody asks for it
    const auto number = static_cast<std::uint32_t>(block);
    const std::uint64_t key = key_of(file, number, false);
    if (node.arrivals.expects(key) || node.ram.has(key)) return;
    fetch(read, file, number, false, ahead);
}

void BlockReader::keep_written(const Job& write) {
    Node& node = parts_.nodes[write.node];
    if (node.ram.capacity() == 0 || write.bytes == 0) return;
    const ClusterModel& model = parts_.model();
    const bool paged = write.paged && model.page_bytes > 0;
    const std::uint64_t unit = paged ? model.page_bytes : model.block_bytes;
    const std::uint64_t to = write.offset + write.bytes;
    const std::uint64_t end = std::max(write.end_before, to);
    for (std::uint64_t at = write.offset / unit; at <= (to - 1) / unit; ++at) {
        const auto number = static_cast<std::uint32_t>(at);
        const std::uint64_t begin = at * unit;
        const bool whole = begin >= write.offset && std::min(begin + unit, end) <= to;
        if (whole || begin >= write.end_before || is_in_ram(node, write.file, number, paged))
            cache(node, key_of(write.file, number, paged));
    }
}

/// Blocks follow each other from node to node, so that neighbours at home are as many apart in the file as
/// there are nodes: their numbers there have no gaps.
std::uint64_t BlockReader::key_at_home(std::uint32_t file, std::uint32_t number, bool paged) const {
    const auto pages = static_cast<std::uint32_t>(paged ? pages_a_block() : 1);
    const auto nodes = static_cast<std::uint32_t>(parts_.nodes.size());
    return key_of(file, number / pages / nodes * pages + number % pages, paged);
}

/// In a warm cache, a page that nobody asked for before is present with the chance that the cache's size gives,
/// among the files that are open at this node. Pages that were asked for are listed: neither they nor their
/// room count. One draw decides for all levels. Assumption: all listed pages are of these files.
bool BlockReader::was_there(const Node& node,
                            std::uint32_t file,
                            std::uint32_t page,
                            const BlockCache& cache) const {
    if (!parts_.options.warm || parts_.files[file].bytes == UINT64_MAX) return false;
    std::uint64_t room = cache.capacity();
    std::uint64_t listed = cache.used();
    std::uint64_t opened = node.opened.bytes();
    if (&cache == &node.ssd) {
        const BlockCache& above = two_levels() ? node.l2 : node.ram;
        room += above.capacity();
        listed += above.used();
    }
    if (two_levels() && &cache != &node.ram) {  // the homes together hold what all nodes have open
        room *= parts_.nodes.size();
        listed *= parts_.nodes.size();
        opened = parts_.opened.bytes();
    }
    if (opened == 0) return false;
    const double pages = static_cast<double>(opened) / static_cast<double>(parts_.model().page_bytes);
    const double draw = Prng(parts_.options.seed ^ key_of(file, page, true)).unit();
    return draw * (pages - static_cast<double>(listed)) < static_cast<double>(room - listed);
}

bool BlockReader::take_page(Node& node, std::uint32_t file, std::uint32_t page, BlockCache& cache) const {
    const bool there = was_there(node, file, page, cache);
    const auto block = static_cast<std::uint32_t>(page / pages_a_block());
    if (two_levels() && &cache != &node.ram)
        return cache.take_page(key_at_home(file, page, true), key_at_home(file, block, false), there);
    return cache.take_page(key_of(file, page, true), key_of(file, block, false), there);
}

bool BlockReader::is_in_ram(Node& node, std::uint32_t file, std::uint32_t number, bool paged) const {
    const std::uint64_t key = key_of(file, number, paged);
    if (!paged) return node.ram.has(key);
    const auto block = static_cast<std::uint32_t>(number / pages_a_block());
    return node.ram.has_page(key, key_of(file, block, false), was_there(node, file, number, node.ram));
}

/// A block that leaves the RAM goes to the SSD, unless that is behind another level.
void BlockReader::cache(Node& node, std::uint64_t key) const {
    for (auto evicted = node.ram.put(key); evicted; evicted = node.ram.evict()) {
        if (two_levels() || node.ssd.capacity() == 0) continue;
        node.ssd.put(*evicted);
        while (node.ssd.evict()) {
        }
    }
}

void BlockReader::cache_at_home(Node& home, std::uint64_t key) {
    for (auto evicted = home.l2.put(key); evicted; evicted = home.l2.evict()) {
        if (home.ssd.capacity() == 0) continue;
        home.ssd.put(*evicted);
        while (home.ssd.evict()) {
        }
    }
}

std::uint64_t BlockReader::run_bytes(std::uint64_t ahead) const {
    const ClusterModel& model = parts_.model();
    if (model.stripe_bytes == 0) return model.block_bytes;
    const std::uint64_t on_drive = ahead / std::max<std::uint32_t>(model.data_drives, 1);
    return std::clamp(on_drive / model.stripe_bytes * model.stripe_bytes, model.stripe_bytes,
                      model.block_bytes);
}

void BlockReader::fetch(
    const Job& read, std::uint32_t file, std::uint32_t block, bool paged, std::uint64_t ahead) {
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
    job.run_bytes = paged ? size : run_bytes(ahead);
    job.home = parts_.files.node_of(place_of(job).ring);
    job.chance = mix64(read.chance ^ key);
    if (two_levels()) {
        reach_home(job);
    } else {
        read_below(job, node);
    }
}

// ---- the home node of the block

void BlockReader::reach_home(Job& job) {
    Node& home = home_of(job);
    if (home.lost) return enter_drive(job);
    const std::uint64_t key = key_at_home(job.file, job.block, job.paged);
    if (job.paged ? take_page(home, job.file, job.block, home.l2)
                  : home.l2.take(key, parts_.files[job.file].of_media)) {
        // The read that asks for the block does not wait for it yet.
        return &home == &parts_.nodes[job.node] ? parts_.pass(job, Stage::back_way) : leave_home(job);
    }
    if (home.home_arrivals.expects(key)) return home.home_arrivals.wait(key, job);
    home.home_arrivals.expect(key);
    job.at_home = true;
    read_below(job, home);
}

/// From the SSD of this node, else from the drives.
void BlockReader::read_below(Job& job, Node& node) {
    const std::uint64_t key =
        two_levels() ? key_at_home(job.file, job.block, job.paged) : key_of(job.file, job.block, job.paged);
    const bool on_ssd = node.ssd.capacity() > 0 &&
                        (job.paged ? take_page(node, job.file, job.block, node.ssd) : node.ssd.take(key));
    if (!on_ssd) return enter_drive(job);
    node.ssd_reads.enter(job.enter_stage(Stage::ssd), 0, node.ssd_time, job.bytes);
}

/// The block has come to its home node, for all who wait there.
void BlockReader::settle_home(Job& job) {
    job.at_home = false;
    Node& home = home_of(job);
    const std::uint64_t key = key_at_home(job.file, job.block, job.paged);
    std::uint32_t waiter = home.home_arrivals.arrived(key);
    if (job.error == 0 && !home.lost) cache_at_home(home, key);
    while (Job* const other = home.home_arrivals.next(waiter)) {
        other->error = job.error;
        leave_home(*other);
    }
}

void BlockReader::leave_home(Job& job) {
    if (job.home == job.node) return come(job);
    parts_.nodes[job.node].back_end.enter(job.enter_stage(Stage::back_end), job.seat, {}, job.bytes);
}

void BlockReader::advance(Job& job) {
    const NodeModel& node = parts_.model().node;
    switch (job.stage) {
        case Stage::ssd: return parts_.delay(job, Stage::ssd_way, node.ssd.latency);
        case Stage::ssd_way:
            if (!job.at_home) return come(job);
            if (home_of(job).lost) return enter_drive(job);
            settle_home(job);
            return leave_home(job);
        case Stage::drive: return leave_drive(job);
        case Stage::back_end: return parts_.delay(job, Stage::back_way, node.back_end.latency);
        default: return come(job);
    }
}

// ---- the drives

BlockPlace BlockReader::place_of(const Job& job) const {
    const ClusterModel& model = parts_.model();
    if (!job.paged) return parts_.files.place(job.file, job.block);
    const std::uint64_t at = job.block * model.page_bytes;
    BlockPlace place = parts_.files.place(job.file, static_cast<std::uint32_t>(at / model.block_bytes));
    place.position += at % model.block_bytes;
    return place;
}

void BlockReader::enter_drive(Job& job) {
    const BlockPlace place = place_of(job);
    if (job.bytes > job.run_bytes || parts_.drive_at(place.ring).dead) return read_in_runs(job, place);
    job.offset = place.position;
    enter_live_drive(job, place.ring);
}

void BlockReader::enter_live_drive(Job& job, std::uint32_t ring) {
    job.ring = ring;
    parts_.drive_at(ring).enter(job.enter_stage(Stage::drive), job.offset, job.bytes, job.chance);
}

/// The runs of a block are on the drives that follow each other around the ring.
void BlockReader::read_in_runs(Job& job, const BlockPlace& place) {
    const std::uint32_t ring_size = parts_.files.ring_size();
    const auto runs = static_cast<std::uint32_t>((job.bytes + job.run_bytes - 1) / job.run_bytes);
    const auto ring_of = [&](std::uint32_t run) { return (place.ring + run) % ring_size; };
    const std::uint32_t needed = rebuild_reads();
    job.waits_for = 0;
    bool any_dead = false;
    for (std::uint32_t run = 0; run < runs; ++run) {
        const bool dead = parts_.drive_at(ring_of(run)).dead;
        any_dead |= dead;
        job.waits_for += dead ? needed : 1;
    }
    if (any_dead && !can_rebuild()) return parts_.fail(job, Stage::back_way, EIO);
    // The last part may end the job within its call.
    std::uint64_t rest = job.bytes;
    std::uint32_t number = 0;
    for (std::uint32_t run = 0; run < runs; ++run) {
        const std::uint64_t bytes = std::min(rest, job.run_bytes);
        const std::uint64_t position = place.position + (job.bytes - rest);
        rest -= bytes;
        std::uint32_t ring = ring_of(run);
        const bool dead = parts_.drive_at(ring).dead;
        for (std::uint32_t i = 0; i < (dead ? needed : 1); ++i) {
            if (dead) ring = parts_.live_drive_after(ring);
            start_run(job, derive_seed(job.chance, number++), ring, position, bytes, dead);
        }
    }
}

bool BlockReader::can_rebuild() const {
    std::uint32_t live = 0;
    for (std::uint32_t at = 0; at < parts_.files.ring_size(); ++at) live += parts_.drive_at(at).dead ? 0U : 1U;
    return live >= rebuild_reads();
}

void BlockReader::start_run(Job& whole,
                            std::uint64_t chance,
                            std::uint32_t ring,
                            std::uint64_t position,
                            std::uint64_t bytes,
                            bool rebuilds) {
    Job& part = parts_.jobs.take(*this, Job::Kind::fetch);
    part.parent = &whole;
    part.seat = whole.seat;
    part.node = whole.node;
    part.file = whole.file;
    part.block = whole.block;
    part.paged = whole.paged;
    part.bytes = bytes;
    part.offset = position;
    part.chance = chance;
    part.rebuilds = rebuilds;
    enter_live_drive(part, ring);
}

/// The drive in whose queue the job waited is dead.
void BlockReader::reroute(Job& job) {
    if (job.parent == nullptr) return enter_drive(job);
    if (!can_rebuild()) return parts_.fail(job, Stage::back_way, EIO);
    if (!job.rebuilds) return rebuild(job);
    enter_live_drive(job, parts_.live_drive_after(job.ring));
}

/// The run becomes the first of the reads that give its bytes.
void BlockReader::rebuild(Job& run) {
    run.rebuilds = true;
    run.parent->waits_for += rebuild_reads() - 1;
    const std::uint32_t first = parts_.live_drive_after(run.ring);
    std::uint32_t ring = first;
    for (std::uint32_t i = 1; i < rebuild_reads(); ++i) {
        ring = parts_.live_drive_after(ring);
        start_run(*run.parent, derive_seed(run.chance, i), ring, run.offset, run.bytes, true);
    }
    enter_live_drive(run, first);
}

void BlockReader::leave_drive(Job& job) {
    if (job.at_home) {
        settle_home(job);
        return leave_home(job);
    }
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
    if (job.at_home) settle_home(job);  // it came in parts, or not at all
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
