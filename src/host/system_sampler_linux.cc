#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/connections.h"
#include "host/host.h"
#include "host/links.h"
#include "host/memory_watch.h"
#include "host/mount.h"
#include "host/network_mount.h"
#include "host/processors.h"
#include "host/server_path.h"
#include "host/system_sampler.h"
#include "host/system_watch.h"

namespace streamsim::host {
namespace {

/// The run-queue wait of the threads of this process, and of the processes that bring its bytes: the one here
/// that serves the file system with its children, or our own helpers. Each sample adds the wait of the thread
/// that waited longest since the one before; others wait beside it.
class RunQueue {
public:
    /// Called on the watching thread, whose own wait delays no frame.
    RunQueue(const std::optional<int>& server, bool own_children)
        : processes_{"self"}, own_children_(own_children), watching_(std::to_string(syscall(SYS_gettid))) {
        if (!server) return;
        processes_.push_back(std::to_string(*server));
        for (const std::string& child : children_of(processes_.back())) processes_.push_back(child);
    }

    std::optional<std::int64_t> wait_ns() {
        bool told = false;
        bool all = true;
        std::int64_t longest_ns = 0;
        std::map<std::string, std::int64_t> seen;
        std::vector<std::string> processes = processes_;
        if (own_children_) {
            for (std::string& child : children_of("self")) processes.push_back(std::move(child));
        }
        for (const std::string& process : processes) {
            std::error_code error;
            for (const auto& task : std::filesystem::directory_iterator("/proc/" + process + "/task", error)) {
                if (task.path().filename() == watching_) continue;
                std::ifstream in(task.path() / "schedstat");
                std::int64_t ran_ns = 0;
                std::int64_t waited_ns = 0;
                if (!(in >> ran_ns >> waited_ns)) {
                    all = false;  // it has just ended, or cannot be read now
                    continue;
                }
                told = true;
                // The wait of another process's thread counts from the first sample on.
                const auto last = waited_.find(task.path());
                const auto first = process == "self" ? 0 : waited_ns;
                longest_ns = std::max(longest_ns, waited_ns - (last == waited_.end() ? first : last->second));
                seen[task.path()] = waited_ns;
            }
            all &= !error || error == std::errc::no_such_file_or_directory;
        }
        if (!told) return std::nullopt;
        if (!all) seen.merge(waited_);
        waited_ = std::move(seen);  // threads that are gone are forgotten
        sum_ns_ += longest_ns;
        return sum_ns_;
    }

private:
    std::vector<std::string> processes_;
    const bool own_children_;  // which come and go
    const std::string watching_;
    std::map<std::string, std::int64_t> waited_;
    std::int64_t sum_ns_ = 0;
};

/// The address of the server of a mounted path (NFS, SMB), from its mount options; else empty.
std::vector<std::string> servers_of_mount(const std::string& path) {
    const std::optional<MountFacts> mount = path.empty() ? std::nullopt : mount_of(path);
    if (!mount || mount->protocol.empty()) return {};
    const auto address = mount_option(*mount, "addr");
    return address ? std::vector{std::string(*address)} : std::vector<std::string>();
}

/// True: this thread is in the network namespace of another process now.
bool enter_network_of(int process) {
    std::error_code error;
    const auto theirs = std::filesystem::path("/proc") / std::to_string(process) / "ns/net";
    const auto their_name = std::filesystem::read_symlink(theirs, error);
    if (error || their_name == std::filesystem::read_symlink("/proc/self/ns/net", error)) return false;
    const int fd = open(theirs.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const bool entered = setns(fd, CLONE_NEWNET) == 0;
    close(fd);
    return entered;
}

}  // namespace

std::int64_t loop_clock_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::int64_t suspended_since_start_ns() {
    timespec with{};
    if (clock_gettime(CLOCK_BOOTTIME, &with) != 0) return 0;
    return std::int64_t{with.tv_sec} * 1'000'000'000 + with.tv_nsec - loop_clock_ns();
}

struct SystemSampler::Impl {
    Impl(const std::string& mounted, const std::vector<std::string>& remote)
        : server(fuse_server_of(mounted)),
          elsewhere(server && enter_network_of(*server)),
          run_queue(server, !remote.empty()),
          servers(remote.empty() ? servers_of_mount(mounted) : remote),
          // Other peers of this computer get no handshakes.
          path(servers, !servers.empty() || elsewhere) {
        for (const std::string& address : servers) {
            if (const auto link = interface_toward(address)) toward.insert(*link);
        }
    }

    const std::optional<int> server;
    const bool elsewhere;
    RunQueue run_queue;
    const std::vector<std::string> servers;  // addresses; empty: unknown
    ServerPath path;
    const MemoryWatch memory;
    std::set<std::string> toward;  // the interfaces
    Links links;
    Processors processors;
};

void SystemSampler::prepare() {}

SystemSampler::SystemSampler(const std::string& path, const std::vector<std::string>& servers)
    : impl_(std::make_unique<Impl>(path, servers)) {}

SystemSampler::~SystemSampler() = default;

void SystemSampler::look() {
    impl_->path.look(loop_clock_ns());
}

void SystemSampler::sample(SystemSample& sample) {
    sample.run_queue_wait_ns = impl_->run_queue.wait_ns();
    sample.process_cpu_ns = read_process_usage().cpu_ns;
    impl_->processors.read(loop_clock_ns(), sample);
    sample.cpu_pressure_ns = pressure_ns("/proc/pressure/cpu");
    sample.io_pressure_ns = pressure_ns("/proc/pressure/io");
    sample.memory_pressure_ns = pressure_ns("/proc/pressure/memory");
    impl_->memory.read(sample);
    impl_->links.read(!impl_->elsewhere, impl_->toward, sample);
    look();
    impl_->path.fill(sample);
}

}  // namespace streamsim::host
