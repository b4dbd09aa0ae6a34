#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "base/units.h"
#include "report/compare/compare.h"
#include "report/facts/show.h"

namespace streamsim::report {
namespace {

/// The options as typed, without those that say only where the result goes, and whom it is for.
std::string command_text(const std::vector<std::string>& command) {
    constexpr std::array<std::string_view, 13> kWithValue = {
        "--json", "--csv",     "--html",  "--trace",  "--junit", "--metrics", "--seed",
        "--web",  "--journal", "--title", "--client", "--note",  "--logo"};
    constexpr std::array<std::string_view, 5> kAlone = {"-q", "--quiet", "-v", "-vv", "--verbose"};
    std::string out;
    for (std::size_t i = 1; i < command.size(); ++i) {
        const std::string_view word = command[i];
        const std::string_view name = word.substr(0, word.find('='));
        if (std::ranges::find(kAlone, word) != kAlone.end()) continue;
        if (std::ranges::find(kWithValue, name) != kWithValue.end()) {
            if (name == word) ++i;
            continue;
        }
        out += out.empty() ? "" : " ";
        out += word;
    }
    return out;
}

/// "4 of dpx12 at 24 fps, 2 of prores-hd as fast as it goes"
std::string played_streams(const RunResult& result) {
    std::map<std::string, std::uint64_t> kinds;
    for (const StreamResult& stream : result.streams) {
        ++kinds[kind_of(stream) + (stream.paced ? " at " + show_fps(stream.rate) : " as fast as it goes")];
    }
    std::string out;
    for (const auto& [kind, count] : kinds)
        out += fmt::format("{}{} of {}", out.empty() ? "" : ", ", count, kind);
    return out;
}

std::string seats_text(const RunResult& result) {
    std::uint32_t seats = 0;
    for (const StreamResult& stream : result.streams) seats = std::max(seats, stream.seat + 1);
    return std::to_string(seats);
}

std::string longest_text(const RunResult& result) {
    std::uint64_t slots = 0;
    for (const StreamResult& stream : result.streams) slots = std::max(slots, stream.counts.scheduled);
    return counted(slots, "frame");
}

std::string model_text(const RunResult& result) {
    if (!result.model) return "none";
    return fmt::format("{}, {} nodes, seats on {}, {} cache", result.model->name, result.model->nodes,
                       result.model->nodes_with_seats, result.model->warm ? "warm" : "cold");
}

std::string mount_text(const RunResult& result) {
    if (!result.mount) return "not known";
    const MountFacts& mount = *result.mount;
    return fmt::format("{} on {}, {} ({})", mount.source, mount.point, mount.type, mount.options);
}

/// "0: ws1 (16 processors), 1: ws2 (16 processors, nas:/x)": the computers of all ranks.
std::string computers_text(const RunResult& result) {
    if (result.seats.size() < 2) return "one";
    std::string out;
    for (const SeatResult& seat : result.seats) {
        out += fmt::format("{}{}: ", out.empty() ? "" : ", ", seat.rank);
        if (seat.host.name.empty()) {
            out += "not known";
            continue;
        }
        out += fmt::format("{} ({}{})", seat.host.name, counted(seat.host.cpus, "processor"),
                           seat.mount ? ", " + seat.mount->source : "");
    }
    return out;
}

std::string io_size_text(const RunResult& result) {
    return result.io_size_bytes == 0 ? "a frame" : fmt::format("{} bytes", show_count(result.io_size_bytes));
}

const char* yes_no(bool value) {
    return value ? "yes" : "no";
}

}  // namespace

std::vector<SetupFact> setup_facts(const RunResult& result) {
    std::string notices;
    for (const std::string& notice : result.notices) notices += (notices.empty() ? "" : "; ") + notice;
    return {
        {"target", result.url, true},
        {"read through", fmt::format("{}, {}", result.backend, result.io), true},
        {"direct", yes_no(result.direct), true},
        {"faults injected", yes_no(result.faults_injected.has_value()), true},
        {"model", model_text(result), true},
        {"scenario", result.scenario ? result.scenario->file : "none", true},
        {"streams", played_streams(result), true},
        {"seats", seats_text(result), true},
        {"longest stream", longest_text(result), false},
        {"options", command_text(result.command), true},
        {"before play", result.before_step ? result.before_step->command : "nothing", true},
        {"reads by the server's counters", result.counters ? to_string(result.counters->reads) : "not-known",
         false},
        {"read-ahead", counted(result.readahead, "frame"), true},
        {"in flight", counted(result.inflight, "frame"), true},
        {"size of a read", io_size_text(result), true},
        {"reads in flight a frame", std::to_string(result.io_depth), true},
        {"a missing frame", result.on_miss, true},
        {"pattern", result.pattern, true},
        {"order", result.order, true},
        {"layers", std::to_string(result.layers), true},
        {"on one clock", yes_no(result.sync), true},
        {"angles", result.multicam, true},
        {"audio", yes_no(result.audio), true},
        {"host", result.host.name, true},
        {"system", result.host.os, true},
        {"processors", std::to_string(result.host.cpus), true},
        {"memory", show_bytes(result.host.memory_bytes), true},
        {"mount", mount_text(result), true},
        {"computers", computers_text(result), true},
        {"player threads", std::to_string(result.client.loops), false},
        {"real-time scheduling", yes_no(result.client.realtime), false},
        {"seed", std::to_string(result.seed), false},
        {"age of the media", result.media.age_s ? show_duration(seconds(*result.media.age_s)) : "not known",
         false},
        {"media looped", yes_no(result.media.looped), false},
        {"server's cache may be warm", yes_no(result.media.server_cache_may_be_warm), false},
        {"notices", notices.empty() ? "none" : notices, false},
        {"streamsim", result.version + " " + result.revision, false},
    };
}

}  // namespace streamsim::report
