// The clients of a capture. Inside profile/ only.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "profile/traffic/traffic_builder.h"

namespace streamsim::profile {

/// Clients by their addresses.
class CapturedClients {
public:
    explicit CapturedClients(TrafficBuilder& traffic) : traffic_(traffic) {}
    std::uint32_t user(const std::string& address) {
        const auto [at, fresh] = users_.try_emplace(address, 0);
        if (fresh) at->second = traffic_.add_user(address);
        return at->second;
    }

private:
    TrafficBuilder& traffic_;
    std::unordered_map<std::string, std::uint32_t> users_;
};

}  // namespace streamsim::profile
