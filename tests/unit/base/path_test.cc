#include "base/path.h"

#include <gtest/gtest.h>

#include "base/fnv1a.h"

namespace streamsim {
namespace {

TEST(Path, ParentOfAPath) {
    EXPECT_EQ(parent_of("/a/b"), "/a");
    EXPECT_EQ(parent_of("/a/b/"), "/a");
    EXPECT_EQ(parent_of("/a//b"), "/a");
    EXPECT_EQ(parent_of("/a"), "/");
    EXPECT_EQ(parent_of("/"), "/");
    EXPECT_EQ(parent_of("//"), "/");
    EXPECT_EQ(parent_of("a/b"), "a");
    EXPECT_EQ(parent_of("a"), ".");
    EXPECT_EQ(parent_of(""), ".");
    EXPECT_EQ(parent_of("C:/a"), "C:");
    EXPECT_EQ(parent_of("C:"), "C:");
}

TEST(Path, JoinAddsOneSlash) {
    EXPECT_EQ(join_path("/a", "b"), "/a/b");
    EXPECT_EQ(join_path("/a/", "b"), "/a/b");
    EXPECT_EQ(join_path("", "b"), "b");
}

TEST(Path, BaseNameAndExtension) {
    EXPECT_EQ(base_name("/a/shot.0001.DPX"), "shot.0001.DPX");
    EXPECT_EQ(base_name("/a/b//"), "b");
    EXPECT_EQ(base_name("a"), "a");
    EXPECT_EQ(extension_of("shot.0001.DPX"), "dpx");
    EXPECT_EQ(extension_of(".hidden"), "");
    EXPECT_EQ(extension_of("name"), "");
}

TEST(Fnv1a, KnownValues) {
    static_assert(fnv1a("") == 0xcbf29ce484222325u);
    static_assert(fnv1a("a") == 0xaf63dc4c8601ec8cu);
    static_assert(fnv1a("foobar") == 0x85944171f73967e8u);
    static_assert(fnv1a("bar", fnv1a("foo")) == fnv1a("foobar"));
}

}  // namespace
}  // namespace streamsim
