#include "profile/strace/strace_line.h"

#include <charconv>

#include "base/ascii.h"
#include "profile/traffic/traffic_builder.h"

namespace streamsim::profile {
namespace {

bool is_name(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

void skip_blanks(std::string_view& text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
}

bool take(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

/// "[pid 12] ", "12 ", or none.
bool take_pid(std::string_view& text, StraceLine& line) {
    if (take(text, "[pid")) {
        skip_blanks(text);
        line.pid = take_number<std::uint32_t>(text);
        return line.pid && take(text, "]");
    }
    std::string_view rest = text;
    const auto pid = take_number<std::uint32_t>(rest);
    if (!pid || (!rest.starts_with(' ') && !rest.starts_with('\t'))) return true;
    line.pid = pid;
    text = rest;
    return true;
}

/// -t, -tt: "12:34:56.123456"; -ttt: "1795320603.860077"; -r: "0.000102"; and a -r beside another: "(+ 0.1)".
void take_clock(std::string_view& text, StraceLine& line) {
    std::string_view rest = text;
    const auto first = take_number(rest);
    if (first && *first < kSecondsMax && rest.starts_with('.')) {
        line.time_ns = static_cast<std::int64_t>(*first) * 1'000'000'000 + take_fraction(rest);
        // No trace is older than 1973, and no two calls are three years apart.
        line.clock = *first < kSpanSecondsMax ? StraceLine::Clock::relative : StraceLine::Clock::epoch;
    } else if (first && *first < 24 && take(rest, ":")) {
        const auto minute = take_number(rest);
        if (!minute || *minute > 59 || !take(rest, ":")) return;
        const auto second = take_number(rest);
        if (!second || *second > 60) return;
        const auto whole = static_cast<std::int64_t>(*first * 3600 + *minute * 60 + *second);
        line.whole_seconds = !rest.starts_with('.');
        line.time_ns = whole * 1'000'000'000 + take_fraction(rest);
        line.clock = StraceLine::Clock::of_day;
    } else {
        return;
    }
    if (!rest.empty() && rest.front() != ' ') {
        line.clock = StraceLine::Clock::none;
        return;
    }
    text = rest;
    skip_blanks(text);
    if (take(text, "(+")) {
        const auto end = text.find(')');
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        skip_blanks(text);
    }
}

/// -n: "[ 257] ", -i: "[00007f12ab34cd56] ".
void take_place(std::string_view& text) {
    while (text.starts_with('[')) {
        const auto end = text.find(']');
        if (end == std::string_view::npos) return;
        text.remove_prefix(end + 1);
        skip_blanks(text);
    }
}

std::optional<StraceLine> attached_line(std::string_view text, StraceLine line) {
    if (!take(text, "strace: Process ")) return std::nullopt;
    line.pid = take_number<std::uint32_t>(text);
    if (!line.pid) return std::nullopt;
    line.kind = text.starts_with(" attached") ? StraceLine::Kind::attached : StraceLine::Kind::nothing;
    return line;
}

/// The end of a decoration that begins with text[at] == '<': the place behind its '>'. An arrow is none, and
/// devices have one within: "</dev/null<char 1:3>>".
std::size_t decoration_end(std::string_view text, std::size_t at) {
    int depth = 0;
    for (std::size_t i = at; i < text.size(); ++i) {
        if (text[i] == '\\') {
            ++i;
        } else if (text[i] == '<') {
            ++depth;
        } else if (text[i] == '>' && text[i - 1] != '-' && --depth == 0) {
            return i + 1;
        }
    }
    return std::string_view::npos;
}

std::size_t string_end(std::string_view text, std::size_t at) {
    for (std::size_t i = at + 1; i < text.size(); ++i) {
        if (text[i] == '\\') {
            ++i;
        } else if (text[i] == '"') {
            return i + 1;
        }
    }
    return std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
    skip_blanks(text);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

/// Splits at the outermost commas up to the bracket that closes the call; gives the place behind it.
std::optional<std::size_t> split_arguments(std::string_view text, std::vector<std::string_view>& into) {
    int depth = 0;
    std::size_t begin = 0;
    const auto add = [&](std::size_t end) {
        const std::string_view argument = trimmed(text.substr(begin, end - begin));
        if (!argument.empty()) into.push_back(argument);
        begin = end + 1;
    };
    for (std::size_t i = 0; i < text.size();) {
        const char c = text[i];
        std::size_t next = i + 1;
        if (c == '"') {
            next = string_end(text, i);
        } else if (c == '<' && i > 0 && is_name(text[i - 1])) {
            next = decoration_end(text, i);
        } else if (c == '/' && text.substr(i).starts_with("/*")) {
            const auto end = text.find("*/", i);
            next = end == std::string_view::npos ? end : end + 2;
        } else if (c == '(' || c == '[' || c == '{') {
            ++depth;
        } else if (depth > 0 && (c == ')' || c == ']' || c == '}')) {
            --depth;
        } else if (c == ')') {
            add(i);
            return next;
        } else if (c == ',' && depth == 0) {
            add(i);
        }
        if (next == std::string_view::npos) return std::nullopt;
        i = next;
    }
    return std::nullopt;
}

char escaped(std::string_view text, std::size_t& at) {
    const char c = text[at++];
    constexpr std::string_view kLetters = "ntrvf", kControls = "\n\t\r\v\f";
    if (const auto letter = kLetters.find(c); letter != std::string_view::npos) return kControls[letter];
    if (c >= '0' && c <= '7') {
        int value = c - '0';
        for (int digits = 1; digits < 3 && at < text.size() && text[at] >= '0' && text[at] <= '7'; ++digits)
            value = value * 8 + (text[at++] - '0');
        return static_cast<char>(value);
    }
    if (c != 'x') return c;
    const std::string_view digits = text.substr(at, 2);
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    at += static_cast<std::size_t>(end - digits.data());
    return static_cast<char>(value);
}

std::string without_escapes(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] != '\\' || at + 1 == text.size()) {
            out += text[at++];
        } else {
            out += escaped(text, ++at);
        }
    }
    return out;
}

}  // namespace

std::optional<StraceLine> parse_strace_line(std::string_view text) {
    StraceLine line;
    if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    if (text.starts_with(" > ") || trimmed(text).empty()) return line;
    skip_blanks(text);
    if (text.starts_with("strace: ")) return attached_line(text, line);
    if (!take_pid(text, line)) return std::nullopt;
    skip_blanks(text);
    take_clock(text, line);
    take_place(text);
    if (text.starts_with("+++ ")) {
        line.kind = StraceLine::Kind::ended;
        return line;
    }
    if (text.starts_with("--- ")) return line;
    if (take(text, "<... ")) {
        const auto end = text.find(" resumed>");
        if (end == std::string_view::npos) return std::nullopt;
        line.kind = StraceLine::Kind::resumed;
        line.name = text.substr(0, end);
        line.text = text.substr(end + 9);
        return line;
    }
    std::size_t length = 0;
    while (length < text.size() && is_name(text[length])) ++length;
    if (length == 0 || is_digit(text[0]) || length == text.size() || text[length] != '(') return std::nullopt;
    line.name = text.substr(0, length);
    line.text = text.substr(length + 1);
    constexpr std::string_view kUnfinished = "<unfinished ...>";
    const std::string_view end = trimmed(line.text);
    line.kind = StraceLine::Kind::call;
    if (end.ends_with(kUnfinished)) {
        line.kind = StraceLine::Kind::unfinished;
        line.text = trimmed(end.substr(0, end.size() - kUnfinished.size()));
    }
    return line;
}

std::optional<StraceCall> parse_strace_call(std::string_view text) {
    StraceCall call;
    const auto behind = split_arguments(text, call.arguments);
    if (!behind) return std::nullopt;
    text.remove_prefix(*behind);
    skip_blanks(text);
    if (!take(text, "=")) return std::nullopt;
    skip_blanks(text);
    text = trimmed(text);
    const auto open = text.rfind('<');
    if (text.ends_with('>') && open != std::string_view::npos && (open == 0 || text[open - 1] == ' ')) {
        std::string_view time = text.substr(open + 1);
        if (const auto whole = take_number(time); whole && *whole < kSpanSecondsMax && time.starts_with('.')) {
            call.duration_ns = static_cast<std::int64_t>(*whole) * 1'000'000'000 + take_fraction(time);
            text = trimmed(text.substr(0, open));
        }
    }
    if (text.starts_with('?')) return call;
    std::size_t length = 0;
    while (length < text.size() && (is_name(text[length]) || text[length] == '-')) ++length;
    const auto result = number_of(text.substr(0, length));
    if (!result) return std::nullopt;
    call.has_result = true;
    call.result = *result;
    text.remove_prefix(length);
    if (text.starts_with('<')) {
        const auto end = decoration_end(text, 0);
        if (end != std::string_view::npos) call.result_path = text.substr(1, end - 2);
    } else if (call.result == -1) {
        skip_blanks(text);
        std::size_t letters = 0;
        while (letters < text.size() && is_name(text[letters])) ++letters;
        call.error = text.substr(0, letters);
    }
    return call;
}

std::optional<std::int64_t> descriptor_of(std::string_view argument) {
    if (argument.empty() || !is_digit(argument.front())) return std::nullopt;
    std::string_view rest = argument;
    const auto value = take_number(rest);
    if (!value || *value > INT32_MAX || (!rest.empty() && rest.front() != '<')) return std::nullopt;
    return static_cast<std::int64_t>(*value);
}

std::string decoration_of(std::string_view argument) {
    const auto open = argument.find('<');
    if (open == std::string_view::npos) return "";
    const auto end = decoration_end(argument, open);
    if (end == std::string_view::npos) return "";
    return without_escapes(argument.substr(open + 1, end - open - 2));
}

std::optional<std::string> string_of(std::string_view argument) {
    if (!argument.starts_with('"')) return std::nullopt;
    const auto end = string_end(argument, 0);
    if (end == std::string_view::npos) return std::nullopt;
    return without_escapes(argument.substr(1, end - 2));
}

std::optional<std::int64_t> number_of(std::string_view argument) {
    if (argument.starts_with('[') && argument.ends_with(']'))
        argument = argument.substr(1, argument.size() - 2);
    const bool negative = argument.starts_with('-');
    std::string_view digits = argument.substr(negative ? 1 : 0);
    const int base = take(digits, "0x") ? 16 : 10;
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error != std::errc() || digits.empty()) return std::nullopt;
    const std::string_view rest(end, static_cast<std::size_t>(digits.data() + digits.size() - end));
    if (!rest.empty() && rest.front() != ' ' && rest.front() != '<' && !rest.starts_with("/*"))
        return std::nullopt;
    if (negative && value > std::uint64_t{INT64_MAX}) return std::nullopt;
    return negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
}

std::optional<std::int64_t> member_of(std::string_view structure, std::string_view name) {
    for (auto at = structure.find(name); at != std::string_view::npos; at = structure.find(name, at + 1)) {
        if (at > 0 && is_name(structure[at - 1])) continue;
        std::string_view rest = structure.substr(at + name.size());
        if (!take(rest, "=")) continue;
        const auto value = take_number(rest);
        if (value && *value <= std::uint64_t{INT64_MAX}) return static_cast<std::int64_t>(*value);
    }
    return std::nullopt;
}

}  // namespace streamsim::profile
