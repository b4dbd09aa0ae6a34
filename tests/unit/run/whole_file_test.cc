// A journal replaces its earlier self and nothing else.
#include "base/system/whole_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <string>

namespace streamsim::run {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class WholeFile : public testing::Test {
protected:
    WholeFile() {
        fs::remove_all(folder_);
        fs::create_directories(folder_);
        std::ofstream(at("precious")) << "mine";
    }
    ~WholeFile() override {
        EXPECT_EQ(text_of("precious"), "mine");
        fs::remove_all(folder_);
    }
    std::string at(const std::string& name) const { return (folder_ / name).string(); }
    std::string text_of(const std::string& name) const {
        std::ifstream in(at(name));
        return {std::istreambuf_iterator<char>(in), {}};
    }
    std::string write() const {
        return write_from([](const auto& out) { out("{}"); });
    }
    std::string write_from(const TextSource& source) const {
        return write_whole(at("new.partial"), at("journal"), source);
    }

    fs::path folder_ =
        fs::path(testing::TempDir()) /
        (std::string("streamsim-whole-file-") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(WholeFile, ReplacesAnEarlierOne) {
    EXPECT_EQ(write(), "");
    std::ofstream(at("journal")) << "old";
    EXPECT_EQ(write(), "");
    EXPECT_EQ(text_of("journal"), "{}");
    EXPECT_FALSE(fs::exists(at("new.partial")));
}

TEST_F(WholeFile, HasAllPieces) {
    const std::string piece(100'000, 'x');
    const auto source = [&piece](const auto& out) {
        for (int i = 0; i < 5; ++i) out(piece);
        out("end");
    };
    EXPECT_EQ(write_from(source), "");
    EXPECT_EQ(text_of("journal"), piece + piece + piece + piece + piece + "end");
}

TEST_F(WholeFile, StaysAsItIsWhereTheTextEndsWithAnException) {
    EXPECT_EQ(write(), "");
    const auto source = [](const auto& out) {
        out("[1, ");
        throw std::bad_alloc();
    };
    EXPECT_THROW((void)write_from(source), std::bad_alloc);
    EXPECT_EQ(text_of("journal"), "{}");
    EXPECT_FALSE(fs::exists(at("new.partial")));
}

TEST_F(WholeFile, ReplacesNothingElse) {
    fs::create_symlink("precious", at("journal"));
    EXPECT_THAT(write(), HasSubstr("found a symbolic link"));
    EXPECT_TRUE(fs::is_symlink(at("journal")));
    fs::remove(at("journal"));
    fs::create_hard_link(at("precious"), at("journal"));
    EXPECT_THAT(write(), HasSubstr("several names"));
    EXPECT_EQ(fs::hard_link_count(at("precious")), 2u);
    fs::remove(at("journal"));
    fs::create_directory(at("journal"));
    EXPECT_THAT(write(), HasSubstr("found something that is no file"));
    EXPECT_FALSE(fs::exists(at("new.partial")));
}

TEST_F(WholeFile, IsWrittenIntoANewFile) {
    fs::create_hard_link(at("precious"), at("new.partial"));
    EXPECT_NE(write(), "");
    fs::remove(at("new.partial"));
    fs::create_symlink("precious", at("new.partial"));
    EXPECT_NE(write(), "");
    EXPECT_TRUE(fs::is_symlink(at("new.partial"))) << "it is somebody else's";
    EXPECT_FALSE(fs::exists(at("journal")));
}

}  // namespace
}  // namespace streamsim::run
