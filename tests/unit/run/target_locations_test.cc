#include "target/target_locations.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace streamsim::run {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

class Locations : public testing::Test {
protected:
    Locations() {
        const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
        top_ = fs::temp_directory_path() / ("streamsim-locations-" + std::string(test->name()));
        fs::remove_all(top_);
        fs::create_directories(top_ / "parent/clip");
        std::ofstream(top_ / "parent/clip/frame.1.dpx") << "x";
        locations_ = std::make_shared<target::TargetLocations>(std::vector{clip()});
    }
    ~Locations() override { fs::remove_all(top_); }

    std::string clip() const { return (top_ / "parent/clip").string(); }

    fs::path top_;
    std::shared_ptr<const target::TargetLocations> locations_;
};

TEST(LocationOf, AUrlInAnyFormIsOnePlace) {
    const auto location = [](const char* url) { return target::location_of(*target::parse_target(url)); };
    EXPECT_EQ(location("nfs://nas/a%20b/"), location("nfs://nas//a b?timeout=2s"));
    EXPECT_EQ(location("smb://ed@nas/media"), location("smb://nas/media/"));
    EXPECT_NE(location("nfs://nas/media"), location("nfs://nas/media/b"));
    EXPECT_NE(location("nfs://nas/media"), location("smb://nas/media"));
    EXPECT_NE(location("sim:h500"), location("sim:h500?nodes=2"));
}

TEST_F(Locations, AreThere) {
    EXPECT_THAT(locations_->vanished(), IsEmpty());
    fs::remove(top_ / "parent/clip/frame.1.dpx");  // which is the media's
    EXPECT_THAT(locations_->vanished(), IsEmpty());
}

TEST_F(Locations, AParentThatWasRenamedIsNamed) {
    fs::rename(top_ / "parent", top_ / "other");
    const auto gone = locations_->vanished();
    ASSERT_EQ(gone.size(), 1u);
    EXPECT_EQ(gone[0].directory, clip());
    EXPECT_EQ(gone[0].path, (top_ / "parent").string());
    EXPECT_THAT(gone[0].how, HasSubstr("not there any more"));
    fs::rename(top_ / "other", top_ / "parent");
    EXPECT_THAT(locations_->vanished(), IsEmpty());
}

TEST_F(Locations, ADirectoryThatWasRemovedIsNamed) {
    fs::remove_all(clip());
    const auto gone = locations_->vanished();
    ASSERT_EQ(gone.size(), 1u);
    EXPECT_EQ(gone[0].path, clip());
}

TEST_F(Locations, ADirectoryOfTheSameNameIsAnother) {
    fs::rename(clip(), top_ / "parent/old");  // so that its number is not used again
    fs::create_directory(clip());
    const auto gone = locations_->vanished();
    ASSERT_EQ(gone.size(), 1u);
    EXPECT_THAT(gone[0].how, HasSubstr("another directory has its name"));
}

TEST_F(Locations, ThatCannotBeLookedAtHaveNotVanished) {
    EXPECT_THAT(target::TargetLocations({(top_ / "never").string()}).vanished(), IsEmpty());
}

/// Seen while it was away, though it is back when play ends.
TEST_F(Locations, AreWatchedWhileFramesFail) {
    std::atomic<std::uint64_t> failed{0};
    target::LocationWatch watch(locations_, [&failed] { return failed.load(); });
    fs::rename(top_ / "parent", top_ / "other");
    failed = 3;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (failed < 100 && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ++failed;
    }
    fs::rename(top_ / "other", top_ / "parent");
    const auto gone = watch.stop();
    ASSERT_EQ(gone.size(), 1u);
    EXPECT_EQ(gone[0].path, (top_ / "parent").string());
    EXPECT_LT(gone[0].there_ns, gone[0].gone_ns);
}

/// A location may fail after the last check of the watch, when play ends.
TEST_F(Locations, AreCheckedOnceMoreWhenPlayEnds) {
    std::atomic<std::uint64_t> failed{0};
    target::LocationWatch watch(locations_, [&failed] { return failed.load(); });
    fs::rename(top_ / "parent", top_ / "other");
    failed = 1;
    EXPECT_EQ(watch.stop().size(), 1u);
    fs::rename(top_ / "other", top_ / "parent");
}

TEST_F(Locations, NothingIsCheckedWhileNothingFails) {
    target::LocationWatch watch(locations_, [] { return std::uint64_t{0}; });
    fs::rename(top_ / "parent", top_ / "other");
    EXPECT_THAT(watch.stop(), IsEmpty());
    fs::rename(top_ / "other", top_ / "parent");
}

}  // namespace
}  // namespace streamsim::run
