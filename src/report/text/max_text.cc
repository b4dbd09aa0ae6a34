#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/units.h"
#include "base/utf8.h"
#include "report/facts/max_facts.h"
#include "report/facts/show.h"
#include "report/text/screen.h"
#include "report/text/text_report.h"

namespace streamsim::report {
namespace {

/// "8 drop"
std::string fails_text(const MaxFormat& format) {
    const MaxRun* run = format.one_more();
    if (run == nullptr) return "";
    const bool one = *format.fails_at == 1;
    const char* what = run->missed > 0 ? (one ? "drops" : "drop") : (one ? "fails" : "fail");
    return fmt::format("{} {}", show_count(*format.fails_at), what);
}

/// "15 to 19" of the draws of a calibrated model
std::string interval_text(const MaxFormat& format) {
    if (!format.prediction || !format.prediction->low) return "";
    const Prediction& prediction = *format.prediction;
    if (prediction.verdict == Prediction::Verdict::refused || !prediction.high) return "refused";
    return *prediction.low == *prediction.high ? show_count(*prediction.low)
                                               : fmt::format("{} to {}", *prediction.low, *prediction.high);
}

/// A row for each format.
Table max_table(const MaxResult& result) {
    Table table;
    table.left({"format"});
    table.left({"picture"}, Keep::where_not_zero, Form::full);
    table.right({"rate"}, Keep::always, Form::full);
    table.left({result.counts == MaxCounts::seats ? "seats" : "streams"});
    table.left({"90 %"}, Keep::where_not_zero);
    table.left({"one more", "limited by"}, Keep::where_not_zero);
    table.right({"required"}, Keep::always, Form::full);
    table.left({"p1 margin"}, Keep::always, Form::full);
    for (const MaxFormat& format : result.formats) {
        const MaxRun* found = format.decided(format.streams);
        const MaxRun* failing = format.one_more();
        table.row({name_cell(format.format),
                   format.width > 0 ? fmt::format("{}x{}", format.width, format.height) : "",
                   show_fps(format.rate), max_plays_text(format, result), interval_text(format),
                   fails_text(format), failing != nullptr ? to_string(failing->limit) : "",
                   found != nullptr ? show_rate(found->required_bytes_per_s) : "", max_margin_text(format)});
    }
    return table;
}

std::string full_max_report(const MaxResult& result) {
    std::string out = max_title(result) + "\n\n";
    for (const std::string& text : max_disclaimers(result.common)) out += text + "\n\n";
    out += table_text(max_table(result)) + "\n";
    for (const std::string& remark : max_remarks(result)) out += remark + "\n";
    return out + max_closing(result) + "\n";
}

std::string max_screen(const MaxResult& result) {
    TextScreen screen(wrapped(max_closing(result), {.lines_max = 1}).front(), "--html, --json");
    screen.add_text(max_title(result), 3);
    for (const std::string& text : max_disclaimers(result.common)) screen.add_text(text, 2);
    screen.add_line("");
    const std::vector<std::string> sentences = max_remarks(result);
    constexpr std::size_t kRemarksReserved = 4;
    screen.add_cut_table(max_table(result), std::min(sentences.size(), kRemarksReserved) + 1);
    screen.add_line("");
    for (const std::string& sentence : sentences) screen.add_text(sentence, 2);
    return screen.text();
}

}  // namespace

std::string max_text_report(const MaxResult& result, TextDetail detail) {
    return detail == TextDetail::full ? full_max_report(result) : max_screen(result);
}

}  // namespace streamsim::report
