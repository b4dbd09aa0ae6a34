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

}  // namespace
}  // namespace streamsim::play
