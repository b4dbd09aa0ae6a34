// Known truth, in real time: a file system that delays chosen reads by known times, a predictor that works out
// from the delays which slots must be missed, and streamsim, which must say the same, slot by slot. The
// processes of one policy play at the same time. A disagreement is forgiven only where the prediction is nearer
// to the edge than the scheduling noise that was measured in that very run, and is listed. A run with more
// noise than the plans keep away from every edge proves nothing where it disagrees, and one in which much must
// be forgiven proves nothing either: they are repeated with other delays, and fail in the end.
#include <gtest/gtest.h>

#include <cstdio>

#include "cli/harness.h"
#include "real/slow_mount.h"
#include "real/truth_plan.h"

namespace predictor {
void PrintTo(const Policy& policy, std::ostream* os) {  // NOLINT: the name is GoogleTest's
    *os << streamsim::tests::to_option(policy);
}
}  // namespace predictor

namespace streamsim::tests {
namespace {

using predictor::Policy;

constexpr std::uint64_t kSlots = 192;  // 8 s at 24 fps
constexpr std::size_t kStreams = 2;
constexpr std::int64_t kClearanceNs = 8 * kMs;
constexpr int kAttempts = 3;

std::vector<Job> jobs_of(Policy policy, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<Job> jobs;
    for (const std::uint64_t readahead : {1U, 2U, 4U, 8U}) {
        for (const std::uint64_t inflight : {1U, 2U}) {
            if (inflight > readahead) continue;
            Job job;
            job.policy = policy;
            job.readahead = readahead;
            job.inflight = inflight;
            job.direct = jobs.size() % 2 == 0;
            job.name = std::string(to_option(policy)) + "-readahead" + std::to_string(readahead) + "-inflight" +
                       std::to_string(inflight) + (job.direct ? "-direct" : "-buffered");
            for (std::size_t i = 0; i < kStreams; i++) {
                const std::string clip = job.name + "/clip" + std::to_string(i);
                job.streams.push_back(make_plan(job, clip, kSlots, kClearanceNs, random));
            }
            jobs.push_back(job);
        }
    }
    return jobs;
}

std::string rules_of(const std::vector<Job>& jobs) {
    std::string rules;
    for (const Job& job : jobs) {
        for (const StreamPlan& plan : job.streams) rules += plan.rules();
    }
    return rules;
}

// Plays all jobs at once.
std::vector<Json> play(const SlowMount& mount, const TempDir& results, const std::vector<Job>& jobs) {
    std::vector<std::unique_ptr<Process>> processes;
    for (const Job& job : jobs) {
        Spawn spawn;
        spawn.args = job.options();
        spawn.args.insert(spawn.args.end(),
                          {"--no-probes", "--json", results / (job.name + ".json"), mount / job.name});
        processes.push_back(std::make_unique<Process>(streamsim_binary(), spawn));
    }
    std::vector<Json> documents;
    for (std::size_t i = 0; i < jobs.size(); i++) {
        const Finished finished = processes[i]->wait();
        EXPECT_TRUE(finished.exit_code == 0 || finished.exit_code == 1)
            << jobs[i].name << ": " << finished.text();
        const Json result = read_json(results / (jobs[i].name + ".json"));
        EXPECT_EQ(result_problems(result), std::vector<std::string>{}) << jobs[i].name;
        EXPECT_EQ(finished.exit_code, exit_code_of(result)) << jobs[i].name;
        EXPECT_EQ(result["drops_omitted"], 0) << jobs[i].name;
        documents.push_back(result);
    }
    return documents;
}

void say(const std::string& line) {
    std::printf("  %s\n", line.c_str());
}

// True when the run says enough to count.
bool is_telling(const Comparison& all) {
    return all.missed_predicted > 0 && all.missed_agreed * 100 >= all.missed_predicted * 95;
}

Comparison play_and_compare(Policy policy, std::uint64_t seed) {
    const std::vector<Job> jobs = jobs_of(policy, seed);
    const TempDir results;
    const SlowMount mount(rules_of(jobs));
    const std::vector<Json> documents = play(mount, results, jobs);
    const std::vector<SlowOperation> log = mount.log();
    Comparison all;
    for (std::size_t i = 0; i < jobs.size(); i++) {
        for (std::size_t stream = 0; stream < kStreams; stream++) {
            all.add(compare(jobs[i], stream, documents[i], log));
        }
    }
    say(std::string(to_option(policy)) + ": " + std::to_string(all.judged) + " slots, predicted to miss " +
        std::to_string(all.missed_predicted) + ", seen " + std::to_string(all.missed_agreed) +
        "; noise at most " + std::to_string(all.noise_ns) + " ns; " + std::to_string(all.inside_noise.size()) +
        " inside the noise");
    for (const std::string& text : all.inside_noise) say("inside the noise: " + text);
    return all;
}

class Truth : public ::testing::TestWithParam<Policy> {
    void SetUp() override {
        if (const auto reason = no_slowfs_because()) GTEST_SKIP() << *reason;
    }
};

TEST_P(Truth, TheDropTableIsWhatArithmeticSays) {
    for (int attempt = 1;; attempt++) {
        const std::uint64_t seed = 20'240'000 + static_cast<std::uint64_t>(attempt);
        SCOPED_TRACE("seed " + std::to_string(seed));
        const Comparison all = play_and_compare(GetParam(), seed);
        EXPECT_GE(all.judged, 2000U);
        EXPECT_GE(all.missed_predicted, 50U);
        const bool noisy = all.noise_ns >= kClearanceNs && attempt < kAttempts;
        for (const std::string& text : all.wrong) {
            if (noisy) {
                say("repeated because of the noise: " + text);
            } else {
                ADD_FAILURE() << text;
            }
        }
        if (HasFailure() || (all.wrong.empty() && is_telling(all))) break;
        ASSERT_LT(attempt, kAttempts) << "this machine is too noisy to tell: only " << all.missed_agreed
                                      << " of " << all.missed_predicted << " could be confirmed";
    }
}

INSTANTIATE_TEST_SUITE_P(Policies,
                         Truth,
                         ::testing::Values(Policy::drop, Policy::skip, Policy::hold, Policy::stall),
                         [](const auto& policy) { return std::string(to_option(policy.param)); });

class Stall : public ::testing::Test {
    void SetUp() override {
        if (const auto reason = no_slowfs_because()) GTEST_SKIP() << *reason;
    }
};

Job one_stream(Policy policy, std::uint64_t slots, std::uint64_t slow_slot, std::int64_t delay_ns) {
    Job job;
    job.name = "stall";
    job.policy = policy;
    StreamPlan plan;
    plan.clip = "stall/clip";
    plan.slots = slots;
    plan.delay_ns[slow_slot] = delay_ns;
    job.streams.push_back(plan);
    return job;
}

TEST_F(Stall, HalfASecondAtReadAheadOneCostsTwelveSlotsAndNoMore) {
    const std::vector<Job> jobs{one_stream(Policy::drop, 96, 48, 500 * kMs)};
    const TempDir results;
    const SlowMount mount(rules_of(jobs));
    const Json result = play(mount, results, jobs).front();
    const std::int64_t lateness_ns = result["client"]["loop_lateness_ns"]["max"];
    if (lateness_ns > 30 * kMs)
        GTEST_SKIP() << "the timer lateness of this machine was " << lateness_ns << " ns";
    std::vector<std::uint64_t> dropped;
    for (const Json& drop : result["drops"]) dropped.push_back(drop["frame"]);
    ASSERT_FALSE(dropped.empty());
    EXPECT_EQ(dropped.front(), 48U);
    EXPECT_EQ(dropped.back(), 48 + dropped.size() - 1) << "not one run";
    EXPECT_TRUE(dropped.size() == 12 || dropped.size() == 11) << dropped.size();
    EXPECT_EQ(result["streams"][0]["longest_drop_run"], dropped.size());
    EXPECT_EQ(result["totals"]["frames_on_time"], 96 - dropped.size());
    EXPECT_EQ(result["totals"]["startup_drops"], 0);
    EXPECT_EQ(result["verdict"]["limit"], "storage");
    EXPECT_FALSE(result["drops"][0]["completed_ns"].is_null());  // it came, too late
    EXPECT_TRUE(result["drops"][1]["completed_ns"].is_null());   // the next was never read
    EXPECT_GE(result["streams"][0]["service_ns"]["max"].get<std::int64_t>(), 500 * kMs);
}

TEST_F(Stall, PlayingEveryFrameDropsNothingAndCountsTheStop) {
    const std::vector<Job> jobs{one_stream(Policy::stall, 72, 36, 500 * kMs)};
    const TempDir results;
    const SlowMount mount(rules_of(jobs));
    const Json result = play(mount, results, jobs).front();
    const Comparison comparison = compare(jobs.front(), 0, result, mount.log());
    for (const std::string& text : comparison.wrong) ADD_FAILURE() << text;
    EXPECT_EQ(result["totals"]["frames_dropped"], 0);
    EXPECT_EQ(result["totals"]["frames_on_time"], 72);
    EXPECT_EQ(result["totals"]["stalls"], 1);
    EXPECT_FALSE(result["verdict"]["pass"]);
}

}  // namespace
}  // namespace streamsim::tests
