#include "run/plan/needs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/units.h"
#include "media/clips/planned_index.h"
#include "run/plan/meters.h"
#include "scenario/workload_steps.h"
#include "storage/buffer_arena.h"
#include "streamsim/stream_result.h"

namespace streamsim::run {
namespace {

/// Frames of a planned clip that represent all of them.
constexpr std::uint64_t kSampleFrames = 240;
/// Memory of a stream without its frames: plan, player, histograms and its part of the result (measured: 102
/// kB).
constexpr std::uint64_t kStreamStateBytes = 100'000;

/// The media of a request as if they were prepared already.
FoundMedia planned_media(const PlayRequest& request) {
    FoundMedia planned;
    for (const MediaFormat& format : request.formats) {
        Clip clip;
        clip.index = media::planned_index(format, kSampleFrames, request.seed, 0, format.name);
        planned.clips.emplace_back(clips_needed(request), clip);
    }
    return planned;
}

std::uint64_t memory_of(const std::vector<StreamPlan>& streams) {
    std::uint64_t bytes = 0;
    for (const StreamPlan& plan : streams) bytes += plan.memory_bytes();
    return bytes;
}

/// Checks the memory of the streams without their frames, before a stream is planned. Errors: environment.
Result<void> streams_fit(const std::vector<PlayPart>& parts) {
    std::uint64_t streams = 0;
    for (const PlayPart& part : parts) {
        const PlayRequest& request = part.request;
        const std::uint64_t all =
            std::uint64_t{streams_of_format(request)} * std::max<std::size_t>(request.formats.size(), 1);
        const std::uint64_t seats = std::max<std::uint64_t>(request.seats, 1);
        streams += (all * request.own_seats.value_or(request.seats) + seats - 1) / seats;
    }
    const storage::MemoryAvailable available = storage::memory_available();
    if (streams <= available.bytes / kStreamStateBytes) return {};
    return environment_error(
        fmt::format("{} streams need {} of memory for their statistics, and {} leaves {}: lower "
                    "--streams or --seats",
                    show_count(streams), show_bytes(streams * kStreamStateBytes), available.limit,
                    show_bytes(available.bytes)));
}

/// Memory of a frame's row: the outcome during play, and the row beside it when the result is made.
std::uint64_t row_bytes(const StreamPlan& plan) {
    return sizeof(FrameOutcome) + sizeof(FrameRow) + plan.clips.front().index->path_capacity();
}

constexpr double kKeptShare = 0.01;
constexpr double kKeptShareMax = 0.05;
constexpr std::uint64_t kKeptBytes = 1u << 30;

std::uint64_t share_of(std::uint64_t bytes, double share) {
    return static_cast<std::uint64_t>(static_cast<double>(bytes) * share);
}

/// Fills in the free and total bytes of the volume.
Result<void> read_volume(ByteStore& store, SpaceNeed& need) {
    const auto free = store.free_bytes(need.target);
    if (!free) return free.error();
    need.free_bytes = *free;
    const auto volume = store.total_bytes(need.target);  // some servers do not tell it
    need.volume_bytes = volume ? std::max(*volume, *free) : 0;
    return {};
}

/// Bytes of one recorder of each format.
double bytes_of_recorder(const PlayRequest& request, bool timed, Duration length) {
    double bytes = 0;
    for (const MediaFormat& format : request.record.formats) {
        std::uint64_t frames = request.frames.value_or(UINT64_MAX);
        if (request.paced && timed && length.ns > 0)
            frames = std::min(frames, request.rate.value_or(format.rate).slots_in(length));
        if (frames < UINT64_MAX) bytes += format.mean_frame_bytes * static_cast<double>(frames);
    }
    return bytes;
}

std::uint64_t in_bytes(double bytes) {
    return static_cast<std::uint64_t>(std::min(bytes, 1e18));
}

}  // namespace

Result<std::optional<std::uint64_t>> times_in_memory(const PlayRequest& request, const FoundMedia& media) {
    if (!request.target.has_files()) return std::optional<std::uint64_t>{};
    const bool planned = media.clips.empty() && !media.cuts;
    const auto parts = one_part(request, planned ? planned_media(request) : media);
    const auto streams = plan_parts(parts, 1);
    if (!streams) return streams.error();
    return std::optional(storage::memory_available().bytes / std::max<std::uint64_t>(memory_of(*streams), 1));
}

Result<void> check_rows(const std::vector<StreamPlan>& streams) {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
    for (const StreamPlan& plan : streams) {
        if (!plan.options.paced) continue;
        frames += plan.options.slots;
        bytes += plan.options.slots * row_bytes(plan);
    }
    const storage::MemoryAvailable available = storage::memory_available();
    if (bytes <= available.bytes) return {};
    return environment_error(
        fmt::format("--csv and --trace keep a row of every frame: {} frames need {} of memory, and {} leaves "
                    "{}: leave them out or play shorter",
                    show_count(frames), show_bytes(bytes), available.limit, show_bytes(available.bytes)));
}

Result<void> check_memory(const std::vector<PlayPart>& parts, bool keep_frames) {
    if (auto fit = streams_fit(parts); !fit) return fit;
    if (!parts.front().request.target.has_files()) return {};
    std::vector<PlayPart> planned = parts;
    for (PlayPart& part : planned) part.media = planned_media(part.request);
    auto streams = plan_parts(planned, 1);
    if (!streams) return streams.error();
    if (keep_frames) {
        if (auto fit = check_rows(*streams); !fit) return fit;
    }
    const std::uint64_t bytes = memory_of(*streams);
    const storage::MemoryAvailable available = storage::memory_available();
    if (bytes <= available.bytes) return {};
    return environment_error(
        fmt::format("{} streams need {} of memory for their frames, and {} leaves {}: lower "
                    "--readahead or --streams",
                    streams->size(), show_bytes(bytes), available.limit, show_bytes(available.bytes)));
}

std::uint64_t kept_free_bytes(std::uint64_t volume_bytes) {
    return std::max(share_of(volume_bytes, kKeptShare),
                    std::min(kKeptBytes, share_of(volume_bytes, kKeptShareMax)));
}

bool SpaceNeed::needs_consent() const {
    return fill_bytes > 0 || load_bytes > share_of(free_bytes, kLoadShareUnasked) ||
           media_bytes + load_bytes + record_bytes > share_of(free_bytes, kMediaShareUnasked);
}

std::string SpaceNeed::sentence() const {
    std::string out = fmt::format("{} would be written to {}, where {} are free", show_bytes(bytes()), target,
                                  show_bytes(free_bytes));
    if (volume_bytes == 0 || bytes() > free_bytes) return out;
    const auto percent = [this](std::uint64_t left) {
        return 100 * static_cast<double>(volume_bytes - left) / static_cast<double>(volume_bytes);
    };
    return out + fmt::format("; the volume is {:.1f} % full and would be {:.1f} % full", percent(free_bytes),
                             percent(free_bytes - bytes()));
}

Result<void> check_space(const SpaceNeed& need) {
    const bool only_media = need.load_bytes + need.fill_bytes + need.record_bytes == 0;
    const std::uint64_t kept = only_media ? 0 : kept_free_bytes(std::max(need.volume_bytes, need.free_bytes));
    if (need.bytes() + kept <= need.free_bytes) return {};
    std::string text = fmt::format("{}: {} would have to be written, and {} are free", need.target,
                                   show_bytes(need.bytes()), show_bytes(need.free_bytes));
    if (need.record_bytes > 0) text += fmt::format("; {} of it are recordings", show_bytes(need.record_bytes));
    if (kept > 0) text += fmt::format(" ({} of the volume have to stay free)", show_bytes(kept));
    return environment_error(text);
}

std::uint64_t record_bytes_of(const PlayRequest& request, const FoundMedia& media) {
    const Duration length = request.duration.value_or(usual_length(request, media));
    const bool timed = request.duration || !request.frames;
    return in_bytes(request.seats * request.record.streams * bytes_of_recorder(request, timed, length));
}

std::uint64_t record_bytes_of(const std::vector<PlayPart>& parts) {
    double bytes = 0;
    for (const PlayPart& part : parts) {
        const PlayRequest& request = part.request;
        if (!part.schedule) {
            bytes += static_cast<double>(record_bytes_of(request, part.media));
            continue;
        }
        for (std::uint32_t seat = 0; seat < request.seats; ++seat) {
            for (std::uint32_t stream = 0; stream < request.record.streams; ++stream) {
                const Duration length = part.schedule->end(seat) - part.schedule->start(seat, stream);
                bytes += bytes_of_recorder(request, true, length);
            }
        }
    }
    return in_bytes(bytes);
}

Result<SpaceNeed> need_of_play(ByteStore& store,
                               const std::string& target,
                               const media::LoadSetPlan& load,
                               const std::vector<media::PreparePlan>& media,
                               std::uint64_t record_bytes) {
    SpaceNeed need;
    need.target = target;
    need.record_bytes = record_bytes;
    need.load_bytes = load.bytes_to_write;
    for (const media::PreparePlan& plan : media) need.media_bytes += plan.bytes_added();
    if (need.bytes() == 0) return need;
    if (auto looked = read_volume(store, need); !looked) return looked.error();
    const bool says_nothing = need.free_bytes == 0 && need.volume_bytes == 0;  // as some FUSE file systems
    if (says_nothing) need.record_bytes = 0;
    if (auto checked = check_space(need); !checked) return checked.error();
    return need;
}

Result<SpaceNeed> need_of_workload(ByteStore& store, const Workload& workload, const PlayRequest& base) {
    SpaceNeed need;
    need.target = base.target.name();
    if (auto looked = read_volume(store, need); !looked) return looked.error();
    std::vector<double> values = workload.sweep.values;
    if (workload.sweep.over == Sweep::Over::none) values = {0};
    std::set<std::string> counted;  // steps share files
    for (const double value : values) {
        auto plan = missing_load_set(store, load_request(scenario::at_step(workload, value), base));
        if (!plan) return plan.error();
        for (const media::LoadFile& file : plan->missing.files) {
            if (counted.insert(file.path).second) need.load_bytes += file.bytes;
        }
    }
    if (workload.sweep.over == Sweep::Over::fill_percent) {
        const double fullest = *std::max_element(values.begin(), values.end());
        const auto fill = bytes_to_fill(store, need.target, fullest);
        if (!fill) return fill.error();
        need.fill_bytes = *fill - std::min(*fill, need.load_bytes);
    }
    if (need.bytes() == 0) return need;
    if (auto checked = check_space(need); !checked) return checked.error();
    return need;
}

Result<std::uint64_t> bytes_to_fill(ByteStore& store, const std::string& target, double percent) {
    const auto volume = store.total_bytes(target);
    if (!volume) return volume.error();
    const auto free = store.free_bytes(target);
    if (!free) return free.error();
    const std::uint64_t left = *volume - std::min(*volume, share_of(*volume, percent / 100));
    if (left < kept_free_bytes(*volume)) {
        return environment_error(fmt::format(
            "{}: {:g} % full leaves {} of the volume's {} free, and {} are kept free: give lower "
            "values of fill_percent",
            target, percent, show_bytes(left), show_bytes(*volume), show_bytes(kept_free_bytes(*volume))));
    }
    return *free > left ? *free - left : 0;
}

}  // namespace streamsim::run
