// The table of a search for the largest number of streams. Inside report/ only.
#pragma once

#include <string>

#include "report/tables/table.h"
#include "streamsim/max_result.h"

namespace streamsim::report {

/// The run that failed with one more than the number found; null if there is none.
const MaxRun* run_of_one_more(const MaxFormat& format);

/// "plays 7, 3 a seat", "plays at least 12", "plays none"; "plays 3 a seat, 12 in all"; "plays 5 seats, 10
/// streams"
std::string plays_text(const MaxFormat& format, const MaxResult& result);

/// A row for each format.
Table max_table(const MaxResult& result);

}  // namespace streamsim::report
