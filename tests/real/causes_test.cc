// Staged causes: storage, media and settings that are wrong in one known way each, and a result that has to
// name it, in the verdict, in a sentence and for each frame. No fault of another part is ever attributed to the
// storage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "cli/harness.h"
#include "host/mount.h"
#include "real/slow_mount.h"
#include "real/staged_play.h"

namespace streamsim::tests {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Not;

using Options = std::vector<std::string>;

/// Two clips of three seconds, a and b, with what is wrong with them.
std::string clips(const std::string& rules, const std::string& settings = "") {
    return "clip a frames=72 " + settings + "\nclip b frames=72 " + settings + "\n" + rules;
}

/// The same rule for both.
std::string both(const std::string& verb, const std::string& rule) {
    return verb + " a " + rule + "\n" + verb + " b " + rule + "\n";
}

Options two_streams(const std::string& duration, const Options& more = {}) {
    Options options{"--streams", "2", "--duration", duration};
    options.insert(options.end(), more.begin(), more.end());
    return options;
}

class Causes : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto reason = no_slowfs_because()) GTEST_SKIP() << *reason;
    }

    static Json play(const std::string& rules, const Options& options) {
        const SlowMount mount(rules);
        return play_staged(options, mount.path());
    }
};

/// Other ways to the same causes: minutes of them.
class CausesVariants : public Causes {};

struct Stage {
    const char* name;
    std::string rules;
    Options options;
    const char* limit;
    const char* cause;
    const char* words;
};

void PrintTo(const Stage& stage, std::ostream* out) {
    *out << stage.name;
}

/// A frame of 1 MiB, every `step` bytes of which cost `delay`.
std::string slow_pieces(std::uint64_t step, const std::string& delay) {
    std::string rules = "clip a frames=72 width=512 height=512\n";
    for (std::uint64_t byte = 0; byte < 1 << 20; byte += step)
        rules += "read a frame=* byte=" + std::to_string(byte) + " delay=" + delay + "\n";
    return rules;
}

const std::vector<Stage> kStages = {
    {"slow_reads", clips(both("read", "frame=* delay=150ms")), two_streams("2s"), "storage", "slow-reads",
     "more in flight would help"},
    {"slow_opens", clips(both("open", "frame=* delay=130ms")), two_streams("2s", {"--pattern", "on-demand"}),
     "storage", "slow-opens", "opening files takes too long"},
    {"a_slow_file", clips("read b frame=40 delay=2000ms\n"), two_streams("2s"), "media", "slow-file",
     "slow in one place"},
    {"a_damaged_file", clips("read b frame=40 error=EIO\n"), two_streams("2s"), "media", "damaged-file",
     "1 frame was unreadable"},
    {"a_damaged_file_without_deadlines",
     clips("read b frame=40 error=EIO\n"),
     {"--streams", "2", "--frames", "72", "--fps", "max"},
     "media",
     "damaged-file",
     "1 frame was unreadable"},
    {"little_bandwidth", "rate 12000000\n" + clips("", "width=512 height=256"), two_streams("2s"), "storage",
     "bandwidth", "more in flight would not help"},
    {"too_little_in_flight", clips(both("read", "frame=* delay=70ms")),
     two_streams("2s", {"--inflight", "1", "--io-depth", "1"}), "client-scheduling", "too-little-in-flight",
     "has too little in flight"},
    {"too_small_reads",
     slow_pieces(4096, "5ms"),
     {"--duration", "2s", "--io-size", "4KiB"},
     "client-scheduling",
     "too-small-reads",
     "pieces that are too small (4 KiB)"},
};

const std::vector<Stage> kVariants = {
    {"slow_reads_that_begin_later", clips(both("read", "frame=30..72 delay=200ms")),
     two_streams("3s", {"--on-miss", "stall", "--io", "threads"}), "storage", "slow-reads", "did not keep up"},
    {"slow_opens_ahead_of_the_play_head", clips(both("open", "frame=* delay=450ms")), two_streams("3s"),
     "storage", "slow-opens", "metadata, not data"},
    {"a_slow_file_on_each_pass", clips("read b frame=40 delay=700ms\n"),
     two_streams("7s", {"--on-miss", "hold"}), "media", "slow-file", "frame.0000040.dpx"},
    {"a_slow_clip", clips("read b frame=* delay=250ms\n"), two_streams("3s"), "media", "slow-file",
     "not the storage as a whole"},
    {"a_file_cut_short", clips("short b frame=40 bytes=5000\n"), two_streams("3s", {"--buffered"}), "media",
     "damaged-file", "1 frame was cut short"},
    {"a_missing_file", clips("missing b frame=40\n"), two_streams("3s", {"--on-miss", "stall"}), "media",
     "damaged-file", "1 frame was missing"},
    {"errors_everywhere", clips(both("read", "frame=every:2 error=EIO")), two_streams("2s"), "storage",
     "storage-error", "the storage gave an error"},
    {"a_cold_first_pass", clips(both("read", "frame=* pass=1 delay=200ms")), two_streams("7s"), "storage",
     "cold-start", "while the storage was cold"},
    {"slow_reads_and_a_missing_file", clips(both("read", "frame=* delay=150ms") + "missing a frame=20\n"),
     two_streams("3s"), "storage", "slow-reads", "1 frame was missing"},
};

class StagedCauses : public Causes, public ::testing::WithParamInterface<Stage> {};

TEST_P(StagedCauses, AreNamed) {
    const Stage& stage = GetParam();
    expect_named(play(stage.rules, stage.options), stage.limit, stage.cause, stage.words);
}

std::string name_of(const ::testing::TestParamInfo<Stage>& stage) {
    return stage.param.name;
}

INSTANTIATE_TEST_SUITE_P(Stages, StagedCauses, ::testing::ValuesIn(kStages), name_of);
INSTANTIATE_TEST_SUITE_P(Variants, StagedCauses, ::testing::ValuesIn(kVariants), name_of);

TEST_F(Causes, AColdStartAloneIsNoFailure) {
    const Json result = play(clips(both("read", "frame=9..10 pass=1 delay=500ms")), two_streams("2s"));
    EXPECT_EQ(result["verdict"]["pass"], true) << result["verdict"];
    EXPECT_EQ(result["verdict"]["limit"], "none");
    EXPECT_GT(result["totals"]["startup_drops"], 0);
    EXPECT_THAT(sentences_of(result), HasSubstr("cold start"));
    EXPECT_EQ(causes_of(result), std::vector<std::string>{"cold-start"});
}

TEST_F(Causes, AStorageThatStandsStillIsNamed) {
    const SlowMount mount(clips(""));
    const auto server = host::fuse_server_of(mount.path());
    ASSERT_TRUE(server);
    const Json result =
        play_staged(two_streams("4s"), mount.path(), [&](const Process&) { stop_for(*server, 2'000, 1'000); });
    expect_named(result, "storage", "storage-stall", "the storage gave no data");
}

TEST_F(Causes, TwoStallsOfTheStorageAreTwo) {
    const SlowMount mount(clips(""));
    const auto server = host::fuse_server_of(mount.path());
    ASSERT_TRUE(server);
    const Json result = play_staged(two_streams("7s"), mount.path(), [&](const Process&) {
        stop_for(*server, 2'000, 800);
        stop_for(*server, 2'000, 800);
    });
    expect_named(result, "storage", "storage-stall", "the storage gave no data 2 times, for ");
    EXPECT_EQ(result["throughput_gaps"].size(), 2u) << result["throughput_gaps"];
}

TEST_F(CausesVariants, AStallThatFaultsStageIsTheFaults) {
    const SlowMount mount(clips(""));
    for (const char* on_miss : {"drop", "stall"}) {
        const Json result = play_staged({"--duration", "4s", "--readahead", "4", "--on-miss", on_miss,
                                         "--faults", STREAMSIM_SOURCE_DIR "/formats/faults/stall-500ms.json"},
                                        mount.path());
        expect_named(result, "unknown", "injected-fault", "injected faults: ");
        EXPECT_THAT(sentences_of(result), Not(HasSubstr("storage")));
        EXPECT_GT(result["faults_injected"]["frames_met"], 0);
    }
}

void expect_stopped_client(const Options& more) {
    const SlowMount mount(clips(""));
    const Json result = play_staged(two_streams("3s", more), mount.path(),
                                    [](const Process& process) { stop_for(process.pid(), 1'500, 900); });
    expect_named(result, "client-scheduling", "client-scheduling", "this computer did not let the player run");
    EXPECT_THAT(sentences_of(result), HasSubstr("cannot be held against the storage"));
}

TEST_F(Causes, AClientThatWasStoppedIsNotTheStorage) {
    expect_stopped_client({});
}

/// Four stops of 100 ms beside a storage that is slow all the time cover about ten slots of each stream: about
/// so many are this computer's, and the rest is the storage's.
TEST_F(Causes, ASlowStorageBesideAClientThatIsStoppedNowAndThen) {
    const SlowMount mount(clips(both("read", "frame=* delay=150ms")));
    const Json result = play_staged(two_streams("8s"), mount.path(), [](const Process& process) {
        sleep_ms(2'000);
        for (int i = 0; i < 4; ++i) stop_for(process.pid(), 900, 100);
    });
    expect_named(result, "storage", "slow-reads", "the storage did not keep up");
    const double covered = 2 * 4 * 0.1 * 24;
    const double beside =
        result["client"]["loop_stalled_ns"].get<double>() / 1e9 * 2 * 24;  // on a busy computer more
    double of_client = 0;
    for (const Json& cause : result["causes"]) {
        if (cause["limit"] == "client-scheduling" || cause["limit"] == "client-cpu")
            of_client += cause["frames"].get<double>();
    }
    EXPECT_LE(of_client, std::max(covered, beside) * 1.5 + 4) << result["causes"];
    EXPECT_GE(of_client, covered / 3) << result["causes"];
}

TEST_F(CausesVariants, AClientThatWasStoppedWhilePlayWaits) {
    expect_stopped_client({"--on-miss", "stall", "--io", "threads"});
}

TEST_F(Causes, TwoAtOnceAreBothNamed) {
    const Json result =
        play(clips("read b frame=40 delay=700ms\nshort a frame=20 bytes=100\n"), two_streams("2s"));
    EXPECT_EQ(result["verdict"]["limit"], "media");
    EXPECT_THAT(causes_of(result), ::testing::IsSupersetOf({"slow-file", "damaged-file"}));
    EXPECT_THAT(sentences_of(result), HasSubstr("slow in one place"));
    EXPECT_THAT(sentences_of(result), HasSubstr("cut short"));
}

TEST_F(CausesVariants, ASlowFileAndAClientThatWasStopped) {
    const SlowMount mount(clips("read b frame=30 delay=700ms\n"));
    const Json result = play_staged(two_streams("5s", {"--readahead", "4"}), mount.path(),
                                    [](const Process& process) { stop_for(process.pid(), 3'200, 700); });
    EXPECT_THAT(result["verdict"]["limit"], AnyOf(Eq("client-scheduling"), Eq("media")));
    EXPECT_THAT(causes_of(result), ::testing::IsSupersetOf({"slow-file", "client-scheduling"}));
    EXPECT_THAT(causes_of(result), Not(Contains("slow-reads")));
}

}  // namespace
}  // namespace streamsim::tests
