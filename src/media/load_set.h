// The files that meters work on: TARGET/streamsim-media/load/..., below the same marker as the clips, so that
// clean removes them. Every name ends with ".load"; what is being written has ".partial" after it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "media/media_set.h"
#include "streamsim/byte_store.h"

namespace streamsim {

inline constexpr const char* kLoadDirectory = "load";

/// "/mnt/media/streamsim-media/load"
std::string load_root(const std::string& target);
/// Whether a file of this name is one of a load set, or was to become one.
bool is_load_name(std::string_view name);

struct LoadFile {
    std::string path;
    std::uint64_t bytes = 0;
};

struct LoadSet {
    std::string target;                    // an existing directory
    std::vector<std::string> directories;  // parents first; below load_root()
    std::vector<LoadFile> files;           // in them
};

/// What is not there yet in its full length.
struct LoadSetPlan {
    LoadSet missing;
    std::uint64_t bytes_to_write = 0;
    std::uint64_t bytes_free = 0;

    bool nothing_to_do() const { return missing.files.empty() && missing.directories.empty(); }
};

/// Finds what is missing; writes nothing. Errors: environment when the target is no directory, when there is
/// not enough free space (1 % is kept free), or when its streamsim-media was not made by prepare.
Result<LoadSetPlan> plan_load_set(ByteStore& store, const LoadSet& set);

/// Writes it: bytes that nothing can compress or find twice, from `seed`. Blocks. Errors: interrupted after
/// `cancel`; environment, naming the path. What is whole then stays.
Result<void> write_load_set(ByteStore& store,
                            const LoadSetPlan& plan,
                            std::uint64_t seed,
                            PrepareProgress& progress);

/// Drops its files from this client's page cache. Blocks.
Result<void> evict_all(ByteStore& store, const LoadSet& set);
/// Reads its files once, from beginning to end. Blocks.
Result<void> read_all(ByteStore& store, const LoadSet& set);

/// Removes the files with names of ours in the directories of the set that are none of its files. Blocks.
Result<void> remove_others(ByteStore& store, const LoadSet& set);

}  // namespace streamsim
