#include "media/sequence/sequence_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/ascii.h"
#include "base/units.h"

namespace streamsim::media {
namespace {

/// Longer runs of digits are dates, serial numbers or hashes, and do not fit 64 bits.
constexpr std::size_t kNumberDigitsMax = 18;
constexpr int kPatternDigitsMax = 18;
/// More runs than these are not looked at: no name of 255 letters has them and a frame number after them.
constexpr std::size_t kRunsMax = 64;

// Weights of a run of digits as the frame number. Shots, scenes, reels and cameras follow a letter ("sc010",
// "C002", "cam1"), frame numbers mostly stand alone; a version never counts frames if another run does.
constexpr double kStandsAlone = 16;
constexpr double kVersionWeight = 1.0 / 16;

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::size_t end_of_digits(std::string_view text, std::size_t at) {
    while (at < text.size() && is_digit(text[at])) ++at;
    return at;
}

/// The runs of digits of a name that could be its frame number.
struct Runs {
    struct Run {
        std::size_t begin = 0;
        std::size_t end = 0;
    };
    std::array<Run, kRunsMax> at;
    std::size_t count = 0;
};

void find_runs(std::string_view name, Runs& out) {
    out.count = 0;
    for (std::size_t at = 0; at < name.size() && out.count < kRunsMax;) {
        if (!is_digit(name[at])) {
            ++at;
            continue;
        }
        const std::size_t end = end_of_digits(name, at);
        if (end - at <= kNumberDigitsMax) out.at[out.count++] = {at, end};
        at = end;
    }
}

/// The name with a mark for each run and its extension in lower case: names of one shape can be one sequence.
void write_shape(std::string_view name, const Runs& runs, std::string& out) {
    out.clear();
    std::size_t at = 0;
    for (std::size_t run = 0; run < runs.count; ++run) {
        out.append(name, at, runs.at[run].begin - at);
        out += '\0';
        at = runs.at[run].end;
    }
    out.append(name, at, name.size() - at);
    const std::size_t dot = out.rfind('.');
    if (dot != std::string::npos)
        std::transform(out.begin() + static_cast<std::ptrdiff_t>(dot), out.end(),
                       out.begin() + static_cast<std::ptrdiff_t>(dot), [](char c) { return to_lower(c); });
}

std::uint64_t number_of(std::string_view digits) {
    std::uint64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

std::string_view text_of(std::string_view name, Runs::Run run) {
    return name.substr(run.begin, run.end - run.begin);
}

using Members = std::vector<std::uint32_t>;  // places in the list of names

class Grouping {
public:
    explicit Grouping(std::span<const std::string_view> names) : names_(names) {}

    std::vector<FoundSequence> group() {
        for (const Members& members : groups_by_shape()) split(members);
        std::vector<std::pair<std::string, std::size_t>> order;
        for (std::size_t i = 0; i < found_.size(); ++i) order.emplace_back(found_[i].pattern.show(), i);
        std::sort(order.begin(), order.end());
        std::vector<FoundSequence> sorted;
        sorted.reserve(order.size());
        for (const auto& [pattern, i] : order) sorted.push_back(std::move(found_[i]));
        return sorted;
    }

private:
    std::vector<Members> groups_by_shape() const {
        std::vector<Members> groups;
        std::unordered_map<std::string, std::size_t> known;
        std::string shape, last_shape;
        std::size_t group = 0;
        Runs runs;
        for (std::size_t i = 0; i < names_.size(); ++i) {
            find_runs(names_[i], runs);
            if (runs.count == 0) continue;
            write_shape(names_[i], runs, shape);
            if (groups.empty() || shape != last_shape) {  // neighbours mostly have one shape
                const auto [at, is_new] = known.try_emplace(shape, groups.size());
                if (is_new) groups.emplace_back();
                group = at->second;
                last_shape = shape;
            }
            groups[group].push_back(static_cast<std::uint32_t>(i));
        }
        return groups;
    }

    /// Number of values of each run among the members; 1 where the run does not vary, or is the only one.
    std::vector<std::size_t> values_of_runs(const Members& members) const {
        const std::string_view first = names_[members.front()];
        Runs first_runs;
        find_runs(first, first_runs);
        if (first_runs.count == 1) return {1};  // there is no choice
        std::vector<bool> varies(first_runs.count, false);
        Runs runs;
        for (const std::uint32_t member : members) {
            find_runs(names_[member], runs);
            for (std::size_t run = 0; run < runs.count; ++run) {
                if (text_of(names_[member], runs.at[run]) != text_of(first, first_runs.at[run]))
                    varies[run] = true;
            }
        }
        std::vector<std::size_t> values(first_runs.count, 1);
        std::vector<std::string_view> texts;
        const bool one = std::count(varies.begin(), varies.end(), true) == 1;
        for (std::size_t run = 0; run < values.size(); ++run) {
            if (!varies[run]) continue;
            values[run] = members.size();  // names differ, so a run that alone varies has a value in each
            if (one) continue;
            texts.clear();
            for (const std::uint32_t member : members) {
                find_runs(names_[member], runs);
                texts.push_back(text_of(names_[member], runs.at[run]));
            }
            std::sort(texts.begin(), texts.end());
            values[run] = static_cast<std::size_t>(std::unique(texts.begin(), texts.end()) - texts.begin());
        }
        return values;
    }

    static std::size_t counting_run(std::string_view name,
                                    const Runs& runs,
                                    const std::vector<std::size_t>& values) {
        const bool any = std::any_of(values.begin(), values.end(), [](std::size_t n) { return n > 1; });
        std::size_t best = 0;
        double best_score = -1;
        for (std::size_t run = 0; run < values.size(); ++run) {
            if (any && values[run] == 1) continue;
            const std::size_t begin = runs.at[run].begin;
            const bool hangs = begin > 0 && is_letter(name[begin - 1]);
            const bool version =
                hangs && to_lower(name[begin - 1]) == 'v' && (begin == 1 || !is_letter(name[begin - 2]));
            double score = static_cast<double>(values[run]);
            if (!hangs) score *= kStandsAlone;
            if (version) score *= kVersionWeight;
            if (score >= best_score) {
                best = run;
                best_score = score;
            }
        }
        return best;
    }

    static std::string ordinal(std::size_t run) {
        constexpr const char* kOrdinals[] = {"first", "second", "third", "fourth", "fifth", "sixth"};
        return run < std::size(kOrdinals) ? std::string(kOrdinals[run]) + " run"
                                          : fmt::format("run number {}", run + 1);
    }

    static std::string why(std::string_view name,
                           const std::vector<std::size_t>& values,
                           std::size_t counting,
                           std::size_t members) {
        if (values.size() < 2) return "";
        std::string reason = "because only it varies";
        std::string others;
        for (std::size_t run = 0; run < values.size(); ++run) {
            if (run == counting || values[run] == 1) continue;
            others += fmt::format("{}{}", others.empty() ? "" : " and ", show_count(values[run]));
        }
        if (members == 1) {
            reason = "by its place: there is no other file to compare";
        } else if (!others.empty()) {
            reason = fmt::format("by its place and its {} values ({} in what else varies)",
                                 show_count(values[counting]), others);
        }
        return fmt::format("the frame number is the {} of digits in {}, {}", ordinal(counting), name, reason);
    }

    /// Several runs vary and have another value in each name: whichever counts, each file would stand alone.
    static bool all_change_together(const std::vector<std::size_t>& values, std::size_t members) {
        const auto vary = std::count_if(values.begin(), values.end(), [](std::size_t n) { return n > 1; });
        return vary > 1 && std::count(values.begin(), values.end(), members) == vary;
    }

    /// Names that have nothing but their shape in common, as one sequence: the run with the fewest gaps is the
    /// frame number, of equals the last. False, and nothing done, where two of them have one number.
    bool join_alone(const Members& members, const std::vector<std::size_t>& values) {
        std::vector<std::pair<std::uint64_t, std::uint32_t>> best;  // frame number, place in names_
        std::size_t counting = 0;
        Runs runs;
        for (std::size_t run = 0; run < values.size(); ++run) {
            if (values[run] == 1) continue;
            std::vector<std::pair<std::uint64_t, std::uint32_t>> order;
            for (const std::uint32_t member : members) {
                find_runs(names_[member], runs);
                order.emplace_back(number_of(text_of(names_[member], runs.at[run])), member);
            }
            std::sort(order.begin(), order.end());
            const bool twice = std::adjacent_find(order.begin(), order.end(), [](const auto& a, const auto& b) {
                                   return a.first == b.first;
                               }) != order.end();
            const auto span = [](const auto& list) { return list.back().first - list.front().first; };
            if (twice || (!best.empty() && span(order) > span(best))) continue;
            best = std::move(order);
            counting = run;
        }
        if (best.empty()) return false;
        const std::string_view first = names_[best.front().second];
        find_runs(first, runs);
        const Runs::Run run = runs.at[counting];
        FoundSequence& sequence = found_.emplace_back();
        sequence.pattern = {std::string(first.substr(0, run.begin)), static_cast<int>(run.end - run.begin),
                            std::string(first.substr(run.end))};
        for (const auto& [number, member] : best) {
            sequence.numbers.push_back(number);
            sequence.names.emplace_back(names_[member]);
        }
        sequence.choice = fmt::format(
            "the frame number is the {} of digits in {}; the others change with it, in every name: taken as "
            "one sequence",
            ordinal(counting), first);
        return true;
    }

    struct Frame {
        std::uint64_t number = 0;
        std::uint32_t digits = 0;  // digits that the mark states
        bool padded = false;
    };
    struct Part {
        std::string prefix;
        std::string suffix;
        std::uint32_t example = 0;  // a member
        std::vector<Frame> frames;
    };

    /// The sequences among names of one shape.
    void split(const Members& members) {
        Runs runs;
        const std::vector<std::size_t> values = values_of_runs(members);
        if (all_change_together(values, members.size()) && join_alone(members, values)) return;
        find_runs(names_[members.front()], runs);
        const std::size_t counting = counting_run(names_[members.front()], runs, values);
        std::vector<Part> parts;
        std::unordered_map<std::string, std::size_t> known;
        std::string rest;
        std::size_t place = 0;
        for (const std::uint32_t member : members) {
            const std::string_view name = names_[member];
            find_runs(name, runs);
            const Runs::Run run = runs.at[counting];
            const std::string_view prefix = name.substr(0, run.begin);
            const std::string_view suffix = name.substr(run.end);
            if (parts.empty() || parts[place].prefix != prefix || parts[place].suffix != suffix) {
                rest.assign(prefix);
                rest += '\0';
                rest += suffix;
                const auto [at, is_new] = known.try_emplace(rest, parts.size());
                if (is_new) parts.push_back({std::string(prefix), std::string(suffix), member, {}});
                place = at->second;
            }
            const std::string_view digits = text_of(name, run);
            parts[place].frames.push_back({number_of(digits), static_cast<std::uint32_t>(digits.size()),
                                           digits.size() > 1 && digits.front() == '0'});
        }
        const std::size_t before = found_.size();
        for (const Part& part : parts)
            split_by_padding(part, why(names_[part.example], values, counting, members.size()));
        join_cases(before);
    }

    /// One sequence for each padding: "007" and "7" are not frames of the same one. A number without leading
    /// zeros belongs to the widest padding that it fills.
    void split_by_padding(const Part& part, const std::string& choice) {
        std::map<int, std::vector<std::uint64_t>> by_padding;
        for (const Frame& frame : part.frames) {
            if (frame.padded) by_padding[static_cast<int>(frame.digits)].push_back(frame.number);
        }
        for (const Frame& frame : part.frames) {
            if (frame.padded) continue;
            auto padding = by_padding.upper_bound(static_cast<int>(frame.digits));
            const int width = padding == by_padding.begin() ? 1 : std::prev(padding)->first;
            by_padding[width].push_back(frame.number);
        }
        for (auto& [width, numbers] : by_padding) {
            if (!std::is_sorted(numbers.begin(), numbers.end())) std::sort(numbers.begin(), numbers.end());
            FoundSequence& sequence = found_.emplace_back();
            sequence.pattern = {part.prefix, width, part.suffix};
            sequence.numbers = std::move(numbers);
            sequence.choice = choice;
        }
    }

    /// Sequences from found_[begin] on whose names differ in the case of the extension only become one, where
    /// no number is in both.
    void join_cases(std::size_t begin) {
        for (std::size_t a = begin; a < found_.size(); ++a) {
            for (std::size_t b = a + 1; b < found_.size(); ++b) {
                if (!differ_in_case_only(found_[a], found_[b])) continue;
                if (!join(found_[a], found_[b])) continue;
                found_.erase(found_.begin() + static_cast<std::ptrdiff_t>(b));
                break;
            }
            // Thousands of sequences of one shape are shots, not two spellings.
            if (found_.size() - begin > 1000) break;
        }
    }

    static bool differ_in_case_only(const FoundSequence& a, const FoundSequence& b) {
        const std::string& one = a.pattern.suffix;
        const std::string& two = b.pattern.suffix;
        return a.other_case.empty() && b.other_case.empty() && a.pattern.prefix == b.pattern.prefix &&
               a.pattern.digits == b.pattern.digits && one.size() == two.size() && one != two &&
               std::equal(one.begin(), one.end(), two.begin(),
                          [](char x, char y) { return to_lower(x) == to_lower(y); });
    }

    /// The spelling with more files is the pattern's.
    static bool join(FoundSequence& into, FoundSequence& from) {
        std::vector<std::uint64_t> both;
        std::set_intersection(into.numbers.begin(), into.numbers.end(), from.numbers.begin(),
                              from.numbers.end(), std::back_inserter(both));
        if (!both.empty()) return false;
        FoundSequence& most = into.numbers.size() >= from.numbers.size() ? into : from;
        FoundSequence& other = &most == &into ? from : into;
        FoundSequence joined;
        joined.pattern = most.pattern;
        joined.choice = most.choice;
        joined.other_suffix = other.pattern.suffix;
        std::merge(most.numbers.begin(), most.numbers.end(), other.numbers.begin(), other.numbers.end(),
                   std::back_inserter(joined.numbers));
        for (const std::uint64_t number : joined.numbers) {
            joined.other_case.push_back(std::binary_search(other.numbers.begin(), other.numbers.end(), number));
        }
        into = std::move(joined);
        return true;
    }

    std::span<const std::string_view> names_;
    std::vector<FoundSequence> found_;
};

/// The mark for the frame number in a pattern.
struct Mark {
    std::size_t begin = 0;
    std::size_t end = 0;
    int digits = 1;
};

/// The digits from `at` on, as a number of digits; longer ones than anybody writes as too many.
Mark with_width(std::string_view name, std::size_t begin, std::size_t at) {
    const std::size_t end = end_of_digits(name, at);
    if (end - at > 3) return {begin, end, kPatternDigitsMax + 1};
    return {begin, end, static_cast<int>(number_of(name.substr(at, end - at)))};
}

/// "%d", "%04d", "%04i"
std::optional<Mark> printf_mark(std::string_view name, std::size_t at) {
    if (name[at] != '%') return std::nullopt;
    Mark mark = with_width(name, at, at + 1);
    if (mark.end >= name.size() || (name[mark.end] != 'd' && name[mark.end] != 'i')) return std::nullopt;
    ++mark.end;
    return mark;
}

/// "$F", "$F4": Houdini's
std::optional<Mark> houdini_mark(std::string_view name, std::size_t at) {
    if (!name.substr(at).starts_with("$F")) return std::nullopt;
    const Mark mark = with_width(name, at, at + 2);
    if (mark.end < name.size() && is_letter(name[mark.end])) return std::nullopt;
    return mark;
}

template <char sign>
std::optional<Mark> run_mark(std::string_view name, std::size_t at) {
    const std::size_t end = std::min(name.find_first_not_of(sign, at), name.size());
    if (end == at) return std::nullopt;
    return Mark{at, end, static_cast<int>(std::min<std::size_t>(end - at, kPatternDigitsMax + 1))};
}

}  // namespace

std::string FoundSequence::name(std::size_t i) const {
    if (!names.empty()) return names[i];
    if (other_case.empty() || !other_case[i]) return pattern.name(numbers[i]);
    return FramePattern{pattern.prefix, pattern.digits, other_suffix}.name(numbers[i]);
}

std::vector<FoundSequence> group_sequences(std::span<const std::string_view> names) {
    return Grouping(names).group();
}

std::optional<std::uint64_t> number_in(const FramePattern& pattern, std::string_view name) {
    const std::size_t around = pattern.prefix.size() + pattern.suffix.size();
    const bool affixes =
        name.size() > around && name.starts_with(pattern.prefix) && name.ends_with(pattern.suffix);
    if (!affixes || name.size() - around > kNumberDigitsMax) return std::nullopt;
    const std::string_view digits = name.substr(pattern.prefix.size(), name.size() - around);
    if (!std::all_of(digits.begin(), digits.end(), is_digit)) return std::nullopt;
    // Filled up with zeros to the padding, and not beyond it.
    const auto padding = static_cast<std::size_t>(std::max(pattern.digits, 1));
    const bool written = digits.size() == padding || (digits.size() > padding && digits.front() != '0');
    if (!written || pattern.digits == 0) return std::nullopt;
    return number_of(digits);
}

std::optional<std::size_t> index_of_name(const FoundSequence& sequence, std::string_view name) {
    if (!sequence.names.empty()) {
        const auto own = std::find(sequence.names.begin(), sequence.names.end(), name);
        if (own == sequence.names.end()) return std::nullopt;
        return static_cast<std::size_t>(own - sequence.names.begin());
    }
    auto number = number_in(sequence.pattern, name);
    if (!number && !sequence.other_case.empty()) {
        number = number_in({sequence.pattern.prefix, sequence.pattern.digits, sequence.other_suffix}, name);
    }
    if (!number) return std::nullopt;
    const auto at = std::lower_bound(sequence.numbers.begin(), sequence.numbers.end(), *number);
    if (at == sequence.numbers.end() || *at != *number) return std::nullopt;
    const auto place = static_cast<std::size_t>(at - sequence.numbers.begin());
    if (sequence.name(place) != name) return std::nullopt;
    return place;
}

std::optional<FramePattern> parse_pattern(std::string_view name) {
    for (const auto& mark_at : {printf_mark, houdini_mark, run_mark<'#'>, run_mark<'@'>}) {
        std::optional<Mark> only;
        for (std::size_t at = 0; at < name.size(); ++at) {
            const auto mark = mark_at(name, at);
            if (!mark) continue;
            if (only) return std::nullopt;
            only = mark;
            at = mark->end - 1;
        }
        if (!only) continue;
        if (only->digits > kPatternDigitsMax) return std::nullopt;
        return FramePattern{std::string(name.substr(0, only->begin)), std::max(1, only->digits),
                            std::string(name.substr(only->end))};
    }
    return std::nullopt;
}

}  // namespace streamsim::media
