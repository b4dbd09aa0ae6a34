#include "real/staged_play.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

namespace streamsim::tests {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Json play_staged(std::vector<std::string> options,
                 const std::string& target,
                 const std::function<void(const Process&)>& meanwhile,
                 const Wrapper& wrapper) {
    const TempDir results;
    const std::string json = results / "result.json";
    Spawn spawn;
    std::string program = streamsim_binary();
    if (!wrapper.empty()) {
        spawn.args.assign(wrapper.begin() + 1, wrapper.end());
        spawn.args.push_back(program);
        program = wrapper.front();
    }
    options.insert(options.end(), {"--quiet", "--json", json, target});
    spawn.args.insert(spawn.args.end(), options.begin(), options.end());
    Process process(program, spawn);
    if (meanwhile) meanwhile(process);
    const Finished finished = process.wait();
    EXPECT_TRUE(finished.exit_code == 0 || finished.exit_code == 1) << finished.text();
    Json result = read_json(json);
    EXPECT_THAT(result_problems(result), IsEmpty());
    EXPECT_EQ(finished.exit_code, exit_code_of(result)) << finished.text();
    return result;
}

void stop_for(pid_t pid, std::int64_t after_ms, std::int64_t for_ms) {
    sleep_ms(after_ms);
    kill(pid, SIGSTOP);
    sleep_ms(for_ms);
    kill(pid, SIGCONT);
}

std::vector<std::string> causes_of(const Json& result) {
    std::vector<std::string> causes;
    for (const Json& each : result["causes"]) causes.push_back(each["cause"]);
    return causes;
}

std::string sentences_of(const Json& result) {
    const Json& verdict = result["verdict"];
    return verdict["reason"].get<std::string>() + "\n" + verdict["detail"].get<std::string>();
}

void expect_named(const Json& result,
                  const std::string& limit,
                  const std::string& cause,
                  const std::string& words) {
    const std::string all = result["verdict"].dump(1) + result["causes"].dump(1);
    EXPECT_EQ(result["verdict"]["limit"], limit) << all;
    EXPECT_THAT(sentences_of(result), HasSubstr(words));
    const std::vector<std::string> causes = causes_of(result);
    ASSERT_THAT(causes, ::testing::Not(IsEmpty())) << all;
    EXPECT_EQ(causes.front(), cause) << all;
    if (result["causes"][0]["frames"] == 0) return;  // play stalled instead
    const Json& drops = result["drops"];
    EXPECT_TRUE(
        std::any_of(drops.begin(), drops.end(), [&](const Json& drop) { return drop["cause"] == cause; }));
    for (const Json& drop : drops) EXPECT_THAT(causes, ::testing::Contains(drop["cause"].get<std::string>()));
}

}  // namespace streamsim::tests
