#include "sim/model/model_numbers.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

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
