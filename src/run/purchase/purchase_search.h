// From a need to the cheapest configurations that play, each verified by a run that misses no frame.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "media/catalogue/catalogue.h"
#include "run/session/session.h"
#include "streamsim/purchase_need.h"
#include "streamsim/purchase_plan.h"

namespace streamsim::run {

struct PurchaseOptions {
    std::string formats;  // the directory of streamsim's documents
    ProgramFacts program;
    std::function<void(const std::string& text)> progress;  // any thread
    std::size_t checks = 48;                                // PlanSearchOptions::checks
};

/// Errors: bad input with every problem; environment.
Result<PurchaseNeed> read_purchase_need(std::string_view text,
                                        const std::string& source,
                                        const std::string& formats);

/// Runs are on all processors; the answer does not depend on that. Blocks. Errors: bad input for a level of a
/// choice with which the offer is no model.
Result<PurchaseResult> plan_purchase(const PurchaseNeed& need, const PurchaseOptions& options);

}  // namespace streamsim::run
