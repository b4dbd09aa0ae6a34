// Meter: runs a MeterSpec with the users of one seat. It decides which operations begin and when, and counts
// their outcomes; it does not look at read data, and writes noise of which no two blocks are alike.
//
// Closed loop. A user has `inflight` in-flight slots; each does one operation after the other. Its next one is
// intended at completion + think time, 10 ms later after a failure, and not before the rate limit allows it: no
// two operations of a user begin at a smaller distance than 1 / rate. Open loop. Arrivals are intended at
// instants that do not depend on completions: arrival k of a user at begin + phase + k / rate (constant), or at
// exponential distances from its begin (Poisson). The phase spreads the users of all seats evenly over 1 /
// rate; it holds for a rate limit as well. An arrival that finds no free slot waits in line, and its latency
// counts from its intended time. A burst comes first, without think time and limit; the rest begins when the
// burst is complete.
//
// A transfer that is shorter than its block size counts under the largest size that fits it. Under direct I/O
// lengths are rounded up to the alignment. A user keeps its files open, up to 64 of them; with more files, each
// transfer opens its own, which is part of its latency, and closes it (after an fsync, where the spec asks for
// one at the end). Sequential users of a shared file begin in different parts of it, evenly over the file.
// Seats that share files take turns in one order of positions where these must not repeat; a position is as
// long as the longest transfer.
//
// Time of a block: completed - submitted, by the storage's stamps; an fsync after it is part of it. Latency of
// a transfer, in the cells: total time (from its first submission to the end of its last block) - the sum of
// the times of its blocks.
//
// No operation is lost: arrived = done + failed + unfinished, after interrupt() as well. An operation that had
// not completed by the end is unfinished, whatever its outcome is later; bytes are those of blocks that had
// completed, unfinished transfers included; blocks_done counts every block.
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
    /// Directories to create, in this order: first `parents`, the root first, then `directories`. Some are in
    /// both.
    std::vector<std::string> parents;
    /// N-N: user u of the seat has [u * directories, (u + 1) * directories); shared: all have all.
    std::vector<std::string> directories;
    std::vector<std::string> files;  // the same with `files`; file f of a user is in its directory f, around
    std::vector<std::string> spare;  // empty; user u has [u * spare_files, (u + 1) * spare_files)
};

/// `root` is the meter's own directory. Shared directories and files are the same for all seats; the names of
/// all others, and of spare files, have the seat's number in them.
WorkingSetNames working_set(const MeterSpec& spec, const std::string& root, std::uint32_t seat);

struct MeterPlan {
    MeterSpec spec;
    std::uint32_t number = 0;  // of the run's meters, counted from 0
    std::uint32_t seat = 0;    // of the run
    std::uint32_t seats = 1;   // that have this meter
    /// Counted over the seats that have the meter: 0 for the first seat, spec.users for the next. Users begin
    /// one after the other by these numbers.
    std::uint32_t first_user = 0;
    std::uint32_t first_stream = 0;  // of the tags of its operations: user u's are of stream first_stream + u
    std::uint64_t seed = 0;          // of the meter; the same on all seats
    WorkingSetNames names;
    std::uint32_t alignment = 1;  // of the storage; offsets and sizes of direct I/O are multiples. The planner
                                  // checks the block sizes
    std::shared_ptr<MeterProgress> progress;  // may be null
    std::uint64_t rows_kept = 0;              // rows of single operations, at most (--csv)
};

/// One loop's thread; pinned. prepare() once, then play() once, then finished() becomes true.
class Meter final {
public:
    /// Memory of the blocks in flight; each user has its own.
    static std::uint64_t memory_bytes(const MeterPlan& plan);

    /// `memory` has memory_bytes() and belongs to this meter, which fills the blocks to write. `changed` runs
    /// when ready() or finished() becomes true. The plan outlives it.
    Meter(EventLoop& loop,
          Storage& storage,
          const MeterPlan& plan,
          std::span<std::byte> memory,
          Callback changed);
    ~Meter();
    Meter(const Meter&) = delete;
    Meter& operator=(const Meter&) = delete;

    /// Opens the files that stay open, which is not measured. REQUIRES: the working set exists, and nothing
    /// else below its root; the storage writes where the spec has more than reads and opens.
    void prepare();
    bool ready() const;
    /// May be called in advance. The meter's time counts from `from` (spec.start is added); it ends at `until`
    /// or at the spec's end, whichever is first: from then on no operation begins, and those in flight are
    /// waited for. REQUIRES: ready().
    void play(Instant from, Instant until);
    /// Ends the meter now: cancels all operations in flight.
    void interrupt();
    /// No operation is outstanding, and none will begin.
    bool finished() const;

    /// After finished(). Failures of prepare() are in its errors, as opens, and the operations on those files
    /// have failed; failures of an fsync at the end are there too, as writes.
    MeterResult result() const;
    std::vector<OperationRow> rows() const;
    /// After finished(): created files that exist, or may exist (after an interrupt), which the caller removes
    /// with the working set. Spare files may be gone.
    std::vector<std::string> created() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace streamsim::load
