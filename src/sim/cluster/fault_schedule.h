// The faults of a cluster, each at its time.
//
// drive_dies: the jobs that wait for the drive go elsewhere (BlockReader, WritePath); the job that the drive
// serves still completes. node_lost: its drives are dead and its caches are gone; its seats repeat their
// requests to the nodes that are left as soon as they are back, which is after all losses that they met.
// Rebuilding lost drives in the background costs nothing. A lost node's journal has a copy, from which its
// content still goes to the drives. link_slows: where several faults slow one link at a time, the lowest factor
// counts; other load (parts/other_load.h) then takes its share of what is left.
#pragma once

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "base/check.h"
#include "sim/cluster/parts.h"

namespace streamsim::sim {

class FaultSchedule {
public:
    explicit FaultSchedule(ClusterParts& parts) : parts_(parts) {}

    /// REQUIRES: the fault names a node, drive or seat of the cluster.
    void add(Instant when, const ClusterFault& fault) {
        const bool all_nodes = fault.node == ClusterFault::kAll;
        const bool one = fault.kind == Kind::drive_dies || fault.kind == Kind::node_lost;
        STREAMSIM_CHECK(all_nodes ? !one : fault.node < parts_.nodes.size(),
                        "a fault names a node of the cluster");
        STREAMSIM_CHECK(fault.kind != Kind::drive_dies || fault.drive < parts_.model().node.drives,
                        "a fault names a drive of the node");
        STREAMSIM_CHECK(fault.seat == ClusterFault::kAll || fault.seat < parts_.seats.size(),
                        "a fault names a seat of the cluster");
        STREAMSIM_CHECK(fault.factor > 0, "a link keeps some of its rate");
        planned_.push_back({this, fault});
        parts_.calendar.at(std::max(when, parts_.calendar.now()),
                           Callback::of<&Planned::strike>(&planned_.back()));
    }

private:
    using Kind = ClusterFault::Kind;
    struct Planned {
        FaultSchedule* schedule = nullptr;
        ClusterFault fault;
        bool slows = false;  // a link, now
        void strike() { schedule->strike(*this); }
        void end() { schedule->end(*this); }
    };

    void strike(Planned& planned) {
        const ClusterFault& fault = planned.fault;
        switch (fault.kind) {
            case Kind::drive_dies: {
                Drive& drive = *parts_.nodes[fault.node].drives[fault.drive];
                if (!drive.dead) kill({&drive});
                return;
            }
            case Kind::node_lost: return lose_node(fault.node, fault.length);
            case Kind::link_slows: return slow_links(planned);
            case Kind::cache_flush:
            case Kind::pause: return strike_nodes(fault);
        }
    }

    void end(Planned& planned) {
        planned.slows = false;
        set_links(planned.fault);
    }
    void slow_links(Planned& planned) {
        planned.slows = true;
        set_links(planned.fault);
        if (planned.fault.length <= Duration{}) return;
        parts_.calendar.at(parts_.calendar.now() + planned.fault.length, Callback::of<&Planned::end>(&planned));
    }
    void strike_nodes(const ClusterFault& fault) {
        for (std::uint32_t i = 0; i < parts_.nodes.size(); ++i) {
            if (!hits_node(fault, i)) continue;
            Node& node = parts_.nodes[i];
            if (fault.kind == Kind::cache_flush) {
                node.ram.clear();
                node.l2.clear();
                node.ssd.clear();
            } else {
                const Instant until = parts_.calendar.now() + fault.length;
                node.cpu.pause(until);
                node.front_end.pause(until);
                node.front_end_in.pause(until);
            }
        }
    }

    void kill(const std::vector<Drive*>& drives) {
        for (Drive* const drive : drives) drive->dead = true;
        for (Drive* const drive : drives) reroute_all(drive->part().take_waiting());
    }
    void lose_node(std::uint32_t lost, Duration until_back) {
        Node& node = parts_.nodes[lost];
        if (node.lost) return;
        node.lost = true;
        move_seats(lost, until_back);
        std::vector<Drive*> drives;
        for (const auto& drive : node.drives) {
            if (!drive->dead) drives.push_back(drive.get());
        }
        kill(drives);
        for (Station* const station : {&node.cpu, &node.front_end, &node.front_end_in})
            reroute_all(station->take_waiting());
        for (Station& line : node.metadata_lines) reroute_all(line.take_waiting());
        for (Station& line : node.read_lines) reroute_all(line.take_waiting());
        reroute_all(std::exchange(node.journal.waiting, {}));
    }

    /// The seats of the lost node mount from the nodes that are left, in turn.
    void move_seats(std::uint32_t lost, Duration until_back) {
        std::vector<std::uint32_t> left;
        for (std::uint32_t i = 1; i < parts_.nodes.size(); ++i) {
            const auto other = static_cast<std::uint32_t>((lost + i) % parts_.nodes.size());
            if (!parts_.nodes[other].lost) left.push_back(other);
        }
        std::size_t turn = 0;
        for (Seat& seat : parts_.seats) {
            if (seat.node != lost) continue;
            seat.node = left.empty() ? Seat::kNoNode : left[turn++ % left.size()];
            seat.back_at = std::max(seat.back_at, parts_.calendar.now() + until_back);
        }
    }

    void set_links(const ClusterFault& fault) {
        if (fault.seat != ClusterFault::kAll) {
            const double factor =
                lowest_factor([&](const ClusterFault& each) { return each.seat == fault.seat; });
            parts_.seats[fault.seat].link.slow(factor);
            parts_.seats[fault.seat].link_out.slow(factor);
            return;
        }
        for (std::uint32_t i = 0; i < parts_.nodes.size(); ++i) {
            if (!hits_node(fault, i)) continue;
            const double factor = lowest_factor([i](const ClusterFault& each) {
                return each.seat == ClusterFault::kAll && hits_node(each, i);
            });
            parts_.nodes[i].front_end.slow(factor);
            parts_.nodes[i].front_end_in.slow(factor);
        }
    }

    /// Among the faults that slow a link now.
    template <typename Hits>
    double lowest_factor(Hits hits) const {
        double lowest = 1;
        for (const Planned& planned : planned_) {
            if (planned.slows && hits(planned.fault)) lowest = std::min(lowest, planned.fault.factor);
        }
        return lowest;
    }

    static bool hits_node(const ClusterFault& fault, std::uint32_t node) {
        return fault.node == ClusterFault::kAll || fault.node == node;
    }
    static void reroute_all(JobQueue waiting) {
        while (!waiting.empty()) {
            Job& job = waiting.pop();
            job.owner->reroute(job);
        }
    }

    ClusterParts& parts_;
    std::deque<Planned> planned_;  // they stay where they are: the calendar points to them
};

}  // namespace streamsim::sim
