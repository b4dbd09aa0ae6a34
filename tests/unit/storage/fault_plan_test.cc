#include "storage/fault/fault_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace streamsim::storage {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

Result<FaultPlan> read(const std::string& members) {
    return read_fault_plan(R"({"schema": "streamsim.faults", "version": 1)" + members + "}", "plan.json");
}

TEST(FaultPlan, ReadsEveryMember) {
    const auto plan = read(R"(, "description": "x", "stalls": [{"at": "2s", "for": "500ms"}], "rules": [
        {"file": "a*", "seat": 1, "stream": 2, "slots": {"first": 3, "last": 9, "every": 2},
         "clip_frames": {"last": 5}, "operation": "open", "probability": 0.5, "delay": "4ms", "error": "EIO"},
        {"short": 4096}, {"short": "4KiB", "missing": false}, {"missing": true},
        {"operation": "write", "error": "ENOSPC"}, {"operation": "sync", "error": "EIO"}])");
    ASSERT_TRUE(plan) << testing::PrintToString(plan.error().problems);
    ASSERT_THAT(plan->rules, SizeIs(6));
    const FaultRule& rule = plan->rules[0];
    EXPECT_EQ(rule.file, "a*");
    EXPECT_EQ(rule.seat, 1u);
    EXPECT_EQ(rule.stream, 2u);
    EXPECT_EQ(rule.slots.first, 3u);
    EXPECT_TRUE(rule.slots.contains(9));
    EXPECT_FALSE(rule.slots.contains(4));
    EXPECT_EQ(rule.clip_frames.last, 5u);
    EXPECT_EQ(rule.operation, FaultRule::Operation::open);
    EXPECT_EQ(rule.probability, 0.5);
    EXPECT_EQ(rule.delay, milliseconds(4));
    EXPECT_EQ(rule.error, EIO);
    EXPECT_EQ(plan->rules[1].short_bytes, 4096u);
    EXPECT_EQ(plan->rules[2].short_bytes, 4096u);
    EXPECT_TRUE(plan->rules[3].missing);
    EXPECT_EQ(plan->rules[3].operation, FaultRule::Operation::any);
    EXPECT_EQ(plan->rules[4].operation, FaultRule::Operation::write);
    EXPECT_EQ(plan->rules[5].operation, FaultRule::Operation::sync);
    ASSERT_THAT(plan->stalls, SizeIs(1));
    EXPECT_EQ(plan->stalls[0].at, seconds(2));
}

TEST(FaultPlan, AnEmptyPlanIsAPlan) {
    const auto plan = read("");
    ASSERT_TRUE(plan);
    EXPECT_TRUE(plan->rules.empty());
}

TEST(FaultPlan, ReportsEveryProblemWithItsPlace) {
    const auto plan = read(R"(, "rules": [{"delay": "500"}, {"error": "EWHAT", "sluts": {}}, {"file": "x"},
        {"slots": {"first": 5, "last": 4, "step": 1}, "missing": true, "error": "EIO"}, 7,
        {"probability": 1.5, "short": -1}], "stalls": [{"at": "1s", "for": "0"}, {}], "stall": []})");
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().kind, ErrorKind::bad_input);
    EXPECT_THAT(plan.error().problems, Contains(HasSubstr("not JSON"))) << "one brace too many";
    const auto again = read(R"(, "rules": [{"delay": "500"}, {"error": "EWHAT", "sluts": {}}, {"file": "x"},
        {"slots": {"first": 5, "last": 4, "step": 1}, "missing": true, "error": "EIO"}, 7,
        {"probability": 1.5, "short": -1}], "stalls": [{"at": "1s", "for": "0"}, {}], "stall": [])");
    ASSERT_FALSE(again);
    const auto& problems = again.error().problems;
    for (const char* place :
         {"/rules/0/delay", "/rules/1/error", "/rules/1/sluts", "/rules/2:", "/rules/3/slots/last",
          "/rules/3/slots/step", "/rules/3/missing", "/rules/4:", "/rules/5/probability", "/rules/5/short",
          "/stalls/0/for", "/stalls/1/at", "/stalls/1/for", "/stall:"}) {
        EXPECT_THAT(problems, Contains(AllOf(HasSubstr("plan.json: "), HasSubstr(place)))) << place;
    }
    EXPECT_THAT(problems, SizeIs(14));
}

TEST(FaultPlan, RefusesTimesAboveAYear) {
    EXPECT_TRUE(read(R"(, "rules": [{"delay": "8760h"}], "stalls": [{"at": "8760h", "for": "8760h"}])"));
    const auto plan =
        read(R"(, "rules": [{"delay": "8761h"}], "stalls": [{"at": "8761h", "for": "2560000h"}])");
    ASSERT_FALSE(plan);
    EXPECT_THAT(plan.error().problems,
                ElementsAre("plan.json: /rules/0/delay: expected at most a year (8760h)",
                            "plan.json: /stalls/0/at: expected at most a year (8760h)",
                            "plan.json: /stalls/0/for: expected at most a year (8760h)"));
}

TEST(FaultPlan, WantsItsSchema) {
    EXPECT_FALSE(read_fault_plan(R"({"schema": "streamsim.media", "version": 1})", "x"));
    EXPECT_FALSE(read_fault_plan(R"({"schema": "streamsim.faults", "version": 2})", "x"));
    EXPECT_FALSE(read_fault_plan(R"({"rules": []})", "x"));
}

TEST(FaultPlan, StallsThatOverlapBecomeOne) {
    const auto plan = read(R"(, "stalls": [{"at": "5s", "for": "1s"}, {"at": "1s", "for": "2s"},
        {"at": "2s", "for": "500ms"}, {"at": "3s", "for": "1s"}])");
    ASSERT_TRUE(plan);
    ASSERT_THAT(plan->stalls, SizeIs(2));
    EXPECT_EQ(plan->stalls[0].at, seconds(1));
    EXPECT_EQ(plan->stalls[0].length, seconds(3));
    EXPECT_EQ(plan->stalls[1].at, seconds(5));
}

TEST(FaultPlan, TheExamplesAreValid) {
    std::size_t count = 0;
    for (const auto& file : std::filesystem::directory_iterator(STREAMSIM_SOURCE_DIR "/formats/faults")) {
        std::ostringstream text;
        text << std::ifstream(file.path()).rdbuf();
        const auto plan = read_fault_plan(text.str(), file.path());
        EXPECT_TRUE(plan) << testing::PrintToString(plan.error().problems);
        ++count;
    }
    EXPECT_GE(count, 4u);
}

TEST(Glob, MatchesAsAShellDoes) {
    EXPECT_TRUE(glob_matches("*", ""));
    EXPECT_TRUE(glob_matches("*.dpx", "shot.0001.dpx"));
    EXPECT_TRUE(glob_matches("shot.??0?.*", "shot.0001.dpx"));
    EXPECT_TRUE(glob_matches("*a*ab", "caaab"));
    EXPECT_TRUE(glob_matches("**", "x"));
    EXPECT_FALSE(glob_matches("*.dpx", "shot.dpx.tmp"));
    EXPECT_FALSE(glob_matches("?", ""));
    EXPECT_FALSE(glob_matches("a", "aa"));
    EXPECT_FALSE(glob_matches("", "a"));
}

}  // namespace
}  // namespace streamsim::storage
