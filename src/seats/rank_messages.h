// The messages of ranks to each other, as JSON and back. Readers throw Json::exception where a message is
// malformed: the channel then ends the connection to its sender.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/document/json.h"
#include "base/result.h"
#include "seats/message_values.h"
#include "streamsim/run_result.h"

namespace streamsim::seats {

/// The streams and meters of one rank, from its heartbeat.
struct RankProgress {
    std::uint32_t streams = 0;  // that have not ended
    std::uint64_t on_time = 0;
    std::uint64_t bad = 0;  // dropped, late or failed
    std::uint64_t stalls = 0;
    std::uint64_t bytes_read = 0, bytes_written = 0;
    double required_bytes_per_s = 0;  // of the streams that play
    std::uint32_t clients = 0;        // seats with meters
    std::uint64_t operations = 0;     // of meters: done
    std::uint64_t operations_failed = 0;
    std::uint64_t meter_bytes = 0;  // read and written

    RankProgress& operator+=(const RankProgress& more);
};

inline Json to_json(const Result<void>& outcome) {
    if (outcome) return nullptr;
    return {{"kind", static_cast<int>(outcome.error().kind)}, {"problems", outcome.error().problems}};
}

inline Result<void> outcome_from_json(const Json& json) {
    if (json.is_null()) return {};
    const auto kind = whole_of<std::uint32_t>(json.at("kind"));
    auto problems = json.at("problems").get<std::vector<std::string>>();
    if (kind > static_cast<std::uint32_t>(ErrorKind::interrupted) || problems.empty())
        throw malformed("an error lacks its kind or its problem");
    return Error{static_cast<ErrorKind>(kind), std::move(problems)};
}

inline Json to_json(const HostFacts& host) {
    return {{"name", host.name}, {"os", host.os}, {"cpus", host.cpus}, {"memory", host.memory_bytes}};
}

inline HostFacts host_from_json(const Json& json) {
    return {json.at("name"), json.at("os"), whole_of<decltype(HostFacts::cpus)>(json.at("cpus")),
            whole_of<decltype(HostFacts::memory_bytes)>(json.at("memory"))};
}

Json to_json(const RankProgress& progress);
RankProgress progress_from_json(const Json& json);

/// Rows of frames, which a result's document lacks, as one text: there may be a million.
Json to_json(std::span<const FrameRow> rows);
void add_rows(const Json& json, std::vector<FrameRow>& rows);
/// The same of operations.
Json to_json(std::span<const OperationRow> rows);
void add_rows(const Json& json, std::vector<OperationRow>& rows);

}  // namespace streamsim::seats
