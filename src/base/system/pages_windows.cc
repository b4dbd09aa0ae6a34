#include <windows.h>

#include "base/system/pages.h"

namespace streamsim {

void* map_zero_pages(std::size_t bytes) {
    return VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void* map_addresses(std::size_t bytes) {
    return VirtualAlloc(nullptr, bytes, MEM_RESERVE, PAGE_NOACCESS);
}

void unmap_pages(void* pages, std::size_t /*bytes*/) {
    VirtualFree(pages, 0, MEM_RELEASE);
}

}  // namespace streamsim
