#include "cli/commands.h"

namespace streamsim {

int report_command(CliContext& context, const CliOptions& /*options*/) {
    return report_error(context, bad_input("report is not there yet"));
}

}  // namespace streamsim
