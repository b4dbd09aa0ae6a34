#include <uv.h>

#include "host/place_identity.h"

namespace streamsim::host {

PlaceAnswer place_identity_of(const std::string& path) {
    uv_fs_t request{};
    const int result = uv_fs_stat(nullptr, &request, path.c_str(), nullptr);
    PlaceAnswer out;
    if (result == 0) {
        out.identity = PlaceIdentity{request.statbuf.st_dev, request.statbuf.st_ino, 0, false};
    } else {
        out.error = -result;
    }
    uv_fs_req_cleanup(&request);
    return out;
}

}  // namespace streamsim::host
