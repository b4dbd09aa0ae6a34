#include "worlds/world_prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "play/slot_reads.h"
#include "sim/predictor.h"

namespace streamsim::worlds {
namespace {

constexpr std::size_t kTextsMax = 3;

bool is_simple(const storage::FaultRule& rule) {
    return rule.operation == storage::FaultRule::Operation::read && rule.file == "*" && rule.probability >= 1;
}

/// Nothing but the reads of its own frames decides about this world.
bool is_predictable(const RandomWorld& world) {
    return world.storage == StorageKind::null && !world.interrupt_after && !world.sync &&
           world.decode_cpu.ns == 0 && world.multicam == run::MultiCam::none && world.scenario.faults.empty() &&
           (world.cuts.empty() || world.faults.stalls.empty()) &&
           std::all_of(world.faults.rules.begin(), world.faults.rules.end(), is_simple);
}

/// Each slot is one read, and no slot is a jump. Opens take no time, but they stand still with everything else.
bool is_predictable(const RandomWorld& world, const run::StreamPlan& plan) {
    if (!world.faults.stalls.empty() && plan.clips.front().index->file_per_frame()) return false;
    if (plan.record != nullptr || !plan.options.paced || plan.options.io_size != 0) return false;
    const play::SlotNeeds& needs = play::slot_needs(*plan.path);
    if (needs.extents != 1 || needs.groups) return false;
    std::vector<play::ShownFrame> shown;
    for (std::uint64_t slot = 0; slot < plan.options.slots; ++slot) {
        plan.path->shown(slot, shown);
        if (plan.path->sought(slot) || shown.size() != 1) return false;
    }
    return true;
}

/// When something that would be done at `at_ns` is done.
std::int64_t after_stall(const RandomWorld& world, std::int64_t at_ns) {
    for (const storage::FaultStall& stall : world.faults.stalls)
        if (at_ns >= stall.at.ns && at_ns < (stall.at + stall.length).ns) return (stall.at + stall.length).ns;
    return at_ns;
}

/// A read waits for the open of its clip, which begins with the stream and takes no time but that of a stall.
std::int64_t opened_ns(const RandomWorld& world, const run::StreamPlan& plan) {
    return after_stall(world, plan.start_offset.ns);
}

predictor::ReadFate fate_of(const RandomWorld& world,
                            const run::StreamPlan& plan,
                            std::uint64_t slot,
                            std::int64_t submitted_ns) {
    predictor::ReadFate fate;
    const play::ShownFrame shown = plan.path->named(slot);
    const Extent extent = plan.clips[shown.source].index->extent(shown.frame);
    std::int64_t delay_ns = 0;
    for (const storage::FaultRule& rule : world.faults.rules) {
        if (rule.seat.value_or(plan.options.seat) != plan.options.seat) continue;
        if (rule.stream.value_or(plan.options.stream) != plan.options.stream) continue;
        if (!rule.slots.contains(slot) || !rule.clip_frames.contains(shown.frame)) continue;
        delay_ns += rule.delay.ns;
        fate.fails |= rule.error != 0 || rule.missing;
        fate.fails |= rule.short_bytes && extent.offset + extent.bytes > *rule.short_bytes;
    }
    const std::int64_t begun_ns = std::max(submitted_ns, opened_ns(world, plan));
    fate.service_ns = after_stall(world, begun_ns + delay_ns) - submitted_ns;
    return fate;
}

predictor::Plan plan_of(const RandomWorld& world, const run::StreamPlan& stream) {
    predictor::Plan plan;
    plan.rate_num = stream.rate().num;
    plan.rate_den = stream.rate().den;
    plan.slots = stream.options.slots;
    plan.readahead = stream.options.readahead;
    plan.inflight = stream.options.inflight;
    switch (stream.options.on_miss) {
        case play::OnMiss::drop: plan.policy = predictor::Policy::drop; break;
        case play::OnMiss::skip: plan.policy = predictor::Policy::skip; break;
        case play::OnMiss::hold: plan.policy = predictor::Policy::hold; break;
        case play::OnMiss::stall: plan.policy = predictor::Policy::stall; break;
    }
    plan.begin_ns = stream.start_offset.ns;
    plan.read = [&world, &stream](std::uint64_t slot, std::int64_t submitted_ns) {
        return fate_of(world, stream, slot, submitted_ns);
    };
    return plan;
}

const char* word_of(FrameKind kind) {
    switch (kind) {
        case FrameKind::on_time: return predictor::to_string(predictor::Kind::on_time);
        case FrameKind::late: return predictor::to_string(predictor::Kind::late);
        case FrameKind::dropped: return predictor::to_string(predictor::Kind::dropped);
        default: return predictor::to_string(predictor::Kind::failed);
    }
}

std::string shown(std::optional<std::int64_t> ns) {
    return ns && *ns != Instant::never().ns ? std::to_string(*ns) : "never";
}

std::int64_t from_start(std::optional<std::int64_t> ns, std::int64_t start_ns) {
    return ns ? *ns - start_ns : Instant::never().ns;
}

/// Empty: the row is as predicted.
std::string compare(const FrameOutcome& seen, const predictor::Slot& said, std::int64_t start_ns) {
    const std::int64_t deadline_ns = said.deadline_ns - start_ns;
    const std::int64_t scheduled_ns = said.scheduled_ns - start_ns;
    const std::int64_t submitted_ns = from_start(said.submitted_ns, start_ns);
    const std::int64_t completed_ns = from_start(said.completed_ns, start_ns);
    const char* const kind = predictor::to_string(said.kind);
    if (word_of(seen.kind) == std::string(kind) && seen.deadline.ns == deadline_ns &&
        seen.scheduled.ns == scheduled_ns && seen.submitted.ns == submitted_ns &&
        seen.completed.ns == completed_ns)
        return {};
    return fmt::format(
        "is {}, due {}, scheduled {}, submitted {}, completed {}, and by arithmetic {}, {}, {}, {}, {}",
        word_of(seen.kind), seen.deadline.ns, seen.scheduled.ns, shown(seen.submitted.ns),
        shown(seen.completed.ns), kind, deadline_ns, scheduled_ns, shown(submitted_ns), shown(completed_ns));
}

}  // namespace

std::vector<std::string> compare_with_prediction(const Seen& seen) {
    std::vector<std::string> wrong;
    const auto& plans = seen.played.plans;
    if (!is_predictable(seen.world) || plans.size() != seen.result.streams.size()) return wrong;
    // Streams of one start play together, when the last of them is ready.
    std::map<std::int64_t, std::int64_t> starts;
    std::vector<predictor::Plan> predicted(plans.size());
    for (std::size_t i = 0; i < plans.size(); ++i) {
        if (plans[i].record != nullptr) continue;
        if (!is_predictable(seen.world, plans[i])) return wrong;
        predicted[i] = plan_of(seen.world, plans[i]);
        std::int64_t& start_ns = starts[plans[i].start_offset.ns];
        start_ns = std::max(start_ns, predictor::predict(predicted[i]).play_start_ns);
    }
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<const FrameOutcome*>> rows;
    for (const FrameRow& row : seen.result.frames) rows[{row.seat, row.stream}].push_back(&row.outcome);
    for (std::size_t i = 0; i < plans.size(); ++i) {
        if (plans[i].record != nullptr) continue;
        predicted[i].start_not_before_ns = starts[plans[i].start_offset.ns];
        predictor::Prediction truth = predictor::predict(predicted[i]);
        for (predictor::Slot& slot : truth.slots)
            if (slot.submitted_ns)
                slot.submitted_ns = std::max(*slot.submitted_ns, opened_ns(seen.world, plans[i]));
        const StreamResult& stream = seen.result.streams[i];
        const std::string name = fmt::format("stream {} of seat {}", stream.stream, stream.seat);
        if (stream.start_delay_ns != truth.play_start_ns - predicted[i].begin_ns)
            wrong.push_back(fmt::format("{} began after {} ns, and by arithmetic after {}", name,
                                        stream.start_delay_ns, truth.play_start_ns - predicted[i].begin_ns));
        if (stream.counts.stalls != truth.stalls || stream.counts.stall_ns != truth.stall_ns)
            wrong.push_back(fmt::format("{} has {} stalls of {} ns, and by arithmetic {} of {}", name,
                                        stream.counts.stalls, stream.counts.stall_ns, truth.stalls,
                                        truth.stall_ns));
        const auto& own = rows[{stream.seat, stream.stream}];
        for (std::size_t slot = 0; slot < own.size() && slot < truth.slots.size() && wrong.size() < kTextsMax;
             ++slot) {
            const std::string text = compare(*own[slot], truth.slots[slot], truth.play_start_ns);
            if (!text.empty()) wrong.push_back(fmt::format("{}: slot {} {}", name, slot, text));
        }
        if (wrong.size() >= kTextsMax) break;
    }
    return wrong;
}

}  // namespace streamsim::worlds
