#include <functional>

#include "profile/input/run_program.h"

namespace streamsim::profile {

bool can_run(const std::string&) {
    return false;
}

Result<void> run_for_lines(const std::string& program,
                           const std::vector<std::string>&,
                           const std::function<bool(std::string_view)>&) {
    return environment_error(program + " is not started on this system");
}

}  // namespace streamsim::profile
