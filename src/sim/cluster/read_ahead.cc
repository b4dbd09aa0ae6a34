#include "sim/cluster/read_ahead.h"

#include <algorithm>

#include "base/prng.h"

namespace streamsim::sim {
namespace {

/// So many consecutive reads make an order; a read at the beginning of a file makes one alone.
constexpr std::uint32_t kReadsInOrder = 2;
/// A small read has at most this part of a block.
constexpr std::uint64_t kSmallPart = 8;
/// So many small reads at random end the order of a file.
constexpr std::uint32_t kSmallJumps = 4;

/// No jump: a later frame lies behind those before it, and a read may have been overtaken in transit.
bool is_in_order(const Job& read, const OpenFile& handle, std::uint64_t window) {
    return !read.goes_back && is_near(read, handle.end, window);
}

}  // namespace

AccessStrategy ReadAhead::strategy_of(const SimFile& file) const {
    if (parts_.options.strategy != AccessStrategy::as_media) return parts_.options.strategy;
    if (file.strategy != AccessStrategy::as_media) return file.strategy;
    return file.sequence != SimFile::kNone ? AccessStrategy::filename_prefetch : AccessStrategy::streaming;
}

std::uint64_t ReadAhead::window_of(const SimFile& file) const {
    switch (strategy_of(file)) {
        case AccessStrategy::random: return 0;
        case AccessStrategy::streaming: return parts_.model().strategy.streaming_bytes;
        default: return parts_.model().strategy.concurrency_bytes;
    }
}

bool ReadAhead::takes_pages(const Job& read) const {
    const ClusterModel& model = parts_.model();
    const SimFile& file = parts_.files[read.file];
    const std::uint64_t small = model.block_bytes / kSmallPart;
    if (model.page_bytes == 0 || read.bytes > small || read.offset == 0) return false;
    if (file.sequence != SimFile::kNone || file.bytes <= small) return false;
    const OpenFile* const handle = open_files_.of(read);
    if (handle == nullptr) return true;
    if (handle->small_in_order >= kReadsInOrder) return false;
    return handle->in_order < kReadsInOrder || !is_near(read, handle->end, window_of(file));
}

std::uint64_t ReadAhead::reader_key(const Job& read, const SimFile& file) {
    return mix64(mix64((std::uint64_t{read.seat} << 32) | read.stream) ^ file.sequence);
}

std::uint64_t ReadAhead::distance(const Job& read) const {
    const SimFile& file = parts_.files[read.file];
    if (file.sequence != SimFile::kNone && strategy_of(file) == AccessStrategy::filename_prefetch) {
        const auto known = readers_.find(reader_key(read, file));
        if (known != readers_.end() && known->second.in_order) return file.bytes;
    }
    const OpenFile* const handle = open_files_.of(read);
    if (handle == nullptr || handle->in_order < kReadsInOrder) return 0;
    const std::uint64_t window = window_of(file);
    return is_in_order(read, *handle, window) ? window : 0;
}

void ReadAhead::follow(const Job& read) {
    OpenFile* const handle = open_files_.of(read);
    if (handle == nullptr) return;
    if (parts_.model().page_bytes > 0) track_small(*handle, read);
    if (read.paged) return;
    if (!handle->was_read) follow_names(read);
    handle->was_read = true;
    const std::uint64_t window = window_of(parts_.files[read.file]);
    if (window == 0) return;
    track_order(*handle, read, window);
    if (handle->in_order < kReadsInOrder) return;
    const std::uint64_t size = parts_.model().block_bytes;
    const std::uint64_t to = std::min(handle->end + window, parts_.files[read.file].bytes);
    const std::uint64_t first = std::max(handle->ahead, (read.offset + read.bytes - 1) / size + 1);
    const std::uint64_t behind = parts_.files.blocks_of(to);
    for (std::uint64_t block = first; block < behind; ++block)
        blocks_.fetch_ahead(read, read.file, block, window);
    handle->ahead = std::max(handle->ahead, std::max(first, behind));
}

void ReadAhead::track_small(OpenFile& handle, const Job& read) const {
    if (read.bytes > parts_.model().block_bytes / kSmallPart) return;
    const bool follows = is_near(read, handle.small_end, small_gap(read));
    handle.small_in_order = follows ? std::min(handle.small_in_order + 1, kReadsInOrder) : 0;
    handle.small_end = read.offset + read.bytes;
    if (!read.paged) {
        handle.small_jumps = 0;
    } else if (++handle.small_jumps >= kSmallJumps) {
        handle.in_order = 0;
    }
}

void ReadAhead::track_order(OpenFile& handle, const Job& read, std::uint64_t window) const {
    const std::uint64_t end = read.offset + read.bytes;
    const bool jump = !is_in_order(read, handle, window);
    if (jump || handle.node != read.node) {
        handle.in_order = read.offset == 0 ? kReadsInOrder : jump ? 0 : handle.in_order;
        handle.end = end;
        handle.ahead = 0;
        handle.node = read.node;
    } else if (handle.in_order < kReadsInOrder) {
        handle.in_order = read.offset == 0 ? kReadsInOrder : handle.in_order + 1;
    }
    handle.end = std::max(handle.end, end);
}

void ReadAhead::follow_names(const Job& read) {
    const std::uint64_t files = parts_.model().strategy.filename_files;
    const SimFile begun = parts_.files[read.file];
    if (files == 0 || begun.sequence == SimFile::kNone) return;
    if (strategy_of(begun) != AccessStrategy::filename_prefetch) return;
    const auto [known, first_file] =
        readers_.try_emplace(reader_key(read, begun), SequenceReader{begun.frame, 0, read.node, false});
    if (first_file) return;
    SequenceReader& reader = known->second;
    if (begun.frame > reader.frame && begun.frame - reader.frame <= files) {
        reader.in_order = true;
    } else if (begun.frame > reader.frame || reader.frame - begun.frame > files) {
        reader.in_order = false;  // a jump; a frame a little back was overtaken in transit
        reader.fetched_to = 0;
        reader.frame = begun.frame;
    }
    if (reader.node != read.node) reader.fetched_to = 0;
    reader.node = read.node;
    reader.frame = std::max(reader.frame, begun.frame);
    if (!reader.in_order) return;
    const std::uint64_t first = std::max(reader.fetched_to, reader.frame + 1);
    for (std::uint64_t frame = first; frame <= reader.frame + files; ++frame) {
        const std::uint32_t next = parts_.files.number_of(begun.sequence, frame);
        if (next == SimFile::kNone) break;
        const std::uint64_t bytes = parts_.files[next].bytes;
        const std::uint64_t blocks = parts_.files.blocks_of(bytes);
        for (std::uint64_t block = 0; block < blocks; ++block) blocks_.fetch_ahead(read, next, block, bytes);
        reader.fetched_to = frame + 1;
    }
}

}  // namespace streamsim::sim
