#include "run/media_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "media/clip_index.h"
#include "media/planned_index.h"

namespace streamsim {
namespace {

/// Frames of one stream: more than a year. The books keep a bit for each.
constexpr std::uint64_t kSlotsMax = 1'000'000'000;

std::uint32_t streams_of_format(const PlayRequest& request) {
    return request.total_streams.value_or(request.streams * request.seats);
}

/// Clips of media that exists only as a plan: what a null storage plays.
std::vector<Clip> planned_clips(const PlayRequest& request, const MediaFormat& format) {
    const std::uint64_t frames =
        std::max<std::uint64_t>(format.rate.slots_in(request.clip_duration.value_or(kDefaultClipDuration)), 1);
    std::vector<Clip> clips;
    for (std::uint32_t i = 0; i < clips_needed(request); ++i) {
        Clip clip;
        clip.name = fmt::format("{}/{}/clip-{:04}", request.target.url, format.name, i + 1);
        clip.format = format.name;
        clip.index = planned_index(format, frames, request.seed, i, clip.name);
        clips.push_back(std::move(clip));
    }
    return clips;
}

Result<std::vector<Clip>> clips_of_target(ByteStore& store, const PlayRequest& request) {
    const std::string& path = request.target.path;
    auto info = store.stat(path);
    if (!info) return info.error();
    std::vector<Clip> clips;
    if (info->has_value() && (**info).directory) {
        auto found = clips_in(store, path);
        if (!found) return found.error();
        clips = std::move(*found);
        if (clips.empty()) {
            return bad_input(
                fmt::format("{}: holds no clip and no image sequence: name one, or give a format such as "
                            "--dpx12 to have media made below {}/{}",
                            path, path, kMediaDirectory));
        }
    } else if (info->has_value() || is_pattern(path)) {
        auto clip = index_clip(store, path);
        if (!clip) return clip.error();
        clips.push_back(std::move(*clip));
    } else {
        return environment_error(fmt::format("{}: there is no such file or directory", path));
    }
    const std::uint32_t needed = clips_needed(request);
    if (clips.size() < needed) {
        return bad_input(
            fmt::format("{}: {} streams need a clip each and there {} {}: give more clips, fewer "
                        "--streams, or --media same",
                        path, needed, clips.size() == 1 ? "is" : "are", clips.size()));
    }
    clips.resize(needed);
    return clips;
}

PlayerOptions player_options(const PlayRequest& request, const Clip& clip, std::uint32_t alignment) {
    PlayerOptions options;
    options.rate = request.rate.value_or(clip.index->rate());
    options.paced = request.paced;
    options.readahead = request.readahead;
    options.inflight = request.inflight;
    options.io_size = request.io_size;
    options.io_depth = request.io_depth;
    options.alignment = alignment;
    options.on_miss = request.on_miss;
    const AccessPattern own =
        clip.index->file_per_frame() ? AccessPattern::filename_prefetch : AccessPattern::streaming;
    // Prefetching names means nothing for one file, and streaming nothing for many or for whole frames.
    options.pattern = request.pattern.value_or(own) == own ? own : AccessPattern::on_demand;
    if (own == AccessPattern::streaming && request.io_size == 0) options.pattern = AccessPattern::on_demand;
    if (!request.paced) {
        options.slots = request.frames.value_or(UINT64_MAX);
    } else {
        const std::uint64_t asked = request.frames.value_or(UINT64_MAX);
        // Without a word about time, a number of frames is all that was asked for.
        const bool timed = request.duration.has_value() || !request.frames.has_value();
        const Duration length = request.duration.value_or(kDefaultDuration);
        options.slots = std::min(asked, timed ? options.rate.slots_in(length) : UINT64_MAX);
    }
    return options;
}

}  // namespace

std::uint32_t clips_needed(const PlayRequest& request) {
    return request.same_media ? 1 : streams_of_format(request);
}

Result<bool> is_empty_directory(ByteStore& store, const std::string& path) {
    auto info = store.stat(path);
    if (!info) return info.error();
    if (!info->has_value() || !(**info).directory) return false;
    auto entries = store.list(path);
    if (!entries) return entries.error();
    return std::all_of(entries->begin(), entries->end(), [](const DirectoryEntry& entry) {
        return entry.name == kMediaDirectory || entry.name == "lost+found" || entry.name.starts_with(".");
    });
}

Result<std::vector<PreparePlan>> missing_media(ByteStore& store, const PlayRequest& request) {
    std::vector<PreparePlan> plans;
    for (const MediaFormat& format : request.formats) {
        auto plan = plan_prepare(
            store, {request.target.path, format, clips_needed(request), request.clip_duration, request.seed});
        if (!plan) return plan.error();
        if (!plan->nothing_to_do()) plans.push_back(std::move(*plan));
    }
    std::uint64_t bytes = 0;
    for (const PreparePlan& plan : plans) bytes += plan.bytes_to_write;
    if (!plans.empty() && bytes > plans.front().bytes_free) {  // each fits, all together do not
        return environment_error(fmt::format("{}: the media of {} formats needs {}, and {} are free",
                                             request.target.path, plans.size(), show_bytes(bytes),
                                             show_bytes(plans.front().bytes_free)));
    }
    return plans;
}

Result<std::vector<std::vector<Clip>>> find_clips(ByteStore* store, const PlayRequest& request) {
    std::vector<std::vector<Clip>> all;
    if (store != nullptr && request.formats.empty()) {
        auto clips = clips_of_target(*store, request);
        if (!clips) return clips.error();
        all.push_back(std::move(*clips));
        return all;
    }
    for (const MediaFormat& format : request.formats) {
        if (store == nullptr) {
            all.push_back(planned_clips(request, format));
            continue;
        }
        auto clips = complete_clips(*store, request.target.path, format, request.clip_duration);
        if (!clips) return clips.error();
        if (clips->size() < clips_needed(request)) {
            return environment_error(
                fmt::format("{}: {} clips of {} are there and {} are needed: somebody removed "
                            "media while it was being prepared",
                            request.target.path, clips->size(), format.name, clips_needed(request)));
        }
        clips->resize(clips_needed(request));
        all.push_back(std::move(*clips));
    }
    return all;
}

Result<std::vector<StreamPlan>> deal_streams(const PlayRequest& request,
                                             const std::vector<std::vector<Clip>>& clips,
                                             std::uint32_t alignment) {
    std::vector<std::vector<StreamPlan>> seats(request.seats);
    for (const auto& of_format : clips) {
        for (std::uint32_t i = 0; i < streams_of_format(request); ++i) {
            const std::uint32_t seat = request.total_streams ? i % request.seats : i / request.streams;
            StreamPlan plan;
            plan.clip = of_format[request.same_media ? 0 : i];
            plan.options = player_options(request, plan.clip, alignment);
            plan.options.seat = seat;
            plan.options.stream = static_cast<std::uint32_t>(seats[seat].size());
            if (plan.options.slots == 0) {
                return bad_input("--duration is too short: not one frame would be played");
            }
            if (plan.options.paced && plan.options.slots > kSlotsMax) {
                return bad_input(fmt::format("--duration: a stream of {} frames was asked for, {} are the most",
                                             show_count(plan.options.slots), show_count(kSlotsMax)));
            }
            seats[seat].push_back(std::move(plan));
        }
    }
    std::vector<StreamPlan> all;
    for (auto& seat : seats) {
        for (auto& plan : seat) {
            plan.start_offset = {static_cast<std::int64_t>(all.size()) * request.stagger.ns};
            all.push_back(std::move(plan));
        }
    }
    return all;
}

}  // namespace streamsim
