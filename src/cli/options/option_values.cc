#include "cli/options/option_values.h"

#include <fmt/format.h>

#include <charconv>

#include "base/units.h"
#include "view/metrics_server.h"

namespace streamsim::cli {
namespace {

constexpr std::uint64_t kIoSizeMin = 512, kIoSizeMax = 1ull << 30;

OptionValue one_text(const char* name,
                     std::string range,
                     std::string standard,
                     std::function<Result<void>(const std::string&, CliOptions&)> read) {
    return {OptionValue::Takes::one_text,
            name,
            std::move(range),
            std::move(standard),
            {},
            Completion::none,
            std::move(read)};
}

OptionValue flag_that(std::function<void(CliOptions&)> change) {
    return {OptionValue::Takes::nothing,
            "",
            "",
            "",
            {},
            Completion::none,
            [change = std::move(change)](const std::string&, CliOptions& options) -> Result<void> {
                change(options);
                return {};
            }};
}

}  // namespace

Error unexpected(const std::string& text, const std::string& expected) {
    return bad_input(fmt::format("'{}': expected {}", text, expected));
}

std::string count_range(std::uint64_t least, std::uint64_t most) {
    if (most == std::numeric_limits<std::uint64_t>::max()) return "a whole number";
    return fmt::format("a whole number from {} to {}", least, most);
}

Result<std::uint64_t> read_whole(const std::string& text, std::uint64_t least, std::uint64_t most) {
    std::uint64_t value = 0;
    const char* const end_of_text = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), end_of_text, value);
    if (error != std::errc() || end != end_of_text || value < least || value > most)
        return unexpected(text, count_range(least, most));
    return value;
}

Result<double> read_number(const std::string& text) {
    double value = 0;
    const char* const end_of_text = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), end_of_text, value);
    if (error != std::errc() || end != end_of_text) return unexpected(text, "a number");
    return value;
}

Result<Duration> read_time(const std::string& text, bool zero_allowed) {
    auto value = parse_duration(text);
    if (value && value->ns == 0 && !zero_allowed) return unexpected(text, "a time above 0");
    return value;
}

std::string typed_time(Duration time) {
    if (time.ns == 0) return "0";
    if (time.ns % 1'000'000'000 == 0) return fmt::format("{}s", time.ns / 1'000'000'000);
    return fmt::format("{}ns", time.ns);
}

OptionValue with_standard(OptionValue value, const char* standard) {
    value.standard = standard;
    return value;
}

OptionValue format_flag(const char* format) {
    return flag_that([format](CliOptions& options) { options.formats.emplace_back(format); });
}

OptionValue rate() {
    OptionValue value = one_text("RATE", "a rate, such as 24, 23.976 or 24000/1001, or max", "the clip's own",
                                 [](const std::string& text, CliOptions& options) -> Result<void> {
                                     if (text == "max") {
                                         options.play.paced = false;
                                         return {};
                                     }
                                     const auto read = FrameRate::parse(text);
                                     if (!read) return read.error();
                                     options.play.rate = *read;
                                     return {};
                                 });
    value.words = {"23.976", "24", "25", "29.97", "30", "50", "59.94", "60", "max"};
    return value;
}

OptionValue order() {
    OptionValue value = one_text("ORDER", "", play::PlayOrder{}.text(),
                                 [](const std::string& text, CliOptions& options) -> Result<void> {
                                     const auto read = play::PlayOrder::parse(text);
                                     if (!read) return read.error();
                                     options.play.order = *read;
                                     return {};
                                 });
    value.words = {"forward", "reverse", "ping-pong", "shuttle:", "scrub", "random", "cuts"};
    value.range = "one of forward, reverse, ping-pong, shuttle:N, scrub, random, cuts";
    return value;
}

OptionValue io_size() {
    OptionValue value = one_text("BYTES", "512B to 1GiB, or frame", "1MiB",
                                 [](const std::string& text, CliOptions& options) -> Result<void> {
                                     if (text == "frame") {
                                         options.play.io_size = 0;
                                         return {};
                                     }
                                     const auto size = parse_size(text);
                                     if (!size) return bad_input(size.error().problems.front() + ", or frame");
                                     if (*size < kIoSizeMin || *size > kIoSizeMax)
                                         return unexpected(text, "512B to 1GiB, or frame");
                                     options.play.io_size = *size;
                                     return {};
                                 });
    value.words = {"frame", "64KiB", "256KiB", "1MiB", "4MiB"};
    return value;
}

OptionValue any_seed() {
    return one_text("N", "a whole number", std::to_string(run::PlayRequest{}.seed),
                    [](const std::string& text, CliOptions& options) -> Result<void> {
                        const auto read = read_whole(text, 0, std::numeric_limits<std::uint64_t>::max());
                        if (!read) return read.error();
                        options.play.seed = *read;
                        return {};
                    });
}

/// "20%" and "20" are the same.
OptionValue percent() {
    return one_text(
        "PERCENT", "0 % to 100 %", "0", [](const std::string& text, CliOptions& options) -> Result<void> {
            const auto read = read_number(text.substr(0, text.size() - (text.ends_with('%') ? 1 : 0)));
            if (!read || !(*read >= 0 && *read <= 100)) return unexpected(text, "0 % to 100 %");
            options.headroom_percent = *read;
            return {};
        });
}

OptionValue scale() {
    return one_text("X", "a number above 0, at most 1000", "1",
                    [](const std::string& text, CliOptions& options) -> Result<void> {
                        const auto read = read_number(text);
                        if (!read || !(*read > 0 && *read <= 1000))
                            return unexpected(text, "a number above 0, at most 1000");
                        options.scale = *read;
                        return {};
                    });
}

OptionValue metrics_address() {
    return one_text("ADDR:PORT", "an address and a port, or a port of 127.0.0.1", "",
                    [](const std::string& text, CliOptions& options) -> Result<void> {
                        options.metrics = text;
                        if (text.empty()) return {};
                        const auto address = view::parse_metrics_address(text);
                        return address ? Result<void>() : Result<void>(address.error());
                    });
}

OptionValue verbosity() {
    return flag_that([](CliOptions& options) { ++options.verbosity; });
}

OptionValue answered() {
    return flag_that([](CliOptions&) {});
}

}  // namespace streamsim::cli
