// "before_step" of scenarios and workloads: both forms are read, mistakes have their places, and a command that
// would be shown as another one is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario_document.h"
#include "scenario/workload_document.h"
#include "unit/scenario/words.h"

namespace streamsim::scenario {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// `value`: JSON.
std::string scenario_with(const std::string& value) {
    return R"({"schema": "streamsim.scenario", "version": 1, "duration": "60s", "before_step": )" + value +
           R"(, "seats": [{"target": "/mnt/x", "streams": [{"format": "dpx10"}]}]})";
}
std::string workload_with(const std::string& value) {
    return R"({"schema": "streamsim.workload", "version": 1, "name": "w", "before_step": )" + value +
           R"(, "meters": [{"name": "m", "operations": {"read": 1}, "blocks": "4KiB",
                            "files": {"bytes": "1MiB"}}]})";
}

StepCommands commands_of(const std::string& value) {
    const auto scenario = read_scenario(scenario_with(value), "day.json", test::words());
    EXPECT_TRUE(scenario) << testing::PrintToString(scenario.error().problems);
    const auto workload = read_workload(workload_with(value), "w.json");
    EXPECT_TRUE(workload) << testing::PrintToString(workload.error().problems);
    EXPECT_EQ(scenario->before_step.command, workload->before_step.command);
    EXPECT_EQ(scenario->before_step.counters, workload->before_step.counters);
    return scenario->before_step;
}

std::vector<std::string> problems_of(const std::string& value) {
    const auto scenario = read_scenario(scenario_with(value), "day.json", test::words());
    return scenario ? std::vector<std::string>() : scenario.error().problems;
}

TEST(BeforeStepDocument, TextIsTheCommandAlone) {
    const StepCommands commands = commands_of(R"("sync; flush 'a b'")");
    EXPECT_EQ(commands.command, "sync; flush 'a b'");
    EXPECT_EQ(commands.counters, "");
    EXPECT_EQ(commands.timeout, seconds(60));
    EXPECT_TRUE(commands.as_text);
}

TEST(BeforeStepDocument, EveryMemberIsRead) {
    const StepCommands commands =
        commands_of(R"({"command": "flush\n\tall", "counters": "count", "timeout": "5m"})");
    EXPECT_EQ(commands.command, "flush\n\tall");
    EXPECT_EQ(commands.counters, "count");
    EXPECT_EQ(commands.timeout, seconds(300));
    EXPECT_FALSE(commands.as_text);
    EXPECT_EQ(commands_of(R"({"counters": "count"})").counters, "count");
}

TEST(BeforeStepDocument, WithoutItThereIsNone) {
    const auto scenario = read_scenario(
        R"({"schema": "streamsim.scenario", "version": 1, "duration": "60s",
            "seats": [{"target": "/mnt/x", "streams": [{"format": "dpx10"}]}]})",
        "day.json", test::words());
    ASSERT_TRUE(scenario);
    EXPECT_TRUE(scenario->before_step.empty());
}

TEST(BeforeStepDocument, MistakesHaveTheirPlaces) {
    EXPECT_THAT(problems_of("7"),
                ElementsAre(StartsWith("day.json: /before_step: expected a command as a text")));
    EXPECT_THAT(problems_of(R"("")"), ElementsAre(StartsWith("day.json: /before_step: expected a text")));
    EXPECT_THAT(problems_of("{}"), ElementsAre(StartsWith("day.json: /before_step/command: missing")));
    EXPECT_THAT(problems_of(R"({"command": "x", "timeout": "0"})"),
                ElementsAre(StartsWith("day.json: /before_step/timeout: expected more than no time")));
    EXPECT_THAT(problems_of(R"({"command": "x", "shell": "zsh"})"),
                ElementsAre(HasSubstr("/before_step/shell: unknown key")));
}

TEST(BeforeStepDocument, CommandThatIsShownAsAnotherIsRefused) {
    // A zero byte would end the command earlier than the message that shows it; the others hide or turn text.
    for (const char* hidden : {R"(a\u0000b)", R"(a\u001b[2Kb)", R"(a\u202eb)", R"(a\u200bb)", R"(a\rb)"}) {
        EXPECT_THAT(problems_of("\"" + std::string(hidden) + "\""),
                    ElementsAre(HasSubstr("/before_step: expected a command without control characters")))
            << hidden;
    }
    EXPECT_THAT(problems_of("\"" + std::string(4097, 'x') + "\""),
                ElementsAre(HasSubstr("expected at most 4096 bytes")));
}

}  // namespace
}  // namespace streamsim::scenario
