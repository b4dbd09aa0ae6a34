#include "sim/parts/file_table.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "base/fnv1a.h"
#include "base/prng.h"

namespace streamsim::sim {
namespace {

struct ParsedName {
    std::uint64_t name = 0;    // the path without its number
    std::uint64_t number = 0;  // 0 where there is none
    std::uint64_t key() const { return mix64(name ^ mix64(number)); }
};

ParsedName parse(std::string_view path) {
    const std::size_t name = path.rfind('/') + 1;  // 0 without a slash
    std::size_t end = path.size();
    while (end > name && !is_digit(path[end - 1])) --end;
    std::size_t begin = end;
    while (begin > name && is_digit(path[begin - 1])) --begin;
    ParsedName parsed;
    if (begin == end) {
        parsed.name = mix64(fnv1a(path));
        return parsed;
    }
    for (std::size_t i = begin; i < end; ++i) {
        parsed.number = parsed.number * 10 + static_cast<std::uint64_t>(path[i] - '0');
    }
    const std::uint64_t head = mix64(fnv1a(path.substr(0, begin)));
    parsed.name = mix64(fnv1a(path.substr(end), head));
    return parsed;
}

std::uint64_t end_of(const Extent& extent) {
    return extent.offset + extent.bytes;
}

}  // namespace

FileTable::FileTable(const ClusterModel& model, const std::vector<ModelMedia>& media)
    : block_bytes_(model.block_bytes),
      nodes_(model.nodes),
      ring_size_(model.nodes * model.node.drives),
      blocks_a_drive_(std::max<std::uint64_t>(
          static_cast<std::uint64_t>(static_cast<double>(model.drive.capacity_bytes) * model.drive.filled) /
              std::max<std::uint64_t>(model.block_bytes, 1),
          1)) {
    STREAMSIM_CHECK(block_bytes_ > 0 && ring_size_ > 0, "a cluster has drives and a block size");
    STREAMSIM_CHECK(model.drive.kind == DriveModel::Kind::flash || model.drive.capacity_bytes > 0,
                    "a rotational drive has a capacity");
    for (const ModelMedia& each : media) add_media(each);
}

void FileTable::add_media(const ModelMedia& media) {
    const std::shared_ptr<const FrameIndex>& index = media.index;
    const std::string path = index->path_of(0);
    const ParsedName parsed = parse(path);
    const bool sequence = index->file_per_frame();
    const std::uint64_t key = sequence ? parsed.name : parsed.key();
    FlatIndex& known = sequence ? by_name_ : by_path_;
    if (known.find(key) != FlatIndex::kNone) return;
    std::uint64_t bytes = 0;  // of the container, or of the longest file
    for (std::uint64_t frame = 0; frame < index->count(); ++frame) {
        bytes = std::max(bytes, end_of(index->extent(frame)));
        if (sequence) continue;
        for (const Extent& audio : index->audio(frame)) bytes = std::max(bytes, end_of(audio));
    }
    directory_of(path).entries += sequence ? index->count() : 1;
    const double files = sequence ? static_cast<double>(index->count()) : 1;
    media_files_ += files;
    media_blocks_ += files * static_cast<double>(blocks_of(bytes));
    if (!sequence) {
        const SimFile file{.bytes = bytes, .layout = key, .of_media = true, .strategy = media.strategy};
        return known.insert(key, add_file(file));
    }
    known.insert(key, static_cast<std::uint32_t>(sequences_.size()));
    sequences_.push_back({index, parsed.name, parsed.number, blocks_of(bytes), {}, media.strategy});
}

/// Each file has the same number of blocks on every node, and on some of them one more: a sum of as many coins,
/// each with a variance of a quarter at most; seven standard deviations.
std::uint64_t FileTable::media_blocks_a_node() const {
    const double blocks = media_blocks_ / nodes_ + 3.5 * std::sqrt(media_files_) + 7;
    return static_cast<std::uint64_t>(std::min(blocks, 0x1p62));
}

std::uint32_t FileTable::find(std::string_view path) {
    const ParsedName parsed = parse(path);
    const std::uint64_t key = parsed.key();
    if (renamed_) {
        const std::uint32_t changed = by_path_.find(key);
        if (changed != FlatIndex::kNone) return changed == kGone ? SimFile::kNone : changed;
    }
    const std::uint32_t sequence = by_name_.find(parsed.name);
    if (sequence != FlatIndex::kNone) {
        const Sequence& of = sequences_[sequence];
        const std::uint64_t frame = parsed.number - of.number;
        if (parsed.number >= of.number && frame < of.index->count()) return number_in(sequence, frame);
    }
    const std::uint32_t known = by_path_.find(key);
    return known != FlatIndex::kNone ? known : add_named(path, key, UINT64_MAX);
}

std::uint32_t FileTable::number_of(std::string_view path) {
    const std::uint32_t number = find(path);
    return number != SimFile::kNone ? number : create(path).file;
}

std::uint32_t FileTable::number_of(std::uint32_t sequence, std::uint64_t frame) {
    if (frame >= sequences_[sequence].index->count()) return SimFile::kNone;
    return number_in(sequence, frame);
}

std::uint32_t FileTable::number_in(std::uint32_t sequence, std::uint64_t frame) {
    Sequence& of = sequences_[sequence];
    if (frame >= of.files.size()) of.files.resize(frame + 1, SimFile::kNone);
    std::uint32_t& number = of.files[frame];
    if (number == SimFile::kNone) {
        number = add_file({.bytes = end_of(of.index->extent(frame)),
                           .layout = of.name,
                           .first_block = frame * of.blocks,
                           .sequence = sequence,
                           .frame = frame,
                           .of_media = true,
                           .strategy = of.strategy});
    }
    return number;
}

std::uint32_t FileTable::add_file(const SimFile& file) {
    files_.push_back(file);
    return static_cast<std::uint32_t>(files_.size() - 1);
}

// ---- names

void FileTable::set(std::uint64_t key, std::uint32_t number) {
    by_path_.erase(key);
    by_path_.insert(key, number);
    renamed_ = true;
}

std::uint32_t FileTable::add_named(std::string_view path, std::uint64_t key, std::uint64_t bytes) {
    const std::uint32_t added = add_file({.bytes = bytes, .layout = key});
    by_path_.insert(key, added);
    ++directory_of(path).entries;
    return added;
}

FileTable::Directory& FileTable::directory_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return directories_[hash_of(path.substr(0, slash == std::string_view::npos ? 0 : slash))];
}

FileTable::Created FileTable::create(std::string_view path) {
    const std::uint64_t key = parse(path).key();
    const std::uint32_t changed = by_path_.find(key);
    if (changed != FlatIndex::kNone && changed != kGone) return {changed, false};
    if (changed == FlatIndex::kNone) {
        const std::uint32_t before = static_cast<std::uint32_t>(files_.size());
        const std::uint32_t number = find(path);  // a file of the media, or a new one
        if (files_[number].sequence != SimFile::kNone) return {number, false};
        files_[number].bytes = 0;
        return {number, number == before};
    }
    by_path_.erase(key);
    return {add_named(path, key, 0), true};
}

void FileTable::add(std::string_view path, std::uint64_t bytes) {
    files_[number_of(path)].bytes = bytes;
}

void FileTable::extend(std::uint32_t number, std::uint64_t end) {
    files_[number].bytes = std::max(files_[number].bytes, end);
}

Instant FileTable::coordinate(Job& job, Instant now, Duration work) {
    const bool writes = job.kind == Job::Kind::write;
    SimFile& file = files_[job.file];
    Coordinators& all = coordinators_[writes ? 1 : 0];
    if (!std::exchange(writes ? file.writing : file.reading, true))
        all.most_at_work = std::max(all.most_at_work, ++all.at_work);
    Instant& until = writes ? file.written_until : file.read_until;
    const Instant begin = std::max(until, now);
    until = begin + work;
    job.arrived = now;
    all.stats.arrive(now);
    all.stats.begin(begin, until, job.bytes);
    return until;
}

void FileTable::leave_coordinator(const Job& job, Instant now) {
    const bool writes = job.kind == Job::Kind::write;
    SimFile& file = files_[job.file];
    Coordinators& all = coordinators_[writes ? 1 : 0];
    all.stats.depart(now, job.arrived);
    if ((writes ? file.written_until : file.read_until) > now) return;
    if (std::exchange(writes ? file.writing : file.reading, false)) --all.at_work;
}

int FileTable::make_directory(std::string_view path) {
    const auto [made, fresh] = directories_.try_emplace(hash_of(path));
    if (!fresh && !made->second.gone) return EEXIST;
    made->second = {};
    return 0;
}

int FileTable::remove(std::string_view path) {
    if (const auto known = directories_.find(hash_of(path)); known != directories_.end()) {
        Directory& empty = known->second;
        if (empty.gone) return ENOENT;
        if (empty.entries > 0) return ENOTEMPTY;
        empty.gone = true;
        return 0;
    }
    if (find(path) == SimFile::kNone) return ENOENT;
    set(parse(path).key(), kGone);
    --directory_of(path).entries;
    return 0;
}

int FileTable::rename(std::string_view from, std::string_view to) {
    const std::uint32_t moved = find(from);
    if (moved == SimFile::kNone) return ENOENT;
    const std::uint64_t key = parse(to).key();
    if (key == parse(from).key()) return 0;
    const std::uint32_t replaced = by_path_.find(key);
    if (replaced == FlatIndex::kNone || replaced == kGone) ++directory_of(to).entries;
    set(parse(from).key(), kGone);
    --directory_of(from).entries;
    set(key, moved);
    return 0;
}

/// A file without an end has size 0.
int FileTable::stat(std::string_view path, std::uint64_t& bytes) {
    const auto known = directories_.find(hash_of(path));
    if (known != directories_.end()) return known->second.gone ? ENOENT : 0;
    const std::uint32_t number = find(path);
    if (number == SimFile::kNone) return ENOENT;
    bytes = files_[number].bytes != UINT64_MAX ? files_[number].bytes : 0;
    return 0;
}

std::uint64_t FileTable::hash_of(std::string_view path) {
    return fnv1a(path);
}

int FileTable::list(std::string_view path, std::uint64_t& entries) {
    const Directory& listed = directories_[hash_of(path)];
    if (listed.gone) return ENOENT;
    entries = listed.entries;
    return 0;
}

BlockPlace FileTable::place(std::uint32_t number, std::uint32_t block) const {
    const SimFile& file = files_[number];
    const std::uint64_t at = file.layout % ring_size_ + file.first_block + block;
    const std::uint64_t row = mix64(file.layout) % blocks_a_drive_ + at / ring_size_;
    return {static_cast<std::uint32_t>(at % ring_size_), row % blocks_a_drive_ * block_bytes_};
}

}  // namespace streamsim::sim
