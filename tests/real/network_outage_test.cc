// Servers that die while streams play, come back or do not, and an operator who has had enough of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <map>

#include "cli/fixture.h"
#include "real/lab.h"

namespace streamsim::tests {
namespace {

using ::testing::IsEmpty;

constexpr double kRate = 30;
constexpr double kReadahead = 8;

/// 100 ms of round trip: what is looked up one after the other before play takes a minute and more.
TEST(FarAway, PlayBeginsAndSaysWhatItWaitsFor) {
    const Lab lab({"--nfs", "--seats", "1", "--nfs-port", "12049", "--mount-port", "12048"});
    if (lab.skipped_because()) GTEST_SKIP() << *lab.skipped_because();
    ASSERT_EQ(lab.problem(), "");
    const std::vector<std::string> media = {"--format", "dnxhr-lb-hd",     "--streams",
                                            "8",        "--clip-duration", "2s"};
    std::vector<std::string> prepare = {"prepare", "--quiet"};
    prepare.insert(prepare.end(), media.begin(), media.end());
    prepare.push_back(lab.local());
    const Finished made = streamsim(prepare);
    ASSERT_EQ(made.exit_code, 0) << made.text();

    Spawn spawn;
    spawn.args = {STREAMSIM_SOURCE_DIR "/tests/real/lab/far", "100", lab.facts()["server"]["address"],
                  "22049:12049", "22048:12048"};
    const auto far = lab.begin("python3", spawn);
    for (int tries = 0; tries < 1000 && far->out_so_far().empty(); ++tries) sleep_ms(10);
    ASSERT_EQ(far->out_so_far(), "listening\n") << far->err_so_far();
    std::vector<std::string> play = media;
    play.insert(play.end(), {"--duration", "1s", "--no-probes",
                             "nfs://127.0.0.1/export?version=3&nfsport=22049&mountport=22048"});
    const Finished done = lab.play(play);
    EXPECT_EQ(done.exit_code, 0) << done.text();
    EXPECT_THAT(done.err, ::testing::HasSubstr("looking for media"));
    EXPECT_THAT(done.err, ::testing::HasSubstr("reading clips"));
    EXPECT_LT(done.wall_s, 40) << "one after the other it is more than twice as long";
}

class Outage : public ::testing::TestWithParam<std::string> {
protected:
    void SetUp() override {
        if (lab_.skipped_because()) GTEST_SKIP() << *lab_.skipped_because();
        ASSERT_EQ(lab_.problem(), "");
        const Finished made = streamsim(
            {"prepare", "--quiet", "--prores-hd", "--streams", "4", "--clip-duration", "2s", lab_.local()});
        ASSERT_EQ(made.exit_code, 0) << made.text();
    }

    std::string url(const std::string& query = "") const {
        return GetParam() == "nfs" ? lab_.nfs("", query) : lab_.smb("", query);
    }

    /// Four streams, which have begun to play.
    std::unique_ptr<Process> playing(const std::string& duration, const std::string& target) const {
        Spawn spawn;
        spawn.args = {"--quiet", "--prores-hd", "--streams", "4",   "--duration",
                      duration,  "--json",      json(),      target};
        spawn.args.insert(spawn.args.begin(), {"--metrics", "127.0.0.1:9311"});
        auto process = lab_.streamsim(spawn);
        EXPECT_EQ(lab_.wait_until_playing(4), "") << process->err_so_far();
        return process;
    }

    std::string json() const { return results_ / "json"; }

    Lab lab_;
    TempDir results_;
};

TEST_P(Outage, OfThreeSecondsDropsWhatWasDueThenAndNothingElse) {
    const auto process = playing("8s", url());
    const std::int64_t killed_ns = monotonic_ns();
    lab_.kill(GetParam());
    while (monotonic_ns() < killed_ns + 2'800'000'000) sleep_ms(10);
    lab_.start(GetParam());
    const double away_s = static_cast<double>(monotonic_ns() - killed_ns) * 1e-9;
    const Finished done = process->wait();
    EXPECT_EQ(done.exit_code, 1) << done.text();
    const Json result = read_json(json());
    EXPECT_THAT(result_problems(result), IsEmpty());
    std::map<int, std::vector<std::uint64_t>> missed;
    for (const Json& drop : result["drops"]) {
        EXPECT_EQ(drop["kind"], "dropped") << drop;
        missed[drop["stream"]].push_back(drop["frame"]);
    }
    ASSERT_EQ(missed.size(), 4U);
    for (const auto& [stream, slots] : missed) {
        // One gap, as long as the server was away, less what had been read ahead; reconnecting may take a
        // second.
        EXPECT_EQ(slots.back() - slots.front() + 1, slots.size()) << "stream " << stream;
        EXPECT_GE(static_cast<double>(slots.size()), (away_s - 0.5) * kRate - kReadahead)
            << "stream " << stream;
        EXPECT_LE(static_cast<double>(slots.size()), (away_s + 1.5) * kRate) << "stream " << stream;
        EXPECT_LT(slots.back(), 8 * kRate - 1) << "it came back";
    }
    EXPECT_GE(result["servers"][0]["reconnects"], 1);
    EXPECT_GE(result["notices"].size(), 2U) << "lost, and back: " << result["notices"];
    EXPECT_EQ(result["verdict"]["limit"], "storage");
}

TEST_P(Outage, ForGoodFailsFramesWithReasonsAndEnds) {
    const auto process = playing("5s", url("timeout=1s"));
    lab_.kill(GetParam());
    const Finished done = process->wait();
    EXPECT_EQ(done.exit_code, 1) << done.text();
    EXPECT_LT(done.wall_s, 5 + 15);
    const Json result = read_json(json());
    EXPECT_THAT(result_problems(result), IsEmpty());
    EXPECT_GT(result["totals"]["frames_failed"], 0);
    for (const Json& drop : result["drops"]) {
        if (drop["kind"] != "failed") continue;
        EXPECT_EQ(drop["reason"], "error") << drop;
        EXPECT_GT(drop["errno"], 0) << drop;
        EXPECT_EQ(drop["cause"], "storage-error") << "a server that is gone says nothing of the file: " << drop;
    }
}

TEST_P(Outage, AnInterruptAlwaysWorks) {
    const auto process = playing("30s", url());
    lab_.kill(GetParam());
    sleep_ms(700);  // reads are outstanding that will not be answered
    const std::int64_t asked_ns = monotonic_ns();
    process->send(SIGINT);
    const Finished done = process->wait();
    EXPECT_LT(monotonic_ns() - asked_ns, 5'000'000'000);
    EXPECT_EQ(done.exit_code, 130) << done.text();
    expect_interrupted(done, json());
}

INSTANTIATE_TEST_SUITE_P(Network, Outage, ::testing::Values("nfs", "smb"), [](const auto& each) {
    return each.param;
});

}  // namespace
}  // namespace streamsim::tests
