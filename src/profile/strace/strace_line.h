// One line of an strace log, taken apart. Pure. Inside profile/ only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace streamsim::profile {

struct StraceLine {
    enum class Kind {
        call,        // a whole call: name, arguments, result
        unfinished,  // its beginning: name and arguments so far
        resumed,     // the rest of one that was unfinished
        ended,       // the process has ended
        attached,    // strace says that it follows this process from now on
        nothing,     // signals, stack frames, empty lines: nothing to count
    };
    Kind kind = Kind::nothing;
    std::optional<std::uint32_t> pid;
    enum class Clock { none, of_day, epoch, relative };
    Clock clock = Clock::none;
    std::int64_t time_ns = 0;    // time of day or since the epoch, as the log has it
    bool whole_seconds = false;  // -t: the time of day has no fraction
    std::string_view name;       // name of the call
    std::string_view text;       // from behind the opening bracket, or behind "resumed>"
};

/// Empty when strace did not write the line.
std::optional<StraceLine> parse_strace_line(std::string_view line);

/// The arguments and the result of a call.
struct StraceCall {
    std::vector<std::string_view> arguments;  // text of the arguments, split at the outermost level
    bool has_result = false;                  // false: "?": the process ended in it, or it is begun again
    std::int64_t result = 0;
    std::string_view error;                   // "ENOENT"; empty: none
    std::string_view result_path;             // -y: of the descriptor it gave
    std::optional<std::int64_t> duration_ns;  // -T
};

/// `text` is the line from behind the opening bracket. Empty when the text does not end as a call.
std::optional<StraceCall> parse_strace_call(std::string_view text);

/// "3</tmp/a>" -> 3; "AT_FDCWD" and what is none: nothing.
std::optional<std::int64_t> descriptor_of(std::string_view argument);
/// "3</tmp/a>" -> "/tmp/a", with strace's escapes undone; empty where it is not decorated with a path.
std::string decoration_of(std::string_view argument);
/// "\"a\\tb\"" -> "a\tb". Empty when the text is no string in quotes.
std::optional<std::string> string_of(std::string_view argument);
/// A whole number, decimal, hexadecimal or octal as strace writes it, with or without [brackets].
std::optional<std::int64_t> number_of(std::string_view argument);
/// The value of "st_size=123" within a structure.
std::optional<std::int64_t> member_of(std::string_view structure, std::string_view name);

}  // namespace streamsim::profile
