#include "scenario/before_step.h"

#include <fmt/format.h>

#include "base/utf8.h"
#include "scenario/reading.h"

namespace streamsim::scenario {
namespace {

constexpr std::size_t kCommandBytesMax = 4096;

/// `shown`: the text without line ends and tabs, which a command may have.
bool looks_as_it_is(const std::string& command) {
    std::string shown;
    for (const char c : command) {
        if (c != '\n' && c != '\t') shown.push_back(c);
    }
    return printable(shown) == shown;
}

std::string read_command(JsonObject& object, const char* key, bool required) {
    std::string command = object.string(key, required).value_or("");
    if (command.size() > kCommandBytesMax)
        object.problem(
            key, fmt::format("expected at most {} bytes: put the commands into a script", kCommandBytesMax));
    if (!looks_as_it_is(command))
        object.problem(key,
                       "expected a command without control characters and without invisible ones, so that "
                       "it can be judged by reading it");
    return command;
}

}  // namespace

StepCommands read_before_step(JsonObject& document, JsonProblems& problems) {
    StepCommands commands;
    const Json* const value = document.member("before_step", false);
    if (value == nullptr) return commands;
    if (value->is_string()) {
        commands.as_text = true;
        commands.command = read_command(document, "before_step", false);
        return commands;
    }
    if (!value->is_object()) {
        document.problem("before_step",
                         "expected a command as a text, or an object with \"command\", "
                         "\"counters\" and \"timeout\"");
        return commands;
    }
    JsonObject object(*value, document.pointer_of("before_step"), problems);
    const bool either = object.has("command") || object.has("counters");
    commands.command = read_command(object, "command", !either);
    commands.counters = read_command(object, "counters", false);
    commands.timeout = read_scenario_length(object, "timeout", false).value_or(commands.timeout);
    object.finish();
    return commands;
}

}  // namespace streamsim::scenario
