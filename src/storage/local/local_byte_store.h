// Local files by blocking calls: indexing and `prepare`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "streamsim/byte_store.h"

namespace streamsim::storage {

/// Paths are as for open(2), relative ones from the working directory. Reads and writes go through the page
/// cache. On Linux a sink starts the write-back early, so that its close() waits for the last megabytes and not
/// for the whole file, and leaves nothing in the cache. Thread-safe as ByteStore says.
class LocalByteStore final : public ByteStore {
public:
    Result<std::vector<DirectoryEntry>> list(const std::string& directory) override;
    Result<std::vector<DirectoryEntry>> list_some(const std::string& directory, std::size_t count) override;
    Result<std::optional<FileInfo>> stat(const std::string& path) override;
    Result<std::unique_ptr<ByteSource>> open(const std::string& path) override;
    Result<std::unique_ptr<ByteSink>> create(const std::string& path) override;
    Result<void> make_directories(const std::string& path) override;
    Result<void> rename(const std::string& from, const std::string& to) override;
    Result<void> remove(const std::string& path) override;
    Result<std::uint64_t> free_bytes(const std::string& path) override;
    Result<std::uint64_t> total_bytes(const std::string& path) override;
    Result<LockAttempt> try_lock(const std::string& path, LockMode mode, const std::string& note) override;
    Result<void> evict(const std::string& path) override;
    Result<std::unique_ptr<ByteStore>> beneath(const std::string& directory) override;
};

inline std::unique_ptr<ByteStore> make_local_byte_store() {
    return std::make_unique<LocalByteStore>();
}

}  // namespace streamsim::storage
