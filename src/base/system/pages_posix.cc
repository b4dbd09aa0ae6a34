#include <sys/mman.h>

#include "base/system/pages.h"

namespace streamsim {
namespace {

void* map(std::size_t bytes, int protection) {
    void* const pages = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? nullptr : pages;
}

}  // namespace

void* map_zero_pages(std::size_t bytes) {
    return map(bytes, PROT_READ | PROT_WRITE);
}

void* map_addresses(std::size_t bytes) {
    return map(bytes, PROT_NONE);
}

void unmap_pages(void* pages, std::size_t bytes) {
    munmap(pages, bytes);
}

}  // namespace streamsim
