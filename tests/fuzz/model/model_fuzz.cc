// Models of storage: read, their numbers listed and changed, and drawn from where they are calibrated.
#include <string>

#include "base/document/json.h"
#include "fuzz/fuzz.h"
#include "sim/model/model_document.h"
#include "sim/model/model_draws.h"
#include "sim/model/model_numbers.h"

STREAMSIM_FUZZ(model) {
    using namespace streamsim;
    using fuzz::require;
    const std::string source = "model.json";
    const std::string_view text = fuzz::text_of(input);
    const auto model = sim::read_model_document(text, source);
    const auto numbers = sim::model_numbers(text, source);
    require(model.has_value() == numbers.has_value(), "a model has numbers, and nothing else has");
    if (!model) return fuzz::require_refusal(model.error(), source);
    require(model->nodes > 0, "a model has nodes");
    require(sim::problems_together(*model).empty(), "the numbers of a model fit each other");
    // Each call reads the whole document.
    for (std::size_t i = 0; i < numbers->size(); i += 10) {
        const std::string& pointer = (*numbers)[i].pointer;
        require(sim::number_at(text, source, pointer).has_value(), "a number is at its pointer: " + pointer);
    }
    if (!numbers->empty()) {
        const std::string& pointer = numbers->front().pointer;
        const auto changed = sim::changed_document(text, source, {{pointer, true, 2}});
        require(changed.has_value(), "a number can be changed: " + pointer);
        if (const auto read = sim::read_model_document(*changed, source); !read)
            fuzz::require_refusal(read.error(), source);
    }
    const auto draws = sim::model_draws(text, source, 2, 1);
    if (!draws) return fuzz::require_refusal(draws.error(), source);
    require(draws->size() == 2, "as many are drawn as are asked for");
    for (const ClusterModel& draw : *draws) require(sim::problems_together(draw).empty(), "a draw is a model");
}
