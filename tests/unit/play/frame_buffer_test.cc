// Buffers of slots lie one behind the other: each begins at a multiple of the alignment of direct reads.
#include <gtest/gtest.h>

#include "play/frame_read.h"

namespace streamsim::play {
namespace {

TEST(FrameBuffer, HoldsWholePagesAndWholeBlocks) {
    for (const std::uint32_t alignment : {1U, 4096U, 16384U, 65536U}) {
        PlayerOptions options;
        options.alignment = alignment;
        for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{999'999}, std::uint64_t{12'288}}) {
            const std::uint64_t buffer = frame_buffer_bytes({.extents = 1, .bytes = bytes}, options);
            EXPECT_EQ(buffer % 4096, 0) << alignment;
            EXPECT_EQ(buffer % alignment, 0) << alignment;
            EXPECT_GE(buffer, bytes + 2 * alignment);
        }
    }
}

TEST(FrameBuffer, OfAGroupHoldsAllPiecesInFlightWhereverTheFirstOneLies) {
    for (const std::uint64_t io_size : {std::uint64_t{0}, std::uint64_t{4096}, std::uint64_t{1} << 20}) {
        for (const std::uint32_t depth : {1U, 4U, 32U}) {
            PlayerOptions options;
            options.alignment = 4096;
            options.io_size = io_size;
            options.io_depth = depth;
            const SlotNeeds needs{.extents = 12, .bytes = 100'000, .whole_bytes = 600'000, .groups = true};
            const std::uint64_t piece = (io_size == 0 ? needs.bytes : io_size) + 2 * options.alignment;
            EXPECT_GE(frame_buffer_bytes(needs, options), (depth + 1) * piece) << io_size << " " << depth;
            options.verify = true;
            EXPECT_GE(frame_buffer_bytes(needs, options), needs.whole_bytes) << "all that is checked is kept";
        }
    }
}

}  // namespace
}  // namespace streamsim::play
