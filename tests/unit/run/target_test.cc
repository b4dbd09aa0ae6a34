#include "target/target.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "media/catalogue/catalogue.h"
#include "target/allowed_places.h"
#include "target/named_documents.h"

namespace streamsim::run {
namespace {

TEST(Target, IsToldByItsForm) {
    EXPECT_EQ(target::parse_target("/mnt/x")->path, "/mnt/x");
    EXPECT_EQ(target::parse_target("shot.%07d.dpx")->path, "shot.%07d.dpx");
    EXPECT_EQ(target::parse_target("file:rel/x")->path, "rel/x");
    EXPECT_EQ(target::parse_target("file:///mnt/x")->path, "/mnt/x");
    EXPECT_EQ(target::parse_target("file://localhost/mnt/x")->path, "/mnt/x");
    EXPECT_EQ(target::parse_target("null:")->kind, target::Target::Kind::null);
    EXPECT_EQ(target::parse_target("sim:null")->kind, target::Target::Kind::null_virtual);
    EXPECT_EQ(target::parse_target("file:/x")->url, "file:/x");
    EXPECT_EQ(target::parse_target("nfs://host/x")->kind, target::Target::Kind::remote);
    for (const char* wrong :
         {"", "nfs:host/x", "smb:host", "ftp://host/x", "null:x", "file:", "file://host/x", "file://"}) {
        EXPECT_FALSE(target::parse_target(wrong).has_value()) << wrong;
    }
}

TEST(Target, ADriveIsNoScheme) {
    for (const char* path : {"C:\\media\\a.mov", "c:/media", "D:"}) {
        const auto target = target::parse_target(path);
        ASSERT_TRUE(target.has_value()) << path;
        EXPECT_EQ(target->kind, target::Target::Kind::local) << path;
        EXPECT_EQ(target->url, path);
    }
    EXPECT_EQ(target::parse_target("back\\slash")->path, "back\\slash")
        << "is a name here, and a place on Windows";
}

TEST(Target, AModelWithItsOptions) {
    const auto plain = target::parse_target("sim:h500");
    ASSERT_TRUE(plain.has_value());
    EXPECT_EQ(plain->kind, target::Target::Kind::model);
    EXPECT_EQ(plain->path, "h500");
    EXPECT_FALSE(plain->nodes || plain->cluster || plain->warm);
    const auto all = target::parse_target("sim:./my/model.json?cache=warm&nodes=2&cluster=7");
    ASSERT_TRUE(all.has_value());
    EXPECT_EQ(all->path, "./my/model.json");
    EXPECT_EQ(all->nodes, 2U);
    EXPECT_EQ(all->cluster, 7U);
    EXPECT_TRUE(all->warm);
    EXPECT_EQ(all->url, "sim:./my/model.json?cache=warm&nodes=2&cluster=7");
    EXPECT_FALSE(target::parse_target("sim:h500?cache=cold")->warm);
}

TEST(Target, EveryMistakeInTheUrlOfAModel) {
    for (const char* wrong : {"sim:", "sim:?nodes=2", "sim:null?nodes=2", "sim:h500?", "sim:h500?nodes",
                              "sim:h500?nodes=", "sim:h500?nodes=0", "sim:h500?nodes=two", "sim:h500?nodes=-1",
                              "sim:h500?nodes=1&nodes=1", "sim:h500?cache=hot", "sim:h500?cluster=99999",
                              "sim:h500?Nodes=2", "sim:h500?nodes=2&", "sim:h500?nodes=2?cache=warm"}) {
        EXPECT_FALSE(target::parse_target(wrong).has_value()) << wrong;
    }
    EXPECT_EQ(target::parse_target("sim:h500?nodes=0&colour=blue&cache=hot").error().problems.size(), 3U);
}

TEST(Target, SeatsGoToNodesRoundRobin) {
    target::Target target = *target::parse_target("sim:h500?nodes=2");
    EXPECT_FALSE(target::open_model(target, STREAMSIM_SOURCE_DIR "/formats/media").has_value())
        << "no models there";
    ASSERT_TRUE(target::open_model(target, STREAMSIM_SOURCE_DIR "/formats/storage").has_value());
    EXPECT_EQ(target.model->nodes, 4U);
    EXPECT_EQ(target.node_of(0), 0U);
    EXPECT_EQ(target.node_of(3), 1U);
    target = *target::parse_target("sim:h500?cluster=3");
    ASSERT_TRUE(target::open_model(target, STREAMSIM_SOURCE_DIR "/formats/storage").has_value());
    EXPECT_EQ(target.model->nodes, 3U);
    EXPECT_EQ(target.node_of(5), 2U);
}

/// In a process of its own: what is allowed holds for the whole process.
void expect_allowed(const std::vector<std::string>& places, const std::string& text, bool allowed) {
    EXPECT_EXIT(
        {
            target::allow_only(places);
            std::_Exit(target::parse_target(text).has_value() ? 1 : 0);
        },
        testing::ExitedWithCode(allowed ? 1 : 0), "")
        << text;
}

TEST(Allowed, AreThePlacesAndWhatLiesInThemByWhateverPath) {
    const auto folder = std::filesystem::temp_directory_path() / ("allowed-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder / "in/a");
    std::filesystem::create_directories(folder / "inner");
    std::filesystem::create_directory_symlink(folder / "inner", folder / "in/link");
    std::filesystem::create_directory_symlink(folder / "in", folder / "way");
    const std::string in = (folder / "in").string();
    for (const std::string& path :
         {in, in + "/", in + "/a", in + "/not-yet/x.mov", in + "/a/../a", (folder / "way/a").string()})
        expect_allowed({in}, path, true);
    for (const std::string& path :
         {folder.string(), in + "ner", in + "/..", in + "/../inner", in + "/link", std::string("/")})
        expect_allowed({in}, path, false);
    expect_allowed({"/elsewhere", in}, "file:" + in, true);
    std::filesystem::remove_all(folder);
}

TEST(Allowed, HaveNamesThatOthersUse) {
    const auto folder = std::filesystem::temp_directory_path() / ("named=" + std::to_string(getpid()));
    std::filesystem::create_directories(folder / "in");
    const std::vector<std::string> places = {"/Volumes/media=" + (folder / "in").string(), folder / "in=b",
                                             "nfs://nas/x?uid=1"};
    for (const char* name : {"/Volumes/media", "/Volumes/media/", "/Volumes/media/day/a.mov", "nfs://nas/x/y"})
        expect_allowed(places, name, true);
    for (const char* name :
         {"/Volumes/media2", "/Volumes/media/..", "/Volumes/media/../out", "/Volumes", "/elsewhere"})
        expect_allowed(places, name, false);
    target::allow_only({"/Volumes/media=/tmp"});
    EXPECT_EQ(target::place_here("/Volumes/media/a.mov"), "/tmp/a.mov");
    EXPECT_EQ(target::place_here("/Volumes/media"), "/tmp");
    EXPECT_EQ(target::place_here("/Volumes/media2"), "/Volumes/media2");
    std::filesystem::remove_all(folder);
}

/// In a process of its own, as above: the number of documents that are read.
int read_of_files(const std::string& folder) {
    target::read_no_named_files();
    int read = 0;
    const auto catalogue = media::Catalogue::load(STREAMSIM_SOURCE_DIR "/formats/media");
    for (const std::string& name : {folder + "/format.json", folder + "/format", folder + "/format.json#x"})
        read += media::open_format(*catalogue, name, target::named_files_are_read()) ? 1 : 0;
    for (const std::string name : {"/eda.json", "/eda"}) {
        read += target::open_workload(folder + name, folder) ? 1 : 0;
        auto model = target::parse_target("sim:" + folder + name);
        read += target::open_model(*model, folder) ? 1 : 0;
    }
    read += target::open_workload("..\\eda", folder) ? 1 : 0;
    return read;
}

TEST(Allowed, AreNoDocumentsOfSomebodyElse) {
    const auto folder = std::filesystem::temp_directory_path() / ("documents-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    const std::string formats = STREAMSIM_SOURCE_DIR "/formats";
    for (const char* name : {"format.json", "format"})
        std::filesystem::copy_file(formats + "/media/prores-hd.json", folder / name);
    for (const char* name : {"eda.json", "eda", "..\\eda.json"})
        std::filesystem::copy_file(formats + "/workload/eda.json", folder / name);
    EXPECT_EXIT(std::_Exit(read_of_files(folder.string())), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(
        {
            target::read_no_named_files();
            std::_Exit(target::open_workload("eda", formats + "/workload") ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
    EXPECT_TRUE(target::open_workload(folder / "eda.json", folder.string()).has_value());
    std::filesystem::remove_all(folder);
}

TEST(Allowed, AreUrlsByTheirBeginning) {
    const std::vector<std::string> places = {"nfs://nas/media"};
    for (const char* url : {"nfs://nas/media", "nfs://nas/media/day?uid=1", "null:", "sim:h500"})
        expect_allowed(places, url, true);
    for (const char* url : {"nfs://nas/media2", "nfs://nas/", "nfs://other/media", "nfs://nas/media/../etc",
                            "smb://nas/media", "/nas/media"})
        expect_allowed(places, url, false);
}

TEST(Allowed, UrlsLeadToTheServerOfThePlace) {
    for (const char* url : {"smb://nas/media?addresses=10.66.0.9", "smb://nas:4450/media",
                            "smb://nas/media?port=4450", "smb://nas/media/day?addresses=10.66.0.9"})
        expect_allowed({"smb://nas/media"}, url, false);
    expect_allowed({"nfs://nas/media"}, "nfs://nas/media?mountport=4450", false);
    const std::string place = "smb://nas:4450/media?addresses=10.0.0.1,10.0.0.2";
    for (const char* url :
         {"smb://nas:4450/media/day", "smb://user@nas:4450/media?addresses=10.0.0.1,10.0.0.2&connections=2"})
        expect_allowed({place}, url, true);
    for (const char* url : {"smb://nas/media", "smb://nas:4450/media?addresses=10.0.0.1,10.66.0.9"})
        expect_allowed({place}, url, false);
}

}  // namespace
}  // namespace streamsim::run
