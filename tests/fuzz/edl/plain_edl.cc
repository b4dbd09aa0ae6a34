#include "fuzz/edl/plain_edl.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace streamsim::fuzz {
namespace {

bool all_digits(const std::string& text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

unsigned two_digits(const std::string& text, std::size_t at) {
    return static_cast<unsigned>(text[at] - '0') * 10 + static_cast<unsigned>(text[at + 1] - '0');
}

/// "HH:MM:SS:FF", two digits each.
std::optional<PlainTime> read_time(const std::string& text) {
    if (text.size() != 11 || text[2] != ':' || text[5] != ':' || text[8] != ':') return std::nullopt;
    for (std::size_t at = 0; at < 11; at += 3) {
        if (!all_digits(text.substr(at, 2))) return std::nullopt;
    }
    const PlainTime time{two_digits(text, 0), two_digits(text, 3), two_digits(text, 6), two_digits(text, 9)};
    return time.minutes > 59 || time.seconds > 59 ? std::nullopt : std::optional(time);
}

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

std::optional<PlainEvent> read_event(const std::string& line) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() < 8) return std::nullopt;
    PlainEvent event;
    event.number = words[0];
    event.reel = words[1];
    if (event.number.size() != 3 || !all_digits(event.number) || words[2] != "V") return std::nullopt;
    const std::string& kind = words[3];
    std::size_t times = 4;
    if (kind != "C") {
        const bool wipe = kind.size() == 4 && kind[0] == 'W' && all_digits(kind.substr(1));
        if ((kind != "D" && !wipe) || words[4].size() != 3 || !all_digits(words[4])) return std::nullopt;
        event.transition = static_cast<unsigned>(std::stoul(words[4]));
        times = 5;
    }
    if (words.size() != times + 4) return std::nullopt;
    PlainTime* const into[] = {&event.source_in, &event.source_out, &event.record_in, &event.record_out};
    for (std::size_t i = 0; i < 4; ++i) {
        const auto time = read_time(words[times + i]);
        if (!time) return std::nullopt;
        *into[i] = *time;
    }
    return event;
}

bool is_plain_text(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
}

}  // namespace

std::optional<std::int64_t> PlainTime::at_25() const {
    if (frames >= 25) return std::nullopt;
    return ((std::int64_t{hours} * 60 + minutes) * 60 + seconds) * 25 + frames;
}

std::optional<PlainEdl> read_plain_edl(std::string_view text) {
    if (!is_plain_text(text)) return std::nullopt;
    PlainEdl list;
    std::set<std::string> numbers;
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
        if (words_of(line).empty() || line.front() == '*') continue;
        if (line.starts_with("TITLE: ")) {
            if (!list.title.empty() || line.back() == ' ' || line[7] == ' ') return std::nullopt;
            list.title = line.substr(7);
            continue;
        }
        const auto event = read_event(line);
        if (!event || !numbers.insert(event->number).second) return std::nullopt;
        list.events.push_back(*event);
    }
    return list;
}

std::optional<std::int64_t> plain_length(const PlainEdl& list) {
    std::vector<std::pair<std::int64_t, std::int64_t>> spans;
    for (const PlainEvent& event : list.events) {
        const auto source_in = event.source_in.at_25(), source_out = event.source_out.at_25();
        const auto in = event.record_in.at_25(), out = event.record_out.at_25();
        if (!source_in || !source_out || !in || !out || event.transition) return std::nullopt;
        // Twelve hours and more may be a day that ended.
        if (*out <= *in || *out - *in != *source_out - *source_in || event.record_out.hours > 11)
            return std::nullopt;
        if (event.reel == "BL" || event.reel == "BLACK" || event.reel == "bl" || event.reel == "black")
            return std::nullopt;
        spans.emplace_back(*in, *out);
    }
    std::sort(spans.begin(), spans.end());
    for (std::size_t i = 1; i < spans.size(); ++i) {
        if (spans[i].first < spans[i - 1].second) return std::nullopt;
    }
    if (spans.empty()) return std::nullopt;
    return spans.back().second - spans.front().first;
}

}  // namespace streamsim::fuzz
