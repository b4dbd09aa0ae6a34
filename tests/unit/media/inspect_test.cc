#include "media/clips/inspect.h"

#include <gmock/gmock.h>

#include <cstring>

#include "media/sequence/sequence_index.h"

namespace streamsim::media {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// One file with given extents.
class Extents final : public FrameIndex {
public:
    std::vector<Extent> frames;
    std::vector<Extent> chunks;  // one a frame
    bool variable = false;
    FrameRate at{25, 1};

    std::uint64_t count() const override { return frames.size(); }
    FrameRate rate() const override { return at; }
    bool file_per_frame() const override { return false; }
    void write_path(std::uint64_t, char* into) const override { std::strcpy(into, "/a.mov"); }
    std::size_t path_capacity() const override { return 16; }
    Extent extent(std::uint64_t frame) const override { return frames[frame]; }
    std::uint64_t largest_frame_bytes() const override { return 1 << 20; }
    bool variable_rate() const override { return variable; }
    std::span<const Extent> audio(std::uint64_t frame) const override {
        return chunks.empty() ? std::span<const Extent>() : std::span(chunks).subspan(frame, 1);
    }
    std::uint64_t largest_audio_bytes() const override { return chunks.empty() ? 0 : 500; }
};

Clip clip_of(std::shared_ptr<const FrameIndex> index) {
    Clip clip;
    clip.index = std::move(index);
    return clip;
}

TEST(Inspect, AContainerWithAudioBetweenTheFrames) {
    auto index = std::make_shared<Extents>();
    index->frames = {{4096, 1000}, {5096, 1000}, {6596, 2000}, {9096, 4000}};
    index->chunks = {{6096, 0}, {6096, 0}, {8596, 500}, {6096, 500}};
    index->variable = true;
    Clip clip = clip_of(index);
    clip.start_timecode = 90000;
    clip.structure = "MOV: ftyp, wide, mdat, moov last";
    const InspectFacts facts = inspect(clip);
    EXPECT_EQ(facts.frames, 4u);
    EXPECT_EQ(facts.duration, milliseconds(160));
    EXPECT_EQ(facts.start_timecode, "01:00:00:00");
    EXPECT_EQ(facts.end_timecode, "01:00:00:03");
    EXPECT_EQ(facts.bytes_total, 8000u);
    EXPECT_EQ(facts.frame_bytes_min, 1000u);
    EXPECT_EQ(facts.frame_bytes_p99, 4000u);
    EXPECT_DOUBLE_EQ(facts.bytes_per_s, 50'000);
    EXPECT_EQ(facts.frames_unaligned, 3u);
    EXPECT_EQ(facts.structure, clip.structure);
    EXPECT_THAT(facts.interleave, HasSubstr("3 runs of 1 to 2 frames, 500 B of other bytes between them"));
    EXPECT_EQ(facts.audio.chunks, 4u);
    EXPECT_EQ(facts.audio.bytes, 1000u);
    EXPECT_THAT(facts.warnings, Contains(HasSubstr("variable frame rate")));
    EXPECT_THAT(facts.warnings, Contains(HasSubstr("3 of 4 frames do not begin at a multiple of 4096")));
}

TEST(Inspect, FramesBackToBackHaveNoInterleave) {
    auto index = std::make_shared<Extents>();
    index->frames = {{4096, 4096}, {8192, 4096}};
    const InspectFacts facts = inspect(clip_of(index));
    EXPECT_THAT(facts.layout, HasSubstr("frames back to back"));
    EXPECT_EQ(facts.interleave, "");
    EXPECT_THAT(facts.warnings, IsEmpty());
    EXPECT_EQ(facts.start_timecode, "");
}

TEST(Inspect, DropFrameLabels) {
    auto index = std::make_shared<Extents>();
    index->frames.assign(1800, Extent{0, 4096});
    index->at = {30000, 1001};
    Clip clip = clip_of(index);
    clip.start_timecode = 1;
    EXPECT_EQ(inspect(clip).timecode, "00:01:00;02");
    EXPECT_EQ(inspect(clip).end_timecode, "00:01:00;02");
    index->at = {60000, 1001};
    index->frames.resize(3600);
    EXPECT_EQ(inspect(clip).timecode, "00:01:00;04");
    clip.start_timecode = 60 * 60 * 60 * 25;  // past midnight: no time of day
    EXPECT_EQ(inspect(clip).start_timecode, "");
}

TEST(Inspect, LabelsWithoutDropFrame) {
    auto index = std::make_shared<Extents>();
    index->frames.assign(1800, Extent{0, 4096});
    index->at = {30000, 1001};
    Clip clip = clip_of(index);
    clip.drop = false;
    clip.start_timecode = 108'000;
    EXPECT_EQ(inspect(clip).start_timecode, "01:00:00:00");
    EXPECT_EQ(inspect(clip).end_timecode, "01:00:59:29");
    EXPECT_EQ(inspect(clip).timecode, "00:01:00:00");
    index->at = {60000, 1001};
    clip.start_timecode = 216'000;
    EXPECT_EQ(inspect(clip).start_timecode, "01:00:00:00");
}

TEST(Inspect, LabelsOfATimeCodeThatCountsEverySecondFrame) {
    auto index = std::make_shared<Extents>();
    index->frames.assign(500, Extent{0, 4096});
    index->at = {50, 1};
    Clip clip = clip_of(index);
    clip.timecode_each = 2;
    clip.start_timecode = 2 * 2 * 3600 * 25;
    EXPECT_EQ(inspect(clip).start_timecode, "02:00:00:00");
    EXPECT_EQ(inspect(clip).end_timecode, "02:00:09:24");
    EXPECT_EQ(inspect(clip).timecode, "00:00:10:00");
    index->frames.resize(501);
    EXPECT_EQ(inspect(clip).timecode, "00:00:10:01");
    clip.start_timecode = 2 * 24 * 3600 * 25 - 2;
    EXPECT_EQ(inspect(clip).start_timecode, "23:59:59:24");
    EXPECT_EQ(inspect(clip).end_timecode, "00:00:09:24");
    index->at = {60000, 1001};
    clip.start_timecode = 2 * 1800;
    EXPECT_EQ(inspect(clip).start_timecode, "00:01:00;02");
}

TEST(Inspect, BehindMidnightLabelsBeginAnew) {
    auto index = std::make_shared<Extents>();
    index->frames.assign(90, Extent{0, 4096});
    index->at = {30000, 1001};
    Clip clip = clip_of(index);
    clip.start_timecode = 2'589'408 - 40;
    EXPECT_EQ(inspect(clip).start_timecode, "23:59:58;20");
    EXPECT_EQ(inspect(clip).end_timecode, "00:00:01;19");
    clip.drop = false;
    clip.start_timecode = 2'592'000 - 40;
    EXPECT_EQ(inspect(clip).start_timecode, "23:59:58:20");
    EXPECT_EQ(inspect(clip).end_timecode, "00:00:01:19");
    index->at = {25, 1};
    index->frames.resize(75);
    clip.start_timecode = 2'160'000 - 30;
    EXPECT_EQ(inspect(clip).start_timecode, "23:59:58:20");
    EXPECT_EQ(inspect(clip).end_timecode, "00:00:01:19");
}

TEST(Inspect, ASequenceWithGaps) {
    const std::vector<std::uint64_t> numbers = {10, 11, 14, 16, 18, 20, 22, 24};
    SequenceFacts sequence;
    sequence.directory = "/d";
    sequence.pattern = {"a.", 4, ".exr"};
    sequence.first = 10;
    sequence.count = 15;
    sequence.frame_bytes = 555;
    sequence.listed = runs_of(numbers, 10);
    sequence.frame_sizes = {1, 2, 3, 4, 5, 6, 7, 8};
    const Clip clip = clip_of(make_sequence_index(std::move(sequence)));
    const InspectFacts facts = inspect(clip);
    EXPECT_EQ(facts.frames, 15u);
    EXPECT_EQ(facts.frames_missing, 7u);
    EXPECT_EQ(facts.bytes_total, 36u);
    EXPECT_EQ(facts.frame_bytes_max, 8u);
    EXPECT_EQ(clip.index->extent(2).bytes, 555u);
    EXPECT_EQ(clip.index->largest_frame_bytes(), 555u);
    EXPECT_THAT(facts.warnings,
                Contains("7 frame numbers are missing: 12 to 13, 15, 17, 19, 21 and 1 more gaps"));
    EXPECT_THAT(facts.warnings, Contains(HasSubstr("its files differ in size, 1 to 8 bytes")));
    EXPECT_EQ(facts.layout, "a file a frame, numbers 10 to 24");
    EXPECT_EQ(facts.last_path, "/d/a.0024.exr");
}

}  // namespace
}  // namespace streamsim::media
