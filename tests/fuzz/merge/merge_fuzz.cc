// Results and journals of the parts of one run, put together. The input is one document a line.
#include <string>
#include <vector>

#include "fuzz/fuzz.h"
#include "result/json_report.h"
#include "result/merge.h"
#include "result/result_reader.h"

STREAMSIM_FUZZ(merge) {
    using namespace streamsim;
    using fuzz::require;
    std::vector<RunResult> parts;
    for (fuzz::Taker taker(input); !taker.empty() && parts.size() < 4;) {
        auto part = result::read_result(taker.line(), "part.json");
        // A document of a few bytes can state many computers, and each is a missing seat of the merged result.
        if (part && part->ranks <= 1'000) parts.push_back(std::move(*part));
    }
    if (parts.empty()) return;
    const auto merged = result::merge_results(parts);
    if (!merged) {
        require(merged.error().kind == ErrorKind::bad_input && !merged.error().problems.empty(),
                "a refusal has a reason");
        return;
    }
    const std::string text = result::json_report(*merged);
    const auto read = result::read_result(text, "merged.json");
    if (!read) require(false, "a result that was merged is read: " + read.error().problems.front());
    std::vector<RunResult> more = parts;
    more.insert(more.begin(), *merged);
    const auto again = result::merge_results(more);
    require(again.has_value(), "a result is merged with its own parts");
}
