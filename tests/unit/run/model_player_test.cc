// Plays on models that run at once: they give what they give one after the other.
#include "run/published/model_player.h"

#include <gmock/gmock.h>

#include <memory>
#include <vector>

#include "base/document/json.h"
#include "base/system/parallel_for.h"
#include "report/published/published_report.h"
#include "run/published/published_run.h"
#include "run/published/sensitivity.h"
#include "sim/model/model_document.h"

namespace streamsim::run {
namespace {

const std::string kFormats = STREAMSIM_SOURCE_DIR "/formats";

PublishedRow h500_row(const char* format, std::uint32_t seats) {
    PublishedRow row;
    row.id = format;
    row.model = "h500";
    row.seats = seats;
    row.format = format;
    return row;
}

class OnH500 : public testing::Test {
protected:
    OnH500() : catalogue_(media::Catalogue::load(kFormats + "/media")), player_(*catalogue_, {}) {
        const auto text = read_model_text("h500", kFormats);
        EXPECT_TRUE(text);
        model_ = std::make_shared<const ClusterModel>(*sim::read_model_document(text->text, text->path));
    }

    Result<media::Catalogue> catalogue_;
    ModelPlayer player_;
    std::shared_ptr<const ClusterModel> model_;
};

TEST_F(OnH500, PlaysAtOnceGiveWhatTheyGiveOneAfterTheOther) {
    const std::vector<PublishedRow> rows = {h500_row("prores-hd", 1), h500_row("prores-uhd", 2),
                                            h500_row("dpx10", 1)};
    const auto play = [&](std::size_t i) {
        const auto run = player_.play(model_, rows[i % rows.size()],
                                      static_cast<std::uint32_t>(1 + i / rows.size()), seconds(1));
        EXPECT_TRUE(run);
        return run ? *run : MaxRun{};
    };
    constexpr std::size_t kPlays = 9;
    std::vector<MaxRun> at_once(kPlays);
    parallel_for(
        kPlays, [&](std::size_t i) { at_once[i] = play(i); }, 4);
    for (std::size_t i = 0; i < kPlays; ++i) {
        const MaxRun alone = play(i);
        EXPECT_EQ(at_once[i].pass, alone.pass) << i;
        EXPECT_EQ(at_once[i].missed, alone.missed) << i;
        EXPECT_EQ(at_once[i].margin_min_ns, alone.margin_min_ns) << i;
    }
}

TEST_F(OnH500, EqualNumbersAreCountedASeat) {
    PublishedRow row = h500_row("dpx10", 2);
    row.equal = true;
    EXPECT_EQ(streamsim::run::step_of(row), 2U);
    judge::MaxSearchOptions search;
    search.step = seconds(4);
    search.confirm = {};
    search.repeatable = false;
    search.most = 4;
    const auto most = player_.most(model_, row, search);
    ASSERT_TRUE(most);
    EXPECT_EQ(most->streams, 1U) << "three play, two each do not";
}

TEST_F(OnH500, AnUnknownFormatIsNamedWithItsRow) {
    const auto run = player_.play(model_, h500_row("dpx14", 1), 1, seconds(1));
    ASSERT_FALSE(run);
    EXPECT_THAT(run.error().problems.front(), testing::HasSubstr("dpx14"));
}

TEST(Questions, AreThePublishedRowsOfAModelElseTheFourDataSets) {
    const auto papers = read_papers(kFormats);
    ASSERT_TRUE(papers) << papers.error().problems.front();
    EXPECT_EQ(questions_to("h500", 4, *papers).size(), 16U);
    EXPECT_EQ(questions_to("mine", 4, *papers).size(), 8U);
    EXPECT_EQ(questions_to("mine", 1, *papers).size(), 4U);
}

/// A server for one seat, whose two connections limit it: each carries 1.6 streams of ProRes HD.
class SensitivityOfASeat : public testing::Test {
protected:
    ModelSensitivity sensitivity(const char* format, std::uint64_t most = kSensitivityMost) {
        const auto catalogue = media::Catalogue::load(kFormats + "/media");
        const auto number = [](const Json& value) {
            return Json{{"value", value}, {"basis", "assumed: for a test"}};
        };
        const Json model = {
            {"schema", "streamsim.storage-model"},
            {"version", 1},
            {"name", "measured"},
            {"title", "A server for a test"},
            {"nodes", number(1)},
            {"node",
             {{"front_end", {{"bits_per_s", number(9e9)}}},
              {"cores", number(64)},
              {"ram_bytes", number("1GiB")},
              {"drives", number(8)}}},
            {"drive",
             {{"kind", "flash"},
              {"channel_bytes_per_s", number(1e9)},
              {"channels", number(8)},
              {"capacity_bytes", number("4TB")},
              {"access", {{"median", number("50us")}}}}},
            {"client",
             {{"cores", number(64)},
              {"link", {{"bits_per_s", number(100e9)}}},
              {"connections", number(2)},
              {"connection_bytes_per_s", number(1.6 * *ModelPlayer(*catalogue, {}).rate_of("prores-hd"))}}}};
        PublishedPaper paper;
        PublishedRow& row = paper.rows.emplace_back();
        row.id = "q";
        row.model = "measured";
        row.format = format;
        PublishedOptions options;
        options.formats = kFormats;
        options.progress = [](const std::string&) {};
        const auto result = sensitivity_of({"m.json", model.dump()}, {paper}, 20, options, most);
        EXPECT_TRUE(result) << result.error().problems.front();
        return result ? *result : ModelSensitivity{};
    }

    static NumberSensitivity of(const ModelSensitivity& result, const std::string& pointer) {
        for (const NumberSensitivity& number : result.numbers) {
            if (number.pointer == pointer) return number;
        }
        ADD_FAILURE() << pointer;
        return {};
    }
};

TEST_F(SensitivityOfASeat, TellsChangesOfCountsByTheirValues) {
    const ModelSensitivity result = sensitivity("prores-hd");
    EXPECT_EQ(result.answers.at(0).result, 3);
    EXPECT_EQ(result.answers.at(0).note, "");
    EXPECT_EQ(of(result, "/client/connections").changes, "2 -> 3: q 3 -> 4; 2 -> 1: q 3 -> 1");
    EXPECT_EQ(of(result, "/client/connection_bytes_per_s").changes, "-20 %: q 3 -> 2");
    EXPECT_EQ(of(result, "/node/ram_bytes").changes, "none");
    EXPECT_THAT(of(result, "/nodes").not_changed, testing::StartsWith("1 -> 0: /nodes"));
}

TEST_F(SensitivityOfASeat, AnAnswerThatIsABoundSaysSoAndChangesDownwardsOnly) {
    const ModelSensitivity result = sensitivity("prores-hd", 2);
    EXPECT_EQ(result.answers.at(0).result, 2);
    EXPECT_EQ(result.answers.at(0).note, "at least: no more were tried");
    EXPECT_THAT(report::sensitivity_text_report(result), testing::HasSubstr("at least: no more were tried"));
    for (const NumberSensitivity& number : result.numbers) {
        EXPECT_EQ(number.changes,
                  number.pointer == "/client/connections" ? "2 -> 1: q at least 2 -> 1" : "none")
            << number.pointer;
    }
}

/// One stream of ProRes UHD empties its buffers within a minute.
TEST_F(SensitivityOfASeat, TheAnswersAsItIsAreFoundAsThoseOfTheChanges) {
    const ModelSensitivity result = sensitivity("prores-uhd");
    EXPECT_EQ(result.answers.at(0).result, 0);
    EXPECT_EQ(of(result, "/node/cores").changes, "none");
}

}  // namespace
}  // namespace streamsim::run
