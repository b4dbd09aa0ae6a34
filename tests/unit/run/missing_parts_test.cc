// --version names the parts that a program was built without.
#include "run/backends/missing_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/backends/backends.h"

namespace streamsim::run {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(MissingParts, AWholeProgramLacksNothing) {
    EXPECT_THAT(missing_parts({{"uring", "threads", "nfs", "smb", "null", "sim"}, true, true, true}),
                IsEmpty());
}

TEST(MissingParts, EachIsNamedWithItsReplacement) {
    EXPECT_THAT(missing_parts({{"threads", "null", "sim"}, false, false, false}),
                ElementsAre("io_uring", "nfs:// (play the mounted share)", "smb:// (play the mounted share)",
                            "--metrics and --web", "making EXR frames", "MPI"));
}

TEST(MissingParts, OneAlone) {
    EXPECT_THAT(missing_parts({{"uring", "threads", "nfs", "null", "sim"}, true, true, true}),
                ElementsAre("smb:// (play the mounted share)"));
}

TEST(MissingParts, ThisProgramHasTheBackendsThatItNames) {
    EXPECT_EQ(built_in().backends, backend_names());
}

}  // namespace
}  // namespace streamsim::run
