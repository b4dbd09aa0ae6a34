#include "view/live_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "base/utf8.h"
#include "view/stream_table.h"
#include "view/terminal.h"

namespace streamsim::view {
namespace {

constexpr std::size_t kWideColumnsMin = 60;  // "now" and "ever" stand before their lines
constexpr std::size_t kBarColumnsMin = 12;
constexpr std::size_t kBarColumnsMax = 50;
constexpr std::size_t kNowWidth = 64;  // of the text before the bar, so that the bar does not move

/// `left` and `right` at the two ends of a line; `left` is cut if they do not fit.
std::string spread(const std::string& left, const std::string& right, std::size_t columns) {
    if (right.empty()) return left;
    if (shown_width(right) + 2 >= columns) return right;
    const std::size_t room = columns - shown_width(right) - 2;
    const std::string kept = clip(left, static_cast<int>(room));
    return kept + std::string(room - shown_width(kept) + 2, ' ') + right;
}

std::string title_of(const ViewState& state) {
    return (state.faults_injected ? "FAULTS INJECTED: " : "") + printable(state.title);
}

/// `count`, then its word, where there is any; "4 playing, 1 missing".
void add_count(std::string& text, std::size_t count, const char* word) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", show_count(count), word);
}

/// The header of a run without streams: title and time, failures, or one line of both.
std::vector<ViewLine> meter_header(const ViewState& state, std::size_t columns, int rows) {
    const MeterView all = all_of(state.meters);
    const Paint paint = all.counts.failed > 0 ? Paint::bad : Paint::good;
    std::string failed = fmt::format("{} failed", show_count(all.counts.failed));
    const std::size_t count = failed.size();
    if (rows <= 5) return {{spread(time_text(state, false), failed, columns)}};
    failed += fmt::format("   {} done", show_count(all.counts.done));
    std::string title = spread(title_of(state), time_text(state, columns >= kWideColumnsMin), columns);
    return {{std::move(title), Paint::strong},
            {spread(failed, fmt::format("{:.1f} MB/s", state.bytes_per_s / 1e6), columns), paint, 0, count}};
}

void add_bar(const ViewState& state, std::size_t room, std::string& line) {
    if (room < kBarColumnsMin + 2 || state.required_bytes_per_s <= 0) return;
    line += "  " + bar_with_mark(state.bytes_per_s, state.required_bytes_per_s,
                                 std::min(room - 2, kBarColumnsMax) - 2, state.utf8);
}

/// "4 playing, 1 missing, 1 tight", or the most important part of it that fits.
std::string who_text(const LiveSums& sums, std::size_t room) {
    std::string playing = fmt::format("{} playing", show_count(sums.playing));
    std::string missing;
    add_count(missing, sums.missing, "missing");
    std::string both = playing;
    add_count(both, sums.missing, "missing");
    std::string all = both;
    add_count(all, sums.tight, "tight");
    for (std::string* const text : {&all, &both, &missing, &playing}) {
        if (!text->empty() && text->size() <= room) return *text;
    }
    return {};
}

/// Throughput, margin and buffer of this moment, and how many streams play, miss and are tight.
ViewLine now_line(const ViewState& state, const LiveSums& sums, std::size_t columns) {
    const bool wide = columns >= kWideColumnsMin;
    std::string line = (wide ? "now   " : "") + rate_text(state);
    const std::string who = wide ? who_text(sums, columns - std::min(columns, line.size() + 2)) : "";
    const std::size_t right = who.empty() ? 0 : who.size() + 2;
    const auto add = [&](const std::string& more) {
        if (wide && line.size() + 3 + more.size() + right <= columns) line += "   " + more;
    };
    if (sums.margin_lately_ns) add("margin " + show_duration({*sums.margin_lately_ns}));
    if (sums.emptiest != nullptr)
        add(fmt::format("buffer {}/{}", sums.emptiest->buffered, sums.emptiest->readahead));
    if (wide && columns > kNowWidth + right + kBarColumnsMin)
        line += std::string(kNowWidth - std::min(kNowWidth, line.size()), ' ');
    add_bar(state, columns - std::min(columns, shown_width(line) + right), line);
    const bool enough =
        state.required_bytes_per_s <= 0 || state.bytes_per_s >= state.required_bytes_per_s * 0.95;
    const Paint paint = sums.missing > 0                  ? Paint::bad
                        : enough || state.elapsed_ns <= 0 ? Paint::plain
                                                          : Paint::warning;
    return {spread(line, who, columns), paint};
}

ViewLine missed_line(const LiveSums& sums, const std::string& text) {
    const bool any = sums.bad > 0 || sums.stalls > 0;
    constexpr std::string_view kWord = "missed";
    const std::size_t word = text.find(kWord);  // the count stands before it
    const std::size_t painted = word == std::string::npos ? text.size() : word + kWord.size();
    return {text, any ? Paint::bad : Paint::good, 0, painted};
}

/// Misses and margin since the beginning.
ViewLine ever_line(const LiveSums& sums, std::size_t columns) {
    const bool wide = columns >= kWideColumnsMin;
    std::string line = (wide ? "ever  " : "") + missed_text(sums);
    if (sums.margin_min_ns) {
        const std::string margin = "   min margin " + show_duration({*sums.margin_min_ns});
        if (line.size() + margin.size() <= columns) line += margin;
    }
    std::string who;
    if (wide) add_count(who, sums.with_drops, "with drops");
    return missed_line(sums, spread(line, who, columns));
}

}  // namespace

LiveSums sums_of(const ViewState& state) {
    LiveSums sums;
    const auto lower = [](std::optional<std::int64_t>& into, const std::optional<std::int64_t>& ns) {
        if (ns) into = std::min(into.value_or(INT64_MAX), *ns);
    };
    for (const StreamView& stream : state.streams) {
        sums.bad += stream.bad;
        sums.stalls += stream.stalls;
        if (stream.bad > 0 || stream.stalls > 0) ++sums.with_drops;
        lower(sums.margin_min_ns, stream.margin_min_ns);
        if (stream.over()) continue;
        ++sums.playing;
        lower(sums.margin_lately_ns, stream.margin_lately_ns);
        if (misses_now(stream, state.elapsed_ns)) {
            ++sums.missing;
        } else if (tight_now(stream)) {
            ++sums.tight;
        }
        if (stream.period_ns == 0) continue;
        // Near its end a stream has less than its read-ahead to buffer.
        const auto share = [](const StreamView& each) {
            return static_cast<double>(each.buffered) / std::max<double>(each.readahead, 1);
        };
        if (sums.emptiest == nullptr || share(stream) < share(*sums.emptiest)) sums.emptiest = &stream;
    }
    return sums;
}

bool only_meters(const ViewState& state) {
    return state.streams.empty() && !state.meters.empty();
}

std::string time_text(const ViewState& state, bool with_rest) {
    if (state.elapsed_ns <= 0) return state.streams.empty() ? "preparing" : "filling the read-ahead";
    std::string out = show_duration({state.elapsed_ns});
    if (state.total_ns <= 0) return out;
    out += " of " + show_duration({state.total_ns});
    if (with_rest)
        out += fmt::format(", {} left",
                           show_duration({std::max<std::int64_t>(state.total_ns - state.elapsed_ns, 0)}));
    return out;
}

std::string rate_text(const ViewState& state) {
    if (state.required_bytes_per_s <= 0) return fmt::format("{:.1f} MB/s", state.bytes_per_s / 1e6);
    return fmt::format("{:.1f} of {:.1f} MB/s", state.bytes_per_s / 1e6, state.required_bytes_per_s / 1e6);
}

std::string missed_text(const LiveSums& sums) {
    std::string out = fmt::format("{} missed", show_count(sums.bad));
    if (sums.stalls > 0) out += ", " + counted(sums.stalls, "stall");
    return out;
}

std::vector<ViewLine> header_lines(const ViewState& state, std::size_t columns, int rows) {
    if (only_meters(state)) return meter_header(state, columns, rows);
    const LiveSums sums = sums_of(state);
    if (rows <= 5) {
        const std::string missed = fmt::format("{} missed", show_count(sums.bad + sums.stalls));
        std::string time = time_text(state, false);
        if (time.size() + 2 + missed.size() > columns)
            time = show_duration({std::max<std::int64_t>(state.elapsed_ns, 0)});
        return {{spread(time, missed, columns)}};
    }
    if (rows < kHeadingRowsMin)
        return {missed_line(sums, spread(missed_text(sums), time_text(state, false), columns)),
                now_line(state, sums, columns)};
    std::string title = spread(title_of(state), time_text(state, columns >= kWideColumnsMin), columns);
    return {{std::move(title), Paint::strong}, now_line(state, sums, columns), ever_line(sums, columns)};
}

}  // namespace streamsim::view
