// The program's work below its target, seen from outside: it makes, writes and removes each name there from a
// descriptor of the directory, and changes nothing that others put there.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Paths : public CliTest {
protected:
    Paths() { std::ofstream(precious_) << "nobody may change this"; }

    Finished streamsim(std::vector<std::string> args) {
        return run(streamsim_binary(), {.args = std::move(args)});
    }
    /// Inode, last change and bytes.
    std::vector<std::uint64_t> facts() const {
        struct stat info {};
        EXPECT_EQ(stat(precious_.c_str(), &info), 0);
        return {info.st_ino, static_cast<std::uint64_t>(info.st_mtim.tv_sec),
                static_cast<std::uint64_t>(info.st_mtim.tv_nsec), static_cast<std::uint64_t>(info.st_size)};
    }
    std::vector<std::string> prepare_args(const std::string& clips) const {
        return {"prepare", "--format", small(), "--streams", clips, "--clip-duration", "500ms", target()};
    }
    /// The calls of a run that name files, or put them on the disk, a line each.
    std::vector<std::string> traced(const std::vector<std::string>& args, bool with_paths = false) {
        const std::string log = dir_ / "strace.log";
        std::vector<std::string> all = {
            "-f",
            "-qq",
            "-s",
            "4096",
            "-o",
            log,
            "-e",
            "trace=open,openat,openat2,creat,mkdir,mkdirat,unlink,unlinkat,rmdir,rename,"
            "renameat,renameat2,link,linkat,symlink,symlinkat,truncate,fsync,fdatasync"};
        if (with_paths) all.emplace_back("-y");  // of descriptors
        all.push_back(streamsim_binary());
        all.insert(all.end(), args.begin(), args.end());
        const Finished ran = run("strace", {.args = all});
        std::vector<std::string> lines;
        std::ifstream file(log);
        for (std::string line; std::getline(file, line);) lines.push_back(line);
        if (ran.exit_code != 0 && ran.exit_code != 1) lines.clear();  // 1: traced, it may be late
        return lines;
    }

    const std::string precious_ = dir_ / "precious";
};

/// Calls that change something and name it by its whole path, or by more than a name in a directory.
std::vector<std::string> by_path(const std::vector<std::string>& lines, const std::string& target) {
    static const std::regex call(R"(^\d+\s+(\w+)\()");
    const std::set<std::string> opens = {"open", "openat", "creat"};
    std::vector<std::string> wrong;
    for (const std::string& line : lines) {
        std::smatch found;
        if (!std::regex_search(line, found, call) || found[1] == "openat2") continue;
        const bool opened = opens.contains(found[1]);
        const bool writes = line.find("O_WRONLY") != std::string::npos ||
                            line.find("O_RDWR") != std::string::npos ||
                            line.find("O_CREAT") != std::string::npos || found[1] == "creat";
        if (opened && !writes) continue;
        if (line.find("\"" + target + "/") != std::string::npos) wrong.push_back(line);
        static const std::regex deeper(R"(\d+, "[^"/]+/[^"]*")");
        if (std::regex_search(line, deeper)) wrong.push_back(line);
    }
    return wrong;
}

std::size_t count(const std::vector<std::string>& lines, const std::string& what) {
    std::size_t number = 0;
    for (const std::string& line : lines) number += line.find(what) != std::string::npos ? 1u : 0u;
    return number;
}

TEST_F(Paths, NoLibraryOfTheCurrentFolderIsLoaded) {
    for (const char* name : {"libc.so.6", "libm.so.6", "libstdc++.so.6"}) write_text(dir_ / name, "mine");
    const Finished done = run(streamsim_binary(), {.args = {"--version"}, .directory = dir_.path()});
    EXPECT_EQ(done.exit_code, 0) << done.text();
}

TEST_F(Paths, AreReachedFromDescriptorsOnly) {
    if (traced({"--version"}).empty()) GTEST_SKIP() << "strace is not here, or may not trace";
    const auto prepared = traced(prepare_args("2"));
    EXPECT_THAT(by_path(prepared, target()), ::testing::IsEmpty());
    EXPECT_GE(count(prepared, "O_EXCL"), 24u) << "each frame is a new file";
    const auto played = traced({"--format", small(), "--streams", "2", "--frames", "10", target()});
    EXPECT_FALSE(played.empty());
    EXPECT_THAT(by_path(played, target()), ::testing::IsEmpty());
    const auto cleaned = traced({"clean", target()});
    EXPECT_THAT(by_path(cleaned, target()), ::testing::IsEmpty());
    EXPECT_GE(count(cleaned, "unlinkat"), 24u);
    EXPECT_FALSE(fs::exists(target() + "/streamsim-media"));
}

/// Partial files and directories that got their names and were not put on the disk before.
std::vector<std::string> named_too_early(const std::vector<std::string>& lines, std::size_t& named) {
    static const std::regex sync(R"re(^\d+\s+(?:fsync|fdatasync)\(\d+<([^>]*)>)re");
    static const std::regex at(R"re(^\d+\s+(?:renameat|renameat2|linkat)\(\d+<([^>]*)>, "([^"]*\.partial)")re");
    static const std::regex whole(R"re(^\d+\s+(?:rename|link)\("([^"]*\.partial)")re");
    std::set<std::string> synced;
    std::vector<std::string> wrong;
    for (const std::string& line : lines) {
        std::smatch found;
        if (std::regex_search(line, found, sync)) synced.insert(found[1]);
        std::string path;
        if (std::regex_search(line, found, at)) path = found[1].str() + "/" + found[2].str();
        if (std::regex_search(line, found, whole)) path = found[1];
        if (path.empty()) continue;
        ++named;
        if (!synced.contains(path)) wrong.push_back(line);
    }
    return wrong;
}

TEST_F(Paths, AreOnTheDiskBeforeTheyHaveTheirNames) {
    if (traced({"--version"}).empty()) GTEST_SKIP() << "strace is not here, or may not trace";
    std::size_t named = 0;
    EXPECT_THAT(named_too_early(traced(prepare_args("2"), true), named), ::testing::IsEmpty());
    EXPECT_GE(named, 8u) << "two clips with two records each, the format and the marker";
    named = 0;
    fs::create_directory(dir_ / "journals");
    const auto played = traced({"--format", small(), "--frames", "10", "--json", dir_ / "r.json", "--journal",
                                dir_ / "journals", target()},
                               true);
    EXPECT_THAT(named_too_early(played, named), ::testing::IsEmpty());
    EXPECT_GE(named, 2u) << "the result and the journal";
}

TEST_F(Paths, OfACutListAreLookedForOnce) {
    if (traced({"--version"}).empty()) GTEST_SKIP() << "strace is not here, or may not trace";
    ASSERT_EQ(streamsim(prepare_args("1")).exit_code, 0);
    const std::string list = dir_ / "list.edl";
    write_text(list,
               "TITLE: x\nFCM: NON-DROP FRAME\n\n001  AX       V     C        00:00:00:01 00:00:00:06 "
               "00:00:00:00 00:00:00:05\n* FROM CLIP NAME: clip-0001\n");
    const std::vector<std::string> words = {"prepare", "--cuts", list, "--streams", "1", target()};
    const std::size_t once = count(traced(words), "/clip-0001\", ");
    EXPECT_GT(once, 0u);
    std::vector<std::string> recorded = words;
    recorded.insert(recorded.end() - 1, {"--record", "1", "--yes"});
    EXPECT_EQ(count(traced(recorded), "/clip-0001\", "), once)
        << "the length of the recordings is that of the list";
}

TEST_F(Paths, OfOthersAreNeverWritten) {
    const auto before = facts();
    ASSERT_EQ(streamsim(prepare_args("1")).exit_code, 0);
    const fs::path length = fs::path(clip_directories().front()).parent_path();
    fs::create_hard_link(precious_, length / "clip-0002.partial");
    fs::create_symlink(precious_, length.parent_path() / "format.json.partial");
    fs::create_symlink(precious_, length / "clip-0003");
    const Finished made = streamsim(prepare_args("4"));
    EXPECT_EQ(made.exit_code, 0) << made.text();
    EXPECT_THAT(made.err, HasSubstr("clip-0003: something that prepare did not make"));
    EXPECT_TRUE(fs::is_directory(length / "clip-0005")) << "the third has another's name";
    const Finished cleaned = streamsim({"clean", target()});
    EXPECT_THAT(cleaned.err, AllOf(HasSubstr("clip-0002.partial"), HasSubstr("clip-0003: not"),
                                   HasSubstr("format.json.partial")));
    EXPECT_EQ(facts(), before);
    EXPECT_TRUE(fs::is_symlink(length / "clip-0003"));
}

TEST_F(Paths, ThatAreLinksEndTheRunWithASentence) {
    ASSERT_EQ(streamsim(prepare_args("1")).exit_code, 0);
    const fs::path set = target() + "/streamsim-media";
    fs::create_directory(dir_ / "elsewhere");
    fs::create_directory_symlink(dir_ / "elsewhere", set / "recordings");
    const Finished recorded = streamsim({"--format", small(), "--record", "1", "--frames", "5", target()});
    EXPECT_EQ(recorded.exit_code, 3) << recorded.text();
    EXPECT_THAT(recorded.err,
                AllOf(HasSubstr((set / "recordings").string()), HasSubstr("found a symbolic link"),
                      HasSubstr("expected a directory that streamsim made")));
    fs::rename(set, dir_ / "moved");
    fs::create_directory_symlink(dir_ / "moved", set);
    for (const std::vector<std::string>& args : {prepare_args("2"), {"clean", target()}}) {
        const Finished refused = streamsim(args);
        EXPECT_EQ(refused.exit_code, 2) << refused.text();
        EXPECT_THAT(refused.err, AllOf(HasSubstr(set.string()), HasSubstr("is a symbolic link")));
    }
    EXPECT_TRUE(fs::is_empty(dir_ / "elsewhere"));
}

}  // namespace
}  // namespace streamsim::tests
