// Families with a table, NAME@RATE, what a user may type for a format, and documents with mistakes.
#include <gmock/gmock.h>

#include <chrono>
#include <set>

#include "media/clips/planned_index.h"
#include "unit/media/fixtures.h"

namespace streamsim::media {
namespace {

using testing::all_problems;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Place;
using testing::read_format;
using testing::shipped_formats;
using testing::source_file;

Json document(const std::string& name) {
    return Json::parse(source_file("formats/media/" + name + ".json"));
}
Json family() {
    return Json::parse(R"({"schema": "streamsim.media-family", "version": 1, "name": "mine", "title": "Mine",
        "container": "quicktime", "codec": "v210", "rates": [[24, 1], [25, 1]],
        "rasters": [{"name": "s", "title": "small", "width": 48, "height": 10},
                    {"name": "l", "title": "large", "width": 96, "height": 20}],
        "variants": [{"name": "a", "title": "A", "bytes": [1280, 5120]},
                     {"name": "b", "title": "B", "bytes": [null, 7000]}],
        "sources": [{"what": "all", "basis": "made up"}]})");
}
std::vector<std::string> problems_of(const Json& json) {
    const auto read = read_format_document(json.dump(), "x");
    return read ? std::vector<std::string>{} : read.error().problems;
}

TEST(Family, GivesAnEntryForEachVariantAndRaster) {
    const auto read = read_format_document(family().dump(), "x");
    ASSERT_TRUE(read) << all_problems(read.error());
    ASSERT_EQ(read->entries.size(), 3u);
    std::vector<std::string> names;
    for (const FormatEntry& entry : read->entries) names.push_back(entry.own().name);
    EXPECT_THAT(names, ElementsAre("a-s", "a-l", "b-l"));
    const MediaFormat& last = read->entries.back().own();
    EXPECT_EQ(last.title, "B, large");
    EXPECT_EQ(last.width, 96);
    EXPECT_EQ(last.height, 20);
    EXPECT_EQ(last.mean_frame_bytes, 7000);
    EXPECT_THAT(last.sources, ElementsAre("all: made up"));
    ASSERT_EQ(read->entries.back().at_rates.size(), 2u);
    EXPECT_EQ(read->entries.back().at_rates[1].name, "b-l@25");
    EXPECT_EQ(read->entries.back().at_rates[1].rate, (FrameRate{25, 1}));
}

TEST(Family, ThreeMistakesAreAllNamed) {
    Json wrong = family();
    wrong["rates"][1] = 25;
    wrong["rasters"][0]["width"] = "wide";
    wrong["variants"][1]["bytes"] = {1};
    wrong["colour"] = "blue";
    EXPECT_THAT(problems_of(wrong), ElementsAre(HasSubstr("x: /rates/1: expected a frame rate"),
                                                HasSubstr("x: /rasters/0/width: expected an integer"),
                                                HasSubstr("x: /variants/1/bytes: expected a list of 2 sizes"),
                                                HasSubstr("x: /colour: unknown key")));

    Json cells = family();
    cells["variants"][0]["bytes"] = {-4, {{{"rates", {{24, 1}}}, {"bytes", 6000}, {"byte", 5}}}};
    cells["variants"][1]["name"] = "../b";
    EXPECT_THAT(problems_of(cells),
                ElementsAre(HasSubstr("/variants/0/bytes/0: expected bytes a frame"),
                            HasSubstr("/variants/0/bytes/1/0/byte: unknown key"),
                            HasSubstr("/variants/0/bytes/1: a-l: no size is given for 25 fps"),
                            HasSubstr("/variants/1/name: expected up to 64")));

    Json twice = family();
    twice["variants"][1]["name"] = "a";
    EXPECT_THAT(problems_of(twice), ElementsAre(HasSubstr("\"a-l\" is the name of another entry")));
    Json codec = family();
    codec["codec"] = "unheard-of";
    codec["variants"][0]["bytes"][1] = -5;
    codec["rates"].push_back({50, 2});
    codec["rates"].push_back({2997, 125});
    EXPECT_THAT(problems_of(codec), ElementsAre(HasSubstr("/codec: expected one of"),
                                                HasSubstr("/rates/2: this rate is in the list already"),
                                                HasSubstr("/variants/0/bytes/1: expected bytes a frame")));
    Json table = family();
    table["frame_sizes"] = {{"model", "table"}, {"bytes", {100000, 200000}}};
    EXPECT_THAT(problems_of(table),
                ElementsAre(HasSubstr("/variants/0/bytes: its frame_sizes are a table of sizes already"),
                            HasSubstr("/variants/1/bytes: its frame_sizes are a table of sizes already")));
    Json empty = family();
    empty["variants"] = Json::array();
    EXPECT_THAT(problems_of(empty), ElementsAre(HasSubstr("/variants: expected a list")));
    Json none = family();
    none["variants"] = {{{"name", "a"}, {"title", "A"}, {"bytes", {nullptr, nullptr}}}};
    EXPECT_THAT(problems_of(none), ElementsAre(HasSubstr("has no entries")));
}

/// Whatever is put in the place of any value of any shipped document: an error with a pointer or a format, and
/// no crash.
TEST(Family, AnyValueMayBeWrong) {
    const Json bad[] = {nullptr, -1, 1e300, "", Json::array(), Json::object(), {{1, 0}}};
    for (const char* name : {"avc-intra", "h264-proxy", "dpx12", "prores-uhd"}) {
        const Json good = document(name);
        const Json flat = good.flatten();
        for (const auto& [pointer, value] : flat.items()) {
            if (pointer.find("/sources") == 0) continue;
            const Json::json_pointer place(pointer);
            for (const Json::json_pointer& at : {place, place.parent_pointer()}) {
                for (const Json& wrong : bad) {
                    Json changed = good;
                    changed[at] = wrong;
                    const auto read = read_format_document(changed.dump(), "x");
                    if (read) continue;
                    EXPECT_THAT(read.error().problems.front(), HasSubstr("x: /"));
                }
            }
        }
    }
}

TEST(Document, SingleFormatsHaveEveryModelAndContainer) {
    Json json = document("prores-hd");
    json.erase("prores");
    json.erase("rate");
    json["codec"] = "h264";
    json["container"] = "mp4";
    json["profile"] = "long-gop";
    json["rates"] = {{25, 1}, {12, 5}};
    json["frame_sizes"] = {{"model", "long_gop"}, {"mean_bits_per_s", 4e7}, {"gop", "IPB"},     {"weight_i", 5},
                           {"weight_p", 2},       {"weight_b", 1},          {"variation", 0.1}, {"cap", 4}};
    const auto read = read_format_document(json.dump(), "x");
    ASSERT_TRUE(read) << all_problems(read.error());
    EXPECT_EQ(read->entries.front().own().mean_frame_bytes, 200'000);
    EXPECT_EQ(read->entries.front().at_rates[1].name, "prores-hd@2.4");
    EXPECT_EQ(read->entries.front().own().container, MediaFormat::Container::mp4);

    json["profile"] = "xavc300";
    json["frame_sizes"] = {{"model", "table"}, {"bytes", {500000, 700000}}};
    EXPECT_EQ(read_format(json.dump(), "x")->mean_frame_bytes, 600000);
    json["frame_sizes"] = {
        {"model", "constant"},
        {"mean_bytes_at",
         {{{"rates", {{25, 1}}}, {"bytes", 100000}}, {{"rates", {{12, 5}}}, {"bytes", 200000}}}}};
    EXPECT_EQ(read_format_document(json.dump(), "x")->entries.front().at_rates[1].mean_frame_bytes, 200000);
}

/// A document is wrong when prepare cannot make its format and the document does not say so.
TEST(Document, ThatNobodyCanMake) {
    Json json = document("prores-hd");
    json.erase("prores");
    json["frame_sizes"] = {{"model", "constant"}, {"mean_bytes", 900000}};
    const auto problem = [&](const char* codec, const char* profile, const char* container, int width,
                             int height) {
        json["codec"] = codec;
        json["profile"] = profile;
        json["container"] = container;
        json["raster"] = {{"width", width}, {"height", height}};
        return problems_of(json);
    };
    EXPECT_THAT(problem("exr", "b44", "sequence", 64, 64),
                ElementsAre(HasSubstr("/profile: prepare makes EXR")));
    EXPECT_THAT(problem("dnxhr", "sq", "mxf", 255, 120),
                ElementsAre(HasSubstr("/raster: DNxHR is of 256x120")));
    EXPECT_THAT(problem("jpeg2000", "x", "mxf", 32, 31), ElementsAre(HasSubstr("/raster: expected 32 x 32")));
    EXPECT_THAT(problem("h264", "avci100", "mxf", 321, 64), ElementsAre(HasSubstr("/raster: H.264")));
    EXPECT_THAT(problem("h264", "long-gop", "mp4", 320, 64),
                ElementsAre(HasSubstr("/frame_sizes: a long GOP")));
    json["not_prepared"] = "there is a recording";
    EXPECT_TRUE(read_format_document(json.dump(), "x"));
    json.erase("not_prepared");
    json["title"] = "two\nlines";
    EXPECT_THAT(problem("dnxhr", "sq", "mxf", 256, 120), ElementsAre(HasSubstr("/title: expected one line")));
}

TEST(Document, ModelsWithMistakes) {
    Json json = document("prores-hd");
    json["prores"]["frame_sizes"] = {{"model", "long_gop"}, {"mean_bytes", 50000}, {"mean_bits_per_s", 5},
                                     {"gop", "PIB"},        {"weight_i", 0},       {"weight_p", 1},
                                     {"weight_b", 1},       {"variation", 0},      {"cap", 2}};
    EXPECT_THAT(problems_of(json),
                ElementsAre(HasSubstr("/prores/frame_sizes/gop: expected the letters I, P and B"),
                            HasSubstr("/prores/frame_sizes/weight_i: expected a number"),
                            HasSubstr("/prores/frame_sizes/mean_bits_per_s: expected exactly one of")));
    json["prores"]["frame_sizes"] = {{"model", "table"}, {"bytes", {50000, 0, "x"}}};
    EXPECT_THAT(problems_of(json), ElementsAre(HasSubstr("/prores/frame_sizes/bytes/1: expected an integer"),
                                               HasSubstr("/prores/frame_sizes/bytes/2: expected an integer")));
    json["prores"]["frame_sizes"] = {{"model", "table"}, {"bytes", {50000, 10}}};
    EXPECT_THAT(problems_of(json), ElementsAre(HasSubstr("/prores/frame_sizes/bytes: a frame of 10 bytes")));
    json["rates"] = {{24, 1}};
    EXPECT_THAT(problems_of(json).front(), HasSubstr("/rate: expected either rate or rates"));

    Json other = document("dpx12");
    other["codec"] = "r3d";
    EXPECT_THAT(problems_of(other), ElementsAre(HasSubstr("/codec: expected one of dpx, prores")));
    other["codec"] = "other";
    other.erase("dpx");
    other["frame_sizes"] = {{"model", "constant"}, {"mean_bytes", 5}};
    EXPECT_THAT(problems_of(other), ElementsAre(HasSubstr("/codec: prepare cannot make other")));
}

TEST(NameAtRate, IsTheFormatAtThatRate) {
    const Catalogue catalogue = shipped_formats();
    const MediaFormat own = *catalogue.find("avci100-hd");
    EXPECT_EQ(own.rate, (FrameRate{25, 1}));
    EXPECT_EQ(own.mean_frame_bytes, 568'832);
    for (const char* typed : {"avci100-hd@23.976", "avci100-hd@23.98", "avci100-hd@24000/1001"}) {
        const MediaFormat* format = catalogue.find(typed);
        ASSERT_NE(format, nullptr) << typed;
        EXPECT_EQ(format->name, "avci100-hd@23.976");
        EXPECT_EQ(format->rate, (FrameRate{24000, 1001}));
        EXPECT_EQ(format->mean_frame_bytes, 472'576);
        EXPECT_EQ(format->title, "AVC-Intra 100, HD, 23.976 fps");
        EXPECT_EQ(format->rates, own.rates);
    }
    EXPECT_EQ(catalogue.find("avci100-hd@25")->name, "avci100-hd");
    EXPECT_EQ(catalogue.find("avci100-hd@24"), nullptr);
    EXPECT_EQ(catalogue.find("avci100-hd@"), nullptr);
    EXPECT_EQ(catalogue.find("@25"), nullptr);
    for (const FormatDocument& one : catalogue.documents()) {
        for (const FormatEntry& entry : one.entries) {
            for (const MediaFormat& format : entry.at_rates) {
                EXPECT_EQ(catalogue.find(format.name), &format) << format.name;
                EXPECT_THAT(format.name, Not(HasSubstr("/")));
            }
        }
    }
}

TEST(NameAtRate, SaysWhatThereIsInstead) {
    const Catalogue catalogue = shipped_formats();
    EXPECT_EQ(
        all_problems(open_format(catalogue, "avci100-hd@24").error()),
        "avci100-hd@24: the format avci100-hd has the rates 25, 23.976, 29.97, 50, 59.94; --fps plays it at "
        "another\n");
    EXPECT_THAT(all_problems(open_format(catalogue, "dpx12@fast").error()),
                HasSubstr("'fast' is not a frame rate"));
    EXPECT_THAT(all_problems(open_format(catalogue, "exr-hd").error()),
                HasSubstr("'exr-hd' is neither a known format (see `streamsim formats`) nor a file that can "
                          "be read; like it: exr-none-hd, "
                          "exr-zip-hd, exr-piz-hd, exr-dwaa-hd"));
    EXPECT_THAT(all_problems(open_format(catalogue, "vhs").error()), Not(HasSubstr("like it")));
}

TEST(OpenFormat, TakesNamesFilesAndEntriesOfFiles) {
    const Catalogue catalogue = shipped_formats();
    const Place place;
    place.write("fam.json", family().dump());
    Json one = document("dpx12");
    one["rates"] = {{24, 1}, {10, 3}};
    one.erase("rate");
    place.write("a@b.json", one.dump());
    const auto name = [&catalogue](const std::string& typed) {
        const auto opened = open_format(catalogue, typed);
        return opened ? opened->format.name : all_problems(opened.error());
    };
    EXPECT_EQ(name("v210-4k@60"), "v210-4k@60");
    EXPECT_EQ(name(place.at("a@b.json")), "dpx12");
    EXPECT_EQ(name(place.at("a@b.json@10/3")), "dpx12@10-3");
    EXPECT_EQ(name(place.at("fam.json#b-l")), "b-l");
    EXPECT_EQ(name(place.at("fam.json#a-s@25")), "a-s@25");
    EXPECT_EQ(open_format(catalogue, place.at("fam.json#a-s@25"))->at_rates.size(), 2u);
    EXPECT_THAT(name(place.at("fam.json")), HasSubstr("is a family of formats: name one of its entries as " +
                                                      place.at("fam.json#NAME: a-s, a-l, b-l")));
    EXPECT_THAT(name(place.at("fam.json#c")), HasSubstr("has no entry \"c\""));
    EXPECT_THAT(name(place.at("fam.json#a-s@60")), HasSubstr("a-s has the rates 24, 25"));
    EXPECT_THAT(name(place.at("no.json")), HasSubstr("neither a known format"));
    EXPECT_THAT(name(place.path()), HasSubstr("neither a known format"));
}

TEST(Catalogue, OneNameIsOneEntry) {
    const Place place;
    place.write("mine.json", family().dump());
    Json same = document("dpx12");
    same["name"] = "a-l";
    place.write("a-l.json", same.dump());
    const auto catalogue = Catalogue::load(place.path());
    ASSERT_FALSE(catalogue);
    EXPECT_THAT(
        catalogue.error().problems,
        ElementsAre(HasSubstr("mine.json: /variants: the format \"a-l\" is in " + place.at("a-l.json"))));
}

TEST(Catalogue, FormatsOfOneNameDifferInWhatMakesTheirMedia) {
    const Catalogue catalogue = shipped_formats();
    std::set<std::string> identities;
    std::size_t formats = 0;
    for (const FormatDocument& one : catalogue.documents()) {
        for (const FormatEntry& entry : one.entries) {
            for (MediaFormat format : entry.at_rates) {
                ++formats;
                format.name = "same";
                identities.insert(format_identity(format).dump());
            }
        }
    }
    // dpx10 and dpx12 are dpx10-filled-a-uhd and dpx12-filled-uhd; the full-aperture rasters are no others'.
    EXPECT_EQ(identities.size(), formats - 2);
}

/// Media prepared before families existed must be found again, byte by byte.
TEST(Catalogue, TheIdentityOfTheFourDataSetsHasNotChanged) {
    const Catalogue catalogue = shipped_formats();
    EXPECT_EQ(format_identity(*catalogue.find("dpx12")).dump(),
              R"({"big_endian":true,"bits":12,"codec":"dpx","height":2160,"image_offset":8192,"name":"dpx12",)"
              R"("packing":1,"rate":[24,1],"width":3840})");
    EXPECT_EQ(format_identity(*catalogue.find("prores-hd")).dump(),
              R"({"cap":1.15,"codec":"prores","correlation":0.9,"fourcc":"apcn","height":1080,)"
              R"("level":[0.85,1.12],"mean_bytes":1170833.3333333333,"name":"prores-hd","rate":[30,1],)"
              R"("shot_frames":[30,240],"variation":0.02,"width":1920})");
}

/// The schemas are for editors and the reader for us: what one knows, the other does.
TEST(Schema, ListsTheMembersThatTheReaderReads) {
    const Json family_schema = Json::parse(source_file("formats/schema/media-family.json"));
    const auto check = [](const Json& schema, const Json& object) {
        for (const auto& [key, value] : object.items()) EXPECT_TRUE(schema["properties"].contains(key)) << key;
        for (const auto& key : schema["required"]) EXPECT_TRUE(object.contains(key.get<std::string>())) << key;
    };
    const char* const names[] = {"arriraw",    "avc-intra", "cineon", "dnxhr", "dpx",  "exr",
                                 "h264-proxy", "jpeg2000",  "prores", "tiff",  "v210", "xavc-i"};
    for (const char* name : names) {
        const Json json = document(name);
        check(family_schema, json);
        for (const Json& raster : json["rasters"]) check(family_schema["$defs"]["raster"], raster);
        for (const Json& variant : json["variants"]) check(family_schema["$defs"]["variant"], variant);
        for (const auto& key : family_schema["required"]) {
            Json without = json;
            without.erase(key.get<std::string>());
            EXPECT_FALSE(read_format_document(without.dump(), "x")) << name << key;
        }
    }
}

/// A play reads the catalogue before it does anything else. The limit is for a loaded machine with sanitizers;
/// in a release build it takes a few milliseconds.
TEST(Catalogue, IsReadQuickly) {
    const auto begin = std::chrono::steady_clock::now();
    constexpr int kTimes = 5;
    for (int i = 0; i < kTimes; ++i) shipped_formats();
    const double ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count() / kTimes;
    RecordProperty("load_ms", std::to_string(ms));
    EXPECT_LT(ms, 1000);
}

}  // namespace
}  // namespace streamsim::media
