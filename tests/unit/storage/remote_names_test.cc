#include "storage/remote/remote_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace streamsim::storage {
namespace {

using ::testing::ElementsAre;

/// Records the paths of each call.
class RecordingStore final : public ByteStore {
public:
    explicit RecordingStore(std::vector<std::string>& calls) : calls_(calls) {}

    Result<std::vector<DirectoryEntry>> list(const std::string& path) override {
        calls_.push_back("list " + path);
        return std::vector<DirectoryEntry>{};
    }
    Result<std::optional<FileInfo>> stat(const std::string& path) override {
        calls_.push_back("stat " + path);
        return std::optional<FileInfo>{};
    }
    Result<std::unique_ptr<ByteSource>> open(const std::string& path) override {
        calls_.push_back("open " + path);
        return environment_error("none");
    }
    Result<std::unique_ptr<ByteSink>> create(const std::string& path) override {
        calls_.push_back("create " + path);
        return environment_error("none");
    }
    Result<void> make_directories(const std::string& path) override {
        calls_.push_back("make_directories " + path);
        return {};
    }
    Result<void> rename(const std::string& from, const std::string& to) override {
        calls_.push_back("rename " + from + " " + to);
        return {};
    }
    Result<bool> set_aside(const std::string& from, const std::string& to) override {
        calls_.push_back("set_aside " + from + " " + to);
        return false;
    }
    Result<void> remove(const std::string& path) override {
        calls_.push_back("remove " + path);
        return {};
    }
    Result<std::uint64_t> free_bytes(const std::string& path) override {
        calls_.push_back("free_bytes " + path);
        return std::uint64_t{0};
    }
    Result<void> evict(const std::string& path) override {
        calls_.push_back("evict " + path);
        return {};
    }

private:
    std::vector<std::string>& calls_;
};

TEST(ByWholeNames, EachCallReachesTheStoreWithThePathOnTheServer) {
    std::vector<std::string> calls;
    const auto store = by_whole_names(std::make_unique<RecordingStore>(calls));
    const std::string at = "nfs://host/export";
    (void)store->list(at);
    (void)store->stat(at + "/a");
    (void)store->open(at + "/a");
    (void)store->create(at + "/a");
    (void)store->make_directories(at + "/d");
    (void)store->rename(at + "/a", at + "/b");
    (void)store->set_aside(at + "/a", at + "/b");
    (void)store->remove(at + "/a");
    (void)store->free_bytes(at);
    (void)store->evict(at + "/a");
    EXPECT_THAT(calls, ElementsAre("list /export", "stat /export/a", "open /export/a", "create /export/a",
                                   "make_directories /export/d", "rename /export/a /export/b",
                                   "set_aside /export/a /export/b", "remove /export/a", "free_bytes /export",
                                   "evict /export/a"));
}

TEST(PathOnServer, IsWhatComesBehindTheHost) {
    EXPECT_STREQ(path_on_server("nfs://host/export/clip.mov"), "/export/clip.mov");
    EXPECT_STREQ(path_on_server("smb://[fe80::1]/share/a b"), "/share/a b");
    EXPECT_STREQ(path_on_server("nfs://host"), "/");
    EXPECT_STREQ(path_on_server("/export/with://in it"), "/export/with://in it");
    EXPECT_STREQ(path_on_server(""), "");
}

TEST(Resolve, NumbersAreAddressesAndNamesAreLookedUp) {
    RemotePlace place;
    place.host = "127.0.0.1";
    ASSERT_TRUE(resolve(place));
    EXPECT_EQ(place.addresses, std::vector<std::string>{"127.0.0.1"});
    place.addresses = {"127.0.0.2", "::1"};
    ASSERT_TRUE(resolve(place));
    EXPECT_EQ(place.addresses, (std::vector<std::string>{"127.0.0.2", "::1"}));
    place.addresses.clear();
    place.host = "localhost";
    ASSERT_TRUE(resolve(place));
    EXPECT_FALSE(place.addresses.empty());
    EXPECT_EQ(of_one_family(place.addresses), place.addresses);
}

TEST(Resolve, ANodeWithAddressesOfTwoFamiliesIsOneNode) {
    EXPECT_THAT(of_one_family({"fe80::1", "10.0.0.1", "fe80::2"}), ElementsAre("fe80::1", "fe80::2"));
    EXPECT_THAT(of_one_family({"10.0.0.1", "fe80::1", "10.0.0.2"}), ElementsAre("10.0.0.1", "10.0.0.2"));
    EXPECT_TRUE(of_one_family({}).empty());
}

TEST(Resolve, ANameThatNobodyKnowsIsNamed) {
    for (const auto protocol : {RemotePlace::Protocol::nfs, RemotePlace::Protocol::smb}) {
        RemotePlace place;
        place.protocol = protocol;
        place.host = "no such host";
        const auto found = resolve(place);
        ASSERT_FALSE(found);
        EXPECT_NE(found.error().problems.front().find("://no such host: no such host: "), std::string::npos)
            << found.error().problems.front();
    }
}

}  // namespace
}  // namespace streamsim::storage
