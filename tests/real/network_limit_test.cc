// Links of 1 Gb/s whose interfaces say 10: how many streams play is arithmetic, and what ends it is the
// network.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "real/lab.h"

namespace streamsim::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// File data that 1 Gb/s carries besides Ethernet, IP, TCP and RPC: measured 118 to 119.5 MB/s.
constexpr double kGigabitBytesPerSMin = 118e6;
constexpr double kGigabitBytesPerSMax = 119.5e6;

class OneGigabit : public ::testing::TestWithParam<std::string> {};

TEST_P(OneGigabit, CarriesAsManyStreamsAsArithmeticSays) {
    const Lab lab({"--" + GetParam(), "--rate", "1gbit"});
    if (lab.skipped_because()) GTEST_SKIP() << *lab.skipped_because();
    ASSERT_EQ(lab.problem(), "");
    const TempDir results;
    const std::string url = GetParam() == "nfs" ? lab.nfs() : lab.smb();
    const Finished done = lab.play({"max", "--quiet", "--prores-hd", "--duration", "4s", "--confirm", "6s",
                                    "--json", results / "json", url});
    ASSERT_EQ(done.exit_code, 0) << done.text();
    const Json of = read_json(results / "json")["formats"][0];
    const double one = of["required_bytes_per_s"].get<double>() / of["streams"].get<double>();
    const int expected = static_cast<int>(kGigabitBytesPerSMin / one);
    ASSERT_EQ(expected, static_cast<int>(kGigabitBytesPerSMax / one))
        << "the link is too near to a whole number of streams";
    EXPECT_EQ(of["streams"], expected);
    EXPECT_EQ(of["fails_at"], expected + 1);
    EXPECT_EQ(of["limit"], "network") << of["reason"];
    EXPECT_THAT(of["reason"].get<std::string>(), HasSubstr("10.77.0.10"));
}

INSTANTIATE_TEST_SUITE_P(Network, OneGigabit, ::testing::Values("nfs", "smb"), [](const auto& each) {
    return each.param;
});

/// Seats at 10 Gb/s, and a server that has 1.
class Narrowing : public ::testing::Test {
protected:
    void SetUp() override {
        if (lab_.skipped_because()) GTEST_SKIP() << *lab_.skipped_because();
        ASSERT_EQ(lab_.problem(), "");
        const Finished made = lab_.play(
            {"prepare", "--quiet", "--prores-hd", "--streams", "4", "--clip-duration", "4s", lab_.nfs()});
        ASSERT_EQ(made.exit_code, 0) << made.text();
    }

    Lab lab_{{"--nfs", "--seats", "4", "--rate", "10gbit", "--server-rate", "1gbit"}};
    TempDir results_;
};

TEST_F(Narrowing, ThreeSeatsOfOneProcessPlayAndFourDoNot) {
    for (const int seats : {3, 4}) {
        const Finished done =
            lab_.play({"--quiet", "--prores-hd", "--seats", std::to_string(seats), "--streams", "1",
                       "--duration", "5s", "--json", results_ / "json", lab_.nfs()});
        const Json result = read_json(results_ / "json");
        EXPECT_THAT(result_problems(result), IsEmpty());
        EXPECT_EQ(done.exit_code, seats == 3 ? 0 : 1) << done.text();
        EXPECT_EQ(result["verdict"]["limit"], seats == 3 ? "none" : "network") << result["verdict"];
        EXPECT_EQ(result["servers"][0]["seats"].size(), static_cast<std::size_t>(seats));
    }
}

TEST_F(Narrowing, FourComputersAtOnceAreLimitedByTheNetwork) {
    std::vector<std::unique_ptr<Process>> all;
    for (unsigned seat = 0; seat < 4; ++seat) {
        Spawn spawn;
        spawn.args = {"--quiet", "--prores-hd", "--duration", "6s", "--json", results_ / std::to_string(seat),
                      lab_.nfs()};
        all.push_back(lab_.streamsim(spawn, seat));
    }
    int limited = 0;
    for (unsigned seat = 0; seat < 4; ++seat) {
        const Finished done = all[seat]->wait();
        const Json result = read_json(results_ / std::to_string(seat));
        if (done.exit_code == 0) continue;
        ++limited;
        EXPECT_EQ(done.exit_code, 1) << done.text();
        EXPECT_EQ(result["verdict"]["limit"], "network") << result["verdict"];
    }
    EXPECT_GE(limited, 1) << "four streams of 35 MB/s came over 1 Gb/s";
}

}  // namespace
}  // namespace streamsim::tests
