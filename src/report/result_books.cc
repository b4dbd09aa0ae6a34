#include "report/result_books.h"

#include <fmt/format.h>

#include <string>

#include "base/wide.h"

namespace streamsim {
namespace {

/// Nothing is lost and nothing is counted twice, in the books of a document either.
void check_counts(const FrameCounts& counts, const std::string& pointer, JsonProblems& problems) {
    const Wide sum = Wide{counts.on_time} + counts.late + counts.dropped + counts.failed + counts.cancelled;
    if (counts.scheduled != sum) {
        problems.add(pointer + "/frames_scheduled",
                     fmt::format("expected the sum of on time, late, dropped, failed and cancelled, found {}",
                                 counts.scheduled));
    }
    if (counts.startup_drops > counts.dropped) {
        problems.add(pointer + "/startup_drops",
                     fmt::format("expected at most the {} that were dropped, found {}", counts.dropped,
                                 counts.startup_drops));
    }
}

/// So many intervals of this length have to fit into what times can be.
void check_span(std::size_t count, std::int64_t each_ns, const std::string& pointer, JsonProblems& problems) {
    if (each_ns < 0 || Wide{count} * static_cast<std::uint64_t>(each_ns) > Wide{kFarthestNs})
        problems.add(pointer,
                     fmt::format("expected a length of time for {} intervals, found {}", count, each_ns));
}

}  // namespace

void check_books(const RunResult& result, JsonProblems& problems) {
    check_counts(result.totals, "/totals", problems);
    for (std::size_t i = 0; i < result.streams.size(); ++i) {
        const StreamResult& stream = result.streams[i];
        const std::string pointer = fmt::format("/streams/{}", i);
        check_counts(stream.counts, pointer, problems);
        check_span(stream.series.points.size(), stream.series.interval_ns, pointer + "/series/interval_ns",
                   problems);
    }
    for (std::size_t i = 0; i < result.timeline.size(); ++i) {
        check_span(result.timeline.size(), result.timeline[i].interval_ns,
                   fmt::format("/timeline/{}/interval_ns", i), problems);
    }
    constexpr std::int64_t kOldestS = kFarthestNs / 1'000'000'000;
    if (result.media.age_s && (*result.media.age_s < 0 || *result.media.age_s > kOldestS))
        problems.add("/media/age_s", fmt::format("expected 0 to {}, found {}", kOldestS, *result.media.age_s));
}

}  // namespace streamsim
