#include "view/live_view.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <string>

#include "view/progress_bar.h"
#include "view/terminal.h"

namespace streamsim {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

StreamView stream(const std::string& label, std::uint64_t bad = 0, std::int64_t margin_ns = 31'200'000) {
    StreamView out;
    out.label = label;
    out.frames_total = 240;
    out.period_ns = 41'666'666;
    out.readahead = 8;
    out.due = 120;
    out.on_time = 120 - bad;
    out.bad = bad;
    out.buffered = 8;
    out.margin_min_ns = margin_ns;
    return out;
}

ViewState state() {
    ViewState out;
    out.title = "3 streams of dpx12 at 24 fps from /mnt/x";
    out.elapsed_ns = 5'000'000'000;
    out.total_ns = 10'000'000'000;
    out.bytes_per_s = 4.7e9;
    out.required_bytes_per_s = 4.8e9;
    out.streams = {stream("0 dpx12"), stream("1 dpx12", 0, 4'000'000), stream("10 dpx12", 7)};
    return out;
}

/// What a file descriptor was given.
class Pipe {
public:
    Pipe() { EXPECT_EQ(pipe2(ends_.data(), O_CLOEXEC), 0); }
    ~Pipe() {
        close(ends_[0]);
        close(ends_[1]);
    }
    int in() const { return ends_[1]; }
    std::string text() const {
        std::array<char, 4096> buffer{};
        fcntl(ends_[0], F_SETFL, O_NONBLOCK);
        const ssize_t size = read(ends_[0], buffer.data(), buffer.size());
        return size > 0 ? std::string(buffer.data(), static_cast<std::size_t>(size)) : std::string();
    }

private:
    std::array<int, 2> ends_{};
};

TEST(LiveLines, ShowAHeaderAndALinePerStream) {
    EXPECT_THAT(
        live_lines(state(), 120, 24),
        ElementsAre("3 streams of dpx12 at 24 fps from /mnt/x",
                    "5.0 s of 10.0 s  4700.0 MB/s of 4800.0 required  7 not in time",
                    "ok    0 dpx12  [#####.....] 120/240  0 not in time  tightest 31.2 ms  buffer 8/8",
                    "TIGHT 1 dpx12  [#####.....] 120/240  0 not in time  tightest 4.0 ms  buffer 8/8",
                    "DROPS 10 dpx12 [#####.....] 120/240  7 not in time  tightest 31.2 ms  buffer 8/8"));
}

TEST(LiveLines, NeverExceedTheTerminal) {
    ViewState crowded = state();
    for (int i = 0; i < 500; ++i) crowded.streams.push_back(stream(std::to_string(i), 1));
    for (int rows = 0; rows < 12; ++rows) {
        for (const int columns : {1, 20, 80}) {
            const auto lines = live_lines(crowded, columns, rows);
            EXPECT_THAT(lines, SizeIs(rows));
            for (const auto& line : lines) EXPECT_LE(line.size(), static_cast<std::size_t>(columns));
        }
    }
}

TEST(LiveLines, KeepTheWorstStreamsAndCountTheOthers) {
    const auto lines = live_lines(state(), 120, 4);
    ASSERT_THAT(lines, SizeIs(4));
    EXPECT_THAT(lines[2], StartsWith("DROPS 10 dpx12"));
    EXPECT_EQ(lines[3], "and 2 more, 0 not in time");
}

TEST(LiveLines, SayThatPrerollIsNotPlay) {
    ViewState preroll = state();
    preroll.elapsed_ns = 0;
    preroll.streams[0].margin_min_ns.reset();
    const auto lines = live_lines(preroll, 120, 24);
    EXPECT_THAT(lines[1], StartsWith("filling the read-ahead  "));
    EXPECT_THAT(lines[2], AllOf(StartsWith("ok "), EndsWith("not in time  buffer 8/8")));
}

TEST(LiveLines, HaveNoDeadlinesToShowAtFullSpeed) {
    ViewState fast = state();
    fast.streams = {stream("0 dpx12")};
    fast.streams[0].period_ns = 0;
    fast.streams[0].frames_total = 0;
    fast.streams[0].bytes = 5'000'000'000;
    EXPECT_EQ(live_lines(fast, 120, 24)[2], "ok    0 dpx12  120 frames, 5.0 GB");
}

TEST(LiveLines, ObeyNoControlCharacters) {
    ViewState nasty = state();
    nasty.title = "from /mnt/\x1b[2J\n";
    EXPECT_EQ(live_lines(nasty, 120, 24)[0], "from /mnt/?[2J?");
}

TEST(StreamView, TakesOverProgress) {
    StreamProgress progress;
    StreamView view;
    view.read(progress);
    EXPECT_EQ(view.margin_min_ns, std::nullopt);
    progress.margin_min_ns = -5;
    progress.bad = 3;
    view.read(progress);
    EXPECT_EQ(view.margin_min_ns, -5);
    EXPECT_EQ(view.bad, 3U);
}

TEST(LiveView, DrawsOverItselfAndLeavesNothing) {
    Pipe pipe;
    {
        LiveView view(pipe.in(), true);
        view.draw(state());
        EXPECT_THAT(pipe.text(),
                    AllOf(HasSubstr("\x1b[31mDROPS\x1b[0m 10 dpx12"), HasSubstr("\x1b[33mTIGHT\x1b[0m")));
        view.draw(state());
        EXPECT_THAT(pipe.text(), StartsWith("\x1b[5A\r\x1b[J"));
    }
    EXPECT_EQ(pipe.text(), "\x1b[5A\r\x1b[J");
    EXPECT_FALSE(LiveView::possible(pipe.in()));
    EXPECT_FALSE(LiveView::colours_wanted(pipe.in()));
}

TEST(Progress, SaysBytesRateAndTimeLeft) {
    EXPECT_EQ(progress_line("writing", 1'200'000'000, 2'500'000'000, 480e6, 120),
              "writing  [####......]  1.2 GB of 2.5 GB  480.0 MB/s  3.0 s left");
    EXPECT_EQ(progress_line("writing", 0, 2'500'000'000, 0, 120), "writing  [..........]  0 B of 2.5 GB");
    EXPECT_EQ(progress_line("writing", 5, 5, 1e6, 12), "writing  [##");
    EXPECT_THAT(progress_line("writing", 1, UINT64_MAX, 1e-9, 120), HasSubstr("left"));
}

TEST(Progress, WritesALineNowAndThenOnAPipe) {
    Pipe pipe;
    ProgressBar bar(pipe.in(), false, "writing", 40'000'000'000);
    for (std::int64_t s = 0; s <= 20; ++s) {
        bar.update(static_cast<std::uint64_t>(s) * 1'000'000'000, s * 1'000'000'000);
    }
    bar.finish(20'000'000'000, 20'000'000'000);
    EXPECT_EQ(pipe.text(),
              "writing  [..........]  0 B of 40.0 GB\n"
              "writing  [##........]  10.0 GB of 40.0 GB  1000.0 MB/s  30.0 s left\n"
              "writing  [#####.....]  20.0 GB of 40.0 GB  1000.0 MB/s  20.0 s left\n"
              "writing: 20.0 GB in 20.0 s, 1000.0 MB/s\n");
}

TEST(Progress, IsTakenOffTheTerminalWhenGivenUp) {
    Pipe pipe;
    { ProgressBar(pipe.in(), true, "writing", 100).update(50, 1'000'000'000); }
    EXPECT_THAT(pipe.text(), AllOf(StartsWith("\rwriting  [#####"), EndsWith("\r\x1b[K")));
}

TEST(Terminal, ClipsBetweenCharacters) {
    EXPECT_EQ(clip("\xc3\xa9\xc3\xa9\xc3\xa9", 2), "\xc3\xa9\xc3\xa9");
    EXPECT_THAT(clip("abc", 0), IsEmpty());
    EXPECT_THAT(clip("abc", -1), IsEmpty());
}

}  // namespace
}  // namespace streamsim
