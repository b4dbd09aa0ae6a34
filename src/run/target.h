// What TARGET names, by its form alone; nothing is looked at.
#pragma once

#include <string>

#include "base/result.h"

namespace streamsim {

struct Target {
    enum class Kind {
        local,         // files and directories of this machine, whatever is mounted there
        null,          // completes at once, in real time
        null_virtual,  // completes at once, in virtual time
    };
    Kind kind = Kind::local;
    std::string url;   // as typed
    std::string path;  // local: for open(2)
};

/// A path, "file:PATH", "file:///PATH", "null:" or "sim:null". Errors: bad input for another scheme, naming
/// what there is.
Result<Target> parse_target(const std::string& text);

}  // namespace streamsim
