// Pages of the usual size: macOS has no larger ones for an ordinary process on every processor.
#include <mach/mach.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "base/memory.h"
#include "storage/buffer_arena.h"
#include "storage/frame_memory.h"

namespace streamsim::storage {
namespace {

std::size_t whole_pages(std::size_t bytes) {
    return align_up(bytes, static_cast<std::uint64_t>(getpagesize()));
}

}  // namespace

MemoryAvailable memory_available(const std::string& /*root*/) {
    // Free memory, and pages that the kernel drops when memory is asked for: of files, and purgeable ones.
    vm_statistics64_data_t facts{};
    mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
    const mach_port_t host = mach_host_self();
    const kern_return_t told =
        host_statistics64(host, HOST_VM_INFO64, reinterpret_cast<host_info64_t>(&facts), &count);
    mach_port_deallocate(mach_task_self(), host);
    if (told != KERN_SUCCESS) return {UINT64_MAX, "this machine"};
    const std::uint64_t pages =
        std::uint64_t{facts.free_count} + facts.external_page_count + facts.purgeable_count;
    return {pages * vm_kernel_page_size, "this machine"};
}

std::byte* map_frames(std::size_t bytes) {
    // Aligned as on other systems, although no page is that large.
    const std::size_t whole = whole_pages(bytes);
    const std::size_t mapped = whole + kHugePage;
    void* const map =
        mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) return nullptr;
    const auto address = reinterpret_cast<std::uintptr_t>(map);
    const std::size_t skip = (kHugePage - address % kHugePage) % kHugePage;
    auto* const begin = static_cast<std::byte*>(map) + skip;
    if (skip > 0) munmap(map, skip);
    munmap(begin + whole, kHugePage - skip);
    return begin;
}

void unmap_frames(std::byte* memory, std::size_t bytes) {
    munmap(memory, whole_pages(bytes));
}

HugePages huge_pages_under(std::span<const std::byte> /*memory*/) {
    return {};
}

}  // namespace streamsim::storage
