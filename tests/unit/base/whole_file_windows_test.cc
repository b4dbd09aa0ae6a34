// A whole file replaces its earlier self and nothing else on Windows, too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <string>

#include "base/system/whole_file.h"

namespace streamsim {
namespace {

namespace fs = std::filesystem;

class WholeFileOfWindows : public testing::Test {
protected:
    WholeFileOfWindows() {
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }
    ~WholeFileOfWindows() override { fs::remove_all(folder_); }

    std::string at(const std::string& name) const { return (folder_ / name).string(); }
    std::string text_of(const std::string& name) const {
        std::ifstream in(at(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    std::string write(const TextSource& source = [](const auto& out) { out("{\n}"); }) const {
        return write_whole(at("new.partial"), at("journal"), source);
    }

    fs::path folder_ = fs::path(testing::TempDir()) / "streamsim-whole-file";
};

TEST_F(WholeFileOfWindows, ReplacesAnEarlierOne) {
    EXPECT_EQ(write(), "");
    std::ofstream(at("journal")) << "old";
    EXPECT_EQ(write(), "");
    EXPECT_EQ(text_of("journal"), "{\n}");
    EXPECT_FALSE(fs::exists(at("new.partial")));
}

TEST_F(WholeFileOfWindows, IsWrittenIntoANewFile) {
    std::ofstream(at("new.partial")) << "mine";
    EXPECT_NE(write(), "");
    EXPECT_EQ(text_of("new.partial"), "mine") << "it is somebody else's";
    EXPECT_FALSE(fs::exists(at("journal")));
}

TEST_F(WholeFileOfWindows, ReplacesNoFolderAndLeavesNoTemporary) {
    fs::create_directory(at("journal"));
    EXPECT_THAT(write(), testing::HasSubstr("found something that is no file"));
    EXPECT_TRUE(fs::is_directory(at("journal")));
    EXPECT_FALSE(fs::exists(at("new.partial")));
}

TEST_F(WholeFileOfWindows, StaysAsItIsWhereTheTextEndsWithAnException) {
    EXPECT_EQ(write(), "");
    const auto ends = [](const auto& out) {
        out("[1, ");
        throw std::bad_alloc();
    };
    EXPECT_THROW((void)write(ends), std::bad_alloc);
    EXPECT_EQ(text_of("journal"), "{\n}");
    EXPECT_FALSE(fs::exists(at("new.partial")));
}

}  // namespace
}  // namespace streamsim
