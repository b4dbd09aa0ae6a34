// The functions that make a backend which only Linux has: here each returns an error.
#include <fmt/format.h>

#include "storage/backends.h"
#include "storage/remote/remote_names.h"
#include "storage/remote/unavailable_byte_store.h"

namespace streamsim::storage {
namespace {

Error without(const char* what) {
    return environment_error(fmt::format(
        "this streamsim was built without {}: mount the share and play the path where it is", what));
}

}  // namespace

std::vector<std::string> storage_compiled_in() {
    if (iocp_is_built_in()) return {"iocp", "threads"};
    return {"threads"};
}

Result<void> resolve(RemotePlace& place) {
    return without(place.protocol == RemotePlace::Protocol::nfs ? "NFS" : "SMB");
}

Result<std::unique_ptr<Storage>> make_uring_storage(EventLoop&, uv_loop_s*, const LocalOptions&) {
    return environment_error("only Linux has io_uring");
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
    return std::make_unique<UnavailableByteStore>(without("NFS"));
}

std::unique_ptr<ByteStore> make_smb_byte_store(const RemotePlace&, const std::string&, const Credentials&) {
    return std::make_unique<UnavailableByteStore>(without("SMB"));
}

}  // namespace streamsim::storage
