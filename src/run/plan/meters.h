// The meters of a run: workloads as requests to play, the meters' seats, and the files that have to be written
// before play.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "load/meter_plan.h"
#include "media/write/load_set.h"
#include "run/plan/media_plan.h"
#include "run/plan/play_request.h"
#include "streamsim/byte_store.h"
#include "streamsim/workload.h"

namespace streamsim::run {

/// The name of a workload's meter in requests and results.
std::string meter_name(const Workload& workload, const MeterSpec& spec);

/// The meters of a workload on seats [first, first + seats) of a run. The workload's steps, clients and
/// duration do not count.
std::vector<MeterPart> meters_of(const Workload& workload, std::uint32_t first, std::uint32_t seats);

/// The request that plays one step of a workload, with meters alone: `base` gives target, seed and how it is
/// read. REQUIRES: `step` is from at_step().
PlayRequest load_request(const Workload& step, const PlayRequest& base);

/// A plan for each meter of each seat that this process plays: by seat, then in the request's order.
std::vector<load::MeterPlan> meter_plans(const PlayRequest& request);

/// Adapts the plans to direct I/O of this alignment: leaves out smaller remainders, or uses the page cache.
/// Returns a sentence for each change.
std::vector<std::string> fit_to_alignment(std::vector<load::MeterPlan>& plans, std::uint32_t alignment);

/// Errors: bad input where a meter would never end, as a closed loop whose operations take no time does (on
/// sim:null); or where it never runs, or users of it never begin, before play ends. Play whose length a cut
/// list or a number of frames gives is not checked for that.
Result<void> check_meters(const PlayRequest& request);
/// The same where a cut list or a number of frames gives the length of play. Success where nothing does.
Result<void> check_meters(const PlayRequest& request, const FoundMedia& media);

/// True: the meter also writes, or changes names.
bool writes(const MeterSpec& spec);

/// The working sets of all meters, by the names of their directories: two runs of one workload have the same.
struct WorkingSetsInUse {
    std::vector<std::string> read, written;  // read: by meters that only read
};
WorkingSetsInUse working_sets_of(const PlayRequest& request);

/// The files that the meters of all seats lack. Blocks. Errors: as plan_load_set.
Result<media::LoadSetPlan> missing_load_set(ByteStore& store, const PlayRequest& request);
/// Those of the seats that this process plays; the files that all seats share are among them only with
/// `with_shared`, as one process writes them.
Result<media::LoadSetPlan> own_missing_load_set(ByteStore& store, const PlayRequest& request, bool with_shared);

/// Removes the working sets of the meters from this computer's page cache, or reads them once: those of the
/// seats that this process plays. Block.
Result<void> evict_load_set(ByteStore& store, const PlayRequest& request);
Result<void> read_load_set(ByteStore& store, const PlayRequest& request);

/// Evicts as evict_load_set(). Returns the reason why files may still be in the page cache; empty: none is.
/// Never an error.
Result<std::string> why_not_evicted(ByteStore& store, const PlayRequest& request);

/// Removes the files that the meters of a run have created. Blocks.
Result<void> remove_created_files(ByteStore& store, const PlayRequest& request);
/// Removes the files that killed processes were writing for the meters. Blocks. REQUIRES: nobody writes them.
Result<void> remove_unfinished_files(ByteStore& store, const PlayRequest& request);

}  // namespace streamsim::run
