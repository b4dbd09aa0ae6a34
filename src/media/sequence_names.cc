#include "media/sequence_names.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

namespace streamsim {
namespace {

/// Longer runs of digits are dates, serial numbers or hashes, and do not fit 64 bits.
constexpr std::size_t kNumberDigitsMax = 18;
constexpr int kPatternDigitsMax = 18;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// A name cut into texts and the runs of digits between them: texts.size() == runs.size() + 1.
struct CutName {
    std::vector<std::string> texts;
    std::vector<std::string> runs;
};

CutName cut(const std::string& name) {
    CutName out;
    std::string text;
    for (std::size_t at = 0; at < name.size();) {
        std::size_t end = at;
        while (end < name.size() && is_digit(name[end])) ++end;
        if (end == at) {
            text += name[at++];
            continue;
        }
        if (end - at > kNumberDigitsMax) {
            text += name.substr(at, end - at);
        } else {
            out.texts.push_back(std::move(text));
            out.runs.push_back(name.substr(at, end - at));
            text.clear();
        }
        at = end;
    }
    out.texts.push_back(std::move(text));
    return out;
}

/// The run that counts the frames: the one with the most values; of equals the last.
std::size_t counting_run(const std::vector<CutName>& names) {
    std::size_t best = 0;
    std::size_t best_values = 0;
    for (std::size_t run = 0; run < names.front().runs.size(); ++run) {
        std::set<std::string> values;
        for (const CutName& name : names) values.insert(name.runs[run]);
        if (values.size() >= best_values) {
            best = run;
            best_values = values.size();
        }
    }
    return best;
}

std::uint64_t number_of(const std::string& digits) {
    std::uint64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

bool is_padded(const std::string& digits) {
    return digits.size() > 1 && digits.front() == '0';
}

/// One sequence for each padding: "007" and "7" are not frames of the same one. A number without leading zeros
/// belongs to the widest padding that it fills.
void split_by_padding(const std::string& prefix,
                      const std::vector<std::string>& digits,
                      const std::string& suffix,
                      std::vector<FoundSequence>& out) {
    std::map<int, std::vector<std::uint64_t>> by_padding;
    for (const std::string& run : digits) {
        if (is_padded(run)) by_padding[static_cast<int>(run.size())].push_back(number_of(run));
    }
    for (const std::string& run : digits) {
        if (is_padded(run)) continue;
        auto padding = by_padding.upper_bound(static_cast<int>(run.size()));
        const int width = padding == by_padding.begin() ? 1 : std::prev(padding)->first;
        by_padding[width].push_back(number_of(run));
    }
    for (auto& [width, numbers] : by_padding) {
        std::sort(numbers.begin(), numbers.end());
        out.push_back({{prefix, width, suffix}, std::move(numbers)});
    }
}

/// The sequences among names that differ in their digits only.
void split_group(const std::vector<CutName>& names, std::vector<FoundSequence>& out) {
    const std::size_t counting = counting_run(names);
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> by_rest;
    for (const CutName& name : names) {
        std::string before;
        std::string after;
        for (std::size_t i = 0; i < name.texts.size(); ++i) {
            std::string& part = i <= counting ? before : after;
            part += name.texts[i];
            if (i < name.runs.size() && i != counting) part += name.runs[i];
        }
        by_rest[{before, after}].push_back(name.runs[counting]);
    }
    for (const auto& [rest, digits] : by_rest) split_by_padding(rest.first, digits, rest.second, out);
}

}  // namespace

std::vector<FoundSequence> group_sequences(const std::vector<std::string>& names) {
    std::map<std::vector<std::string>, std::vector<CutName>> groups;
    for (const std::string& name : names) {
        CutName parts = cut(name);
        if (parts.runs.empty()) continue;
        auto& group = groups[parts.texts];
        group.push_back(std::move(parts));
    }
    std::vector<FoundSequence> found;
    for (const auto& [texts, group] : groups) split_group(group, found);
    std::sort(found.begin(), found.end(), [](const FoundSequence& a, const FoundSequence& b) {
        return a.pattern.show() < b.pattern.show();
    });
    return found;
}

std::optional<std::uint64_t> number_in(const FramePattern& pattern, std::string_view name) {
    const std::size_t around = pattern.prefix.size() + pattern.suffix.size();
    if (name.size() <= around || name.size() - around > kNumberDigitsMax) return std::nullopt;
    const std::string digits(name.substr(pattern.prefix.size(), name.size() - around));
    if (!std::all_of(digits.begin(), digits.end(), is_digit)) return std::nullopt;
    const std::uint64_t number = number_of(digits);
    if (pattern.name(number) != name) return std::nullopt;
    return number;
}

std::optional<FramePattern> parse_pattern(std::string_view name) {
    const std::size_t mark = name.find_first_of("%#");
    if (mark == std::string_view::npos) return std::nullopt;
    std::size_t end = mark + 1;
    int digits = 1;
    if (name[mark] == '#') {
        while (end < name.size() && name[end] == '#') ++end;
        digits = static_cast<int>(end - mark);
    } else {
        const std::size_t letter = name.find('d', end);
        if (letter == std::string_view::npos) return std::nullopt;
        const std::string_view width = name.substr(end, letter - end);
        if (!std::all_of(width.begin(), width.end(), is_digit) || width.size() > 3) return std::nullopt;
        if (!width.empty()) digits = std::max(1, static_cast<int>(number_of(std::string(width))));
        end = letter + 1;
    }
    if (digits > kPatternDigitsMax || name.find_first_of("%#", end) != std::string_view::npos)
        return std::nullopt;
    return FramePattern{std::string(name.substr(0, mark)), digits, std::string(name.substr(end))};
}

std::string extension_of(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return "";
    std::string out(name.substr(dot + 1));
    for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return out;
}

std::string base_name(std::string_view path) {
    while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
    const std::size_t slash = path.rfind('/');
    return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

}  // namespace streamsim
