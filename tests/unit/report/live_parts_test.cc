#include <gmock/gmock.h>

#include <optional>
#include <vector>

#include "view/live_lines.h"
#include "view/terminal.h"

namespace streamsim::report {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Scroll, MovesOneStreamOrAPage) {
    view::Scroll scroll;
    const std::vector<std::size_t> order = {5, 4, 3, 2, 1, 0};
    scroll.handle(view::Key::down, order, 3);
    EXPECT_EQ(scroll.selected, 5u) << "the first key chooses the first in view";
    scroll.handle(view::Key::down, order, 3);
    EXPECT_EQ(scroll.selected, 4u);
    EXPECT_EQ(scroll.top, 0u);
    scroll.handle(view::Key::page_down, order, 3);
    EXPECT_EQ(scroll.selected, 1u);
    EXPECT_EQ(scroll.top, 3u);
    scroll.handle(view::Key::page_down, order, 3);
    EXPECT_EQ(scroll.selected, 0u);
    EXPECT_EQ(scroll.top, 3u);
    scroll.handle(view::Key::home, order, 3);
    EXPECT_EQ(scroll.selected, 5u);
    EXPECT_EQ(scroll.top, 0u);
    scroll.handle(view::Key::up, order, 3);
    EXPECT_EQ(scroll.selected, 5u);
    scroll.handle(view::Key::end, order, 3);
    EXPECT_EQ(scroll.selected, 0u);
    EXPECT_EQ(scroll.top, 3u);
    scroll.handle(view::Key::page_up, order, 3);
    EXPECT_EQ(scroll.selected, 3u);
    EXPECT_EQ(scroll.top, 0u);
    scroll.handle(view::Key::worst_first, order, 3);
    EXPECT_TRUE(scroll.worst_first);
    view::Scroll nothing;
    nothing.handle(view::Key::down, {}, 3);
    EXPECT_FALSE(nothing.selected);
}

TEST(StreamView, TakesOverProgress) {
    StreamProgress progress;
    view::StreamView view;
    view.read(progress);
    EXPECT_EQ(view.margin_min_ns, std::nullopt);
    EXPECT_EQ(view.margin_lately_ns, std::nullopt);
    progress.margin_min_ns = -5;
    progress.margin_lately_ns = 7;
    progress.bad = 3;
    progress.state = StreamState::playing;
    for (std::int64_t i = 1; i <= 20; ++i) {
        progress.misses.add(
            {i, static_cast<std::uint64_t>(i), FrameKind::failed, DropReason::missing, i == 20});
    }
    view.read(progress);
    EXPECT_EQ(view.margin_min_ns, -5);
    EXPECT_EQ(view.margin_lately_ns, 7);
    EXPECT_EQ(view.bad, 3U);
    EXPECT_EQ(view.state, StreamState::playing);
    ASSERT_EQ(view.misses.size(), RecentMisses::kKept);
    EXPECT_EQ(view.misses.front().at_ns, 20);
    EXPECT_TRUE(view.misses.front().stall);
    EXPECT_EQ(view.misses.back().at_ns, 13);
    EXPECT_EQ(view.misses.back().reason, DropReason::missing);
    EXPECT_EQ(view.misses.back().kind, FrameKind::failed);
    EXPECT_FALSE(view.misses.back().stall);
}

TEST(SparkChart, FillsItsColumns) {
    using Values = std::vector<std::optional<double>>;
    const auto row = [](const Values& values, double most, std::size_t columns, bool least, bool utf8) {
        return view::spark_chart(values, most, {columns, 1, 0, least, utf8})[0];
    };
    EXPECT_EQ(row({0, 1, 4, 8}, 8, 4, false, false), "..-#");
    EXPECT_EQ(row({0, 8, std::nullopt}, 8, 5, false, true), "\u2581\u2588 ");
    EXPECT_EQ(row({8, 1, 8, 8, 8, 8}, 8, 3, true, false), ".##");
    EXPECT_EQ(row({8, 1, 8, 8, 1, 1}, 8, 3, false, false), "##.");
    EXPECT_EQ(row({3.5}, 8, 1, true, false), "-") << "a begun eighth counts";
    EXPECT_EQ(row({-5}, 8, 1, true, false), ".");
    EXPECT_EQ(row(Values{}, 8, 3, true, false), "");
    EXPECT_EQ(row({1}, 0, 1, true, false), " ");
    EXPECT_EQ(row({1, 8}, 8, 7, false, false), "...###") << "a short run is as wide";
    EXPECT_EQ(view::spark_chart({1, 8}, 8, {40, 1, 10, false, false})[0], "....####") << "2 of 10 points";
    EXPECT_THAT(view::spark_chart({1, 4, 5, 8}, 8, {4, 2, 0, false, false}), ElementsAre("  .#", ".###"));
}

TEST(Terminal, ClipsBetweenCharacters) {
    EXPECT_EQ(view::clip("\xc3\xa9\xc3\xa9\xc3\xa9", 2), "\xc3\xa9\xc3\xa9");
    EXPECT_THAT(view::clip("abc", 0), IsEmpty());
    EXPECT_THAT(view::clip("abc", -1), IsEmpty());
}

}  // namespace
}  // namespace streamsim::report
