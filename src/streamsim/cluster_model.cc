#include "streamsim/cluster_model.h"

#include <fmt/format.h>

#include "base/units.h"

namespace streamsim {

std::string held_back_sentence(const HeldBackRun& run) {
    return fmt::format(
        "held back: {} of {} on {}, and {} were predicted ({}){}", counted(run.streams_measured, "stream"),
        run.format, counted(run.seats, "seat"), run.predicted,
        run.low == run.high ? fmt::format("{}", run.low) : fmt::format("{} to {}", run.low, run.high),
        run.rejected ? "; the model is rejected" : "");
}

}  // namespace streamsim
