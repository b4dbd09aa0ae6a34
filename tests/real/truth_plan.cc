#include "real/truth_plan.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <sstream>

namespace streamsim::tests {
namespace {

using predictor::Kind;
using predictor::Policy;
using predictor::Prediction;

constexpr std::int64_t kPeriodNs = 41'666'667;
// Delays that are tried at each place of a plan; under skip, the first ones with slow reads before them.
constexpr int kAttempts = 300;
constexpr int kSlowAttempts = 250;
// An undelayed read takes the median that the prediction is made with, or so much longer on a busy machine: its
// share in *when* a frame came. Whether a slot was missed is not decided by it: the plans keep further from the
// edge.
constexpr std::int64_t kServiceSpreadNs = 20 * kMs;
// A loop that was late may have looked last so long before it was needed, and whose the miss is goes by the
// last look.
constexpr std::int64_t kHeartbeatNs = 5 * kMs;

std::int64_t milliseconds_of(std::int64_t ns) {
    return ns / kMs;
}

// How far a slot is from another outcome: its completion from the deadline, that an in-flight slot was free for
// it in time at all, and that this slot was chosen for it (skip).
std::int64_t clearance_of(const Job& job, const predictor::Slot& slot) {
    std::int64_t clearance = std::min(std::abs(slot.edge_ns), slot.choice_ns);
    if ((job.policy == Policy::drop || job.policy == Policy::skip) && slot.submitted_ns)
        clearance = std::min(clearance, slot.deadline_ns - *slot.submitted_ns);
    return clearance;
}

// A stretch of slow reads before the delay at `at`: as many as it takes to be expected of the next ones, too.
void make_slow(StreamPlan& plan, std::uint64_t at, const std::function<std::uint64_t(std::uint64_t)>& below) {
    const std::int64_t each_ns = static_cast<std::int64_t>(20 + below(160)) * kMs;
    const std::uint64_t slow = 4 + below(3);
    for (std::uint64_t slot = at - slow; slot < at; slot++) plan.delay_ns[slot] = each_ns;
}

// Both predictions say the same of every slot, and no slot is near an edge.
bool is_robust(const Job& job, const StreamPlan& plan, std::int64_t clearance_ns) {
    const Prediction quick = predict(job, plan, kMs / 5);
    const Prediction slow = predict(job, plan, kMs * 3 / 2);
    for (std::size_t i = 0; i < quick.slots.size(); i++) {
        const predictor::Slot& a = quick.slots[i];
        const predictor::Slot& b = slow.slots[i];
        if (a.kind != b.kind || a.submitted_ns.has_value() != b.submitted_ns.has_value()) return false;
        const bool preroll = i < job.readahead;  // judged from play_start, not from a deadline
        if (!preroll && std::min(clearance_of(job, a), clearance_of(job, b)) < clearance_ns) return false;
    }
    return quick.stalls == slow.stalls;
}

struct Seen {
    std::string kind = "on time";
    std::string reason;
    std::int64_t due_ns = 0;
    std::optional<std::int64_t> completed_ns;
};

std::map<std::uint64_t, Seen> seen_of(const Json& result, std::size_t stream) {
    std::map<std::uint64_t, Seen> seen;
    for (const Json& drop : result["drops"]) {
        if (drop["stream"] != stream) continue;
        Seen entry{drop["kind"], drop["reason"], drop["due_ns"], std::nullopt};
        if (!drop["completed_ns"].is_null()) entry.completed_ns = drop["completed_ns"].get<std::int64_t>();
        seen[drop["frame"].get<std::uint64_t>()] = entry;
    }
    return seen;
}

std::string show(const std::optional<std::int64_t>& ns) {
    return ns ? std::to_string(milliseconds_of(*ns)) + " ms" : "never";
}

// The difference between a slot as predicted and as seen; empty: none.
std::string difference(const predictor::Slot& slot,
                       const std::optional<std::int64_t>& completed_ns,
                       const Seen& seen,
                       std::int64_t noise_ns) {
    std::ostringstream text;
    if (seen.kind != predictor::to_string(slot.kind)) {
        text << "predicted " << predictor::to_string(slot.kind) << ", seen " << seen.kind;
    } else if (slot.kind == Kind::on_time) {
        return "";
    } else if (completed_ns.has_value() != seen.completed_ns.has_value()) {
        text << "predicted completion " << show(completed_ns) << ", seen " << show(seen.completed_ns);
    } else if (completed_ns && std::abs(*completed_ns - *seen.completed_ns) > noise_ns + kServiceSpreadNs) {
        text << "predicted completion " << *completed_ns << " ns, seen " << *seen.completed_ns << " ns";
    }
    return text.str();
}

void compare_stalls(const Job& job, const Json& stream, const Prediction& prediction, Comparison& into) {
    if (job.policy != Policy::stall) {
        if (stream["stalls"] != 0) into.wrong.push_back(job.name + ": stalls under another policy");
        return;
    }
    const auto stalls = stream["stalls"].get<std::uint64_t>();
    const auto stall_ns = stream["stall_ns"].get<std::int64_t>();
    into.missed_predicted += prediction.stalls;
    into.missed_agreed += std::min(stalls, prediction.stalls);
    const auto events = static_cast<std::int64_t>(std::max(stalls, prediction.stalls));
    std::ostringstream text;
    text << job.name << ": predicted " << prediction.stalls << " stalls of " << prediction.stall_ns
         << " ns in all, seen " << stalls << " of " << stall_ns << " ns; noise " << into.noise_ns << " ns each";
    if (stalls != prediction.stalls) {
        std::int64_t nearest = INT64_MAX;
        for (std::size_t i = job.readahead; i < prediction.slots.size(); i++) {
            nearest = std::min(nearest, std::abs(prediction.slots[i].edge_ns));
        }
        (nearest < into.noise_ns ? into.inside_noise : into.wrong).push_back(text.str());
    } else if (std::abs(stall_ns - prediction.stall_ns) > events * (into.noise_ns + kServiceSpreadNs)) {
        into.wrong.push_back(text.str());
    }
}

}  // namespace

const char* to_option(Policy policy) {
    switch (policy) {
        case Policy::drop: return "drop";
        case Policy::skip: return "skip";
        case Policy::hold: return "hold";
        case Policy::stall: return "stall";
    }
    return "?";
}

std::string StreamPlan::rules() const {
    std::ostringstream text;
    text << "clip " << clip << " frames=" << slots << "\n";
    for (const auto& [slot, delay] : delay_ns) {
        text << "read " << clip << " frame=" << slot + 1 << " delay=" << delay / 1000 << "us\n";
    }
    return text.str();
}

std::vector<std::string> Job::options() const {
    return {"--streams",   std::to_string(streams.size()),
            "--fps",       "24",
            "--frames",    std::to_string(streams.front().slots),
            "--readahead", std::to_string(readahead),
            "--inflight",  std::to_string(inflight),
            "--on-miss",   to_option(policy),
            "--pattern",   "on-demand",
            "--io-size",   "frame",
            "--quiet",     direct ? "--direct" : "--buffered"};
}

Prediction predict(const Job& job, const StreamPlan& plan, std::int64_t service_ns) {
    predictor::Plan arithmetic;
    arithmetic.slots = plan.slots;
    arithmetic.readahead = job.readahead;
    arithmetic.inflight = job.inflight;
    arithmetic.policy = job.policy;
    arithmetic.read = [&plan, service_ns](std::uint64_t slot, std::int64_t) {
        const auto delayed = plan.delay_ns.find(slot);
        return predictor::ReadFate{service_ns + (delayed == plan.delay_ns.end() ? 0 : delayed->second), false};
    };
    return predictor::predict(arithmetic);
}

StreamPlan make_plan(const Job& job,
                     const std::string& clip,
                     std::uint64_t slots,
                     std::int64_t clearance_ns,
                     std::mt19937_64& random) {
    const auto below = [&random](std::uint64_t limit) { return random() % limit; };
    StreamPlan plan;
    plan.clip = clip;
    plan.slots = slots;
    const auto longest_ms = static_cast<std::uint64_t>(milliseconds_of(kPeriodNs)) * (job.readahead + 6);
    for (std::uint64_t at = job.readahead + 4 + below(6); at + job.readahead + 16 < slots;) {
        for (int attempt = 0; attempt < kAttempts; attempt++) {
            StreamPlan candidate = plan;
            candidate.delay_ns[at] = static_cast<std::int64_t>(10 + below(longest_ms)) * kMs;
            if (below(3) == 0) {
                candidate.delay_ns[at + 1] = static_cast<std::int64_t>(10 + below(longest_ms)) * kMs;
            }
            if (job.policy == Policy::skip && attempt < kSlowAttempts) make_slow(candidate, at, below);
            if (!is_robust(job, candidate, clearance_ns)) continue;
            plan = candidate;
            break;
        }
        at += 12 + below(10);
    }
    return plan;
}

void Comparison::add(const Comparison& other) {
    judged += other.judged;
    missed_predicted += other.missed_predicted;
    missed_agreed += other.missed_agreed;
    noise_ns = std::max(noise_ns, other.noise_ns);
    inside_noise.insert(inside_noise.end(), other.inside_noise.begin(), other.inside_noise.end());
    wrong.insert(wrong.end(), other.wrong.begin(), other.wrong.end());
}

Comparison compare(const Job& job,
                   std::size_t stream,
                   const Json& result,
                   const std::vector<SlowOperation>& log) {
    const StreamPlan& plan = job.streams[stream];
    const Json& stats = result["streams"][stream];
    const Prediction prediction = predict(job, plan, stats["service_ns"]["p50"].get<std::int64_t>());
    const std::map<std::uint64_t, Seen> seen = seen_of(result, stream);
    Comparison comparison;
    comparison.noise_ns = result["client"]["loop_lateness_ns"]["max"].get<std::int64_t>();
    std::int64_t excess_ns = 0;
    for (const SlowOperation& op : log) {
        if (op.clip == plan.clip) excess_ns = std::max(excess_ns, op.excess_ns());
    }
    comparison.noise_ns += excess_ns;
    for (std::uint64_t i = 0; i < prediction.slots.size(); i++) {
        const predictor::Slot& slot = prediction.slots[i];
        const auto found = seen.find(i);
        const Seen entry = found == seen.end() ? Seen{} : found->second;
        std::optional<std::int64_t> completed_ns = slot.completed_ns;
        if (completed_ns) *completed_ns -= prediction.play_start_ns;
        std::string text = difference(slot, completed_ns, entry, comparison.noise_ns);
        std::int64_t noise_ns = comparison.noise_ns;
        if (text.empty() && slot.kind != Kind::on_time && entry.reason != "late") {
            text = "the storage was late, the reason says " + entry.reason;
            noise_ns += kHeartbeatNs;
        }
        const std::string place = job.name + " stream " + std::to_string(stream) + " slot " +
                                  std::to_string(i) + " (" + std::to_string(slot.edge_ns) +
                                  " ns from the edge): ";
        comparison.judged++;
        if (slot.kind != Kind::on_time) comparison.missed_predicted++;
        if (slot.kind != Kind::on_time && entry.kind == predictor::to_string(slot.kind))
            comparison.missed_agreed++;
        if (!text.empty()) {
            const bool noisy = clearance_of(job, slot) < noise_ns;
            (noisy ? comparison.inside_noise : comparison.wrong).push_back(place + text);
        }
        const std::int64_t due = slot.deadline_ns - prediction.play_start_ns;
        if (found != seen.end() && job.policy != Policy::stall && entry.due_ns != due) {
            comparison.wrong.push_back(place + "due at " + std::to_string(entry.due_ns) + " instead of " +
                                       std::to_string(due));
        }
    }
    compare_stalls(job, stats, prediction, comparison);
    return comparison;
}

}  // namespace streamsim::tests
