// Strangers that talk to the channel between the ranks of a real mpirun: nothing of the run changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "real/mpirun.h"

namespace streamsim::tests {
namespace {

constexpr std::size_t kStrangers = 1000;
constexpr std::int64_t kMemoryKb = 16'000;

/// The TCP ports that this process listens on.
std::set<std::uint16_t> ports_of(pid_t pid) {
    std::set<std::string> inodes;
    std::error_code error;
    const std::string proc = "/proc/" + std::to_string(pid);
    for (const auto& entry : std::filesystem::directory_iterator(proc + "/fd", error)) {
        const std::string what = std::filesystem::read_symlink(entry.path(), error).string();
        if (what.starts_with("socket:[")) inodes.insert(what.substr(8, what.size() - 9));
    }
    std::set<std::uint16_t> ports;
    for (const char* const table : {"/net/tcp", "/net/tcp6"}) {
        std::ifstream in(proc + table);
        std::string line;
        std::getline(in, line);
        while (std::getline(in, line)) {
            std::istringstream words(line);
            std::string number, local, remote, state, skipped, inode;
            words >> number >> local >> remote >> state >> skipped >> skipped >> skipped >> skipped >>
                skipped >> inode;
            constexpr const char* kListens = "0A";
            if (state == kListens && inodes.contains(inode))
                ports.insert(
                    static_cast<std::uint16_t>(std::stoul(local.substr(local.find(':') + 1), nullptr, 16)));
        }
    }
    return ports;
}

/// The most memory that this process has had in kB; 0: it has ended.
std::int64_t highest_memory_kb(pid_t pid) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6));
    }
    return 0;
}

/// Connections that say something that no rank says, and come again whenever they are closed.
class Strangers {
public:
    Strangers(std::uint16_t port, std::size_t count) : port_(port), sockets_(count, -1) {
        const std::string name = R"("name":1,)";
        bomb_ = "{";
        while (bomb_.size() < 60'000) bomb_ += name;
        bomb_ += R"("name":1})";
        bomb_.insert(0, std::string("\x00\x00\xea\x6a", 4));
        for (std::size_t i = 0; i < count; ++i) connect_again(i);
        thread_ = std::thread([this] { talk(); });
    }
    ~Strangers() {
        stopped_ = true;
        thread_.join();
        for (const int fd : sockets_) close(fd);
    }
    Strangers(const Strangers&) = delete;
    Strangers& operator=(const Strangers&) = delete;

    /// So many connections were made; the rest found nobody who listens.
    std::size_t connections() const { return connections_; }

private:
    void connect_again(std::size_t i) {
        close(sockets_[i]);
        sockets_[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port_);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const int result = connect(sockets_[i], reinterpret_cast<const sockaddr*>(&to), sizeof to);
        if (result != 0 && errno != EINPROGRESS) return;
        ++connections_;
        // A bomb, a greeting that does not go on, or a byte now and then.
        if (i % 3 == 0) say(i, bomb_);
        if (i % 3 == 1) say(i, "streamsim seat 2 0123456789abcdef");
    }
    void say(std::size_t i, const std::string& text) const {
        (void)send(sockets_[i], text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    bool is_closed(std::size_t i) const {
        char byte = 0;
        const auto got = recv(sockets_[i], &byte, 1, MSG_DONTWAIT);
        return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
    }
    void talk() {
        while (!stopped_) {
            for (std::size_t i = 0; i < sockets_.size(); ++i) {
                if (is_closed(i)) connect_again(i);
                if (i % 3 == 2) say(i, "s");
            }
            sleep_ms(20);
        }
    }

    std::uint16_t port_;
    std::string bomb_;
    std::vector<int> sockets_;
    std::atomic<std::size_t> connections_ = 0;
    std::atomic<bool> stopped_ = false;
    std::thread thread_;
};

struct Played {
    Finished ended;
    Json result;
    std::int64_t memory_kb = 0;   // of rank 0
    std::size_t connections = 0;  // of strangers
};

/// Two ranks on the null storage. Rank 1 connects to rank 0 once `strangers` of them have had longer than the
/// two seconds that each has.
Played play(const TempDir& dir, const std::string& name, std::size_t strangers) {
    const std::string json = dir / (name + ".json");
    Spawn spawn =
        over_ranks(2, {"--mca", "btl", "self,vader"},  // so that MPI listens nowhere in a rank
                   {"--prores-hd", "--streams", "2", "--duration", "3s", "--quiet", "--json", json, "null:"});
    spawn.env = {{"LD_PRELOAD", LATE_RANK_LIBRARY}, {"LATE_RANK_UNTIL", dir / name}};
    Process process("mpirun", spawn);
    Played played;
    pid_t rank0 = 0;
    std::set<std::uint16_t> ports;
    for (int i = 0; i < 600 && ports.empty() && process.running(); ++i) {
        if (rank0 == 0) rank0 = process_of(0, json);
        if (rank0 != 0) ports = ports_of(rank0);
        sleep_ms(20);
    }
    EXPECT_EQ(ports.size(), 1u) << "only the seat channel listens";
    if (ports.empty()) {
        write_text(dir / name, "");
        played.ended = process.wait();
        return played;
    }
    const Strangers beside(*ports.begin(), strangers);
    if (strangers > 0) sleep_ms(2500);
    write_text(dir / name, "");
    while (process.running()) {
        played.memory_kb = std::max(played.memory_kb, highest_memory_kb(rank0));
        sleep_ms(20);
    }
    played.connections = beside.connections();
    played.ended = process.wait();
    if (played.ended.exit_code == 0) played.result = read_json(json);
    return played;
}

TEST(RanksBesideStrangers, PlayAndSayWhatTheyPlayAndSayAlone) {
    SKIP_WITHOUT_MPIRUN();
    const TempDir dir;
    const Played alone = play(dir, "alone", 0);
    ASSERT_EQ(alone.ended.exit_code, 0) << alone.ended.text();
    const Played beside = play(dir, "beside", kStrangers);
    ASSERT_EQ(beside.ended.exit_code, 0) << beside.ended.text();
    EXPECT_EQ(beside.ended.err, "");
    EXPECT_GE(beside.connections, kStrangers);
    EXPECT_THAT(result_problems(beside.result), testing::IsEmpty());
    EXPECT_EQ(beside.result["verdict"], alone.result["verdict"]);
    EXPECT_EQ(beside.result["digest"], alone.result["digest"]);
    for (const char* const count : {"frames_scheduled", "frames_on_time", "frames_late", "frames_dropped",
                                    "frames_failed", "stalls", "bytes_read"})
        EXPECT_EQ(beside.result["totals"][count], alone.result["totals"][count]) << count;
    ASSERT_EQ(beside.result["seats"].size(), 2u);
    for (const Json& seat : beside.result["seats"]) EXPECT_EQ(seat["state"], "complete") << seat;
    EXPECT_GT(alone.memory_kb, 0);
    EXPECT_LT(beside.memory_kb - alone.memory_kb, kMemoryKb);
    RecordProperty("connections", std::to_string(beside.connections));
    RecordProperty("memory_kb", std::to_string(alone.memory_kb) + " " + std::to_string(beside.memory_kb));
}

}  // namespace
}  // namespace streamsim::tests
