// A plain reader and writer on libsmbclient: N processes with one connection each, in requests of BYTES from
// and to one buffer. The readers read one file front to back, again and again for some seconds. The writers
// write a new file each, FILE.0 and on, for some seconds, until these have 1 GiB together; they write no byte
// twice: a server takes less time for those. Prints bytes a second and CPU seconds a GB as JSON.
//
//     plain_smb read|write smb://USER:PASSWORD@HOST/SHARE/FILE BYTES CONNECTIONS SECONDS
#include <fcntl.h>
#include <libsmbclient.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::uint64_t kWrittenBytes = std::uint64_t{1} << 30;  // of all files

struct Result {
    std::uint64_t bytes = 0;
    double cpu_s = 0;
    double seconds = 0;
};

void no_password(const char*, const char*, char*, int, char*, int, char*, int) {}  // the URL has it

double cpu() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

[[noreturn]] void fail(const char* what) {
    std::perror(what);
    _exit(1);
}

/// One connection. `bytes_to_write` 0: it reads. `start` is readable when all connections are up.
Result transfer(std::uint64_t bytes_to_write,
                std::string url,
                std::size_t bytes,
                int number,
                int ready,
                int start,
                double seconds_max) {
    const bool writes = bytes_to_write > 0;
    if (smbc_init(no_password, 0) != 0) fail("smbc_init");
    if (writes) url += "." + std::to_string(number);
    const int file = smbc_open(url.c_str(), writes ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY, 0666);
    if (file < 0) fail("open");
    std::vector<char> buffer(bytes, 'x');
    char byte = 0;
    if (write(ready, &byte, 1) != 1) fail("pipe");
    if (read(start, &byte, 1) < 0) fail("pipe");
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const double cpu_before = cpu();
    Result result;
    while (result.seconds < seconds_max && (!writes || result.bytes < bytes_to_write)) {
        const ssize_t done = writes ? smbc_write(file, buffer.data(), buffer.size())
                                    : smbc_read(file, buffer.data(), buffer.size());
        if (done < 0) fail("transfer");
        const bool ended = !writes && static_cast<std::size_t>(done) < buffer.size();
        if (ended && smbc_lseek(file, 0, SEEK_SET) < 0) fail("seek");
        result.bytes += static_cast<std::uint64_t>(done);
        result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    }
    result.cpu_s = cpu() - cpu_before;
    return result;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 6) return 2;
    const bool writes = std::string_view(arguments[1]) == "write";
    const auto bytes_at_once = static_cast<std::size_t>(std::atol(arguments[3]));
    const int connections = std::atoi(arguments[4]);
    const std::uint64_t bytes_to_write = writes ? kWrittenBytes / static_cast<std::uint64_t>(connections) : 0;
    std::array<int, 2> ready{}, start{}, results{};
    if (pipe(ready.data()) != 0 || pipe(start.data()) != 0 || pipe(results.data()) != 0) fail("pipe");
    for (int i = 0; i < connections; ++i) {
        if (fork() != 0) continue;
        close(start[1]);
        const Result one = transfer(bytes_to_write, arguments[2], bytes_at_once, i, ready[1], start[0],
                                    std::atof(arguments[5]));
        if (write(results[1], &one, sizeof one) != sizeof one) fail("pipe");
        _exit(0);
    }
    close(results[1]);
    close(ready[1]);
    char byte = 0;
    for (int i = 0; i < connections; ++i) {
        if (read(ready[0], &byte, 1) != 1) return 1;  // every process has ended
    }
    close(start[1]);
    double rate = 0, cpu_s = 0, bytes = 0;
    Result one;
    int ended = 0;
    for (; read(results[0], &one, sizeof one) == sizeof one; ++ended) {
        rate += static_cast<double>(one.bytes) / one.seconds;
        cpu_s += one.cpu_s;
        bytes += static_cast<double>(one.bytes);
    }
    if (ended != connections) return 1;
    std::printf("{\"bytes_per_s\": %.0f, \"cpu_s_per_gb\": %.3f}\n", rate, cpu_s / (bytes / 1e9));
    return 0;
}
