// Needs of a purchase.
#include <cmath>

#include "fuzz/document_words.h"
#include "fuzz/fuzz.h"
#include "scenario/need_document.h"

STREAMSIM_FUZZ(need) {
    using namespace streamsim;
    using fuzz::require;
    const std::string source = "need.json";
    const auto need = scenario::read_need(fuzz::text_of(input), source, fuzz::need_words());
    if (!need) return fuzz::require_refusal(need.error(), source);
    require(!need->offers.empty(), "a need has offers");
    for (const PurchaseOffer& offer : need->offers) {
        require(std::isfinite(offer.price) && std::isfinite(offer.watts), "a price is a number");
        for (const PurchaseChoice& choice : offer.choices) {
            require(!choice.levels.empty(), "a choice has levels");
            require(!choice.per_choice || *choice.per_choice < offer.choices.size(),
                    "a choice counts by another");
        }
    }
}
