// The bytes that an interface carried, against those that the storage gave or took: whether the way to a server
// is known.
#include <gmock/gmock.h>

#include <optional>
#include <utility>

#include "evidence_samples.h"
#include "judge/causes.h"
#include "judge/host_window.h"
#include "judge/judge.h"

namespace streamsim::judge {
namespace {

using testing::HasSubstr;

/// A mounted server that is too slow, 100 us away, behind an interface that carried so many bytes in 50 s.
Evidence served_over(std::uint64_t received_bytes) {
    Evidence e = test::good_run();
    e.remote = true;
    test::drop(e, 200, &ReasonCounts::late);
    e.as_played = e.more_in_flight = ProbeResult{"", 2, 1 << 20, 8, 100e6};
    e.system.resize(2);
    e.system[1].at_ns = 50 * test::kSecond;
    e.system[0].links = {{"eth0", 10'000'000'000, 0}};
    e.system[1].links = {{"eth0", 10'000'000'000, received_bytes}};
    e.system[1].rtt_ns = 100'000;
    return e;
}

TEST(StorageTraffic, IsWithoutWhatCameFromThisComputersMemory) {
    Evidence e = served_over(4'000'000'000);
    EXPECT_EQ(judge(e).causes.front().cause, Cause::unknown);
    EXPECT_THAT(judge(e).verdict.detail,
                HasSubstr("eth0 received 4.0 GB, too little for the 16.0 GB that were read"));
    EXPECT_NE(judge(e).verdict.next, "");
    e.own_memory_share = 0.75;  // the first of four passes came from the server
    EXPECT_EQ(judge(e).causes.front().cause, Cause::bandwidth);
    e.remote = false;
    EXPECT_FALSE(through_network(e)) << "it may be a disk, beside other traffic";
}

TEST(StorageTraffic, OfADiskOfThisComputerIsNotThatOfItsNetwork) {
    Evidence e = served_over(16'000'000'000);
    EXPECT_THAT(judge(e).causes.front().detail, HasSubstr("eth0 was 26 % busy"));
    e.remote = false;
    e.local_disk = true;
    EXPECT_THAT(judge(e).causes.front().detail, testing::Not(HasSubstr("eth0")));
}

TEST(StorageTraffic, IsWhatWasSentWhereRecordersWroteMoreThanWasRead) {
    Evidence e = served_over(300'000'000);
    e.as_played = e.more_in_flight = std::nullopt;
    e.bytes_written = std::exchange(e.bytes_read, 0);
    e.system[1].links[0].sent_bytes = 18'000'000'000;
    EXPECT_EQ(judge(e).causes.front().cause, Cause::slow_reads);
    for (SystemSample& sample : e.system) sample.links[0].bits_per_s = 3'200'000'000;
    EXPECT_EQ(judge(e).verdict.limit, Limit::network);
    EXPECT_THAT(judge(e).verdict.detail, HasSubstr("16.0 GB went over eth0; eth0 was 90 % busy"));
    e.system[1].links[0].sent_bytes = 4'000'000'000;
    EXPECT_EQ(judge(e).verdict.limit, Limit::unknown);
    EXPECT_THAT(judge(e).verdict.detail,
                HasSubstr("eth0 sent 4.0 GB, too little for the 16.0 GB that were written"));
}

TEST(StorageTraffic, OfRecordersIsThatOfTheInterfaceThatSentMost) {
    Evidence e = served_over(2'000'000'000);
    e.as_played = e.more_in_flight = std::nullopt;
    e.bytes_written = std::exchange(e.bytes_read, 0);
    e.system[0].links.push_back({"eth1", 3'200'000'000, 0});
    e.system[1].links.push_back({"eth1", 3'200'000'000, 500'000'000});
    e.system[1].links[0].sent_bytes = 50'000'000;
    e.system[1].links[1].sent_bytes = 18'000'000'000;
    EXPECT_EQ(judge(e).verdict.limit, Limit::network);
    EXPECT_THAT(judge(e).verdict.detail, HasSubstr("16.0 GB went over eth1; eth1 was 90 % busy"));
    EXPECT_GT(links_of(e.system, e.writes_more()).back().rtt_ns, 0) << "that of eth1";
}

TEST(StorageTraffic, IsNoneWhereAllCameFromThisComputersMemory) {
    Evidence e = served_over(4'000);
    e.own_memory_share = 1;
    EXPECT_FALSE(through_network(e));
    EXPECT_THAT(judge(e).verdict.detail, HasSubstr("no frame came from the server"));
}

TEST(StorageTraffic, OfOthersDoesNotTellWhyAReadTimedOut) {
    Evidence e = test::good_run();
    e.remote = true;
    e.system = served_over(20'000'000'000).system;
    test::fail(e, 40, &ReasonCounts::error);
    for (MissedFrame& each : e.missed) each.no_answer = true;
    EXPECT_EQ(judge(e).verdict.limit, Limit::unknown);
    EXPECT_THAT(judge(e).verdict.detail, HasSubstr("other data came over the network meanwhile"));
    for (SystemSample& sample : e.system) {
        sample.rtt_ns.reset();
        sample.links[0].bits_per_s.reset();
    }
    EXPECT_THAT(judge(e).verdict.detail, HasSubstr("the interface does not report its speed"));
}

TEST(StorageTraffic, OfSeveralStoragesTogetherNamesNoSide) {
    Evidence e = served_over(16'000'000'000);
    e.remote = false;
    for (SystemSample& sample : e.system) sample.links[0].bits_per_s = 2'600'000'000;
    EXPECT_EQ(judge(e).verdict.limit, Limit::network);
    e.several_storages = true;
    EXPECT_EQ(judge(e).verdict.limit, Limit::unknown);
    EXPECT_THAT(judge(e).verdict.detail, HasSubstr("the clips are on several storages"));
    EXPECT_THAT(judge(e).verdict.next, HasSubstr("play the clips of each storage alone"));
    e.local_clips = {0};
    EXPECT_EQ(judge(e).causes.front().cause, Cause::slow_reads) << "the rates are not those of this disk";
    EXPECT_EQ(judge(e).verdict.limit, Limit::storage);
}

TEST(StorageTraffic, OfSeveralStoragesDoesNotTellWhoGaveNoAnswer) {
    Evidence e = test::good_run();
    test::fail(e, 40, &ReasonCounts::error);
    for (MissedFrame& each : e.missed) each.no_answer = true;
    e.several_storages = true;
    EXPECT_EQ(judge(e).verdict.limit, Limit::unknown);
    e.local_clips = {0};
    EXPECT_EQ(judge(e).verdict.limit, Limit::storage);
}

}  // namespace
}  // namespace streamsim::judge
