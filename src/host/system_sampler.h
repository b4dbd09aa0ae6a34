// The samples of a SystemWatch: the state of this computer, read on one thread. One file for each kind of
// system. Inside host/ only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "streamsim/system_history.h"

namespace streamsim::host {

/// The clock that real loops run by.
std::int64_t loop_clock_ns();

/// Single-threaded.
class SystemSampler {
public:
    /// Does at once what must not happen beside the start of other threads, such as loading a driver.
    static void prepare();

    /// `path` and `servers` as for SystemWatch. REQUIRES: the thread that will call the functions; its own wait
    /// for a processor is not counted.
    SystemSampler(const std::string& path, const std::vector<std::string>& servers);
    ~SystemSampler();
    SystemSampler(const SystemSampler&) = delete;
    SystemSampler& operator=(const SystemSampler&) = delete;

    /// Looks at the network path. REQUIRES: about ten times a second.
    void look();
    /// look(), and fills in everything but the times.
    void sample(SystemSample& sample);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace streamsim::host
