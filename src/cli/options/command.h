// The commands of the program: each with the operands that follow its options.
#pragma once

#include <string>
#include <vector>

namespace streamsim::cli {

struct CliOptions;

enum class Command {
    play,
    prepare,
    max,
    predict,
    run,
    host,
    join,
    calibrate,
    formats,
    inspect,
    plan,
    profile,
    report,
    clean,
    man,
    completions
};

/// A set of commands, as the option table names them.
class Commands {
public:
    constexpr Commands() = default;
    constexpr Commands(Command command) : bits_(1u << static_cast<unsigned>(command)) {}  // NOLINT: implicit

    constexpr bool has(Command command) const { return (bits_ & Commands(command).bits_) != 0; }
    constexpr Commands operator|(Commands other) const { return Commands(bits_ | other.bits_); }
    constexpr bool operator==(const Commands&) const = default;

private:
    explicit constexpr Commands(unsigned bits) : bits_(bits) {}
    unsigned bits_ = 0;
};

constexpr Commands operator|(Command a, Command b) {
    return Commands(a) | Commands(b);
}

/// The words that a shell offers for an operand or for the value of an option.
enum class Completion { none, file, directory, format, workload };

/// A word of the command line that belongs to no option.
struct Operand {
    const char* name;      // "TARGET"
    const char* expected;  // as an error says it: "a directory, a clip, a sequence or a URL"
    const char* help;
    Completion completion;
    bool required;
    std::string CliOptions::*into;
    std::vector<std::string> CliOptions::*into_all = nullptr;  // instead: as many as are given
    std::vector<std::string> words = {};                       // the only ones that are accepted
};

struct CommandInfo {
    Command command;
    const char* name;     // as typed, but for play, which is not typed
    const char* summary;  // one line
    const char* about;    // what --help and the manual say beyond that; may be empty
    std::vector<Operand> operands;
};

/// In the order in which --help lists them.
const std::vector<CommandInfo>& command_table();
const CommandInfo& info(Command command);
/// "streamsim max": as it is typed.
std::string typed_name(const CommandInfo& info);
std::vector<std::string> names_of(Commands commands);

/// The command that the first argument names; any other argument is for play.
Command command_of(int argc, const char* const* argv);

}  // namespace streamsim::cli
