#include "base/document/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/document/problems.h"

namespace streamsim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class DocumentTest : public testing::Test {
protected:
    DocumentTest() { std::filesystem::create_directories(folder_); }
    ~DocumentTest() override { std::filesystem::remove_all(folder_); }
    std::string file(const std::string& text) const {
        const std::string path = (folder_ / "document.json").string();
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }
    static std::string problem(const Result<std::string>& read) {
        return read ? std::string() : read.error().problems.front();
    }

    // A folder for each test: several run at once.
    std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                    (std::string("streamsim-document-test-") +
                                     testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(DocumentTest, IsReadWholeUpToItsLimit) {
    EXPECT_EQ(*read_document(file("")), "");
    EXPECT_EQ(*read_document(file("{}"), 2), "{}");
    const std::string large(1'000'000, 'x');
    EXPECT_EQ(*read_document(file(large)), large);
    const auto larger = read_document(file(std::string((1 << 20) + 1, 'x')), 1 << 20);
    EXPECT_THAT(problem(larger), HasSubstr("document.json: is larger than 1 MiB"));
}

TEST_F(DocumentTest, ThatIsNoneIsNamed) {
    EXPECT_THAT(problem(read_document((folder_ / "none").string())), HasSubstr("none: there is no such file"));
    EXPECT_THAT(problem(read_document(folder_.string())),
                HasSubstr("expected a file with a document, found a directory"));
}

TEST_F(DocumentTest, ADeviceWithoutAnEndEndsAtOnce) {
    std::error_code none;
    if (!std::filesystem::is_character_file("/dev/zero", none)) GTEST_SKIP() << "there is no /dev/zero";
    EXPECT_THAT(problem(read_document("/dev/zero", UINT64_MAX / 2)),
                HasSubstr("/dev/zero: byte 0: expected text"));
    EXPECT_FALSE(read_document("/dev/urandom", UINT64_MAX / 2));
    EXPECT_EQ(*read_document("/dev/null"), "");
}

TEST_F(DocumentTest, ThatIsLongerThanItsFileSystemSaysEndsAtItsLimit) {
    const char* const longer = "/proc/self/maps";  // of no bytes, by its size
    if (!std::filesystem::exists(longer)) GTEST_SKIP() << "there is no " << longer;
    EXPECT_TRUE(read_document(longer));
    EXPECT_THAT(problem(read_document(longer, 100)), HasSubstr("is larger than"));
}

TEST(ProblemList, ShowsTheFirstAndCountsTheOthers) {
    ProblemList problems("f.json");
    EXPECT_TRUE(problems.empty());
    for (int i = 0; i < 20; ++i) problems.add("p");
    EXPECT_EQ(problems.error().problems.size(), 20u);
    problems.add("q");
    EXPECT_EQ(problems.error().problems.back(), "f.json: and 1 more problem");
    problems.add("q");
    EXPECT_EQ(problems.error().problems.size(), 21u);
    EXPECT_EQ(problems.error().problems.back(), "f.json: and 2 more problems");
    EXPECT_EQ(problems.size(), 22u);
}

TEST(Shortened, KeepsBothEndsAndWholeCharacters) {
    EXPECT_EQ(shortened("0123456789", 10), "0123456789");
    EXPECT_EQ(shortened("0123456789abcdef", 8), "012345...ef");
    std::string umlauts;
    for (int i = 0; i < 100; ++i) umlauts += "\xc3\xa4";
    EXPECT_EQ(shortened(umlauts, 12), "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4...\xc3\xa4");
}

}  // namespace
}  // namespace streamsim
