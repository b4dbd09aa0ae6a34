// A plain reader and writer on libnfs: N connections, D requests in flight on each. The reader reads one file
// front to back, again and again for some seconds, and copies the data once, as every reader does that keeps
// them. The writer of N connections writes N new files, FILE.0 and on, front to back for some seconds, until
// they have 1 GiB together, and has them committed at the end. It writes no byte twice: a server takes less
// time for those. Prints bytes a second and CPU seconds a GB as JSON.
//
//     plain_nfs read|write HOST EXPORT FILE VERSION CONNECTIONS DEPTH SECONDS
//
// A request has 1 MiB, or 3 KiB for writes of version 4: libnfs 4 encodes such a request in 4 KiB, headers
// included. DEPTH is in MiB for those, too.
#include <fcntl.h>
#include <nfsc/libnfs.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::uint64_t kMiB = 1U << 20;
constexpr std::uint64_t kWrite4Bytes = 3072;
constexpr std::size_t kWrites4Max = 256;              // in flight
constexpr std::uint64_t kWrittenBytes = 1024 * kMiB;  // of all files

struct Connection;

struct Slot {
    Connection* connection = nullptr;
    std::vector<char> buffer;
};

struct Connection {
    nfs_context* nfs = nullptr;
    nfsfh* file = nullptr;
    std::uint64_t position = 0;  // writing
    std::vector<Slot> slots;
};

bool writes = false;
std::uint64_t request_bytes = kMiB;
std::uint64_t position = 0, file_bytes = 0, total = 0;
bool going_on = true;
int in_flight = 0;

void fail(const char* what, nfs_context* nfs) {
    std::fprintf(stderr, "%s: %s\n", what, nfs_get_error(nfs));
    std::exit(1);
}

void next(Slot& slot);

void on_done(int result, nfs_context* nfs, void* data, void* user) {
    auto& slot = *static_cast<Slot*>(user);
    --in_flight;
    if (result < 0) fail("transfer", nfs);
    if (!writes) std::memcpy(slot.buffer.data(), data, static_cast<std::size_t>(result));
    total += static_cast<std::uint64_t>(result);
    if (going_on) next(slot);
}

void next(Slot& slot) {
    Connection& connection = *slot.connection;
    std::uint64_t& at = writes ? connection.position : position;
    if (!writes && at + request_bytes > file_bytes) at = 0;
    const int begun = writes
                          ? nfs_pwrite_async(connection.nfs, connection.file, at, request_bytes,
                                             slot.buffer.data(), on_done, &slot)
                          : nfs_pread_async(connection.nfs, connection.file, at, request_bytes, on_done, &slot);
    if (begun != 0) fail("request", connection.nfs);
    ++in_flight;
    at += request_bytes;
}

double cpu() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void open(Connection& each, const std::string& version, int number, char** arguments) {
    each.nfs = nfs_init_context();
    nfs_set_version(each.nfs, version == "4" ? 4 : 3);
    if (version == "4") {
        nfs4_set_client_name(each.nfs, ("plain " + std::to_string(number)).c_str());
        nfs4_set_verifier(each.nfs, ("verify" + std::to_string(10 + number)).c_str());
    }
    if (nfs_mount(each.nfs, arguments[2], arguments[3]) != 0) fail("mount", each.nfs);
    std::string name = arguments[4];
    if (writes) {
        name += "." + std::to_string(number);
        if (nfs_creat(each.nfs, name.c_str(), 0666, &each.file) != 0) fail("create", each.nfs);
        nfs_close(each.nfs, each.file);
        if (version == "4" && nfs_chmod(each.nfs, name.c_str(), 0666) != 0) fail("chmod", each.nfs);
    }
    if (nfs_open(each.nfs, name.c_str(), writes ? O_WRONLY : O_RDONLY, &each.file) != 0) fail("open", each.nfs);
    if (writes) return;
    nfs_stat_64 info{};
    if (nfs_fstat64(each.nfs, each.file, &info) != 0) fail("stat", each.nfs);
    file_bytes = info.nfs_size;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 9) return 2;
    writes = std::string_view(arguments[1]) == "write";
    const std::string version = arguments[5];
    const auto connections = static_cast<std::size_t>(std::atoi(arguments[6]));
    auto depth = static_cast<std::size_t>(std::atoi(arguments[7]));
    if (writes && version == "4") {
        request_bytes = kWrite4Bytes;
        depth = std::min(depth * kMiB / kWrite4Bytes, kWrites4Max);
    }
    std::vector<Connection> all(connections);
    for (std::size_t i = 0; i < connections; ++i) {
        open(all[i], version, static_cast<int>(i), arguments);
        all[i].slots.resize(depth);
    }
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const double cpu_before = cpu();
    const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
    for (Connection& each : all) {
        for (Slot& slot : each.slots) {
            slot.connection = &each;
            slot.buffer.resize(request_bytes);
            next(slot);
        }
    }
    std::vector<pollfd> polls(connections);
    while (in_flight > 0) {
        for (std::size_t i = 0; i < connections; ++i)
            polls[i] = {nfs_get_fd(all[i].nfs), static_cast<short>(nfs_which_events(all[i].nfs)), 0};
        poll(polls.data(), polls.size(), 1000);
        for (std::size_t i = 0; i < connections; ++i) {
            if (polls[i].revents != 0 && nfs_service(all[i].nfs, polls[i].revents) < 0)
                fail("service", all[i].nfs);
        }
        going_on = going_on && seconds() < std::atof(arguments[8]) && (!writes || total < kWrittenBytes);
    }
    for (Connection& each : all) {
        if (writes && nfs_fsync(each.nfs, each.file) != 0) fail("sync", each.nfs);
    }
    const double took = seconds(), gigabytes = static_cast<double>(total) / 1e9;
    std::printf("{\"bytes_per_s\": %.0f, \"cpu_s_per_gb\": %.3f}\n", static_cast<double>(total) / took,
                (cpu() - cpu_before) / gigabytes);
    return 0;
}
