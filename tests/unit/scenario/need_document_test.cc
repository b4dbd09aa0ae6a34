// The reader of needs: what it takes, and every problem at its place.
#include "scenario/need_document.h"

#include <gmock/gmock.h>

#include "base/document/json.h"

namespace streamsim::scenario {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Json sample() {
    return Json::parse(R"({
      "schema": "streamsim.need", "version": 1, "description": "a room", "seed": 3, "verify": "30s",
      "seats": [{"count": 4, "streams": [{"format": "dpx10", "count": 2}]},
                {"count": 2, "recorders": [{"format": "dpx10"}]}],
      "hours_together": 8, "headroom": 10, "claim": "2 drops/hour", "currency": "EUR", "plans": 3,
      "limits": {"price": 1000, "watts": 500},
      "offers": [{"name": "a", "model": "m", "price": 5, "watts": 7, "choices": [
        {"what": "nodes", "pointer": "/nodes", "from": 2, "to": 8, "step": 3, "price_each": 10,
         "watts_each": 2},
        {"what": "drives", "pointer": "/node/drives", "values": [10, 15], "price_each": 1, "per": "nodes"},
        {"what": "memory", "pointer": "/node/ram_bytes", "alternatives": [
          {"name": "small", "value": "1GiB", "price": 1}, {"name": "large", "value": "2GiB", "price": 2}],
         "per": "seats"},
        {"what": "drive", "alternatives": [
          {"name": "slow", "set": {"/a": 1}},
          {"name": "fast", "set": {"/a": 2, "/b": "1ms"}, "watts": 1}]}]}]})");
}

Result<PurchaseNeed> read(const Json& json) {
    NeedWords words;
    words.scenario.format = [](const std::string& name) -> Result<ScenarioFormat> {
        if (name != "dpx10") return bad_input("there is no such format");
        MediaFormat format;
        format.name = name;
        return ScenarioFormat{format, name};
    };
    words.scenario.order = [](const std::string&) -> Result<void> { return {}; };
    words.model = [](const std::string& name) -> Result<void> {
        if (name != "m") return bad_input("there is no such model");
        return {};
    };
    words.number = [](const std::string&, const std::string& pointer) -> Result<double> {
        if (pointer == "/nothing") return bad_input("there is no number");
        return 1.0;
    };
    words.whole = [](const std::string&, const std::string& pointer) { return pointer == "/node/drives"; };
    words.time = [](const std::string&, const std::string& pointer) {
        return pointer == "/b" || pointer == "/c";
    };
    words.size = [](const std::string&, const std::string& pointer) { return pointer == "/node/ram_bytes"; };
    words.claim = [](const std::string& text) -> Result<double> {
        if (text != "2 drops/hour") return bad_input("it is no rate");
        return 48.0;
    };
    return read_need(json.dump(), "n.json", words);
}

std::vector<std::string> problems_of(const Json& json) {
    const auto need = read(json);
    return need ? std::vector<std::string>{} : need.error().problems;
}

TEST(NeedDocument, SaysWhatItSays) {
    const auto need = read(sample());
    ASSERT_TRUE(need) << need.error().problems.front();
    EXPECT_EQ(need->seats(), 6U);
    EXPECT_EQ(need->streams(), 10U);
    EXPECT_EQ(need->scenario.duration, seconds(30));
    EXPECT_EQ(need->scenario.seed, 3U);
    EXPECT_EQ(need->claim_drops_per_day, 48);
    EXPECT_EQ(need->price_max, 1000);
    ASSERT_EQ(need->offers.size(), 1U);
    const auto& choices = need->offers.front().choices;
    ASSERT_EQ(choices.size(), 4U);
    ASSERT_EQ(choices[0].levels.size(), 3U);
    EXPECT_EQ(choices[0].levels[2].text, "8");
    EXPECT_EQ(choices[0].levels[1].price, 50);
    EXPECT_EQ(choices[1].per_choice, 0U);
    EXPECT_EQ(choices[2].per, 6);
    EXPECT_EQ(choices[2].levels[1].numbers.front().value, 2.0 * (1 << 30));
    EXPECT_EQ(choices[3].levels[1].numbers.size(), 2U);
    EXPECT_EQ(choices[3].levels[1].numbers[1].value, 1e6);
}

TEST(NeedDocument, NamesEveryProblemAtItsPlace) {
    Json json = sample();
    json["seats"][0]["target"] = "sim:h500";
    json["seats"][0]["streams"][0]["format"] = "dpx11";
    json["verify"] = "0s";
    json["claim"] = "none";
    json["headroom"] = 100;
    json["colour"] = 1;
    Json& choices = json["offers"][0]["choices"];
    choices[0]["pointer"] = "/nothing";
    choices[1]["values"] = {15, 10};
    choices[1]["per"] = "drawers";
    choices[2]["alternatives"][1]["price"] = 0;
    choices[3]["alternatives"][0]["set"] = 7;
    EXPECT_THAT(
        problems_of(json),
        ElementsAre(HasSubstr("n.json: /seats/0/target: the offers name the models"),
                    HasSubstr("n.json: /verify: expected more than no time"),
                    HasSubstr("n.json: /seats/0/streams/0/format: there is no such format"),
                    HasSubstr("n.json: /headroom: "), HasSubstr("n.json: /claim: it is no rate"),
                    HasSubstr("n.json: /offers/0/choices/0/pointer: there is no number"),
                    HasSubstr("n.json: /offers/0/choices/1/values/1: expected values from 0 that ascend"),
                    HasSubstr("n.json: /offers/0/choices/1/per: expected \"seats\" or the name"),
                    HasSubstr("n.json: /offers/0/choices/2/alternatives/1/price: expected no less than 1"),
                    HasSubstr("n.json: /offers/0/choices/3/alternatives/0/set: expected an object"),
                    HasSubstr("n.json: /colour: unknown key")));
}

TEST(NeedDocument, WholeThingsHaveNoFractions) {
    Json json = sample();
    Json& drives = json["offers"][0]["choices"][1];
    drives["values"] = {8.5, 9, 9.5};
    EXPECT_THAT(
        problems_of(json),
        ElementsAre(HasSubstr("n.json: /offers/0/choices/1/values/0: expected a whole number, as the model "
                              "has at /node/drives, found 8.5"),
                    HasSubstr("n.json: /offers/0/choices/1/values/2: ")));
    drives.erase("values");
    drives.update({{"from", 8.5}, {"to", 9.5}});
    EXPECT_THAT(problems_of(json), ElementsAre(HasSubstr("/choices/1/from: expected a whole number")));
    drives.update({{"from", 8}, {"step", 0.5}});
    EXPECT_THAT(problems_of(json), ElementsAre(HasSubstr("/choices/1/step: expected a whole number")));
}

TEST(NeedDocument, TimesHaveAUnitAndOtherNumbersHaveNoTimes) {
    Json json = sample();
    Json& choices = json["offers"][0]["choices"];
    choices[1]["values"] = {10, "1ms"};
    choices[2]["alternatives"][0]["value"] = "1s";
    choices[3]["alternatives"][0]["set"]["/a"] = "1ms";
    choices[3]["alternatives"][1]["set"]["/b"] = 0.0005;
    EXPECT_THAT(
        problems_of(json),
        ElementsAre(HasSubstr("n.json: /offers/0/choices/1/values/1: expected a number, as the model has at "
                              "/node/drives, found \"1ms\""),
                    HasSubstr("n.json: /offers/0/choices/2/alternatives/0/value: expected a number or a size "
                              "such as \"64GiB\", as the model has at /node/ram_bytes, found \"1s\""),
                    HasSubstr("n.json: /offers/0/choices/3/alternatives/0/set//a: expected a number, as "),
                    HasSubstr("n.json: /offers/0/choices/3/alternatives/1/set//b: expected a time such as "
                              "\"1ms\", as the model has at /b, found 0.0005")));
    choices = Json::array({{{"what", "delay"}, {"pointer", "/b"}, {"values", {"0", 1, "1MiB", "2ms"}}},
                           {{"what", "pause"}, {"pointer", "/c"}, {"from", 1}, {"to", 2}}});
    EXPECT_THAT(
        problems_of(json),
        ElementsAre(HasSubstr("/choices/0/values/1: expected a time such as \"1ms\", as the model has at /b"),
                    HasSubstr("/choices/0/values/2: expected a time such as \"1ms\""),
                    HasSubstr("/choices/1/from: expected \"values\" such as \"1ms\": the model has a time")));
}

TEST(NeedDocument, RatesAndCountsHaveNoSizes) {
    Json json = sample();
    json["offers"][0]["choices"] = Json::array(
        {{{"what", "port"}, {"pointer", "/port/bits_per_s"}, {"values", Json::array({1e9, "3GB"})}},
         {{"what", "disk"}, {"pointer", "/disk/bytes_per_s"}, {"values", Json::array({"100MB"})}},
         {{"what", "drives"}, {"pointer", "/node/drives"}, {"values", Json::array({"16B"})}},
         {{"what", "memory"}, {"pointer", "/node/ram_bytes"}, {"values", Json::array({1024, "1MiB"})}}});
    EXPECT_THAT(problems_of(json),
                ElementsAre(HasSubstr("/choices/0/values/1: expected a number (bits a second), as the model "
                                      "has at /port/bits_per_s, found \"3GB\""),
                            HasSubstr("/choices/1/values/0: expected a number (bytes a second), as the model"),
                            HasSubstr("/choices/2/values/0: expected a number, as the model has")));
}

TEST(NeedDocument, EachNumberIsOfOneChoice) {
    Json json = sample();
    json["offers"][0]["choices"][3]["alternatives"][1]["set"]["/node/drives"] = 12;
    EXPECT_THAT(
        problems_of(json),
        ElementsAre("n.json: /offers/0/choices/3/alternatives/1/set//node/drives: expected a number that "
                    "no choice before sets: /offers/0/choices/1 sets /node/drives"));
}

TEST(NeedDocument, ChoosesNoLinkThatAllSeatsHave) {
    Json json = sample();
    json["offers"][0]["choices"][0]["pointer"] = "/client/link/bits_per_s";
    json["seats"][0]["link"]["bits_per_s"] = 1e9;
    EXPECT_THAT(problems_of(json), IsEmpty()) << "the other seats have that of the model";
    json["seats"][1]["link"]["latency"] = "1ms";
    EXPECT_THAT(problems_of(json), IsEmpty()) << "and its rate";
    json["seats"][1]["link"]["bits_per_s"] = 2e9;
    EXPECT_THAT(
        problems_of(json),
        ElementsAre("n.json: /offers/0/choices/0/pointer: expected a number that some seats take from "
                    "the model: all set /client/link/bits_per_s for themselves, as /seats/0/link does"));
}

TEST(NeedDocument, TheVerificationRunIsLongerThanTheShortOnes) {
    Json json = sample();
    json["verify"] = "19s";
    EXPECT_THAT(problems_of(json),
                ElementsAre(HasSubstr("n.json: /verify: expected at least 20.0 s, found 19.0 s")));
    json["verify"] = "20s";
    EXPECT_THAT(problems_of(json), IsEmpty());
}

TEST(NeedDocument, WantsOneKindOfLevels) {
    Json json = sample();
    json["offers"][0]["choices"][0]["values"] = {1};
    json["offers"][0]["choices"][1].erase("per");
    EXPECT_THAT(problems_of(json), ElementsAre(HasSubstr("/offers/0/choices/0: expected one of \"values\"")));
    json = sample();
    json["offers"][0]["choices"][1]["what"] = "nodes";
    EXPECT_THAT(problems_of(json), ElementsAre(HasSubstr("/offers/0/choices/1/what: expected a name that")));
    json = sample();
    json["offers"][0]["choices"][2].erase("pointer");
    EXPECT_THAT(problems_of(json), ElementsAre(HasSubstr("/alternatives/0/value: has no \"pointer\""),
                                               HasSubstr("/alternatives/1/value: has no \"pointer\"")));
}

TEST(NeedDocument, WhatIsOptionalMayBeLeftOut) {
    const Json json = {{"schema", "streamsim.need"},
                       {"version", 1},
                       {"seats", {{{"streams", {{{"format", "dpx10"}}}}}}},
                       {"offers", {{{"model", "m"}}}}};
    EXPECT_THAT(problems_of(json), IsEmpty());
    const auto need = read(json);
    ASSERT_TRUE(need);
    EXPECT_EQ(need->plans, 4U);
    EXPECT_EQ(need->scenario.duration, seconds(60));
    EXPECT_EQ(need->offers.front().name, "m");
    EXPECT_THAT(problems_of(Json::array()), testing::Not(IsEmpty()));
    EXPECT_THAT(problems_of(Json{{"schema", "streamsim.need"}, {"version", 1}}), testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace streamsim::scenario
