// Claims and --prove, from outside: what is decided, when play ends, and what comes back. Virtual time.
#include <algorithm>
#include <cmath>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

using testing::HasSubstr;

class Prove : public CliTest {
protected:
    /// --prove '100 drops/hour' (events 36 s apart) on storage without latency.
    Json prove(std::vector<std::string> options) {
        std::vector<std::string> all = {"--prove", "100 drops/hour", "--fps",
                                        "24",      "--prores-hd",    "--readahead",
                                        "1",       "--io-size",      "frame"};
        all.insert(all.end(), options.begin(), options.end());
        return play_with_text(all, "sim:null");
    }

    /// A stall of the storage of 0.3 s at each of these seconds.
    std::string stalls_at(const std::vector<double>& seconds) const {
        Json stalls = Json::array();
        for (const double at : seconds) stalls.push_back({{"at", std::to_string(at) + "s"}, {"for", "300ms"}});
        const std::string path = dir_ / "stalls.json";
        write_text(path, Json{{"schema", "streamsim.faults"}, {"version", 1}, {"stalls", stalls}}.dump());
        return path;
    }
};

double seconds_of(const Json& prove) {
    return prove["hours"].get<double>() * 3600;
}

TEST_F(Prove, EndsPlayWhenTheClaimStands) {
    const Json result = prove({});
    const Json& claim = result["claims"]["prove"];
    EXPECT_EQ(claim["decided"], "stands");
    EXPECT_NEAR(seconds_of(claim), 3.3 * 36, 1);
    EXPECT_EQ(claim["events"], 0);
    EXPECT_FALSE(result["interrupted"].get<bool>());
    EXPECT_EQ(finished().exit_code, 0);
    EXPECT_THAT(finished().err,
                HasSubstr("to prove fewer than 2,400 drop events a day at 95 % takes at least"));
    const double played = result["streams"][0]["last_due_ns"].get<double>() / 1e9;
    EXPECT_GE(played, seconds_of(claim) - 0.1);
    EXPECT_LE(played, seconds_of(claim) * 1.02) << "play ends soon after the decision";
}

TEST_F(Prove, StandsWithAnEventLaterAndTheVerdictStaysApart) {
    const Json result = prove({"--faults", stalls_at({30})});
    EXPECT_EQ(result["claims"]["prove"]["decided"], "stands");
    EXPECT_GT(seconds_of(result["claims"]["prove"]), 4 * 36);
    EXPECT_FALSE(result["verdict"]["pass"].get<bool>()) << "frames were missed";
    EXPECT_EQ(finished().exit_code, 0) << "and the claim allows them";
    EXPECT_THAT(finished().out, HasSubstr("DOES NOT PLAY"));
    EXPECT_THAT(finished().out, HasSubstr("Prove       stands: fewer than"));
}

TEST_F(Prove, FailsWithEventsTooOften) {
    const Json result = prove({"--faults", stalls_at({3, 8, 14, 20, 27})});
    EXPECT_EQ(result["claims"]["prove"]["decided"], "failed");
    EXPECT_EQ(finished().exit_code, 1);
    EXPECT_LT(seconds_of(result["claims"]["prove"]), 30);
}

TEST_F(Prove, TakesAStallOfManyStreamsAsOneEventOfTheRun) {
    const std::string faults = stalls_at({30, 90});
    const Json one = prove({"--faults", faults});
    const Json eight = prove({"--faults", faults, "--streams", "8"});
    EXPECT_EQ(eight["claims"]["prove"]["events"], 2);
    EXPECT_EQ(eight["claims"]["stream_drop_events"], 16);
    EXPECT_EQ(one["claims"]["prove"]["hours"], eight["claims"]["prove"]["hours"])
        << "eight streams on one storage prove nothing sooner";
    EXPECT_NEAR(one["claims"]["per_stream_day"]["high"].get<double>(),
                eight["claims"]["per_stream_day"]["high"].get<double>(), 1e-6);
}

TEST_F(Prove, DecidesTheSameEachTime) {
    const std::string faults = stalls_at({20, 70});
    EXPECT_EQ(prove({"--faults", faults})["timing_digest"], prove({"--faults", faults})["timing_digest"]);
}

TEST_F(Prove, IsNotDecidedInTooShortATime) {
    const Json result = prove({"--duration", "20s"});
    const Json& claim = result["claims"]["prove"];
    EXPECT_EQ(claim["decided"], "undecided");
    EXPECT_EQ(finished().exit_code, 1);
    EXPECT_NEAR(seconds_of(claim), 20, 0.1);
    EXPECT_THAT(finished().out, HasSubstr("not decided"));
    EXPECT_THAT(finished().err, HasSubstr("--duration 20s: the claim can fail in that time, and not stand"));
}

TEST_F(Prove, IsNotDecidedByOneFrame) {
    const Finished done =
        streamsim({"--prove", "1 drop/day", "--frames", "1", "--json", json_path(), "sim:null"});
    EXPECT_EQ(done.exit_code, 1) << done.text();
    const Json result = read_json(json_path());
    EXPECT_EQ(result["totals"]["frames_on_time"], 1);
    EXPECT_THAT(result["notices"].dump(), HasSubstr("not decided"));
}

TEST_F(Prove, CountsAStallOfPlayWhileItLasts) {
    for (const char* policy : {"hold", "stall", "skip"}) {
        const Json result = prove({"--on-miss", policy, "--faults", stalls_at({30})});
        EXPECT_EQ(result["claims"]["prove"]["events"], 1) << policy;
        EXPECT_EQ(result["claims"]["prove"]["decided"], "stands") << policy;
    }
}

TEST_F(Prove, LeavesOutDropsOfTheFirstSecond) {
    EXPECT_EQ(prove({"--faults", stalls_at({0.3})})["claims"]["prove"]["events"], 0);
}

TEST_F(Prove, CountsRealTimeToo) {
    prepare(2);
    const Json result = play_small({"--prove", "100 drops/hour", "--duration", "2s", "--streams", "2"});
    EXPECT_EQ(result["claims"]["prove"]["decided"], "undecided");
    EXPECT_NEAR(seconds_of(result["claims"]["prove"]), 2, 0.1);
}

TEST_F(Prove, IsRefusedWhereItHasNoMeaning) {
    struct Row {
        std::vector<std::string> args;
        const char* why;
    };
    for (const auto& [args, why] :
         {Row{{"--prove", "1 drop/day", "--fps", "max", "sim:h500"}, "--prove: is not for --fps max"},
          Row{{"max", "--prove", "1 drop/day", "sim:h500"}, "--prove: max has no such option"},
          Row{{"run", "--prove", "1 drop/day", "x.json"}, "--prove: run has no such option"},
          Row{{"--prove", "1 drop/day", "--meter", "random-read", "sim:h500"}, "--prove: is not for --meter"},
          Row{{"--prove", "1 drop/day", "--csv", "x.csv", "sim:h500"}, "--prove: plays for days"},
          Row{{"--prove", "many", "sim:h500"}, "'many': expected a rate such as '1 drop/day'"}}) {
        const Finished finished = streamsim(args);
        EXPECT_EQ(finished.exit_code, 2) << why;
        EXPECT_THAT(finished.err, HasSubstr(why));
    }
}

}  // namespace
}  // namespace streamsim::tests
