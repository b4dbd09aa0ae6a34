#include "cli/help/help_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace streamsim::cli {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kHelpColumn = 27;  // where the help of an option begins

/// Breaks a text between words into lines of at most `width` columns. ASCII.
std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        std::size_t end = std::min(text.size(), width);
        if (end < text.size()) {
            const std::size_t space = text.rfind(' ', end);
            if (space != std::string_view::npos && space > 0) end = space;
        }
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(end);
        text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    }
    return lines;
}

/// Paragraphs are lines of `text`; one that begins with a space is an example and stays as it is.
std::string paragraphs(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        if (line.starts_with(' ')) {
            out += std::string(line) + "\n";
        } else {
            for (const std::string& each : wrapped(line, kColumns)) out += each + "\n";
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

/// A name on the left, its help on the right; the help begins below a name that is too long.
std::string row(const std::string& name, const std::string& help, std::size_t column) {
    std::string out = "  " + name;
    const bool fits = out.size() + 2 <= column;
    if (!fits) out += "\n";
    for (const std::string& line : wrapped(help, kColumns - column)) {
        const std::size_t begun = out.size() - (out.rfind('\n') + 1);
        out += std::string(column - begun, ' ') + line + "\n";
    }
    return out;
}

std::string command_rows() {
    std::string out = "\nCommands (streamsim COMMAND --help):\n";
    for (const CommandInfo& each : command_table()) {
        if (each.command != Command::play) out += row(each.name, each.summary, 15);
    }
    return out;
}

std::string option_rows(Command command) {
    std::string out;
    for (const char* group : option_groups()) {
        std::string rows;
        for (const Option& option : option_table()) {
            if (std::string_view(option.group) != group || !option.commands.has(command)) continue;
            rows += row(shown_names(option), shown_help(option.help_for(command), option.standard_for(command)),
                        kHelpColumn);
        }
        if (!rows.empty()) out += fmt::format("\n{}:\n{}", group, rows);
    }
    return out;
}

}  // namespace

std::string usage(const CommandInfo& command) {
    std::string out = "[OPTIONS]";
    for (const Operand& operand : command.operands) {
        const std::string name = operand.name + std::string(operand.into_all != nullptr ? "..." : "");
        out += operand.required ? " " + name : " [" + name + "]";
    }
    return out;
}

std::string shown_names(const Option& option) {
    std::vector<std::string> names = option.all_names();
    std::reverse(names.begin(), names.end());  // "-q, --quiet"
    std::string out;
    for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
    return option.value.name.empty() ? out : out + " " + option.value.name;
}

std::string shown_help(const std::string& help, const std::string& standard) {
    return standard.empty() ? help : fmt::format("{} (default: {})", help, standard);
}

std::string help_text(Command command) {
    const CommandInfo& shown = info(command);
    const bool play = command == Command::play;
    std::string out = play ? "" : paragraphs(fmt::format("{} {}.", typed_name(shown), shown.summary));
    out += paragraphs(shown.about);
    out += fmt::format("\nUsage:\n  {} {}\n", typed_name(shown), usage(shown));
    if (play) {
        out +=
            "  streamsim COMMAND [OPTIONS] ...\n"
            "\nExamples:\n"
            "  streamsim --dpx12 --streams 4 /mnt/media   makes and plays four UHD sequences\n"
            "  streamsim /mnt/media/shot                  plays what is there\n"
            "  streamsim max --prores-uhd /mnt/media      finds how many streams play\n";
        out += command_rows();
    }
    if (!shown.operands.empty()) out += "\nOperands:\n";
    for (const Operand& operand : shown.operands) out += row(operand.name, operand.help, kHelpColumn);
    return out + option_rows(command);
}

}  // namespace streamsim::cli
