#include "scenario/scenario_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "scenario/before_step.h"
#include "scenario/reading.h"

namespace streamsim::scenario {
namespace {

constexpr std::int64_t kSeatsMax = 100'000;
constexpr std::int64_t kStreamsMax = 1'000'000;

std::string length_of(const std::optional<Duration>& clips) {
    return clips ? show_duration(*clips) : "any length";
}

/// All streams share the clips of one format in one place; clips of several lengths could not be told apart.
void check_length(ScenarioReading& reading,
                  JsonObject& object,
                  const std::string& pointer,
                  const ScenarioStreams& streams) {
    for (const ScenarioReading::Made& other : reading.made) {
        if (other.place != reading.place || other.format != streams.format->name) continue;
        if (other.clip_duration == streams.clip_duration) continue;
        object.problem(
            "clip_duration",
            fmt::format("the clips of {} in one place are of one length: here of {}, in {} of {}", other.format,
                        length_of(streams.clip_duration), other.pointer, length_of(other.clip_duration)));
        return;
    }
    reading.made.push_back({reading.place, streams.format->name, streams.clip_duration, pointer});
}

/// The media of two formats of one name could not be told apart.
std::optional<MediaFormat> read_format(ScenarioReading& reading, JsonObject& object, bool required) {
    auto read = read_word(object, "format", required, reading.words.format);
    if (!read) return std::nullopt;
    const std::string& name = read->format.name;
    const ScenarioReading::NamedFormat own{read->identity, object.pointer_of("format")};
    const ScenarioReading::NamedFormat& first = reading.formats.emplace(name, own).first->second;
    if (first.identity != own.identity) {
        object.problem("format", fmt::format("two formats have the name {}, this one and that of {}: give one "
                                             "of them another \"name\"",
                                             name, first.pointer));
    }
    return std::move(read->format);
}

void read_media(ScenarioReading& reading,
                JsonObject& object,
                const std::string& pointer,
                ScenarioStreams& streams) {
    const bool files = reading.on(ScenarioTarget::Kind::files);
    const bool known = reading.target.has_value();
    streams.format = read_format(reading, object, known && !files);
    streams.layers = read_count(object, "layers", 64, 1);
    streams.audio = object.boolean("audio", false).value_or(false);
    if (streams.audio && (streams.format || (known && !files)))
        object.problem("audio", "is read from real clips only: media that are made for a format have none");
    streams.clip_duration = read_scenario_length(object, "clip_duration", false);
    streams.same_media = object.one_of("media", {"own", "same"}, false) == "same";
    const bool laid_out = files || reading.on(ScenarioTarget::Kind::model);
    if (laid_out && streams.format) check_length(reading, object, pointer, streams);
}

void read_rate(ScenarioReading& reading, JsonObject& object, ScenarioStreams& streams) {
    const auto frames = object.integer("frames", 1, 1'000'000'000, false);
    if (frames) streams.frames = static_cast<std::uint64_t>(*frames);
    const auto text = object.string("fps", false);
    if (!text) return;
    if (*text == "max") {
        streams.paced = false;
        reading.deadlines = false;
        if (reading.on(ScenarioTarget::Kind::null_virtual) && !frames) {
            object.problem("fps", "max on sim:null takes no time at all and would never end: give \"frames\"");
        }
        return;
    }
    const auto rate = FrameRate::parse(*text);
    if (rate) {
        streams.rate = *rate;
    } else {
        object.problem("fps", rate.error().problems.front() + ", or max");
    }
}

void read_io_size(JsonObject& object, ScenarioStreams& streams) {
    const auto text = object.string("io_size", false);
    if (!text) return;
    if (*text == "frame") {
        streams.io_size = 0;
        return;
    }
    const auto size = parse_size(*text);
    if (!size) {
        object.problem("io_size", size.error().problems.front() + ", or frame");
    } else if (*size < 512 || *size > (1ull << 30)) {
        object.problem("io_size", fmt::format("expected 512B to 1GiB, or frame, found {}", *text));
    } else {
        streams.io_size = *size;
    }
}

void read_window(ScenarioReading& reading, JsonObject& object, ScenarioStreams& streams) {
    streams.readahead = read_count(object, "readahead", 10'000, streams.readahead);
    streams.inflight = read_count(object, "inflight", 10'000, streams.inflight);
    streams.io_depth = read_count(object, "io_depth", 1024, streams.io_depth);
    read_io_size(object, streams);
    read_rate(reading, object, streams);
}

void read_playing(ScenarioReading& reading, JsonObject& object, ScenarioStreams& streams) {
    if (const auto order = object.string("order", false)) {
        streams.order = *order;
        note_problems(object, "order", reading.words.order(*order));
    }
    streams.pattern =
        object.one_of("pattern", {"filename-prefetch", "streaming", "on-demand"}, false).value_or("");
    streams.on_miss = object.one_of("on_miss", {"drop", "skip", "hold", "stall"}, false).value_or("drop");
    read_window(reading, object, streams);
}

/// A recording has a format, and no clip of its own to begin with.
void read_recording(ScenarioReading& reading, JsonObject& object, ScenarioStreams& streams) {
    streams.records = true;
    streams.format = read_format(reading, object, true);
    streams.durable = object.boolean("durable", false).value_or(false);
    streams.on_miss = object.one_of("on_miss", {"drop", "stall"}, false).value_or("drop");
    read_window(reading, object, streams);
}

Phase read_phase(JsonObject& object) {
    Phase phase;
    phase.start = read_scenario_time(object, "start", false).value_or(Duration{});
    phase.one_more_every = read_scenario_time(object, "one_more_every", false).value_or(Duration{});
    phase.end = read_scenario_length(object, "stop", false);
    if (phase.end && phase.end->ns == 0) phase.end.reset();
    return phase;
}

/// `longest`: from the start of the last seat to the end of all; `record`: they write.
void read_streams(ScenarioReading& reading,
                  const Json& value,
                  const std::string& pointer,
                  Duration longest,
                  bool record,
                  ScenarioSeats& seats) {
    JsonObject object(value, pointer, reading.problems);
    ScenarioStreams streams;
    streams.count = read_count(object, "count", 100'000, 1);
    if (record) {
        read_recording(reading, object, streams);
    } else {
        read_media(reading, object, pointer, streams);
        read_playing(reading, object, streams);
    }
    const Phase phase = read_phase(object);
    streams.start = phase.start;
    streams.one_more_every = phase.one_more_every;
    streams.end = phase.end;
    check_begins(object, phase, streams.count, std::min(longest, phase.end.value_or(longest)));
    object.finish();
    seats.streams.push_back(std::move(streams));
}

/// A workload by name or file, or one that is written here.
void read_meter_of_seats(ScenarioReading& reading,
                         const Json& value,
                         const std::string& pointer,
                         Duration longest,
                         ScenarioSeats& seats) {
    JsonObject object(value, pointer, reading.problems);
    ScenarioMeter meter;
    meter.workload = read_word(object, "workload", true, reading.words.workload).value_or(Workload{});
    meter.scale = object.number("scale", 0.000001, 1000, false).value_or(1);
    Phase phase = read_phase(object);
    if (std::exchange(phase.one_more_every, {}).ns > 0)
        object.problem("one_more_every",
                       "is for streams: the document of a workload says when its users begin");
    meter.start = phase.start;
    meter.end = phase.end;
    check_begins(object, phase, 1, std::min(longest, phase.end.value_or(longest)));
    object.finish();
    seats.meters.push_back(std::move(meter));
}

void read_nodes(ScenarioReading& reading, JsonObject& object, ScenarioSeats& seats) {
    const Json* value = object.member("node", false);
    if (value == nullptr) return;
    const auto take = [&](const Json& number, const std::string& pointer) {
        if (!number.is_number_unsigned() || number.get<std::uint64_t>() > UINT32_MAX) {
            reading.problems.add(
                pointer, fmt::format("expected the number of a node, from 0, found {}", json_text(number)));
            return;
        }
        seats.nodes.push_back(number.get<std::uint32_t>());
        check_node(reading, pointer, seats.nodes.back());
    };
    const std::string pointer = object.pointer_of("node");
    if (!value->is_array()) {
        take(*value, pointer);
        return;
    }
    if (value->empty()) reading.problems.add(pointer, "expected at least one node");
    std::size_t i = 0;
    for (const Json& each : *value) take(each, fmt::format("{}/{}", pointer, i++));
}

void read_link(ScenarioReading& reading, JsonObject& object, ScenarioSeats& seats) {
    const Json* value = object.member("link", false);
    if (value == nullptr) return;
    JsonObject link(*value, object.pointer_of("link"), reading.problems);
    seats.link_bits_per_s = link.number("bits_per_s", 1, 1e15, false);
    seats.link_efficiency = link.number("efficiency", 0.01, 1, false);
    seats.link_latency = read_scenario_time(link, "latency", false);
    link.finish();
    if (reading.target && !reading.on(ScenarioTarget::Kind::model)) {
        object.problem("link", fmt::format("only a model has one to choose, not {}", reading.target->storage));
    }
}

/// All targets are on the storage of the first: a run has one storage and one clock.
void read_target(ScenarioReading& reading, JsonObject& object, ScenarioSeats& seats) {
    auto text = object.string("target", false);
    if (!text && object.has("target")) return;  // it is no text
    if (!text && reading.words.target_of_command.empty()) {
        if (!std::exchange(reading.lacks_target, true))
            object.problem("target", "missing: give the storage as TARGET on the command line, or here");
        return;
    }
    seats.target = text ? *text : reading.words.target_of_command;
    text = seats.target;
    auto target = reading.words.target(*text);
    if (!target) return note_problems(object, "target", target);
    reading.place = target->place;
    if (!reading.target) {
        reading.target = std::move(*target);
    } else if (reading.target->storage != target->storage) {
        object.problem("target", fmt::format("the seats of a run have one storage in common: this is on {} and "
                                             "those before are on {}",
                                             target->storage, reading.target->storage));
    }
}

void read_seats(ScenarioReading& reading, const Json& value, const std::string& pointer) {
    JsonObject object(value, pointer, reading.problems);
    ScenarioSeats seats;
    seats.count = read_count(object, "count", kSeatsMax, 1);
    read_target(reading, object, seats);
    read_nodes(reading, object, seats);
    read_link(reading, object, seats);
    const Phase phase = read_phase(object);
    const Duration all = reading.scenario.duration;
    if (phase.end && all.ns > 0 && *phase.end > all)
        object.problem("stop", fmt::format("is after the end of the run ({})", show_duration(all)));
    seats.start = phase.start;
    seats.one_more_every = phase.one_more_every;
    seats.end = std::min(phase.end.value_or(all), all);
    check_begins(object, phase, seats.count, seats.end);
    // For its last seat, which has the least time; no more than a problem is made of it.
    const std::int64_t ramp = seats.one_more_every.ns == 0 ? 0
                              : seats.count - 1 > kScenarioLongest.ns / seats.one_more_every.ns
                                  ? kScenarioLongest.ns
                                  : seats.one_more_every.ns * (seats.count - 1);
    const Duration left = seats.end - seats.start - Duration{ramp};
    const bool records = object.has("recorders");
    const bool meters = object.has("meters");
    if (reading.target && reading.place != reading.target->place) {
        for (const char* key : {"recorders", "meters"}) {
            if (object.has(key))
                object.problem(key, "are only for seats on the first target of the document, which they use");
        }
    }
    read_scenario_array(object, "streams", !records && !meters, [&](const Json& each, const std::string& at) {
        read_streams(reading, each, at, left, false, seats);
    });
    read_scenario_array(object, "recorders", records, [&](const Json& each, const std::string& at) {
        read_streams(reading, each, at, left, true, seats);
    });
    read_scenario_array(object, "meters", meters, [&](const Json& each, const std::string& at) {
        read_meter_of_seats(reading, each, at, left, seats);
    });
    object.finish();
    reading.seats += seats.count;
    reading.scenario.seats.push_back(std::move(seats));
}

void check_sizes(ScenarioReading& reading, JsonObject& object) {
    std::uint64_t streams = 0;
    for (const ScenarioSeats& seats : reading.scenario.seats) {
        for (const ScenarioStreams& each : seats.streams) streams += std::uint64_t{seats.count} * each.count;
    }
    const auto loads = [](const ScenarioSeats& seats) {
        return seats.streams.empty() && !seats.meters.empty();
    };
    const auto& all = reading.scenario.seats;
    if (!all.empty() && std::all_of(all.begin(), all.end(), loads))
        object.problem("seats", "nothing plays or records: for meters alone run their workload");
    if (reading.seats > kSeatsMax)
        object.problem("seats", fmt::format("{} seats are more than {}", reading.seats, kSeatsMax));
    if (streams > kStreamsMax)
        object.problem("seats", fmt::format("{} streams are more than {}", streams, kStreamsMax));
}

std::optional<ScenarioExpectation::Bounds> read_bounds(JsonObject& object, const std::string& key) {
    const Json* value = object.member(key, false);
    if (value == nullptr) return std::nullopt;
    if (value->is_array() && value->size() == 2 && (*value)[0].is_number_unsigned() &&
        (*value)[1].is_number_unsigned() && (*value)[0] <= (*value)[1]) {
        return ScenarioExpectation::Bounds{(*value)[0].get<std::uint64_t>(), (*value)[1].get<std::uint64_t>()};
    }
    object.problem(
        key, fmt::format("expected the least and the most, such as [10, 14], found {}", json_text(*value)));
    return std::nullopt;
}

void read_expectation(ScenarioReading& reading, JsonObject& document) {
    const Json* value = document.member("expect", false);
    if (value == nullptr) return;
    JsonObject object(*value, "/expect", reading.problems);
    ScenarioExpectation expect;
    expect.effect = object.string("effect").value_or("");
    expect.plays = object.boolean("plays", false);
    expect.limit = object.one_of(
        "limit", {"none", "storage", "network", "client-cpu", "client-scheduling", "media", "unknown"}, false);
    expect.dropped = read_bounds(object, "dropped");
    expect.late = read_bounds(object, "late");
    expect.failed = read_bounds(object, "failed");
    expect.stalls = read_bounds(object, "stalls");
    object.finish();
    reading.scenario.expect = std::move(expect);
}

}  // namespace

std::uint64_t ScenarioReading::streams_of(std::uint64_t seat) const {
    for (const ScenarioSeats& group : scenario.seats) {
        if (seat >= group.count) {
            seat -= group.count;
            continue;
        }
        std::uint64_t streams = 0;
        for (const ScenarioStreams& each : group.streams) streams += each.count;
        return streams;
    }
    return 0;
}

Result<Scenario> read_scenario(std::string_view text, const std::string& source, const ScenarioWords& words) {
    const auto document = parse_json(text, source);
    if (!document) return document.error();
    JsonProblems problems(source);
    ScenarioReading reading{words, problems, {}, {}};
    JsonObject object(*document, "", problems);
    check_schema(object, "streamsim.scenario", 1);
    reading.scenario.source = source;
    reading.scenario.description = object.string("description", false).value_or("");
    const auto seed = object.integer("seed", 0, INT64_MAX, false);
    if (seed) reading.scenario.seed = static_cast<std::uint64_t>(*seed);
    reading.scenario.duration = read_scenario_length(object, "duration", true).value_or(Duration{});
    if (const auto timeout = read_scenario_length(object, "preroll_timeout", false))
        reading.scenario.preroll_timeout = *timeout;
    reading.scenario.before_step = read_before_step(object, problems);
    read_scenario_array(object, "seats", true, [&](const Json& value, const std::string& pointer) {
        read_seats(reading, value, pointer);
    });
    check_sizes(reading, object);
    read_scenario_faults(reading, object);
    read_expectation(reading, object);
    object.finish();
    if (!problems.empty()) return problems.error();
    return std::move(reading.scenario);
}

}  // namespace streamsim::scenario
