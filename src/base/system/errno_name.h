// Names and words of errno values.
#pragma once

#include <optional>
#include <string_view>

namespace streamsim {

/// "ENOENT"; null: no errno value of this system.
const char* errno_name(int error);

/// "No such file or directory"; null: no errno value of this system. The text is the same in every locale.
const char* errno_description(int error);

/// The errno value with the name "EIO"; nothing for anything else.
std::optional<int> errno_from_name(std::string_view name);

}  // namespace streamsim
