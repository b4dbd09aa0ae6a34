// By the C++ library, for systems without huge pages that anybody may have.
#include <uv.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>

#include "storage/buffer_arena.h"
#include "storage/frame_memory.h"

namespace streamsim::storage {

MemoryAvailable memory_available(const std::string& /*root*/) {
    // Some systems call free only what not even a cache is in: half of the memory can be had in any case.
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
