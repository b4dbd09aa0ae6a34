#include "base/timecode.h"

#include <fmt/format.h>

#include <charconv>
#include <string>

namespace streamsim {
namespace {

bool number(std::string_view digits, std::uint64_t& out) {
    for (const char c : digits) {
        if (c < '0' || c > '9') return false;
    }
    return std::from_chars(digits.data(), digits.data() + digits.size(), out).ec == std::errc();
}

}  // namespace

std::uint64_t nominal_rate(FrameRate rate) {
    return static_cast<std::uint64_t>((rate.num - 1) / rate.den + 1);
}

Result<Timecode> parse_timecode(std::string_view text, FrameRate rate) {
    const auto wrong = [&](const std::string& why) {
        return bad_input(fmt::format("'{}' is not a time code at {} fps: {}", text, rate.to_string(), why));
    };
    std::uint64_t hours = 0;
    std::uint64_t minutes = 0;
    std::uint64_t seconds = 0;
    std::uint64_t frames = 0;
    const bool shaped = (text.size() == 11 || text.size() == 12) && text[2] == ':' && text[5] == ':' &&
                        std::string_view(":;.,").find(text[8]) != std::string_view::npos;
    if (!shaped || !number(text.substr(0, 2), hours) || !number(text.substr(3, 2), minutes) ||
        !number(text.substr(6, 2), seconds) || !number(text.substr(9), frames)) {
        return wrong("expected HH:MM:SS:FF, or HH:MM:SS;FF with drop frame");
    }
    const std::uint64_t nominal = nominal_rate(rate);
    if (minutes > 59 || seconds > 59) return wrong("minutes and seconds go up to 59");
    if (frames >= nominal) return wrong(fmt::format("frames go up to {}", nominal - 1));
    Timecode out;
    out.drop_frame = text[8] != ':';
    const std::uint64_t minute = hours * 60 + minutes;
    out.frame = (minute * 60 + seconds) * nominal + frames;
    if (!out.drop_frame) return out;
    if (rate != FrameRate{30000, 1001} && rate != FrameRate{60000, 1001}) {
        return wrong("only 30000/1001 and 60000/1001 have drop frame");
    }
    const std::uint64_t labels = nominal / 15;  // left out at each minute but every tenth
    if (minutes % 10 != 0 && seconds == 0 && frames < labels) {
        return wrong("drop frame leaves this label out");
    }
    out.frame -= labels * (minute - minute / 10);
    return out;
}

}  // namespace streamsim
