#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "scenario/reading.h"

namespace streamsim::scenario {
namespace {

using Kind = ScenarioFault::Kind;

/// The members of each kind besides "kind" and "at".
struct Members {
    const char* word;
    Kind kind;
    bool model;  // only there
    std::initializer_list<std::string_view> required;
    std::initializer_list<std::string_view> allowed;
};

const Members known_kinds[] = {
    {"throughput-gap", Kind::throughput_gap, false, {"for"}, {"node"}},
    {"silence", Kind::throughput_gap, false, {"for"}, {"node"}},  // its name in documents of 0.1.0
    {"delays", Kind::delays, false, {"for", "delay"}, {"seat", "stream", "probability"}},
    {"errors", Kind::errors, false, {"for", "error"}, {"seat", "stream", "probability"}},
    {"drive-dies", Kind::drive_dies, true, {"node", "drive"}, {}},
    {"node-lost", Kind::node_lost, true, {"node", "failover"}, {}},
    {"link-slows", Kind::link_slows, true, {"factor"}, {"seat", "node", "for"}},
    {"cache-flush", Kind::cache_flush, true, {}, {"node"}},
};

/// One fault.
class FaultReader {
public:
    FaultReader(ScenarioReading& reading, const Json& value, std::string pointer)
        : reading_(reading), pointer_(std::move(pointer)), object_(value, pointer_, reading.problems) {}

    void read() {
        const auto word = object_.string("kind");
        read_at();
        if (!word) return;
        for (const Members& each : known_kinds) {
            if (*word == each.word) members_ = &each;
        }
        if (members_ == nullptr) {
            object_.problem("kind", fmt::format("expected one of throughput-gap, delays, errors, drive-dies, "
                                                "node-lost, link-slows, cache-flush, found \"{}\"",
                                                *word));
            return;
        }
        fault_.kind = members_->kind;
        read_numbers();
        read_rest();
        check_storage(*word);
        object_.finish();
        reading_.scenario.faults.push_back(fault_);
    }

private:
    bool wants(std::string_view key) const { return has(members_->allowed, key) || needs(key); }
    bool needs(std::string_view key) const { return has(members_->required, key); }
    static bool has(std::initializer_list<std::string_view> keys, std::string_view key) {
        return std::find(keys.begin(), keys.end(), key) != keys.end();
    }

    void read_at() {
        const auto at = read_scenario_time(object_, "at", true);
        if (!at) return;
        fault_.at = *at;
        const Duration end = reading_.scenario.duration;
        if (end.ns > 0 && *at >= end) {
            object_.problem("at", fmt::format("never happens: the run ends after {}", show_duration(end)));
        }
    }

    void read_number(const char* key, std::optional<std::uint32_t>& into) {
        if (!wants(key)) return;
        const auto number = object_.integer(key, 0, UINT32_MAX, needs(key));
        if (number) into = static_cast<std::uint32_t>(*number);
    }

    void read_numbers() {
        read_number("node", fault_.node);
        read_number("drive", fault_.drive);
        read_number("seat", fault_.seat);
        read_number("stream", fault_.stream);
        const bool seats = reading_.seats > 0;  // otherwise a problem of its own
        if (seats && fault_.seat && *fault_.seat >= reading_.seats) {
            object_.problem("seat", fmt::format("there is none: the last is {}", reading_.seats - 1));
        } else if (seats && fault_.seat && fault_.stream) {
            const std::uint64_t streams = reading_.streams_of(*fault_.seat);
            if (streams > 0 && *fault_.stream >= streams)
                object_.problem("stream", fmt::format("there is none: the seat's last is {}", streams - 1));
        }
        if (fault_.stream && !fault_.seat) object_.problem("stream", "is one of a seat: give \"seat\"");
        if (fault_.node) check_node(reading_, object_.pointer_of("node"), *fault_.node);
        const std::uint32_t drives = reading_.target ? reading_.target->drives : 0;
        if (fault_.drive && drives > 0 && *fault_.drive >= drives) {
            object_.problem("drive", fmt::format("there is none: a node's last is {}", drives - 1));
        }
        if (fault_.kind == Kind::link_slows && fault_.node.has_value() == fault_.seat.has_value()) {
            reading_.problems.add(pointer_, "slows one link: give \"seat\" or \"node\"");
        }
    }

    void read_rest() {
        if (wants("for")) fault_.length = read_scenario_length(object_, "for", needs("for"));
        if (wants("failover")) fault_.length = read_scenario_time(object_, "failover", true);
        if (wants("factor")) fault_.factor = object_.number("factor", 1e-6, 1).value_or(1);
        if (wants("probability")) fault_.probability = object_.number("probability", 0, 1, false).value_or(1);
        if (wants("delay")) fault_.delay = read_scenario_time(object_, "delay", true).value_or(Duration{});
        if (wants("error")) {
            fault_.error = object_.string("error").value_or("EIO");
            note_problems(object_, "error", reading_.words.error_name(fault_.error));
        }
    }

    /// Faults of model parts exist on models only.
    void check_storage(const std::string& word) {
        const bool of_frames = fault_.kind == Kind::delays || fault_.kind == Kind::errors;
        if (of_frames && !reading_.deadlines) {
            object_.problem("kind", fmt::format("{} hit the frames that are due at a time, and some streams "
                                                "have no deadlines (\"fps\": \"max\")",
                                                word));
        }
        if (!reading_.target || reading_.on(ScenarioTarget::Kind::model)) return;
        if (members_->model) {
            object_.problem(
                "kind",
                fmt::format("{} happens on a model only; on {} there are throughput-gap, delays and errors",
                            word, reading_.target->storage));
        }
    }

    ScenarioReading& reading_;
    std::string pointer_;
    JsonObject object_;
    const Members* members_ = nullptr;
    ScenarioFault fault_;
};

}  // namespace

void check_node(ScenarioReading& reading, const std::string& pointer, std::uint32_t node) {
    if (!reading.target) return;
    if (!reading.on(ScenarioTarget::Kind::model)) {
        reading.problems.add(pointer, fmt::format("only a model has nodes, not {}", reading.target->storage));
    } else if (reading.target->nodes > 0 && node >= reading.target->nodes) {
        reading.problems.add(pointer, fmt::format("there is no node {}: the last of {} is {}", node,
                                                  reading.target->storage, reading.target->nodes - 1));
    }
}

void read_scenario_faults(ScenarioReading& reading, JsonObject& document) {
    read_scenario_array(document, "faults", false, [&](const Json& value, const std::string& pointer) {
        FaultReader(reading, value, pointer).read();
    });
}

}  // namespace streamsim::scenario
