// One operation of libuv on files, done at once. Inside storage/ only.
#pragma once

#include <uv.h>

namespace streamsim::storage {

struct UvRequest {
    UvRequest() = default;
    ~UvRequest() { uv_fs_req_cleanup(&fs); }
    UvRequest(const UvRequest&) = delete;
    UvRequest& operator=(const UvRequest&) = delete;

    uv_fs_t fs{};
};

}  // namespace streamsim::storage
