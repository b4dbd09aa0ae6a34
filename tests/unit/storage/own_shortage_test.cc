#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>

#include "storage/errno_text.h"

namespace streamsim::storage {
namespace {

TEST(OwnShortage, IsToldInsteadOfAnAnswerThatDidNotCome) {
    EXPECT_EQ(error_or_own_shortage(ETIMEDOUT), ETIMEDOUT);
    rlimit usual{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
    const rlimit none{0, usual.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    const int told = error_or_own_shortage(ETIMEDOUT);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);
    EXPECT_EQ(told, EMFILE);
    EXPECT_EQ(error_or_own_shortage(EIO), EIO);
}

}  // namespace
}  // namespace streamsim::storage
