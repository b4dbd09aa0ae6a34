// The tables of a run's report; empty ones have no rows. Inside report/ only.
#pragma once

#include <cstddef>

#include "report/tables/table.h"
#include "streamsim/run_result.h"

namespace streamsim::report {

enum class StreamOrder {
    as_numbered,  // the worst first only when not all are shown
    worst_first,
};

/// The streams of each format together; its sum is the totals of the document.
Table formats_table(const RunResult& result);
/// A row for each computer; empty unless there are several.
Table seats_table(const RunResult& result);
/// At most `rows_max` streams.
Table streams_table(const RunResult& result, std::size_t rows_max, StreamOrder order);
/// Service, response, open and seek over all streams.
Table latency_table(const RunResult& result);

/// The missed frames as events, the first `rows_max` by time.
Table events_table(const RunResult& result, std::size_t rows_max);
/// The frames of clips that were missed more than once, the most often missed first.
Table repetitions_table(const RunResult& result);
Table causes_table(const RunResult& result);

/// The counters of the server before and after play.
Table counters_table(const RunResult& result);
Table servers_table(const RunResult& result);
Table links_table(const RunResult& result);
/// Reads after play that failed.
Table probes_table(const RunResult& result);
/// The busiest parts of the model, at most `rows_max`.
Table parts_table(const RunResult& result, std::size_t rows_max);
/// The numbers of the charts over time, in some dozen intervals.
Table time_table(const RunResult& result);
Table margins_table(const RunResult& result);

}  // namespace streamsim::report
