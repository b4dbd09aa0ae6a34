#include "base/document/json.h"
#include "media/cuts/otio_values.h"
#include "unit/media/cut_fixture.h"

namespace streamsim::testing {
namespace {

Json time(double value, double rate = 24) {
    return {{"OTIO_SCHEMA", "RationalTime.1"}, {"value", value}, {"rate", rate}};
}

Json range(double start, double duration, double rate = 24) {
    return {
        {"OTIO_SCHEMA", "TimeRange.1"}, {"start_time", time(start, rate)}, {"duration", time(duration, rate)}};
}

Json external(const std::string& url, Json available = nullptr) {
    return {
        {"OTIO_SCHEMA", "ExternalReference.1"}, {"target_url", url}, {"available_range", std::move(available)}};
}

Json clip(const std::string& name, Json source_range, Json reference = nullptr) {
    return {{"OTIO_SCHEMA", "Clip.1"},
            {"name", name},
            {"source_range", std::move(source_range)},
            {"media_reference", std::move(reference)},
            {"effects", Json::array()},
            {"enabled", true}};
}

Json with_speed(Json item, double scalar) {
    item["effects"] = {{{"OTIO_SCHEMA", "LinearTimeWarp.1"}, {"time_scalar", scalar}}};
    return item;
}

Json gap(double frames) {
    return {{"OTIO_SCHEMA", "Gap.1"}, {"source_range", range(0, frames)}};
}

Json transition(double in, double out) {
    return {{"OTIO_SCHEMA", "Transition.1"},
            {"transition_type", "SMPTE_Dissolve"},
            {"in_offset", time(in)},
            {"out_offset", time(out)}};
}

/// A list of one item in braces would be that item to some compilers.
using Items = std::vector<Json>;

Json track(const Items& children, const std::string& kind = "Video") {
    return {{"OTIO_SCHEMA", "Track.1"}, {"kind", kind}, {"children", children}, {"source_range", nullptr}};
}

Json stack(const Items& children) {
    return {{"OTIO_SCHEMA", "Stack.1"}, {"children", children}, {"source_range", nullptr}};
}

std::string timeline(const Items& tracks) {
    return Json({{"OTIO_SCHEMA", "Timeline.1"}, {"name", "the cut"}, {"tracks", stack(tracks)}}).dump();
}

using CutsOtio = Cuts;

TEST_F(CutsOtio, ClipsGapsAndTransitions) {
    add("A", 0, 99);
    add("B", 1000, 1099);
    const CutList list = cuts(timeline({track({clip("A", range(10, 4)), transition(1, 2),
                                               clip("B", range(1010, 4)), gap(2), clip("A", range(50, 1))})}));
    EXPECT_EQ(list.name, "the cut");
    EXPECT_EQ(list.rate, (FrameRate{24, 1}));
    EXPECT_EQ(list.events, 3u);
    EXPECT_EQ(list.frames, 11u);
    EXPECT_EQ(shown(list, 0, 11), (Texts{"A 10", "A 11", "A 12", "A 13 + B 9", "A 14 + B 10", "A 15 + B 11",
                                         "B 12", "B 13", "black", "black", "A 50"}));
    EXPECT_EQ(list.segments[1].event, "track V1 clip 2");
    EXPECT_EQ(joined(list.notes), "");
}

TEST_F(CutsOtio, MediaIsFoundByUrlAndCountedFromItsAvailableRange) {
    add("day 1/A", 86400, 86499);
    add("day 2/A", 0, 99);
    const CutList list = cuts(timeline({track({
        clip("x", range(3605, 2), external("file:///mnt/raid/day%201/A/A.0086400.dpx", range(3600, 100))),
        clip("y", range(7, 1), external("day 2/A/A.%07d.dpx", range(0, 100))),
        clip("A", nullptr, external("DAY 2\\A", range(5, 2))),
    })}));
    EXPECT_EQ(shown(list, 0, 5), (Texts{"day 1/A 5", "day 1/A 6", "day 2/A 7", "day 2/A 0", "day 2/A 1"}));
    EXPECT_EQ(list.clips.size(), 2u);
}

TEST_F(CutsOtio, ImageSequencesCountFromTheirStartFrame) {
    add("A", 90, 199);
    const Json reference = {{"OTIO_SCHEMA", "ImageSequenceReference.1"},
                            {"target_url_base", "file:///x/A"},
                            {"name_prefix", "A."},
                            {"name_suffix", ".dpx"},
                            {"start_frame", 100},
                            {"frame_step", 1},
                            {"rate", 24},
                            {"frame_zero_padding", 7},
                            {"available_range", range(3600, 100)}};
    EXPECT_EQ(shown(cuts(timeline({track({clip("x", range(3602, 1), reference)})})), 0), "A 12");
}

TEST_F(CutsOtio, Clip2HasSeveralReferences) {
    add("A", 0, 99);
    Json item = clip("x", range(3, 1));
    item["OTIO_SCHEMA"] = "Clip.2";
    item.erase("media_reference");
    item["active_media_reference_key"] = "high";
    item["media_references"] = {{"low", external("proxy.mov")}, {"high", external("A.dpx")}};
    EXPECT_EQ(shown(cuts(timeline({track({item})})), 0), "A 3");
    Json by_reel = clip("", range(3, 1), {{"OTIO_SCHEMA", "MissingReference.1"}});
    by_reel["metadata"] = {{"cmx_3600", {{"reel", "A"}}}};
    EXPECT_EQ(shown(cuts(timeline({track({by_reel})})), 0), "A 3");
}

TEST_F(CutsOtio, Speeds) {
    add("A", 0, 199);
    const auto play = [&](double scalar) {
        return shown(cuts(timeline({track({with_speed(clip("A", range(20, 4)), scalar)})})), 0, 4);
    };
    EXPECT_EQ(play(2), (Texts{"A 20", "A 22", "A 24", "A 26"}));
    EXPECT_EQ(play(0.5), (Texts{"A 20", "A 20", "A 21", "A 21"}));
    EXPECT_EQ(play(-1), (Texts{"A 23", "A 22", "A 21", "A 20"}));
    EXPECT_EQ(play(1e-9), (Texts{"A 20", "A 20", "A 20", "A 20"}));
    Json thousands = with_speed(clip("A", range(20, 4)), 1000);
    for (int i = 0; i < 9; ++i) thousands["effects"].push_back(thousands["effects"][0]);
    EXPECT_TRUE(has(problems(timeline({track({thousands})})),
                    "children/0/effects: its speed takes it through too many"));
    Json freeze = clip("A", range(20, 3));
    freeze["effects"] = {{{"OTIO_SCHEMA", "FreezeFrame.1"}, {"time_scalar", 0}}};
    EXPECT_EQ(shown(cuts(timeline({track({freeze})})), 0, 3), (Texts{"A 20", "A 20", "A 20"}));
}

TEST_F(CutsOtio, SpeedsAreTheFractionsThatTheirDecimalsStandFor) {
    add("A", 0, 6000);
    const struct {
        double scalar;
        std::int64_t num, den;
    } speeds[] = {{1.0 / 3, 1, 3},         {0.3333333333333333, 1, 3},  {0.3333333333, 1, 3},
                  {2.0 / 3, 2, 3},         {1000.0 / 1001, 1000, 1001}, {0.99900099900, 1000, 1001},
                  {1.001, 1001, 1000},     {24.0 / 25, 24, 25},         {1.25, 5, 4},
                  {0.123456, 1929, 15625}, {0.00001, 1, 100'000},       {1.0000005, 1, 1}};
    for (const auto& speed : speeds) {
        SCOPED_TRACE(speed.scalar);
        const CutList list = cuts(timeline({track({with_speed(clip("A", range(0, 3000)), speed.scalar)})}));
        ASSERT_EQ(list.segments.size(), 1u);
        for (const std::uint64_t i : {0u, 1u, 2u, 3u, 6u, 1000u, 1001u, 2999u})
            EXPECT_EQ(clip_frame_at(list.segments[0], i), floor_scaled(i, speed.num, speed.den)) << i;
    }
    EXPECT_EQ(shown(cuts(timeline({track({with_speed(clip("A", range(9, 7)), 0.3333333333333333)})})), 0, 7),
              (Texts{"A 9", "A 9", "A 9", "A 10", "A 10", "A 10", "A 11"}));
}

TEST_F(CutsOtio, OtherRatesAreConverted) {
    add("A", 0, 199);
    // A source at 48 in a timeline of 24: every second frame.
    Json document = Json::parse(timeline(
        {track({clip("A", range(10, 8, 48), external("A", range(0, 200, 48))), clip("A", range(3, 1))})}));
    document["global_start_time"] = time(86400, 24);
    const CutList list = cuts(document.dump());
    EXPECT_EQ(shown(list, 0, 5), (Texts{"A 10", "A 12", "A 14", "A 16", "A 3"}));
    // 23.976 for 24 is one frame for another; half frames go down, with a note.
    const CutList ntsc =
        cuts(timeline({track({clip("A", range(10.5, 2, 23.976)), clip("A", range(3, 1, 24))})}));
    EXPECT_EQ(ntsc.rate, (FrameRate{24000, 1001}));
    EXPECT_EQ(shown(ntsc, 0, 3), (Texts{"A 10", "A 11", "A 3"}));
    EXPECT_TRUE(has(joined(ntsc.notes), "between two frames"));
    EXPECT_EQ(cuts(timeline({track({clip("A", range(0, 2))})}), FrameRate{25, 1}).rate, (FrameRate{25, 1}));
}

TEST_F(CutsOtio, AnAvailableRangeAtAnotherRateIsATimeOrACountByItsLength) {
    add("A", 0, 119);
    const auto play = [&](const Json& available, double start) {
        return cuts(timeline({track({clip("A", range(start, 12, 12), external("A", available))})}));
    };
    const CutList times = play(range(0, 60, 12), 12);
    EXPECT_EQ(shown(times, 0, 3), (Texts{"A 24", "A 26", "A 28"}));
    EXPECT_EQ(shown(times, 11), "A 46");
    EXPECT_EQ(joined(times.notes), "A: source times converted to its rate\n");
    EXPECT_EQ(shown(play(range(3600, 60, 12), 3612), 0, 2), (Texts{"A 24", "A 26"}))
        << "a start that is a time";
    const CutList conformed = play(range(0, 120, 12), 12);
    EXPECT_EQ(shown(conformed, 0, 2), (Texts{"A 12", "A 13"}));
    EXPECT_EQ(joined(conformed.notes), "");
    const CutList neither = play(range(0, 70, 12), 12);
    EXPECT_EQ(shown(neither, 0, 2), (Texts{"A 12", "A 13"}));
    EXPECT_EQ(joined(neither.notes),
              "A: its available_range of 70 frames at 12 a second is not its length, 120 frames at 24: each is "
              "taken for one of its frames\n");
}

TEST_F(CutsOtio, UsesOfOneClipAtTwoRatesAreTwoCountings) {
    add("A", 0, 99);
    const CutList list = cuts(timeline({track({clip("A", range(0, 12)), clip("A", range(48, 24, 48))})}));
    EXPECT_EQ(list.frames, 24u);
    EXPECT_EQ(shown(list, 11, 15), (Texts{"A 11", "A 24", "A 25", "A 26"}));
    EXPECT_EQ(shown(list, 23), "A 35");
    EXPECT_EQ(list.clips.size(), 1u);
    const auto named = media::parse_cut_list(
        timeline({track({clip("X", range(0, 12)), clip("X", range(48, 24, 48))})}), "list.otio");
    ASSERT_TRUE(named);
    EXPECT_TRUE(resolve_cut_list(store_, place_.at("A"), *named, std::nullopt)) << "the target is X";
}

TEST_F(CutsOtio, TheTopmostTrackIsRead) {
    add("A", 0, 99);
    add("B", 0, 99);
    Json disabled = clip("C", range(0, 1));
    disabled["enabled"] = false;
    const Items tracks = {track({with_speed(clip("A", range(10, 6)), 0.5)}),
                          track({gap(1), clip("B", range(20, 2)), disabled}),
                          track({clip("sound", range(0, 5))}, "Audio")};
    const CutList list = cuts(timeline(tracks));
    EXPECT_EQ(shown(list, 0, 6), (Texts{"A 10", "B 20", "B 21", "A 11", "A 12", "A 12"}));
    EXPECT_TRUE(has(joined(list.notes), "only the topmost"));
    EXPECT_TRUE(has(joined(list.notes), "1 tracks without a picture"));
    EXPECT_TRUE(has(joined(list.notes), "1 disabled"));
}

TEST_F(CutsOtio, CompositionsInsideEachOther) {
    add("A", 0, 99);
    add("B", 0, 99);
    Json inner = stack({track({clip("A", range(10, 4)), clip("B", range(20, 4))})});
    inner["source_range"] = range(2, 4);
    EXPECT_EQ(shown(cuts(timeline({track({clip("B", range(0, 1)), inner, clip("B", range(1, 1))})})), 0, 6),
              (Texts{"B 0", "A 12", "A 13", "B 20", "B 21", "B 1"}));
    Json collection = {{"OTIO_SCHEMA", "SerializableCollection.1"},
                       {"children", Items{track({clip("A", range(10, 1))})}}};
    EXPECT_EQ(shown(cuts(collection.dump()), 0), "A 10");
}

TEST_F(CutsOtio, CompositionsHaveSpeeds) {
    add("A", 0, 99);
    add("B", 0, 99);
    const auto play = [&](const Json& item, std::uint64_t frames) {
        return shown(cuts(timeline({track({item, clip("B", range(90, 1))})})), 0, frames);
    };
    const Json inner = track({clip("A", range(10, 4)), clip("B", range(20, 4))});
    const auto part = [&](double start, double frames) {
        Json out = inner;
        out["source_range"] = range(start, frames);
        return out;
    };
    EXPECT_EQ(play(with_speed(part(0, 4), 2), 5), (Texts{"A 10", "A 12", "B 20", "B 22", "B 90"}));
    EXPECT_EQ(play(with_speed(part(2, 6), 0.5), 7),
              (Texts{"A 12", "A 12", "A 13", "A 13", "B 20", "B 20", "B 90"}));
    EXPECT_EQ(play(with_speed(part(3, 5), 2.0 / 3), 6),
              (Texts{"A 13", "A 13", "B 20", "B 21", "B 21", "B 90"}));
    EXPECT_EQ(play(with_speed(part(2, 4), -1), 5), (Texts{"B 21", "B 20", "A 13", "A 12", "B 90"}));
    EXPECT_EQ(play(with_speed(part(3, 3), 0), 4), (Texts{"A 13", "A 13", "A 13", "B 90"}));
    EXPECT_EQ(play(with_speed(part(6, 4), 1.5), 5), (Texts{"B 22", "B 23", "black", "black", "B 90"}))
        << "beyond the content";
    // A clip with its own speed inside, a dissolve, and a speed of a speed.
    const Json slow = with_speed(stack({with_speed(clip("A", range(10, 8)), 0.5)}), 4);
    EXPECT_EQ(play(slow, 3), (Texts{"A 10", "A 12", "black"}));
    const Json dissolve =
        with_speed(track({clip("A", range(10, 4)), transition(1, 1), clip("B", range(20, 4))}), 0.5);
    EXPECT_EQ(play(dissolve, 9),
              (Texts{"A 10", "A 10", "A 11", "A 11", "A 12", "A 12", "A 13 + B 19", "A 13 + B 19", "B 90"}));
    EXPECT_EQ(play(with_speed(stack({with_speed(part(0, 8), 2)}), 2), 3), (Texts{"A 10", "B 20", "black"}));
}

TEST_F(CutsOtio, ARangeBeginsBeforeItsContent) {
    add("A", 0, 99);
    Json item = track({clip("A", range(10, 4))});
    item["source_range"] = range(-2, 4);
    const CutList list = cuts(timeline({item}));
    EXPECT_EQ(shown(list, 0, 4), (Texts{"black", "black", "A 10", "A 11"}));
    EXPECT_TRUE(has(joined(list.notes), "1 source ranges that begin before")) << joined(list.notes);
    item["source_range"] = range(-86243, 4);
    const std::string found = problems(timeline({item}));
    EXPECT_TRUE(has(found,
                    "/tracks/children/0/source_range: frames -86243 to -86240 lie outside of what it holds, "
                    "frames 0 to 3"))
        << found;
    item["source_range"] = range(4, 4);
    EXPECT_TRUE(has(problems(timeline({item})), "frames 4 to 7 lie outside"));
}

TEST_F(CutsOtio, NumbersBeyondJsonAreKnown) {
    add("A", 0, 99);
    Json item = clip("A", range(10, 1));
    item["metadata"] = {{"a \"NaN", "Inf"}, {"values", {1, 2, 3}}};
    std::string text = timeline({track({item})});
    const auto replace = [&text](std::string_view from, std::string_view to) {
        text.replace(text.find(from), from.size(), to);
    };
    replace("[1,2,3]", "[Inf,-Infinity,NaN]");
    EXPECT_EQ(shown(cuts(text), 0), "A 10");
    replace("\"value\":10.0", "\"value\":-Inf");
    EXPECT_TRUE(has(problems(text),
                    "/source_range/start_time: expected a RationalTime with a value and a rate, "
                    "both finite"))
        << problems(text);
    EXPECT_EQ(media::without_infinities(R"([NaN, "-Inf\"Inf", -Infinity, Infinity,Inf])"),
              R"(["" , "-Inf\"Inf", ""       , ""      ,"" ])");
}

TEST_F(CutsOtio, StillsAndGeneratedPictures) {
    add("A", 7, 7);
    const Json still = clip("A", range(0, 3), external("A", range(0, 1)));
    EXPECT_EQ(shown(cuts(timeline({track({still})})), 0, 3), (Texts{"A 0", "A 0", "A 0"}));
    const Json bars = clip("bars", range(0, 2), {{"OTIO_SCHEMA", "GeneratorReference.1"}});
    Json old = track({bars, still});
    old["OTIO_SCHEMA"] = "Sequence.1";
    const CutList list = cuts(timeline({old}));
    EXPECT_EQ(shown(list, 0, 3), (Texts{"black", "black", "A 0"}));
    EXPECT_TRUE(has(joined(list.notes), "1 generated pictures"));
    EXPECT_TRUE(has(problems(timeline({track({bars})})), "only generated pictures"));
}

TEST_F(CutsOtio, EveryProblemHasItsPointer) {
    add("A", 0, 99);
    Json bad_time = clip("A", range(0, 1));
    bad_time["source_range"]["duration"]["value"] = "one";
    Json bad_rate = clip("A", range(0, 1));
    bad_rate["source_range"]["start_time"]["rate"] = 0;
    const std::string found = problems(timeline(
        {track({clip("A", range(0, 4)), bad_time, bad_rate, clip("A", nullptr), clip("", range(0, 1)),
                Json({{"no", "schema"}}), with_speed(gap(1), 2), with_speed(clip("A", range(0, 1)), 1e9)})}));
    EXPECT_TRUE(
        has(found, "list.edl: /tracks/children/0/children/1/source_range/duration: expected a RationalTime"))
        << found;
    EXPECT_TRUE(has(found, "/tracks/children/0/children/2/source_range/start_time/rate")) << found;
    EXPECT_TRUE(has(found, "/tracks/children/0/children/3: expected a source_range")) << found;
    EXPECT_TRUE(has(found, "/tracks/children/0/children/4: expected a target_url")) << found;
    EXPECT_TRUE(has(found, "/tracks/children/0/children/5: expected an object with an OTIO_SCHEMA")) << found;
    EXPECT_TRUE(has(found, "/tracks/children/0/children/7/effects/0/time_scalar")) << found;
    EXPECT_TRUE(
        has(problems("{\"OTIO_SCHEMA\": \"Marker.1\"}"), "list.edl: /: expected an OTIO_SCHEMA of Timeline"));
    EXPECT_TRUE(has(problems("{"), "not JSON"));
    EXPECT_TRUE(has(problems(timeline({track({gap(5)})})), "no clip is shown"));
    EXPECT_TRUE(
        has(problems(timeline({track({clip("A", range(0, 2)), transition(3, 0), clip("A", range(9, 9))})})),
            "/tracks/children/0/children/1: reaches past the beginning"));
}

TEST_F(CutsOtio, DepthIsBounded) {
    Json item = track({clip("A", range(0, 1))});
    for (int i = 0; i < 200; ++i) item = stack({item});
    EXPECT_TRUE(has(problems(item.dump()), "64 compositions"));
}

TEST(OtioValues, UrlsAndRates) {
    EXPECT_EQ(media::path_in_url("file:///a/b%20c.mov"), "/a/b c.mov");
    EXPECT_EQ(media::path_in_url("file://localhost/a/b.mov"), "/a/b.mov");
    EXPECT_EQ(media::path_in_url("file:/a/b.mov"), "/a/b.mov");
    EXPECT_EQ(media::path_in_url("a/shot.%04d.exr"), "a/shot.%04d.exr");
    EXPECT_EQ(media::path_in_url("C:\\a\\b.mov"), "C:/a/b.mov");
    EXPECT_EQ(media::path_in_url("50%"), "50%");
    EXPECT_EQ(media::otio_rate(23.976), (FrameRate{24000, 1001}));
    EXPECT_EQ(media::otio_rate(24000.0 / 1001), (FrameRate{24000, 1001}));
    EXPECT_EQ(media::otio_rate(59.94), (FrameRate{60000, 1001}));
    EXPECT_EQ(media::otio_rate(25), (FrameRate{25, 1}));
    EXPECT_EQ(media::otio_rate(12.5), (FrameRate{25, 2}));
    EXPECT_FALSE(media::otio_rate(0));
    EXPECT_FALSE(media::otio_rate(1e300));
}

}  // namespace
}  // namespace streamsim::testing
