// A scenario from its text to its result, in this process, on the models that come with the program.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "run/scenario_run.h"
#include "run/session/session.h"

namespace streamsim::test {

/// As a process does that plays these seats of it. REQUIRES: the document is right and all of its seats are on
/// models.
inline RunResult play_document(const std::string& text,
                               std::uint32_t first_seat = 0,
                               std::optional<std::uint32_t> own_seats = std::nullopt) {
    const std::string models = STREAMSIM_SOURCE_DIR "/formats/storage";
    const auto catalogue = media::Catalogue::load(STREAMSIM_SOURCE_DIR "/formats/media");
    const auto scenario = scenario::read_scenario(
        text, "test.json", run::scenario_words(*catalogue, STREAMSIM_SOURCE_DIR "/formats"));
    EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().problems.front());
    if (!scenario) return {};
    run::PlayRequest request = run::common_request(*scenario);
    request.first_seat = first_seat;
    request.own_seats = own_seats;
    request.keep_histograms = own_seats.has_value();
    std::vector<run::PlayPart> parts = run::parts_of(*scenario);
    EXPECT_TRUE(open_model(request, parts, models));
    auto media = find_media(nullptr, parts, nullptr);
    EXPECT_TRUE(media);
    run::Session session(request, std::move(*media), scenario->faults, {}, [](const std::string&) {});
    auto result = session.execute();
    EXPECT_TRUE(result) << (result ? "" : result.error().problems.front());
    return result ? *result : RunResult{};
}

}  // namespace streamsim::test
