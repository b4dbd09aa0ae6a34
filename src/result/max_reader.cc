#include "result/max_reader.h"

#include <fmt/format.h>

#include "base/document/json.h"
#include "result/field_reader.h"

namespace streamsim::result {
namespace {

constexpr std::uint64_t kCountMax = 1'000'000;

/// Counts that no search has would overflow where they are multiplied.
void check_counts(const MaxResult& result, JsonProblems& problems) {
    const auto check = [&problems](const std::string& pointer, std::uint64_t count) {
        if (count > kCountMax)
            problems.add(pointer, fmt::format("expected at most {}, found {}", kCountMax, count));
    };
    check("/seats", result.seats);
    if (result.seats == 0) problems.add("/seats", "expected 1 or more, found 0");
    for (std::size_t i = 0; i < result.formats.size(); ++i) {
        const std::string pointer = fmt::format("/formats/{}", i);
        check(pointer + "/streams", result.formats[i].streams);
        for (std::size_t k = 0; k < result.formats[i].steps.size(); ++k) {
            const MaxStep& step = result.formats[i].steps[k];
            check(fmt::format("{}/steps/{}/streams", pointer, k), step.streams);
            if (step.runs.empty())
                problems.add(fmt::format("{}/steps/{}/runs", pointer, k), "expected one run or more");
        }
    }
}

}  // namespace

bool is_max_document(std::string_view text) {
    const auto document = parse_json(text, "");
    return document && document->is_object() && document->contains("schema") &&
           (*document)["schema"] == "streamsim.max";
}

Result<MaxResult> read_max(std::string_view text, const std::string& source) {
    const auto document = parse_json(text, source);
    if (!document) return document.error();
    JsonProblems problems(source);
    JsonObject object(*document, "", problems);
    if (problems.empty()) check_schema(object, "streamsim.max", 1);
    if (!problems.empty()) return problems.error();
    MaxResult result;
    const JsonNode root{*document, "", problems};
    FieldReader members(root);
    read_fields(result, members);
    if (problems.empty()) check_counts(result, problems);
    if (!problems.empty()) return problems.error();
    return result;
}

}  // namespace streamsim::result
