// The contract of streamsim/byte_store.h, tested against NFS, and checked in the server's own directory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "conformance/storage_backends.h"
#include "real/nfs_lab.h"
#include "storage/backends.h"
#include "storage/remote/remote_names.h"

namespace streamsim {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class NfsByteStore : public testing::TestWithParam<std::uint32_t> {
protected:
    std::string url_path(const std::string& name = "") const {
        return tests::exported(directory_.path()) + (name.empty() ? "" : "/" + name);
    }
    static std::vector<std::byte> pattern(std::size_t bytes) {
        std::vector<std::byte> out(bytes);
        for (std::size_t i = 0; i < bytes; ++i) out[i] = test_byte(7, i);
        return out;
    }

    TemporaryDirectory directory_;
    std::unique_ptr<ByteStore> store_ =
        storage::make_nfs_byte_store(tests::nfs_place(GetParam(), 1), "/export");
};

TEST_P(NfsByteStore, WhatAListHasSaidDoesNotOutliveAChange) {
    std::ofstream(directory_ / "a") << "abc";
    ASSERT_TRUE(store_->list(url_path()));
    ASSERT_TRUE(store_->stat(url_path("a")).value());
    EXPECT_EQ((*store_->stat(url_path("a")))->bytes, 3U);
    EXPECT_FALSE(store_->stat(url_path("b")).value());
    auto sink = store_->create(url_path("b"));
    ASSERT_TRUE(sink);
    EXPECT_TRUE(store_->stat(url_path("b")).value());
    ASSERT_TRUE(store_->list(url_path()));
    const auto bytes = pattern(5);
    ASSERT_TRUE((*sink)->write_at(0, bytes));
    ASSERT_TRUE((*sink)->close());
    EXPECT_EQ((*store_->stat(url_path("b")))->bytes, 5U);
    ASSERT_TRUE(store_->list(url_path()));
    ASSERT_TRUE(store_->remove(url_path("a")));
    EXPECT_FALSE(store_->stat(url_path("a")).value());
}

TEST_P(NfsByteStore, SetAsideByAWholeNameDropsWhatAListHasSaid) {
    const auto store =
        storage::by_whole_names(storage::make_nfs_byte_store(tests::nfs_place(GetParam(), 1), "/export"));
    const std::string host = "nfs://server";
    std::ofstream(directory_ / "a") << "abc";
    ASSERT_TRUE(store->list(host + url_path()));
    EXPECT_EQ((*store->stat(host + url_path("a")))->bytes, 3U);
    // By another client: the server remembers names, too.
    ASSERT_TRUE(store_->remove(url_path("a")));
    auto sink = store_->create(url_path("a"));
    ASSERT_TRUE(sink && (*sink)->write_at(0, pattern(17)) && (*sink)->close());
    EXPECT_EQ((*store->stat(host + url_path("a")))->bytes, 3U) << "of the list";
    ASSERT_TRUE(store->set_aside(host + url_path("a"), host + url_path("b")));
    EXPECT_EQ((*store->stat(host + url_path("a")))->bytes, 17U);
}

TEST_P(NfsByteStore, SeveralThreadsAreServedAtOnce) {
    // In one context of version 4 libnfs confuses two opens of one file.
    for (int i = 0; i < 12; ++i) std::ofstream(directory_ / std::to_string(i)) << "abc";
    std::vector<std::thread> threads;
    std::atomic<int> good{0};
    for (int i = 0; i < 12; ++i) {
        threads.emplace_back([&, i] {
            for (int round = 0; round < 5; ++round) {
                const auto source = store_->open(url_path(std::to_string(i)));
                std::array<std::byte, 8> into{};
                const auto got = source ? (*source)->read_at(0, into) : Result<std::size_t>(source.error());
                EXPECT_TRUE(got) << got.error().problems.front();
                if (got && *got == 3U) ++good;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(good, 60);
}

TEST_P(NfsByteStore, WritesAndReads) {
    const auto bytes = pattern((std::size_t{9} << 20) + 12'345);
    auto sink = store_->create(url_path("clip"));
    ASSERT_TRUE(sink) << sink.error().problems.front();
    const std::span<const std::byte> all(bytes);
    const auto put = (*sink)->write_at(1000, all.subspan(1000));
    ASSERT_TRUE(put) << put.error().problems.front();
    ASSERT_TRUE((*sink)->write_at(0, all.first(1000)));
    const auto closed = (*sink)->close();
    ASSERT_TRUE(closed) << closed.error().problems.front();
    EXPECT_EQ(fs::file_size(directory_ / "clip"), bytes.size());
    auto source = store_->open(url_path("clip"));
    ASSERT_TRUE(source) << source.error().problems.front();
    EXPECT_EQ((*source)->size().value(), bytes.size());
    std::vector<std::byte> back(bytes.size() + 100);
    const auto got = (*source)->read_at(0, back);
    ASSERT_TRUE(got) << got.error().problems.front();
    EXPECT_EQ(got.value(), bytes.size());
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), back.begin()));
    EXPECT_EQ((*source)->read_at(bytes.size() + 5, back).value(), 0U);
    source->reset();
    EXPECT_FALSE(store_->create(url_path("clip"))) << "nothing that is there is written";
    EXPECT_EQ(fs::file_size(directory_ / "clip"), bytes.size());
}

TEST_P(NfsByteStore, DirectoriesLinksAndWhatIsThere) {
    ASSERT_TRUE(store_->make_directories(url_path("a/b/c")));
    ASSERT_TRUE(store_->make_directories(url_path("a/b/c"))) << "what is there already";
    std::ofstream(directory_ / "a/file") << "12345";
    fs::create_symlink("b", directory_ / "a/link");
    fs::create_symlink("nothing", directory_ / "a/lost");
    const auto entries = store_->list(url_path("a"));
    ASSERT_TRUE(entries) << entries.error().problems.front();
    ASSERT_EQ(entries.value().size(), 4U);
    const char* const names[] = {"b", "file", "link", "lost"};
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(entries.value()[i].name, names[i]);
    EXPECT_TRUE(entries.value()[0].directory);
    EXPECT_FALSE(entries.value()[1].directory);
    EXPECT_TRUE(entries.value()[2].directory && entries.value()[2].symbolic_link);
    EXPECT_TRUE(!entries.value()[3].directory && entries.value()[3].symbolic_link);
    for (const char* const way : {"a/link", "a//b/", "a/b/../link"}) {
        const auto below = store_->list(url_path(way));
        ASSERT_TRUE(below) << below.error().problems.front();
        ASSERT_EQ(below.value().size(), 1U) << way;
        EXPECT_EQ(below.value()[0].name, "c");
    }
    EXPECT_FALSE(store_->list(url_path("a/file")));
    const auto file = store_->stat(url_path("a/file")).value();
    ASSERT_TRUE(file.has_value());
    EXPECT_EQ(file->bytes, 5U);
    EXPECT_FALSE(file->directory);
    EXPECT_GT(file->modified_s, 1'600'000'000);
    EXPECT_TRUE(store_->stat(url_path("a/link")).value()->directory);
    EXPECT_TRUE(store_->stat(url_path("a/lost")).value()->symbolic_link);
    EXPECT_FALSE(store_->stat(url_path("none")).value().has_value());
    EXPECT_FALSE(store_->stat(url_path("a/file/x")).value().has_value());
    EXPECT_FALSE(store_->make_directories(url_path("a/file/x")));
    EXPECT_FALSE(store_->open(url_path("a")));
    EXPECT_FALSE(store_->list(url_path("none")));
}

TEST_P(NfsByteStore, KnowsAYoungCopyWhoseTimeIsThatOfTheOriginal) {
    fs::create_directory(directory_ / "dir");
    for (const char* const name : {"alone", "dir/listed"}) {
        std::ofstream(directory_ / name) << "12345";
        fs::last_write_time(directory_ / name, fs::file_time_type::clock::now() - std::chrono::hours(5));
    }
    ASSERT_TRUE(store_->list(url_path("dir")));
    for (const char* const name : {"alone", "dir/listed"}) {
        const auto file = store_->stat(url_path(name)).value();
        ASSERT_TRUE(file.has_value()) << name;
        EXPECT_GT(file->changed_s, file->modified_s + 3600) << name;
    }
}

TEST_P(NfsByteStore, ALinkThatLeadsToItselfIsNoFolder) {
    std::ofstream(directory_ / "file") << "12345";
    fs::create_symlink("loop", directory_ / "loop");
    auto place = tests::nfs_place(GetParam(), 1);
    place.timeout = seconds(2);
    const auto entries = storage::make_nfs_byte_store(place, "/export")->list(url_path());
    ASSERT_TRUE(entries) << entries.error().problems.front();
    ASSERT_EQ(entries.value().size(), 2U);
    EXPECT_TRUE(entries.value()[1].symbolic_link && !entries.value()[1].directory);
}

TEST_P(NfsByteStore, ADirectoryOfMany) {
    for (int i = 0; i < 3000; ++i) std::ofstream(directory_ / ("frame." + std::to_string(10'000 + i) + ".dpx"));
    const auto entries = store_->list(url_path());
    ASSERT_TRUE(entries) << entries.error().problems.front();
    ASSERT_EQ(entries.value().size(), 3000U);
    EXPECT_EQ(entries.value().front().name, "frame.10000.dpx");
    EXPECT_EQ(entries.value().back().name, "frame.12999.dpx");
}

TEST_P(NfsByteStore, TheLaterOfTwoWritesToOnePlaceCounts) {
    constexpr std::size_t kBytes = std::size_t{256} << 10;
    auto sink = store_->create(url_path("clip"));
    ASSERT_TRUE(sink);
    std::vector<std::byte> bytes(4 * kBytes);
    for (int round = 1; round <= 40; ++round) {
        for (std::size_t at = 0; at < bytes.size(); at += kBytes) {
            const auto part = std::span(bytes).subspan(at, kBytes);
            std::fill(part.begin(), part.end(), std::byte(round + static_cast<int>(at / kBytes)));
            ASSERT_TRUE((*sink)->write_at(at, part));
        }
    }
    ASSERT_TRUE((*sink)->close());
    std::vector<std::byte> back(bytes.size());
    EXPECT_EQ((*store_->open(url_path("clip")))->read_at(0, back).value(), back.size());
    EXPECT_TRUE(back == bytes);
}

TEST_P(NfsByteStore, ALostWriteIsAnErrorOfTheNextCallOrOfClose) {
    auto sink = store_->create(url_path("unfinished"));
    ASSERT_TRUE(sink);
    ASSERT_TRUE((*sink)->write_at(0, pattern(std::size_t{1} << 20)));
    tests::kill_server();
    auto written = (*sink)->write_at(std::size_t{1} << 20, pattern(std::size_t{1} << 20));
    tests::start_server();
    if (written) written = (*sink)->close();
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error().problems.front(), HasSubstr("unfinished"));
    EXPECT_FALSE((*sink)->close());
}

TEST_P(NfsByteStore, WithoutItsServerEachCallIsAnError) {
    std::ofstream(directory_ / "file") << "12345";
    auto source = store_->open(url_path("file"));
    auto sink = store_->create(url_path("new"));
    ASSERT_TRUE(source && sink);
    tests::kill_server();
    std::array<std::byte, 5> into{};
    std::array<ByteSource::Piece, 1> pieces{{{0, into, 0}}};
    EXPECT_FALSE((*source)->read_at(0, into));
    EXPECT_FALSE((*source)->read_each(pieces));
    EXPECT_FALSE((*source)->size());
    EXPECT_FALSE((*sink)->write_at(0, into) && (*sink)->close());
    EXPECT_FALSE(store_->list(url_path()));
    EXPECT_FALSE(store_->stat(url_path("other")));
    EXPECT_FALSE(store_->open(url_path("other")));
    EXPECT_FALSE(store_->create(url_path("other")));
    EXPECT_FALSE(store_->make_directories(url_path("a/b")));
    EXPECT_FALSE(store_->rename(url_path("file"), url_path("other")));
    EXPECT_FALSE(store_->remove(url_path("file")));
    EXPECT_FALSE(store_->free_bytes(url_path()));
    tests::start_server();
    const auto again = store_->list(url_path());
    EXPECT_TRUE(again) << again.error().problems.front();
    EXPECT_TRUE((*source)->read_at(0, into));
    EXPECT_TRUE(fs::exists(directory_ / "file"));
}

TEST_P(NfsByteStore, RenameReplacesNothing) {
    std::ofstream(directory_ / "one") << "1";
    std::ofstream(directory_ / "two") << "22";
    const auto refused = store_->rename(url_path("one"), url_path("two"));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().problems.front(), HasSubstr("EEXIST"));
    EXPECT_EQ(fs::file_size(directory_ / "two"), 2U);
    ASSERT_TRUE(store_->rename(url_path("one"), url_path("three")));
    EXPECT_FALSE(fs::exists(directory_ / "one"));
    EXPECT_EQ(fs::file_size(directory_ / "three"), 1U);
    fs::create_directory(directory_ / "part");
    fs::create_directory(directory_ / "there");
    EXPECT_FALSE(store_->rename(url_path("part"), url_path("there"))) << "an empty directory neither";
    ASSERT_TRUE(store_->rename(url_path("part"), url_path("whole")));
    EXPECT_TRUE(fs::is_directory(directory_ / "whole"));
}

TEST_P(NfsByteStore, RemovesAndCounts) {
    std::ofstream(directory_ / "file") << "1";
    fs::create_directories(directory_ / "full/x");
    fs::create_symlink("file", directory_ / "link");
    EXPECT_TRUE(store_->remove(url_path("link")));
    EXPECT_TRUE(fs::exists(directory_ / "file"));
    EXPECT_TRUE(store_->remove(url_path("file")));
    EXPECT_FALSE(store_->remove(url_path("file")));
    EXPECT_FALSE(store_->remove(url_path("full")));
    EXPECT_TRUE(store_->remove(url_path("full/x")));
    EXPECT_TRUE(store_->remove(url_path("full")));
    const auto free = store_->free_bytes(url_path("not/yet/there"));
    ASSERT_TRUE(free) << free.error().problems.front();
    const auto here = fs::space(directory_.path()).available;
    EXPECT_GT(free.value(), here / 10 * 9);
    EXPECT_LT(free.value(), here / 10 * 11);
}

TEST_P(NfsByteStore, SaysWhatIsWrong) {
    const auto nowhere =
        storage::make_nfs_byte_store(tests::nfs_place(GetParam(), 1), "/nope/dir")->list("/nope/dir");
    ASSERT_FALSE(nowhere);
    EXPECT_EQ(nowhere.error().kind, ErrorKind::environment);
    EXPECT_THAT(nowhere.error().problems.front(), HasSubstr("nfs://127.0.0.1/nope/dir: no such export"));
    RemotePlace nobody = tests::nfs_place(GetParam(), 1);
    nobody.uid = 4711;
    nobody.gid = 4711;
    chmod(directory_.path().c_str(), 0700);
    const auto refused = storage::make_nfs_byte_store(nobody, "/export")->list(url_path());
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().problems.front(), HasSubstr("EACCES"));
    EXPECT_THAT(refused.error().problems.front(), HasSubstr("user 4711"));
}

INSTANTIATE_TEST_SUITE_P(All, NfsByteStore, testing::Values(3U, 4U), [](const auto& instance) {
    return "v" + std::to_string(instance.param);
});

}  // namespace
}  // namespace streamsim
