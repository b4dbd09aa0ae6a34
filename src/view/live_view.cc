#include "view/live_view.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string_view>
#include <tuple>

#include "base/units.h"
#include "view/terminal.h"

namespace streamsim {
namespace {

constexpr int kFallbackColumns = 80;
constexpr int kFallbackRows = 24;
constexpr const char* kGreen = "\x1b[32m";
constexpr const char* kYellow = "\x1b[33m";
constexpr const char* kRed = "\x1b[31m";
constexpr const char* kPlain = "\x1b[0m";

// The first word of a stream's line; the colour goes by it.
constexpr std::string_view kOk = "ok   ";
constexpr std::string_view kTight = "TIGHT";
constexpr std::string_view kDrops = "DROPS";

std::string_view status(const StreamView& stream) {
    if (stream.bad > 0 || stream.stalls > 0) return kDrops;
    // A quarter of a frame is what the report calls tight.
    if (stream.period_ns > 0 && stream.margin_min_ns && *stream.margin_min_ns * 4 < stream.period_ns)
        return kTight;
    return kOk;
}

std::string header(const ViewState& state) {
    std::uint64_t bad = 0;
    for (const StreamView& stream : state.streams) bad += stream.bad;
    std::string time = state.elapsed_ns <= 0 ? "filling the read-ahead" : show_duration({state.elapsed_ns});
    if (state.elapsed_ns > 0 && state.total_ns > 0) time += " of " + show_duration({state.total_ns});
    std::string rate = fmt::format("{:.1f} MB/s", state.bytes_per_s / 1e6);
    if (state.required_bytes_per_s > 0)
        rate += fmt::format(" of {:.1f} required", state.required_bytes_per_s / 1e6);
    return fmt::format("{}  {}  {} not in time", time, rate, show_count(bad));
}

std::string stream_line(const StreamView& stream, std::size_t label_width) {
    std::string out = fmt::format("{} {:<{}}", status(stream), printable_label(stream.label), label_width);
    if (stream.frames_total > 0) {
        out += fmt::format(" {} {}/{}", bar(stream.due, stream.frames_total), stream.due, stream.frames_total);
    } else {
        out += fmt::format("  {} frames, {}", show_count(stream.on_time), show_bytes(stream.bytes));
    }
    if (stream.period_ns == 0) return out;
    out += fmt::format("  {} not in time", show_count(stream.bad));
    if (stream.stalls > 0) out += fmt::format(", {} stalls", show_count(stream.stalls));
    if (stream.margin_min_ns) out += fmt::format("  tightest {}", show_duration({*stream.margin_min_ns}));
    out += fmt::format("  buffer {}/{}", stream.buffered, stream.readahead);
    return out;
}

/// The `count` worst streams, in the order in which they stand in the state.
std::vector<std::size_t> worst(const ViewState& state, std::size_t count) {
    std::vector<std::size_t> order(state.streams.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (order.size() <= count) return order;
    const auto badness = [&state](std::size_t index) {
        const StreamView& stream = state.streams[index];
        return std::tuple(~(stream.bad + stream.stalls), stream.margin_min_ns.value_or(INT64_MAX), index);
    };
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                      [&badness](std::size_t a, std::size_t b) { return badness(a) < badness(b); });
    order.resize(count);
    std::sort(order.begin(), order.end());
    return order;
}

std::string coloured(const std::string& line) {
    const auto paint = [&line](std::string_view word, const char* colour) {
        return colour + std::string(word) + kPlain + line.substr(word.size());
    };
    if (line.starts_with(kDrops)) return paint(kDrops, kRed);
    if (line.starts_with(kTight)) return paint(kTight, kYellow);
    if (line.starts_with(kOk)) return paint(kOk, kGreen);
    return line;
}

}  // namespace

void StreamView::read(const StreamProgress& progress) {
    constexpr auto kOrder = std::memory_order_relaxed;
    due = progress.due.load(kOrder);
    on_time = progress.on_time.load(kOrder);
    bad = progress.bad.load(kOrder);
    stalls = progress.stalls.load(kOrder);
    bytes = progress.bytes.load(kOrder);
    buffered = progress.buffered.load(kOrder);
    const std::int64_t margin = progress.margin_min_ns.load(kOrder);
    margin_min_ns = margin == INT64_MAX ? std::nullopt : std::optional(margin);
}

std::vector<std::string> live_lines(const ViewState& state, int columns, int rows) {
    std::vector<std::string> lines;
    const auto room = static_cast<std::size_t>(std::max(0, rows));
    const auto add = [&](const std::string& line) {
        if (lines.size() < room) lines.push_back(clip(line, columns));
    };
    add(printable_label(state.title));
    add(header(state));
    // The line that counts the others takes a row of its own.
    std::size_t space = room - lines.size();
    if (state.streams.size() > space && space > 0) --space;
    const auto shown = worst(state, space);
    std::size_t label_width = 0;
    for (const std::size_t index : shown) {
        label_width = std::max(label_width, printable_label(state.streams[index].label).size());
    }
    std::uint64_t bad_elsewhere = 0;
    for (const StreamView& stream : state.streams) bad_elsewhere += stream.bad;
    for (const std::size_t index : shown) {
        add(stream_line(state.streams[index], label_width));
        bad_elsewhere -= state.streams[index].bad;
    }
    if (const std::size_t more = state.streams.size() - shown.size(); more > 0) {
        add(fmt::format("and {} more, {} not in time", show_count(more), show_count(bad_elsewhere)));
    }
    return lines;
}

bool LiveView::possible(int fd) {
    const char* term = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe): nothing sets it
    return isatty(fd) == 1 && term != nullptr && std::string_view(term) != "dumb" && *term != '\0';
}

bool LiveView::colours_wanted(int fd) {
    const char* none = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe): nothing sets it
    return possible(fd) && (none == nullptr || *none == '\0');
}

void LiveView::draw(const ViewState& state) {
    const auto [columns, rows] = terminal_size(fd_, kFallbackColumns, kFallbackRows);
    // One row stays free for the cursor: writing into the last one would scroll.
    const auto lines = live_lines(state, columns - 1, rows - 1);
    std::string out;
    if (drawn_ > 0) out += fmt::format("\x1b[{}A", drawn_);
    out += "\r\x1b[J";
    for (const std::string& line : lines) out += (colour_ ? coloured(line) : line) + "\n";
    write_all(fd_, out);
    drawn_ = static_cast<int>(lines.size());
}

void LiveView::erase() {
    if (drawn_ == 0) return;
    write_all(fd_, fmt::format("\x1b[{}A\r\x1b[J", drawn_));
    drawn_ = 0;
}

}  // namespace streamsim
