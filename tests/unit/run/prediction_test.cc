// Predictions of a calibrated model, against arithmetic on its links.
#include "run/prediction/prediction.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "base/document/json.h"
#include "judge/prediction_rules.h"
#include "media/catalogue/catalogue.h"
#include "sim/model/model_document.h"
#include "target/target.h"

namespace streamsim::run {
namespace {

using testing::HasSubstr;

const std::string kFormats = STREAMSIM_SOURCE_DIR "/formats";

/// A server whose front end alone is full, at so many bytes a second.
Json server_of(double bytes_per_s, double low, std::optional<double> high) {
    const auto number = [](const Json& value) {
        return Json{{"value", value}, {"basis", "assumed: for a test"}};
    };
    Json rate = number(bytes_per_s * 8);
    rate["low"] = low * 8;
    if (high) rate["high"] = *high * 8;
    return {{"schema", "streamsim.storage-model"},
            {"version", 1},
            {"name", "measured"},
            {"title", "A server for a test"},
            {"nodes", number(1)},
            {"node",
             {{"front_end", {{"bits_per_s", rate}}},
              {"cores", number(64)},
              {"ram_bytes", number("1GiB")},
              {"drives", number(8)}}},
            {"drive",
             {{"kind", "flash"},
              {"channel_bytes_per_s", number(1e9)},
              {"channels", number(8)},
              {"capacity_bytes", number("4TB")},
              {"access", {{"median", number("50us")}}}}},
            {"client", {{"cores", number(64)}, {"link", {{"bits_per_s", number(100e9)}}}}},
            {"calibration",
             {{"target", "/mnt"},
              {"measured_at", "today"},
              {"seats", 2},
              {"formats", {"prores-hd"}},
              {"told_apart", true}}}};
}

/// The same server, whose held-back run gave 8 streams.
Json with_a_held_back_run(Json document) {
    document["calibration"]["held_back"] = {{"format", "prores-hd"}, {"seats", 2}, {"streams_measured", 8},
                                            {"predicted", 8},        {"low", 7},   {"high", 9},
                                            {"rejected", false}};
    return document;
}

class Predictions : public testing::Test {
protected:
    Predictions() : catalogue_(media::Catalogue::load(kFormats + "/media")) {
        format_ = *catalogue_->find("prores-hd");
        rate_ = format_.mean_frame_bytes * format_.rate.per_second();
        options_.draws = 60;
    }

    double streams(double count) const { return count * rate_; }

    PlayRequest request(const Json& document, std::uint32_t seats) {
        text_ = {"m.json", document.dump()};
        PlayRequest request;
        request.target = *target::parse_target("sim:m.json");
        request.target.model =
            std::make_shared<const ClusterModel>(*sim::read_model_document(text_.text, text_.path));
        request.formats = {format_};
        request.seats = seats;
        request.duration = seconds(5);
        return request;
    }

    Prediction most(const Json& document, std::uint32_t seats) {
        const PlayRequest asked = request(document, seats);
        const auto prediction = predict_most(text_, asked, std::nullopt, options_);
        EXPECT_TRUE(prediction) << prediction.error().problems.front();
        return prediction ? *prediction : Prediction{};
    }

    Result<media::Catalogue> catalogue_;
    MediaFormat format_;
    double rate_ = 0;
    ModelText text_;
    PredictionOptions options_;
};

TEST_F(Predictions, TheIntervalIsThatOfTheLinkWhichIsFull) {
    const Prediction prediction = most(server_of(streams(8.6), streams(7.6), streams(9.6)), 2);
    EXPECT_NEAR(static_cast<double>(*prediction.nominal), 8, 1) << prediction.sentence;
    EXPECT_NEAR(static_cast<double>(*prediction.low), 7, 1) << prediction.sentence;
    EXPECT_NEAR(static_cast<double>(*prediction.high), 9, 1) << prediction.sentence;
    EXPECT_LT(*prediction.low, *prediction.high);
    ASSERT_FALSE(prediction.full_first.empty());
    EXPECT_EQ(prediction.full_first.front().part, "server network");
    EXPECT_FALSE(prediction.if_never_full);
    EXPECT_EQ(prediction.verdict, Prediction::Verdict::answered);
}

TEST_F(Predictions, AreTheSameEachTime) {
    const Json document = server_of(streams(8.6), streams(7.6), streams(9.6));
    options_.draws = 20;
    EXPECT_EQ(most(document, 2).sentence, most(document, 2).sentence);
    const Prediction some = most(document, 2);
    options_.draws = 10;
    EXPECT_EQ(most(document, 2).draws, 10U);
    EXPECT_EQ(some.draws, 20U);
}

TEST_F(Predictions, TheNumberOfNodesIsDrawnUnlessTheUrlSetsIt) {
    Json document = server_of(streams(4.6), streams(4.6), streams(4.6));
    document["nodes"] = {{"value", 2}, {"low", 1}, {"high", 4}, {"basis", "assumed: for a test"}};
    document["node"]["back_end"] = {{"bits_per_s", {{"value", 100e9}, {"basis", "assumed: for a test"}}}};
    const Prediction drawn = most(document, 2);
    EXPECT_LE(*drawn.low, 5U) << "one node for both seats: " << drawn.sentence;
    EXPECT_GE(*drawn.high, 7U) << "a node for each: " << drawn.sentence;

    PlayRequest asked = request(document, 2);
    asked.target.cluster = 2;
    const auto set = predict_most(text_, asked, std::nullopt, options_);
    ASSERT_TRUE(set) << set.error().problems.front();
    EXPECT_GE(*set->low, 7U) << set->sentence;

    asked = request(document, 2);
    asked.seat_settings.resize(2);
    asked.seat_settings[1].node = 1;
    const auto named = predict_most(text_, asked, std::nullopt, options_);
    ASSERT_TRUE(named) << named.error().problems.front();
    EXPECT_GE(*named->low, 7U) << "there is a second node in each draw: " << named->sentence;
}

TEST_F(Predictions, ADriveThatAFaultNamesIsInEachDraw) {
    Json document = server_of(streams(40), streams(40), streams(40));
    document["node"]["drives"] = {{"value", 8}, {"low", 2}, {"high", 20}, {"basis", "assumed: for a test"}};
    PlayRequest asked = request(document, 1);
    asked.model_faults.resize(1);
    asked.model_faults[0].kind = ScenarioFault::Kind::drive_dies;
    asked.model_faults[0].node = 0;
    asked.model_faults[0].drive = 7;
    auto media = find_media(nullptr, asked, nullptr);
    ASSERT_TRUE(media) << media.error().problems.front();
    options_.draws = 20;
    const auto prediction =
        predict_plays(text_, {asked, one_part(asked, std::move(*media)), asked.model_faults}, options_);
    ASSERT_TRUE(prediction) << prediction.error().problems.front();
    EXPECT_EQ(prediction->draws, 20U);
}

TEST_F(Predictions, AServerThatWasNeverFullGivesAtLeastSoMuch) {
    options_.draws = 20;
    Json document = server_of(streams(4.5), streams(4.5), std::nullopt);
    document["client"]["link"]["bits_per_s"]["value"] = streams(20.5) * 8;
    const Prediction more = most(document, 3);
    EXPECT_EQ(more.low, more.nominal);
    ASSERT_TRUE(more.if_never_full);
    EXPECT_NEAR(static_cast<double>(*more.if_never_full), 60, 2) << "20 streams a seat";
    EXPECT_EQ(more.high, more.if_never_full);
    EXPECT_EQ(more.verdict, Prediction::Verdict::refused);
    EXPECT_THAT(more.sentence, HasSubstr("at least"));
    EXPECT_FALSE(most(document, 2).if_never_full) << "no more seats than were measured";
}

TEST_F(Predictions, SeatsWithOtherLinksMayFillAServerThatWasNeverFull) {
    const Json document = server_of(streams(4.5), streams(4.5), std::nullopt);
    options_.draws = 3;
    const auto predicted = [&](std::optional<double> link_bits_per_s, std::uint32_t count = 8) {
        PlayRequest asked = request(document, 2);
        asked.total_streams = count;
        asked.seat_settings.resize(2);
        asked.seat_settings[1].link_bits_per_s = link_bits_per_s;
        auto media = find_media(nullptr, asked, nullptr);
        EXPECT_TRUE(media);
        const auto prediction = predict_plays(text_, {asked, one_part(asked, std::move(*media)), {}}, options_);
        EXPECT_TRUE(prediction) << prediction.error().problems.front();
        return prediction ? *prediction : Prediction{};
    };
    EXPECT_EQ(predicted({}).draws_that_play, 3U) << "the seats that were measured did not fill it";
    const Prediction faster = predicted(200e9);
    EXPECT_EQ(faster.draws_that_play, 0U) << faster.sentence;
    EXPECT_EQ(faster.verdict, Prediction::Verdict::refused);
    const Prediction slower = predicted(1e8, 4);
    EXPECT_EQ(slower.draws_that_play, 0U) << slower.sentence;
    EXPECT_THAT(slower.refused, testing::IsEmpty()) << "no server helps a seat whose link is full";
    EXPECT_THAT(faster.outside, testing::Contains(HasSubstr("links of their own")));
}

/// No frame is there more than a read-ahead of 8 before its deadline.
TEST_F(Predictions, NoStreamPlaysWithoutTheHeadroom) {
    options_.draws = 3;
    options_.headroom_percent = 900;
    const Prediction prediction =
        most(with_a_held_back_run(server_of(streams(8.6), streams(7.6), streams(9.6))), 2);
    EXPECT_EQ(prediction.nominal, 0U);
    EXPECT_EQ(prediction.high, 0U) << "the held-back run had no headroom: " << prediction.sentence;
}

TEST_F(Predictions, GivenStreamsPlayInTheDrawsWhoseLinkCarriesThem) {
    const Json document = server_of(streams(8.6), streams(7.6), streams(9.6));
    const auto share = [&](std::uint32_t count) {
        PlayRequest asked = request(document, 2);
        asked.total_streams = count;
        auto media = find_media(nullptr, asked, nullptr);
        EXPECT_TRUE(media);
        const auto prediction = predict_plays(text_, {asked, one_part(asked, std::move(*media)), {}}, options_);
        EXPECT_TRUE(prediction) << prediction.error().problems.front();
        EXPECT_EQ(prediction->streams, count);
        return static_cast<double>(*prediction->draws_that_play) / static_cast<double>(prediction->draws);
    };
    EXPECT_EQ(share(4), 1);
    EXPECT_EQ(share(14), 0);
    const double some = share(8);
    EXPECT_GT(some, 0.3);
    EXPECT_LT(some, 1);
}

TEST_F(Predictions, TheHeldBackRunIsOfPlayLikeItsOwn) {
    const Json document = with_a_held_back_run(server_of(streams(8.6), streams(7.6), streams(9.6)));
    options_.draws = 3;
    const auto is_of_it = [&](const std::function<void(PlayRequest&)>& change) {
        PlayRequest asked = request(document, 2);
        change(asked);
        const auto prediction = predict_most(text_, asked, 8, options_);
        EXPECT_TRUE(prediction) << prediction.error().problems.front();
        return prediction && prediction->sentence.find("; measured: 8") != std::string::npos;
    };
    EXPECT_TRUE(is_of_it([](PlayRequest&) {}));
    EXPECT_TRUE(is_of_it([](PlayRequest& asked) { asked.rate = asked.formats.front().rate; }));
    EXPECT_FALSE(is_of_it([](PlayRequest& asked) { asked.seats = 1; }));
    EXPECT_FALSE(is_of_it([](PlayRequest& asked) { asked.rate = FrameRate{60, 1}; }));
    EXPECT_FALSE(is_of_it([](PlayRequest& asked) { asked.layers = 2; }));
    EXPECT_FALSE(is_of_it([](PlayRequest& asked) { asked.readahead = 4; }));
    EXPECT_FALSE(is_of_it([](PlayRequest& asked) { asked.order.kind = play::PlayOrder::Kind::reverse; }));
    EXPECT_FALSE(is_of_it([](PlayRequest& asked) { asked.decode_cpu = milliseconds(1); }));
    EXPECT_FALSE(is_of_it([](PlayRequest& asked) { asked.same_media = true; }));
    EXPECT_FALSE(is_of_it([](PlayRequest& asked) { asked.target.warm = true; }));
    EXPECT_FALSE(is_of_it([](PlayRequest& asked) {
        asked.seat_settings.resize(2);
        asked.seat_settings[1].link_bits_per_s = 1e9;
    }));
    EXPECT_FALSE(is_of_it([](PlayRequest& asked) {
        asked.record.streams = 1;
        asked.record.formats = asked.formats;
    }));
}

TEST_F(Predictions, HarderPlayThanMoreStreamsThanTheHeldBackRunGaveIsRefused) {
    const Json document = with_a_held_back_run(server_of(streams(40), streams(40), streams(40)));
    options_.draws = 1;
    const auto refused = [&](const std::function<void(PlayRequest&)>& change) {
        PlayRequest asked = request(document, 2);
        asked.total_streams = 9;
        change(asked);
        auto media = find_media(nullptr, asked, nullptr);
        EXPECT_TRUE(media) << media.error().problems.front();
        const auto prediction =
            predict_plays(text_, {asked, one_part(asked, std::move(*media)), asked.model_faults}, options_);
        EXPECT_TRUE(prediction) << prediction.error().problems.front();
        return prediction && !prediction->refused.empty();
    };
    const auto record = [](PlayRequest& asked) {
        asked.record.streams = 1;
        asked.record.formats = asked.formats;
    };
    EXPECT_TRUE(refused([](PlayRequest&) {}));
    EXPECT_TRUE(refused(record));
    EXPECT_TRUE(refused([](PlayRequest& asked) { asked.rate = FrameRate{60, 1}; }));
    EXPECT_TRUE(refused([](PlayRequest& asked) { asked.layers = 2; }));
    EXPECT_TRUE(refused([](PlayRequest& asked) { asked.readahead = 7; }));
    EXPECT_TRUE(refused([](PlayRequest& asked) { asked.on_miss = play::OnMiss::hold; }));
    EXPECT_TRUE(refused([](PlayRequest& asked) { asked.order.kind = play::PlayOrder::Kind::random; }));
    EXPECT_TRUE(refused([](PlayRequest& asked) { asked.decode_cpu = milliseconds(1); }));
    EXPECT_TRUE(refused([](PlayRequest& asked) {
        asked.model_faults.resize(1);
        asked.model_faults[0].kind = ScenarioFault::Kind::cache_flush;
    }));
    EXPECT_TRUE(refused([](PlayRequest& asked) { asked.frames = 1000; }));
    EXPECT_FALSE(refused([&](PlayRequest& asked) {
        asked.total_streams = 8;
        record(asked);
    })) << "recorders are no streams of the held-back run";
    EXPECT_FALSE(refused([](PlayRequest& asked) { asked.rate = FrameRate{10, 1}; }));
    EXPECT_FALSE(refused([](PlayRequest& asked) { asked.readahead = 9; }));
    EXPECT_FALSE(refused([](PlayRequest& asked) { asked.inflight = 3; }));
    EXPECT_FALSE(refused([](PlayRequest& asked) { asked.same_media = true; }));
    EXPECT_FALSE(refused([](PlayRequest& asked) { asked.target.warm = true; }));
    EXPECT_FALSE(refused([](PlayRequest& asked) { asked.frames = 10; }));
    EXPECT_FALSE(refused([](PlayRequest& asked) { asked.stagger = milliseconds(100); }));
}

TEST_F(Predictions, StreamsThatDoNotPlayThroughoutAreNoHeldBackRun) {
    const Json document = with_a_held_back_run(server_of(streams(40), streams(40), streams(40)));
    options_.draws = 3;
    const auto refused = [&](Duration first_ends, Duration second_starts) {
        PlayRequest asked = request(document, 2);
        asked.streams = 3;
        std::vector<PlayPart> parts(2, PlayPart{asked, {}, {}, {}});
        for (std::uint32_t i = 0; i < 2; ++i) {
            const Duration start = i == 0 ? Duration{} : second_starts;
            const Duration end = i == 0 ? first_ends : *asked.duration;
            parts[i].schedule = PartSchedule{0, 3 * i, [start](std::uint32_t, std::uint32_t) { return start; },
                                             [end](std::uint32_t) { return end; }};
        }
        auto media = find_media(nullptr, std::move(parts), nullptr);
        EXPECT_TRUE(media) << media.error().problems.front();
        const auto prediction = predict_plays(text_, {asked, std::move(*media), {}}, options_);
        EXPECT_TRUE(prediction) << prediction.error().problems.front();
        return prediction ? prediction->refused : std::vector<std::string>();
    };
    EXPECT_THAT(refused(seconds(5), {}), testing::Contains(HasSubstr("the held-back run gave 8 streams")));
    EXPECT_THAT(refused(seconds(2), {}), testing::IsEmpty());
    EXPECT_THAT(refused(seconds(5), seconds(2)), testing::IsEmpty());
}

TEST_F(Predictions, NameTheFormatsThatAreRecorded) {
    PlayRequest asked = request(server_of(streams(40), streams(40), streams(40)), 1);
    asked.formats.clear();
    asked.streams = 0;
    asked.record.streams = 1;
    asked.record.formats = {*catalogue_->find("prores-uhd")};
    auto media = find_media(nullptr, asked, nullptr);
    ASSERT_TRUE(media) << media.error().problems.front();
    options_.draws = 3;
    const auto prediction = predict_plays(text_, {asked, one_part(asked, std::move(*media)), {}}, options_);
    ASSERT_TRUE(prediction) << prediction.error().problems.front();
    EXPECT_EQ(prediction->what, "prores-uhd");
    EXPECT_EQ(prediction->streams, 1U);
    EXPECT_THAT(prediction->outside, testing::Contains(HasSubstr("prores-uhd"))) << "was not measured";
}

TEST_F(Predictions, AnInterruptionKeepsTheDrawsThatAreDone) {
    const PlayRequest asked = request(server_of(streams(8.6), streams(7.6), streams(9.6)), 2);
    const auto stop = std::make_shared<std::atomic<bool>>(false);
    options_.stop = stop;
    options_.draws = 200;
    options_.progress = [stop](const std::string& text) {
        if (text == "40 of 200 draws") *stop = true;
    };
    const auto some = predict_most(text_, asked, std::nullopt, options_);
    ASSERT_TRUE(some) << some.error().problems.front();
    EXPECT_GE(some->draws, 40U);
    EXPECT_LT(some->draws, 200U);
    EXPECT_EQ(some->verdict, Prediction::Verdict::interrupted);
    EXPECT_THAT(some->sentence, HasSubstr(fmt::format("from {} of 200 draws", some->draws)));
    const auto none = predict_most(text_, asked, 8, options_);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ErrorKind::interrupted);
}

TEST_F(Predictions, NoStreamPlaysThatIsFasterThanASeat) {
    Json document = server_of(streams(8.6), streams(7.6), streams(9.6));
    document["client"]["link"]["bits_per_s"]["value"] = streams(0.5) * 8;
    options_.draws = 20;
    const Prediction prediction = most(document, 1);
    EXPECT_EQ(prediction.nominal, 0U);
    EXPECT_THAT(prediction.sentence, HasSubstr("one stream of prores-hd needs "));
}

TEST_F(Predictions, TheDocumentOfTheModelMayNotVanish) {
    const PlayRequest asked = request(server_of(streams(2), streams(1), streams(3)), 1);
    const auto prediction = predict_most({"m.json", "{}"}, asked, 2, options_);
    ASSERT_FALSE(prediction);
    EXPECT_THAT(prediction.error().problems.front(), HasSubstr("m.json"));
}

}  // namespace
}  // namespace streamsim::run
