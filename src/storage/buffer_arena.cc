#include "storage/buffer_arena.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "base/units.h"

namespace streamsim {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kPage = 4096;

std::optional<std::string> read_text(const std::string& path) {
    std::ifstream file(path);
    if (!file) return std::nullopt;
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// The number after `key` at the beginning of a line: "MemAvailable:   24000 kB", "inactive_file 4096".
std::optional<std::uint64_t> number_after(const std::string& text, const std::string& key) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.compare(0, key.size(), key) != 0) continue;
        std::uint64_t number = 0;
        if (std::sscanf(line.c_str() + key.size(), " %" SCNu64, &number) == 1) return number;
    }
    return std::nullopt;
}

/// The file's only number; nothing for "max".
std::optional<std::uint64_t> number_in(const std::string& path) {
    const auto text = read_text(path);
    return text ? number_after(*text, "") : std::nullopt;
}

/// Lowers `available` to what the control group in `folder` and its parents up to `top` leave.
void apply_group(const std::string& top,
                 std::string group,
                 const char* limit_file,
                 const char* usage_file,
                 const char* cache_key,
                 MemoryAvailable& available) {
    for (;;) {
        const std::string folder = top + (group == "/" ? "" : group);
        const auto limit = number_in(folder + "/" + limit_file);
        const auto used = number_in(folder + "/" + usage_file);
        if (limit && used) {
            // The cache of files that nobody uses just now is given back before anything is refused.
            const auto stat = read_text(folder + "/memory.stat");
            const std::uint64_t cache = stat ? number_after(*stat, cache_key).value_or(0) : 0;
            const std::uint64_t kept = *used > cache ? *used - cache : 0;
            const std::uint64_t left = *limit > kept ? *limit - kept : 0;
            if (left < available.bytes) available = {left, "the memory limit of control group " + group};
        }
        if (group == "/" || group.empty()) return;
        const auto slash = group.rfind('/');
        group = slash == 0 || slash == std::string::npos ? "/" : group.substr(0, slash);
    }
}

/// What the kernel put on huge pages, of the mapping that holds `memory`: in tenths.
int tenths_on_huge_pages(std::span<const std::byte> memory) {
    std::ifstream maps("/proc/self/smaps");
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    bool ours = false;
    std::uint64_t size_kib = 0;
    for (std::string line; std::getline(maps, line);) {
        std::uintptr_t from = 0;
        std::uintptr_t to = 0;
        std::uint64_t kib = 0;
        if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2) {
            ours = from <= address && address < to;
        } else if (ours && std::sscanf(line.c_str(), "Size: %" SCNu64, &kib) == 1) {
            size_kib = kib;
        } else if (ours && std::sscanf(line.c_str(), "AnonHugePages: %" SCNu64, &kib) == 1) {
            return size_kib == 0 ? 0 : static_cast<int>(kib * 10 / size_kib);
        }
    }
    return 0;
}

void touch(std::span<std::byte> memory) {
    for (std::size_t at = 0; at < memory.size(); at += kPage) {
        *static_cast<volatile std::byte*>(&memory[at]) = std::byte{0};
    }
}

void touch_in_parallel(std::span<std::byte> memory) {
    constexpr std::size_t kWorthAThread = std::size_t{64} << 20;
    constexpr std::size_t kMostThreads = 16;
    const std::size_t processors = std::max(std::thread::hardware_concurrency(), 1u);
    const std::size_t threads =
        std::clamp<std::size_t>(memory.size() / kWorthAThread, 1, std::min(processors, kMostThreads));
    const std::size_t share = (memory.size() / threads + kHugePage - 1) / kHugePage * kHugePage;
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < threads && i * share < memory.size(); ++i) {
        const auto part = memory.subspan(i * share, std::min(share, memory.size() - i * share));
        others.emplace_back([part] { touch(part); });
    }
    touch(memory.first(std::min(share, memory.size())));
    for (std::thread& other : others) other.join();
}

std::string transparent_huge_pages() {
    const auto text = read_text("/sys/kernel/mm/transparent_hugepage/enabled");
    return text ? text->substr(0, text->find('\n')) : "not there";
}

Error too_little(std::uint64_t bytes, const MemoryAvailable& available) {
    return environment_error(fmt::format(
        "the buffers need {} of memory, but {} leaves {}: lower --readahead or --streams (memory is streams x "
        "(read-ahead + reads in flight) x the largest frame)",
        show_bytes(bytes), available.limit, show_bytes(available.bytes)));
}

}  // namespace

MemoryAvailable memory_available(const std::string& root) {
    MemoryAvailable available{UINT64_MAX, "this machine"};
    if (const auto text = read_text(root + "/proc/meminfo")) {
        if (const auto kib = number_after(*text, "MemAvailable:")) available.bytes = *kib * 1024;
    }
    // "0::/user.slice" is version 2; "9:memory:/docker/abc" version 1.
    std::istringstream groups(read_text(root + "/proc/self/cgroup").value_or(""));
    for (std::string line; std::getline(groups, line);) {
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
        const std::string group = line.substr(second + 1);
        if (controllers == ",,") {
            const std::string top = root + "/sys/fs/cgroup";
            apply_group(top, group, "memory.max", "memory.current", "inactive_file ", available);
        } else if (controllers.find(",memory,") != std::string::npos) {
            apply_group(root + "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes", "memory.usage_in_bytes",
                        "total_inactive_file ", available);
        }
    }
    return available;
}

Result<BufferArena> BufferArena::make(std::uint64_t bytes, const NoticeSink& notice) {
    BufferArena arena;
    if (bytes == 0) return arena;
    const MemoryAvailable available = memory_available();
    if (bytes > available.bytes) return too_little(bytes, available);
    const std::size_t unit = bytes < kHugePage ? kPage : kHugePage;
    const std::size_t keep = (bytes + unit - 1) / unit * unit;
    const std::size_t mapped = keep + kHugePage;
    void* const map =
        mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) {
        return environment_error(
            fmt::format("the system refused {} of memory for buffers ({}): lower --readahead or "
                        "--streams, or raise `ulimit -v`",
                        show_bytes(bytes), strerrordesc_np(errno)));
    }
    // Keep exactly what begins at a huge page.
    const auto address = reinterpret_cast<std::uintptr_t>(map);
    const std::size_t skip = (kHugePage - address % kHugePage) % kHugePage;
    auto* const begin = static_cast<std::byte*>(map) + skip;
    if (skip > 0) munmap(map, skip);
    munmap(begin + keep, kHugePage - skip);
    arena.memory_ = {begin, bytes};
    arena.mapped_bytes_ = keep;
    const int advice = madvise(begin, keep, MADV_HUGEPAGE);
    touch_in_parallel(arena.memory_);
    if (bytes < kHugePage) return arena;
    const int tenths = advice == 0 ? tenths_on_huge_pages(arena.memory_) : 0;
    arena.huge_pages_ = tenths >= 9;
    if (!arena.huge_pages_ && notice) {
        notice(fmt::format(
            "only about {} % of {} of buffers are on huge pages (transparent_hugepage/enabled: {}): reads "
            "cost more CPU",
            tenths * 10, show_bytes(bytes), transparent_huge_pages()));
    }
    return arena;
}

BufferArena::BufferArena(BufferArena&& other) noexcept
    : memory_(std::exchange(other.memory_, {})),
      mapped_bytes_(std::exchange(other.mapped_bytes_, 0)),
      huge_pages_(other.huge_pages_) {}

BufferArena& BufferArena::operator=(BufferArena&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(mapped_bytes_, other.mapped_bytes_);
    std::swap(huge_pages_, other.huge_pages_);
    return *this;
}

BufferArena::~BufferArena() {
    if (mapped_bytes_ > 0) munmap(memory_.data(), mapped_bytes_);
}

}  // namespace streamsim
