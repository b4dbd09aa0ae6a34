#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

#include "base/system/proc_text.h"
#include "storage/buffer_arena.h"
#include "storage/frame_memory.h"

namespace streamsim::storage {
namespace {

/// The file's only number; none for "max".
std::optional<std::uint64_t> number_in(const std::string& path) {
    const auto text = read_proc_text(path);
    return text ? number_after(*text, "") : std::nullopt;
}

/// Lowers `available` to the limits of the control group in `folder` and its parents up to `top`.
void apply_group(const std::string& top,
                 std::string group,
                 const char* limit_file,
                 const char* usage_file,
                 const std::string& prefix,  // of the names in memory.stat
                 MemoryAvailable& available) {
    for (;;) {
        const std::string folder = top + (group == "/" ? "" : group);
        const auto limit = number_in(folder + "/" + limit_file);
        const auto used = number_in(folder + "/" + usage_file);
        if (limit && used) {
            // The kernel reclaims the page cache before it refuses memory.
            const std::string stat = read_proc_text(folder + "/memory.stat").value_or("");
            const std::uint64_t cache = number_after(stat, prefix + "inactive_file ").value_or(0) +
                                        number_after(stat, prefix + "active_file ").value_or(0);
            const std::uint64_t kept = *used > cache ? *used - cache : 0;
            const std::uint64_t left = *limit > kept ? *limit - kept : 0;
            if (left < available.bytes) available = {left, "the memory limit of control group " + group};
        }
        if (group == "/" || group.empty()) return;
        const auto slash = group.rfind('/');
        group = slash == 0 || slash == std::string::npos ? "/" : group.substr(0, slash);
    }
}

/// A line "7f38a6400000-7f38a8600000 rw-p ..." of a mapping that holds `address`.
bool is_mapping_of(std::string_view line, std::uintptr_t address) {
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    const char* const end = line.data() + line.size();
    const auto begin = std::from_chars(line.data(), end, from, 16);
    if (begin.ptr == end || *begin.ptr != '-') return false;
    return std::from_chars(begin.ptr + 1, end, to, 16).ec == std::errc() && from <= address && address < to;
}

/// The part of the mapping that holds `memory` which is on huge pages, in tenths. Reads no further than that
/// mapping: the kernel looks at the pages of each that is read.
int tenths_on_huge_pages(std::span<const std::byte> memory) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    std::ifstream smaps("/proc/self/smaps");
    std::uint64_t size_kib = 0;
    bool ours = false;
    for (std::string line; std::getline(smaps, line);) {
        ours = ours || is_mapping_of(line, address);
        if (!ours) continue;
        if (line.starts_with("Size:")) size_kib = number_after(line, "Size:").value_or(0);
        if (!line.starts_with("AnonHugePages:")) continue;
        const std::uint64_t huge_kib = number_after(line, "AnonHugePages:").value_or(0);
        return size_kib == 0 ? 0 : static_cast<int>(huge_kib * 10 / size_kib);
    }
    return 0;
}

std::string transparent_huge_pages() {
    const auto text = read_proc_text("/sys/kernel/mm/transparent_hugepage/enabled");
    return text ? text->substr(0, text->find('\n')) : "not there";
}

/// Lowers `available` to the addresses that `ulimit -v` leaves to this process.
void apply_address_limit(const std::string& root, MemoryAvailable& available) {
    const auto limits = read_proc_text(root + "/proc/self/limits");
    const auto limit =
        limits ? number_after(*limits, "Max address space ") : std::nullopt;  // none for "unlimited"
    if (!limit) return;
    const auto pages = number_in(root + "/proc/self/statm");
    const std::uint64_t used = pages.value_or(0) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    const std::uint64_t left = *limit > used ? *limit - used : 0;
    if (left < available.bytes) available = {left, "the limit of `ulimit -v`"};
}

}  // namespace

MemoryAvailable memory_available(const std::string& root) {
    MemoryAvailable available{UINT64_MAX, "this machine"};
    if (const auto text = read_proc_text(root + "/proc/meminfo")) {
        if (const auto kib = number_after(*text, "MemAvailable:")) available.bytes = *kib * 1024;
    }
    apply_address_limit(root, available);
    // "0::/user.slice" is version 2; "9:memory:/docker/abc" version 1.
    std::istringstream groups(read_proc_text(root + "/proc/self/cgroup").value_or(""));
    for (std::string line; std::getline(groups, line);) {
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
        const std::string group = line.substr(second + 1);
        if (controllers == ",,") {
            const std::string top = root + "/sys/fs/cgroup";
            apply_group(top, group, "memory.max", "memory.current", "", available);
        } else if (controllers.find(",memory,") != std::string::npos) {
            apply_group(root + "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes", "memory.usage_in_bytes",
                        "total_", available);
        }
    }
    return available;
}

std::byte* map_frames(std::size_t bytes) {
    const std::size_t mapped = bytes + kHugePage;
    void* const map =
        mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) return nullptr;
    // Keeps the part that begins at a huge page.
    const auto address = reinterpret_cast<std::uintptr_t>(map);
    const std::size_t skip = (kHugePage - address % kHugePage) % kHugePage;
    auto* const begin = static_cast<std::byte*>(map) + skip;
    if (skip > 0) munmap(map, skip);
    munmap(begin + bytes, kHugePage - skip);
    madvise(begin, bytes, MADV_HUGEPAGE);  // refused: huge_pages_under finds none
    return begin;
}

HugePages huge_pages_under(std::span<const std::byte> memory) {
    return {tenths_on_huge_pages(memory), "transparent_hugepage/enabled: " + transparent_huge_pages()};
}

void unmap_frames(std::byte* memory, std::size_t bytes) {
    munmap(memory, bytes);
}

}  // namespace streamsim::storage
