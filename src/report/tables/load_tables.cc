// The tables of a workload's report.
#include "report/tables/load_tables.h"

#include <fmt/format.h>

#include <cmath>

#include "base/units.h"
#include "base/utf8.h"
#include "report/text/load_report.h"
#include "report/text/text_tables.h"

namespace streamsim::report {
namespace {

using Align = TextTable::Align;
using Keep = TextTable::Keep;

std::string show_latency(double ns) {
    return ns > 0 ? show_duration({std::llround(ns)}) : "";
}

std::string show_megabytes(double bytes_per_s) {
    return bytes_per_s > 0 ? fmt::format("{:.1f}", bytes_per_s / 1e6) : "";
}

std::string row_name(std::size_t row) {
    return row < kTransferModes ? to_string(static_cast<TransferMode>(row)) : "All";
}

enum class Quantity { rate, block_mean, block_max, transfer_mean, transfer_max };

/// One of them, in the units that its source prints.
std::string show_cell(const ModeTable::Cell& cell, Quantity quantity) {
    const auto seconds = [](std::int64_t ns) { return fmt::format("{:.6f}", static_cast<double>(ns) / 1e9); };
    switch (quantity) {
        case Quantity::rate: return fmt::format("{:.2f}", cell.rate_bytes_per_s / 1e6);
        case Quantity::block_mean: return fmt::format("{:.3f}", cell.block_latency_mean_ns / 1e6);
        case Quantity::block_max: return seconds(cell.block_latency_max_ns);
        case Quantity::transfer_mean: return fmt::format("{:.3f}", cell.transfer_latency_mean_ns / 1e6);
        case Quantity::transfer_max: return seconds(cell.transfer_latency_max_ns);
    }
    return "";
}

std::string mode_table(const ModeTable& modes, Quantity quantity) {
    TextTable table;
    table.column("", Align::left);
    for (const std::uint64_t block : modes.blocks) table.column(show_block(block), Align::right);
    table.column("All", Align::right);
    for (std::size_t row = 0; row < modes.cells.size(); ++row) {
        std::vector<std::string> fields = {row_name(row)};
        for (const ModeTable::Cell& cell : modes.cells[row]) {
            if (cell.transfers == 0) {
                fields.emplace_back("-");
                continue;
            }
            fields.push_back(show_cell(cell, quantity));
        }
        table.row(std::move(fields));
    }
    return table.text();
}

std::string tables_of(const ModeTable& modes, const std::string& of) {
    if (modes.blocks.empty()) return "";
    std::string out;
    for (const auto& [heading, quantity] : {std::pair{"average rate (MB/s)", Quantity::rate},
                                            std::pair{"average block latency (ms)", Quantity::block_mean},
                                            std::pair{"maximum block latency (s)", Quantity::block_max},
                                            std::pair{"average transfer latency (ms)", Quantity::transfer_mean},
                                            std::pair{"maximum transfer latency (s)", Quantity::transfer_max}})
        out += fmt::format("{}, {}\n{}", heading, of, mode_table(modes, quantity));
    return out;
}

/// `latencies`: those of the mode tables, too.
void figure_columns(TextTable& table, bool latencies) {
    table.column("op/s", Align::right);
    table.column("read MB/s", Align::right, Keep::where_not_zero);
    table.column("write MB/s", Align::right, Keep::where_not_zero);
    table.column("mean time", Align::right);
    table.column("p99", Align::right, Keep::where_not_zero);
    table.column("max", Align::right);
    if (latencies) {
        table.column("block latency", Align::right, Keep::where_not_zero);
        table.column("transfer latency", Align::right, Keep::where_not_zero);
    }
    table.column("operations", Align::right);
    table.column("failed", Align::right, Keep::where_not_zero);
}

/// As the mode tables have it.
std::string show_ms(const std::optional<double>& ns) {
    return ns ? fmt::format("{:.3f} ms", *ns / 1e6) : "";
}

void add_figures(const LoadFigures& figures, bool latencies, std::vector<std::string>& fields) {
    fields.push_back(show_count(static_cast<std::uint64_t>(std::llround(figures.operations_per_s))));
    fields.push_back(show_megabytes(figures.read_bytes_per_s));
    fields.push_back(show_megabytes(figures.write_bytes_per_s));
    fields.push_back(show_latency(figures.latency_mean_ns));
    fields.push_back(figures.latency_p99_ns ? show_duration({*figures.latency_p99_ns}) : "");
    fields.push_back(figures.operations > 0 ? show_duration({figures.latency_max_ns}) : "");
    if (latencies) {
        fields.push_back(show_ms(figures.block_latency_mean_ns));
        fields.push_back(show_ms(figures.transfer_latency_mean_ns));
    }
    fields.push_back(show_count(figures.operations));
    fields.push_back(show_count(figures.failed));
}

}  // namespace

std::string sweep_word(Sweep::Over over) {
    switch (over) {
        case Sweep::Over::none: return "";
        case Sweep::Over::clients: return "clients";
        case Sweep::Over::users: return "users";
        case Sweep::Over::read_percent: return "read %";
        case Sweep::Over::operations_per_s: return "asked op/s";
        case Sweep::Over::block_bytes: return "block";
        case Sweep::Over::fill_percent: return "filled %";
        case Sweep::Over::cache: return "cache";
    }
    return "";
}

std::string show_block(std::uint64_t bytes) {
    if (bytes >= (1u << 20) && bytes % (1u << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
    if (bytes >= 1024 && bytes % 1024 == 0) return fmt::format("{} KiB", bytes >> 10);
    return fmt::format("{} B", bytes);
}

std::string show_step(const Workload& workload, double at) {
    switch (workload.sweep.over) {
        case Sweep::Over::none: return "";
        case Sweep::Over::cache: return at > 0 ? "warm" : "cold";
        case Sweep::Over::block_bytes: return show_block(static_cast<std::uint64_t>(at));
        default: break;
    }
    return at == std::floor(at) ? show_count(static_cast<std::uint64_t>(at)) : fmt::format("{:g}", at);
}

std::string latency_definitions(const LoadResult& result) {
    std::string out =
        "mean time, p99, max: of an operation, from its intended time to its end; a transfer is one operation "
        "with all of its blocks\n";
    if (result.workload.report != Workload::Report::modes) return out;
    return out +
           "block latency: from the submission of one block to its completion\n"
           "transfer latency: the total time of a transfer less the sum of its block latencies (EBU Tech 3362, "
           "5.1)\n";
}

std::string cache_sentences(const LoadResult& result) {
    std::string out;
    for (const LoadStep& step : result.steps) {
        if (!step.files_read || step.at > 0) continue;
        const LoadStep::FilesRead& read = *step.files_read;
        if (read.once) {
            const bool all = read.times > 0.999;  // the last block of a file may be too small for direct I/O
            out += fmt::format("cold: no byte was read twice; {} {} were read\n",
                               all ? "the step ended when all" : "not all", show_bytes(read.files_bytes));
        } else if (read.times > 1) {
            out += fmt::format(
                "cold: the files ({}) were read {:.1f} times: repeated reads came from a cache, "
                "so that this step is not cold\n",
                show_bytes(read.files_bytes), read.times);
        } else {
            out +=
                "cold: reads come at random offsets, and some blocks were read more than once: those are not "
                "cold\n";
        }
    }
    return out;
}

std::string steps_table(const LoadResult& result) {
    const bool modes = result.workload.report == Workload::Report::modes;
    TextTable table;
    table.column(sweep_word(result.workload.sweep.over), Align::right, Keep::where_not_zero);
    table.column("meter", Align::left, Keep::where_not_zero);
    figure_columns(table, modes);
    table.column("unfinished", Align::right, Keep::where_not_zero);
    table.column("files read", Align::right, Keep::where_not_zero);
    for (const LoadStep& step : result.steps) {
        std::vector<std::string> fields = {show_step(result.workload, step.at), ""};
        add_figures(step.all, modes, fields);
        std::uint64_t unfinished = 0;
        for (const MeterResult& meter : step.result.meters) unfinished += meter.unfinished;
        fields.push_back(show_count(unfinished));
        fields.push_back(step.files_read ? fmt::format("{:.2f} x", step.files_read->times) : "");
        table.row(std::move(fields));
        for (const LoadFigures& meter : step.meters) {
            std::vector<std::string> own = {"", printable(meter.name)};
            add_figures(meter, modes, own);
            own.resize(own.size() + 2);
            table.row(std::move(own));
        }
    }
    return table.text();
}

std::string modes_tables(const LoadResult& result, std::size_t clients_shown) {
    std::string out;
    for (const LoadStep& step : result.steps) {
        const std::string at = show_step(result.workload, step.at);
        const std::string clients =
            at.empty() ? "all clients"
                       : fmt::format("{} {}, all clients", at, sweep_word(result.workload.sweep.over));
        out += tables_of(step.modes, clients);
        if (step.clients.size() < 2 || step.clients.size() > clients_shown) continue;
        for (std::size_t i = 0; i < step.clients.size(); ++i)
            out += tables_of(step.client_modes[i], step.clients[i].name);
    }
    return out;
}

std::string clients_table(const LoadStep& step) {
    if (step.clients.size() < 2) return "";
    TextTable table;
    table.column("client", Align::left);
    figure_columns(table, false);
    for (const LoadFigures& client : step.clients) {
        std::vector<std::string> fields = {client.name};
        add_figures(client, false, fields);
        table.row(std::move(fields));
    }
    return table.text();
}

std::string printed_table(const LoadResult& result) {
    if (result.printed.empty()) return "";
    TextTable table;
    table.column(sweep_word(result.workload.sweep.over), Align::right, Keep::where_not_zero);
    table.column("quantity", Align::left);
    table.column("printed", Align::right);
    table.column("measured", Align::right);
    table.column("measured/printed", Align::right);
    table.column("source", Align::left);
    for (const PrintedComparison& each : result.printed) {
        const PrintedFigure& printed = each.printed;
        const auto show = [&printed](double value) {
            if (printed.quantity == "operations_per_s")
                return show_count(static_cast<std::uint64_t>(std::llround(value))) + "/s";
            if (printed.quantity == "latency_ms") return fmt::format("{:.3g} ms", value);
            return show_rate(value);
        };
        table.row({show_step(result.workload, printed.at), printed.quantity, show(printed.value),
                   show(each.measured),
                   fmt::format("{:.2f}", printed.value > 0 ? each.measured / printed.value : 0),
                   printable(printed.source)});
    }
    return table.text();
}

std::string meters_table(const RunResult& result) {
    if (result.meters.empty()) return "";
    TextTable table;
    table.column("seat", Align::right);
    table.column("meter", Align::left);
    table.column("users", Align::right);
    table.column("op/s", Align::right);
    table.column("read MB/s", Align::right, Keep::where_not_zero);
    table.column("write MB/s", Align::right, Keep::where_not_zero);
    table.column("mean time", Align::right);
    table.column("p99", Align::right);
    table.column("max", Align::right);
    table.column("failed", Align::right, Keep::where_not_zero);
    table.column("unfinished", Align::right, Keep::where_not_zero);
    table.column("done as creates", Align::right, Keep::where_not_zero);
    for (const MeterResult& meter : result.meters) {
        const double seconds = static_cast<double>(std::max<std::int64_t>(meter.wall_ns, 1)) / 1e9;
        const auto bytes = [&](LoadOperation of) {
            return show_megabytes(static_cast<double>(meter.operations[static_cast<std::size_t>(of)].bytes) /
                                  seconds);
        };
        const auto done = static_cast<double>(meter.all.done);
        table.row({show_count(meter.seat), printable(meter.name), show_count(meter.users),
                   show_count(static_cast<std::uint64_t>(std::llround(done / seconds))),
                   bytes(LoadOperation::read), bytes(LoadOperation::write),
                   show_latency(done > 0 ? static_cast<double>(meter.all.response_sum_ns) / done : 0),
                   meter.all.response_ns ? show_duration({meter.all.response_ns->p99}) : "",
                   meter.all.response_ns ? show_duration({meter.all.response_ns->max}) : "",
                   show_count(meter.all.failed), show_count(meter.unfinished), show_count(meter.substituted)});
    }
    return "meters\n" + table.text();
}

std::string alone_table(const RunResult& result) {
    if (!result.alone) return "";
    const auto missed = [](const FrameCounts& counts) {
        return show_count(counts.dropped + counts.late + counts.failed);
    };
    const auto margin = [](const std::optional<MarginSummary>& of) {
        return of ? show_duration({of->p1}) : std::string("-");
    };
    const auto figures = [](const std::vector<MeterResult>& meters) {
        std::vector<const MeterResult*> all;
        all.reserve(meters.size());
        for (const MeterResult& meter : meters) all.push_back(&meter);
        return load_figures("", all);
    };
    const LoadFigures alone = figures(result.alone->meters);
    const LoadFigures beside = figures(result.meters);
    TextTable table;
    table.column("", Align::left);
    table.column("alone", Align::right);
    table.column("together", Align::right);
    table.row({"streams: frames missed", missed(result.alone->streams), missed(result.totals)});
    table.row({"streams: p1 margin", margin(result.alone->margin_ns), margin(result.margin_ns)});
    table.row({"meters: operations/s", fmt::format("{:.1f}", alone.operations_per_s),
               fmt::format("{:.1f}", beside.operations_per_s)});
    table.row({"meters: MB/s", show_megabytes(alone.read_bytes_per_s + alone.write_bytes_per_s),
               show_megabytes(beside.read_bytes_per_s + beside.write_bytes_per_s)});
    table.row({"meters: mean time", show_latency(alone.latency_mean_ns), show_latency(beside.latency_mean_ns)});
    return "what streams and meters cost each other\n" + table.text();
}

}  // namespace streamsim::report
