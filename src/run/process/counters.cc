#include "run/process/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "base/ascii.h"
#include "base/document/json.h"
#include "base/utf8.h"

namespace streamsim::run {
namespace {

constexpr std::size_t kCountersMax = 1000;
constexpr std::size_t kNameBytesMax = 200;
constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::optional<Counter> counter_of(std::string_view name, std::string_view number) {
    const auto is_letter = [](char c) { return to_lower(c) >= 'a' && to_lower(c) <= 'z'; };
    if (name.empty() || name.size() > kNameBytesMax || !(is_letter(name.front()) || name.front() == '_'))
        return std::nullopt;
    if (number.starts_with('+')) number.remove_prefix(1);
    // from_chars reads "inf" and "nan", too.
    if (number.empty() || !(is_digit(number.front()) || number.front() == '-' || number.front() == '.'))
        return std::nullopt;
    Counter counter{std::string(name), 0, whole_number<std::int64_t>(number)};
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), counter.value);
    if (error != std::errc() || end != number.data() + number.size() || !std::isfinite(counter.value))
        return std::nullopt;
    return counter;
}

/// The brace that ends the labels from `begin` on, whose values may hold braces; npos: there is none.
std::size_t labels_end(std::string_view line, std::size_t begin) {
    bool quoted = false;
    for (std::size_t i = begin; i < line.size(); ++i) {
        const char c = line[i];
        if (c == '}' && !quoted) return i;
        if (c == '"') quoted = !quoted;
        if (c == '\\') ++i;
    }
    return std::string_view::npos;
}

/// NAME{...} NUMBER, as Prometheus prints it: behind the number the time in milliseconds may stand.
std::optional<Counter> labelled_counter_in(std::string_view line, std::size_t labels) {
    const std::size_t end = labels_end(line, labels);
    if (end == std::string_view::npos ||
        line.substr(0, labels).find_first_of(kBlanks) != std::string_view::npos)
        return std::nullopt;
    const std::string_view name = line.substr(0, end + 1);
    std::string_view rest = trimmed(line.substr(end + 1));
    if (rest.starts_with(':') || rest.starts_with('=')) rest = trimmed(rest.substr(1));
    const std::string_view number = rest.substr(0, rest.find_first_of(kBlanks));
    const std::string_view time = trimmed(rest.substr(number.size()));
    if (!time.empty() && !counter_of(name, time)) return std::nullopt;
    return counter_of(name, number);
}

std::optional<Counter> counter_in(std::string_view line) {
    if (const std::size_t labels = line.find('{'); labels != std::string_view::npos)
        return labelled_counter_in(line, labels);
    const std::size_t at = line.find_last_of(":= \t");
    if (at == std::string_view::npos) return std::nullopt;
    std::string_view name = trimmed(line.substr(0, at));
    if (name.ends_with(':') || name.ends_with('=')) name = trimmed(name.substr(0, name.size() - 1));
    if (name.find_first_of(kBlanks) != std::string_view::npos) return std::nullopt;
    return counter_of(name, trimmed(line.substr(at + 1)));
}

void read_lines(std::string_view text, CounterReading& reading) {
    for (std::string_view line : split(text, '\n')) {
        line = trimmed(line);
        if (line.empty() || line.front() == '#') continue;
        if (auto counter = counter_in(line)) {
            reading.counters.push_back(std::move(*counter));
        } else if (reading.other_lines++ == 0) {
            reading.first_other = printable(line.substr(0, kNameBytesMax));
        }
    }
}

Result<void> read_object(std::string_view text, CounterReading& reading) {
    const auto document = parse_json(text, "the counters");
    if (!document) return Error{ErrorKind::environment, document.error().problems};
    if (!document->is_object()) return environment_error("the counters are no JSON object of numbers");
    for (const auto& [name, value] : document->items()) {
        auto counter = value.is_number() ? counter_of(name, json_text(value)) : std::nullopt;
        if (!counter)
            return environment_error(fmt::format("the counter \"{}\" is no number but {}",
                                                 printable(name.substr(0, kNameBytesMax)),
                                                 printable(json_text(value).substr(0, kNameBytesMax))));
        reading.counters.push_back(std::move(*counter));
    }
    return {};
}

const Counter* find(const CounterReading& reading, const std::string& name) {
    const auto found = std::find_if(reading.counters.begin(), reading.counters.end(),
                                    [&name](const Counter& each) { return each.name == name; });
    return found == reading.counters.end() ? nullptr : &*found;
}

}  // namespace

Result<CounterReading> read_counters(std::string_view text) {
    CounterReading reading;
    text = trimmed(text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size())));
    if (text.starts_with('{')) {
        if (auto read = read_object(text, reading); !read) return read.error();
    } else {
        read_lines(text, reading);
    }
    if (reading.counters.empty())
        return environment_error(
            "it printed no counter: expected \"NAME NUMBER\", \"NAME: NUMBER\" or "
            "\"NAME=NUMBER\" lines, or one JSON object of numbers");
    if (reading.counters.size() > kCountersMax)
        return environment_error(
            fmt::format("it printed {} counters: at most {} are read", reading.counters.size(), kCountersMax));
    std::set<std::string> names;
    for (const Counter& counter : reading.counters) {
        if (!names.insert(counter.name).second)
            return environment_error(
                fmt::format("it printed the counter {} twice: print a name once", printable(counter.name)));
    }
    return reading;
}

std::vector<CounterChange> changes_between(const CounterReading& before, const CounterReading& after) {
    std::vector<CounterChange> out;
    for (const Counter& was : before.counters) {
        const Counter* const is = find(after, was.name);
        if (is == nullptr) continue;
        CounterChange change{was.name, was.value, is->value, is->value - was.value};
        if (was.whole && is->whole) {
            const auto a = static_cast<std::uint64_t>(*was.whole), b = static_cast<std::uint64_t>(*is->whole);
            change.difference =
                *is->whole >= *was.whole ? static_cast<double>(b - a) : -static_cast<double>(a - b);
        }
        out.push_back(std::move(change));
    }
    return out;
}

std::vector<std::string> not_in_both(const CounterReading& before, const CounterReading& after) {
    std::vector<std::string> names;
    for (const auto& [one, other] : {std::pair{&before, &after}, std::pair{&after, &before}}) {
        for (const Counter& counter : one->counters) {
            if (find(*other, counter.name) == nullptr) names.push_back(counter.name);
        }
    }
    return names;
}

}  // namespace streamsim::run
