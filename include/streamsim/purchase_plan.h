// PurchaseResult: the answer to a need: the cheapest configurations whose verification runs miss no frame, what
// is full first in each, and what one step less of each choice loses; or what came nearest, and why it fails.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "streamsim/fields.h"
#include "streamsim/part_stats.h"
#include "streamsim/run_result.h"

namespace streamsim {

/// The fullest part of its kind in a verification run.
struct PurchasePart {
    PartKind kind = PartKind::seat_cpu;
    std::string name;        // "node 2 front end"
    double utilisation = 0;  // 0 to 1
};
void fields(ConstOr<PurchasePart> auto& part, auto& visit) {
    visit("kind", part.kind);
    visit("name", part.name);
    visit("utilisation", four_decimals(part.utilisation));
}

/// The plan with one step less of a choice.
struct PurchaseLess {
    std::string value;  // "4"
    bool plays = false;
    std::uint64_t seats_play = 0, streams_play = 0;  // the most that play; streams: those of these seats
    Limit limit = Limit::none;                       // of all seats
    std::string reason;
};
void fields(ConstOr<PurchaseLess> auto& less, auto& visit) {
    visit("value", less.value);
    visit("plays", less.plays);
    visit("seats_play", less.seats_play);
    visit("streams_play", less.streams_play);
    visit("limit", less.limit);
    visit("reason", less.reason);
}

struct PurchaseChosen {
    std::string what, value;           // "nodes", "5"
    double price = 0, watts = 0;       // of the choice, all of it
    std::optional<PurchaseLess> less;  // nullopt: it has the least already
};
void fields(ConstOr<PurchaseChosen> auto& chosen, auto& visit) {
    visit("what", chosen.what);
    visit("value", chosen.value);
    visit("price", chosen.price);
    visit("watts", chosen.watts);
    visit("less", chosen.less);
}

struct PurchasePlan {
    std::string offer, model;
    double price = 0, watts = 0;
    std::vector<PurchaseChosen> choices;
    std::vector<PurchasePart> parts;  // the fullest first
    std::uint64_t frames = 0;         // of the verification run; none is missed
    std::optional<std::int64_t> margin_min_ns;
    std::optional<double> margin_p1_percent;  // of a frame period, of the stream with the least
};
void fields(ConstOr<PurchasePlan> auto& plan, auto& visit) {
    visit("offer", plan.offer);
    visit("model", plan.model);
    visit("price", plan.price);
    visit("watts", plan.watts);
    visit("choices", plan.choices);
    visit("parts", plan.parts);
    visit("frames", plan.frames);
    visit("margin_min_ns", plan.margin_min_ns);
    visit("margin_p1_percent", plan.margin_p1_percent);
}

/// The configuration of an offer that comes nearest, where none plays within the limits.
struct PurchaseNearest {
    std::string offer, configuration;  // "nodes 8, drives 15"
    double price = 0, watts = 0;
    bool plays = false;                              // and costs too much
    std::uint64_t seats_play = 0, streams_play = 0;  // the most of it that play
    Limit limit = Limit::none;                       // of all seats
    std::string why;                                 // it is no plan
};
void fields(ConstOr<PurchaseNearest> auto& nearest, auto& visit) {
    visit("offer", nearest.offer);
    visit("configuration", nearest.configuration);
    visit("price", nearest.price);
    visit("watts", nearest.watts);
    visit("plays", nearest.plays);
    visit("seats_play", nearest.seats_play);
    visit("streams_play", nearest.streams_play);
    visit("limit", nearest.limit);
    visit("why", nearest.why);
}

/// More of a choice plays worse; all its levels were searched.
struct PurchaseWorse {
    std::string offer, what;
    std::string plays, fails;  // configurations: the second has more of the choice alone
    std::string reason;        // why the second fails
};
void fields(ConstOr<PurchaseWorse> auto& worse, auto& visit) {
    visit("offer", worse.offer);
    visit("what", worse.what);
    visit("plays", worse.plays);
    visit("fails", worse.fails);
    visit("reason", worse.reason);
}

struct PurchaseResult {
    RunResult common;  // program, host, command and project
    std::string need, description, currency;
    std::uint64_t seats = 0, streams = 0;
    double headroom_percent = 0;
    double hours_together = 0;
    std::string claim;
    double prove_hours = 0;  // of a run of all streams, the least that --prove takes; 0: no claim
    std::optional<double> price_max, watts_max;
    std::int64_t verify_ns = 0, screen_ns = 0;  // lengths of the runs
    /// The held-back run of each offer whose model is calibrated, and what the need asks beyond its
    /// measurement.
    std::vector<std::string> trust;
    double configurations = 0;  // of all offers
    std::uint64_t played = 0;   // runs of any length
    std::uint64_t verified = 0, verified_failed = 0;
    std::uint64_t checked = 0;  // configurations that were inferred to fail, and played all the same
    std::vector<PurchasePlan> plans;
    std::vector<PurchaseNearest> nearest;  // by offer; empty where there are plans
    std::vector<PurchaseWorse> worse;
};
void fields(ConstOr<PurchaseResult> auto& result, auto& visit) {
    program_fields(result.common, visit);
    visit("host", result.common.host);
    visit("command", result.common.command);
    visit("need", result.need);
    visit("description", result.description);
    visit("currency", result.currency);
    visit("seats", result.seats);
    visit("streams", result.streams);
    visit("headroom_percent", result.headroom_percent);
    visit("hours_together", result.hours_together);
    visit("claim", result.claim);
    visit("prove_hours", result.prove_hours);
    visit("price_max", result.price_max);
    visit("watts_max", result.watts_max);
    visit("verify_ns", result.verify_ns);
    visit("screen_ns", result.screen_ns);
    visit("trust", result.trust);
    visit("configurations", result.configurations);
    visit("played", result.played);
    visit("verified", result.verified);
    visit("verified_failed", result.verified_failed);
    visit("checked", result.checked);
    visit("plans", result.plans);
    visit("nearest", result.nearest);
    visit("worse", result.worse);
}

}  // namespace streamsim
