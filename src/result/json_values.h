// Takes single values from a document that was written as a result: a value of the wrong kind becomes a problem
// with its JSON pointer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/document/json.h"
#include "base/time.h"

namespace streamsim::result {

/// Times in a document are no further than this from where they count from: 73 years. So two can be added.
inline constexpr std::int64_t kFarthestNs = INT64_MAX / 4;

/// A value of the document and its JSON pointer.
struct JsonNode {
    const Json& json;
    std::string pointer;
    JsonProblems& problems;

    /// Notes a problem: "expected WHAT, found VALUE".
    void expected(const std::string& what) const;
};

// read_value(node, value): takes the value over, or notes a problem and leaves `value` as it is.

void read_value(const JsonNode& node, std::uint64_t& value);
void read_value(const JsonNode& node, std::uint32_t& value);
/// Up to kFarthestNs on either side of 0.
void read_value(const JsonNode& node, std::int64_t& value);
/// An errno: not negative.
void read_value(const JsonNode& node, int& value);
/// null: not a finite number.
void read_value(const JsonNode& node, double& value);
void read_value(const JsonNode& node, bool& value);
void read_value(const JsonNode& node, std::string& value);
void read_value(const JsonNode& node, FrameRate& value);
/// The name of an errno value, or its number.
void read_error_name(const JsonNode& node, int& value);
/// The index of the word that the node has; words.size(): it has none of them, which is a problem.
std::size_t read_word(const JsonNode& node, const std::vector<const char*>& words);

}  // namespace streamsim::result
