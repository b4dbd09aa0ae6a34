#include "streamsim/byte_store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "storage/local/local_byte_store.h"

namespace streamsim::storage {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(DirectoryNames, AreSortedByteByByte) {
    const auto sorted = [](std::vector<std::string> names) {
        DirectoryNames directory;
        for (const std::string& name : names) directory.add(name, name.size() % 2 == 1, name.size() % 3 == 1);
        const auto check = [&](const std::vector<DirectoryEntry>& entries) {
            std::vector<std::string> out;
            for (const DirectoryEntry& entry : entries) {
                EXPECT_EQ(entry.directory, entry.name.size() % 2 == 1) << entry.name;
                EXPECT_EQ(entry.symbolic_link, entry.name.size() % 3 == 1) << entry.name;
                out.push_back(entry.name);
            }
            return out;
        };
        EXPECT_EQ(check(directory.list()), names);
        const std::vector<std::string> out = check(directory.sorted());
        std::sort(names.begin(), names.end());
        EXPECT_EQ(out, names);
    };
    sorted({});
    sorted({"one"});
    sorted({"a", "", "ab", "aa", "b", "a"});
    sorted({"shot.2", "shot.10", "shot", "shot.1", "shot.\x80", "shot.\x7f", "shot.10a"});
    sorted({"other", "shot.0000b", "shot.0000a", "shot.00001b", "shot.0000"});
    std::vector<std::string> many;
    for (std::uint64_t i = 0; i < 2000; ++i)
        many.push_back("sc_000000000000/shot." + std::to_string(i * 7919 % 2003 * 1'000'003) + ".dpx");
    sorted(many);
}

class LocalByteStoreTest : public testing::Test {
protected:
    LocalByteStoreTest() { EXPECT_NE(mkdtemp(root_.data()), nullptr); }
    ~LocalByteStoreTest() override { std::filesystem::remove_all(root_); }

    std::string at(const std::string& name) const { return root_ + "/" + name; }

    void put(const std::string& name, const std::string& text) {
        auto sink = store_->create(at(name));
        ASSERT_TRUE(sink) << sink.error().problems.front();
        ASSERT_TRUE((*sink)->write_at(0, std::as_bytes(std::span(text))));
        ASSERT_TRUE((*sink)->close());
    }

    std::string get(const std::string& name, std::uint64_t offset = 0, std::size_t bytes = 1000) {
        auto source = store_->open(at(name));
        EXPECT_TRUE(source);
        std::string text(bytes, '?');
        const auto got = (*source)->read_at(offset, std::as_writable_bytes(std::span(text)));
        EXPECT_TRUE(got);
        text.resize(*got);
        return text;
    }

    std::string problem_of(const Error& error) {
        EXPECT_EQ(error.kind, ErrorKind::environment);
        return error.problems.front();
    }

    std::size_t cached_pages(const std::string& name) {
        const int file = ::open(at(name).c_str(), O_RDONLY);
        const auto bytes = std::filesystem::file_size(at(name));
        void* map = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
        std::vector<unsigned char> in_core((bytes + 4095) / 4096);
        EXPECT_EQ(mincore(map, bytes, in_core.data()), 0);
        munmap(map, bytes);
        ::close(file);
        std::size_t count = 0;
        for (const unsigned char page : in_core) count += page & 1;
        return count;
    }

    std::string root_ = testing::TempDir() + "streamsim-store-XXXXXX";
    std::unique_ptr<ByteStore> store_ = make_local_byte_store();
};

TEST_F(LocalByteStoreTest, ReadsWhatItWrote) {
    put("file", "hello, world");
    EXPECT_EQ(get("file"), "hello, world");
    EXPECT_EQ(get("file", 7, 3), "wor");
    EXPECT_EQ(get("file", 100), "");
    EXPECT_EQ(*(*store_->open(at("file")))->size(), 12u);
    EXPECT_THAT(problem_of(store_->create(at("file")).error()), HasSubstr("EEXIST"));
    EXPECT_EQ(get("file"), "hello, world") << "nothing that is there is written";
}

TEST_F(LocalByteStoreTest, WritesAtAnyOffsetAndLeavesNothingInTheCache) {
    constexpr std::uint64_t kBytes = std::uint64_t{40} << 20;  // several windows of write-back
    std::vector<std::byte> block(1 << 20);
    auto sink = store_->create(at("large")).value();
    for (std::uint64_t offset = 0; offset < kBytes; offset += block.size()) {
        std::fill(block.begin(), block.end(), std::byte{static_cast<unsigned char>(offset >> 20)});
        ASSERT_TRUE(sink->write_at(offset, block));
    }
    const std::string header = "header";
    ASSERT_TRUE(sink->write_at(0, std::as_bytes(std::span(header))));
    ASSERT_TRUE(sink->close());
    EXPECT_LT(cached_pages("large"), 100u);
    EXPECT_EQ(get("large", 0, 8), std::string("header\0\0", 8));
    EXPECT_EQ(get("large", (std::uint64_t{33} << 20) - 1, 2), std::string("\x20\x21"));
    EXPECT_EQ(get("large", kBytes - 1), "\x27");
}

TEST_F(LocalByteStoreTest, EvictsFromTheCache) {
    std::ofstream(at("file")) << std::string(1 << 20, 'x');
    EXPECT_EQ(cached_pages("file"), 256u);
    ASSERT_TRUE(store_->evict(at("file")));
    EXPECT_EQ(cached_pages("file"), 0u);
    EXPECT_FALSE(store_->evict(at("nobody")));
}

TEST_F(LocalByteStoreTest, ListsByNameAndKnowsLinks) {
    put("b.10", "");
    put("b.2", "");
    put("B", "");
    ASSERT_TRUE(store_->make_directories(at("dir")));
    std::filesystem::create_symlink("dir", at("to_dir"));
    std::filesystem::create_symlink("B", at("to_file"));
    std::filesystem::create_symlink("nobody", at("to_nothing"));
    const auto entries = store_->list(root_);
    ASSERT_TRUE(entries);
    std::vector<std::string> seen;
    for (const auto& entry : *entries) {
        seen.push_back(entry.name + (entry.directory ? "/" : "") + (entry.symbolic_link ? "@" : ""));
    }
    EXPECT_THAT(seen, ElementsAre("B", "b.10", "b.2", "dir/", "to_dir/@", "to_file@", "to_nothing@"));
    EXPECT_THAT(problem_of(store_->list(at("nobody")).error()),
                AllOf(HasSubstr("cannot list"), HasSubstr("ENOENT")));
    EXPECT_THAT(problem_of(store_->list(at("B")).error()), HasSubstr("ENOTDIR"));
}

TEST_F(LocalByteStoreTest, LooksAtFilesDirectoriesAndLinks) {
    put("file", "12345");
    std::filesystem::create_symlink("file", at("link"));
    std::filesystem::create_symlink("nobody", at("dangling"));
    const auto file = **store_->stat(at("file"));
    EXPECT_EQ(file.bytes, 5u);
    EXPECT_FALSE(file.directory);
    EXPECT_FALSE(file.symbolic_link);
    EXPECT_GT(file.modified_s, 1'700'000'000);
    EXPECT_TRUE((**store_->stat(root_)).directory);
    EXPECT_EQ((**store_->stat(at("link"))).bytes, 5u);
    EXPECT_TRUE((**store_->stat(at("link"))).symbolic_link);
    EXPECT_TRUE((**store_->stat(at("dangling"))).symbolic_link);
    EXPECT_FALSE(store_->stat(at("nobody"))->has_value());
    EXPECT_FALSE(store_->stat(at("file/below"))->has_value());
}

TEST_F(LocalByteStoreTest, KnowsAYoungCopyWhoseTimeIsThatOfTheOriginal) {
    put("file", "12345");
    const auto original = std::filesystem::last_write_time(at("file")) - std::chrono::hours(5);
    std::filesystem::last_write_time(at("file"), original);
    const auto file = **store_->stat(at("file"));
    EXPECT_GT(file.changed_s, file.modified_s + 3600);
    EXPECT_EQ(file.touched_s(), file.changed_s);
}

TEST_F(LocalByteStoreTest, MakesDirectoriesWithTheirParents) {
    ASSERT_TRUE(store_->make_directories(at("a/b//c/")));
    ASSERT_TRUE(store_->make_directories(at("a/b/c")));
    ASSERT_TRUE(store_->make_directories("/"));
    EXPECT_TRUE(std::filesystem::is_directory(at("a/b/c")));
    put("a/file", "");
    EXPECT_THAT(problem_of(store_->make_directories(at("a/file/d")).error()), HasSubstr("ENOTDIR"));
}

TEST_F(LocalByteStoreTest, RenamesAndReplacesNothing) {
    ASSERT_TRUE(store_->make_directories(at("from")));
    put("from/file", "old");
    ASSERT_TRUE(store_->rename(at("from"), at("to")));
    EXPECT_EQ(get("to/file"), "old");
    put("other", "new");
    EXPECT_THAT(problem_of(store_->rename(at("other"), at("to/file")).error()), HasSubstr("EEXIST"));
    EXPECT_EQ(get("to/file"), "old");
    ASSERT_TRUE(store_->make_directories(at("empty")));
    EXPECT_FALSE(store_->rename(at("to"), at("empty"))) << "not even an empty directory";
    EXPECT_FALSE(store_->rename(at("nobody"), at("x")));
}

TEST_F(LocalByteStoreTest, MakesNewFilesOnly) {
    put("file", "mine");
    EXPECT_FALSE(store_->create(at("file")));
    const auto below = store_->beneath(root_);
    ASSERT_TRUE(below);
    EXPECT_FALSE((*below)->create(at("file")));
    EXPECT_EQ(get("file"), "mine");
    EXPECT_TRUE((*below)->create(at("new")));
}

TEST_F(LocalByteStoreTest, RemovesFilesLinksAndEmptyDirectories) {
    ASSERT_TRUE(store_->make_directories(at("dir")));
    put("dir/file", "");
    std::filesystem::create_symlink("dir", at("link"));
    EXPECT_THAT(problem_of(store_->remove(at("dir")).error()), HasSubstr("ENOTEMPTY"));
    ASSERT_TRUE(store_->remove(at("link")));
    EXPECT_TRUE(std::filesystem::exists(at("dir/file"))) << "the link and not what it names";
    ASSERT_TRUE(store_->remove(at("dir/file")));
    ASSERT_TRUE(store_->remove(at("dir")));
    EXPECT_FALSE(store_->remove(at("dir")));
}

TEST_F(LocalByteStoreTest, KnowsTheFreeSpaceBelowADirectoryThatIsStillToBeMade) {
    const auto here = store_->free_bytes(root_);
    const auto below = store_->free_bytes(at("not/yet/there"));
    ASSERT_TRUE(here);
    ASSERT_TRUE(below);
    EXPECT_GT(*below, 0u);
    EXPECT_NEAR(static_cast<double>(*below), static_cast<double>(*here), 1e9);
}

TEST_F(LocalByteStoreTest, SaysWhatAStrangerCanActOn) {
    EXPECT_THAT(problem_of(store_->open(at("nobody")).error()),
                AllOf(HasSubstr("cannot open"), HasSubstr(at("nobody")), HasSubstr("ENOENT")));
    EXPECT_THAT(problem_of(store_->open(root_).error()), HasSubstr("EISDIR"));
    EXPECT_THAT(problem_of(store_->create("/dev/full").error()),
                AllOf(HasSubstr("cannot create /dev/full"), HasSubstr("EEXIST"),
                      HasSubstr("existing files are not replaced")));
}

TEST_F(LocalByteStoreTest, WhatIsNoFileIsRefusedAndNotWaitedFor) {
    ASSERT_EQ(mkfifo(at("fifo").c_str(), 0600), 0);
    std::filesystem::create_symlink(at("fifo"), at("link"));
    for (const char* name : {"fifo", "link"}) {
        const auto opened = store_->open(at(name));
        ASSERT_FALSE(opened);
        EXPECT_EQ(opened.error().kind, ErrorKind::bad_input);
        EXPECT_EQ(opened.error().problems.front(), at(name) + ": expected a regular file, found a FIFO");
        EXPECT_FALSE(store_->create(at(name)));
        EXPECT_FALSE(store_->evict(at(name)));
    }
    EXPECT_THAT(store_->open("/dev/zero").error().problems.front(), HasSubstr("found a character device"));
}

TEST_F(LocalByteStoreTest, ListsSomeEntriesOrAllThatAreThere) {
    for (const char* const name : {"a", "b", "c", "d"}) put(name, "x");
    const auto some = store_->list_some(root_, 3);
    ASSERT_TRUE(some);
    EXPECT_EQ(some->size(), 3u);
    const auto all = store_->list_some(root_, 5);
    ASSERT_TRUE(all);
    EXPECT_EQ(all->size(), 4u);
    EXPECT_FALSE(store_->list_some(at("missing"), 3));
}

}  // namespace
}  // namespace streamsim::storage
