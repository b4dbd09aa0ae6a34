// A written document reads back as the same workload.
#include "profile/learning/workload_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/workload_document.h"

namespace streamsim::profile {
namespace {

TEST(WorkloadWriter, WhatIsWrittenIsReadBack) {
    Workload workload;
    workload.name = "all-of-it";
    workload.title = "A \"title\"";
    workload.basis = "measured: here";
    workload.duration = seconds(90);
    MeterSpec files;
    files.name = "files";
    files.weights = {3, 2, 0, 5};
    files.blocks = {{35'456, 0}, {65'536, 1}};
    files.lengths = {{232'064, 2}, {65'536, 1}};
    files.writes = WriteSizes{{{4096, 1}}, {{8192, 1}}};
    files.whole_files = true;
    files.direct = false;
    files.set = {48, 232'064, 2, 0, WorkingSet::Of::user};
    files.think_time = microseconds(1500);
    MeterSpec random;
    random.name = "random";
    random.users = 2;
    random.loop = MeterSpec::Loop::open;
    random.arrival = MeterSpec::Arrival::poisson;
    random.operations_per_s = 12.5;
    random.inflight = 4;
    random.weights = {1};
    random.random_share = 0.995;
    random.non_repeating = true;
    random.blocks = {{4096, 1}};
    random.set.file_bytes = 1 << 30;
    random.sync = MeterSpec::Sync::never;
    random.start = seconds(5);
    random.end = seconds(80);
    random.burst = 7;
    workload.meters = {files, random};
    workload.sweep = {Sweep::Over::clients, {1, 2}};
    workload.printed = {{.at = 2, .quantity = "latency_ms", .value = 0.5, .source = "paper: a"},
                        {.peak = true, .model = "h600", .quantity = "bytes_per_s", .value = 9, .source = "b"}};
    const std::string text = json_text(workload_document(workload), 2);
    const auto read = scenario::read_workload(text, "test");
    ASSERT_TRUE(read) << read.error().problems.front() << "\n" << text;
    EXPECT_EQ(json_text(workload_document(*read), 2), text);
    EXPECT_EQ(read->meters[0].writes->lengths.front().bytes, 8192u);
    EXPECT_TRUE(read->meters[0].whole_files);
    EXPECT_EQ(read->printed[0].at, 2);
    EXPECT_TRUE(read->printed[1].peak);
    EXPECT_EQ(read->printed[1].model, "h600");
    EXPECT_EQ(read->meters[0].think_time.ns, 1'500'000);
    EXPECT_EQ(read->meters[1].operations_per_s, 12.5);
    EXPECT_EQ(read->meters[1].burst, 7u);
}

TEST(WorkloadReader, WholeFilesAndWritesAreHeldToWhatTheyMean) {
    const auto problems = [](const std::string& members) {
        const auto read = scenario::read_workload(
            R"({"schema": "streamsim.workload", "version": 1, "name": "a", "meters": [{"name": "m",
                "operations": {"read": 1, "write": 1}, "blocks": "4KiB", "files": {"bytes": "64KiB"}, )" +
                members + "}]}",
            "test");
        return read ? std::vector<std::string>() : read.error().problems;
    };
    EXPECT_THAT(problems(R"("whole_files": true, "writes": {"blocks": "8KiB", "lengths": "64KiB"})"),
                testing::IsEmpty());
    EXPECT_THAT(problems(R"("whole_files": true, "random_percent": 50, "random_unit": "block")"),
                testing::ElementsAre(testing::HasSubstr("/meters/0/random_unit")));
    EXPECT_THAT(problems(R"("whole_files": true, "lengths": {"up_to": "8KiB"})"),
                testing::ElementsAre(testing::HasSubstr("/meters/0/lengths")));
    EXPECT_THAT(problems(R"("writes": {"lengths": "8KiB"})"),
                testing::ElementsAre(testing::HasSubstr("/meters/0/writes/blocks")));
    EXPECT_THAT(problems(R"("writes": {"blocks": "128KiB"})"),
                testing::ElementsAre(testing::HasSubstr("/meters/0/writes/blocks")));
}

}  // namespace
}  // namespace streamsim::profile
