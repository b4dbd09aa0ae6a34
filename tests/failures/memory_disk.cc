#include "failures/memory_disk.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/path.h"

namespace streamsim::testing {
namespace {

Error failed(const std::string& path, const char* why) {
    return environment_error(path + ": " + why);
}

}  // namespace

class MemorySource final : public ByteSource {
public:
    MemorySource(MemoryDisk& disk, MemoryDisk::NodePtr file) : disk_(disk), file_(std::move(file)) {}
    Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
        const std::lock_guard lock(disk_.mutex_);
        const std::string& bytes = file_->bytes;
        if (offset >= bytes.size()) return std::size_t{0};
        const std::size_t count = std::min<std::size_t>(into.size(), bytes.size() - offset);
        std::memcpy(into.data(), bytes.data() + offset, count);
        return count;
    }
    Result<std::uint64_t> size() override {
        const std::lock_guard lock(disk_.mutex_);
        return std::uint64_t{file_->bytes.size()};
    }

private:
    MemoryDisk& disk_;
    MemoryDisk::NodePtr file_;
};

class MemorySink final : public ByteSink {
public:
    MemorySink(MemoryDisk& disk, MemoryDisk::NodePtr file) : disk_(disk), file_(std::move(file)) {}
    Result<void> write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
        const std::lock_guard lock(disk_.mutex_);
        std::string& all = file_->bytes;
        if (all.size() < offset + bytes.size()) all.resize(offset + bytes.size());
        std::memcpy(all.data() + offset, bytes.data(), bytes.size());
        file_->modified_s = disk_.now_s_;
        return {};
    }
    Result<void> close() override {
        const std::lock_guard lock(disk_.mutex_);
        file_->durable = file_->bytes;
        return {};
    }

private:
    MemoryDisk& disk_;
    MemoryDisk::NodePtr file_;
};

namespace {

/// The store of beneath(): it owns nothing.
class SameStore final : public ByteStore {
public:
    explicit SameStore(ByteStore& whole) : whole_(whole) {}
    Result<std::vector<DirectoryEntry>> list(const std::string& path) override { return whole_.list(path); }
    Result<std::optional<FileInfo>> stat(const std::string& path) override { return whole_.stat(path); }
    Result<std::unique_ptr<ByteSource>> open(const std::string& path) override { return whole_.open(path); }
    Result<std::unique_ptr<ByteSink>> create(const std::string& path) override { return whole_.create(path); }
    Result<void> make_directories(const std::string& path) override { return whole_.make_directories(path); }
    Result<void> rename(const std::string& from, const std::string& to) override {
        return whole_.rename(from, to);
    }
    Result<bool> set_aside(const std::string& from, const std::string& to) override {
        return whole_.set_aside(from, to);
    }
    Result<void> remove(const std::string& path) override { return whole_.remove(path); }
    Result<std::uint64_t> free_bytes(const std::string& path) override { return whole_.free_bytes(path); }
    Result<void> evict(const std::string& path) override { return whole_.evict(path); }
    Result<std::unique_ptr<ByteStore>> beneath(const std::string& path) override {
        return whole_.beneath(path);
    }

private:
    ByteStore& whole_;
};

}  // namespace

MemoryDisk::MemoryDisk(bool sets_aside) : sets_aside_(sets_aside), root_(make_node(true)) {}

MemoryDisk::NodePtr MemoryDisk::make_node(bool directory) {
    auto node = std::make_shared<Node>();
    node->id = ++ids_;
    node->directory = directory;
    node->modified_s = now_s_;
    nodes_.push_back(node);
    return node;
}

MemoryDisk::NodePtr MemoryDisk::find(const std::string& path) const {
    NodePtr at = root_;
    for (std::size_t begin = 1; at != nullptr && begin < path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const auto entry = at->entries.find(path.substr(begin, end - begin));
        at = entry == at->entries.end() ? nullptr : entry->second;
        begin = end + 1;
    }
    return at;
}

std::optional<MemoryDisk::Place> MemoryDisk::place(const std::string& path) const {
    Place found{find(parent_of(path)), base_name(path), nullptr};
    if (found.directory == nullptr || !found.directory->directory) return std::nullopt;
    const auto entry = found.directory->entries.find(found.name);
    if (entry != found.directory->entries.end()) found.node = entry->second;
    return found;
}

void MemoryDisk::apply(Change change) {
    for (const Edit& edit : change) {
        if (edit.node == nullptr) {
            edit.directory->entries.erase(edit.name);
        } else {
            edit.directory->entries[edit.name] = edit.node;
        }
    }
    unsynced_.push_back(std::move(change));
}

void MemoryDisk::sync_names() {
    unsynced_.clear();
    for (const NodePtr& node : nodes_) node->durable_entries = node->entries;
}

Result<std::vector<DirectoryEntry>> MemoryDisk::list(const std::string& directory) {
    const std::lock_guard lock(mutex_);
    const NodePtr node = find(directory);
    if (node == nullptr || !node->directory) return failed(directory, "No such directory");
    std::vector<DirectoryEntry> entries;
    for (const auto& [name, entry] : node->entries) entries.push_back({name, entry->directory, false});
    return entries;
}

Result<std::optional<FileInfo>> MemoryDisk::stat(const std::string& path) {
    const std::lock_guard lock(mutex_);
    const NodePtr node = find(path);
    if (node == nullptr) return std::optional<FileInfo>();
    FileInfo info;
    info.directory = node->directory;
    info.bytes = node->bytes.size();
    info.modified_s = node->modified_s;
    info.links = 1;
    info.file_id = node->id;
    return std::optional(info);
}

Result<std::unique_ptr<ByteSource>> MemoryDisk::open(const std::string& path) {
    const std::lock_guard lock(mutex_);
    const NodePtr node = find(path);
    if (node == nullptr || node->directory) return failed(path, "No such file");
    return std::unique_ptr<ByteSource>(std::make_unique<MemorySource>(*this, node));
}

Result<std::unique_ptr<ByteSink>> MemoryDisk::create(const std::string& path) {
    const std::lock_guard lock(mutex_);
    const auto at = place(path);
    if (!at) return failed(path, "No such directory");
    if (at->node != nullptr) return failed(path, "File exists");
    const NodePtr node = make_node(false);
    apply({{at->directory, at->name, node}});
    return std::unique_ptr<ByteSink>(std::make_unique<MemorySink>(*this, node));
}

Result<void> MemoryDisk::make_directories(const std::string& path) {
    const std::lock_guard lock(mutex_);
    for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
        const std::string part = path.substr(0, slash);
        const auto at = place(part);
        if (!at || (at->node != nullptr && !at->node->directory)) return failed(part, "Not a directory");
        if (at->node == nullptr) apply({{at->directory, at->name, make_node(true)}});
        if (slash == std::string::npos) return {};
    }
}

Result<void> MemoryDisk::move(const std::string& from, const std::string& to) {
    const auto old_place = place(from), new_place = place(to);
    if (!old_place || old_place->node == nullptr) return failed(from, "No such file or directory");
    if (!new_place) return failed(to, "No such directory");
    if (new_place->node != nullptr) return failed(to, "File exists");
    apply({{old_place->directory, old_place->name, nullptr},
           {new_place->directory, new_place->name, old_place->node}});
    return {};
}

Result<void> MemoryDisk::rename(const std::string& from, const std::string& to) {
    const std::lock_guard lock(mutex_);
    auto moved = move(from, to);
    if (moved) sync_names();
    return moved;
}

Result<void> MemoryDisk::rename_unsynced(const std::string& from, const std::string& to) {
    const std::lock_guard lock(mutex_);
    return move(from, to);
}

Result<bool> MemoryDisk::set_aside(const std::string& from, const std::string& to) {
    if (!sets_aside_) return false;
    const std::lock_guard lock(mutex_);
    const auto moved = move(from, to);
    if (!moved) return moved.error();
    return true;
}

Result<void> MemoryDisk::remove(const std::string& path) {
    const std::lock_guard lock(mutex_);
    const auto at = place(path);
    if (!at || at->node == nullptr) return failed(path, "No such file or directory");
    if (!at->node->entries.empty()) return failed(path, "Directory not empty");
    apply({{at->directory, at->name, nullptr}});
    return {};
}

Result<std::uint64_t> MemoryDisk::free_bytes(const std::string& /*path*/) {
    return UINT64_MAX / 2;
}

Result<void> MemoryDisk::evict(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (find(path) == nullptr) return failed(path, "No such file");
    return {};
}

Result<std::unique_ptr<ByteStore>> MemoryDisk::beneath(const std::string& directory) {
    const std::lock_guard lock(mutex_);
    const NodePtr node = find(directory);
    if (node == nullptr || !node->directory) return failed(directory, "No such directory");
    return std::unique_ptr<ByteStore>(std::make_unique<SameStore>(*this));
}

/// A crash leaves nothing of the bytes since the last close(), zeroes, a beginning, both ends, or all.
void MemoryDisk::lose_bytes(Node& file, Prng& prng) {
    if (file.directory || file.bytes == file.durable) return;
    const std::size_t size = file.bytes.size();
    switch (prng.below(5)) {
        case 0: file.bytes = file.durable; break;
        case 1: file.bytes.assign(size, '\0'); break;
        case 2: file.bytes.resize(prng.below(size + 1)); break;
        case 3: file.bytes.replace(size / 5 * 2, size / 5, size / 5, '\0'); break;
        default: break;
    }
    file.durable = file.bytes;
}

void MemoryDisk::crash(std::uint64_t seed) {
    const std::lock_guard lock(mutex_);
    Prng prng(seed);
    std::vector<Change> changes = std::exchange(unsynced_, {});
    for (const NodePtr& node : nodes_) node->entries = node->durable_entries;
    changes.resize(prng.below(changes.size() + 1));
    for (Change& change : changes) apply(std::move(change));
    for (const NodePtr& node : nodes_) lose_bytes(*node, prng);
    sync_names();
}

void MemoryDisk::put(const std::string& path, const std::string& bytes) {
    (void)make_directories(parent_of(path));
    const std::lock_guard lock(mutex_);
    const NodePtr node = make_node(false);
    node->bytes = node->durable = bytes;
    const auto at = place(path);
    apply({{at->directory, at->name, node}});
    sync_names();
}

void MemoryDisk::collect(const Node& directory,
                         const std::string& at,
                         std::map<std::string, std::string>& out) {
    for (const auto& [name, node] : directory.entries) {
        const std::string path = at + name;
        out[node->directory ? path + "/" : path] = node->bytes;
        if (node->directory) collect(*node, path + "/", out);
    }
}

std::map<std::string, std::string> MemoryDisk::tree() const {
    const std::lock_guard lock(mutex_);
    std::map<std::string, std::string> out;
    collect(*root_, "/", out);
    return out;
}

void MemoryDisk::pass(std::int64_t seconds) {
    const std::lock_guard lock(mutex_);
    now_s_ += seconds;
}

}  // namespace streamsim::testing
