// A station is a part with servers and a queue: a link, a processor, a flash drive, a coordinator.
//
// Queue discipline: one line in the order of arrival, or a line for each flow, served in turn, one request of
// each at a time. Links and schedulers share between flows like that (Nagle, RFC 970; Shreedhar and
// Varghese, "Efficient fair queuing using deficit round robin", 1995, with quanta as large as requests), and in
// the long run each flow with waiting requests gets an equal share.
//
// Service: a fixed time and the bytes at the station's rate, without a pause. No server is idle while requests
// wait (work is conserved) but in a pause, which is a fault. A processor's flow 0 is urgent, like a kernel's
// network beside decoders: it is served at once, in its own order, and the interrupted request ends later by as
// much (preemptive resume). Other stations never preempt.
//
// Assumptions: a request is served whole before the next; queues have no end. A slower rate or a pause begins
// with the next request, not within one.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/parts/calendar.h"
#include "sim/parts/flat_index.h"
#include "sim/parts/job.h"
#include "sim/parts/other_load.h"
#include "sim/parts/rate.h"
#include "sim/parts/station_stats.h"

namespace streamsim::sim {

/// Serves jobs.
class Part {
public:
    virtual ~Part() = default;
    /// A service has ended.
    virtual void finish(Job& job) = 0;
    /// Removes all waiting jobs, in the order in which they would have been served.
    virtual JobQueue take_waiting() = 0;
    virtual std::uint32_t servers() const = 0;
    virtual Rate rate() const = 0;  // of one server at its best
    const StationStats& stats() const { return stats_; }

protected:
    StationStats stats_;
};

inline void Job::served() {
    part->finish(*this);
}

struct StationOptions {
    std::uint32_t servers = 1;
    Rate rate;            // of one server
    bool fair = false;    // between flows
    bool urgent = false;  // flow 0 interrupts the others. REQUIRES: one server
};

class Station final : public Part {
public:
    Station(Calendar& calendar, const StationOptions& options)
        : calendar_(calendar), options_(options), rate_(options.rate) {}

    /// The owner's advance() is called when the job was served, never inside this call.
    void enter(Job& job, std::uint32_t flow, Duration fixed, std::uint64_t load);
    void finish(Job& job) override;

    /// Sets the rate to `factor` of the station's own. REQUIRES: factor > 0.
    void slow(double factor) { rate_ = factor == 1 ? options_.rate : options_.rate.times(factor); }
    /// Other load takes its share of the rate, whichever that is. It outlives the station, or null.
    void share_with(OtherLoad* load) { other_load_ = load; }
    /// No further service begins before `until`.
    void pause(Instant until);
    JobQueue take_waiting() override;
    std::uint32_t servers() const override { return options_.servers; }
    Rate rate() const override { return options_.rate; }

private:
    static constexpr std::uint32_t kNone = UINT32_MAX;
    struct Flow {
        JobQueue waiting;
        std::uint32_t next = kNone;  // index, in the round of flows with waiting jobs
    };

    /// For a service that begins now.
    Rate current_rate() {
        const double left = other_load_ == nullptr ? 1 : other_load_->left_at(calendar_.now());
        return left == 1 ? rate_ : rate_.times(left);
    }
    void interrupt(Job& job);
    bool may_begin() const { return busy_ < options_.servers && calendar_.now() >= paused_until_; }
    void push(Job& job);
    Job& pop();
    /// In flows_, where it is added if it is not there.
    std::uint32_t index_of(std::uint32_t flow);
    void add_to_round(std::uint32_t index);
    void begin(Job& job);
    void begin_waiting();

    Calendar& calendar_;
    StationOptions options_;
    Rate rate_;
    OtherLoad* other_load_ = nullptr;
    Instant paused_until_;
    std::uint32_t busy_ = 0;
    Instant urgent_end_;    // of all urgent jobs so far
    Duration interrupted_;  // added to the service of the current job
    /// Streams are numbered over all seats of a run, and meters far behind them.
    FlatIndex flow_index_;
    std::vector<Flow> flows_;
    std::uint32_t first_flow_ = kNone;  // of the round, by index
    std::uint32_t last_flow_ = kNone;
};

}  // namespace streamsim::sim
