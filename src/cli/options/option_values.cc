#include "cli/options/option_values.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "base/ascii.h"
#include "base/units.h"
#include "judge/claims/prove.h"
#include "view/http/http_server.h"

namespace streamsim::cli {
namespace {

constexpr std::uint64_t kIoSizeMin = 512, kIoSizeMax = 1ull << 30;
constexpr const char* kIoSizeRange = "512B to 1GiB, or frame";
constexpr const char* kPercentRange = "0 % to 100 %";
/// Sums of times stay far below the largest number of nanoseconds, 292 years.
constexpr Duration kTimeMax = seconds(std::int64_t{10} * 365 * 86'400);
constexpr const char* kScaleRange = "a number above 0, at most 1000";

/// NaN: the text is no number.
double read_number(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole ? value : std::numeric_limits<double>::quiet_NaN();
}

/// A rate; nothing: max.
Result<std::optional<FrameRate>> read_rate(const std::string& text) {
    if (text == "max") return std::optional<FrameRate>();
    const auto rate = FrameRate::parse(text);
    if (!rate) return rate.error();
    return std::optional(*rate);
}

/// 0: frame.
Result<std::uint64_t> read_io_size(const std::string& text) {
    if (text == "frame") return std::uint64_t{0};
    auto size = parse_size(text);
    if (!size) return bad_input(size.error().problems.front() + ", or frame");
    if (*size < kIoSizeMin || *size > kIoSizeMax) return unexpected(text, kIoSizeRange);
    return size;
}

/// "20%" and "20" are the same.
Result<double> read_percent(const std::string& text) {
    const double number =
        read_number(std::string_view(text).substr(0, text.size() - (text.ends_with('%') ? 1 : 0)));
    if (!(number >= 0 && number <= 100)) return unexpected(text, kPercentRange);
    return number;
}

Result<double> read_scale(const std::string& text) {
    const double number = read_number(text);
    if (!(number > 0 && number <= 1000)) return unexpected(text, kScaleRange);
    return number;
}

Result<std::string> read_http_address(const std::string& text) {
    const auto address = view::parse_http_address(text);
    if (!address) return address.error();
    return text;
}

OptionValue with_words(OptionValue value, std::vector<std::string> words) {
    value.words = std::move(words);
    return value;
}

}  // namespace

Error unexpected(const std::string& text, const std::string& expected) {
    return bad_input(fmt::format("'{}': expected {}", text, expected));
}

std::string count_range(std::uint64_t least, std::uint64_t most) {
    if (most == UINT64_MAX) return "a whole number";
    return fmt::format("a whole number from {} to {}", least, most);
}

Result<std::uint64_t> read_whole(const std::string& text, std::uint64_t least, std::uint64_t most) {
    const auto value = whole_number<std::uint64_t>(text);
    if (!value || *value < least || *value > most) return unexpected(text, count_range(least, most));
    return *value;
}

Result<Duration> read_time(const std::string& text, bool zero_allowed) {
    auto value = parse_duration(text);
    if (value && value->ns == 0 && !zero_allowed) return unexpected(text, "a time above 0");
    if (value && *value > kTimeMax) return unexpected(text, "ten years (87600h) or less");
    return value;
}

std::string typed_time(Duration time) {
    if (time.ns == 0) return "0";
    if (time.ns % 1'000'000'000 == 0) return fmt::format("{}s", time.ns / 1'000'000'000);
    return fmt::format("{}ns", time.ns);
}

OptionValue flag_that(std::function<void(CliOptions&)> change) {
    return {.takes = OptionValue::Takes::nothing,
            .read = [change = std::move(change)](const std::string&, CliOptions& options) -> Result<void> {
                change(options);
                return {};
            }};
}

OptionValue texts(std::vector<std::string> CliOptions::*into, const char* name, Completion completion) {
    return {.takes = OptionValue::Takes::texts,
            .name = name,
            .completion = completion,
            .read = [into](const std::string& text, CliOptions& options) -> Result<void> {
                (options.*into).push_back(text);
                return {};
            }};
}

OptionValue with_standard(OptionValue value, const char* standard) {
    value.standard = standard;
    return value;
}

OptionValue format_flag(const char* format) {
    return flag_that([format](CliOptions& options) { options.formats.emplace_back(format); });
}

OptionValue rate() {
    const auto store = [](CliOptions& options, const std::optional<FrameRate>& rate) {
        options.play.rate = rate;
        options.play.paced = rate.has_value();
    };
    return with_words(
        parsed("RATE", "a rate, such as 24, 23.976 or 24000/1001, or max", "the clip's own", read_rate, store),
        {"23.976", "24", "25", "29.97", "30", "50", "59.94", "60", "max"});
}

OptionValue order() {
    const auto store = [](CliOptions& options, const play::PlayOrder& order) { options.play.order = order; };
    return with_words(parsed("ORDER", "one of forward, reverse, ping-pong, shuttle:N, scrub, random, cuts",
                             play::PlayOrder{}.text(), play::PlayOrder::parse, store),
                      {"forward", "reverse", "ping-pong", "shuttle:", "scrub", "random", "cuts"});
}

OptionValue io_size() {
    const auto store = [](CliOptions& options, std::uint64_t size) { options.play.io_size = size; };
    return with_words(parsed("BYTES", kIoSizeRange, "1MiB", read_io_size, store),
                      {"frame", "64KiB", "256KiB", "1MiB", "4MiB"});
}

OptionValue any_seed() {
    return parsed(
        "N", "a whole number", std::to_string(run::PlayRequest{}.seed),
        [](const std::string& text) { return read_whole(text, 0, UINT64_MAX); },
        [](CliOptions& options, std::uint64_t seed) { options.play.seed = seed; });
}

OptionValue percent() {
    return parsed("PERCENT", kPercentRange, "0", read_percent,
                  [](CliOptions& options, double percent) { options.headroom_percent = percent; });
}

OptionValue set_size() {
    constexpr std::uint64_t kSetBytesMin = 64 << 20;
    constexpr std::uint64_t kSetBytesMax = std::uint64_t{1} << 50;
    const auto read = [](const std::string& text) -> Result<std::uint64_t> {
        const auto size = parse_size(text);
        if (!size) return size.error();
        if (*size < kSetBytesMin || *size > kSetBytesMax) return unexpected(text, "64MiB to 1024TiB");
        return *size;
    };
    return parsed("BYTES", "64MiB to 1024TiB", "", read,
                  [](CliOptions& options, std::uint64_t bytes) { options.set_bytes = bytes; });
}

OptionValue load_percent() {
    return parsed("PERCENT", kPercentRange, "100", read_percent,
                  [](CliOptions& options, double percent) { options.max_load_percent = percent; });
}

OptionValue scale() {
    return parsed("X", kScaleRange, "1", read_scale,
                  [](CliOptions& options, double scale) { options.scale = scale; });
}

OptionValue drop_rate() {
    return with_words(parsed("RATE", "a rate such as '1 drop/day'", "", judge::parse_prove,
                             [](CliOptions& options, double per_day) { options.play.prove_per_day = per_day; }),
                      {"1 drop/day", "1 drop/week", "1 drop/hour"});
}

OptionValue http_address(const char* name, std::string CliOptions::*address) {
    return parsed(name, "an address and a port, or a port of 127.0.0.1", "", read_http_address,
                  [address](CliOptions& options, const std::string& text) { options.*address = text; });
}

OptionValue verbosity() {
    return flag_that([](CliOptions& options) { ++options.verbosity; });
}

OptionValue answered() {
    return flag_that([](CliOptions&) {});
}

}  // namespace streamsim::cli
