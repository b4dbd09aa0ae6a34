// The contract of streamsim/byte_store.h, tested against SMB, and checked in the server's own directory; and
// the errors of a server that refuses the user.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "conformance/storage_backends.h"
#include "real/smb_lab.h"
#include "storage/backends.h"
#include "storage/remote/remote_names.h"

namespace streamsim {
namespace {

using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

class SmbByteStore : public testing::Test {
protected:
    SmbByteStore() { chmod(directory_.path().c_str(), 0777); }
    std::string at(const std::string& name = "") const {
        return tests::shared(directory_.path()) + (name.empty() ? "" : "/" + name);
    }
    void make(const std::string& name, const std::string& text) const {
        std::ofstream(directory_ / name) << text;
        chmod((directory_ / name).c_str(), 0666);
    }

    TemporaryDirectory directory_;
    std::unique_ptr<ByteStore> store_ =
        storage::make_smb_byte_store(tests::smb_place(1), "/media", tests::smb_user());
};

TEST_F(SmbByteStore, WritesAndReads) {
    std::vector<std::byte> bytes((std::size_t{9} << 20) + 12'345);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = test_byte(7, i);
    auto sink = store_->create(at("clip"));
    ASSERT_TRUE(sink) << sink.error().problems.front();
    const std::span<const std::byte> all(bytes);
    ASSERT_TRUE((*sink)->write_at(1000, all.subspan(1000)));
    ASSERT_TRUE((*sink)->write_at(0, all.first(1000)));
    const auto closed = (*sink)->close();
    ASSERT_TRUE(closed) << closed.error().problems.front();
    EXPECT_EQ(fs::file_size(directory_ / "clip"), bytes.size());
    auto source = store_->open(at("clip"));
    ASSERT_TRUE(source) << source.error().problems.front();
    EXPECT_EQ((*source)->size().value(), bytes.size());
    std::vector<std::byte> back(bytes.size() + 100);
    EXPECT_EQ((*source)->read_at(0, back).value(), bytes.size());
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), back.begin()));
    EXPECT_EQ((*source)->read_at(bytes.size() + 5, back).value(), 0U);
    EXPECT_EQ((*source)->read_at(4099, std::span(back).first(1001)).value(), 1001U);
    EXPECT_TRUE(std::equal(back.begin(), back.begin() + 1001, bytes.begin() + 4099));
    EXPECT_FALSE(store_->create(at("clip"))) << "nothing that is there is written";
    EXPECT_EQ(fs::file_size(directory_ / "clip"), bytes.size());
}

TEST_F(SmbByteStore, DirectoriesAndWhatIsInThem) {
    const std::string odd = "sp ace, 100%41 & #1 \xC3\xA4";
    ASSERT_TRUE(store_->make_directories(at(odd + "/b/c")));
    ASSERT_TRUE(store_->make_directories(at(odd + "/b/c"))) << "what is there already";
    EXPECT_TRUE(fs::is_directory(directory_ / (odd + "/b/c")));
    make(odd + "/file", "12345");
    const auto entries = store_->list(at(odd));
    ASSERT_TRUE(entries) << entries.error().problems.front();
    ASSERT_EQ(entries->size(), 2U);
    EXPECT_EQ(entries->at(0).name, "b");
    EXPECT_TRUE(entries->at(0).directory);
    EXPECT_EQ(entries->at(1).name, "file");
    EXPECT_FALSE(entries->at(1).directory);
    const auto file = store_->stat(at(odd + "/file")).value();
    ASSERT_TRUE(file.has_value());
    EXPECT_EQ(file->bytes, 5U);
    EXPECT_GT(file->modified_s, 1'600'000'000);
    EXPECT_TRUE(store_->stat(at(odd)).value()->directory);
    EXPECT_FALSE(store_->stat(at("none")).value().has_value());
    EXPECT_FALSE(store_->make_directories(at(odd + "/file/x")));
    EXPECT_FALSE(store_->open(at(odd)));
    EXPECT_FALSE(store_->list(at("none")));
}

/// Samba answers with the time of modification, others with the time of the last change.
TEST_F(SmbByteStore, HasTheChangeTimeThatTheServerTells) {
    fs::create_directory(directory_ / "dir");
    for (const char* const name : {"alone", "dir/listed"}) {
        std::ofstream(directory_ / name) << "12345";
        fs::last_write_time(directory_ / name, fs::file_time_type::clock::now() - std::chrono::hours(5));
    }
    ASSERT_TRUE(store_->list(at("dir")));
    for (const char* const name : {"alone", "dir/listed"}) {
        const auto file = store_->stat(at(name)).value();
        ASSERT_TRUE(file.has_value()) << name;
        EXPECT_GE(file->changed_s, file->modified_s) << name;
    }
}

TEST_F(SmbByteStore, ADirectoryOfMany) {
    for (int i = 0; i < 1500; ++i) std::ofstream(directory_ / ("frame." + std::to_string(10'000 + i) + ".dpx"));
    const auto entries = store_->list(at());
    ASSERT_TRUE(entries) << entries.error().problems.front();
    ASSERT_EQ(entries->size(), 1500U);
    EXPECT_EQ(entries->front().name, "frame.10000.dpx");
    EXPECT_EQ(entries->back().name, "frame.11499.dpx");
}

TEST_F(SmbByteStore, WhatAListHasSaidDoesNotOutliveAChange) {
    const auto names = [this] {
        std::string all;
        const auto entries = store_->list(at());
        for (const DirectoryEntry& entry : *entries) all += entry.name + " ";
        return all;
    };
    make("a", "abc");
    EXPECT_EQ(names(), "a ");
    EXPECT_EQ((*store_->stat(at("a")))->bytes, 3U);
    EXPECT_GT((*store_->stat(at("a")))->modified_s, 1'600'000'000);
    auto sink = store_->create(at("b"));
    ASSERT_TRUE(sink);
    EXPECT_EQ(names(), "a b ");
    ASSERT_TRUE((*sink)->write_at(0, std::vector<std::byte>(5)));
    ASSERT_TRUE((*sink)->close());
    EXPECT_EQ((*store_->stat(at("b")))->bytes, 5U);
    EXPECT_EQ((*store_->open(at("b")))->size().value(), 5U);
    ASSERT_TRUE(store_->rename(at("b"), at("c")));
    EXPECT_EQ(names(), "a c ");
    ASSERT_TRUE(store_->make_directories(at("d")));
    EXPECT_EQ(names(), "a c d ");
    EXPECT_TRUE(store_->stat(at("d")).value()->directory);
    ASSERT_TRUE(store_->remove(at("a")));
    EXPECT_EQ(names(), "c d ");
    EXPECT_FALSE(store_->stat(at("a")).value());
    ASSERT_TRUE(store_->remove(at("d")));
    EXPECT_FALSE(store_->stat(at("d")).value());
}

TEST_F(SmbByteStore, SetAsideByAWholeNameDropsWhatAListHasSaid) {
    const auto store =
        storage::by_whole_names(storage::make_smb_byte_store(tests::smb_place(1), "/media", tests::smb_user()));
    const std::string host = "smb://server";
    make("a", "abc");
    ASSERT_TRUE(store->list(host + at()));
    EXPECT_EQ((*store->stat(host + at("a")))->bytes, 3U);
    make("other", "of another client");
    fs::rename(directory_ / "other", directory_ / "a");
    ASSERT_TRUE(store->set_aside(host + at("a"), host + at("b")));
    EXPECT_EQ((*store->stat(host + at("a")))->bytes, 17U);
}

TEST_F(SmbByteStore, RenamesRemovesAndCounts) {
    make("one", "1");
    make("two", "22");
    const auto refused = store_->rename(at("one"), at("two"));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().problems.front(), HasSubstr("EEXIST"));
    EXPECT_EQ(fs::file_size(directory_ / "two"), 2U);
    ASSERT_TRUE(store_->make_directories(at("part/x")));
    ASSERT_TRUE(store_->rename(at("part"), at("whole")));
    EXPECT_TRUE(fs::is_directory(directory_ / "whole/x"));
    EXPECT_FALSE(store_->remove(at("whole"))) << "it is not empty";
    EXPECT_TRUE(store_->remove(at("whole/x")));
    EXPECT_TRUE(store_->remove(at("whole")));
    EXPECT_FALSE(fs::exists(directory_ / "whole"));
    EXPECT_TRUE(store_->remove(at("one")));
    EXPECT_FALSE(store_->remove(at("one")));
    const auto free = store_->free_bytes(at("not/yet/there"));
    ASSERT_TRUE(free) << free.error().problems.front();
    const auto here = fs::space(directory_.path()).available;
    EXPECT_GT(free.value(), here / 10 * 9);
    EXPECT_LT(free.value(), here / 10 * 11);
}

TEST_F(SmbByteStore, LooksAgainAfterTheServerWasAway) {
    make("file", "12345");
    const auto source = store_->open(at("file"));
    ASSERT_TRUE(source);
    auto sink = store_->create(at("unfinished"));
    ASSERT_TRUE(sink);
    tests::smb_lab().kill("smb");
    tests::smb_lab().start("smb");
    EXPECT_EQ((*source)->size().value(), 5U);
    EXPECT_TRUE(store_->stat(at("file")).value().has_value());
    const auto written = (*sink)->write_at(0, std::vector<std::byte>(10));
    ASSERT_FALSE(written) << "the write may or may not have been done";
    EXPECT_THAT(written.error().problems.front(), HasSubstr("unfinished"));
}

TEST_F(SmbByteStore, TwoFilesAreWrittenInTurn) {
    constexpr std::size_t kPart = (std::size_t{3} << 20) + 7, kParts = 4;
    std::vector<std::byte> bytes(kPart * kParts);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = test_byte(7, i);
    const auto part = [&](std::size_t i) {
        return std::span<const std::byte>(bytes).subspan(i * kPart, kPart);
    };
    auto one = store_->create(at("one"));
    auto two = store_->create(at("two"));
    ASSERT_TRUE(one && two);
    for (std::size_t i = 0; i < kParts; ++i) {
        const std::size_t back = kParts - 1 - i;
        ASSERT_TRUE((*one)->write_at(i * kPart, part(i)));
        ASSERT_TRUE((*two)->write_at(back * kPart, part(back)));
    }
    EXPECT_FALSE(store_->stat(at("three")).value()) << "other calls go through the same connection";
    ASSERT_TRUE((*one)->write_at(0, part(0))) << "again";
    ASSERT_TRUE((*two)->close());
    ASSERT_TRUE((*one)->close());
    for (const char* const name : {"one", "two"}) {
        ASSERT_EQ(fs::file_size(directory_ / name), bytes.size());
        std::vector<std::byte> back(bytes.size());
        EXPECT_EQ((*store_->open(at(name)))->read_at(0, back).value(), bytes.size());
        EXPECT_TRUE(back == bytes) << name;
    }
}

TEST_F(SmbByteStore, ALostWriteIsAnErrorOfTheNextCallOrOfClose) {
    auto sink = store_->create(at("unfinished"));
    ASSERT_TRUE(sink);
    ASSERT_TRUE((*sink)->write_at(0, std::vector<std::byte>(std::size_t{9} << 20)));
    tests::smb_lab().kill("smb");
    tests::smb_lab().start("smb");
    auto written = (*sink)->write_at(std::size_t{9} << 20, std::vector<std::byte>(10));
    if (written) written = (*sink)->close();
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error().problems.front(), HasSubstr("unfinished"));
    EXPECT_FALSE((*sink)->close());
}

/// Returns the error of inspecting a directory.
std::string refusal(const RemotePlace& place, const std::string& directory, const Credentials& user) {
    const auto entries = storage::make_smb_byte_store(place, directory, user)->list(directory);
    if (entries) return "(it worked)";
    EXPECT_EQ(entries.error().kind, ErrorKind::environment);
    EXPECT_THAT(entries.error().problems.front(), Not(HasSubstr(user.password)));
    return entries.error().problems.front();
}

TEST(SmbRefusals, NameTheShareAndTheReason) {
    const Credentials right = tests::smb_user();
    Credentials wrong = right;
    wrong.password = "open sesame";
    const RemotePlace place = tests::smb_place(1);
    EXPECT_EQ(refusal(place, "/media", right), "(it worked)");
    EXPECT_THAT(refusal(place, "/media", wrong),
                HasSubstr("smb://127.0.0.1/media: the server refuses the user"));
    EXPECT_THAT(refusal(place, "/media", {"", "", "x"}),
                HasSubstr("smb://127.0.0.1/media: the server refuses guests"));
    EXPECT_THAT(refusal(place, "/nope", right), HasSubstr("smb://127.0.0.1/nope: 127.0.0.1 has no share"));
    EXPECT_THAT(refusal(place, "/media/none", right), HasSubstr("ENOENT"));
    RemotePlace elsewhere = place;
    elsewhere.port = 9;
    EXPECT_THAT(refusal(elsewhere, "/media", right), HasSubstr("ECONNREFUSED"));
    elsewhere.host = "nobody.invalid";
    EXPECT_THAT(refusal(elsewhere, "/media", right), HasSubstr("nobody.invalid is not known"));
}

TEST(SmbRefusals, AServerThatNeverAnswersIsNotWaitedForLong) {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(listen(listener, 4), 0);
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    RemotePlace place = tests::smb_place(1);
    place.port = ntohs(address.sin_port);
    place.timeout = milliseconds(500);
    EXPECT_THAT(refusal(place, "/media", tests::smb_user()), HasSubstr("does not answer within 0.5 s"));
    close(listener);
}

}  // namespace
}  // namespace streamsim
