#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string_view>

namespace streamsim {
namespace {

TEST(Utf8, ReadsOneCharacter) {
    const auto is = [](std::string_view text, std::uint32_t code, std::size_t bytes) {
        const Utf8Character found = first_character(text);
        return found.code == code && found.bytes == bytes;
    };
    EXPECT_TRUE(is("ab", 'a', 1));
    EXPECT_TRUE(is(std::string_view("\0", 1), 0, 1));
    EXPECT_TRUE(is("\x7f", 0x7f, 1));
    EXPECT_TRUE(is("\xc2\x80", 0x80, 2));
    EXPECT_TRUE(is("\xc3\xb6x", 0xf6, 2));
    EXPECT_TRUE(is("\xe0\xa0\x80", 0x800, 3));
    EXPECT_TRUE(is("\xef\xbf\xbd", 0xfffd, 3));
    EXPECT_TRUE(is("\xf0\x9f\x8e\xac", 0x1f3ac, 4));
    EXPECT_TRUE(is("\xf4\x8f\xbf\xbf", 0x10ffff, 4));
}

TEST(Utf8, KnowsWhatIsNone) {
    for (const char* bad :
         {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc3", "\xc3(", "\xe0\x9f\xbf", "\xe2\x82", "\xed\xa0\x80",
          "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
        EXPECT_EQ(first_character(bad).bytes, 0U) << std::string_view(bad);
    }
}

TEST(Utf8, PrintableTextCommandsNoTerminal) {
    EXPECT_EQ(printable("a\tb\x7f\xc2\x9bz\xc3\xa9"), "a\\x09b\\x7f\\u009bz\xc3\xa9") << "U+009B is an escape";
    EXPECT_EQ(printable("\x9b\xff\xc3"), "\\x9b\\xff\\xc3");
    EXPECT_EQ(printable("\x1b[2J\r\n"), "\\x1b[2J\\x0d\\x0a");
}

TEST(Utf8, PrintableTextHidesNothingAndTurnsNothingAround) {
    EXPECT_EQ(printable("gpj.\u202egpd"), "gpj.\\u202egpd");
    EXPECT_EQ(printable("a\u2066b\u2028c\u200bd\ufeff"), "a\\u2066b\\u2028c\\u200bd\\ufeff");
    EXPECT_EQ(printable("\u05d0\u0627\u6f22 \u2192 \xf0\x9f\x8e\xac"),
              "\u05d0\u0627\u6f22 \u2192 \xf0\x9f\x8e\xac")
        << "other scripts stay";
}

TEST(Utf8, PrintableLinesKeepLinesAndOwnPaintAlone) {
    EXPECT_EQ(printable_lines("a\nb\x1b[2Jc\n", false), "a\nb\\x1b[2Jc\n");
    EXPECT_EQ(printable_lines("\x1b[1;32mPLAYS\x1b[0m\n", true), "\x1b[1;32mPLAYS\x1b[0m\n");
    EXPECT_EQ(printable_lines("\x1b[1;32mPLAYS\x1b[0m\n", false), "\\x1b[1;32mPLAYS\\x1b[0m\n");
    EXPECT_EQ(printable_lines("\x1b[2J\x1b[1;1H\x1b]0;title\x07", true),
              "\\x1b[2J\\x1b[1;1H\\x1b]0;title\\x07");
}

}  // namespace
}  // namespace streamsim
