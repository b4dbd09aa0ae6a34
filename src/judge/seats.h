// The verdict on a run over several computers.
#pragma once

#include <string>
#include <vector>

#include "streamsim/run_result.h"

namespace streamsim::judge {

/// "seat 2 (host h3)", "seats 4 to 5 (host h3)"; "rank 2" for a computer whose seats are not known.
std::string seat_name(const SeatResult& seat);

/// Passes when every seat passes and none has vanished. Names the seats that do not.
Verdict verdict_of_seats(const std::vector<SeatResult>& seats);

}  // namespace streamsim::judge
