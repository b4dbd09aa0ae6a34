#include "media/catalogue/catalogue.h"

#include <gmock/gmock.h>

#include "unit/media/fixtures.h"

namespace streamsim::media {
namespace {

using testing::all_problems;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Place;
using testing::read_format;
using testing::shipped_formats;
using testing::source_file;

Json dpx12() {
    return Json::parse(source_file("formats/media/dpx12.json"));
}
Json prores() {
    return Json::parse(source_file("formats/media/prores-uhd.json"));
}

TEST(Catalogue, HoldsTheFourDataSetsWithTheirPublishedRates) {
    const Catalogue catalogue = shipped_formats();
    ASSERT_GT(catalogue.formats().size(), 4u);
    std::vector<std::string> first;
    for (std::size_t i = 0; i < 4; ++i) first.push_back(catalogue.formats()[i].name);
    EXPECT_THAT(first, ElementsAre("dpx10", "dpx12", "prores-hd", "prores-uhd"));
    EXPECT_EQ(catalogue.find("dpx10")->mean_frame_bytes, 33'185'792);
    EXPECT_EQ(catalogue.find("dpx12")->mean_frame_bytes, 49'774'592);
    EXPECT_DOUBLE_EQ(catalogue.find("prores-hd")->bytes_per_s(), 281e6 / 8);
    EXPECT_DOUBLE_EQ(catalogue.find("prores-uhd")->bytes_per_s(), 829e6 / 8);
    EXPECT_EQ(catalogue.find("prores-hd")->profile, "apcn");
    EXPECT_EQ(catalogue.find("prores-uhd")->profile, "apch");
    EXPECT_EQ(catalogue.find("dpx13"), nullptr);
    for (const MediaFormat& format : catalogue.formats()) EXPECT_FALSE(format.sources.empty()) << format.name;
}

TEST(Catalogue, NamesEveryProblemWithItsPointer) {
    Json document = dpx12();
    document["rate"] = 24;
    document["raster"]["width"] = "wide";
    document["dpx"]["packing"] = "loose";
    document["colour"] = "blue";
    const auto format = read_format(document.dump(), "my.json");
    ASSERT_FALSE(format);
    EXPECT_EQ(format.error().kind, ErrorKind::bad_input);
    EXPECT_THAT(format.error().problems, ElementsAre(HasSubstr("my.json: /raster/width: expected an integer"),
                                                     HasSubstr("my.json: /rate: expected"),
                                                     HasSubstr("my.json: /dpx/packing: expected one of"),
                                                     HasSubstr("my.json: /colour: unknown key")));
}

TEST(Catalogue, RefusesWhatDoesNotFitTogether) {
    Json both = dpx12();
    both["container"] = "quicktime";
    EXPECT_THAT(all_problems(read_format(both.dump(), "x").error()),
                HasSubstr("x: /container: expected \"sequence\""));

    Json sizes = prores();
    sizes["prores"]["frame_sizes"]["level_max"] = 0.5;
    sizes["prores"]["frame_sizes"]["shot_frames_max"] = 2;
    EXPECT_THAT(read_format(sizes.dump(), "x").error().problems,
                ElementsAre(HasSubstr("/prores/frame_sizes/level_max"),
                            HasSubstr("/prores/frame_sizes/shot_frames_max")));

    Json starved = prores();
    starved["prores"]["frame_sizes"]["mean_bits_per_s"] = 1000;
    EXPECT_THAT(all_problems(read_format(starved.dump(), "x").error()),
                HasSubstr("/prores/frame_sizes/mean_bits_per_s"));

    Json huge = dpx12();
    huge["raster"] = {{"width", 32768}, {"height", 32768}};
    EXPECT_THAT(all_problems(read_format(huge.dump(), "x").error()),
                HasSubstr("/raster: a frame would have 6442459136"));

    Json slash = dpx12();
    slash["name"] = "../dpx12";
    EXPECT_THAT(all_problems(read_format(slash.dump(), "x").error()), HasSubstr("/name: expected"));
}

TEST(Catalogue, AnIdentityWithoutARasterOrARateIsNone) {
    const Json identity = format_identity(testing::small_dpx("mine", 17, 9, 10));
    EXPECT_TRUE(format_of_identity(identity));
    for (const char* const member : {"/width", "/height", "/rate/0", "/rate/1"}) {
        Json damaged = identity;
        damaged[Json::json_pointer(member)] = 0;
        EXPECT_FALSE(format_of_identity(damaged)) << member;
    }
}

TEST(Catalogue, AnIdentityHasWholeNumbers) {
    const Json identity = format_identity(testing::small_dpx("mine", 17, 9, 10));
    for (const char* const member : {"/width", "/rate/0", "/image_offset"}) {
        for (const Json& damage : {Json(1e19), Json(17.5), Json(-1), Json("17")}) {
            Json damaged = identity;
            damaged[Json::json_pointer(member)] = damage;
            EXPECT_FALSE(format_of_identity(damaged)) << member << damage;
        }
    }
    MediaFormat listed = testing::small_dpx("listed", 17, 9, 10);
    listed.codec = "h264";
    listed.size.kind = FrameSizeModel::Kind::table;
    listed.size.table = {100, 200};
    Json sizes = format_identity(listed);
    EXPECT_TRUE(format_of_identity(sizes));
    sizes["table"][1] = 1e19;
    EXPECT_FALSE(format_of_identity(sizes));
}

TEST(Catalogue, FormatsHaveNoNamesOfAMediaSetsOwnDirectories) {
    for (const char* const name : {"load", "recordings", "Load"}) {
        Json document = dpx12();
        document["name"] = name;
        const auto refused = read_format(document.dump(), "mine.json");
        ASSERT_FALSE(refused) << name;
        EXPECT_THAT(all_problems(refused.error()),
                    HasSubstr("mine.json: /name: expected another name than load and recordings, which are "
                              "directories of every media set, found \"" +
                              std::string(name) + "\""));
    }
}

TEST(Catalogue, TakesAnySaneRaster) {
    for (const int side : {1, 2, 3, 17, 1998, 16384}) {
        for (const int bits : {8, 10, 12, 16}) {
            const MediaFormat format = testing::small_dpx("mine", side, 3, bits);
            EXPECT_GE(format.mean_frame_bytes, 8192 + side * 3 * 3 * bits / 8);
        }
    }
    EXPECT_EQ(testing::small_dpx("one", 1, 1).mean_frame_bytes, 8192 + 6);
}

TEST(Catalogue, ANameMustBeThatOfItsFile) {
    const Place place;
    place.write("other.json", dpx12().dump());
    place.write("broken.json", "{");
    const auto catalogue = Catalogue::load(place.path());
    ASSERT_FALSE(catalogue);
    EXPECT_THAT(catalogue.error().problems, ElementsAre(HasSubstr("broken.json: byte 2"),
                                                        HasSubstr("other.json: /name: expected \"other\"")));
    EXPECT_EQ(Catalogue::load(place.at("nowhere")).error().kind, ErrorKind::environment);
}

TEST(Catalogue, TwoFormatsOfOneNameHaveTwoIdentities) {
    const MediaFormat a = testing::small_dpx("dpx12", 64, 36);
    EXPECT_NE(format_identity(a), format_identity(testing::small_dpx("dpx12", 64, 38)));
    EXPECT_NE(format_identity(a), format_identity(testing::small_dpx("dpx12", 64, 36, 10)));
    EXPECT_NE(format_identity(a), format_identity(testing::small_dpx("dpx12", 64, 36, 12, {25, 1})));
    MediaFormat titled = a;
    titled.title = "another title";
    EXPECT_EQ(format_identity(a), format_identity(titled));
}

/// The schema is for editors and the reader for us: what one requires, the other does.
TEST(Catalogue, TheSchemaListsTheMembersThatTheReaderReads) {
    const Json schema = Json::parse(source_file("formats/schema/media-format.json"));
    const auto check = [](const Json& object, const Json& document) {
        for (const auto& [key, value] : document.items())
            EXPECT_TRUE(object["properties"].contains(key)) << key;
        for (const auto& key : object["required"])
            EXPECT_TRUE(document.contains(key.get<std::string>())) << key;
    };
    check(schema, dpx12());
    check(schema["properties"]["dpx"], dpx12()["dpx"]);
    check(schema["properties"]["prores"], prores()["prores"]);
    check(schema["$defs"]["frame_sizes"], prores()["prores"]["frame_sizes"]);
    for (const auto& key : schema["required"]) {
        Json without = dpx12();
        without.erase(key.get<std::string>());
        EXPECT_FALSE(read_format(without.dump(), "x")) << key;
    }
}

}  // namespace
}  // namespace streamsim::media
