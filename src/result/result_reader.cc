#include "result/result_reader.h"

#include <fmt/format.h>

#include <optional>

#include "base/wide.h"
#include "result/field_reader.h"
#include "result/json_values.h"
#include "result/miss_events.h"
#include "streamsim/fields.h"

namespace streamsim::result {
namespace {

// More times of one value in a histogram are no measurement.
constexpr std::uint64_t kBucketTimesMax = std::uint64_t{1} << 48;

/// No frame is lost and none is counted twice, in the counts of a document either.
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

/// All intervals together have to fit between the farthest times.
void check_span(std::size_t count, std::int64_t each_ns, const std::string& pointer, JsonProblems& problems) {
    if (each_ns < 0 || Wide{count} * static_cast<std::uint64_t>(each_ns) > Wide{kFarthestNs})
        problems.add(pointer,
                     fmt::format("expected a length of time for {} intervals, found {}", count, each_ns));
}

/// Buckets ascend between the least and the largest value, and none is empty.
void check_histogram(const HistogramCounts& histogram, const std::string& pointer, JsonProblems& problems) {
    std::int64_t least = histogram.min;
    for (std::size_t i = 0; i < histogram.buckets.size(); ++i) {
        const HistogramCounts::Bucket& bucket = histogram.buckets[i];
        if (bucket.value < least || bucket.value > histogram.max) {
            problems.add(
                fmt::format("{}/values/{}", pointer, i),
                fmt::format("expected {} to {}, ascending, found {}", least, histogram.max, bucket.value));
            return;
        }
        if (bucket.times == 0 || bucket.times > kBucketTimesMax) {
            problems.add(fmt::format("{}/times/{}", pointer, i),
                         fmt::format("expected 1 to {}, found {}", kBucketTimesMax, bucket.times));
            return;
        }
        least = bucket.value + 1;
    }
}

void check_histograms(const std::optional<StreamHistograms>& histograms,
                      const std::string& pointer,
                      JsonProblems& problems) {
    if (!histograms) return;
    auto check = [&](const char* key, const HistogramCounts& histogram, Presence = kAlways) {
        check_histogram(histogram, pointer + "/" + key, problems);
    };
    fields(*histograms, check);
}

void check_seats(const RunResult& result, JsonProblems& problems) {
    if (result.seats.empty()) return;
    if (result.run_id.empty()) problems.add("/run_id", "expected the name of the run that these seats are of");
    if (result.ranks == 0 || result.ranks > kRanksMax)
        problems.add("/ranks", fmt::format("expected 1 to {}, found {}", kRanksMax, result.ranks));
    for (std::size_t i = 0; i < result.seats.size(); ++i) {
        const SeatResult& seat = result.seats[i];
        const std::string pointer = fmt::format("/seats/{}", i);
        check_counts(seat.totals, pointer + "/totals", problems);
        const bool ascending = i == 0 || seat.rank > result.seats[i - 1].rank;
        if (seat.rank >= result.ranks || !ascending)
            problems.add(pointer + "/rank",
                         fmt::format("expected ranks below {}, ascending, found {}", result.ranks, seat.rank));
    }
}

/// Notes counts that do not add up, and intervals that no run has. REQUIRES: no time is beyond kFarthestNs.
void check_plausible(const RunResult& result, JsonProblems& problems) {
    check_counts(result.totals, "/totals", problems);
    check_histograms(result.histograms, "/totals/histograms", problems);
    check_seats(result, problems);
    for (std::size_t i = 0; i < result.streams.size(); ++i) {
        const StreamResult& stream = result.streams[i];
        const std::string pointer = fmt::format("/streams/{}", i);
        check_counts(stream.counts, pointer, problems);
        check_histograms(stream.histograms, pointer + "/histograms", problems);
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

/// A document of another kind has this problem alone.
void check_kind(const Json& document, JsonProblems& problems) {
    JsonObject object(document, "", problems);
    if (!problems.empty()) return;
    const auto schema = object.string("schema");
    if (schema == "streamsim.max") {
        object.problem("schema",
                       "this is what streamsim max found, not the result of one run: expected a document "
                       "that play or run wrote with --json");
    } else if (schema == "streamsim.comparison") {
        object.problem("schema", "this is a comparison of results: expected the results themselves");
    } else {
        check_schema(object, "streamsim.result", 1);
    }
}

}  // namespace

Result<RunResult> read_result(std::string_view text, const std::string& source) {
    const auto document = parse_json(text, source);
    if (!document) return document.error();
    JsonProblems problems(source);
    check_kind(*document, problems);
    if (!problems.empty()) return problems.error();
    RunResult result;
    const JsonNode root{*document, "", problems};
    FieldReader members(root);
    fields(result, members);
    if (problems.empty()) check_plausible(result, problems);
    if (!problems.empty()) return problems.error();
    if (!document->contains("events")) result.events = events_of_drops(result);
    return result;
}

}  // namespace streamsim::result
