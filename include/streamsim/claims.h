// Claims of a run: how often a stream drops at most, with the confidence that the run's length allows.
// Rates are drop events a day and stream: an event that hits k streams counts for each of them. Events that
// come in groups count once a group.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "streamsim/fields.h"

namespace streamsim {

/// Drop events a day and stream. Without an event `low` is 0 and `high` is a one-sided bound; with events the
/// two ends leave out half of the doubt each.
struct RateInterval {
    double estimate = 0, low = 0, high = 0;
};
void fields(ConstOr<RateInterval> auto& interval, auto& visit) {
    visit("estimate", interval.estimate);
    visit("low", interval.low);
    visit("high", interval.high);
}

enum class ProveDecision { undecided, stands, failed };
constexpr const char* to_string(ProveDecision decision) {
    switch (decision) {
        case ProveDecision::undecided: return "undecided";
        case ProveDecision::stands: return "stands";
        case ProveDecision::failed: return "failed";
    }
    return "?";
}

/// The sequential test of --prove. Hours are of play.
struct ProveResult {
    double wanted_per_day = 0;  // fewer drop events a day than this
    ProveDecision decided = ProveDecision::undecided;
    double alpha = 0;          // probability at most that the claim stands although it is not true
    double beta = 0;           // probability at most that the claim fails although it is true
    std::uint64_t events = 0;  // of the run, over all streams; an event that lasts counts again each minute
    std::uint64_t groups = 0;  // events that come together count once
    double hours = 0;          // played until the decision, or until the end
    double needed_hours = 0;   // until the claim stands, if no other event comes
    std::string sentence;
};
void fields(ConstOr<ProveResult> auto& prove, auto& visit) {
    visit("wanted_per_day", prove.wanted_per_day);
    visit("decided", prove.decided);
    visit("alpha", prove.alpha);
    visit("beta", prove.beta);
    visit("events", prove.events);
    visit("groups", prove.groups);
    visit("hours", prove.hours);
    visit("needed_hours", prove.needed_hours);
    visit("sentence", prove.sentence);
}

struct Claims {
    double confidence = 0.95;
    bool of_model = false;  // a model was played: the claim is about the model, not about storage
    double stream_hours = 0;
    double run_hours = 0;                  // in which at least one stream played
    std::uint64_t drop_events = 0;         // events that overlap are one
    std::uint64_t stream_drop_events = 0;  // each event once for each stream that it hit
    std::uint64_t groups = 0;              // independent observations: drop_events, or groups of them
    bool grouped = false;                  // the events come in groups
    std::optional<double> dispersion_p;    // of events that come at random; nullopt: too few events
    RateInterval per_stream_day;           // if streams drop independently
    RateInterval per_stream_day_together;  // if all streams drop together
    std::string sentence;
    std::optional<ProveResult> prove;  // nullopt: --prove was not given
};
void fields(ConstOr<Claims> auto& claims, auto& visit) {
    visit("confidence", claims.confidence);
    visit("of_model", claims.of_model);
    visit("stream_hours", claims.stream_hours);
    visit("run_hours", claims.run_hours);
    visit("drop_events", claims.drop_events);
    visit("stream_drop_events", claims.stream_drop_events);
    visit("groups", claims.groups);
    visit("grouped", claims.grouped);
    visit("dispersion_p", four_decimals(claims.dispersion_p));
    visit("per_stream_day", claims.per_stream_day);
    visit("per_stream_day_together", claims.per_stream_day_together);
    visit("sentence", claims.sentence);
    visit("prove", claims.prove);
}

}  // namespace streamsim
