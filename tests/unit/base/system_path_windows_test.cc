// Paths as Windows wants them.
#include <gtest/gtest.h>

#include <string>

#include "base/system/utf8_path.h"

namespace streamsim {
namespace {

const std::string kLong(250, 'x');
const std::wstring kLongWide(250, L'x');

TEST(SystemPath, AShortPathStays) {
    EXPECT_EQ(system_path("C:/media/a.mov"), utf8_path("C:/media/a.mov"));
    EXPECT_EQ(system_path("//server/share/a.mov"), utf8_path("//server/share/a.mov"));
    EXPECT_EQ(system_path("a.mov"), utf8_path("a.mov"));
    EXPECT_EQ(system_path(""), utf8_path(""));
}

TEST(SystemPath, ADriveAloneIsItsRoot) {
    EXPECT_EQ(system_path("D:").native(), L"D:/");
}

TEST(SystemPath, ALongPathHasThePrefixOfLongPaths) {
    EXPECT_EQ(system_path("C:/a/../" + kLong).native(), LR"(\\?\C:\)" + kLongWide);
    EXPECT_EQ(system_path("//server/share/" + kLong).native(), LR"(\\?\UNC\server\share\)" + kLongWide);
    EXPECT_EQ(system_path(R"(\\server\share\)" + kLong).native(), LR"(\\?\UNC\server\share\)" + kLongWide);
    const std::wstring relative = system_path(kLong).native();
    EXPECT_TRUE(relative.starts_with(LR"(\\?\)") && relative.ends_with(kLongWide)) << utf8_text(relative);
}

TEST(SystemPath, AShortNameInALongFolderHasThePrefix) {
    const std::string folder = "C:/" + std::string(237, 'x');
    EXPECT_FALSE(utf8_text(system_path(folder.substr(0, 230))).starts_with(R"(\\?\)"));
    EXPECT_TRUE(utf8_text(system_path(folder + "/a")).starts_with(R"(\\?\)"));
}

TEST(SystemPath, APrefixIsNotDoubled) {
    for (const std::string prefix : {R"(\\?\C:\)", R"(\\.\)"})
        EXPECT_EQ(utf8_text(system_path(prefix + kLong)), prefix + kLong);
}

TEST(SystemPath, TextsKeepEveryCharacter) {
    const std::string text = "C:/Gr\u00f6\u00dfe \u20ac/\U0001f3ac.mov";
    EXPECT_EQ(utf8_generic_text(utf8_path(text)), text);
    EXPECT_EQ(utf8_text(system_path(text)), text);
    EXPECT_EQ(utf8_generic_text(utf8_path(R"(\\server\share\a)")), "//server/share/a");
}

}  // namespace
}  // namespace streamsim
