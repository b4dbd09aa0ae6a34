// What ranks tell each other, as JSON and back. Readers throw Json::exception where it is something else: the
// channel takes that for the end of whoever sent it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/document/json.h"
#include "base/result.h"
#include "seats/ranks.h"
#include "streamsim/run_result.h"

namespace streamsim::seats {

inline Json words_of(const Result<void>& outcome) {
    if (outcome) return nullptr;
    return {{"kind", static_cast<int>(outcome.error().kind)}, {"problems", outcome.error().problems}};
}

inline Result<void> outcome_of(const Json& words) {
    if (words.is_null()) return {};
    return Error{static_cast<ErrorKind>(words.at("kind").get<int>()),
                 words.at("problems").get<std::vector<std::string>>()};
}

inline Json words_of(const HostFacts& host) {
    return {{"name", host.name}, {"os", host.os}, {"cpus", host.cpus}, {"memory", host.memory_bytes}};
}

inline HostFacts host_of(const Json& words) {
    return {words.at("name"), words.at("os"), words.at("cpus"), words.at("memory")};
}

inline Json words_of(const RankNews& news) {
    return {{"streams", news.streams},
            {"on_time", news.on_time},
            {"bad", news.bad},
            {"bytes", news.bytes},
            {"required", news.required_bytes_per_s}};
}

inline RankNews news_of(const Json& words) {
    return {words.at("streams"), words.at("on_time"), words.at("bad"), words.at("bytes"), words.at("required")};
}

/// Rows of frames, which are not in a result's document, as one text: there may be a million.
Json words_of(std::span<const FrameRow> rows);
void add_rows(const Json& words, std::vector<FrameRow>& rows);

}  // namespace streamsim::seats
