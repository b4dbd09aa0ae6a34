// Can the truth tests fail? A result made from the prediction itself agrees with it; every lie told about one
// slot is found. And are their plans worth playing?
#include "real/truth_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace streamsim::tests {
namespace {

using predictor::Kind;
using predictor::Policy;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::int64_t kService = 400'000;
constexpr std::int64_t kNoise = 1 * kMs;

Job job_of(Policy policy, std::uint64_t readahead, std::uint64_t inflight) {
    std::mt19937_64 random(7);
    Job job;
    job.name = "job";
    job.policy = policy;
    job.readahead = readahead;
    job.inflight = inflight;
    job.streams.push_back(make_plan(job, "job/clip", 192, 8 * kMs, random));
    return job;
}

// The result that streamsim would give if it agreed.
Json honest_result(const Job& job) {
    const predictor::Prediction prediction = predict(job, job.streams[0], kService);
    Json drops = Json::array();
    for (std::size_t i = 0; i < prediction.slots.size(); i++) {
        const predictor::Slot& slot = prediction.slots[i];
        if (slot.kind == Kind::on_time) continue;
        Json drop{{"stream", 0},
                  {"frame", i},
                  {"kind", predictor::to_string(slot.kind)},
                  {"reason", "late"},
                  {"due_ns", slot.deadline_ns - prediction.play_start_ns},
                  {"completed_ns", nullptr}};
        if (slot.completed_ns) drop["completed_ns"] = *slot.completed_ns - prediction.play_start_ns;
        drops.push_back(drop);
    }
    const Json stream{
        {"service_ns", {{"p50", kService}}}, {"stalls", prediction.stalls}, {"stall_ns", prediction.stall_ns}};
    return {{"streams", Json::array({stream})},
            {"drops", drops},
            {"client", {{"loop_lateness_ns", {{"max", kNoise}}}}}};
}

Comparison with_lie(const Job& job, const std::function<void(Json&)>& lie) {
    Json result = honest_result(job);
    lie(result);
    return compare(job, 0, result, {});
}

TEST(TruthPlan, AnHonestResultAgrees) {
    for (const Policy policy : {Policy::drop, Policy::skip, Policy::hold, Policy::stall}) {
        const Comparison comparison = with_lie(job_of(policy, 2, 1), [](Json&) {});
        EXPECT_THAT(comparison.wrong, IsEmpty());
        EXPECT_THAT(comparison.inside_noise, IsEmpty());
        EXPECT_EQ(comparison.judged, 192U);
        EXPECT_EQ(comparison.missed_agreed, comparison.missed_predicted);
        EXPECT_GT(comparison.missed_predicted, 2U);
    }
}

TEST(TruthPlan, EveryLieIsFound) {
    const Job job = job_of(Policy::drop, 2, 1);
    const std::vector<std::function<void(Json&)>> lies{
        [](Json& result) { result["drops"].erase(0); },
        [](Json& result) {
            result["drops"].push_back(result["drops"][0]), result["drops"].back()["frame"] = 0;
        },
        [](Json& result) { result["drops"][0]["kind"] = "late"; },
        [](Json& result) { result["drops"][0]["reason"] = "client"; },
        [](Json& result) { result["drops"][0]["completed_ns"] = nullptr; },
        [](Json& result) {
            result["drops"][0]["due_ns"] = result["drops"][0]["due_ns"].get<std::int64_t>() + 1;
        },
        [](Json& result) {
            result["drops"][0]["completed_ns"] =
                result["drops"][0]["completed_ns"].get<std::int64_t>() + 25 * kMs;
        },
        [](Json& result) { result["streams"][0]["stalls"] = 1; },
    };
    for (std::size_t i = 0; i < lies.size(); i++) EXPECT_THAT(with_lie(job, lies[i]).wrong, SizeIs(1)) << i;
    const Job stall = job_of(Policy::stall, 2, 1);
    EXPECT_THAT(with_lie(stall, [](Json& result) { result["streams"][0]["stalls"] = 1; }).wrong, SizeIs(1));
    EXPECT_THAT(with_lie(stall, [](Json& result) { result["streams"][0]["stall_ns"] = 1; }).wrong, SizeIs(1));
}

TEST(TruthPlan, OnlyTheNoiseForgives) {
    const Job job = job_of(Policy::drop, 2, 1);
    const Comparison comparison = with_lie(job, [](Json& result) {
        result["drops"].erase(0);
        result["client"]["loop_lateness_ns"]["max"] = 10'000 * kMs;
    });
    EXPECT_THAT(comparison.wrong, IsEmpty());
    EXPECT_THAT(comparison.inside_noise, SizeIs(1));
    EXPECT_EQ(comparison.missed_agreed + 1, comparison.missed_predicted);
}

TEST(TruthPlan, PlansHaveHitsAndMissesAtEveryReadAhead) {
    for (const Policy policy : {Policy::drop, Policy::skip, Policy::hold, Policy::stall}) {
        for (const std::uint64_t readahead : {1U, 2U, 4U, 8U}) {
            for (const std::uint64_t inflight : {1U, 2U}) {
                const Job job = job_of(policy, readahead, inflight);
                const predictor::Prediction prediction = predict(job, job.streams[0], kService);
                const std::string name = std::string(to_option(policy)) + " " + std::to_string(readahead) +
                                         " " + std::to_string(inflight);
                EXPECT_GE(job.streams[0].delay_ns.size(), 5U) << name;
                EXPECT_GE(prediction.missed().size() + prediction.stalls, 3U) << name;
                EXPECT_GE(prediction.count(Kind::on_time), 60U) << name;
            }
        }
    }
}

}  // namespace
}  // namespace streamsim::tests
