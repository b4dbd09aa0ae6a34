#include "result/measurement_reader.h"

#include <fmt/format.h>

#include "base/document/json.h"
#include "result/field_reader.h"

namespace streamsim::result {
namespace {

constexpr std::uint32_t kCountMax = 1'000'000;

/// Counts and times that no calibration has would make its workloads overflow.
void check_probes(const Measurement& measured, JsonProblems& problems) {
    for (std::size_t i = 0; i < measured.rows.size(); ++i) {
        const Probe& probe = measured.rows[i].probe;
        const std::string pointer = fmt::format("/rows/{}/probe/", i);
        const auto check = [&](const char* key, bool good, const char* expected) {
            if (!good) problems.add(pointer + key, expected);
        };
        check("seats", probe.seats >= 1 && probe.seats <= kCountMax, "expected 1 to 1000000");
        check("users", probe.users >= 1 && probe.users <= kCountMax, "expected 1 to 1000000");
        check("block_bytes", probe.block_bytes <= (std::uint64_t{1} << 40), "expected at most 1 TiB");
        check("duration_ns", probe.duration_ns > 0 && probe.duration_ns <= seconds(86'400).ns,
              "expected more than 0, and at most a day");
        check("operations_per_s", probe.operations_per_s >= 0 && probe.operations_per_s <= 1e9,
              "expected 0 to 1e9");
    }
}

}  // namespace

Result<Measurement> read_measurement(std::string_view text, const std::string& source) {
    const auto document = parse_json(text, source);
    if (!document) return document.error();
    JsonProblems problems(source);
    JsonObject object(*document, "", problems);
    if (problems.empty()) check_schema(object, "streamsim.measurement", 1);
    if (!problems.empty()) return problems.error();
    Measurement measured;
    const JsonNode root{*document, "", problems};
    FieldReader members(root);
    fields(measured, members);
    if (problems.empty()) check_probes(measured, problems);
    if (!problems.empty()) return problems.error();
    return measured;
}

}  // namespace streamsim::result
