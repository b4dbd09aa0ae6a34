#include "cli/options/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>

#include "cli/options/documents.h"
#include "cli/options/option_rules.h"
#include "cli/options/option_table.h"

namespace streamsim::cli {
namespace {

/// The words that were typed for one option.
struct TypedOption {
    const Option* option;
    std::vector<std::string> texts;
    int times = 0;  // of a flag
};
using TypedOptions = std::deque<TypedOption>;  // the parser keeps references

void declare_option(CLI::App& app, TypedOption& typed) {
    const Option& option = *typed.option;
    if (option.name() == "--help") {
        app.set_help_flag(option.names, option.help);
    } else if (option.name() == "--version") {
        app.set_version_flag(option.names, "");
    } else if (option.value.takes == OptionValue::Takes::nothing) {
        app.add_flag(option.names, typed.times);
    } else {
        CLI::Option* const declared = app.add_option(option.names, typed.texts)->expected(1);
        declared->allow_extra_args(false);  // the word after the value is an operand
        const bool several = option.value.takes == OptionValue::Takes::texts;
        declared->multi_option_policy(several ? CLI::MultiOptionPolicy::TakeAll
                                              : CLI::MultiOptionPolicy::Throw);
    }
}

void declare(CLI::App& app, CliOptions& options, TypedOptions& typed) {
    for (const Operand& operand : info(options.command).operands) {
        if (operand.into_all != nullptr) {
            app.add_option(operand.name, options.*operand.into_all);
        } else {
            app.add_option(operand.name, options.*operand.into);
        }
    }
    for (const Option& option : option_table()) {
        if (!option.commands.has(options.command)) continue;
        declare_option(app, typed.emplace_back(TypedOption{&option, {}, 0}));
    }
    app.allow_extras();
}

void read_options(const TypedOptions& typed, CliOptions& options, std::vector<std::string>& problems) {
    for (const TypedOption& each : typed) {
        std::vector<std::string> texts = each.texts;
        if (each.times > 0) texts.assign(static_cast<std::size_t>(each.times), "");
        for (const std::string& text : texts) {
            options.typed[each.option->name()] = text;
            const auto read = each.option->value.read(text, options);
            if (read) continue;
            for (const std::string& problem : read.error().problems)
                problems.push_back(fmt::format("{}: {}", each.option->name(), problem));
        }
    }
}

void check_operands(const std::vector<std::string>& extras,
                    const CliOptions& options,
                    std::vector<std::string>& problems) {
    const CommandInfo& command = info(options.command);
    for (const std::string& extra : extras) {
        if (extra.starts_with("-")) {
            problems.push_back(fmt::format("{}: there is no such option (see --help)", extra));
        } else if (command.operands.empty()) {
            problems.push_back(fmt::format("'{}': {} takes no operand", extra, command.name));
        } else {
            problems.push_back(fmt::format("'{}': one {} is expected", extra, command.operands.front().name));
        }
    }
    for (const Operand& operand : command.operands) {
        const std::string& first = operand.into_all == nullptr           ? options.*operand.into
                                   : (options.*operand.into_all).empty() ? std::string()
                                                                         : (options.*operand.into_all).front();
        if (operand.required && first.empty()) {
            problems.push_back(
                fmt::format("{} is missing: expected {} (see --help)", operand.name, operand.expected));
        } else if (!operand.words.empty() &&
                   std::find(operand.words.begin(), operand.words.end(), first) == operand.words.end()) {
            problems.push_back(fmt::format("'{}': expected {}", first, operand.expected));
        }
    }
}

/// Reads what was typed into the options, and checks it. Errors: every problem.
Result<void> read(const TypedOptions& typed, const std::vector<std::string>& extras, CliOptions& options) {
    std::vector<std::string> problems;
    check_operands(extras, options, problems);
    read_options(typed, options, problems);
    if (options.command != Command::run) open_target(options, problems);
    const Commands plays = Command::play | Command::prepare | Command::max;
    if (plays.has(options.command)) {
        if (auto opened = open_documents(options, problems); !opened) return opened;
    }
    check_option_rules(options, problems);
    for (std::string& remark : remarks_on_options(options)) options.play.remarks.push_back(std::move(remark));
    if (!problems.empty()) return Error{ErrorKind::bad_input, std::move(problems)};
    return {};
}

}  // namespace

Result<ParsedCommandLine> parse_command_line(int argc, const char* const* argv) {
    ParsedCommandLine parsed;
    CliOptions& options = parsed.options;
    options.command_line.assign(argv, argv + argc);
    options.command = command_of(argc, argv);
    const int skip = options.command == Command::play ? 0 : 1;
    TypedOptions typed;
    CLI::App app;
    try {
        declare(app, options, typed);
        app.parse(argc - skip, argv + skip);
    } catch (const CLI::CallForHelp&) {
        parsed.answer = Answer::help;
        return parsed;
    } catch (const CLI::CallForVersion&) {
        parsed.answer = Answer::version;
        return parsed;
    } catch (const CLI::ParseError& error) {
        return bad_input(error.what());
    }
    if (auto done = read(typed, app.remaining(), options); !done) return done.error();
    return parsed;
}

}  // namespace streamsim::cli
