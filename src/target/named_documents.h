// The documents that a NAME or a FILE names: models of storage and workloads. A FILE has a '/' or ends with
// ".json"; a NAME is that of a document of streamsim's own, NAME.json in a directory.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "streamsim/workload.h"
#include "target/target.h"

namespace streamsim::target {

/// A '/' in it, or ".json" at its end: it is no NAME.
bool names_a_file(const std::string& typed);

/// Reads the document of a model target and applies the options of its URL; the result is target.model. Errors:
/// bad input that lists the names in `directory` where there is no such document, with every problem of the
/// document, and for options beyond the size of the cluster; environment where a file cannot be read. REQUIRES:
/// target.kind is model.
Result<void> open_model(Target& target, const std::string& directory);

/// Errors: bad input that lists the names in `directory`, or every problem of the document; environment when
/// the file cannot be read.
Result<Workload> open_workload(const std::string& typed, const std::string& directory);

/// How far to trust a model: a sentence on the published rows that it was fitted to, and one on those that it
/// was checked on, of each paper in `directory`.
std::vector<std::string> trust_of(const std::string& model, const std::string& directory);

/// The same of a model that was calibrated: its measurement, and the run that was held back.
std::vector<std::string> trust_of(const CalibrationFacts& facts);

/// The names of the documents in a directory, in order: "f800", "h500", ...
std::vector<std::string> document_names(const std::string& directory);

/// A sentence for each member of the document that changes nothing.
std::vector<std::string> without_effect(const Workload& workload);

}  // namespace streamsim::target
