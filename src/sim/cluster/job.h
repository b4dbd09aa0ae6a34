// A job is one thing on its way through the cluster: an operation, a frame to decode, a block that is fetched
// into a cache, or what goes from a journal to a drive. It is in one place at a time: in the queue of a part,
// being served, or under way. Jobs come from a pool and are linked through themselves, so that nothing is
// allocated for each request.
#pragma once

#include <cstdint>
#include <deque>

#include "base/callback.h"
#include "base/time.h"
#include "streamsim/decoder.h"
#include "streamsim/storage.h"

namespace streamsim::sim {

class Part;
class SimStorage;
struct Job;

/// Is told when a job may go on: it was served, or has arrived after a time under way.
class JobOwner {
public:
    virtual ~JobOwner() = default;
    virtual void advance(Job& job) = 0;
    /// A job with `vetted` has its turn: whether it is still wanted if it is complete then. If not it takes no
    /// time.
    virtual bool wanted(Job& job, Instant complete) = 0;
};

struct Job {
    enum class Kind : std::uint8_t { open, read, write, sync, name, decode, fetch, destage, give_back };
    /// Where it is, or what it was last at.
    enum class Stage : std::uint8_t {
        request_cpu,  // the seat's processor, for the request
        connections_out,
        link_out,
        way_out,
        front_end_in,
        node_cpu,
        line,
        file,
        blocks,
        journal,
        journal_way,
        front_end,
        way_back,
        switch_port,
        retransmit,  // waiting for what the port lost
        connections,
        seat_link,
        data_cpu,  // the seat's processor, for the bytes
        failover,
        decode,
        ssd,
        ssd_way,
        drive,
        back_end,
        back_way,
    };

    JobOwner* owner = nullptr;
    Part* part = nullptr;  // that it is in
    Job* next = nullptr;   // in a queue, in the pool, among what is finished

    // At the part that it is in.
    Instant arrived;
    Duration fixed;              // of its service
    std::uint64_t load = 0;      // bytes of its service
    std::uint64_t position = 0;  // on a drive
    std::uint32_t passed = 0;    // on a drive: by how many that came later
    std::uint32_t accesses = 1;  // on a drive: that it is
    std::uint32_t flow = 0;
    bool vetted = false;

    Kind kind = Kind::read;
    PathOp::Kind name = PathOp::Kind::stat;
    Stage stage = Stage::request_cpu;
    Op* op = nullptr;  // null: its caller has taken it back
    DecodeOp* decode = nullptr;
    SimStorage* storage = nullptr;
    Job* parent = nullptr;  // fetch: of a lost block, of which this is a part; destage: a write that waits
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t on_drive = 0;  // destage: bytes, with protection
    std::uint64_t line = 0;      // open and name: whose turn it is goes by this
    Duration cost;               // the same: of the node's processor
    std::uint64_t chance = 0;    // the key of its chances
    std::uint64_t port_rest = 0;
    Instant lost_at;
    std::uint32_t seat = 0;
    std::uint32_t stream = 0;
    std::uint32_t node = 0;  // that it asks; fetch: that asks
    std::uint32_t home = 0;  // fetch: that has the block
    std::uint32_t drive = 0;
    std::uint32_t file = 0;
    std::uint32_t block = 0;      // fetch; or the page
    std::uint32_t handle = 0;     // read: that it came through, if that is still
    std::uint32_t opening = 0;    // the one with this number
    std::uint32_t waits_for = 0;  // blocks that are on their way
    int error = 0;
    bool paged = false;    // read or fetch: single pages; write: at random, in pages
    bool changes = false;  // open or name: there is something to keep

    void served();
    void arrive() { owner->advance(*this); }
};

/// A queue through Job::next.
class JobQueue {
public:
    bool empty() const { return first_ == nullptr; }
    Job* first() const { return first_; }
    void push(Job& job) {
        job.next = nullptr;
        (last_ != nullptr ? last_->next : first_) = &job;
        last_ = &job;
    }
    /// REQUIRES: !empty().
    Job& pop() {
        Job& job = *first_;
        first_ = job.next;
        if (first_ == nullptr) last_ = nullptr;
        job.next = nullptr;
        return job;
    }
    /// Takes out what comes after `before`; null: the first.
    Job& take_after(Job* before) {
        if (before == nullptr) return pop();
        Job& job = *before->next;
        before->next = job.next;
        if (last_ == &job) last_ = before;
        job.next = nullptr;
        return job;
    }

private:
    Job* first_ = nullptr;
    Job* last_ = nullptr;
};

class JobPool {
public:
    explicit JobPool(JobOwner& owner) : owner_(owner) {}

    Job& take() {
        Job* job = free_;
        if (job != nullptr) {
            free_ = job->next;
            *job = Job{};
        } else {
            job = &jobs_.emplace_back();
        }
        job->owner = &owner_;
        return *job;
    }
    void give(Job& job) {
        job.next = free_;
        free_ = &job;
    }

private:
    JobOwner& owner_;
    std::deque<Job> jobs_;
    Job* free_ = nullptr;
};

}  // namespace streamsim::sim
