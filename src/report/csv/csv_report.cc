#include "report/csv/csv_report.h"

#include <fmt/format.h>

#include "base/utf8.h"
#include "report/tables/load_tables.h"

namespace streamsim::report {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 10;

void append_instant(Instant instant, std::string& out) {
    if (instant != Instant::never()) out += std::to_string(instant.ns);
}

std::string shown(const std::optional<std::int64_t>& ns) {
    return ns ? std::to_string(*ns) : "";
}

/// As in the tables, without their separators of thousands: "16000", "64 KiB", "cold".
std::string step_cell(const Workload& workload, double at) {
    std::string cell = show_step(workload, at);
    std::erase(cell, ',');
    return cell;
}

}  // namespace

void append_csv_text(std::string_view text, std::string& out) {
    const std::string cell = printable(text);
    const bool formula = !cell.empty() && std::string_view("=+-@").find(cell.front()) != std::string_view::npos;
    const std::string_view guard = formula ? "'" : "";
    if (cell.find_first_of(",\"") == std::string::npos) {
        out += guard;
        out += cell;
        return;
    }
    out += '"';
    out += guard;
    for (const char c : cell) {
        if (c == '"') out += '"';
        out += c;
    }
    out += '"';
}

std::string csv_header() {
    return "seat,stream,frame,clip_frame,file,kind,reason,errno,bytes,scheduled_ns,submitted_ns,opened_ns,open_"
           "ns,"
           "due_ns,completed_ns,margin_ns\r\n";
}

void append_csv_row(const FrameRow& row, std::string& out) {
    const FrameOutcome& frame = row.outcome;
    for (const std::uint64_t number :
         {std::uint64_t{row.seat}, std::uint64_t{row.stream}, frame.slot, frame.clip_frame}) {
        out += std::to_string(number);
        out += ',';
    }
    append_csv_text(row.file, out);
    out += ',';
    out += to_string(frame.kind);
    out += ',';
    if (frame.reason != DropReason::none) out += to_string(frame.reason);
    out += ',';
    out += std::to_string(frame.error);
    out += ',';
    out += std::to_string(frame.bytes);
    out += ',';
    append_instant(frame.scheduled, out);
    out += ',';
    append_instant(frame.submitted, out);
    out += ',';
    append_instant(frame.opened, out);
    out += ',';
    if (frame.open_time != Duration{}) out += std::to_string(frame.open_time.ns);
    out += ',';
    append_instant(frame.deadline, out);
    out += ',';
    append_instant(frame.completed, out);
    out += ',';
    if (frame.deadline != Instant::never() && frame.completed != Instant::never()) {
        out += std::to_string((frame.deadline - frame.completed).ns);
    }
    out += kCsvLineEnd;
}

void csv_report(const RunResult& result, const TextSink& sink) {
    std::string piece = csv_header();
    for (const FrameRow& row : result.frames) {
        append_csv_row(row, piece);
        if (piece.size() < kPieceBytes) continue;
        sink(piece);
        piece.clear();
    }
    if (!piece.empty()) sink(piece);
}

std::string load_csv_report(const LoadResult& result) {
    std::string out = std::string(kLoadCsvBegins) +
                      "mode,file,offset,bytes,intended_ns,submitted_ns,completed_ns,errno,block_bytes,length_"
                      "bytes,total_ns,deficit_ns\r\n";
    for (const LoadStep& step : result.steps) {
        for (const OperationRow& row : step.result.operations) {
            const bool moves = row.operation == LoadOperation::read || row.operation == LoadOperation::write;
            out += fmt::format("{},{},", step_cell(result.workload, step.at), row.seat);
            append_csv_text(result.workload.meters[row.meter].name, out);
            out += fmt::format(",{},{},{},{},{},{},{},{},{},{},{},", row.user, row.transfer,
                               streamsim::to_string(row.operation), moves ? streamsim::to_string(row.mode) : "",
                               row.file, row.offset, row.bytes, row.intended_ns, row.submitted_ns,
                               row.completed_ns, row.error);
            out += moves ? fmt::format("{},{},", row.block_bytes, row.length_bytes) : ",,";
            out += fmt::format("{},{}", shown(row.total_ns), shown(row.deficit_ns));
            out += kCsvLineEnd;
        }
    }
    return out;
}

}  // namespace streamsim::report
