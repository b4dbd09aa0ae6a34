#include "cli/help/man_page.h"

#include <fmt/format.h>

#include <string_view>

#include "cli/help/help_text.h"
#include "cli/options/option_table.h"

namespace streamsim::cli {
namespace {

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
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        if (line.starts_with(' ') != example) out += std::exchange(example, !example) ? ".EE\n" : ".EX\n";
        out += roff(line) + "\n";
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out + (example ? ".EE\n" : "");
}

/// "max, prepare": the commands of a set, play as streamsim.
std::string command_names(Commands commands) {
    std::string out;
    for (const CommandInfo& each : command_table()) {
        if (!commands.has(each.command)) continue;
        out += fmt::format("{}{}", out.empty() ? "" : ", ", *each.name == '\0' ? "play" : each.name);
    }
    return out;
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
    out += fmt::format(".br\nCommands: {}.\n", command_names(option.commands));
    for (const Option::Variant& variant : option.variants) {
        out += fmt::format(".br\nFor {}: {}.\n", command_names(variant.commands),
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

std::string man_page(const std::string& version) {
    const CommandInfo& play = info(Command::play);
    return fmt::format(".TH STREAMSIM 1 \"\" \"streamsim {}\" \"User Commands\"\n.SH NAME\nstreamsim \\- {}\n",
                       roff(version), roff(play.summary)) +
           synopsis() + ".SH DESCRIPTION\n" + roff(play.about) + "\n" + commands() + options() +
           std::string(kExitCodes) + environment() + std::string(kFiles);
}

}  // namespace streamsim::cli
