// Which names below TARGET/streamsim-media/load/ are ours: small documents there, "0123456789abcdef.set.json",
// each written before the files that it names. A large working set has several, so that each stays below the
// size of a document (base/json.h). Inside media/ only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "media/write/load_set.h"
#include "streamsim/byte_store.h"

namespace streamsim::media {

/// All names of all records, relative to the load directory.
struct LoadNames {
    struct Run {  // prefix, number, suffix: numbers first, first + step, ...
        std::uint64_t first = 0;
        std::uint64_t count = 0;
        std::uint64_t step = 1;
        std::optional<std::uint64_t> bytes = std::nullopt;  // of each whole file; old records do not state it
    };
    std::set<std::string> documents;  // the records themselves
    std::set<std::string> directories;
    std::map<std::pair<std::string, std::string>, std::vector<Run>> files;  // by prefix and suffix

    /// True when a file of this name is ours: a regular file without a second name and with the recorded
    /// length. An unfinished file may be shorter, and a file that a meter created in one of the directories has
    /// any length.
    bool has_file(const std::string& name, const FileInfo& info) const;
};

/// True for names that a meter gives to files that it creates or renames: "c0-1-17.load".
bool is_created_name(std::string_view name);

/// `root`: the load directory. Empty where there is none. Errors: environment from the store.
Result<LoadNames> read_load_records(ByteStore& store, const std::string& root, std::uint64_t set);

/// Adds records for all names of `set`. REQUIRES: the load directory exists. Errors: environment.
Result<void> write_load_records(ByteStore& store,
                                const std::string& root,
                                std::uint64_t set_id,
                                const LoadSet& set);

}  // namespace streamsim::media
