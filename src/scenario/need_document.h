// Needs of a purchase as JSON (schema "streamsim.need", formats/schema/need.json), read strictly. Its seats are
// those of a scenario, without targets and nodes.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "scenario/scenario_document.h"
#include "streamsim/purchase_need.h"

namespace streamsim::scenario {

/// Words whose meaning other modules know; an error becomes a problem at the word's place.
struct NeedWords {
    ScenarioWords scenario;  // `target` and `target_of_command` are not used
    /// Checks that there is such a model.
    std::function<Result<void>(const std::string& model)> model;
    /// The number at a pointer of a model. Errors: there is none.
    std::function<Result<double>(const std::string& model, const std::string& pointer)> number;
    /// The model has whole numbers only at a pointer.
    std::function<bool(const std::string& model, const std::string& pointer)> whole;
    /// The model has a time at a pointer. REQUIRES: it has a number there.
    std::function<bool(const std::string& model, const std::string& pointer)> time;
    /// The model takes a size such as "1GiB" at a pointer. REQUIRES: it has a number there.
    std::function<bool(const std::string& model, const std::string& pointer)> size;
    /// Drop events a day, of a text such as "1 drop/day".
    std::function<Result<double>(const std::string& text)> claim;
};

/// Errors: bad input, every problem with `source` and its JSON pointer.
Result<PurchaseNeed> read_need(std::string_view text, const std::string& source, const NeedWords& words);

}  // namespace streamsim::scenario
