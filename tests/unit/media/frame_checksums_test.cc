#include "media/clips/frame_checksums.h"

#include <gtest/gtest.h>

#include "base/prng.h"
#include "media/clips/clip_index.h"
#include "unit/media/fixtures.h"

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

TEST(KeptChecksums, AGapIsNamedBeforeAFrameIsRead) {
    const testing::Place place;
    testing::DirectoryStore store;
    testing::write_sequence(place, "a.", ".dpx", {"1", "2", "4"}, testing::small_dpx("tiny", 16, 8));
    const auto clip = index_clip(store, place.path());
    ASSERT_TRUE(clip);
    store.bytes_read = 0;
    IndexProgress progress;
    const auto kept = keep_checksums(store, *clip, progress);
    ASSERT_FALSE(kept);
    EXPECT_EQ(kept.error().kind, ErrorKind::bad_input);
    EXPECT_EQ(kept.error().problems.front(),
              place.at("a.3.dpx") + ": frame 3 is missing: checksums need every frame");
    EXPECT_EQ(store.bytes_read, 0u);
}

TEST(KeptChecksums, ProgressBeginsAnewBehindThatOfTheIndex) {
    const testing::Place place;
    testing::DirectoryStore store;
    testing::write_sequence(place, "a.", ".dpx", {"1", "2"}, testing::small_dpx("tiny", 16, 8));
    const auto clip = index_clip(store, place.path());
    ASSERT_TRUE(clip);
    IndexProgress progress;
    progress.bytes_done = 1000;
    progress.bytes_total = 7;
    ASSERT_TRUE(keep_checksums(store, *clip, progress));
    EXPECT_EQ(progress.bytes_done, 2 * clip->index->extent(0).bytes);
    EXPECT_EQ(progress.bytes_total, 2 * clip->index->extent(0).bytes);
}

/// Frames of some containers had other extents then.
TEST(KeptChecksums, OfTheFirstVersionAreRefusedAndNotCalledDamage) {
    const testing::Place place;
    testing::DirectoryStore store;
    testing::write_sequence(place, "a.", ".dpx", {"1"}, testing::small_dpx("tiny", 16, 8));
    const auto clip = index_clip(store, place.path());
    ASSERT_TRUE(clip);
    IndexProgress progress;
    ASSERT_TRUE(keep_checksums(store, *clip, progress));
    EXPECT_TRUE(kept_checksums(store, *clip));
    std::string text = place.read("a.1.dpx.streamsim-checksums");
    text[20] = 1;
    place.write("a.1.dpx.streamsim-checksums", text);
    const auto kept = kept_checksums(store, *clip);
    ASSERT_FALSE(kept);
    EXPECT_NE(kept.error().problems.front().find(
                  "does not hold checksums of version 2: remove it, and run streamsim inspect CLIP"),
              std::string::npos);
}

}  // namespace
}  // namespace streamsim::media
