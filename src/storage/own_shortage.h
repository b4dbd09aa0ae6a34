// Detects that this computer, not the server, is the reason why no connection can be made.
#pragma once

namespace streamsim::storage {

/// Returns EMFILE, ENFILE or ENOMEM when this process cannot open a file descriptor now, and so no connection
/// either; otherwise `error`, with which an operation without a connection or an answer ends.
int error_or_own_shortage(int error);

}  // namespace streamsim::storage
