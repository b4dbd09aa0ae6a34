#include "result/json_report.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "base/document/json.h"
#include "unit/report/golden.h"
#include "unit/report/sample_results.h"
#include "unit/report/schema_check.h"

namespace streamsim::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> keys(const OrderedJson& object) {
    std::vector<std::string> out;
    for (const auto& [key, value] : object.items()) out.push_back(key);
    return out;
}

TEST(JsonReport, LooksAsAgreed) {
    expect_golden(result::json_report(samples::does_not_play()), "does_not_play.json");
    expect_golden(result::json_report(samples::interrupted()), "interrupted.json");
    expect_golden(result::json_report(samples::modelled()), "modelled.json");
}

TEST(JsonReport, KeepsToItsSchema) {
    const Json rules = schema("result.json");
    for (const RunResult& result :
         {samples::plays(), samples::does_not_play(), samples::failures(), samples::seats_and_stalls(),
          samples::as_fast_as_it_goes(), samples::interrupted(), samples::many_streams(), samples::hostile(),
          samples::modelled(), samples::several_computers(), samples::told_in_full()}) {
        EXPECT_THAT(schema_problems(rules, Json::parse(result::json_report(result))), IsEmpty());
    }
}

TEST(JsonReport, AnotherDocumentDoesNotFitTheSchema) {
    Json document = Json::parse(result::json_report(samples::does_not_play()));
    document["totals"].erase("stalls");
    document["drops"][0]["kind"] = "on_time";
    document["streams"][1]["frames_late"] = 0.5;
    document["version"] = 2;
    EXPECT_EQ(schema_problems(schema("result.json"), document).size(), 4U);
}

TEST(JsonReport, HasTheAgreedKeysInTheAgreedOrder) {
    const OrderedJson document = OrderedJson::parse(result::json_report(samples::does_not_play()));
    EXPECT_THAT(
        keys(document),
        ElementsAre("schema", "version", "streamsim", "started_at", "host", "command", "seed", "target",
                    "model", "play", "notices", "interrupted", "faults_injected", "verdict", "causes", "places",
                    "totals", "media", "streams", "drops", "drops_omitted", "events", "claims", "seeks",
                    "timeline", "computer_timeline", "throughput_gaps", "margin_bins", "service_bins", "parts",
                    "client", "mount", "servers", "links", "system", "probes", "digest", "timing_digest"));
    EXPECT_THAT(keys(document["drops"][0]),
                ElementsAre("seat", "stream", "frame", "clip_frame", "file", "due_ns", "completed_ns", "kind",
                            "reason", "errno", "timecode", "cause"));
}

TEST(JsonReport, SaysNeverWithNull) {
    const Json document = Json::parse(result::json_report(samples::does_not_play()));
    EXPECT_TRUE(document["drops"][1]["completed_ns"].is_null());
    EXPECT_TRUE(document["timing_digest"].is_null());
    EXPECT_EQ(document["drops"][1]["errno"], 0);
    EXPECT_EQ(document["drops"][1]["reason"], "client");
}

TEST(JsonReport, StaysJsonWhateverTheNamesAndNumbers) {
    const Json document = Json::parse(result::json_report(samples::hostile()));
    EXPECT_EQ(document["target"]["url"], "/mnt/\x1b[2Jx\n");
    EXPECT_THAT(document["streams"][0]["clip"].get<std::string>(), HasSubstr("\xef\xbf\xbd"));
    EXPECT_TRUE(document["totals"]["read_bytes_per_s"].is_null());
}

TEST(JsonReport, KeepsLargeNumbersExact) {
    RunResult result = samples::plays();
    result.seed = UINT64_MAX;
    result.totals.bytes_read = 9'007'199'254'740'993;
    const Json document = Json::parse(result::json_report(result));
    EXPECT_EQ(document["seed"].get<std::uint64_t>(), UINT64_MAX);
    EXPECT_EQ(document["totals"]["bytes_read"].get<std::uint64_t>(), 9'007'199'254'740'993U);
}

}  // namespace
}  // namespace streamsim::report
