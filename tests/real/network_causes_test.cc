// Networks that lose packets, are cut, or are full, and servers that stop or die: the limit of the verdict must
// be right, whether streamsim may send pings or not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "cli/fixture.h"
#include "real/lab.h"

namespace streamsim::tests {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

struct Trouble {
    std::string name;
    std::vector<std::string> lab;  // options besides the protocol
    std::string streams = "1";
    std::vector<std::vector<std::string>> before;      // that the lab is asked for before play
    std::vector<std::vector<std::string>> begin, end;  // while it plays, with the duration between
    int lasts_ms = 0;
    std::vector<std::string> causes;  // one of them cost most
    std::string limit;
};

// "PROTOCOL" stands for the server's.
const std::vector<Trouble> kTroubles = {
    {"LossWithDelay",
     {"--wire", STREAMSIM_WIRE_BINARY},
     "1",
     {{"wire", "0", "loss 2", "delay_us 10000"}},
     {},
     {},
     0,
     {"network-loss"},
     "network"},
    {"LossOfSomeSeconds",
     {"--wire", STREAMSIM_WIRE_BINARY},
     "1",
     {{"wire", "0", "delay_us 10000"}},
     {{"wire", "0", "loss 3"}},
     {{"wire", "0", "loss 0"}},
     2500,
     {"network-loss"},
     "network"},
    {"ShortCut", {}, "1", {}, {{"cut", "0"}}, {{"mend", "0"}}, 600, {"network-down"}, "network"},
    {"Cut", {}, "1", {}, {{"cut", "0"}}, {{"mend", "0"}}, 2000, {"network-down"}, "network"},
    {"CutForGood", {}, "1", {}, {{"cut", "0"}}, {}, 0, {"network-down"}, "network"},
    {"PortThatIsDown", {}, "1", {}, {{"unplug", "0"}}, {{"plug", "0"}}, 1000, {"network-down"}, "network"},
    {"FullLinkOfTheServer",
     {"--rate", "10gbit", "--server-rate", "400mbit"},
     "4",
     {},
     {},
     {},
     0,
     {"network"},
     "network"},
    {"ServerThatStops",
     {},
     "1",
     {},
     {{"stop", "PROTOCOL"}},
     {{"resume", "PROTOCOL"}},
     1500,
     {"storage-stall"},
     "storage"},
    {"ServerThatIsSlow", {}, "1", {}, {{"slow", "PROTOCOL"}}, {}, 0, {"slow-reads", "bandwidth"}, "storage"},
    {"ServerThatIsKilled",
     {},
     "1",
     {},
     {{"kill", "PROTOCOL"}},
     {},
     0,
     {"storage-stall", "storage-error"},
     "storage"},
};

using Parameters = std::tuple<std::string, bool, std::size_t>;  // protocol, may ping, index in kTroubles

class Networks : public ::testing::TestWithParam<Parameters> {
protected:
    std::string protocol() const { return std::get<0>(GetParam()); }
    bool may_ping() const { return std::get<1>(GetParam()); }
    const Trouble& trouble() const { return kTroubles[std::get<2>(GetParam())]; }

    void ask(const Lab& lab, const std::vector<std::vector<std::string>>& commands) const {
        for (std::vector<std::string> words : commands) {
            for (std::string& word : words)
                if (word == "PROTOCOL") word = protocol();
            lab.lab(words);
        }
    }

    /// streamsim, with or without the right to send pings.
    std::unique_ptr<Process> play(const Lab& lab, const std::string& json) const {
        Spawn spawn;
        spawn.args = {"--quiet", "--prores-hd", "--streams", trouble().streams, "--duration",
                      "8s",      "--json",      json,        "--metrics",       "127.0.0.1:9311"};
        spawn.args.push_back(protocol() == "nfs" ? lab.nfs() : lab.smb());
        if (may_ping()) return lab.streamsim(spawn);
        spawn.args.insert(spawn.args.begin(),
                          {"--bounding-set", "-net_raw", "--inh-caps", "-net_raw", streamsim_binary()});
        return lab.begin("setpriv", spawn);
    }
};

TEST_P(Networks, AreBlamedForWhatIsTheirsAlone) {
    std::vector<std::string> options = trouble().lab;
    options.push_back("--" + protocol());
    const Lab lab(options);
    if (lab.skipped_because()) GTEST_SKIP() << *lab.skipped_because();
    ASSERT_EQ(lab.problem(), "");
    const Finished made = streamsim({"prepare", "--quiet", "--prores-hd", "--streams", trouble().streams,
                                     "--clip-duration", "3s", lab.local()});
    ASSERT_EQ(made.exit_code, 0) << made.text();
    ask(lab, trouble().before);
    const TempDir results;
    const auto process = play(lab, results / "json");
    if (!trouble().begin.empty()) {
        ASSERT_EQ(lab.wait_until_playing(1), "") << process->err_so_far();
        sleep_ms(1500);  // what is usual is known by then
        ask(lab, trouble().begin);
        sleep_ms(trouble().lasts_ms);
        ask(lab, trouble().end);
    }
    const Finished done = process->wait();
    ASSERT_EQ(done.exit_code, 1) << done.text();
    const Json result = read_json(results / "json");
    EXPECT_THAT(result_problems(result), IsEmpty());
    EXPECT_EQ(result["verdict"]["limit"], trouble().limit) << result["verdict"];
    ASSERT_THAT(result["causes"], Not(IsEmpty()));
    const auto named = [&result](const std::string& cause) { return result["causes"][0]["cause"] == cause; };
    EXPECT_TRUE(std::any_of(trouble().causes.begin(), trouble().causes.end(), named)) << result["causes"];
}

std::string name_of(const ::testing::TestParamInfo<Parameters>& each) {
    const auto& [protocol, may_ping, trouble] = each.param;
    return kTroubles[trouble].name + "_" + protocol + (may_ping ? "_Ping" : "_NoPing");
}

INSTANTIATE_TEST_SUITE_P(Short,
                         Networks,
                         ::testing::Combine(::testing::Values("nfs"),
                                            ::testing::Values(false),
                                            ::testing::Values(2U)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Every,
                         Networks,
                         ::testing::Combine(::testing::Values("nfs", "smb"),
                                            ::testing::Bool(),
                                            ::testing::Range(std::size_t{0}, kTroubles.size())),
                         name_of);

}  // namespace
}  // namespace streamsim::tests
