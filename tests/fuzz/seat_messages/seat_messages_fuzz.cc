// The messages of ranks and seats to each other, their tokens and their keys.
#include <string>
#include <vector>

#include "base/document/json.h"
#include "fuzz/fuzz.h"
#include "report/csv/csv_report.h"
#include "seats/join_token.h"
#include "seats/lobby.h"
#include "seats/rank_messages.h"
#include "seats/seat_keys.h"

namespace streamsim::fuzz {
namespace {

/// Calls `read`, which throws where a message is malformed, as the channel expects.
template <typename Read>
void reading(Read read) {
    try {
        read();
    } catch (const Json::exception&) {
        return;
    }
}

template <typename Row>
void check_rows(const Json& json) {
    std::vector<Row> rows;
    seats::add_rows(json, rows);
    const Json text = seats::to_json(std::span<const Row>(rows));
    std::vector<Row> again;
    seats::add_rows(text, again);
    require(seats::to_json(std::span<const Row>(again)) == text,
            "rows are equal when they were sent and heard");
    if constexpr (requires(const Row& row) { row.outcome; }) {
        std::string csv;
        for (const Row& row : rows) {
            require(std::string_view(to_string(row.outcome.kind)) != "?", "a row has a known kind");
            require(std::string_view(to_string(row.outcome.reason)) != "?", "a row has a known reason");
            report::append_csv_row(row, csv);
        }
    }
}

void check_message(const Json& json) {
    reading([&] {
        const auto progress = seats::progress_from_json(json);
        require(seats::to_json(seats::progress_from_json(seats::to_json(progress))) == seats::to_json(progress),
                "progress is equal when it was sent and heard");
    });
    reading([&] {
        const auto outcome = seats::outcome_from_json(json);
        if (outcome) return;
        require(!outcome.error().problems.empty(), "an error has a problem");
        const auto kind = outcome.error().kind;
        require(
            kind == ErrorKind::bad_input || kind == ErrorKind::environment || kind == ErrorKind::interrupted,
            "an error has a kind");
    });
    reading([&] {
        const auto host = seats::host_from_json(json);
        require(seats::to_json(host) == seats::to_json(seats::host_from_json(seats::to_json(host))),
                "host facts are equal");
    });
    reading([&] {
        const auto targets = seats::targets_seen_from_json(json);
        require(
            seats::to_json(seats::targets_seen_from_json(seats::to_json(targets))) == seats::to_json(targets),
            "targets are equal when they were sent and heard");
    });
    reading([&] {
        const auto report = seats::seat_report_from_json(json, seconds(1'700'000'000));
        require(report.ahead.has_value() == report.clock_error.has_value(), "a clock has its bound");
    });
    reading([&] { check_rows<FrameRow>(json); });
    reading([&] { check_rows<OperationRow>(json); });
}

}  // namespace
}  // namespace streamsim::fuzz

STREAMSIM_FUZZ(seat_messages) {
    using namespace streamsim;
    using fuzz::require;
    const std::string text(fuzz::text_of(input));
    if (const auto token = seats::JoinToken::parse(text)) {
        const auto again = seats::JoinToken::parse(token->to_text());
        require(again && again->to_text() == token->to_text(), "a token is equal when it was written and read");
    } else {
        require(!token.error().problems.empty(), "a refusal has a problem");
    }
    const auto keys = seats::SeatKeys::read_document(text, "key");
    if (!keys) fuzz::require_refusal(keys.error(), "key");
    // The text as a message, and as the rows of one: a zero ends each.
    if (const auto json = parse_json(text, "message")) fuzz::check_message(*json);
    std::string rows = text;
    for (char& c : rows) c = c == '\n' ? '\0' : c;
    fuzz::check_message(Json(rows));
}
