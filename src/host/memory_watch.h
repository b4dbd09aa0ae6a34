// Memory shortage of this process: in its control group (v1 or v2), and in the whole computer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "streamsim/system_history.h"

namespace streamsim::host {

/// The memory control group of a process, from the tables /proc/self/cgroup and /proc/self/mountinfo.
struct MemoryGroup {
    std::string mount;  // "/sys/fs/cgroup/memory"
    std::string path;   // below it, without a leading '/'; empty: the root group
    bool v2 = false;
};
/// nullopt: there is none. A v1 hierarchy with the memory controller takes precedence.
std::optional<MemoryGroup> memory_group_in(std::string_view groups, std::string_view mounts);

/// The time in which some task waited, in a file of the kernel's pressure stall information:
/// "some avg10=0.00 avg60=0.00 avg300=0.00 total=123", in microseconds.
std::optional<std::int64_t> pressure_ns(const std::filesystem::path& file);

class MemoryWatch {
public:
    /// Watches this process. `root` is prefixed to /proc and /sys, for tests.
    explicit MemoryWatch(const std::string& root = "");
    /// Counters that only grow: times that a limit was reached, bytes read again after eviction, pressure.
    void read(SystemSample& sample) const;

private:
    std::optional<std::uint64_t> limit_hits_of(const std::filesystem::path& group) const;

    const std::string root_;
    std::vector<std::filesystem::path> groups_;  // the process's own, then those above it
    bool v2_ = false;
};

}  // namespace streamsim::host
