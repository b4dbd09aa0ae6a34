#include "media/sequence/sequence_names.h"

#include <gmock/gmock.h>

namespace streamsim::media {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<FoundSequence> grouped(const std::vector<std::string>& names) {
    const std::vector<std::string_view> views(names.begin(), names.end());
    return group_sequences(views);
}

std::vector<std::string> patterns(const std::vector<std::string>& names) {
    std::vector<std::string> out;
    for (const FoundSequence& sequence : grouped(names)) {
        out.push_back(sequence.pattern.show() + " x" + std::to_string(sequence.numbers.size()));
    }
    return out;
}

/// `count` names: before, a number of `digits` digits from `first` on, after.
void add(std::vector<std::string>& names,
         const std::string& before,
         int first,
         int count,
         int digits,
         const std::string& after) {
    for (int i = first; i < first + count; ++i) {
        std::string number = std::to_string(i);
        number.insert(0, static_cast<std::size_t>(std::max(0, digits - static_cast<int>(number.size()))), '0');
        names.push_back(before + number + after);
    }
}

TEST(SequenceNames, TheFrameNumberIsBeforeOrAfterThePointOrTheExtension) {
    EXPECT_THAT(patterns({"0101.shot.dpx", "0102.shot.dpx"}), ElementsAre("%04d.shot.dpx x2"));
    EXPECT_THAT(patterns({"shot.0101.dpx", "shot.0102.dpx"}), ElementsAre("shot.%04d.dpx x2"));
    EXPECT_THAT(patterns({"shot.dpx.0101", "shot.dpx.0102"}), ElementsAre("shot.dpx.%04d x2"));
    EXPECT_THAT(patterns({"shot0101.DPX", "shot0102.DPX"}), ElementsAre("shot%04d.DPX x2"));
    EXPECT_THAT(patterns({"shot_v003.0101.exr", "shot_v003.0102.exr"}), ElementsAre("shot_v003.%04d.exr x2"));
}

TEST(SequenceNames, WhatVariesCountsAndIsSaid) {
    std::vector<std::string> names;
    add(names, "A001_C002_", 86400, 100, 7, ".dpx");
    auto found = grouped(names);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].pattern.show(), "A001_C002_%07d.dpx");
    EXPECT_EQ(found[0].choice,
              "the frame number is the third run of digits in A001_C002_0086400.dpx, because only it varies");
    names.clear();
    add(names, "sh", 1, 30, 3, "_0001.dpx");  // one frame each: the shots vary
    EXPECT_THAT(patterns(names), ElementsAre("sh%03d_0001.dpx x30"));
    EXPECT_THAT(grouped({"a.1.dpx", "a.2.dpx"})[0].choice, IsEmpty());
    EXPECT_THAT(grouped({"v2_a.0101.dpx"})[0].choice,
                HasSubstr("second run of digits in v2_a.0101.dpx, by its"));
}

TEST(SequenceNames, OfSeveralRunsThatVaryOneCounts) {
    std::vector<std::string> names;
    for (const char* shot : {"sh010", "sh020", "sh030", "sh040", "sh050", "sh060", "sh070", "sh080"})
        add(names, std::string(shot) + "_", 1, 5, 4, ".exr");  // fewer frames than shots
    EXPECT_EQ(grouped(names).size(), 8u);
    EXPECT_EQ(grouped(names)[0].pattern.show(), "sh010_%04d.exr");
    EXPECT_THAT(grouped(names)[0].choice, HasSubstr("by its place and its 5 values (8 in what else varies)"));
    names.clear();
    for (int version = 1; version <= 40; ++version)
        add(names, "shot_v" + std::to_string(100 + version) + ".", 1, 2, 4, ".exr");
    EXPECT_EQ(grouped(names).size(), 40u);
    names.clear();
    for (const char* eye : {"_cam1.dpx", "_cam2.dpx"}) add(names, "f", 1, 50, 4, eye);
    EXPECT_THAT(patterns(names), ElementsAre("f%04d_cam1.dpx x50", "f%04d_cam2.dpx x50"));
}

TEST(SequenceNames, RunsThatChangeTogetherAreOneSequence) {
    const auto found = grouped({"a_0009_0018.dpx", "a_0010_0020.dpx", "a_0008_0016.dpx"});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_THAT(found[0].numbers, ElementsAre(8, 9, 10));  // without gaps
    EXPECT_EQ(found[0].name(2), "a_0010_0020.dpx");
    EXPECT_EQ(index_of_name(found[0], "a_0009_0018.dpx"), 1u);
    EXPECT_FALSE(index_of_name(found[0], "a_0009_0016.dpx"));
    EXPECT_EQ(found[0].choice,
              "the frame number is the first run of digits in a_0008_0016.dpx; the others change with it, in "
              "every name: taken as one sequence");
    EXPECT_THAT(grouped({"a_1_5.dpx", "a_2_6.dpx"})[0].numbers, ElementsAre(5, 6));  // of equals the last
    EXPECT_EQ(grouped({"a_1_5.dpx", "a_2_6.dpx", "a_3_6.dpx"}).size(), 2u);
}

TEST(SequenceNames, ACaseOfTheExtensionIsNoSequenceOfItsOwn) {
    const auto found = grouped({"a.1.DPX", "a.2.dpx", "a.3.dpx", "a.4.Dpx"});
    ASSERT_EQ(found.size(), 2u);  // two spellings are one sequence, a third is another
    EXPECT_EQ(found[1].pattern.show(), "a.%d.dpx");
    EXPECT_THAT(found[1].numbers, ElementsAre(1, 2, 3));
    EXPECT_EQ(found[1].name(0), "a.1.DPX");
    EXPECT_EQ(found[1].name(2), "a.3.dpx");
    EXPECT_EQ(index_of_name(found[1], "a.1.DPX"), 0u);
    EXPECT_FALSE(index_of_name(found[1], "a.1.dpx"));
    EXPECT_FALSE(index_of_name(found[1], "a.4.Dpx"));
    EXPECT_THAT(patterns({"a.1.DPX", "a.1.dpx", "a.2.dpx"}), ElementsAre("a.%d.DPX x1", "a.%d.dpx x2"));
}

TEST(SequenceNames, NegativeNumbersAndStrangeNamesBreakNothing) {
    EXPECT_THAT(patterns({"a.-0010.dpx", "a.-0009.dpx", "a.0000.dpx", "a.0001.dpx"}),
                ElementsAre("a.%04d.dpx x2", "a.-%04d.dpx x2"));
    std::string many;
    for (int i = 0; i < 100; ++i) many += "1_";
    EXPECT_EQ(grouped({many + "1.dpx", many + "2.dpx"}).size(), 2u);  // more runs than anybody has
    EXPECT_THAT(patterns({"999999999999999999.dpx", "9999999999999999999.dpx"}), ElementsAre("%d.dpx x1"));
    EXPECT_TRUE(grouped({}).empty());
    EXPECT_TRUE(grouped({"", ".", "a"}).empty());
}

TEST(SequenceNames, APatternIsReadAsItIsTyped) {
    EXPECT_EQ(parse_pattern("a.@@@@.dpx")->name(7), "a.0007.dpx");
    EXPECT_EQ(parse_pattern("a.%4d.dpx")->name(7), "a.0007.dpx");
    EXPECT_EQ(parse_pattern("a.#.dpx")->name(7), "a.7.dpx");
    EXPECT_EQ(parse_pattern("me@home.%03d.dpx")->name(7), "me@home.007.dpx");
    EXPECT_EQ(parse_pattern("a.dpx.%03d")->name(7), "a.dpx.007");
    EXPECT_EQ(parse_pattern("a.%04i.dpx")->name(7), "a.0007.dpx");
    EXPECT_EQ(parse_pattern("k#%04d.dpx")->name(7), "k#0007.dpx");
    EXPECT_EQ(parse_pattern("100%_d %04d.dpx")->name(7), "100%_d 0007.dpx");
    EXPECT_EQ(parse_pattern("100%.####.dpx")->name(7), "100%.0007.dpx");
    EXPECT_EQ(parse_pattern("a.$F4.dpx")->name(7), "a.0007.dpx");
    EXPECT_EQ(parse_pattern("a.$F.dpx")->name(7), "a.7.dpx");
    EXPECT_FALSE(parse_pattern("$Final.dpx"));
    EXPECT_FALSE(parse_pattern("a.$F99.dpx"));
    EXPECT_FALSE(parse_pattern("a.@@.@@.dpx"));
    EXPECT_FALSE(parse_pattern(std::string(40, '#')));
}

TEST(SequenceNames, ANumberBelongsToItsPaddingOnly) {
    const FramePattern four{"a.", 4, ".dpx"};
    EXPECT_EQ(number_in(four, "a.0012.dpx"), 12u);
    EXPECT_EQ(number_in(four, "a.12345.dpx"), 12345u);
    for (const char* name :
         {"a.012.dpx", "a.00012.dpx", "a.12.dpx", "a..dpx", "b.0012.dpx", "a.0012.exr", "a.00x2.dpx"})
        EXPECT_FALSE(number_in(four, name)) << name;
    EXPECT_EQ(number_in({"", 1, ""}, "0"), 0u);
    EXPECT_FALSE(number_in({"", 1, ""}, "00"));
}

}  // namespace
}  // namespace streamsim::media
