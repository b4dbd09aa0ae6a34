#include "report/text/max_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/document/json.h"
#include "base/units.h"
#include "base/utf8.h"
#include "report/text/text_report.h"
#include "report/text/text_tables.h"

namespace streamsim::report {
namespace {

template <typename T>
OrderedJson or_null(const std::optional<T>& value) {
    return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson run_json(const MaxRun& run) {
    return {{"duration_ns", run.duration_ns},
            {"pass", run.pass},
            {"limit", to_string(run.limit)},
            {"reason", run.reason},
            {"missed", run.missed},
            {"startup_drops", run.startup_drops},
            {"margin_min_ns", or_null(run.margin_min_ns)},
            {"margin_p1_ns", or_null(run.margin_p1_ns)},
            {"margin_p1_percent", or_null(run.margin_p1_percent)},
            {"empty_after_ns", or_null(run.empty_after_ns)},
            {"undecided", run.undecided},
            {"disturbed", run.disturbed},
            {"required_bytes_per_s", std::llround(run.required_bytes_per_s)},
            {"read_bytes_per_s", std::llround(run.read_bytes_per_s)}};
}

OrderedJson step_json(const MaxStep& step, const MaxResult& result) {
    OrderedJson out = {{"streams", step.streams * result.streams_of_one()},
                       {"seats", result.seats_of(step.streams)},
                       {"purpose", to_string(step.purpose)},
                       {"repeated", step.runs.size() - 1},
                       {"noisy", step.noisy()}};
    // What the run that decided says, then all of them.
    const OrderedJson decided = run_json(step.runs.back());
    for (const auto& [key, value] : decided.items()) out[key] = value;
    out["pass"] = step.pass;
    OrderedJson runs = OrderedJson::array();
    for (const MaxRun& run : step.runs) runs.push_back(run_json(run));
    out["runs"] = std::move(runs);
    return out;
}

/// The run that says what keeps one more from playing; null: there is none.
const MaxRun* one_more(const MaxFormat& format) {
    return format.fails_at ? format.decided(*format.fails_at) : nullptr;
}

OrderedJson format_json(const MaxFormat& format, const MaxResult& result) {
    const std::uint64_t streams = format.streams * result.streams_of_one();
    const std::uint64_t seats = result.seats_of(format.streams);
    std::optional<std::uint64_t> fails_at = format.fails_at;
    if (fails_at) *fails_at *= result.streams_of_one();
    const MaxRun* fails = one_more(format);
    const MaxRun* plays = format.decided(format.streams);
    OrderedJson out = {
        {"format", format.format},
        {"width", format.width},
        {"height", format.height},
        {"rate", {format.rate.num, format.rate.den}},
        {"streams", streams},
        {"streams_per_seat", seats > 0 ? streams / seats : 0},
        {"seats", seats},
        {"fails_at", or_null(fails_at)},
        {"confirmed", format.confirmed},
        {"confirm_ns", format.confirm_ns},
        {"limit", fails != nullptr ? to_string(fails->limit) : to_string(Limit::none)},
        {"reason", fails != nullptr ? fails->reason : ""},
        {"at_least", !format.at_least.empty()},
        {"at_least_because", format.at_least},
        {"interrupted", format.interrupted},
        {"required_bytes_per_s", plays != nullptr ? std::llround(plays->required_bytes_per_s) : 0},
        {"margin_min_ns", plays != nullptr ? or_null(plays->margin_min_ns) : OrderedJson(nullptr)},
        {"margin_p1_ns", plays != nullptr ? or_null(plays->margin_p1_ns) : OrderedJson(nullptr)},
        {"margin_p1_percent", plays != nullptr ? or_null(plays->margin_p1_percent) : OrderedJson(nullptr)}};
    OrderedJson steps = OrderedJson::array();
    for (const MaxStep& step : format.steps) steps.push_back(step_json(step, result));
    out["steps"] = std::move(steps);
    return out;
}

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
    const MaxRun* run = one_more(format);
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
        const MaxRun* fails_run = one_more(format);
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
    if (const MaxRun* run = one_more(format)) {
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

std::string max_json_report(const MaxResult& result) {
    const RunResult& common = result.common;
    const HostFacts& host = common.host;
    OrderedJson out = {
        {"schema", "streamsim.max"},
        {"version", 1},
        {"streamsim",
         {{"version", common.version}, {"revision", common.revision}, {"backends", common.backends}}},
        {"started_at", common.started_at},
        {"host",
         {{"name", host.name}, {"os", host.os}, {"cpus", host.cpus}, {"memory_bytes", host.memory_bytes}}},
        {"command", common.command},
        {"seed", common.seed},
        {"target",
         {{"url", common.url}, {"backend", common.backend}, {"io", common.io}, {"direct", common.direct}}},
        {"model", common.model ? OrderedJson(common.model->name) : OrderedJson(nullptr)},
        {"play",
         {{"readahead", common.readahead},
          {"inflight", common.inflight},
          {"io_size_bytes", common.io_size_bytes},
          {"io_depth", common.io_depth},
          {"on_miss", common.on_miss},
          {"order", common.order}}},
        {"faults_injected", common.faults_injected.has_value()},
        {"counts", to_string(result.counts)},
        {"seats", result.seats},
        {"headroom_percent", result.headroom_percent},
        {"step_ns", result.step_ns},
        {"confirm_ns", result.confirm_ns},
        {"interrupted", result.interrupted},
        {"server_cache_may_be_warm", result.server_cache_may_be_warm},
        {"notices", result.notices}};
    OrderedJson formats = OrderedJson::array();
    for (const MaxFormat& format : result.formats) formats.push_back(format_json(format, result));
    out["formats"] = std::move(formats);
    return out.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

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
