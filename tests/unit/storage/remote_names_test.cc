#include "storage/remote/remote_names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace streamsim::storage {
namespace {

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
