#include "scenario/published_document.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/document/json.h"

namespace streamsim::scenario {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

const std::string kPapers = std::string(STREAMSIM_SOURCE_DIR) + "/formats/published";

Json sample() {
    return Json::parse(R"({
      "schema": "streamsim.published", "version": 1, "name": "paper", "title": "A paper",
      "rows": [
        {"id": "a", "model": "h500", "nodes": 1, "seats": 2, "format": "dpx10", "printed": 4,
         "role": "fit", "equal": true},
        {"id": "b", "model": "h500", "nodes": 1, "seats": 1, "format": "dpx10", "printed": 2,
         "role": "validation"}],
      "figures": [{"id": "f", "text": "a rate", "quantity": "most-rate", "row": "b", "printed": 16,
                   "unit": "Gb/s"}],
      "loads": [{"workload": "eda", "target": "sim:cvs", "duration": "2s", "steps": [1, 2]}],
      "fit": {"parameters": [{"name": "p", "title": "t", "kind": "rate", "least": 1, "most": 100,
                              "rows": ["a"]}],
              "numbers": [{"model": "h500", "pointer": "/node/cores", "constant": 1, "terms": {"p": 2}}]},
      "others": [{"printed": "85 %", "why": "given to the model"}]})");
}

std::vector<std::string> problems_of(const Json& json) {
    const auto paper = read_published(json.dump(), "paper.json");
    return paper ? std::vector<std::string>{} : paper.error().problems;
}

TEST(PublishedDocument, HasRowsFiguresLoadsAndAFit) {
    const auto paper = read_published(sample().dump(), "paper.json");
    ASSERT_TRUE(paper) << paper.error().problems.front();
    EXPECT_TRUE(paper->rows[0].fit);
    EXPECT_TRUE(paper->rows[0].equal);
    EXPECT_FALSE(paper->rows[1].fit);
    EXPECT_EQ(paper->figures[0].unit_per_s, 1e9 / 8);
    EXPECT_EQ(paper->loads[0].duration, seconds(2));
    EXPECT_EQ(paper->loads[0].steps, (std::vector<double>{1, 2}));
    EXPECT_TRUE(paper->parameters[0].rate);
    EXPECT_EQ(paper->numbers[0].terms[0].factor, 2);
    EXPECT_EQ(paper->others[0].printed, "85 %");
}

TEST(PublishedDocument, EveryMistakeIsNamedWithItsPlace) {
    Json json = sample();
    json["rows"][0]["printed"] = 3;
    json["rows"][1]["role"] = "fitted";
    json["figures"][0]["unit"] = "GB";
    json["fit"]["parameters"][0]["least"] = 1000;
    json["others"][0]["beacuse"] = "x";
    const auto problems = problems_of(json);
    EXPECT_THAT(problems, Contains(AllOf(HasSubstr("/rows/0/printed"), HasSubstr("multiple of the 2 seats"))));
    EXPECT_THAT(problems, Contains(HasSubstr("/rows/1/role")));
    EXPECT_THAT(problems, Contains(HasSubstr("/figures/0/unit")));
    EXPECT_THAT(problems, Contains(HasSubstr("/fit/parameters/0/most")));
    EXPECT_THAT(problems, Contains(HasSubstr("/others/0/beacuse")));
}

TEST(PublishedDocument, NamesNameSomething) {
    Json json = sample();
    json["figures"][0]["row"] = "c";
    json["fit"]["parameters"][0]["rows"] = {"b"};
    json["fit"]["numbers"][0]["terms"] = {{"q", 1}};
    const auto problems = problems_of(json);
    EXPECT_THAT(problems, Contains(HasSubstr("/figures/0/row")));
    EXPECT_THAT(problems, Contains(AllOf(HasSubstr("/fit/parameters/0/rows"), HasSubstr("\"role\": \"fit\""))))
        << "a row that only validates is never fitted to";
    EXPECT_THAT(problems, Contains(HasSubstr("/fit/numbers/0/terms/q")));
}

TEST(PublishedDocument, ThatShipAreReadAndFitOnlyRowsOfOneAndTwoClients) {
    std::size_t rows = 0;
    for (const auto& entry : std::filesystem::directory_iterator(kPapers)) {
        std::ifstream in(entry.path(), std::ios::binary);
        std::ostringstream text;
        text << in.rdbuf();
        const auto paper = read_published(text.str(), entry.path().string());
        ASSERT_TRUE(paper) << paper.error().problems.front();
        rows += paper->rows.size();
        for (const PublishedRow& row : paper->rows) {
            EXPECT_EQ(row.fit, row.nodes == 1 && (row.seats == 1 || (row.seats == 2 && row.model == "h500")))
                << row.id;
        }
    }
    EXPECT_EQ(rows, 22U);
}

}  // namespace
}  // namespace streamsim::scenario
