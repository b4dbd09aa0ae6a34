#include "media/write/media_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/path.h"
#include "base/system/parallel_for.h"
#include "base/units.h"
#include "media/catalogue/catalogue.h"
#include "media/catalogue/frame_sizes.h"
#include "media/container/container_clip.h"
#include "media/frames/frame_maker.h"
#include "media/own_files/own_names.h"
#include "media/sequence/sequence_clip.h"
#include "media/write/clip_proof.h"
#include "media/write/clip_record.h"
#include "media/write/media_set_names.h"

namespace streamsim::media {
namespace {

/// Free space that is left for directories, block maps, and other writers.
constexpr std::uint64_t kSparePercent = 1;

/// Files of a sequence that are checked for holes, spread evenly over it.
constexpr std::size_t kRecordedFilesSampled = 16;

constexpr const char* kNoFrames = "none of its frames is left";

struct Standing {
    enum class Kind { whole, damaged, foreign };
    Kind kind = Kind::foreign;
    std::string why;  // the defect, unless whole
};

bool is_number_of(const StoredClip& clip, std::optional<std::uint64_t> number) {
    return number && *number >= kFirstFrameNumber && *number < kFirstFrameNumber + clip.frames;
}

/// The frames of one of our sequences that its directory lists.
Result<FoundSequence> frames_listed(ByteStore& store, const StoredClip& clip, const MediaFormat& format) {
    const auto entries = store.list(clip.path);
    if (!entries) return entries.error();
    FoundSequence sequence{prepared_pattern(frame_extension(format)), {}};
    for (const DirectoryEntry& entry : *entries) {
        const auto number = number_in(sequence.pattern, entry.name);
        if (is_number_of(clip, number) && !entry.directory) sequence.numbers.push_back(*number);
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
    if (sequence->numbers.empty()) return bad_input(fmt::format("{}: {}", clip.path, kNoFrames));
    return index_sequence(store, clip.path, *sequence, name,
                          KnownFrames{kFirstFrameNumber, clip.frames, format.rate});
}

Result<std::string> problem_of(ByteStore& store,
                               const StoredClip& clip,
                               const MediaFormat& format,
                               const std::optional<ClipSums>& sums) {
    if (clip.name.is_file()) return problem_of_container(store, clip.path, sums);
    const auto sequence = frames_listed(store, clip, format);
    if (!sequence) return sequence.error();
    if (sequence->numbers.empty()) return std::string(kNoFrames);
    const auto path_of = [&](std::uint64_t number) {
        return join_path(clip.path, sequence->pattern.name(number));
    };
    std::vector<std::string> sampled;
    const std::size_t count = std::min(kRecordedFilesSampled, sequence->numbers.size());
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t last = sequence->numbers.size() - 1;
        sampled.push_back(path_of(sequence->numbers[count == 1 ? 0 : i * last / (count - 1)]));
    }
    return problem_of_frames(store, path_of(kFirstFrameNumber), path_of(kFirstFrameNumber + clip.frames - 1),
                             sampled, sums);
}

Result<Standing> standing_of(ByteStore& store,
                             const StoredClip& clip,
                             const MediaFormat& format,
                             std::uint64_t set) {
    using Kind = Standing::Kind;
    const ClipKey key = key_of(clip, set);
    const auto record = read_record(store, key);
    if (!record) return record.error();
    std::optional<ClipSums> sums;  // none of a clip that is proven by its bytes
    if (*record) {
        const auto read = read_sums(store, key);
        if (!read) return read.error();
        sums = *read;
    }
    const auto ours = is_ours(store, clip, {&format, set}, *record, sums);
    if (!ours) return ours.error();
    // A clip restored from a backup has another file id than its record and the same bytes.
    if (!*ours && !(*record && is_proven(store, clip, {&format, set})))
        return Standing{Kind::foreign, "is not what prepare made under this name: it stays and is not played"};
    if (*record && !sums) {
        const auto free = may_record(store, key);
        if (!free) return free.error();
        if (*free)
            return Standing{Kind::damaged, "does not count as whole: the record of its checksum is missing"};
        return Standing{Kind::foreign,
                        fmt::format("does not count as whole: {} beside it is damaged, or is not the record "
                                    "that prepare wrote: both stay",
                                    sums_name(clip.name.number))};
    }
    const auto problem = problem_of(store, clip, format, sums);
    if (!problem) return problem.error();
    if (problem->empty()) return Standing{Kind::whole, ""};
    return Standing{*ours ? Kind::damaged : Kind::foreign, "does not count as whole: " + *problem};
}

/// Checks length and free space before a list of all frames is in memory. Errors: bad input when the clips are
/// too long to be planned; environment when there is no free space for them.
Result<void> check_length(ByteStore& store, std::uint32_t begun, const PreparePlan& plan) {
    const MediaFormat& format = plan.request.format;
    const std::uint32_t wanted = plan.request.clips - plan.clips_there;
    const std::uint32_t unbegun = wanted - std::min(begun, wanted);
    const double bytes = format.mean_frame_bytes * static_cast<double>(plan.frames) * unbegun;
    const auto free = store.free_bytes(plan.request.target);
    if (!free) return free.error();
    // Frames of one clip differ in size, so the mean decides only far from the limit.
    if (bytes / 2 <= static_cast<double>(*free)) {
        if (plan.frames <= kClipFramesMax) return {};
        return bad_input(
            fmt::format("{}: a clip of {} frames is longer than the {} that prepare makes: lower "
                        "--clip-duration",
                        format.name, show_count(plan.frames), show_count(kClipFramesMax)));
    }
    return environment_error(
        fmt::format("{}: not enough space for {} {} of {}: about {} needed, {} free", plan.request.target,
                    unbegun, unbegun == 1 ? "clip" : "clips", format.name,
                    show_bytes(static_cast<std::uint64_t>(std::min(bytes, 1e18))), show_bytes(*free)));
}

/// Names a file in a sequence that is not as prepare made it: somebody else's, a link, or with a second name;
/// or one that cannot be read, and why. Empty: there is none, and the sequence can be continued in place.
Result<std::string> foreign_in(ByteStore& store, const StoredClip& begun, const MediaFormat& format) {
    const auto entries = store.list(begun.path);
    if (!entries) return entries.error();
    const FramePattern pattern = prepared_pattern(frame_extension(format));
    const auto maker = known_maker(&format, begun.frames);
    for (const DirectoryEntry& entry : *entries) {
        const std::string foreign = entry.name + ", which is not as prepare made it";
        const auto number = number_in(pattern, entry.name);
        if (!is_number_of(begun, number)) return foreign;
        const std::string path = join_path(begun.path, entry.name);
        const auto info = store.stat(path);
        if (!info) return info.error();
        if (!*info || !(*info)->is_regular() || (*info)->links > 1) return foreign;
        const auto ours = begins_as_made(store, path, maker.get(), *number, entry.name);
        if (!ours && ours.error().kind == ErrorKind::interrupted) return ours.error();
        if (!ours)
            return fmt::format("{}, which cannot be read ({})", entry.name, ours.error().problems.front());
        if (!*ours) return foreign;
    }
    return std::string();
}

struct Found {
    std::set<std::uint32_t> taken;              // numbers that no new clip can have
    std::map<std::uint32_t, StoredClip> begun;  // ours and not whole, by number
};

/// A clip of ours that is not whole is made again in place, unless a file of others is in it: then it stays,
/// and its record too, for clean.
Result<void> take_begun(ByteStore& store, const StoredClip& clip, PreparePlan& plan, Found& found) {
    const auto foreign =
        clip.name.is_file() ? Result<std::string>("") : foreign_in(store, clip, plan.request.format);
    if (!foreign) return foreign.error();
    if (foreign->empty()) {
        found.begun.emplace(clip.name.number, clip);
        return {};
    }
    plan.notes.push_back(fmt::format("{}: is not continued: it holds {}: both stay", clip.path, *foreign));
    found.taken.insert(clip.name.number);
    return {};
}

Result<Found> check_clips(ByteStore& store,
                          const std::vector<StoredClip>& stored,
                          std::uint64_t set,
                          PreparePlan& plan) {
    Found found;
    const MediaFormat& format = plan.request.format;
    const auto counts = [&plan](const StoredClip& clip) {
        return clip.frames == plan.frames || (!plan.request.clip_duration && !clip.name.partial);
    };
    std::map<std::size_t, Result<Standing>> known;  // of clips with their final names
    // Several in parallel, because a distant server takes long for each.
    const auto standing_at = [&](std::size_t clip, std::size_t at_once) -> const Result<Standing>& {
        std::vector<std::size_t> next;
        for (std::size_t i = clip; !known.contains(clip) && i < stored.size() && next.size() < at_once; ++i) {
            if (!stored[i].name.partial && counts(stored[i])) next.push_back(i);
        }
        std::vector<Result<Standing>> answers(next.size(), Result<Standing>(Standing{}));
        parallel_for(next.size(),
                     [&](std::size_t i) { answers[i] = standing_of(store, stored[next[i]], format, set); });
        for (std::size_t i = 0; i < next.size(); ++i) known.emplace(next[i], std::move(answers[i]));
        return known.at(clip);
    };
    for (std::size_t i = 0; i < stored.size(); ++i) {
        const StoredClip& clip = stored[i];
        const std::uint32_t number = clip.name.number;
        const bool of_length = clip.frames == plan.frames;
        if (plan.clips_there == plan.request.clips) break;
        if (!counts(clip)) continue;
        if (clip.name.partial) {
            if (found.taken.contains(number) || found.begun.contains(number)) continue;
            const auto ours = is_ours(store, clip, {&format, set, true});
            if (!ours) return ours.error();
            if (*ours) {
                if (auto taken = take_begun(store, clip, plan, found); !taken) return taken.error();
            }
            continue;
        }
        const auto& standing = standing_at(i, plan.request.clips - plan.clips_there);
        if (!standing) return standing.error();
        if (standing->kind == Standing::Kind::whole) {
            ++plan.clips_there;
        } else {
            plan.notes.push_back(fmt::format("{}: {}", clip.path, standing->why));
        }
        if (!of_length) continue;
        if (standing->kind == Standing::Kind::damaged) {
            if (auto taken = take_begun(store, clip, plan, found); !taken) return taken.error();
        } else {
            found.taken.insert(number);
        }
    }
    return found;
}

/// The space that the removal of a file makes: none where the file has another name, too.
std::uint64_t bytes_freed_by(const FileInfo& info) {
    return info.links > 1 ? 0 : info.bytes;
}

Result<PlannedClip> plan_clip(ByteStore& store,
                              const PreparePlan& plan,
                              std::uint32_t number,
                              const StoredClip* begun) {
    const MediaFormat& format = plan.request.format;
    const auto sizes = plan_frame_bytes(format, plan.frames, plan.request.seed, number);
    PlannedClip clip;
    clip.number = number;
    clip.path = join_path(join_path(plan.directory, length_name(plan.frames)),
                          ClipName{number, format.container}.text());
    clip.bytes = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
    const bool is_sequence = format.container == MediaFormat::Container::sequence;
    if (is_sequence) clip.frames_there.assign(plan.frames, false);
    if (begun == nullptr) return clip;
    clip.from = begun->path;
    if (!is_sequence) {
        const auto info = store.stat(begun->path);
        if (!info) return info.error();
        if (*info) clip.bytes_freed = std::min(bytes_freed_by(**info), clip.bytes);
        return clip;
    }
    const auto sequence = frames_listed(store, *begun, format);
    if (!sequence) return sequence.error();
    for (const std::uint64_t frame_number : sequence->numbers) {
        const auto info = store.stat(join_path(begun->path, sequence->pattern.name(frame_number)));
        if (!info) return info.error();
        if (!*info) continue;
        const std::uint64_t frame = frame_number - kFirstFrameNumber;
        if ((*info)->bytes == sizes[frame]) {
            clip.frames_there[frame] = true;
            clip.bytes -= sizes[frame];
            clip.bytes_there += sizes[frame];
        } else {
            clip.bytes_freed += std::min<std::uint64_t>(bytes_freed_by(**info), sizes[frame]);
        }
    }
    return clip;
}

/// Chooses the clips to write: first those already begun, then the lowest free numbers.
Result<void> plan_clips(ByteStore& store,
                        const std::vector<StoredClip>& stored,
                        std::uint64_t set,
                        PreparePlan& plan) {
    const auto found = check_clips(store, stored, set, plan);
    if (!found) return found.error();
    const auto continued = static_cast<std::uint32_t>(found->begun.size());
    if (auto fits = check_length(store, continued, plan); !fits) return fits.error();
    const std::uint32_t wanted = plan.request.clips - plan.clips_there;
    const std::string directory = join_path(plan.directory, length_name(plan.frames));
    const auto names = names_in(store, directory);
    if (!names) return names.error();
    std::vector<std::uint32_t> numbers;
    for (const auto& [number, clip] : found->begun) numbers.push_back(number);
    for (std::uint32_t number = 1; numbers.size() < wanted; ++number) {
        if (found->taken.contains(number) || found->begun.contains(number)) continue;
        // A link, or a file in place of a directory, is not even listed as a clip.
        const std::string name = ClipName{number, plan.request.format.container}.text();
        bool free = !names->contains(name);
        if (free && (names->contains(record_name(number)) || names->contains(sums_name(number)))) {
            const auto ours = may_record(store, {directory, set, number});
            if (!ours) return ours.error();
            free = *ours;
        }
        if (free) {
            numbers.push_back(number);
        } else {
            plan.notes.push_back(fmt::format(
                "{}: something that prepare did not make has this name or that of its record: it stays",
                join_path(directory, name)));
        }
    }
    numbers.resize(wanted);
    for (const std::uint32_t number : numbers) {
        const auto begun = found->begun.find(number);
        auto clip = plan_clip(store, plan, number, begun == found->begun.end() ? nullptr : &begun->second);
        if (!clip) return clip.error();
        plan.bytes_to_write += clip->bytes;
        plan.bytes_to_check += clip->bytes_there;
        plan.bytes_freed += clip->bytes_freed;
        plan.missing.push_back(std::move(*clip));
    }
    return {};
}

Result<void> check_space(ByteStore& store, PreparePlan& plan) {
    const std::string& target = plan.request.target;
    const auto free = store.free_bytes(target);
    if (!free) return free.error();
    plan.bytes_free = *free;
    const std::uint64_t needed = plan.bytes_added() + plan.bytes_added() / 100 * kSparePercent;
    if (needed <= *free) return {};
    return environment_error(fmt::format(
        "{}: not enough space for {} {} of {}: {} needed ({} bytes, 1 % to spare included), {} free ({} bytes)",
        target, plan.missing.size(), plan.missing.size() == 1 ? "clip" : "clips", plan.request.format.name,
        show_bytes(needed), needed, show_bytes(*free), *free));
}

}  // namespace

Result<std::vector<Clip>> complete_clips(ByteStore& whole_store,
                                         const std::string& target,
                                         const MediaFormat& format,
                                         std::optional<Duration> clip_duration) {
    std::vector<Clip> clips;
    const std::string root = media_root(target);
    const auto there = whole_store.stat(root);
    if (!there) return there.error();
    if (!*there) return clips;
    const auto confined = whole_store.beneath(target);
    if (!confined) return confined.error();
    ByteStore& store = **confined;
    const auto set = read_marker(store, root);
    if (!set) return set.error();
    if (!*set) return clips;
    const auto directory = find_format(store, root, format);
    if (!directory) return directory.error();
    if (!directory->there) return clips;
    std::optional<std::uint64_t> frames;
    if (clip_duration) frames = format.rate.slots_in(*clip_duration);
    auto stored = stored_clips(store, directory->path, format, frames);
    if (!stored) return stored.error();
    std::erase_if(*stored, [](const StoredClip& at) { return at.name.partial; });
    using CheckedClip = Result<std::optional<Clip>>;
    std::vector<CheckedClip> checked(stored->size(), CheckedClip(std::nullopt));
    parallel_for(checked.size(), [&](std::size_t i) {
        const StoredClip& at = (*stored)[i];
        const auto standing = standing_of(store, at, format, **set);
        if (!standing) {
            checked[i] = standing.error();
        } else if (standing->kind != Standing::Kind::whole) {
            return;
        } else if (auto clip = index_stored(store, at, format, at.path.substr(join_path(target, "").size()))) {
            checked[i] = std::optional(std::move(*clip));
        } else {
            checked[i] = clip.error();
        }
    });
    for (auto& result : checked) {
        if (!result) return result.error();
        std::optional<Clip>& clip = *result;
        if (!clip) continue;
        clip->ours = true;
        clip->format = format.name;
        clips.push_back(std::move(*clip));
    }
    return clips;
}

Result<std::vector<MediaFormat>> formats_in_set(ByteStore& whole_store, const std::string& target) {
    const std::string root = media_root(target);
    const auto there = whole_store.stat(root);
    if (!there) return there.error();
    if (!*there) return std::vector<MediaFormat>();
    const auto confined = whole_store.beneath(target);
    if (!confined) return confined.error();
    ByteStore& store = **confined;
    const auto set = read_marker(store, root);
    if (!set) return set.error();
    if (!*set) return std::vector<MediaFormat>();
    const auto entries = store.list(root);
    if (!entries) return entries.error();
    std::vector<MediaFormat> formats;
    for (const DirectoryEntry& entry : *entries) {
        if (!entry.directory || entry.symbolic_link) continue;
        const std::string directory = join_path(root, entry.name);
        const auto identity = read_identity(store, directory);
        if (!identity) return identity.error();
        const auto format = *identity ? format_of_identity(**identity) : std::nullopt;
        if (!format) continue;
        const auto clips = stored_clips(store, directory, *format, std::nullopt);
        if (!clips) return clips.error();
        if (!clips->empty()) formats.push_back(*format);
    }
    std::ranges::sort(formats, {}, &MediaFormat::name);
    return formats;
}

Result<PreparePlan> plan_prepare(ByteStore& whole_store, const PrepareRequest& request) {
    PreparePlan plan;
    plan.request = request;
    const auto target = whole_store.stat(request.target);
    if (!target) return target.error();
    if (!*target) return environment_error(fmt::format("{}: no such directory", request.target));
    if (!(*target)->directory) return environment_error(fmt::format("{}: is not a directory", request.target));
    const Duration length = request.clip_duration.value_or(kDefaultClipDuration);
    plan.frames = length.ns > 0 ? request.format.rate.slots_in(length) : 0;
    if (plan.frames == 0) return bad_input("a clip must be longer than nothing");

    const auto confined = whole_store.beneath(request.target);
    if (!confined) return confined.error();
    ByteStore& store = **confined;
    const std::string root = media_root(request.target);
    const auto set = read_marker(store, root);
    if (!set) return set.error();
    const auto directory = find_format(store, root, request.format);
    if (!directory) return directory.error();
    plan.directory = directory->path;
    std::vector<StoredClip> stored;
    if (directory->there) {
        auto listed = stored_clips(store, directory->path, request.format, std::nullopt);
        if (!listed) return listed.error();
        stored = std::move(*listed);
    }
    if (auto planned = plan_clips(store, stored, set->value_or(0), plan); !planned) return planned.error();
    if (!plan.nothing_to_do() && !request.format.not_prepared.empty()) {
        return bad_input(fmt::format("{}: this format cannot be prepared: {}", request.format.name,
                                     request.format.not_prepared));
    }
    if (auto space = check_space(store, plan); !space) return space.error();
    return plan;
}

}  // namespace streamsim::media
