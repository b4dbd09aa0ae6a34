#include <fmt/format.h>

#include <utility>

#include "storage/nfs/nfs_byte_store.h"
#include "storage/nfs/nfs_storage.h"

namespace streamsim::storage {
namespace {

/// Every call says that there is none.
class NoByteStore final : public ByteStore {
public:
    explicit NoByteStore(Error why) : why_(std::move(why)) {}
    Result<std::vector<DirectoryEntry>> list(const std::string&) override { return why_; }
    Result<std::optional<FileInfo>> stat(const std::string&) override { return why_; }
    Result<std::unique_ptr<ByteSource>> open(const std::string&) override { return why_; }
    Result<std::unique_ptr<ByteSink>> create(const std::string&) override { return why_; }
    Result<void> make_directories(const std::string&) override { return why_; }
    Result<void> rename(const std::string&, const std::string&) override { return why_; }
    Result<void> remove(const std::string&) override { return why_; }
    Result<std::uint64_t> free_bytes(const std::string&) override { return why_; }
    Result<void> evict(const std::string&) override { return why_; }

private:
    Error why_;
};

Error absent(const RemotePlace& place, const std::string& path) {
    return environment_error(fmt::format(
        "nfs://{}{}: this streamsim was built without libnfs (libnfs-dev); a mounted export is a path",
        place.host, path));
}

}  // namespace

bool nfs_is_built_in() {
    return false;
}

Result<std::unique_ptr<Storage>> make_nfs_storage(
    EventLoop&, uv_loop_s*, const RemotePlace& place, const std::string& directory, const RemoteOptions&) {
    return absent(place, directory);
}

std::unique_ptr<ByteStore> make_nfs_byte_store(const RemotePlace& place, const std::string& directory) {
    return std::make_unique<NoByteStore>(absent(place, directory));
}

}  // namespace streamsim::storage
