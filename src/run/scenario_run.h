// From a scenario to the request and the parts of a Session.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "media/catalogue/catalogue.h"
#include "run/plan/media_plan.h"
#include "scenario/scenario_document.h"
#include "streamsim/scenario.h"

namespace streamsim::run {

/// The meaning of a scenario's words in this program. `catalogue` outlives it. `formats` is the directory of
/// streamsim's own documents.
scenario::ScenarioWords scenario_words(const media::Catalogue& catalogue, const std::string& formats);

/// The request that all parts share; its target is the first seats'.
PlayRequest common_request(const Scenario& scenario);

/// A part for each kind of streams of each group of seats, in their order, without media. `scenario` outlives
/// them.
std::vector<PlayPart> parts_of(const Scenario& scenario);

/// Reads the document of the model that the parts play on, if there is one. Errors: as open_model of a target.
Result<void> open_model(PlayRequest& common, std::vector<PlayPart>& parts, const std::string& models);

}  // namespace streamsim::run
