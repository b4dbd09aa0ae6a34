// result_problems() itself: a sound result has no problem, and each falsified one has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "cli/harness.h"

namespace streamsim::tests {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

Json sound_counts() {
    return {{"frames_scheduled", 24}, {"frames_on_time", 21},  {"frames_late", 0},   {"frames_dropped", 2},
            {"frames_failed", 1},     {"frames_cancelled", 0}, {"startup_drops", 1}, {"stalls", 0},
            {"stall_ns", 0},          {"bytes_read", 2200},    {"passes", 1}};
}

Json drop_of(int frame, const char* kind, const char* reason, const Json& completed_ns) {
    return {{"seat", 0},
            {"stream", 0},
            {"frame", frame},
            {"clip_frame", frame},
            {"file", "f"},
            {"due_ns", frame * 1000},
            {"completed_ns", completed_ns},
            {"kind", kind},
            {"reason", reason},
            {"errno", 0},
            {"timecode", "00:00:00:00"}};
}

Json sound_result() {
    const Json latency{{"p50", 1}, {"p90", 2}, {"p99", 3}, {"p99_9", 4}, {"max", 5}};
    Json stream = sound_counts();
    stream.update({{"seat", 0}, {"stream", 0}, {"format", "f"}, {"clip", "c"}, {"rate", {24, 1}}});
    stream.update(
        {{"start_delay_ns", 1}, {"longest_drop_run", 1}, {"service_ns", latency}, {"response_ns", latency}});
    stream.update({{"open_ns", nullptr}, {"buffer_frames", {{"min", 0}, {"p1", 1}, {"p50", 2}}}});
    stream["margin_ns"] = {{"min", -5}, {"p0_1", -4}, {"p1", 1}, {"p10", 2}, {"p50", 3}, {"max", 4}};
    Json totals = sound_counts();
    totals.update({{"wall_ns", 1'000'000'000}, {"read_bytes_per_s", 2200}, {"required_bytes_per_s", 2400}});
    return {{"schema", "streamsim.result"},
            {"version", 1},
            {"streamsim", {{"version", "0"}, {"revision", "r"}, {"backends", {"null"}}}},
            {"started_at", "now"},
            {"host", {{"name", "h"}, {"os", "o"}, {"cpus", 1}, {"memory_bytes", 1}}},
            {"command", {"streamsim"}},
            {"seed", 1},
            {"target", {{"url", "u"}, {"backend", "local"}, {"io", "uring"}, {"direct", true}}},
            {"verdict", {{"pass", false}, {"reason", "r"}, {"limit", "storage"}}},
            {"totals", totals},
            {"media", {{"age_s", 1}, {"looped", false}, {"server_cache_may_be_warm", false}}},
            {"streams", Json::array({stream})},
            {"drops", Json::array({drop_of(3, "dropped", "late", 3500), drop_of(4, "dropped", "late", nullptr),
                                   drop_of(9, "failed", "missing", nullptr)})},
            {"drops_omitted", 0},
            {"timeline", Json::array()},
            {"client",
             {{"cpu_percent", 1},
              {"loop_lateness_ns", {{"p50", 1}, {"p99", 2}, {"max", 3}}},
              {"page_cache_bytes", nullptr}}},
            {"digest", "d"}};
}

TEST(ResultCheck, ASoundResultHasNoProblem) {
    EXPECT_THAT(result_problems(sound_result()), IsEmpty());
    EXPECT_EQ(exit_code_of(sound_result()), 1);
    EXPECT_EQ(frames_read(sound_result()), 22U);  // 24, less one failed and one never read
}

TEST(ResultCheck, EachFalsifiedResultHasAProblem) {
    const std::vector<std::function<void(Json&)>> falsifications{
        [](Json& result) { result.erase("digest"); },
        [](Json& result) { result["version"] = 2; },
        [](Json& result) { result["streams"][0].erase("open_ns"); },
        [](Json& result) { result["streams"][0]["frames_on_time"] = 22; },
        [](Json& result) { result["totals"]["frames_on_time"] = 22; },
        [](Json& result) { result["totals"]["bytes_read"] = 2300; },
        [](Json& result) { result["totals"]["read_bytes_per_s"] = 2400; },
        [](Json& result) { result["totals"]["startup_drops"] = result["streams"][0]["startup_drops"] = 3; },
        [](Json& result) { result["drops"].erase(1); },
        [](Json& result) { result["drops"][1]["frame"] = 3; },
        [](Json& result) { std::swap(result["drops"][0], result["drops"][1]); },
        [](Json& result) { result["drops"][0]["completed_ns"] = 3000; },
        [](Json& result) { result["drops"][0]["reason"] = "error"; },
        [](Json& result) { result["drops"][2]["reason"] = "late"; },
        [](Json& result) { result["drops"][1]["kind"] = "late"; },
        [](Json& result) {
            result["verdict"] = {{"pass", true}, {"reason", "r"}, {"limit", "none"}};
        },
        [](Json& result) { result["verdict"]["limit"] = "weather"; },
        [](Json& result) { result["streams"][0]["margin_ns"]["p1"] = 9; },
        [](Json& result) { result["client"]["loop_lateness_ns"]["p99"] = 0; },
    };
    for (std::size_t i = 0; i < falsifications.size(); i++) {
        Json result = sound_result();
        falsifications[i](result);
        EXPECT_THAT(result_problems(result), Not(IsEmpty())) << i;
    }
}

}  // namespace
}  // namespace streamsim::tests
