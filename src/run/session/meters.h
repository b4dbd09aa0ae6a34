// Meters in a run: who has which, where their files are, and what has to be written before they can begin.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "load/meter.h"
#include "media/write/load_set.h"
#include "streamsim/byte_store.h"
#include "target/target.h"

namespace streamsim::run {

struct PlayRequest;

/// A meter on some seats of a run; times in its spec count from the start of play.
struct MeterPart {
    MeterSpec spec;
    std::uint32_t first_seat = 0;
    std::uint32_t seats = 1;
};

/// A plan for each meter of each seat that this process plays; by seat, then as asked for.
std::vector<load::MeterPlan> meter_plans(const PlayRequest& request);

/// What direct I/O of this alignment cannot move is left out of remainders, or is moved through the page cache;
/// says so in sentences.
std::vector<std::string> fit_to_alignment(std::vector<load::MeterPlan>& plans, std::uint32_t alignment);

/// Errors: bad input where a meter would do endlessly much in no time: a closed loop on sim:null.
Result<void> check_meters(const PlayRequest& request);

/// It does more than read.
bool writes(const MeterSpec& spec);

/// The working sets of all meters, by the names of their directories: two runs of one workload have the same.
struct WorkingSetsInUse {
    std::vector<std::string> read, written;  // those that meters read alone; and the others
};
WorkingSetsInUse working_sets_of(const PlayRequest& request);

/// What they lack, of all seats. Blocks. Errors: as plan_load_set.
Result<media::LoadSetPlan> missing_load_set(ByteStore& store, const PlayRequest& request);

/// The working sets of all meters leave this computer's page cache, or are read once. Block.
Result<void> evict_load_set(ByteStore& store, const PlayRequest& request);
Result<void> read_load_set(ByteStore& store, const PlayRequest& request);

/// Removes what the meters of a run have created, and nothing that they began with. Blocks.
Result<void> remove_created_files(ByteStore& store, const PlayRequest& request);

}  // namespace streamsim::run
