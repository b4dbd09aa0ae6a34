#include "base/system/core_dumps.h"

namespace streamsim {

void forbid_core_dumps() {}  // there is no smb://, and so no password

}  // namespace streamsim
