// Result documents: one that is read is written as one that is read again, and then as the same text.
#include "fuzz/fuzz.h"
#include "result/json_report.h"
#include "result/result_reader.h"

STREAMSIM_FUZZ(result) {
    using namespace streamsim;
    using fuzz::require;
    const std::string source = "result.json";
    const auto result = result::read_result(fuzz::text_of(input), source);
    if (!result) return fuzz::require_refusal(result.error(), source);
    const std::string text = result::json_report(*result);
    const auto again = result::read_result(text, source);
    if (!again) require(false, "a result that was written is read: " + again.error().problems.front());
    require(result::json_report(*again) == text, "a result is equal when it was written and read");
}
