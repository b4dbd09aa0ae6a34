// MeterPlan: a MeterSpec on one seat of a run, with the names of its files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "streamsim/progress.h"
#include "streamsim/workload.h"

namespace streamsim::load {

/// The names of a meter's files: paths as the storage takes them. All end with ".load", created ones too.
struct WorkingSetNames {
    /// Directories to create, in this order: first `parents`, the root first, then `directories`. Some are in
    /// both.
    std::vector<std::string> parents;
    /// Files of a user: user u of the seat has [u * directories, (u + 1) * directories); shared: all users of
    /// the seat have all.
    std::vector<std::string> directories;
    std::vector<std::string> files;  // the same with `files`; file f of a user is in its directory f, around
    std::vector<std::string> spare;  // empty; user u has [u * spare_files, (u + 1) * spare_files)
};

/// `root` is the meter's own directory. The directories and files of all users are the same for all seats; the
/// names of all others, and of spare files, have the seat's number in them.
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

}  // namespace streamsim::load
