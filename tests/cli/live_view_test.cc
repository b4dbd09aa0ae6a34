// The live view as a person has it: under tmux, which is a terminal that can be asked what it shows.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

/// A shell in a terminal of its own.
class Terminal {
public:
    Terminal(const std::string& directory, int columns, int rows, const std::string& socket = "tmux")
        : socket_(directory + "/" + socket), columns_(columns), rows_(rows) {
        tmux({"-f", "/dev/null", "new-session", "-d", "-x", std::to_string(columns), "-y", std::to_string(rows),
              "env LC_ALL=C.UTF-8 PS1='ready> ' bash --norc --noprofile"});
        tmux({"set-option", "-g", "window-size", "manual"});
        wait_for("ready>");
    }
    ~Terminal() { tmux({"kill-server"}); }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    void type(const std::string& line) {
        tmux({"send-keys", "-l", line});
        key("Enter");
    }
    void key(const std::string& name) { tmux({"send-keys", name}); }
    void resize(int columns, int rows) {
        columns_ = columns;
        rows_ = rows;
        tmux({"resize-window", "-x", std::to_string(columns), "-y", std::to_string(rows)});
    }
    /// The text on the terminal, a string a row.
    std::vector<std::string> screen() {
        std::istringstream text(tmux({"capture-pane", "-p"}).out);
        std::vector<std::string> lines;
        for (std::string line; std::getline(text, line);) lines.push_back(line);
        return lines;
    }
    /// Until a row has this text; fails where that takes too long.
    void wait_for(const std::string& text) {
        wait_until([&] { return shows(text); }, text);
    }
    void wait_for_none(const std::string& text) {
        wait_until([&] { return !shows(text); }, "no " + text);
    }
    bool shows(const std::string& text) {
        const auto lines = screen();
        return std::any_of(lines.begin(), lines.end(),
                           [&text](const std::string& line) { return line.find(text) != std::string::npos; });
    }
    /// "1 0 0" while the view has it: on the alternate screen, without cursor and wrapping.
    std::string modes() {
        std::string text = tmux({"display-message", "-p", "#{alternate_on} #{cursor_flag} #{wrap_flag}"}).out;
        while (text.ends_with('\n')) text.pop_back();
        return text;
    }
    void wait_for_modes(const std::string& modes_wanted) {
        wait_until([&] { return modes() == modes_wanted; }, "modes " + modes_wanted);
    }
    /// Until the screen is `wanted`, rows without the spaces at their ends.
    void wait_for_screen(const std::string& wanted) {
        wait_until([&] { return whole_screen() == wanted; }, "\n" + wanted);
    }
    /// Whether everything is within the screen: as many rows as it has, none of them wider.
    void expect_it_fits() {
        const auto lines = screen();
        EXPECT_EQ(lines.size(), static_cast<std::size_t>(rows_));
        for (const std::string& line : lines) {
            const auto characters =
                std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; });
            EXPECT_LE(characters, columns_) << line;
        }
    }

private:
    std::string whole_screen() {
        std::string out;
        for (std::string line : screen()) {
            while (line.ends_with(' ')) line.pop_back();
            out += line + "\n";
        }
        return out;
    }
    Finished tmux(std::vector<std::string> args) const {
        args.insert(args.begin(), {"-S", socket_});
        Spawn spawn;
        spawn.args = std::move(args);
        spawn.env = {{"LC_ALL", "C.UTF-8"}, {"TERM", "xterm-256color"}};
        return run("tmux", spawn);
    }
    template <typename Condition>
    void wait_until(Condition condition, const std::string& what) {
        const std::int64_t end_ns = monotonic_ns() + 20'000'000'000;
        while (!condition()) {
            if (monotonic_ns() > end_ns) {
                std::string all;
                for (const std::string& line : screen()) all += line + "\n";
                FAIL() << "waited for: " << what << "; it shows\n" << all;
            }
            sleep_ms(20);
        }
    }

    const std::string socket_;
    int columns_;
    int rows_;
};

class Live : public CliTest {
protected:
    void SetUp() override {
        Spawn spawn;
        spawn.args = {"-c", "command -v tmux"};
        if (run("/bin/sh", spawn).exit_code != 0) GTEST_SKIP() << "tmux is not installed";
    }

    /// Plays from null storage; what comes out at the end says the exit code.
    void play(Terminal& terminal, const std::string& options) {
        // Two halves, so that the command itself does not look like its outcome.
        terminal.type(streamsim_binary() + " " + options + " --json " + json_path() + " null:; echo co'de='$?");
    }
    std::string mode_of(Terminal& terminal, const std::string& name) {
        terminal.type("stty -a > " + (dir_ / name) + "; echo do'ne '" + name);
        terminal.wait_for("done " + name);
        return read_text(dir_ / name);
    }
};

std::size_t rows_with(const std::vector<std::string>& lines, const std::string& text) {
    return static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), [&text](const std::string& line) {
        return line.find(text) != std::string::npos;
    }));
}

TEST_F(Live, FitsEverySizeAndGivesTheTerminalBackAfterCtrlC) {
    Terminal terminal(dir_.path(), 80, 24);
    const std::string before = mode_of(terminal, "before");
    play(terminal, "--dpx12 --streams 4 --duration 10m");
    terminal.wait_for("ok      3 dpx12");
    EXPECT_EQ(terminal.modes(), "1 0 0");
    auto lines = terminal.screen();
    terminal.expect_it_fits();
    ASSERT_EQ(lines.size(), 24u);
    EXPECT_THAT(lines[0], StartsWith("4 streams of dpx12 at 24 fps from null:"));
    EXPECT_THAT(lines[1], AllOf(StartsWith("now   "), HasSubstr(" MB/s ")));
    EXPECT_THAT(lines[2], StartsWith("ever  "));
    EXPECT_THAT(lines, Contains(HasSubstr("STATE   STREAM  BUFFER")));
    EXPECT_EQ(rows_with(lines, " dpx12 \u2588"), 4u);
    EXPECT_THAT(lines[23], StartsWith("q quit  + add  - remove"));

    terminal.resize(200, 60);
    terminal.wait_for("q quit with the result");
    terminal.expect_it_fits();
    lines = terminal.screen();
    EXPECT_THAT(lines[59], StartsWith("q quit with the result"));
    EXPECT_EQ(rows_with(lines, "q quit"), 1u) << "nothing is left of the smaller one";
    EXPECT_THAT(lines, Contains(HasSubstr("null:/dpx12/clip-0001")));

    terminal.resize(40, 6);
    terminal.wait_for("ok      0 dpx12 8/8");
    terminal.wait_for_none("BUFFER");
    terminal.expect_it_fits();
    EXPECT_EQ(rows_with(terminal.screen(), "q quit"), 1u);

    terminal.resize(20, 3);
    terminal.wait_for("q + - j k w");
    terminal.expect_it_fits();

    terminal.resize(80, 24);
    terminal.wait_for("BUFFER");
    lines = terminal.screen();
    EXPECT_EQ(rows_with(lines, " dpx12 \u2588"), 4u);
    EXPECT_EQ(rows_with(lines, "q quit"), 1u);

    terminal.key("C-c");
    terminal.wait_for("code=130");
    EXPECT_EQ(terminal.modes(), "0 1 1");
    EXPECT_THAT(terminal.screen(), Contains(HasSubstr("INTERRUPTED"))) << "the result is on the usual screen";
    EXPECT_EQ(mode_of(terminal, "after"), read_text(dir_ / "before"));
    EXPECT_TRUE(read_json(json_path())["interrupted"].get<bool>());
    EXPECT_FALSE(before.empty());
}

TEST_F(Live, ShowsTheGoldenScreensAfterEachResize) {
    for (const int streams : {1, 8, 60, 500}) {
        SCOPED_TRACE(streams);
        Terminal terminal(dir_.path(), 80, 24,
                          "tmux" + std::to_string(streams));  // the last server may still end
        terminal.type(std::string(LIVE_SAMPLE_BINARY) + " " + std::to_string(streams) + "; echo co'de='$?");
        for (const auto& [columns, rows] : {std::pair(80, 24), {200, 50}, {60, 15}, {200, 50}, {80, 24}}) {
            terminal.resize(columns, rows);
            terminal.wait_for_screen(read_text(std::string(STREAMSIM_GOLDEN_SCREENS) + "/" +
                                               std::to_string(columns) + "x" + std::to_string(rows) + "-" +
                                               std::to_string(streams) + ".txt"));
            if (HasFatalFailure()) return;
        }
        terminal.key("q");
        terminal.wait_for("code=0");
        terminal.wait_for_none("NOW");
        EXPECT_EQ(terminal.modes(), "0 1 1");
    }
}

TEST_F(Live, StreamsComeAndGoByKeys) {
    Terminal terminal(dir_.path(), 100, 30);
    play(terminal, "--dpx12 --streams 2 --duration 10m");
    terminal.wait_for("ok      1 dpx12");
    terminal.key("+");
    terminal.wait_for("stream 2 was added: it plays the clip of stream 1");
    terminal.wait_for("ok      2 dpx12");
    terminal.wait_for("3 streams of dpx12");
    terminal.key("-");
    terminal.wait_for("removed 2 dpx12");
    terminal.key("Home");  // chooses the first
    terminal.wait_for("> ok      0 dpx12");
    terminal.key("-");
    terminal.wait_for("removed 0 dpx12");
    terminal.wait_for("1 stream of dpx12");
    terminal.key("End");
    terminal.key("Up");
    terminal.key("-");
    terminal.wait_for("is the last one that plays");
    terminal.key("q");
    terminal.wait_for("code=130");
    const Json result = read_json(json_path());
    EXPECT_THAT(result_problems(result), IsEmpty());
    EXPECT_TRUE(result["interrupted"].get<bool>());
    ASSERT_EQ(result["streams"].size(), 3u);
    EXPECT_GT(result["streams"][2]["frames_scheduled"].get<int>(), 0);
    EXPECT_THAT(result["notices"].dump(), HasSubstr("1 stream was added and 2 streams were removed by hand"));
}

TEST_F(Live, HundredsOfStreamsScroll) {
    Terminal terminal(dir_.path(), 80, 21);  // too low for the charts, which come after a second
    play(terminal, "--prores-hd --streams 300 --duration 10m");
    terminal.wait_for("1 to 7 of 300 streams");
    EXPECT_FALSE(terminal.shows(" 299 prores-hd"));
    terminal.key("End");
    terminal.wait_for("294 to 300 of 300 streams");
    terminal.wait_for(" 299 prores-hd");
    terminal.key("PageUp");
    terminal.wait_for("287 to 293 of 300 streams");
    terminal.key("w");
    terminal.wait_for("1 to 7 of 300 streams");
    terminal.expect_it_fits();
    terminal.key("q");
    terminal.wait_for("code=130");
}

TEST_F(Live, CtrlZGivesTheTerminalBackAndFgTakesItAgain) {
    Terminal terminal(dir_.path(), 80, 24);
    const std::string before = mode_of(terminal, "before");
    play(terminal, "--prores-hd --duration 10m");
    terminal.wait_for("0 prores-hd");
    terminal.key("C-z");
    terminal.wait_for("Stopped");
    EXPECT_EQ(terminal.modes(), "0 1 1");
    EXPECT_EQ(mode_of(terminal, "stopped"), before);
    terminal.type("fg");
    terminal.wait_for("q quit");
    EXPECT_EQ(terminal.modes(), "1 0 0");
    terminal.expect_it_fits();
    terminal.key("q");
    terminal.wait_for_modes("0 1 1");
    EXPECT_EQ(mode_of(terminal, "after"), before);
}

TEST_F(Live, WithoutATerminalForKeysTheViewStaysAndWithoutOneForTheViewThereAreLines) {
    Terminal terminal(dir_.path(), 80, 24);
    terminal.type("true | " + streamsim_binary() + " --prores-hd --duration 10m null:");
    terminal.wait_for("Ctrl-C ends the run");
    terminal.wait_for("ok      0 prores-hd");
    terminal.key("q");
    terminal.key("C-c");
    terminal.wait_for_modes("0 1 1");
    terminal.type("echo by'tes='$(" + streamsim_binary() +
                  " --prores-hd --duration 100ms null: 2>&1 >/dev/null | wc -c)");
    terminal.wait_for("bytes=0");
}

TEST_F(Live, APipeGetsALineNowAndThen) {
    Spawn spawn;
    spawn.args = {"--prores-hd", "--streams", "2", "--duration", "10m", "null:"};
    Process process(streamsim_binary(), spawn);
    while (process.err_so_far().find('\n') == std::string::npos && process.running()) sleep_ms(50);
    process.send(SIGINT);
    const Finished done = process.wait();
    EXPECT_EQ(done.exit_code, 130);
    EXPECT_GE(done.wall_s, 5);
    EXPECT_THAT(done.err,
                ::testing::ContainsRegex("^5\\.[0-9] s of 10 m 00 s  2 streams  [0-9.]+ of 70\\.2 MB/s  "
                                         "buffer min [0-9]/8  [0-9]+ missed\n"));
    EXPECT_THAT(done.err, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace streamsim::tests
