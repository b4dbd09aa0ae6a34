// Interfaces as /proc and /sys tell them, as files.
#include "host/links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace streamsim::host {
namespace {

using testing::ElementsAre;

class LinksTest : public testing::Test {
protected:
    LinksTest() { EXPECT_NE(mkdtemp(root_.data()), nullptr); }
    ~LinksTest() override { std::filesystem::remove_all(root_); }

    /// An interface that has received 1,000 bytes and sent 2,000, and what /sys shows of it.
    void add(const std::string& name, const std::vector<std::string>& entries = {}) {
        const std::filesystem::path interface = root_ + "/sys/class/net/" + name;
        for (const std::string& each : entries) std::filesystem::create_directories(interface / each);
        std::filesystem::create_directories(interface);
        std::ofstream(interface / "speed") << "10000\n";
        std::filesystem::create_directories(root_ + "/proc/thread-self/net");
        std::ofstream(root_ + "/proc/thread-self/net/dev", std::ios::app)
            << "  " << name << ":    1000  7 0 0 0 0 0 0 2000 9 0 0 0 0 0 0\n";
    }
    std::vector<std::string> names(const std::set<std::string>& only = {}, bool own_namespace = true) {
        SystemSample sample;
        Links(root_).read(own_namespace, only, sample);
        std::vector<std::string> out;
        for (const SystemSample::Link& each : sample.links) out.push_back(each.name);
        return out;
    }

    std::string root_ = testing::TempDir() + "streamsim-links-XXXXXX";
};

TEST_F(LinksTest, CountEachByteOnce) {
    add("lo");
    add("eth0", {"bonding_slave"});
    add("eth1", {"bonding_slave"});
    add("bond0", {"bonding", "lower_eth0", "lower_eth1"});
    add("bond0.100", {"lower_bond0"});
    add("br0", {"bridge", "lower_bond0.100"});
    add("eth2");
    EXPECT_THAT(names(), ElementsAre("bond0", "eth2"));
    EXPECT_THAT(names({"lo", "br0"}), ElementsAre("lo", "br0")) << "those that are asked for";
    EXPECT_THAT(names({}, false), ElementsAre("eth0", "eth1", "bond0", "bond0.100", "br0", "eth2"))
        << "/sys tells nothing of another namespace";
}

TEST_F(LinksTest, OfAComputerWithoutANetworkIsTheLoopback) {
    add("lo");
    EXPECT_THAT(names(), ElementsAre("lo"));
}

TEST_F(LinksTest, SayWhatTheyReceivedAndSentAndTheirSpeed) {
    add("eth0");
    SystemSample sample;
    Links(root_).read(true, {}, sample);
    ASSERT_EQ(sample.links.size(), 1u);
    EXPECT_EQ(sample.links[0].received_bytes, 1'000u);
    EXPECT_EQ(sample.links[0].sent_bytes, 2'000u);
    EXPECT_EQ(sample.links[0].bits_per_s, 10'000'000'000u);
}

}  // namespace
}  // namespace streamsim::host
