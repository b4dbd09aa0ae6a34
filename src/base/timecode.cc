#include "base/timecode.h"

#include <fmt/format.h>

#include <numeric>
#include <string>

namespace streamsim {
namespace {

constexpr std::size_t kHourDigitsMax = 6;

/// Takes `min` to `max` digits off the front.
bool take_number(std::string_view& text, std::size_t min, std::size_t max, std::uint32_t& value) {
    std::size_t digits = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
        if (++digits > max) return false;
        value = value * 10 + static_cast<std::uint32_t>(text[digits - 1] - '0');
    }
    if (digits < min) return false;
    text.remove_prefix(digits);
    return true;
}

bool take_separator(std::string_view& text, char& separator) {
    if (text.empty() || std::string_view(":;.,").find(text.front()) == std::string_view::npos) return false;
    separator = text.front();
    text.remove_prefix(1);
    return true;
}

std::string show(const TimecodeLabel& label) {
    return fmt::format("{:02}:{:02}:{:02}{}{:02}", label.hours, label.minutes, label.seconds, label.separator,
                       label.frames);
}

}  // namespace

std::optional<TimecodeLabel> read_timecode_label(std::string_view text) {
    TimecodeLabel label;
    const bool read = take_number(text, 1, kHourDigitsMax, label.hours) &&
                      take_separator(text, label.separator) && take_number(text, 2, 2, label.minutes) &&
                      take_separator(text, label.separator) && take_number(text, 2, 2, label.seconds) &&
                      take_separator(text, label.separator) && take_number(text, 2, 3, label.frames);
    if (!read || !text.empty() || label.minutes > 59 || label.seconds > 59) return std::nullopt;
    return label;
}

std::uint64_t nominal_rate(FrameRate rate) {
    return static_cast<std::uint64_t>((rate.num + rate.den - 1) / rate.den);
}

FrameRate label_rate(FrameRate rate, std::uint64_t each) {
    const std::int64_t den = rate.den * static_cast<std::int64_t>(each);
    const std::int64_t common = std::gcd(rate.num, den);
    return {rate.num / common, den / common};
}

bool has_drop_frame(FrameRate rate) {
    return rate.den == 1001 && (rate.num == 30000 || rate.num == 60000);
}

Result<std::uint64_t> frames_of(const TimecodeLabel& label, FrameRate rate, bool drop) {
    const std::uint64_t nominal = nominal_rate(rate);
    if (label.frames >= nominal) {
        return bad_input(fmt::format("time code {}: at {} frames a second the frames run from 00 to {:02}",
                                     show(label), rate.to_string(), nominal - 1));
    }
    const std::uint64_t minutes = std::uint64_t{label.hours} * 60 + label.minutes;
    const std::uint64_t counted = (minutes * 60 + label.seconds) * nominal + label.frames;
    if (!drop) return counted;
    if (!has_drop_frame(rate)) {
        return bad_input(
            fmt::format("time code {}: drop frame exists at 30000/1001 and 60000/1001 frames a "
                        "second only, not at {}",
                        show(label), rate.to_string()));
    }
    // Two labels at 29.97, four at 59.94, each minute but every tenth.
    const std::uint64_t dropped = nominal / 15;
    if (label.seconds == 0 && label.frames < dropped && label.minutes % 10 != 0) {
        return bad_input(
            fmt::format("time code {}: drop frame leaves this label out, the first of this minute "
                        "is {:02}",
                        show(label), dropped));
    }
    return counted - dropped * (minutes - minutes / 10);
}

Result<std::uint64_t> parse_timecode(std::string_view text, FrameRate rate) {
    const auto label = read_timecode_label(text);
    if (!label) {
        constexpr std::size_t kShown = 40;
        return bad_input(
            fmt::format("'{}' is not a time code: expected HH:MM:SS:FF, or HH:MM:SS;FF for drop frame",
                        text.substr(0, kShown)));
    }
    return frames_of(*label, rate, label->says_drop());
}

}  // namespace streamsim
