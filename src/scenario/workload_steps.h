// A workload in another size, and its steps.
#pragma once

#include <cstdint>
#include <string>

#include "streamsim/workload.h"

namespace streamsim::scenario {

inline constexpr std::int64_t kWorkloadSeatsMax = 100'000;
inline constexpr std::int64_t kWorkloadFilesMax = 10'000'000;  // limit of one meter, over all seats

/// The workload `scale` times as large. For each meter:
///   users            more than 16: times scale, rounded, at least 1; others stay. Clients stay, and so do all
///                    users of a sweep over users.
///   operations_per_s such that all users of the meter together have `scale` times as many, also where it is
///                    the limit of a closed loop.
///   working set      such that all users together have `scale` times as many bytes: more than 16 files (of a
///                    user, or shared) are fewer files, with as many in a directory as before; others are
///                    shorter files, of whole largest blocks and at least one transfer. More than 16 spare
///                    files are fewer, at least one.
/// A sweep over operations_per_s goes over `scale` times the values, and `at` of what was printed goes with it.
/// All else stays: blocks, lengths, shares, think times, ramps, bursts, durations, and the values that were
/// printed. Each step of a sweep is `scale` times as large, too. REQUIRES: 0 < scale <= 1000.
Workload scaled(const Workload& workload, double scale);

/// Why this computer cannot keep so much in mind; empty: it can.
std::string too_large(const Workload& workload);

/// Why the meter never runs, or the last of its users on all clients never begins; empty: all begin before the
/// meter and play end.
std::string never_begins(const MeterSpec& meter, std::uint64_t users, Duration play_time);
/// The same for each meter of a workload in its largest step. The reader of documents refuses this; other
/// lengths, clients and users may bring it about.
std::string never_begins(const Workload& workload);

/// The step at `value` of the sweep: clients, users, weights, rates or blocks are what it says. Sweeps over
/// fill_percent and cache change nothing here: they are about what is done before.
Workload at_step(const Workload& workload, double value);

}  // namespace streamsim::scenario
