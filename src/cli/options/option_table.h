// Every option of the command line, declared once. The parser, --help, the manual page and the completions of
// the shells are made of this table.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/command.h"
#include "cli/options/options.h"

namespace streamsim::cli {

/// How the text of an option becomes a value of CliOptions.
struct OptionValue {
    enum class Takes { nothing, one_text, texts };
    Takes takes = Takes::one_text;
    std::string name;                // "N", "TIME", "own|same"; empty: a flag
    std::string range;               // what is accepted, as errors and the manual say it; empty: any text
    std::string standard;            // the default as typed; empty: none, or the help says it
    std::vector<std::string> words;  // what a shell offers
    Completion completion = Completion::none;
    /// Takes over what was typed; called once for each time the option is given. Errors: bad input, without the
    /// option's name.
    std::function<Result<void>(const std::string& text, CliOptions& options)> read;
};

struct Option {
    const char* names;  // "--quiet,-q": the long name first
    Commands commands;
    const char* help;  // one phrase, without the default
    OptionValue value;

    /// For some commands another help, and another default.
    struct Variant {
        Commands commands;
        const char* help;
        const char* standard;
    };
    std::vector<Variant> variants = {};
    const char* environment = "";  // the variables that stand for it
    const char* group = "";        // of option_groups()

    /// "--quiet": how errors and rules name it.
    std::string name() const;
    /// The long name first.
    std::vector<std::string> all_names() const;
    std::string help_for(Command command) const;
    std::string standard_for(Command command) const;
};

/// In the order in which --help lists the groups.
std::vector<const char*> option_groups();
const std::vector<Option>& option_table();

/// An environment variable that is no option.
struct EnvironmentVariable {
    const char* name;
    const char* help;
};
const std::vector<EnvironmentVariable>& environment_table();

}  // namespace streamsim::cli
