#include "run/scenario_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/prng.h"
#include "base/system/errno_name.h"
#include "base/system/utf8_path.h"
#include "base/units.h"
#include "play/play_path.h"
#include "run/scenario_faults.h"
#include "run/session/workloads.h"
#include "scenario/workload_steps.h"
#include "target/models.h"

namespace streamsim::run {
namespace {

play::

    OnMiss
    on_miss_of(const std::string& word) {
    if (word == "hold") return play::OnMiss::hold;
    return word == "stall" ? play::OnMiss::stall : play::OnMiss::drop;
}

std::optional<play::AccessPattern> pattern_of(const std::string& word) {
    if (word == "filename-prefetch") return play::AccessPattern::filename_prefetch;
    if (word == "streaming") return play::AccessPattern::streaming;
    if (word == "on-demand") return play::AccessPattern::on_demand;
    return std::nullopt;
}

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
    request.pattern = pattern_of(streams.pattern);
    request.readahead = streams.readahead;
    request.inflight = streams.inflight;
    request.io_size = streams.io_size;
    request.io_depth = streams.io_depth;
    request.on_miss = on_miss_of(streams.on_miss);
    request.seed = scenario.seed;
    return request;
}

/// Times of its document count from its own start.
void add_meters(const ScenarioSeats& seats,
                const ScenarioMeter& meter,
                std::uint32_t first_seat,
                std::vector<MeterPart>& into) {
    const Duration begin = seats.start + meter.start;
    const Duration end = meter.end ? std::min(seats.end, seats.start + *meter.end) : seats.end;
    for (MeterPart& part : meters_of(scenario::scaled(meter.workload, meter.scale), first_seat, seats.count)) {
        part.spec.end = part.spec.end ? std::min(begin + *part.spec.end, end) : end;
        part.spec.start = part.spec.start + begin;
        into.push_back(std::move(part));
    }
}

/// Parts whose clips are of one kind and in one place.
struct Pool {
    PlayRequest request;  // for all of their clips at once
    std::vector<std::size_t> parts;
    std::uint32_t own = 0;  // clips that one stream alone has
    bool shared = false;    // and one before them that all others have
};

/// Equal where two targets are the same directory or clip.
std::string place_of(const target::Target& target) {
    if (target.kind != target::Target::Kind::local) return target.url;
    std::error_code error;
    const auto path = std::filesystem::weakly_canonical(utf8_path(target.path), error);
    if (error) return target.path;
    return (path.has_filename() ? path : path.parent_path()).string();  // "media/" is "media"
}

bool same_pool(const PlayRequest& a, const PlayRequest& b) {
    if (place_of(a.target) != place_of(b.target) || a.audio != b.audio || a.formats.size() != b.formats.size())
        return false;
    if (a.formats.empty()) return true;
    return a.formats.front().name == b.formats.front().name && a.clip_duration == b.clip_duration;
}

/// That a planned clip has to have; 0 where it does not matter.
std::uint64_t frames_over(const PlayRequest& request) {
    return request.target.model != nullptr ? frames_of_play(request, request.formats.front()) : 0;
}

std::vector<Pool> pools_of(const std::vector<PlayPart>& parts) {
    std::vector<Pool> pools;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const PlayRequest& request = parts[i].request;
        if (request.record.streams > 0) continue;
        auto pool = std::find_if(pools.begin(), pools.end(),
                                 [&request](const Pool& each) { return same_pool(each.request, request); });
        if (pool == pools.end()) {
            pool = pools.insert(pool, Pool{});
            pool->request = request;
        } else if (frames_over(request) > frames_over(pool->request)) {
            pool->request = request;  // its clips are long enough for all
        }
        pool->parts.push_back(i);
        pool->shared |= request.same_media;
        if (!request.same_media) pool->own += clips_needed(request);
    }
    for (Pool& pool : pools) {
        pool.request.seats = 1;
        pool.request.layers = 1;
        pool.request.same_media = false;
        pool.request.total_streams = pool.own + (pool.shared ? 1 : 0);
    }
    return pools;
}

/// REQUIRES: `clips` are as many as the pool needs.
void hand_out(const Pool& pool, const std::vector<Clip>& clips, std::vector<PlayPart>& parts) {
    std::size_t next = pool.shared ? 1 : 0;
    for (const std::size_t i : pool.parts) {
        const std::size_t needed = clips_needed(parts[i].request);
        const std::size_t first = parts[i].request.same_media ? 0 : next;
        const auto begin = clips.begin() + static_cast<std::ptrdiff_t>(first);
        parts[i].media.clips.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(needed));
        if (!parts[i].request.same_media) next += needed;
    }
}

void compare(std::vector<std::string>& out,
             const char* what,
             const std::optional<ScenarioExpectation::Bounds>& expected,
             std::uint64_t found) {
    if (!expected || (found >= expected->min && found <= expected->max)) return;
    out.push_back(fmt::format("{} {}, and {} to {} were expected", show_count(found), what,
                              show_count(expected->min), show_count(expected->max)));
}

}  // namespace

scenario::

    ScenarioWords
    scenario_words(const media::Catalogue& catalogue, const std::string& formats) {
    scenario::ScenarioWords words;
    words.format = [&catalogue](const std::string& typed) -> Result<MediaFormat> {
        auto opened = media::open_format(catalogue, typed);
        if (!opened) return opened.error();
        return std::move(opened->format);
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
                if (auto opened = target::open_model(*target, models); !opened) return opened.error();
                const ClusterModel& model = *target->model;
                return scenario::ScenarioTarget{scenario::ScenarioTarget::Kind::model, target->url, model.nodes,
                                                model.node.drives};
            }
            case target::Target::Kind::remote: {
                // One storage, which has one export or share mounted: that of the first folder of the path.
                const std::string name = target->name();
                const std::size_t first = name.find('/', name.find("://") + 3);
                return scenario::ScenarioTarget{
                    .kind = scenario::ScenarioTarget::Kind::files,
                    .storage = "files of " + name.substr(0, name.find('/', first + 1)),
                    .place = place_of(*target)};
            }
            case target::Target::Kind::local: break;
        }
        return scenario::ScenarioTarget{
            .kind = scenario::ScenarioTarget::Kind::files, .storage = "real files", .place = place_of(*target)};
    };
    words.workload = [directory = formats + "/workload"](const std::string& typed) {
        return open_workload(typed, directory);
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
            part.place =
                PartPlace{first_seat, first_stream,
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
    if (auto opened = target::open_model(common.target, models); !opened) return opened;
    for (PlayPart& part : parts) part.request.target = common.target;  // all are on this one
    return {};
}

Result<std::vector<media::PreparePlan>> missing_media(ByteStore& store, const std::vector<PlayPart>& parts) {
    std::vector<media::PreparePlan> all;
    std::uint64_t bytes = 0;
    for (const Pool& pool : pools_of(parts)) {
        auto plans = missing_media(store, pool.request);
        if (!plans) return plans.error();
        for (media::PreparePlan& plan : *plans) {
            bytes += plan.bytes_to_write;
            if (bytes > plan.bytes_free) {  // each fits, all together may not
                return environment_error(
                    fmt::format("{}: the media of this scenario needs at least {}, and {} "
                                "are free",
                                plan.request.target, show_bytes(bytes), show_bytes(plan.bytes_free)));
            }
            all.push_back(std::move(plan));
        }
    }
    return all;
}

Result<std::vector<PlayPart>> find_media(ByteStore* store,
                                         std::vector<PlayPart> parts,
                                         IndexProgress* progress) {
    for (const Pool& pool : pools_of(parts)) {
        const auto found = find_media(store, pool.request, progress);
        if (!found) return found.error();
        hand_out(pool, found->clips.front(), parts);
    }
    return parts;
}

std::vector<std::string> surprises(const ScenarioExpectation& expected, const RunResult& result) {
    std::vector<std::string> out;
    if (expected.plays && *expected.plays != result.verdict.pass) {
        out.emplace_back(result.verdict.pass ? "it plays, and was expected not to"
                                             : "it does not play, and was expected to");
    }
    const std::string limit = to_string(result.verdict.limit);
    if (expected.limit && *expected.limit != limit)
        out.push_back(fmt::format("the limit is {}, and {} was expected", limit, *expected.limit));
    compare(out, "frames dropped", expected.dropped, result.totals.dropped - result.totals.startup_drops);
    compare(out, "frames late", expected.late, result.totals.late);
    compare(out, "frames failed", expected.failed, result.totals.failed);
    compare(out, "stalls", expected.stalls, result.totals.stalls);
    return out;
}

}  // namespace streamsim::run
