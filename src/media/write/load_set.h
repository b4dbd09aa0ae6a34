// The files that meters work on: TARGET/streamsim-media/load/..., below the same marker as the clips, so that
// clean removes them. Every name ends with ".load"; what is being written has the run's id and ".partial" after
// it. Records (load_record.h) beside them say which names are ours.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "media/write/media_set.h"
#include "streamsim/byte_store.h"

namespace streamsim::media {

/// "/mnt/media/streamsim-media/load"
std::string load_root(const std::string& target);

struct LoadFile {
    std::string path;
    std::uint64_t bytes = 0;
};

struct LoadSet {
    std::string target;                    // an existing directory
    std::vector<std::string> directories;  // parents first; below load_root()
    std::vector<LoadFile> files;           // in them
};

/// The files that do not exist in their full length yet.
struct LoadSetPlan {
    LoadSet missing;
    LoadSet all;  // the requested set, whose names are recorded first (if empty, those of `missing`)
    std::uint64_t bytes_to_write = 0;
    std::uint64_t bytes_free = 0;
    bool recorded = false;  // record_load_set() was done for a plan with all of these files

    bool nothing_to_do() const { return missing.files.empty() && missing.directories.empty(); }
};

/// Finds what is missing; writes nothing. Unfinished files of ours count as free space. Errors: environment
/// when the target is no directory, when there is not enough free space (1 % is kept free), when its
/// streamsim-media was not made by prepare, or when something that is not ours has one of the names: anything
/// but a regular file of a recorded length.
Result<LoadSetPlan> plan_load_set(ByteStore& store, const LoadSet& set);

/// Records the names of a plan and makes its missing directories, so that several processes can write their
/// parts of the files at once. Blocks. Errors: environment.
Result<void> record_load_set(ByteStore& store, const LoadSetPlan& plan);

/// Writes the missing files with bytes from `seed` that nothing can compress or deduplicate. Blocks. Errors:
/// interrupted after `cancel`; environment, naming the path, also where a file that no record of ours names has
/// taken the name of one. Complete files stay in either case, and nothing of the one that was being written.
Result<void> write_load_set(ByteStore& store,
                            const LoadSetPlan& plan,
                            std::uint64_t seed,
                            PrepareProgress& progress);

/// Drops its files from this client's page cache. Blocks. Errors: the first one; the other files are dropped.
Result<void> evict_all(ByteStore& store, const LoadSet& set);
/// Reads its files once, from beginning to end. Blocks.
Result<void> read_all(ByteStore& store, const LoadSet& set);

/// Removes what meters created in the directories of the set, and is none of its files. Blocks.
Result<void> remove_others(ByteStore& store, const LoadSet& set);
/// Removes every file in the directories of the set that a record of ours names, also an unfinished one.
/// Blocks.
Result<void> remove_recorded(ByteStore& store, const LoadSet& set);
/// Removes the unfinished ones of these alone, as a killed process leaves them. Blocks. REQUIRES: nobody else
/// writes them.
Result<void> remove_unfinished(ByteStore& store, const LoadSet& set);

}  // namespace streamsim::media
