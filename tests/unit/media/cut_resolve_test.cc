#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/prng.h"
#include "media/write/media_set.h"
#include "unit/media/cut_fixture.h"

namespace streamsim::testing {
namespace {

/// One event of one frame, frame 5 of its clip, by the names given.
std::string event(const std::string& reel, const std::string& comments = "") {
    return "001  " + reel + "  V  C  00:00:00:05 00:00:00:06 00:00:00:00 00:00:00:01\n" + comments;
}

using CutsResolve = Cuts;

TEST_F(CutsResolve, AClipGoesByManyNames) {
    add("day1/A001_C002_0101", 0, 99);
    add("day1/other", 0, 99);
    const char* const names[] = {
        "* FROM CLIP NAME: A001_C002_0101\n",
        "* FROM CLIP NAME: a001_c002_0101.DPX\n",
        "* FROM CLIP NAME: A001_C002_0101.mov\n",
        "* SOURCE FILE: A001_C002_0101.0000042.dpx\n",
        "* SOURCE FILE: day1/A001_C002_0101\n",
        "* SOURCE FILE: A001_C002_0101.%07d.dpx\n",
        "* SOURCE FILE: A001_C002_0101.####.dpx\n",
        "* SOURCE FILE: X:\\raw\\day1\\A001_C002_0101\\A001_C002_0101.0.dpx\n",
        "* FROM CLIP NAME: A001_C002_0101.\n",
    };
    for (const char* name : names)
        EXPECT_EQ(shown(cuts(event("AX", name)), 0), "day1/A001_C002_0101 5") << name;
    EXPECT_EQ(shown(cuts(event("A001_C002_0101")), 0), "day1/A001_C002_0101 5");
    const CutList by_reel = cuts(event("A001_C002"));
    EXPECT_EQ(shown(by_reel, 0), "day1/A001_C002_0101 5");
    EXPECT_TRUE(has(joined(by_reel.notes), "taken for reel \"A001_C002\""));
    // The file goes before the clip's name, that before the reel.
    EXPECT_EQ(shown(cuts(event("other", "* FROM CLIP NAME: other\n* SOURCE FILE: A001_C002_0101.dpx\n")), 0),
              "day1/A001_C002_0101 5");
    EXPECT_EQ(shown(cuts(event("other", "* FROM CLIP NAME: A001_C002_0101\n")), 0), "day1/A001_C002_0101 5");
}

TEST_F(CutsResolve, NamesMayBeInLatin1) {
    add("M\xc3\xb6we", 0, 99);
    add("other", 0, 99);
    const char* const lists[] = {"* FROM CLIP NAME: M\xc3\xb6we\n", "* FROM CLIP NAME: M\xf6we\n"};
    for (const char* list : lists) EXPECT_EQ(shown(cuts(event("AX", list)), 0), "M\xc3\xb6we 5");
}

TEST_F(CutsResolve, MoreOfAPathAndTheReelTellEqualsApart) {
    add("day1/A", 0, 99);
    add("day2/A", 0, 99);
    EXPECT_EQ(shown(cuts(event("AX", "* SOURCE FILE: /old/place/day2/A\n")), 0), "day2/A 5");
    EXPECT_EQ(shown(cuts(event("DAY1", "* FROM CLIP NAME: A\n")), 0), "day1/A 5");
    const std::string found = problems(event("AX", "* FROM CLIP NAME: A\n"));
    EXPECT_TRUE(has(found, "list.edl: line 1: event 001: clip \"A\", reel \"AX\" is day1/A and day2/A"))
        << found;
    EXPECT_TRUE(has(found, place_.path()));
}

TEST_F(CutsResolve, AllThatAreMissingAreNamedAtOnce) {
    add("A", 0, 99);
    const std::string found = problems(event("X1", "* FROM CLIP NAME: nowhere.mov\n") +
                                       "002  X2  V  C  00:00:00:05 00:00:00:06 00:00:00:01 00:00:00:02\n"
                                       "003  X2  V  C  00:00:00:05 00:00:00:06 00:00:00:02 00:00:00:03\n");
    EXPECT_TRUE(has(found, "list.edl: line 1: event 001: no clip below " + place_.path() +
                               " for clip \"nowhere.mov\", reel \"X1\""))
        << found;
    EXPECT_TRUE(has(found, "list.edl: line 3: event 002 and 1 more: no clip below")) << found;
    EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 2);
}

TEST_F(CutsResolve, SourceTimesAreTakenAsTheyAllFit) {
    add("A", 86400, 86499);  // 01:00:00:00 on
    const char* by_number =
        "001  A  V  C  01:00:00:05 01:00:00:06 00:00:00:00 00:00:00:01\n"
        "002  A  V  C  01:00:04:03 01:00:04:04 00:00:00:01 00:00:00:02\n";
    EXPECT_EQ(shown(cuts(by_number), 0, 2), (Texts{"A 5", "A 99"}));
    EXPECT_EQ(joined(cuts(by_number).notes), "");
    const CutList from_zero = cuts(event("A"));
    EXPECT_EQ(shown(from_zero, 0), "A 5");
    EXPECT_EQ(
        joined(from_zero.notes),
        "A: source times are taken as 0 at its first frame, not as the numbers of its files: they do not fit "
        "86400 (01:00:00:00)\n");
    const std::string neither = problems(
        "001  A  V  C  01:00:00:05 01:00:00:06 00:00:00:00 00:00:00:01\n"
        "002  A  V  C  00:00:00:05 00:00:00:06 00:00:00:01 00:00:00:02\n"
        "003  A  V  C  01:00:04:03 01:00:04:05 00:00:00:02 00:00:00:04\n");
    EXPECT_TRUE(has(neither,
                    "line 2: event 002: needs frames 5 (00:00:00:05) to 5 (00:00:00:05) of A, which has 86400 "
                    "(01:00:00:00) to 86499 (01:00:04:03)"))
        << neither;
    EXPECT_TRUE(has(neither, "line 3: event 003: needs frames 86499")) << neither;
}

TEST_F(CutsResolve, ATransitionNeedsMaterialBeyondTheCut) {
    add("A", 0, 9);
    add("B", 0, 9);
    const std::string found = problems(
        "001  A  V  C      00:00:00:05 00:00:00:09 00:00:00:00 00:00:00:04\n"
        "002  B  V  D  003 00:00:00:00 00:00:00:05 00:00:00:04 00:00:00:09\n");
    EXPECT_TRUE(has(found,
                    "line 1: event 001: its transition needs frames 5 (00:00:00:05) to 11 (00:00:00:11) of A, "
                    "which has 0 (00:00:00:00) to 9 (00:00:00:09)"))
        << found;
}

TEST_F(CutsResolve, ClipsOfSeveralRatesNeedTheRateOfTheList) {
    add("A", 0, 99, {24, 1});
    add("B", 0, 99, {25, 1});
    const std::string list = event("A") + "002  B  V  C  00:00:00:05 00:00:00:06 00:00:00:01 00:00:00:02\n";
    const std::string found = problems(list);
    EXPECT_TRUE(has(found, "A has 24, B has 25; name the one of the list with --fps")) << found;
    EXPECT_EQ(shown(cuts(list, FrameRate{30000, 1001}), 0, 2), (Texts{"A 5", "B 5"}));
}

TEST_F(CutsResolve, WhatIsMissingDoesNotHideTheOtherProblems) {
    add("A", 0, 99, {25, 1});
    const std::string found = problems(
        "001  A  V  C  00:00:00:05 00:00:00:30 00:00:00:00 00:00:01:00\n"
        "002  A  V  C  00:00:00:05 00:00:00:10 00:00:01:05 00:00:01:00\n"
        "003  X  V  C  00:00:00:40 00:00:00:10 00:00:01:05 00:00:01:24\n"
        "004  A  V  C  00:00:00:05 00:00:00:10 00:00:01:10 00:00:01:15\n");
    EXPECT_TRUE(has(found, "line 1: event 001: time code 00:00:00:30: at 25 frames a second")) << found;
    EXPECT_TRUE(has(found, "line 2: event 002: its record out is before its record in")) << found;
    EXPECT_TRUE(has(found, "line 3: event 003: no clip below")) << found;
    EXPECT_TRUE(has(found, "line 4: event 004: its record times lie over those of event 003")) << found;
    EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 4) << "nothing of the source of 003: " << found;
    const std::string ranges = problems(
        "001  X  V  C  00:00:00:05 00:00:00:10 00:00:00:00 00:00:00:05\n"
        "002  A  V  C  00:00:00:05 00:00:00:10 00:00:00:05 00:00:00:10\n"
        "003  A  V  C  00:00:09:05 00:00:09:10 00:00:00:10 00:00:00:15\n");
    EXPECT_TRUE(has(ranges, "line 1: event 001: no clip below")) << ranges;
    EXPECT_TRUE(has(ranges, "line 3: event 003: needs frames 230 (00:00:09:05)")) << ranges;
    EXPECT_EQ(std::count(ranges.begin(), ranges.end(), '\n'), 2) << ranges;
    const std::string unknown = problems(
        "001  X  V  C  00:00:00:05 00:00:00:10 00:00:00:00 00:00:00:30\n"
        "002  Y  V  C  00:00:00:05 00:00:00:10 00:00:01:00 00:00:01:05\n",
        FrameRate{24, 1});
    EXPECT_EQ(std::count(unknown.begin(), unknown.end(), '\n'), 2) << "no clip, no counting: " << unknown;
}

TEST_F(CutsResolve, AnEdlIsCountedAsItsClipsAreAndPlayedAtTheRateAskedFor) {
    add("A", 0, 99, {25, 1});
    add("B", 0, 99, {25, 1});
    const std::string list =
        "001  A  V  C  00:00:00:24 00:00:01:01 00:00:00:00 00:00:00:02\n"
        "002  B  V  C  00:00:01:00 00:00:01:01 00:00:00:02 00:00:00:03\n";
    const CutList fast = cuts(list, FrameRate{50, 1});
    EXPECT_EQ(shown(fast, 0, 3), (Texts{"A 24", "A 25", "B 25"}));
    EXPECT_EQ(fast.rate, (FrameRate{50, 1}));
    EXPECT_EQ(joined(fast.notes), "counted at 25 frames a second as its clips are, and played at 50\n");
    EXPECT_EQ(joined(cuts(list, FrameRate{25, 1}).notes), "");
    // A frame 49 that the clips cannot count to: it is --fps that counts, and that is said of what is wrong.
    const std::string other = "003  A  V  C  00:00:00:49 00:00:01:00 00:00:01:00 00:00:01:01\n";
    EXPECT_EQ(shown(cuts(other, FrameRate{50, 1}), 0), "A 49");
    const std::string found = problems(list + other, FrameRate{100, 1});
    EXPECT_EQ(
        found.find("list.edl: the time codes of the list are read at 100 fps (--fps); its clips have 25\n"), 0u)
        << found;
    EXPECT_TRUE(has(found, "line 1: event 001: its source is 77 frames long and its record 2")) << found;
    EXPECT_TRUE(has(problems(list + other), "line 3: event 003: time code 00:00:00:49: at 25")) << "no --fps";
}

TEST_F(CutsResolve, ATimeCodeThatCountsEverySecondFrameIsReadSo) {
    NEED_TOOL("ffmpeg");
    write_timecoded_mov(place_, "A.mov", "50", 200, "01:00:00:00", 2);  // 02:00:00:00 at 25
    add("B", 0, 99, {25, 1});
    const std::string line = "001  A  V  C  02:00:01:12 02:00:03:12 00:00:00:00 00:00:02:00\n";
    const std::string other = "002  B  V  C  00:00:00:05 00:00:00:06 00:00:03:00 00:00:03:01\n";
    const Texts expected = {"A.mov 74", "A.mov 76"};
    EXPECT_EQ(shown(cuts(line, FrameRate{25, 1}), 0, 2), expected);
    EXPECT_EQ(cuts(line, FrameRate{25, 1}).frames, 50u);
    EXPECT_EQ(shown(cuts(line + other, FrameRate{25, 1}), 0, 2), expected);
    EXPECT_EQ(shown(cuts(line + "M2   A       012.5                02:00:01:12\n", FrameRate{25, 1}), 0, 2),
              (Texts{"A.mov 74", "A.mov 75"}));
    const std::string found =
        problems("001  A  V  C  02:00:01:12 02:00:04:12 00:00:00:00 00:00:03:00\n" + other, FrameRate{25, 1});
    EXPECT_TRUE(has(found, "which has 360000 (02:00:00:00) to 360199 (02:00:03:24)")) << found;
    // Labels that a time code of 25 does not have count all frames of the clip.
    const std::string all = "001  A  V  C  02:00:01:40 02:00:02:40 00:00:00:00 00:00:01:00\n";
    EXPECT_EQ(shown(cuts(all + other, FrameRate{25, 1}), 0, 2), (Texts{"A.mov 90", "A.mov 92"}));
    EXPECT_EQ(shown(cuts(line), 0, 2), (Texts{"A.mov 62", "A.mov 63"})) << "a list of 50";
}

TEST_F(CutsResolve, TheTimeCodeOfAClipKnowsBetterThanFcm) {
    NEED_TOOL("ffmpeg");
    write_timecoded_mov(place_, "NDF.mov", "30000/1001", 20, "01:00:59:20");
    write_timecoded_mov(place_, "DF.mov", "30000/1001", 20, "01:00:59;20");
    const std::string plain = "001  NDF  V  C  01:01:00:02 01:01:00:03 00:00:00:00 00:00:00:01\n";
    const std::string drop = "002  DF  V  C  01:01:00:02 01:01:00:03 00:00:00:01 00:00:00:02\n";
    const Texts expected = {"NDF.mov 12", "DF.mov 10"};
    const CutList wrong = cuts("FCM: DROP FRAME\n" + plain + "FCM: NON-DROP FRAME\n" + drop);
    EXPECT_EQ(shown(wrong, 0, 2), expected);
    EXPECT_EQ(joined(wrong.notes),
              "event 001: source times counted as non-drop frame, as the clip states, not as FCM says\n"
              "event 002: source times counted as drop frame, as the clip states, not as FCM says\n");
    const CutList right = cuts("FCM: NON-DROP FRAME\n" + plain + "FCM: DROP FRAME\n" + drop);
    EXPECT_EQ(shown(right, 0, 2), expected);
    EXPECT_EQ(joined(right.notes), "");
}

TEST_F(CutsResolve, ATimeCodeOfEveryFourthFrameKnowsBetterThanFcm) {
    NEED_TOOL("ffmpeg");
    write_timecoded_mov(place_, "A.mov", "120000/1001", 20, "00:30:15:00", 4);  // 02:01:00:00 at 29.97
    const CutList list =
        cuts("FCM: DROP FRAME\n001  A  V  C  02:01:00:00 02:01:00:02 00:00:00:00 00:00:00:02\n",
             FrameRate{30000, 1001});
    EXPECT_EQ(shown(list, 0, 2), (Texts{"A.mov 0", "A.mov 4"}));
}

TEST_F(CutsResolve, WithoutFcmTheRecordCountsAsItsClips) {
    NEED_TOOL("ffmpeg");
    write_timecoded_mov(place_, "DF.mov", "30000/1001", 20, "01:00:59;20");
    const CutList drop = cuts("001  DF  V  C  01:00:59:20 01:01:00:10 01:00:59:20 01:01:00:10\n");
    EXPECT_EQ(drop.frames, 18u);
    EXPECT_EQ(joined(drop.notes), "");
    const CutList plain = cuts("001  DF  V  C  01:00:59:20 01:00:59:22 01:01:00:00 01:01:00:02\n");
    EXPECT_EQ(plain.frames, 2u) << "drop frame leaves these labels out";
    EXPECT_EQ(joined(plain.notes), "");
}

TEST_F(CutsResolve, ClipsThatStateNoRateDoNotCountAList) {
    add("A", 0, 99);
    for (const char* file : {"A/A.0000000.dpx", "A/A.0000099.dpx"}) {
        std::string image = place_.read(file);
        for (const std::size_t rate : {1724u, 1940u}) image.replace(rate, 4, 4, '\0');
        place_.write(file, image);
    }
    const std::string list = "001  A  V  C  00:00:01:00 00:00:01:01 00:00:00:00 00:00:00:01\n";
    EXPECT_EQ(shown(cuts(list, FrameRate{50, 1}), 0), "A 50");
    EXPECT_EQ(shown(cuts(list), 0), "A 24");
    add("C", 0, 99, {25, 1});
    const CutList stated =
        cuts(list + "002  C  V  C  00:00:01:00 00:00:01:01 00:00:00:01 00:00:00:02\n", FrameRate{50, 1});
    EXPECT_EQ(shown(stated, 0, 2), (Texts{"A 25", "C 25"}));
}

TEST_F(CutsResolve, OnlyWhatIsUsedIsRead) {
    add("A", 0, 99);
    add("B", 0, 99);
    std::vector<std::string> opened;
    store_.on_open = [&](const std::string& path) -> std::optional<Error> {
        opened.push_back(path);
        return std::nullopt;
    };
    cuts(event("A") + "002  A  V  C  00:00:00:07 00:00:00:08 00:00:00:01 00:00:00:02\n");
    EXPECT_EQ(opened, (Texts{place_.at("A/A.0000000.dpx"), place_.at("A/A.0000099.dpx")}))
        << "two headers of A";
}

TEST_F(CutsResolve, LinksThatLeadInCirclesDoNoHarm) {
    add("day1/A", 0, 99);
    std::filesystem::create_directory_symlink(place_.path(), place_.at("day1/loop"));
    EXPECT_EQ(shown(cuts(event("A")), 0), "day1/A 5");
}

TEST_F(CutsResolve, WhatLiesInARecycleBinOrASnapshotIsNoClip) {
    for (const char* name : {"proj/A", "#recycle/A", "#Snapshot/GMT-2026.01.01/A"}) add(name, 0, 99);
    EXPECT_EQ(shown(cuts(event("A")), 0), "proj/A 5");
}

TEST_F(CutsResolve, ATargetCanBeOneClip) {
    add("A", 0, 99);
    add("B", 0, 99);
    const auto list = media::parse_cut_list(event("A"), "list.edl");
    ASSERT_TRUE(list.has_value());
    for (const char* target : {"A", "A/", "A/A.0000000.dpx", "A/A.%07d.dpx", "A/A.#######.dpx"}) {
        const auto resolved = resolve_cut_list(store_, place_.at(target), *list, std::nullopt);
        ASSERT_TRUE(resolved.has_value()) << target << all_problems(resolved.error());
        EXPECT_EQ(resolved->segments.front().first, 5) << target;
    }
    const auto other = resolve_cut_list(store_, place_.at("B"), *list, std::nullopt);
    ASSERT_TRUE(other.has_value());
    EXPECT_TRUE(has(joined(other->notes), "B, the only clip, used for reel \"A\""));
    EXPECT_EQ(resolve_cut_list(store_, place_.at("nothing"), *list, std::nullopt).error().kind,
              ErrorKind::environment);
}

TEST_F(CutsResolve, TheOnlyClipBelowADirectoryIsTakenForNoOther) {
    add("shots/A", 0, 99);
    EXPECT_EQ(shown(cuts(event("A")), 0), "shots/A 5");
    const std::string found = problems(event("X"));
    EXPECT_TRUE(has(found, "list.edl: line 1: event 001: no clip below " + place_.path() + " for reel \"X\""))
        << found;
}

TEST_F(CutsResolve, PreparedMediaCanBeNamed) {
    media::PrepareRequest request{
        .target = place_.path(), .format = small_prores("small", 64, 32, 600), .clips = 3};
    request.clip_duration = seconds(1);
    auto planned = plan_prepare(store_, request);
    ASSERT_TRUE(planned.has_value());
    media::PrepareProgress progress;
    ASSERT_TRUE(prepare(store_, *planned, progress).has_value());
    const CutList list = cuts(
        "001  AX  V  C  00:00:00:05 00:00:00:06 00:00:00:00 00:00:00:01\n* FROM CLIP NAME: clip-0002\n"
        "002  AX  V  C  00:00:00:29 00:00:01:00 00:00:00:01 00:00:00:02\n* FROM CLIP NAME: CLIP-0003.MOV\n");
    EXPECT_EQ(shown(list, 0, 2), (Texts{"streamsim-media/small/30-frames/clip-0002.mov 5",
                                        "streamsim-media/small/30-frames/clip-0003.mov 29"}));
    EXPECT_TRUE(list.clips.front().ours);
    EXPECT_EQ(list.rate, (FrameRate{30, 1}));
}

TEST_F(CutsResolve, SequencesThatAreOneByTheirNamesHaveAllOfTheirFrames) {
    const MediaFormat format = small_dpx("tiny", 16, 8, 10);
    write_sequence(place_, "A/A.", ".dpx", {"0000", "0001", "0002"}, format);
    write_sequence(place_, "A/A.", ".DPX", {"0005"}, format);
    write_sequence(place_, "B/B.", ".dpx", {"0000", "0001", "0006"}, format);
    write_sequence(place_, "B/B.", ".DPX", {"0005"}, format);
    for (const char* name : {"0000_0000", "0001_0002", "0002_0004", "0005_0006"})
        place_.write(std::string("C/c_") + name + ".dpx", place_.read("A/A.0000.dpx"));
    const std::pair<std::string, std::string> last[] = {
        {"A", "A/A.0005.DPX"}, {"B", "B/B.0005.DPX"}, {"C", "C/c_0005_0006.dpx"}};
    for (const auto& [name, file] : last) {
        const CutList list = cuts(event(name));
        ASSERT_EQ(shown(list, 0), name + " 5");
        EXPECT_EQ(path_of(*list.clips.front().index, 5), place_.at(file));
        EXPECT_TRUE(list.clips.front().index->listed(5)) << name;
    }
    // A target that is a pattern has the names of the pattern alone.
    const auto list = media::parse_cut_list(event("A"), "list.edl");
    ASSERT_TRUE(list.has_value());
    EXPECT_TRUE(resolve_cut_list(store_, place_.at("A/A.0000.dpx"), *list, std::nullopt));
    const auto refused = resolve_cut_list(store_, place_.at("A/A.%04d.dpx"), *list, std::nullopt);
    ASSERT_FALSE(refused);
    EXPECT_TRUE(has(all_problems(refused.error()), "which has 0 (00:00:00:00) to 2 (00:00:00:02)"));
}

TEST_F(CutsResolve, TwoHundredEventsOverTwelveClips) {
    for (int i = 0; i < 12; ++i)
        add("shots/S" + std::to_string(100 + i), 86400 + i * 1000, 86400 + i * 1000 + 299);
    std::string text = "TITLE: 200\nFCM: NON-DROP FRAME\n";
    Texts expected;
    std::uint64_t record = 90'000;
    const auto code = [](std::uint64_t frame) {
        char out[16];
        std::snprintf(out, sizeof out, "%02d:%02d:%02d:%02d", static_cast<int>(frame / 86400),
                      static_cast<int>(frame / 1440 % 60), static_cast<int>(frame / 24 % 60),
                      static_cast<int>(frame % 24));
        return std::string(out);
    };
    Prng prng(7);
    std::uint64_t tail_clip = 0;
    std::uint64_t tail = 0;
    for (int i = 1; i <= 200; ++i) {
        const std::uint64_t clip = prng.below(12);
        const std::uint64_t first = prng.below(200);
        const std::uint64_t frames = 20 + prng.below(50);
        const std::uint64_t dissolve = i > 1 && prng.below(4) == 0 ? 1 + prng.below(20) : 0;
        const std::uint64_t source = 86400 + clip * 1000 + first;
        char line[160];
        std::snprintf(line, sizeof line, "%03d  S%d  V  %s %s %s %s %s\n", i, static_cast<int>(100 + clip),
                      dissolve > 0 ? ("D " + std::to_string(dissolve)).c_str() : "C", code(source).c_str(),
                      code(source + frames).c_str(), code(record).c_str(), code(record + frames).c_str());
        text += line;
        for (std::uint64_t k = 0; k < frames; ++k) {
            std::string here;
            if (k < dissolve)
                here = "shots/S" + std::to_string(100 + tail_clip) + " " + std::to_string(tail + k) + " + ";
            expected.push_back(here + "shots/S" + std::to_string(100 + clip) + " " + std::to_string(first + k));
        }
        tail_clip = clip;
        tail = first + frames;
        record += frames;
    }
    const CutList list = cuts(text);
    EXPECT_EQ(list.events, 200u);
    EXPECT_EQ(list.clips.size(), 12u);
    ASSERT_EQ(list.frames, expected.size());
    for (std::uint64_t frame = 0; frame < list.frames; ++frame)
        ASSERT_EQ(shown(list, frame), expected[frame]) << frame;
}

TEST_F(CutsResolve, DamagedListsAreRefusedOrPlayedAndNeverCrash) {
    add("A", 0, 99);
    add("B", 0, 99);
    const std::string edl =
        "TITLE: X\nFCM: DROP FRAME\n"
        "001  A  V  C      00:00:00:10 00:00:00:20 00:00:00:00 00:00:00:10\n"
        "002  A  V  C      00:00:00:20 00:00:00:20 00:00:00:10 00:00:00:10\n"
        "002  B  V  D  005 00:00:00:30 00:00:01:10 00:00:00:10 00:00:00:20\n"
        "M2   B       048.0                00:00:00:30\n* FROM CLIP NAME: A.dpx\n* TO CLIP NAME: B.dpx\n"
        "003  BL V2 K  002 00:00:00:00 00:00:00:05 00:00:00:20 00:00:00:25\n";
    const std::string otio =
        R"({"OTIO_SCHEMA":"Track.1","kind":"Video","children":[{"OTIO_SCHEMA":"Clip.2","name":"A",)"
        R"("source_range":{)"
        R"("start_time":{"value":10,"rate":24},"duration":{"value":10.5,"rate":25}},"effects":[{"OTIO_SCHEMA":)"
        R"("LinearTimeWarp.1","time_scalar":-2.5}],"media_references":{"DEFAULT_MEDIA":{"OTIO_SCHEMA":)"
        R"("ExternalReference.1","target_url":"file:///x/A.dpx","available_range":{"start_time":{"value":0,)"
        R"("rate":30},"duration":{"value":100,"rate":30}}}}},{"OTIO_SCHEMA":"Transition.1","in_offset":)"
        R"({"value":1,"rate":24},"out_offset":{"value":1,"rate":24}},{"OTIO_SCHEMA":"Gap.1","source_range":)"
        R"({"start_time":{"value":0,"rate":24},"duration":{"value":3,"rate":24}}}]})";
    Prng prng(1);
    for (const std::string& whole : {edl, otio}) {
        for (std::size_t length = 0; length < whole.size(); length += 3) {
            const auto list = resolve(std::string_view(whole).substr(0, length), FrameRate{30000, 1001});
            EXPECT_TRUE(list.has_value() || !list.error().problems.empty());
        }
        for (int round = 0; round < 1500; ++round) {
            std::string damaged = whole;
            for (std::uint64_t flips = 1 + prng.below(3); flips > 0; --flips) {
                const std::size_t at = prng.below(damaged.size());
                damaged[at] = static_cast<char>(prng.below(2) == 0 ? '0' + prng.below(10) : prng.below(256));
            }
            const auto list =
                resolve(damaged, prng.below(2) == 0 ? std::nullopt : std::optional(FrameRate{30, 1}));
            if (!list) {
                EXPECT_FALSE(list.error().problems.empty());
                continue;
            }
            ASSERT_GT(list->frames, 0u);
            for (const CutSegment& segment : list->segments) {
                ASSERT_GT(segment.frames, 0u);
                ASSERT_LE(segment.at + segment.frames, list->frames) << damaged;
                for (const std::uint64_t frame : {segment.at, segment.at + segment.frames - 1}) {
                    ASSERT_GE(clip_frame_at(segment, frame), 0) << damaged;
                    ASSERT_LT(clip_frame_at(segment, frame), 100) << damaged;
                }
            }
        }
    }
}

}  // namespace
}  // namespace streamsim::testing
