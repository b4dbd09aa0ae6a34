// sinkfs RULES MOUNTPOINT LOG: a file system to write to, with a known truth, for the tests.
//
// Its tree is in memory, and of files only their first bytes: nothing but the rules makes a write slow. Rules,
// one a line:
//
//   create frame.0000031.dpx delay=480ms     that operation of a file of that name takes so much longer,
//   write frame.0000031.dpx error=ENOSPC     or fails (write: the one at its beginning)
//   fsync frame.0000031.dpx delay=10ms
//   room 10000000                            so many bytes can be written, then ENOSPC
//   blocks 1                                 files can be read to their ends, as zeros behind the first bytes,
//                                            and LOG has a line for each read and write: verb, path, offset,
//                                            bytes, begin and end (CLOCK_MONOTONIC, ns)
//
// LOG has a line for each create, fsync and removal: "create seat0-stream0/frame.0000031.dpx". "ready" on
// standard output says that the mount is there. SIGTERM, SIGINT or the end of the parent unmounts.
#define FUSE_USE_VERSION 314
#include <fcntl.h>
#include <fuse.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::uint64_t kKept = 65536;  // of a file

struct Node {
    bool directory = false;
    std::uint64_t bytes = 0;
    std::string content;
};

struct Rule {
    std::string verb, name;
    int delay_ms = 0;
    int error = 0;
};

struct FuseState {
    std::mutex mutex;
    std::map<std::string, Node> nodes{{"/", {true, 0, {}}}};
    std::vector<Rule> rules;
    std::uint64_t room = UINT64_MAX;
    bool blocks = false;
    int log = -1;
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
        if (rule.verb != verb || rule.name != name) continue;
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
    connection->max_background = 128;
    connection->max_write = 1 << 20;
    config->entry_timeout = config->attr_timeout = config->negative_timeout = 0;
    config->direct_io = 1;
    return nullptr;
}

int do_getattr(const char* path, struct stat* stat, fuse_file_info*) {
    const Lock lock(state.mutex);
    const Node* node = find(path);
    if (node == nullptr) return -ENOENT;
    *stat = {};
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
    return state.nodes.emplace(path, Node{directory, 0, {}}).second ? 0 : -EEXIST;
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

int do_read(const char* path, char* into, std::size_t size, off_t offset, fuse_file_info*) {
    const std::int64_t begun_ns = monotonic_ns();
    return note_block("read", path, offset, give(path, into, size, offset), begun_ns);
}

int do_fsync(const char* path, int, fuse_file_info*) {
    note("fsync", path);
    return obey("fsync", path);
}

int do_unlink(const char* path) {
    note("remove", path);
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

int do_rename(const char* from, const char* to, unsigned) {
    const Lock lock(state.mutex);
    if (find(from) == nullptr) return -ENOENT;
    if (find(to) != nullptr) return -EEXIST;
    auto node = state.nodes.extract(from);
    node.key() = to;
    state.nodes.insert(std::move(node));
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

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4 || !read_rules(argv[1])) return 2;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
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
    fuse_loop_cfg_set_max_threads(config, 64);
    fuse_loop_mt(file_system, config);
    fuse_loop_cfg_destroy(config);
    fuse_unmount(file_system);
    fuse_destroy(file_system);
    return 0;
}
