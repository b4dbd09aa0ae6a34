#include "sim/model/model_numbers.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "base/document/json.h"

namespace streamsim::sim {
namespace {

using testing::HasSubstr;

std::string shipped(const char* name) {
    std::ifstream in(std::string(STREAMSIM_SOURCE_DIR) + "/formats/storage/" + name + ".json",
                     std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

double rate_of(const ClusterModel& model) {
    return model.node.cores;
}

TEST(ModelNumbers, AreListedWithTheirBasis) {
    const auto numbers = model_numbers(shipped("h500"), "h500");
    ASSERT_TRUE(numbers);
    const auto of = [&](const std::string& pointer) {
        for (const ModelNumber& number : *numbers) {
            if (number.pointer == pointer) return number;
        }
        ADD_FAILURE() << pointer;
        return ModelNumber{};
    };
    EXPECT_EQ(of("/node/cores").value, "10");
    EXPECT_THAT(of("/node/cores").basis, HasSubstr("data sheet"));
    EXPECT_EQ(of("/stripe_bytes").value, "128KiB");
    EXPECT_THAT(of("/client/decode/0/s_per_pixel").basis, HasSubstr("fitted"));
    for (const ModelNumber& number : *numbers)
        EXPECT_NE(number.pointer, "/network/flow_control") << "no number";
}

TEST(ModelNumbers, ChangeAlone) {
    const std::string text = shipped("h500");
    const auto as_it_is = changed_model(text, "h500", {});
    ASSERT_TRUE(as_it_is);
    const auto changed = changed_model(text, "h500",
                                       {{"/node/cores", true, 1.2},
                                        {"/node/front_end/latency", true, 2},
                                        {"/client/display/0/s_per_pixel", false, 3e-9}});
    ASSERT_TRUE(changed) << changed.error().problems.front();
    EXPECT_EQ(rate_of(*changed), 12);
    EXPECT_EQ(changed->node.front_end.latency,
              as_it_is->node.front_end.latency + as_it_is->node.front_end.latency);
    EXPECT_EQ(changed->client.display.at(0).s_per_pixel, 3e-9);
    EXPECT_EQ(changed->node.drives, as_it_is->node.drives);
}

TEST(ModelNumbers, AFactorChangesAWholeNumberByOneAtLeast) {
    const std::string text = shipped("h500");
    EXPECT_EQ(changed_model(text, "h500", {{"/client/connections", true, 1.2}})->client.connections, 3U);
    EXPECT_EQ(changed_model(text, "h500", {{"/client/connections", true, 0.8}})->client.connections, 1U);
    EXPECT_EQ(changed_model(text, "h500", {{"/node/drives", true, 0.8}})->node.drives, 12U);
}

TEST(ModelNumbers, AFactorIsExactWhereAWholeNumberMayBeAFraction) {
    Json document = Json::parse(shipped("nfs-generic"));
    const auto number = [&](const char* pointer, int value) {
        document[Json::json_pointer(pointer)] = {{"value", value}, {"basis", "assumed: for a test"}};
    };
    number("/node/cores", 1);
    document["node"]["cores"]["low"] = document["node"]["cores"]["high"] = 1;
    number("/node/cpu_s_per_byte", 0);
    number("/strategy/filename_files", 0);
    for (const double by : {1.2, 0.8}) {
        const auto changed = changed_model(document.dump(), "m.json",
                                           {{"/node/cores", true, by},
                                            {"/node/cpu_s_per_byte", true, by},
                                            {"/strategy/filename_files", true, by}});
        ASSERT_TRUE(changed) << changed.error().problems.front();
        EXPECT_DOUBLE_EQ(changed->node.cores, by);
        EXPECT_EQ(changed->node.cpu_s_per_byte, 0);
        EXPECT_EQ(changed->strategy.filename_files, 0U);
    }
}

TEST(ModelNumbers, ATimeOfZeroIsATimeAndASizeOfZeroASize) {
    const std::string latency = "/node/front_end/latency";
    Json document = Json::parse(shipped("ebu-tech-3362"));
    document["node"]["front_end"]["latency"] = {{"value", "0"}, {"basis", "assumed: for a test"}};
    const std::string text = document.dump();
    EXPECT_TRUE(is_time_at(text, "m.json", latency));
    EXPECT_FALSE(is_whole_at(text, "m.json", latency));
    EXPECT_FALSE(is_time_at(text, "m.json", "/strategy/streaming_bytes"));
    EXPECT_TRUE(is_whole_at(text, "m.json", "/strategy/streaming_bytes"));
    const auto changed = [&](const ModelChange& change) {
        const auto model = changed_model(text, "m.json", {change});
        EXPECT_TRUE(model) << model.error().problems.front();
        return model ? *model : ClusterModel();
    };
    EXPECT_EQ(changed({latency, false, 500e3}).node.front_end.latency, microseconds(500));
    EXPECT_EQ(changed({latency, true, 1.2}).node.front_end.latency, Duration{});
    EXPECT_EQ(changed({"/strategy/streaming_bytes", false, 1 << 20}).strategy.streaming_bytes, 1U << 20);
}

TEST(ModelNumbers, ASizeIsNoRateAndNoCount) {
    const std::string text = shipped("h500");
    for (const char* const pointer :
         {"/node/ram_bytes", "/block_bytes", "/stripe_bytes", "/drive/capacity_bytes"})
        EXPECT_TRUE(is_size_at(text, "h500", pointer)) << pointer;
    for (const char* const pointer : {"/node/front_end/bits_per_s", "/drive/outer_bytes_per_s", "/node/drives",
                                      "/node/front_end/latency", "/node/nothing"})
        EXPECT_FALSE(is_size_at(text, "h500", pointer)) << pointer;
}

TEST(ModelNumbers, AModelThatIsNoneIsAnError) {
    const std::string text = shipped("h500");
    const auto unaligned = changed_model(text, "h500", {{"/stripe_bytes", true, 1.2}});
    ASSERT_FALSE(unaligned);
    EXPECT_THAT(unaligned.error().problems.front(), HasSubstr("/stripe_bytes"));
    EXPECT_FALSE(changed_model(text, "h500", {{"/node/nothing", true, 1.2}}));
    EXPECT_FALSE(number_at(text, "h500", "/node"));
    EXPECT_EQ(*number_at(text, "h500", "/block_bytes"), 1 << 20);
    EXPECT_EQ(*number_at(text, "h500", "/node/front_end/latency"), 50'000);
}

}  // namespace
}  // namespace streamsim::sim
