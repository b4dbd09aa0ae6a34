// Workload documents; one that is read is written as one that is equal.
#include "base/document/json.h"
#include "fuzz/fuzz.h"
#include "profile/learning/workload_writer.h"
#include "scenario/workload_document.h"

STREAMSIM_FUZZ(workload) {
    using namespace streamsim;
    using fuzz::require;
    const std::string source = "workload.json";
    const auto workload = scenario::read_workload(fuzz::text_of(input), source);
    if (!workload) return fuzz::require_refusal(workload.error(), source);
    require(!workload->meters.empty(), "a workload has meters");
    const std::string text = json_text(profile::workload_document(*workload), 2);
    const auto again = scenario::read_workload(text, source);
    if (!again) require(false, "a workload that was written is read: " + again.error().problems.front());
    require(json_text(profile::workload_document(*again), 2) == text,
            "a workload is equal when it was written and read");
}
