// The result of a workload as text. It begins and ends with the verdict.
#pragma once

#include <string>

#include "report/text/text_detail.h"
#include "streamsim/load_result.h"

namespace streamsim::report {

/// On one screen: the steps, cut after some rows. In full also the tables of clients, of transfer modes, and
/// the figures of the source.
std::string load_text_report(const LoadResult& result, TextDetail detail);

}  // namespace streamsim::report
