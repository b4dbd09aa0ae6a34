// Scenario documents, with made-up words for what other modules know.
#include "fuzz/document_words.h"
#include "fuzz/fuzz.h"
#include "scenario/scenario_document.h"

STREAMSIM_FUZZ(scenario) {
    using namespace streamsim;
    using fuzz::require;
    const std::string source = "scenario.json";
    for (const char* target : {"", "/media", "sim:h500"}) {
        scenario::ScenarioWords words = fuzz::scenario_words();
        words.target_of_command = target;
        const auto scenario = scenario::read_scenario(fuzz::text_of(input), source, words);
        if (!scenario) {
            fuzz::require_refusal(scenario.error(), source);
            continue;
        }
        require(!scenario->seats.empty(), "a scenario has seats");
    }
}
