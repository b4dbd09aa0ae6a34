// Small texts of people and of other programs: times, sizes, rates, time code, claims, names.
#include <string>

#include "base/path.h"
#include "base/similar_names.h"
#include "base/time_of_day.h"
#include "base/timecode.h"
#include "base/units.h"
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "judge/claims/prove.h"

namespace streamsim::fuzz {
namespace {

void check_utf8(std::string_view text) {
    const std::string shown = printable(text);
    require(printable(shown) == shown, "a printable text is printable");
    const std::size_t width = shown_width(shown);
    require(width <= shown.size(), "a character has a byte");
    require(bytes_of_first(shown, width) == shown.size(), "all characters are all bytes");
    require(bytes_of_first(shown, width / 2) <= shown.size(), "some characters are some bytes");
    (void)printable_lines(text, true);
    (void)printable_lines(text, false);
}

void check_timecode(std::string_view text) {
    for (const FrameRate rate :
         {FrameRate{24, 1}, FrameRate{30000, 1001}, FrameRate{60000, 1001}, FrameRate{120, 1}}) {
        const auto frames = parse_timecode(text, rate);
        if (!frames) continue;
        const auto label = read_timecode_label(text);
        require(label.has_value(), "a time code is a label");
        // timecode() writes drop frame where the rate has it.
        if (label->says_drop() != has_drop_frame(rate)) continue;
        const auto again = parse_timecode(timecode(*frames, rate), rate);
        if (label->hours < 100)
            require(again && *again == *frames, "a time code is equal when it was read and written");
    }
}

}  // namespace
}  // namespace streamsim::fuzz

STREAMSIM_FUZZ(values) {
    using namespace streamsim;
    using fuzz::require;
    const std::string_view text = fuzz::text_of(input);
    if (const auto duration = parse_duration(text)) {
        require(*duration >= Duration{}, "a time is not negative");
        (void)show_duration(*duration);
    }
    if (const auto size = parse_size(text)) (void)(show_bytes(*size) + show_io_size(*size));
    if (const auto at = parse_local_time(text, 1'700'000'000))
        require(*at >= 1'700'000'000, "a time is to come");
    if (const auto claim = judge::parse_prove(std::string(text))) require(*claim > 0, "a rate is above 0");
    fuzz::check_timecode(text);
    fuzz::check_utf8(text);
    require(join_path(parent_of(text), base_name(text)).size() <= text.size() + 3, "a path is its parts");
    (void)extension_of(text);
    (void)did_you_mean(text.substr(0, 100), {"streams", "seats", "format"});
}
