// Streams over time without a script: strips of the worst ones, and a heat map of the others.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/units.h"
#include "report/facts/selection.h"
#include "report/facts/show.h"
#include "report/html/html_charts.h"
#include "report/html/html_text.h"

namespace streamsim::report::html {
namespace {

constexpr std::size_t kStripsMax = 24;
constexpr std::size_t kStripPoints = 400;
constexpr double kStripWidth = 1000;  // of a strip's own units: all of the time
constexpr double kTickHeight = 4, kBufferTop = 5, kBufferHeight = 9, kStripHeight = 14;

constexpr std::size_t kHeatColumns = 200;
constexpr std::size_t kHeatRowsMax = 300;
constexpr std::size_t kHeatRowHeight = 4;  // of the map's own units

/// The end of the last stream, from the first play_start.
std::int64_t end_of_play(const RunResult& result) {
    std::int64_t end = 0;
    for (const StreamResult& stream : result.streams) {
        const auto points = static_cast<std::int64_t>(stream.series.points.size());
        end = std::max({end, stream.play_start_ns + stream.last_due_ns,
                        stream.play_start_ns + points * stream.series.interval_ns});
    }
    return end;
}

/// The most frames that the stream had buffered, or may.
std::uint64_t full_buffer(const RunResult& result, const StreamResult& stream) {
    std::uint64_t full = std::max<std::uint64_t>(result.readahead, 1);
    for (const StreamSeries::Point& point : stream.series.points)
        full = std::max<std::uint64_t>(full, point.buffer_min.value_or(0));
    return full;
}

/// A part of a stream's time, in units of its strip.
struct StripPoint {
    double begin = 0, end = 0;
    std::optional<std::uint32_t> buffer;
    std::uint64_t missed = 0;
};

std::vector<StripPoint> strip_points(const StreamResult& stream, std::int64_t end_ns, std::size_t limit) {
    const std::vector<StreamSeries::Point>& points = stream.series.points;
    const std::size_t step = std::max<std::size_t>((points.size() + limit - 1) / limit, 1);
    const auto x_at = [&](std::size_t index) {
        const double ns = static_cast<double>(stream.play_start_ns) +
                          static_cast<double>(index) * static_cast<double>(stream.series.interval_ns);
        return kStripWidth * ns / static_cast<double>(end_ns);
    };
    std::vector<StripPoint> out;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (i % step == 0) out.push_back({x_at(i), x_at(std::min(i + step, points.size())), {}, 0});
        StripPoint& point = out.back();
        if (points[i].buffer_min)
            point.buffer = std::min(point.buffer.value_or(UINT32_MAX), *points[i].buffer_min);
        point.missed += points[i].missed;
    }
    return out;
}

/// The buffered frames as steps, over the time for which they are known.
std::string buffer_path(const std::vector<StripPoint>& points, double full) {
    std::string path;
    bool open = false;
    double level = -1;
    for (const StripPoint& point : points) {
        if (!point.buffer) {
            if (open) path += fmt::format("V{:.0f}Z", kStripHeight);
            open = false;
            continue;
        }
        const double y = kStripHeight - kBufferHeight * std::min(1.0, *point.buffer / full);
        if (!open) path += fmt::format("M{:.1f} {:.0f}", point.begin, kStripHeight);
        if (!open || y != level) path += fmt::format("V{:.1f}", y);
        path += fmt::format("H{:.1f}", point.end);
        open = true;
        level = y;
    }
    return open ? path + fmt::format("V{:.0f}Z", kStripHeight) : path;
}

std::string tick(double x) {
    return fmt::format("M{:.1f} 0v{:.0f}", x, kTickHeight);
}

/// Ticks at missed frames: from the document's drops, or, where it has not all of them, from the series.
std::string tick_path(const RunResult& result,
                      const StreamResult& stream,
                      const std::vector<StripPoint>& points,
                      std::int64_t end_ns) {
    std::string path;
    if (result.drops_omitted > 0) {
        for (const StripPoint& point : points) {
            if (point.missed > 0) path += tick((point.begin + point.end) / 2);
        }
        return path;
    }
    double last = -1;
    for (const DropRecord& drop : result.drops) {
        if (drop.seat != stream.seat || drop.stream != stream.stream) continue;
        const double x =
            kStripWidth * static_cast<double>(stream.play_start_ns + drop.due_ns) / static_cast<double>(end_ns);
        if (x - last >= 1) path += tick(last = x);
    }
    return path;
}

std::string strip(const RunResult& result, const StreamResult& stream, std::int64_t end_ns) {
    const std::vector<StripPoint> points = strip_points(stream, end_ns, kStripPoints);
    const std::uint64_t full = full_buffer(result, stream);
    const std::string who = stream_name(stream.seat, stream.stream, several_seats(result));
    const std::uint64_t misses = missed(stream.counts);
    std::string label = fmt::format("Stream {}: {} missed", who, counted(misses, "frame"));
    if (stream.buffer_frames)
        label += fmt::format(", min {} of {} buffered", counted(stream.buffer_frames->min, "frame"), full);
    return fmt::format(
        "<li><span class=\"who\">{}</span>"
        "<svg viewBox=\"0 0 {:.0f} {:.0f}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\">"
        "<path class=\"base\" d=\"M0 {:.0f}H{:.0f}V{:.0f}H0Z\"/><path class=\"buffer\" d=\"{}\"/>"
        "<path class=\"tick\" d=\"{}\"/></svg>"
        "<span class=\"count{}\">{}</span></li>\n",
        who, kStripWidth, kStripHeight, label, kBufferTop, kStripWidth, kStripHeight,
        buffer_path(points, static_cast<double>(full)), tick_path(result, stream, points, end_ns),
        misses > 0 ? " missed" : "", misses == 0 ? show_count(misses) : show_count(misses) + " missed");
}

/// Cells of the heat map by how bad they are.
enum class Heat { none, low, empty, missed, all_missed };
constexpr std::size_t kHeatLevels = 5;
constexpr const char* kHeatClasses[] = {"", "low", "empty", "missed", "lost"};
constexpr const char* kHeatWords[] = {"", "buffer at most a half full", "buffer empty", "frames missed",
                                      "half of the frames missed, or more"};

Heat heat_of(const StreamResult& stream, const StreamSeries::Point& point, std::uint64_t full) {
    const double due = static_cast<double>(stream.series.interval_ns) * 1e-9 * stream.rate.per_second();
    if (point.missed > 0) return point.missed * 2 >= due ? Heat::all_missed : Heat::missed;
    if (!point.buffer_min) return Heat::none;
    if (*point.buffer_min == 0) return Heat::empty;
    return *point.buffer_min * 2 <= full ? Heat::low : Heat::none;
}

/// One row of the map, the worst of each column, for streams that follow each other in the order.
using HeatRow = std::array<Heat, kHeatColumns>;

void add_to_row(const RunResult& result, const StreamResult& stream, std::int64_t end_ns, HeatRow& row) {
    const std::uint64_t full = full_buffer(result, stream);
    const std::vector<StreamSeries::Point>& points = stream.series.points;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const Heat heat = heat_of(stream, points[i], full);
        if (heat == Heat::none) continue;
        const auto column_at = [&](std::size_t index) {
            const double ns = static_cast<double>(stream.play_start_ns) +
                              static_cast<double>(index) * static_cast<double>(stream.series.interval_ns);
            const double column = ns / static_cast<double>(end_ns) * kHeatColumns;
            return static_cast<std::size_t>(std::clamp(column, 0.0, double{kHeatColumns}));
        };
        const std::size_t first = std::min(column_at(i), kHeatColumns - 1);
        for (std::size_t at = first; at < std::max(column_at(i + 1), first + 1); ++at)
            row[at] = std::max(row[at], heat);
    }
}

/// A row's cells as rectangles in the path of their level.
void draw_row(const HeatRow& row, std::size_t y, std::array<std::string, kHeatLevels>& paths) {
    for (std::size_t first = 0, end = 0; first < kHeatColumns; first = end) {
        while (end < kHeatColumns && row[end] == row[first]) ++end;
        if (row[first] == Heat::none) continue;
        paths[static_cast<std::size_t>(row[first])] +=
            fmt::format("M{} {}h{}v{}h-{}z", first, y, end - first, kHeatRowHeight, end - first);
    }
}

/// `streams`: indices of result.streams, the worst first.
std::string heat_map(const RunResult& result, const std::vector<std::size_t>& streams, std::int64_t end_ns) {
    const std::size_t together = (streams.size() + kHeatRowsMax - 1) / kHeatRowsMax;
    std::array<std::string, kHeatLevels> paths;
    std::size_t rows = 0;
    for (std::size_t i = 0; i < streams.size(); i += together, ++rows) {
        HeatRow row{};
        for (std::size_t k = i; k < std::min(i + together, streams.size()); ++k)
            add_to_row(result, result.streams[streams[k]], end_ns, row);
        draw_row(row, rows * kHeatRowHeight, paths);
    }
    std::uint64_t bad = 0;
    for (const std::size_t index : streams) bad += missed(result.streams[index].counts) > 0 ? 1u : 0u;
    const std::string words = fmt::format("{} over time, the worst at the top; {} of them missed frames",
                                          counted(streams.size(), "more stream"), show_count(bad));
    std::string legend;
    std::string shapes;
    for (std::size_t level = 1; level < kHeatLevels; ++level) {
        shapes += fmt::format("<path class=\"heat {}\" d=\"{}\"/>", kHeatClasses[level], paths[level]);
        legend += fmt::format(
            "<li><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><path class=\"heat {}\" "
            "d=\"M0 0h10v10h-10z\"/></svg>{}</li>",
            kHeatClasses[level], kHeatWords[level]);
    }
    const std::size_t height = rows * kHeatRowHeight;
    return fmt::format(
        "<figure><svg class=\"heat-map\" viewBox=\"0 0 {0} {1}\" preserveAspectRatio=\"none\" "
        "style=\"height:{2}px\" role=\"img\" aria-label=\"{3}\"><path class=\"base\" "
        "d=\"M0 0H{0}V{1}H0Z\"/>{4}</svg>\n<p class=\"axis whole\"><span>0:00</span><span>{5}</span></p>\n"
        "<ul class=\"legend\">{6}</ul><figcaption>{3}{7}.</figcaption></figure>\n",
        kHeatColumns, height, std::max<std::size_t>(height, 24), words, shapes, show_clock(end_ns, false),
        legend, together > 1 ? fmt::format("; each line is {} streams, by the worst of them", together) : "");
}

}  // namespace

std::string stream_strips(const RunResult& result) {
    const std::int64_t end_ns = end_of_play(result);
    if (result.streams.empty() || end_ns <= 0)
        return paragraph("No frame was due, so there is no time line.", "none");
    const bool buffers = std::ranges::any_of(
        result.streams, [](const StreamResult& stream) { return !stream.series.points.empty(); });
    const bool more = result.streams.size() > kStripsMax;
    std::string words =
        fmt::format("Each strip is a stream, from 0:00 to {}: a tick marks frames that were missed",
                    show_clock(end_ns, false));
    if (more) words = fmt::format("The {} worst streams. ", kStripsMax) + words;
    words += buffers
                 ? ", the filled area below is the fewest complete frames that were buffered ahead (full: its "
                   "read-ahead)."
                 : ". How many frames were buffered was not recorded over time.";
    words += " The number is how many frames it missed";
    if (result.totals.startup_drops > 0) words += ", without the drops of the first second";
    std::string out = paragraph(words + ".");
    out += fmt::format("<p class=\"axis\"><span>0:00</span><span>{}</span></p>\n", show_clock(end_ns, false));
    out += "<ol class=\"strips\">\n";
    const std::vector<std::size_t> order = worst_streams(result, result.streams.size());
    for (std::size_t i = 0; i < std::min(order.size(), kStripsMax); ++i)
        out += strip(result, result.streams[more ? order[i] : i], end_ns);
    out += "</ol>\n";
    if (!more) return out;
    return out + heat_map(result, {order.begin() + kStripsMax, order.end()}, end_ns);
}

}  // namespace streamsim::report::html
