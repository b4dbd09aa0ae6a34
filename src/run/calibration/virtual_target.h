// Probes and searches on a target in virtual time: the forward model of a fit, and the truth of its tests.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "judge/search/max_search.h"
#include "run/calibration/probes.h"
#include "run/plan/play_request.h"
#include "run/session/session.h"
#include "streamsim/calibration.h"
#include "streamsim/cluster_model.h"

namespace streamsim::run {

/// The request for a model's own target, with default options.
PlayRequest request_on(const std::shared_ptr<const ClusterModel>& model);

/// Does a probe on the target of `base`. REQUIRES: a target without files. Errors: of the storage.
Result<ProbeRow> do_probe(const PlayRequest& base,
                          const Probe& probe,
                          const Measurement& measured,
                          const ProgramFacts& program);

/// The most streams of `format`, round robin over the seats, by the search of `max`.
Result<MaxFormat> most_streams(const PlayRequest& base,
                               const MediaFormat& format,
                               std::uint32_t seats,
                               const judge::MaxSearchOptions& options,
                               const ProgramFacts& program);

/// Does all probes on the target of `base`, with files that no cache holds, from this many seats. REQUIRES: a
/// target in virtual time. Errors: of the storage.
Result<Measurement> measure_virtual(const PlayRequest& base, std::uint32_t seats, const ProgramFacts& program);

}  // namespace streamsim::run
