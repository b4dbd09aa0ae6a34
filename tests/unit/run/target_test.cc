#include "run/target.h"

#include <gtest/gtest.h>

namespace streamsim {
namespace {

TEST(Target, is_told_by_its_form) {
    EXPECT_EQ(parse_target("/mnt/x")->path, "/mnt/x");
    EXPECT_EQ(parse_target("shot.%07d.dpx")->path, "shot.%07d.dpx");
    EXPECT_EQ(parse_target("file:rel/x")->path, "rel/x");
    EXPECT_EQ(parse_target("file:///mnt/x")->path, "/mnt/x");
    EXPECT_EQ(parse_target("file://localhost/mnt/x")->path, "/mnt/x");
    EXPECT_EQ(parse_target("null:")->kind, Target::Kind::null);
    EXPECT_EQ(parse_target("sim:null")->kind, Target::Kind::null_virtual);
    EXPECT_EQ(parse_target("file:/x")->url, "file:/x");
    for (const char* wrong :
         {"", "nfs://host/x", "smb://host/x", "sim:h500", "null:x", "file:", "file://host/x", "file://"}) {
        EXPECT_FALSE(parse_target(wrong).has_value()) << wrong;
    }
}

}  // namespace
}  // namespace streamsim
