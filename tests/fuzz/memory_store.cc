#include "fuzz/memory_store.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace streamsim::fuzz {
namespace {

Error cannot(const std::string& path) {
    return environment_error(path + ": these files are read only");
}

}  // namespace

Result<std::size_t> MemorySource::read_at(std::uint64_t offset, std::span<std::byte> into) {
    if (offset >= bytes_.size()) return std::size_t{0};
    const Input part = bytes_.subspan(static_cast<std::size_t>(offset));
    const std::size_t got = std::min(part.size(), into.size());
    if (got > 0) std::memcpy(into.data(), part.data(), got);
    return got;
}

Result<std::vector<DirectoryEntry>> MemoryStore::list(const std::string& directory) {
    std::vector<DirectoryEntry> entries;
    for (const auto& [path, bytes] : files_) {
        if (path.starts_with(directory + "/") && path.find('/', directory.size() + 1) == std::string::npos)
            entries.push_back({path.substr(directory.size() + 1), false, false});
    }
    return entries;
}

Result<std::optional<FileInfo>> MemoryStore::stat(const std::string& path) {
    const auto found = files_.find(path);
    if (found != files_.end()) return std::optional(FileInfo{false, found->second.size(), 1, false});
    const bool directory = std::any_of(files_.begin(), files_.end(),
                                       [&](const auto& file) { return file.first.starts_with(path + "/"); });
    return directory ? std::optional(FileInfo{true, 0, 1, false}) : std::nullopt;
}

Result<std::unique_ptr<ByteSource>> MemoryStore::open(const std::string& path) {
    const auto found = files_.find(path);
    if (found == files_.end()) return environment_error(path + ": no such file");
    return std::unique_ptr<ByteSource>(std::make_unique<MemorySource>(found->second));
}

Result<std::unique_ptr<ByteSink>> MemoryStore::create(const std::string& path) {
    return cannot(path);
}

Result<void> MemoryStore::make_directories(const std::string& path) {
    return cannot(path);
}

Result<void> MemoryStore::rename(const std::string& from, const std::string& /*to*/) {
    return cannot(from);
}

Result<void> MemoryStore::remove(const std::string& path) {
    return cannot(path);
}

Result<std::uint64_t> MemoryStore::free_bytes(const std::string& path) {
    return cannot(path);
}

Result<void> MemoryStore::evict(const std::string& path) {
    return cannot(path);
}

}  // namespace streamsim::fuzz
