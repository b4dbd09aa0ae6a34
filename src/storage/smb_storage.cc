#include "storage/smb_storage.h"

namespace streamsim {
Result<std::unique_ptr<Storage>> make_smb_storage(
    EventLoop&, uv_loop_s*, const RemotePlace& place, const std::string&, const RemoteOptions&) {
    return environment_error("smb://" + place.host + ": not built yet");
}
}  // namespace streamsim
