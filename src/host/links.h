// Network interfaces, what they received and sent. Inside host/ only.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "streamsim/system_history.h"

namespace streamsim::host {

class Links {
public:
    /// `root` is prefixed to /proc and /sys, for tests.
    explicit Links(std::string root = "") : root_(std::move(root)) {}

    /// Adds those of the namespace of the calling thread, as they are now. `only`: the names of the wanted
    /// ones; empty: all that receive from outside, each byte at one of them. `own_namespace`: it is that of
    /// this process; what interfaces are the system tells of no other.
    void read(bool own_namespace, const std::set<std::string>& only, SystemSample& sample);

private:
    bool repeats_another(const std::string& name);

    const std::string root_;
    std::map<std::string, bool> repeats_;  // by name
};

}  // namespace streamsim::host
