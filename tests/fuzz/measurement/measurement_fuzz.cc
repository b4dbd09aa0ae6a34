// The raw rows of calibrations.
#include "fuzz/fuzz.h"
#include "result/json_report.h"
#include "result/measurement_reader.h"

STREAMSIM_FUZZ(measurement) {
    using namespace streamsim;
    using fuzz::require;
    const std::string source = "rows.json";
    const auto measured = result::read_measurement(fuzz::text_of(input), source);
    if (!measured) return fuzz::require_refusal(measured.error(), source);
    const std::string text = result::measurement_document(*measured);
    const auto again = result::read_measurement(text, source);
    if (!again) require(false, "a document that was written is read: " + again.error().problems.front());
    require(result::measurement_document(*again) == text, "a document is equal when it was written and read");
}
