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
#include "cli/ranks_run.h"
#include "cli/system.h"
#include "cli/version.h"
#include "run/backends.h"
#include "run/control.h"
#include "run/mpi_start.h"

namespace streamsim {
namespace {

std::string version_text() {
    return fmt::format("streamsim {} ({})\nstorage backends: {}\nMPI: {}", version(), revision(),
                       fmt::join(backend_names(), ", "), mpi_version());
}

using Command = CliOptions::Command;

/// Nothing that takes long enough to be interrupted with a loss.
bool is_done_at_once(Command command) {
    return command == Command::formats || command == Command::report;
}

int do_command(CliContext& context, std::optional<Control>& control, CliOptions& options) {
    switch (options.command) {
        case Command::play: return play_command(context, *control, options);
        case Command::prepare: return prepare_command(context, *control, options);
        case Command::max: return max_command(context, *control, options);
        case Command::report: return report_command(context, options);
        case Command::run: return run_command(context, *control, options);
        case Command::formats: return formats_command(context, options);
        case Command::inspect: return inspect_command(context, *control, options);
        case Command::profile: return profile_command(context, *control, options);
        case Command::clean: return clean_command(context, *control, options);
    }
    return kExitBadInput;
}

int run_line(CliContext& context, Command command, int argc, const char* const* argv) {
    // Where an interruption must not lose a result, it is listened for from the first moment.
    std::optional<Control> control;
    if (!is_done_at_once(command)) control.emplace();
    auto parsed = parse_command_line(argc, argv, version_text());
    if (context.ranks != nullptr) {
        if (auto agreed = agree_on_command(context, *control, parsed); !agreed)
            return report_error(context, agreed.error());
    }
    const bool speaks = context.ranks == nullptr || context.ranks->first();
    if (!parsed) return report_error(context, parsed.error());
    if (parsed->text) {
        if (speaks) fmt::print("{}", parsed->text->text);
        return kExitPass;
    }
    if (parsed->options.verbose && speaks) context.log.set_level(spdlog::level::debug);
    return do_command(context, control, parsed->options);
}

int run(const std::vector<std::string>& words) {
    std::vector<const char*> pointers;
    for (const std::string& word : words) pointers.push_back(word.c_str());
    const auto argc = static_cast<int>(pointers.size());
    const char* const* const argv = pointers.data();
    spdlog::logger log("streamsim", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    log.set_pattern("%n: %^%v%$");
    CliContext context{log, {version(), revision(), words}};
    const auto command = command_of(argc, argv);
    const auto place = mpi_place();
    if (!place) return run_line(context, command, argc, argv);
    if (is_done_at_once(command) || command == Command::inspect || command == Command::clean ||
        command == Command::profile)  // one is enough
        return place->rank > 0 ? kExitPass : run_line(context, command, argc, argv);
    auto ranks = Ranks::begin();
    if (!ranks && ranks.error().kind == ErrorKind::interrupted) return kExitPass;  // rank 0 has said why
    if (!ranks) return report_error(context, ranks.error());
    context.ranks = ranks->get();
    if (!context.ranks->first()) log.set_level(spdlog::level::off);
    return context.ranks->finish(run_line(context, command, argc, argv));
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
