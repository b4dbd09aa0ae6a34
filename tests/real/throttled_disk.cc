#include "real/throttled_disk.h"

#include <sys/mount.h>
#include <unistd.h>

#include <fstream>

namespace streamsim::tests {
namespace {

const std::string kGroups = "/sys/fs/cgroup/blkio";
constexpr const char* kReadLimit = "/blkio.throttle.read_bps_device";

}  // namespace

std::optional<std::string> no_throttled_disk_because() {
    if (!is_root()) return "loop devices and control groups need root";
    if (access((kGroups + kReadLimit).c_str(), F_OK) != 0 && access(kGroups.c_str(), W_OK) != 0)
        return "there is no blkio controller of control groups v1";
    return std::nullopt;
}

Finished shell(const std::string& script) {
    Spawn spawn;
    spawn.args = {"-c", script};
    spawn.timeout_s = 600;
    return run("/bin/sh", spawn);
}

ThrottledDisk::ThrottledDisk() {
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

ThrottledDisk::~ThrottledDisk() {
    umount2(path().c_str(), MNT_DETACH);
    if (!device_.empty()) shell("losetup --detach " + device_);
    std::error_code error;
    std::filesystem::remove(group_, error);
}

void ThrottledDisk::throttle(std::uint64_t bytes_per_s) const {
    const std::string numbers = read_text("/sys/block/" + device_.substr(5) + "/dev");
    std::ofstream(group_ + kReadLimit)
        << numbers.substr(0, numbers.find('\n')) << " " << bytes_per_s << std::flush;
}

Finished ThrottledDisk::streamsim(const std::vector<std::string>& arguments, const std::string& first) const {
    Spawn spawn;
    spawn.args = {"-c", "echo $$ > " + group_ + "/cgroup.procs; " + first + "; exec \"$@\"", "sh",
                  streamsim_binary()};
    spawn.args.insert(spawn.args.end(), arguments.begin(), arguments.end());
    spawn.timeout_s = 600;
    return run("/bin/sh", spawn);
}

}  // namespace streamsim::tests
