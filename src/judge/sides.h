// The side that a cause belongs to, and that an error or a type of file system speaks for.
#pragma once

#include <string_view>

#include "streamsim/verdict.h"

namespace streamsim::judge {

Limit limit_of(Cause cause);

/// The errno where this computer lacked a resource, for any storage; else 0.
int shortage_of(int error);
/// True for errors of a connection, which no file causes.
bool is_connection_error(int error);
/// True for connection errors of a computer that has no way to the server.
bool is_unreachable(int error);
/// True for connection errors that the server's host answered with.
bool is_refused(int error);

/// True for file systems of another computer. FUSE may be local or remote.
bool is_remote_file_system(std::string_view type);
/// True for file systems on disks, or in the memory, of this computer. False for types that are not known here.
bool is_local_file_system(std::string_view type);

/// The side of an operation that failed, where its error is all that is known. `remote`: another computer
/// serves its files.
Limit limit_of_error(int error, bool remote);

}  // namespace streamsim::judge
