#include "streamsim/cluster_model.h"

#include "base/units.h"

namespace streamsim {

std::string held_back_sentence(const HeldBackRun& run) {
    std::string interval = std::to_string(run.low);
    if (run.high != run.low) interval += " to " + std::to_string(run.high);
    return std::string("held back: ") + (run.is_bound() ? "at least " : "") +
           counted(run.streams_measured, "stream") + " of " + run.format + " on " + counted(run.seats, "seat") +
           ", and " + std::to_string(run.predicted) + " were predicted (" + interval + ")" +
           (run.rejected ? "; the model is rejected" : "");
}

}  // namespace streamsim
