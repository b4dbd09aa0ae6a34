// Smaller worlds, one step each.
#include <algorithm>
#include <functional>
#include <utility>

#include "worlds/world.h"

namespace streamsim::worlds {
namespace {

/// Collects copies of a world that one step has changed.
class Steps {
public:
    explicit Steps(const RandomWorld& world) : world_(world) {}

    template <typename Change>
    void add(bool useful, Change&& change) {
        if (!useful) return;
        RandomWorld next = world_;
        change(next);
        steps_.push_back(std::move(next));
    }
    std::vector<RandomWorld> take() { return std::move(steps_); }

private:
    const RandomWorld& world_;
    std::vector<RandomWorld> steps_;
};

/// Numbers of seats and streams in rules and faults may name none that are left: harmless, they hit nothing.
void add_seats(const RandomWorld& world, Steps& steps) {
    const auto& groups = world.scenario.seats;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        steps.add(groups.size() > 1, [i](RandomWorld& next) {
            next.scenario.seats.erase(next.scenario.seats.begin() + static_cast<std::ptrdiff_t>(i));
            next.ranks = std::min(next.ranks, next.seats());
            next.scenario.faults.clear();
        });
        steps.add(groups[i].count > 1, [i](RandomWorld& next) {
            next.scenario.seats[i].count /= 2;
            next.ranks = std::min(next.ranks, next.seats());
            std::erase_if(next.scenario.faults, [&](const ScenarioFault& fault) {
                return fault.seat && *fault.seat >= next.seats();
            });
        });
        for (std::size_t k = 0; k < groups[i].streams.size(); ++k) {
            const ScenarioStreams& streams = groups[i].streams[k];
            const bool needed = !world.in_phases && k == 0;  // its options are the run's
            steps.add(groups[i].streams.size() > 1 && !needed, [i, k](RandomWorld& next) {
                auto& all = next.scenario.seats[i].streams;
                all.erase(all.begin() + static_cast<std::ptrdiff_t>(k));
            });
            steps.add(streams.count > 1,
                      [i, k](RandomWorld& next) { next.scenario.seats[i].streams[k].count /= 2; });
        }
    }
}

void add_faults(const RandomWorld& world, Steps& steps) {
    steps.add(!world.faults.rules.empty(), [](RandomWorld& next) { next.faults.rules.clear(); });
    steps.add(!world.faults.stalls.empty(), [](RandomWorld& next) { next.faults.stalls.clear(); });
    steps.add(!world.scenario.faults.empty(), [](RandomWorld& next) { next.scenario.faults.clear(); });
    for (std::size_t i = 0; i < world.faults.rules.size(); ++i) {
        steps.add(true, [i](RandomWorld& next) {
            next.faults.rules.erase(next.faults.rules.begin() + static_cast<std::ptrdiff_t>(i));
        });
    }
    for (std::size_t i = 0; i < world.faults.stalls.size(); ++i) {
        steps.add(true, [i](RandomWorld& next) {
            next.faults.stalls.erase(next.faults.stalls.begin() + static_cast<std::ptrdiff_t>(i));
        });
    }
    for (std::size_t i = 0; i < world.scenario.faults.size(); ++i) {
        steps.add(true, [i](RandomWorld& next) {
            next.scenario.faults.erase(next.scenario.faults.begin() + static_cast<std::ptrdiff_t>(i));
        });
    }
}

void add_cuts(const RandomWorld& world, Steps& steps) {
    steps.add(!world.cuts.empty(), [](RandomWorld& next) { next.cuts.clear(); });
    for (std::size_t i = 0; world.cuts.size() > 1 && i < world.cuts.size(); ++i) {
        steps.add(true, [i](RandomWorld& next) {
            next.cuts.erase(next.cuts.begin() + static_cast<std::ptrdiff_t>(i));
        });
    }
    for (std::size_t i = 0; i < world.cuts.size(); ++i) {
        const DrawnCut& now = world.cuts[i];
        steps.add(now.black > 0, [i](RandomWorld& next) { next.cuts[i].black = 0; });
        steps.add(now.overlap > 0, [i](RandomWorld& next) { next.cuts[i].overlap = 0; });
        steps.add(now.frames > 1, [i](RandomWorld& next) { next.cuts[i].frames /= 2; });
        steps.add(now.first > 0, [i](RandomWorld& next) { next.cuts[i].first /= 2; });
        steps.add(now.speed_num != 1 || now.speed_den != 1,
                  [i](RandomWorld& next) { next.cuts[i].speed_num = next.cuts[i].speed_den = 1; });
    }
}

void add_run_options(const RandomWorld& world, Steps& steps) {
    steps.add(world.ranks > 1, [](RandomWorld& next) { next.ranks = 1; });
    steps.add(world.ranks > 2, [](RandomWorld& next) { next.ranks = 2; });
    steps.add(world.interrupt_after.has_value(), [](RandomWorld& next) { next.interrupt_after.reset(); });
    steps.add(world.interrupt_after.value_or(0) > 1, [](RandomWorld& next) { *next.interrupt_after /= 2; });
    steps.add(world.storage != StorageKind::null, [](RandomWorld& next) {
        next.storage = StorageKind::null;
        next.shipped.clear();
        next.scenario.faults.clear();
        for (ScenarioSeats& seats : next.scenario.seats) {
            seats.nodes.clear();
            seats.link_bits_per_s.reset();
            seats.meters.clear();
        }
    });
    steps.add(world.warm, [](RandomWorld& next) { next.warm = false; });
    steps.add(world.sync && world.multicam == run::MultiCam::none,
              [](RandomWorld& next) { next.sync = false; });
    steps.add(world.multicam != run::MultiCam::none,
              [](RandomWorld& next) { next.multicam = run::MultiCam::none; });
    steps.add(world.round_robin, [](RandomWorld& next) { next.round_robin = false; });
    steps.add(world.stagger.ns > 0, [](RandomWorld& next) { next.stagger = {}; });
    steps.add(world.decode_cpu.ns > 0, [](RandomWorld& next) { next.decode_cpu = {}; });
    steps.add(world.scenario.preroll_timeout != seconds(10),
              [](RandomWorld& next) { next.scenario.preroll_timeout = seconds(10); });
    steps.add(world.scenario.duration.ns > 200'000'000, [](RandomWorld& next) {
        next.scenario.duration.ns /= 2;
        for (ScenarioSeats& seats : next.scenario.seats) {
            seats.end = std::min(seats.end, next.scenario.duration);
            seats.start.ns /= 2;
            seats.one_more_every.ns /= 2;
        }
        std::erase_if(next.scenario.faults,
                      [&](const ScenarioFault& fault) { return fault.at >= next.scenario.duration; });
    });
}

/// Each option of the streams, towards its default.
void add_stream_options(const RandomWorld& world, Steps& steps) {
    const ScenarioStreams plain;
    for (std::size_t i = 0; i < world.scenario.seats.size(); ++i) {
        const ScenarioSeats& seats = world.scenario.seats[i];
        steps.add(!seats.meters.empty(), [i](RandomWorld& next) { next.scenario.seats[i].meters.clear(); });
        steps.add(seats.start.ns > 0, [i](RandomWorld& next) { next.scenario.seats[i].start = {}; });
        steps.add(seats.one_more_every.ns > 0,
                  [i](RandomWorld& next) { next.scenario.seats[i].one_more_every = {}; });
        for (std::size_t k = 0; k < seats.streams.size(); ++k) {
            const ScenarioStreams& now = seats.streams[k];
            const auto set = [&](bool useful, auto&& change) {
                steps.add(useful, [&, i, k](RandomWorld& next) { change(next.scenario.seats[i].streams[k]); });
            };
            set(now.layers > 1, [](ScenarioStreams& next) { next.layers = 1; });
            set(now.order != plain.order, [](ScenarioStreams& next) { next.order = "forward"; });
            set(!now.pattern.empty(), [](ScenarioStreams& next) { next.pattern.clear(); });
            set(now.on_miss != plain.on_miss, [](ScenarioStreams& next) { next.on_miss = "drop"; });
            set(now.same_media, [](ScenarioStreams& next) { next.same_media = false; });
            set(now.durable, [](ScenarioStreams& next) { next.durable = false; });
            set(now.clip_duration.has_value(), [](ScenarioStreams& next) { next.clip_duration.reset(); });
            set(now.start.ns > 0, [](ScenarioStreams& next) { next.start = {}; });
            set(now.one_more_every.ns > 0, [](ScenarioStreams& next) { next.one_more_every = {}; });
            set(now.end.has_value(), [](ScenarioStreams& next) { next.end.reset(); });
            set(now.io_size != 0, [](ScenarioStreams& next) { next.io_size = 0; });
            set(now.io_depth > 1, [](ScenarioStreams& next) { next.io_depth = 1; });
            set(now.inflight > 1, [](ScenarioStreams& next) { next.inflight /= 2; });
            set(now.readahead > 1, [](ScenarioStreams& next) { next.readahead /= 2; });
            set(now.frames.value_or(1000) > 1, [](ScenarioStreams& next) {
                next.frames = std::max<std::uint64_t>(next.frames.value_or(1000) / 2, 1);
            });
        }
    }
}

}  // namespace

std::vector<RandomWorld> smaller(const RandomWorld& world) {
    Steps steps(world);
    add_seats(world, steps);
    add_faults(world, steps);
    add_cuts(world, steps);
    add_run_options(world, steps);
    add_stream_options(world, steps);
    return steps.take();
}

}  // namespace streamsim::worlds
