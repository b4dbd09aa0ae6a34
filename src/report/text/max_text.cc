#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/units.h"
#include "base/utf8.h"
#include "report/facts/headline.h"
#include "report/facts/show.h"
#include "report/text/screen.h"
#include "report/text/text_report.h"

namespace streamsim::report {
namespace {

/// The run that failed with one more than the number found; null if there is none.
const MaxRun* run_of_one_more(const MaxFormat& format) {
    return format.fails_at ? format.decided(*format.fails_at) : nullptr;
}

/// "8 drop"
std::string fails_text(const MaxFormat& format) {
    const MaxRun* run = run_of_one_more(format);
    if (run == nullptr) return "";
    const bool one = *format.fails_at == 1;
    const char* what = run->missed > 0 ? (one ? "drops" : "drop") : (one ? "fails" : "fail");
    return fmt::format("{} {}", show_count(*format.fails_at), what);
}

std::string headroom_text(const MaxFormat& format) {
    const MaxRun* run = format.decided(format.streams);
    if (run == nullptr || !run->margin_p1_ns) return "";
    return fmt::format("{} ({:.1f} frames)", show_duration({*run->margin_p1_ns}),
                       *run->margin_p1_percent / 100);
}

/// "plays 7, 3 a seat", "plays at least 12", "plays none"; "plays 3 a seat, 12 in all"; "plays 5 seats, 10
/// streams"
std::string plays_text(const MaxFormat& format, const MaxResult& result) {
    std::string out = format.at_least.empty() ? "plays " : "plays at least ";
    out += format.streams == 0 && format.at_least.empty() ? "none" : show_count(format.streams);
    if (format.streams == 0) return out;
    const std::uint64_t all = format.streams * result.streams_of_one();
    if (result.counts == MaxCounts::streams_per_seat)
        return out + fmt::format(" a seat, {} in all", show_count(all));
    if (result.counts == MaxCounts::seats) {
        return out + fmt::format(" {}, {}", format.streams == 1 ? "seat" : "seats", counted(all, "stream"));
    }
    if (result.seats == 1) return out;
    const std::uint64_t each = format.streams / result.seats;
    const bool even = format.streams % result.seats == 0;
    return out + (even ? fmt::format(", {} a seat", show_count(each))
                       : fmt::format(", {} or {} a seat", show_count(each), show_count(each + 1)));
}

/// A row for each format.
Table max_table(const MaxResult& result) {
    Table table;
    table.left({"format"});
    table.left({"picture"}, Keep::where_not_zero, Form::full);
    table.right({"rate"}, Keep::always, Form::full);
    table.left({result.counts == MaxCounts::seats ? "seats" : "streams"});
    table.left({"one more", "limited by"}, Keep::where_not_zero);
    table.right({"required"}, Keep::always, Form::full);
    table.left({"p1 margin"}, Keep::always, Form::full);
    for (const MaxFormat& format : result.formats) {
        const MaxRun* found = format.decided(format.streams);
        const MaxRun* failing = run_of_one_more(format);
        table.row({name_cell(format.format),
                   format.width > 0 ? fmt::format("{}x{}", format.width, format.height) : "",
                   show_fps(format.rate), plays_text(format, result), fails_text(format),
                   failing != nullptr ? to_string(failing->limit) : "",
                   found != nullptr ? show_rate(found->required_bytes_per_s) : "", headroom_text(format)});
    }
    return table;
}

/// "7 streams", "3 streams a seat", "5 seats"
std::string count_text(const MaxResult& result, std::uint64_t count) {
    switch (result.counts) {
        case MaxCounts::streams: return counted(count, "stream");
        case MaxCounts::streams_per_seat: return counted(count, "stream") + " a seat";
        case MaxCounts::seats: return counted(count, "seat");
    }
    return "?";
}

/// "1 stream plays", "6 streams play"
std::string verb_text(const MaxResult& result, std::uint64_t streams, const char* one, const char* many) {
    return fmt::format("{} {}", count_text(result, streams), streams == 1 ? one : many);
}

/// "6 streams gave different results: ..."
std::string step_noise(const MaxResult& result, const MaxStep& step) {
    const auto failed = std::ranges::count_if(step.runs, [](const MaxRun& run) { return !run.pass; });
    return fmt::format("{} gave different results: {} of {} runs failed, so that they count as {}",
                       count_text(result, step.streams), failed, step.runs.size(),
                       step.pass ? "playing" : "not playing");
}

std::string emptied_text(const MaxResult& result, const MaxStep& step, const MaxRun& run) {
    return fmt::format(
        "{}: no frame was missed in {}, but the buffers emptied: they would have lasted {}; played again "
        "for longer, {}",
        count_text(result, step.streams), show_duration({run.duration_ns}),
        show_duration({*run.empty_after_ns}), step.pass ? "it lasts" : "it does not last");
}

/// Why one more does not play, and how sure the number is, a sentence each.
std::vector<std::string> max_remarks(const MaxResult& result, const MaxFormat& format) {
    std::vector<std::string> out;
    if (const MaxRun* run = run_of_one_more(format)) {
        out.push_back(fmt::format("{}: {}", count_text(result, *format.fails_at), printable(run->reason)));
    }
    if (!format.at_least.empty()) {
        out.push_back(format.streams > 0 ? fmt::format("at least {}: {}", show_count(format.streams),
                                                       printable(format.at_least))
                                         : printable(format.at_least));
    }
    for (const MaxStep& step : format.steps) {
        const bool confirming = step.purpose == MaxStep::Purpose::confirm;
        const std::string length = show_duration({step.runs.back().duration_ns});
        if (confirming && step.pass)
            out.push_back(fmt::format("confirmed: {} in a run of {}, too",
                                      verb_text(result, step.streams, "plays", "play"), length));
        if (confirming && !step.pass && !format.interrupted)
            out.push_back(fmt::format("not confirmed: {} not play in a run of {}, so that one less was tried",
                                      verb_text(result, step.streams, "does", "do"), length));
        if (step.noisy()) out.push_back(step_noise(result, step));
        for (const MaxRun& run : step.runs) {
            if (run.undecided) out.push_back(emptied_text(result, step, run));
        }
    }
    if (format.streams > 0 && !format.confirmed) out.emplace_back("not confirmed by a longer run");
    return out;
}

/// The most streams of what, from where.
std::string title(const MaxResult& result) {
    std::string what = "The most streams that play";
    if (result.counts == MaxCounts::streams_per_seat) what = "The most streams a seat that play";
    if (result.counts == MaxCounts::seats)
        what = fmt::format("The most seats of {} that play", counted(result.streams_of_seat, "stream"));
    const bool says_seats = result.seats > 1 && result.counts != MaxCounts::seats;
    const std::string banner =
        result.common.faults_injected ? "FAULTS INJECTED, no statement about storage: " : "";
    return fmt::format("{}{} without a drop from {}{}{}", banner, what, printable(result.common.url),
                       says_seats ? fmt::format(", over {} seats", result.seats) : "",
                       result.interrupted ? " (interrupted: as far as it is known)" : "");
}

/// The limits of the result that a reader must know before the numbers.
std::vector<std::string> disclaimers(const RunResult& common) {
    std::vector<std::string> out;
    if (const std::string text = disclaimer_text(common); !text.empty()) out.push_back(text);
    if (common.model)
        out.push_back(fmt::format("This is no measurement: {} is a model ({})", printable(common.model->name),
                                  printable(common.model->title)));
    return out;
}

std::vector<std::string> max_remarks(const MaxResult& result) {
    std::vector<std::string> out;
    for (const MaxFormat& format : result.formats) {
        for (const std::string& remark : max_remarks(result, format))
            out.push_back(fmt::format("{}: {}", printable(format.format), remark));
    }
    if (result.headroom_percent > 0)
        out.push_back(fmt::format("Headroom: the p1 margin of each stream had to be {:g} % of a frame period",
                                  result.headroom_percent));
    for (const std::string& text : result.notices) {
        if (text.starts_with("not played: ")) out.push_back(printable(text));
    }
    if (result.server_cache_may_be_warm)
        out.emplace_back(
            "Caches: the media may have come from the server's memory: they are new, or were played several "
            "times");
    return out;
}

/// "dpx12 plays 7, 3 or 4 a seat; prores-hd plays none"
std::string max_closing(const MaxResult& result) {
    std::string out = result.common.faults_injected ? "FAULTS INJECTED: " : "";
    for (const MaxFormat& format : result.formats) {
        out += fmt::format("{}{} {}", &format == result.formats.data() ? "" : "; ", printable(format.format),
                           plays_text(format, result));
    }
    return out;
}

std::string full_max_report(const MaxResult& result) {
    std::string out = title(result) + "\n\n";
    for (const std::string& text : disclaimers(result.common)) out += text + "\n\n";
    out += table_text(max_table(result)) + "\n";
    for (const std::string& remark : max_remarks(result)) out += remark + "\n";
    return out + max_closing(result) + "\n";
}

std::string max_screen(const MaxResult& result) {
    TextScreen screen(wrapped(max_closing(result), {.lines_max = 1}).front(), "--json");
    screen.add_text(title(result), 3);
    for (const std::string& text : disclaimers(result.common)) screen.add_text(text, 2);
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
