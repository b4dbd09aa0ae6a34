// The lab itself: what it makes serves, and nothing of it stays, whatever of it died before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <sstream>

#include "real/lab.h"

namespace streamsim::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Finished sh(const std::string& script) {
    Spawn spawn;
    spawn.args = {"-c", script};
    return run("/bin/sh", spawn);
}

/// Namespaces of this process's lab, and files that iproute2 keeps for them.
std::string left_behind() {
    const std::string name = "streamsim-" + std::to_string(getpid());
    return sh("ip netns list | grep " + name + "; ls /etc/netns 2>/dev/null | grep " + name + "; grep " + name +
              " /proc/mounts")
        .out;
}

TEST(Lab, ServesToItsSeatsAndLeavesNothingBehind) {
    {
        const Lab lab({"--seats", "2", "--nodes", "2", "--rate", "1gbit"});
        if (lab.skipped_because()) GTEST_SKIP() << *lab.skipped_because();
        ASSERT_EQ(lab.problem(), "");
        write_text(lab.local("hello"), "from the server");
        Spawn list;
        list.args = {"-s", "/dev/null", "-N", "//nas/public", "-c", "get hello -"};
        EXPECT_THAT(lab.begin("smbclient", list, 1)->wait().out, HasSubstr("from the server"));
        Spawn null_call;
        null_call.args = {"-T", "tcp", "10.77.0.101", "100003", "4"};
        EXPECT_EQ(lab.begin("rpcinfo", null_call)->wait().exit_code, 0);
        lab.kill("nfs");
        EXPECT_NE(lab.begin("rpcinfo", null_call)->wait().exit_code, 0);
        lab.start("nfs");
        EXPECT_EQ(lab.begin("rpcinfo", null_call)->wait().exit_code, 0);
        EXPECT_THAT(left_behind(), Not(IsEmpty()));
    }
    EXPECT_EQ(left_behind(), "");
}

TEST(Lab, GoesAlsoWhenHalfOfItDiedAndPrograms) {
    {
        const Lab lab({"--nfs"});
        if (lab.skipped_because()) GTEST_SKIP() << *lab.skipped_because();
        ASSERT_EQ(lab.problem(), "");
        Spawn forever;
        forever.args = {"1000"};
        const auto process = lab.begin("sleep", forever);
        const std::string server = lab.facts()["server"]["namespace"];
        const std::string seat = lab.facts()["seats"][0]["namespace"];
        sh("kill -9 $(ip netns pids " + server + " | head -1); ip netns del " + seat);
    }
    EXPECT_EQ(left_behind(), "");
}

TEST(Lab, GoesWithItsOwner) {
    const TempDir dir;
    const std::string name = "streamsim-" + std::to_string(getpid());
    Spawn spawn;
    spawn.args = {"-c", std::string(STREAMSIM_SOURCE_DIR) + "/tests/real/lab/lab up --nfs --dir " +
                            dir.path().string() + " --name " + name + " --owner $$; sleep 1000"};
    Process owner("/bin/sh", spawn);
    while (owner.running() && owner.out_so_far().find("}\n") == std::string::npos) {
        if (owner.err_so_far().find("lab: ") != std::string::npos) GTEST_SKIP() << owner.err_so_far();
        sleep_ms(10);
    }
    EXPECT_THAT(left_behind(), HasSubstr(name));
    owner.send(SIGKILL);
    owner.wait();
    for (int i = 0; i < 1000 && !left_behind().empty(); ++i) sleep_ms(10);
    EXPECT_EQ(left_behind(), "");
}

}  // namespace
}  // namespace streamsim::tests
