// streamsim-smb: speaks SMB for streamsim, over one connection, by libsmbclient. streamsim starts this program,
// which takes requests from a socket (smb_wire.h) and ends as soon as the other end of the socket is closed.
//
// The program is separate because libsmbclient blocks, supports one thread in a process only, and has the
// licence GPLv3.
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "storage/smb/helper/client.h"
#include "storage/smb/smb_wire.h"

namespace streamsim::storage {
namespace {

constexpr int kExitUsage = 2;
constexpr int kExitNoMemory = 3;
constexpr std::size_t kGuardBytes = std::size_t{2} << 20;  // inaccessible memory behind each slot

/// Maps the slots, each with inaccessible memory behind it: a server that sends more than requested ends this
/// process and corrupts nothing.
std::vector<std::span<std::byte>> map_slots() {
    struct stat info {};
    if (fstat(kSmbMemory, &info) != 0) return {};
    const std::size_t count = static_cast<std::size_t>(info.st_size) / kSmbSlotBytes;
    std::vector<std::span<std::byte>> slots;
    for (std::size_t i = 0; i < count; ++i) {
        void* const room =
            mmap(nullptr, kSmbSlotBytes + kGuardBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (room == MAP_FAILED) return {};
        void* const slot =
            mmap(room, kSmbSlotBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, kSmbMemory,
                 static_cast<off_t>(i * kSmbSlotBytes));
        if (slot == MAP_FAILED) return {};
        slots.emplace_back(static_cast<std::byte*>(slot), kSmbSlotBytes);
    }
    return slots;
}

/// Ends the process as soon as the parent has closed the socket, also while libsmbclient waits for a server.
void watch_parent() {
    pollfd socket{kSmbSocket, POLLRDHUP, 0};
    for (;;) {
        if (poll(&socket, 1, -1) > 0 && (socket.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0)
            _exit(0);
    }
}

std::vector<std::string> texts_of(std::span<const char> packet) {
    std::vector<std::string> texts;
    while (!packet.empty()) {
        const std::size_t length = strnlen(packet.data(), packet.size());
        texts.emplace_back(packet.data(), length);
        packet = packet.subspan(std::min(length + 1, packet.size()));
    }
    return texts;
}

int serve() {
    const auto slots = map_slots();
    if (slots.size() != kSmbSlots) return kExitNoMemory;  // reads into no slot would look like ends of files
    std::vector<char> packet(sizeof(SmbRequest) + kSmbTextBytesMax);
    SmbClient client;
    for (;;) {
        const ssize_t got = recv(kSmbSocket, packet.data(), packet.size(), 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < static_cast<ssize_t>(sizeof(SmbRequest))) return 0;
        SmbRequest request;
        std::memcpy(&request, packet.data(), sizeof(request));
        const auto texts =
            texts_of(std::span(packet).first(static_cast<std::size_t>(got)).subspan(sizeof(request)));
        SmbAnswer answer;
        answer.id = request.id;
        std::span<std::byte> slot;
        if (request.slot < slots.size()) slot = slots[request.slot];
        client.perform(request, texts, slot, answer);
        if (send(kSmbSocket, &answer, sizeof(answer), MSG_NOSIGNAL) < 0) return 0;
        if (answer.lost) return 0;
    }
}

int run() {
    struct stat info {};
    if (fstat(kSmbSocket, &info) != 0 || !S_ISSOCK(info.st_mode)) {
        std::fputs("streamsim-smb is started by streamsim; it has no command line\n", stderr);
        return kExitUsage;
    }
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);  // a core would contain the password
    // A core that is piped to a program (kernel.core_pattern) obeys no limit; this also stops ptrace.
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    std::thread(watch_parent).detach();
    return serve();
}

}  // namespace
}  // namespace streamsim::storage

int main() {
    const int code = streamsim::storage::run();
    _exit(code);  // without waiting for the thread of watch_parent()
}
