// Builds a Traffic from files by their names, users, sessions, and operations in any order. Inside profile/
// only.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "profile/traffic/traffic.h"

namespace streamsim::profile {

class TrafficBuilder {
public:
    std::uint32_t file(const std::string& name);
    TrafficFile& at(std::uint32_t file) { return traffic_.files[file]; }
    std::uint32_t add_user(const std::string& name);
    void name_user(std::uint32_t user, const std::string& name) { traffic_.users[user].name = name; }
    std::uint32_t add_session(const TrafficSession& session);
    /// Returns the index of the operation, for operation().
    std::size_t add(const TrafficOperation& operation);
    TrafficOperation& operation(std::size_t number) { return traffic_.operations[number]; }
    TrafficSession& session(std::uint32_t session) { return traffic_.sessions[session]; }
    /// Adds a sentence for the user. Equal sentences are joined, and their `times` added up.
    void note(const std::string& sentence, std::uint64_t times = 1);
    void found_end() { ++traffic_.read_at_end; }

    /// Returns the traffic, sorted, with times from its first operation, and with its notes.
    Traffic finish(std::string source, std::string recorder, bool has_durations);

private:
    Traffic traffic_;
    std::unordered_map<std::string, std::uint32_t> files_;
    std::vector<std::pair<std::string, std::uint64_t>> notes_;
};

/// "/a/./b//../c" -> "/a/c"; relative names stay relative.
std::string normal_path(const std::string& path);

}  // namespace streamsim::profile
