// Staged causes that take this computer itself: a throttled disk, a network with a known rate, processors that
// others use, its own page cache.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/harness.h"
#include "real/slow_mount.h"
#include "real/staged_play.h"
#include "real/throttled_disk.h"

namespace streamsim::tests {
namespace {

using ::testing::AnyOf;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Not;

using Options = std::vector<std::string>;

/// Two small ProRes clips in a folder; the path of the first.
std::string make_clips(const std::string& folder) {
    const Finished made =
        streamsim({"prepare", "--quiet", "--prores-hd", "--streams", "2", "--clip-duration", "3s", folder});
    EXPECT_EQ(made.exit_code, 0) << made.text();
    std::vector<std::string> clips;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.path().extension() == ".mov") clips.push_back(entry.path());
    }
    return clips.empty() ? std::string() : *std::min_element(clips.begin(), clips.end());
}

// ---- the disk

TEST(CausesOnADisk, AThrottledDiskIsTheStoragesBandwidth) {
    if (const auto reason = no_throttled_disk_because()) GTEST_SKIP() << *reason;
    const ThrottledDisk disk;
    ASSERT_EQ(disk.problem(), "");
    ASSERT_NE(make_clips(disk.path()), "");
    const TempDir results;
    disk.throttle(18'000'000);
    const Finished done = disk.streamsim({"--quiet", "--prores-hd", "--streams", "2", "--duration", "3s",
                                          "--json", results / "json", disk.path()});
    EXPECT_EQ(done.exit_code, 1) << done.text();
    expect_named(read_json(results / "json"), "storage", "bandwidth", "more in flight would not help");
}

// ---- the network

std::optional<std::string> no_network_because() {
    if (const auto reason = no_slowfs_because()) return reason;
    const Finished tools =
        shell("for t in ip tc nsenter nbdkit nbdfuse; do command -v $t >/dev/null || echo $t; done");
    if (!tools.out.empty()) return "not installed: " + tools.out;
    return std::nullopt;
}

/// Two computers with a wire of a known rate between them, which are namespaces; the one serves a file with
/// NBD, the other has it mounted.
class Wire {
public:
    /// `rate`: as tc has it, empty: as it is. `server`: what the server is told.
    Wire(const std::string& clip, const std::string& rate, const Options& server = {}) {
        const std::string shape = rate.empty() ? ""
                                               : "; ip netns exec $a tc qdisc add dev wire root tbf rate " +
                                                     rate + " burst 128kb limit 4mb";
        const Finished made =
            shell("set -e; a=" + server_ + "; b=" + client_ +
                  "; ip netns add $a; ip netns add $b"
                  "; ip link add wire netns $a type veth peer name eth0 netns $b"
                  "; ip -n $a addr add 10.78.5.1/24 dev wire; ip -n $b addr add 10.78.5.2/24 dev eth0"
                  "; ip -n $a link set wire up; ip -n $b link set eth0 up; ip -n $b link set lo up" +
                  shape);
        if (made.exit_code != 0) {
            problem_ = made.err;
            return;
        }
        Spawn serve;
        serve.args = {"--net=/run/netns/" + server_, "nbdkit", "-f", "-p", "10809", "-t", "32"};
        serve.args.insert(serve.args.end(), server.begin(), server.end());
        serve.args.insert(serve.args.end(), {"file", clip});
        if (!server.empty()) serve.args.emplace_back("rdelay=400ms");
        serve.timeout_s = 600;
        served_ = std::make_unique<Process>("/usr/bin/nsenter", serve);
        write_text(file(), "");
        mount();
    }
    ~Wire() {
        umount2(file().c_str(), MNT_DETACH);
        mounted_.reset();
        served_.reset();
        shell("ip netns del " + server_ + "; ip netns del " + client_);
    }
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;

    const std::string& problem() const { return problem_; }
    std::string file() const { return dir_ / "clip.mov"; }
    Json play(const Options& options) const {
        return play_staged(options, file(), {}, {"/usr/bin/nsenter", "--net=/run/netns/" + client_});
    }

private:
    void mount() {
        Spawn mount;
        mount.args = {"--net=/run/netns/" + client_, "nbdfuse", "-r", file(), "nbd://10.78.5.1"};
        mount.timeout_s = 600;
        for (int attempt = 0; attempt < 50; ++attempt) {
            mounted_ = std::make_unique<Process>("/usr/bin/nsenter", mount);
            while (mounted_->running()) {
                if (std::filesystem::file_size(file()) > 0) return;
                sleep_ms(10);
            }
            sleep_ms(100);  // the server does not listen yet
        }
        problem_ = mounted_->err_so_far();
    }

    TempDir dir_;
    std::string server_ = "streamsim-a-" + std::to_string(getpid());
    std::string client_ = "streamsim-b-" + std::to_string(getpid());
    std::unique_ptr<Process> served_, mounted_;
    std::string problem_;
};

class CausesOnANetwork : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto reason = no_network_because()) GTEST_SKIP() << *reason;
        clip_ = make_clips(media_.path());
        ASSERT_NE(clip_, "");
    }

    TempDir media_;
    std::string clip_;
};

class CausesOnANetworkVariants : public CausesOnANetwork {};

TEST_F(CausesOnANetwork, AFullWireIsTheNetwork) {
    const Wire wire(clip_, "80mbit");
    ASSERT_EQ(wire.problem(), "");
    expect_named(wire.play({"--duration", "2s"}), "network", "network", "was full");
}

TEST_F(CausesOnANetworkVariants, AServerThatIsSlowIsTheStorage) {
    const Wire wire(clip_, "", {"--filter=delay"});
    ASSERT_EQ(wire.problem(), "");
    const Json slow = wire.play({"--duration", "3s"});
    expect_named(slow, "storage", "slow-reads", "the storage did not keep up");
    EXPECT_THAT(sentences_of(slow), Not(HasSubstr("network was full")));
}

// ---- the processors

int processors() {
    return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

/// Programs that do nothing but use processors, at a real-time priority if one is given.
class Hogs {
public:
    Hogs(int count, const Options& priority) {
        for (int i = 0; i < count; ++i) {
            Spawn spawn;
            spawn.args = priority;
            spawn.args.insert(spawn.args.end(), {"sh", "-c", "while :; do :; done"});
            spawn.timeout_s = 600;
            hogs_.push_back(std::make_unique<Process>("/usr/bin/env", spawn));
        }
    }

private:
    std::vector<std::unique_ptr<Process>> hogs_;
};

/// All processors are used by others for two of three seconds.
void expect_busy_client(int hogs, const Options& priority, const Options& more) {
    if (const auto reason = no_slowfs_because()) GTEST_SKIP() << *reason;
    const SlowMount mount("clip a frames=72\nclip b frames=72\n");
    Options options{"--streams", "2", "--duration", "4s", "--readahead", "4"};
    options.insert(options.end(), more.begin(), more.end());
    const Json result = play_staged(options, mount.path(), [&](const Process&) {
        sleep_ms(1'500);
        const Hogs busy(hogs, priority);
        sleep_ms(2'000);
    });
    EXPECT_THAT(result["verdict"]["limit"], AnyOf(Eq("client-cpu"), Eq("client-scheduling")))
        << result["verdict"];
    EXPECT_THAT(sentences_of(result), HasSubstr("cannot be held against the storage"));
    // The busy processors delay the storage's own process as well, so a few of the frames may be attributed to
    // the storage.
    int all = 0;
    int of_storage = 0;
    for (const Json& cause : result["causes"]) {
        const int frames = cause["frames"];
        all += frames;
        if (cause["limit"] == "storage") of_storage += frames;
    }
    EXPECT_LE(of_storage * 10, all) << result["causes"];
}

TEST(CausesOnABusyComputer, ProcessorsThatOthersUseAreNotTheStorage) {
    expect_busy_client(4 * processors(), {}, {"--decode-cpu", "14ms"});
}

TEST(CausesOnABusyComputerVariants, ProcessorsThatTheirBettersUse) {
    expect_busy_client(processors(), {"chrt", "-f", "50"}, {});
}

// ---- the memory

TEST(CausesInMemory, BytesThatNeverLeftItAreSaid) {
    const TempDir media;
    ASSERT_NE(make_clips(media.path()), "");
    shell("find " + media.path().string() + " -type f -exec cat {} + > /dev/null");
    const Options options{"--prores-hd", "--streams", "2", "--duration", "2s", "--buffered"};
    const Json warm = play_staged(options, media.path());
    EXPECT_GT(warm["client"]["page_cache_bytes"].get<std::uint64_t>() * 20,
              warm["totals"]["bytes_read"].get<std::uint64_t>());
    EXPECT_THAT(sentences_of(warm), HasSubstr("came from this computer's own memory"));

    Options cold = options;
    cold.emplace_back("--require-cold");
    cold.insert(cold.end(), {"--quiet", "--json", media / "json", media.path()});
    EXPECT_EQ(streamsim(cold).exit_code, 1);
    const Json refused = read_json(media / "json");
    EXPECT_EQ(refused["verdict"]["pass"], false);
    EXPECT_NE(refused["verdict"]["limit"], "storage");
    EXPECT_THAT(sentences_of(refused), HasSubstr("cold media were required"));
}

}  // namespace
}  // namespace streamsim::tests
