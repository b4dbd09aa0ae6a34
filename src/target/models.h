// The models of storage that a target can name: documents of streamsim's own, and a user's.
#pragma once

#include <string>

#include "base/result.h"
#include "target/target.h"

namespace streamsim::target {

/// Reads the document of a model target and applies the options of its URL: target.model is what is played.
/// `directory` is where streamsim's own documents are, NAME.json each. Errors: bad input that lists them when
/// there is none of that name, with every problem of the document, and for options that this cluster does not
/// have room for; environment when a file cannot be read. REQUIRES: target.kind is model.
Result<void> open_model(Target& target, const std::string& directory);

}  // namespace streamsim::target
