#include "media/clips/frame_checksums.h"

#include <gtest/gtest.h>

#include "base/prng.h"

namespace streamsim::media {
namespace {

std::uint64_t checksum_in_pieces(std::span<const std::byte> bytes, std::size_t piece) {
    FrameChecksum sum;
    for (; bytes.size() > piece; bytes = bytes.subspan(piece)) sum.add(bytes.first(piece));
    sum.add(bytes);
    return sum.value();
}

TEST(FrameChecksum, DependsOnTheBytesAndNotOnThePieces) {
    Prng prng(3);
    for (const std::size_t length : {0u, 1u, 7u, 8u, 9u, 64u, 1001u}) {
        std::vector<std::byte> bytes(length);
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(prng.next());
        const std::uint64_t whole = checksum_in_pieces(bytes, length + 1);
        for (const std::size_t piece : {1u, 3u, 8u, 13u}) EXPECT_EQ(checksum_in_pieces(bytes, piece), whole);
        for (std::size_t i = 0; i < length; ++i) {
            bytes[i] ^= std::byte{0x10};
            EXPECT_NE(checksum_in_pieces(bytes, 5), whole) << "byte " << i << " of " << length;
            bytes[i] ^= std::byte{0x10};
        }
        bytes.push_back({});
        EXPECT_NE(checksum_in_pieces(bytes, 5), whole) << "a zero more";
    }
}

}  // namespace
}  // namespace streamsim::media
