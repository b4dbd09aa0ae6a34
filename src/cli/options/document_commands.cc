#include "cli/options/document_commands.h"

#include <fmt/format.h>

#include "base/utf8.h"
#include "run/process/shell_command.h"

namespace streamsim::cli {
namespace {

/// One of the two commands: how a document and the command line name it.
struct CommandName {
    const char* option;
    const char* key;
    std::string StepCommands::*text;
};
constexpr CommandName kCommandNames[] = {{"--before-step", "/before_step/command", &StepCommands::command},
                                         {"--counters", "/before_step/counters", &StepCommands::counters}};

}  // namespace

bool lacks_shell(const CliOptions& options) {
    return options.leads && !run::shell_is_available();
}

Result<void> take_commands(const std::string& source,
                           const StepCommands& document,
                           const target::Target& target,
                           CliOptions& options) {
    Error problems;
    bool takes_some = false;
    for (const CommandName& name : kCommandNames) {
        const bool typed = options.given(name.option);
        const std::string& text = typed ? options.step.*name.text : document.*name.text;
        if (text.empty()) continue;
        const std::string place =
            typed ? name.option : fmt::format("{}: {}", source, document.as_text ? "/before_step" : name.key);
        if (lacks_shell(options)) {
            problems.problems.push_back(place + ": streamsim runs no commands on this system");
        } else if (!target.has_files()) {
            problems.problems.push_back(
                fmt::format("{}: is for storage: {} has no cache of a server to flush, and no counters", place,
                            printable(target.url)));
        } else if (!typed && !options.allow_commands) {
            problems.problems.push_back(
                fmt::format("{}: this document asks for a command on this computer: {} (--allow-commands runs "
                            "it, {} '' leaves it out)",
                            place, printable(text), name.option));
        } else if (!typed) {
            takes_some = true;
            options.step.*name.text = text;
        }
    }
    if (!problems.problems.empty()) return problems;
    if (takes_some && !options.given("--command-timeout")) options.step.timeout = document.timeout;
    return {};
}

void add_commands_without_effect(const Workload& workload, std::vector<std::string>& remarks) {
    if (workload.before_step.empty()) return;
    remarks.push_back(
        fmt::format("{}: before_step has no effect beside streams: give --before-step and "
                    "--counters, or name them in the scenario",
                    workload.name));
}

}  // namespace streamsim::cli
