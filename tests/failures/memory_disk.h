// A file system in memory that forgets at a crash what was not made durable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/prng.h"
#include "streamsim/byte_store.h"

namespace streamsim::testing {

/// Changes of names are durable after a rename() (include/streamsim/byte_store.h), and the bytes of a file
/// after its close(). A crash keeps of the other changes a part by chance: of the names those up to some
/// moment, as the journal of a file system does, and of each file nothing, a beginning, only its ends, or
/// zeroes of the right length. There are no links.
class MemoryDisk final : public ByteStore {
public:
    /// `sets_aside`: as local files on Linux do.
    explicit MemoryDisk(bool sets_aside = true);

    Result<std::vector<DirectoryEntry>> list(const std::string& directory) override;
    Result<std::optional<FileInfo>> stat(const std::string& path) override;
    Result<std::unique_ptr<ByteSource>> open(const std::string& path) override;
    Result<std::unique_ptr<ByteSink>> create(const std::string& path) override;
    Result<void> make_directories(const std::string& path) override;
    Result<void> rename(const std::string& from, const std::string& to) override;
    Result<bool> set_aside(const std::string& from, const std::string& to) override;
    Result<void> remove(const std::string& path) override;
    Result<std::uint64_t> free_bytes(const std::string& path) override;
    Result<void> evict(const std::string& path) override;
    /// The same store: nothing here changes but through it.
    Result<std::unique_ptr<ByteStore>> beneath(const std::string& directory) override;

    /// The state after a power failure.
    void crash(std::uint64_t seed);
    /// A rename whose names are not durable yet.
    Result<void> rename_unsynced(const std::string& from, const std::string& to);
    /// A file of others, durable.
    void put(const std::string& path, const std::string& bytes);
    /// The bytes of each file by its path; directories end in '/' and have none.
    std::map<std::string, std::string> tree() const;
    /// Seconds that are added to all times from now on.
    void pass(std::int64_t seconds);

private:
    friend class MemorySource;
    friend class MemorySink;
    struct Node {
        std::uint64_t id = 0;
        bool directory = false;
        std::string bytes, durable;
        std::int64_t modified_s = 0;
        std::map<std::string, std::shared_ptr<Node>> entries, durable_entries;
    };
    using NodePtr = std::shared_ptr<Node>;
    struct Edit {
        NodePtr directory;
        std::string name;
        NodePtr node;  // null: the name is removed
    };
    using Change = std::vector<Edit>;
    struct Place {
        NodePtr directory;
        std::string name;
        NodePtr node;
    };

    NodePtr make_node(bool directory);
    NodePtr find(const std::string& path) const;
    std::optional<Place> place(const std::string& path) const;
    void apply(Change change);
    Result<void> move(const std::string& from, const std::string& to);
    void sync_names();
    static void lose_bytes(Node& file, Prng& prng);
    static void collect(const Node& directory, const std::string& at, std::map<std::string, std::string>& out);

    mutable std::mutex mutex_;
    bool sets_aside_;
    std::uint64_t ids_ = 0;
    std::int64_t now_s_ = 1'700'000'000;
    std::vector<NodePtr> nodes_;
    std::vector<Change> unsynced_;
    NodePtr root_;
};

}  // namespace streamsim::testing
