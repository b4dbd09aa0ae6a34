#include "run/process/shell_command.h"

namespace streamsim::run {

bool shell_is_available() {
    return false;
}

std::string ShellOutcome::how_it_ended(Duration) const {
    return "was not run";
}

Result<ShellOutcome> run_shell(const ShellCommand&, const std::atomic<bool>&) {
    return environment_error("commands are not run on this system");
}

}  // namespace streamsim::run
