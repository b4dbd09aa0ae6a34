// Protection of a process that holds a password.
#pragma once

namespace streamsim {

/// From here on this process leaves no core dump, and no other process of the same user reads its memory, where
/// the system can forbid that.
void forbid_core_dumps();

}  // namespace streamsim
