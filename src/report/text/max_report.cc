#include "report/text/max_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "base/utf8.h"
#include "report/text/text_report.h"
#include "report/text/text_tables.h"

namespace streamsim::report {
namespace {

/// "7 streams", "3 streams a seat", "5 seats"
std::string so_many(const MaxResult& result, std::uint64_t count) {
    switch (result.counts) {
        case MaxCounts::streams: return counted(count, "stream");
        case MaxCounts::streams_per_seat: return counted(count, "stream") + " a seat";
        case MaxCounts::seats: return counted(count, "seat");
    }
    return "?";
}

/// "plays 7, 3 a seat", "plays at least 12", "plays none"; "plays 3 a seat, 12 in all"; "plays 5 seats, 10
/// streams"
std::string plays(const MaxFormat& format, const MaxResult& result) {
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

/// "8 drop"
std::string fails(const MaxFormat& format) {
    const MaxRun* run = format.one_more();
    if (run == nullptr) return "";
    const bool one = *format.fails_at == 1;
    const char* what = run->missed > 0 ? (one ? "drops" : "drop") : (one ? "fails" : "fail");
    return fmt::format("{} {}", show_count(*format.fails_at), what);
}

std::string headroom(const MaxFormat& format) {
    const MaxRun* run = format.decided(format.streams);
    if (run == nullptr || !run->margin_p1_ns) return "";
    return fmt::format("{} ({:.1f} frames)", show_duration({*run->margin_p1_ns}),
                       *run->margin_p1_percent / 100);
}

std::string table_of(const MaxResult& result) {
    using Align = TextTable::Align;
    TextTable table;
    table.column("format", Align::left);
    table.column("picture", Align::left, TextTable::Keep::where_not_zero);
    table.column("rate", Align::right);
    table.column(result.counts == MaxCounts::seats ? "seats" : "streams", Align::left);
    table.column("one more", Align::left, TextTable::Keep::where_not_zero);
    table.column("limited by", Align::left, TextTable::Keep::where_not_zero);
    table.column("needs", Align::right);
    table.column("p1 margin", Align::left);
    for (const MaxFormat& format : result.formats) {
        const MaxRun* found = format.decided(format.streams);
        const MaxRun* fails_run = format.one_more();
        table.row({printable(format.format),
                   format.width > 0 ? fmt::format("{}x{}", format.width, format.height) : "",
                   show_fps(format.rate), plays(format, result), fails(format),
                   fails_run != nullptr ? to_string(fails_run->limit) : "",
                   found != nullptr ? show_rate(found->required_bytes_per_s) : "", headroom(format)});
    }
    return table.text();
}

/// "1 stream plays", "6 streams play"
std::string are(const MaxResult& result, std::uint64_t streams, const char* one, const char* many) {
    return fmt::format("{} {}", so_many(result, streams), streams == 1 ? one : many);
}

/// "6 streams did not always come out alike: ..."
std::string noise_of(const MaxResult& result, const MaxStep& step) {
    const auto failed =
        std::count_if(step.runs.begin(), step.runs.end(), [](const MaxRun& run) { return !run.pass; });
    return fmt::format("{} did not always come out alike: {} of {} runs failed, so they count as {}",
                       so_many(result, step.streams), failed, step.runs.size(),
                       step.pass ? "playing" : "not playing");
}

std::string emptied_of(const MaxResult& result, const MaxStep& step, const MaxRun& run) {
    return fmt::format(
        "{}: no frame was missed in {}, but the buffers emptied: they would have lasted {}; played again "
        "for longer, {}",
        so_many(result, step.streams), show_duration({run.duration_ns}), show_duration({*run.empty_after_ns}),
        step.pass ? "it lasts" : "it does not last");
}

/// What a reader of the table should know about this line, a sentence each.
std::vector<std::string> remarks(const MaxResult& result, const MaxFormat& format) {
    std::vector<std::string> out;
    if (const MaxRun* run = format.one_more()) {
        out.push_back(fmt::format("{}: {}", so_many(result, *format.fails_at), printable(run->reason)));
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
                                      are(result, step.streams, "plays", "play"), length));
        if (confirming && !step.pass && !format.interrupted)
            out.push_back(fmt::format("not confirmed: {} not play in a run of {}, so that one less was tried",
                                      are(result, step.streams, "does", "do"), length));
        if (step.noisy()) out.push_back(noise_of(result, step));
        for (const MaxRun& run : step.runs) {
            if (run.undecided) out.push_back(emptied_of(result, step, run));
        }
    }
    if (format.streams > 0 && !format.confirmed) out.emplace_back("not confirmed by a longer run");
    return out;
}

}  // namespace

std::string max_text_report(const MaxResult& result) {
    std::string what = "The most streams that play";
    if (result.counts == MaxCounts::streams_per_seat) what = "The most streams a seat that play";
    if (result.counts == MaxCounts::seats)
        what = fmt::format("The most seats of {} that play", counted(result.streams_of_seat, "stream"));
    const bool says_seats = result.seats > 1 && result.counts != MaxCounts::seats;
    std::string out = fmt::format("{} without a drop from {}{}{}\n\n", what, printable(result.common.url),
                                  says_seats ? fmt::format(", over {} seats", result.seats) : "",
                                  result.interrupted ? " (interrupted: as far as it is known)" : "");
    if (const std::string words = disclaimer_text(result.common); !words.empty()) {
        out = result.common.faults_injected ? "FAULTS INJECTED, no statement about storage: " + out
                                            : out + words + "\n\n";
    }
    if (result.common.model) {
        out += fmt::format("This is no measurement: {} is a model ({})\n\n",
                           printable(result.common.model->name), printable(result.common.model->title));
    }
    out += table_of(result) + "\n";
    for (const MaxFormat& format : result.formats) {
        for (const std::string& remark : remarks(result, format))
            out += fmt::format("{}: {}\n", printable(format.format), remark);
    }
    if (result.headroom_percent > 0) {
        out += fmt::format(
            "Headroom: 99 % of the frames of each stream had to leave {:g} % of a frame period free\n",
            result.headroom_percent);
    }
    for (const std::string& text : result.notices) {
        if (text.starts_with("not played: ")) out += printable(text) + "\n";
    }
    if (result.server_cache_may_be_warm) {
        out +=
            "Caches: the media may have come from the server's memory: they are new, or were played several "
            "times "
            "over\n";
    }
    return out;
}

}  // namespace streamsim::report
