#include "base/time_of_day.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <ctime>
#include <optional>
#include <string>

namespace streamsim {
namespace {

/// The digits of `text` where `form` has a 'd', number by number; nothing where it has another form.
std::optional<std::array<int, 6>> numbers_of(std::string_view text, std::string_view form) {
    if (text.size() != form.size()) return std::nullopt;
    std::array<int, 6> numbers{};
    std::size_t at = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (form[i] != 'd') {
            if (text[i] != form[i]) return std::nullopt;
            ++at;
        } else if (text[i] < '0' || text[i] > '9') {
            return std::nullopt;
        } else {
            numbers.at(at) = numbers.at(at) * 10 + (text[i] - '0');
        }
    }
    return numbers;
}

std::tm local_time(std::time_t time) {
    return *std::localtime(&time);  // NOLINT(concurrency-mt-unsafe): before any other thread is there
}

}  // namespace

std::int64_t time_of_day_ns() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

Result<std::int64_t> parse_local_time(std::string_view text, std::int64_t now_s) {
    const auto now = static_cast<std::time_t>(now_s);
    std::tm local = local_time(now);
    local.tm_isdst = -1;
    const std::string whole =
        text.size() == 5 || text.size() == 16 ? std::string(text) + ":00" : std::string(text);
    const bool has_date = whole.size() > 8;
    const auto read = numbers_of(whole, has_date ? "dddd-dd-ddTdd:dd:dd" : "dd:dd:dd");
    if (read) {
        const std::size_t hour = has_date ? 3 : 0;
        if (has_date) {
            local.tm_year = (*read)[0] - 1900;
            local.tm_mon = (*read)[1] - 1;
            local.tm_mday = (*read)[2];
        }
        local.tm_hour = read->at(hour);
        local.tm_min = read->at(hour + 1);
        local.tm_sec = read->at(hour + 2);
        const std::tm asked = local;
        std::time_t when = std::mktime(&local);
        if (!has_date && when < now) {
            local = asked;
            ++local.tm_mday;
            when = std::mktime(&local);
        }
        const bool is_date = !has_date || (local.tm_mday == asked.tm_mday && local.tm_mon == asked.tm_mon);
        const bool is_time = is_date && asked.tm_hour < 24 && asked.tm_min < 60 && asked.tm_sec < 60;
        if (is_time && when >= now) return static_cast<std::int64_t>(when);
        if (is_time) return bad_input(fmt::format("'{}': is over", text));
    }
    return bad_input(fmt::format("'{}': expected a local time such as 14:30 or 2026-11-26T14:30:00", text));
}

std::string show_local_time(std::int64_t time_s) {
    return fmt::format("{:%Y-%m-%d %H:%M:%S}", local_time(static_cast<std::time_t>(time_s)));
}

}  // namespace streamsim
