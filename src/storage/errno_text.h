// Errors of the operating system: their messages, and whose they are.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace streamsim::storage {

/// Returns an environment error: "cannot <action> <path>: no space left on device (ENOSPC): <advice>"; it is
/// Error::inaccessible for a missing file, a link without a target and a lack of permission, and Error::no_room
/// on a full disk and over a quota.
Error file_error(int error, std::string_view action, const std::string& path);

/// Returns EMFILE, ENFILE or ENOMEM when this process cannot open a file descriptor now, and so no
/// connection either; otherwise `error`, with which an operation without a connection or an answer ends.
int error_or_own_shortage(int error);

}  // namespace streamsim::storage
