// The path of an operation from its seat to a node and back (cluster.h draws it).
//
// A write takes its bytes along: the seat's processor (the request and its bytes) -> the seat's connections and
// link, outwards -> the transit to the node -> its front-end link, inwards -> its processor -> where the model
// has one, the coordinator of the file's writes -> the journal -> the transit back. The node's RAM keeps the
// blocks that were written whole (BlockReader::keep_written()). A sync finds all of its file in the journal, as
// every answered write is there: it takes a request and the journal's latency. Operations on names take the
// processor, then their metadata line where the model has lines, and the journal for what they change.
//
// Assumption: copies in the caches of other nodes are updated at no cost.
#pragma once

#include <deque>

#include "sim/cluster/block_reader.h"
#include "sim/cluster/completions.h"
#include "sim/cluster/open_files.h"
#include "sim/cluster/parts.h"
#include "sim/cluster/read_ahead.h"
#include "sim/cluster/write_path.h"

namespace streamsim::sim {

/// The flow of requests and copies on a seat's processor; its decoders have the flows above.
inline constexpr std::uint32_t kProtocolFlow = 0;

class RequestPath final : public JobOwner {
public:
    /// The owner of a file's locks: one server at the model's file_bytes_per_s, fair between seats, and another
    /// one for the file's writes. A file of a sequence has the same, but in the order of arrival and with
    /// statistics of all such files together (FileTable::coordinate()), as there may be millions, and one
    /// reader at a time reads it.
    struct Coordinator {
        std::uint32_t file;
        bool writes;
        Station station;
    };

    RequestPath(ClusterParts& parts, OpenFiles& open_files, Completions& completions)
        : parts_(parts), open_files_(open_files), completions_(completions) {}

    void start(Job& job);
    /// Ends the job with its error, or with success.
    void finish(Job& job);
    void advance(Job& job) override;
    /// The node is lost: the request goes to the node that the seat then mounts from.
    void reroute(Job& job) override;

    /// In the order of their creation, which is by the first access of a file.
    const std::deque<Coordinator>& coordinators() const { return coordinators_; }

private:
    // In the order of the path.
    void leave_seat(Job& job);
    void leave_connection(Job& job);
    void travel_to_node(Job& job);
    void reach_node(Job& job);
    void enter_processor(Job& job);
    Duration read_time(Job& job);
    bool begins_frame(Job& job);
    std::uint64_t sent_bytes(const Job& job) const { return job.bytes + parts_.model().network.message_bytes; }
    Duration metadata_time(const Job& job) const;
    void leave_processor(Job& job);
    void leave_coordinator(Job& job);
    void enter_metadata_line(Job& job);
    void leave_metadata_line(Job& job);
    void reach_file(Job& job);
    void read_blocks(Job& job);
    void reach_journal(Job& job);
    void leave_journal(Job& job);
    void answer(Job& job);
    void travel_back(Job& job);
    void reach_port(Job& job);
    void leave_port(Job& job);
    void reach_connection(Job& job);
    void reach_link(Job& job);
    void copy(Job& job);

    Station& coordinator_of(const Job& job, double bytes_per_s);
    bool node_lost(const Job& job) const { return parts_.nodes[job.node].lost; }
    void set_result(Job& job);

    ClusterParts& parts_;
    OpenFiles& open_files_;
    Completions& completions_;
    BlockReader blocks_{parts_};
    ReadAhead read_ahead_{parts_, open_files_, blocks_};
    WritePath writes_{parts_};
    FlatIndex coordinator_index_;
    std::deque<Coordinator> coordinators_;
};

}  // namespace streamsim::sim
