// The makers of what is Linux's alone, or needs libraries that only Linux is built with.
#include <fmt/format.h>

#include "storage/compiled_in.h"
#include "storage/nfs/nfs_byte_store.h"
#include "storage/nfs/nfs_storage.h"
#include "storage/remote/resolve_host.h"
#include "storage/smb/smb_byte_store.h"
#include "storage/smb/smb_storage.h"
#include "storage/uring/uring_storage.h"

namespace streamsim::storage {
namespace {

Error without(const char* what) {
    return environment_error(fmt::format(
        "this streamsim was built without {}: mount the share and play the path where it is", what));
}

/// Of a server that cannot be spoken to.
class NoByteStore final : public ByteStore {
public:
    explicit NoByteStore(const char* what) : what_(what) {}

    Result<std::vector<DirectoryEntry>> list(const std::string&) override { return without(what_); }
    Result<std::optional<FileInfo>> stat(const std::string&) override { return without(what_); }
    Result<std::unique_ptr<ByteSource>> open(const std::string&) override { return without(what_); }
    Result<std::unique_ptr<ByteSink>> create(const std::string&) override { return without(what_); }
    Result<void> make_directories(const std::string&) override { return without(what_); }
    Result<void> rename(const std::string&, const std::string&) override { return without(what_); }
    Result<void> remove(const std::string&) override { return without(what_); }
    Result<std::uint64_t> free_bytes(const std::string&) override { return without(what_); }
    Result<void> evict(const std::string&) override { return without(what_); }

private:
    const char* what_;
};

}  // namespace

std::vector<std::string> storage_compiled_in() {
    return {"threads"};
}

Result<void> resolve(RemotePlace& place) {
    return without(place.protocol == RemotePlace::Protocol::nfs ? "NFS" : "SMB");
}

Result<std::unique_ptr<Storage>> make_uring_storage(EventLoop&, uv_loop_s*, const LocalOptions&) {
    return environment_error("io_uring is Linux's alone");
}

Result<std::unique_ptr<Storage>> make_nfs_storage(
    EventLoop&, uv_loop_s*, const RemotePlace&, const std::string&, const RemoteOptions&) {
    return without("NFS");
}

Result<std::unique_ptr<Storage>> make_smb_storage(
    EventLoop&, uv_loop_s*, const RemotePlace&, const std::string&, const RemoteOptions&) {
    return without("SMB");
}

std::unique_ptr<ByteStore> make_nfs_byte_store(const RemotePlace&, const std::string&) {
    return std::make_unique<NoByteStore>("NFS");
}

std::unique_ptr<ByteStore> make_smb_byte_store(const RemotePlace&, const std::string&, const Credentials&) {
    return std::make_unique<NoByteStore>("SMB");
}

}  // namespace streamsim::storage
