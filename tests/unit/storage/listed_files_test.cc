// Listings of a server that are kept until something in them is changed.
#include "storage/listed_files.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "storage/errno_text.h"

namespace streamsim::storage {
namespace {

TEST(ListedFiles, AreFoundByNameUntilTheyChange) {
    ListedFiles files;
    FileInfo file;
    file.bytes = 7;
    files.put("/d/", {{"a", false, false}, {"l", false, true}}, {{"a", file}, {"l", std::nullopt}});
    ASSERT_TRUE(files.list("/d"));
    EXPECT_EQ(files.list("/d//")->size(), 2U);
    ASSERT_TRUE(files.find("/d/a") && *files.find("/d/a"));
    EXPECT_EQ((*files.find("/d/a"))->bytes, 7U);
    ASSERT_TRUE(files.find("/d/none"));
    EXPECT_FALSE(*files.find("/d/none")) << "it is known that there is none";
    EXPECT_FALSE(files.find("/d/l")) << "the target of a link is not known";
    EXPECT_FALSE(files.find("/other/a"));
    EXPECT_FALSE(files.find("a")) << "a name without a directory";
    EXPECT_FALSE(files.find("/d/")) << "a directory that nobody looked at";
    FileInfo directory;
    directory.directory = true;
    files.put_directory("/d/", directory);
    ASSERT_TRUE(files.find("/d/") && *files.find("/d/"));
    EXPECT_TRUE((*files.find("/d"))->directory);
    files.forget("/d/a");
    EXPECT_FALSE(files.list("/d"));
    EXPECT_FALSE(files.find("/d/a"));
    EXPECT_TRUE(files.find("/d/none"));
    files.forget("/elsewhere/a");
    files.forget("a");
    files.put("/d/below", {}, {});
    files.forget("/d");
    EXPECT_FALSE(files.list("/d/below")) << "what lies below goes too";
    files.put("/d", {}, {});
    files.forget_all();
    EXPECT_FALSE(files.list("/d"));
}

TEST(FileErrors, HaveNumbersWhereNobodyKnowsAName) {
    EXPECT_EQ(file_error(ENOENT, "open", "/d/a").problems.front().rfind("cannot open /d/a: ", 0), 0U);
    EXPECT_NE(file_error(12'345, "open", "/d/a").problems.front().find("(12345)"), std::string::npos);
}

TEST(FileErrors, TellAFileThatIsInaccessibleFromAStorageThatFails) {
    for (const int error : {ENOENT, ELOOP, EACCES, EPERM})
        EXPECT_TRUE(file_error(error, "open", "/d/a").inaccessible) << error;
    for (const int error : {EIO, ESTALE, ETIMEDOUT, ENOTCONN, EMFILE, ENOMEM})
        EXPECT_FALSE(file_error(error, "open", "/d/a").inaccessible) << error;
}

TEST(FileErrors, TellAFullStorage) {
    for (const int error : {ENOSPC, EDQUOT}) EXPECT_TRUE(file_error(error, "write", "/d/a").no_room) << error;
    EXPECT_FALSE(file_error(EIO, "write", "/d/a").no_room);
}

}  // namespace
}  // namespace streamsim::storage
