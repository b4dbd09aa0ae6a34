// libuv's error codes as errno values, which they are not on every system. Inside storage/ only.
#pragma once

#include <uv.h>

#include <cerrno>

#include "base/system/errno_name.h"

namespace streamsim::storage {

/// REQUIRES: code < 0.
inline int errno_of_uv(int code) {
    return errno_from_name(uv_err_name(code)).value_or(EIO);
}

}  // namespace streamsim::storage
