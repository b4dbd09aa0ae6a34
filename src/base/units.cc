#include "base/units.h"

#include <fmt/format.h>

#include <cmath>
#include <span>

#include "base/ascii.h"
#include "base/timecode.h"
#include "base/wide.h"

namespace streamsim {
namespace {

struct Unit {
    std::string_view name;
    std::uint64_t factor;
};
constexpr Unit kTimeUnits[] = {{"ns", 1},
                               {"us", 1'000},
                               {"ms", 1'000'000},
                               {"s", 1'000'000'000},
                               {"m", 60'000'000'000},
                               {"h", 3'600'000'000'000}};
constexpr Unit kSizeUnits[] = {
    {"B", 1},      {"KiB", 1ull << 10}, {"MiB", 1ull << 20},   {"GiB", 1ull << 30},      {"TiB", 1ull << 40},
    {"kB", 1'000}, {"MB", 1'000'000},   {"GB", 1'000'000'000}, {"TB", 1'000'000'000'000}};

/// Reads "<digits>[.<digits>]<unit>" exactly; the fraction is scaled in integers.
Result<std::uint64_t> parse_with_unit(std::string_view text,
                                      std::span<const Unit> units,
                                      const char* what,
                                      const char* example) {
    const Error wrong = bad_input(
        fmt::format("'{}' is not a {}: expected a number with a unit, such as {}", text, what, example));
    if (text == "0") return std::uint64_t{0};
    const auto number_end = text.find_first_not_of("0123456789.");
    if (number_end == 0 || number_end == std::string_view::npos) return wrong;
    const std::string_view number = text.substr(0, number_end);
    const Unit* unit = nullptr;
    for (const auto& candidate : units) {
        if (text.substr(number_end) == candidate.name) unit = &candidate;
    }
    const auto point = number.find('.');
    const auto whole = whole_number<std::uint64_t>(number.substr(0, point));
    if (unit == nullptr || !whole) return wrong;
    Wide value = Wide{*whole} * unit->factor;
    if (point != std::string_view::npos) {
        const std::string_view fraction = number.substr(point + 1);
        if (fraction.empty() || fraction.size() > 9) return wrong;
        Wide part = 0;
        Wide divisor = 1;
        for (const char digit : fraction) {
            if (!is_digit(digit)) return wrong;
            part = part * 10 + static_cast<unsigned>(digit - '0');
            divisor *= 10;
        }
        value += part * unit->factor / divisor;
    }
    if (value > INT64_MAX) return wrong;
    return static_cast<std::uint64_t>(value);
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
    auto value = parse_with_unit(text, kTimeUnits, "time", "10s, 500ms or 1h");
    if (!value) return value.error();
    return Duration{static_cast<std::int64_t>(*value)};
}

Result<std::uint64_t> parse_size(std::string_view text) {
    return parse_with_unit(text, kSizeUnits, "size", "1MiB, 64KiB or 8MB");
}

std::string show_duration(Duration duration) {
    const bool negative = duration.ns < 0;
    const std::string sign = negative ? "-" : "";
    const auto whole = static_cast<std::uint64_t>(duration.ns);
    const std::uint64_t ns = negative ? 0 - whole : whole;
    const double value = static_cast<double>(ns);
    if (ns < 1'000) return fmt::format("{}{} ns", sign, ns);
    if (ns < 999'950) return fmt::format("{}{:.1f} us", sign, value / 1e3);
    if (ns < 999'950'000) return fmt::format("{}{:.1f} ms", sign, value / 1e6);
    if (ns < 120'000'000'000) return fmt::format("{}{:.1f} s", sign, value / 1e9);
    const std::uint64_t s = ns / 1'000'000'000;
    if (s < 3600) return fmt::format("{}{} m {:02} s", sign, s / 60, s % 60);
    return fmt::format("{}{} h {:02} m", sign, s / 3600, s / 60 % 60);
}

std::string show_bytes(std::uint64_t bytes) {
    constexpr std::string_view kNames[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    double value = static_cast<double>(bytes);
    std::size_t step = 0;
    while (value >= 999.95 && step + 1 < std::size(kNames)) {
        value /= 1000;
        ++step;
    }
    return step == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kNames[step]);
}

std::string show_io_size(std::uint64_t bytes) {
    if (bytes > 0 && bytes % (1U << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
    if (bytes > 0 && bytes % (1U << 10) == 0) return fmt::format("{} KiB", bytes >> 10);
    return fmt::format("{} B", bytes);
}

std::string show_rate(double bytes_per_s) {
    if (!std::isfinite(bytes_per_s) || bytes_per_s < 0) return "- MB/s";
    const auto tenths = static_cast<std::uint64_t>(std::llround(bytes_per_s / 1e5));
    return fmt::format("{}.{} MB/s", show_count(tenths / 10), tenths % 10);
}

std::string show_count(std::uint64_t count) {
    std::string digits = std::to_string(count);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
        digits.insert(static_cast<std::size_t>(at), ",");
    }
    return digits;
}

std::string counted(std::uint64_t count, std::string_view one) {
    return fmt::format("{} {}{}", show_count(count), one, count == 1 ? "" : "s");
}

std::string timecode(std::uint64_t frame, FrameRate rate) {
    const std::uint64_t nominal = nominal_rate(rate);
    const bool drop = has_drop_frame(rate);
    if (drop) {
        const std::uint64_t labels = nominal / 15;  // 2 labels at 29.97, 4 at 59.94
        const std::uint64_t per_ten_minutes = nominal * 600 - labels * 9;
        const std::uint64_t per_minute = nominal * 60 - labels;
        const std::uint64_t rest = frame % per_ten_minutes;
        frame += frame / per_ten_minutes * labels * 9;
        if (rest >= nominal * 60) frame += labels * (1 + (rest - nominal * 60) / per_minute);
    }
    const std::uint64_t second = frame / nominal;
    return fmt::format("{:02}:{:02}:{:02}{}{:02}", second / 3600, second / 60 % 60, second % 60,
                       drop ? ';' : ':', frame % nominal);
}

}  // namespace streamsim
