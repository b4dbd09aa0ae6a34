#include "cli/commands.h"

namespace streamsim {

int max_command(CliContext& context, Control& /*control*/, CliOptions& /*options*/) {
    return report_error(context, bad_input("max is not there yet"));
}

}  // namespace streamsim
