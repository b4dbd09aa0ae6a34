#include <algorithm>
#include <cerrno>

#include "base/prng.h"
#include "sim/cluster/core.h"

namespace streamsim::sim {
namespace {

/// Reads that follow each other before the storage believes it; what begins at the beginning of a file is
/// believed at once.
constexpr std::uint32_t kBelieved = 2;
/// Small: a read of no more than this part of a block.
constexpr std::uint64_t kSmallPart = 8;
/// Small reads follow each other when they are no farther apart than so many of their length.
constexpr std::uint64_t kNear = 16;
/// Small reads at random after which a file is not believed to be read front to back any more.
constexpr std::uint32_t kJumps = 4;

}  // namespace

AccessStrategy ClusterCore::strategy_of(const SimFile& file) const {
    if (options_.strategy != AccessStrategy::as_media) return options_.strategy;
    return file.sequence != SimFile::kNone ? AccessStrategy::filename_prefetch : AccessStrategy::streaming;
}

std::uint64_t ClusterCore::readahead_of(const SimFile& file) const {
    switch (strategy_of(file)) {
        case AccessStrategy::random: return 0;
        case AccessStrategy::streaming: return options_.model.strategy.streaming_bytes;
        default: return options_.model.strategy.concurrency_bytes;
    }
}

/// Whether single pages are read for it, and no blocks.
bool ClusterCore::by_pages(const Job& job) const {
    const ClusterModel& model = options_.model;
    const SimFile& file = files_[job.file];
    const std::uint64_t small = model.block_bytes / kSmallPart;
    if (model.page_bytes == 0 || job.bytes > small || job.offset == 0) return false;
    if (file.sequence != SimFile::kNone || file.bytes <= small) return false;
    const Handle& handle = handles_[job.handle];
    if (handle.opening != job.opening || handle.file == kNone) return true;
    if (handle.small_in_order >= kBelieved) return false;
    const std::uint64_t window = readahead_of(file);
    const bool near = job.offset <= handle.end + window && handle.end <= job.offset + job.bytes + window;
    return handle.in_order < kBelieved || !near;
}

void ClusterCore::track_small(const Job& job) {
    Handle& handle = handles_[job.handle];
    if (job.bytes > options_.model.block_bytes / kSmallPart) return;
    const std::uint64_t near = kNear * job.bytes;
    const std::uint64_t end = job.offset + job.bytes;
    const bool follows = job.offset <= handle.small_end + near && handle.small_end <= end + near;
    handle.small_in_order = follows ? std::min(handle.small_in_order + 1, kBelieved) : 0;
    handle.small_end = end;
    if (!job.paged) {
        handle.jumps = 0;
    } else if (++handle.jumps >= kJumps) {
        handle.in_order = 0;
    }
}

void ClusterCore::read_ahead(const Job& job) {
    Handle& handle = handles_[job.handle];
    if (handle.opening != job.opening || handle.file == kNone) return;  // closed meanwhile
    if (options_.model.page_bytes > 0) track_small(job);
    if (job.paged) return;
    if (!handle.was_read) follow_names(job);
    handle.was_read = true;
    const std::uint64_t window = readahead_of(files_[job.file]);
    if (window == 0) return;
    const std::uint64_t size = options_.model.block_bytes;
    const std::uint64_t end = job.offset + job.bytes;
    // Pieces overtake each other on their way: as far as the window that is no jump.
    const bool jump = job.offset > handle.end + window || end + window < handle.end;
    if (jump || handle.node != job.node) {
        handle.in_order = job.offset == 0 ? kBelieved : jump ? 0 : handle.in_order;
        handle.end = end;
        handle.ahead = 0;
        handle.node = job.node;
    } else if (handle.in_order < kBelieved) {
        handle.in_order = job.offset == 0 ? kBelieved : handle.in_order + 1;
    }
    handle.end = std::max(handle.end, end);
    if (handle.in_order < kBelieved) return;
    const std::uint64_t file_end = files_[job.file].bytes;
    const std::uint64_t to = std::min(handle.end + window, file_end);
    const std::uint64_t first = std::max(handle.ahead, (end - 1) / size + 1);
    const std::uint64_t behind = (to + size - 1) / size;
    for (std::uint64_t block = first; block < behind; ++block) fetch_ahead(job, job.file, block);
    handle.ahead = std::max(handle.ahead, std::max(first, behind));
}

void ClusterCore::follow_names(const Job& job) {
    const std::uint64_t files = options_.model.strategy.filename_files;
    const SimFile begun = files_[job.file];
    if (files == 0 || begun.sequence == SimFile::kNone) return;
    if (strategy_of(begun) != AccessStrategy::filename_prefetch) return;
    const std::uint64_t key = mix64(mix64((std::uint64_t{job.seat} << 32) | job.stream) ^ begun.sequence);
    std::uint32_t number = followers_by_stream_.find(key);
    if (number == FlatIndex::kNone) {
        number = static_cast<std::uint32_t>(followers_.size());
        followers_by_stream_.insert(key, number);
        followers_.push_back({begun.frame, 0, job.node, false});
        return;
    }
    Follower& follower = followers_[number];
    if (begun.frame > follower.frame && begun.frame - follower.frame <= files) {
        follower.follows = true;
    } else if (begun.frame > follower.frame || follower.frame - begun.frame > files) {
        follower.follows = false;  // a jump; what lies a little back has been overtaken
        follower.fetched_to = 0;
        follower.frame = begun.frame;
    }
    if (follower.node != job.node) follower.fetched_to = 0;
    follower.node = job.node;
    follower.frame = std::max(follower.frame, begun.frame);
    if (!follower.follows) return;
    const std::uint64_t first = std::max(follower.fetched_to, follower.frame + 1);
    for (std::uint64_t frame = first; frame <= follower.frame + files; ++frame) {
        const std::uint32_t next = files_.number_of(begun.sequence, frame);
        if (next == SimFile::kNone) break;
        const std::uint64_t size = options_.model.block_bytes;
        const std::uint64_t blocks = (files_[next].bytes + size - 1) / size;
        for (std::uint64_t block = 0; block < blocks; ++block) fetch_ahead(job, next, block);
        follower.fetched_to = frame + 1;
    }
}

void ClusterCore::fetch_ahead(const Job& job, std::uint32_t file, std::uint64_t block) {
    Node& node = nodes_[job.node];
    if (node.ram.capacity() == 0) return;  // nowhere to wait until it is asked for
    const auto number = static_cast<std::uint32_t>(block);
    const std::uint64_t key = FileTable::key(file, number);
    if (node.arrivals.expects(key) || node.ram.has(key)) return;
    fetch(job, file, number, false);
}

/// A page that nobody asked for before is in a warm cache with the chance that its size gives, among the files
/// that are open at this node; in which level, by one draw for both.
bool ClusterCore::has_page(Node& node, std::uint32_t file, std::uint32_t page, BlockCache& cache) const {
    const ClusterModel& model = options_.model;
    const std::uint64_t key = FileTable::key(file, page) | BlockCache::kPage;
    const std::uint64_t pages_a_block = model.block_bytes / model.page_bytes;
    const std::uint64_t block = FileTable::key(file, static_cast<std::uint32_t>(page / pages_a_block));
    bool was_there = false;
    if (options_.warm) {
        std::uint64_t room = cache.capacity();
        if (&cache == &node.ssd) room += node.ram.capacity();
        const double all = static_cast<double>(node.opened_bytes) / static_cast<double>(model.page_bytes);
        was_there = Prng(seed_ ^ key).unit() * all < static_cast<double>(room);
    }
    return cache.take_page(key, block, was_there);
}

/// A block or a page, and what has to go for it.
void ClusterCore::cache(Node& node, std::uint64_t key) {
    for (auto gone = node.ram.put(key); gone; gone = node.ram.evict()) {
        if (node.ssd.capacity() == 0) continue;
        node.ssd.put(*gone);
        while (node.ssd.evict()) {
        }
    }
}

void ClusterCore::fetch(const Job& for_whom, std::uint32_t file, std::uint32_t block, bool paged) {
    Node& node = nodes_[for_whom.node];
    Job& job = jobs_.take();
    job.paged = paged;
    job.kind = Job::Kind::fetch;
    job.seat = for_whom.seat;
    job.node = for_whom.node;
    job.file = file;
    job.block = block;
    const std::uint64_t key = key_of(job, block);
    node.arrivals.expect(key);
    const std::uint64_t size = unit_of(job);
    const std::uint64_t offset = block * size;
    const std::uint64_t end = files_[file].bytes;
    job.bytes = end - offset < size ? end - offset : size;
    job.chance = mix64(for_whom.chance ^ key);
    const bool on_ssd =
        node.ssd.capacity() > 0 && (paged ? has_page(node, file, block, node.ssd) : node.ssd.take(key));
    if (on_ssd) {
        job.stage = Stage::ssd;
        node.ssd_reads.enter(job, 0, node.ssd_time, job.bytes);
    } else {
        to_drive(job);
    }
}

void ClusterCore::advance_fetch(Job& job) {
    switch (job.stage) {
        case Stage::ssd: return delay(job, Stage::ssd_way, options_.model.node.ssd.latency);
        case Stage::drive: return leave_drive(job);
        case Stage::back_end: return delay(job, Stage::back_way, options_.model.node.back_end.latency);
        default: return block_came(job);
    }
}

// ---- drives
// ----------------------------------------------------------------------------------------------------

Drive& ClusterCore::drive_at(std::uint32_t ring) {
    return *nodes_[files_.node_of(ring)].drives[files_.drive_of(ring)];
}

BlockPlace ClusterCore::place_of(const Job& job) const {
    const ClusterModel& model = options_.model;
    if (!job.paged) return files_.place(job.file, job.block);
    const std::uint64_t at = job.block * model.page_bytes;
    BlockPlace place = files_.place(job.file, static_cast<std::uint32_t>(at / model.block_bytes));
    place.position += at % model.block_bytes;
    return place;
}

void ClusterCore::to_drive(Job& job) {
    const BlockPlace place = place_of(job);
    if (drive_at(place.ring).dead) return rebuild(job, place);
    to_live_drive(job, place.ring);
}

void ClusterCore::to_live_drive(Job& job, std::uint32_t ring) {
    job.stage = Stage::drive;
    job.home = ring;
    drive_at(ring).enter(job, place_of(job).position, job.bytes, job.chance);
}

/// The next live drive around the ring; kNone where there is none.
std::uint32_t ClusterCore::live_after(std::uint32_t ring) const {
    for (std::uint32_t step = 1; step <= files_.ring_size(); ++step) {
        const std::uint32_t at = (ring + step) % files_.ring_size();
        if (!nodes_[files_.node_of(at)].drives[files_.drive_of(at)]->dead) return at;
    }
    return kNone;
}

/// A lost block is computed from as many others of its group as there are data drives in it. Assumption: the
/// others are on the drives that follow around the ring, in the same row.
void ClusterCore::rebuild(Job& job, const BlockPlace& place) {
    std::uint32_t ring = place.ring;
    std::uint32_t live = 0;
    for (std::uint32_t at = 0; at < files_.ring_size(); ++at) {
        if (!drive_at(at).dead) ++live;
    }
    const std::uint32_t needed = std::max<std::uint32_t>(options_.model.data_drives, 1);
    if (live < needed) return fail_fetch(job);
    job.waits_for = needed;
    for (std::uint32_t i = 0; i < needed; ++i) {
        ring = live_after(ring);
        Job& part = jobs_.take();
        part.kind = Job::Kind::fetch;
        part.parent = &job;
        part.seat = job.seat;
        part.node = job.node;
        part.file = job.file;
        part.block = job.block;
        part.paged = job.paged;
        part.bytes = job.bytes;
        part.chance = derive_seed(job.chance, i);
        to_live_drive(part, ring);
    }
}

void ClusterCore::fail_fetch(Job& job) {
    job.error = EIO;
    job.stage = Stage::back_way;
    calendar_.at(calendar_.now(), Callback::of<&Job::arrive>(&job));  // not inside the call that wants it
}

void ClusterCore::leave_drive(Job& job) {
    if (files_.node_of(job.home) == job.node) return block_came(job);
    job.stage = Stage::back_end;
    nodes_[job.node].back_end.enter(job, job.seat, {}, job.bytes);
}

void ClusterCore::block_came(Job& job) {
    if (job.parent != nullptr) {
        Job& whole = *job.parent;
        if (job.error != 0) whole.error = job.error;
        jobs_.give(job);
        if (--whole.waits_for == 0) block_came(whole);
        return;
    }
    Node& node = nodes_[job.node];
    const std::uint64_t key = key_of(job, job.block);
    const int error = job.error;
    jobs_.give(job);
    std::uint32_t waiter = node.arrivals.arrived(key);
    if (error == 0) cache(node, key);
    while (Job* const read = node.arrivals.next(waiter)) {
        if (error != 0) read->error = error;
        if (--read->waits_for == 0) answer(*read);
    }
}

}  // namespace streamsim::sim
