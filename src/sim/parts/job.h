// A job moves through the parts of the cluster: an operation, a frame to decode, a block that is fetched into a
// cache, or a batch that goes from a journal to a drive. At any time a job waits in the queue of one part, is
// served by it, or is in transit for a fixed time. Jobs come from a pool and are linked through themselves, so
// that a request allocates nothing.
#pragma once

#include <cstdint>
#include <deque>

#include "base/callback.h"
#include "base/linked_queue.h"
#include "base/time.h"
#include "streamsim/decoder.h"
#include "streamsim/storage.h"

namespace streamsim::sim {

class Part;
struct Job;

/// Decides what a job does next.
class JobOwner {
public:
    virtual ~JobOwner() = default;
    /// The job was served, or its time in transit is over.
    virtual void advance(Job& job) = 0;
    /// The part in which the job waited has failed: the job goes elsewhere.
    virtual void reroute(Job& job) = 0;
    /// A job with `vetted` would be complete at `complete`: false when that is too late, and it then takes no
    /// time.
    virtual bool wanted(Job& /*job*/, Instant /*complete*/) { return true; }
};

struct Job {
    enum class Kind : std::uint8_t { open, read, write, sync, name, decode, fetch, destage, give_back };
    /// The part that serves the job, or the transit that it is in; with the owner's last decision.
    enum class Stage : std::uint8_t {
        request_cpu,  // the seat's processor, for the request
        connections_out,
        link_out,
        way_out,
        front_end_in,
        node_cpu,
        metadata_line,
        file,
        read_line,
        blocks,
        display,
        journal,
        journal_way,
        front_end,
        way_back,
        switch_port,
        retransmit,  // until the node sends again what the port lost
        connections,
        seat_link,
        data_cpu,  // the seat's processor, for the bytes
        failover,
        ssd,
        ssd_way,
        drive,
        back_end,
        back_way,
    };

    JobOwner* owner = nullptr;
    Part* part = nullptr;  // the part that the job is in
    Job* next = nullptr;   // in a queue, in the pool, or among the finished ones

    // At the part that the job is in.
    Instant arrived;
    Duration fixed;               // service time besides the bytes
    std::uint64_t load = 0;       // bytes served
    std::uint64_t position = 0;   // drive: of the first byte
    std::uint32_t overtaken = 0;  // drive: by how many younger jobs
    std::uint32_t accesses = 1;   // drive: how many accesses the job takes
    std::uint32_t flow = 0;
    bool vetted = false;

    Kind kind = Kind::read;
    PathOp::Kind path_op = PathOp::Kind::stat;
    Stage stage = Stage::request_cpu;
    Op* op = nullptr;  // null: cancelled by its caller
    DecodeOp* decode = nullptr;
    Callback delivered;        // the callback of the operation has run
    Job* parent = nullptr;     // fetch: the block that this is a part of; destage: the write that waits
    std::uint64_t offset = 0;  // fetch and destage: on the drive
    std::uint64_t bytes = 0;
    std::uint64_t run_bytes = 0;    // fetch: of one access to a drive, at most
    std::uint64_t drive_bytes = 0;  // destage: bytes with protection
    std::uint64_t end_before = 0;   // write: the end of the file before it
    std::uint64_t path_hash = 0;    // open and name: chooses the metadata line
    Duration metadata_time;         // open and name: on the node's processor
    std::uint64_t chance = 0;       // the key of its random draws
    std::uint64_t port_rest = 0;    // bytes that the switch port has not passed on yet
    Instant lost_at;
    std::uint32_t seat = 0;
    std::uint32_t stream = 0;
    std::uint32_t node = 0;  // the node that serves it; fetch: the node that asks for the block
    std::uint32_t home = 0;  // fetch: the node of its block
    std::uint32_t ring = 0;  // fetch and destage: the drive's number around the ring
    std::uint32_t file = 0;
    std::uint32_t block = 0;      // fetch: number of the block, or of the page
    std::uint32_t handle = 0;     // read and write: the open file, as long as `opening` is its opening
    std::uint32_t opening = 0;    // counts the uses of a handle
    std::uint32_t waits_for = 0;  // blocks in transit
    int error = 0;
    bool paged = false;      // read or fetch: single pages; write: at random, in pages
    bool goes_back = false;  // read: begins a frame that lies before the one that was begun last
    bool changes = false;    // open or name: the journal takes an entry
    bool at_home = false;    // fetch: the home node of the block expects it
    bool rebuilds = false;   // fetch: one of the reads from which a run of a dead drive is rebuilt

    void served();
    void arrive() { owner->advance(*this); }
    /// The job, in its next stage.
    Job& enter_stage(Stage next_stage) {
        stage = next_stage;
        return *this;
    }
};
using Stage = Job::Stage;

using JobQueue = LinkedQueue<Job>;

class JobPool {
public:
    Job& take(JobOwner& owner, Job::Kind kind) {
        Job* job = free_;
        if (job != nullptr) {
            free_ = job->next;
            *job = Job{};
        } else {
            job = &jobs_.emplace_back();
        }
        job->owner = &owner;
        job->kind = kind;
        return *job;
    }
    void give(Job& job) {
        job.next = free_;
        free_ = &job;
    }

private:
    std::deque<Job> jobs_;
    Job* free_ = nullptr;
};

}  // namespace streamsim::sim
