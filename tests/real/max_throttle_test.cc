// The largest number of streams on a disk whose rate is known, because the kernel holds it there: a loop device
// with direct I/O below it, throttled by its control group (v1). What is found has to be what division gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "cli/harness.h"

namespace streamsim::tests {
namespace {

const std::string kGroups = "/sys/fs/cgroup/blkio";
constexpr const char* kReadLimit = "/blkio.throttle.read_bps_device";

Finished shell(const std::string& script) {
    Spawn spawn;
    spawn.args = {"-c", script};
    spawn.timeout_s = 600;
    return run("/bin/sh", spawn);
}

/// A file system on a loop device, and a control group that may read from it at a rate.
class ThrottledDisk {
public:
    ThrottledDisk() {
        const Finished made = shell("set -e; cd " + dir_.path().string() +
                                    "; truncate -s 4G image"
                                    "; device=$(losetup --direct-io=on --find --show image)"
                                    "; echo $device"
                                    "; mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 $device"
                                    "; mkdir disk; mount $device disk");
        device_ = made.out.substr(0, made.out.find('\n'));
        if (made.exit_code != 0) problem_ = "there is no disk to throttle: " + made.err;
        group_ = kGroups + "/streamsim-test-" + std::to_string(getpid());
        std::filesystem::create_directory(group_);
    }
    ~ThrottledDisk() {
        umount2(path().c_str(), MNT_DETACH);
        if (!device_.empty()) shell("losetup --detach " + device_);
        std::error_code error;
        std::filesystem::remove(group_, error);
    }
    ThrottledDisk(const ThrottledDisk&) = delete;
    ThrottledDisk& operator=(const ThrottledDisk&) = delete;

    const std::string& problem() const { return problem_; }
    std::string path() const { return dir_ / "disk"; }

    void throttle(std::uint64_t bytes_per_s) const {
        const std::string numbers = read_text("/sys/block/" + device_.substr(5) + "/dev");
        std::ofstream(group_ + kReadLimit)
            << numbers.substr(0, numbers.find('\n')) << " " << bytes_per_s << std::flush;
    }
    /// Runs streamsim in the group.
    Finished streamsim(const std::string& arguments) const {
        return shell("echo $$ > " + group_ + "/cgroup.procs; exec " + streamsim_binary() + " " + arguments);
    }

private:
    TempDir dir_;
    std::string device_;
    std::string group_;
    std::string problem_;
};

/// A DPX format whose streams need a good 8 MB a second.
constexpr int kWidth = 512;
constexpr int kHeight = 166;
constexpr double kStreamBytesPerS = (8192.0 + 4.0 * kWidth * kHeight) * 24;

class ThrottledMax : public ::testing::TestWithParam<double> {};

TEST_P(ThrottledMax, IsWhatDivisionGives) {
    if (!is_root()) GTEST_SKIP() << "loop devices and control groups need root";
    if (access((kGroups + kReadLimit).c_str(), F_OK) != 0 && access(kGroups.c_str(), W_OK) != 0)
        GTEST_SKIP() << "there is no blkio controller of control groups v1";
    const ThrottledDisk disk;
    ASSERT_EQ(disk.problem(), "");
    Json format = read_json(STREAMSIM_SOURCE_DIR "/formats/media/dpx10.json");
    format["name"] = "throttled";
    format["raster"] = {{"width", kWidth}, {"height", kHeight}};
    const TempDir place;
    write_text(place / "format.json", format.dump());
    disk.throttle(static_cast<std::uint64_t>(GetParam() * kStreamBytesPerS));
    const Finished done = disk.streamsim("max --format " + (place / "format.json") +
                                         " --duration 5s --clip-duration 5s --confirm 15s --json " +
                                         (place / "max.json") + " " + disk.path());
    EXPECT_EQ(done.exit_code, 0) << done.text();
    const Json found = read_json(place / "max.json")["formats"][0];
    EXPECT_NEAR(found["streams"].get<double>(), std::floor(GetParam()), 1) << done.text();
    EXPECT_EQ(found["fails_at"], found["streams"].get<int>() + 1);
    EXPECT_EQ(found["confirmed"], true);
    EXPECT_EQ(found["at_least"], false);
}

INSTANTIATE_TEST_SUITE_P(Rates, ThrottledMax, ::testing::Values(1.5, 6.5, 13.5));

}  // namespace
}  // namespace streamsim::tests
