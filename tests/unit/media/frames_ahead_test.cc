#include "media/write/frames_ahead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace streamsim::media {
namespace {

using namespace std::chrono_literals;

bool holds(std::span<const std::byte> bytes, std::uint64_t frame) {
    return std::ranges::all_of(bytes, [frame](std::byte each) { return each == std::byte(frame); });
}

TEST(FramesAhead, ReturnsEachFrameInOrderWithItsSizeAndItsBytes) {
    const std::vector<std::uint32_t> sizes{3, 70'000, 1, 50'000, 70'000, 12};
    FramesAhead frames(sizes, [](std::span<std::byte> into, std::uint64_t frame) {
        std::ranges::fill(into, std::byte(frame));
    });
    ASSERT_EQ(frames.count(), sizes.size());
    for (std::uint64_t frame = 0; frame < sizes.size(); ++frame) {
        const auto bytes = frames.next();
        EXPECT_EQ(bytes.size(), sizes[frame]);
        std::this_thread::sleep_for(2ms);  // the next frame is made meanwhile, in other memory
        EXPECT_TRUE(holds(bytes, frame)) << frame;
    }
}

TEST(FramesAhead, MakesTheNextFrameWhileTheWriterHasOneAndNoFurtherFrame) {
    std::atomic<std::uint64_t> made{0};
    FramesAhead frames({8, 8, 8, 8}, [&made](std::span<std::byte>, std::uint64_t) { ++made; });
    (void)frames.next();
    const auto until = std::chrono::steady_clock::now() + 10s;
    while (made < 2 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    EXPECT_EQ(made, 2u);
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(made, 2u);
}

TEST(FramesAhead, EndsWithoutTheFramesThatNobodyTook) {
    std::atomic<std::uint64_t> made{0};
    {
        FramesAhead frames(std::vector<std::uint32_t>(1000, 8),
                           [&made](std::span<std::byte>, std::uint64_t) { ++made; });
        (void)frames.next();
    }
    EXPECT_LE(made, 2u);
}

}  // namespace
}  // namespace streamsim::media
