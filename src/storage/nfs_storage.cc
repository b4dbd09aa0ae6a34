#include "storage/nfs_storage.h"

namespace streamsim {
Result<std::unique_ptr<Storage>> make_nfs_storage(
    EventLoop&, uv_loop_s*, const RemotePlace& place, const std::string&, const RemoteOptions&) {
    return environment_error("nfs://" + place.host + ": not built yet");
}
}  // namespace streamsim
