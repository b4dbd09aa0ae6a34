// Known truth in virtual time, from outside: reads of no length, delayed and failed by a fault document, must
// come to what the predictor works out from the same document - every slot, every time, to the nanosecond.
// Nothing is forgiven here: there is no noise.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "cli/fixture.h"
#include "sim/predictor.h"

namespace streamsim::tests {
namespace {

using predictor::Kind;
using predictor::Policy;
using predictor::Prediction;

constexpr std::uint64_t kSlots = 6000;

struct Rate {
    std::int64_t num, den;
};
constexpr Rate kRates[] = {{24, 1}, {24'000, 1001}, {25, 1}, {60'000, 1001}};

struct Case {
    Policy policy;
    std::uint64_t readahead;
    std::uint64_t inflight;
    bool prefetch;  // names are opened ahead, frames read in pieces; the truth is the same
};

const char* to_option(Policy policy) {
    switch (policy) {
        case Policy::drop: return "drop";
        case Policy::skip: return "skip";
        case Policy::hold: return "hold";
        case Policy::stall: return "stall";
    }
    return "?";
}

std::string to_text(const Case& window) {
    return std::string(to_option(window.policy)) + "_readahead" + std::to_string(window.readahead) +
           "_inflight" + std::to_string(window.inflight) + (window.prefetch ? "_prefetch" : "");
}

void PrintTo(const Case& window, std::ostream* os) {  // NOLINT: the name is GoogleTest's
    *os << to_text(window);
}

struct Rule {
    std::uint64_t first = 0, last = 0, every = 1;
    std::int64_t delay_ns = 0;
    bool fails = false;

    bool hits(std::uint64_t slot) const { return slot >= first && slot <= last && (slot - first) % every == 0; }
    Json json() const {
        Json rule{{"slots", {{"first", first}, {"last", last}, {"every", every}}},
                  {"delay", std::to_string(delay_ns) + "ns"}};
        if (fails) rule["error"] = "EIO";
        return rule;
    }
};

struct Pause {
    std::int64_t at_ns = 0;
    std::int64_t length_ns = 0;
};

// A fault document, and what it means.
struct Faults {
    std::vector<Rule> rules;
    std::vector<Pause> pauses;  // by time, apart
    bool reads_only = false;    // an open, which may come early, is never delayed

    Json json() const {
        Json document{{"schema", "streamsim.faults"}, {"version", 1}, {"rules", Json::array()}};
        for (const Rule& rule : rules) {
            document["rules"].push_back(rule.json());
            if (reads_only) document["rules"].back()["operation"] = "read";
        }
        for (const Pause& pause : pauses) {
            document["stalls"].push_back(
                {{"at", std::to_string(pause.at_ns) + "ns"}, {"for", std::to_string(pause.length_ns) + "ns"}});
        }
        return document;
    }

    predictor::ReadFate fate(std::uint64_t slot, std::int64_t submitted_ns) const {
        predictor::ReadFate fate;
        for (const Rule& rule : rules) {
            if (!rule.hits(slot)) continue;
            fate.service_ns += rule.delay_ns;
            fate.fails = fate.fails || rule.fails;
        }
        const std::int64_t ends_ns = submitted_ns + fate.service_ns;
        for (const Pause& pause : pauses) {
            const std::int64_t pause_ends_ns = pause.at_ns + pause.length_ns;
            if (ends_ns >= pause.at_ns && ends_ns < pause_ends_ns)
                fate.service_ns = pause_ends_ns - submitted_ns;
        }
        return fate;
    }
};

// Delays of up to several read-aheads, many on whole periods, so that completions and deadlines fall on one
// instant.
Faults random_faults(std::uint64_t readahead, bool prefetch, Rate rate, std::mt19937_64& random) {
    const auto below = [&random](std::uint64_t limit) { return random() % limit; };
    const std::int64_t period_ns = predictor::due_ns(1, rate.num, rate.den);
    Faults faults;
    for (int i = 0; i < 40; i++) {
        Rule rule;
        rule.first = below(kSlots);
        rule.every = 1 + below(i % 4 == 0 ? 3 : 400);
        rule.last = rule.first + rule.every * below(i % 4 == 0 ? 6 : 40);
        const auto periods = static_cast<std::int64_t>(below(2 * readahead + 4));
        rule.delay_ns = periods * period_ns;
        if (below(2) == 0)
            rule.delay_ns += static_cast<std::int64_t>(below(static_cast<std::uint64_t>(period_ns)));
        rule.fails = below(8) == 0;
        faults.rules.push_back(rule);
    }
    faults.reads_only = prefetch;
    std::int64_t at_ns = 0;
    for (int i = 0; i < 12 && !prefetch; i++) {
        at_ns += static_cast<std::int64_t>(2'000 + below(15'000)) * kMs;
        faults.pauses.push_back({at_ns, static_cast<std::int64_t>(1 + below(1200)) * kMs});
        at_ns += 1200 * kMs;
    }
    return faults;
}

class VirtualTruth : public CliTest, public ::testing::WithParamInterface<Case> {
protected:
    Prediction predicted(Rate rate, const Faults& faults) const {
        predictor::Plan plan;
        plan.rate_num = rate.num;
        plan.rate_den = rate.den;
        plan.slots = kSlots;
        plan.readahead = GetParam().readahead;
        plan.inflight = GetParam().inflight;
        plan.policy = GetParam().policy;
        plan.read = [&faults](std::uint64_t slot, std::int64_t ns) { return faults.fate(slot, ns); };
        return predictor::predict(plan);
    }

    Json played(Rate rate, const Faults& faults) {
        write_text(dir_ / "faults.json", faults.json().dump());
        return play(
            {"--fps", std::to_string(rate.num) + "/" + std::to_string(rate.den), "--duration", "10h",
             "--frames", std::to_string(kSlots), "--readahead", std::to_string(GetParam().readahead),
             "--inflight", std::to_string(GetParam().inflight), "--on-miss", to_option(GetParam().policy),
             "--pattern", GetParam().prefetch ? "filename-prefetch" : "on-demand", "--io-size",
             GetParam().prefetch ? "4MiB" : "frame", "--faults", dir_ / "faults.json"},
            "sim:null");
    }
};

// The drop table that the prediction comes to.
Json drops_of(const Prediction& prediction) {
    Json drops = Json::array();
    for (std::uint64_t i = 0; i < prediction.slots.size(); i++) {
        const predictor::Slot& slot = prediction.slots[i];
        if (slot.kind == Kind::on_time) continue;
        Json drop{{"frame", i},
                  {"kind", predictor::to_string(slot.kind)},
                  {"due_ns", slot.deadline_ns - prediction.play_start_ns},
                  {"completed_ns", nullptr},
                  {"reason", slot.kind == Kind::failed ? "error" : "late"}};
        if (slot.completed_ns) drop["completed_ns"] = *slot.completed_ns - prediction.play_start_ns;
        drops.push_back(drop);
    }
    return drops;
}

// The same members of the drop table that was written.
Json drops_of(const Json& result) {
    Json drops = Json::array();
    for (const Json& drop : result["drops"]) {
        Json part;
        for (const char* key : {"frame", "kind", "due_ns", "completed_ns", "reason"}) part[key] = drop[key];
        drops.push_back(part);
    }
    return drops;
}

TEST_P(VirtualTruth, EverySlotIsWhatArithmeticSaysToTheNanosecond) {
    std::uint64_t missed = 0;
    for (std::uint64_t seed = 1; seed <= 4; seed++) {
        const Rate rate = kRates[seed % std::size(kRates)];
        std::mt19937_64 random(seed * 1000 + GetParam().readahead);
        const Faults faults = random_faults(GetParam().readahead, GetParam().prefetch, rate, random);
        SCOPED_TRACE("seed " + std::to_string(seed) + ": " + faults.json().dump());
        const Prediction prediction = predicted(rate, faults);
        const Json result = played(rate, faults);
        ASSERT_EQ(result["drops_omitted"], 0);
        const Json expected = drops_of(prediction), seen = drops_of(result);
        for (std::size_t i = 0; i < std::min(expected.size(), seen.size()); i++) {
            ASSERT_EQ(expected[i], seen[i]) << "entry " << i << " of the drop table";
        }
        EXPECT_EQ(expected.size(), seen.size());
        EXPECT_EQ(result["totals"]["frames_on_time"], prediction.count(Kind::on_time));
        EXPECT_EQ(result["totals"]["stalls"], prediction.stalls);
        EXPECT_EQ(result["totals"]["stall_ns"], prediction.stall_ns);
        EXPECT_EQ(result["streams"][0]["start_delay_ns"], prediction.play_start_ns);
        EXPECT_EQ(result["streams"][0]["last_due_ns"],
                  prediction.slots.back().deadline_ns - prediction.play_start_ns);
        missed += expected.size() + prediction.stalls;
    }
    std::printf("  %llu of %llu slots were not on time\n", static_cast<unsigned long long>(missed),
                static_cast<unsigned long long>(kSlots) * 4);
    EXPECT_GT(missed, 100U);
}

std::vector<Case> cases() {
    std::vector<Case> result;
    for (const Policy policy : {Policy::drop, Policy::skip, Policy::hold, Policy::stall}) {
        for (const std::uint64_t readahead : {1U, 2U, 3U, 8U}) {
            for (const std::uint64_t inflight : {1U, 2U, 4U}) {
                if (inflight > readahead) continue;
                result.push_back({policy, readahead, inflight, false});
                result.push_back({policy, readahead, inflight, true});
            }
        }
    }
    return result;
}

std::string name_of(const ::testing::TestParamInfo<Case>& window) {
    return to_text(window.param);
}

INSTANTIATE_TEST_SUITE_P(Windows, VirtualTruth, ::testing::ValuesIn(cases()), name_of);

}  // namespace
}  // namespace streamsim::tests
