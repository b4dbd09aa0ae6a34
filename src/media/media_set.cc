#include "media/media_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "base/units.h"
#include "media/container_clip.h"
#include "media/frame_maker.h"
#include "media/frame_sizes.h"
#include "media/media_set_names.h"
#include "media/sequence_clip.h"
#include "media/several_at_once.h"

namespace streamsim {
namespace {

/// Kept free beside what is written: directories, block maps, and what others write meanwhile.
constexpr std::uint64_t kSparePercent = 1;

/// The directory of the format below the target; nothing when no media of this format was ever begun there.
Result<std::optional<std::string>> format_directory(ByteStore& store,
                                                    const std::string& target,
                                                    const MediaFormat& format) {
    const std::string root = media_root(target);
    const auto marker = read_marker(store, root);
    if (!marker) return marker.error();
    if (!*marker) return std::optional<std::string>();
    const auto directory = find_format(store, root, format);
    if (!directory) return directory.error();
    if (!directory->there) return std::optional<std::string>();
    return std::optional(directory->path);
}

/// The frames of one of our sequences that its directory lists.
Result<FoundSequence> frames_listed(ByteStore& store, const StoredClip& clip, const MediaFormat& format) {
    const auto entries = store.list(clip.path);
    if (!entries) return entries.error();
    FoundSequence sequence{prepared_pattern(frame_extension(format)), {}};
    for (const DirectoryEntry& entry : *entries) {
        const auto number = number_in(sequence.pattern, entry.name);
        const bool in_range =
            number && *number >= kFirstFrameNumber && *number < kFirstFrameNumber + clip.frames;
        if (in_range && !entry.directory) sequence.numbers.push_back(*number);
    }
    std::sort(sequence.numbers.begin(), sequence.numbers.end());
    return sequence;
}

Result<Clip> index_stored(ByteStore& store,
                          const StoredClip& clip,
                          const MediaFormat& format,
                          const std::string& name) {
    if (clip.name.is_file()) return index_container(store, clip.path, name, {});
    const auto sequence = frames_listed(store, clip, format);
    if (!sequence) return sequence.error();
    if (sequence->numbers.empty()) return bad_input(fmt::format("{}: none of its frames is left", clip.path));
    return index_sequence(store, clip.path, *sequence, name,
                          KnownFrames{kFirstFrameNumber, clip.frames, format.rate});
}

/// What an interrupted prepare left of a sequence: frames that have their full length.
Result<void> find_frames_there(ByteStore& store,
                               const StoredClip& partial,
                               const MediaFormat& format,
                               const std::vector<std::uint32_t>& sizes,
                               PlannedClip& clip) {
    const auto sequence = frames_listed(store, partial, format);
    if (!sequence) return sequence.error();
    for (const std::uint64_t number : sequence->numbers) {
        const auto info = store.stat(join_path(partial.path, sequence->pattern.name(number)));
        if (!info) return info.error();
        const std::uint64_t frame = number - kFirstFrameNumber;
        if (!*info || (*info)->bytes != sizes[frame]) continue;
        clip.frames_there[frame] = true;
        clip.bytes -= sizes[frame];
    }
    return {};
}

/// Errors: bad input, environment: the clips can be planned by nobody, or there is no place for half of them.
/// Asked before a list of their frames is in memory.
Result<void> check_length(ByteStore& store, const std::vector<StoredClip>& stored, const PreparePlan& plan) {
    const MediaFormat& format = plan.request.format;
    const auto begun =
        static_cast<std::uint32_t>(std::count_if(stored.begin(), stored.end(), [&plan](const StoredClip& clip) {
            return clip.frames == plan.frames && clip.name.partial;
        }));
    const std::uint32_t wanted = plan.request.clips - plan.clips_there;
    const std::uint32_t unbegun = wanted - std::min(begun, wanted);
    const double bytes = format.mean_frame_bytes * static_cast<double>(plan.frames) * unbegun;
    const auto free = store.free_bytes(plan.request.target);
    if (!free) return free.error();
    // Frames of one clip differ in size; far from the limit their mean decides.
    if (bytes / 2 <= static_cast<double>(*free)) {
        if (plan.frames <= kClipFramesMax) return {};
        return bad_input(
            fmt::format("{}: a clip of {} frames is longer than the {} that prepare makes: lower "
                        "--clip-duration",
                        format.name, show_count(plan.frames), show_count(kClipFramesMax)));
    }
    return environment_error(fmt::format(
        "{}: not enough space for {} {} of {}: about {:.1f} GB needed, {} free", plan.request.target, unbegun,
        unbegun == 1 ? "clip" : "clips", format.name, bytes / 1e9, show_bytes(*free)));
}

/// Which clips the plan is to write: first those that were begun, then the lowest numbers that are free.
Result<void> plan_clips(ByteStore& store, const std::vector<StoredClip>& stored, PreparePlan& plan) {
    const MediaFormat& format = plan.request.format;
    const bool container = format.container != MediaFormat::Container::sequence;
    std::vector<std::uint32_t> numbers;
    std::set<std::uint32_t> complete;
    for (const StoredClip& clip : stored) {
        if (clip.frames != plan.frames) continue;
        if (!clip.name.partial) complete.insert(clip.name.number);
    }
    for (const StoredClip& clip : stored) {
        const bool begun =
            clip.frames == plan.frames && clip.name.partial && !complete.contains(clip.name.number);
        if (begun) numbers.push_back(clip.name.number);
    }
    std::set<std::uint32_t> taken(numbers.begin(), numbers.end());
    taken.insert(complete.begin(), complete.end());
    const std::uint32_t wanted = plan.request.clips - plan.clips_there;
    for (std::uint32_t number = 1; numbers.size() < wanted; ++number) {
        if (!taken.contains(number)) numbers.push_back(number);
    }
    numbers.resize(wanted);
    for (const std::uint32_t number : numbers) {
        const auto sizes = plan_frame_bytes(format, plan.frames, plan.request.seed, number);
        PlannedClip clip;
        clip.number = number;
        clip.path = join_path(join_path(plan.directory, length_name(plan.frames)),
                              ClipName{number, format.container}.text());
        clip.bytes = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
        if (!container) clip.frames_there.assign(plan.frames, false);
        for (const StoredClip& partial : stored) {
            const bool same =
                partial.frames == plan.frames && partial.name.partial && partial.name.number == number;
            if (!same || container) continue;
            if (auto found = find_frames_there(store, partial, format, sizes, clip); !found)
                return found.error();
        }
        plan.bytes_to_write += clip.bytes;
        plan.missing.push_back(std::move(clip));
    }
    return {};
}

Result<void> check_space(ByteStore& store, PreparePlan& plan) {
    const std::string& target = plan.request.target;
    const auto free = store.free_bytes(target);
    if (!free) return free.error();
    plan.bytes_free = *free;
    const std::uint64_t needed = plan.bytes_to_write + plan.bytes_to_write / 100 * kSparePercent;
    if (plan.bytes_to_write == 0 || needed <= *free) return {};
    return environment_error(fmt::format(
        "{}: not enough space for {} {} of {}: {} needed ({} bytes, 1 % to spare included), {} free ({} bytes)",
        target, plan.missing.size(), plan.missing.size() == 1 ? "clip" : "clips", plan.request.format.name,
        show_bytes(needed), needed, show_bytes(*free), *free));
}

}  // namespace

Result<std::vector<Clip>> complete_clips(ByteStore& store,
                                         const std::string& target,
                                         const MediaFormat& format,
                                         std::optional<Duration> clip_duration) {
    const auto directory = format_directory(store, target, format);
    if (!directory) return directory.error();
    std::vector<Clip> clips;
    if (!*directory) return clips;
    std::optional<std::uint64_t> frames;
    if (clip_duration) frames = format.rate.slots_in(*clip_duration);
    auto stored = stored_clips(store, **directory, format, frames);
    if (!stored) return stored.error();
    std::erase_if(*stored, [](const StoredClip& at) { return at.name.partial; });
    std::vector<std::optional<Result<Clip>>> indexed(stored->size());
    several_at_once(indexed.size(), [&](std::size_t i) {
        const StoredClip& at = (*stored)[i];
        indexed[i] = index_stored(store, at, format, at.path.substr(join_path(target, "").size()));
    });
    for (auto& result : indexed) {
        Result<Clip>& clip = *result;
        if (!clip) return clip.error();
        clip->ours = true;
        clip->format = format.name;
        clips.push_back(std::move(*clip));
    }
    return clips;
}

Result<PreparePlan> plan_prepare(ByteStore& store, const PrepareRequest& request) {
    PreparePlan plan;
    plan.request = request;
    const auto target = store.stat(request.target);
    if (!target) return target.error();
    if (!*target) return environment_error(fmt::format("{}: no such directory", request.target));
    if (!(*target)->directory) return environment_error(fmt::format("{}: is not a directory", request.target));
    const Duration length = request.clip_duration.value_or(kDefaultClipDuration);
    plan.frames = length.ns > 0 ? request.format.rate.slots_in(length) : 0;
    if (plan.frames == 0) return bad_input("a clip must be longer than nothing");

    const std::string root = media_root(request.target);
    if (auto marker = read_marker(store, root); !marker) return marker.error();
    const auto directory = find_format(store, root, request.format);
    if (!directory) return directory.error();
    plan.directory = directory->path;
    std::vector<StoredClip> stored;
    if (directory->there) {
        auto listed = stored_clips(store, directory->path, request.format, std::nullopt);
        if (!listed) return listed.error();
        stored = std::move(*listed);
    }
    for (const StoredClip& clip : stored) {
        const bool fits = !request.clip_duration || clip.frames == plan.frames;
        if (fits && !clip.name.partial && plan.clips_there < request.clips) ++plan.clips_there;
    }
    if (auto length_fits = check_length(store, stored, plan); !length_fits) return length_fits.error();
    if (auto planned = plan_clips(store, stored, plan); !planned) return planned.error();
    if (!plan.nothing_to_do() && !request.format.not_prepared.empty()) {
        return bad_input(fmt::format("{}: this format cannot be prepared: {}", request.format.name,
                                     request.format.not_prepared));
    }
    if (auto space = check_space(store, plan); !space) return space.error();
    return plan;
}

}  // namespace streamsim
