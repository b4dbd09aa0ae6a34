// The byte store of a file server whose protocol this streamsim was built without.
#pragma once

#include <utility>

#include "streamsim/byte_store.h"

namespace streamsim::storage {

/// Every call returns the same error.
class UnavailableByteStore final : public ByteStore {
public:
    explicit UnavailableByteStore(Error reason) : reason_(std::move(reason)) {}

    Result<std::vector<DirectoryEntry>> list(const std::string&) override { return reason_; }
    Result<std::optional<FileInfo>> stat(const std::string&) override { return reason_; }
    Result<std::unique_ptr<ByteSource>> open(const std::string&) override { return reason_; }
    Result<std::unique_ptr<ByteSink>> create(const std::string&) override { return reason_; }
    Result<void> make_directories(const std::string&) override { return reason_; }
    Result<void> rename(const std::string&, const std::string&) override { return reason_; }
    Result<void> remove(const std::string&) override { return reason_; }
    Result<std::uint64_t> free_bytes(const std::string&) override { return reason_; }
    Result<void> evict(const std::string&) override { return reason_; }

private:
    Error reason_;
};

}  // namespace streamsim::storage
