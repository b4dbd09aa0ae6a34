// Documents without an end, and sizes that no computer has: each is refused at once, with a sentence, before
// what it asks for is in memory.
#include <gtest/gtest.h>

#include <cstdlib>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

using ::testing::HasSubstr;

/// Longer than any of these takes on a busy computer; reading on until memory ends takes longer.
constexpr double kAtOnceSeconds = 10;

class Bounds : public CliTest {
protected:
    static void expect_refused(const std::vector<std::string>& args, int exit_code, const std::string& why) {
        Spawn spawn;
        spawn.args = args;
        const Finished done = run(streamsim_binary(), spawn);
        EXPECT_EQ(done.exit_code, exit_code) << why << "\n" << done.text();
        EXPECT_THAT(done.err, HasSubstr(why));
        EXPECT_LT(done.wall_s, kAtOnceSeconds) << why;
    }
};

TEST_F(Bounds, AnyDocumentEndsAtItsLimit) {
    const std::string zeroes = "/dev/zero: byte 0: expected text, found a zero byte";
    expect_refused({"run", "/dev/zero"}, 2, zeroes);
    expect_refused({"report", "/dev/zero"}, 2, zeroes);
    expect_refused({"report", "--merge", "/dev/zero", "/dev/zero"}, 2, zeroes);
    expect_refused({"--faults", "/dev/zero", "null:"}, 2, zeroes);
    expect_refused({"--cuts", "/dev/zero", target()}, 2, zeroes);
    expect_refused({"--format", "/dev/zero", "null:"}, 2, zeroes);
    expect_refused({"sim:/dev/zero"}, 2, zeroes);
    const std::string large = dir_ / "large.json";
    write_text(large, "{");
    std::filesystem::resize_file(large, (std::uintmax_t{16} << 20) + 1);
    const std::string larger = "large.json: is larger than 16 MiB";
    expect_refused({"run", large}, 2, larger);
    expect_refused({"--faults", large, "null:"}, 2, larger);
    expect_refused({"--cuts", large, target()}, 2, larger);
    expect_refused({"--format", large, "null:"}, 2, larger);
    expect_refused({"sim:" + large}, 2, larger);
    std::filesystem::resize_file(large, (std::uintmax_t{256} << 20) + 1);
    expect_refused({"report", large}, 2, "large.json: is larger than 256 MiB");
}

TEST_F(Bounds, ADocumentOfDuplicateKeysHasTwentyOfThemNamed) {
    std::string text = "{";
    while (text.size() < 64'000) text += "\"a\":{\"b\":1,\"b\":1},";
    write_text(dir_ / "bomb.json", text + "\"a\":1}");
    const Finished done = streamsim({"run", dir_ / "bomb.json"});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 21) << done.err;
    EXPECT_THAT(done.err, HasSubstr("bomb.json: and "));
    EXPECT_THAT(done.err, HasSubstr(" more problems"));
}

TEST_F(Bounds, LengthsThatNothingHoldsAreRefused) {
    const std::string hours = "87600h";
    expect_refused({"--dpx12", "--clip-duration", hours, target()}, 3, "not enough space for 1 clip of dpx12");
    expect_refused({"prepare", "--prores-hd", "--clip-duration", hours, target()}, 3, "not enough space");
    expect_refused({"--prores-hd", "--clip-duration", hours, "null:"}, 3, "of memory, and ");
    expect_refused({"--dpx12", "--clip-duration", hours, "sim:f800"}, 3, "of memory, and ");
    EXPECT_TRUE(std::filesystem::is_empty(target()));
}

TEST_F(Bounds, StreamsThatMemoryDoesNotHoldAreRefused) {
    Spawn spawn;  // 1.5 GB of addresses, and 100 kB a stream
    spawn.args = {"-c", "ulimit -v 1500000; exec \"$0\" --prores-hd --streams 30000 --duration 1s null:",
                  streamsim_binary()};
    const Finished done = run("/bin/sh", spawn);
    if (done.exit_code == 126 || done.err.find("to allocate") != std::string::npos)
        GTEST_SKIP() << "this build needs more addresses: " << done.text();
    EXPECT_EQ(done.exit_code, 3) << done.text();
    EXPECT_THAT(done.err, HasSubstr("30,000 streams need 3.0 GB of memory for their statistics"));
}

}  // namespace
}  // namespace streamsim::tests
