// A media set with files of others beside it, and what a test does to both.
#pragma once

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "media/write/media_set.h"
#include "storage/local/local_byte_store.h"
#include "unit/media/fixtures.h"

namespace streamsim::testing {

/// Whatever a test does, a file elsewhere stays as it was: its bytes, its inode and its times.
class SafePaths : public ::testing::Test {
protected:
    SafePaths() {
        elsewhere_.write("precious", kPrecious);
        before_ = facts();
    }
    ~SafePaths() override {
        EXPECT_EQ(elsewhere_.read("precious"), kPrecious);
        EXPECT_EQ(facts(), before_);
    }

    /// Inode, seconds and nanoseconds of its last change, bytes.
    std::vector<std::uint64_t> facts() const {
        struct stat info {};
        EXPECT_EQ(stat(elsewhere_.at("precious").c_str(), &info), 0);
        return {info.st_ino, static_cast<std::uint64_t>(info.st_mtim.tv_sec),
                static_cast<std::uint64_t>(info.st_mtim.tv_nsec), static_cast<std::uint64_t>(info.st_size)};
    }
    media::PrepareRequest request(std::uint32_t clips = 1) const {
        return {place_.path(), format_, clips, milliseconds(500), 1};
    }
    Result<void> prepare_now(std::uint32_t clips = 1) {
        const auto plan = plan_prepare(*store_, request(clips));
        if (!plan) return plan.error();
        notes_ = plan->notes;
        media::PrepareProgress progress;
        return prepare(*store_, *plan, progress);
    }
    void must_prepare(std::uint32_t clips = 1) {
        const auto done = prepare_now(clips);
        ASSERT_TRUE(done) << all_problems(done.error());
    }
    std::size_t whole_clips() {
        const auto clips = media::complete_clips(*store_, place_.path(), format_, std::nullopt);
        EXPECT_TRUE(clips) << all_problems(clips.error());
        return clips ? clips->size() : 0;
    }
    media::CleanReport must_clean() {
        auto report = media::clean(*store_, place_.path());
        if (report) return std::move(*report);
        ADD_FAILURE() << all_problems(report.error());
        return {};
    }
    void link_to_precious(const std::string& name, bool hard) {
        std::filesystem::create_directories(std::filesystem::path(place_.at(name)).parent_path());
        if (hard) {
            std::filesystem::create_hard_link(elsewhere_.at("precious"), place_.at(name));
        } else {
            std::filesystem::create_symlink(elsewhere_.at("precious"), place_.at(name));
        }
    }

    static constexpr const char* kPrecious = "nobody may change this";
    Place place_;
    Place elsewhere_;
    std::unique_ptr<ByteStore> store_ = storage::make_local_byte_store();
    MediaFormat format_ = small_prores("mini", 64, 36, 5'000);
    std::string dir_ = "streamsim-media/mini/15-frames/";
    std::vector<std::string> notes_;
    std::vector<std::uint64_t> before_;
};

}  // namespace streamsim::testing
