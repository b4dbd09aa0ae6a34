#include "sim/parts/file_table.h"

#include <algorithm>
#include <cerrno>
#include <string>

#include "base/check.h"
#include "base/prng.h"

namespace streamsim::sim {
namespace {

struct ParsedName {
    std::uint64_t name = 0;    // the path without its number
    std::uint64_t number = 0;  // 0 where there is none
    std::uint64_t key() const { return mix64(name ^ mix64(number)); }
};

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// FNV-1a (Fowler, Noll and Vo); mix64 spreads a hash that is kept.
constexpr std::uint64_t kHashStart = 0xcbf29ce484222325ull;
std::uint64_t hash(std::string_view text, std::uint64_t from) {
    for (const char c : text) from = (from ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    return from;
}

ParsedName parse(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    const std::size_t name = slash == std::string_view::npos ? 0 : slash + 1;
    std::size_t end = path.size();
    while (end > name && !is_digit(path[end - 1])) --end;
    std::size_t begin = end;
    while (begin > name && is_digit(path[begin - 1])) --begin;
    ParsedName parsed;
    if (begin == end) {
        parsed.name = mix64(hash(path, kHashStart));
        return parsed;
    }
    for (std::size_t i = begin; i < end; ++i) {
        parsed.number = parsed.number * 10 + static_cast<std::uint64_t>(path[i] - '0');
    }
    const std::uint64_t head = mix64(hash(path.substr(0, begin), kHashStart));
    parsed.name = mix64(hash(path.substr(end), head));
    return parsed;
}

std::uint64_t blocks_of(std::uint64_t bytes, std::uint64_t block_bytes) {
    return (bytes + block_bytes - 1) / block_bytes;
}

std::uint64_t end_of(const Extent& extent) {
    return extent.offset + extent.bytes;
}

}  // namespace

FileTable::FileTable(const ClusterModel& model, const std::vector<std::shared_ptr<const FrameIndex>>& media)
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
    for (const auto& index : media) add_media(index);
}

void FileTable::add_media(const std::shared_ptr<const FrameIndex>& index) {
    std::string path(index->path_capacity(), '\0');
    index->write_path(0, path.data());
    const ParsedName parsed = parse(path.c_str());
    if (!index->file_per_frame()) {
        const std::uint64_t key = parsed.key();
        if (by_path_.find(key) != FlatIndex::kNone) return;
        SimFile file;
        file.layout = key;
        file.bytes = 0;
        for (std::uint64_t frame = 0; frame < index->count(); ++frame) {
            file.bytes = std::max(file.bytes, end_of(index->extent(frame)));
            for (const Extent& audio : index->audio(frame)) file.bytes = std::max(file.bytes, end_of(audio));
        }
        by_path_.insert(key, add_file(file));
        ++directory_of(path.c_str()).entries;
        return;
    }
    if (by_name_.find(parsed.name) != FlatIndex::kNone) return;
    std::uint64_t longest = 0;
    for (std::uint64_t frame = 0; frame < index->count(); ++frame) {
        longest = std::max(longest, end_of(index->extent(frame)));
    }
    by_name_.insert(parsed.name, static_cast<std::uint32_t>(sequences_.size()));
    sequences_.push_back({index, parsed.name, parsed.number, blocks_of(longest, block_bytes_), {}});
    directory_of(path.c_str()).entries += index->count();
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
                           .frame = frame});
    }
    return number;
}

std::uint32_t FileTable::add_file(const SimFile& file) {
    files_.push_back(file);
    return static_cast<std::uint32_t>(files_.size() - 1);
}

// ---- names
// -----------------------------------------------------------------------------------------------------

void FileTable::set(std::uint64_t key, std::uint32_t number) {
    by_path_.erase(key);
    by_path_.insert(key, number);
    renamed_ = true;
}

std::uint32_t FileTable::add_named(std::string_view path, std::uint64_t key, std::uint64_t bytes) {
    SimFile file;
    file.layout = key;
    file.bytes = bytes;
    const std::uint32_t added = add_file(file);
    by_path_.insert(key, added);
    ++directory_of(path).entries;
    return added;
}

FileTable::Directory& FileTable::directory(std::uint64_t key) {
    std::uint32_t number = directories_by_path_.find(key);
    if (number == FlatIndex::kNone) {
        number = static_cast<std::uint32_t>(directories_.size());
        directories_by_path_.insert(key, number);
        directories_.emplace_back();
    }
    return directories_[number];
}

FileTable::Directory& FileTable::directory_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return directory(hash_of(path.substr(0, slash == std::string_view::npos ? 0 : slash)));
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

int FileTable::make_directory(std::string_view path) {
    const std::uint64_t key = hash_of(path);
    const bool known = directories_by_path_.find(key) != FlatIndex::kNone;
    Directory& made = directory(key);
    if (known && !made.gone) return EEXIST;
    made = {};
    return 0;
}

int FileTable::remove(std::string_view path) {
    const std::uint64_t name = hash_of(path);
    if (directories_by_path_.find(name) != FlatIndex::kNone) {
        Directory& empty = directory(name);
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
    const std::uint32_t known = directories_by_path_.find(hash_of(path));
    if (known != FlatIndex::kNone) return directories_[known].gone ? ENOENT : 0;
    const std::uint32_t number = find(path);
    if (number == SimFile::kNone) return ENOENT;
    bytes = files_[number].bytes != UINT64_MAX ? files_[number].bytes : 0;
    return 0;
}

std::uint64_t FileTable::hash_of(std::string_view path) {
    return hash(path, kHashStart);
}

int FileTable::list(std::string_view path, std::uint64_t& entries) {
    const Directory& listed = directory(hash_of(path));
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
