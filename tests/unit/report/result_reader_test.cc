#include "result/result_reader.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/document/json.h"
#include "report/text/text_report.h"
#include "result/json_report.h"
#include "unit/report/golden.h"
#include "unit/report/sample_results.h"

namespace streamsim::report {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// A result in which every member has a value.
RunResult full() {
    RunResult out = samples::modelled();
    const RunResult several = samples::several_computers();
    out.run_id = several.run_id;
    out.ranks = several.ranks;
    out.seats = several.seats;
    out.histograms = out.streams[0].histograms = several.histograms;
    out.seed = UINT64_MAX;
    out.scenario = {"morning.json", "a morning", "drops", false, {"none came"}};
    out.before_step = {"flush", "flushed\n", 12, 0, 1'500'000};
    out.counters = {"count",
                    {{"disk_read_bytes", 1, 5, 4}, {"share", 0.25, 0.5, 0.25}},
                    4,
                    ColdReads::cold,
                    "disk_read_bytes +4 B of 4 B read: the reads were cold"};
    out.verdict.detail = "at depth 2 the link is 41 % busy";
    out.verdict.next = "measure again";
    out.causes = {{Cause::too_little_in_flight, Limit::client_cpu, 212, 1, "a sentence", "another"}};
    out.places = {PlaceTest::Answer::same_place, 12, 4};
    out.mount = {"/mnt/x", "server:/export", "nfs4", "rw,vers=4.1", "server", "NFSv4.1",
                 8,        1 << 20,          131072, {"a hint"}};
    out.servers = {{"10.0.0.1", "NFSv3", {0, 2}, 4, 1 << 20, 1234, 27.5, 1'000'000'000, 2, 3, 250'000},
                   {"10.0.0.2", "SMB 3.1.1", {}, 0, 0, 0, std::nan(""), 0, 0, 0, {}}};
    out.links = {{"eth0", 10'000'000'000, 5, 4, 41.5, 99.25, 200'000, 90'000, 3},
                 {"eth1", {}, 0, 0, 0, 0, 0, 0, 0}};
    out.system = {12, 50.5, {}, 0.25, {}, 1e-9};
    out.probes = {{"more in flight", 8, 1 << 20, 8, 1.5e9}, {"as played", 2, 0, 8, std::nan("")}};
    out.margin_bins = {{-5, 0, 7}, {0, 5, 9}};
    out.streams[1].series = {500'000'000, {{-4, 7, 1}, {{}, {}, 0}}};
    out.timeline = {{-5, 10, 4, 3, 2, 1, 6, 7, {}, -3}};
    out.drops[0].cause = Cause::slow_opens;
    out.seeks = {{1, 2, 3, 4, -5, 6, true}};
    return out;
}

std::vector<RunResult> all_samples() {
    return {samples::plays(),
            samples::does_not_play(),
            samples::failures(),
            samples::seats_and_stalls(),
            samples::as_fast_as_it_goes(),
            samples::interrupted(),
            samples::many_streams(),
            samples::hostile(),
            samples::modelled(),
            samples::several_computers(),
            full()};
}

std::vector<std::string> problems(const Json& document) {
    const auto result = result::read_result(document.dump(), "r.json");
    return result ? std::vector<std::string>{} : result.error().problems;
}

/// The pointers to all members of the document, the innermost first.
void pointers(const Json& value, const Json::json_pointer& at, std::vector<Json::json_pointer>& out) {
    if (value.is_object()) {
        for (const auto& [key, member] : value.items()) pointers(member, at / key, out);
    } else if (value.is_array() && !value.empty()) {
        pointers(value[0], at / 0, out);
    }
    if (!at.empty()) out.push_back(at);
}

TEST(ResultReader, WhatIsWrittenAgainIsTheSameText) {
    for (const RunResult& sample : all_samples()) {
        const std::string text = result::json_report(sample);
        const auto result = result::read_result(text, "r.json");
        ASSERT_TRUE(result) << testing::PrintToString(result.error().problems);
        EXPECT_EQ(result::json_report(*result), text);
    }
}

TEST(ResultReader, WhatIsShownIsTheSame) {
    for (const RunResult& sample : all_samples()) {
        if (sample.streams[0].clip.find('\xff') != std::string::npos) continue;  // is not UTF-8
        EXPECT_EQ(
            text_report(*result::read_result(result::json_report(sample), "r.json"), TextDetail::full, false),
            text_report(sample, TextDetail::full, false));
    }
}

TEST(ResultReader, SeatsAndHistogramsThatCannotBeAreProblems) {
    Json bad = Json::parse(result::json_report(samples::several_computers()));
    bad["streams"][0]["histograms"]["margin_ns"]["values"] = {8, -5};
    bad["streams"][0]["histograms"]["service_ns"]["times"] = {1, 0};
    bad["totals"]["histograms"]["buffer_frames"]["max"] = 7;
    bad["run_id"] = "";
    bad["seats"][1]["rank"] = 0;
    bad["seats"][2]["rank"] = 3;
    bad["seats"][0]["totals"]["frames_scheduled"] = 1;
    EXPECT_THAT(problems(bad), testing::UnorderedElementsAre(
                                   HasSubstr("/streams/0/histograms/margin_ns/values/1: expected 9 to 9"),
                                   HasSubstr("/streams/0/histograms/service_ns/times/1: expected 1"),
                                   HasSubstr("/totals/histograms/buffer_frames/values/1"), HasSubstr("/run_id"),
                                   HasSubstr("/seats/1/rank"), HasSubstr("/seats/2/rank"),
                                   HasSubstr("/seats/0/totals/frames_scheduled")));
    Json more = Json::parse(result::json_report(samples::several_computers()));
    more["ranks"] = 100'001;
    EXPECT_THAT(problems(more), testing::ElementsAre(HasSubstr("/ranks: expected 1 to 100000, found 100001")));
}

TEST(ResultReader, EveryMemberOfAWrongTypeIsAProblemAtItsPlace) {
    const Json good = Json::parse(result::json_report(full()));
    std::vector<Json::json_pointer> all;
    pointers(good, Json::json_pointer(), all);
    EXPECT_GT(all.size(), 250U);
    // One by one: a reader reports only the first of many problems.
    for (const auto& pointer : all) {
        const bool kind = pointer.to_string() == "/schema" || pointer.to_string() == "/version";
        const bool of_rate = pointer.to_string().find("/rate/") != std::string::npos;  // is read as a whole
        if (kind || of_rate) continue;
        Json bad = good;
        bad[pointer] = good[pointer].is_structured() ? Json(true) : Json::array({"x"});
        EXPECT_THAT(problems(bad), Contains(StartsWith("r.json: " + pointer.to_string() + ": expected")));
    }
}

TEST(ResultReader, SaysEveryProblemAtOnce) {
    Json document = Json::parse(result::json_report(full()));
    document["totals"].erase("stalls");
    document["drops"][0]["kind"] = "on_time";
    document["streams"][1]["frames_late"] = -1;
    document["streams"][1]["rate"] = Json::array({24, 0});
    document["seed"] = 1.5;
    document["model"]["cache"] = "tepid";
    document["streams"][1]["series"]["frames_missed"] = Json::array({1});
    EXPECT_THAT(
        problems(document),
        ElementsAre(
            "r.json: /seed: expected an integer from 0 to 18446744073709551615, found 1.5",
            "r.json: /model/cache: expected one of cold, warm, found \"tepid\"",
            "r.json: /totals/stalls: missing, but required",
            HasSubstr("/streams/1/rate: expected a frame rate [num, den] such as [24000, 1001], found [24,0]"),
            "r.json: /streams/1/frames_late: expected an integer from 0 to 18446744073709551615, found -1",
            HasSubstr("/streams/1/series: expected columns of the same length"),
            "r.json: /drops/0/kind: expected one of dropped, late, failed, found \"on_time\""));
}

TEST(ResultReader, APeriodIsATime) {
    Json document = Json::parse(result::json_report(full()));
    document["streams"][1]["rate"] = Json::array({3, INT64_MAX});
    EXPECT_THAT(problems(document), ElementsAre(HasSubstr("/streams/1/rate: expected a frame rate")));
}

TEST(ResultReader, BelievesNoCountsThatCannotBe) {
    Json lies = Json::parse(result::json_report(full()));
    lies["totals"]["frames_scheduled"] = 7;
    lies["streams"][1]["startup_drops"] = UINT64_MAX;
    lies["streams"][1]["series"]["interval_ns"] = INT64_MAX / 4;
    lies["timeline"][0]["interval_ns"] = -1;
    lies["media"]["age_s"] = INT64_MAX / 4;
    EXPECT_THAT(problems(lies),
                ElementsAre(StartsWith("r.json: /totals/frames_scheduled: expected the sum of on time, late, "),
                            StartsWith("r.json: /streams/1/startup_drops: expected at most the "),
                            StartsWith("r.json: /streams/1/series/interval_ns: expected a length of time"),
                            StartsWith("r.json: /timeline/0/interval_ns: expected a length of time"),
                            StartsWith("r.json: /media/age_s: expected 0 to ")));
    lies["streams"][0]["play_start_ns"] = INT64_MIN;
    EXPECT_THAT(problems(lies), ElementsAre(HasSubstr("/streams/0/play_start_ns: expected an integer from -")));
}

TEST(ResultReader, ShowsNoHalfCharacters) {
    Json document = Json::parse(result::json_report(samples::plays()));
    std::string name(58, 'x');
    document["totals"]["wall_ns"] = name + "\u00e9\u00e9";
    EXPECT_THAT(problems(document), ElementsAre(HasSubstr("found \"" + name + "...")));
}

/// As version 1 was before these members were added to it.
TEST(ResultReader, ReadsDocumentsWithoutAddedMembers) {
    Json document = Json::parse(result::json_report(samples::does_not_play()));
    for (const char* key : {"causes", "places", "margin_bins", "mount", "servers", "links", "system", "probes"})
        document.erase(key);
    document["verdict"].erase("detail");
    document["verdict"].erase("next");
    for (Json& stream : document["streams"]) stream.erase("series");
    for (Json& drop : document["drops"]) drop.erase("cause");
    for (Json& entry : document["timeline"]) entry.erase("margin_ns_min");
    const auto result = result::read_result(document.dump(), "r.json");
    ASSERT_TRUE(result) << testing::PrintToString(result.error().problems);
    EXPECT_EQ(result::json_report(*result), result::json_report(samples::does_not_play()));
}

/// Documents that an early 0.1.0 wrote.
TEST(ResultReader, ReadsDocumentsOfEarlierVersions) {
    const std::pair<const char*, RunResult> documents[] = {
        {"earlier_does_not_play.json", samples::does_not_play()},
        {"earlier_interrupted.json", samples::interrupted()},
        {"earlier_modelled.json", samples::modelled()}};
    for (const auto& [name, sample] : documents) {
        const auto result =
            result::read_result(read_whole(std::string(STREAMSIM_SOURCE_DIR) + "/tests/golden/" + name), name);
        ASSERT_TRUE(result) << testing::PrintToString(result.error().problems);
        EXPECT_EQ(result->totals.scheduled, sample.totals.scheduled);
        EXPECT_EQ(result->streams.size(), sample.streams.size());
        EXPECT_EQ(result->drops.size(), sample.drops.size());
        EXPECT_EQ(result->digest, sample.digest);
    }
}

TEST(ResultReader, PassesOverWhatALaterVersionAdds) {
    Json document = Json::parse(result::json_report(samples::plays()));
    document["mood"] = "good";
    document["streams"][0]["mood"] = 3;
    EXPECT_THAT(problems(document), IsEmpty());
}

TEST(ResultReader, SaysWhenItIsAnotherDocument) {
    const auto said = [](const std::string& text) {
        return result::read_result(text, "r.json").error().problems;
    };
    EXPECT_THAT(said(R"({"schema": "streamsim.max", "version": 1})"),
                ElementsAre(HasSubstr("r.json: /schema: this is what streamsim max found, not the result")));
    EXPECT_THAT(said(R"({"schema": "streamsim.comparison", "version": 1})"),
                ElementsAre(HasSubstr("/schema: this is a comparison")));
    EXPECT_THAT(said(R"({"schema": "streamsim.scenario", "version": 1})"),
                ElementsAre("r.json: /schema: expected \"streamsim.result\""));
    EXPECT_THAT(said(R"({"schema": "streamsim.result", "version": 2})"),
                ElementsAre(HasSubstr("r.json: /version: expected an integer from 1 to 1")));
    EXPECT_THAT(said("[]"), ElementsAre("r.json: /: expected an object, found array"));
    EXPECT_THAT(said("{"), ElementsAre(HasSubstr("r.json: byte 2: not JSON")));
}

}  // namespace
}  // namespace streamsim::report
