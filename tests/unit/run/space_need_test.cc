#include "run/space_need.h"

#include <gmock/gmock.h>

namespace streamsim {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kGiB = 1ull << 30;

SpaceNeed need(std::uint64_t media, std::uint64_t load, std::uint64_t fill = 0) {
    return {"/mnt/x", media * kGiB, load * kGiB, fill * kGiB, 100 * kGiB, 200 * kGiB};
}

TEST(SpaceNeed, a_part_of_each_volume_is_kept_free) {
    EXPECT_EQ(kept_free_bytes(1000 * kGiB), 10 * kGiB) << "1 %";
    EXPECT_EQ(kept_free_bytes(50 * kGiB), kGiB) << "1 GiB at least";
    EXPECT_EQ(kept_free_bytes(10 * kGiB), kGiB / 2) << "5 % at most";
    EXPECT_EQ(kept_free_bytes(0), 0u);
}

TEST(SpaceNeed, half_of_the_free_space_is_for_media_and_a_tenth_for_files_of_meters) {
    EXPECT_FALSE(need(50, 0).needs_consent());
    EXPECT_TRUE(need(51, 0).needs_consent());
    EXPECT_FALSE(need(0, 10).needs_consent());
    EXPECT_TRUE(need(0, 11).needs_consent());
    EXPECT_FALSE(need(40, 10).needs_consent());
    EXPECT_TRUE(need(45, 10).needs_consent()) << "both together";
    EXPECT_TRUE(need(0, 0, 1).needs_consent()) << "what fills a volume always";
    EXPECT_FALSE(SpaceNeed{}.needs_consent());
}

TEST(SpaceNeed, meters_and_fill_levels_leave_what_is_kept_free) {
    EXPECT_TRUE(check_space(need(100, 0))) << "media are checked where they are planned";
    EXPECT_FALSE(check_space(need(101, 0)));
    EXPECT_TRUE(check_space(need(0, 98)));
    const auto refused = check_space(need(0, 9, 90));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::environment);
    EXPECT_THAT(refused.error().problems.front(), HasSubstr("have to stay free"));
}

TEST(SpaceNeed, the_sentence_names_bytes_target_free_space_and_fill_level) {
    EXPECT_EQ(
        need(0, 10, 30).sentence(),
        "42.9 GB would be written to /mnt/x, where 107.4 GB are free; the volume is 50.0 % full and would "
        "be 70.0 % full");
    SpaceNeed of_a_server = need(60, 0);
    of_a_server.volume_bytes = 0;
    EXPECT_EQ(of_a_server.sentence(), "64.4 GB would be written to /mnt/x, where 107.4 GB are free");
}

}  // namespace
}  // namespace streamsim
