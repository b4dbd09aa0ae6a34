#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/units.h"
#include "base/utf8.h"
#include "report/facts/headline.h"
#include "report/tables/load_tables.h"
#include "report/text/screen.h"
#include "report/text/text_report.h"

namespace streamsim::report {
namespace {

constexpr std::size_t kClientsShownMax = 4;  // the document has the tables of more

std::string verdict_word(const LoadResult& result) {
    const std::string word = load_word(result);
    return result.common.faults_injected ? disclaimer(result.common) + ": " + word : word;
}

std::string load_verdict(const LoadResult& result) {
    return fmt::format("{}: {}: {}", verdict_word(result), printable(result.workload.name),
                       printable(result.workload.title));
}

/// "DONE: 5 steps, 12,345 operations, 0 failed"
std::string load_closing(const LoadResult& result) {
    std::uint64_t operations = 0;
    std::uint64_t failed = 0;
    for (const LoadStep& step : result.steps) {
        operations += step.all.operations;
        failed += step.all.failed;
    }
    return fmt::format("{}: {}, {}, {} failed", verdict_word(result), counted(result.steps.size(), "step"),
                       counted(operations, "operation"), show_count(failed));
}

/// The limits of the result that a reader must know before the numbers.
std::vector<std::string> caveats(const LoadResult& result) {
    std::vector<std::string> out;
    if (const std::string text = disclaimer_text(result.common); !text.empty()) out.push_back(text);
    if (result.common.model)
        out.emplace_back("modelled: this is no measurement, no storage was read or written");
    for (const std::string& text : scale_sentences(result)) out.push_back(printable(text));
    if (result.interrupted) out.emplace_back("interrupted: the last step is not whole, or steps are missing");
    return out;
}

std::string target_text(const LoadResult& result) {
    const auto& seats = result.common.seats;
    const auto computers = static_cast<std::size_t>(
        std::ranges::count_if(seats, [](const SeatResult& seat) { return !seat.seats.empty(); }));
    return fmt::format("on {} ({}{}){}", printable(result.common.url), result.common.io,
                       result.common.direct ? ", direct" : "",
                       computers > 1 ? ", from " + counted(computers, "computer") : "");
}

/// The remarks below the steps: caches, and operations that were replaced.
std::vector<std::string> load_remarks(const LoadResult& result) {
    std::vector<std::string> out = cache_sentences(result);
    std::uint64_t substituted = 0;
    for (const LoadStep& step : result.steps) {
        for (const MeterResult& meter : step.result.meters) substituted += meter.substituted;
    }
    if (substituted > 0)
        out.push_back(fmt::format("{} removes and renames found no file left, and were done as creates",
                                  show_count(substituted)));
    if (const std::string text = omitted_rows_sentence(result); !text.empty()) out.push_back(text);
    if (const std::string text = buffer_sentence(result); !text.empty()) out.push_back(printable(text));
    return out;
}

void append_indented(const std::vector<std::string>& lines, std::string_view indent, std::string& out) {
    for (const std::string& line : lines) out += fmt::format("{}{}\n", indent, line);
}

std::string full_load_report(const LoadResult& result) {
    const Workload& workload = result.workload;
    std::string out = load_verdict(result) + "\n";
    append_indented(caveats(result), "  ", out);
    if (!workload.description.empty()) out += fmt::format("  {}\n", printable(workload.description));
    if (!workload.basis.empty()) out += fmt::format("  from: {}\n", printable(workload.basis));
    out += "  " + target_text(result) + "\n";
    for (const std::string& reason : failures(result)) out += fmt::format("  failed: {}\n", printable(reason));
    out += "\n" + table_text(steps_table(result));
    append_indented(load_remarks(result), "", out);
    append_indented(latency_definitions(result), "", out);
    std::vector<Table> more;
    if (workload.report == Workload::Report::modes) {
        more = modes_tables(result, kClientsShownMax);
    } else if (!result.steps.empty() && result.steps.back().clients.size() <= kClientsShownMax) {
        more.push_back(clients_table(result.steps.back()));
    }
    if (!result.steps.empty()) more.push_back(computers_table(result.steps.back()));
    more.push_back(counters_table(result));
    more.push_back(buffers_table(result));
    more.push_back(printed_table(result));
    for (const Table& table : more) {
        if (!table.empty()) out += "\n" + table_text(table);
    }
    if (const std::string text = not_compared(result); !text.empty()) out += text + "\n";
    return out + "\n" + load_closing(result) + "\n";
}

std::string load_screen(const LoadResult& result) {
    TextScreen screen(load_closing(result));
    screen.add_text(load_verdict(result), 2);
    for (const std::string& text : caveats(result)) screen.add_text("  " + text, 2);
    screen.add_text("  " + target_text(result), 2);
    const std::vector<std::string> reasons = failures(result);
    for (std::size_t i = 0; i < std::min<std::size_t>(reasons.size(), 2); ++i)
        screen.add_text("  failed: " + printable(reasons[i]), 2);
    screen.add_line("");
    const std::vector<std::string> sentences = load_remarks(result);
    screen.add_cut_table(steps_table(result), 2 * sentences.size());
    for (const std::string& sentence : sentences) screen.add_text(sentence, 2);
    return screen.text();
}

}  // namespace

std::string load_text_report(const LoadResult& result, TextDetail detail) {
    return detail == TextDetail::full ? full_load_report(result) : load_screen(result);
}

}  // namespace streamsim::report
