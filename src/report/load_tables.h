// The tables of a workload's report. Inside report/ only.
#pragma once

#include <string>

#include "streamsim/load_result.h"

namespace streamsim {

std::string steps_table(const LoadResult& result);
/// Three tables a step, and three more for each client where there are two to `clients_shown` of them.
std::string modes_tables(const LoadResult& result, std::size_t clients_shown);
/// Empty where there is one client.
std::string clients_table(const LoadStep& step);
/// Empty where nothing was printed.
std::string printed_table(const LoadResult& result);

}  // namespace streamsim
