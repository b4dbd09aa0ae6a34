// A drive serves the blocks of its node.
//
// Rotational: one arm. A request takes the seek from the head's position, the turn until its sector comes by,
// and its bytes at the rate of its zone; a request that begins at the end of the last one takes neither seek
// nor turn, as the drive has read on. Seek time grows with the square root of the distance, from a track's to
// the whole disk's (Ruemmler and Wilkes, "An introduction to disk drive modeling", 1994; their linear part for
// long seeks is left out). The turn is uniform over a rotation. The rate falls evenly with the address from the
// outermost zone to the innermost. Queue discipline: among the oldest `reorder` requests the one with the
// shortest seek is next (as drives do with their command queues: Jacobson and Wilkes, "Disk scheduling
// algorithms based on rotational position", 1991, here by distance alone), but the oldest as soon as `reorder`
// younger ones have overtaken it, so that none starves.
//
// Flash: `channels` requests at a time, in order, each with the access time and its tail and then its bytes at
// the rate of a channel (Chen, Lee and Zhang, "Essential roles of exploiting internal parallelism of flash
// memory based solid state drives in high-speed data processing", 2011).
//
// Writes take the same time, on flash with an access time of their own. A job may be several accesses, one
// after the other (Job::accesses): flash takes its access time for each, a disk its seek and turn.
//
// Assumptions: no spare sectors, no recovery of errors, no thermal limits; the mapping of flash to channels is
// even.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/parts/station.h"
#include "streamsim/cluster_model.h"

namespace streamsim::sim {

class Drive {
public:
    virtual ~Drive() = default;
    /// `position` in bytes, below the capacity; `chance` is the key of the request's random draws.
    virtual void enter(Job& job, std::uint64_t position, std::uint64_t bytes, std::uint64_t chance) = 0;
    /// The part that serves its jobs.
    virtual Part& part() = 0;

    /// No job may enter a dead drive.
    bool dead = false;
};

std::unique_ptr<Drive> make_drive(Calendar& calendar, const DriveModel& model);

class RotationalDrive final : public Drive, public Part {
public:
    RotationalDrive(Calendar& calendar, const DriveModel& model) : calendar_(calendar), model_(model) {}

    void enter(Job& job, std::uint64_t position, std::uint64_t bytes, std::uint64_t chance) override;
    Part& part() override { return *this; }
    JobQueue take_waiting() override;
    std::uint32_t servers() const override { return 1; }
    Rate rate() const override { return Rate::of(model_.outer_bytes_per_s); }
    void finish(Job& job) override;

    /// From one position to another.
    Duration seek_time(std::uint64_t from, std::uint64_t to) const;
    /// The rate of the zone at a position.
    Rate zone_rate(std::uint64_t position) const;

private:
    void begin(Job& job);
    Job& take_next();

    Calendar& calendar_;
    const DriveModel model_;
    JobQueue waiting_;  // the oldest first
    std::uint64_t head_ = 0;
    bool busy_ = false;
};

}  // namespace streamsim::sim
