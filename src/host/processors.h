// The processors of this computer and how busy they are. Inside host/ only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "streamsim/system_history.h"

namespace streamsim::host {

class Processors {
public:
    /// `root` is prefixed to /proc, for tests.
    explicit Processors(std::string root = "") : root_(std::move(root)) {}

    /// Fills in the ticks of all, and the time up to now in which one of them was full between two calls.
    void read(std::int64_t now_ns, SystemSample& sample);

private:
    struct Ticks {
        std::uint64_t all = 0, free = 0;
    };
    static bool is_full(const Ticks& from, const Ticks& to);

    const std::string root_;
    std::map<std::string, Ticks> last_;  // by name: "cpu0"
    std::optional<std::int64_t> last_ns_;
    std::int64_t full_ns_ = 0;
};

}  // namespace streamsim::host
