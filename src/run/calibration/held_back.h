// The run that no fit sees: chosen before it is played, and compared with what the model predicts.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "run/session/session.h"
#include "streamsim/calibration.h"
#include "streamsim/media.h"

namespace streamsim::run {

/// The largest of the formats of which at least two streams fit the highest rate that was measured; the
/// smallest where none does. REQUIRES: a format.
const MediaFormat& held_back_format(const std::vector<MediaFormat>& formats, const Measurement& measured);

/// Streams that a model plays at most: with its numbers as they are, and with all rates lower and higher by
/// what a 90 % interval of its error allows.
struct StreamInterval {
    std::uint64_t streams = 0, low = 0, high = 0;
};
Result<StreamInterval> streams_of_model(const Calibration& calibration,
                                        const MediaFormat& format,
                                        std::uint32_t seats,
                                        const ProgramFacts& program);

/// The most streams that the model of `calibration` plays, as `max` finds it: with its numbers as they are, and
/// with all rates lower and higher by what a 90 % interval of its error allows. Rejected: the measured number
/// is further outside than one stream and a tenth; of an interval wider than +-20 %, outside of that; or
/// nothing plays, and the interval is above 0. Errors: of the searches.
Result<HeldBackCheck> check_held_back(const Calibration& calibration,
                                      const HeldBackSearch& measured,
                                      const MediaFormat& format,
                                      const ProgramFacts& program);

}  // namespace streamsim::run
