#include "media/write/load_set.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "media/own_files/own_names.h"
#include "media/write/load_record.h"
#include "media/write/media_set_names.h"
#include "unit/media/fixtures.h"

namespace streamsim::media {
namespace {

namespace fs = std::filesystem;
using testing::all_problems;
using testing::DirectoryStore;
using testing::Place;

class LoadSets : public ::testing::Test {
protected:
    LoadSet set() const {
        const std::string root = load_root(place_.path());
        return {place_.path(), {root, root + "/a"}, {{root + "/a/f0.load", 100'000}, {root + "/a/e0.load", 0}}};
    }
    LoadSetPlan plan() {
        auto planned = plan_load_set(store_, set());
        if (!planned) ADD_FAILURE() << all_problems(planned.error());
        return std::move(*planned);
    }
    void write(const LoadSetPlan& planned) {
        PrepareProgress progress;
        const auto done = write_load_set(store_, planned, 1, progress);
        ASSERT_TRUE(done) << all_problems(done.error());
        EXPECT_EQ(progress.bytes_done, planned.bytes_to_write);
    }
    fs::path file(const char* name) const { return fs::path(load_root(place_.path())) / "a" / name; }

    Place place_;
    DirectoryStore store_;
};

TEST_F(LoadSets, AreWrittenOnceAndWhole) {
    write(plan());
    EXPECT_EQ(fs::file_size(file("f0.load")), 100'000u);
    EXPECT_EQ(fs::file_size(file("e0.load")), 0u);
    EXPECT_TRUE(plan().nothing_to_do());
    fs::remove(file("f0.load"));
    const LoadSetPlan again = plan();
    ASSERT_EQ(again.missing.files.size(), 1u);
    write(again);
    EXPECT_EQ(fs::file_size(file("f0.load")), 100'000u);
}

TEST_F(LoadSets, AreEvictedAsFarAsTheyCanBe) {
    write(plan());
    std::vector<std::string> asked;
    store_.on_evict = [&asked](const std::string& path) {
        asked.push_back(path);
        return std::optional(environment_error(path + " stays"));
    };
    const auto evicted = evict_all(store_, set());
    ASSERT_FALSE(evicted);
    EXPECT_EQ(asked.size(), 2u);
    EXPECT_EQ(evicted.error().problems.front(), asked.front() + " stays");
}

TEST_F(LoadSets, AreNotTakenForOursWithAnotherLength) {
    write(plan());
    fs::resize_file(file("f0.load"), 5);
    const auto refused = plan_load_set(store_, set());
    ASSERT_FALSE(refused);
    EXPECT_THAT(all_problems(refused.error()),
                ::testing::HasSubstr("no record of ours names with this length"));
    const auto cleaned = clean(store_, place_.path());
    ASSERT_TRUE(cleaned) << all_problems(cleaned.error());
    EXPECT_THAT(cleaned->kept, ::testing::ElementsAre(file("f0.load").string()));
}

TEST_F(LoadSets, OfTwoLengthsAreBothOurs) {
    write(plan());
    LoadSet longer = set();
    longer.files[0].bytes = 200'000;
    const auto planned = plan_load_set(store_, longer);
    ASSERT_TRUE(planned) << all_problems(planned.error());
    write(*planned);
    EXPECT_EQ(fs::file_size(file("f0.load")), 200'000u);
    write(plan());
    EXPECT_EQ(fs::file_size(file("f0.load")), 100'000u);
}

/// A storage that deduplicates would keep and cache files of the same bytes once.
TEST_F(LoadSets, HaveNoTwoFilesAlikeHoweverTheyAreWritten) {
    const std::string root = load_root(place_.path());
    std::set<std::string> contents;
    std::size_t files = 0;
    const auto write_in = [&](const std::string& directory, int count) {
        LoadSet wanted{place_.path(), {root, root + "/" + directory}, {}};
        for (int i = 0; i < count; ++i)
            wanted.files.push_back({root + "/" + directory + "/f" + std::to_string(i) + ".load", 1000});
        const auto planned = plan_load_set(store_, wanted);
        ASSERT_TRUE(planned) << all_problems(planned.error());
        files += planned->missing.files.size();
        write(*planned);
        for (const LoadFile& file : planned->missing.files)
            contents.insert(place_.read(fs::relative(file.path, place_.path()).string()));
    };
    write_in("a", 2);
    write_in("a", 4);  // the second half
    write_in("b", 4);
    EXPECT_EQ(files, 8u);
    EXPECT_EQ(contents.size(), files);
}

TEST_F(LoadSets, OfTwoProcessesOnANewTargetAreInOneMediaSet) {
    const LoadSetPlan planned = plan();
    std::uint64_t id = 0;
    store_.on_rename = [&](const std::string& to) {
        if (!to.ends_with(kMarkerName) || id != 0) return true;
        DirectoryStore other;
        const auto made = ensure_marker(other, media_root(place_.path()));
        EXPECT_TRUE(made);
        id = made ? *made : 1;
        return true;
    };
    write(planned);
    const auto marker = read_marker(store_, media_root(place_.path()));
    ASSERT_TRUE(marker && *marker);
    EXPECT_EQ(**marker, id);
    EXPECT_TRUE(plan().nothing_to_do());
}

TEST_F(LoadSets, DoNotReplaceAFileThatCameAfterThePlan) {
    const LoadSetPlan planned = plan();
    store_.on_write = [this](const std::string& path) {
        if (path.find("f0.load") != std::string::npos) std::ofstream(file("e0.load")) << "somebody's";
    };
    PrepareProgress progress;
    const auto refused = write_load_set(store_, planned, 1, progress);
    ASSERT_FALSE(refused);
    EXPECT_THAT(all_problems(refused.error()), ::testing::HasSubstr("e0.load: found something else"));
    EXPECT_EQ(fs::file_size(file("e0.load")), 10u);
    EXPECT_EQ(fs::file_size(file("f0.load")), 100'000u);
}

TEST_F(LoadSets, LeaveNothingOfAFileThatWasInterruptedOrFailed) {
    LoadSet large = set();
    large.files[0].bytes = 9'000'000;  // several pieces
    const auto planned = plan_load_set(store_, large);
    ASSERT_TRUE(planned) << all_problems(planned.error());
    PrepareProgress progress;
    store_.on_write = [&](const std::string& path) { progress.cancel = path.find("f0.load") != path.npos; };
    EXPECT_EQ(write_load_set(store_, *planned, 1, progress).error().kind, ErrorKind::interrupted);
    EXPECT_TRUE(fs::is_empty(file("").parent_path()));
    store_.on_write = nullptr;
    store_.room = 5'000'000;
    PrepareProgress again;
    EXPECT_EQ(write_load_set(store_, *planned, 1, again).error().kind, ErrorKind::environment);
    EXPECT_TRUE(fs::is_empty(file("").parent_path()));
}

TEST_F(LoadSets, LoseWhatAKilledRunWasWriting) {
    write(plan());
    fs::rename(file("f0.load"), file("f0.load.00000000000000aa.partial"));
    for (const char* const name : {"f0.load.partial", "notes.00000000000000aa.partial"})
        std::ofstream(file(name)) << "somebody's";
    store_.free = 5'000;
    EXPECT_EQ(plan().bytes_free, 105'000u) << "it goes before others are written";
    for (int i = 0; i < 100; ++i) std::ofstream(file(std::to_string(i).c_str())) << "somebody's";
    store_.stats = 0;
    ASSERT_TRUE(remove_unfinished(store_, set()));
    EXPECT_LT(store_.stats.load(), 100u) << "a stat of each file takes long on a distant server";
    EXPECT_FALSE(fs::exists(file("f0.load.00000000000000aa.partial")));
    for (const char* const name : {"f0.load.partial", "notes.00000000000000aa.partial", "e0.load"})
        EXPECT_TRUE(fs::exists(file(name))) << name;
}

TEST_F(LoadSets, LoseWhatWasCreatedAndNothingElse) {
    write(plan());
    std::ofstream(file("c0-0-1.load")) << "created";
    std::ofstream(file("notes.txt")) << "somebody's";
    ASSERT_TRUE(remove_others(store_, set()));
    EXPECT_FALSE(fs::exists(file("c0-0-1.load")));
    EXPECT_TRUE(fs::exists(file("notes.txt")));
    EXPECT_TRUE(fs::exists(file("f0.load")));
}

TEST_F(LoadSets, LoseWhatARecordNamesAndNothingElse) {
    write(plan());
    std::ofstream(file("c0-0-1.load")) << "created";
    std::ofstream(file("f0.load.00000000000000aa.partial")) << "unfinished";
    std::ofstream(file("notes.txt")) << "somebody's";
    const auto removed = remove_recorded(store_, set());
    ASSERT_TRUE(removed) << all_problems(removed.error());
    std::vector<std::string> left;
    for (const auto& entry : fs::directory_iterator(file("").parent_path()))
        left.push_back(entry.path().filename().string());
    EXPECT_THAT(left, ::testing::ElementsAre("notes.txt"));
    EXPECT_EQ(plan().missing.files.size(), 2u) << "the records are still there";
}

TEST_F(LoadSets, AreCleanedWithoutWhatIsSomebodyElses) {
    write(plan());
    std::ofstream(file("notes.txt")) << "somebody's";
    auto cleaned = clean(store_, place_.path());
    ASSERT_TRUE(cleaned) << all_problems(cleaned.error());
    EXPECT_THAT(cleaned->kept, ::testing::ElementsAre(file("notes.txt").string()));
    fs::remove(file("notes.txt"));
    cleaned = clean(store_, place_.path());
    ASSERT_TRUE(cleaned);
    EXPECT_FALSE(fs::exists(fs::path(place_.path()) / kMediaDirectory));
}

/// A record of this run of files, "f0.load", "f1.load", ...; whether "f5.load" is ours by it.
TEST_F(LoadSets, ARecordWithANumberThatIsNoneNamesNothing) {
    const auto is_ours = [&](const std::string& run) {
        place_.write("0123456789abcdef.set.json",
                     R"({"schema": "streamsim.load-record", "version": 1, "set": "0000000000000001",
                         "directories": [], "files": [["f", ".load", )" +
                         run + "]]}");
        const auto names = read_load_records(store_, place_.path(), 1);
        EXPECT_TRUE(names);
        return names && names->has_file("f5.load", FileInfo{false, 10, 1, false});
    };
    EXPECT_TRUE(is_ours("0, 6, 1, 10"));
    EXPECT_FALSE(is_ours("0, 5, 1, 10"));
    EXPECT_FALSE(is_ours("0, -1, 1, 10"));
    EXPECT_FALSE(is_ours("0, 1e300, 1, 10"));
    EXPECT_FALSE(is_ours("5.5, 6, 1, 10"));
    EXPECT_FALSE(is_ours("0, true, 1, 10"));
}

TEST(LoadNames, HaveFilesOfTheirRunsAndLengths) {
    EXPECT_TRUE(is_created_name("c0-12-3.load"));
    for (const char* const name :
         {"c0-12.load", "c0-12-3-4.load", "c0--3.load", "c0-x-3.load", "d0-1-2.load", "c0-1-2"})
        EXPECT_FALSE(is_created_name(name)) << name;
    LoadNames names;
    names.directories.insert("a");
    names.files[{"a/f", ".load"}].push_back({10, 3, 2, 100});  // 10, 12, 14
    names.files[{"a/f", ".load"}].push_back({50, 1, 0, 100});
    names.files[{"a/plain.load", ""}].push_back({.count = 0, .bytes = 7});
    const auto has = [&names](const std::string& name, std::uint64_t bytes, std::uint32_t links = 1) {
        FileInfo info;
        info.bytes = bytes;
        info.links = links;
        return names.has_file(name, info);
    };
    EXPECT_TRUE(has("a/f10.load", 100));
    EXPECT_TRUE(has("a/f14.load", 100));
    for (const char* const name :
         {"a/f8.load", "a/f11.load", "a/f16.load", "a/f010.load", "a/f50.load", "b/f10.load"})
        EXPECT_FALSE(has(name, 100)) << name;
    EXPECT_FALSE(has("a/f10.load", 99));
    EXPECT_FALSE(has("a/f10.load", 100, 2)) << "somebody gave it a second name";
    EXPECT_TRUE(has("a/f10.load.00000000000000aa.partial", 99)) << "unfinished";
    EXPECT_FALSE(has("a/f10.load.00000000000000aa.partial", 101));
    EXPECT_FALSE(has("a/f10.load.partial", 99)) << "of no run";
    EXPECT_TRUE(has("a/plain.load", 7));
    EXPECT_FALSE(has("a/plain.load", 8));
    EXPECT_TRUE(has("a/c0-1-2.load", 5)) << "created by a meter";
    EXPECT_FALSE(has("b/c0-1-2.load", 5));
    EXPECT_FALSE(has("c0-1-2.load", 5));
    FileInfo directory;
    directory.directory = true;
    EXPECT_FALSE(names.has_file("a/f10.load", directory));
}

}  // namespace
}  // namespace streamsim::media
