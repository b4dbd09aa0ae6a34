#include <gmock/gmock.h>

#include "judge/run_verdicts.h"

namespace streamsim::judge {
namespace {

using ::testing::HasSubstr;

MeterResult meter(const char* name, std::uint64_t done, std::uint64_t unfinished) {
    MeterResult out;
    out.name = name;
    out.all.done = done;
    out.unfinished = unfinished;
    return out;
}

Verdict verdict_on(std::vector<MeterResult> meters, bool beside_streams = false, bool interrupted = false) {
    RunResult result;
    result.meters = std::move(meters);
    result.interrupted = interrupted;
    if (beside_streams) result.streams.resize(1);
    result.verdict = {true, "0 of 48 frames were dropped", Limit::none};
    judge_meters(result);
    return result.verdict;
}

TEST(MeterResults, PassWhereAllOfThemHadAnswers) {
    const Verdict verdict = verdict_on({meter("a", 1000, 4), meter("b", 1, 0)});
    EXPECT_TRUE(verdict.pass);
    EXPECT_THAT(verdict.reason, HasSubstr("1,001 operations; none failed"));
    EXPECT_EQ(verdict_on({meter("a", 1, 0)}, true).reason, "0 of 48 frames were dropped");
}

TEST(MeterResults, NothingDoneIsNothingToJudge) {
    const Verdict nothing = verdict_on({meter("a", 0, 0)});
    EXPECT_FALSE(nothing.pass);
    EXPECT_EQ(nothing.limit, Limit::unknown);
    EXPECT_TRUE(verdict_on({meter("a", 0, 0)}, true).pass);  // it was not its turn
}

TEST(MeterResults, OneWithoutAnyAnswerFails) {
    for (const bool beside_streams : {false, true}) {
        const Verdict verdict = verdict_on({meter("a", 1000, 0), meter("b", 0, 3)}, beside_streams);
        EXPECT_FALSE(verdict.pass);
        EXPECT_EQ(verdict.limit, Limit::storage);
        EXPECT_THAT(verdict.reason, HasSubstr("meter b had no answer to any of its 3 operations"));
    }
    EXPECT_TRUE(
        verdict_on({meter("a", 1000, 0), meter("b", 0, 3)}, false, true).pass);  // it was not given the time
}

TEST(MeterResults, BlocksOfALongTransferAreAnswers) {
    MeterResult copying = meter("a", 0, 1);
    copying.blocks_done = 70;
    const Verdict verdict = verdict_on({copying});
    EXPECT_TRUE(verdict.pass);
    EXPECT_THAT(verdict.reason, HasSubstr("70 blocks"));
}

TEST(MeterResults, FailedOperationsFailTheVerdictAndAreNamed) {
    MeterResult full = meter("a", 90, 0);
    full.all.failed = 10;
    full.errors.push_back({LoadOperation::write, ENOSPC, 10, "/mnt/a/file"});
    EXPECT_EQ(verdict_on({full}).reason,
              "10 of 100 operations of the meters failed, the first with ENOSPC (write) on /mnt/a/file");
    EXPECT_THAT(verdict_on({full}, true).reason, HasSubstr("the streams played, but 10 of 100"));
}

}  // namespace
}  // namespace streamsim::judge
