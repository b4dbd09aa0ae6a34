#include "run/plan/meters.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/path.h"
#include "base/prng.h"
#include "base/units.h"
#include "run/plan/stream_plan.h"
#include "scenario/workload_steps.h"

namespace streamsim::run {
namespace {

/// Rows of each meter of a seat, for --csv.
constexpr std::uint64_t kOperationRowsKept = 5'000'000;

/// Numbers that no stream of a run has.
constexpr std::uint64_t kFirstMeterSeed = 1'000'000;
constexpr std::uint32_t kFirstMeterStream = 1'000'000;

/// The directory of a meter's files. Sets of other sizes have other directories, so that all can be used again.
std::string root_of(const target::Target& target, const MeterSpec& spec) {
    const WorkingSet& set = spec.set;
    std::string name = spec.name + "-" + std::to_string(set.files) + "x" + std::to_string(set.file_bytes);
    if (set.of == WorkingSet::Of::all) name += "-shared";
    if (set.of == WorkingSet::Of::client) name += "-client";
    if (set.directories > 1) name += "-" + std::to_string(set.directories) + "d";
    return media::load_root(target.name()) + "/" + name;
}

/// The working set of a meter on all of its seats, or on those that `wanted` chooses.
media::LoadSet load_set_of(const target::Target& target,
                           const MeterPart& part,
                           const std::function<bool(std::uint32_t seat)>& wanted = {}) {
    media::LoadSet set;
    set.target = target.name();
    std::set<std::string> seen;  // seats may share files
    const auto add_directory = [&](const std::string& name) {
        if (seen.insert(name).second) set.directories.push_back(name);
    };
    add_directory(root_of(target, part.spec));
    for (std::uint32_t seat = 0; seat < part.seats; ++seat) {
        if (wanted && !wanted(part.first_seat + seat)) continue;
        const load::WorkingSetNames names =
            load::working_set(part.spec, root_of(target, part.spec), part.first_seat + seat);
        for (const std::string& name : names.parents) add_directory(name);
        for (const std::string& name : names.directories) add_directory(name);
        for (const std::string& name : names.files) {
            if (seen.insert(name).second) set.files.push_back({name, part.spec.set.file_bytes});
        }
        for (const std::string& name : names.spare) {
            if (seen.insert(name).second) set.files.push_back({name, 0});
        }
    }
    return set;
}

/// The working set of a meter on the seats that this process plays.
media::LoadSet own_load_set(const PlayRequest& request, const MeterPart& part) {
    return load_set_of(request.target, part, [&request](std::uint32_t seat) { return request.plays(seat); });
}

/// The meter on the seat `i` of its seats.
MeterSpec spec_on(const MeterPart& part, std::uint32_t i) {
    MeterSpec spec = part.spec;
    const Duration later{part.one_more_every.ns * i};
    spec.start += later;
    if (spec.end) *spec.end += later;
    if (part.all_end) spec.end = std::min(spec.end.value_or(*part.all_end), *part.all_end);
    return spec;
}

void append(media::LoadSet& to, media::LoadSet from) {
    to.target = from.target;
    std::move(from.directories.begin(), from.directories.end(), std::back_inserter(to.directories));
    std::move(from.files.begin(), from.files.end(), std::back_inserter(to.files));
}

/// The files of the sets of all meters that are missing.
Result<media::LoadSetPlan> missing_of(ByteStore& store,
                                      const PlayRequest& request,
                                      const std::function<media::LoadSet(const MeterPart& part)>& set_of) {
    media::LoadSetPlan all;
    for (const MeterPart& part : request.meters) {
        auto plan = media::plan_load_set(store, set_of(part));
        if (!plan) return plan.error();
        append(all.missing, std::move(plan->missing));
        append(all.all, std::move(plan->all));
        all.bytes_to_write += plan->bytes_to_write;
        all.bytes_free = std::max(all.bytes_free, plan->bytes_free);  // 0 where nothing is missing
    }
    if (all.bytes_free > 0 && all.bytes_to_write > all.bytes_free - all.bytes_free / 100) {
        return environment_error("the working sets of all meters together need " +
                                 show_bytes(all.bytes_to_write) + ", and " + show_bytes(all.bytes_free) +
                                 " are free");
    }
    return all;
}

}  // namespace

std::string meter_name(const Workload& workload, const MeterSpec& spec) {
    return workload.name + "-" + spec.name;
}

std::vector<MeterPart> meters_of(const Workload& workload, std::uint32_t first, std::uint32_t seats) {
    std::vector<MeterPart> parts;
    for (const MeterSpec& spec : workload.meters) parts.push_back({spec, first, seats});
    for (MeterPart& part : parts) part.spec.name = meter_name(workload, part.spec);
    return parts;
}

PlayRequest load_request(const Workload& step, const PlayRequest& base) {
    PlayRequest request = base;
    request.formats.clear();
    request.streams = 0;
    request.seats = step.clients;
    request.meters = meters_of(step, 0, step.clients);
    request.duration = step.duration;
    return request;
}

std::vector<load::MeterPlan> meter_plans(const PlayRequest& request) {
    std::vector<load::MeterPlan> plans;
    std::map<std::uint32_t, std::uint32_t> first_streams;  // of meters, by seat; streams have the numbers below
    std::uint32_t number = 0;
    for (const MeterPart& part : request.meters) {
        for (std::uint32_t i = 0; i < part.seats; ++i) {
            const std::uint32_t seat = part.first_seat + i;
            if (!request.plays(seat)) continue;
            load::MeterPlan plan;
            plan.spec = spec_on(part, i);
            plan.number = number;
            plan.seat = seat;
            plan.seats = part.seats;
            plan.first_user = i * part.spec.users;
            plan.first_stream = first_streams.emplace(seat, kFirstMeterStream).first->second;
            first_streams[seat] += part.spec.users;
            plan.seed = derive_seed(request.seed, kFirstMeterSeed + 1 + number);
            plan.names = load::working_set(part.spec, root_of(request.target, part.spec), seat);
            plan.progress = std::make_shared<MeterProgress>();
            if (request.keep_frames) plan.rows_kept = kOperationRowsKept;
            plans.push_back(std::move(plan));
        }
        ++number;
    }
    std::stable_sort(plans.begin(), plans.end(),
                     [](const load::MeterPlan& a, const load::MeterPlan& b) { return a.seat < b.seat; });
    return plans;
}

std::vector<std::string> fit_to_alignment(std::vector<load::MeterPlan>& plans, std::uint32_t alignment) {
    std::set<std::string> said;
    for (load::MeterPlan& plan : plans) {
        MeterSpec& spec = plan.spec;
        if (!spec.direct) continue;
        plan.alignment = alignment;
        const auto odd = [alignment](const WeightedSize& size) { return size.bytes % alignment != 0; };
        const auto odd_remainder = [&](const WeightedSize& size) { return size.weight <= 0 && odd(size); };
        const bool odd_blocks =
            std::any_of(spec.blocks.begin(), spec.blocks.end(),
                        [&](const WeightedSize& size) { return size.weight > 0 && odd(size); }) ||
            (spec.writes && std::any_of(spec.writes->blocks.begin(), spec.writes->blocks.end(), odd));
        if (!odd_blocks) {
            if (std::erase_if(spec.blocks, odd_remainder) > 0)
                said.insert(fmt::format(
                    "meter {}: direct I/O here takes whole {}: smaller remainders of transfers are left out",
                    spec.name, show_bytes(alignment)));
            continue;
        }
        spec.direct = false;
        plan.alignment = 1;
        said.insert(
            fmt::format("meter {}: direct I/O here takes whole {}, and its blocks are none: it goes through "
                        "the page cache",
                        spec.name, show_bytes(alignment)));
    }
    return {said.begin(), said.end()};
}

namespace {

/// Every request to the model takes some time, also over a link without latency.
bool requests_take_time(const ClusterModel& model) {
    const LatencyModel& response = model.node.response;
    const bool responds_later =
        response.by_quantiles
            ? response.quantiles.back() > Duration{}
            : response.median > Duration{} || (response.tail_share > 0 && response.tail_mean > Duration{});
    return responds_later || model.client.cpu_s_per_request > 0 || model.node.front_end.latency > Duration{};
}

/// The operation takes some time beyond that of every request.
bool takes_time(const ClusterModel& model, LoadOperation operation) {
    const MetadataModel& names = model.node.metadata;
    const bool changes = names.cpu_s_per_create > 0 || model.node.journal.bytes > 0;
    switch (operation) {
        case LoadOperation::read:
        case LoadOperation::write: return true;  // its bytes
        case LoadOperation::open: return model.node.cpu_s_per_open > 0;
        case LoadOperation::stat: return names.cpu_s_per_stat > 0;
        case LoadOperation::list: return names.cpu_s_per_list > 0;
        case LoadOperation::create: return changes;
        // Both create a file first where there is none.
        case LoadOperation::remove: return changes || names.cpu_s_per_remove > 0;
        case LoadOperation::rename: return changes || names.cpu_s_per_rename > 0;
    }
    return true;
}

/// The link of each seat of the meter has a latency. REQUIRES: a model.
bool links_take_time(const MeterPart& part, const PlayRequest& request) {
    const auto& settings = request.seat_settings;
    for (std::uint32_t seat = part.first_seat; seat < part.first_seat + part.seats; ++seat) {
        const auto own = seat < settings.size() ? settings[seat].link_latency : std::nullopt;
        if (own.value_or(request.target.model->client.link.latency) <= Duration{}) return false;
    }
    return true;
}

/// Operations of the meter take time on the target.
bool take_time(const MeterPart& part, const PlayRequest& request) {
    const target::Target& target = request.target;
    if (target.kind == target::Target::Kind::null_virtual) return false;
    if (target.model == nullptr || requests_take_time(*target.model)) return true;
    if (links_take_time(part, request)) return true;
    for (std::size_t i = 0; i < kLoadOperations; ++i) {
        if (part.spec.weights[i] > 0 && takes_time(*target.model, static_cast<LoadOperation>(i))) return true;
    }
    return false;
}

/// The meter is a closed loop whose operations take no time on the target.
bool never_ends(const MeterPart& part, const PlayRequest& request) {
    const MeterSpec& spec = part.spec;
    if (request.virtual_storage || spec.loop == MeterSpec::Loop::open) return false;
    return spec.think_time <= Duration{} && spec.operations_per_s <= 0 && !take_time(part, request);
}

/// nullopt: as long as its cut list, or its frames.
std::optional<Duration> play_time_of(const PlayRequest& request) {
    const bool by_frames = request.frames || request.cuts;
    return request.duration || by_frames ? request.duration : kDefaultDuration;
}

}  // namespace

Result<void> check_meters(const PlayRequest& request) {
    const auto play_time = play_time_of(request);
    Error error{ErrorKind::bad_input, {}};
    for (const MeterPart& part : request.meters) {
        if (never_ends(part, request)) {
            error.problems.push_back(
                fmt::format("meter {}: on {} none of its operations takes time, so that a closed loop would "
                            "never end: give it a think_time or operations_per_s",
                            part.spec.name, request.target.url));
        }
        if (!play_time) continue;
        const std::uint64_t users = std::uint64_t{part.seats} * part.spec.users;
        std::string problem = scenario::never_begins(spec_on(part, part.seats - 1), users, *play_time);
        if (!problem.empty()) error.problems.push_back(std::move(problem));
    }
    if (!error.problems.empty()) return error;
    return {};
}

Result<void> check_meters(const PlayRequest& request, const FoundMedia& media) {
    if (request.meters.empty() || (!request.frames && !request.cuts)) return {};
    const std::vector<PlayPart> parts = one_part(request, media);
    PlayRequest timed = request;
    const auto planned = plan_parts(parts, 1, &timed.duration.emplace());
    if (!planned) return planned.error();
    return *timed.duration > Duration{} ? check_meters(timed) : Result<void>();
}

bool writes(const MeterSpec& spec) {
    for (std::size_t i = 0; i < kLoadOperations; ++i) {
        const auto operation = static_cast<LoadOperation>(i);
        if (operation != LoadOperation::read && operation != LoadOperation::open && spec.weights[i] > 0)
            return true;
    }
    return false;
}

WorkingSetsInUse working_sets_of(const PlayRequest& request) {
    std::set<std::string> read, written;
    for (const MeterPart& part : request.meters) {
        const std::string root = root_of(request.target, part.spec);
        (writes(part.spec) ? written : read).insert(base_name(root));
    }
    for (const std::string& name : written) read.erase(name);
    return {{read.begin(), read.end()}, {written.begin(), written.end()}};
}

Result<media::LoadSetPlan> missing_load_set(ByteStore& store, const PlayRequest& request) {
    return missing_of(store, request,
                      [&request](const MeterPart& part) { return load_set_of(request.target, part); });
}

Result<media::LoadSetPlan> own_missing_load_set(ByteStore& store,
                                                const PlayRequest& request,
                                                bool with_shared) {
    return missing_of(store, request, [&](const MeterPart& part) {
        media::LoadSet set = own_load_set(request, part);
        if (part.spec.set.of != WorkingSet::Of::all || with_shared) return set;
        const auto names = load::working_set(part.spec, root_of(request.target, part.spec), part.first_seat);
        const std::set<std::string> shared(names.files.begin(), names.files.end());
        std::erase_if(set.files, [&shared](const media::LoadFile& file) { return shared.contains(file.path); });
        return set;
    });
}

Result<void> evict_load_set(ByteStore& store, const PlayRequest& request) {
    Result<void> all;
    for (const MeterPart& part : request.meters) {
        if (auto done = media::evict_all(store, own_load_set(request, part)); !done && all) all = done;
    }
    return all;
}

Result<std::string> why_not_evicted(ByteStore& store, const PlayRequest& request) {
    const auto evicted = request.only_leads ? Result<void>() : evict_load_set(store, request);
    return evicted ? std::string() : evicted.error().problems.front();
}

Result<void> read_load_set(ByteStore& store, const PlayRequest& request) {
    for (const MeterPart& part : request.meters) {
        if (auto done = media::read_all(store, own_load_set(request, part)); !done) return done;
    }
    return {};
}

Result<void> remove_created_files(ByteStore& store, const PlayRequest& request) {
    for (const MeterPart& part : request.meters) {
        double named = 0;
        for (const auto operation : {LoadOperation::create, LoadOperation::remove, LoadOperation::rename})
            named += part.spec.weights[static_cast<std::size_t>(operation)];
        if (named <= 0) continue;
        if (auto done = media::remove_others(store, load_set_of(request.target, part)); !done) return done;
    }
    return {};
}

Result<void> remove_unfinished_files(ByteStore& store, const PlayRequest& request) {
    for (const MeterPart& part : request.meters) {
        if (auto done = media::remove_unfinished(store, load_set_of(request.target, part)); !done) return done;
    }
    return {};
}

}  // namespace streamsim::run
