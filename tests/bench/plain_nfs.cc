// A plain reader on libnfs: N connections, D reads of 1 MiB in flight on each, one file front to back, again
// and again for some seconds. It copies the data once, as every reader does that keeps them. Prints MB/s and
// CPU seconds per GB as JSON.
//
//     nfs_reader HOST EXPORT FILE VERSION CONNECTIONS DEPTH SECONDS
#include <fcntl.h>
#include <nfsc/libnfs.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr std::uint64_t kBytes = 1U << 20;

struct Connection;

struct Slot {
    Connection* connection = nullptr;
    std::vector<char> buffer = std::vector<char>(kBytes);
};

struct Connection {
    nfs_context* nfs = nullptr;
    nfsfh* file = nullptr;
    std::vector<Slot> slots;
};

std::uint64_t position = 0, file_bytes = 0, total = 0;
bool going_on = true;
int in_flight = 0;

void fail(const char* what, nfs_context* nfs) {
    std::fprintf(stderr, "%s: %s\n", what, nfs_get_error(nfs));
    std::exit(1);
}

void next(Slot& slot);

void on_read(int result, nfs_context* nfs, void* data, void* user) {
    auto& slot = *static_cast<Slot*>(user);
    --in_flight;
    if (result < 0) fail("read", nfs);
    std::memcpy(slot.buffer.data(), data, static_cast<std::size_t>(result));
    total += static_cast<std::uint64_t>(result);
    if (going_on) next(slot);
}

void next(Slot& slot) {
    if (position + kBytes > file_bytes) position = 0;
    if (nfs_pread_async(slot.connection->nfs, slot.connection->file, position, kBytes, on_read, &slot) != 0)
        fail("pread", slot.connection->nfs);
    ++in_flight;
    position += kBytes;
}

double cpu() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 8) return 2;
    const std::string version = arguments[4];
    const auto connections = static_cast<std::size_t>(std::atoi(arguments[5]));
    const auto depth = static_cast<std::size_t>(std::atoi(arguments[6]));
    std::vector<Connection> all(connections);
    for (std::size_t i = 0; i < connections; ++i) {
        Connection& each = all[i];
        each.nfs = nfs_init_context();
        nfs_set_version(each.nfs, version == "4" ? 4 : 3);
        if (version == "4") {
            nfs4_set_client_name(each.nfs, ("reader " + std::to_string(i)).c_str());
            nfs4_set_verifier(each.nfs, ("verify" + std::to_string(10 + i)).c_str());
        }
        if (nfs_mount(each.nfs, arguments[1], arguments[2]) != 0) fail("mount", each.nfs);
        if (nfs_open(each.nfs, arguments[3], O_RDONLY, &each.file) != 0) fail("open", each.nfs);
        nfs_stat_64 info{};
        if (nfs_fstat64(each.nfs, each.file, &info) != 0) fail("stat", each.nfs);
        file_bytes = info.nfs_size;
        each.slots.resize(depth);
    }
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const double cpu_before = cpu();
    const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
    for (Connection& each : all) {
        for (Slot& slot : each.slots) {
            slot.connection = &each;
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
        going_on = going_on && seconds() < std::atof(arguments[7]);
    }
    const double took = seconds(), gigabytes = static_cast<double>(total) / 1e9;
    std::printf("{\"bytes_per_s\": %.0f, \"cpu_s_per_gb\": %.3f}\n", static_cast<double>(total) / took,
                (cpu() - cpu_before) / gigabytes);
    return 0;
}
