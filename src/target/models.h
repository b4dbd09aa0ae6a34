// The models of storage that a target can name: documents of streamsim and of a user.
#pragma once

#include <string>

#include "base/result.h"
#include "target/target.h"

namespace streamsim::target {

/// Reads the document of a model target and applies the options of its URL; the result is target.model.
/// `directory` has streamsim's own documents, NAME.json each. Errors: bad input that lists their names where
/// there is no such document, with every problem of the document, and for options beyond the size of the
/// cluster; environment where a file cannot be read. REQUIRES: target.kind is model.
Result<void> open_model(Target& target, const std::string& directory);

}  // namespace streamsim::target
