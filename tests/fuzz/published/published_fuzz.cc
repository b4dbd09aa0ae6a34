// Printed results of papers.
#include "fuzz/fuzz.h"
#include "scenario/published_document.h"

STREAMSIM_FUZZ(published) {
    using namespace streamsim;
    const std::string source = "paper.json";
    const auto paper = scenario::read_published(fuzz::text_of(input), source);
    if (!paper) return fuzz::require_refusal(paper.error(), source);
    fuzz::require(!paper->name.empty(), "a paper has a name");
    for (const PublishedRow& row : paper->rows)
        fuzz::require(row.seats > 0 && row.nodes > 0, "a row has seats");
}
