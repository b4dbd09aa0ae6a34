// The probes of a calibration, as workloads that any storage can do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "streamsim/calibration.h"
#include "streamsim/run_result.h"
#include "streamsim/workload.h"

namespace streamsim::run {

/// Why the files of the cold probe may still have been in the page cache: a notice of its run.
inline constexpr std::string_view kNotEvicted = "the files of the probe were not evicted before: ";

struct ProbeOptions {
    Duration length = seconds(6);  // of a probe
    bool writes = true;
};

/// All probes of a calibration, in their order, as far as it is known by now: those of open load need the
/// highest rate of the ladder.
std::vector<Probe> probes_of(const Measurement& measured, const ProbeOptions& options);

/// The workload that does a probe, in one step. Its files are the same for all probes that read in the same
/// way.
Workload workload_of(const Probe& probe, const Measurement& measured);

/// The raw row of a probe from what its workload gave: operations and bytes that were complete by the end;
/// response times also of those that were in flight then. `result` has rows of single operations where all
/// seats were played by this process: the series then has ten intervals a second. A notice of any seat that
/// begins with kNotEvicted is the remark of the row.
ProbeRow row_of(const Probe& probe, const RunResult& result);

/// Notes the speed of the seat's network port: of the link that received most in one probe. `links`: of a
/// probe.
void note_port(const std::vector<LinkEvidence>& links, Measurement& measured);

/// The highest rate of the ladder in bytes a second, by one seat; 0: none was measured.
double highest_rate(const Measurement& measured);

/// The row of a probe; null: not measured.
const ProbeRow* find_row(const Measurement& measured, const std::string& id);

inline constexpr std::uint64_t kProbeBlock = 1 << 20;

}  // namespace streamsim::run
