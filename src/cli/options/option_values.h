// The kinds of values that options take: each reads a text into a member of the options, and says what it
// accepts and what the member is by default.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/similar_names.h"
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
T& member(CliOptions& options, T play::ReadSettings::*at) {
    return options.play.*at;
}
template <typename T>
T& member(CliOptions& options, T run::StorageRequest::*at) {
    return options.play.*at;
}
template <typename T>
T& member(CliOptions& options, T run::RecordRequest::*at) {
    return options.play.record.*at;
}
template <typename T>
T& member(CliOptions& options, T Project::*at) {
    return options.project.*at;
}
template <typename T>
T& member(CliOptions& options, T StepCommands::*at) {
    return options.step.*at;
}
template <typename T>
T& member(CliOptions& options, T ResultFiles::*at) {
    return options.files.*at;
}

/// The type of a member, without std::optional.
template <typename T>
struct ValueOf : std::type_identity<T> {};
template <typename T>
struct ValueOf<std::optional<T>> : std::type_identity<T> {};

/// "'many': expected a whole number from 1 to 64"
Error unexpected(const std::string& text, const std::string& expected);
/// Errors: bad input.
Result<std::uint64_t> read_whole(const std::string& text, std::uint64_t least, std::uint64_t most);
/// Errors: bad input.
Result<Duration> read_time(const std::string& text, bool zero_allowed);
std::string count_range(std::uint64_t least, std::uint64_t most);
/// "10s": as it is typed.
std::string typed_time(Duration time);

OptionValue flag_that(std::function<void(CliOptions&)> change);

/// A text that `parse` reads and `store` takes over.
template <typename Parse, typename Store>
OptionValue parsed(
    const char* name, const std::string& range, const std::string& standard, Parse parse, Store store) {
    return {.name = name,
            .range = range,
            .standard = standard,
            .read = [parse, store](const std::string& text, CliOptions& options) -> Result<void> {
                const auto value = parse(text);
                if (!value) return value.error();
                store(options, *value);
                return {};
            }};
}

/// A flag that makes a member true, or false.
template <typename Owner>
OptionValue flag(bool Owner::*into, bool value = true) {
    return flag_that([into, value](CliOptions& options) { member(options, into) = value; });
}

/// A whole number from `least` to `most`.
template <typename Owner, typename T>
OptionValue count(T Owner::*into, std::uint64_t most, std::uint64_t least = 1) {
    std::string standard;
    CliOptions defaults;
    if constexpr (std::integral<T>) standard = std::to_string(member(defaults, into));
    return parsed(
        "N", count_range(least, most), standard,
        [least, most](const std::string& text) { return read_whole(text, least, most); },
        [into](CliOptions& options, std::uint64_t number) {
            member(options, into) = static_cast<typename ValueOf<T>::type>(number);
        });
}

/// A time with its unit, "10s".
template <typename Owner, typename T>
OptionValue time(T Owner::*into, bool zero_allowed = false) {
    std::string standard;
    CliOptions defaults;
    if constexpr (std::same_as<T, Duration>) standard = typed_time(member(defaults, into));
    return parsed(
        "TIME", zero_allowed ? "a time, such as 500ms, or 0" : "a time above 0, such as 500ms or 10s", standard,
        [zero_allowed](const std::string& text) { return read_time(text, zero_allowed); },
        [into](CliOptions& options, Duration time) { member(options, into) = time; });
}

/// One of some words, each with its meaning.
template <typename Owner, typename T>
OptionValue choice(T Owner::*into, std::vector<std::pair<std::string, typename ValueOf<T>::type>> choices) {
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
        std::vector<std::string> words;
        for (const auto& each : choices) words.push_back(each.first);
        return unexpected(text, range + did_you_mean(text, words));
    };
    return value;
}

/// Any text; the name of a file or a directory, as `completion` says.
template <typename Owner>
OptionValue text(std::string Owner::*into, const char* name, Completion completion = Completion::none) {
    return {.name = name,
            .completion = completion,
            .read = [into](const std::string& text, CliOptions& options) -> Result<void> {
                member(options, into) = text;
                return {};
            }};
}

/// As text(), once for each time the option is given.
OptionValue texts(std::vector<std::string> CliOptions::*into, const char* name, Completion completion);

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
OptionValue load_percent();                   // --max-load
OptionValue set_size();                       // --set-size
/// A rate of drop events, for --prove.
OptionValue drop_rate();
OptionValue http_address(const char* name, std::string CliOptions::*address);  // --metrics, --web
OptionValue verbosity();                                                       // -v
OptionValue answered();  // --help, --version: the parser answers them

}  // namespace streamsim::cli
