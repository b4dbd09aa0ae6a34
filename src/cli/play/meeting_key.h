// The key of a run whose seats join, in a file.
#pragma once

#include <string>

#include "base/result.h"
#include "seats/seat_keys.h"

namespace streamsim::cli {

/// Reads the file; where there is none and `may_make` is true, makes one that only its owner may read, and sets
/// `made`. Errors: as read_secret; bad input: it is no key, its time is over; environment: it cannot be made.
Result<seats::SeatKeys> open_meeting_key(const std::string& file, bool may_make, bool& made);

}  // namespace streamsim::cli
