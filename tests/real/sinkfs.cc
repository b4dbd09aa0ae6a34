// sinkfs RULES MOUNTPOINT LOG: a file system to write to, with a known truth, for the tests.
//
// Its tree is in memory, and of files only their first bytes: nothing but the rules makes a write slow. Rules,
// one a line:
//
//   create frame.0000031.dpx delay=480ms     that operation of a file of that name takes so much longer,
//   write frame.0000031.dpx error=ENOSPC     or fails (write: the one at its beginning)
//   fsync frame.0000031.dpx delay=10ms
//   remove frame.* delay=30ms                of names that begin so: a removal has names of its own
//   room 10000000                            so many bytes can be written, then ENOSPC
//   blocks 1                                 files can be read to their ends, as zeros behind the first bytes,
//                                            and LOG has a line for each read and write: verb, path, offset,
//                                            bytes, begin and end (CLOCK_MONOTONIC, ns)
//   times 2ms*85 20ms*15                     a read takes one of these times, drawn by these weights (the same
//                                            draws in each run)
//   rate 60000000                            all reads together get so many bytes a second, in turn
//
// LOG has a line for each create, fsync and removal: "create seat0-stream0/frame.0000031.dpx". "ready" on
// standard output says that the mount is there. SIGUSR1: times and rate are read again from RULES. SIGTERM,
// SIGINT or the end of the parent unmounts.
#define FUSE_USE_VERSION 314
#include <fcntl.h>
#include <fuse.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::uint64_t kKept = 65536;  // of a file
constexpr unsigned kThreads = 256;      // a delayed read keeps its own

struct Node {
    bool directory = false;
    std::uint64_t bytes = 0;
    std::string content;
    ino_t number = 0;  // stays, wherever it is moved
};

struct Rule {
    std::string verb, name;
    int delay_ms = 0;
    int error = 0;
};

/// How long reads take.
struct ReadPlan {
    std::vector<std::int64_t> times_ns;
    std::vector<double> weights;
    std::uint64_t bytes_per_s = 0;  // 0: no limit
};

struct FuseState {
    std::mutex mutex;
    std::map<std::string, Node> nodes{{"/", {true, 0, {}, 1}}};
    ino_t nodes_made = 1;
    std::vector<Rule> rules;
    std::uint64_t room = UINT64_MAX;
    bool blocks = false;
    int log = -1;
    const char* rules_path = nullptr;
    std::mutex plan_mutex;
    ReadPlan plan;
    std::mt19937_64 draws{1};
    std::int64_t rate_free_at_ns = 0;
    std::atomic<bool> plan_is_old{false};
};
FuseState state;  // NOLINT: one a process; libfuse's callbacks have no better place for it

using Lock = std::lock_guard<std::mutex>;

std::string name_of(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}
std::string parent_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == 0 ? "/" : path.substr(0, slash);
}

void note(const char* verb, const std::string& path) {
    const std::string line = verb + (" " + path.substr(1)) + "\n";
    (void)!write(state.log, line.data(), line.size());
}

std::int64_t monotonic_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// The line of a read or a write, where the rules ask for it; `bytes`: moved, or -errno, which has no line.
int note_block(const char* verb, const char* path, off_t offset, int bytes, std::int64_t begun_ns) {
    if (!state.blocks || bytes < 0) return bytes;
    note(verb, std::string(path) + " " + std::to_string(offset) + " " + std::to_string(bytes) + " " +
                   std::to_string(begun_ns) + " " + std::to_string(monotonic_ns()));
    return bytes;
}

/// Obeys the rules of this operation: waits for its delay, then returns 0 or -errno.
int obey(const char* verb, const char* path) {
    const std::string name = name_of(path);
    for (const Rule& rule : state.rules) {
        const bool begins =
            rule.name.ends_with('*') && name.starts_with(rule.name.substr(0, rule.name.size() - 1));
        if (rule.verb != verb || (rule.name != name && !begins)) continue;
        std::this_thread::sleep_for(std::chrono::milliseconds(rule.delay_ms));
        if (rule.error != 0) return -rule.error;
    }
    return 0;
}

Node* find(const char* path) {
    const auto found = state.nodes.find(path);
    return found == state.nodes.end() ? nullptr : &found->second;
}

void* do_init(fuse_conn_info* connection, fuse_config* config) {
    connection->max_background = kThreads;
    connection->max_write = 1 << 20;
    config->entry_timeout = config->attr_timeout = config->negative_timeout = 0;
    config->direct_io = 1;
    config->use_ino = 1;
    return nullptr;
}

int do_getattr(const char* path, struct stat* stat, fuse_file_info*) {
    const Lock lock(state.mutex);
    const Node* node = find(path);
    if (node == nullptr) return -ENOENT;
    *stat = {};
    stat->st_ino = node->number;
    stat->st_mode = node->directory ? S_IFDIR | 0755 : S_IFREG | 0644;
    stat->st_nlink = 1;
    stat->st_size = static_cast<off_t>(node->bytes);
    return 0;
}

int do_readdir(
    const char* path, void* buffer, fuse_fill_dir_t fill, off_t, fuse_file_info*, fuse_readdir_flags) {
    const Lock lock(state.mutex);
    if (find(path) == nullptr) return -ENOENT;
    for (const auto& [each, node] : state.nodes) {
        if (each != "/" && parent_of(each) == path)
            fill(buffer, name_of(each).c_str(), nullptr, 0, fuse_fill_dir_flags{});
    }
    return 0;
}

int add(const char* path, bool directory) {
    const Lock lock(state.mutex);
    if (find(parent_of(path).c_str()) == nullptr) return -ENOENT;
    return state.nodes.emplace(path, Node{directory, 0, {}, ++state.nodes_made}).second ? 0 : -EEXIST;
}

int do_mkdir(const char* path, mode_t) {
    return add(path, true);
}

int do_create(const char* path, mode_t, fuse_file_info*) {
    note("create", path);
    if (const int error = obey("create", path)) return error;
    return add(path, false);
}

int do_open(const char* path, fuse_file_info*) {
    const Lock lock(state.mutex);
    return find(path) == nullptr ? -ENOENT : 0;
}

int take(const char* path, const char* data, std::size_t size, off_t offset) {
    if (offset == 0) {
        if (const int error = obey("write", path)) return error;
    }
    const Lock lock(state.mutex);
    Node* node = find(path);
    if (node == nullptr) return -EIO;
    if (size > state.room) return -ENOSPC;
    state.room -= size;
    const auto at = static_cast<std::uint64_t>(offset);
    node->bytes = std::max(node->bytes, at + size);
    if (at < kKept) {
        const std::uint64_t kept = std::min<std::uint64_t>(size, kKept - at);
        node->content.resize(std::max<std::uint64_t>(node->content.size(), at + kept));
        std::memcpy(node->content.data() + at, data, kept);
    }
    return static_cast<int>(size);
}

int do_write(const char* path, const char* data, std::size_t size, off_t offset, fuse_file_info*) {
    const std::int64_t begun_ns = monotonic_ns();
    return note_block("write", path, offset, take(path, data, size, offset), begun_ns);
}

int give(const char* path, char* into, std::size_t size, off_t offset) {
    const Lock lock(state.mutex);
    const Node* node = find(path);
    if (node == nullptr) return -ENOENT;
    if (state.blocks) {
        const std::uint64_t begin = std::min(static_cast<std::uint64_t>(offset), node->bytes);
        const std::uint64_t bytes = std::min<std::uint64_t>(size, node->bytes - begin);
        std::memset(into, 0, bytes);
        if (begin < node->content.size())
            std::memcpy(into, node->content.data() + begin,
                        std::min<std::uint64_t>(bytes, node->content.size() - begin));
        return static_cast<int>(bytes);
    }
    const auto at = std::min<std::uint64_t>(static_cast<std::uint64_t>(offset), node->content.size());
    const std::uint64_t got = std::min<std::uint64_t>(size, node->content.size() - at);
    std::memcpy(into, node->content.data() + at, got);
    return static_cast<int>(got);
}

ReadPlan read_plan(const char* path) {
    ReadPlan plan;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string verb;
        words >> verb;
        if (verb == "rate") words >> plan.bytes_per_s;
        if (verb != "times") continue;
        for (std::string word; words >> word;) {
            plan.times_ns.push_back(static_cast<std::int64_t>(std::stod(word) * 1e6));
            plan.weights.push_back(std::stod(word.substr(word.find('*') + 1)));
        }
    }
    return plan;
}

/// When a read that begins now may end.
std::int64_t end_of_read(std::int64_t begun_ns, std::size_t bytes) {
    const Lock lock(state.plan_mutex);
    if (state.plan_is_old.exchange(false)) state.plan = read_plan(state.rules_path);
    const ReadPlan& plan = state.plan;
    std::int64_t from_ns = begun_ns;
    if (plan.bytes_per_s > 0) {
        from_ns =
            std::max(from_ns, state.rate_free_at_ns) +
            static_cast<std::int64_t>(1e9 * static_cast<double>(bytes) / static_cast<double>(plan.bytes_per_s));
        state.rate_free_at_ns = from_ns;
    }
    if (plan.times_ns.empty()) return from_ns;
    std::discrete_distribution<std::size_t> which(plan.weights.begin(), plan.weights.end());
    return from_ns + plan.times_ns[which(state.draws)];
}

void sleep_until(std::int64_t when_ns) {
    timespec at{};
    at.tv_sec = when_ns / 1'000'000'000;
    at.tv_nsec = when_ns % 1'000'000'000;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) == EINTR) {
    }
}

int do_read(const char* path, char* into, std::size_t size, off_t offset, fuse_file_info*) {
    const std::int64_t begun_ns = monotonic_ns();
    const int bytes = give(path, into, size, offset);
    if (bytes > 0) sleep_until(end_of_read(begun_ns, static_cast<std::size_t>(bytes)));
    return note_block("read", path, offset, bytes, begun_ns);
}

int do_fsync(const char* path, int, fuse_file_info*) {
    note("fsync", path);
    return obey("fsync", path);
}

int do_unlink(const char* path) {
    note("remove", path);
    if (const int error = obey("remove", path)) return error;
    const Lock lock(state.mutex);
    return state.nodes.erase(path) == 1 ? 0 : -ENOENT;
}

int do_rmdir(const char* path) {
    const Lock lock(state.mutex);
    for (const auto& [each, node] : state.nodes) {
        if (each != "/" && parent_of(each) == path) return -ENOTEMPTY;
    }
    return state.nodes.erase(path) == 1 ? 0 : -ENOENT;
}

int do_rename(const char* from, const char* to, unsigned flags) {
    const Lock lock(state.mutex);
    if (find(from) == nullptr) return -ENOENT;
    if (find(to) != nullptr && (flags & RENAME_NOREPLACE) != 0) return -EEXIST;
    state.nodes.erase(to);
    std::vector<std::string> moved = {from};
    const std::string below = std::string(from) + "/";
    for (const auto& [each, node] : state.nodes) {
        if (each.starts_with(below)) moved.push_back(each);
    }
    for (const std::string& each : moved) {
        auto node = state.nodes.extract(each);
        node.key() = to + each.substr(std::strlen(from));
        state.nodes.insert(std::move(node));
    }
    return 0;
}

int do_statfs(const char*, struct statvfs* out) {
    *out = {};
    out->f_bsize = out->f_frsize = 4096;
    out->f_blocks = out->f_bfree = out->f_bavail = 1 << 28;
    return 0;
}

bool read_rules(const char* path) {
    const std::map<std::string, int> errors{{"ENOSPC", ENOSPC}, {"EIO", EIO}, {"EACCES", EACCES}};
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        Rule rule;
        words >> rule.verb >> rule.name;
        if (rule.verb == "room") {
            state.room = std::stoull(rule.name);
            continue;
        }
        if (rule.verb == "times" || rule.verb == "rate") continue;  // of read_plan
        if (rule.verb == "blocks") {
            state.blocks = true;
            continue;
        }
        for (std::string word; words >> word;) {
            if (word.rfind("delay=", 0) == 0) rule.delay_ms = std::stoi(word.substr(6));
            if (word.rfind("error=", 0) == 0) rule.error = errors.at(word.substr(6));
        }
        state.rules.push_back(rule);
    }
    return in.eof();
}

/// A read maps no memory of its own: that takes longer than the read.
void keep_memory() {
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 64 << 20);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4 || !read_rules(argv[1])) return 2;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    prctl(PR_SET_TIMERSLACK, 1);
    keep_memory();
    state.rules_path = argv[1];
    state.plan = read_plan(argv[1]);
    signal(SIGUSR1, [](int) { state.plan_is_old = true; });
    state.log = open(argv[3], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    fuse_operations operations{};
    operations.init = do_init;
    operations.getattr = do_getattr;
    operations.readdir = do_readdir;
    operations.mkdir = do_mkdir;
    operations.create = do_create;
    operations.open = do_open;
    operations.write = do_write;
    operations.read = do_read;
    operations.fsync = do_fsync;
    operations.unlink = do_unlink;
    operations.rmdir = do_rmdir;
    operations.rename = do_rename;
    operations.statfs = do_statfs;
    char name[] = "sinkfs", option[] = "-o", value[] = "allow_other,fsname=sinkfs,subtype=sinkfs";
    char* arguments[] = {name, option, value};
    fuse_args args = FUSE_ARGS_INIT(3, arguments);
    fuse* const file_system = fuse_new(&args, &operations, sizeof operations, nullptr);
    if (file_system == nullptr || fuse_mount(file_system, argv[2]) != 0) return 1;
    fuse_set_signal_handlers(fuse_get_session(file_system));
    std::puts("ready");
    std::fflush(stdout);
    fuse_loop_config* const config = fuse_loop_cfg_create();
    fuse_loop_cfg_set_max_threads(config, kThreads);
    fuse_loop_cfg_set_idle_threads(config, kThreads);
    fuse_loop_mt(file_system, config);
    fuse_loop_cfg_destroy(config);
    fuse_unmount(file_system);
    fuse_destroy(file_system);
    return 0;
}
