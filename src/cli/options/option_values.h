// The kinds of values that options take: each reads a text into a member of the options, and says what it
// accepts and what the member is by default.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cli/options/option_table.h"

namespace streamsim::cli {

// The member of the options that a pointer to a member names.
template <typename T>
T& member(CliOptions& options, T CliOptions::*at) {
    return options.*at;
}
template <typename T>
T& member(CliOptions& options, T run::PlayRequest::*at) {
    return options.play.*at;
}
template <typename T>
T& member(CliOptions& options, T run::RecordRequest::*at) {
    return options.play.record.*at;
}
template <typename T>
T& member(CliOptions& options, T ResultFiles::*at) {
    return options.files.*at;
}

/// "'many': expected a whole number from 1 to 64"
Error unexpected(const std::string& text, const std::string& expected);
/// Errors: bad input.
Result<std::uint64_t> read_whole(const std::string& text, std::uint64_t least, std::uint64_t most);
/// Errors: bad input.
Result<double> read_number(const std::string& text);
/// Errors: bad input.
Result<Duration> read_time(const std::string& text, bool zero_allowed);
std::string count_range(std::uint64_t least, std::uint64_t most);
/// "10s": as it is typed.
std::string typed_time(Duration time);

/// A flag that makes a member true, or false.
template <typename Owner>
OptionValue flag(bool Owner::*into, bool value = true) {
    return {OptionValue::Takes::nothing,
            "",
            "",
            "",
            {},
            Completion::none,
            [into, value](const std::string&, CliOptions& options) -> Result<void> {
                member(options, into) = value;
                return {};
            }};
}

/// A whole number from 1 to `most`.
template <typename Owner, typename T>
OptionValue count(T Owner::*into, std::uint64_t most) {
    OptionValue value{OptionValue::Takes::one_text, "N", count_range(1, most), "", {}, Completion::none, {}};
    CliOptions defaults;
    if constexpr (std::integral<T>) value.standard = std::to_string(member(defaults, into));
    value.read = [into, most](const std::string& text, CliOptions& options) -> Result<void> {
        const auto number = read_whole(text, 1, most);
        if (!number) return number.error();
        if constexpr (std::integral<T>) {
            member(options, into) = static_cast<T>(*number);
        } else {
            member(options, into) = static_cast<typename T::value_type>(*number);
        }
        return {};
    };
    return value;
}

/// A time with its unit, "10s".
template <typename Owner, typename T>
OptionValue time(T Owner::*into, bool zero_allowed = false) {
    OptionValue value{OptionValue::Takes::one_text, "TIME", "", "", {}, Completion::none, {}};
    value.range = zero_allowed ? "a time, such as 500ms, or 0" : "a time above 0, such as 500ms or 10s";
    CliOptions defaults;
    if constexpr (std::same_as<T, Duration>) value.standard = typed_time(member(defaults, into));
    value.read = [into, zero_allowed](const std::string& text, CliOptions& options) -> Result<void> {
        const auto read = read_time(text, zero_allowed);
        if (!read) return read.error();
        member(options, into) = *read;
        return {};
    };
    return value;
}

/// One of some words, each with its meaning.
template <typename Owner, typename T, typename Meaning>
OptionValue choice(T Owner::*into, std::vector<std::pair<std::string, Meaning>> choices) {
    OptionValue value;
    CliOptions defaults;
    std::string names;
    for (const auto& [word, meaning] : choices) {
        value.words.push_back(word);
        value.name += (value.name.empty() ? "" : "|") + word;
        names += (names.empty() ? "" : ", ") + word;
        if (member(defaults, into) == meaning) value.standard = word;
    }
    value.range = "one of " + names;
    value.read = [into, choices = std::move(choices), range = value.range](
                     const std::string& text, CliOptions& options) -> Result<void> {
        for (const auto& [word, meaning] : choices) {
            if (text != word) continue;
            member(options, into) = meaning;
            return {};
        }
        return unexpected(text, range);
    };
    return value;
}

/// Any text; the name of a file or a directory, as `completion` says.
template <typename Owner>
OptionValue text(std::string Owner::*into, const char* name, Completion completion = Completion::none) {
    return {OptionValue::Takes::one_text,
            name,
            "",
            "",
            {},
            completion,
            [into](const std::string& text, CliOptions& options) -> Result<void> {
                member(options, into) = text;
                return {};
            }};
}

/// As text(), once for each time the option is given.
template <typename Owner>
OptionValue texts(std::vector<std::string> Owner::*into, const char* name, Completion completion) {
    return {OptionValue::Takes::texts,
            name,
            "",
            "",
            {},
            completion,
            [into](const std::string& text, CliOptions& options) -> Result<void> {
                member(options, into).push_back(text);
                return {};
            }};
}

/// `value` with a default that its member does not say.
OptionValue with_standard(OptionValue value, const char* standard);

// Values of one option each.

OptionValue format_flag(const char* format);  // --dpx10 is --format dpx10
OptionValue rate();                           // --fps
OptionValue order();                          // --order
OptionValue io_size();                        // --io-size
OptionValue any_seed();                       // --seed
OptionValue percent();                        // --headroom
OptionValue scale();                          // --scale
OptionValue metrics_address();                // --metrics
OptionValue verbosity();                      // -v
OptionValue answered();                       // --help, --version: the parser answers them

}  // namespace streamsim::cli
