// PurchaseNeed: the seats that have to work at once, and the offers among which storage for them is chosen. An
// offer is a model; its choices change numbers of the model's document. Prices and powers are in the user's own
// currency and in watts.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "streamsim/scenario.h"

namespace streamsim {

/// A number of the model's document, by its JSON pointer.
struct PurchaseNumber {
    std::string pointer;  // "/node/drives"
    double value = 0;     // sizes in bytes, times in ns
};

/// One level of a choice.
struct PurchaseLevel {
    std::string text;  // "6", "25 Gb/s"
    std::vector<PurchaseNumber> numbers;
    double count = 0;  // multiplies the prices of choices that are `per` this one; 0: no number
    double price = 0;  // of one `per`
    double watts = 0;
};

/// From the least to the most. More is expected to play no worse, and costs no less.
struct PurchaseChoice {
    std::string what;
    std::vector<PurchaseLevel> levels;
    /// The prices are for each of so many, or for each of the count of another choice of the offer.
    double per = 1;
    std::optional<std::size_t> per_choice;
    std::string per_text;  // "seats", "nodes"; empty: the price is of all
    std::string pointer;   // of the choice in the need's document: "/offers/0/choices/1"
};

struct PurchaseOffer {
    std::string name;
    std::string model;  // a NAME or a FILE
    double price = 0;   // whatever is chosen
    double watts = 0;
    std::vector<PurchaseChoice> choices;
};

struct PurchaseNeed {
    std::string source;
    std::string description;
    Scenario scenario;               // the seats; its duration is that of the verification run
    double headroom_percent = 0;     // of each stream's frame period that its p1 margin keeps
    double hours_together = 0;       // that the seats work at once; 0: not said
    std::string claim;               // "1 drop/day", as --prove takes it; may be empty
    double claim_drops_per_day = 0;  // of the run: fewer than this
    std::string currency;            // before a price; may be empty
    std::size_t plans = 4;           // at most
    std::optional<double> price_max, watts_max;
    std::vector<PurchaseOffer> offers;

    std::uint64_t seats() const {
        std::uint64_t all = 0;
        for (const ScenarioSeats& each : scenario.seats) all += each.count;
        return all;
    }
    /// Recorders included.
    std::uint64_t streams() const {
        std::uint64_t all = 0;
        for (const ScenarioSeats& each : scenario.seats) {
            for (const ScenarioStreams& streams : each.streams)
                all += std::uint64_t{each.count} * streams.count;
        }
        return all;
    }
};

}  // namespace streamsim
