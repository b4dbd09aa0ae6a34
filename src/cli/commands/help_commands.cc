// `man` and `completions`: what packages install beside the program.
#include <cstdio>

#include "cli/commands/commands.h"
#include "cli/help/completions.h"
#include "cli/help/man_page.h"

namespace streamsim::cli {

int man_command(const CliContext& context) {
    print_text(stdout, man_page(context.program.version));
    return kExitPass;
}

int completions_command(const CliOptions& options) {
    print_text(stdout, completions(options.name));
    return kExitPass;
}

}  // namespace streamsim::cli
