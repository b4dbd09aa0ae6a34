#include "storage/remote/remote_names.h"

#include <gtest/gtest.h>

namespace streamsim::storage {
namespace {

TEST(PathOnServer, IsWhatComesBehindTheHost) {
    EXPECT_STREQ(path_on_server("nfs://host/export/clip.mov"), "/export/clip.mov");
    EXPECT_STREQ(path_on_server("smb://[fe80::1]/share/a b"), "/share/a b");
    EXPECT_STREQ(path_on_server("nfs://host"), "/");
    EXPECT_STREQ(path_on_server("/export/with://in it"), "/export/with://in it");
    EXPECT_STREQ(path_on_server(""), "");
}

}  // namespace
}  // namespace streamsim::storage
