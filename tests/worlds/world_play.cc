#include "worlds/world_play.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "play/play_path.h"
#include "run/plan/meters.h"
#include "run/plan/scenario_faults.h"
#include "run/scenario_run.h"
#include "target/target.h"

namespace streamsim::worlds {
namespace {

target::Target target_of(const RandomWorld& world) {
    const bool model = world.storage == StorageKind::cluster || world.storage == StorageKind::shipped;
    if (!model) return *target::parse_target("sim:null");
    auto target = *target::parse_target("sim:" + (world.shipped.empty() ? "drawn" : world.shipped));
    target.model = std::make_shared<ClusterModel>(world.model);
    target.warm = world.warm;
    return target;
}

void put_storage(const RandomWorld& world, run::PlayRequest& request) {
    request.target = target_of(world);
    if (world.storage == StorageKind::truth) {
        request.virtual_storage = [spec = world.truth](EventLoop& loop) {
            return test::make_truth_storage(loop, spec);
        };
    }
    if (!world.faults.rules.empty() || !world.faults.stalls.empty()) request.faults = world.faults;
    request.preroll_timeout = world.scenario.preroll_timeout;
    request.keep_frames = true;
    request.keep_histograms = true;
    request.find_cause = world.seed % 8 == 0;
}

void put_settings(const ScenarioStreams& streams, run::PlayRequest& request) {
    request.readahead = streams.readahead;
    request.inflight = streams.inflight;
    request.io_size = streams.io_size;
    request.io_depth = streams.io_depth;
    request.paced = streams.paced;
    request.pattern = play::value_of(play::kPatternWords, streams.pattern);
    request.on_miss = *play::value_of(play::kOnMissWords, streams.on_miss);
    request.order = *play::PlayOrder::parse(streams.order);
    request.rate = streams.rate;
    request.frames = streams.frames;
    request.clip_duration = streams.clip_duration;
    request.layers = streams.layers;
    request.same_media = streams.same_media;
}

run::PlayRequest command_request(const RandomWorld& world) {
    const ScenarioSeats& seats = world.scenario.seats.front();
    const ScenarioStreams& first = seats.streams.front();
    run::PlayRequest request;
    put_storage(world, request);
    put_settings(first, request);
    request.seed = world.scenario.seed;
    request.seats = seats.count;
    request.duration = world.scenario.duration;
    request.streams = first.count;
    if (world.round_robin) request.total_streams = first.count * seats.count;
    request.sync = world.sync;
    request.multicam = world.multicam;
    request.stagger = world.stagger;
    request.decode_cpu = world.decode_cpu;
    for (const ScenarioStreams& streams : seats.streams) {
        if (!streams.records) {
            request.formats.push_back(*streams.format);
            continue;
        }
        request.record.streams = streams.count;
        request.record.formats.push_back(*streams.format);
        request.record.durable = streams.durable;
    }
    return request;
}

/// The pieces as a list of cuts that was read, and whose clips were found, would have them.
CutList cut_list_of(const RandomWorld& world, const run::FoundMedia& media, std::optional<FrameRate> rate) {
    CutList list;
    list.name = "drawn.edl";
    for (const std::vector<Clip>& clips : media.clips)
        list.clips.insert(list.clips.end(), clips.begin(), clips.end());
    list.rate = rate.value_or(list.clips.front().index->rate());
    for (const DrawnCut& each : world.cuts) {
        CutSegment segment;
        segment.clip = static_cast<std::uint32_t>(each.clip % list.clips.size());
        segment.first = static_cast<std::int64_t>(each.first % list.clips[segment.clip].index->count());
        segment.speed_num = each.speed_num;
        segment.speed_den = each.speed_den;
        segment.frames = each.frames;
        // Half of a piece at most: never more than two at one frame.
        const std::uint64_t before = list.segments.empty() ? 0 : list.segments.back().frames;
        const std::uint64_t overlap = std::min({each.overlap, before / 2, each.frames / 2});
        segment.at = list.frames + each.black - (each.black == 0 ? overlap : 0);
        list.frames = segment.at + segment.frames;
        list.segments.push_back(segment);
        ++list.events;
    }
    return list;
}

Result<Staged> stage_command(const RandomWorld& world) {
    Staged staged;
    staged.request = command_request(world);
    auto media = run::find_media(nullptr, staged.request, nullptr);
    if (!media) return media.error();
    if (!world.cuts.empty()) {
        staged.request.order = {play::PlayOrder::Kind::cuts};
        media->cuts = cut_list_of(world, *media, staged.request.rate);
        media->clips.clear();
    }
    staged.parts = run::one_part(staged.request, std::move(*media));
    return staged;
}

Result<Staged> stage_phases(const RandomWorld& world) {
    Staged staged;
    staged.request = run::common_request(world.scenario);
    put_storage(world, staged.request);
    std::vector<run::PlayPart> parts = run::parts_of(world.scenario);
    for (run::PlayPart& part : parts) {
        part.request.target = staged.request.target;
        part.request.virtual_storage = staged.request.virtual_storage;
    }
    auto media = run::find_media(nullptr, std::move(parts), nullptr);
    if (!media) return media.error();
    staged.parts = std::move(*media);
    return staged;
}

/// The streams of a run as they are planned, without the run itself.
std::vector<run::StreamPlan> plans_of(Staged& staged) {
    for (run::PlayPart& part : staged.parts) {
        part.request.first_seat = staged.request.first_seat;
        part.request.own_seats = staged.request.own_seats;
    }
    auto plans = run::plan_parts(staged.parts, 1);
    return plans ? std::move(*plans) : std::vector<run::StreamPlan>();
}

}  // namespace

Result<Staged> stage(const RandomWorld& world) {
    return world.in_phases ? stage_phases(world) : stage_command(world);
}

void play(const RandomWorld& world,
          Played& into,
          std::uint32_t first_seat,
          std::optional<std::uint32_t> own_seats) {
    auto staged = stage(world);
    if (!staged) {
        into.result = staged.error();
        return;
    }
    into.staged = std::move(*staged);
    run::PlayRequest& request = into.staged.request;
    request.first_seat = first_seat;
    request.own_seats = own_seats;
    request.through = into.log.wrapper();
    into.plans = plans_of(into.staged);
    auto session = std::make_unique<run::Session>(
        request, into.staged.parts, world.in_phases ? world.scenario.faults : std::vector<ScenarioFault>(),
        run::ProgramFacts{}, [](const std::string&) {});
    if (world.interrupt_after == 0) session->interrupt();
    into.log.on_completion = [&](std::uint64_t completed) {
        if (world.interrupt_after == completed) session->interrupt();
    };
    into.result = session->execute();
    into.log.on_completion = nullptr;
    into.preroll_took_too_long = session->preroll_took_too_long();
    into.stuck = session->stuck();
    // Operations that hang have its memory: a process of streamsim ends then without destroying it.
    if (into.stuck) (void)session.release();
}

}  // namespace streamsim::worlds
