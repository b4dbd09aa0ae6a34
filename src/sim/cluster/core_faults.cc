// Faults and books of the cluster.
//
// drive_dies: what waits for the drive is computed from the others of its group; what it is serving it still
// gives. node_lost: its drives are dead; what its seats had asked for is asked again, of a node that is left,
// as soon as they are back; its caches are gone with it. Rebuilding lost drives in the background costs
// nothing. A lost node's journal has a copy, from which what is in it still goes to the drives. link_slows:
// where several slow one link at a time, the one that leaves it least counts.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "sim/cluster/core.h"

namespace streamsim::sim {

using Kind = ClusterFault::Kind;

void ClusterCore::at(Instant when, const ClusterFault& fault) {
    const bool all_nodes = fault.node == ClusterFault::kAll;
    const bool one = fault.kind == Kind::drive_dies || fault.kind == Kind::node_lost;
    STREAMSIM_CHECK(all_nodes ? !one : fault.node < nodes_.size(), "a fault is of a node that there is");
    STREAMSIM_CHECK(fault.kind != Kind::drive_dies || fault.drive < options_.model.node.drives,
                    "a fault is of a drive that there is");
    STREAMSIM_CHECK(fault.seat == ClusterFault::kAll || fault.seat < seats_.size(),
                    "a fault is of a seat that there is");
    STREAMSIM_CHECK(fault.factor > 0, "a link keeps some of its rate");
    planned_.push_back({this, fault});
    calendar_.at(std::max(when, calendar_.now()), Callback::of<&Planned::strike>(&planned_.back()));
}

void ClusterCore::strike(Planned& planned) {
    const ClusterFault& fault = planned.fault;
    if (fault.kind == Kind::drive_dies) {
        Drive& drive = *nodes_[fault.node].drives[fault.drive];
        if (!drive.dead) kill({&drive});
        return;
    }
    if (fault.kind == Kind::node_lost) return lose_node(fault.node, fault.length);
    if (fault.kind == Kind::link_slows) {
        planned.slows = true;
        set_links(fault);
        if (fault.length > Duration{})
            calendar_.at(calendar_.now() + fault.length, Callback::of<&Planned::end>(&planned));
        return;
    }
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
        if (fault.node != ClusterFault::kAll && fault.node != i) continue;
        Node& node = nodes_[i];
        if (fault.kind == Kind::cache_flush) {
            node.ram.clear();
            node.ssd.clear();
        } else {
            const Instant until = calendar_.now() + fault.length;
            node.cpu.pause(until);
            node.front_end.pause(until);
            node.front_end_in.pause(until);
        }
    }
}

void ClusterCore::end(Planned& planned) {
    planned.slows = false;
    set_links(planned.fault);
}

/// Of all that slows one link now.
template <typename Hits>
double ClusterCore::least_factor(Hits hits) const {
    double least = 1;
    for (const Planned& planned : planned_) {
        if (planned.slows && hits(planned.fault)) least = std::min(least, planned.fault.factor);
    }
    return least;
}

void ClusterCore::set_links(const ClusterFault& fault) {
    if (fault.seat != ClusterFault::kAll) {
        const double factor = least_factor([&](const ClusterFault& each) { return each.seat == fault.seat; });
        seats_[fault.seat].link.slow(factor);
        seats_[fault.seat].link_out.slow(factor);
        return;
    }
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
        if (fault.node != ClusterFault::kAll && fault.node != i) continue;
        const double factor = least_factor([i](const ClusterFault& each) {
            return each.seat == ClusterFault::kAll && (each.node == ClusterFault::kAll || each.node == i);
        });
        nodes_[i].front_end.slow(factor);
        nodes_[i].front_end_in.slow(factor);
    }
}

/// What waits for drives that are dead from now on comes from elsewhere.
void ClusterCore::kill(const std::vector<Drive*>& drives) {
    for (Drive* const dead : drives) dead->dead = true;
    for (Drive* const dead : drives) {
        JobQueue waiting = dead->take_waiting();
        while (!waiting.empty()) {
            Job& job = waiting.pop();
            if (job.kind == Job::Kind::destage) {
                to_drive_with(job, job.home);
                continue;
            }
            if (job.parent == nullptr) {
                to_drive(job);
                continue;
            }
            const std::uint32_t other = live_after(job.home);  // it was a part of a lost block itself
            if (other != kNone) {
                to_live_drive(job, other);
            } else {
                fail_fetch(job);
            }
        }
    }
}

void ClusterCore::lose_node(std::uint32_t lost, Duration until_back) {
    Node& node = nodes_[lost];
    if (node.lost) return;
    node.lost = true;
    std::vector<std::uint32_t> left;
    for (std::uint32_t i = 1; i < nodes_.size(); ++i) {
        const auto other = static_cast<std::uint32_t>((lost + i) % nodes_.size());
        if (!nodes_[other].lost) left.push_back(other);
    }
    std::size_t turn = 0;
    for (Seat& seat : seats_) {
        if (seat.node != lost) continue;
        seat.node = left.empty() ? Seat::kNoNode : left[turn++ % left.size()];
        seat.back_at = calendar_.now() + until_back;
    }
    std::vector<Drive*> drives;
    for (const auto& drive : node.drives) {
        if (!drive->dead) drives.push_back(drive.get());
    }
    kill(drives);
    std::vector<Station*> stations{&node.cpu, &node.front_end, &node.front_end_in};
    for (Station& line : node.lines) stations.push_back(&line);
    for (Station* const station : stations) {
        JobQueue waiting = station->take_waiting();
        while (!waiting.empty()) fail_over(waiting.pop());
    }
    JobQueue waiting;
    std::swap(waiting, node.journal.waiting);
    while (!waiting.empty()) fail_over(waiting.pop());
}

// ---- books
// -----------------------------------------------------------------------------------------------------

namespace {

PartStats& add(std::vector<PartStats>& all, PartKind kind, std::uint32_t owner, std::string name) {
    PartStats& stats = all.emplace_back();
    stats.kind = kind;
    stats.owner = owner;
    stats.name = std::move(name);
    return stats;
}

PartStats& add(std::vector<PartStats>& all,
               PartKind kind,
               std::uint32_t owner,
               std::string name,
               const Station& station,
               Instant from,
               Instant to) {
    PartStats& stats = add(all, kind, owner, std::move(name));
    stats.servers = station.servers();
    stats.bytes_per_s = static_cast<double>(station.rate().bytes_per_s());
    station.stats().fill(stats, from, to);
    return stats;
}

/// What only writes use is in the books of runs that write.
bool was_used(const Station& station) {
    return station.stats().arrivals() > 0;
}

void add_cache(PartStats& stats, const BlockCache& cache) {
    stats.hits = cache.hits();
    stats.misses = cache.misses();
    stats.evictions = cache.evictions();
}

}  // namespace

std::vector<PartStats> ClusterCore::stats(Instant from, Instant to) const {
    std::vector<PartStats> all;
    for (std::uint32_t i = 0; i < seats_.size(); ++i) add_seat_stats(all, i, from, to);
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) add_node_stats(all, i, from, to);
    for (std::uint32_t i = 0; i < coordinators_.size(); ++i) {
        const auto file = static_cast<std::uint32_t>(coordinated_[i]);
        const char* const what = (coordinated_[i] & kWrites) != 0 ? "file {} writes" : "file {}";
        add(all, PartKind::file, file, fmt::format(fmt::runtime(what), file), coordinators_[i], from, to);
    }
    return all;
}

void ClusterCore::add_seat_stats(std::vector<PartStats>& all,
                                 std::uint32_t number,
                                 Instant from,
                                 Instant to) const {
    const Seat& seat = seats_[number];
    const auto name = [&](const char* part) { return fmt::format("seat {} {}", number, part); };
    add(all, PartKind::seat_cpu, number, name("processor"), seat.cpu, from, to).bytes_per_s = 0;
    if (seat.connections) {
        add(all, PartKind::seat_link, number, name("connections"), *seat.connections, from, to);
    }
    add(all, PartKind::seat_link, number, name("link"), seat.link, from, to);
    if (seat.connections_out && was_used(*seat.connections_out))
        add(all, PartKind::seat_link, number, name("connections out"), *seat.connections_out, from, to);
    if (was_used(seat.link_out))
        add(all, PartKind::seat_link, number, name("link out"), seat.link_out, from, to);
    if (seat.port) {
        PartStats& stats =
            add(all, PartKind::switch_port, number, name("switch port"), seat.port->station(), from, to);
        stats.lost = seat.port->lost_segments();
        stats.lost_seconds = seat.port->lost_seconds();
    }
}

void ClusterCore::add_node_stats(std::vector<PartStats>& all,
                                 std::uint32_t number,
                                 Instant from,
                                 Instant to) const {
    const Node& node = nodes_[number];
    const auto name = [&](const char* part) { return fmt::format("node {} {}", number, part); };
    add(all, PartKind::front_end, number, name("front end"), node.front_end, from, to);
    if (was_used(node.front_end_in))
        add(all, PartKind::front_end_in, number, name("front end in"), node.front_end_in, from, to);
    add(all, PartKind::node_cpu, number, name("processor"), node.cpu, from, to).bytes_per_s = 0;
    if (was_used(node.journal.entry))
        add(all, PartKind::journal, number, name("journal"), node.journal.entry, from, to);
    for (std::uint32_t i = 0; i < node.lines.size(); ++i)
        add(all, PartKind::metadata, number, fmt::format("node {} names {}", number, i), node.lines[i], from,
            to);
    add_cache(add(all, PartKind::ram, number, name("RAM")), node.ram);
    if (node.ssd.capacity() > 0) {
        add_cache(add(all, PartKind::ssd, number, name("SSD"), node.ssd_reads, from, to), node.ssd);
    }
    add(all, PartKind::back_end, number, name("back end"), node.back_end, from, to);
    for (std::uint32_t i = 0; i < node.drives.size(); ++i) {
        PartStats& stats = add(all, PartKind::drive, number, fmt::format("node {} drive {}", number, i));
        stats.servers = node.drives[i]->servers();
        stats.bytes_per_s = static_cast<double>(node.drives[i]->rate().bytes_per_s());
        node.drives[i]->stats().fill(stats, from, to);
    }
}

}  // namespace streamsim::sim
