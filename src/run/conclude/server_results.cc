#include "run/conclude/server_results.h"

#include <algorithm>
#include <set>

namespace streamsim::run {

std::vector<ServerResult> server_results(const std::vector<std::vector<ServerTraffic>>& storages,
                                         const std::map<std::uint32_t, std::uint64_t>& frames_read) {
    std::map<std::string, ServerResult> nodes;
    for (const auto& storage : storages) {
        for (const ServerTraffic& traffic : storage) {
            ServerResult& node = nodes[traffic.address];
            node.address = traffic.address;
            if (node.protocol.empty()) node.protocol = traffic.protocol;
            node.seats.insert(node.seats.end(), traffic.seats.begin(), traffic.seats.end());
            node.connections += traffic.connections;
            node.read_bytes = std::max(node.read_bytes, traffic.read_bytes);
            node.requests += traffic.requests;
            node.received_bytes += traffic.received_bytes;
            node.reconnects += traffic.reconnects;
            node.retransmitted_segments += traffic.retransmitted_segments;
            if (traffic.rtt_ns) node.rtt_ns = std::max(node.rtt_ns.value_or(0), *traffic.rtt_ns);
        }
    }
    std::vector<ServerResult> out;
    for (auto& [address, node] : nodes) {
        const std::set<std::uint32_t> seats(node.seats.begin(), node.seats.end());
        node.seats.assign(seats.begin(), seats.end());
        std::uint64_t frames = 0;
        for (const std::uint32_t seat : seats) {
            const auto found = frames_read.find(seat);
            if (found != frames_read.end()) frames += found->second;
        }
        if (frames > 0)
            node.requests_per_frame = static_cast<double>(node.requests) / static_cast<double>(frames);
        out.push_back(std::move(node));
    }
    return out;
}

std::vector<ServerResult> server_results(const RunFacts& facts) {
    std::vector<std::vector<ServerTraffic>> storages;
    for (const LoopStats* playback_loop : facts.playback_loops) storages.push_back(playback_loop->traffic);
    std::map<std::uint32_t, std::uint64_t> frames_read;
    for (std::size_t i = 0; i < facts.ledgers.size(); ++i)
        frames_read[(*facts.streams)[i].options.seat] += facts.ledgers[i]->times().service.count();
    return server_results(storages, frames_read);
}

}  // namespace streamsim::run
