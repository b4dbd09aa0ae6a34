// The texts of --help and of the manual page.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "cli/help/help.h"
#include "cli/options/option_table.h"

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
    for (const std::string_view line : split(text, '\n')) {
        const bool example = line.starts_with(' ');
        const auto lines = example ? std::vector{std::string(line)} : wrapped(line, kColumns);
        for (const std::string& each : lines) out += each + "\n";
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

/// "[OPTIONS] TARGET": what follows the command's name.
std::string usage(const CommandInfo& command) {
    std::string out = "[OPTIONS]";
    for (const Operand& operand : command.operands) {
        const std::string name = operand.name + std::string(operand.into_all != nullptr ? "..." : "");
        out += operand.required ? " " + name : " [" + name + "]";
    }
    return out;
}

/// "--streams N", "-q, --quiet": the names of an option with its value.
std::string shown_names(const Option& option) {
    std::vector<std::string> names = option.all_names();
    std::reverse(names.begin(), names.end());  // "-q, --quiet"
    return fmt::format("{}{}{}", fmt::join(names, ", "), option.value.name.empty() ? "" : " ",
                       option.value.name);
}

/// The help of an option with its default: "streams per seat, of each format (default: 1)".
std::string shown_help(const std::string& help, const std::string& standard) {
    return standard.empty() ? help : fmt::format("{} (default: {})", help, standard);
}

std::string command_rows() {
    std::string out = "\nCommands (streamsim COMMAND --help):\n";
    for (const CommandInfo& each : command_table()) {
        if (each.command != Command::play) out += row(each.name, each.summary, 15);
    }
    return out;
}

/// The options of a command, its own before those that it shares with play.
std::string option_rows(Command command) {
    const auto is_own = [command](const Option& option) {
        return command != Command::play && option.commands.has(command) && !option.commands.has(Command::play);
    };
    const auto row_of = [command](const Option& option) {
        return row(shown_names(option), shown_help(option.help_for(command), option.standard_for(command)),
                   kHelpColumn);
    };
    std::string out;
    for (const Option& option : option_table()) {
        if (is_own(option)) out += row_of(option);
    }
    if (!out.empty()) out = fmt::format("\nOptions of {} itself:\n{}", info(command).name, out);
    for (const char* group : option_groups()) {
        std::string rows;
        for (const Option& option : option_table()) {
            if (std::string_view(option.group) == group && option.commands.has(command) && !is_own(option))
                rows += row_of(option);
        }
        if (!rows.empty()) out += fmt::format("\n{}:\n{}", group, rows);
    }
    return out;
}

// The manual page

constexpr std::string_view kExitCodes = R"(.SH EXIT STATUS
.TP
.B 0
Every stream played without a missed frame, or the command did its work.
.TP
.B 1
It ran, and frames were late, dropped or failed, or the player stalled.
.TP
.B 2
Bad input: an option, a document or a media file. Each problem is named with its place.
.TP
.B 3
It could not run: the storage is not there, or permission, space, memory or another resource is missing.
.TP
.B 130
It was interrupted. The result up to then is written.
)";

constexpr std::string_view kFiles = R"(.SH FILES
.TP
.I TARGET/streamsim-media/
The only folder below TARGET that streamsim writes to. It holds a marker file;
.B streamsim clean
removes the folder.
)";

/// Text for roff: `code` becomes bold, a hyphen stays a hyphen when it is copied.
std::string roff(std::string_view text) {
    std::string out;
    bool code = false;
    for (const char each : text) {
        switch (each) {
            case '\\': out += "\\e"; break;
            case '-': out += "\\-"; break;
            case '\'': out += "\\(aq"; break;
            case '`': out += std::exchange(code, !code) ? "\\fR" : "\\fB"; break;
            default: out += each;
        }
    }
    return out.starts_with('.') ? "\\&" + out : out;
}

/// Lines that begin with a space are examples.
std::string roff_paragraphs(std::string_view text) {
    std::string out;
    bool example = false;
    if (text.empty()) return out;
    for (const std::string_view line : split(text, '\n')) {
        if (line.starts_with(' ') != example) out += std::exchange(example, !example) ? ".EE\n" : ".EX\n";
        out += roff(line) + "\n";
    }
    return out + (example ? ".EE\n" : "");
}

std::string synopsis() {
    std::string out = ".SH SYNOPSIS\n";
    for (const CommandInfo& each : command_table()) {
        if (each.command != Command::play) out += ".br\n";
        out += fmt::format(".B {}\n{}\n", roff(typed_name(each)), roff(usage(each)));
    }
    return out;
}

std::string commands() {
    std::string out = ".SH COMMANDS\n";
    for (const CommandInfo& each : command_table()) {
        out += fmt::format(".SS {} {}\n{}.\n", roff(typed_name(each)), roff(usage(each)), roff(each.summary));
        if (each.command != Command::play) out += roff_paragraphs(each.about);
        for (const Operand& operand : each.operands)
            out += fmt::format(".TP\n.I {}\n{}\n", operand.name, roff(operand.help));
    }
    return out;
}

std::string option_entry(const Option& option) {
    std::string out = fmt::format(".TP\n.B {}\n{}.\n", roff(shown_names(option)),
                                  roff(shown_help(option.help, option.value.standard)));
    if (!option.value.range.empty()) out += roff(fmt::format("Expected: {}.", option.value.range)) + "\n";
    if (*option.environment != '\0') out += roff(fmt::format("Environment: {}.", option.environment)) + "\n";
    out += fmt::format(".br\nCommands: {}.\n", fmt::join(names_of(option.commands), ", "));
    for (const Option::Variant& variant : option.variants) {
        out += fmt::format(".br\nFor {}: {}.\n", fmt::join(names_of(variant.commands), ", "),
                           roff(shown_help(variant.help, variant.standard)));
    }
    return out;
}

std::string options() {
    std::string out =
        ".SH OPTIONS\nTimes take ns us ms s m h, sizes B KiB MiB GiB kB MB GB; both need a unit.\n";
    for (const char* group : option_groups()) {
        out += fmt::format(".SS {}\n", group);
        for (const Option& option : option_table()) {
            if (std::string_view(option.group) == group) out += option_entry(option);
        }
    }
    return out;
}

std::string environment() {
    std::string out = ".SH ENVIRONMENT\n";
    for (const EnvironmentVariable& each : environment_table())
        out += fmt::format(".TP\n.B {}\n{}\n", each.name, roff(each.help));
    return out;
}

}  // namespace

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

std::string man_page(const std::string& version) {
    const CommandInfo& play = info(Command::play);
    return fmt::format(".TH STREAMSIM 1 \"\" \"streamsim {}\" \"User Commands\"\n.SH NAME\nstreamsim \\- {}\n",
                       roff(version), roff(play.summary)) +
           synopsis() + ".SH DESCRIPTION\n" + roff(play.about) + "\n" + commands() + options() +
           std::string(kExitCodes) + environment() + std::string(kFiles);
}

}  // namespace streamsim::cli
