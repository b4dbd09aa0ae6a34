#include "report/html/html_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/document/json.h"
#include "base/units.h"
#include "report/facts/run_lines.h"
#include "report/facts/selection.h"
#include "report/facts/show.h"
#include "report/html/html_text.h"

namespace streamsim::report::html {
namespace {

constexpr std::size_t kChartPoints = 600;
constexpr std::size_t kWideStrips = 24;    // with more streams the strips are small, and stand in columns
constexpr std::size_t kSmallPoints = 100;  // of a small strip
constexpr std::size_t kWidePoints = 400;
constexpr double kStripWidth = 1000;  // of a strip's own units: all of the time
constexpr double kTickHeight = 4, kBufferTop = 5, kBufferHeight = 9, kStripHeight = 14;

double to_seconds(std::int64_t ns) {
    return std::round(static_cast<double>(ns) / 1e6) / 1e3;
}

double to_ms(std::int64_t ns) {
    return std::round(static_cast<double>(ns) / 1e3) / 1e3;
}

double to_mb(double bytes) {
    return std::round(bytes / 1e4) / 1e2;
}

template <class Row, class Value>
OrderedJson array_of(const std::vector<Row>& rows, Value value) {
    OrderedJson out = OrderedJson::array();
    for (const Row& row : rows) out.push_back(value(row));
    return out;
}

OrderedJson throughput_data(const RunResult& result) {
    const std::vector<TimelineEntry> entries = coarser(of_play(result.timeline), kChartPoints);
    if (entries.empty()) return nullptr;
    const bool required = std::isfinite(result.required_bytes_per_s) && result.required_bytes_per_s > 0;
    const auto step = [](const RequiredRate& each) {
        return OrderedJson{to_seconds(each.t_ns), to_mb(each.bytes_per_s)};
    };
    return {{"t", array_of(entries, [](const TimelineEntry& entry) { return to_seconds(entry.t_ns); })},
            {"end", to_seconds(entries.back().t_ns + entries.back().interval_ns)},
            {"rate", array_of(entries, [](const TimelineEntry& entry) { return to_mb(bytes_per_s(entry)); })},
            {"required", required ? OrderedJson(to_mb(result.required_bytes_per_s)) : OrderedJson(nullptr)},
            {"steps", array_of(result.required_rates, step)}};
}

bool has_margins(const RunResult& result) {
    return std::ranges::any_of(result.timeline, [](const TimelineEntry& entry) {
        return entry.t_ns >= 0 && entry.margin_ns_min.has_value();
    });
}

OrderedJson margin_data(const RunResult& result) {
    if (!has_margins(result)) return nullptr;
    const std::vector<TimelineEntry> entries = coarser(of_play(result.timeline), kChartPoints);
    const auto middle = [](const TimelineEntry& entry) {
        return to_seconds(entry.t_ns + entry.interval_ns / 2);
    };
    const auto least = [](const TimelineEntry& entry) {
        return entry.margin_ns_min ? OrderedJson(to_ms(*entry.margin_ns_min)) : OrderedJson(nullptr);
    };
    return {{"t", array_of(entries, middle)},
            {"end", to_seconds(entries.back().t_ns + entries.back().interval_ns)},
            {"least", array_of(entries, least)},
            {"missed", array_of(entries, [](const TimelineEntry& entry) { return missed(entry); })}};
}

OrderedJson bins_data(const RunResult& result) {
    if (result.margin_bins.empty()) return nullptr;
    return {{"from", array_of(result.margin_bins, [](const MarginBin& bin) { return to_ms(bin.from_ns); })},
            {"to", to_ms(result.margin_bins.back().to_ns)},
            {"frames", array_of(result.margin_bins, [](const MarginBin& bin) { return bin.frames; })}};
}

/// A canvas is a picture: its label describes it, and a table has its numbers.
std::string figure(const char* chart, const std::string& label, const std::string& caption) {
    return fmt::format(
        "<figure><div class=\"chart\"><canvas data-chart=\"{}\" role=\"img\" aria-label=\"{}\"></canvas></div>"
        "<figcaption>{}</figcaption></figure>\n",
        chart, escaped(label), caption);
}

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

/// Ticks at missed frames: from the series, which has all of them, else from the document's drops.
std::string tick_path(const RunResult& result,
                      const StreamResult& stream,
                      const std::vector<StripPoint>& points,
                      std::int64_t end_ns) {
    std::string path;
    for (const StripPoint& point : points) {
        if (point.missed > 0) path += tick((point.begin + point.end) / 2);
    }
    if (!points.empty()) return path;
    double last = -1;
    for (const DropRecord& drop : result.drops) {
        if (drop.seat != stream.seat || drop.stream != stream.stream) continue;
        const double x =
            kStripWidth * static_cast<double>(stream.play_start_ns + drop.due_ns) / static_cast<double>(end_ns);
        if (x - last >= 1) path += tick(last = x);
    }
    return path;
}

std::string strip(const RunResult& result, const StreamResult& stream, std::int64_t end_ns, bool small) {
    const std::vector<StripPoint> points = strip_points(stream, end_ns, small ? kSmallPoints : kWidePoints);
    std::uint64_t full = std::max<std::uint64_t>(result.readahead, 1);
    for (const StripPoint& point : points) full = std::max<std::uint64_t>(full, point.buffer.value_or(0));
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
        misses > 0 ? " missed" : "",
        misses == 0 || small ? show_count(misses) : show_count(misses) + " missed");
}

}  // namespace

std::string chart_data(const RunResult& result) {
    const OrderedJson data = {{"throughput", throughput_data(result)},
                              {"margin", margin_data(result)},
                              {"distribution", bins_data(result)}};
    std::string out;
    for (const char c : json_text(data)) {
        if (c == '<')
            out += "\\u003c";
        else
            out += c;
    }
    return out;
}

std::string throughput_figure(const RunResult& result) {
    const std::vector<TimelineEntry> entries = coarser(of_play(result.timeline), kChartPoints);
    if (entries.empty()) return paragraph("Not recorded over time.", "none");
    const auto [least, most] = std::ranges::minmax_element(entries, {}, bytes_per_s);
    std::string label = fmt::format("Throughput over time, in steps of {}: min {}, max {}",
                                    show_duration({longest_interval_ns(entries)}),
                                    show_rate(bytes_per_s(*least)), show_rate(bytes_per_s(*most)));
    std::string caption = label + ".";
    if (std::isfinite(result.required_bytes_per_s) && result.required_bytes_per_s > 0) {
        label += "; required " + show_rate(result.required_bytes_per_s);
        const std::string steps = required_text(result);
        caption += " The broken line is what all streams that play need together, " +
                   (steps.empty() ? show_rate(result.required_bytes_per_s) : "step by step: " + steps) +
                   ". The read-ahead was filled before 0:00, so that in the last step less is left to read.";
    }
    return figure("throughput", label, caption);
}

std::string margin_figure(const RunResult& result) {
    if (!has_margins(result)) return paragraph("Margins over time: not recorded.", "none");
    const std::string least = result.margin_ns ? show_duration({result.margin_ns->min}) : "not known";
    return figure(
        "margin", "Min margin over time; overall " + least,
        "The least margin of each step. Below the line at 0 a frame was late; a triangle marks a step in which "
        "frames were missed.");
}

std::string distribution_figure(const RunResult& result) {
    if (result.margin_bins.empty()) return paragraph("Distribution of margins: not recorded.", "none");
    std::uint64_t late = 0;
    std::uint64_t all = 0;
    for (const MarginBin& bin : result.margin_bins) {
        all += bin.frames;
        if (bin.from_ns < 0) late += bin.frames;
    }
    const std::string words = fmt::format("{} of {} were complete before their deadline, {} after it",
                                          show_count(all - late), counted(all, "frame"), show_count(late));
    return figure("distribution", "Frames by margin: " + words,
                  "How many frames had which margin: " + words + ".");
}

std::string stream_strips(const RunResult& result) {
    const std::int64_t end_ns = end_of_play(result);
    if (result.streams.empty() || end_ns <= 0)
        return paragraph("No frame was due, so there is no time line.", "none");
    const bool small = result.streams.size() > kWideStrips;
    const bool buffers = std::ranges::any_of(
        result.streams, [](const StreamResult& stream) { return !stream.series.points.empty(); });
    std::string words =
        fmt::format("Each strip is a stream, from 0:00 to {}: a tick marks frames that were missed",
                    show_clock(end_ns, false));
    words += buffers
                 ? ", the filled area below is the fewest complete frames that were buffered ahead (full: its "
                   "read-ahead)."
                 : ". How many frames were buffered was not recorded over time.";
    std::string out = paragraph(words + " The number is how many frames it missed.");
    if (!small)
        out +=
            fmt::format("<p class=\"axis\"><span>0:00</span><span>{}</span></p>\n", show_clock(end_ns, false));
    out += small ? "<ol class=\"strips small\">\n" : "<ol class=\"strips\">\n";
    for (const StreamResult& stream : result.streams) out += strip(result, stream, end_ns, small);
    return out + "</ol>\n";
}

}  // namespace streamsim::report::html
