#include "report/tables/load_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/units.h"
#include "base/utf8.h"
#include "report/facts/run_lines.h"
#include "report/facts/selection.h"
#include "report/facts/show.h"

namespace streamsim::report {
namespace {

std::string show_mean(double ns) {
    return ns > 0 ? show_duration({std::llround(ns)}) : "";
}

std::string show_megabytes(double bytes_per_s) {
    if (!(bytes_per_s > 0)) return "";
    const double megabytes = bytes_per_s / 1e6;
    return megabytes < 0.1 ? fmt::format("{:.2g}", megabytes) : fmt::format("{:.1f}", megabytes);
}

std::string row_name(std::size_t row) {
    return row < kTransferModes ? to_string(static_cast<TransferMode>(row)) : "All";
}

enum class Quantity { rate, block_mean, block_max, transfer_mean, transfer_max };

/// A quantity in the unit that EBU Tech 3362 prints it in.
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

double value_of(const ModeTable::Cell& cell, Quantity quantity) {
    switch (quantity) {
        case Quantity::rate: return cell.rate_bytes_per_s;
        case Quantity::block_mean: return cell.block_latency_mean_ns;
        case Quantity::block_max: return static_cast<double>(cell.block_latency_max_ns);
        case Quantity::transfer_mean: return cell.transfer_latency_mean_ns;
        case Quantity::transfer_max: return static_cast<double>(cell.transfer_latency_max_ns);
    }
    return 0;
}

/// The shades of a heat map, by the logarithm of the value between the least and the most of its table.
const char* shade(double value, double least, double most) {
    constexpr const char* kShades[] = {"", "h1", "h2", "h3", "h4", "h5"};
    if (value <= 0 || most <= least) return kShades[0];
    const double share = std::log(value / least) / std::log(most / least);
    return kShades[static_cast<std::size_t>(std::clamp(share * 5.999, 0.0, 5.0))];
}

Table mode_table(const ModeTable& modes, Quantity quantity, std::string title) {
    double least = std::numeric_limits<double>::infinity();
    double most = 0;
    for (const auto& row : modes.cells) {
        for (const ModeTable::Cell& cell : row) {
            const double value = value_of(cell, quantity);
            if (cell.transfers == 0 || value <= 0) continue;
            least = std::min(least, value);
            most = std::max(most, value);
        }
    }
    Table table{.title = std::move(title), .css_class = "heat"};
    table.left({""});
    for (const std::uint64_t block : modes.blocks) table.right({show_block(block)});
    table.right({"All"});
    for (std::size_t row = 0; row < modes.cells.size(); ++row) {
        std::vector<Cell> fields{row_name(row)};
        for (const ModeTable::Cell& cell : modes.cells[row]) {
            fields.emplace_back(cell.transfers == 0 ? kNoValue : show_cell(cell, quantity));
            if (cell.transfers > 0) fields.back().css_class = shade(value_of(cell, quantity), least, most);
        }
        table.row(std::move(fields));
    }
    return table;
}

/// `clients`: whose transfers they are, for the titles.
void add_mode_tables(const ModeTable& modes, const std::string& clients, std::vector<Table>& out) {
    if (modes.blocks.empty()) return;
    for (const auto& [title, quantity] : {std::pair{"average rate (MB/s)", Quantity::rate},
                                          std::pair{"average block latency (ms)", Quantity::block_mean},
                                          std::pair{"maximum block latency (s)", Quantity::block_max},
                                          std::pair{"average transfer latency (ms)", Quantity::transfer_mean},
                                          std::pair{"maximum transfer latency (s)", Quantity::transfer_max}})
        out.push_back(mode_table(modes, quantity, fmt::format("{}, {}", title, clients)));
}

/// `latencies`: also the block and transfer latencies of the mode tables.
void figure_columns(Table& table, bool latencies) {
    table.right({"op/s"});
    table.right({"read MB/s", "write MB/s"}, Keep::where_not_zero);
    table.right({"mean"});
    table.right({"p99"}, Keep::where_not_zero);
    table.right({"max"});
    if (latencies) {
        table.right({"block latency", "transfer latency"}, Keep::where_not_zero);
    }
    table.right({"operations"});
    table.right({"failed"}, Keep::where_not_zero);
}

/// As the mode tables have it.
std::string show_ms(const std::optional<double>& ns) {
    return ns ? fmt::format("{:.3f} ms", *ns / 1e6) : "";
}

void add_figures(const LoadFigures& figures, bool latencies, std::vector<Cell>& fields) {
    fields.push_back(show_per_second(figures.operations_per_s));
    fields.push_back(show_megabytes(figures.read_bytes_per_s));
    fields.push_back(show_megabytes(figures.write_bytes_per_s));
    fields.push_back(show_mean(figures.latency_mean_ns));
    fields.push_back(figures.latency_p99_ns ? show_duration({*figures.latency_p99_ns}) : "");
    fields.push_back(figures.operations > 0 ? show_duration({figures.latency_max_ns}) : "");
    if (latencies) {
        fields.push_back(show_ms(figures.block_latency_mean_ns));
        fields.push_back(show_ms(figures.transfer_latency_mean_ns));
    }
    fields.push_back(show_count(figures.operations));
    fields.push_back(show_count(figures.failed));
}

/// The counters of all steps, each name once, as they first appear.
std::vector<std::string> counter_names(const LoadResult& result) {
    std::vector<std::string> out;
    for (const LoadStep& step : result.steps) {
        if (!step.result.counters) continue;
        for (const CounterChange& counter : step.result.counters->values) {
            if (std::ranges::find(out, counter.name) == out.end()) out.push_back(counter.name);
        }
    }
    return out;
}

}  // namespace

std::string sweep_word(Sweep::Over over) {
    switch (over) {
        case Sweep::Over::none: return "";
        case Sweep::Over::clients: return "clients";
        case Sweep::Over::users: return "users";
        case Sweep::Over::read_percent: return "read %";
        case Sweep::Over::operations_per_s: return "requested op/s";
        case Sweep::Over::block_bytes: return "block";
        case Sweep::Over::fill_percent: return "filled %";
        case Sweep::Over::cache: return "cache";
    }
    return "";
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

bool all_passed(const LoadResult& result) {
    return std::ranges::all_of(result.steps, [](const LoadStep& step) { return step.result.verdict.pass; });
}

std::string load_word(const LoadResult& result) {
    if (result.interrupted) return "INTERRUPTED";
    return all_passed(result) ? "DONE" : "DONE, WITH FAILURES";
}

std::vector<std::string> failures(const LoadResult& result) {
    std::vector<std::string> out;
    for (const LoadStep& step : result.steps) {
        if (step.result.verdict.pass) continue;
        const std::string at = show_step(result.workload, step.at);
        out.push_back((at.empty() ? at : at + ": ") + step.result.verdict.reason);
    }
    return out;
}

std::vector<std::string> latency_definitions(const LoadResult& result) {
    std::vector<std::string> out{
        "mean, p99, max: of the time of an operation, from its intended start to its end; a transfer is one "
        "operation with all of its blocks"};
    if (result.workload.report != Workload::Report::modes) return out;
    out.emplace_back(
        "average rate: of the rates of transfers, each its bytes (blocks x block size) by the sum of its block "
        "latencies; a transfer counts in the column of the block size that it was drawn with");
    out.emplace_back("block latency: from the submission of one block to its completion");
    out.emplace_back(
        "transfer latency: the total time of a transfer less the sum of its block latencies (EBU Tech 3362, "
        "5.1)");
    return out;
}

/// The proof that the counters of a server give, a sentence for each step that has one.
void add_counter_sentences(const LoadResult& result, std::vector<std::string>& out) {
    for (const LoadStep& step : result.steps) {
        if (!step.result.counters || step.result.counters->summary.empty()) continue;
        const std::string shown = show_step(result.workload, step.at);
        out.push_back((shown.empty() ? "" : shown + ": ") + printable(step.result.counters->summary));
    }
}

std::vector<std::string> cache_sentences(const LoadResult& result) {
    std::vector<std::string> out;
    for (const LoadStep& step : result.steps) {
        if (!step.files_read || step.at > 0) continue;
        const LoadStep::FilesRead& read = *step.files_read;
        if (read.once) {
            const bool all = read.times > 0.999;  // the last block of a file may be too small for direct I/O
            out.push_back(fmt::format("cold: no byte was read twice; {} {} were read",
                                      all ? "the step ended when all" : "not all",
                                      show_bytes(read.files_bytes)));
        } else if (read.times > 1) {
            out.push_back(
                fmt::format("cold: the files ({}) were read {:.1f} times: repeated reads came from a "
                            "cache, so that this step is not cold",
                            show_bytes(read.files_bytes), read.times));
        } else {
            out.emplace_back(
                "cold: reads come at random offsets, and some blocks were read more than once: those are not "
                "cold");
        }
    }
    add_counter_sentences(result, out);
    return out;
}

std::string omitted_rows_sentence(const LoadResult& result) {
    std::uint64_t rows = 0;
    for (const LoadStep& step : result.steps) rows += omitted_rows(step.result);
    return omitted_rows_text(rows);
}

std::vector<std::string> scale_sentences(const LoadResult& result) {
    std::vector<std::string> out;
    for (const LoadResult::ScaledFiles& files : result.scaled_files) {
        const std::string whose = result.workload.meters.size() > 1 ? files.meter + ": " : "";
        std::string text =
            fmt::format("{}files of {} instead of {}: --scale {:g}", whose, show_bytes(files.file_bytes),
                        show_bytes(files.source_bytes), result.scale);
        if (std::ranges::find(out, text) == out.end()) out.push_back(std::move(text));
    }
    if (result.scale != 1)
        out.push_back(
            fmt::format("scaled by {:g}: the load is not that of the source, and its figures cannot be "
                        "expected",
                        result.scale));
    return out;
}

Table steps_table(const LoadResult& result) {
    const bool modes = result.workload.report == Workload::Report::modes;
    Table table{.title = "Steps"};
    table.right({sweep_word(result.workload.sweep.over)}, Keep::where_not_zero);
    table.left({"meter"}, Keep::where_not_zero);
    figure_columns(table, modes);
    table.right({"unfinished", "files read"}, Keep::where_not_zero);
    for (const LoadStep& step : result.steps) {
        std::vector<Cell> fields = {show_step(result.workload, step.at), ""};
        add_figures(step.all, modes, fields);
        std::uint64_t unfinished = 0;
        for (const MeterResult& meter : step.result.meters) unfinished += meter.unfinished;
        fields.push_back(show_count(unfinished));
        fields.push_back(step.files_read ? fmt::format("{:.2f} x", step.files_read->times) : "");
        table.row(std::move(fields));
        for (const LoadFigures& meter : step.meters) {
            std::vector<Cell> own = {"", name_cell(meter.name)};
            add_figures(meter, modes, own);
            own.insert(own.end(), 2, "");
            table.row(std::move(own));
        }
    }
    return table;
}

std::vector<Table> modes_tables(const LoadResult& result, std::size_t clients_max) {
    std::vector<Table> out;
    for (const LoadStep& step : result.steps) {
        const std::string at = show_step(result.workload, step.at);
        add_mode_tables(step.modes,
                        at.empty()
                            ? "all clients"
                            : fmt::format("{} {}, all clients", at, sweep_word(result.workload.sweep.over)),
                        out);
        if (step.clients.size() < 2 || step.clients.size() > clients_max) continue;
        for (std::size_t i = 0; i < step.clients.size(); ++i)
            add_mode_tables(step.client_modes[i], step.clients[i].name, out);
    }
    return out;
}

Table clients_table(const LoadStep& step) {
    if (step.clients.size() < 2) return {};
    Table table{.title = "Clients in the last step"};
    table.left({"client"});
    figure_columns(table, false);
    for (const LoadFigures& client : step.clients) {
        std::vector<Cell> fields = {client.name};
        add_figures(client, false, fields);
        table.row(std::move(fields));
    }
    return table;
}

Table computers_table(const LoadStep& step) {
    const std::vector<SeatResult>& seats = step.result.seats;
    if (seats.size() < 2) return {};
    Table table{.title = "Computers in the last step"};
    table.left({"seats", "host"});
    figure_columns(table, false);
    table.right({"start", "clock error"});
    table.left({"state"});
    for (const SeatResult& seat : seats) {
        std::vector<const MeterResult*> meters;
        for (const MeterResult& meter : step.result.meters) {
            if (std::ranges::binary_search(seat.seats, meter.seat)) meters.push_back(&meter);
        }
        std::vector<Cell> fields = {
            seat.seats.empty() ? fmt::format("rank {}", seat.rank) : show_seats(seat.seats),
            name_cell(seat.host.name.empty() ? "?" : seat.host.name)};
        add_figures(load_figures("", meters), false, fields);
        fields.push_back(seat.start_ns ? show_duration({*seat.start_ns}) : kNoValue);
        fields.push_back(seat.clock_bound_ns > 0 ? show_duration({seat.clock_bound_ns}) : kNoValue);
        fields.push_back(to_string(seat.state));
        table.row(std::move(fields));
    }
    return table;
}

Table counters_table(const LoadResult& result) {
    constexpr std::size_t kColumnsMax = 6;
    Table table{.title = "Counters of the server over each step"};
    std::vector<std::string> names = counter_names(result);
    if (names.size() > kColumnsMax) {
        names.resize(kColumnsMax);
        table.note = "the other counters: counters of each step in --json";
    }
    table.left({sweep_word(result.workload.sweep.over)}, Keep::where_not_zero);
    table.right({"read meanwhile"});
    for (const std::string& name : names) table.right({printable(name)});
    for (const LoadStep& step : result.steps) {
        if (!step.result.counters) continue;
        const std::vector<CounterChange>& all = step.result.counters->values;
        std::vector<Cell> fields = {show_step(result.workload, step.at),
                                    show_bytes(step.result.counters->bytes_read)};
        for (const std::string& name : names) {
            const auto found = std::ranges::find(all, name, &CounterChange::name);
            fields.push_back(found != all.end() ? Cell(show_difference(*found)) : Cell(kNoValue));
        }
        table.row(std::move(fields));
    }
    return table;
}

Table printed_table(const LoadResult& result) {
    if (result.printed.empty()) return {};
    Table table{.title = "Figures of the source, and measured here"};
    table.left({"model"}, Keep::where_not_zero);
    table.right({sweep_word(result.workload.sweep.over)}, Keep::where_not_zero);
    table.left({"quantity"});
    table.right({"printed", "measured", "measured/printed"});
    table.left({"source"});
    for (const PrintedComparison& each : result.printed) {
        const PrintedFigure& printed = each.printed;
        const auto show = [&printed](double value) {
            if (printed.quantity.ends_with("operations_per_s")) return show_per_second(value) + "/s";
            if (printed.quantity.ends_with("_ms")) return fmt::format("{:.3g} ms", value);
            return show_rate(value);
        };
        table.row({name_cell(printed.model),
                   show_step(result.workload, printed.at) + (printed.peak ? ", peak" : ""), printed.quantity,
                   show(printed.value), show(each.measured),
                   fmt::format("{:.2f}", printed.value > 0 ? each.measured / printed.value : 0),
                   name_cell(printed.source)});
    }
    return table;
}

std::string not_compared(const LoadResult& result) {
    const std::string played = result.common.model ? result.common.model->name : "";
    std::vector<std::string> models;
    std::size_t figures = 0;
    for (const PrintedFigure& printed : result.workload.printed) {
        if (printed.model.empty() || printed.model == played) continue;
        ++figures;
        if (std::ranges::find(models, printed.model) == models.end()) models.push_back(printed.model);
    }
    std::string targets;
    for (const std::string& model : models) targets += (targets.empty() ? "sim:" : ", sim:") + model;
    if (figures == 0) return "";
    return fmt::format("not compared: {} of the source, of {}; play there to compare",
                       counted(figures, "figure"), printable(targets));
}

Table buffers_table(const LoadResult& result) {
    Table table{.title = "Buffers of the users"};
    table.right({sweep_word(result.workload.sweep.over)}, Keep::where_not_zero);
    table.left({"client", "meter"});
    table.right({"consumes", "buffer", "buffer needed", "by user", "threshold", "times below", "time below",
                 "users below", "times dry", "time dry"});
    for (const LoadStep& step : result.steps) {
        for (const MeterResult& meter : step.result.meters) {
            if (!meter.buffer) continue;
            const MeterBuffer& of = *meter.buffer;
            table.row({show_step(result.workload, step.at), fmt::format("seat {}", meter.seat),
                       name_cell(meter.name), show_rate(static_cast<double>(of.bytes_per_s)),
                       show_duration({of.length_ns}), show_duration({of.needed_ns}), show_count(of.needed_user),
                       show_duration({of.threshold_ns}), show_count(of.below_times),
                       show_duration({of.below_ns}), show_count(of.users_below), show_count(of.dry_times),
                       show_duration({of.dry_ns})});
        }
    }
    return table;
}

std::string buffer_sentence(const LoadResult& result) {
    const MeterBuffer* most = nullptr;
    std::string where;
    for (const LoadStep& step : result.steps) {
        for (const MeterResult& meter : step.result.meters) {
            if (!meter.buffer || (most != nullptr && meter.buffer->needed_ns <= most->needed_ns)) continue;
            most = &*meter.buffer;
            const std::string at = show_step(result.workload, step.at);
            where = (at.empty() ? at : sweep_word(result.workload.sweep.over) + " " + at + ", ") +
                    fmt::format("seat {}, {}", meter.seat, name_cell(meter.name).text);
        }
    }
    if (most == nullptr) return "";
    return fmt::format(
        "buffer needed at {}: {} at most ({}); one of {} fell below {} {} times, for {} in all, and ran dry {} "
        "times, for {}",
        show_rate(static_cast<double>(most->bytes_per_s)), show_duration({most->needed_ns}), where,
        show_duration({most->length_ns}), show_duration({most->threshold_ns}), show_count(most->below_times),
        show_duration({most->below_ns}), show_count(most->dry_times), show_duration({most->dry_ns}));
}

Table meters_table(const RunResult& result) {
    if (result.meters.empty()) return {};
    Table table{.title = "Meters"};
    table.right({"seat"});
    table.left({"meter"});
    table.right({"users", "op/s"});
    table.right({"read MB/s", "write MB/s"}, Keep::where_not_zero);
    table.right({"mean", "p99", "max"});
    table.right({"buffer needed", "failed", "unfinished", "done as creates"}, Keep::where_not_zero);
    for (const MeterResult& meter : result.meters) {
        const auto bytes = [&meter](LoadOperation of) {
            const OperationResult& operation = meter.operations[static_cast<std::size_t>(of)];
            return show_megabytes(operation.rate(operation.bytes, meter.wall_ns).value_or(0));
        };
        const std::optional<double> per_s = meter.all.rate(meter.all.done, meter.wall_ns);
        const auto done = static_cast<double>(meter.all.done);
        table.row({show_count(meter.seat), name_cell(meter.name), show_count(meter.users),
                   per_s ? show_per_second(*per_s) : kNoValue, bytes(LoadOperation::read),
                   bytes(LoadOperation::write),
                   show_mean(done > 0 ? static_cast<double>(meter.all.response_sum_ns) / done : 0),
                   meter.all.response_ns ? show_duration({meter.all.response_ns->p99}) : "",
                   meter.all.response_ns ? show_duration({meter.all.response_ns->max}) : "",
                   meter.buffer ? show_duration({meter.buffer->needed_ns}) : "", show_count(meter.all.failed),
                   show_count(meter.unfinished), show_count(meter.substituted)});
    }
    return table;
}

Table alone_table(const RunResult& result) {
    if (!result.alone) return {};
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
    Table table{.title = "Streams and meters alone, and together"};
    table.left({""});
    table.right({"alone", "together"});
    table.row({"streams: frames missed", count_cell(missed(result.alone->streams)),
               count_cell(missed(result.totals))});
    table.row({"streams: p1 margin", margin(result.alone->margin_ns), margin(result.margin_ns)});
    table.row({"meters: operations/s", fmt::format("{:.1f}", alone.operations_per_s),
               fmt::format("{:.1f}", beside.operations_per_s)});
    table.row({"meters: MB/s", show_megabytes(alone.read_bytes_per_s + alone.write_bytes_per_s),
               show_megabytes(beside.read_bytes_per_s + beside.write_bytes_per_s)});
    table.row({"meters: mean", show_mean(alone.latency_mean_ns), show_mean(beside.latency_mean_ns)});
    return table;
}

}  // namespace streamsim::report
