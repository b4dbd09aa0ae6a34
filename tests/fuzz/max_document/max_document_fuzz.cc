// Documents of searches for the largest number of streams.
#include "fuzz/fuzz.h"
#include "result/json_report.h"
#include "result/max_reader.h"

STREAMSIM_FUZZ(max_document) {
    using namespace streamsim;
    using fuzz::require;
    const std::string source = "max.json";
    (void)result::is_max_document(fuzz::text_of(input));
    const auto found = result::read_max(fuzz::text_of(input), source);
    if (!found) return fuzz::require_refusal(found.error(), source);
    const std::string text = result::max_json_report(*found);
    const auto again = result::read_max(text, source);
    if (!again) require(false, "a document that was written is read: " + again.error().problems.front());
    require(result::max_json_report(*again) == text, "a document is equal when it was written and read");
}
