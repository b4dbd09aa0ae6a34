// The places that this process may read and write, where somebody else names its targets.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "target/target.h"

namespace streamsim::target {

/// From here on, parse_target() refuses targets that lie outside these: paths of this computer, and the
/// beginnings of nfs:// and smb:// URLs; the ports and addresses= of a target must be those of its place.
/// "NAME=PATH" is a path that others call NAME. null: and sim: read nothing, and are always allowed. Before
/// there are threads.
void allow_only(const std::vector<std::string>& places);

/// From here on, documents are of streamsim's own: no name of one may be a file. Before there are threads.
void read_no_named_files();
bool named_files_are_read();
/// Errors: bad input where `typed` names a file and none is read.
Result<void> check_named_file(const std::string& typed);

/// Those of allow_only(), as this computer has them.
std::vector<std::string> allowed_places();

/// `target`, which others may call by a NAME of allow_only(), as this computer has it.
std::string place_here(const std::string& target);

/// Success where allow_only() was not called. Links are followed first. Errors: bad input that names the
/// places.
Result<void> check_allowed(const Target& target);

}  // namespace streamsim::target
