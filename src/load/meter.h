// Meter: does what a MeterSpec says, with the users of one seat. It decides what is asked for and when, and
// books what became of it; what is written is not looked at, what is read neither.
//
// Closed loop. A user has `inflight` places; each does one operation after the other. Its next one is intended
// at completion + think time, and not before the rate limit lets it. Open loop. Arrivals are intended at
// instants that do not depend on completions: arrival k of a user at begin + k / rate (constant), or at
// exponential distances (Poisson). One that finds no free place waits in line, and its latency counts from its
// intended time.
//
// Time of a block: completed - submitted, by the storage's stamps; an fsync after it is part of it. Latency of
// a transfer, in the cells: total time (from its first submission to the end of its last block) - the sum of
// the times of its blocks.
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
#include "streamsim/storage.h"
#include "streamsim/workload.h"

namespace streamsim {

/// The names of a meter's files: paths as the storage takes them.
struct WorkingSetNames {
    std::vector<std::string> directories;  // parents first; to be made
    std::vector<std::string>
        files;  // N-N: user u of the seat has [u * files, (u + 1) * files); shared: all have all
    std::vector<std::string> spare;  // empty; user u has [u * spare_files, (u + 1) * spare_files)
};

/// `root`: the meter's own directory. Shared sets are the same for all seats; others hold the seat's number.
WorkingSetNames working_set(const MeterSpec& spec, const std::string& root, std::uint32_t seat);

struct MeterPlan {
    MeterSpec spec;
    std::uint32_t seat = 0;
    std::uint32_t first_user =
        0;  // of the run, over all seats: users begin one after the other by these numbers
    std::uint64_t seed = 0;
    WorkingSetNames names;
    std::uint32_t alignment = 1;  // of the storage; offsets and sizes of direct I/O are multiples. Blocks that
                                  // are none are a matter of whoever made the plan
    std::uint64_t rows_kept = 0;  // operations of which a row is kept (--csv)
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

    /// Opens the files that are read and written, which is no part of what is measured.
    void prepare();
    bool ready() const;
    /// Its time counts from `from` (spec.start is added); it ends at `until` or at the spec's end, whichever is
    /// first: nothing is begun from then on, what is under way is waited for. REQUIRES: ready().
    void play(Instant from, Instant until);
    /// Ends it now: cancels what is under way.
    void interrupt();
    /// Nothing of it is outstanding any more, and it has begun its last operation.
    bool finished() const;

    /// After finished(). What failed in prepare() is in its errors, and those files' operations have failed.
    MeterResult result() const;
    std::vector<OperationRow> rows() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace streamsim
