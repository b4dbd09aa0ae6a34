#include <fmt/format.h>

#include "storage/backends.h"
#include "storage/remote/unavailable_byte_store.h"

namespace streamsim::storage {
namespace {

Error absent(const RemotePlace& place, const std::string& path) {
    return environment_error(
        fmt::format("{}: this streamsim was built without libnfs (libnfs-dev); a mounted export is a path",
                    place.name_of(path)));
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
    return std::make_unique<UnavailableByteStore>(absent(place, directory));
}

}  // namespace streamsim::storage
