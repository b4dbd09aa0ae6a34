#include "base/document/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/document/json_text.h"

namespace streamsim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ParseJson, ASyntaxErrorNamesTheByte) {
    const auto parsed = parse_json("{\"a\": 1,\n\"b\": }", "f.json");
    ASSERT_FALSE(parsed.has_value());
    EXPECT_THAT(parsed.error().problems, ElementsAre(HasSubstr("f.json: byte 15")));
}

TEST(ParseJson, AKeyGivenTwiceIsNamedWhereverItIs) {
    const auto parsed = parse_json(R"({"a": [{"x": 1}, {"x": 1, "y~/": {"z": 1, "z": 2}}], "a": 3})", "f.json");
    ASSERT_FALSE(parsed.has_value());
    EXPECT_THAT(parsed.error().problems,
                ElementsAre(HasSubstr("f.json: /a/1/y~0~1/z: "), HasSubstr("f.json: /a: ")));
}

TEST(ParseJson, WhatIsNestedWithoutEndIsAnErrorAtItsPlace) {
    const auto nested = [](std::size_t levels) {
        return "{\"a\": " + std::string(levels, '[') + std::string(levels, ']') + "}";
    };
    EXPECT_TRUE(parse_json(nested(1000), "d.json"));
    const auto deep = parse_json(nested(1'000'000), "d.json");
    ASSERT_FALSE(deep);
    ASSERT_EQ(deep.error().problems.size(), 1u);
    EXPECT_THAT(deep.error().problems[0], testing::StartsWith("d.json: /a/0/0"));
    EXPECT_THAT(deep.error().problems[0], testing::EndsWith(": nested deeper than 1024 levels"));
}

TEST(ParseJson, LongTablesTakeNoLongerARowThanShortOnes) {
    constexpr std::size_t kRows = 200'000;  // read one against all it would be here for minutes
    std::string text = "[";
    for (std::size_t i = 0; i < kRows; ++i) text += i == 0 ? "{\"a\":1}" : ",{\"a\":1}";
    const auto table = parse_json(text + "]", "d.json");
    ASSERT_TRUE(table);
    EXPECT_EQ(table->size(), kRows);
}

TEST(ParseJson, BytesThatAreNotUtf8AreAnErrorAndNotAnException) {
    EXPECT_FALSE(parse_json("{\"a\": \"\xff\"}", "f.json").has_value());
    EXPECT_FALSE(parse_json("", "f.json").has_value());
    EXPECT_FALSE(parse_json(std::string(100, '['), "f.json").has_value());
}

TEST(JsonObject, EveryProblemIsReportedWithItsPointer) {
    const auto document = parse_json(
        R"({"count": 0, "name": "", "rate": [24, 0], "time": "5", "mode": "x", "flag": 1, "extra": 2,
            "big": 18446744073709551615})",
        "f.json");
    ASSERT_TRUE(document.has_value());
    JsonProblems problems("f.json");
    JsonObject object(*document, "", problems);
    EXPECT_FALSE(object.integer("count", 1, 10).has_value());
    EXPECT_FALSE(object.integer("big", 1, INT64_MAX).has_value());
    EXPECT_FALSE(object.string("name").has_value());
    EXPECT_FALSE(object.rate("rate").has_value());
    EXPECT_FALSE(object.duration("time").has_value());
    EXPECT_FALSE(object.one_of("mode", {"a", "b"}).has_value());
    EXPECT_FALSE(object.boolean("flag").has_value());
    EXPECT_FALSE(object.number("missing", 0, 1).has_value());
    object.finish();
    EXPECT_THAT(
        problems.error().problems,
        ElementsAre(HasSubstr("f.json: /count: expected an integer from 1 to 10, found 0"), HasSubstr("/big: "),
                    HasSubstr("/name: "), HasSubstr("/rate: "), HasSubstr("/time: "),
                    HasSubstr("/mode: expected one of a, b"), HasSubstr("/flag: "),
                    HasSubstr("/missing: missing"), HasSubstr("/extra: unknown key")));
}

TEST(JsonObject, WhatIsRightIsRead) {
    const auto document =
        parse_json(R"({"schema": "s", "version": 1, "rate": [24000, 1001], "time": "500ms"})", "f");
    JsonProblems problems("f");
    JsonObject object(*document, "", problems);
    check_schema(object, "s", 1);
    EXPECT_EQ(object.rate("rate"), (FrameRate{24000, 1001}));
    EXPECT_EQ(object.duration("time"), milliseconds(500));
    EXPECT_FALSE(object.string("optional", false).has_value());
    object.finish();
    EXPECT_TRUE(problems.empty());
}

TEST(JsonObject, SomethingElseThanAnObjectIsOneProblem) {
    const Json list = Json::array();
    JsonProblems problems("f");
    JsonObject object(list, "/a", problems);
    (void)object.string("name");
    object.finish();
    EXPECT_THAT(problems.error().problems, ElementsAre(HasSubstr("f: /a: expected an object, found array")));
}

/// `entries` rows of a table.
std::string table(JsonText text, int entries) {
    text.begin_object(JsonText::Layout::lines);
    text.key("rows");
    text.begin_array(JsonText::Layout::lines);
    for (int i = 0; i < entries; ++i) text.text("row " + std::to_string(i));
    text.end();
    text.end();
    return std::move(text).take();
}

TEST(JsonText, TheTextInPiecesIsTheWholeOne) {
    for (const int entries : {0, 1, 4'000, 40'000}) {
        std::string pieces;
        std::size_t largest = 0;
        const auto take = [&](std::string_view piece) {
            pieces += piece;
            largest = std::max(largest, piece.size());
        };
        const std::string rest = table(JsonText(take), entries);
        EXPECT_EQ(pieces + rest, table(JsonText(), entries));
        EXPECT_LT(std::max(largest, rest.size()), 70'000u);
    }
}

}  // namespace
}  // namespace streamsim
