// Documents of streamsim's own, which are named, and of a user, which are files.
#pragma once

#include <string>

namespace streamsim::target {

/// True: `typed` is a FILE, as it has a '/' or ends with ".json". False: it is the NAME of a document.
bool names_a_file(const std::string& typed);

/// "f800, h500, ...": the names of the documents in a directory, in order.
std::string document_names(const std::string& directory);

}  // namespace streamsim::target
