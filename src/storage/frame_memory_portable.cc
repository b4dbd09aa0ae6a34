// By the C++ library, for systems on which an ordinary user gets no huge pages.
#include <uv.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "storage/buffer_arena.h"
#include "storage/frame_memory.h"

namespace streamsim::storage {

MemoryAvailable memory_available(const std::string& /*root*/) {
    // Some systems count the page cache as used: assume that at least half of the memory is available.
    return {std::max(uv_get_free_memory(), uv_get_total_memory() / 2), "this machine"};
}

std::byte* map_frames(std::size_t bytes) {
    void* const memory = ::operator new (bytes, std::align_val_t{kHugePage}, std::nothrow);
    if (memory == nullptr) {
        errno = ENOMEM;
        return nullptr;
    }
    std::memset(memory, 0, bytes);
    return static_cast<std::byte*>(memory);
}

void unmap_frames(std::byte* memory, std::size_t /*bytes*/) {
    ::operator delete (memory, std::align_val_t{kHugePage});
}

HugePages huge_pages_under(std::span<const std::byte> /*memory*/) {
    return {};
}

}  // namespace streamsim::storage
