#include "real/slow_mount.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace streamsim::tests {

std::optional<std::string> no_slowfs_because() {
    if (!is_root()) return "mounting the slow file system needs root";
    const int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (device < 0) return "/dev/fuse cannot be opened";
    close(device);
    return std::nullopt;
}

SlowMount::SlowMount(const std::string& rules) : mountpoint_(dir_ / "mount") {
    std::filesystem::create_directory(mountpoint_);
    write_text(dir_ / "rules", rules);
    Spawn spawn;
    spawn.args = {dir_ / "rules", mountpoint_, dir_ / "log"};
    spawn.timeout_s = 600;
    process_ = std::make_unique<Process>(SLOWFS_BINARY, spawn);
    for (int i = 0; i < 2000 && process_->running(); i++) {
        if (process_->out_so_far() == "ready\n") return;
        sleep_ms(5);
    }
    throw std::runtime_error("slowfs does not come up: " + process_->err_so_far());
}

SlowMount::~SlowMount() {
    process_->send(SIGTERM);
    for (int i = 0; i < 1000 && process_->running(); i++) sleep_ms(5);
    if (process_->running()) umount2(mountpoint_.c_str(), MNT_DETACH);
}

std::vector<SlowOperation> SlowMount::log() const {
    std::vector<SlowOperation> result;
    std::ifstream in(dir_ / "log");
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        SlowOperation op;
        if (!(words >> op.verb >> op.clip >> op.frame_number >> op.started_ns >> op.ended_ns >> op.delay_ns >>
              op.result)) {
            throw std::runtime_error("slowfs log: " + line);
        }
        result.push_back(op);
    }
    return result;
}

}  // namespace streamsim::tests
