// A world for a reader.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "base/units.h"
#include "worlds/world.h"

namespace streamsim::worlds {
namespace {

std::string text_of(const ScenarioStreams& streams) {
    std::string text = fmt::format(
        "    {} x {} ({:.0f} bytes a frame on average, {}, {}), {}{}, on-miss {}, readahead {}, inflight {}, "
        "io-size {}, io-depth {}",
        streams.count, streams.format->name, streams.format->mean_frame_bytes,
        streams.format->container == MediaFormat::Container::sequence ? "sequence" : "container",
        streams.rate.value_or(streams.format->rate).to_string(), streams.records ? "recorded" : streams.order,
        streams.pattern.empty() ? "" : ", " + streams.pattern, streams.on_miss, streams.readahead,
        streams.inflight, streams.io_size == 0 ? "frame" : std::to_string(streams.io_size), streams.io_depth);
    if (streams.frames) text += fmt::format(", {} frames at most", *streams.frames);
    if (!streams.paced) text += ", without deadlines";
    if (streams.layers > 1) text += fmt::format(", {} layers", streams.layers);
    if (streams.same_media) text += ", one clip";
    if (streams.durable) text += ", durable";
    if (streams.clip_duration) text += fmt::format(", clips of {} ns", streams.clip_duration->ns);
    if (streams.start.ns > 0) text += fmt::format(", start {} ns", streams.start.ns);
    if (streams.one_more_every.ns > 0) text += fmt::format(", one more every {} ns", streams.one_more_every.ns);
    if (streams.end) text += fmt::format(", end {} ns", streams.end->ns);
    return text + "\n";
}

const char* word_of(storage::FaultRule::Operation operation) {
    using Operation = storage::FaultRule::Operation;
    switch (operation) {
        case Operation::any: return "operation";
        case Operation::open: return "open";
        case Operation::read: return "read";
        case Operation::write: return "write";
        case Operation::sync: return "sync";
    }
    return "?";
}

std::string text_of(const storage::FaultSelection& of, const char* what) {
    if (of.first == 0 && of.last == UINT64_MAX && of.every == 1) return "";
    const std::string last = of.last == UINT64_MAX ? "the end" : std::to_string(of.last);
    return fmt::format(", {} {} to {}, each {}th", what, of.first, last, of.every);
}

std::string text_of(const storage::FaultRule& rule) {
    std::string text = fmt::format("  fault: each {}", word_of(rule.operation));
    if (rule.seat) text += fmt::format(" of seat {}", *rule.seat);
    if (rule.stream) text += fmt::format(" of stream {}", *rule.stream);
    text += text_of(rule.slots, "slots") + text_of(rule.clip_frames, "clip frames");
    if (rule.probability < 1) text += fmt::format(", with a chance of {}", rule.probability);
    if (rule.delay.ns > 0) text += fmt::format(": {} ns later", rule.delay.ns);
    if (rule.error != 0) text += fmt::format(": error {}", rule.error);
    if (rule.missing) text += ": no such file";
    if (rule.short_bytes) text += fmt::format(": the file ends at {}", *rule.short_bytes);
    return text + "\n";
}

std::string text_of(const ScenarioFault& fault) {
    constexpr const char* kWords[] = {"throughput gap", "delays",     "errors",     "drive dies",
                                      "node lost",      "link slows", "cache flush"};
    std::string text =
        fmt::format("  fault of the scenario: {} at {} ns for {} ns", kWords[static_cast<int>(fault.kind)],
                    fault.at.ns, fault.length.value_or(Duration{}).ns);
    if (fault.node) text += fmt::format(", node {}", *fault.node);
    if (fault.drive) text += fmt::format(", drive {}", *fault.drive);
    if (fault.seat) text += fmt::format(", seat {}", *fault.seat);
    if (fault.delay.ns > 0) text += fmt::format(", {} ns later", fault.delay.ns);
    return text + fmt::format(", factor {}, chance {}\n", fault.factor, fault.probability);
}

}  // namespace

std::string describe(const RandomWorld& world) {
    std::string text =
        fmt::format("world {}: {}, on {}{}{}, {} ns, seed {}\n", world.seed,
                    world.in_phases ? "a scenario" : "a run of the command line", to_string(world.storage),
                    world.shipped.empty() ? "" : " " + world.shipped, world.warm ? " (warm)" : "",
                    world.scenario.duration.ns, world.scenario.seed);
    if (world.storage == StorageKind::truth) text += "  " + test::describe(world.truth) + "\n";
    for (const ScenarioSeats& seats : world.scenario.seats) {
        text += fmt::format("  {} seats, start {} ns, one more every {} ns, end {} ns", seats.count,
                            seats.start.ns, seats.one_more_every.ns, seats.end.ns);
        if (!seats.nodes.empty()) text += fmt::format(", node {}", seats.nodes.front());
        if (seats.link_bits_per_s) text += fmt::format(", link {} bit/s", *seats.link_bits_per_s);
        text += "\n";
        for (const ScenarioStreams& streams : seats.streams) text += text_of(streams);
        for (const ScenarioMeter& meter : seats.meters)
            text += fmt::format("    meters of {} x {}, start {} ns\n", meter.workload.name, meter.scale,
                                meter.start.ns);
    }
    for (const storage::FaultRule& rule : world.faults.rules) text += text_of(rule);
    for (const storage::FaultStall& stall : world.faults.stalls)
        text += fmt::format("  fault: nothing completes at {} ns for {} ns\n", stall.at.ns, stall.length.ns);
    for (const ScenarioFault& fault : world.scenario.faults) text += text_of(fault);
    for (const DrawnCut& each : world.cuts) {
        text += fmt::format("  cut: {} black, {} overlap, {} frames of clip {} from {} on, speed {}/{}\n",
                            each.black, each.overlap, each.frames, each.clip, each.first, each.speed_num,
                            each.speed_den);
    }
    if (world.sync) text += "  sync\n";
    if (world.multicam == run::MultiCam::all) text += "  multicam all\n";
    if (world.multicam == run::MultiCam::active) text += "  multicam active\n";
    if (world.round_robin) text += "  streams assigned round robin\n";
    if (world.stagger.ns > 0) text += fmt::format("  stagger {} ns\n", world.stagger.ns);
    if (world.decode_cpu.ns > 0) text += fmt::format("  decode-cpu {} ns\n", world.decode_cpu.ns);
    if (world.scenario.preroll_timeout != seconds(10))
        text += fmt::format("  preroll-timeout {} ns\n", world.scenario.preroll_timeout.ns);
    if (world.interrupt_after)
        text += fmt::format("  interrupted when {} operations of the storage are complete\n",
                            *world.interrupt_after);
    if (world.ranks > 1) text += fmt::format("  on {} computers\n", world.ranks);
    return text;
}

}  // namespace streamsim::worlds
