// As much of JSON Schema (draft 2020-12) as formats/schema/result.json uses: type, const, enum, required,
// properties, additionalProperties, items, minItems, maxItems, minimum, exclusiveMinimum, pattern (not
// evaluated), $defs and local $ref. A keyword that it does not know is a problem, so that nothing is
// left unchecked without a message.
#pragma once

#include <string>
#include <vector>

#include "base/document/json.h"

namespace streamsim::report {

/// formats/schema/NAME.
Json schema(const std::string& name);

/// Every problem as "pointer: what".
std::vector<std::string> schema_problems(const Json& schema, const Json& document);

}  // namespace streamsim::report
