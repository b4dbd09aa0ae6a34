// The part of what streams play that is in the page cache.
#include "run/conclude/cached_share.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/inotify.h>
#endif

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "play/play_path.h"

namespace streamsim::run {
namespace {

constexpr std::uint64_t kFrames = 64;
constexpr std::uint64_t kFrameBytes = 65536;

/// A clip of one file, whose page cache has the first eight frames.
class HalfWarm final : public FrameIndex {
public:
    HalfWarm() {
        const int file = mkstemp(path_.data());
        std::vector<char> frame(kFrameBytes, 'x');
        bool whole = file >= 0;
        for (std::uint64_t i = 0; i < kFrames; ++i)
            whole &= write(file, frame.data(), frame.size()) == static_cast<ssize_t>(frame.size());
        EXPECT_TRUE(whole && fsync(file) == 0);
        posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
        posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);  // reads nothing ahead
        for (off_t i = 0; i < 8; ++i)
            EXPECT_GT(pread(file, frame.data(), frame.size(), i * static_cast<off_t>(kFrameBytes)), 0);
        close(file);
    }
    ~HalfWarm() override { unlink(path_.c_str()); }

    std::uint64_t count() const override { return kFrames; }
    FrameRate rate() const override { return {24, 1}; }
    bool file_per_frame() const override { return false; }
    void write_path(std::uint64_t, char* into) const override { std::ranges::copy(path_ + '\0', into); }
    std::size_t path_capacity() const override { return path_.size() + 1; }
    Extent extent(std::uint64_t frame) const override {
        ++asked_;
        return {frame * kFrameBytes, kFrameBytes};
    }
    std::uint64_t largest_frame_bytes() const override { return kFrameBytes; }
    const std::string& path() const { return path_; }
    std::uint64_t asked() const { return asked_; }

private:
    mutable std::uint64_t asked_ = 0;
    std::string path_ = testing::TempDir() + "streamsim-half-warm-XXXXXX";
};

std::optional<double> share_of(const std::shared_ptr<const FrameIndex>& clip,
                               std::uint64_t slots,
                               bool records = false,
                               int of_streams = 1) {
    StreamPlan plan;
    plan.path = play::make_path({clip}, {}, std::nullopt, 1);
    plan.options.slots = slots;
    if (records) plan.record = std::make_shared<RecordPlan>();
    GrowingList<StreamPlan> streams;
    for (int i = 0; i < of_streams; ++i) streams.emplace_back(plan);
    return cached_share(streams);
}

TEST(CachedShare, IsOfTheFramesThatArePlayed) {
    const auto clip = std::make_shared<HalfWarm>();
    const auto all = share_of(clip, 10 * kFrames);
    ASSERT_TRUE(all);
    if (*all == 1) GTEST_SKIP() << "temporary files are in memory here";
    EXPECT_NEAR(*all, 8.0 / kFrames, 0.1);
    EXPECT_EQ(share_of(clip, 8), 1);
    EXPECT_FALSE(share_of(clip, 8, true)) << "a recorder reads nothing";
}

TEST(CachedShare, LooksAtNoMoreFramesThanItsSampleHas) {
    const auto clip = std::make_shared<HalfWarm>();
    EXPECT_TRUE(share_of(clip, kFrames, false, 200));
    EXPECT_LE(clip->asked(), 8192u / 200);
}

#ifdef __linux__
/// A file server would answer an open for each frame.
TEST(CachedShare, OpensAFileOnce) {
    const auto clip = std::make_shared<HalfWarm>();
    const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    ASSERT_GE(watch, 0);
    // With the events between them: two alike in a row are told as one.
    ASSERT_GE(inotify_add_watch(watch, clip->path().c_str(), IN_OPEN | IN_CLOSE), 0);
    EXPECT_TRUE(share_of(clip, kFrames));
    std::vector<inotify_event> events(4 * kFrames);
    const ssize_t got = read(watch, events.data(), events.size() * sizeof(inotify_event));
    close(watch);
    EXPECT_EQ(got, static_cast<ssize_t>(2 * sizeof(inotify_event)));
}
#endif

}  // namespace
}  // namespace streamsim::run
