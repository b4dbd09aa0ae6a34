// slowfs, mounted for the length of a test.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/harness.h"

namespace streamsim::tests {

/// Why slowfs cannot be used here; nullopt: it can.
std::optional<std::string> no_slowfs_because();

/// One line of slowfs' log.
struct SlowOperation {
    std::string verb;  // "read" | "open"
    std::string clip;
    std::uint64_t frame_number = 0;  // as in the file name
    std::int64_t started_ns = 0;     // CLOCK_MONOTONIC
    std::int64_t ended_ns = 0;
    std::int64_t delay_ns = 0;
    std::int64_t result = 0;  // bytes, or -errno

    /// How much longer it took than the rule said: slowfs' own lateness.
    std::int64_t excess_ns() const { return ended_ns - started_ns - delay_ns; }
};

class SlowMount {
public:
    /// Throws when slowfs does not come up (its message is in the exception). Rules: real/slowfs_rules.h.
    explicit SlowMount(const std::string& rules);
    ~SlowMount();

    const std::string& path() const { return mountpoint_; }
    /// The place of a folder or a clip in the mount.
    std::string operator/(const std::string& path) const { return mountpoint_ + "/" + path; }
    std::vector<SlowOperation> log() const;

private:
    TempDir dir_;
    std::string mountpoint_;
    std::unique_ptr<Process> process_;
};

}  // namespace streamsim::tests
