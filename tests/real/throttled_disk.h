// A disk whose rate is known, because the kernel holds it there: a loop device with direct I/O below it,
// throttled by its control group (v1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/harness.h"

namespace streamsim::tests {

/// Why there can be none here; nullopt: there can.
std::optional<std::string> no_throttled_disk_because();

/// Runs a script in /bin/sh.
Finished shell(const std::string& script);

/// A file system on a loop device, and a control group that may read from it at a rate.
class ThrottledDisk {
public:
    ThrottledDisk();
    ~ThrottledDisk();
    ThrottledDisk(const ThrottledDisk&) = delete;
    ThrottledDisk& operator=(const ThrottledDisk&) = delete;

    /// Empty: it is there.
    const std::string& problem() const { return problem_; }
    std::string path() const { return dir_ / "disk"; }

    void throttle(std::uint64_t bytes_per_s) const;
    /// Runs streamsim in the group; `first`: a line of shell before it.
    Finished streamsim(const std::vector<std::string>& arguments, const std::string& first = ":") const;

private:
    TempDir dir_;
    std::string device_;
    std::string group_;
    std::string problem_;
};

}  // namespace streamsim::tests
