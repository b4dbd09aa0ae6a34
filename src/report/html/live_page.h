// The report of a run as a page that follows it, over HTTP.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "streamsim/run_result.h"

namespace streamsim::report {

/// A page over HTTP, and the same as one line of JSON for pages that are open: "state", "title", "main",
/// "data".
struct LivePage {
    std::string page;
    std::string event;
};

/// The page before anything is known. `state` is one sentence or some, for people.
std::string waiting_page(std::string_view state);
/// The page while it plays: result.playing is set.
LivePage live_page(const RunResult& result, std::string_view state);
/// The page at the end. The page follows nothing: but for elements with the attribute data-live it is
/// html_report().
LivePage finished_page(const RunResult& result, std::string_view state);
/// The page of a run of many seats: who has come before it plays, how far each is while it plays.
struct SeatsTable {
    const char* word = "NOT BEGUN";
    std::string title;  // "day.json: 3 of 8 seats are here"
    std::vector<std::string> headings;
    struct Row {
        std::vector<std::string> cells;
        enum class State : std::uint8_t { waits, ready, wrong } state = State::waits;
    };
    std::vector<Row> rows;
    std::vector<std::string> news;  // the last one last
};
LivePage seats_page(const SeatsTable& seats, std::string_view state);
/// An event that changes the state alone.
std::string live_state(std::string_view state);

}  // namespace streamsim::report
