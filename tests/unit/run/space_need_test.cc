#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "media/own_files/own_names.h"
#include "run/plan/needs.h"
#include "storage/local/local_byte_store.h"
#include "unit/run/sessions.h"

namespace streamsim::run {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kGiB = 1ull << 30;

SpaceNeed need(std::uint64_t media, std::uint64_t load, std::uint64_t fill = 0) {
    return {"/mnt/x", media * kGiB, load * kGiB, fill * kGiB, 100 * kGiB, 200 * kGiB};
}

/// The local store on a volume of which a test says how much is free.
class LocalVolume final : public ByteStore {
public:
    std::uint64_t free = UINT64_MAX / 2;

    Result<std::vector<DirectoryEntry>> list(const std::string& path) override { return files_->list(path); }
    Result<std::optional<FileInfo>> stat(const std::string& path) override { return files_->stat(path); }
    Result<std::unique_ptr<ByteSource>> open(const std::string& path) override { return files_->open(path); }
    Result<std::unique_ptr<ByteSink>> create(const std::string& path) override { return files_->create(path); }
    Result<void> make_directories(const std::string& path) override { return files_->make_directories(path); }
    Result<void> rename(const std::string& from, const std::string& to) override {
        return files_->rename(from, to);
    }
    Result<void> remove(const std::string& path) override { return files_->remove(path); }
    Result<std::uint64_t> free_bytes(const std::string&) override { return free; }
    Result<void> evict(const std::string& path) override { return files_->evict(path); }

private:
    std::unique_ptr<ByteStore> files_ = storage::make_local_byte_store();
};

TEST(EmptyDirectory, IsOneThatHoldsFoldersOfTheSystemAlone) {
    std::string path = ::testing::TempDir() + "streamsim-empty-XXXXXX";
    ASSERT_NE(::mkdtemp(path.data()), nullptr);
    LocalVolume volume;
    for (const char* name : {"/#recycle", "/@eaDir", "/lost+found", "/.hidden"})
        std::filesystem::create_directory(path + name);
    EXPECT_EQ(is_empty_directory(volume, path).value(), true);
    std::filesystem::create_directory(path + "/proj");
    EXPECT_EQ(is_empty_directory(volume, path).value(), false);
    std::filesystem::remove_all(path);
}

TEST(SpaceNeed, UnfinishedClipsOfSeveralFormatsCountAsFreeSpaceForThemselves) {
    namespace fs = std::filesystem;
    std::string path = ::testing::TempDir() + "streamsim-space-XXXXXX";
    ASSERT_NE(::mkdtemp(path.data()), nullptr);
    LocalVolume volume;
    PlayRequest request = test::request_on(path, {"prores-hd", "prores-uhd"});
    request.clip_duration = milliseconds(100);
    const auto first = missing_media(volume, request);
    ASSERT_TRUE(first);
    ASSERT_EQ(first->size(), 2u);
    for (const media::PreparePlan& plan : *first) {
        media::PrepareProgress progress;
        ASSERT_TRUE(media::prepare(volume, plan, progress));
        const std::string& clip = plan.missing.front().path;
        fs::resize_file(clip, plan.bytes_to_write / 2);
        fs::rename(clip, clip + media::partial_suffix(1));
    }
    const std::uint64_t all = first->at(0).bytes_to_write + first->at(1).bytes_to_write;
    volume.free = all - all / 4;
    const auto rest = missing_media(volume, request);
    ASSERT_TRUE(rest) << rest.error().problems.front();
    const auto wanted = need_of_play(volume, path, {}, *rest, 0);
    ASSERT_TRUE(wanted) << wanted.error().problems.front();
    EXPECT_EQ(wanted->media_bytes, rest->at(0).bytes_added() + rest->at(1).bytes_added());
    EXPECT_LT(wanted->media_bytes, all / 2 + 3);
    volume.free = all / 2 - 1;
    EXPECT_FALSE(missing_media(volume, request));
    fs::remove_all(path);
}

TEST(SpaceNeed, APartOfEachVolumeIsKeptFree) {
    EXPECT_EQ(kept_free_bytes(1000 * kGiB), 10 * kGiB) << "1 %";
    EXPECT_EQ(kept_free_bytes(50 * kGiB), kGiB) << "1 GiB at least";
    EXPECT_EQ(kept_free_bytes(10 * kGiB), kGiB / 2) << "5 % at most";
    EXPECT_EQ(kept_free_bytes(0), 0u);
}

TEST(SpaceNeed, HalfOfTheFreeSpaceIsForMediaAndATenthForFilesOfMeters) {
    EXPECT_FALSE(need(50, 0).needs_consent());
    EXPECT_TRUE(need(51, 0).needs_consent());
    EXPECT_FALSE(need(0, 10).needs_consent());
    EXPECT_TRUE(need(0, 11).needs_consent());
    EXPECT_FALSE(need(40, 10).needs_consent());
    EXPECT_TRUE(need(45, 10).needs_consent()) << "both together";
    EXPECT_TRUE(need(0, 0, 1).needs_consent()) << "what fills a volume always";
    EXPECT_FALSE(SpaceNeed{}.needs_consent());
}

TEST(SpaceNeed, MetersAndFillLevelsLeaveWhatIsKeptFree) {
    EXPECT_TRUE(check_space(need(100, 0))) << "media are checked where they are planned";
    EXPECT_FALSE(check_space(need(101, 0)));
    EXPECT_TRUE(check_space(need(0, 98)));
    const auto refused = check_space(need(0, 9, 90));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::environment);
    EXPECT_THAT(refused.error().problems.front(), HasSubstr("have to stay free"));
}

TEST(SpaceNeed, RecordingsAreAskedForAsMediaAndLeaveWhatIsKeptFree) {
    SpaceNeed of_recorders = need(0, 0);
    of_recorders.record_bytes = 50 * kGiB;
    EXPECT_FALSE(of_recorders.needs_consent());
    EXPECT_TRUE(check_space(of_recorders));
    of_recorders.record_bytes = 98 * kGiB;
    EXPECT_TRUE(of_recorders.needs_consent());
    EXPECT_TRUE(check_space(of_recorders));
    of_recorders.record_bytes = 99 * kGiB;
    const auto refused = check_space(of_recorders);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().problems.front(), HasSubstr("106.3 GB of it are recordings"));
}

TEST(SpaceNeed, RecordersWriteTheirRateForTheLengthOfTheRun) {
    MediaFormat format;
    format.rate = {25, 1};
    format.mean_frame_bytes = 1'000'000;
    PlayRequest request;
    request.seats = 3;
    request.record = {.streams = 2, .formats = {format, format}};
    EXPECT_EQ(record_bytes_of(request), 60ull * 25 * 12 * 1'000'000) << "a minute where nothing is said";
    FoundMedia list;
    list.cuts.emplace().frames = 240 * 24;
    EXPECT_EQ(record_bytes_of(request, list), 240ull * 25 * 12 * 1'000'000) << "as long as the list";
    request.duration = seconds(10);
    EXPECT_EQ(record_bytes_of(request), 10ull * 25 * 12 * 1'000'000);
    request.frames = 20;
    EXPECT_EQ(record_bytes_of(request), 20u * 12 * 1'000'000);
    request.paced = false;
    EXPECT_EQ(record_bytes_of(request), 20u * 12 * 1'000'000);
    request.frames.reset();
    EXPECT_EQ(record_bytes_of(request), 0u) << "as fast as they can: not known";
    request.duration = seconds(1'000'000'000);
    request.paced = true;
    request.record.formats[0].mean_frame_bytes = 1e9;
    EXPECT_EQ(record_bytes_of(request), 1'000'000'000'000'000'000u);
    PlayPart part;
    part.request = request;
    part.request.record.formats = {format};
    part.schedule = PartSchedule{.start = [](auto, std::uint32_t stream) { return seconds(stream); },
                                 .end = [](std::uint32_t) { return seconds(5); }};
    EXPECT_EQ(record_bytes_of({part}), 3u * (5 + 4) * 25 * 1'000'000);
}

/// Before media are written, and for what needs none when the run is planned.
TEST(MemoryNeed, ARowOfEveryFrameHasToFit) {
    for (const char* target : {"/mnt/x", "sim:null"}) {
        PlayRequest request = test::request_on(target, {"prores-hd"});
        request.streams = 1000;
        request.same_media = true;
        request.duration.reset();
        request.frames = 1'000'000'000;
        request.keep_frames = true;
        auto refused = check_memory(one_part(request, {}), true);
        if (!request.target.has_files()) {
            EXPECT_TRUE(refused);
            Session session(request, *find_media(nullptr, request, nullptr), {}, [](const std::string&) {});
            if (auto played = session.execute(); !played) refused = played.error();
        }
        ASSERT_FALSE(refused) << target;
        EXPECT_EQ(refused.error().kind, ErrorKind::environment);
        EXPECT_THAT(refused.error().problems.front(),
                    HasSubstr("--csv and --trace keep a row of every frame: 1,000,000,000,000 frames need "));
    }
}

TEST(SpaceNeed, TheSentenceNamesBytesTargetFreeSpaceAndFillLevel) {
    EXPECT_EQ(
        need(0, 10, 30).sentence(),
        "42.9 GB would be written to /mnt/x, where 107.4 GB are free; the volume is 50.0 % full and would "
        "be 70.0 % full");
    SpaceNeed of_a_server = need(60, 0);
    of_a_server.volume_bytes = 0;
    EXPECT_EQ(of_a_server.sentence(), "64.4 GB would be written to /mnt/x, where 107.4 GB are free");
}

}  // namespace
}  // namespace streamsim::run
