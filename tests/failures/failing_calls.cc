// Fails one call of a program into the C library (LD_PRELOAD; Linux with the GNU C library). Calls are counted
// from the beginning of main() to its end, and children are left alone. The environment says which one:
//
//     FAILING_FAMILY   files | system (files of /proc and /sys) | sockets | memory | threads
//     FAILING_CALL     name of a function: only its calls count
//     FAILING_AT       number of the call, from 0; none: calls are only counted
//     FAILING_HOW      error: it fails         broken: it and all later ones fail
//                      short: half of its bytes        hang: it never returns
//                      kill, killed: the process is killed before it, after it
//     FAILING_ERRNO    the number of the error; none: one that this call can have
//     FAILING_STATE    a file of kStateBytes bytes (State), for the caller to read
//
// Memory and threads count where the program itself or the C++ library asks for them: a C library may abort.
#include "failures/failing_calls.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#if __has_include(<liburing.h>)
#include <liburing.h>
#endif
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
}

namespace {

constexpr std::size_t kStateBytes = 8192;
constexpr std::size_t kNamesMax = 100;

struct State {
    std::atomic<std::uint64_t> calls;
    char failed[504];  // the call that failed: its name and its path
    struct {           // where calls are only counted: functions and their numbers of calls

        char name[24];
        std::uint64_t calls;
    } names[kNamesMax];
};
static_assert(sizeof(State) <= kStateBytes);

enum class Answer { work, fail, half };

// Without constructors: the first calls come before any of this library runs.
const char* family = nullptr;
const char* name_wanted = nullptr;
const char* how = "error";
std::uint64_t fail_at = UINT64_MAX;
int error_wanted = 0;
State* state = nullptr;
std::atomic<bool> counting{false};
std::uintptr_t code_from = 0, code_to = 0;  // of the program and of the C++ library
std::uintptr_t library_from = 0, library_to = 0;
dev_t proc_device = 0, sys_device = 0;
thread_local bool inside = false;
std::atomic_flag counting_names = ATOMIC_FLAG_INIT;

bool is_how(const char* wanted) {
    return std::strcmp(how, wanted) == 0;
}

[[noreturn]] void hang() {
    for (;;) pause();
}

void count_name(const char* name) {
    while (counting_names.test_and_set()) {
    }
    for (auto& each : state->names) {
        if (each.name[0] == '\0') std::snprintf(each.name, sizeof each.name, "%s", name);
        if (std::strcmp(each.name, name) != 0) continue;
        ++each.calls;
        break;
    }
    counting_names.clear();
}

/// Counts a call. `errors`: those that it can have.
Answer ask(const char* of, const char* name, const char* what, std::initializer_list<int> errors) {
    if (!counting.load(std::memory_order_relaxed) || std::strcmp(family, of) != 0 || inside)
        return Answer::work;
    if (name_wanted != nullptr && std::strcmp(name, name_wanted) != 0) return Answer::work;
    if (fail_at == UINT64_MAX) count_name(name);
    const std::uint64_t call = state->calls.fetch_add(1);
    if (call < fail_at || (call > fail_at && !is_how("broken"))) return Answer::work;
    if (call == fail_at) {
        inside = true;
        std::snprintf(state->failed, sizeof state->failed, "%s %s", name, what == nullptr ? "" : what);
        inside = false;
        if (is_how("kill")) kill(getpid(), SIGKILL);
        if (is_how("hang")) hang();
    }
    if (is_how("short")) return Answer::half;
    if (is_how("killed")) return Answer::work;
    errno = error_wanted != 0 ? error_wanted : errors.begin()[fail_at % errors.size()];
    return Answer::fail;
}

/// After a call that did its work.
void answered() {
    if (state != nullptr && counting && state->failed[0] != '\0' && is_how("killed") && !inside)
        kill(getpid(), SIGKILL);
}

/// The function that this one hides. No static with a guard: a thread that waits for its guard calls syscall(),
/// which is one of these functions.
template <typename Function>
Function next(std::atomic<Function>& known, const char* name) {
    Function function = known.load(std::memory_order_relaxed);
    if (function == nullptr) {
        function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
        known.store(function, std::memory_order_relaxed);
    }
    return function;
}
#define NEXT(name, ...)                                           \
    [] {                                                          \
        static constinit std::atomic<__VA_ARGS__> known{nullptr}; \
        return next(known, name);                                 \
    }()

/// The family of a descriptor; null: none, such as an event, a timer or a pipe that is not standard output.
const char* family_of(int file) {
    struct stat info {};
    inside = true;
    const int told = fstat(file, &info);
    inside = false;
    if (told != 0) return "files";
    if (S_ISSOCK(info.st_mode)) return "sockets";
    const bool stored = S_ISREG(info.st_mode) || S_ISDIR(info.st_mode) || S_ISBLK(info.st_mode);
    if (stored) return info.st_dev == proc_device || info.st_dev == sys_device ? "system" : "files";
    return file == STDOUT_FILENO ? "files" : nullptr;
}

Answer ask_path(const char* name, const char* path, std::initializer_list<int> errors) {
    const bool system =
        path != nullptr && (std::strncmp(path, "/proc/", 6) == 0 || std::strncmp(path, "/sys/", 5) == 0);
    return ask(system ? "system" : "files", name, path, errors);
}

Answer ask_of(int file, const char* name, std::initializer_list<int> errors) {
    if (!counting || inside || file == STDERR_FILENO) return Answer::work;  // a failure has to be told
    const char* const of = family_of(file);
    if (of == nullptr) return Answer::work;
    if (std::strcmp(of, "sockets") == 0) return ask(of, name, nullptr, {ECONNRESET, ETIMEDOUT, EPIPE});
    return ask(of, name, nullptr, errors);
}

/// libuv begins anew where it is interrupted, and has lost the entries before.
Answer ask_readdir(DIR* directory, const char* name) {
    return error_wanted == EINTR ? Answer::work : ask_of(dirfd(directory), name, {EIO, ESTALE});
}

bool is_ours(const void* caller) {
    const auto at = reinterpret_cast<std::uintptr_t>(caller);
    return (at >= code_from && at < code_to) || (at >= library_from && at < library_to);
}

Answer ask_memory(const char* name, const void* caller) {
    return counting && is_ours(caller) ? ask("memory", name, nullptr, {ENOMEM}) : Answer::work;
}

/// The program comes first, without a name.
int note_code(dl_phdr_info* object, std::size_t /*size*/, void* /*data*/) {
    const bool program = object->dlpi_name[0] == '\0' && code_to == 0;
    const bool library = std::strstr(object->dlpi_name, "libstdc++") != nullptr;
    if (!program && !library) return 0;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const auto& part = object->dlpi_phdr[i];
        if (part.p_type != PT_LOAD) continue;
        std::uintptr_t& from = program ? code_from : library_from;
        std::uintptr_t& to = program ? code_to : library_to;
        const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
        if (from == 0) from = begin;
        to = std::max(to, begin + part.p_memsz);
    }
    return 0;
}

int (*program_main)(int, char**, char**) = nullptr;

int counted_main(int argc, char** argv, char** environment) {
    family = std::getenv("FAILING_FAMILY");
    const char* const file = std::getenv("FAILING_STATE");
    name_wanted = std::getenv("FAILING_CALL");
    if (const char* text = std::getenv("FAILING_HOW")) how = text;
    if (const char* text = std::getenv("FAILING_AT")) fail_at = std::strtoull(text, nullptr, 10);
    if (const char* text = std::getenv("FAILING_ERRNO")) error_wanted = std::atoi(text);
    unsetenv("LD_PRELOAD");
    struct stat info {};
    if (stat("/proc/self", &info) == 0) proc_device = info.st_dev;
    if (stat("/sys", &info) == 0) sys_device = info.st_dev;
    dl_iterate_phdr(note_code, nullptr);
    const int opened = file == nullptr ? -1 : open(file, O_RDWR | O_CLOEXEC);
    if (family != nullptr && opened >= 0) {
        void* const memory = mmap(nullptr, kStateBytes, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
        close(opened);
        state = static_cast<State*>(memory);
        counting = memory != MAP_FAILED;
    }
    const int code = program_main(argc, argv, environment);
    counting = false;  // the end of the libraries is theirs
    return code;
}

State own_state{};  // where this is linked into the program

}  // namespace

void failing_calls_begin(const char* of, std::uint64_t at, const char* in_which_way, int error) {
    counting = false;
    error_wanted = error;
    family = of;
    how = in_which_way;
    fail_at = at;
    state = &own_state;
    state->calls = 0;
    state->failed[0] = '\0';
}

void failing_calls_pause(bool paused) {
    counting = !paused;
}

std::uint64_t failing_calls_count() {
    return own_state.calls;
}

const char* failing_calls_failed() {
    return own_state.failed;
}

// A function of the C library, with the arguments as its header has them.
#define PASS_ON(result, name, parameters, arguments, answer, failed) \
    extern "C" result name parameters {                              \
        using Real = result(*) parameters;                           \
        const Real real = NEXT(#name, Real);                         \
        const Answer told = answer;                                  \
        if (told == Answer::fail) return failed;                     \
        result const done = real arguments;                          \
        answered();                                                  \
        return done;                                                 \
    }
#define BY_PATH(result, name, parameters, arguments, path, failed, ...) \
    PASS_ON(result, name, parameters, arguments, ask_path(#name, path, {__VA_ARGS__}), failed)
// `count` is the number of bytes, of which half is done where that is asked for.
#define BYTES(result, name, parameters, arguments, file, ...)            \
    extern "C" result name parameters {                                  \
        using Real = result(*) parameters;                               \
        const Real real = NEXT(#name, Real);                             \
        const Answer told = ask_of(file, #name, {__VA_ARGS__});          \
        if (told == Answer::fail) return -1;                             \
        if (told == Answer::half) count = count > 1 ? count / 2 : count; \
        result const done = real arguments;                              \
        answered();                                                      \
        return done;                                                     \
    }
#define OPEN(name, parameters, arguments, path)                                              \
    extern "C" int name parameters {                                                         \
        va_list more;                                                                        \
        va_start(more, flags);                                                               \
        const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0; \
        va_end(more);                                                                        \
        using Real = int (*)(...);                                                           \
        const Real real = NEXT(#name, Real);                                                 \
        if (ask_path(#name, path, {EIO, EACCES, EMFILE, ENOSPC}) == Answer::fail) return -1; \
        const int done = real arguments;                                                     \
        answered();                                                                          \
        return done;                                                                         \
    }

OPEN(open, (const char* path, int flags, ...), (path, flags, mode), path)
OPEN(open64, (const char* path, int flags, ...), (path, flags, mode), path)
OPEN(openat, (int at, const char* path, int flags, ...), (at, path, flags, mode), path)
OPEN(openat64, (int at, const char* path, int flags, ...), (at, path, flags, mode), path)

BYTES(ssize_t, read, (int file, void* into, size_t count), (file, into, count), file, EIO, ESTALE)
#define PREAD(name, offset)                                                                                   \
    BYTES(ssize_t, name, (int file, void* into, size_t count, offset at), (file, into, count, at), file, EIO, \
          ESTALE)
PREAD(pread, off_t)
PREAD(pread64, off64_t)
BYTES(ssize_t, readv, (int file, const iovec* into, int count), (file, into, count), file, EIO, ESTALE)
BYTES(ssize_t, preadv, (int file, const iovec* into, int count, off_t at), (file, into, count, at), file, EIO)
BYTES(
    ssize_t, preadv64, (int file, const iovec* into, int count, off64_t at), (file, into, count, at), file, EIO)
BYTES(
    ssize_t, write, (int file, const void* from, size_t count), (file, from, count), file, ENOSPC, EIO, EDQUOT)
#define PWRITE(name, offset)                                                                                   \
    BYTES(ssize_t, name, (int file, const void* from, size_t count, offset at), (file, from, count, at), file, \
          ENOSPC, EIO)
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)
BYTES(ssize_t, writev, (int file, const iovec* from, int count), (file, from, count), file, ENOSPC, EIO)
BYTES(
    ssize_t, pwritev, (int file, const iovec* from, int count, off_t at), (file, from, count, at), file, ENOSPC)
BYTES(ssize_t,
      pwritev64,
      (int file, const iovec* from, int count, off64_t at),
      (file, from, count, at),
      file,
      ENOSPC)
BYTES(
    ssize_t, send, (int file, const void* from, size_t count, int flags), (file, from, count, flags), file, EIO)
BYTES(ssize_t, recv, (int file, void* into, size_t count, int flags), (file, into, count, flags), file, EIO)

PASS_ON(int, fsync, (int file), (file), ask_of(file, "fsync", {EIO, ENOSPC}), -1)
PASS_ON(int, fdatasync, (int file), (file), ask_of(file, "fdatasync", {EIO, ENOSPC}), -1)
PASS_ON(int, ftruncate, (int file, off_t bytes), (file, bytes), ask_of(file, "ftruncate", {EIO, ENOSPC}), -1)
PASS_ON(int,
        fallocate,
        (int file, int mode, off_t at, off_t bytes),
        (file, mode, at, bytes),
        ask_of(file, "fallocate", {ENOSPC, EOPNOTSUPP}),
        -1)
PASS_ON(off_t, lseek, (int file, off_t at, int from), (file, at, from), ask_of(file, "lseek", {EIO}), -1)
BY_PATH(int, rename, (const char* from, const char* to), (from, to), from, -1, EIO, ENOSPC)
BY_PATH(
    int, renameat, (int a, const char* from, int b, const char* to), (a, from, b, to), from, -1, EIO, ENOSPC)
BY_PATH(int,
        renameat2,
        (int a, const char* from, int b, const char* to, unsigned flags),
        (a, from, b, to, flags),
        from,
        -1,
        EIO,
        ENOSPC,
        EINVAL)
BY_PATH(int,
        linkat,
        (int a, const char* from, int b, const char* to, int flags),
        (a, from, b, to, flags),
        from,
        -1,
        EIO,
        EPERM)
BY_PATH(int, link, (const char* from, const char* to), (from, to), from, -1, EIO, EPERM)
BY_PATH(int, unlink, (const char* path), (path), path, -1, EIO, EACCES)
BY_PATH(int, unlinkat, (int at, const char* path, int flags), (at, path, flags), path, -1, EIO, EACCES)
BY_PATH(int, rmdir, (const char* path), (path), path, -1, EIO, EACCES)
BY_PATH(int, mkdir, (const char* path, mode_t mode), (path, mode), path, -1, EIO, ENOSPC)
BY_PATH(int, mkdirat, (int at, const char* path, mode_t mode), (at, path, mode), path, -1, EIO, ENOSPC)
BY_PATH(int, stat, (const char* path, struct stat* into), (path, into), path, -1, EIO, EACCES)
BY_PATH(int, lstat, (const char* path, struct stat* into), (path, into), path, -1, EIO, EACCES)
BY_PATH(int,
        fstatat,
        (int at, const char* path, struct stat* into, int flags),
        (at, path, into, flags),
        path,
        -1,
        EIO,
        ESTALE)
BY_PATH(int,
        statx,
        (int at, const char* path, int flags, unsigned mask, struct statx* into),
        (at, path, flags, mask, into),
        path,
        -1,
        EIO,
        ESTALE)
BY_PATH(DIR*, opendir, (const char* path), (path), path, nullptr, EIO, EMFILE)
BY_PATH(FILE*, fopen, (const char* path, const char* mode), (path, mode), path, nullptr, EIO, EMFILE)
BY_PATH(FILE*, fopen64, (const char* path, const char* mode), (path, mode), path, nullptr, EIO, EMFILE)
PASS_ON(DIR*, fdopendir, (int file), (file), ask_of(file, "fdopendir", {EIO, ENOMEM}), nullptr)
PASS_ON(
    FILE*, fdopen, (int file, const char* mode), (file, mode), ask_of(file, "fdopen", {EIO, ENOMEM}), nullptr)
PASS_ON(struct dirent*, readdir, (DIR * directory), (directory), ask_readdir(directory, "readdir"), nullptr)
PASS_ON(
    struct dirent64*, readdir64, (DIR * directory), (directory), ask_readdir(directory, "readdir64"), nullptr)
PASS_ON(int,
        fflush,
        (FILE * file),
        (file),
        ask_of(file == nullptr ? -1 : fileno(file), "fflush", {EIO, ENOSPC}),
        EOF)
PASS_ON(size_t,
        fwrite,
        (const void* from, size_t size, size_t count, FILE* file),
        (from, size, count, file),
        ask("files", "fwrite", nullptr, {ENOSPC, EIO}),
        0)

// The commands of fcntl that lock, as fcntl64 too.
#define LOCKS(name)                                                                 \
    extern "C" int name(int file, int command, ...) {                               \
        va_list more;                                                               \
        va_start(more, command);                                                    \
        void* const argument = va_arg(more, void*);                                 \
        va_end(more);                                                               \
        const auto real = NEXT(#name, int (*)(...));                                \
        const bool locks = command == F_OFD_SETLK || command == F_OFD_GETLK;        \
        if (locks && ask_of(file, #name, {ENOLCK, EIO}) == Answer::fail) return -1; \
        const int done = real(file, command, argument);                             \
        if (locks) answered();                                                      \
        return done;                                                                \
    }
LOCKS(fcntl)
LOCKS(fcntl64)
PASS_ON(int, fstatfs, (int file, struct statfs* into), (file, into), ask_of(file, "fstatfs", {EIO, ENOSYS}), -1)

#define OF_SOCKETS(name, with, given, ...) \
    PASS_ON(int, name, with, given, ask("sockets", #name, nullptr, {__VA_ARGS__}), -1)
OF_SOCKETS(socket, (int domain, int type, int protocol), (domain, type, protocol), EMFILE, ENOBUFS)
OF_SOCKETS(
    connect, (int file, const sockaddr* to, socklen_t bytes), (file, to, bytes), ECONNREFUSED, ENETUNREACH)
OF_SOCKETS(bind, (int file, const sockaddr* to, socklen_t bytes), (file, to, bytes), EADDRINUSE, EACCES)
OF_SOCKETS(listen, (int file, int waiting), (file, waiting), EADDRINUSE)
OF_SOCKETS(accept, (int file, sockaddr* from, socklen_t* bytes), (file, from, bytes), ECONNABORTED, EMFILE)
OF_SOCKETS(accept4,
           (int file, sockaddr* from, socklen_t* bytes, int flags),
           (file, from, bytes, flags),
           ECONNABORTED,
           EMFILE)

PASS_ON(int,
        pthread_create,
        (pthread_t * thread, const pthread_attr_t* attributes, void* (*begin)(void*), void* argument),
        (thread, attributes, begin, argument),
        is_ours(__builtin_return_address(0)) ? ask("threads", "pthread_create", nullptr, {EAGAIN})
                                             : Answer::work,
        EAGAIN)

extern "C" void* malloc(std::size_t bytes) {
    if (ask_memory("malloc", __builtin_return_address(0)) == Answer::fail) return nullptr;
    return __libc_malloc(bytes);
}
extern "C" void* calloc(std::size_t count, std::size_t bytes) {
    if (ask_memory("calloc", __builtin_return_address(0)) == Answer::fail) return nullptr;
    return __libc_calloc(count, bytes);
}
extern "C" void* realloc(void* memory, std::size_t bytes) {
    if (ask_memory("realloc", __builtin_return_address(0)) == Answer::fail) return nullptr;
    return __libc_realloc(memory, bytes);
}
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    if (ask_memory("aligned_alloc", __builtin_return_address(0)) == Answer::fail) return nullptr;
    return __libc_memalign(alignment, bytes);
}
extern "C" int posix_memalign(void** into, std::size_t alignment, std::size_t bytes) {
    if (ask_memory("posix_memalign", __builtin_return_address(0)) == Answer::fail) return ENOMEM;
    *into = __libc_memalign(alignment, bytes);
    return *into == nullptr ? ENOMEM : 0;
}
extern "C" void* mmap(void* at, size_t bytes, int protection, int flags, int file, off_t offset) {
    using Real = void* (*)(void*, size_t, int, int, int, off_t);
    const Real real = NEXT("mmap", Real);
    if (ask_memory("mmap", __builtin_return_address(0)) == Answer::fail) return MAP_FAILED;
    return real(at, bytes, protection, flags, file, offset);
}

/// openat2 has no function of its own.
extern "C" long syscall(long number, ...) {
    std::array<long, 6> a{};
    va_list more;
    va_start(more, number);
    for (long& each : a) each = va_arg(more, long);
    va_end(more);
    using Real = long (*)(long, ...);
    const Real real = NEXT("syscall", Real);
    const char* const path = number == SYS_openat2 ? reinterpret_cast<const char*>(a[1]) : nullptr;
    if (path != nullptr && ask_path("openat2", path, {EIO, EACCES, EMFILE, ENOSPC}) == Answer::fail) return -1;
    const long done = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (path != nullptr) answered();
    return done;
}

#if __has_include(<liburing.h>)

namespace {

/// Null: not a request of its own.
const char* request_name(int operation) {
    switch (operation) {
        case IORING_OP_OPENAT: return "uring openat";
        case IORING_OP_OPENAT2: return "uring openat2";
        case IORING_OP_STATX: return "uring statx";
        case IORING_OP_READ: return "uring read";
        case IORING_OP_READ_FIXED: return "uring read_fixed";
        case IORING_OP_WRITE: return "uring write";
        case IORING_OP_WRITE_FIXED: return "uring write_fixed";
        case IORING_OP_FSYNC: return "uring fsync";
        case IORING_OP_MKDIRAT: return "uring mkdirat";
        case IORING_OP_UNLINKAT: return "uring unlinkat";
        case IORING_OP_RENAMEAT: return "uring renameat";
        default: return nullptr;
    }
}

void make_failing(io_uring_sqe& request, int error) {
    constexpr unsigned kInjectResult = 1;  // IORING_NOP_INJECT_RESULT
    request = {};
    request.opcode = IORING_OP_NOP;
    request.rw_flags = kInjectResult;
    request.len = static_cast<unsigned>(-error);
}

/// Before Linux 6.10 a request that does nothing has always done it.
bool requests_can_fail() {
    const bool counted = counting.exchange(false);
    io_uring ring{};
    io_uring_params parameters{};
    int result = 0;
    if (NEXT("io_uring_queue_init_params", int (*)(unsigned, io_uring*, io_uring_params*))(2, &ring,
                                                                                           &parameters) == 0) {
        make_failing(*io_uring_get_sqe(&ring), EDOM);
        io_uring_cqe* answer = nullptr;
        if (NEXT("io_uring_submit_and_wait", int (*)(io_uring*, unsigned))(&ring, 1) == 1 &&
            io_uring_peek_cqe(&ring, &answer) == 0)
            result = answer->res;
        io_uring_queue_exit(&ring);
    }
    counting = counted;
    return result == -EDOM;
}

void fail_request(io_uring_sqe& request) {
    static const bool possible = requests_can_fail();
    const char* const name = possible ? request_name(request.opcode) : nullptr;
    if (name == nullptr) return;
    switch (ask("files", name, nullptr, {EIO, ENOSPC})) {
        case Answer::work: break;
        case Answer::half: {
            const bool moves = request.opcode == IORING_OP_READ || request.opcode == IORING_OP_READ_FIXED ||
                               request.opcode == IORING_OP_WRITE || request.opcode == IORING_OP_WRITE_FIXED;
            if (moves && request.len >= 2 * 4096) request.len = request.len / 2 / 4096 * 4096;
            break;
        }
        case Answer::fail: {
            const auto data = request.user_data;
            make_failing(request, errno);
            request.user_data = data;
            break;
        }
    }
}

}  // namespace

extern "C" int io_uring_submit_and_wait(io_uring* ring, unsigned wait) {
    const auto real = NEXT("io_uring_submit_and_wait", int (*)(io_uring*, unsigned));
    if (counting) {
        for (unsigned at = ring->sq.sqe_head; at != ring->sq.sqe_tail; ++at)
            fail_request(ring->sq.sqes[at & *ring->sq.kring_mask]);
    }
    return real(ring, wait);
}

extern "C" int io_uring_queue_init_params(unsigned entries, io_uring* ring, io_uring_params* parameters) {
    const auto real = NEXT("io_uring_queue_init_params", int (*)(unsigned, io_uring*, io_uring_params*));
    if (ask("files", "io_uring_queue_init_params", nullptr, {ENOMEM, EPERM, ENOSYS, EMFILE}) == Answer::fail)
        return -errno;
    return real(entries, ring, parameters);
}

extern "C" int io_uring_register_buffers(io_uring* ring, const iovec* buffers, unsigned count) {
    const auto real = NEXT("io_uring_register_buffers", int (*)(io_uring*, const iovec*, unsigned));
    if (ask("files", "io_uring_register_buffers", nullptr, {ENOMEM, EPERM}) == Answer::fail) return -errno;
    return real(ring, buffers, count);
}

#endif

extern "C" int __libc_start_main(int (*main)(int, char**, char**),
                                 int argc,
                                 char** argv,
                                 void (*begin)(),
                                 void (*end)(),
                                 void (*loader_end)(),
                                 void* stack_end) {
    using Real = int (*)(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(), void (*)(), void*);
    program_main = main;
    return NEXT("__libc_start_main", Real)(counted_main, argc, argv, begin, end, loader_end, stack_end);
}
