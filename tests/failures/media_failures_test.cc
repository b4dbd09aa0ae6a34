// Media sets on storage that fails at its k-th call, for all k: what has a final name is whole, the next
// prepare completes the set, and clean removes the set and nothing else.
#include <gtest/gtest.h>

#include "failures/media_trials.h"
#include "media/write/clip_content.h"
#include "media/write/media_set.h"
#include "streamsim/verifier.h"
#include "unit/media/fixtures.h"

namespace streamsim::media {
namespace {

using testing::all_problems;
using testing::FailingStore;
using testing::Failure;
using testing::foreign;
using testing::kTarget;
using testing::MemoryDisk;
using testing::Tree;
using testing::Trials;

Result<void> prepare_in(ByteStore& store, const PrepareRequest& request) {
    const auto plan = plan_prepare(store, request);
    if (!plan) return plan.error();
    PrepareProgress progress;
    return prepare(store, *plan, progress);
}

/// Compares all frames with those that prepare makes.
void expect_whole(MemoryDisk& disk, const Clip& clip) {
    const auto known = with_content(disk, clip);
    ASSERT_TRUE(known) << all_problems(known.error());
    EXPECT_TRUE(known->notes.empty()) << known->notes.front();
    for (std::uint64_t frame = 0; frame < known->index->count(); ++frame) {
        const Extent extent = known->index->extent(frame);
        const auto file = disk.open(known->index->path_of(frame));
        ASSERT_TRUE(file) << all_problems(file.error());
        std::vector<std::byte> bytes(extent.bytes);
        const auto got = (*file)->read_at(extent.offset, bytes);
        ASSERT_TRUE(got && *got == bytes.size()) << "frame " << frame;
        const ContentPiece piece{extent.offset, bytes};
        const auto differs = known->index->content()->first_difference(frame, std::span(&piece, 1));
        EXPECT_FALSE(differs) << "frame " << frame << " at byte " << differs.value_or(0);
    }
}

/// The number of clips with final names, which are all whole.
std::size_t whole_clips(MemoryDisk& disk, const PrepareRequest& request) {
    const auto clips = complete_clips(disk, kTarget, request.format, std::nullopt);
    EXPECT_TRUE(clips) << all_problems(clips.error());
    if (!clips) return 0;
    for (const Clip& clip : *clips) expect_whole(disk, clip);
    return clips->size();
}

struct Disk {
    std::string name;
    bool sets_aside = true;
    bool thorough = false;
};

class MediaFailures : public ::testing::TestWithParam<Disk> {
protected:
    static Trials trials(std::uint64_t daily_step) {
        return GetParam().thorough ? Trials{1, 4} : Trials{daily_step * (GetParam().sets_aside ? 2 : 5), 1};
    }
    PrepareRequest sequence_of(int width, int height, std::uint32_t clips = 1) const {
        return {kTarget, testing::small_dpx("tiny", width, height, 10), clips, milliseconds(125), 1};
    }
    PrepareRequest sequence(std::uint32_t clips = 1) const { return sequence_of(4, 4, clips); }
    PrepareRequest container(std::uint32_t clips = 1) const {
        return {kTarget, testing::small_prores("mini", 64, 36, 1'000), clips, milliseconds(100), 1};
    }
    std::unique_ptr<MemoryDisk> disk() const { return empty_disk(GetParam().sets_aside); }
    void expect_prepared_then_cleaned(MemoryDisk& disk, const PrepareRequest& request, bool told_done) {
        const std::size_t before = whole_clips(disk, request);
        EXPECT_LE(before, request.clips);
        EXPECT_TRUE(!told_done || before == request.clips);
        const auto again = prepare_in(disk, request);
        ASSERT_TRUE(again) << all_problems(again.error());
        EXPECT_EQ(whole_clips(disk, request), request.clips);
        expect_cleaned(disk);
    }
    void prepare_at_every_call(std::uint64_t step, const PrepareRequest& request) {
        at_every_call(
            trials(step), [this] { return disk(); },
            [&](ByteStore& store) { return prepare_in(store, request); },
            [&](MemoryDisk& left, bool told_done) { expect_prepared_then_cleaned(left, request, told_done); });
    }
};

TEST_P(MediaFailures, ASequenceIsCompletedByTheNextPrepare) {
    prepare_at_every_call(2, sequence());
}

TEST_P(MediaFailures, AContainerIsCompletedByTheNextPrepare) {
    prepare_at_every_call(2, container());
}

TEST_P(MediaFailures, TwoClipsAreCompletedByTheNextPrepare) {
    prepare_at_every_call(5, container(2));
}

TEST_P(MediaFailures, CleanRemovesWhatAnyPrepareLeft) {
    for (const PrepareRequest& request : {sequence(), container()})
        at_every_call(
            trials(2), [this] { return disk(); }, [&](ByteStore& store) { return prepare_in(store, request); },
            [&](MemoryDisk& left, bool) { expect_cleaned(left); });
}

/// A set that an interrupted prepare began.
TEST_P(MediaFailures, APrepareThatContinuesIsCompletedToo) {
    for (const PrepareRequest& request : {sequence(), container()}) {
        std::uint64_t calls = 0;
        {
            const auto whole = disk();
            FailingStore counted(*whole, {});
            ASSERT_TRUE(prepare_in(counted, request));
            calls = counted.calls();
        }
        const auto begun = [&] {
            auto made = disk();
            FailingStore dying(*made, {Failure::crash, calls * 7 / 8, 3});
            EXPECT_FALSE(prepare_in(dying, request));
            return made;
        };
        at_every_call(
            trials(6), begun, [&](ByteStore& store) { return prepare_in(store, request); },
            [&](MemoryDisk& left, bool told_done) { expect_prepared_then_cleaned(left, request, told_done); });
    }
}

/// Frames of which the crash keeps both ends and not the middle.
TEST_P(MediaFailures, AFrameWithoutItsMiddleIsWrittenAgain) {
    const PrepareRequest request = sequence_of(64, 64);
    for (std::uint64_t k = 30; k < 80; ++k) {
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            const auto left = disk();
            FailingStore store(*left, {Failure::crash, k, seed});
            (void)prepare_in(store, request);
            SCOPED_TRACE("call " + std::to_string(k) + " (" + store.failed_call() + "), seed " +
                         std::to_string(seed));
            ASSERT_TRUE(prepare_in(*left, request));
            ASSERT_EQ(whole_clips(*left, request), 1u);
            ASSERT_FALSE(HasFailure());
        }
    }
}

TEST_P(MediaFailures, ACleanThatFailedIsCompletedByTheNextOne) {
    for (const PrepareRequest& request : {sequence(2), container(2)}) {
        const auto prepared = [&] {
            auto made = disk();
            EXPECT_TRUE(prepare_in(*made, request));
            return made;
        };
        at_every_call(
            trials(5), prepared,
            [&](ByteStore& store) -> Result<void> {
                const auto report = clean(store, kTarget);
                return report ? Result<void>{} : report.error();
            },
            [&](MemoryDisk& left, bool told_done) {
                const Tree after = left.tree();
                EXPECT_TRUE(!told_done || after == foreign()) << after.rbegin()->first;
                EXPECT_LE(whole_clips(left, request), request.clips);
                expect_cleaned(left);
            });
    }
}

std::string name_of_disk(const ::testing::TestParamInfo<Disk>& on) {
    return on.param.name;
}

INSTANTIATE_TEST_SUITE_P(,
                         MediaFailures,
                         ::testing::Values(Disk{"Local", true}, Disk{"Remote", false}),
                         name_of_disk);
/// All calls, for tools/test --all.
INSTANTIATE_TEST_SUITE_P(Every,
                         MediaFailures,
                         ::testing::Values(Disk{"Local", true, true}, Disk{"Remote", false, true}),
                         name_of_disk);

}  // namespace
}  // namespace streamsim::media
