// Storage that is slow or broken in ways that are known exactly: what is failed, what is dropped, who is
// blamed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <thread>
#include <vector>

#include "cli/harness.h"
#include "real/mpirun.h"
#include "real/slow_mount.h"

namespace streamsim::tests {
namespace {

using ::testing::IsEmpty;

constexpr std::uint64_t kFrameBytes = 8192 + 256 * 64 * 4;
constexpr const char* kNoise = "timers were more than 30 ms late: this machine may have dropped frames";

bool was_quiet(const Json& result) {
    return result["client"]["loop_lateness_ns"]["max"] < 30 * kMs;
}

class SlowStorage : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto reason = no_slowfs_because()) GTEST_SKIP() << *reason;
    }

    // Plays `target` in a mount with these rules; no result may contradict itself.
    Json play(const std::string& rules, const std::string& target, std::vector<std::string> options) {
        mount_.emplace(rules);
        const std::string json = results_ / "result.json";
        options.insert(options.end(), {"--quiet", "--json", json, *mount_ / target});
        if (!probes_) options.emplace_back("--no-probes");
        finished_ = streamsim(options);
        EXPECT_TRUE(finished_.exit_code == 0 || finished_.exit_code == 1) << finished_.text();
        Json result = read_json(json);
        EXPECT_THAT(result_problems(result), IsEmpty());
        EXPECT_EQ(finished_.exit_code, exit_code_of(result));
        return result;
    }

    TempDir results_;
    std::optional<SlowMount> mount_;
    bool probes_ = false;  // whether a run that fails reads on: not needed for what is counted
    Finished finished_;
};

struct Kinds {
    std::uint64_t failed = 0;
    std::uint64_t other = 0;
};

Kinds kinds_of(const Json& result, const std::string& reason, int error) {
    Kinds kinds;
    for (const Json& drop : result["drops"]) {
        const bool as_said = drop["kind"] == "failed" && drop["reason"] == reason && drop["errno"] == error;
        (as_said ? kinds.failed : kinds.other)++;
    }
    return kinds;
}

// A storage that gives 85 % of the bytes that a stream needs, for 8 s. The buffer covers six frames.
TEST_F(SlowStorage, ABitTooSlowDropLosesMostFramesAndSkipTheShortage) {
    constexpr double kFrames = 192;
    const auto rate = static_cast<std::uint64_t>(0.85 * 24 * kFrameBytes);
    const std::string rules = "clip clip frames=192\nrate " + std::to_string(rate) + "\n";
    for (const char* policy : {"drop", "skip"}) {
        const Json result = play(rules, "clip", {"--frames", "192", "--on-miss", policy, "--io-size", "frame"});
        if (!was_quiet(result)) GTEST_SKIP() << kNoise;
        const auto dropped = result["totals"]["frames_dropped"].get<std::uint64_t>();
        const double share = static_cast<double>(dropped) / kFrames;
        EXPECT_EQ(result["play"]["on_miss"], policy);
        EXPECT_EQ(result["totals"]["frames_on_time"], 192 - dropped);
        if (std::string(policy) == "drop") {
            EXPECT_GE(share, 0.6);
        } else {
            EXPECT_GE(share, 0.15 - 10 / kFrames) << "fewer than the shortage dictates";
            EXPECT_LE(share, 0.2);
        }
        mount_.reset();
    }
}

TEST_F(SlowStorage, AnErrorOnEverySecondFrame) {
    const Json result =
        play("clip clip frames=48\nread clip frame=every:2 error=EIO\n", "clip", {"--frames", "48"});
    EXPECT_EQ(result["totals"]["frames_scheduled"], 48);
    EXPECT_EQ(result["totals"]["frames_failed"], 24);
    EXPECT_EQ(result["totals"]["bytes_read"], 24 * kFrameBytes);
    EXPECT_EQ(kinds_of(result, "error", EIO).failed, 24U);
    EXPECT_EQ(finished_.exit_code, 1);
    for (const Json& drop : result["drops"]) {
        if (drop["kind"] != "failed") continue;
        EXPECT_EQ(drop["frame"].get<std::uint64_t>() % 2, 1U) << drop;
    }
}

TEST_F(SlowStorage, AnErrorWhenAFileIsOpened) {
    const Json result =
        play("clip clip frames=48\nopen clip frame=30 error=EACCES\n", "clip", {"--frames", "48"});
    EXPECT_EQ(kinds_of(result, "error", EACCES).failed, 1U);
    EXPECT_EQ(result["totals"]["frames_failed"], 1);
}

TEST_F(SlowStorage, AShortFileAndAMissingOne) {
    const Json result = play("clip clip frames=48\nshort clip frame=20 bytes=4096\nmissing clip frame=30\n",
                             "clip", {"--frames", "48"});
    EXPECT_EQ(result["totals"]["frames_scheduled"], 48);
    EXPECT_EQ(result["totals"]["frames_failed"], 2);
    EXPECT_EQ(result["totals"]["bytes_read"], 46 * kFrameBytes);
    std::map<std::uint64_t, std::string> reasons;
    for (const Json& drop : result["drops"]) reasons[drop["frame"]] = drop["reason"];
    EXPECT_EQ(reasons[19], "short");
    EXPECT_EQ(reasons[29], "missing");
    EXPECT_EQ(finished_.exit_code, 1);
}

TEST_F(SlowStorage, OpeningIsPartOfTheFrame) {
    const Json result = play("clip clip frames=72\nopen clip frame=41 delay=100ms\n", "clip",
                             {"--frames", "72", "--readahead", "1", "--pattern", "on-demand"});
    // Read-ahead 1: 41.67 ms for a frame. 100 ms of opening costs slot 40, and 41 and 42 that were never
    // read... as 40 is there at D(39) + 100 ms: after D(41) = +83 ms, before D(42) = +125 ms.
    std::vector<std::uint64_t> dropped;
    for (const Json& drop : result["drops"]) dropped.push_back(drop["frame"]);
    EXPECT_THAT(dropped, ::testing::ElementsAre(40, 41));
    EXPECT_GE(result["streams"][0]["open_ns"]["max"].get<std::int64_t>(), 100 * kMs);
    EXPECT_GE(result["streams"][0]["service_ns"]["max"].get<std::int64_t>(), 100 * kMs);
}

TEST_F(SlowStorage, ALateFrameOfTheSecondPassHasItsSlotAndItsFile) {
    const Json result =
        play("clip clip frames=24\nread clip frame=9 pass=2 delay=200ms\n", "clip",
             {"--frames", "72", "--readahead", "2", "--inflight", "2", "--pattern", "on-demand"});
    ASSERT_EQ(result["drops"].size(), 1U) << result["drops"];
    const Json& drop = result["drops"][0];
    EXPECT_EQ(drop["frame"], 24 + 8);
    EXPECT_THAT(drop["file"].get<std::string>(), ::testing::EndsWith("frame.0000009.dpx"));
    EXPECT_EQ(result["streams"][0]["passes"], 3);
    EXPECT_EQ(result["media"]["looped"], true);
    EXPECT_EQ(result["totals"]["bytes_read"], 72 * kFrameBytes);
}

TEST_F(SlowStorage, OneSlowStreamDoesNotHurtTheOthers) {
    std::string rules;
    for (const char* clip : {"a", "b", "c", "d"}) rules += std::string("clip set/") + clip + " frames=72\n";
    probes_ = true;
    rules += "read set/b frame=20..72 delay=100ms\n";
    const Json result =
        play(rules, "set", {"--streams", "4", "--frames", "72", "--readahead", "2", "--pattern", "on-demand"});
    const bool quiet = was_quiet(result);
    for (const Json& stream : result["streams"]) {
        const bool slow = stream["clip"].get<std::string>().ends_with("b");
        const auto dropped = stream["frames_dropped"].get<std::uint64_t>();
        if (slow) {
            EXPECT_GT(dropped, 20U);
        } else if (quiet) {
            EXPECT_EQ(dropped, 0U) << stream;
        }
    }
    EXPECT_EQ(result["verdict"]["limit"], "media") << "one clip is slow, and others from there are not";
    if (!quiet) GTEST_SKIP() << kNoise;
}

TEST_F(SlowStorage, TooLittleBandwidthIsWhatIsMeasured) {
    // Four streams of 1.77 MB/s each from 4 MB/s.
    std::string rules = "rate 4000000\n";
    for (const char* clip : {"a", "b", "c", "d"}) rules += std::string("clip set/") + clip + " frames=240\n";
    const Json result = play(rules, "set", {"--streams", "4", "--duration", "5s", "--io-size", "frame"});
    EXPECT_EQ(result["totals"]["frames_scheduled"], 4 * 120);
    EXPECT_GT(result["totals"]["frames_dropped"], 100);
    EXPECT_NEAR(result["totals"]["read_bytes_per_s"].get<double>(), 4e6, 0.4e6);
    EXPECT_NEAR(result["totals"]["required_bytes_per_s"].get<double>(), 4.0 * 24 * kFrameBytes, 1);
    EXPECT_EQ(result["verdict"]["limit"], "storage");
}

TEST_F(SlowStorage, PrerollThatTakesTooLongIsNotPlayed) {
    mount_.emplace("clip clip frames=48\nread clip frame=2 delay=3s\n");
    const Finished finished = streamsim(
        {"--quiet", "--preroll-timeout", "500ms", "--json", results_ / "result.json", *mount_ / "clip"});
    EXPECT_EQ(finished.exit_code, 3) << finished.text();
    EXPECT_THAT(finished.err, ::testing::HasSubstr("preroll"));
}

TEST_F(SlowStorage, ASlowPrerollDelaysTheStartAndIsNoDrop) {
    const Json result =
        play("clip clip frames=48\nread clip frame=2 delay=700ms\n", "clip", {"--frames", "48"});
    EXPECT_GE(result["streams"][0]["start_delay_ns"].get<std::int64_t>(), 700 * kMs);
    EXPECT_EQ(result["totals"]["startup_drops"], 0);
    EXPECT_EQ(result["totals"]["frames_dropped"], 0);
    EXPECT_EQ(finished_.exit_code, 0);
}

class SlowOpens : public SlowStorage, public ::testing::WithParamInterface<const char*> {};

TEST_P(SlowOpens, AheadOfThePlayHeadFailNoFrame) {
    const Json result =
        play("clip clip frames=96\nopen clip frame=every:12 delay=400ms\n", "clip",
             {"--frames", "96", "--readahead", "4", "--pattern", "filename-prefetch", "--on-miss", GetParam()});
    EXPECT_EQ(finished_.exit_code, 1);
    EXPECT_EQ(result["totals"]["frames_failed"], 0);
    EXPECT_GT(result["totals"]["frames_on_time"], 40);
}

std::string policy_of(const ::testing::TestParamInfo<const char*>& policy) {
    return policy.param;
}

INSTANTIATE_TEST_SUITE_P(Policies, SlowOpens, ::testing::Values("stall"), policy_of);
INSTANTIATE_TEST_SUITE_P(PolicyVariants, SlowOpens, ::testing::Values("drop", "hold"), policy_of);

TEST_F(SlowStorage, OpensThatOutliveTheirSlots) {
    // Frames are passed over while their names are still being opened: their buffers come back only afterwards.
    const Json result = play("clip clip frames=240\nopen clip frame=every:4 delay=900ms\n", "clip",
                             {"--frames", "240", "--readahead", "4", "--pattern", "filename-prefetch"});
    EXPECT_EQ(finished_.exit_code, 1);
    EXPECT_EQ(result["totals"]["frames_failed"], 0);
    EXPECT_GT(result["totals"]["frames_dropped"], 30);
}

TEST_F(SlowStorage, OpeningAheadHidesASlowOpenThatReadingOnDemandDoesNot) {
    // 60 ms of opening, in a window of 160 ms, with one in-flight slot: on demand every frame costs it 60 ms,
    // ahead of the play head four are opened at once.
    const std::string rules = "clip clip frames=96\nopen clip frame=* delay=60ms\n";
    const std::vector<std::string> options{"--frames",   "96", "--readahead", "4",
                                           "--inflight", "1",  "--pattern"};
    std::vector<std::string> ahead = options, on_demand = options;
    ahead.emplace_back("filename-prefetch");
    on_demand.emplace_back("on-demand");
    const Json fast = play(rules, "clip", ahead);
    const bool quiet = was_quiet(fast);
    if (quiet) {
        EXPECT_EQ(fast["totals"]["frames_dropped"], 0);
    }
    mount_.reset();
    EXPECT_GT(play(rules, "clip", on_demand)["totals"]["frames_dropped"], 20);
    if (!quiet) GTEST_SKIP() << kNoise;
}

// A server that does not answer any more.
class HungStorage : public SlowStorage, public ::testing::WithParamInterface<const char*> {
protected:
    Spawn player(std::vector<std::string> options) {
        Spawn spawn;
        spawn.args = std::move(options);
        spawn.args.insert(spawn.args.end(), {"--quiet", GetParam(), "--json", results_ / "result.json",
                                             "--preroll-timeout", "1s", *mount_ / "clip"});
        spawn.timeout_s = 20;
        return spawn;
    }
};

TEST_P(HungStorage, CanBeInterrupted) {
    mount_.emplace("clip clip frames=240\nread clip frame=30..240 delay=300s\n");
    Process process(streamsim_binary(), player({"--frames", "240", "--readahead", "4"}));
    sleep_ms(2500);
    const std::int64_t sent_ns = monotonic_ns();
    process.send(SIGINT);
    const Finished done = process.wait();
    EXPECT_LT(monotonic_ns() - sent_ns, 4'000 * kMs);
    EXPECT_EQ(done.exit_code, 130) << done.text();
    const Json result = read_json(results_ / "result.json");
    EXPECT_THAT(result_problems(result), IsEmpty());
    EXPECT_GE(result["totals"]["frames_on_time"], 29);
    EXPECT_GT(result["totals"]["frames_dropped"], 5);
    EXPECT_EQ(result["totals"]["bytes_read"], frames_read(result) * kFrameBytes);
}

TEST_P(HungStorage, EndsPreroll) {
    mount_.emplace("clip clip frames=48\nread clip frame=2 delay=300s\n");
    const Finished done = streamsim(player({}));
    EXPECT_EQ(done.exit_code, 3) << done.text();
    EXPECT_THAT(done.err, ::testing::HasSubstr("preroll"));
    EXPECT_LT(done.wall_s, 6);
}

/// The second rank plays the second clip.
TEST_F(SlowStorage, ThatKeepsAReadOfOneRankEndsASearchAndTheRankIsNamed) {
    SKIP_WITHOUT_MPIRUN();
    mount_.emplace("clip set/clip1 frames=48\nclip set/clip2 frames=48\nread set/clip2 frame=2 delay=300s\n");
    const Finished done = run("mpirun", over_ranks(2, {},
                                                   {"max", "--quiet", "--duration", "1100ms", "--confirm", "0s",
                                                    "--preroll-timeout", "1s", *mount_ / "set"}));
    EXPECT_FALSE(done.timed_out);
    EXPECT_EQ(done.exit_code, 3) << done.text();
    EXPECT_THAT(done.err, ::testing::HasSubstr("seat 1 (host "));
    EXPECT_THAT(done.err, ::testing::HasSubstr("the storage has not completed all operations: the search"));
}

TEST_F(SlowStorage, InspectIsInterruptedThoughTheStorageDoesNotAnswer) {
    mount_.emplace("clip clip frames=48\nopen clip frame=1 delay=300s\n");
    Spawn spawn;
    spawn.args = {"inspect", *mount_ / "clip"};
    Process process(streamsim_binary(), spawn);
    process.wait_until_it_hears(SIGTERM);
    sleep_ms(500);
    const std::int64_t sent_ns = monotonic_ns();
    process.send(SIGTERM);
    const Finished done = process.wait();
    EXPECT_LT(monotonic_ns() - sent_ns, 4'000 * kMs);
    EXPECT_EQ(done.exit_code, 130) << done.text();
}

INSTANTIATE_TEST_SUITE_P(Backends,
                         HungStorage,
                         ::testing::Values("--io=uring", "--io=threads"),
                         [](const auto& each) { return std::string(each.param).substr(5); });

/// Wakes itself as often as a player does, by the kernel's finest means and nothing else: what a timer can be
/// here and now.
class PlainTimer {
public:
    ~PlainTimer() { median(); }

    std::int64_t median() {
        stopping_ = true;
        if (thread_.joinable()) thread_.join();
        std::sort(late_ns_.begin(), late_ns_.end());
        return late_ns_[late_ns_.size() / 2];
    }

private:
    void run() {
        std::int64_t due_ns = monotonic_ns();
        while (!stopping_) {
            due_ns = std::max(due_ns + 3 * kMs, monotonic_ns());
            const timespec until{due_ns / 1'000'000'000, due_ns % 1'000'000'000};
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
            late_ns_.push_back(monotonic_ns() - due_ns);
        }
    }

    std::vector<std::int64_t> late_ns_ = {0};
    std::atomic<bool> stopping_{false};
    std::thread thread_{[this] { run(); }};
};

// Beside a plain timer of the same seconds: both are late where the machine has other things to do.
TEST(IdleMachine, TimersAreNotMuchLaterThanTheKernelsOwn) {
    PlainTimer plain;
    const TempDir results;
    const Finished done = streamsim({"--quiet", "--dpx10", "--streams", "16", "--duration", "4s", "--json",
                                     results / "result.json", "null:"});
    ASSERT_EQ(done.exit_code, 0) << done.text();
    const std::int64_t median_ns = read_json(results / "result.json")["client"]["loop_lateness_ns"]["p50"];
    EXPECT_LT(median_ns, 100'000 + 4 * plain.median());
}

}  // namespace
}  // namespace streamsim::tests
