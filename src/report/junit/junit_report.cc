#include "report/junit/junit_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/units.h"
#include "report/facts/headline.h"
#include "report/facts/markup.h"
#include "report/facts/selection.h"
#include "report/facts/show.h"

namespace streamsim::report {
namespace {

/// "failure" or "error", with its sentences; no element: it passed.
struct Outcome {
    const char* element = nullptr;
    const char* type = "";
    std::string message;
    std::string text;
};

struct Case {
    std::string classname, name;
    std::int64_t time_ns = 0;
    Outcome outcome;
};

std::string seconds_text(std::int64_t ns) {
    const std::int64_t ms = std::max<std::int64_t>(0, ns) / 1'000'000;
    return fmt::format("{}.{:03}", ms / 1000, ms % 1000);
}

std::string counts_text(const StreamResult& stream) {
    const FrameCounts& counts = stream.counts;
    std::string out = fmt::format(
        "{} scheduled: {} on time, {} late, {} dropped ({} of them in the first second), "
        "{} failed, {} cancelled",
        counted(counts.scheduled, "frame"), counts.on_time, counts.late, counts.dropped, counts.startup_drops,
        counts.failed, counts.cancelled);
    if (counts.stalls > 0)
        out += fmt::format("; {} for {}", counted(counts.stalls, "stall"), show_duration({counts.stall_ns}));
    if (stream.longest_drop_run > 1) out += fmt::format("; longest run: {}", stream.longest_drop_run);
    if (stream.margin_ns) out += "; min margin " + show_duration({stream.margin_ns->min});
    return out;
}

using Drops = std::vector<const DropRecord*>;

/// The drops of each stream, by seat and stream.
std::map<std::pair<std::uint32_t, std::uint32_t>, Drops> drops_of_streams(const RunResult& result) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, Drops> out;
    for (const DropRecord& drop : result.drops) out[{drop.seat, drop.stream}].push_back(&drop);
    return out;
}

/// The events that these drops of the stream are in. A stream may have as many drops as there are events.
std::set<const MissEvent*> events_of(const RunResult& result, const StreamResult& stream, Drops drops) {
    std::ranges::sort(drops, {}, &DropRecord::due_ns);
    std::set<const MissEvent*> out;
    std::vector<const MissEvent*> open;  // that have begun, and are not over
    auto next = result.events.begin();
    for (const DropRecord* drop : drops) {
        const std::int64_t due_ns = stream.play_start_ns + drop->due_ns;
        for (; next != result.events.end() && next->from_ns <= due_ns; ++next) open.push_back(&*next);
        std::erase_if(open, [due_ns](const MissEvent* event) { return event->to_ns <= due_ns; });
        for (const MissEvent* event : open) {
            if (event->cause == drop->cause) out.insert(event);
        }
    }
    return out;
}

/// The events that missed frames of the stream are in, a line each. Stalls have no frame: they are in the
/// events that begin with this stream.
std::string events_text(const RunResult& result, const StreamResult& stream, const Drops& drops) {
    constexpr std::size_t kEventsMax = 20;
    const std::set<const MissEvent*> met = events_of(result, stream, drops);
    std::string out;
    std::size_t lines = 0;
    for (const MissEvent& event : result.events) {
        const bool begins =
            event.stalls > 0 && event.first.seat == stream.seat && event.first.stream == stream.stream;
        if (!begins && !met.contains(&event)) continue;
        if (++lines > kEventsMax) return out + "\nand more: events in --json";
        out += "\n" + show_event(result, event);
    }
    return out;
}

/// The text after its disclaimer: faults were injected, or there was no storage.
std::string disclaimed(const RunResult& result, const std::string& text) {
    return judges_storage(result) ? text : disclaimer(result) + ": " + text;
}

Outcome interrupted(const RunResult& result, const std::string& text) {
    return {"error", "interrupted", disclaimed(result, "interrupted before its end"), disclaimed(result, text)};
}

Outcome failed(const RunResult& result, const std::string& text) {
    return {"failure", to_string(result.verdict.limit), disclaimed(result, result.verdict.reason),
            disclaimed(result, text)};
}

std::vector<Case> cases(const RunResult& result) {
    std::vector<Case> out;
    bool said = false;
    auto drops = drops_of_streams(result);
    for (const StreamResult& stream : result.streams) {
        Case one{fmt::format("{}.seat-{}", stream.format, stream.seat),
                 fmt::format("stream {}: {}", stream.stream, stream.clip),
                 stream.start_delay_ns + stream.last_due_ns,
                 {}};
        if (has_misses(stream.counts)) {
            std::string text = counts_text(stream);
            if (!result.verdict.detail.empty()) text += "\n" + result.verdict.detail;
            text += events_text(result, stream, drops[{stream.seat, stream.stream}]);
            one.outcome = failed(result, text);
        } else if (result.interrupted) {
            one.outcome = interrupted(result, counts_text(stream));
        }
        said = said || one.outcome.element != nullptr;
        out.push_back(std::move(one));
    }
    if (!said && (result.interrupted || !result.verdict.pass)) {
        out.push_back({"streamsim", "verdict", 0,
                       result.interrupted ? interrupted(result, "") : failed(result, result.verdict.detail)});
    }
    if (result.claims && result.claims->prove) {
        const ProveResult& prove = *result.claims->prove;
        Case one{"streamsim", "claim", 0, {}};
        if (prove.decided != ProveDecision::stands)
            one.outcome = {"failure", "claim", disclaimed(result, prove.sentence), result.claims->sentence};
        out.push_back(std::move(one));
    }
    return out;
}

std::uint64_t count(const std::vector<Case>& cases, std::string_view element) {
    return static_cast<std::uint64_t>(std::ranges::count_if(cases, [element](const Case& one) {
        return one.outcome.element != nullptr && one.outcome.element == element;
    }));
}

std::string properties(const RunResult& result) {
    std::string out = "    <properties>\n";
    const auto add = [&out](const char* name, const std::string& value) {
        out += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, markup(value));
    };
    add("host", result.host.name);
    add("os", result.host.os);
    add("target", result.url);
    add("backend", result.backend);
    add("io", result.io);
    add("direct", result.direct ? "true" : "false");
    add("command", fmt::format("{}", fmt::join(result.command, " ")));
    add("seed", std::to_string(result.seed));
    add("digest", result.digest);
    add("streamsim", result.version + " " + result.revision);
    add("limit", to_string(result.verdict.limit));
    add("verdict", verdict_line(result));
    if (!judges_storage(result)) add("disclaimer", disclaimed(result, disclaimer_text(result)));
    return out + "    </properties>\n";
}

void append_case(const Case& one, std::string& out) {
    out += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{}\"", markup(one.classname),
                       markup(one.name), seconds_text(one.time_ns));
    const Outcome& outcome = one.outcome;
    if (outcome.element == nullptr) {
        out += "/>\n";
        return;
    }
    out += fmt::format(">\n      <{0} message=\"{1}\" type=\"{2}\">{3}</{0}>\n    </testcase>\n",
                       outcome.element, markup(outcome.message), outcome.type, markup(outcome.text));
}

}  // namespace

std::string junit_report(const RunResult& result) {
    const std::vector<Case> all = cases(result);
    const std::string sums =
        fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\" time=\"{}\"", all.size(),
                    count(all, "failure"), count(all, "error"), seconds_text(result.wall_ns));
    std::string started = result.started_at;  // UTC; the readers of JUnit reports want it without the zone
    if (started.ends_with('Z')) started.pop_back();
    std::string out = std::string(kJunitReportBegins) + "\n";
    out += fmt::format("<testsuites name=\"streamsim\" {}>\n", sums);
    out += fmt::format("  <testsuite name=\"streamsim\" {} timestamp=\"{}\" hostname=\"{}\">\n", sums,
                       markup(started), markup(result.host.name));
    out += properties(result);
    for (const Case& one : all) append_case(one, out);
    return out + "  </testsuite>\n</testsuites>\n";
}

}  // namespace streamsim::report
