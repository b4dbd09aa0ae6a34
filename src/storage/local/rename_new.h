// A rename that never replaces, for the systems without directory descriptors. Inside storage/ only.
#pragma once

#include <string>

namespace streamsim::storage {

/// As rename(2), but EEXIST if the new name exists. Returns zero or an errno.
int rename_new(const std::string& from, const std::string& to);

}  // namespace streamsim::storage
