// The worse end of the range that a calibrated document leaves, on which plans have to play.
#include "run/purchase/purchase_models.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/document/document.h"
#include "base/document/json.h"
#include "sim/model/model_numbers.h"

namespace streamsim::run {
namespace {

const std::string kModels = STREAMSIM_SOURCE_DIR "/formats/storage/";

Json shipped(const std::string& name) {
    const auto text = read_document(kModels + name + ".json");
    EXPECT_TRUE(text);
    return text ? Json::parse(*text) : Json();
}

Json measured(const Json& value, const Json& low, const Json& high) {
    return {{"value", value}, {"low", low}, {"high", high}, {"basis", "measured: by a test"}};
}

/// Numbers of every kind with intervals.
Json uncertain() {
    Json json = shipped("nfs-generic");
    json["node"]["front_end"]["bits_per_s"] = measured(9e9, 8e9, 1e10);
    json["node"]["front_end"]["latency"] = measured("30us", "20us", "50us");
    json["node"]["cores"] = measured(8, 6, 10);
    json["node"]["cpu_s_per_byte"] = measured(0, 0, 1e-10);
    json["node"]["ram_bytes"] = measured("64GiB", "32GiB", "96GiB");
    json["node"]["response"] = {{"median", measured("100us", "50us", "200us")},
                                {"spread", measured(0.2, 0.1, 0.4)},
                                {"tail_share", measured(0.01, 0.0, 0.02)},
                                {"tail_mean", measured("1ms", "0.5ms", "3ms")}};
    json["node"]["other_load"] = {{"share", measured(0.1, 0.05, 0.3)},
                                  {"mean_length", measured("10ms", "5ms", "20ms")},
                                  {"mean_gap", measured("100ms", "60ms", "200ms")}};
    json["network"]["message_bytes"] = measured(200, 100, 300);
    json["client"]["connections"] = measured(4, 2, 8);
    json["client"]["connection_bytes_per_s"] = {{"value", 1e9}, {"basis", "assumed: by a test"}};
    return json;
}

std::vector<ClusterModel> models(const Json& json,
                                 const std::vector<sim::ModelChange>& changes = {},
                                 double model_error_factor = 1) {
    auto all = models_to_verify(json.dump(), "m.json", changes, model_error_factor);
    EXPECT_TRUE(all) << testing::PrintToString(all.error().problems);
    return all ? *all : std::vector<ClusterModel>(2);
}

TEST(PurchaseModels, OnlyAnUncertainModelHasAWorseEnd) {
    EXPECT_EQ(models(shipped("nfs-generic")).size(), 1U);
    EXPECT_EQ(models(uncertain()).size(), 2U);
}

TEST(PurchaseModels, TakeTheWorseEndOfEachNumber) {
    const ClusterModel worst = models(uncertain()).at(1);
    EXPECT_DOUBLE_EQ(worst.node.front_end.bits_per_s, 8e9);
    EXPECT_EQ(worst.node.front_end.latency, microseconds(50));
    EXPECT_EQ(worst.node.cores, 6);
    EXPECT_DOUBLE_EQ(worst.node.cpu_s_per_byte, 1e-10);
    EXPECT_EQ(worst.node.ram_bytes, std::uint64_t{32} << 30);
    EXPECT_EQ(worst.node.response.median, microseconds(200));
    EXPECT_DOUBLE_EQ(worst.node.response.spread, 0.4);
    EXPECT_DOUBLE_EQ(worst.node.response.tail_share, 0.02);
    EXPECT_EQ(worst.node.response.tail_mean, milliseconds(3));
    EXPECT_DOUBLE_EQ(worst.node.other_load.share, 0.3);
    EXPECT_EQ(worst.node.other_load.mean_length, milliseconds(20));
    EXPECT_EQ(worst.node.other_load.mean_gap, milliseconds(60));
    EXPECT_EQ(worst.network.message_bytes, 300U);
    EXPECT_EQ(worst.client.connections, 2U);
}

TEST(PurchaseModels, ANumberThatIsChosenIsExact) {
    const auto all = models(uncertain(), {{"/node/cores", false, 16},
                                          {"/node/front_end/bits_per_s", false, 25e9},
                                          {"/node/response/tail_mean", false, 2e6}});
    for (const ClusterModel& model : all) {
        EXPECT_EQ(model.node.cores, 16);
        EXPECT_DOUBLE_EQ(model.node.front_end.bits_per_s, 25e9);
        EXPECT_EQ(model.node.response.tail_mean, milliseconds(2));
    }
    EXPECT_EQ(all.at(1).node.response.median, microseconds(200)) << "not chosen";
}

TEST(PurchaseModels, TheErrorOfACalibratedModelLeavesChosenRates) {
    const auto text = read_document(STREAMSIM_SOURCE_DIR "/tests/sim/calibrated.json");
    ASSERT_TRUE(text);
    const auto all = models(Json::parse(*text), {{"/node/front_end/bits_per_s", false, 25e9}});
    ASSERT_EQ(all.size(), 2U);
    EXPECT_DOUBLE_EQ(all[1].node.front_end.bits_per_s, 25e9);
    EXPECT_LT(all[1].drive.outer_bytes_per_s, 0.97 * all[0].drive.outer_bytes_per_s) << "not chosen";
    const auto outside = models(Json::parse(*text), {}, 2);
    EXPECT_LT(outside[1].drive.outer_bytes_per_s, 0.92 * outside[0].drive.outer_bytes_per_s)
        << "twice the error";
}

TEST(PurchaseModels, RatesAreSlowerWhereTheHeldBackRunGaveLessThanWasPredicted) {
    Json json = Json::parse(*read_document(STREAMSIM_SOURCE_DIR "/tests/sim/calibrated.json"));
    const double as_predicted = models(json).at(1).drive.outer_bytes_per_s;
    json["calibration"]["held_back"].update(
        {{"streams_measured", 2}, {"predicted", 3}, {"low", 3}, {"high", 3}});
    EXPECT_NEAR(models(json).at(1).drive.outer_bytes_per_s, as_predicted * 2 / 3, 1);
    const auto chosen = models(json, {{"/node/front_end/bits_per_s", false, 25e9}});
    EXPECT_NEAR(chosen.at(1).node.front_end.bits_per_s, 25e9 * 2 / 3, 1);
    Json certain = shipped("nfs-generic");
    certain["calibration"] = json["calibration"];
    certain["calibration"]["model_error"] = 0;
    certain["calibration"].erase("correlation");
    const auto all = models(certain);
    ASSERT_EQ(all.size(), 2U) << "also where nothing else is uncertain";
    EXPECT_NEAR(all[1].drive.outer_bytes_per_s, all[0].drive.outer_bytes_per_s * 2 / 3, 1);
}

TEST(PurchaseModels, WhatIsAtLeastIsAsLowAsItWasMeasured) {
    Json json = shipped("nfs-generic");
    const auto at_least = [](const Json& value, const Json& low) {
        return Json{{"value", value}, {"low", low}, {"basis", "measured: at least this, as it was never full"}};
    };
    json["client"]["link"]["bits_per_s"] = at_least(2e10, 1e9);
    json["client"]["cores"] = at_least(8, 4);
    json["node"]["other_load"] = {{"share", measured(0.1, 0.05, 0.3)},
                                  {"mean_length", measured("10ms", "5ms", "20ms")},
                                  {"mean_gap", at_least("100ms", "60ms")}};
    const auto all = models(json);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_DOUBLE_EQ(all[0].client.link.bits_per_s, 2e10);
    EXPECT_DOUBLE_EQ(all[1].client.link.bits_per_s, 1e9);
    EXPECT_EQ(all[1].client.cores, 4);
    EXPECT_EQ(all[1].node.other_load.mean_gap, milliseconds(60));
    const auto chosen = models(json, {{"/client/link/bits_per_s", false, 4e10}});
    EXPECT_DOUBLE_EQ(chosen.at(1).client.link.bits_per_s, 4e10) << "chosen";
}

TEST(PurchaseModels, AModelWhoseNumbersAreAtLeastHasAWorseEnd) {
    Json json = shipped("nfs-generic");
    json["client"]["cores"] = {{"value", 8}, {"low", 4}, {"basis", "measured: never full"}};
    EXPECT_EQ(models(json).size(), 2U);
    json["client"]["cores"]["low"] = 8;
    EXPECT_EQ(models(json).size(), 1U) << "at least its value";
}

TEST(PurchaseModels, QuantilesAscendAtTheirWorseEnds) {
    Json json = uncertain();
    json["node"]["response"] = Json::object();
    double us = 100;
    for (const char* key : {"p10", "p50", "p90", "p99", "p99_9", "max"}) {
        const auto text = [](double value) { return std::to_string(std::llround(value)) + "us"; };
        const double high = us == 300 ? 9000 : us + 10;  // that of p90 is above all that come after
        json["node"]["response"][key] = measured(text(us), text(us - 10), text(high));
        us += 100;
    }
    const ClusterModel worst = models(json).at(1);
    EXPECT_EQ(worst.node.response.quantiles[1], microseconds(210));
    EXPECT_EQ(worst.node.response.quantiles[2], microseconds(9000));
    EXPECT_EQ(worst.node.response.quantiles[5], microseconds(9000));
}

/// Every number of the models that streamsim has, and those that only calibration writes.
TEST(PurchaseModels, KnowWhichNumbersAreBetterTheMoreTheyAre) {
    const std::vector<std::string> better = {"bits_per_s",
                                             "bytes_per_s",
                                             "connection_bytes_per_s",
                                             "channel_bytes_per_s",
                                             "cores",
                                             "cpu_ceiling",
                                             "drives",
                                             "channels",
                                             "connections",
                                             "lines",
                                             "ram_bytes",
                                             "l2_bytes",
                                             "ssd_bytes",
                                             "bytes",
                                             "capacity_bytes",
                                             "outer_bytes_per_s",
                                             "mean_gap",
                                             "inner_bytes_per_s",
                                             "rotations_per_s",
                                             "efficiency",
                                             "file_bytes_per_s",
                                             "port_bits_per_s",
                                             "nodes",
                                             "file_write_bytes_per_s"};
    const std::vector<std::string> worse = {"cpu_s_per_byte",
                                            "cpu_s_per_open",
                                            "write_cpu_s_per_byte",
                                            "s_per_pixel",
                                            "s_per_frame",
                                            "ssd_s_per_request",
                                            "latency",
                                            "median",
                                            "spread",
                                            "tail_share",
                                            "tail_mean",
                                            "p50",
                                            "p99_9",
                                            "max",
                                            "share",
                                            "mean_length",
                                            "line_share",
                                            "seek_track",
                                            "seek_full",
                                            "filled",
                                            "message_bytes"};
    for (const std::string& key : better) EXPECT_FALSE(more_is_worse("/node/" + key)) << key;
    for (const std::string& key : worse) EXPECT_TRUE(more_is_worse("/node/" + key)) << key;
}

}  // namespace
}  // namespace streamsim::run
