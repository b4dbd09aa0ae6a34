#include <sys/resource.h>

#include "run/core_dumps.h"

namespace streamsim {

void forbid_core_dumps() {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
}

}  // namespace streamsim
