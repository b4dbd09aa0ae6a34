#include "storage/buffer_arena.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

#include "base/system/errno_name.h"
#include "base/units.h"
#include "storage/frame_memory.h"

namespace streamsim::storage {
namespace {

constexpr std::size_t kPage = 4096;

void touch(std::span<std::byte> memory) {
    for (std::size_t at = 0; at < memory.size(); at += kPage) {
        *static_cast<volatile std::byte*>(&memory[at]) = std::byte{0};
    }
}

std::unique_ptr<ThreadGroup> touch_in_parallel(std::span<std::byte> memory) {
    constexpr std::size_t kBytesPerThread = std::size_t{8} << 20;
    constexpr std::size_t kMappingThreadsMax = 16;
    const std::size_t processors = std::max(std::thread::hardware_concurrency(), 1u);
    const std::size_t threads =
        std::clamp<std::size_t>(memory.size() / kBytesPerThread, 1, std::min(processors, kMappingThreadsMax));
    const std::size_t share = (memory.size() / threads + kHugePage - 1) / kHugePage * kHugePage;
    auto group = std::make_unique<ThreadGroup>();
    for (std::size_t at = 0; at < memory.size(); at += share) {
        const auto part = memory.subspan(at, std::min(share, memory.size() - at));
        if (!group->add([part] { touch(part); })) touch(part);
    }
    return group;
}

Error too_little(std::uint64_t bytes, const MemoryAvailable& available) {
    return environment_error(fmt::format(
        "the buffers need {} of memory, but {} leaves {}: lower --readahead or --streams (memory is streams x "
        "(read-ahead + reads in flight) x the largest frame)",
        show_bytes(bytes), available.limit, show_bytes(available.bytes)));
}

}  // namespace

Result<BufferArena> BufferArena::make(std::uint64_t bytes, const NoticeSink& notice) {
    auto arena = begin(bytes);
    if (arena) arena->finish(notice);
    return arena;
}

Result<BufferArena> BufferArena::begin(std::uint64_t bytes) {
    BufferArena arena;
    if (bytes == 0) return arena;
    const MemoryAvailable available = memory_available();
    if (bytes > available.bytes) return too_little(bytes, available);
    const std::size_t unit = bytes < kHugePage ? kPage : kHugePage;
    const std::size_t keep = (bytes + unit - 1) / unit * unit;
    std::byte* const begin = map_frames(keep);
    if (begin == nullptr) {
        return environment_error(
            fmt::format("the system refused {} of memory for buffers ({}): lower --readahead or "
                        "--streams, or raise `ulimit -v`",
                        show_bytes(bytes), errno_description(errno)));
    }
    arena.mapping_ = std::unique_ptr<std::byte, Unmap>(begin, Unmap{keep});
    arena.bytes_ = bytes;
    arena.touching_ = touch_in_parallel(arena.memory());
    return arena;
}

void BufferArena::finish(const NoticeSink& notice) {
    touching_.reset();
    if (bytes_ < kHugePage) return;
    const HugePages huge = huge_pages_under(memory());
    huge_pages_ = huge.tenths >= 9;
    if (huge_pages_ || !notice || huge.setting.empty()) return;
    notice(fmt::format("only about {} % of {} of buffers are on huge pages ({}): reads cost more CPU",
                       huge.tenths * 10, show_bytes(bytes_), huge.setting));
}

BufferArena& BufferArena::operator=(BufferArena&& other) noexcept {
    touching_.reset();  // before the memory goes that is being touched
    mapping_ = std::move(other.mapping_);
    bytes_ = other.bytes_;
    huge_pages_ = other.huge_pages_;
    touching_ = std::move(other.touching_);
    return *this;
}

void BufferArena::Unmap::operator()(std::byte* memory) const {
    unmap_frames(memory, bytes);
}

}  // namespace streamsim::storage
