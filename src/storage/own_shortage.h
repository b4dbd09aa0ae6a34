// Whether it is this computer that has nothing left to make a connection with.
#pragma once

namespace streamsim::storage {

/// `error`, with which an operation ends that got no connection or no answer in time; or EMFILE, ENFILE, ENOMEM
/// where no file descriptor can be had here now: then none could be had for a connection either.
int error_or_own_shortage(int error);

}  // namespace streamsim::storage
