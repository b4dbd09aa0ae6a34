// Strict reading of JSON documents: an unknown key, a key given twice, a wrong type or a value out of range is
// a problem, each named with its JSON pointer, and all of them are reported at once.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/document/problems.h"
#include "base/result.h"
#include "base/time.h"

namespace streamsim {

using Json = nlohmann::json;
/// Keeps the keys in the order in which they were written; for documents that people read.
using OrderedJson = nlohmann::ordered_json;

/// Parses UTF-8 text. Errors name `source`, and the byte offset of a syntax error or the pointer of a key
/// that is given twice; kProblemsMax of those at most, and how many more there are. Time and memory grow with
/// the text and not faster.
Result<Json> parse_json(std::string_view text, const std::string& source);

/// The text of a value: on one line, or with a line for each entry when `indent` is not negative. Bytes that
/// are not UTF-8 are shown as U+FFFD.
std::string json_text(const Json& value, int indent = -1);
std::string json_text(const OrderedJson& value, int indent = -1);

/// The problems of one document, each as "source: pointer: what was expected", bounded as a ProblemList is.
class JsonProblems {
public:
    explicit JsonProblems(const std::string& source) : source_(source), problems_(source) {}

    /// An empty pointer is the whole document and is shown as "/".
    void add(const std::string& pointer, const std::string& problem);
    bool empty() const { return problems_.empty(); }
    /// True when the document need not be read any further.
    bool enough() const { return problems_.enough(); }
    /// Bad input with the first problems, and how many more there are. REQUIRES: !empty().
    Error error() const { return problems_.error(); }

private:
    std::string source_;
    ProblemList problems_;
};

/// Reads the members of one JSON object. Each reader notes a problem and returns nullopt (or the fallback)
/// when the member is missing or wrong; `finish` notes the members that nobody asked for.
class JsonObject {
public:
    /// Notes a problem when `value` is not an object; every read then gives nothing, without more noise.
    JsonObject(const Json& value, std::string pointer, JsonProblems& problems);

    bool has(const std::string& key) const;
    /// See JsonProblems::enough().
    bool enough_problems() const { return problems_.enough(); }
    /// Pointer of the object itself; empty at the top.
    const std::string& pointer() const { return pointer_; }
    /// Pointer of a member: "/frame/bytes".
    std::string pointer_of(const std::string& key) const;

    /// The raw member, or null when it is missing (noted as a problem when required).
    const Json* member(const std::string& key, bool required = true);

    std::optional<std::string> string(const std::string& key, bool required = true);
    std::optional<std::string> one_of(const std::string& key,
                                      std::initializer_list<std::string_view> allowed,
                                      bool required = true);
    std::optional<std::int64_t> integer(const std::string& key,
                                        std::int64_t min,
                                        std::int64_t max,
                                        bool required = true);
    std::optional<double> number(const std::string& key, double min, double max, bool required = true);
    std::optional<bool> boolean(const std::string& key, bool required = true);
    /// [num, den], both positive integers.
    std::optional<FrameRate> rate(const std::string& key, bool required = true);
    /// A string such as "500ms".
    std::optional<Duration> duration(const std::string& key, bool required = true);

    void problem(const std::string& key, const std::string& text);
    /// Notes every member that was not read.
    void finish();

private:
    const Json* value_ = nullptr;  // null: not an object
    std::string pointer_;
    JsonProblems& problems_;
    std::set<std::string> read_;
    std::set<std::string> meant_;  // unknown keys that a missing one was told with
};

/// Checks the members "schema" and "version" that every document begins with; a wrong one is a problem.
void check_schema(JsonObject& object, std::string_view schema, int version);

}  // namespace streamsim
