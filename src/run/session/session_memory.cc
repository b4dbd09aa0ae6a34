// What streams need of this computer's memory and threads, before there is a session.
#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "media/write/planned_index.h"
#include "run/session/media_plan.h"
#include "run/session/session.h"
#include "storage/buffer_arena.h"
#include "storage/threads/threads_storage.h"

namespace streamsim::run {
namespace {

/// Frames of a planned clip whose sizes stand for those of all.
constexpr std::uint64_t kFramesLookedAt = 240;
/// Of one stream without its frames: plan, player, histograms and its part of the result (measured: 102 kB).
constexpr std::uint64_t kStreamStateBytes = 100'000;

/// Part by part, as if it were prepared already.
FoundMedia planned_media(const PlayRequest& request) {
    FoundMedia planned;
    for (const MediaFormat& format : request.formats) {
        Clip clip;
        clip.index = media::planned_index(format, kFramesLookedAt, request.seed, 0, format.name);
        planned.clips.emplace_back(clips_needed(request), clip);
    }
    return planned;
}

std::uint64_t memory_of(const std::vector<StreamPlan>& streams) {
    std::uint64_t bytes = 0;
    for (const StreamPlan& plan : streams) bytes += plan.memory_bytes();
    return bytes;
}

/// Errors: environment: streams without a frame in memory need more than there is. Asked before a stream is
/// planned.
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

}  // namespace

std::vector<PlayPart> one_part(const PlayRequest& request, FoundMedia media) {
    std::vector<PlayPart> parts(1);
    parts.front().request = request;
    parts.front().media = std::move(media);
    return parts;
}

void reserve_threads(const PlayRequest& request, std::uint64_t streams) {
    if (request.target.kind != target::Target::Kind::local) return;
    const std::uint64_t frames = streams * std::min(request.inflight, request.readahead);
    storage::size_thread_pool(std::min(frames * (request.io_depth + 1) + kPoolThreadsSpare, kPoolThreadsMax));
}

Result<void> memory_suffices(const PlayRequest& request) {
    return memory_suffices(one_part(request, {}));
}

Result<std::optional<std::uint64_t>> times_in_memory(const PlayRequest& request, const FoundMedia& media) {
    if (!request.target.has_files()) return std::optional<std::uint64_t>{};
    const bool planned = media.clips.empty() && !media.cuts;
    const auto parts = one_part(request, planned ? planned_media(request) : media);
    const auto streams = plan_parts(parts, 1);
    if (!streams) return streams.error();
    return std::optional(storage::memory_available().bytes / std::max<std::uint64_t>(memory_of(*streams), 1));
}

Result<void> memory_suffices(const std::vector<PlayPart>& parts) {
    if (auto fit = streams_fit(parts); !fit) return fit;
    if (!parts.front().request.target.has_files()) return {};
    std::vector<PlayPart> planned = parts;
    for (PlayPart& part : planned) part.media = planned_media(part.request);
    auto streams = plan_parts(planned, 1);
    if (!streams) return streams.error();
    const std::uint64_t bytes = memory_of(*streams);
    const storage::MemoryAvailable available = storage::memory_available();
    if (bytes <= available.bytes) return {};
    return environment_error(
        fmt::format("{} streams need {} of memory for their frames, and {} leaves {}: lower "
                    "--readahead or --streams",
                    streams->size(), show_bytes(bytes), available.limit, show_bytes(available.bytes)));
}

}  // namespace streamsim::run
