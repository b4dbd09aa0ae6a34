// Memory that this process is short of: its control group's (v1 or v2) and the whole computer's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "streamsim/system_history.h"

namespace streamsim::host {

/// Where a process's memory control group is, in the tables of /proc/self/cgroup and /proc/self/mountinfo.
struct MemoryGroup {
    std::string mount;  // "/sys/fs/cgroup/memory"
    std::string path;   // below it, without a leading '/'; empty: the root group
    bool v2 = false;
};
/// nullopt: there is none. Where a v1 hierarchy has the memory controller, that one counts.
std::optional<MemoryGroup> memory_group_in(std::string_view groups, std::string_view mounts);

class MemoryWatch {
public:
    /// Of this process as it is now.
    MemoryWatch();
    /// Counters that only grow: times that a limit was reached, bytes read again after eviction, pressure.
    void read(SystemSample& sample) const;

private:
    std::vector<std::filesystem::path> groups_;  // the process's own, then those above it
    bool v2_ = false;
};

}  // namespace streamsim::host
