// slowfs RULES MOUNTPOINT LOG: a file system with a known truth, for the tests.
//
// It shows clips of DPX frames whose reads and opens are as slow, or fail, as the rules say (slowfs_rules.h).
// The data is in memory and made once, so nothing but the rules makes a read slow: a disk below would add
// delays of its own, which no prediction knows. For the same reason:
//   - files are opened with direct_io: the kernel's page cache answers nothing in our place;
//   - a delayed read sleeps in its own thread, and there are threads for hundreds of them;
//   - the kernel may have hundreds of asynchronous reads under way (its default of 12 would queue the rest
//     behind delayed ones);
//   - malloc keeps its memory: mapping a megabyte anew for each request costs more than the read.
// A reader that is killed is let go (EINTR), as a file system of the kernel would.
//
// LOG has a line for each operation that a rule delayed or failed, in nanoseconds of CLOCK_MONOTONIC:
//   read jobA/clip1 12 START END DELAY RESULT     RESULT: bytes, or -errno
// "ready" on standard output says that the mount is there. SIGTERM, SIGINT or the end of the parent unmounts.
#define FUSE_USE_VERSION 314
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "real/slowfs_rules.h"

namespace slowfs {
namespace {

constexpr double kCacheSeconds = 3600;  // names and attributes never change
constexpr unsigned kThreads = 512;
constexpr std::int64_t kSliceNs = 50'000'000;  // a sleep looks this often whether it should end
constexpr fuse_ino_t kClipBit = 32;            // a frame's inode: (clip + 1) << 32 | frame number

// The root, the folders above clips, and the clips; the inode is the position + 1.
struct Directory {
    std::string name;
    std::size_t parent = 0;
    Clip* clip = nullptr;
    std::size_t clip_index = 0;
};

struct FuseState {
    Rules rules;
    std::vector<Directory> directories;
    int log = -1;
    fuse_session* session = nullptr;
    std::atomic<std::int64_t> rate_free_at{0};
};
FuseState state;  // NOLINT: one a process; libfuse's callbacks have no better place for it

std::int64_t monotonic_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// False: the reader was killed meanwhile, or we are to end.
bool sleep_until(std::int64_t when, fuse_req_t request) {
    for (std::int64_t now = monotonic_ns(); now < when; now = monotonic_ns()) {
        if (fuse_session_exited(state.session) || fuse_req_interrupted(request)) return false;
        const std::int64_t wake = std::min(when, now + kSliceNs);
        timespec at{};
        at.tv_sec = wake / 1'000'000'000;
        at.tv_nsec = wake % 1'000'000'000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
    }
    return true;
}

struct Place {
    const Directory* directory = nullptr;  // of a directory
    Clip* clip = nullptr;                  // of a frame
    Frame* frame = nullptr;
    std::uint64_t number = 0;
};

Place find(fuse_ino_t inode) {
    Place place;
    if (inode >> kClipBit == 0) {
        place.directory = &state.directories.at(inode - 1);
        return place;
    }
    place.number = inode & 0xffffffffU;
    place.clip = state.rules.clips.at((inode >> kClipBit) - 1).get();
    place.frame = &place.clip->frames.at(place.number - 1);
    return place;
}

struct stat attributes(fuse_ino_t inode) {
    struct stat stat {};
    const Place place = find(inode);
    stat.st_ino = inode;
    stat.st_mode = place.frame ? S_IFREG | 0444 : S_IFDIR | 0555;
    stat.st_nlink = place.frame ? 1 : 2;
    stat.st_size = place.frame ? static_cast<off_t>(place.frame->bytes) : 0;
    stat.st_blksize = 4096;
    stat.st_mtime = 1'700'000'000;
    return stat;
}

// "frame.0000012.dpx" -> 12; 0 when the name is not of that form.
std::uint64_t frame_number(const char* name) {
    unsigned long long number = 0;
    int length = 0;
    if (std::sscanf(name, "frame.%7llu.dpx%n", &number, &length) != 1) return 0;
    return std::strlen(name) == static_cast<std::size_t>(length) && length == 17 ? number : 0;
}

fuse_ino_t child(fuse_ino_t parent, const char* name) {
    const Place place = find(parent);
    if (!place.directory) return 0;
    for (std::size_t i = 1; i < state.directories.size(); i++) {
        const Directory& directory = state.directories[i];
        if (directory.parent == parent - 1 && directory.name == name) return i + 1;
    }
    Clip* clip = place.directory->clip;
    const std::uint64_t number = clip ? frame_number(name) : 0;
    if (number == 0 || number > clip->frames.size() || clip->frames[number - 1].missing) return 0;
    return (place.directory->clip_index + 1) << kClipBit | number;
}

// Applies one rule: the delay, then its error (0: none).
int apply(Rule& rule,
          const char* verb,
          const Place& place,
          fuse_req_t request,
          std::int64_t started,
          std::uint64_t bytes) {
    const std::uint64_t pass = ++rule.seen;
    if (rule.pass != 0 && rule.pass != pass) return 0;
    const int error = sleep_until(started + rule.delay_ns, request) ? rule.error : EINTR;
    const std::int64_t result = error ? -error : static_cast<std::int64_t>(bytes);
    char line[512];
    const int length = std::snprintf(line, sizeof line, "%s %s %llu %lld %lld %lld %lld\n", verb,
                                     place.clip->path.c_str(), static_cast<unsigned long long>(place.number),
                                     static_cast<long long>(started), static_cast<long long>(monotonic_ns()),
                                     static_cast<long long>(rule.delay_ns), static_cast<long long>(result));
    if (write(state.log, line, static_cast<std::size_t>(length)) != length) return EIO;
    return error;
}

// Waits for this read's turn under the common rate.
void obey_rate(std::uint64_t bytes, fuse_req_t request) {
    if (state.rules.bytes_per_s == 0) return;
    const auto cost = static_cast<std::int64_t>(1e9 * static_cast<double>(bytes) /
                                                static_cast<double>(state.rules.bytes_per_s));
    std::int64_t free_at = state.rate_free_at.load();
    std::int64_t done = 0;
    do {
        done = std::max(free_at, monotonic_ns()) + cost;
    } while (!state.rate_free_at.compare_exchange_weak(free_at, done));
    sleep_until(done, request);
}

void do_init(void*, fuse_conn_info* connection) {
    connection->max_background = kThreads;
    connection->congestion_threshold = kThreads;
}

void do_lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
    const fuse_ino_t inode = child(parent, name);
    if (inode == 0) {
        fuse_reply_err(request, ENOENT);
        return;
    }
    fuse_entry_param entry{};
    entry.ino = inode;
    entry.attr = attributes(inode);
    entry.attr_timeout = kCacheSeconds;
    entry.entry_timeout = kCacheSeconds;
    fuse_reply_entry(request, &entry);
}

void do_getattr(fuse_req_t request, fuse_ino_t inode, fuse_file_info*) {
    const struct stat stat = attributes(inode);
    fuse_reply_attr(request, &stat, kCacheSeconds);
}

void do_readdir(fuse_req_t request, fuse_ino_t inode, std::size_t size, off_t offset, fuse_file_info*) {
    const Place place = find(inode);
    if (!place.directory) {
        fuse_reply_err(request, ENOTDIR);
        return;
    }
    std::vector<char> buffer(size);
    std::size_t used = 0;
    const auto add = [&](const std::string& name, fuse_ino_t entry, std::size_t position) {
        if (position < static_cast<std::size_t>(offset)) return true;
        const struct stat stat = attributes(entry);
        const std::size_t needed = fuse_add_direntry(request, buffer.data() + used, size - used, name.c_str(),
                                                     &stat, static_cast<off_t>(position + 1));
        if (needed > size - used) return false;
        used += needed;
        return true;
    };
    bool room = add(".", inode, 0) && add("..", place.directory->parent + 1, 1);
    std::size_t position = 2;
    for (std::size_t i = 1; room && i < state.directories.size(); i++, position++) {
        if (state.directories[i].parent == inode - 1) room = add(state.directories[i].name, i + 1, position);
    }
    const Clip* clip = place.directory->clip;
    for (std::size_t i = 0; clip && room && i < clip->frames.size(); i++, position++) {
        char name[32];
        std::snprintf(name, sizeof name, "frame.%07zu.dpx", i + 1);
        const fuse_ino_t entry = (place.directory->clip_index + 1) << kClipBit | (i + 1);
        if (!clip->frames[i].missing) room = add(name, entry, position);
    }
    fuse_reply_buf(request, buffer.data(), used);
}

void do_open(fuse_req_t request, fuse_ino_t inode, fuse_file_info* file) {
    const std::int64_t started = monotonic_ns();
    const Place place = find(inode);
    if (!place.frame) {
        fuse_reply_err(request, EISDIR);
        return;
    }
    for (const std::unique_ptr<Rule>& rule : place.frame->opens) {
        if (const int error = apply(*rule, "open", place, request, started, 0)) {
            fuse_reply_err(request, error);
            return;
        }
    }
    file->direct_io = 1;
    fuse_reply_open(request, file);
}

void do_read(fuse_req_t request, fuse_ino_t inode, std::size_t size, off_t offset, fuse_file_info*) {
    const std::int64_t started = monotonic_ns();
    const Place place = find(inode);
    if (!place.frame) {
        fuse_reply_err(request, EISDIR);
        return;
    }
    const std::uint64_t from = std::min(static_cast<std::uint64_t>(offset), place.frame->bytes);
    const std::uint64_t bytes = std::min<std::uint64_t>(size, place.frame->bytes - from);
    obey_rate(bytes, request);
    for (const std::unique_ptr<Rule>& rule : place.frame->reads) {
        if (rule->byte < from || rule->byte >= from + bytes) continue;
        if (const int error = apply(*rule, "read", place, request, started, bytes)) {
            fuse_reply_err(request, error);
            return;
        }
    }
    fuse_reply_buf(request, place.clip->image.data() + from, bytes);
}

std::size_t directory_of(const std::string& name, std::size_t parent) {
    for (std::size_t i = 1; i < state.directories.size(); i++) {
        if (state.directories[i].parent == parent && state.directories[i].name == name) return i;
    }
    state.directories.push_back({name, parent});
    return state.directories.size() - 1;
}

void plant_directories() {
    state.directories.push_back({"", 0});
    for (std::size_t i = 0; i < state.rules.clips.size(); i++) {
        Clip& clip = *state.rules.clips[i];
        const std::size_t slash = clip.path.find('/');
        std::size_t parent = 0;
        if (slash != std::string::npos) parent = directory_of(clip.path.substr(0, slash), 0);
        const std::size_t own =
            directory_of(slash == std::string::npos ? clip.path : clip.path.substr(slash + 1), parent);
        state.directories[own].clip = &clip;
        state.directories[own].clip_index = i;
    }
}

void keep_memory() {
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 64 << 20);
}

int serve(const char* mountpoint) {
    fuse_lowlevel_ops operations{};
    operations.init = do_init;
    operations.lookup = do_lookup;
    operations.getattr = do_getattr;
    operations.readdir = do_readdir;
    operations.open = do_open;
    operations.read = do_read;
    char name[] = "slowfs", option[] = "-o", value[] = "allow_other,ro,fsname=slowfs,subtype=slowfs";
    char* arguments[] = {name, option, value};
    fuse_args args = FUSE_ARGS_INIT(3, arguments);
    state.session = fuse_session_new(&args, &operations, sizeof operations, nullptr);
    if (!state.session) return 1;
    if (fuse_set_signal_handlers(state.session) != 0) return 1;
    if (fuse_session_mount(state.session, mountpoint) != 0) return 1;
    std::puts("ready");
    std::fflush(stdout);
    fuse_loop_config* config = fuse_loop_cfg_create();
    fuse_loop_cfg_set_clone_fd(config, 0);
    fuse_loop_cfg_set_max_threads(config, kThreads);
    fuse_loop_cfg_set_idle_threads(config, kThreads);
    const int status = fuse_session_loop_mt(state.session, config);
    fuse_loop_cfg_destroy(config);
    fuse_session_unmount(state.session);
    fuse_remove_signal_handlers(state.session);
    fuse_session_destroy(state.session);
    return status == 0 || status == SIGTERM || status == SIGINT ? 0 : 1;
}

}  // namespace
}  // namespace slowfs

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: slowfs RULES MOUNTPOINT LOG\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    prctl(PR_SET_TIMERSLACK, 1);
    slowfs::keep_memory();
    try {
        slowfs::state.rules = slowfs::read_rules(argv[1]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "slowfs: %s\n", error.what());
        return 2;
    }
    slowfs::state.log = open(argv[3], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (slowfs::state.log < 0) {
        std::fprintf(stderr, "slowfs: %s: %s\n", argv[3], std::strerror(errno));
        return 2;
    }
    slowfs::plant_directories();
    return slowfs::serve(argv[2]);
}
