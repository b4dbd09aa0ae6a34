// Plans of purchases with the real simulator: against all configurations of small offers, each played.
#include "run/purchase/purchase_search.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <tuple>

#include "base/document/document.h"
#include "base/document/json.h"
#include "base/prng.h"
#include "base/system/parallel_for.h"
#include "run/published/published_run.h"
#include "run/purchase/purchase_player.h"

namespace streamsim::run {
namespace {

const std::string kFormats = STREAMSIM_SOURCE_DIR "/formats";

PurchaseNeed need_of(const Json& json) {
    auto need = read_purchase_need(json.dump(), "n.json", kFormats);
    EXPECT_TRUE(need) << need.error().problems.front();
    return need ? *need : PurchaseNeed{};
}

PurchaseOptions options_with(std::size_t checks) {
    PurchaseOptions options;
    options.formats = kFormats;
    options.progress = [](const std::string&) {};
    options.checks = checks;
    return options;
}

/// Two or three of the choices of an NFS server, and some seats.
Json need_by_chance(std::uint64_t seed) {
    Prng chance(seed);
    const Json all = Json::parse(R"([
      {"what": "drives", "pointer": "/node/drives", "values": [8, 12, 16], "price_each": 260},
      {"what": "port", "pointer": "/node/front_end/bits_per_s", "values": [1e9, 2e9, 4e9], "price_each": 4e-7},
      {"what": "cores", "pointer": "/node/cores", "values": [1, 2, 4], "price_each": 190},
      {"what": "link", "pointer": "/client/link/bits_per_s", "values": [4e8, 1e9, 1e10], "price_each": 1e-7,
       "per": "seats"},
      {"what": "cores of a seat", "pointer": "/client/cores", "values": [4, 8, 16], "price_each": 30,
       "per": "seats"}])");
    Json choices = Json::array();
    while (choices.size() < 2 + seed % 2) {
        const Json& each = all[chance.below(all.size())];
        if (std::find(choices.begin(), choices.end(), each) == choices.end()) choices.push_back(each);
    }
    const char* const formats[] = {"prores-hd", "prores-uhd"};
    return {{"schema", "streamsim.need"},
            {"version", 1},
            {"seed", seed},
            {"verify", "20s"},
            {"headroom", seed % 3 == 0 ? 20 : 0},
            {"plans", 20},
            {"seats",
             {{{"count", 1 + chance.below(4)},
               {"streams", {{{"format", formats[chance.below(2)]}, {"count", 1 + chance.below(3)}}}}}}},
            {"offers", {{{"model", "nfs-generic"}, {"price", 1000}, {"choices", choices}}}}};
}

struct Configuration {
    judge::PlanLevels levels;
    double price = 0;
    bool plays = false;
};

std::vector<Configuration> every_configuration(const PurchaseNeed& need) {
    const PurchaseOffer& offer = need.offers.front();
    std::vector<Configuration> all(1);
    all.front().price = offer.price;
    for (const PurchaseChoice& choice : offer.choices) {
        std::vector<Configuration> longer;
        for (const Configuration& each : all) {
            for (std::uint32_t level = 0; level < choice.levels.size(); ++level) {
                longer.push_back(each);
                longer.back().levels.push_back(level);
                longer.back().price += choice.levels[level].price * choice.per;
            }
        }
        all = std::move(longer);
    }
    const auto model = read_model_text(offer.model, kFormats);
    const std::vector<PurchasePlayer::ModelDocument> documents = {{model->path, model->text}};
    PurchasePlayer player(need, documents, {});
    parallel_for(
        all.size(),
        [&](std::size_t i) {
            PurchaseQuestion question{0, all[i].levels, need.seats(), PurchaseQuestion::Length::screen};
            all[i].plays = player.play(question).pass;
            question.length = PurchaseQuestion::Length::verify;
            all[i].plays = all[i].plays && player.play(question).pass;
        },
        computing_threads());
    return all;
}

std::string text_of(const PurchaseNeed& need, const judge::PlanLevels& levels) {
    std::string out;
    for (std::size_t i = 0; i < levels.size(); ++i)
        out += need.offers.front().choices[i].levels[levels[i]].text + " ";
    return out;
}

bool is_monotone(const std::vector<Configuration>& all) {
    for (const Configuration& low : all) {
        for (const Configuration& high : all) {
            if (low.plays && !high.plays && judge::no_more_than(low.levels, high.levels)) return false;
        }
    }
    return true;
}

/// Holds the plans to all configurations. Returns whether there is a plan.
bool compare(std::uint64_t seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const PurchaseNeed need = need_of(need_by_chance(seed));
    const std::vector<Configuration> all = every_configuration(need);
    const bool monotone = is_monotone(all);
    // Checks find what breaks the rule; where nothing does they must not be needed.
    const auto result = plan_purchase(need, options_with(monotone ? 0 : 100));
    EXPECT_TRUE(result);
    if (!result) return false;
    std::vector<std::pair<double, std::string>> expected, found;
    for (const Configuration& each : all) {
        const bool minimal = std::none_of(all.begin(), all.end(), [&each](const Configuration& other) {
            return other.plays && other.levels != each.levels && judge::no_more_than(other.levels, each.levels);
        });
        if (each.plays && minimal) expected.emplace_back(each.price, text_of(need, each.levels));
    }
    for (const PurchasePlan& plan : result->plans) {
        found.emplace_back(plan.price, "");
        for (const PurchaseChosen& each : plan.choices) found.back().second += each.value + " ";
        EXPECT_GT(plan.frames, 0U);
        for (const PurchaseChosen& each : plan.choices) {
            if (each.less && monotone) EXPECT_FALSE(each.less->plays) << each.what;
        }
    }
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    if (monotone) {
        EXPECT_EQ(found, expected);
        EXPECT_THAT(result->worse, testing::IsEmpty());
    } else {
        EXPECT_EQ(found.empty(), expected.empty());
        if (!found.empty() && !expected.empty()) EXPECT_EQ(found.front(), expected.front());
    }
    return !found.empty();
}

TEST(PurchaseSearch, FindsWhatAllConfigurationsPlayed) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) compare(seed);
}

TEST(PurchaseSearchVariants, Finds50SmallOffersAsExhaustiveSearchDoes) {
    std::size_t with_plans = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) with_plans += compare(seed) ? 1U : 0U;
    EXPECT_GT(with_plans, 20U);
}

Json small_need() {
    return Json::parse(R"({
      "schema": "streamsim.need", "version": 1, "verify": "20s", "claim": "1 drop/day", "hours_together": 8,
      "seats": [{"count": 3, "streams": [{"format": "prores-hd", "count": 2}]}],
      "offers": [{"model": "nfs-generic", "choices": [
        {"what": "port", "pointer": "/node/front_end/bits_per_s", "alternatives": [
          {"name": "slow", "value": 3e8, "price": 10}, {"name": "fast", "value": 4e9, "price": 90}]}]}]})");
}

TEST(PurchaseSearch, SaysWhatOneStepLessLoses) {
    Json json = small_need();
    const auto result = plan_purchase(need_of(json), options_with(48));
    ASSERT_TRUE(result);
    ASSERT_EQ(result->plans.size(), 1U);
    const PurchasePlan& plan = result->plans.front();
    EXPECT_EQ(plan.price, 90);
    ASSERT_TRUE(plan.choices.front().less);
    const PurchaseLess& less = *plan.choices.front().less;
    EXPECT_FALSE(less.plays);
    // 300 Mb/s are 0.94 * 37.5 MB/s: less than two streams of 18.3 MB/s leave room for.
    EXPECT_LT(less.seats_play, 2U);
    EXPECT_EQ(less.streams_play, 2 * less.seats_play);
    EXPECT_EQ(less.limit, Limit::storage);
    EXPECT_THAT(less.reason, testing::HasSubstr("front end"));
    EXPECT_FALSE(plan.parts.empty());
    // As --prove: of the run, however many streams it has.
    EXPECT_NEAR(result->prove_hours, 24 * 3.30, 0.1);
}

TEST(PurchaseSearch, SaysWhatComesNearestWithinNoLimit) {
    Json json = small_need();
    json["limits"]["price"] = 50;
    auto result = plan_purchase(need_of(json), options_with(48));
    ASSERT_TRUE(result);
    EXPECT_THAT(result->plans, testing::IsEmpty());
    ASSERT_EQ(result->nearest.size(), 1U);
    EXPECT_TRUE(result->nearest.front().plays);
    EXPECT_EQ(result->nearest.front().why, "the price 90 is above 50");
    json.erase("limits");
    json["offers"][0]["choices"][0]["alternatives"].erase(1);
    result = plan_purchase(need_of(json), options_with(48));
    ASSERT_TRUE(result);
    ASSERT_EQ(result->nearest.size(), 1U);
    EXPECT_FALSE(result->nearest.front().plays);
    EXPECT_LT(result->nearest.front().seats_play, 2U);
    EXPECT_EQ(result->nearest.front().limit, Limit::storage);
}

TEST(PurchaseSearch, GoesOnWhereTheVerificationRunMissesAFrame) {
    const auto text = read_document(kFormats + "/need/small-room.json");
    ASSERT_TRUE(text);
    const auto result = plan_purchase(need_of(Json::parse(*text)), options_with(0));
    ASSERT_TRUE(result);
    EXPECT_GT(result->verified_failed, 0U);  // 8 drives play for 10 s, and not for a minute
    ASSERT_FALSE(result->plans.empty());
    EXPECT_EQ(result->plans.front().choices.front().value, "12");
}

TEST(PurchaseSearch, CountsSeatsByTheRunThatFailed) {
    const auto text = read_document(kFormats + "/need/small-room.json");
    ASSERT_TRUE(text);
    Json json = Json::parse(*text);
    json["offers"][0]["choices"][0]["values"] = {8, 12};
    const PurchaseNeed need = need_of(json);
    const auto result = plan_purchase(need, options_with(0));
    ASSERT_TRUE(result);
    ASSERT_FALSE(result->plans.empty());
    const auto& less = result->plans.front().choices.front().less;
    ASSERT_TRUE(less);
    ASSERT_FALSE(less->plays);
    const auto model = read_model_text(need.offers.front().model, kFormats);
    const std::vector<PurchasePlayer::ModelDocument> documents = {{model->path, model->text}};
    PurchasePlayer player(need, documents, {});
    judge::PlanLevels levels(need.offers.front().choices.size(), 0);
    for (std::size_t i = 1; i < levels.size(); ++i) {
        const auto& all = need.offers.front().choices[i].levels;
        while (all[levels[i]].text != result->plans.front().choices[i].value) ++levels[i];
    }
    PurchaseQuestion asked{0, levels, need.seats(), PurchaseQuestion::Length::screen};
    EXPECT_TRUE(player.play(asked).pass) << "8 drives play for 10 s";
    asked.length = PurchaseQuestion::Length::verify;
    EXPECT_FALSE(player.play(asked).pass);
    asked.seats = less->seats_play;
    EXPECT_TRUE(player.play(asked).pass) << less->seats_play << " seats for a minute";
    ++asked.seats;
    EXPECT_FALSE(player.play(asked).pass);
}

TEST(PurchaseSearch, RefusesFractionsOfWholeThings) {
    Json json = small_need();
    Json& choices = json["offers"][0]["choices"];
    choices = Json::array(
        {{{"what", "drives"}, {"pointer", "/node/drives"}, {"values", {8.5, 9}}},
         {{"what", "cores"}, {"pointer", "/node/cores"}, {"values", {1.5, 2}}},
         {{"what", "nodes"}, {"pointer", "/nodes"}, {"from", 1}, {"to", 2}, {"step", 0.5}},
         {{"what", "memory"},
          {"alternatives", {{{"name", "a"}, {"set", {{"/node/ram_bytes", 0.5}, {"/data_drives", 7.5}}}}}}}});
    const auto need = read_purchase_need(json.dump(), "n.json", kFormats);
    ASSERT_FALSE(need);
    EXPECT_THAT(
        need.error().problems,
        testing::ElementsAre(
            testing::HasSubstr("/offers/0/choices/0/values/0: expected a whole number, as the model has at "
                               "/node/drives, found 8.5"),
            testing::HasSubstr("/offers/0/choices/2/step: expected a whole number"),
            testing::HasSubstr("/offers/0/choices/3/alternatives/0/set//data_drives: expected a whole"),
            testing::HasSubstr("/offers/0/choices/3/alternatives/0/set//node/ram_bytes: expected a whole")));
}

TEST(PurchaseSearch, RefusesTimesWithoutAUnitAndRatesWithOne) {
    Json json = small_need();
    json["offers"][0]["choices"] =
        Json::array({{{"what", "link"}, {"pointer", "/client/link/latency"}, {"values", Json::array({0.002})}},
                     {{"what", "drive"},
                      {"alternatives",
                       {{{"name", "a"},
                         {"set",
                          {{"/client/link/bits_per_s", "1ms"},
                           {"/drive/seek_full", "9ms"},
                           {"/drive/seek_track", 5e-4},
                           {"/node/front_end/bits_per_s", "3GB"},
                           {"/node/ram_bytes", "3GB"}}}}}}}});
    const auto need = read_purchase_need(json.dump(), "n.json", kFormats);
    ASSERT_FALSE(need);
    EXPECT_THAT(
        need.error().problems,
        testing::ElementsAre(
            testing::HasSubstr(
                "/offers/0/choices/0/values/0: expected a time such as \"1ms\", as the model has "
                "at /client/link/latency, found 0.002"),
            testing::HasSubstr(
                "/offers/0/choices/1/alternatives/0/set//client/link/bits_per_s: expected a number"),
            testing::HasSubstr("/offers/0/choices/1/alternatives/0/set//drive/seek_track: expected a time"),
            testing::HasSubstr("/offers/0/choices/1/alternatives/0/set//node/front_end/bits_per_s: expected a "
                               "number (bits a second)")));
}

TEST(PurchaseSearch, RefusesModelsWithOptions) {
    for (const char* const options : {"?nodes=4", "?strategy=streaming", "?cache=cold"}) {
        Json json = small_need();
        const std::string model = std::string("nfs-generic") + options;
        json["offers"][0]["model"] = model;
        const auto need = read_purchase_need(json.dump(), "n.json", kFormats);
        ASSERT_FALSE(need) << model;
        EXPECT_THAT(need.error().problems,
                    testing::ElementsAre(
                        "n.json: /offers/0/model: expected a model: a NAME or a FILE, found '" + model + "'"));
    }
}

/// The last of 300 users of three seats begins 3 s after the first.
TEST(PurchaseSearch, RefusesMetersWhoseUsersNeverBegin) {
    Json json = small_need();
    json["seats"][0]["meters"] = Json::parse(R"([{"workload": "vdi-login", "start": "16s"}])");
    EXPECT_TRUE(read_purchase_need(json.dump(), "n.json", kFormats));
    json["seats"][0]["meters"][0]["start"] = "18s";
    const auto need = read_purchase_need(json.dump(), "n.json", kFormats);
    ASSERT_FALSE(need);
    EXPECT_THAT(need.error().problems,
                testing::ElementsAre(testing::HasSubstr(
                    "n.json: /seats: meter vdi-login-login: the last of 300 users would begin")));
}

Json calibrated_model() {
    return Json::parse(*read_document(STREAMSIM_SOURCE_DIR "/tests/sim/calibrated.json"));
}

/// An offer of this model, which is in a file of this name.
Json need_with(const Json& model, const std::string& name) {
    const std::string path = testing::TempDir() + fmt::format("purchase-{}-{}.json", name, getpid());
    std::ofstream(path) << model.dump();
    Json json = small_need();
    json["offers"][0]["model"] = path;
    json["offers"][0]["name"] = "measured";
    return json;
}

/// An offer of the calibrated model, with this answer of its held-back run.
Json calibrated_need(bool rejected) {
    Json model = calibrated_model();
    model["calibration"]["held_back"]["rejected"] = rejected;
    return need_with(model, fmt::format("{}", rejected));
}

/// The measured port plays, but not at its low, 12.5 MB/s for 110 MB/s. A chosen port has no interval.
TEST(PurchaseSearch, PlaysTheWorseEndsAlsoWhereTheScreenIsAsLongAsTheVerification) {
    Json model = calibrated_model();
    model["node"]["front_end"]["bits_per_s"]["low"] = 1e8;
    for (const char* const start : {"0s", "5s"}) {
        SCOPED_TRACE(start);
        Json json = need_with(model, "worse-ends");
        json["seats"][0]["start"] = start;
        json["offers"][0]["choices"] = Json::parse(R"([{"what": "port", "alternatives": [
          {"name": "as measured", "set": {"/client/cores": 8}, "price": 10},
          {"name": "known", "set": {"/node/front_end/bits_per_s": 9e9}, "price": 90}]}])");
        const auto result = plan_purchase(need_of(json), options_with(0));
        std::filesystem::remove(json["offers"][0]["model"].get<std::string>());
        ASSERT_TRUE(result);
        EXPECT_EQ(result->screen_ns == result->verify_ns, std::string_view(start) != "0s");
        EXPECT_EQ(result->verified_failed, 1U);
        ASSERT_EQ(result->plans.size(), 1U);
        EXPECT_EQ(result->plans.front().choices.front().value, "known");
    }
}

TEST(PurchaseSearch, CountsAVerificationRunOnceWhereThereIsNoPlan) {
    Json model = calibrated_model();
    model["node"]["front_end"]["bits_per_s"]["low"] = 1e8;
    Json json = need_with(model, "no-plan");
    json["offers"][0]["choices"] = Json::parse(R"([{"what": "port", "alternatives": [
      {"name": "as measured", "set": {"/client/cores": 8}, "price": 1}]}])");
    int told = 0;
    PurchaseOptions options = options_with(0);
    options.progress = [&told](const std::string& text) {
        told += text.find("the verification run fails") != std::string::npos ? 1 : 0;
    };
    const auto result = plan_purchase(need_of(json), options);
    std::filesystem::remove(json["offers"][0]["model"].get<std::string>());
    ASSERT_TRUE(result);
    EXPECT_EQ(result->nearest.size(), 1U);
    EXPECT_EQ(result->verified, 1U);
    EXPECT_EQ(result->verified_failed, 1U);
    EXPECT_EQ(told, 1);
}

TEST(PurchaseSearch, RefusesAModelThatItsHeldBackRunRejected) {
    const Json json = calibrated_need(true);
    const auto need = read_purchase_need(json.dump(), "n.json", kFormats);
    std::filesystem::remove(json["offers"][0]["model"].get<std::string>());
    ASSERT_FALSE(need);
    EXPECT_THAT(
        need.error().problems,
        testing::ElementsAre(testing::AllOf(
            testing::HasSubstr("n.json: /offers/0/model: the model does not hold: held back: 2 streams"),
            testing::HasSubstr("the model is rejected"))));
}

TEST(PurchaseSearch, SaysWhatTheHeldBackRunGaveAndWhatWasNotMeasured) {
    Json json = calibrated_need(false);
    json["seats"][0]["link"]["bits_per_s"] = 1e10;
    const auto result = plan_purchase(need_of(json), options_with(0));
    std::filesystem::remove(json["offers"][0]["model"].get<std::string>());
    ASSERT_TRUE(result);
    EXPECT_THAT(result->trust,
                testing::ElementsAre(
                    "measured: held back: 2 streams of dpx12 on 2 seats, and 2 were predicted (2 to 3)",
                    "measured: 3 seats are more than the 2 that were measured",
                    testing::HasSubstr("measured: seats have links of their own"),
                    testing::HasSubstr("measured: parts of the server were never full"),
                    "measured: not measured: prores-hd; the error of the model is doubled"));
}

/// The six streams of the need, on what was measured, on less, and on more.
TEST(PurchaseSearch, BuysNotWhatTheHeldBackRunDidNotPlay) {
    Json model = calibrated_model();
    model["calibration"]["held_back"] = {{"format", "prores-hd"}, {"seats", 3}, {"streams_measured", 5},
                                         {"predicted", 6},        {"low", 6},   {"high", 6},
                                         {"rejected", false}};
    Json json = need_with(model, "held-back");
    json["offers"][0]["choices"] = Json::parse(R"([{"what": "port", "alternatives": [
      {"name": "less", "set": {"/node/front_end/bits_per_s": 8e9}, "price": 1},
      {"name": "as measured", "set": {"/node/front_end/bits_per_s": 9e9}, "price": 10},
      {"name": "more", "set": {"/node/front_end/bits_per_s": 25e9}, "price": 90}]}])");
    const auto result = plan_purchase(need_of(json), options_with(48));
    std::filesystem::remove(json["offers"][0]["model"].get<std::string>());
    ASSERT_TRUE(result);
    ASSERT_EQ(result->plans.size(), 1U);
    const PurchaseChosen& chosen = result->plans.front().choices.front();
    EXPECT_EQ(chosen.value, "more");
    ASSERT_TRUE(chosen.less);
    EXPECT_EQ(chosen.less->reason, "the held-back run gave 5 streams, and one more did not play");
    EXPECT_THAT(result->worse, testing::IsEmpty());
}

/// The link of a seat got 30 MB/s and was never full: two streams of 18.3 MB/s are more than that.
TEST(PurchaseSearch, TakesNoRateThatNobodyMeasured) {
    Json model = calibrated_model();
    model["client"]["link"]["bits_per_s"] = {
        {"value", 20 * 2.4e8}, {"low", 2.4e8}, {"basis", "measured: at least this, as it was never full"}};
    Json json = need_with(model, "at-least");
    json["offers"][0]["choices"] = Json::parse(R"([{"what": "port", "pointer": "/node/front_end/bits_per_s",
      "values": [4e9, 1e10], "price_each": 1}])");
    const auto result = plan_purchase(need_of(json), options_with(0));
    std::filesystem::remove(json["offers"][0]["model"].get<std::string>());
    ASSERT_TRUE(result);
    EXPECT_THAT(result->plans, testing::IsEmpty());
    ASSERT_EQ(result->nearest.size(), 1U);
    EXPECT_FALSE(result->nearest.front().plays);
}

TEST(PurchaseSearch, TakesTheClaimsOfProve) {
    Json json = small_need();
    json["claim"] = "1 drop/week";
    EXPECT_DOUBLE_EQ(need_of(json).claim_drops_per_day, 1.0 / 7);
    json["claim"] = "100000 drops/day";
    const auto need = read_purchase_need(json.dump(), "n.json", kFormats);
    ASSERT_FALSE(need);
    EXPECT_THAT(
        need.error().problems,
        testing::ElementsAre(testing::HasSubstr("n.json: /claim: '100000 drops/day': expected a rate")));
}

TEST(PurchaseSearch, RefusesALevelWithWhichTheOfferIsNoModel) {
    Json json = small_need();
    json["offers"][0]["choices"] =
        Json::array({{{"what", "drives"}, {"pointer", "/node/drives"}, {"values", {6, 8}}, {"price_each", 1}}});
    const auto result = plan_purchase(need_of(json), options_with(48));
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().problems,
                testing::ElementsAre(testing::HasSubstr("n.json: /offers/0/choices/0: with drives 6 it is no "
                                                        "model")));
}

}  // namespace
}  // namespace streamsim::run
