// sinkfs, mounted for the length of a test.
#pragma once

#include <signal.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/harness.h"

namespace streamsim::tests {

/// A read or a write in the log of sinkfs (rule "blocks").
struct SinkBlock {
    std::string verb;  // "read" | "write"
    std::string path;  // below the mount
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::int64_t begun_ns = 0;  // CLOCK_MONOTONIC
    std::int64_t ended_ns = 0;
};

class SinkMount {
public:
    explicit SinkMount(const std::string& rules) : mountpoint_(dir_ / "mount") {
        std::filesystem::create_directory(mountpoint_);
        write_text(dir_ / "rules", rules);
        Spawn spawn;
        spawn.args = {dir_ / "rules", mountpoint_, dir_ / "log"};
        process_ = std::make_unique<Process>(SINKFS_BINARY, spawn);
        for (int i = 0; i < 2000 && process_->running(); i++) {
            if (process_->out_so_far() == "ready\n") return;
            sleep_ms(5);
        }
        throw std::runtime_error("sinkfs does not come up: " + process_->err_so_far());
    }
    ~SinkMount() {
        process_->send(SIGCONT);
        process_->send(SIGTERM);
        for (int i = 0; i < 1000 && process_->running(); i++) sleep_ms(5);
        if (process_->running()) umount2(mountpoint_.c_str(), MNT_DETACH);
    }
    const std::string& path() const { return mountpoint_; }
    /// From here on no operation is answered.
    void hang() const { process_->send(SIGSTOP); }
    /// Other times and another rate of reads, from the next read on.
    void plan(const std::string& rules) const {
        write_text(dir_ / "rules", rules);
        process_->send(SIGUSR1);
    }
    /// Operations of frames with this verb; they are removed under a name of the removal's own.
    std::size_t count(const std::string& verb) const {
        std::ifstream in(dir_ / "log");
        std::size_t times = 0;
        for (std::string line; std::getline(in, line);)
            times += line.starts_with(verb + " ") && line.find(".dpx") != std::string::npos ? 1U : 0U;
        return times;
    }
    /// All reads and writes so far, in the order in which they ended.
    std::vector<SinkBlock> blocks() const {
        std::ifstream in(dir_ / "log");
        std::vector<SinkBlock> out;
        for (std::string line; std::getline(in, line);) {
            std::istringstream words(line);
            SinkBlock block;
            words >> block.verb >> block.path >> block.offset >> block.bytes >> block.begun_ns >>
                block.ended_ns;
            if (words) out.push_back(std::move(block));
        }
        return out;
    }

private:
    TempDir dir_;
    std::string mountpoint_;
    std::unique_ptr<Process> process_;
};

}  // namespace streamsim::tests
