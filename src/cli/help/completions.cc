#include <fmt/format.h>

#include "base/check.h"
#include "cli/help/help.h"
#include "cli/options/option_table.h"

namespace streamsim::cli {
namespace {

/// A shell command that prints the names of the media formats.
constexpr std::string_view kFormatNames =
    R"sh(streamsim formats --json - 2>/dev/null | sed -n 's/^ *"name": "\(.*\)",$/\1/p')sh";

std::string joined(const std::vector<std::string>& words, const char* between = " ") {
    return fmt::format("{}", fmt::join(words, between));
}

/// The commands that are typed as a word.
std::vector<std::string> typed_commands() {
    std::vector<std::string> out;
    for (const CommandInfo& each : command_table()) {
        if (each.command != Command::play) out.emplace_back(each.name);
    }
    return out;
}

/// `text` with a backslash before each of some characters.
std::string escaped(std::string_view text, std::string_view characters) {
    std::string out;
    for (const char each : text)
        out += (characters.find(each) == characters.npos ? "" : "\\") + std::string(1, each);
    return out;
}

/// How each shell names a kind of words that it completes by itself.
struct ShellAction {
    const char* bash;
    const char* zsh;
    const char* fish;
};

const ShellAction& action_of(Completion completion) {
    static constexpr ShellAction kNone = {"nothing", " ", " -x"};
    static constexpr ShellAction kFile = {"file", "_files", " -r -F"};
    static constexpr ShellAction kDirectory = {"directory", "_files -/",
                                               " -x -a '(__fish_complete_directories)'"};
    static constexpr ShellAction kFormat = {"format", "_streamsim_formats",
                                            " -r -F -a '(__streamsim_formats)'"};
    static constexpr ShellAction kWorkload = {"workload", "_files", " -r -F"};
    switch (completion) {
        case Completion::none: return kNone;
        case Completion::file: return kFile;
        case Completion::directory: return kDirectory;
        case Completion::format: return kFormat;
        case Completion::workload: return kWorkload;
    }
    return kNone;
}

// bash

constexpr std::string_view kBashBegin =
    R"sh(# bash completion for streamsim; `streamsim completions bash` prints it.
_streamsim() {
    local IFS=$' \t\n'
    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" command="${COMP_WORDS[1]}"
    local options words completes=file
    COMPREPLY=()
    if [[ $word == = ]]; then
        word=
    elif [[ $before == = ]]; then
        before="${COMP_WORDS[COMP_CWORD-2]}"
    fi
)sh";

constexpr std::string_view kBashEnd = R"sh(    if [[ $word == -* ]]; then
        completes=words words=$options
    elif [[ $COMP_CWORD == 1 ]]; then
        words="$commands"
        COMPREPLY=($(compgen -W "$words" -- "$word"))
    fi
    _streamsim_reply
}
_streamsim_reply() {
    case $completes in
        words) COMPREPLY+=($(compgen -W "$words" -- "$word")) ;;
        format) COMPREPLY+=($(compgen -W "$(_streamsim_formats)" -- "$word")) ;;
    esac
    local IFS=$'\n'
    case $completes in
        directory) COMPREPLY+=($(compgen -d -- "$word")) ;;
        file|format|workload) COMPREPLY+=($(compgen -f -- "$word")) ;;
        *) return ;;
    esac
    compopt -o filenames 2>/dev/null
}
complete -F _streamsim streamsim
)sh";

std::string bash_action(Completion completion, const std::vector<std::string>& words) {
    if (words.empty()) return fmt::format("completes={}", action_of(completion).bash);
    return fmt::format("completes=words words='{}'", joined(words));
}

/// The words that one command takes: its options, their values, and its operand.
std::string bash_case(const CommandInfo& command) {
    std::vector<std::string> options;
    std::string values;
    for (const Option& option : option_table()) {
        if (!option.commands.has(command.command)) continue;
        for (const std::string& name : option.all_names()) options.push_back(name);
        const OptionValue& value = option.value;
        if (value.takes == OptionValue::Takes::nothing) continue;
        values += fmt::format("                {}) {}; _streamsim_reply; return ;;\n",
                              joined(option.all_names(), "|"), bash_action(value.completion, value.words));
    }
    const std::string operand = command.operands.empty() ? bash_action(Completion::none, {})
                                                         : bash_action(command.operands.front().completion,
                                                                       command.operands.front().words);
    return fmt::format(
        "        {})\n            options='{}'\n            case $before in\n{}            esac\n"
        "            {} ;;\n",
        command.command == Command::play ? "*" : command.name, joined(options), values, operand);
}

std::string bash_script() {
    std::string out =
        fmt::format("{}    local commands='{}'\n    case $command in\n", kBashBegin, joined(typed_commands()));
    for (const CommandInfo& each : command_table()) {
        if (each.command != Command::play) out += bash_case(each);
    }
    return out + bash_case(info(Command::play)) + "    esac\n" + std::string(kBashEnd) +
           fmt::format("_streamsim_formats() {{\n    {}\n}}\n", kFormatNames);
}

// zsh

/// For a text in single quotes inside the brackets of an _arguments specification.
std::string zsh_text(std::string_view text) {
    std::string out;
    for (const char each : escaped(text, "[]:")) out += each == '\'' ? "'\\''" : std::string(1, each);
    return out;
}

std::string zsh_action(Completion completion, const std::vector<std::string>& words) {
    return words.empty() ? action_of(completion).zsh : "(" + zsh_text(joined(words)) + ")";
}

std::string zsh_option(const Option& option, Command command) {
    const std::vector<std::string> names = option.all_names();
    const std::string help = zsh_text(option.help_for(command));
    const OptionValue& value = option.value;
    const bool again = value.takes == OptionValue::Takes::texts;
    std::string argument;
    if (value.takes != OptionValue::Takes::nothing)
        argument = fmt::format(":{}:{}", zsh_text(value.name), zsh_action(value.completion, value.words));
    if (names.size() == 1) return fmt::format("'{}{}[{}]{}'", again ? "*" : "", names[0], help, argument);
    return fmt::format("'({})'{{{}}}'[{}]{}'", joined(names), joined(names, ","), help, argument);
}

std::string zsh_case(const CommandInfo& command) {
    std::string out = fmt::format("        {})\n            _arguments -s", command.name);
    for (const Option& option : option_table()) {
        if (option.commands.has(command.command))
            out += " \\\n                " + zsh_option(option, command.command);
    }
    if (command.command == Command::play) out += " \\\n                '1:target:_streamsim_first'";
    for (const Operand& operand : command.operands) {
        if (command.command == Command::play) break;
        out += fmt::format(" \\\n                '{}:{}:{}'", operand.into_all != nullptr ? "*" : "",
                           operand.name, zsh_action(operand.completion, operand.words));
    }
    return out + " ;;\n";
}

std::string zsh_script() {
    std::string out =
        "#compdef streamsim\n# zsh completion for streamsim; `streamsim completions zsh` prints it.\n"
        "_streamsim_first() {\n    local -a commands=(\n";
    for (const CommandInfo& each : command_table()) {
        if (each.command != Command::play)
            out += fmt::format("        '{}:{}'\n", each.name, zsh_text(each.summary));
    }
    out += fmt::format(
        "    )\n    _describe command commands\n    _files\n}}\n"
        "_streamsim_formats() {{\n    local -a names=(${{(f)\"$({})\"}})\n    _describe format names\n    "
        "_files\n}}\n",
        kFormatNames);
    out += fmt::format(
        "_streamsim() {{\n    local command=${{words[2]}}\n    case $command in\n"
        "        {}) shift words; (( CURRENT-- )) ;;\n        *) command=play ;;\n    esac\n"
        "    case $command in\n",
        joined(typed_commands(), "|"));
    for (const CommandInfo& each : command_table()) out += zsh_case(each);
    return out +
           "    esac\n}\nif [[ $funcstack[1] == _streamsim ]]; then\n    _streamsim \"$@\"\n"
           "else\n    compdef _streamsim streamsim\nfi\n";
}

// fish

/// In single quotes.
std::string fish_text(std::string_view text) {
    return escaped(text, "'\\");
}

std::string fish_values(Completion completion, const std::vector<std::string>& words) {
    return words.empty() ? action_of(completion).fish : fmt::format(" -x -a '{}'", joined(words));
}

std::string fish_option(const Option& option) {
    std::string out =
        fmt::format("complete -c streamsim -n '__streamsim_command {}'", joined(names_of(option.commands)));
    for (const std::string& name : option.all_names())
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (option.value.takes != OptionValue::Takes::nothing)
        out += fish_values(option.value.completion, option.value.words);
    return out + fmt::format(" -d '{}'\n", fish_text(option.help));
}

std::string fish_operand(const CommandInfo& command) {
    const std::string condition =
        fmt::format("complete -c streamsim -n '__streamsim_command {}'", command.name);
    if (command.operands.empty()) return condition + " -f\n";
    const Operand& operand = command.operands.front();
    if (!operand.words.empty()) return fmt::format("{} -f -a '{}'\n", condition, joined(operand.words));
    if (operand.completion == Completion::format) return condition + " -a '(__streamsim_formats)'\n";
    return "";
}

std::string fish_script() {
    std::string out = fmt::format(
        "# fish completion for streamsim; `streamsim completions fish` prints it.\n"
        "function __streamsim_command\n    set -l words (commandline -opc)\n    set -l command play\n"
        "    if test (count $words) -gt 1; and contains -- $words[2] {}\n        set command $words[2]\n"
        "    end\n    contains -- $command $argv\nend\n"
        "function __streamsim_formats\n    {}\nend\n",
        joined(typed_commands()), kFormatNames);
    for (const CommandInfo& each : command_table()) {
        if (each.command != Command::play) {
            out +=
                fmt::format("complete -c streamsim -n 'test (count (commandline -opc)) -eq 1' -a {} -d '{}'\n",
                            each.name, fish_text(each.summary));
        }
        out += fish_operand(each);
    }
    for (const Option& option : option_table()) out += fish_option(option);
    return out;
}

}  // namespace

std::string completions(std::string_view shell) {
    if (shell == "bash") return bash_script();
    if (shell == "zsh") return zsh_script();
    STREAMSIM_CHECK(shell == "fish", "the command line accepts no other shell");
    return fish_script();
}

}  // namespace streamsim::cli
