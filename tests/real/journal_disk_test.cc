// A journal on storage that does not answer any more: the result goes where it can go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "real/sink_mount.h"
#include "real/slow_mount.h"

namespace streamsim::tests {
namespace {

TEST(JournalOnADisk, ThatDoesNotAnswerTakesNoResultWithIt) {
    if (const auto reason = no_slowfs_because()) GTEST_SKIP() << *reason;
    const SinkMount mount("");
    const TempDir results;
    Spawn spawn;
    spawn.args = {"--quiet", "--prores-hd",           "--duration", "60s", "--journal", mount.path(),
                  "--json",  results / "result.json", "null:"};
    Process process(streamsim_binary(), spawn);
    while (process.running() && std::filesystem::is_empty(mount.path())) sleep_ms(5);
    sleep_ms(2500);
    mount.hang();
    sleep_ms(1500);  // the journal is written each second
    ASSERT_TRUE(process.running());
    process.send(SIGINT);
    const Finished done = process.wait();
    EXPECT_EQ(done.exit_code, 130) << done.text();
    EXPECT_THAT(done.err, ::testing::HasSubstr("the journal cannot be written: its disk does not answer"));
    const Json result = read_json(results / "result.json");
    EXPECT_EQ(result["interrupted"], true);
    EXPECT_GT(result["totals"]["frames_on_time"], 24);
    EXPECT_THAT(result["notices"].dump(), ::testing::HasSubstr("its disk does not answer"));
}

}  // namespace
}  // namespace streamsim::tests
