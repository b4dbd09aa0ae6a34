// Meter: does what a MeterSpec says, with the users of one seat. It decides what is asked for and when, and
// books what became of it; what is read is not looked at, and what is written is noise of which no two blocks
// are alike.
//
// Closed loop. A user has `inflight` places; each does one operation after the other. Its next one is intended
// at completion + think time, 10 ms later after a failure, and not before the rate limit lets it: no two of a
// user's begin at a smaller distance than 1 / rate. Open loop. Arrivals are intended at instants that do not
// depend on completions: arrival k of a user at begin + phase + k / rate (constant), or at exponential
// distances from its begin (Poisson). The phase spreads the users of all seats evenly over 1 / rate; it holds
// for a rate limit as well. An arrival that finds no free place waits in line, and its latency counts from its
// intended time. A burst comes before: without think time and limit; the rest begins when it is complete.
//
// A transfer that is shorter than its block size is booked under the largest size that fits it. Under direct
// I/O lengths are rounded up to the alignment. A user keeps its files open, up to 64 of them; of more, each
// transfer opens its own, which is part of its latency, and closes it (after an fsync, where that is asked for
// at the end). Users of a shared file begin to be sequential in parts of their own, evenly over the file. Seats
// that share files take turns in one order of places where these are not to repeat; a place is as long as the
// longest that is asked for.
//
// Time of a block: completed - submitted, by the storage's stamps; an fsync after it is part of it. Latency of
// a transfer, in the cells: total time (from its first submission to the end of its last block) - the sum of
// the times of its blocks.
//
// Nothing is lost: arrived = done + failed + unfinished, after interrupt() as well. What had not completed by
// the end is unfinished, whatever became of it later; bytes are those of blocks that had, unfinished transfers
// included; blocks_done counts every block.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/callback.h"
#include "base/time.h"
#include "streamsim/event_loop.h"
#include "streamsim/meter_result.h"
#include "streamsim/progress.h"
#include "streamsim/storage.h"
#include "streamsim/workload.h"

namespace streamsim::load {

/// The names of a meter's files: paths as the storage takes them. All end with ".load", created ones too.
struct WorkingSetNames {
    /// To be made, in this order: first those of `parents`, the root first, then `directories`. Some are in
    /// both.
    std::vector<std::string> parents;
    /// N-N: user u of the seat has [u * directories, (u + 1) * directories); shared: all have all.
    std::vector<std::string> directories;
    std::vector<std::string> files;  // the same with `files`; file f of a user is in its directory f, around
    std::vector<std::string> spare;  // empty; user u has [u * spare_files, (u + 1) * spare_files)
};

/// `root`: the meter's own directory. Shared directories and files are the same for all seats; others hold the
/// seat's number, and so do spare files.
WorkingSetNames working_set(const MeterSpec& spec, const std::string& root, std::uint32_t seat);

struct MeterPlan {
    MeterSpec spec;
    std::uint32_t number = 0;  // of the run's meters, counted from 0
    std::uint32_t seat = 0;    // of the run
    std::uint32_t seats = 1;   // that have this meter
    /// Over the seats that have it: the first one's is 0, the next one's spec.users. Users begin one after the
    /// other by these numbers.
    std::uint32_t first_user = 0;
    std::uint32_t first_stream = 0;  // of the tags of its operations: user u's are of stream first_stream + u
    std::uint64_t seed = 0;          // of the meter; the same on all seats
    WorkingSetNames names;
    std::uint32_t alignment = 1;  // of the storage; offsets and sizes of direct I/O are multiples. Blocks that
                                  // are none are a matter of whoever made the plan
    std::shared_ptr<MeterProgress> progress;  // none: nobody watches
    std::uint64_t rows_kept = 0;              // operations of which a row is kept (--csv)
};

/// One loop's thread; pinned. prepare() once, then play() once, then finished() comes true.
class Meter final {
public:
    /// Of the blocks in flight; reads and writes of a user go to memory of its own.
    static std::uint64_t memory_bytes(const MeterPlan& plan);

    /// `memory` has memory_bytes() and belongs to this meter; what writes send is filled in here. `changed`
    /// runs when ready() or finished() becomes true. The plan outlives it.
    Meter(EventLoop& loop,
          Storage& storage,
          const MeterPlan& plan,
          std::span<std::byte> memory,
          Callback changed);
    ~Meter();
    Meter(const Meter&) = delete;
    Meter& operator=(const Meter&) = delete;

    /// Opens the files that are kept open, which is no part of what is measured. REQUIRES: the working set is
    /// there, and nothing else below its root; the storage writes where more than reads and opens are asked
    /// for.
    void prepare();
    bool ready() const;
    /// May be called in advance. Its time counts from `from` (spec.start is added); it ends at `until` or at
    /// the spec's end, whichever is first: nothing is begun from then on, what is under way is waited for.
    /// REQUIRES: ready().
    void play(Instant from, Instant until);
    /// Ends it now: cancels what is under way.
    void interrupt();
    /// Nothing of it is outstanding any more, and it has begun its last operation.
    bool finished() const;

    /// After finished(). What failed in prepare() is in its errors, as opens, and those files' operations have
    /// failed; what failed in an fsync at the end is in them too, as writes.
    MeterResult result() const;
    std::vector<OperationRow> rows() const;
    /// After finished(): files that it created and that are there now, or may be (after an interrupt); whoever
    /// prepared the working set removes them. Spare files may be gone.
    std::vector<std::string> created() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace streamsim::load
