#include "storage/backends.h"

namespace streamsim::storage {

bool iocp_is_built_in() {
    return false;
}

Result<std::unique_ptr<Storage>> make_iocp_storage(EventLoop&, uv_loop_s*, const LocalOptions&) {
    return environment_error("only Windows has I/O completion ports");
}

}  // namespace streamsim::storage
