#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/system/core_dumps.h"

namespace streamsim {

void forbid_core_dumps() {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    // A core that is piped to a program (kernel.core_pattern) obeys no limit.
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

}  // namespace streamsim
