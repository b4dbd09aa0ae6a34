// The functions that make a backend which only Linux has: here each returns an error.
#include "storage/backends.h"
#include "storage/remote/unavailable_byte_store.h"

namespace streamsim::storage {
namespace {

Error without_smb() {
    return environment_error(
        "this streamsim was built without SMB: mount the share and play the path where it is");
}

}  // namespace

std::vector<std::string> storage_compiled_in() {
    std::vector<std::string> names;
    if (iocp_is_built_in()) names.emplace_back("iocp");
    names.emplace_back("threads");
    if (nfs_is_built_in()) names.emplace_back("nfs");
    return names;
}

Result<std::unique_ptr<Storage>> make_uring_storage(EventLoop&, uv_loop_s*, const LocalOptions&) {
    return environment_error("only Linux has io_uring");
}

bool uring_is_available() {
    return false;
}

Result<std::unique_ptr<Storage>> make_smb_storage(
    EventLoop&, uv_loop_s*, const RemotePlace&, const std::string&, const RemoteOptions&) {
    return without_smb();
}

std::unique_ptr<ByteStore> make_smb_byte_store(const RemotePlace&, const std::string&, const Credentials&) {
    return std::make_unique<UnavailableByteStore>(without_smb());
}

}  // namespace streamsim::storage
