// Plans of purchases, calibrations and predictions as text, page and document.
#include "report/purchase/purchase_report.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "report/calibration/calibration_report.h"
#include "report/html/html_report.h"
#include "report/text/text_report.h"
#include "result/json_report.h"
#include "unit/report/schema_check.h"

namespace streamsim::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

PurchaseResult sample() {
    PurchaseResult result;
    result.common.version = "1";
    result.common.host.cpus = 2;
    result.common.command = {"streamsim", "plan", "room.json"};
    result.need = "room.json";
    result.currency = "EUR";
    result.seats = 11;
    result.streams = 19;
    result.headroom_percent = 10;
    result.hours_together = 8;
    result.claim = "1 drop/day";
    result.prove_hours = 79.2;
    result.price_max = 400'000;
    result.verify_ns = 60'000'000'000;
    result.screen_ns = 10'000'000'000;
    result.trust = {"flash: held back: 17 streams of dpx12 on 2 seats, and 18 were predicted (16 to 19)"};
    result.configurations = 1200;
    result.played = 99;
    result.verified = 3;
    result.verified_failed = 1;
    result.checked = 48;
    PurchasePlan plan{"<hybrid>", "h500", 198'150, 2794};
    plan.choices.push_back(
        {"nodes", "4", 152'000, 1800, PurchaseLess{"3", false, 9, 15, Limit::storage, "drives were full"}});
    plan.choices.push_back({"link", "10 Gb/s", 1650, 66, {}});
    plan.parts.push_back({PartKind::drive, "node 0 drive 7", 0.773});
    plan.frames = 1000;
    plan.margin_p1_percent = 210;
    result.plans.push_back(plan);
    result.worse.push_back({"<hybrid>", "link", "link 10 Gb/s", "link 25 Gb/s", "drives were busy at once"});
    return result;
}

PurchaseResult without_plan() {
    PurchaseResult result = sample();
    result.plans.clear();
    result.worse.clear();
    result.nearest.push_back({"flash", "nodes 8", 500'000, 3000, true, 11, 19, Limit::none,
                              "the price EUR 500,000 is above EUR 400,000"});
    result.nearest.push_back(
        {"hybrid", "nodes 8", 300'000, 3000, false, 7, 12, Limit::storage, "drives were full"});
    return result;
}

TEST(PurchaseReport, TextBeginsAndEndsWithThePlan) {
    const std::string text = purchase_text_report(sample(), false);
    EXPECT_THAT(text, testing::StartsWith("PLAN: EUR 198,150 for <hybrid>: nodes 4, link 10 Gb/s\n"));
    EXPECT_THAT(text, testing::EndsWith("PLAN: EUR 198,150 for <hybrid>\n"));
    EXPECT_THAT(text, AllOf(HasSubstr("drive 7 77 %"), HasSubstr("2 of 11"), HasSubstr("4 of 19"),
                            HasSubstr("more link is worse")));
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 24);
    EXPECT_THAT(purchase_text_report(sample(), true),
                AllOf(HasSubstr("drives were full"), HasSubstr("48 cheaper configurations"),
                      HasSubstr("--prove '1 drop/day' on the storage itself takes at least 3 days 8 h of "
                                "all streams at once without a drop event, as long as 10 working days of 8 h"),
                      HasSubstr("1 configuration failed its verification run")));
}

TEST(PurchaseReport, SaysHowFarToTrustACalibratedModel) {
    for (const PurchaseResult& result : {sample(), without_plan()}) {
        const auto says = HasSubstr("flash: held back: 17 streams of dpx12");
        EXPECT_THAT(purchase_text_report(result, false), says);
        EXPECT_THAT(purchase_text_report(result, true), says);
        EXPECT_THAT(purchase_html_report(result), says);
    }
}

TEST(PurchaseReport, WithoutAPlanItSaysWhatComesNearest) {
    const std::string text = purchase_text_report(without_plan(), false);
    EXPECT_THAT(text, AllOf(HasSubstr("NO PLAN: no offer plays within the limits"),
                            HasSubstr("the price EUR 500,000 is above"), HasSubstr("7 of 11")));
    EXPECT_THAT(purchase_html_report(without_plan()), HasSubstr("What comes nearest"));
}

TEST(PurchaseReport, ThePageRanksThePlansAndEscapesNames) {
    const std::string html = purchase_html_report(sample());
    EXPECT_THAT(html, Not(HasSubstr("<hybrid>")));
    EXPECT_THAT(html, AllOf(HasSubstr("Plans, the cheapest first"), HasSubstr("nodes 3: 2 of 11 seats"),
                            HasSubstr("&lt;hybrid&gt;")));
}

TEST(PurchaseReport, DocumentsFollowTheSchema) {
    for (const PurchaseResult& result : {sample(), without_plan()})
        EXPECT_THAT(schema_problems(schema("plan.json"), Json::parse(result::plan_json_report(result))),
                    IsEmpty());
}

Calibration held_back_of(std::uint64_t streams, const char* at_least, bool rejected) {
    Calibration calibration;
    calibration.held_back = HeldBackCheck{{"dpx12", 1, streams, "", at_least}, 9, 8, 10, rejected};
    return calibration;
}

TEST(CalibrationReport, SaysWhereTheHeldBackRunIsALowerBoundAndWhetherThatChecksTheModel) {
    constexpr const char* kFull = "the disk is full";
    const std::string model = "; the model predicts 9 (8 to 10, 90 %): ";
    const std::string bound = " streams of dpx12 play (the disk is full)" + model;
    for (const auto& [calibration, text] :
         {std::pair(held_back_of(9, "", false),
                    "held-back run: 9 streams of dpx12 play" + model + "as predicted"),
          std::pair(held_back_of(9, kFull, false), "at least 9" + bound + "too few to check the model"),
          std::pair(held_back_of(5, kFull, false), "at least 5" + bound + "too few to check the model"),
          std::pair(held_back_of(11, kFull, false), "at least 11" + bound + "outside of that"),
          std::pair(held_back_of(30, kFull, true), "at least 30" + bound + "REJECTED")}) {
        EXPECT_THAT(calibration_text_report(calibration), HasSubstr(text));
        const std::string page = calibration_html_report(calibration);
        EXPECT_THAT(page, HasSubstr(text));
        const std::string colour = calibration.held_back->rejected ? "bad" : "good";
        EXPECT_THAT(page, HasSubstr("<header class=\"verdict " + colour + "\">"));
    }
}

TEST(CalibrationReport, ShowsOfABoundWhatWasMeasured) {
    Calibration calibration;
    calibration.values = {{"/client/link/bits_per_s", "rate of the seat's link", 8e10, 4e9, std::nullopt, false,
                           "assumed: not to decide; measured: at least 500.0 MB/s"},
                          {"/node/cores", "cores", 256, 0, std::nullopt, false, "assumed: enough"}};
    const std::string report = calibration_text_report(calibration);
    EXPECT_THAT(report, AllOf(HasSubstr("4 Gb/s"), HasSubstr("at least, never full")));
    EXPECT_THAT(report, AllOf(Not(HasSubstr("80 Gb/s")), Not(HasSubstr("cores"))));
    EXPECT_THAT(calibration_html_report(calibration), HasSubstr("measured: at least 500.0 MB/s"));
}

TEST(PredictionReport, SaysOneShareInTextAndOnThePage) {
    PredictionResult result;
    Prediction& prediction = result.predictions.emplace_back();
    prediction.draws = 80;
    prediction.distribution = {{4, 1}, {5, 79}};
    EXPECT_THAT(prediction_text_report(result, TextDetail::full), HasSubstr("1.3 %"));
    EXPECT_THAT(prediction_html_report(result), HasSubstr("4: 1.3 %"));
}

TEST(PredictionReport, HasTheColourOfTheAnswer) {
    const auto colour = [](Prediction prediction) {
        PredictionResult result;
        result.predictions = {std::move(prediction)};
        const std::string page = prediction_html_report(result);
        constexpr std::string_view kBegins = "<header class=\"verdict ";
        const std::size_t at = page.find(kBegins) + kBegins.size();
        return page.substr(at, page.find('"', at) - at);
    };
    const auto plays = [](std::uint64_t draws_that_play) {
        Prediction prediction;
        prediction.question = Prediction::Question::plays;
        prediction.draws = 200;
        prediction.draws_that_play = draws_that_play;
        return prediction;
    };
    const auto most = [](std::uint64_t low, std::uint64_t high) {
        Prediction prediction;
        prediction.low = low;
        prediction.high = high;
        return prediction;
    };
    Prediction refused = most(1, 9);
    refused.verdict = Prediction::Verdict::refused;
    for (const auto& [prediction, expected] :
         {std::pair(plays(190), "good"), std::pair(plays(189), "doubtful"), std::pair(plays(11), "doubtful"),
          std::pair(plays(10), "bad"), std::pair(most(1, 2), "good"), std::pair(most(0, 2), "doubtful"),
          std::pair(most(0, 0), "bad"), std::pair(refused, "bad")})
        EXPECT_EQ(colour(prediction), expected);
    EXPECT_THAT(prediction_html_report({}), HasSubstr("<header class=\"verdict bad\">"));
}

}  // namespace
}  // namespace streamsim::report
