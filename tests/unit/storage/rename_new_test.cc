// A rename that never replaces: the names after it.
#include "storage/local/rename_new.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

namespace streamsim::storage {
namespace {

class RenameNew : public testing::Test {
protected:
    RenameNew() {
        std::filesystem::create_directories(root_);
        std::ofstream(at("a")) << "a";
        std::ofstream(at("b")) << "b";
    }
    ~RenameNew() override { std::filesystem::remove_all(root_); }

    std::string at(const char* name) const { return (root_ / name).string(); }
    std::string text(const char* name) const {
        std::string text;
        std::ifstream(at(name)) >> text;
        return text;
    }

    const std::filesystem::path root_ = testing::TempDir() + "streamsim-rename-" + std::to_string(getpid());
};

TEST_F(RenameNew, ToAFreeName) {
    EXPECT_EQ(rename_new(at("a"), at("c")), 0);
    EXPECT_EQ(text("c"), "a");
    EXPECT_FALSE(std::filesystem::exists(at("a")));
}

TEST_F(RenameNew, NeverReplaces) {
    EXPECT_EQ(rename_new(at("a"), at("b")), EEXIST);
    std::filesystem::create_directory(at("empty"));
    EXPECT_EQ(rename_new(at("a"), at("empty")), EEXIST);
    std::filesystem::create_symlink("nowhere", at("link"));
    EXPECT_EQ(rename_new(at("a"), at("link")), EEXIST);
    EXPECT_EQ(text("a"), "a");
    EXPECT_EQ(text("b"), "b");
}

TEST_F(RenameNew, OfNothing) {
    EXPECT_EQ(rename_new(at("nobody"), at("c")), ENOENT);
    EXPECT_EQ(rename_new(at("a"), at("nobody/c")), ENOENT);
}

}  // namespace
}  // namespace streamsim::storage
