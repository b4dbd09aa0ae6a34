#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "base/utf8.h"
#include "view/live_lines.h"

namespace streamsim::view {
namespace {

std::string megabytes(double bytes_per_s) {
    return fmt::format("{:.1f}", bytes_per_s / 1e6);
}

std::string row_text(std::size_t width, const MeterView& meter) {
    const std::string latency =
        meter.latency_ns ? show_duration({static_cast<std::int64_t>(*meter.latency_ns)}) : "";
    return fmt::format("  {:<{}} {:>10} {:>10} {:>10} {:>10} {:>12} {:>8}", printable(meter.name), width,
                       fmt::format("{:.0f}", meter.operations_per_s), megabytes(meter.read_bytes_per_s),
                       megabytes(meter.write_bytes_per_s), latency, show_count(meter.counts.done),
                       show_count(meter.counts.failed));
}

}  // namespace

void MeterCounts::add(const MeterProgress& progress) {
    constexpr auto kOrder = std::memory_order_relaxed;
    done += progress.done.load(kOrder);
    failed += progress.failed.load(kOrder);
    bytes_read += progress.bytes_read.load(kOrder);
    bytes_written += progress.bytes_written.load(kOrder);
    response_sum_ns += progress.response_sum_ns.load(kOrder);
}

void MeterView::measure(const MeterCounts& before, std::int64_t ns) {
    if (ns <= 0) return;
    const auto rate = [ns](std::uint64_t from, std::uint64_t to) {
        return static_cast<double>(to - from) * 1e9 / static_cast<double>(ns);
    };
    operations_per_s = rate(before.done, counts.done);
    read_bytes_per_s = rate(before.bytes_read, counts.bytes_read);
    write_bytes_per_s = rate(before.bytes_written, counts.bytes_written);
    latency_ns.reset();
    if (counts.done > before.done)
        latency_ns = static_cast<double>(counts.response_sum_ns - before.response_sum_ns) /
                     static_cast<double>(counts.done - before.done);
}

MeterView all_of(const std::vector<MeterView>& meters) {
    MeterView all;
    for (const MeterView& meter : meters) {
        all.counts.done += meter.counts.done;
        all.counts.failed += meter.counts.failed;
        all.operations_per_s += meter.operations_per_s;
        all.read_bytes_per_s += meter.read_bytes_per_s;
        all.write_bytes_per_s += meter.write_bytes_per_s;
    }
    return all;
}

std::string meters_text(const std::vector<MeterView>& meters) {
    const MeterView all = all_of(meters);
    return fmt::format("{} op/s, {} MB/s read, {} MB/s written, {} failed",
                       show_count(static_cast<std::uint64_t>(all.operations_per_s)),
                       megabytes(all.read_bytes_per_s), megabytes(all.write_bytes_per_s),
                       show_count(all.counts.failed));
}

std::vector<ViewLine> meter_lines(const std::vector<MeterView>& meters, std::size_t lines_max) {
    std::size_t width = 5;
    for (const MeterView& meter : meters) width = std::max(width, printable(meter.name).size());
    std::vector<ViewLine> lines;
    lines.push_back({fmt::format("  {:<{}} {:>10} {:>10} {:>10} {:>10} {:>12} {:>8}", "METER", width, "OP/S",
                                 "READ MB/S", "WRITE MB/S", "LATENCY", "DONE", "FAILED"),
                     Paint::faint});
    const std::size_t room = lines_max - 1;
    const std::size_t shown = meters.size() <= room ? meters.size() : room - 1;
    for (std::size_t i = 0; i < shown; ++i) {
        const bool bad = meters[i].counts.failed > 0;
        lines.push_back({row_text(width, meters[i]), bad ? Paint::bad : Paint::plain});
    }
    if (shown < meters.size()) {
        lines.push_back({fmt::format("  and {} more", show_count(meters.size() - shown)), Paint::faint});
    }
    return lines;
}

}  // namespace streamsim::view
