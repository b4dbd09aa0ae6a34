#include "host/links.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

namespace streamsim::host {
namespace {

constexpr const char* kLoopback = "lo";
/// Columns of /proc/net/dev between the bytes that came and those that went.
constexpr int kReceiveCounters = 7;

std::optional<std::uint64_t> speed_of(const std::filesystem::path& interface) {
    std::ifstream in(interface / "speed");
    std::int64_t megabits = 0;
    if (!(in >> megabits) || megabits <= 0) return std::nullopt;
    return static_cast<std::uint64_t>(megabits) * 1'000'000;
}

/// True: what it receives another interface receives too, its bond, or the one that a VLAN or a bridge is on.
bool is_part_or_upper(const std::filesystem::path& interface) {
    std::error_code error;
    if (std::filesystem::exists(interface / "bonding_slave", error)) return true;
    if (std::filesystem::exists(interface / "bonding", error)) return false;
    for (const auto& entry : std::filesystem::directory_iterator(interface, error)) {
        if (entry.path().filename().native().starts_with("lower_")) return true;
    }
    return false;
}

}  // namespace

bool Links::repeats_another(const std::string& name) {
    const auto [known, is_new] = repeats_.try_emplace(name, false);
    if (is_new) known->second = is_part_or_upper(root_ + "/sys/class/net/" + name);
    return known->second;
}

void Links::read(bool own_namespace, const std::set<std::string>& only, SystemSample& sample) {
    std::ifstream in(root_ + "/proc/thread-self/net/dev");
    std::string line;
    while (std::getline(in, line)) {
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos) continue;
        SystemSample::Link link;
        link.name = line.substr(line.find_first_not_of(' '), colon - line.find_first_not_of(' '));
        if (!only.empty() && !only.contains(link.name)) continue;
        if (only.empty() && own_namespace && repeats_another(link.name)) continue;
        std::istringstream counters(line.substr(colon + 1));
        counters >> link.received_bytes;
        std::uint64_t other = 0;  // of what was received: packets, errors, ...
        for (int i = 0; i < kReceiveCounters; ++i) counters >> other;
        counters >> link.sent_bytes;
        if (own_namespace && link.name != kLoopback)
            link.bits_per_s = speed_of(root_ + "/sys/class/net/" + link.name);
        sample.links.push_back(std::move(link));
    }
    if (only.empty() && sample.links.size() > 1)
        std::erase_if(sample.links, [](const SystemSample::Link& each) { return each.name == kLoopback; });
}

}  // namespace streamsim::host
