// The path of each read through a cluster, by the test itself: the parts that it passes, and its bytes there.
// It needs nothing but the model's numbers, where the blocks lie, and when a read was asked for and when it
// came.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/random_cluster.h"

namespace streamsim::test {

/// So much passed a part at some time between two instants.
struct Passage {
    std::int64_t from_ns = 0;
    std::int64_t to_ns = 0;
    double work = 0;  // bytes; of a processor, core seconds
};

struct PartTraffic {
    double work_per_s = 0;    // that the part does, with all its servers; 0: any
    std::uint64_t bytes = 0;  // that pass it
    std::vector<Passage> passages;
};

/// The traffic of each part, by the name of the part in the statistics. Blocks are counted once for each node
/// that is asked for them: as they are fetched where caches begin empty and have room, and nothing is read
/// ahead.
class ClusterTraffic {
public:
    ClusterTraffic(const sim::ClusterOptions& options, const Load& load, const std::deque<ReadOp>& reads);

    const std::map<std::string, PartTraffic>& parts() const { return parts_; }

private:
    using Block = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // node, file, number

    PartTraffic& part(const std::string& name, double work_per_s);
    void pass_seat(const Load::Request& request, const ReadOp& op);
    void pass_node(const Load::Request& request, const ReadOp& op);
    void want_blocks(const Load::Request& request, const ReadOp& op);
    void fetch_blocks();

    const sim::ClusterOptions& options_;
    std::map<std::string, PartTraffic> parts_;
    std::map<Block, Passage> blocks_;
};

/// The most that passed in any window of time, from the asking of a read on, as a share of what the part can.
double fullest_window(const PartTraffic& traffic);

}  // namespace streamsim::test
