// The facts that every system tells of itself: no test depends on the values of this computer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "base/system/utf8_path.h"
#include "host/host.h"
#include "host/mount.h"
#include "host/system_watch.h"

namespace streamsim::host {
namespace {

namespace fs = std::filesystem;
using testing::Each;
using testing::Field;
using testing::Not;

/// Some processor time.
void compute(std::int64_t cpu_ns) {
    volatile std::uint64_t sum = 0;
    const std::int64_t end_ns = read_process_usage().cpu_ns + cpu_ns;
    while (read_process_usage().cpu_ns < end_ns) {
        for (std::uint64_t i = 0; i < 100'000; ++i) sum = sum + i;
    }
}

TEST(ThisComputer, HasFacts) {
    const HostFacts facts = read_host_facts();
    EXPECT_FALSE(facts.name.empty());
    EXPECT_FALSE(facts.os.empty());
    EXPECT_GE(facts.cpus, 1u);
    EXPECT_GT(facts.memory_bytes, std::uint64_t{64} << 20);
}

TEST(ThisComputer, IsWatchedWhileItComputes) {
    SystemWatch watch("");
    compute(400'000'000);
    const SystemHistory history = watch.stop();
    ASSERT_GE(history.size(), 2u);
    const SystemSample& first = history.front();
    const SystemSample& last = history.back();
    EXPECT_GT(last.at_ns, first.at_ns);
    EXPECT_GT(last.process_cpu_ns - first.process_cpu_ns, 100'000'000);
    ASSERT_TRUE(first.cpu_ticks && last.cpu_ticks);
    EXPECT_GT(*last.cpu_ticks, *first.cpu_ticks);
    EXPECT_GE(last.idle_ticks, first.idle_ticks);
    EXPECT_LT(last.idle_ticks - first.idle_ticks, *last.cpu_ticks - *first.cpu_ticks) << "it was not idle";
    ASSERT_FALSE(last.links.empty());
    EXPECT_THAT(last.links, Each(Field(&SystemSample::Link::name, Not(""))));
}

TEST(ThisComputer, TellsItsSuspensions) {
    std::int64_t suspended_ns = 5;
    SystemWatch watch("", {}, [&suspended_ns] { return suspended_ns++; });
    const SystemHistory history = watch.stop();
    ASSERT_GE(history.size(), 2u);
    EXPECT_EQ(history[0].suspended_ns, 5);
    EXPECT_EQ(history[1].suspended_ns, 6);
    const std::int64_t now_ns = suspended_since_start_ns();
    EXPECT_GE(now_ns, -1'000'000);  // the difference of two clocks, read one after the other
    EXPECT_LT(suspended_since_start_ns() - now_ns, 1'000'000'000);
}

class PlacesOfThisComputer : public testing::Test {
protected:
    PlacesOfThisComputer() { fs::create_directories(system_path(directory_)); }
    ~PlacesOfThisComputer() override {
        std::error_code ignored;
        fs::remove_all(system_path(root_), ignored);
    }

    const std::string root_ = utf8_generic_text(utf8_path(testing::TempDir()) / "streamsim-host-test");
    // Longer than Windows allows without a prefix.
    const std::string directory_ = root_ + "/Gr\u00f6\u00dfe " + std::string(120, 'x') + "/" +
                                   std::string(120, 'y') + "/" + std::string(40, 'z');
};

TEST_F(PlacesOfThisComputer, AreOnAMount) {
    const auto mount = mount_of(directory_);
    ASSERT_TRUE(mount);
    EXPECT_FALSE(mount->point.empty());
    EXPECT_FALSE(mount->source.empty());
    EXPECT_FALSE(mount->options.empty());
    EXPECT_FALSE(mount_of(directory_ + "/nobody"));
}

TEST_F(PlacesOfThisComputer, HaveAnIdentity) {
    const PlaceAnswer place = place_identity_of(directory_);
    ASSERT_TRUE(place.identity);
    EXPECT_EQ(place.identity, place_identity_of(directory_).identity);
    EXPECT_NE(place.identity, place_identity_of(root_).identity);
    const PlaceAnswer missing = place_identity_of(directory_ + "/nobody");
    EXPECT_FALSE(missing.identity);
    EXPECT_EQ(missing.error, ENOENT);
}

}  // namespace
}  // namespace streamsim::host
