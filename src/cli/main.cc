#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/system.h"
#include "cli/version.h"
#include "run/backends.h"
#include "run/control.h"

namespace streamsim {
namespace {

std::string version_text() {
    return fmt::format("streamsim {} ({})\nstorage backends: {}", version(), revision(),
                       fmt::join(backend_names(), ", "));
}

int run(const std::vector<std::string>& words) {
    std::vector<const char*> pointers;
    for (const std::string& word : words) pointers.push_back(word.c_str());
    const auto argc = static_cast<int>(pointers.size());
    const char* const* const argv = pointers.data();
    spdlog::logger log("streamsim", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    log.set_pattern("%n: %^%v%$");
    CliContext context{log, {version(), revision(), words}};
    // Where an interruption must not lose a result, it is listened for from the first moment.
    const auto command = command_of(argc, argv);
    std::optional<Control> control;
    const bool at_once = command == CliOptions::Command::formats || command == CliOptions::Command::clean ||
                         command == CliOptions::Command::report;
    if (!at_once) control.emplace();
    auto parsed = parse_command_line(argc, argv, version_text());
    if (!parsed) return report_error(context, parsed.error());
    if (parsed->text) {
        fmt::print("{}", parsed->text->text);
        return kExitPass;
    }
    CliOptions& options = parsed->options;
    if (options.verbose) log.set_level(spdlog::level::debug);
    switch (options.command) {
        case CliOptions::Command::play: return play_command(context, *control, options);
        case CliOptions::Command::prepare: return prepare_command(context, *control, options);
        case CliOptions::Command::max: return max_command(context, *control, options);
        case CliOptions::Command::report: return report_command(context, options);
        case CliOptions::Command::run: return run_command(context, *control, options);
        case CliOptions::Command::formats: return formats_command(context, options);
        case CliOptions::Command::inspect: return inspect_command(context, *control, options);
        case CliOptions::Command::clean: return clean_command(context, options);
    }
    return kExitBadInput;
}

}  // namespace
}  // namespace streamsim

int main(int argc, char** argv) {
    try {
        return streamsim::run(streamsim::begin_program(argc, argv));
    } catch (const std::system_error& error) {
        // The one that is expected: standard output cannot be written.
        std::fprintf(stderr, "streamsim: %s\n", error.what());
        return streamsim::kExitCannotRun;
    } catch (const std::exception& exception) {
        // A library's exception that nobody expected is a bug; it must not look like a result.
        std::fprintf(stderr, "streamsim: internal error: %s\n", exception.what());
        return streamsim::kExitCannotRun;
    }
}
