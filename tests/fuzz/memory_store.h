// Files in memory, for readers that reach theirs through a ByteStore. Nothing can be written.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/fuzz.h"
#include "streamsim/byte_store.h"

namespace streamsim::fuzz {

/// One file. The bytes outlive the source.
class MemorySource final : public ByteSource {
public:
    explicit MemorySource(Input bytes) : bytes_(bytes) {}

    Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override;
    Result<std::uint64_t> size() override { return bytes_.size(); }

private:
    Input bytes_;
};

class MemoryStore final : public ByteStore {
public:
    /// The bytes outlive the store. Each file was modified at second 1.
    void add(const std::string& path, Input bytes) { files_[path] = bytes; }

    Result<std::vector<DirectoryEntry>> list(const std::string& directory) override;
    Result<std::optional<FileInfo>> stat(const std::string& path) override;
    Result<std::unique_ptr<ByteSource>> open(const std::string& path) override;
    Result<std::unique_ptr<ByteSink>> create(const std::string& path) override;
    Result<void> make_directories(const std::string& path) override;
    Result<void> rename(const std::string& from, const std::string& to) override;
    Result<void> remove(const std::string& path) override;
    Result<std::uint64_t> free_bytes(const std::string& path) override;
    Result<void> evict(const std::string& path) override;

private:
    std::map<std::string, Input> files_;
};

}  // namespace streamsim::fuzz
