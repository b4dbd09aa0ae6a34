#include "view/live_view.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "unit/report/golden.h"
#include "unit/report/sample_view.h"
#include "view/progress_bar.h"
#include "view/terminal.h"

namespace streamsim::report {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

view::

    StreamView
    stream(const std::string& number, std::uint64_t bad = 0, std::int64_t margin_ns = 31'200'000) {
    view::StreamView out;
    out.label = number + " dpx12";
    out.short_label = number;
    out.clip = "null:/dpx12/clip-000" + number;
    out.state = StreamState::playing;
    out.frames_total = 240;
    out.period_ns = 41'666'666;
    out.readahead = 8;
    out.due = 120;
    out.on_time = 120 - bad;
    out.bad = bad;
    out.buffered = bad > 0 ? 2 : 8;
    out.margin_min_ns = margin_ns;
    out.margin_lately_ns = margin_ns + 1'000'000;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(bad, RecentMisses::kKept); ++i) {
        out.misses.push_back({4'000'000'000 - static_cast<std::int64_t>(i) * 41'666'666, 96 - i,
                              FrameKind::dropped, i == 0 ? DropReason::client : DropReason::late, false,
                              96 - i});
    }
    return out;
}

view::

    ViewState
    state() {
    view::ViewState out;
    out.title = "3 streams of dpx12 at 24 fps from /mnt/x";
    out.elapsed_ns = 5'000'000'000;
    out.total_ns = 10'000'000'000;
    out.bytes_per_s = 4.7e9;
    out.required_bytes_per_s = 4.8e9;
    out.keys = out.can_add = true;
    out.streams = {stream("0"), stream("1", 0, 4'000'000), stream("10", 7)};
    return out;
}

/// With the events of its misses.
view::ViewState told(view::ViewState state) {
    view::LiveHistory().note(0, state);
    return state;
}

view::

    MeterView
    meter(const std::string& name, std::uint64_t failed = 0) {
    view::MeterView out;
    out.name = name;
    out.counts = {300, failed, 2'000'000'000, 1'000'000'000, 6'000'000'000};
    out.measure({100, 0, 1'000'000'000, 0, 2'000'000'000}, 2'000'000'000);
    return out;
}

std::vector<std::string> texts(const view::ViewState& state, int columns, int rows) {
    std::vector<std::string> out;
    for (const view::ViewLine& line : view::live_lines(state, columns, rows)) {
        out.push_back(line.whole_text());
        while (out.back().ends_with(' ')) out.back().pop_back();
    }
    return out;
}

/// The line that counts the others.
std::string others_text(std::size_t first, std::size_t count, int bad) {
    return "  " + std::to_string(first) + " to " + std::to_string(first + count - 1) + " of 92 streams, " +
           std::to_string(bad) + " missed by the others";
}

std::size_t characters(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

/// The bytes written to a file descriptor.
class Pipe {
public:
    Pipe() { EXPECT_EQ(pipe2(ends_.data(), O_CLOEXEC), 0); }
    ~Pipe() {
        close(ends_[0]);
        close(ends_[1]);
    }
    int in() const { return ends_[1]; }
    std::string text() const {
        std::array<char, 16384> buffer{};
        fcntl(ends_[0], F_SETFL, O_NONBLOCK);
        const ssize_t size = read(ends_[0], buffer.data(), buffer.size());
        return size > 0 ? std::string(buffer.data(), static_cast<std::size_t>(size)) : std::string();
    }

private:
    std::array<int, 2> ends_{};
};

TEST(LiveLines, ShowAllOfARunOnAUsualTerminal) {
    EXPECT_THAT(texts(told(state()), 80, 24),
                ElementsAre("3 streams of dpx12 at 24 fps from /mnt/x             5.0 s of 10.0 s, 5.0 s left",
                            "now   4700.0 of 4800.0 MB/s   margin 5.0 ms        3 playing, 1 missing, 1 tight",
                            "ever  7 missed   min margin 4.0 ms                                  1 with drops",
                            "                   NOW                            EVER",
                            "  STATE   STREAM   BUFFER            MARGIN MIN MARGIN  DROPS  LAST AT  PLAYED",
                            "  ok      0 dpx12  [########] 8/8   32.2 ms    31.2 ms      0        - 120/240",
                            "  TIGHT   1 dpx12  [########] 8/8    5.0 ms     4.0 ms      0        - 120/240",
                            "  DROPS   10 dpx12 [##......] 2/8   32.2 ms    31.2 ms      7    4.0 s 120/240",
                            "", "LAST EVENTS     LENGTH  MISSED         STREAMS     REASON        FIRST FRAME",
                            "      3.8 s   291.7 ms  7 dropped      1 stream    read too late 00:00:03:18", "",
                            "", "", "", "", "", "", "", "", "", "", "",
                            "q quit  + add  - remove  up/down, PgUp/PgDn scroll  w worst first"));
}

TEST(LiveLines, ShowMoreOnAWideOne) {
    const auto lines = texts(state(), 200, 60);
    ASSERT_THAT(lines, SizeIs(60));
    EXPECT_EQ(lines[0].size(), 200u) << "the time is at the right";
    EXPECT_THAT(lines[4], EndsWith("PLAYED     READ CLIP"));
    EXPECT_THAT(lines[5], AllOf(HasSubstr("[################] 8/8"), EndsWith("null:/dpx12/clip-0000")));
    EXPECT_EQ(lines[59],
              "q quit with the result   + add a stream   - remove one   up/down, PgUp/PgDn scroll   w "
              "worst first");
}

TEST(LiveLines, LeaveOutWhatMattersLeastWhereThereIsLittleRoom) {
    EXPECT_THAT(
        texts(state(), 40, 6),
        ElementsAre("7 missed                 5.0 s of 10.0 s", "4700.0 of 4800.0 MB/s  [###########.|..]",
                    "  ok      0 dpx12  8/8   32.2 ms      0", "  TIGHT   1 dpx12  8/8    5.0 ms      0",
                    "  DROPS   10 dpx12 2/8   32.2 ms      7", "q quit  + add  - remove"));
    EXPECT_THAT(texts(state(), 20, 3),
                ElementsAre("5.0 s       7 missed", "ok      0          0", "q + - j k w"));
}

TEST(LiveLines, NeverExceedTheTerminal) {
    view::ViewState crowded = state();
    for (int i = 0; i < 100; ++i) crowded.streams.push_back(stream(std::to_string(i), 1));
    crowded.streams[3].label = "seat 17, 1234 a-format-with-a-very-long-name-that-nobody-would-type";
    crowded.message = std::string(300, 'm');
    view::ViewState noisy = crowded;
    for (int i = 0; i < 50; ++i) noisy.meters.push_back(meter("meter-of-a-seat-" + std::to_string(i)));
    view::ViewState only_noise = noisy;
    only_noise.streams.clear();
    for (view::ViewState* const each : {&crowded, &noisy, &only_noise}) {
        for (const bool utf8 : {false, true}) {
            each->utf8 = utf8;
            for (int rows = 0; rows < 30; ++rows) {
                for (const int columns : {0, 1, 5, 19, 20, 29, 30, 40, 59, 60, 79, 80, 119, 120, 200}) {
                    const auto lines = view::live_lines(*each, columns, rows);
                    EXPECT_THAT(lines, SizeIs(rows)) << columns;
                    for (const auto& line : lines) {
                        EXPECT_LE(characters(line.whole_text()), static_cast<std::size_t>(columns))
                            << rows << line.whole_text();
                    }
                }
            }
        }
    }
}

TEST(LiveLines, KeepTheFooterAndAtLeastAStreamOnSmallOnes) {
    for (int rows = 3; rows < 30; ++rows) {
        const auto lines = texts(state(), 80, rows);
        EXPECT_THAT(lines.back(), StartsWith("q quit")) << rows;
        EXPECT_THAT(lines, testing::Contains(HasSubstr("0 dpx12"))) << rows;
    }
}

TEST(LiveLines, CountTheStreamsThatAreNotInView) {
    view::ViewState crowded = state();
    for (int i = 11; i < 100; ++i) crowded.streams.push_back(stream(std::to_string(i)));
    const std::size_t in_view = view::streams_in_view(crowded, 80, 24);
    auto lines = texts(crowded, 80, 24);
    EXPECT_EQ(lines[5 + in_view], others_text(1, in_view, 0));
    crowded.scroll.top = 4;
    lines = texts(crowded, 80, 24);
    EXPECT_THAT(lines[5], StartsWith("  ok      12 dpx12"));
    EXPECT_EQ(lines[5 + in_view], others_text(5, in_view, 7));
    crowded.scroll.top = 1000;
    EXPECT_THAT(texts(crowded, 80, 24)[4 + in_view], StartsWith("  ok      99 dpx12"));
    crowded.scroll.worst_first = true;
    crowded.scroll.top = 0;
    lines = texts(crowded, 80, 24);
    EXPECT_THAT(lines[5], StartsWith("  DROPS   10 dpx12"));
    EXPECT_THAT(lines[6], StartsWith("  TIGHT   1 dpx12"));
}

TEST(LiveLines, SayWhatStateAStreamIsIn) {
    const auto row = [](StreamState in) {
        view::ViewState one = state();
        one.streams = {stream("0")};
        one.streams[0].state = in;
        return view::live_lines(one, 80, 24)[5];
    };
    EXPECT_THAT(row(StreamState::idle).text, StartsWith("  waits   0 dpx12"));
    EXPECT_THAT(row(StreamState::prerolling).text, StartsWith("  preroll 0 dpx12"));
    EXPECT_THAT(row(StreamState::waiting).text, StartsWith("  STALLED 0 dpx12"));
    EXPECT_THAT(row(StreamState::ended).text, StartsWith("  ended   0 dpx12"));
    EXPECT_THAT(row(StreamState::removed).text, StartsWith("  removed 0 dpx12"));
    EXPECT_EQ(row(StreamState::playing).paint, view::Paint::good);
    EXPECT_EQ(row(StreamState::waiting).paint, view::Paint::bad);
}

TEST(LiveLines, TellNowFromEver) {
    view::ViewState run = state();
    run.elapsed_ns = 5'999'000'000;  // the last miss was at 4.0 s
    EXPECT_THAT(texts(run, 80, 24)[7], StartsWith("  DROPS   10 dpx12"));
    run.elapsed_ns = 6'000'000'000;
    auto lines = texts(run, 80, 24);
    EXPECT_THAT(lines[7], StartsWith("  dropped 10 dpx12"));
    EXPECT_THAT(lines[1], EndsWith("  3 playing, 1 tight"));
    EXPECT_THAT(lines[2], AllOf(StartsWith("ever  7 missed"), EndsWith("  1 with drops")));
    EXPECT_EQ(view::live_lines(run, 80, 24)[1].paint, view::Paint::plain);
    EXPECT_EQ(view::live_lines(run, 80, 24)[7].paint, view::Paint::warning);
    run.streams[1].margin_lately_ns = 30'000'000;  // was tight
    lines = texts(run, 80, 24);
    EXPECT_THAT(lines[1], EndsWith("  3 playing"));
    EXPECT_THAT(lines[6], StartsWith("  ok      1 dpx12"));
    EXPECT_THAT(lines[2], HasSubstr("min margin 4.0 ms"));
}

TEST(LiveLines, LieSideBySideWhereTheRowsEnd) {
    view::ViewState wide = state();
    wide.streams.clear();
    for (int i = 0; i < 44; ++i) wide.streams.push_back(stream(std::to_string(i), i == 43 ? 1 : 0));
    wide.scroll.selected = 20;
    EXPECT_EQ(view::streams_in_view(wide, 200, 24), 44u);
    EXPECT_EQ(view::streams_in_view(wide, 94, 24), 20u) << "two blocks of ten, and a line of the others";
    EXPECT_EQ(view::streams_in_view(wide, 93, 24), 10u);
    const auto lines = view::live_lines(wide, 200, 24);
    ASSERT_THAT(lines[5].beside, SizeIs(3));
    EXPECT_THAT(lines[4].beside[0].text, StartsWith("  STATE   STREAM"));
    EXPECT_THAT(lines[5].beside[2].text, StartsWith("  ok      33 dpx12"));
    EXPECT_THAT(lines[15].beside, SizeIs(3));
    EXPECT_THAT(lines[15].beside[2].text, StartsWith("  DROPS   43 dpx12"));
    EXPECT_EQ(lines[15].beside[2].paint, view::Paint::bad);
    EXPECT_TRUE(lines[14].beside[0].selected);
    EXPECT_THAT(lines[14].beside[0].text, StartsWith("> ok      20 dpx12"));
    EXPECT_FALSE(lines[14].selected);
    EXPECT_LE(characters(lines[5].whole_text()), 200u);
}

TEST(LiveLines, SayThatPrerollIsNotPlay) {
    view::ViewState preroll = state();
    preroll.elapsed_ns = 0;
    preroll.streams = {stream("0")};
    preroll.streams[0].margin_min_ns.reset();
    preroll.streams[0].margin_lately_ns.reset();
    const auto lines = texts(preroll, 80, 24);
    EXPECT_THAT(lines[0], EndsWith("  filling the read-ahead"));
    EXPECT_THAT(lines[7], EndsWith("NO DROPS SO FAR"));
    EXPECT_THAT(lines[5], HasSubstr(" 8/8         -          -      0        -"));
}

TEST(LiveLines, HaveNoDeadlinesToShowAtFullSpeed) {
    view::ViewState fast = state();
    fast.streams = {stream("0")};
    fast.streams[0].period_ns = 0;
    fast.streams[0].frames_total = 0;
    fast.streams[0].bytes = 5'000'000'000;
    fast.required_bytes_per_s = 0;
    EXPECT_THAT(texts(fast, 80, 24)[1], StartsWith("now   4700.0 MB/s   margin 32.2 ms  "));
    EXPECT_THAT(texts(fast, 80, 24)[4], StartsWith("  STATE   STREAM   DROPS PLAYED     READ"));
    EXPECT_THAT(texts(fast, 80, 24)[5], StartsWith("  ok      0 dpx12      0    120   5.0 GB"));
    fast.streams[0].records = true;
    EXPECT_THAT(texts(fast, 80, 24)[4], StartsWith("  STATE   STREAM   DROPS PLAYED  WRITTEN"));
    fast.streams.push_back(stream("1"));
    EXPECT_THAT(texts(fast, 200, 24)[4], HasSubstr(" PLAYED    BYTES "));
}

TEST(LiveLines, ShowStallsWhereThereAreSome) {
    view::ViewState stalled = state();
    stalled.streams = {stream("0")};
    stalled.streams[0].stalls = 2;
    stalled.streams[0].misses = {{1'000'000'000, 24, FrameKind::dropped, DropReason::late, true}};
    const auto lines = texts(told(stalled), 100, 24);
    EXPECT_THAT(lines[2], StartsWith("ever  0 missed, 2 stalls "));
    EXPECT_THAT(lines[4], HasSubstr("STALLS"));
    EXPECT_EQ(lines[8], "      1.0 s    41.7 ms  2 stalls       1 stream    read too late 00:00:00:00");
}

TEST(LiveLines, PutAMessageAboveTheKeysOrInTheirPlace) {
    view::ViewState told = state();
    told.message = "stream 3 was added\x1b[2J";
    EXPECT_EQ(texts(told, 80, 24)[22], "stream 3 was added\\x1b[2J");
    EXPECT_EQ(texts(told, 80, 5)[4], "stream 3 was added\\x1b[2J");
    told.message.clear();
    told.can_add = false;
    EXPECT_EQ(texts(told, 80, 24)[23], "q quit with the result   up/down, PgUp/PgDn scroll   w worst first");
    told.keys = false;
    EXPECT_EQ(texts(told, 80, 24)[23], "Ctrl-C ends the run with its result so far");
    EXPECT_THAT(texts(told, 80, 24)[5], StartsWith("ok ")) << "nobody can choose one";
}

TEST(LiveLines, ObeyNoControlCharacters) {
    view::ViewState nasty = state();
    nasty.title = "from /mnt/\x1b[2J\n\xc2\x9b";
    EXPECT_THAT(texts(nasty, 120, 24)[0], StartsWith("from /mnt/\\x1b[2J\\x0a\\u009b "));
}

TEST(LiveLines, HaveBarsOfBlocksInUtf8) {
    view::ViewState blocks = state();
    blocks.utf8 = true;
    const auto lines = texts(blocks, 80, 24);
    EXPECT_THAT(lines[7], HasSubstr(" \u2588\u2588\u2591\u2591\u2591\u2591\u2591\u2591 2/8"));
    EXPECT_EQ(view::bar_with_mark(1, 1, 5, true), "\u2588\u2588\u2588\u2588\u2503");
    EXPECT_EQ(view::bar_with_mark(100, 1, 5, false), "[####|]");
    EXPECT_EQ(view::bar_with_mark(0.5, 1, 10, false), "[####....|.]");
}

TEST(LiveLines, BecomeOneLineOnAPipe) {
    view::ViewState line = state();
    EXPECT_EQ(view::progress_text(line),
              "5.0 s of 10.0 s  3 streams  4700.0 of 4800.0 MB/s  buffer min 2/8  7 missed");
    line.streams = {stream("0")};
    line.streams[0].state = StreamState::ended;
    EXPECT_EQ(view::progress_text(line), "5.0 s of 10.0 s  0 streams  4700.0 of 4800.0 MB/s  0 missed");
}

view::

    ViewState
    meters_alone() {
    view::ViewState out;
    out.title = "/mnt/x; eda for 10.0 s";
    out.elapsed_ns = 5'000'000'000;
    out.total_ns = 10'000'000'000;
    out.bytes_per_s = 1e9;
    out.keys = true;
    out.meters = {meter("front"), meter("back", 3)};
    return out;
}

TEST(LiveLines, ShowMetersByWhatTheyDidLately) {
    EXPECT_THAT(
        texts(meters_alone(), 90, 10),
        ElementsAre(AllOf(StartsWith("/mnt/x; eda for 10.0 s"), EndsWith("5.0 s of 10.0 s, 5.0 s left")),
                    AllOf(StartsWith("3 failed   600 done"), EndsWith("1000.0 MB/s")),
                    "  METER       OP/S  READ MB/S WRITE MB/S    LATENCY         DONE   FAILED",
                    "  front        100      500.0      500.0    20.0 ms          300        0",
                    "  back         100      500.0      500.0    20.0 ms          300        3", "", "", "", "",
                    "q quit with the result"));
    EXPECT_EQ(view::progress_text(meters_alone()),
              "5.0 s of 10.0 s  200 op/s, 1000.0 MB/s read, 1000.0 MB/s written, 3 failed");
    view::ViewState preparing = meters_alone();
    preparing.elapsed_ns = 0;
    EXPECT_THAT(view::progress_text(preparing), StartsWith("preparing  "));
}

TEST(LiveLines, ShowMetersBesideStreams) {
    view::ViewState both = state();
    both.meters = {meter("a"), meter("b"), meter("c"), meter("d")};
    const auto lines = texts(told(both), 100, 30);
    const auto heading = std::find_if(lines.begin(), lines.end(),
                                      [](const std::string& line) { return line.starts_with("  METER"); });
    ASSERT_LT(heading + 3, lines.end());
    EXPECT_THAT(heading[1], StartsWith("  a "));
    EXPECT_EQ(heading[3], "  and 2 more");
    EXPECT_THAT(lines, testing::Contains(StartsWith("LAST EVENTS")));
    EXPECT_THAT(view::progress_text(both), EndsWith("7 missed  meters 400 op/s, 2000.0 MB/s read, 2000.0 MB/s "
                                                    "written, 0 failed"));
}

TEST(LiveHistory, GroupsMissesOfAllStreamsAsTheyCome) {
    view::LiveHistory history;
    const auto at = [](std::int64_t ms) { return ms * 1'000'000; };
    const auto state_with = [&](std::vector<std::vector<Miss>> misses, std::uint64_t bad) {
        view::ViewState out = state();
        out.streams = {stream("0"), stream("1")};
        for (std::size_t i = 0; i < 2; ++i) {
            out.streams[i].misses = std::move(misses[i]);
            out.streams[i].bad = bad;
        }
        return out;
    };
    const auto miss = [&](std::int64_t ms, std::uint64_t slot) {
        return Miss{at(ms), slot, FrameKind::dropped, DropReason::late, false, slot};
    };
    view::ViewState first = state_with({{miss(2'041, 49), miss(2'000, 48)}, {miss(2'000, 48)}}, 2);
    history.note(at(2'100), first);
    ASSERT_THAT(first.events, SizeIs(1));
    EXPECT_EQ(first.events[0].frames, 4u);  // stream 1 has lost one meanwhile
    EXPECT_THAT(first.events[0].streams, SizeIs(2));
    EXPECT_EQ(first.events[0].timecode, "00:00:02:00");
    view::ViewState same = state_with({{miss(2'041, 49), miss(2'000, 48)}, {miss(2'000, 48)}}, 2);
    history.note(at(2'200), same);
    EXPECT_EQ(same.events[0].frames, 4u) << "nothing is counted twice";
    view::ViewState later = state_with({{miss(7'000, 168), miss(2'083, 50)}, {miss(2'083, 50)}}, 4);
    history.note(at(7'100), later);
    ASSERT_THAT(later.events, SizeIs(2)) << "two stalls are two events";
    EXPECT_EQ(later.events[0].frames, 4u + 3u);
    EXPECT_EQ(later.events[1].frames, 1u);
    EXPECT_EQ(later.events[1].from_ns, at(7'000));
}

/// Fifty frames are overdue before the first of them comes.
TEST(LiveHistory, HasOverdueFramesOnceInTheEventOfThoseThatHaveCome) {
    view::LiveHistory history;
    view::ViewState now = state();
    now.streams = {stream("0", 50)};
    now.streams[0].misses.clear();
    now.streams[0].margin_lately_ns = -1;
    history.note(1, now);
    EXPECT_THAT(now.events, IsEmpty());
    const auto lines = texts(now, 80, 24);
    EXPECT_THAT(lines[5], StartsWith("  DROPS   0 dpx12"));
    EXPECT_EQ(lines[7], "NO MISSED FRAME HAS COME SO FAR");
    for (const std::uint64_t slot : {50u, 51u}) {
        const auto at_ns = static_cast<std::int64_t>(slot) * 41'666'666;
        now.streams[0].misses = {{at_ns, slot, FrameKind::late, DropReason::late, false, slot}};
        history.note(1, now);
        ASSERT_THAT(now.events, SizeIs(1));
        EXPECT_EQ(now.events[0].frames, 50u);
    }
}

TEST(LiveHistory, KeepsAPointASecondAndJoinsThemInLongRuns) {
    view::LiveHistory history;
    view::ViewState now = state();
    for (std::int64_t second = 1; second < 3'000; ++second) {
        now = state();
        now.bytes_per_s = static_cast<double>(second);
        history.note(second * 1'000'000'000, now);
    }
    EXPECT_THAT(now.history.size(), AllOf(testing::Gt(500u), testing::Le(1024u)));
    EXPECT_EQ(now.history.back().bytes_per_s, 2'999);
    EXPECT_EQ(now.history.back().margin_min_ns, 5'000'000);
}

TEST(LiveLines, ShowThePastWhereThereIsRoom) {
    view::ViewState past = state();
    past.history.assign(50, {4.8e9, 30'000'000});
    past.history[10] = {0, -1'000'000};
    past.total_ns = 60'000'000'000;
    auto lines = texts(past, 80, 22);
    EXPECT_EQ(lines[3], "throughput  ##########.#######################################") << "50 of 60 s";
    past.total_ns = 100'000'000'000;
    lines = texts(past, 80, 24);
    EXPECT_EQ(lines[3], "4800 MB/s   ########## #######################################");
    EXPECT_EQ(lines[4], "throughput  ##########.#######################################");
    EXPECT_EQ(lines[6], "min margin  ##########.#######################################");
    EXPECT_EQ(texts(past, 80, 60)[9], "            ########## #######################################")
        << "eight rows at most";
    EXPECT_THAT(texts(past, 80, 15), testing::Not(testing::Contains(StartsWith("min margin"))));
    for (const auto& [columns, rows] : {std::pair(60, 15), {80, 24}, {200, 50}}) {
        for (const std::size_t streams : {1u, 8u, 60u, 500u}) {
            past.streams.assign(streams, stream("7", 3));
            const auto all = texts(past, columns, rows);
            EXPECT_THAT(all, SizeIs(rows));
            for (const std::string& line : all) EXPECT_LE(characters(line), static_cast<std::size_t>(columns));
        }
    }
}

TEST(LiveLines, AreThoseOfTheGoldenScreens) {
    for (const std::size_t streams : {1u, 8u, 60u, 500u}) {
        view::ViewState sample = samples::live_view(streams);
        sample.utf8 = true;
        for (const auto& [columns, rows] : {std::pair(60, 15), {80, 24}, {200, 50}}) {
            std::string screen;
            for (const std::string& line : texts(sample, columns, rows)) screen += line + "\n";
            expect_golden(screen, fmt::format("live/{}x{}-{}.txt", columns, rows, streams));
        }
    }
}

TEST(LiveView, WritesWhatHasChangedAndLeavesNothing) {
    setenv("LC_ALL", "C", 1);  // NOLINT(concurrency-mt-unsafe): nobody else runs
    Pipe pipe;
    {
        view::LiveView view(pipe.in(), -1, true);
        view.draw(state());
        EXPECT_THAT(pipe.text(), AllOf(StartsWith("\x1b[?1049h"), HasSubstr("\x1b[2J"),
                                       HasSubstr("\x1b[31mDROPS  \x1b[0m 10 dpx12"),
                                       HasSubstr("\x1b[33mTIGHT  \x1b[0m 1 dpx12")));
        view.draw(state());
        EXPECT_EQ(pipe.text(), "") << "nothing has changed";
        view::ViewState later = state();
        later.streams[0].buffered = 4;
        view.draw(later);
        EXPECT_THAT(pipe.text(), AllOf(HasSubstr("\x1b[6;1H\x1b[K"), HasSubstr("[####....]"),
                                       testing::Not(HasSubstr("dpx12 at 24"))));
    }
    EXPECT_THAT(pipe.text(), EndsWith("\x1b[?25h\x1b[?1049l"));
    EXPECT_FALSE(view::LiveView::possible(pipe.in()));
    EXPECT_FALSE(view::LiveView::colours_wanted(pipe.in()));
}

TEST(Progress, SaysBytesRateAndTimeLeft) {
    EXPECT_EQ(view::progress_line("writing", 1'200'000'000, 2'500'000'000, 480e6, 120),
              "writing  [####......]  1.2 GB of 2.5 GB  480.0 MB/s  3.0 s left");
    EXPECT_EQ(view::progress_line("writing", 0, 2'500'000'000, 0, 120), "writing  [..........]  0 B of 2.5 GB");
    EXPECT_EQ(view::progress_line("writing", 5, 5, 1e6, 12), "writing  [##");
    EXPECT_THAT(view::progress_line("writing", 1, UINT64_MAX, 1e-9, 120), HasSubstr("left"));
}

TEST(Progress, WritesALineNowAndThenOnAPipe) {
    Pipe pipe;
    view::ProgressBar bar(pipe.in(), false, "writing", 40'000'000'000);
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

TEST(Progress, CountsWhatHasNoBytes) {
    Pipe pipe;
    view::ProgressBar bar(pipe.in(), false, "reading clips", 0);
    bar.update_count(0, 0, 2'000'000'000);
    bar.update_count(3, 8, 3'000'000'000);
    bar.update_count(4, 8, 12'000'000'000);
    EXPECT_EQ(pipe.text(), "reading clips ...\nreading clips  [#####.....]  4 of 8\n");
}

TEST(Progress, IsTakenOffTheTerminalWhenGivenUp) {
    Pipe pipe;
    { view::ProgressBar(pipe.in(), true, "writing", 100).update(50, 1'000'000'000); }
    EXPECT_THAT(pipe.text(), AllOf(StartsWith("\rwriting  [#####"), EndsWith("\r\x1b[K")));
}

}  // namespace
}  // namespace streamsim::report
