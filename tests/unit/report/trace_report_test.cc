#include "report/trace/trace_report.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/document/json.h"
#include "unit/report/sample_results.h"

namespace streamsim::report {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Json trace(const RunResult& result) {
    std::string out;
    trace_report(result, [&out](std::string_view piece) { out += piece; });
    EXPECT_TRUE(out.starts_with(kTraceBegins));
    return Json::parse(out);
}

/// The events of one kind, in the order of the file.
std::vector<Json> events(const Json& document, const std::string& phase) {
    std::vector<Json> out;
    for (const Json& event : document["traceEvents"]) {
        if (event["ph"] == phase) out.push_back(event);
    }
    return out;
}

FrameRow row(std::uint64_t slot, std::int64_t submitted, std::int64_t completed) {
    FrameRow out;
    out.file = "clip.dpx";
    out.outcome = {.slot = slot, .clip_frame = slot, .bytes = 1000};
    out.outcome.scheduled = out.outcome.submitted = {submitted};
    out.outcome.completed = {completed};
    out.outcome.deadline = {1'000'000};
    return out;
}

RunResult one_stream(std::vector<FrameRow> rows) {
    RunResult out;
    out.streams.emplace_back();
    out.streams[0].clip = "clip1";
    out.frames = std::move(rows);
    return out;
}

TEST(TraceReport, ASliceSaysWhatItsRowSays) {
    RunResult result = one_stream({row(0, -2'500, 1'001)});
    result.streams[0].play_start_ns = 500;
    const Json document = trace(result);
    const auto slices = events(document, "X");
    ASSERT_EQ(slices.size(), 1U);
    EXPECT_EQ(document["otherData"]["offset_ns"], 2000);
    EXPECT_EQ(slices[0]["ts"], 0.0);
    EXPECT_EQ(slices[0]["dur"], 3.501);
    EXPECT_EQ(slices[0]["args"]["submitted_ns"], -2500);
    EXPECT_EQ(slices[0]["args"]["completed_ns"], 1001);
    EXPECT_EQ(slices[0]["args"]["margin_ns"], 998'999);
    EXPECT_FALSE(slices[0]["args"].contains("opened_ns"));
    EXPECT_THAT(events(document, "i"), IsEmpty());
}

TEST(TraceReport, WhatWasNeverReadIsAMarkAndWhatCameLateIsBoth) {
    FrameRow never = row(1, 0, 0);
    never.outcome.kind = FrameKind::dropped;
    never.outcome.reason = DropReason::late;
    never.outcome.submitted = never.outcome.completed = Instant::never();
    FrameRow late = row(2, 900'000, 1'200'000);
    late.outcome.kind = FrameKind::late;
    const Json document = trace(one_stream({never, late}));
    const auto marks = events(document, "i");
    const auto slices = events(document, "X");
    ASSERT_EQ(marks.size(), 2U);
    ASSERT_EQ(slices.size(), 1U);
    EXPECT_EQ(marks[0]["name"], "dropped 1");
    EXPECT_EQ(marks[0]["ts"], 1000.0);
    EXPECT_EQ(marks[1]["name"], "late 2");
    EXPECT_EQ(slices[0]["args"]["frame"], 2);
}

TEST(TraceReport, NothingOverlapsOnATrack) {
    // Two in flight; the third begins when the first ends, a nanosecond short of what a viewer needs.
    const Json document = trace(one_stream({row(0, 0, 5'000), row(1, 0, 7'000), row(2, 5'001, 9'000),
                                            row(3, 7'002, 9'000), row(4, 9'002, 9'002)}));
    std::vector<int> tracks;
    for (const Json& slice : events(document, "X")) tracks.push_back(slice["tid"].get<int>());
    EXPECT_THAT(tracks, ElementsAre(1, 2, 3, 1, 1));
    std::vector<std::string> names;
    for (const Json& meta : events(document, "M")) names.push_back(meta["args"]["name"].get<std::string>());
    EXPECT_THAT(names,
                ElementsAre("seat 0", "stream 0: , clip1", "stream 0: , clip1 (2)", "stream 0: , clip1 (3)"));
}

TEST(TraceReport, WhatTookNoTimeLiesOnOneTrack) {
    const Json document = trace(one_stream({row(0, 10, 10), row(1, 10, 10), row(2, 10, 10)}));
    for (const Json& slice : events(document, "X")) EXPECT_EQ(slice["tid"], 1);
}

TEST(TraceReport, StreamsAreToldApart) {
    RunResult result = samples::seats_and_stalls();
    for (const StreamResult& stream : result.streams) {
        for (std::uint64_t slot = 0; slot < 3; ++slot) {
            FrameRow each = row(slot, 0, 10);
            each.seat = stream.seat;
            each.stream = stream.stream;
            result.frames.push_back(each);
        }
    }
    std::map<std::pair<int, int>, std::pair<int, int>> stream_of_track;
    for (const Json& slice : events(trace(result), "X")) {
        const std::pair track(slice["pid"].get<int>(), slice["tid"].get<int>());
        const std::pair stream(slice["args"]["seat"].get<int>(), slice["args"]["stream"].get<int>());
        EXPECT_EQ(track.first, stream.first + 1);
        EXPECT_EQ(stream_of_track.try_emplace(track, stream).first->second, stream);
    }
    EXPECT_EQ(stream_of_track.size(), 12U);
}

TEST(TraceReport, CountsWhatTheTimeLineSays) {
    RunResult result = samples::plays();
    result.timeline[0].t_ns = -400'000'000;
    result.streams[0].series = {500'000'000, {{{}, 7, 0}, {{}, {}, 0}, {{}, 3, 0}}};
    const auto counters = events(trace(result), "C");
    ASSERT_EQ(counters.size(), 2U + 2 * 2 + 1);
    EXPECT_EQ(counters[0]["args"]["frames"], 7);
    EXPECT_EQ(counters[1]["ts"], 1'400'000.0);
    EXPECT_EQ(counters[2]["name"], "read");
    EXPECT_EQ(counters[2]["ts"], 0.0);
    EXPECT_EQ(counters[2]["args"]["bytes_per_s"], result.timeline[0].bytes);
    EXPECT_EQ(counters[3]["name"], "required");
}

TEST(TraceReport, CountsWhatIsRequiredAtEachTime) {
    RunResult result = samples::plays();
    result.timeline.resize(4, result.timeline[0]);
    for (std::int64_t i = 0; i < 4; ++i)
        result.timeline[static_cast<std::size_t>(i)].t_ns = (i - 1) * 1'000'000'000;
    result.required_rates = {{0, 120e6}, {1'000'000'000, 240e6}, {2'000'000'000, 0}};
    const auto required = [&result] {
        std::vector<double> out;
        for (const Json& counter : events(trace(result), "C")) {
            if (counter["name"] == "required") out.push_back(counter["args"]["bytes_per_s"].get<double>());
        }
        return out;
    };
    EXPECT_THAT(required(), ElementsAre(0, 120e6, 240e6, 0));
    result.required_rates.clear();
    const double most = result.required_bytes_per_s;
    EXPECT_THAT(required(), ElementsAre(0, most, most, most));
    for (StreamResult& stream : result.streams) stream.records = true;
    EXPECT_EQ(events(trace(result), "C")[0]["name"], "recorded");
}

TEST(TraceReport, StaysJsonWhateverTheNames) {
    for (RunResult result : {samples::hostile(), samples::interrupted(), RunResult{}}) {
        if (!result.streams.empty()) result.frames = {row(0, 0, 1)};
        for (FrameRow& each : result.frames) each.file = "a \"b\"\n\xff";
        const Json document = trace(result);
        EXPECT_EQ(events(document, "X").size(), result.frames.size());
    }
}

}  // namespace
}  // namespace streamsim::report
