// The rules from draws of a calibrated model to an answer: intervals, refusals, and advice.
#include "judge/prediction_rules.h"

#include <gmock/gmock.h>

namespace streamsim::judge {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

UncertainNumber number(const std::string& pointer, double low, std::optional<double> high) {
    return {pointer, 100, low, high, 0, 1000};
}

/// Measured with two seats that could be told from the server.
ClusterModel calibrated() {
    ClusterModel model;
    model.uncertain = {number("/node/front_end/bits_per_s", 90, 110)};
    model.calibration = CalibrationFacts{
        .target = "/mnt", .measured_at = "today", .seats = 2, .formats = {"dpx12"}, .told_apart = true};
    model.calibration->held_back = HeldBackRun{"prores-uhd", 1, 9, 9, 8, 10, false};
    return model;
}

/// 200 draws: numbers of streams, each with how many draws play it.
std::vector<DrawAnswer> draws(std::vector<std::pair<std::uint64_t, int>> counts, const char* full = "drives") {
    std::vector<DrawAnswer> answers;
    for (const auto& [streams, times] : counts) {
        for (int i = 0; i < times; ++i) answers.push_back({streams, streams > 0, full});
    }
    return answers;
}

Prediction concluded(const ClusterModel& model,
                     const std::vector<DrawAnswer>& answers,
                     std::uint64_t nominal,
                     const PredictionQuestion& question = {{"dpx12"}, 2},
                     std::optional<std::uint64_t> if_never_full = {},
                     bool as_held_back = true) {
    Prediction prediction;
    prediction.what = "dpx12";
    prediction.seats = question.seats;
    prediction.as_held_back = as_held_back;
    prediction.nominal = nominal;
    prediction.if_never_full = if_never_full;
    conclude(model, outside_measured(model, question), answers, 1000, prediction);
    return prediction;
}

TEST(PredictionInterval, LeavesOutATwentiethOnEachSide) {
    const auto answers = draws({{14, 10}, {15, 50}, {17, 80}, {18, 50}, {19, 10}});
    const Prediction prediction = concluded(calibrated(), answers, 17);
    EXPECT_EQ(prediction.low, 15U);
    EXPECT_EQ(prediction.high, 18U);
    EXPECT_EQ(prediction.draws, 200U);
    EXPECT_EQ(prediction.verdict, Prediction::Verdict::answered);
    EXPECT_TRUE(predicts_play(prediction));
    ASSERT_EQ(prediction.distribution.size(), 5U);
    EXPECT_EQ(prediction.distribution[0].draws, 10U);
    EXPECT_EQ(prediction.sentence, "2 seats: 17 streams of dpx12 (15 to 18, 90 %); full first: drives 100 %");
    EXPECT_EQ(concluded(calibrated(), draws({{14, 11}, {17, 189}}), 17).low, 14U);
}

TEST(PredictionInterval, NamesThePartsThatAreFullFirst) {
    auto answers = draws({{17, 160}}, "server network");
    for (const DrawAnswer& each : draws({{17, 40}}, "seat CPU")) answers.push_back(each);
    const Prediction prediction = concluded(calibrated(), answers, 17);
    ASSERT_EQ(prediction.full_first.size(), 2U);
    EXPECT_EQ(prediction.full_first[0].part, "server network");
    EXPECT_THAT(prediction.sentence,
                HasSubstr("17 streams of dpx12 (17, 90 %); full first: server network 80 %, "
                          "seat CPU 20 %"));
}

TEST(PredictionRefusal, OfAnIntervalWiderThanAFifthEachWay) {
    EXPECT_EQ(concluded(calibrated(), draws({{16, 100}, {24, 100}}), 20).verdict,
              Prediction::Verdict::answered);
    const Prediction wide = concluded(calibrated(), draws({{16, 100}, {25, 100}}), 20);
    EXPECT_EQ(wide.verdict, Prediction::Verdict::refused);
    EXPECT_FALSE(predicts_play(wide));
    EXPECT_THAT(wide.refused, ElementsAre("16 to 25 streams are wider than +-20 %"));
    EXPECT_THAT(wide.next, ElementsAre(HasSubstr("/node/front_end/bits_per_s, 20 % of its value")));
    EXPECT_EQ(concluded(calibrated(), draws({{1, 100}, {3, 100}}), 2).verdict, Prediction::Verdict::answered)
        << "two streams are never too wide";
}

TEST(PredictionRefusal, AdvisesOnTheWidestOfTheNumbersThatHaveAWidth) {
    ClusterModel model = calibrated();
    model.uncertain.push_back({"/none", 0, 0, 50, 0, 1000});
    model.uncertain.push_back(number("/open", 10, std::nullopt));
    model.uncertain.push_back(number("/wider", 70, 130));
    model.uncertain.push_back(number("/narrow", 99, 101));
    const Prediction wide = concluded(model, draws({{16, 100}, {25, 100}}), 20);
    EXPECT_THAT(wide.next, ElementsAre(HasSubstr("/wider, 60 % of its value")));
}

TEST(PredictionRefusal, OfAModelWhoseHeldBackRunWasRejected) {
    ClusterModel model = calibrated();
    model.calibration->held_back = HeldBackRun{"dpx12", 1, 9, 9, 8, 10, true};
    const Prediction prediction = concluded(model, draws({{17, 200}}), 17);
    EXPECT_EQ(prediction.verdict, Prediction::Verdict::refused);
    EXPECT_THAT(prediction.refused,
                ElementsAre("the model does not hold: held back: 9 streams of dpx12 on 1 seat, and 9 were "
                            "predicted (8 to 10); the model is rejected"));
    EXPECT_THAT(prediction.next, ElementsAre(HasSubstr("calibrate again")));
    model.calibration->held_back->rejected = false;
    EXPECT_EQ(concluded(model, draws({{17, 200}}), 17).verdict, Prediction::Verdict::answered);
}

TEST(PredictionRefusal, WhereOneSeatCannotTellItsLimitFromTheServers) {
    ClusterModel model = calibrated();
    model.calibration->seats = 1;
    model.calibration->told_apart = false;
    model.uncertain = {number("/node/front_end/bits_per_s", 100, std::nullopt)};
    const PredictionQuestion twenty{{"dpx12"}, 20};
    const OutsideMeasured outside = outside_measured(model, twenty);
    EXPECT_TRUE(outside.server_may_be_full);
    EXPECT_EQ(outside.model_error_factor, 2) << "more than 8 times the seats";
    const Prediction prediction = concluded(model, draws({{17, 200}}), 17, twenty, 40);
    EXPECT_THAT(prediction.sentence,
                HasSubstr("20 seats: at least 17 streams of dpx12; 40 if the server were never full"));
    EXPECT_EQ(prediction.verdict, Prediction::Verdict::refused);
    EXPECT_EQ(prediction.low, 17U);
    EXPECT_EQ(prediction.high, 40U) << "as the sentence says";
    const Prediction unbounded = concluded(model, draws({{17, 200}}), 17, twenty, 1000);
    EXPECT_THAT(unbounded.sentence,
                HasSubstr("at least 17 streams of dpx12; more than 1000 if the server were never full"));
    EXPECT_THAT(unbounded.refused, ElementsAre("17 to more than 1000 streams are wider than +-20 %"));
    EXPECT_FALSE(unbounded.high);
    EXPECT_THAT(prediction.next,
                ElementsAre("calibrate with two seats: one seat cannot tell its own limit from the server's"));
    EXPECT_THAT(prediction.outside, Contains(HasSubstr("20 seats are more than the one that was measured")));
    EXPECT_EQ(concluded(model, draws({{17, 200}}), 17, {{"dpx12"}, 1}).verdict, Prediction::Verdict::answered)
        << "as many seats as were measured";
    EXPECT_EQ(concluded(model, draws({{17, 200}}), 17, twenty, 18).verdict, Prediction::Verdict::answered)
        << "the seats are full first";
}

TEST(PredictionRefusal, WhereNothingIsEverFull) {
    const Prediction prediction = concluded(calibrated(), draws({{1000, 200}}), 1000);
    EXPECT_EQ(prediction.verdict, Prediction::Verdict::refused);
    EXPECT_THAT(prediction.refused, ElementsAre(HasSubstr("no part is full with 1000 streams")));
}

TEST(PredictionOutside, OtherFormatsAndManyMoreSeatsDoubleTheErrorOfTheModel) {
    const ClusterModel model = calibrated();
    EXPECT_EQ(outside_measured(model, {{"dpx12"}, 2}).model_error_factor, 1);
    EXPECT_THAT(outside_measured(model, {{"dpx12"}, 2}).sentences, IsEmpty());
    EXPECT_EQ(outside_measured(model, {{"dpx12"}, 16}).model_error_factor, 1);
    EXPECT_THAT(outside_measured(model, {{"dpx12"}, 16}).sentences,
                ElementsAre("16 seats are more than the 2 that were measured"));
    EXPECT_FALSE(outside_measured(model, {{"dpx12"}, 16}).server_may_be_full) << "the server was full";
    EXPECT_EQ(outside_measured(model, {{"dpx12"}, 17}).model_error_factor, 2);
    EXPECT_EQ(outside_measured(model, {{"prores-hd"}, 17}).model_error_factor, 4);
    const OutsideMeasured format = outside_measured(model, {{"prores-hd", "dpx12"}, 1});
    EXPECT_THAT(format.sentences, ElementsAre("not measured: prores-hd; the error of the model is doubled"));
    EXPECT_THAT(format.next, ElementsAre("calibrate with prores-hd"));
    ClusterModel by_hand = calibrated();
    by_hand.calibration.reset();
    EXPECT_THAT(outside_measured(by_hand, {{"prores-hd"}, 99}).sentences, IsEmpty());
}

TEST(PredictionOutside, OtherLinksMayFillPartsOfTheServer) {
    ClusterModel model = calibrated();
    const PredictionQuestion question{{"dpx12"}, 2, true};
    const OutsideMeasured outside = outside_measured(model, question);
    EXPECT_EQ(outside.model_error_factor, 2);
    EXPECT_THAT(outside.sentences, ElementsAre(HasSubstr("links of their own")));
    EXPECT_FALSE(outside.server_may_be_full) << "the server was full";
    model.uncertain = {number("/node/front_end/bits_per_s", 100, std::nullopt)};
    EXPECT_TRUE(outside_measured(model, question).server_may_be_full);
}

TEST(PredictionOutside, AModelThatNoHeldBackRunCheckedHasTwiceTheError) {
    ClusterModel model = calibrated();
    model.calibration->held_back.reset();
    const OutsideMeasured outside = outside_measured(model, {{"dpx12"}, 2});
    EXPECT_EQ(outside.model_error_factor, 2);
    EXPECT_THAT(outside.sentences,
                ElementsAre("no held-back run checked the model: the error of the model is doubled"));
}

TEST(PredictionOfTheHeldBackRun, HoldsTheNumberThatWasMeasured) {
    ClusterModel model = calibrated();
    model.calibration->held_back = HeldBackRun{"dpx12", 2, 15, 17, 15, 18, false};
    const Prediction lower = concluded(model, draws({{16, 100}, {18, 100}}), 17);
    EXPECT_EQ(lower.low, 15U);
    EXPECT_EQ(lower.high, 18U);
    EXPECT_THAT(lower.sentence, HasSubstr("17 streams of dpx12 (15 to 18, 90 %; measured: 15)"));
    EXPECT_THAT(lower.outside, IsEmpty()) << "within what was predicted";
    model.calibration->held_back = HeldBackRun{"dpx12", 2, 20, 19, 18, 20, false};
    EXPECT_EQ(concluded(model, draws({{16, 100}, {18, 100}}), 17).high, 20U);
    const Prediction other = concluded(model, draws({{16, 100}, {18, 100}}), 17, {{"dpx12"}, 2}, {}, false);
    EXPECT_EQ(other.high, 18U) << "other play";
    EXPECT_EQ(other.sentence.find("measured: "), std::string::npos);
    model.calibration->held_back->format = "prores-uhd";
    EXPECT_EQ(concluded(model, draws({{16, 100}, {18, 100}}), 17).high, 18U) << "another question";
}

TEST(PredictionOfTheHeldBackRun, ItsErrorWidensEveryAnswer) {
    ClusterModel model = calibrated();
    model.calibration->held_back = HeldBackRun{"prores-uhd", 1, 8, 10, 9, 11, false};
    const auto answers = draws({{16, 100}, {18, 100}});
    const Prediction fewer = concluded(model, answers, 17);
    EXPECT_EQ(fewer.low, 12U) << "16 * 0.8, rounded down";
    EXPECT_EQ(fewer.high, 18U);
    EXPECT_THAT(fewer.outside,
                ElementsAre("the held-back run gave 8 streams, and 9 to 11 were predicted: the low end of the "
                            "interval is lowered by the same factor"));
    EXPECT_EQ(fewer.sentence.find("measured: "), std::string::npos);
    model.calibration->held_back->streams_measured = 12;
    const Prediction more = concluded(model, answers, 17);
    EXPECT_EQ(more.low, 16U);
    EXPECT_EQ(more.high, 22U) << "18 * 1.2, rounded up";
    EXPECT_THAT(more.outside, ElementsAre(HasSubstr("the high end of the interval is raised")));
}

TEST(PredictionOfOneSeat, NamesNeitherLinkWhereTheyWereNotToldApart) {
    ClusterModel model = calibrated();
    model.calibration->told_apart = false;
    auto answers = draws({{17, 100}}, "server network");
    for (const DrawAnswer& each : draws({{17, 60}}, "seat link")) answers.push_back(each);
    for (const DrawAnswer& each : draws({{17, 40}}, "drives")) answers.push_back(each);
    const Prediction prediction = concluded(model, answers, 17);
    ASSERT_EQ(prediction.full_first.size(), 2U);
    EXPECT_EQ(prediction.full_first[0].part, "seat or server, not told apart");
    EXPECT_EQ(prediction.full_first[0].draws, 160U);
    EXPECT_THAT(prediction.sentence, HasSubstr("full first: seat or server, not told apart 80 %, drives 20 %"));
}

TEST(PredictionOfNoStream, NamesTheRateThatASeatGets) {
    ClusterModel model = calibrated();
    model.client.link.bits_per_s = 8.8e9;
    MediaFormat format;
    format.name = "dpx12";
    EXPECT_EQ(too_fast_for_a_seat(model, format, 1.195e9),
              "one stream of dpx12 needs 1,195.0 MB/s, more than a seat was seen to get (1,100.0 MB/s)");
    EXPECT_EQ(too_fast_for_a_seat(model, format, 1.05e9), "");
    model.file_bytes_per_s = 1e9;
    EXPECT_EQ(too_fast_for_a_seat(model, format, 1.05e9), "") << "two files at a time have the rate of two";
    format.container = MediaFormat::Container::quicktime;
    EXPECT_THAT(too_fast_for_a_seat(model, format, 1.05e9), HasSubstr("a seat was seen to get (1,000.0 MB/s)"));
}

TEST(PredictionOutside, OtherLoadIsNamedWhereTheIntervalIsTooWide) {
    ClusterModel model = calibrated();
    model.calibration->other_load = true;
    EXPECT_THAT(concluded(model, draws({{10, 100}, {20, 100}}), 15).next,
                ElementsAre("calibrate while no other load is there"));
}

TEST(PredictionOfGivenStreams, CountsTheDrawsThatPlay) {
    Prediction prediction;
    prediction.question = Prediction::Question::plays;
    prediction.what = "dpx12";
    prediction.seats = 2;
    prediction.streams = 8;
    auto answers = draws({{8, 184}}, "");
    for (const DrawAnswer& each : draws({{0, 16}}, "drives")) answers.push_back(each);
    Prediction some = prediction;
    conclude(calibrated(), {}, answers, std::nullopt, some);
    EXPECT_EQ(some.draws_that_play, 184U);
    EXPECT_EQ(some.sentence,
              "2 seats, 8 streams of dpx12: play in 184 of 200 draws (92 %); full first: drives 100 %");
    EXPECT_FALSE(predicts_play(some)) << "fewer than 95 %";
    Prediction all = prediction;
    conclude(calibrated(), {}, draws({{8, 190}, {0, 10}}), std::nullopt, all);
    EXPECT_TRUE(predicts_play(all));
    OutsideMeasured outside;
    outside.server_may_be_full = true;
    Prediction unknown = prediction;
    conclude(calibrated(), outside, answers, std::nullopt, unknown);
    EXPECT_EQ(unknown.verdict, Prediction::Verdict::refused) << "the part that is full may give more";
}

TEST(PredictionOfGivenStreams, AreAnsweredWhereTheSeatsFailOnAServerThatWasNeverFull) {
    ClusterModel model = calibrated();
    OutsideMeasured outside;
    outside.server_may_be_full = true;
    const auto refused = [&](std::vector<DrawAnswer> answers) {
        Prediction prediction;
        prediction.question = Prediction::Question::plays;
        conclude(model, outside, answers, std::nullopt, prediction);
        return prediction.verdict == Prediction::Verdict::refused;
    };
    auto answers = draws({{0, 199}}, "seat link");
    EXPECT_FALSE(refused(answers));
    EXPECT_FALSE(refused(draws({{0, 20}}, "seat CPU")));
    answers.push_back({0, false, "server network"});
    EXPECT_TRUE(refused(answers)) << "with a faster server, this one may play";
    model.calibration->told_apart = false;
    EXPECT_TRUE(refused(draws({{0, 20}}, "seat link"))) << "or the server's";
}

TEST(PredictionOfGivenStreams, IsRefusedForMoreThanTheHeldBackRunGave) {
    ClusterModel model = calibrated();
    model.calibration->held_back = HeldBackRun{"dpx12", 2, 1, 2, 2, 2, false};
    const auto asked = [&model](std::uint64_t streams, std::uint32_t seats, std::uint64_t no_easier) {
        Prediction prediction;
        prediction.question = Prediction::Question::plays;
        prediction.what = "dpx12";
        prediction.seats = seats;
        prediction.no_easier = no_easier;
        prediction.streams = streams;
        conclude(model, {}, draws({{streams, 200}}, ""), std::nullopt, prediction);
        return prediction;
    };
    const Prediction more = asked(2, 2, 2);
    EXPECT_EQ(more.verdict, Prediction::Verdict::refused);
    EXPECT_THAT(more.refused, ElementsAre("the held-back run gave 1 stream, and one more did not play"));
    EXPECT_FALSE(predicts_play(more));
    EXPECT_FALSE(predicts_play(asked(5, 2, 2))) << "with other streams beside them";
    EXPECT_TRUE(predicts_play(asked(1, 2, 1)));
    EXPECT_TRUE(predicts_play(asked(2, 4, 2))) << "another question";
    EXPECT_TRUE(predicts_play(asked(2, 2, 1))) << "the other is a recorder, or easier";
    model.calibration->held_back->at_least = "no more clips may be made";
    EXPECT_TRUE(predicts_play(asked(2, 2, 2))) << "more may play than the bound";
}

TEST(PredictionOfTheHeldBackRun, ThatGaveNothingIsNoPlay) {
    ClusterModel model = calibrated();
    model.calibration->held_back = HeldBackRun{"dpx12", 2, 0, 1, 1, 1, false};
    const Prediction prediction = concluded(model, draws({{1, 200}}), 1);
    EXPECT_EQ(prediction.low, 0U);
    EXPECT_EQ(prediction.verdict, Prediction::Verdict::answered);
    EXPECT_FALSE(predicts_play(prediction));
    EXPECT_FALSE(predicts_play(concluded(calibrated(), draws({{0, 11}, {1, 189}}), 1)))
        << "more than a twentieth of the draws play nothing";
    EXPECT_TRUE(predicts_play(concluded(calibrated(), draws({{0, 10}, {1, 190}}), 1)));
}

TEST(PredictionOfTheHeldBackRun, HasAShareOfWhatWasPredicted) {
    ClusterModel model = calibrated();
    const auto share = [&model](const HeldBackRun& run) {
        model.calibration->held_back = run;
        return held_back_share(model);
    };
    EXPECT_DOUBLE_EQ(share({"dpx12", 2, 8, 10, 9, 11, false}), 0.8);
    EXPECT_DOUBLE_EQ(share({"dpx12", 2, 0, 2, 1, 2, false}), 0.25) << "half a stream";
    EXPECT_EQ(share({"dpx12", 2, 9, 10, 9, 11, false}), 1) << "within its interval";
    EXPECT_EQ(share({"dpx12", 2, 12, 10, 9, 11, false}), 1) << "more";
    EXPECT_EQ(share({"dpx12", 2, 8, 10, 9, 11, false, "no more clips may be made"}), 1) << "a bound";
}

TEST(PredictionOfTheHeldBackRun, SaysThatItsNumberIsABound) {
    ClusterModel model = calibrated();
    model.calibration->held_back = HeldBackRun{"dpx12", 2, 20, 19, 18, 19, false, "no more clips may be made"};
    EXPECT_THAT(concluded(model, draws({{16, 100}, {18, 100}}), 17).sentence,
                HasSubstr("90 %; measured: at least 20)"));
}

TEST(FullPart, IsTheFullestWhereFramesWereMissed) {
    RunResult result;
    EXPECT_EQ(full_part(result), "response time");
    const auto part = [&](PartKind kind, double over_play, std::optional<double> missed) {
        PartResult& added = result.parts.emplace_back();
        added.stats.kind = kind;
        added.utilisation = over_play;
        added.utilisation_missed = missed;
    };
    part(PartKind::drive, 0.99, 0.5);
    EXPECT_EQ(full_part(result), "response time") << "not when frames were missed";
    part(PartKind::seat_link, 0.5, 0.97);
    EXPECT_EQ(full_part(result), "seat link");
    part(PartKind::front_end, 0.98, 0.99);
    EXPECT_EQ(full_part(result), "server network");
    part(PartKind::node_cpu, 1, 1);
    EXPECT_EQ(full_part(result), "server");
}

TEST(FullPart, IsFullAtNineTenths) {
    RunResult result;
    result.parts.emplace_back().stats.kind = PartKind::seat_link;
    result.parts[0].utilisation = 0.9;
    EXPECT_EQ(full_part(result), "seat link");
    result.parts[0].utilisation = 0.899;
    EXPECT_EQ(full_part(result), "response time");
}

}  // namespace
}  // namespace streamsim::judge
