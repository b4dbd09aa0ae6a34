#include "run/plan/memory_need.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "media/write/planned_index.h"
#include "run/plan/stream_plan.h"
#include "storage/buffer_arena.h"

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

}  // namespace

Result<void> check_memory(const PlayRequest& request) {
    return check_memory(one_part(request, {}));
}

Result<std::optional<std::uint64_t>> times_in_memory(const PlayRequest& request, const FoundMedia& media) {
    if (!request.target.has_files()) return std::optional<std::uint64_t>{};
    const bool planned = media.clips.empty() && !media.cuts;
    const auto parts = one_part(request, planned ? planned_media(request) : media);
    const auto streams = plan_parts(parts, 1);
    if (!streams) return streams.error();
    return std::optional(storage::memory_available().bytes / std::max<std::uint64_t>(memory_of(*streams), 1));
}

Result<void> check_memory(const std::vector<PlayPart>& parts) {
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
