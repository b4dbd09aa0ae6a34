#include "run/plan/media_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/system/utf8_path.h"
#include "base/units.h"
#include "media/clips/clip_index.h"
#include "media/clips/planned_index.h"
#include "media/cuts/cut_list.h"
#include "media/own_files/own_names.h"
#include "media/write/clip_content.h"
#include "storage/buffer_arena.h"
#include "target/target_locations.h"

namespace streamsim::run {
namespace {

/// Frames of all planned clips together, at most.
constexpr std::uint64_t kPlannedFramesMax = 16'000'000;
/// Memory of a planned frame: its size, the source of its size, and its offset.
constexpr double kPlannedFrameBytes = 40;

/// Keeps as many clips as the streams need, and some more for streams that are added.
void keep_needed(const PlayRequest& request, std::vector<Clip> clips, FoundMedia& found) {
    const std::size_t needed = clips_needed(request);
    const std::size_t spare = request.same_media ? 0 : std::size_t{request.spare_streams} * request.layers;
    const auto end = clips.begin() + static_cast<std::ptrdiff_t>(std::min(clips.size(), needed));
    const auto spare_end = clips.begin() + static_cast<std::ptrdiff_t>(std::min(clips.size(), needed + spare));
    found.spare.emplace_back(end, spare_end);
    clips.erase(end, clips.end());
    found.clips.push_back(std::move(clips));
}

/// The storage may have caches, so that a clip that loops would come from them. Without deadlines only a model
/// says how much is read at most.
bool is_cached(const PlayRequest& request) {
    return request.target.model != nullptr || (request.virtual_storage && request.paced);
}

/// The frames of a planned clip. On a storage with caches the clip is as long as play, where memory allows.
std::uint64_t planned_frames(const PlayRequest& request, const MediaFormat& format) {
    const std::uint64_t usual =
        format.rate.slots_in(request.clip_duration.value_or(media::kDefaultClipDuration));
    if (!is_cached(request) || request.clip_duration) return std::max<std::uint64_t>(usual, 1);
    const std::uint64_t most = std::max(kPlannedFramesMax / clips_needed(request), usual);
    return std::clamp<std::uint64_t>(frames_of_play(request, format), 1, most);
}

/// Errors: environment: the index of so many frames does not fit into memory.
Result<void> check_planned_frames(const PlayRequest& request, const MediaFormat& format, std::uint64_t frames) {
    const double bytes = static_cast<double>(frames) * kPlannedFrameBytes * clips_needed(request);
    const storage::MemoryAvailable available = storage::memory_available();
    if (bytes <= static_cast<double>(available.bytes)) return {};
    return environment_error(fmt::format(
        "the frame indexes ({} frames in each of {} clips of {}) need {:.1f} GB of memory, and {} leaves {}: "
        "lower --clip-duration or --streams",
        show_count(frames), clips_needed(request), format.name, bytes / 1e9, available.limit,
        show_bytes(available.bytes)));
}

/// Clips of media that exist only as a plan, for a null storage or a model.
Result<std::vector<Clip>> planned_clips(const PlayRequest& request, const MediaFormat& format) {
    const std::uint64_t frames = planned_frames(request, format);
    if (auto fits = check_planned_frames(request, format, frames); !fits) return fits.error();
    std::vector<Clip> clips;
    for (std::uint32_t i = 0; i < clips_needed(request); ++i) {
        Clip clip;
        clip.name = fmt::format("{}/{}/clip-{:04}", planned_root(request.target), format.name, i + 1);
        clip.format = format.name;
        clip.index = media::planned_index(format, frames, request.seed, i, clip.name);
        clips.push_back(std::move(clip));
    }
    return clips;
}

IndexOptions index_options(const PlayRequest& request, IndexProgress* progress) {
    IndexOptions options;
    options.audio = request.audio;
    options.keep_index = request.keep_index;
    options.depth = static_cast<int>(request.folder_depth);
    options.progress = progress;
    return options;
}

/// A clip may be indexed several times, and several paths may lead to it.
void name_files(const target::Target& target, std::vector<Clip>& clips) {
    const bool local = target.kind == target::Target::Kind::local;
    for (Clip& clip : clips) {
        clip.file = clip.index->path_of(0);
        if (local) clip.file = canonical_text(clip.file);
    }
}

/// Removes still pictures. Errors: bad input where there is nothing else.
Result<void> leave_out_stills(const std::string& path, std::vector<Clip>& clips) {
    std::vector<std::string> stills;
    for (const Clip& clip : clips) {
        if (clip.still) stills.push_back(clip.name);
    }
    if (stills.empty()) return {};
    if (stills.size() == clips.size()) {
        return bad_input(fmt::format(
            "{}: {}, no frame of a numbered sequence: expected a clip (.mov, .mxf, .mp4, ...), "
            "a numbered image sequence (shot.0001.dpx, shot.0002.dpx, ...), or a directory with some",
            path, stills.size() == 1 ? "one still picture" : "still pictures alone"));
    }
    std::vector<std::string> skipped = std::move(clips.front().skipped);
    std::string searched = std::move(clips.front().searched);
    std::erase_if(clips, [](const Clip& clip) { return clip.still; });
    for (const std::string& name : stills)
        skipped.push_back(fmt::format("{}: one still picture, no numbered sequence", name));
    clips.front().skipped = std::move(skipped);
    clips.front().searched = std::move(searched);
    return {};
}

/// Parts that share a set of clips: of one kind, at one location.
struct Pool {
    PlayRequest request;  // for all of their clips at once
    std::vector<std::size_t> parts;
    std::uint32_t own = 0;  // clips that a single stream plays
    bool shared = false;    // one clip more, before them, for all other streams
};

/// A format is known by its name: the readers refuse two formats of one name.
bool same_pool(const PlayRequest& a, const PlayRequest& b) {
    if (target::location_of(a.target) != target::location_of(b.target) || a.formats.size() != b.formats.size())
        return false;
    if (a.formats.empty()) return true;
    return a.formats.front().name == b.formats.front().name && a.clip_duration == b.clip_duration;
}

/// Frames that a planned clip needs; 0: on real storage the number does not matter.
std::uint64_t frames_over(const PlayRequest& request) {
    return is_cached(request) ? frames_of_play(request, request.formats.front()) : 0;
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

/// Clips that are made for a format are indexed without their audio.
bool reads_audio(const PlayRequest& request) {
    return request.audio && request.formats.empty();
}

/// To the parts that read audio, or to those that do not. REQUIRES: `clips` are as many as the pool needs.
void hand_out(const Pool& pool, bool audio, const std::vector<Clip>& clips, std::vector<PlayPart>& parts) {
    std::size_t next = pool.shared ? 1 : 0;
    for (const std::size_t i : pool.parts) {
        const std::size_t needed = clips_needed(parts[i].request);
        const std::size_t first = parts[i].request.same_media ? 0 : next;
        const auto begin = clips.begin() + static_cast<std::ptrdiff_t>(first);
        if (reads_audio(parts[i].request) == audio)
            parts[i].media.clips.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(needed));
        if (!parts[i].request.same_media) next += needed;
    }
}

}  // namespace

// A cluster lays files out by their names: on a model they depend on its name, not on the path or the options
// of its URL.
std::string planned_root(const target::Target& target) {
    return target.model != nullptr ? "sim:" + target.model->name : target.url;
}

std::uint32_t streams_of_format(const PlayRequest& request) {
    return request.total_streams.value_or(request.streams * request.seats);
}

std::uint64_t streams_of(const PlayRequest& request) {
    const std::size_t formats = std::max<std::size_t>(request.formats.size(), 1);
    const std::size_t recorded = std::max<std::size_t>(request.record.formats.size(), 1);
    return std::uint64_t{streams_of_format(request)} * formats +
           std::uint64_t{request.record.streams} * request.seats * recorded;
}

// A shuttle covers more frames than slots; without deadlines a seat's link limits the frames.
std::uint64_t frames_of_play(const PlayRequest& request, const MediaFormat& format) {
    const Duration length = request.duration.value_or(kDefaultDuration);
    std::uint64_t played = request.frames.value_or(UINT64_MAX);
    if (request.duration || !request.frames) {
        const FrameRate rate = request.rate.value_or(format.rate);
        std::uint64_t most = rate.slots_in(length);
        if (!request.paced) {
            const double bytes =
                request.target.model->client.link.bytes_per_s() * static_cast<double>(length.ns) * 1e-9;
            most = static_cast<std::uint64_t>(std::min(bytes / format.mean_frame_bytes, 1e18)) + 1;
        }
        played = std::min(played, most);
    }
    const auto step = static_cast<std::uint64_t>(std::abs(request.order.step));
    return played < UINT64_MAX / step ? played * step : UINT64_MAX;
}

std::uint32_t clips_needed(const PlayRequest& request) {
    const std::uint32_t streams = streams_of_format(request);
    return request.same_media ? std::min<std::uint32_t>(streams, 1) : streams * request.layers;
}

Result<bool> is_empty_directory(ByteStore& store, const std::string& path) {
    auto info = store.stat(path);
    if (!info) return info.error();
    if (!info->has_value() || !(**info).directory) return false;
    // A few entries mostly tell: a folder of 200,000 frames is not listed for this.
    constexpr std::size_t kSome = 16;
    for (const std::size_t count : {kSome, SIZE_MAX}) {
        const auto entries = store.list_some(path, count);
        if (!entries) return entries.error();
        const bool empty = std::all_of(entries->begin(), entries->end(), [](const DirectoryEntry& entry) {
            return entry.name == media::kMediaDirectory || media::is_system_folder(entry.name) ||
                   entry.name.starts_with(".");
        });
        if (!empty) return false;
        if (entries->size() < count) break;
    }
    return true;
}

Result<std::vector<media::PreparePlan>> missing_media(ByteStore& store, const PlayRequest& request) {
    std::vector<media::PreparePlan> plans;
    if (streams_of_format(request) == 0) return plans;
    for (const MediaFormat& format : request.formats) {
        auto plan = media::plan_prepare(
            store, {request.target.name(), format, clips_needed(request), request.clip_duration, request.seed});
        if (!plan) return plan.error();
        if (!plan->nothing_to_do() || !plan->notes.empty()) plans.push_back(std::move(*plan));
    }
    std::uint64_t bytes = 0;
    for (const media::PreparePlan& plan : plans) bytes += plan.bytes_added();
    if (!plans.empty() && bytes > plans.front().bytes_free) {  // each plan fits alone, not all together
        return environment_error(fmt::format("{}: the media of {} formats needs {}, and {} are free",
                                             request.target.name(), plans.size(), show_bytes(bytes),
                                             show_bytes(plans.front().bytes_free)));
    }
    return plans;
}

namespace {

/// ", which has those of NAME, NAME"; empty where there are none, or nobody can tell.
std::string prepared_there(ByteStore& store, const std::string& target) {
    const auto prepared = media::formats_in_set(store, target);
    std::string names;
    for (const MediaFormat& format : prepared ? *prepared : std::vector<MediaFormat>())
        names += (names.empty() ? ", which has those of " : ", ") + format.name;
    return names;
}

}  // namespace

Result<std::vector<Clip>> clips_of_target(ByteStore& store,
                                          const PlayRequest& request,
                                          IndexProgress* progress) {
    const IndexOptions options = index_options(request, progress);
    const std::string& path = request.target.name();
    auto info = store.stat(path);
    if (!info) return info.error();
    std::vector<Clip> clips;
    if (info->has_value() && (**info).directory) {
        auto found = media::clips_in(store, path, options);
        if (!found) return found.error();
        clips = std::move(*found);
        if (clips.empty()) {
            return bad_input(
                fmt::format("{}: holds no clip and no image sequence, {} deep: name one, or give a format such "
                            "as --dpx12 to have media made below {}/{}{}",
                            path, counted(request.folder_depth, "level"), path, media::kMediaDirectory,
                            prepared_there(store, path)));
        }
    } else if (info->has_value() || media::is_pattern(path)) {
        auto clip = media::index_clip(store, path, options);
        if (!clip) return clip.error();
        clips.push_back(std::move(*clip));
    } else {
        return environment_error(fmt::format("{}: there is no such file or directory", path));
    }
    if (auto left = leave_out_stills(path, clips); !left) return left.error();
    name_files(request.target, clips);
    return clips;
}

namespace {

/// Adds what the frames must hold. Errors: bad input with the problem of each clip whose content nobody knows.
Result<void> add_contents(ByteStore& store, const target::Target& target, FoundMedia& found) {
    const bool local = target.kind == target::Target::Kind::local;
    Error unknown;
    const auto add = [&](std::vector<Clip>& clips) -> Result<void> {
        for (Clip& clip : clips) {
            auto with = media::with_content(store, clip, local ? clip.file : std::string());
            if (with) {
                clip = std::move(*with);
            } else if (with.error().kind == ErrorKind::bad_input) {
                const auto& more = with.error().problems;
                unknown.problems.insert(unknown.problems.end(), more.begin(), more.end());
            } else {
                return with.error();
            }
        }
        return {};
    };
    for (auto* lists : {&found.clips, &found.spare}) {
        for (std::vector<Clip>& clips : *lists) {
            if (auto added = add(clips); !added) return added;
        }
    }
    if (found.cuts) {
        if (auto added = add(found.cuts->clips); !added) return added;
    }
    if (!unknown.problems.empty()) return unknown;
    return {};
}

Result<FoundMedia> find_clips(ByteStore* store, const PlayRequest& request, IndexProgress* progress) {
    FoundMedia found;
    if (streams_of_format(request) == 0) return found;
    if (request.cuts) {
        if (store == nullptr) return bad_input("--cuts needs the clips that it names: expected a path");
        auto list = media::resolve_cut_list(*store, request.target.name(), *request.cuts, request.rate,
                                            index_options(request, progress));
        if (!list) return list.error();
        name_files(request.target, list->clips);
        found.cuts = std::move(*list);
        return found;
    }
    if (store != nullptr && request.formats.empty()) {
        auto clips = clips_of_target(*store, request, progress);
        if (!clips) return clips.error();
        const std::uint32_t needed = clips_needed(request);
        if (clips->size() < needed) {
            return bad_input(
                fmt::format("{}: {} streams need {} clips and there {} {}: give more clips, fewer "
                            "--streams, or --media same",
                            request.target.name(), streams_of_format(request), needed,
                            clips->size() == 1 ? "is" : "are", clips->size()));
        }
        keep_needed(request, std::move(*clips), found);
        return found;
    }
    for (const MediaFormat& format : request.formats) {
        if (store == nullptr) {
            auto planned = planned_clips(request, format);
            if (!planned) return planned.error();
            found.clips.push_back(std::move(*planned));
            continue;
        }
        auto clips = media::complete_clips(*store, request.target.name(), format, request.clip_duration);
        if (!clips) return clips.error();
        if (clips->size() < clips_needed(request)) {
            return environment_error(
                fmt::format("{}: has {} clips of {}, and {} are needed: media were removed while they "
                            "were prepared, or the computer that prepared them has other storage at this path",
                            request.target.name(), clips->size(), format.name, clips_needed(request)));
        }
        name_files(request.target, *clips);
        keep_needed(request, std::move(*clips), found);
    }
    return found;
}

}  // namespace

Result<FoundMedia> find_media(ByteStore* store, const PlayRequest& request, IndexProgress* progress) {
    auto found = find_clips(store, request, progress);
    if (!found || !request.verify || store == nullptr) return found;
    if (auto added = add_contents(*store, request.target, *found); !added) return added.error();
    return found;
}

Result<std::vector<media::PreparePlan>> missing_media(ByteStore& store, const std::vector<PlayPart>& parts) {
    std::vector<media::PreparePlan> all;
    std::uint64_t bytes = 0;
    for (const Pool& pool : pools_of(parts)) {
        auto plans = missing_media(store, pool.request);
        if (!plans) return plans.error();
        for (media::PreparePlan& plan : *plans) {
            bytes += plan.bytes_added();
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
        if (store == nullptr && pool.request.formats.empty()) continue;  // only who reads the target knows them
        for (const bool audio : {false, true}) {
            const auto is_one = [&](std::size_t part) { return reads_audio(parts[part].request) == audio; };
            if (std::none_of(pool.parts.begin(), pool.parts.end(), is_one)) continue;
            PlayRequest request = pool.request;
            request.audio = audio;
            const auto found = find_media(store, request, progress);
            if (!found) return found.error();
            hand_out(pool, audio, found->clips.front(), parts);
        }
    }
    return parts;
}

}  // namespace streamsim::run
