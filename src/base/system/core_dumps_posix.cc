#include <sys/resource.h>

#include "base/system/core_dumps.h"

namespace streamsim {

void forbid_core_dumps() {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
}

}  // namespace streamsim
