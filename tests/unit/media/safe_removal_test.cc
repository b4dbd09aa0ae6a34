// Files and directories of a media set that are exchanged, or take a name of ours, while clean and prepare
// work.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "media/write/load_set.h"
#include "media/write/media_set_names.h"
#include "unit/media/safe_paths.h"

namespace streamsim::media {
namespace {

namespace fs = std::filesystem;
using testing::all_problems;
using testing::DirectoryStore;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Place;
using testing::SafePaths;
using testing::small_dpx;

/// The local store with a moment in it: what `at_removal` does comes between what clean or prepare saw of a
/// file, or of a directory that is renamed, and its removal. Once.
class InterruptedStore final : public ByteStore {
public:
    using AtRemoval = std::function<bool(const std::string& path)>;  // true: it was that moment
    InterruptedStore(ByteStore& inner, AtRemoval& at_removal) : inner_(&inner), at_removal_(at_removal) {}
    InterruptedStore(std::unique_ptr<ByteStore> inner, AtRemoval& at_removal)
        : own_(std::move(inner)), inner_(own_.get()), at_removal_(at_removal) {}

    Result<std::vector<DirectoryEntry>> list(const std::string& path) override { return inner_->list(path); }
    Result<std::optional<FileInfo>> stat(const std::string& path) override { return inner_->stat(path); }
    Result<std::unique_ptr<ByteSource>> open(const std::string& path) override { return inner_->open(path); }
    Result<std::unique_ptr<ByteSink>> create(const std::string& path) override { return inner_->create(path); }
    Result<void> make_directories(const std::string& path) override { return inner_->make_directories(path); }
    Result<void> rename(const std::string& from, const std::string& to) override {
        before_removal(from);
        return inner_->rename(from, to);
    }
    Result<bool> set_aside(const std::string& from, const std::string& to) override {
        before_removal(from);
        return inner_->set_aside(from, to);
    }
    Result<void> remove(const std::string& path) override {
        before_removal(path);
        return inner_->remove(path);
    }
    Result<void> remove_directory(const std::string& path) override { return inner_->remove_directory(path); }
    Result<std::uint64_t> free_bytes(const std::string& path) override { return inner_->free_bytes(path); }
    Result<void> evict(const std::string& path) override { return inner_->evict(path); }
    Result<std::unique_ptr<ByteStore>> beneath(const std::string& directory) override {
        auto inner = inner_->beneath(directory);
        if (!inner) return inner.error();
        return std::unique_ptr<ByteStore>(std::make_unique<InterruptedStore>(std::move(*inner), at_removal_));
    }

private:
    void before_removal(const std::string& path) {
        if (at_removal_ && at_removal_(path)) at_removal_ = nullptr;
    }

    std::unique_ptr<ByteStore> own_;
    ByteStore* inner_;
    AtRemoval& at_removal_;
};

/// A file of the user's takes the name of each kind of file of ours after clean has looked at that.
TEST_F(SafePaths, AFileExchangedBetweenLookAndRemovalStays) {
    must_prepare();
    const std::string root = load_root(place_.path());
    const LoadSet set{place_.path(), {root + "/m"}, {{root + "/m/f0.load", 22}}};
    for (const std::string part : {"clip-0001.mov", "record-0001.json", "whole-0001.json", "format.json",
                                   "streamsim-media.json", "/m/f0.load", ".set.json", "frame.0000003.dpx"}) {
        must_prepare();
        const MediaFormat whole = std::exchange(format_, small_dpx("tiny", 17, 9, 10));
        must_prepare();
        format_ = whole;
        PrepareProgress progress;
        ASSERT_TRUE(write_load_set(*store_, *plan_load_set(*store_, set), 1, progress));
        std::string exchanged;
        InterruptedStore::AtRemoval at_removal = [&](const std::string& path) {
            if (path.find(part) == std::string::npos) return false;
            exchanged = path;
            return renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, elsewhere_.at("precious").c_str(),
                             RENAME_EXCHANGE) == 0;
        };
        InterruptedStore store(*store_, at_removal);
        const auto report = clean(store, place_.path());
        ASSERT_TRUE(report) << all_problems(report.error());
        ASSERT_NE(exchanged, "") << part;
        ASSERT_TRUE(fs::exists(exchanged)) << exchanged;
        fs::rename(exchanged, elsewhere_.at("precious"));
        EXPECT_EQ(report->kept.size(), 1u) << part;
        fs::remove_all(place_.at("streamsim-media"));
    }
}

/// Its content is checked also on a store that cannot rename it first.
TEST_F(SafePaths, AForeignDocumentOfARunStaysOnAStoreWithoutSetAside) {
    DirectoryStore store;
    ASSERT_TRUE(ensure_marker(store, media_root(place_.path())));
    const std::string run = "streamsim-media/recordings/run-0123456789abcdef/";
    place_.write(run + "streams.json", "mine");
    auto report = clean(store, place_.path());
    ASSERT_TRUE(report) << all_problems(report.error());
    EXPECT_THAT(report->kept, ElementsAre(place_.at(run + "streams.json")));
    EXPECT_EQ(place_.read(run + "streams.json"), "mine");
    fs::remove(place_.at(run + "streams.json"));
    report = clean(store, place_.path());
    ASSERT_TRUE(report) << all_problems(report.error());
    EXPECT_THAT(report->kept, IsEmpty());
}

/// NFS renames a file by LINK and UNLINK.
TEST_F(SafePaths, BothNamesOfARenameThatWasKilledAreRemoved) {
    DirectoryStore without_set_aside;
    for (ByteStore* const store : {store_.get(), static_cast<ByteStore*>(&without_set_aside)}) {
        must_prepare();
        for (const std::string& name :
             {dir_ + "clip-0001.mov", dir_ + "record-0001.json", dir_ + "whole-0001.json",
              std::string("streamsim-media/mini/format.json"),
              std::string("streamsim-media/streamsim-media.json")})
            fs::create_hard_link(place_.at(name), place_.at(name + ".0123456789abcdef.partial"));
        const auto report = clean(*store, place_.path());
        ASSERT_TRUE(report) << all_problems(report.error());
        EXPECT_THAT(report->kept, IsEmpty());
        EXPECT_FALSE(fs::exists(place_.at("streamsim-media")));
    }
}

/// Only the removals of clean itself lower the number of links that a name was seen with.
TEST_F(SafePaths, AFileThatGainsANameDuringItsRemovalStays) {
    must_prepare();
    const std::string clip = place_.at(dir_ + "clip-0001.mov");
    fs::create_hard_link(clip, clip + ".0123456789abcdef.partial");
    InterruptedStore::AtRemoval at_removal = [&](const std::string& path) {
        if (path.find("clip-0001.mov.0123456789abcdef.partial") == std::string::npos) return false;
        fs::create_hard_link(path, elsewhere_.at("film.mov"));
        return true;
    };
    InterruptedStore store(*store_, at_removal);
    const auto report = clean(store, place_.path());
    ASSERT_TRUE(report) << all_problems(report.error());
    EXPECT_THAT(report->kept, ElementsAre(clip + ".0123456789abcdef.partial"));
    EXPECT_THAT(must_clean().kept, IsEmpty());
    EXPECT_TRUE(fs::exists(elsewhere_.at("film.mov")));
}

/// Nothing waits for an entry that has the name of a working set's file and is no regular file.
TEST_F(SafePaths, FifosAndSocketsAtNamesOfWorkingSetsStay) {
    must_prepare();
    const std::string root = load_root(place_.path());
    const LoadSet set{place_.path(), {root + "/m"}, {{root + "/m/f0.load", 0}}};
    PrepareProgress progress;
    ASSERT_TRUE(write_load_set(*store_, *plan_load_set(*store_, set), 1, progress));
    for (const mode_t kind : {mode_t{S_IFIFO}, mode_t{S_IFSOCK}}) {
        fs::remove(root + "/m/f0.load");
        ASSERT_EQ(mknod((root + "/m/f0.load").c_str(), kind | 0600, 0), 0);
        const auto refused = plan_load_set(*store_, set);
        ASSERT_FALSE(refused);
        EXPECT_THAT(all_problems(refused.error()), HasSubstr("found a device, FIFO or socket"));
        EXPECT_THAT(must_clean().kept, ElementsAre(root + "/m/f0.load"));
        EXPECT_TRUE(fs::exists(root + "/m/f0.load"));
    }
}

TEST_F(SafePaths, EmptyDirectoriesThatNobodyRecordedStay) {
    must_prepare();
    const std::string users = place_.at("streamsim-media/holiday");
    const std::string begun = place_.at("streamsim-media/other.0123456789abcdef.partial");
    fs::create_directory(users);
    fs::create_directory(begun);
    EXPECT_THAT(must_clean().kept, ElementsAre(users));
    EXPECT_TRUE(fs::exists(users));
    EXPECT_FALSE(fs::exists(begun));
    must_prepare();
    EXPECT_EQ(whole_clips(), 1u);
    fs::remove(users);
    EXPECT_THAT(must_clean().kept, IsEmpty());
}

/// The next clean removes the files that a killed clean renamed, and never another file of such a name.
TEST_F(SafePaths, AHalfRemovedFileIsRemovedByTheNextClean) {
    format_ = small_dpx("tiny", 17, 9, 10);
    must_prepare();
    const std::string frames = "streamsim-media/tiny/12-frames/";
    std::string aside;
    InterruptedStore::AtRemoval at_removal = [&](const std::string& path) {
        if (!path.ends_with(".removing") || path.find("frame.0000003") == std::string::npos) return false;
        aside = path;
        throw std::runtime_error("killed");
    };
    InterruptedStore store(*store_, at_removal);
    EXPECT_THROW((void)clean(store, place_.path()), std::runtime_error);
    ASSERT_TRUE(fs::exists(aside));
    fs::copy_file(aside, fs::path(aside).replace_filename("frame.0000004.dpx.0123456789abcdef.removing"));
    const auto report = must_clean();
    ASSERT_EQ(report.kept.size(), 1u);
    EXPECT_THAT(report.kept[0], HasSubstr("frame.0000004.dpx.0123456789abcdef.removing"));
    EXPECT_FALSE(fs::exists(aside));
}

/// After it was looked at: the user's frames have the names of ours.
TEST_F(SafePaths, ADirectoryThatIsExchangedBeforeItIsRenamedGetsItsNameBack) {
    format_ = small_dpx("tiny", 17, 9, 10);
    must_prepare();
    const std::string clip = place_.at("streamsim-media/tiny/12-frames/clip-0001");
    elsewhere_.write("frames/frame.0000001.dpx", "mine");
    InterruptedStore::AtRemoval at_removal = [&](const std::string& path) {
        return path.ends_with("/clip-0001") && renameat2(AT_FDCWD, clip.c_str(), AT_FDCWD,
                                                         elsewhere_.at("frames").c_str(), RENAME_EXCHANGE) == 0;
    };
    InterruptedStore store(*store_, at_removal);
    const auto report = clean(store, place_.path());
    ASSERT_TRUE(report) << all_problems(report.error());
    EXPECT_THAT(report->kept, ElementsAre(clip));
    EXPECT_EQ(place_.read("streamsim-media/tiny/12-frames/clip-0001/frame.0000001.dpx"), "mine");
}

/// Exchanges two names over and over until it is told to end.
class Exchanges {
public:
    Exchanges(std::string one, std::string other, int most)
        : thread_([this, one = std::move(one), other = std::move(other), most] {
              for (int i = 0; i < most && !ending_; ++i) {
                  if (renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0) ++count_;
              }
          }) {}
    ~Exchanges() { end(); }
    int end() {
        ending_ = true;
        if (thread_.joinable()) thread_.join();
        return count_;
    }

private:
    std::atomic<bool> ending_ = false;
    std::atomic<int> count_ = 0;
    std::thread thread_;
};

TEST_F(SafePaths, ExchangedFilesLoseNothingOfTheUsers) {
    for (int round = 0; round < 60; ++round) {
        const std::string name = round % 2 == 0 ? "clip-0001.mov" : "record-0001.json";
        must_prepare();
        const Place user;
        user.write("film", "mine");
        Exchanges exchanging(place_.at(dir_ + name), user.at("film"), 100'000);
        (void)clean(*store_, place_.path());
        exchanging.end();
        std::size_t left = 0;
        for (const std::string& root : {user.path(), place_.path()}) {
            for (const auto& entry : fs::recursive_directory_iterator(root))
                left += entry.is_regular_file() && entry.file_size() == 4 ? 1u : 0u;
        }
        ASSERT_EQ(left, 1u) << "round " << round << ", " << name;
        fs::remove_all(place_.at("streamsim-media"));
    }
}

/// Whatever clean and prepare meet, the user's frames stay: they have the names of ours.
TEST_F(SafePaths, ExchangedDirectoriesLoseNothingOfTheUsers) {
    format_ = small_dpx("tiny", 17, 9, 10);
    dir_ = "streamsim-media/tiny/12-frames/";
    constexpr int kExchangesWanted = 10'000;
    int exchanges = 0;
    for (int round = 0; exchanges < kExchangesWanted && round < 400; ++round) {
        const bool link = round % 2 == 0;
        must_prepare();
        const Place user;
        for (int i = 1; i <= 12; ++i)
            user.write("frames/frame.00000" + std::string(i < 10 ? "0" : "") + std::to_string(i) + ".dpx",
                       "mine");
        const std::string level = round % 3 == 0 ? "streamsim-media/tiny" : dir_ + "clip-0001";
        std::string other = user.at("frames");
        if (link) {
            other = user.at("link");
            fs::create_directory_symlink(user.at("frames"), other);
        }
        Exchanges exchanging(place_.at(level), other, 500);
        (void)clean(*store_, place_.path());
        (void)prepare_now(2);
        exchanges += exchanging.end();
        std::size_t left = 0;
        for (const std::string& root : {user.path(), place_.path()}) {
            for (const auto& entry : fs::recursive_directory_iterator(root)) {
                if (!entry.is_symlink() && entry.is_regular_file() && entry.file_size() == 4) ++left;
            }
        }
        ASSERT_EQ(left, 12u) << "round " << round << (link ? ", a link" : ", a directory");
        fs::remove_all(place_.at("streamsim-media"));
    }
    EXPECT_GT(exchanges, 0);
}

}  // namespace
}  // namespace streamsim::media
