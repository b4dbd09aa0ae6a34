#include <fmt/format.h>

#include "target/credentials.h"

namespace streamsim::target {

Result<std::string> read_secret(const std::string& name) {
    return bad_input(
        fmt::format("{}: credentials are for smb://, which this streamsim was built without", name));
}

}  // namespace streamsim::target
