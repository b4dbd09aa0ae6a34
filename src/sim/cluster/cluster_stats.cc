#include "sim/cluster/cluster_stats.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace streamsim::sim {
namespace {

class StatsList {
public:
    StatsList(Instant from, Instant to) : from_(from), to_(to) {}

    PartStats& add(PartKind kind, std::uint32_t owner, std::string name) {
        PartStats& stats = all_.emplace_back();
        stats.kind = kind;
        stats.owner = owner;
        stats.name = std::move(name);
        return stats;
    }
    PartStats& add(PartKind kind, std::uint32_t owner, std::string name, const Station& station) {
        PartStats& stats = add(kind, owner, std::move(name));
        stats.servers = station.servers();
        stats.bytes_per_s = static_cast<double>(station.rate().bytes_per_s());
        station.stats().fill(stats, from_, to_);
        return stats;
    }
    void add_if_used(PartKind kind, std::uint32_t owner, std::string name, const Station& station) {
        if (station.stats().arrivals() > 0) add(kind, owner, std::move(name), station);
    }
    void add_drive(std::uint32_t owner, std::string name, const Drive& drive) {
        PartStats& stats = add(PartKind::drive, owner, std::move(name));
        stats.servers = drive.servers();
        stats.bytes_per_s = static_cast<double>(drive.rate().bytes_per_s());
        drive.stats().fill(stats, from_, to_);
    }
    std::vector<PartStats> take() { return std::move(all_); }

private:
    const Instant from_;
    const Instant to_;
    std::vector<PartStats> all_;
};

void add_cache(PartStats& stats, const BlockCache& cache) {
    stats.hits = cache.hits();
    stats.misses = cache.misses();
    stats.evictions = cache.evictions();
}

void add_seat(StatsList& all, std::uint32_t number, const Seat& seat) {
    const auto name = [number](const char* part) { return fmt::format("seat {} {}", number, part); };
    all.add(PartKind::seat_cpu, number, name("processor"), seat.cpu).bytes_per_s = 0;
    if (seat.connections) all.add(PartKind::seat_link, number, name("connections"), *seat.connections);
    all.add(PartKind::seat_link, number, name("link"), seat.link);
    if (seat.connections_out)
        all.add_if_used(PartKind::seat_link, number, name("connections out"), *seat.connections_out);
    all.add_if_used(PartKind::seat_link, number, name("link out"), seat.link_out);
    if (!seat.port) return;
    PartStats& port = all.add(PartKind::switch_port, number, name("switch port"), seat.port->station());
    port.lost = seat.port->lost_segments();
    port.lost_seconds = seat.port->lost_seconds();
}

void add_node(StatsList& all, std::uint32_t number, const Node& node) {
    const auto name = [number](const char* part) { return fmt::format("node {} {}", number, part); };
    all.add(PartKind::front_end, number, name("front end"), node.front_end);
    all.add_if_used(PartKind::front_end_in, number, name("front end in"), node.front_end_in);
    all.add(PartKind::node_cpu, number, name("processor"), node.cpu).bytes_per_s = 0;
    all.add_if_used(PartKind::journal, number, name("journal"), node.journal.entry);
    for (std::uint32_t i = 0; i < node.metadata_lines.size(); ++i)
        all.add(PartKind::metadata, number, fmt::format("node {} names {}", number, i), node.metadata_lines[i]);
    add_cache(all.add(PartKind::ram, number, name("RAM")), node.ram);
    if (node.ssd.capacity() > 0)
        add_cache(all.add(PartKind::ssd, number, name("SSD"), node.ssd_reads), node.ssd);
    all.add(PartKind::back_end, number, name("back end"), node.back_end);
    for (std::uint32_t i = 0; i < node.drives.size(); ++i)
        all.add_drive(number, fmt::format("node {} drive {}", number, i), *node.drives[i]);
}

}  // namespace

std::vector<PartStats> cluster_stats(const ClusterParts& parts,
                                     const FileCoordinators& coordinators,
                                     Instant from,
                                     Instant to) {
    StatsList all(from, to);
    for (std::uint32_t i = 0; i < parts.seats.size(); ++i) add_seat(all, i, parts.seats[i]);
    for (std::uint32_t i = 0; i < parts.nodes.size(); ++i) add_node(all, i, parts.nodes[i]);
    for (const FileCoordinators::Coordinator& each : coordinators.all()) {
        all.add(PartKind::file, each.file, fmt::format("file {}{}", each.file, each.writes ? " writes" : ""),
                each.station);
    }
    return all.take();
}

}  // namespace streamsim::sim
