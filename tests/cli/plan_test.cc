// `streamsim plan` from outside: plans, limits, and every mistake.
#include <gtest/gtest.h>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

using ::testing::HasSubstr;

class Plan : public CliTest {
protected:
    Plan() : need_(read_json(std::string(STREAMSIM_SOURCE_FORMATS) + "/need/small-room.json")) {
        need_["verify"] = "20s";
    }
    std::string file() {
        const std::string path = dir_ / "need.json";
        write_text(path, need_.dump());
        return path;
    }
    Json need_;
};

TEST_F(Plan, TheExampleHasAPlan) {
    const std::string json = dir_ / "plan.json", html = dir_ / "plan.html";
    const Finished done = streamsim({"plan", "small-room", "--json", json, "--html", html});
    EXPECT_EQ(done.exit_code, 0) << done.text();
    EXPECT_THAT(done.out, HasSubstr("PLAN: EUR "));
    EXPECT_THAT(done.out, HasSubstr("one step less"));
    EXPECT_THAT(done.err, HasSubstr("NFS server: searching"));
    const Json plan = read_json(json);
    EXPECT_EQ(plan["schema"], "streamsim.plan");
    ASSERT_FALSE(plan["plans"].empty());
    EXPECT_EQ(plan["nearest"].size(), 0U);
    double before = 0;
    for (const Json& each : plan["plans"]) {
        EXPECT_GE(each["price"].get<double>(), before);
        before = each["price"];
        EXPECT_FALSE(each["parts"].empty());
    }
    EXPECT_THAT(read_text(html), HasSubstr("Plans, the cheapest first"));
}

TEST_F(Plan, NoneWithinTheLimitsSaysWhatComesNearest) {
    need_["limits"]["price"] = 3000;
    const Finished done = streamsim({"plan", file(), "-q", "--json", "-"});
    EXPECT_EQ(done.exit_code, 1) << done.text();
    EXPECT_EQ(done.err, "");
    const Json plan = Json::parse(done.out);
    EXPECT_TRUE(plan["plans"].empty());
    ASSERT_EQ(plan["nearest"].size(), 1U);
    EXPECT_THAT(plan["nearest"][0]["why"].get<std::string>(), HasSubstr("is above EUR 3,000"));
}

TEST_F(Plan, EveryMistakeIsNamedAtItsPlace) {
    need_["seats"][0]["node"] = 1;
    need_["offers"][0]["choices"][0]["pointer"] = "/node/wheels";
    need_["offers"][0]["model"] = "nfs-generic";
    need_["headroom"] = "much";
    const Finished done = streamsim({"plan", file()});
    EXPECT_EQ(done.exit_code, 2) << done.text();
    EXPECT_EQ(done.out, "");
    EXPECT_THAT(done.err, HasSubstr("need.json: /seats/0/node: seats are assigned"));
    EXPECT_THAT(done.err, HasSubstr("need.json: /offers/0/choices/0/pointer: "));
    EXPECT_THAT(done.err, HasSubstr("need.json: /headroom: "));
}

TEST_F(Plan, NamesThatAreNoNeed) {
    Finished done = streamsim({"plan", "large-room"});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_THAT(done.err, HasSubstr("there is no need 'large-room': expected a FILE.json, or one of these: "
                                    "edit-room, small-room"));
    need_["offers"][0]["model"] = "h501";
    done = streamsim({"plan", file()});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_THAT(done.err, HasSubstr("/offers/0/model: "));
    EXPECT_EQ(streamsim({"plan"}).exit_code, 2);
}

}  // namespace
}  // namespace streamsim::tests
