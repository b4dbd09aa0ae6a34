#include "run/scenario_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/prng.h"
#include "base/system/errno_name.h"
#include "play/play_path.h"
#include "run/backends/cluster_faults.h"
#include "run/plan/media_plan.h"
#include "run/plan/meters.h"
#include "scenario/workload_steps.h"
#include "target/allowed_places.h"
#include "target/named_documents.h"
#include "target/target_locations.h"

namespace streamsim::run {
namespace {

PlayRequest request_of(const Scenario& scenario, const ScenarioSeats& seats, const ScenarioStreams& streams) {
    PlayRequest request;
    request.target = *target::parse_target(seats.target);  // REQUIRES: it was read with these words
    if (streams.records) {
        request.streams = 0;
        request.record.streams = streams.count;
        request.record.formats.push_back(*streams.format);
        request.record.durable = streams.durable;
    } else {
        if (streams.format) request.formats.push_back(*streams.format);
        request.streams = streams.count;
    }
    request.seats = seats.count;
    request.same_media = streams.same_media;
    request.order = *play::PlayOrder::parse(streams.order);
    request.layers = streams.layers;
    request.audio = streams.audio;
    request.rate = streams.rate;
    request.paced = streams.paced;
    request.duration = scenario.duration;
    request.frames = streams.frames;
    request.clip_duration = streams.clip_duration;
    request.pattern = play::value_of(play::kPatternWords, streams.pattern);
    request.readahead = streams.readahead;
    request.inflight = streams.inflight;
    request.io_size = streams.io_size;
    request.io_depth = streams.io_depth;
    request.on_miss = play::value_of(play::kOnMissWords, streams.on_miss).value_or(play::OnMiss::drop);
    request.seed = scenario.seed;
    return request;
}

/// Times in the workload's document count from the meter's own start.
void add_meters(const ScenarioSeats& seats,
                const ScenarioMeter& meter,
                std::uint32_t first_seat,
                std::vector<MeterPart>& into) {
    const Duration begin = seats.start + meter.start;
    for (MeterPart& part : meters_of(scenario::scaled(meter.workload, meter.scale), first_seat, seats.count)) {
        MeterSpec& spec = part.spec;
        spec.start += begin;
        if (spec.end) *spec.end += begin;
        if (meter.end) {
            const Duration end = seats.start + *meter.end;
            spec.end = std::min(spec.end.value_or(end), end);
        }
        part.one_more_every = seats.one_more_every;
        part.all_end = seats.end;
        into.push_back(std::move(part));
    }
}

/// The options and the user of a file server's URL, as far as they are not the usual ones.
std::string options_of(const RemotePlace& place) {
    const bool nfs = place.protocol == RemotePlace::Protocol::nfs;
    const RemotePlace usual =
        *target::parse_remote_target(nfs ? "nfs://host/export" : "smb://host/share")->remote;
    std::string out;
    const auto add = [&out](const char* name, bool given, const auto& value) {
        if (given) out += fmt::format("{}{}={}", out.empty() ? "?" : "&", name, value);
    };
    add("domain", !place.domain.empty(), place.domain);
    add("user", !place.user.empty(), place.user);
    add("addresses", !place.addresses.empty(), fmt::to_string(fmt::join(place.addresses, ",")));
    add(nfs ? "nfsport" : "port", place.port != usual.port, place.port);
    add("mountport", place.mount_port != usual.mount_port, place.mount_port);
    add("version", place.version.has_value(), place.version.value_or(0));
    add("connections", place.connections != usual.connections, place.connections);
    add("rsize", place.read_bytes != usual.read_bytes, place.read_bytes);
    add("uid", place.uid.has_value(), place.uid.value_or(0));
    add("gid", place.gid.has_value(), place.gid.value_or(0));
    add("timeout", place.timeout != usual.timeout,
        fmt::format("{}s", static_cast<double>(place.timeout.ns) / 1e9));
    return out;
}

}  // namespace

scenario::ScenarioWords scenario_words(const media::Catalogue& catalogue, const std::string& formats) {
    scenario::ScenarioWords words;
    words.format = [&catalogue](const std::string& typed) -> Result<scenario::ScenarioFormat> {
        auto opened = media::open_format(catalogue, typed, target::named_files_are_read());
        if (!opened) return opened.error();
        const std::string identity = json_text(media::format_identity(opened->format));
        return scenario::ScenarioFormat{std::move(opened->format), identity};
    };
    words.target = [models =
                        formats + "/storage"](const std::string& typed) -> Result<scenario::ScenarioTarget> {
        auto target = target::parse_target(typed);
        if (!target) return target.error();
        switch (target->kind) {
            case target::Target::Kind::null:
                return scenario::ScenarioTarget{scenario::ScenarioTarget::Kind::null, target->url};
            case target::Target::Kind::null_virtual:
                return scenario::ScenarioTarget{scenario::ScenarioTarget::Kind::null_virtual, target->url};
            case target::Target::Kind::model: {
                if (auto opened = open_model(*target, models); !opened) return opened.error();
                const ClusterModel& model = *target->model;
                return scenario::ScenarioTarget{scenario::ScenarioTarget::Kind::model, target->url, model.nodes,
                                                model.node.drives};
            }
            case target::Target::Kind::remote: {
                // One export or share, named by the first folder of the path, is one storage; all its seats
                // have the options of the first.
                const std::string name = target->name();
                const std::size_t first = name.find('/', name.find("://") + 3);
                return scenario::ScenarioTarget{
                    .kind = scenario::ScenarioTarget::Kind::files,
                    .storage =
                        "files of " + name.substr(0, name.find('/', first + 1)) + options_of(*target->remote),
                    .place = target::location_of(*target)};
            }
            case target::Target::Kind::local: break;
        }
        return scenario::ScenarioTarget{.kind = scenario::ScenarioTarget::Kind::files,
                                        .storage = "real files",
                                        .place = target::location_of(*target)};
    };
    words.workload = [directory = formats + "/workload"](const std::string& typed) {
        return target::open_workload(typed, directory);
    };
    words.order = [](const std::string& typed) -> Result<void> {
        const auto order = play::PlayOrder::parse(typed);
        if (order && order->kind != play::PlayOrder::Kind::cuts) return {};
        if (!order && typed.starts_with("shuttle")) return order.error();
        return bad_input(
            fmt::format("expected forward, reverse, ping-pong, shuttle:N, scrub or random, found '{}'", typed));
    };
    words.error_name = [](const std::string& name) -> Result<void> {
        if (errno_from_name(name)) return {};
        return bad_input(fmt::format("expected the name of an error such as EIO, found {}", name));
    };
    return words;
}

PlayRequest common_request(const Scenario& scenario) {
    const auto first = std::find_if(scenario.seats.begin(), scenario.seats.end(),
                                    [](const ScenarioSeats& seats) { return !seats.streams.empty(); });
    PlayRequest request = request_of(scenario, *first, first->streams.front());
    request.target = *target::parse_target(scenario.seats.front().target);  // of all recorders and meters
    request.paced = false;
    request.record = {};
    request.seats = 0;
    request.preroll_timeout = scenario.preroll_timeout;
    for (const ScenarioSeats& seats : scenario.seats) {
        for (const ScenarioStreams& streams : seats.streams) request.paced |= streams.paced;
        request.seats += seats.count;
        for (std::uint32_t i = 0; i < seats.count; ++i) {
            SeatSetting setting{std::nullopt, seats.link_bits_per_s, seats.link_efficiency, seats.link_latency};
            if (!seats.nodes.empty()) setting.node = seats.nodes[i % seats.nodes.size()];
            request.seat_settings.push_back(setting);
        }
    }
    std::uint32_t first_seat = 0;
    for (const ScenarioSeats& seats : scenario.seats) {
        for (const ScenarioMeter& meter : seats.meters) add_meters(seats, meter, first_seat, request.meters);
        first_seat += seats.count;
    }
    for (const ScenarioFault& fault : scenario.faults) {
        if (is_of_model(fault)) request.model_faults.push_back(fault);
    }
    return request;
}

std::vector<PlayPart> parts_of(const Scenario& scenario) {
    std::vector<PlayPart> parts;
    std::uint32_t first_seat = 0;
    for (const ScenarioSeats& seats : scenario.seats) {
        std::uint32_t first_stream = 0;
        for (const ScenarioStreams& streams : seats.streams) {
            PlayPart part;
            part.request = request_of(scenario, seats, streams);
            part.order_seed = derive_seed(scenario.seed, parts.size());
            part.schedule =
                PartSchedule{first_seat, first_stream,
                             [&seats, &streams](std::uint32_t seat, std::uint32_t stream) {
                                 return seats.start_of(seat, streams, stream);
                             },
                             [&seats, &streams](std::uint32_t seat) { return seats.end_of(seat, streams); }};
            parts.push_back(std::move(part));
            first_stream += streams.count;
        }
        first_seat += seats.count;
    }
    return parts;
}

Result<void> open_model(PlayRequest& common, std::vector<PlayPart>& parts, const std::string& models) {
    if (common.target.kind != target::Target::Kind::model) return {};
    if (auto opened = open_model(common.target, models); !opened) return opened;
    for (PlayPart& part : parts) part.request.target = common.target;  // all are on this one
    return {};
}

}  // namespace streamsim::run
