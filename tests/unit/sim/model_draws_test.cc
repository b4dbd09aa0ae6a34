#include "sim/model/model_draws.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <sstream>

#include "base/document/json.h"
#include "sim/model/model_document.h"
#include "sim/model/model_numbers.h"

namespace streamsim::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::string calibrated_text() {
    std::ifstream in(std::string(STREAMSIM_SOURCE_DIR) + "/tests/sim/calibrated.json", std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

Json calibrated() {
    return Json::parse(calibrated_text());
}

/// Without correlation and model error.
Json independent() {
    Json document = calibrated();
    document["calibration"].erase("correlation");
    document["calibration"]["model_error"] = 0;
    return document;
}

std::vector<std::string> problems_of(const Json& document) {
    const auto model = read_model_document(document.dump(), "m.json");
    return model ? std::vector<std::string>{} : model.error().problems;
}

using Figure = std::function<double(const ClusterModel&)>;

std::vector<double> figures(const Json& document, std::uint32_t count, const Figure& figure) {
    const auto draws = model_draws(document.dump(), "m.json", count, 7);
    EXPECT_TRUE(draws.has_value());
    std::vector<double> all;
    for (const ClusterModel& model : *draws) all.push_back(figure(model));
    return all;
}

double share_below(const std::vector<double>& all, double bound) {
    return static_cast<double>(std::count_if(all.begin(), all.end(), [&](double x) { return x < bound; })) /
           static_cast<double>(all.size());
}

double front_end(const ClusterModel& model) {
    return model.node.front_end.bits_per_s;
}

TEST(UncertainNumbers, AreListedInSecondsAndBytes) {
    const auto model = read_model_document(calibrated_text(), "m.json");
    ASSERT_TRUE(model) << testing::PrintToString(model.error().problems);
    const auto of = [&](const std::string& pointer) {
        for (const UncertainNumber& each : model->uncertain) {
            if (each.pointer == pointer) return each;
        }
        ADD_FAILURE() << pointer;
        return UncertainNumber{};
    };
    const UncertainNumber latency = of("/node/front_end/latency");
    EXPECT_DOUBLE_EQ(latency.value, 50e-6);
    EXPECT_DOUBLE_EQ(*latency.low, 30e-6);
    EXPECT_DOUBLE_EQ(*latency.high, 80e-6);
    EXPECT_EQ(*of("/node/ram_bytes").high, 2.0 * (1U << 30));
    EXPECT_TRUE(of("/node/drives").at_least());
    EXPECT_FALSE(latency.at_least());
    ASSERT_TRUE(model->calibration);
    EXPECT_EQ(model->calibration->seats, 2U);
    EXPECT_THAT(model->calibration->formats, ElementsAre("prores-uhd", "dpx12"));
    EXPECT_EQ(model->calibration->held_back->high, 3U);
    EXPECT_EQ(model->calibration->correlation->matrix[1][0], 0.8);
}

TEST(UncertainNumbers, EachSlipByItsName) {
    const struct {
        const char* at;
        Json value;
        const char* problem;
    } slips[] = {
        {"/node/front_end/bits_per_s/low", 9.5e9, "bits_per_s/low: expected no more than \"value\""},
        {"/node/front_end/bits_per_s/high", 8e9, "bits_per_s/high: expected no less than \"value\""},
        {"/node/front_end/bits_per_s/low", 0, "bits_per_s/low: expected a number from 1"},
        {"/node/front_end/latency/high", 80, "latency/high: expected"},
        {"/node/ram_bytes/low", "1 MB", "ram_bytes/low: "},
        {"/client/cores", Json{{"value", 4}, {"high", 5}, {"basis", "assumed: so"}},
         "/client/cores/low: missing"},
        {"/node/response/p90/low", "301us", "/node/response/p90/low: expected no more"},
        {"/calibration/seats", 0, "/calibration/seats: expected an integer from 1"},
        {"/calibration/formats/0", 3, "/calibration/formats/0: expected a text"},
        {"/calibration/correlation/numbers/0", "/node/x", "numbers/0: there is no number at /node/x"},
        {"/calibration/correlation/matrix/0/1", 0.7, "/calibration/correlation/matrix: expected a symmetric"},
        {"/calibration/correlation/matrix/0/0", 0.7, "/calibration/correlation/matrix: expected ones"},
        {"/calibration/correlation/matrix", Json::array({Json::array({1})}), "matrix: expected a row of 2"},
        {"/calibration/held_back/low", 5, "/calibration/held_back/high: expected no less"},
        {"/calibration/model_error", -0.1, "/calibration/model_error: expected a number from 0"},
    };
    EXPECT_THAT(problems_of(calibrated()), SizeIs(0));
    for (const auto& slip : slips) {
        Json document = calibrated();
        document[Json::json_pointer(slip.at)] = slip.value;
        EXPECT_THAT(problems_of(document), ElementsAre(HasSubstr(slip.problem))) << slip.at;
    }
}

TEST(UncertainNumbers, NoThreeNumbersAreAllOpposed) {
    Json document = calibrated();
    Json& correlation = document["calibration"]["correlation"];
    correlation["numbers"] = {"/node/front_end/bits_per_s", "/node/cpu_s_per_request", "/node/ram_bytes"};
    correlation["matrix"] = {{1, -0.9, -0.9}, {-0.9, 1, -0.9}, {-0.9, -0.9, 1}};
    EXPECT_THAT(problems_of(document), ElementsAre(HasSubstr("not positive semidefinite")));
    correlation["matrix"] = {{1, -0.4, -0.4}, {-0.4, 1, -0.4}, {-0.4, -0.4, 1}};
    EXPECT_THAT(problems_of(document), SizeIs(0)) << "opposed, but not by that much";
    correlation["matrix"] = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
    EXPECT_THAT(problems_of(document), SizeIs(0)) << "semidefinite";
}

TEST(UncertainNumbers, QuantilesAreAllThereAndAscend) {
    Json document = independent();
    document["node"]["response"].erase("p99");
    EXPECT_THAT(problems_of(document), ElementsAre(HasSubstr("/node/response/p99: missing")));
    document = independent();
    document["node"]["response"]["p90"] = {{"value", "120us"}, {"basis", "assumed: less"}};
    EXPECT_THAT(problems_of(document), ElementsAre(HasSubstr("/node/response/p90: expected no less than p50")));
    document = independent();
    document["node"]["other_load"]["mean_gap"]["value"] = "0s";
    EXPECT_THAT(problems_of(document),
                ElementsAre(HasSubstr("/node/other_load/mean_gap: expected more than no time")));
}

TEST(UncertainNumbers, AChangedNumberKeepsItsInterval) {
    const std::string text = calibrated_text();
    const auto interval = [&](const std::vector<ModelChange>& changes, const std::string& pointer) {
        const auto model = changed_model(text, "m.json", changes);
        EXPECT_TRUE(model) << testing::PrintToString(model.error().problems);
        for (const UncertainNumber& each : model->uncertain) {
            if (each.pointer == pointer) return each;
        }
        return UncertainNumber{};
    };
    const auto rate = interval({{"/node/front_end/bits_per_s", true, 2}}, "/node/front_end/bits_per_s");
    EXPECT_DOUBLE_EQ(rate.value, 18e9);
    EXPECT_DOUBLE_EQ(*rate.low, 16.2e9);
    EXPECT_DOUBLE_EQ(*rate.high, 19.8e9);
    const auto latency = interval({{"/node/front_end/latency", true, 0.5}}, "/node/front_end/latency");
    EXPECT_DOUBLE_EQ(*latency.low, 15e-6);
    const auto share = interval({{"/node/other_load/share", true, 9}}, "/node/other_load/share");
    EXPECT_DOUBLE_EQ(*share.high, 0.95) << "no more than a share can be";
    const auto drives = interval({{"/node/drives", true, 1.2}}, "/node/drives");
    EXPECT_EQ(*drives.low, 5);
    EXPECT_TRUE(drives.at_least());
}

TEST(ModelDraws, LowAndHighAreTheirQuantiles) {
    const auto rates = figures(independent(), 800, front_end);
    EXPECT_NEAR(share_below(rates, 8.1e9), 0.05, 0.025);
    EXPECT_NEAR(share_below(rates, 9.0e9), 0.5, 0.05);
    EXPECT_NEAR(share_below(rates, 9.9e9), 0.95, 0.025);
    const auto seconds = figures(independent(), 800, [](const ClusterModel& model) {
        return static_cast<double>(model.node.front_end.latency.ns);
    });
    EXPECT_NEAR(share_below(seconds, 30e3), 0.05, 0.025);
    EXPECT_NEAR(share_below(seconds, 80e3), 0.95, 0.025);
}

TEST(ModelDraws, TheSameSeedGivesTheSameDrawsHoweverMany) {
    const std::string text = calibrated_text();
    const auto few = *model_draws(text, "m.json", 3, 7);
    const auto many = *model_draws(text, "m.json", 9, 7);
    const auto others = *model_draws(text, "m.json", 3, 8);
    ASSERT_EQ(few.size(), 3U);
    for (std::size_t i = 0; i < few.size(); ++i) {
        EXPECT_EQ(front_end(few[i]), front_end(many[i]));
        EXPECT_EQ(few[i].node.response.quantiles, many[i].node.response.quantiles);
        EXPECT_NE(front_end(few[i]), front_end(others[i]));
    }
    EXPECT_NE(front_end(many[0]), front_end(many[1]));
}

TEST(ModelDraws, NumbersVaryTogetherAsTheDocumentSays) {
    Json document = calibrated();
    document["calibration"]["model_error"] = 0;
    const auto rates = figures(document, 800, front_end);
    const auto costs =
        figures(document, 800, [](const ClusterModel& model) { return model.node.cpu_s_per_request; });
    double both = 0;
    for (std::size_t i = 0; i < rates.size(); ++i)
        both += (rates[i] > 9e9) == (costs[i] > 2e-5) ? 1.0 / static_cast<double>(rates.size()) : 0;
    // Two normal scores with correlation r are on one side of 0 with the chance 1/2 + asin(r) / pi.
    EXPECT_NEAR(both, 0.5 + std::asin(0.8) / 3.14159265, 0.05);
}

TEST(ModelDraws, TheErrorOfTheModelIsOneFactorOfAllRates) {
    Json document = independent();
    document["calibration"]["model_error"] = 0.1;
    for (const char* rate : {"/node/front_end/bits_per_s", "/client/link/bits_per_s"})
        for (const char* bound : {"low", "high"}) document[Json::json_pointer(rate)].erase(bound);
    const auto draws = *model_draws(document.dump(), "m.json", 500, 7);
    double squares = 0;
    for (const ClusterModel& model : draws) {
        EXPECT_NEAR(front_end(model) / 9e9, model.client.link.bits_per_s / 10e9, 1e-8);
        EXPECT_NEAR(front_end(model) / 9e9, model.drive.outer_bytes_per_s / 2e9, 1e-8);
        squares += std::pow(std::log(front_end(model) / 9e9), 2) / 500;
    }
    EXPECT_NEAR(std::sqrt(squares), 0.1, 0.01);
    const auto doubled = *model_draws(document.dump(), "m.json", 1, 7, 2);
    EXPECT_NEAR(std::log(front_end(doubled[0]) / 9e9), 2 * std::log(front_end(draws[0]) / 9e9), 1e-6);
}

TEST(ModelDraws, AReadKeepsItsLineForLongerWhereRatesAreLower) {
    Json document = independent();
    document["calibration"]["model_error"] = 0.1;
    for (const char* bound : {"low", "high"}) document["node"]["front_end"]["bits_per_s"].erase(bound);
    document["node"]["read_lines"] = Json::parse(R"({
        "lines": {"value": 12, "basis": "assumed: for the test"},
        "bytes_per_s": {"value": 9e7, "basis": "assumed: for the test"},
        "access": {"median": {"value": "10ms", "basis": "assumed: for the test"},
                   "spread": {"value": 0.3, "basis": "assumed: for the test"},
                   "tail_share": {"value": 0.1, "basis": "assumed: for the test"},
                   "tail_mean": {"value": "5ms", "basis": "assumed: for the test"}}})");
    const auto draws = *model_draws(document.dump(), "m.json", 50, 7);
    for (const ClusterModel& model : draws) {
        const double factor = front_end(model) / 9e9;
        EXPECT_NEAR(model.node.read_lines.bytes_per_s, 9e7 * factor, 1);
        EXPECT_NEAR(static_cast<double>(model.node.read_lines.access.median.ns), 10e6 / factor, 2);
        EXPECT_NEAR(static_cast<double>(model.node.read_lines.access.tail_mean.ns), 5e6 / factor, 2);
        EXPECT_EQ(model.node.read_lines.access.spread, 0.3) << "a share";
        EXPECT_EQ(model.node.read_lines.access.tail_share, 0.1);
    }
    EXPECT_GT(std::abs(std::log(front_end(draws.front()) / 9e9)), 1e-3);
}

TEST(ModelDraws, AtLeastStaysWholeStaysWholeAndADrawIsCertain) {
    const auto draws = *model_draws(independent().dump(), "m.json", 50, 7);
    for (const ClusterModel& model : draws) {
        EXPECT_EQ(model.node.drives, 4U);
        EXPECT_EQ(model.client.cores, 8);
        EXPECT_THAT(model.uncertain, SizeIs(0));
        const auto& quantiles = model.node.response.quantiles;
        EXPECT_TRUE(std::is_sorted(quantiles.begin(), quantiles.end()));
    }
    Json document = independent();
    document["node"]["drives"] = {{"value", 4}, {"low", 2}, {"high", 8}, {"basis", "measured: so"}};
    const auto drives = figures(
        document, 200, [](const ClusterModel& model) { return static_cast<double>(model.node.drives); });
    EXPECT_LT(*std::min_element(drives.begin(), drives.end()), 4);
    EXPECT_GT(*std::max_element(drives.begin(), drives.end()), 4);
    document["node"]["cores"] = {{"value", 4}, {"low", 2}, {"high", 8}, {"basis", "measured: so"}};
    const auto cores = figures(document, 200, [](const ClusterModel& model) { return model.node.cores; });
    EXPECT_NEAR(share_below(cores, 3.99) - share_below(cores, 3.5), 0.12, 0.08) << "cores need not be whole";
}

TEST(ModelDraws, KeepWithinTheBoundsAndAreModels) {
    Json document = independent();
    document["node"]["front_end"]["efficiency"] = {
        {"value", 0.95}, {"low", 0.5}, {"high", 1}, {"basis", "measured: so"}};
    document["node"]["response"]["p10"]["high"] = "900us";  // wide: crosses the next quantiles
    document["drive"]["access"] = {
        {"median", {{"value", "0us"}, {"low", "0us"}, {"high", "9us"}, {"basis", "measured: so"}}}};
    const auto draws = model_draws(document.dump(), "m.json", 300, 7);
    ASSERT_TRUE(draws) << testing::PrintToString(draws.error().problems);
    bool at_bound = false;
    Duration longest;
    for (const ClusterModel& model : *draws) {
        EXPECT_LE(model.node.front_end.efficiency, 1);
        at_bound = at_bound || model.node.front_end.efficiency == 1;
        longest = std::max(longest, model.drive.access.median);
    }
    EXPECT_TRUE(at_bound);
    EXPECT_GT(longest, microseconds(9)) << "a value of 0 varies linearly";
    document = independent();
    document["node"]["ram_bytes"] = {
        {"value", "64MiB"}, {"low", "1MiB"}, {"high", "2GiB"}, {"basis", "measured: so"}};
    document["strategy"] = {{"streaming_bytes", {{"value", "64MiB"}, {"basis", "assumed: so"}}}};
    EXPECT_TRUE(model_draws(document.dump(), "m.json", 100, 7))
        << "numbers that contradict each other give way";
}

TEST(WithoutBounds, TheServerIsNeverFullAndTheSeatAsItWasSeen) {
    Json document = calibrated();
    document["client"]["cores"] = {{"value", 8}, {"low", 6}, {"basis", "measured: so"}};
    const auto model = without_bounds(document.dump(), "m.json");
    ASSERT_TRUE(model) << testing::PrintToString(model.error().problems);
    EXPECT_EQ(model->node.drives, 4000U);
    EXPECT_EQ(model->client.cores, 6);
    EXPECT_EQ(model->node.front_end.bits_per_s, 9e9) << "was full";
    const auto text = document_without_bounds(document.dump(), "m.json");
    ASSERT_TRUE(text);
    const Json without = Json::parse(*text);
    EXPECT_FALSE(without["client"]["cores"].contains("low"));
    EXPECT_FALSE(without["node"]["drives"].contains("low"));
}

}  // namespace
}  // namespace streamsim::sim
