#include <algorithm>

#include "unit/media/cut_fixture.h"

namespace streamsim::testing {
namespace {

TEST_F(Cuts, CutsPlayToTheFrame) {
    add("A", 0, 99);
    add("B", 86400, 86499);
    const CutList list = cuts(
        "TITLE: TWO CUTS\nFCM: NON-DROP FRAME\n\n"
        "001  A        V     C        00:00:01:00 00:00:01:03 01:00:00:00 01:00:00:03\n"
        "002  B        V     C        01:00:00:10 01:00:00:12 01:00:00:03 01:00:00:05\n"
        "003  A        V     C        00:00:00:00 00:00:00:01 01:00:00:05 01:00:00:06\n");
    EXPECT_EQ(list.name, "TWO CUTS");
    EXPECT_EQ(list.rate, (FrameRate{24, 1}));
    EXPECT_EQ(list.events, 3u);
    EXPECT_EQ(list.frames, 6u);
    ASSERT_EQ(list.clips.size(), 2u);
    EXPECT_EQ(list.clips[0].name, "A");
    EXPECT_EQ(list.segments[1].event, "event 002");
    EXPECT_EQ(shown(list, 0, 7), (Texts{"A 24", "A 25", "A 26", "B 10", "B 11", "A 0", "black"}));
    EXPECT_EQ(joined(list.notes), "");
}

TEST_F(Cuts, ADissolveReadsBothSides) {
    add("A", 0, 99);
    add("B", 0, 99);
    // The outgoing side as a cut of no length, with the same number.
    const std::string two_lines =
        "001  A  V  C        00:00:00:10 00:00:00:12 00:00:00:00 00:00:00:02\n"
        "002  A  V  C        00:00:00:12 00:00:00:12 00:00:00:02 00:00:00:02\n"
        "002  B  V  D    003 00:00:00:20 00:00:01:00 00:00:00:02 00:00:00:06\n";
    const Texts expected = {"A 10", "A 11", "A 12 + B 20", "A 13 + B 21", "A 14 + B 22", "B 23"};
    const CutList list = cuts(two_lines);
    EXPECT_EQ(shown(list, 0, 6), expected);
    EXPECT_EQ(list.segments.size(), 2u) << "the outgoing clip goes on in its own segment";
    EXPECT_EQ(list.events, 2u);
    // In one line: the outgoing side is the event before.
    EXPECT_EQ(shown(cuts("001  A  V  C        00:00:00:10 00:00:00:12 00:00:00:00 00:00:00:02\n"
                         "002  B  V  D    003 00:00:00:20 00:00:01:00 00:00:00:02 00:00:00:06\n"),
                    0, 6),
              expected);
    // The outgoing side in full, with the same number, and a wipe.
    EXPECT_EQ(shown(cuts("001  A  V  C        00:00:00:10 00:00:00:12 00:00:00:00 00:00:00:02\n"
                         "001  B  V  W001 003 00:00:00:20 00:00:01:00 00:00:00:02 00:00:00:06\n"),
                    0, 6),
              expected);
    // It comes from elsewhere in the outgoing clip.
    EXPECT_EQ(shown(cuts("001  A  V  C        00:00:00:10 00:00:00:12 00:00:00:00 00:00:00:02\n"
                         "002  A  V  C        00:00:02:00 00:00:02:00 00:00:00:02 00:00:00:02\n"
                         "002  B  V  D    001 00:00:00:20 00:00:00:22 00:00:00:02 00:00:00:04\n"),
                    0, 4),
              (Texts{"A 10", "A 11", "A 48 + B 20", "B 21"}));
}

TEST_F(Cuts, NothingIsReadForBlack) {
    add("A", 0, 99);
    const CutList list = cuts(
        "001  BL  V  C        00:00:00:00 00:00:00:00 10:00:00:00 10:00:00:00\r\n"
        "001  A   V  D    002 00:00:00:05 00:00:00:08 10:00:00:00 10:00:00:03\r\n"
        "002  A   V  C        00:00:00:08 00:00:00:08 10:00:00:03 10:00:00:03\r\n"
        "002  BL  V  D    002 00:00:00:00 00:00:00:04 10:00:00:03 10:00:00:07\r\n"
        "003  A   V  C        00:00:00:00 00:00:00:01 10:00:00:07 10:00:00:08\r\n");
    EXPECT_EQ(shown(list, 0, 8), (Texts{"A 5", "A 6", "A 7", "A 8", "A 9", "black", "black", "A 0"}));
    EXPECT_EQ(list.frames, 8u);
}

TEST_F(Cuts, AKeyReadsBackgroundAndForeground) {
    add("A", 0, 99);
    add("B", 0, 99);
    for (const char* background : {"K B     ", "KB  000 "}) {
        const CutList list = cuts(std::string("001  A  V  ") + background +
                                  "00:00:00:10 00:00:00:14 00:00:00:00 00:00:00:04\n"
                                  "001  B  V  K   002 00:00:00:20 00:00:00:22 00:00:00:01 00:00:00:03\n");
        EXPECT_EQ(shown(list, 0, 4), (Texts{"A 10", "A 11 + B 20", "A 12 + B 21", "A 13"}));
    }
}

TEST_F(Cuts, SpeedsAreWhatM2Says) {
    add("A", 0, 199);
    const auto event = [](const char* source_out, const char* record_out, const char* m2) {
        return std::string("001  A  V  C  00:00:01:00 ") + source_out + " 00:00:00:00 " + record_out + "\n" +
               (*m2 == 0 ? "" : std::string("M2   A       ") + m2 + "                00:00:01:00\n");
    };
    EXPECT_EQ(shown(cuts(event("00:00:01:06", "00:00:00:03", "048.0")), 0, 3), (Texts{"A 24", "A 26", "A 28"}));
    EXPECT_EQ(shown(cuts(event("00:00:01:02", "00:00:00:04", "012.0")), 0, 4),
              (Texts{"A 24", "A 24", "A 25", "A 25"}));
    EXPECT_EQ(shown(cuts(event("00:00:01:03", "00:00:00:03", "-024.0")), 0, 3),
              (Texts{"A 26", "A 25", "A 24"}));
    EXPECT_EQ(shown(cuts(event("00:00:01:01", "00:00:00:03", "000.0")), 0, 3), (Texts{"A 24", "A 24", "A 24"}));
    // Written from the later time to the earlier one.
    EXPECT_EQ(shown(cuts(event("00:00:00:21", "00:00:00:03", "-024")), 0, 3), (Texts{"A 24", "A 23", "A 22"}));
    // Half speed backwards stays in [24, 26).
    const CutList slow = cuts(event("00:00:01:02", "00:00:00:04", "-012.0"));
    EXPECT_EQ(shown(slow, 0), "A 25");
    EXPECT_EQ(shown(slow, 3), "A 24");
    // 47.9 for twice 23.976; the lengths say what is meant.
    const CutList ntsc = cuts(event("00:00:05:00", "00:00:02:00", "047.9"), FrameRate{24000, 1001});
    EXPECT_EQ(shown(ntsc, 47), "A 118");
    EXPECT_EQ(ntsc.segments[0].speed_den, 1);
    // The record rules where M2 and the lengths disagree.
    const CutList odd = cuts(event("00:00:01:04", "00:00:00:04", "048.0"));
    EXPECT_EQ(shown(odd, 3), "A 30");
    EXPECT_TRUE(has(joined(odd.notes), "M2 is taken"));
    EXPECT_TRUE(
        has(problems(event("00:00:01:06", "00:00:00:03", "")), "line 1: event 001: its source is 6 frames"));
}

TEST_F(Cuts, DropFrameIsByFcmOrByTheSeparators) {
    add("A", 0, 20000, {30000, 1001});
    // 00:09:59;29 is frame 17981, 00:10:00;00 the next one.
    const char* by_separator =
        "FCM: NON-DROP FRAME\n001  A  V  C  00:09:59;28 00:10:00;01 01:00:59;28 01:01:00;03\n";
    EXPECT_EQ(shown(cuts(by_separator), 0, 3), (Texts{"A 17980", "A 17981", "A 17982"}));
    const char* by_fcm = "FCM: DROP FRAME\n001  A  V  C  00:09:59:28 00:10:00:01 01:00:59:28 01:01:00:03\n";
    EXPECT_EQ(shown(cuts(by_fcm), 0, 3), (Texts{"A 17980", "A 17981", "A 17982"}));
    const char* changes =
        "FCM: NON-DROP FRAME\n001  A  V  C  00:01:00:00 00:01:00:01 00:00:00:00 00:00:00:01\n"
        "FCM: DROP FRAME\n002  A  V  C  00:01:00:02 00:01:00:03 00:00:00:01 00:00:00:02\n";
    EXPECT_EQ(shown(cuts(changes), 0, 2), (Texts{"A 1800", "A 1800"}));
    EXPECT_TRUE(has(problems("001  A  V  C  00:01:00;00 00:01:00;02 00:00:00;00 00:00:00;02\n"),
                    "line 1: event 001: time code 00:01:00;00: drop frame leaves this label out"));
}

TEST_F(Cuts, TheRecordHasOneWayOfCountingWhateverTheSourcesHave) {
    add("A", 0, 20000, {30000, 1001});
    // A drop-frame hour is 108 frames shorter: counted so, one of the two would lie before the other.
    const CutList plain = cuts(
        "FCM: NON-DROP FRAME\n001  A  V  C  00:00:59:00 00:01:00:00 01:00:00:00 01:00:01:00\n"
        "FCM: DROP FRAME\n002  A  V  C  00:01:00:02 00:01:01:02 01:00:01:00 01:00:02:00\n");
    EXPECT_EQ(plain.frames, 60u);
    EXPECT_EQ(shown(plain, 0), "A 1770");
    EXPECT_EQ(shown(plain, 29, 31), (Texts{"A 1799", "A 1800"}));
    const CutList drop = cuts(
        "FCM: DROP FRAME\n001  A  V  C  00:00:59:00 00:01:00:02 01:00:59:00 01:01:00:02\n"
        "FCM: NON-DROP FRAME\n002  A  V  C  00:01:00:00 00:01:01:00 01:01:00:02 01:01:01:02\n");
    EXPECT_EQ(drop.frames, 60u);
    EXPECT_EQ(shown(drop, 0), "A 1770");
    EXPECT_EQ(shown(drop, 29, 31), (Texts{"A 1799", "A 1800"}));
    // Sources that are written as drop frame say nothing of the record.
    const CutList mixed = cuts(
        "FCM: NON-DROP FRAME\n001  A  V  C  00:00:59:00 00:01:00:00 01:00:59:00 01:01:00:00\n"
        "002  A  V  C  00:01:00;02 00:01:01;02 01:01:00:00 01:01:01:00\n");
    EXPECT_EQ(mixed.frames, 60u);
    EXPECT_EQ(shown(mixed, 29, 31), (Texts{"A 1799", "A 1800"}));
}

TEST_F(Cuts, StylesOfOtherPrograms) {
    add("reels/A001C002_190523", 0, 99);
    add("SHOT_B", 0, 99);
    const Texts expected = {"reels/A001C002_190523 4", "reels/A001C002_190523 5",
                            "reels/A001C002_190523 6 + SHOT_B 8", "SHOT_B 9"};
    const char* const styles[] = {
        // Avid: names after both lines of a dissolve, audio between them
        "TITLE:   SEQ_AVID \nFCM: NON-DROP FRAME\n"
        "000001  A001C002                         V     C        00:00:00:04 00:00:00:06 01:00:00:00 "
        "01:00:00:02 \n"
        "* FROM CLIP NAME:  A001C002_190523.dpx \n* LOC: 01:00:00:01 RED     LOOK \n"
        "000002  A001C002                         A2    C        00:00:00:04 00:00:00:06 01:00:00:00 "
        "01:00:00:02 \n"
        "000003  A001C002                         V     C        00:00:00:06 00:00:00:06 01:00:00:02 "
        "01:00:00:02 \n"
        "000003  SHOT_B                           V     D    001 00:00:00:08 00:00:00:10 01:00:00:02 "
        "01:00:00:04 \n"
        "* BLEND, DISSOLVE \n* FROM CLIP NAME:  A001C002_190523.dpx \n* TO CLIP NAME:  SHOT_B.dpx \n",
        // Premiere: reel AX
        "TITLE: Sequence 01\r\nFCM: NON-DROP FRAME\r\n\r\n"
        "001  AX       V     C        00:00:00:04 00:00:00:06 00:00:00:00 00:00:00:02\r\n"
        "* FROM CLIP NAME: A001C002_190523.0000000.dpx\r\n\r\n"
        "002  AX       V     C        00:00:00:06 00:00:00:06 00:00:00:02 00:00:00:02\r\n"
        "002  AX       V     D    001 00:00:00:08 00:00:00:10 00:00:00:02 00:00:00:04\r\n"
        "* FROM CLIP NAME: A001C002_190523.0000000.dpx\r\n* TO CLIP NAME: SHOT_B.0000000.dpx\r\n",
        // Resolve: frame ranges in brackets; a list in lower case with tabs and a byte order mark
        "\xef\xbb\xbfTITLE: Timeline 1\nfcm: non-drop frame\n"
        "001\tax\tv\tc\t00:00:00:04 00:00:00:06 01:00:00:00 01:00:00:02\n"
        "* from clip name: A001C002_190523.[0000000-0000099].dpx\n"
        "002\tax\tv\td\t001\t00:00:00:08 00:00:00:10 01:00:00:02 01:00:00:04\n"
        "* to clip name: shot_b.[0000000-0000099].dpx\n",
        // Final Cut Pro: long reels, sources below, sound and picture in one event
        "TITLE: FCP\nFCM: NON-DROP FRAME\n"
        "001  A001C002 AA/V  C        00:00:00:04 00:00:00:06 01:00:00:00 01:00:00:02\n"
        "FINAL CUT PRO REEL: A001C002_190523 REPLACED BY: A001C002\n"
        "* FROM CLIP NAME:  Interview\n* SOURCE FILE: /Volumes/RAID/A001C002_190523\n"
        "002  A001C002 B     C        00:00:00:06 00:00:00:06 01:00:00:02 01:00:00:02\n"
        "002  SHOT_B   B     D    001 00:00:00:08 00:00:00:10 01:00:00:02 01:00:00:04\n"
        "* FROM CLIP NAME:  Interview\n* SOURCE FILE: /Volumes/RAID/A001C002_190523\n"
        "* TO CLIP NAME:  Beauty\n* SOURCE FILE: C:\\media\\SHOT_B\\SHOT_B.0000000.dpx\nSPLIT:    AUDIO DELAY= "
        " 00:00:00:05\n",
    };
    for (const char* style : styles) EXPECT_EQ(shown(cuts(style), 0, 4), expected) << style;
}

TEST_F(Cuts, EventsMayStandInAnyOrderAndCrossMidnight) {
    add("A", 0, 99);
    EXPECT_EQ(shown(cuts("002  A  V  C  00:00:00:50 00:00:00:51 01:00:00:01 01:00:00:02\n"
                         "001  A  V  C  00:00:00:10 00:00:00:11 01:00:00:00 01:00:00:01\n",
                         FrameRate{60, 1}),
                    0, 2),
              (Texts{"A 10", "A 50"}));
    EXPECT_EQ(shown(cuts("001  A  V  C  00:00:00:10 00:00:00:12 23:59:59:23 00:00:00:01\n"
                         "002  A  V  C  00:00:00:20 00:00:00:21 00:00:00:01 00:00:00:02\n"),
                    0, 3),
              (Texts{"A 10", "A 11", "A 20"}));
}

TEST_F(Cuts, TheUpperVideoTrackHidesTheLower) {
    add("A", 0, 99);
    add("B", 0, 99);
    const CutList list = cuts(
        "001  A  V   C  00:00:00:10 00:00:00:15 00:00:00:00 00:00:00:05\n"
        "002  B  V2  C  00:00:00:20 00:00:00:22 00:00:00:01 00:00:00:03\n");
    EXPECT_EQ(shown(list, 0, 5), (Texts{"A 10", "B 20", "B 21", "A 13", "A 14"}));
    EXPECT_TRUE(has(joined(list.notes), "topmost"));
}

TEST_F(Cuts, TracksHaveNumbersOfSeveralDigits) {
    add("A", 0, 99);
    add("B", 0, 99);
    const CutList list = cuts(
        "001  A  V10  C  00:00:00:10 00:00:00:12 00:00:00:00 00:00:00:02\n"
        "002  B  V9   C  00:00:00:20 00:00:00:22 00:00:00:00 00:00:00:02\n");
    EXPECT_EQ(shown(list, 0, 2), (Texts{"A 10", "A 11"}));
    for (const std::string track : {"V1000", "V99999999999"}) {
        const std::string found =
            problems("001  A  " + track + "  C  00:00:00:10 00:00:00:12 00:00:00:00 00:00:00:02\n");
        EXPECT_TRUE(
            has(found, "line 1: event 001: expected channels such as V, A2 or AA/V, V999 at most, found \"" +
                           track + "\""))
            << found;
    }
}

TEST_F(Cuts, SoundIsLeftAsideAndCounted) {
    add("A", 0, 99);
    const CutList list = cuts(
        "001  Z  A     C  00:00:00:10 00:00:00:15 00:00:00:00 00:00:00:05\n* FROM CLIP NAME: sound.wav\n"
        "002  Z  NONE  C  00:00:00:10 00:00:00:15 00:00:00:00 00:00:00:05\n"
        "003  A  V     C  00:00:00:10 00:00:00:11 00:00:00:00 00:00:00:01\n");
    EXPECT_EQ(list.events, 1u);
    EXPECT_EQ(joined(list.notes), "2 events without a picture ignored\n");
}

TEST_F(Cuts, EveryProblemHasItsLine) {
    add("A", 0, 99);
    const std::string found = problems(
        "TITLE: BROKEN\n"
        "001  A  V  C  00:00:00:10 00:00:00:15\n"
        "002  A  V  Q  00:00:00:10 00:00:00:15 00:00:00:00 00:00:00:05\n"
        "003  A  X  C  00:00:00:10 00:00:00:15 00:00:00:00 00:00:00:05\n"
        "004  A  V  C  00:00:00:10 00:99:00:15 00:00:00:00 00:00:00:05\n"
        "005  A  V  C  00:00:00:10 00:00:00:15 00:00:00:00 123:00:00:05\n"
        "006\n"
        "M2 fast\n");
    EXPECT_TRUE(has(found, "list.edl: line 2: event 001: expected four time codes")) << found;
    EXPECT_TRUE(has(found, "list.edl: line 3: event 002: expected a reel")) << found;
    EXPECT_TRUE(has(found, "list.edl: line 4: event 003: expected channels")) << found;
    EXPECT_TRUE(has(found, "list.edl: line 5: event 004: '00:99:00:15'")) << found;
    EXPECT_TRUE(has(found, "list.edl: line 6: event 005: '123:00:00:05'")) << found;
    EXPECT_TRUE(has(found, "list.edl: line 7: event 006")) << found;
    EXPECT_TRUE(has(found, "list.edl: line 8: expected M2")) << found;
    EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 7) << found;
}

TEST_F(Cuts, WhatDoesNotFitTheRateOrTheOtherEventsHasItsLine) {
    add("A", 0, 99);
    const std::string found = problems(
        "001  A  V  C      00:00:00:10 00:00:00:24 00:00:00:00 00:00:00:14\n"
        "002  A  V  C      00:00:00:10 00:00:00:15 00:00:00:14 00:00:00:29\n"
        "003  A  V  C      00:00:00:10 00:00:00:05 00:00:01:00 00:00:01:05\n"
        "004  A  V  C      00:00:00:10 00:00:00:15 00:00:02:05 00:00:02:00\n"
        "005  A  V  D  009 00:00:00:10 00:00:00:15 00:00:03:00 00:00:03:05\n");
    EXPECT_TRUE(has(found, "line 1: event 001: time code 00:00:00:24: at 24 frames a second")) << found;
    EXPECT_TRUE(has(found, "line 2: event 002: time code 00:00:00:29")) << found;
    EXPECT_TRUE(has(found, "line 3: event 003: its source out is before")) << found;
    EXPECT_TRUE(has(found, "line 4: event 004: its record out is before")) << found;
    EXPECT_TRUE(has(found, "line 5: event 005: its transition of 9 frames is longer than the event")) << found;
    EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 5) << found;
    const std::string both = problems(
        "001  A  V  C  00:00:00:10 00:00:00:30 00:00:00:00 00:00:00:05\n"
        "002  A  V  C  00:00:00:10 00:00:00:15 00:00:00:04 00:00:00:09\n"
        "003  A  V  C  00:00:00:10 00:00:00:20 00:00:01:00 00:00:01:05\n");
    EXPECT_TRUE(has(both, "line 1: event 001: time code 00:00:00:30")) << both;
    EXPECT_TRUE(has(both, "line 2: event 002: its record times lie over those of event 001")) << both;
    EXPECT_TRUE(has(both, "line 3: event 003: its source is 10 frames long and its record 5")) << both;
    EXPECT_TRUE(has(problems("001  A  V  C  00:00:00:10 00:00:00:15 00:00:00:00 00:00:00:05\n"
                             "002  A  V  C  00:00:00:10 00:00:00:15 00:00:00:04 00:00:00:09\n"),
                    "line 2: event 002: its record times lie over those of event 001 in line 1, by 1 frames"));
}

TEST_F(Cuts, ListsWithoutEventsAreNoLists) {
    EXPECT_TRUE(has(problems(""), "no event in it"));
    EXPECT_TRUE(has(problems("Dear editor,\nplease find the list attached.\n"), "no event in it"));
    EXPECT_TRUE(
        has(problems("001  A  A  C  00:00:00:10 00:00:00:15 00:00:00:00 00:00:00:05\n"), "has a picture"));
    const char* const dark[] = {
        "TITLE: X\n001  A  V  C  00:00:00:10 00:00:00:10 00:00:00:00 00:00:00:00\n"
        "002  A  V  C  00:00:00:10 00:00:00:10 00:00:00:00 00:00:00:00\n",
        "TITLE: X\n001  BL  V  C  00:00:00:10 00:00:00:15 00:00:00:00 00:00:00:05\n"
        "002  BL  V  C  00:00:00:10 00:00:00:15 00:00:00:05 00:00:00:10\n"};
    add("A", 0, 99);
    for (const char* list : dark)
        EXPECT_TRUE(has(problems(list), "list.edl: line 2: event 001 and 1 more: no event shows a clip"))
            << list;
    EXPECT_TRUE(has(problems(std::string_view("\xff\xfe\x30\x00", 4)), "UTF-16"));
}

TEST_F(Cuts, TenThousandEventsAreReadAtOnce) {
    std::string text;
    for (int i = 0; i < 10'000; ++i) {
        char line[160];
        std::snprintf(line, sizeof line,
                      "%06d  A%03d V C 00:00:00:00 00:00:01:00 %02d:%02d:%02d:00 %02d:%02d:%02d:00\n", i,
                      i % 300, i / 3600, i / 60 % 60, i % 60, (i + 1) / 3600, (i + 1) / 60 % 60, (i + 1) % 60);
        text += line;
    }
    const auto list = media::parse_cut_list(text, "long.edl");
    ASSERT_TRUE(list.has_value());
    EXPECT_EQ(list->events, 10'000u);
    EXPECT_EQ(list->media.size(), 300u);
}

TEST_F(Cuts, TheRecordCountsWhereAMismatchIsIgnored) {
    add("A", 0, 99);
    const std::string text = "001 A V C 00:00:01:00 00:00:01:06 01:00:00:00 01:00:00:03\n";
    auto list = media::parse_cut_list(text, "list.edl");
    ASSERT_TRUE(list);
    EXPECT_FALSE(media::resolve_cut_list(store_, place_.path(), *list, std::nullopt));
    list->ignore_mismatch = true;
    const auto cuts = media::resolve_cut_list(store_, place_.path(), *list, std::nullopt);
    ASSERT_TRUE(cuts) << all_problems(cuts.error());
    EXPECT_TRUE(has(joined(cuts->notes), "its source is 6 frames long and its record 3: the record is taken"));
}

TEST_F(Cuts, ABinaryFileIsNotPrinted) {
    const auto list = media::parse_cut_list("TITLE: x\n001 \x01\x02\xff V C", "clip.mov");
    ASSERT_FALSE(list);
    EXPECT_EQ(all_problems(list.error()),
              "clip.mov: byte 13: a binary file: expected a CMX 3600 EDL or an OpenTimelineIO document\n");
}

}  // namespace
}  // namespace streamsim::testing
