// Suggestions for mistyped names, against every name that a user can type.
#include "base/similar_names.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace streamsim {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(EditsBetween, CountsLettersAndSwaps) {
    EXPECT_EQ(edits_between("streams", "streams"), 0u);
    EXPECT_EQ(edits_between("strems", "streams"), 1u);
    EXPECT_EQ(edits_between("strreams", "streams"), 1u);
    EXPECT_EQ(edits_between("strwams", "streams"), 1u);
    EXPECT_EQ(edits_between("sterams", "streams"), 1u);
    EXPECT_EQ(edits_between("Streams", "streams"), 0u);
    EXPECT_EQ(edits_between("", "abc"), 3u);
    EXPECT_EQ(edits_between("kitten", "sitting"), 3u);
    EXPECT_EQ(edits_between("ca", "abc"), 3u);  // neighbours only
}

TEST(SimilarNames, AreNearAndAllThatAreEquallyNear) {
    const std::vector<std::string> models{"f800", "h500", "h600", "nfs-generic"};
    EXPECT_THAT(similar_names("h50", models), ElementsAre("h500"));
    EXPECT_THAT(similar_names("h400", models), ElementsAre("h500", "h600"));
    EXPECT_THAT(similar_names("nfs", models), IsEmpty());
    EXPECT_THAT(similar_names("h500", models), IsEmpty());  // it is known
    EXPECT_THAT(similar_names("", models), IsEmpty());
    EXPECT_THAT(similar_names(std::string(100'000, 'h'), models), IsEmpty());
    EXPECT_THAT(similar_names("x", {"y"}), IsEmpty());  // nothing of it is left
    EXPECT_THAT(similar_names("--dpx13", {"--dpx10", "--dpx12", "--direct"}),
                ElementsAre("--dpx10", "--dpx12"));
    EXPECT_EQ(did_you_mean("h50", models), "; did you mean \"h500\"?");
    EXPECT_EQ(did_you_mean("h400", models), "; did you mean \"h500\" or \"h600\"?");
    EXPECT_EQ(did_you_mean("zzzz", models), "");
}

std::string text_of(const std::string& path) {
    std::ifstream in(std::string(STREAMSIM_SOURCE_DIR) + "/" + path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> documents_in(const std::string& directory) {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(STREAMSIM_SOURCE_DIR "/formats/" + directory))
        out.push_back(entry.path().stem().string());
    return out;
}

std::vector<std::string> matches(const std::string& text, const char* pattern) {
    const std::regex expression(pattern);
    std::set<std::string> out;
    for (auto it = std::sregex_iterator(text.begin(), text.end(), expression); it != std::sregex_iterator();
         ++it)
        out.insert((*it)[1]);
    return {out.begin(), out.end()};
}

/// Every text that one mistake makes of a name.
std::set<std::string> mistakes_of(const std::string& name) {
    std::set<std::string> out;
    for (std::size_t i = 0; i <= name.size(); ++i) {
        for (const char letter : std::string("abcdefghijklmnopqrstuvwxyz0123456789-")) {
            out.insert(name.substr(0, i) + letter + name.substr(i));
            if (i < name.size()) out.insert(name.substr(0, i) + letter + name.substr(i + 1));
        }
        if (i < name.size()) out.insert(name.substr(0, i) + name.substr(i + 1));
        if (i + 1 < name.size()) {
            std::string swapped = name;
            std::swap(swapped[i], swapped[i + 1]);
            out.insert(swapped);
        }
    }
    return out;
}

void expect_each_mistake_is_mended(const std::vector<std::string>& names, std::size_t least) {
    ASSERT_GE(names.size(), least);
    for (const std::string& name : names) {
        if (name.size() < 3) continue;
        for (const std::string& mistake : mistakes_of(name)) {
            if (std::ranges::find(names, mistake) != names.end()) continue;
            const std::vector<std::string> near = similar_names(mistake, names);
            if (std::ranges::find(near, name) == near.end()) ADD_FAILURE() << mistake << " for " << name;
        }
    }
}

TEST(SimilarNames, EachMistakeInEachNameIsMended) {
    const std::string help = text_of("docs/reference/command-line.md");
    expect_each_mistake_is_mended(matches(help, "(--[a-z][a-z0-9-]+)"), 60);
    expect_each_mistake_is_mended(matches(help, "  streamsim ([a-z]+) "), 8);
    expect_each_mistake_is_mended(documents_in("workload"), 20);
    expect_each_mistake_is_mended(documents_in("scenario"), 20);
    expect_each_mistake_is_mended(documents_in("storage"), 5);
    expect_each_mistake_is_mended(documents_in("media"), 3);
    for (const char* schema : {"scenario", "workload", "storage-model", "media-format", "faults"}) {
        const auto keys =
            matches(text_of(std::string("formats/schema/") + schema + ".json"), "\"([a-z][a-z_]+)\": \\{");
        expect_each_mistake_is_mended(keys, 5);
    }
}

}  // namespace
}  // namespace streamsim
