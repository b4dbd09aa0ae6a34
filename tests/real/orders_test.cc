// Orders of play as the kernel saw them: slowfs logs each open and each read, and the lists are written by
// hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "cli/harness.h"
#include "real/slow_mount.h"

namespace streamsim::tests {
namespace {

using Numbers = std::vector<std::uint64_t>;

class Orders : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto reason = no_slowfs_because()) GTEST_SKIP() << *reason;
    }

    /// Plays one frame at a time, so that what is asked for first is answered first.
    std::vector<SlowOperation> log_of(const std::string& rules,
                                      const std::string& target,
                                      std::vector<std::string> options) {
        SlowMount mount(rules);
        csv_ = results_ / "frames.csv";
        options.insert(options.end(), {"--quiet", "--pattern", "on-demand", "--inflight", "1", "--fps", "120",
                                       "--on-miss", "hold", "--csv", csv_, mount / target});
        const Finished finished = streamsim(options);
        EXPECT_TRUE(finished.exit_code == 0 || finished.exit_code == 1) << finished.text();
        auto log = mount.log();
        std::stable_sort(log.begin(), log.end(), [](const SlowOperation& a, const SlowOperation& b) {
            return a.started_ns < b.started_ns;
        });
        return log;
    }
    static Numbers opened(const std::vector<SlowOperation>& log) {
        Numbers numbers;
        for (const SlowOperation& operation : log) {
            if (operation.verb == "open") numbers.push_back(operation.frame_number);
        }
        return numbers;
    }
    Numbers opened_in(const std::string& order, int frames, int slots) {
        const std::string clip =
            "clip clip frames=" + std::to_string(frames) + "\nopen clip frame=* delay=1us\n";
        Numbers numbers = opened(log_of(clip, "clip", {"--order", order, "--frames", std::to_string(slots)}));
        EXPECT_GE(numbers.size(), 2u);
        if (numbers.size() < 2) return {};
        EXPECT_EQ(numbers[0], 1u) << "the index reads the first header";
        EXPECT_EQ(numbers[1], static_cast<std::uint64_t>(frames)) << "and the last one";
        return {numbers.begin() + 2, numbers.end()};
    }
    /// The clip frames that the result says were shown, as numbers of files.
    Numbers said() const {
        std::istringstream rows(read_text(csv_));
        std::string row;
        std::getline(rows, row);
        Numbers numbers;
        while (std::getline(rows, row)) {
            std::istringstream fields(row);
            std::string field;
            for (int i = 0; i < 4; ++i) std::getline(fields, field, ',');
            numbers.push_back(std::stoull(field) + 1);
        }
        return numbers;
    }

    TempDir results_;
    std::string csv_;
};

TEST_F(Orders, AreWhatTheKernelSaw) {
    EXPECT_EQ(opened_in("forward", 5, 12), (Numbers{1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2}));
    EXPECT_EQ(opened_in("reverse", 5, 12), (Numbers{5, 4, 3, 2, 1, 5, 4, 3, 2, 1, 5, 4}));
    EXPECT_EQ(opened_in("ping-pong", 4, 10), (Numbers{1, 2, 3, 4, 3, 2, 1, 2, 3, 4}));
    EXPECT_EQ(opened_in("shuttle:3", 10, 6), (Numbers{1, 4, 7, 10, 3, 6}));
    EXPECT_EQ(opened_in("shuttle:-4", 10, 4), (Numbers{10, 6, 2, 8}));
}

TEST_F(Orders, OfChanceAreWhatTheResultSays) {
    for (const char* order : {"random", "scrub"}) {
        const Numbers seen = opened_in(order, 500, 120);
        EXPECT_EQ(seen, said()) << order;
        EXPECT_EQ(seen.size(), 120u) << order;
    }
}

TEST_F(Orders, LayersAreOpenedTogether) {
    const std::string rules =
        "clip a frames=4\nclip b frames=4\nopen a frame=* delay=1us\nopen b frame=* delay=1us\n";
    const auto log = log_of(rules, "", {"--layers", "2", "--frames", "4"});
    ASSERT_EQ(opened(log).size(), 4u + 8u) << "two headers of each, and four slots";
    for (std::size_t i = 4; i + 1 < log.size(); i += 2) {
        EXPECT_EQ(log[i].frame_number, log[i + 1].frame_number);
        EXPECT_NE(log[i].clip, log[i + 1].clip);
    }
}

}  // namespace
}  // namespace streamsim::tests
