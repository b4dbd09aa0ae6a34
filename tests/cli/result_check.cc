// The rules that hold for every result, whatever was played. Written from the outer contract alone.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "cli/harness.h"

namespace streamsim::tests {
namespace {

using Problems = std::vector<std::string>;

// Lists of keys are written as the contract writes them: words with spaces between.
constexpr const char* kCounts =
    "frames_scheduled frames_on_time frames_late frames_dropped frames_failed frames_cancelled startup_drops "
    "stalls "
    "stall_ns bytes_read passes";

struct Section {
    const char* at;  // pointer of an object
    const char* keys;
};

constexpr Section kRequired[] = {
    {"",
     "schema version streamsim started_at host command seed target verdict totals media streams drops client "
     "drops_omitted timeline digest"},
    {"/streamsim", "version revision backends"},
    {"/host", "name os cpus memory_bytes"},
    {"/target", "url backend io direct"},
    {"/verdict", "pass reason limit"},
    {"/totals", "wall_ns read_bytes_per_s required_bytes_per_s"},
    {"/media", "age_s looped server_cache_may_be_warm"},
    {"/client", "cpu_percent loop_lateness_ns page_cache_bytes"},
    {"/client/loop_lateness_ns", "p50 p99 max"},
};

constexpr const char* kStreamKeys =
    "seat stream format clip rate start_delay_ns longest_drop_run margin_ns service_ns response_ns open_ns "
    "buffer_frames";
constexpr const char* kDropKeys =
    "seat stream frame clip_frame file due_ns completed_ns kind reason errno timecode";
constexpr const char* kTimelineKeys =
    "t_ns interval_ns bytes frames_on_time frames_dropped service_ns_max buffer_frames_min";
constexpr const char* kMarginKeys = "min p0_1 p1 p10 p50 max";
constexpr const char* kLatencyKeys = "p50 p90 p99 p99_9 max";
constexpr std::int64_t kLongestGapNs = 3'600'000'000'000;  // no test plays for so long
constexpr const char* kLimits = "none storage network client-cpu client-scheduling media unknown";

std::vector<std::string> words_of(const char* text) {
    std::istringstream in(text);
    return {std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
}

void require(const Json& object, const std::string& at, const char* keys, Problems& problems) {
    for (const std::string& key : words_of(keys)) {
        if (object.is_object() && object.contains(key)) continue;
        problems.push_back(at);
        problems.back().append("/").append(key).append(" is missing");
    }
}

void check_keys(const Json& result, Problems& problems) {
    for (const Section& section : kRequired) {
        const Json::json_pointer pointer(section.at);
        require(result.contains(pointer) ? result.at(pointer) : Json(), section.at, section.keys, problems);
    }
    if (!problems.empty()) return;
    require(result["totals"], "/totals", kCounts, problems);
    for (std::size_t i = 0; i < result["streams"].size(); i++) {
        const std::string at = "/streams/" + std::to_string(i);
        require(result["streams"][i], at, kCounts, problems);
        require(result["streams"][i], at, kStreamKeys, problems);
    }
    for (const Json& drop : result["drops"]) require(drop, "/drops/...", kDropKeys, problems);
    for (const Json& entry : result["timeline"]) require(entry, "/timeline/...", kTimelineKeys, problems);
}

std::int64_t count(const Json& counts, const std::string& key) {
    return counts.at(key).get<std::int64_t>();
}

void check_sum(const Json& counts, const std::string& at, Problems& problems) {
    const std::int64_t parts = count(counts, "frames_on_time") + count(counts, "frames_late") +
                               count(counts, "frames_dropped") + count(counts, "frames_failed") +
                               count(counts, "frames_cancelled");
    if (parts != count(counts, "frames_scheduled")) {
        problems.push_back(at + ": " + std::to_string(count(counts, "frames_scheduled")) + " scheduled, but " +
                           std::to_string(parts) + " accounted for");
    }
    if (count(counts, "startup_drops") > count(counts, "frames_dropped")) {
        problems.push_back(at + ": more start-up drops than drops");
    }
}

void check_totals(const Json& result, Problems& problems) {
    for (const std::string& key : words_of(kCounts)) {
        std::int64_t sum = 0;
        for (const Json& stream : result["streams"]) sum += count(stream, key);
        if (sum != count(result["totals"], key)) {
            problems.push_back("totals/" + key + " is " + result["totals"][key].dump() + ", the streams have " +
                               std::to_string(sum));
        }
    }
    const Json& wall = result["totals"]["wall_ns"];
    const Json& rate = result["totals"]["read_bytes_per_s"];
    if (wall == 0) return;  // nothing was read: there is no rate
    const double expected = result["totals"]["bytes_read"].get<double>() / (wall.get<double>() / 1e9);
    if (!rate.is_number() || std::abs(rate.get<double>() - expected) > 1 + expected * 1e-3) {
        problems.push_back("read_bytes_per_s is " + rate.dump() + ", bytes / wall is " +
                           std::to_string(expected));
    }
}

// The drop table holds every slot that is not on time (or cancelled), once, in order.
void check_drops(const Json& result, Problems& problems) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::map<std::string, std::int64_t>> kinds;
    std::vector<std::int64_t> before{-1, -1, -1};
    for (const Json& drop : result["drops"]) {
        kinds[{count(drop, "seat"), count(drop, "stream")}][drop["kind"].get<std::string>()]++;
        const std::vector<std::int64_t> place{count(drop, "seat"), count(drop, "stream"), count(drop, "frame")};
        if (!(before < place)) problems.push_back("drops are not in order, or listed twice: " + drop.dump());
        before = place;
        const bool failed = drop["kind"] == "failed";
        const bool blamed = drop["reason"] == "late" || drop["reason"] == "client";
        if (failed == blamed) problems.push_back("kind and reason contradict each other: " + drop.dump());
        if (drop["kind"] == "late" && drop["completed_ns"].is_null()) {
            problems.push_back("late, yet never completed: " + drop.dump());
        }
        if (!failed && !drop["completed_ns"].is_null() &&
            count(drop, "completed_ns") <= count(drop, "due_ns")) {
            problems.push_back("completed in time, yet listed: " + drop.dump());
        }
    }
    if (count(result, "drops_omitted") != 0) return;
    for (const Json& stream : result["streams"]) {
        auto& listed = kinds[{count(stream, "seat"), count(stream, "stream")}];
        for (const char* kind : {"dropped", "late", "failed"}) {
            if (listed[kind] == count(stream, std::string("frames_") + kind)) continue;
            problems.push_back("stream " + stream["stream"].dump() + ": " + std::to_string(listed[kind]) + " " +
                               kind + " listed, " + stream[std::string("frames_") + kind].dump() + " counted");
        }
    }
}

void check_order(const Json& summary, const char* names, const std::string& at, Problems& problems) {
    if (summary.is_null()) return;
    const std::vector<std::string> keys = words_of(names);
    for (std::size_t i = 1; i < keys.size(); i++) {
        if (!summary.contains(keys[i]) || !summary.contains(keys[i - 1])) {
            problems.push_back(at + "/" + keys[i] + " or its neighbour is missing");
        } else if (!summary[keys[i]].is_null() && summary[keys[i]] < summary[keys[i - 1]]) {
            problems.push_back(at + " is not in order: " + summary.dump());
        }
    }
}

void check_verdict(const Json& result, Problems& problems) {
    bool clean = true;
    for (const Json& stream : result["streams"]) {
        clean = clean && count(stream, "frames_late") + count(stream, "frames_failed") +
                                 count(stream, "stalls") + count(stream, "frames_dropped") -
                                 count(stream, "startup_drops") ==
                             0;
    }
    const bool pass = result["verdict"]["pass"].get<bool>();
    if (pass && !clean) problems.push_back("the verdict passes what did not play");
    const bool interrupted = result.value("interrupted", false);
    if (!pass && clean && !interrupted) problems.push_back("the verdict fails what played");
    if (pass && result["verdict"]["limit"] != "none") problems.push_back("a pass has no limit");
    const std::vector<std::string> limits = words_of(kLimits);
    const std::string limit = result["verdict"]["limit"];
    if (std::find(limits.begin(), limits.end(), limit) == limits.end()) problems.push_back("limit " + limit);
}

/// Every drop is in one event of its cause, and no event has more frames.
void check_events(const Json& result, Problems& problems) {
    if (!result.contains("events")) return;
    std::int64_t frames = 0;
    std::int64_t before_ns = INT64_MIN;
    for (const Json& event : result["events"]) {
        frames += count(event, "frames");
        if (event["from_ns"] < before_ns || event["to_ns"] < event["from_ns"])
            problems.push_back("events are not by time: " + event.dump());
        before_ns = event["from_ns"];
        if (count(event, "frames") + count(event, "stalls") == 0)
            problems.push_back("an event of nothing: " + event.dump());
    }
    if (frames != static_cast<std::int64_t>(result["drops"].size()))
        problems.push_back(std::to_string(frames) + " frames in events, and " +
                           std::to_string(result["drops"].size()) + " drops");
}

}  // namespace

std::vector<std::string> result_problems(const Json& result) {
    Problems problems;
    check_keys(result, problems);
    if (!problems.empty()) return problems;
    if (result["schema"] != "streamsim.result" || result["version"] != 1) problems.push_back("wrong schema");
    check_sum(result["totals"], "totals", problems);
    for (const Json& stream : result["streams"]) {
        const std::string at = "stream " + stream["stream"].dump();
        check_sum(stream, at, problems);
        check_order(stream["margin_ns"], kMarginKeys, at + " margin_ns", problems);
        for (const char* key : {"service_ns", "response_ns", "open_ns"}) {
            check_order(stream[key], kLatencyKeys, at + " " + key, problems);
        }
        check_order(stream["buffer_frames"], "min p1 p50", at + " buffer_frames", problems);
    }
    for (const Json& gap : result.value("throughput_gaps", Json::array())) {
        const std::int64_t length_ns = count(gap, "to_ns") - count(gap, "from_ns");
        if (length_ns <= 0 || length_ns > kLongestGapNs) problems.push_back("throughput_gaps: " + gap.dump());
    }
    check_order(result["client"]["loop_lateness_ns"], "p50 p99 max", "loop_lateness_ns", problems);
    check_totals(result, problems);
    check_drops(result, problems);
    check_events(result, problems);
    check_verdict(result, problems);
    return problems;
}

int exit_code_of(const Json& result) {
    const Json claims = result.value("claims", Json());
    if (claims.is_object() && !claims["prove"].is_null()) return claims["prove"]["decided"] == "stands" ? 0 : 1;
    return result["verdict"]["pass"].get<bool>() ? 0 : 1;
}

std::uint64_t frames_read(const Json& result) {
    const Json& totals = result["totals"];
    std::int64_t frames =
        count(totals, "frames_scheduled") - count(totals, "frames_failed") - count(totals, "frames_cancelled");
    for (const Json& drop : result["drops"]) {
        if (drop["kind"] == "dropped" && drop["completed_ns"].is_null()) frames--;
    }
    return static_cast<std::uint64_t>(frames);
}

}  // namespace streamsim::tests
