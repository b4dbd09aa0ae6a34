#include "sim/sampled_storage.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "loop/virtual_loop.h"

namespace streamsim::sim {
namespace {

struct Read : ReadOp {
    Read(std::span<std::byte> into) {
        buffer = into;
        done = {[](void* self) { ++static_cast<Read*>(self)->callbacks; }, this};
    }
    int callbacks = 0;
};

TEST(SampledStorage, TakesTheTimesOfTheNearestLargerSizeElseOfTheLargest) {
    loop::VirtualLoop loop;
    SampledTimes times;
    times.reads = {{500, {1'000'000}}, {2000, {2'000'000}}, {4000, {4'000'000}}};
    SampledStorage storage(loop, times, 1);
    std::vector<std::byte> memory(8000);
    std::deque<Read> reads;
    for (const std::size_t bytes : {100u, 500u, 501u, 4000u, 8000u})
        storage.read(reads.emplace_back(std::span(memory).first(bytes)));
    loop.run();
    const std::int64_t expected_ns[] = {1'000'000, 1'000'000, 2'000'000, 4'000'000, 4'000'000};
    for (std::size_t i = 0; i < reads.size(); ++i) {
        EXPECT_EQ(reads[i].callbacks, 1);
        EXPECT_EQ(reads[i].error, 0);
        EXPECT_EQ(reads[i].bytes, reads[i].buffer.size());
        EXPECT_EQ((reads[i].completed_at - reads[i].submitted_at).ns, expected_ns[i]) << i;
    }
}

TEST(SampledStorage, EndsWhenNothingIsOutstandingAnyMore) {
    loop::VirtualLoop loop;
    SampledTimes times;
    times.reads = {{1, {5'000'000}}};
    SampledStorage storage(loop, times, 1);
    std::vector<std::byte> memory(10);
    Read read(memory);
    storage.read(read);
    struct Ended {
        Read& read;
        int at = -1;
        void note() { at = read.callbacks; }
    } ended{read};
    storage.shutdown(Callback::of<&Ended::note>(&ended));
    loop.run();
    EXPECT_EQ(ended.at, 1);
    EXPECT_EQ(loop.now().ns, 5'000'000);
}

}  // namespace
}  // namespace streamsim::sim
