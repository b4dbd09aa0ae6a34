#include "run/load_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "run/plan/meters.h"

namespace streamsim::run {
namespace {

/// The averages of summed transfers.
ModeTable::Cell averages(const TransferCell& sum) {
    if (sum.transfers == 0) return {};
    const auto count = static_cast<double>(sum.transfers);
    const auto blocks = static_cast<double>(std::max<std::uint64_t>(sum.blocks, 1));
    return {sum.transfers,        sum.blocks,
            sum.rate_sum / count, static_cast<double>(sum.block_ns) / blocks,
            sum.block_max_ns,     static_cast<double>(sum.latency_ns) / count,
            sum.latency_max_ns};
}

/// `played`: all block sizes of its meters have a column, also those of which none was moved.
ModeTable modes_of(const Workload& played, const std::vector<const MeterResult*>& meters) {
    ModeTable table;
    std::set<std::uint64_t> blocks;
    for (const MeterSpec& spec : played.meters) {
        for (const WeightedSize& each : spec.blocks) blocks.insert(each.bytes);
        if (!spec.writes) continue;
        for (const WeightedSize& each : spec.writes->blocks) blocks.insert(each.bytes);
    }
    for (const MeterResult* meter : meters) {
        for (const auto& cell : meter->cells) blocks.insert(cell.block_bytes);
    }
    table.blocks.assign(blocks.begin(), blocks.end());
    const std::size_t all = table.blocks.size();
    std::array<std::vector<TransferCell>, kTransferModes + 1> sums;
    for (auto& row : sums) row.resize(all + 1);
    for (const MeterResult* meter : meters) {
        for (const auto& cell : meter->cells) {
            const auto found = std::lower_bound(table.blocks.begin(), table.blocks.end(), cell.block_bytes);
            const auto column = static_cast<std::size_t>(found - table.blocks.begin());
            for (const std::size_t row : {static_cast<std::size_t>(cell.mode), kTransferModes}) {
                sums[row][column] += cell.cell;
                sums[row][all] += cell.cell;
            }
        }
    }
    for (std::size_t row = 0; row < sums.size(); ++row) {
        for (const TransferCell& sum : sums[row]) table.cells[row].push_back(averages(sum));
    }
    return table;
}

/// How many times the files of all meters were read.
LoadStep::FilesRead files_read(const Workload& played, const std::vector<const MeterResult*>& meters) {
    LoadStep::FilesRead out{0, 0, true};
    for (const MeterSpec& spec : played.meters) {
        out.files_bytes += spec.set.sets(spec.users, played.clients) * spec.set.files * spec.set.file_bytes;
        out.once &= spec.read_once || spec.weights[static_cast<std::size_t>(LoadOperation::read)] <= 0;
    }
    double bytes = 0;
    for (const MeterResult* meter : meters)
        bytes += static_cast<double>(meter->operations[static_cast<std::size_t>(LoadOperation::read)].bytes);
    if (out.files_bytes > 0) out.times = bytes / static_cast<double>(out.files_bytes);
    return out;
}

/// The peaks over time. Series count from the start of their meters, which the steps of a workload state.
LoadStep::Peak peak_of(const Workload& played, const std::vector<const MeterResult*>& meters) {
    std::int64_t interval_ns = 1;
    std::int64_t wall_ns = 0;
    for (const MeterResult* meter : meters) {
        interval_ns = std::max(interval_ns, meter->interval_ns);
        wall_ns = std::max(wall_ns, meter->wall_ns);
    }
    struct Sum {
        double operations = 0, latency_ns = 0, bytes = 0;
    };
    std::map<std::int64_t, Sum> sums;  // by interval
    for (const MeterResult* meter : meters) {
        const auto spec = std::ranges::find_if(
            played.meters, [&](const MeterSpec& each) { return meter->name == meter_name(played, each); });
        const std::int64_t start_ns = spec != played.meters.end() ? spec->start.ns : 0;
        for (std::size_t i = 0; i < meter->series.size(); ++i) {
            const std::int64_t at_ns = start_ns + static_cast<std::int64_t>(i) * meter->interval_ns;
            Sum& sum = sums[at_ns / interval_ns];
            sum.operations += static_cast<double>(meter->series[i].operations);
            sum.latency_ns += static_cast<double>(meter->series[i].response_sum_ns);
            sum.bytes += static_cast<double>(meter->series[i].bytes);
        }
    }
    LoadStep::Peak out;
    for (const auto& [at, sum] : sums) {
        const bool shorter = sums.size() == 1 && wall_ns > 0 && wall_ns < interval_ns;  // than an interval
        const double per_s = 1e9 / static_cast<double>(shorter ? wall_ns : interval_ns);
        out.operations_per_s = std::max(out.operations_per_s, sum.operations * per_s);
        out.bytes_per_s = std::max(out.bytes_per_s, sum.bytes * per_s);
        if (sum.operations > 0)
            out.latency_mean_ns = std::max(out.latency_mean_ns, sum.latency_ns / sum.operations);
    }
    return out;
}

double measured(const LoadStep& step, const std::string& quantity) {
    const LoadFigures& figures = step.all;
    if (quantity == "bytes_per_s") return figures.read_bytes_per_s + figures.write_bytes_per_s;
    if (quantity == "peak_operations_per_s") return step.peak.operations_per_s;
    if (quantity == "peak_latency_ms") return step.peak.latency_mean_ns / 1e6;
    const ModeTable::Cell blocks =
        step.modes.cells.back().empty() ? ModeTable::Cell{} : step.modes.cells.back().back();
    if (quantity == "read_bytes_per_s") return figures.read_bytes_per_s;
    if (quantity == "peak_bytes_per_s") return step.peak.bytes_per_s;
    if (quantity == "block_latency_ms") return blocks.block_latency_mean_ns / 1e6;
    if (quantity == "block_latency_max_ms") return static_cast<double>(blocks.block_latency_max_ns) / 1e6;
    if (quantity == "write_bytes_per_s") return figures.write_bytes_per_s;
    if (quantity == "latency_ms") return figures.latency_mean_ns / 1e6;
    return figures.operations_per_s;
}

/// REQUIRES: steps is not empty.
PrintedComparison compare_peak(const PrintedFigure& printed, const std::vector<LoadStep>& steps) {
    const auto value = [&printed](const LoadStep& step) { return measured(step, printed.quantity); };
    const auto largest = std::ranges::max_element(steps, {}, value);
    PrintedComparison out{printed, value(*largest)};
    out.printed.at = largest->at;
    return out;
}

bool belongs_to(const PrintedFigure& printed, const RunResult& result) {
    return printed.model.empty() || (result.model && result.model->name == printed.model);
}

}  // namespace

LoadStep load_step(double at, const Workload& played, RunResult result) {
    LoadStep step;
    step.at = at;
    step.result = std::move(result);
    std::vector<const MeterResult*> all;
    std::vector<std::string> names;  // as they were given
    std::map<std::string, std::vector<const MeterResult*>> by_name;
    std::map<std::uint32_t, std::vector<const MeterResult*>> by_seat;
    for (const MeterResult& meter : step.result.meters) {
        all.push_back(&meter);
        if (by_name.find(meter.name) == by_name.end()) names.push_back(meter.name);
        by_name[meter.name].push_back(&meter);
        by_seat[meter.seat].push_back(&meter);
    }
    step.all = load_figures("all", all);
    if (played.sweep.over == Sweep::Over::cache) step.files_read = files_read(played, all);
    step.peak = peak_of(played, all);
    step.modes = modes_of(played, all);
    for (const std::string& name : names) {
        if (names.size() > 1) step.meters.push_back(load_figures(name, by_name[name]));
    }
    for (const auto& [seat, meters] : by_seat) {
        step.clients.push_back(load_figures(fmt::format("seat {}", seat), meters));
        step.client_modes.push_back(modes_of(played, meters));
    }
    return step;
}

std::vector<PrintedComparison> compare_with_printed(const Workload& workload,
                                                    const std::vector<LoadStep>& steps) {
    std::vector<PrintedComparison> out;
    for (const PrintedFigure& printed : workload.printed) {
        if (steps.empty() || !belongs_to(printed, steps.front().result)) continue;
        if (printed.peak) {
            if (steps.size() == workload.sweep.values.size()) out.push_back(compare_peak(printed, steps));
            continue;
        }
        for (const LoadStep& step : steps) {
            const bool here = workload.sweep.over == Sweep::Over::none ||
                              std::abs(step.at - printed.at) <= 1e-9 * std::abs(printed.at);
            if (here) out.push_back({printed, measured(step, printed.quantity)});
        }
    }
    return out;
}

}  // namespace streamsim::run
