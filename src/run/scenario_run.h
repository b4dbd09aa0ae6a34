// From a scenario to what a Session plays.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "media/catalogue/catalogue.h"
#include "run/session/play_part.h"
#include "scenario/scenario_document.h"
#include "streamsim/byte_store.h"
#include "streamsim/run_result.h"
#include "streamsim/scenario.h"

namespace streamsim::run {

/// What the words of a scenario mean in this program. `catalogue` outlives it. `formats` is the directory of
/// streamsim's own documents.
scenario::ScenarioWords scenario_words(const media::Catalogue& catalogue, const std::string& formats);

/// What all parts have in common; the target is that of the first seats.
PlayRequest common_request(const Scenario& scenario);

/// A part for each kind of streams of each group of seats, in their order, without media. `scenario` outlives
/// them.
std::vector<PlayPart> parts_of(const Scenario& scenario);

/// Reads the model that they are on, if it is one. Errors: as open_model.
Result<void> open_model(PlayRequest& common, std::vector<PlayPart>& parts, const std::string& models);

/// What has to be written before these parts can be played. Blocks. Errors: as missing_media.
Result<std::vector<media::PreparePlan>> missing_media(ByteStore& store, const std::vector<PlayPart>& parts);

/// The parts with their media: streams that want a clip of their own get one that no other has, in any part;
/// those of one format that share, share over all parts. Blocks. Errors: as find_media.
Result<std::vector<PlayPart>> find_media(ByteStore* store,
                                         std::vector<PlayPart> parts,
                                         IndexProgress* progress);

/// What came otherwise than was expected, a sentence each; empty: nothing.
std::vector<std::string> surprises(const ScenarioExpectation& expected, const RunResult& result);

}  // namespace streamsim::run
