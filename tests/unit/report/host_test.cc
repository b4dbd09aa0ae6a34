#include "host/host.h"

#include <gmock/gmock.h>

#include <string>
#include <thread>

namespace streamsim {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

TEST(Host, SaysWhatThisComputerIs) {
    const HostFacts facts = read_host_facts();
    EXPECT_FALSE(facts.name.empty());
    EXPECT_THAT(facts.os, HasSubstr("Linux"));
    EXPECT_GE(facts.cpus, 1U);
    EXPECT_GT(facts.memory_bytes, 1U << 20);
}

TEST(Host, CountsProcessorTimeUpwards) {
    const ProcessUsage before = read_process_usage();
    volatile std::uint64_t sum = 0;
    std::int64_t spent = 0;
    for (int round = 0; round < 1'000 && spent == 0; ++round) {
        for (std::uint64_t i = 0; i < 1'000'000; ++i) sum = sum + i;
        spent = read_process_usage().cpu_ns - before.cpu_ns;
    }
    EXPECT_GT(spent, 0);
}

TEST(Host, KnowsWhereBlockDevicesAreNotCounted) {
    EXPECT_FALSE(block_device_behind("/proc"));
    EXPECT_FALSE(block_device_behind("/there/is/no/such/path"));
}

TEST(Host, GivesRealtimeOrTheReasonWhyNot) {
    // In a thread of its own: what is granted stays with the thread.
    std::string why_not;
    bool granted = false;
    std::thread([&] { granted = request_realtime(why_not); }).join();
    EXPECT_EQ(granted, why_not.empty());
    if (!granted) {
        EXPECT_THAT(why_not, HasSubstr("real-time scheduling refused"));
    }
}

TEST(Host, WritesTheWallClockInUtc) {
    EXPECT_THAT(now_rfc3339(),
                MatchesRegex("20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z"));
}

}  // namespace
}  // namespace streamsim
