// Meters in documents. Inside report/ only.
#pragma once

#include "base/document/json.h"
#include "result/result_reading.h"
#include "streamsim/meter_result.h"

namespace streamsim::result {

/// One entry of "meters": counts, rates over its time, latencies, its cells by mode and block, its series, its
/// errors.
OrderedJson meter_json(const MeterResult& meter);

namespace reading {
void read(const Node& node, MeterResult& into);
}  // namespace reading

}  // namespace streamsim::result
