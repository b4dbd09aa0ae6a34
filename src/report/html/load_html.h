// The result of a workload as one HTML file that needs no other file and no network.
#pragma once

#include <string>

#include "streamsim/load_result.h"

namespace streamsim::report {

std::string load_html_report(const LoadResult& result);

}  // namespace streamsim::report
