// The published tests on the models: the largest number of streams that plays, as printed, and that one more
// does not; the curves of the sequential reads; and that each scenario that ships ends as its author wrote down
// before it ran. The tests run in virtual time, but take minutes: of the release build.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "cli/harness.h"

namespace streamsim::tests {
namespace {

const std::string kScenarios = STREAMSIM_SOURCE_DIR "/formats/scenario";

struct Row {
    const char* format;
    std::uint32_t seats;
    const char* model;
    std::uint32_t printed;  // streams in all
    std::uint32_t most;     // that may play, as exact as the row is to be
    const char* limit;      // of one more than that
};

void PrintTo(const Row& row, std::ostream* out) {
    *out << row.model << " " << row.seats << " on 1, " << row.format;
}

// Exact up to 3 streams a seat, one stream a seat up to 10, a tenth above.
const Row kRows[] = {
    {"prores-hd", 1, "h500", 15, 15, "client-cpu"}, {"prores-uhd", 1, "h500", 7, 7, "client-cpu"},
    {"dpx10", 1, "h500", 2, 2, "network"},          {"dpx12", 1, "h500", 1, 1, "network"},
    {"prores-hd", 2, "h500", 30, 30, "client-cpu"}, {"prores-uhd", 2, "h500", 14, 14, "client-cpu"},
    {"dpx10", 2, "h500", 3, 3, "storage"},          {"dpx12", 2, "h500", 2, 2, "storage"},
    {"prores-hd", 4, "h500", 48, 52, "storage"},    {"dpx10", 4, "h500", 3, 3, "storage"},
    {"dpx12", 4, "h500", 2, 2, "storage"},          {"dpx10", 1, "f800", 2, 2, "client-cpu"},
    {"dpx12", 1, "f800", 2, 2, "client-cpu"},
};

class PublishedRow : public ::testing::TestWithParam<Row> {
protected:
    static Json play(std::uint32_t streams) {
        const Row& row = GetParam();
        const std::uint32_t seats = std::min(row.seats, streams);
        const Finished done = streamsim({"--format", row.format, "--total-streams", std::to_string(streams),
                                         "--seats", std::to_string(seats), "--duration", "60s", "--quiet",
                                         "--json", "-", std::string("sim:") + row.model + "?nodes=1"});
        return Json::parse(done.out);
    }
    static void expect_played(std::uint32_t streams) {
        const Json result = play(streams);
        EXPECT_TRUE(result["verdict"]["pass"]) << streams << ": " << result["verdict"];
        EXPECT_EQ(result["totals"]["frames_dropped"], 0) << streams << ": the first second is played too";
    }
};

TEST_P(PublishedRow, IsTheMostThatPlays) {
    const Row& row = GetParam();
    expect_played(row.printed);
    const Json result = play(row.most + 1);
    EXPECT_FALSE(result["verdict"]["pass"]) << row.most + 1;
    EXPECT_EQ(result["verdict"]["limit"], row.limit) << result["verdict"];
}

TEST_P(PublishedRow, AllFewerPlayToo) {
    for (std::uint32_t streams = 1; streams < GetParam().printed; ++streams) expect_played(streams);
}

INSTANTIATE_TEST_SUITE_P(H18114, PublishedRow, ::testing::ValuesIn(kRows));

// "Total delivered": 14.3 GB/s with 8 clients on 4 nodes, as 12 streams of DPX 12 bit require.
TEST(PublishedTotal, OfEightClientsOnFourNodes) {
    for (const auto& [streams, plays] : {std::pair{12, true}, {13, false}}) {
        const Finished done = streamsim({"--dpx12", "--total-streams", std::to_string(streams), "--seats", "8",
                                         "--duration", "20s", "--quiet", "--json", "-", "sim:f800?nodes=4"});
        const Json result = Json::parse(done.out);
        EXPECT_EQ(result["verdict"]["pass"], plays) << streams;
        const double required = result["totals"]["required_bytes_per_s"];
        EXPECT_NEAR(required / streams * 12 / 1e9, 14.3, 0.05);
    }
}

// GB/s at 1, 2, 4 ... 64 clients: one client is held by its 10 GbE, many by what is printed: of the H600 N-1,
// two.
struct Curve {
    const char* scenario;
    double peak;
};

void PrintTo(const Curve& curve, std::ostream* out) {
    *out << curve.scenario;
}

class PublishedCurve : public ::testing::TestWithParam<Curve> {};

TEST_P(PublishedCurve, RisesByTheClientsLinkUpToItsPeak) {
    const auto [name, peak] = GetParam();
    Json scenario = read_json(kScenarios + "/" + name + ".json");
    scenario["duration"] = "5s";
    const TempDir place;
    for (const int clients : {1, 2, 4, 8, 16, 32, 64}) {
        scenario["seats"][0]["count"] = clients;
        write_text(place / "curve.json", scenario.dump());
        const Finished done = streamsim({"run", "--quiet", "--json", "-", place / "curve.json"});
        const Json result = Json::parse(done.out);
        const double rate = result["totals"]["read_bytes_per_s"].get<double>() / 1e9;
        const double held = std::min(peak, 9.9 / 8 * clients);
        EXPECT_NEAR(rate, held, 0.05 * held) << clients;
    }
}

INSTANTIATE_TEST_SUITE_P(Hpc,
                         PublishedCurve,
                         ::testing::Values(Curve{"f800-ior-n-n", 12.0},
                                           Curve{"f800-ior-n-1", 5.6},
                                           Curve{"h600-ior-n-n", 6.0},
                                           Curve{"h600-ior-n-1", 2.0}));

/// measured / printed of the figures of a workload, by step and quantity.
std::map<std::string, double> ratios(const std::string& workload,
                                     const std::vector<std::string>& options = {}) {
    std::vector<std::string> words = {"run", workload, "--quiet", "--json", "-"};
    words.insert(words.end(), options.begin(), options.end());
    const Finished done = streamsim(words);
    const Json result = Json::parse(done.out, nullptr, false);
    std::map<std::string, double> out;
    EXPECT_TRUE(result.is_object()) << workload << " " << done.text();
    if (!result.is_object()) return out;
    for (const Json& figure : result["printed"]) {
        const double printed = figure["printed"];
        const std::string at = std::to_string(figure["at"].get<int>()) + " ";
        const std::string name =
            figure["quantity"].get<std::string>() + " " + std::to_string(static_cast<std::int64_t>(printed));
        out[at + name] = figure["measured"].get<double>() / printed;
    }
    return out;
}

// The figures that the models of EBU Tech 3362 were fitted to, and where they miss others: a miss that becomes
// smaller is as worth a look as one that becomes larger.
TEST(PublishedEbu, FittedFiguresAreMetAndMissesAreThoseThatAreKnown) {
    const auto extended = ratios("ebu-printed-read-extended");
    EXPECT_NEAR(extended.at("32 read_bytes_per_s 620000000"), 1, 0.03);
    EXPECT_NEAR(extended.at("28 read_bytes_per_s 600000000"), 1, 0.05);
    EXPECT_GT(extended.at("36 read_bytes_per_s 400000000"), 1.4)
        << "the drop beyond 28 clients is not modelled";
    const auto one_file = ratios("ebu-printed-read-extended-one-file");
    EXPECT_NEAR(one_file.at("1 block_latency_ms 25"), 1, 0.05);
    EXPECT_NEAR(one_file.at("10 block_latency_ms 25"), 1, 0.1) << "flat";
    const auto ordinary = ratios("ebu-printed-read-ordinary", {"--clients", "40"});
    EXPECT_NEAR(ordinary.at("40 read_bytes_per_s 180000000"), 1, 0.03);
    EXPECT_GT(ordinary.at("40 block_latency_ms 120"), 1.5) << "180 MB/s for 40 clients contradict it";
    const auto whole = ratios("ebu-printed-write-whole-files");
    EXPECT_NEAR(whole.at("0 write_bytes_per_s 465000000"), 1, 0.03);
    EXPECT_LT(whole.at("0 peak_bytes_per_s 687000000"), 0.8);
    const auto edit = ratios("ebu-printed-write-edit");
    EXPECT_NEAR(edit.at("0 write_bytes_per_s 278000000"), 1, 0.05);
}

TEST(ShippedScenarios, ComeAsTheirAuthorsExpected) {
    std::size_t run = 0;
    for (const auto& entry : std::filesystem::directory_iterator(kScenarios)) {
        const Json scenario = read_json(entry.path());
        const std::string target = scenario["seats"][0].value("target", "");  // a preset has none
        if (!target.starts_with("sim:")) continue;
        ++run;
        const Finished done = streamsim({"run", "--quiet", "--json", "-", entry.path()});
        const Json result = Json::parse(done.out, nullptr, false);
        ASSERT_TRUE(result.is_object()) << entry.path() << done.text();
        EXPECT_EQ(result["scenario"]["as_expected"], true)
            << entry.path() << " " << result["scenario"]["surprises"];
    }
    EXPECT_GT(run, 20U);
}

}  // namespace
}  // namespace streamsim::tests
