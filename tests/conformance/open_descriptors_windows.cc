#include <windows.h>

#include "conformance/storage_backends.h"

namespace streamsim {

std::size_t open_descriptors() {
    DWORD count = 0;
    GetProcessHandleCount(GetCurrentProcess(), &count);
    return count;
}

}  // namespace streamsim
