#include "sim/model/model_document.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "base/document/json.h"

namespace streamsim::sim {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::string models() {
    return std::string(STREAMSIM_SOURCE_DIR) + "/formats/storage";
}

std::string text_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

Json number(const Json& value) {
    return {{"value", value}, {"basis", "assumed: for a test"}};
}

/// The least that a model has to say.
Json smallest() {
    return {{"schema", "streamsim.storage-model"},
            {"version", 1},
            {"name", "one"},
            {"title", "One server"},
            {"nodes", number(1)},
            {"node",
             {{"front_end", {{"bits_per_s", number(1e9)}}},
              {"cores", number(2)},
              {"ram_bytes", number("1GiB")},
              {"drives", number(1)}}},
            {"drive",
             {{"kind", "flash"},
              {"channel_bytes_per_s", number(1e8)},
              {"channels", number(4)},
              {"capacity_bytes", number("1TB")},
              {"access", {{"median", number("100us")}}}}},
            {"client", {{"cores", number(4)}, {"link", {{"bits_per_s", number(1e9)}}}}}};
}

Json rotational() {
    return {{"kind", "rotational"},
            {"outer_bytes_per_s", number(2e8)},
            {"inner_bytes_per_s", number(1e8)},
            {"rotations_per_s", number(120)},
            {"seek_track", number("1ms")},
            {"seek_full", number("16ms")},
            {"capacity_bytes", number("4TB")}};
}

std::vector<std::string> problems_of(const Json& document) {
    const auto model = read_model_document(document.dump(), "my.json");
    return model ? std::vector<std::string>{} : model.error().problems;
}

TEST(ModelDocument, TheLeastThatAModelSays) {
    const auto model = read_model_document(smallest().dump(), "my.json");
    ASSERT_TRUE(model.has_value()) << testing::PrintToString(model.error().problems);
    EXPECT_EQ(model->name, "one");
    EXPECT_EQ(model->title, "One server");
    EXPECT_EQ(model->node.ram_bytes, 1U << 30);
    EXPECT_EQ(model->node.front_end.bytes_per_s(), 1.25e8);
    EXPECT_EQ(model->drive.kind, DriveModel::Kind::flash);
    EXPECT_EQ(model->drive.outer_bytes_per_s, 1e8);
    EXPECT_EQ(model->drive.channels, 4U);
    EXPECT_EQ(model->drive.access.median, microseconds(100));
    EXPECT_EQ(model->node.ssd_bytes, 0U);
    EXPECT_EQ(model->file_bytes_per_s, 0);
    EXPECT_TRUE(model->network.flow_control);
    EXPECT_TRUE(model->client.decode.empty());
    EXPECT_THAT(model->sources, Contains("/node/front_end/bits_per_s: assumed: for a test"));
    EXPECT_THAT(model->sources, SizeIs(11));
}

/// All that a model can say.
Json largest() {
    Json document = smallest();
    document["description"] = "for a test";
    document["nodes"] = number(3);
    document["block_bytes"] = number(131072);
    document["data_drives"] = number(2);
    document["file_bytes_per_s"] = number(1e9);
    document["node"]["back_end"] = {
        {"bits_per_s", number(4e10)}, {"efficiency", number(0.5)}, {"latency", number("20us")}};
    document["node"]["cpu_s_per_open"] = number(1e-4);
    document["node"]["cpu_s_per_request"] = number(2e-4);
    document["node"]["cpu_s_per_byte"] = number(3e-9);
    document["node"]["ssd_bytes"] = number("2GiB");
    document["node"]["ssd"] = {{"bits_per_s", number(4e9)}};
    document["node"]["response"] = {{"median", number("1ms")},
                                    {"spread", number(0.25)},
                                    {"tail_share", number(0.5)},
                                    {"tail_mean", number("9ms")}};
    document["drive"] = rotational();
    document["drive"]["reorder"] = number(7);
    document["network"] = {{"port_bits_per_s", number(1e9)},
                           {"flow_control", number(false)},
                           {"port_buffer_bytes", number("512KiB")},
                           {"retransmit_after", number("200ms")},
                           {"segment_bytes", number(1500)}};
    document["strategy"] = {{"concurrency_bytes", number("1MiB")},
                            {"streaming_bytes", number("8MiB")},
                            {"filename_files", number(5)}};
    Json& client = document["client"];
    client["cpu_ceiling"] = number(0.85);
    client["cpu_s_per_request"] = number(1e-5);
    client["cpu_s_per_byte"] = number(1e-9);
    client["connections"] = number(4);
    client["connection_bytes_per_s"] = number(6e8);
    client["decode"] = {{{"codec", "dpx"}, {"bits", 10}, {"s_per_pixel", number(5e-8)}},
                        {{"codec", "dpx"}, {"s_per_pixel", number(4e-8)}},
                        {{"s_per_frame", number(0.01)}}};
    return document;
}

TEST(ModelDocument, EverythingThatAModelCanSay) {
    const auto model = read_model_document(largest().dump(), "my.json");
    ASSERT_TRUE(model.has_value()) << testing::PrintToString(model.error().problems);
    EXPECT_EQ(model->nodes, 3U);
    EXPECT_EQ(model->block_bytes, 131072U);
    EXPECT_EQ(model->data_drives, 2U);
    EXPECT_EQ(model->file_bytes_per_s, 1e9);
    EXPECT_EQ(model->node.back_end.bytes_per_s(), 2.5e9);
    EXPECT_EQ(model->node.back_end.latency, microseconds(20));
    EXPECT_EQ(model->node.cpu_s_per_open, 1e-4);
    EXPECT_EQ(model->node.cpu_s_per_request, 2e-4);
    EXPECT_EQ(model->node.cpu_s_per_byte, 3e-9);
    EXPECT_EQ(model->node.ssd_bytes, 2U << 30);
    EXPECT_EQ(model->node.ssd.bytes_per_s(), 5e8);
    EXPECT_EQ(model->node.response.tail_mean, milliseconds(9));
    EXPECT_EQ(model->node.response.tail_share, 0.5);
    EXPECT_EQ(model->node.response.spread, 0.25);
    EXPECT_EQ(model->drive.kind, DriveModel::Kind::rotational);
    EXPECT_EQ(model->drive.inner_bytes_per_s, 1e8);
    EXPECT_EQ(model->drive.rotations_per_s, 120);
    EXPECT_EQ(model->drive.seek_track, milliseconds(1));
    EXPECT_EQ(model->drive.seek_full, milliseconds(16));
    EXPECT_EQ(model->drive.capacity_bytes, 4'000'000'000'000U);
    EXPECT_EQ(model->drive.reorder, 7U);
    EXPECT_EQ(model->network.port_bits_per_s, 1e9);
    EXPECT_FALSE(model->network.flow_control);
    EXPECT_EQ(model->network.port_buffer_bytes, 512U << 10);
    EXPECT_EQ(model->network.retransmit_after, milliseconds(200));
    EXPECT_EQ(model->network.segment_bytes, 1500U);
    EXPECT_EQ(model->strategy.concurrency_bytes, 1U << 20);
    EXPECT_EQ(model->strategy.streaming_bytes, 8U << 20);
    EXPECT_EQ(model->strategy.filename_files, 5U);
    EXPECT_EQ(model->client.cpu_ceiling, 0.85);
    EXPECT_EQ(model->client.cpu_s_per_request, 1e-5);
    EXPECT_EQ(model->client.cpu_s_per_byte, 1e-9);
    EXPECT_EQ(model->client.connections, 4U);
    EXPECT_EQ(model->client.connection_bytes_per_s, 6e8);
    ASSERT_EQ(model->client.decode.size(), 3U);
    EXPECT_EQ(model->client.decode[0].bits, 10);
    EXPECT_EQ(model->client.decode[1].s_per_pixel, 4e-8);
    EXPECT_EQ(model->client.decode[2].codec, "");
    EXPECT_EQ(model->client.decode[2].s_per_frame, 0.01);
}

TEST(ModelDocument, EveryProblemAtOnce) {
    Json document = smallest();
    document["nodes"] = number(0);
    document["node"]["cores"] = 2;
    document["node"].erase("drives");
    document["node"]["ram_bytes"] = {{"value", "1 GigaByte"}, {"basis", "assumed: x"}};
    document["node"]["front_end"]["bits_per_s"] = {{"value", 1e9}};
    document["drive"]["access"]["median"] = number(100);
    document["client"]["cores"] = {{"value", 4}, {"basis", "everybody knows"}};
    document["client"]["link"]["bits_per_s"]["source"] = "x";
    document["colour"] = "blue";
    const auto problems = problems_of(document);
    EXPECT_THAT(problems, SizeIs(9));
    for (const char* expected :
         {"my.json: /nodes/value: expected an integer from 1",
          "my.json: /node/cores: expected {\"value\": ", "my.json: /node/drives: missing",
          "my.json: /node/ram_bytes/value: ", "my.json: /node/front_end/bits_per_s/basis: missing",
          "my.json: /drive/access/median/value: ",
          "my.json: /client/cores/basis: expected what the number rests on",
          "my.json: /client/link/bits_per_s/source: unknown key", "my.json: /colour: unknown key"}) {
        EXPECT_THAT(problems, Contains(HasSubstr(expected)));
    }
}

struct Slip {
    const char* at;  // pointer of what is put in, null: taken out
    Json value;
    const char* problem;
};

/// Each is one mistake in a valid document, and the only reported problem.
TEST(ModelDocument, EachSlipByItsName) {
    const Slip slips[] = {
        {"/schema", "streamsim.faults", "/schema: expected \"streamsim.storage-model\""},
        {"/version", 2, "/version: expected an integer from 1 to 1"},
        {"/name", "null", "/name: expected up to 64 letters"},
        {"/name", "../h500", "/name: expected up to 64 letters"},
        {"/title", "a\nb", "/title: expected one line"},
        {"/node", 7, "/node: expected an object"},
        {"/nodes", number(2), "/node: a cluster of several nodes has a \"back_end\""},
        {"/data_drives", number(9), ""},  // of one drive nothing is protected
        {"/block_bytes", number(512), "/block_bytes/value: expected at least 4096 bytes"},
        {"/block_bytes", number(-1), "/block_bytes/value: expected at least 4096 bytes"},
        {"/node/ssd_bytes", number("1TB"), "/node/ssd: missing: a cache of ssd_bytes"},
        {"/node/front_end/efficiency", number(1.5), "/node/front_end/efficiency/value: expected a number from"},
        {"/node/front_end/latency", number("2h"), "/node/front_end/latency/value: expected at most 3600 s"},
        {"/node/response", Json::object(), "/node/response/median: missing"},
        {"/node/response",
         {{"median", number("1ms")}, {"tail_share", number(0.1)}},
         "/node/response/tail_mean: missing"},
        {"/drive/kind", "tape", "/drive/kind: expected one of"},
        {"/drive/rotations_per_s", number(120), "/drive/rotations_per_s: unknown key"},
        {"/network",
         {{"flow_control", number(false)}, {"port_buffer_bytes", number(9000)}},
         "/network/retransmit_after: missing: without flow control"},
        {"/network", {{"flow_control", 0}}, "/network/flow_control: expected {\"value\""},
        {"/client/cpu_ceiling", number(85), "/client/cpu_ceiling/value: expected a number from 0.01 to 1"},
        {"/client/decode", {{"codec", "dpx"}}, "/client/decode: expected a list"},
        {"/client/decode", Json::array({{{"codec", "dpx"}}}), "/client/decode/0/s_per_frame: missing"},
        {"/client/decode", Json::array({{{"bits", 10}, {"s_per_frame", number(1)}}}),
         "/client/decode/0/bits: is for"},
        {"/client/decode",
         Json::array({{{"s_per_frame", number(1)}}, {{"codec", "dpx"}, {"s_per_frame", number(1)}}}),
         "/client/decode/1/codec: never taken"},
    };
    for (const Slip& slip : slips) {
        Json document = smallest();
        document[Json::json_pointer(slip.at)] = slip.value;
        const auto problems = problems_of(document);
        if (*slip.problem == '\0') {
            EXPECT_THAT(problems, SizeIs(0)) << slip.at << testing::PrintToString(problems);
        } else {
            EXPECT_THAT(problems, ElementsAre(HasSubstr(slip.problem))) << slip.at;
        }
    }
}

TEST(ModelDocument, ADiskKeepsToItsPhysics) {
    Json document = smallest();
    document["drive"] = rotational();
    EXPECT_THAT(problems_of(document), SizeIs(0));
    document["drive"]["inner_bytes_per_s"] = number(3e8);
    document["drive"]["seek_full"] = number("10us");
    document["drive"]["channels"] = number(2);
    document["node"]["drives"] = number(8);
    document["data_drives"] = number(8);
    EXPECT_THAT(
        problems_of(document),
        testing::UnorderedElementsAre(HasSubstr("/drive/inner_bytes_per_s: "), HasSubstr("/drive/seek_full: "),
                                      HasSubstr("/drive/channels: unknown key"),
                                      HasSubstr("/data_drives: expected less than the 8 drives")));
}

TEST(ModelDocument, WhatIsNoDocumentIsToldAtOnce) {
    for (const char* text : {"", "{", "[]", "7", R"({"name": "a", "name": "b"})"})
        EXPECT_FALSE(read_model_document(text, "my.json").has_value()) << text;
}

TEST(ModelDocument, TheModelsThatComeWithStreamsim) {
    std::size_t found = 0;
    for (const auto& entry : std::filesystem::directory_iterator(models())) {
        const auto model =
            read_model_document(text_of(entry.path().string()), entry.path().filename().string());
        ASSERT_TRUE(model.has_value()) << testing::PrintToString(model.error().problems);
        EXPECT_EQ(model->name, entry.path().stem().string());
        ++found;
        const std::regex form("^/[^:]*: (measured|data sheet|computed|fitted to|assumed)[: ]");
        for (const std::string& source : model->sources)  // "/node/cores: data sheet: ..."
            EXPECT_TRUE(std::regex_search(source, form)) << source;
        if (model->name == "h500") {
            const FrameCost& prores = model->client.decode.at(0);
            const double prores_hd = 30 * (prores.s_per_frame + prores.s_per_pixel * 1920 * 1080);
            const double cores = model->client.cores * model->client.cpu_ceiling;
            EXPECT_EQ(static_cast<int>(cores / prores_hd), 15);
            EXPECT_EQ(model->node.cpu_s_per_write, model->node.cpu_s_per_request)
                << "nothing is said of writes";
            EXPECT_EQ(model->node.metadata.cpu_s_per_rename, model->node.cpu_s_per_open);
        }
        if (model->name == "cvs") {
            EXPECT_EQ(model->drive.write_access.tail_share, 0) << "its own, and none of reads";
        }
    }
    EXPECT_EQ(found, 9U);
}

TEST(ModelDocument, APageIsAPartOfABlock) {
    Json document = smallest();
    const auto block = static_cast<std::int64_t>(read_model_document(document.dump(), "my.json")->block_bytes);
    for (const std::int64_t page : {block, block / 2}) {
        document["page_bytes"] = number(page);
        EXPECT_THAT(problems_of(document), SizeIs(0)) << page;
    }
    for (const std::int64_t page : {block * 2, block - 1, block / 2 + 1}) {
        document["page_bytes"] = number(page);
        EXPECT_THAT(problems_of(document), ElementsAre(HasSubstr("/page_bytes: expected a part"))) << page;
    }
}

TEST(ModelDocument, ADriveHoldsABlock) {
    Json document = smallest();
    for (const Json& drive : {document["drive"], rotational()}) {
        document["drive"] = drive;
        document["block_bytes"] = number("4MiB");
        document["stripe_bytes"] = number("128KiB");
        document["drive"]["capacity_bytes"] = number("1MiB");
        EXPECT_THAT(problems_of(document),
                    ElementsAre(HasSubstr("/drive: capacity_bytes: expected at least the 4194304 bytes")));
        document["drive"]["capacity_bytes"] = number("4MiB");
        EXPECT_THAT(problems_of(document), SizeIs(0));
    }
}

TEST(ModelDocument, ASeekThatIsMissingIsNotCompared) {
    Json document = smallest();
    document["drive"] = rotational();
    document["drive"].erase("seek_full");
    EXPECT_THAT(problems_of(document), ElementsAre(HasSubstr("/drive/seek_full: missing")));
    document["drive"] = rotational();
    document["drive"].erase("seek_track");
    EXPECT_THAT(problems_of(document), ElementsAre(HasSubstr("/drive/seek_track: missing")));
}

}  // namespace
}  // namespace streamsim::sim
