// --help, the manual page and the completions of the shells: all speak about the same options.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kCommands[] = {"",        "prepare", "max",    "predict", "run", "formats",
                                     "inspect", "profile", "report", "clean",   "man", "completions"};

class Help : public CliTest {
protected:
    /// The text that `command --help` prints.
    static std::string help(const std::string& command) {
        std::vector<std::string> words{"--help"};
        if (!command.empty()) words.insert(words.begin(), command);
        const Finished done = streamsim(words);
        EXPECT_EQ(done.exit_code, 0) << done.text();
        EXPECT_EQ(done.err, "");
        return done.out;
    }

    /// The long options that the help of a command lists.
    static std::set<std::string> options(const std::string& command) {
        std::set<std::string> out;
        std::istringstream lines(help(command));
        for (std::string line; std::getline(lines, line);) {
            const std::size_t at = line.find("--");
            if (!line.starts_with("  -") || at == std::string::npos || at > 6) continue;
            out.insert(line.substr(at, line.find_first_of(" ,", at) - at));
        }
        return out;
    }

    static Finished shell(const std::string& program, const std::string& script) {
        Spawn spawn;
        spawn.args = {"-c", script};
        const std::string path = std::filesystem::path(streamsim_binary()).parent_path().string();
        spawn.env = {{"PATH", path + ":/usr/local/bin:/usr/bin:/bin"}};
        return run(program, spawn);
    }

    /// The completions that bash offers for the last of these words.
    static std::set<std::string> offered_by_bash(const std::vector<std::string>& words) {
        std::string script = "source <(streamsim completions bash)\nCOMP_WORDS=(";
        for (const std::string& word : words) script += "'" + word + "' ";
        script += ")\nCOMP_CWORD=" + std::to_string(words.size() - 1) +
                  "\n_streamsim\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
        const Finished done = shell("/bin/bash", script);
        EXPECT_EQ(done.err, "") << script;
        std::set<std::string> out;
        std::istringstream lines(done.out);
        for (std::string line; std::getline(lines, line);) out.insert(line);
        return out;
    }
};

TEST_F(Help, EveryLineFitsOnATerminal) {
    for (const char* command : kCommands) {
        std::istringstream lines(help(command));
        for (std::string line; std::getline(lines, line);)
            EXPECT_LE(line.size(), 80U) << command << ": " << line;
    }
}

TEST_F(Help, EveryCommandListsItsOptions) {
    for (const char* command : kCommands) {
        EXPECT_THAT(options(command), AllOf(Contains("--help"), Contains("--quiet"))) << command;
    }
    EXPECT_THAT(options("max"), AllOf(Contains("--find"), Contains("--streams"), Not(Contains("--csv"))));
    EXPECT_THAT(options(""), AllOf(Contains("--csv"), Not(Contains("--find"))));
}

TEST_F(Help, TheCommandMayFollow) {
    EXPECT_EQ(streamsim({"--help", "max"}).out, help("max"));
    EXPECT_EQ(streamsim({"-h", "/mnt"}).out, help(""));
}

TEST_F(Help, DefaultsAreShown) {
    EXPECT_THAT(help(""), AllOf(HasSubstr("frames buffered ahead, per stream (default: 8)"),
                                HasSubstr("own|same"), HasSubstr("(default: own)")));
}

TEST_F(Help, SaysHowOldColdMediaAre) {
    for (const char* command : {"", "max"})
        EXPECT_THAT(help(command), HasSubstr("media less than an hour old, or read more than once"));
}

TEST_F(Help, CalibrateHasItsOwnClipsAndItsOwnFile) {
    EXPECT_THAT(help("calibrate"), AllOf(HasSubstr("held-back run (default: 2s)"), HasSubstr("has to be named"),
                                         Not(HasSubstr("(default: standard output)"))));
    EXPECT_THAT(help("profile"), HasSubstr("(default: standard output)"));
}

TEST_F(Help, AnOptionThatACommandListsIsAnOptionOfThatCommand) {
    for (const char* command : kCommands) {
        for (const std::string& option : options(command)) {
            if (option == "--help" || option == "--version") continue;
            std::vector<std::string> words{option};
            if (*command != '\0') words.insert(words.begin(), command);
            const Finished done = streamsim(words);  // an operand or a value is missing
            EXPECT_THAT(done.err, Not(HasSubstr("there is no such option"))) << command << " " << option;
        }
    }
}

TEST_F(Help, TheManualPageAndTheCompletionsHaveEveryOptionAndCommand) {
    std::map<std::string, std::string> texts{{"man", streamsim({"man"}).out}};
    for (const char* name : {"bash", "zsh", "fish"}) {
        const Finished done = streamsim({"completions", name});
        EXPECT_EQ(done.exit_code, 0) << done.text();
        texts[name] = done.out;
    }
    std::string& man = texts["man"];
    for (std::size_t at = 0; (at = man.find("\\-", at)) != std::string::npos; ++at) man.erase(at, 1);
    for (const char* command : kCommands) {
        for (const auto& [name, text] : texts) EXPECT_THAT(text, HasSubstr(command)) << name;
        for (const std::string& option : options(command)) {
            for (const auto& [name, text] : texts) {
                const std::string word = name == "fish" ? "-l " + option.substr(2) + " " : option;
                EXPECT_THAT(text, HasSubstr(word)) << name << ": " << option;
            }
        }
    }
}

TEST_F(Help, GroffTakesTheManualPage) {
    if (!std::filesystem::exists("/usr/bin/groff")) GTEST_SKIP() << "groff is not installed";
    const Finished done = shell("/bin/sh", "streamsim man | groff -man -Tutf8 -ww -z");
    EXPECT_EQ(done.exit_code, 0);
    EXPECT_EQ(done.err, "");
}

TEST_F(Help, BashOffersCommandsOptionsAndValues) {
    EXPECT_THAT(offered_by_bash({"streamsim", "pre"}), Contains("prepare"));
    EXPECT_THAT(offered_by_bash({"streamsim", "--str"}), Contains("--streams"));
    EXPECT_THAT(offered_by_bash({"streamsim", "max", "--fi"}), Contains("--find"));
    EXPECT_THAT(offered_by_bash({"streamsim", "--fi"}), Not(Contains("--find")));
    EXPECT_EQ(offered_by_bash({"streamsim", "--media", ""}), (std::set<std::string>{"own", "same"}));
    EXPECT_EQ(offered_by_bash({"streamsim", "--media", "=", "s"}), (std::set<std::string>{"same"}));
    EXPECT_EQ(offered_by_bash({"streamsim", "completions", ""}),
              (std::set<std::string>{"bash", "fish", "zsh"}));
    EXPECT_THAT(offered_by_bash({"streamsim", "--format", "prores-422hq-u"}), Contains("prores-422hq-uhd"));
    std::filesystem::create_directory(dir_ / "a folder");
    EXPECT_THAT(offered_by_bash({"streamsim", "--streams", "4", dir_ / "a f"}), Contains(dir_ / "a folder"));
}

TEST_F(Help, OtherShellsTakeTheirCompletions) {
    for (const auto& [name, program] : {std::pair{"zsh", "/usr/bin/zsh"}, std::pair{"fish", "/usr/bin/fish"}}) {
        if (!std::filesystem::exists(program)) continue;
        const Finished done =
            shell(program, std::string("streamsim completions ") + name + " | " + name + " -n");
        EXPECT_EQ(done.err, "") << name;
    }
    const Finished other = streamsim({"completions", "tcsh"});
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_EQ(other.err, "streamsim: 'tcsh': expected bash, zsh or fish\n");
}

TEST_F(Help, EveryProblemIsNamedAtOnce) {
    const Finished done =
        streamsim({"--streams", "2", "--total-streams", "0", "--buffered", "--direct", "--durable", "--on-miss",
                   "panic", "--json", "a", "--csv", "./a", "--nonsense", "null:"});
    EXPECT_EQ(done.exit_code, 2);
    for (const char* problem : {"--total-streams: '0': expected a whole number from 1 to 1000000",
                                "--total-streams: stands instead of --streams: give one of them",
                                "--buffered: is the opposite of --direct: give one of them",
                                "--durable: is for what --record writes: give both",
                                "--on-miss: 'panic': expected one of drop, skip, hold, stall",
                                "--csv: './a' is where --json goes already: name another file",
                                "--nonsense: there is no such option (see --help)"}) {
        EXPECT_THAT(done.err, HasSubstr(problem));
    }
}

}  // namespace
}  // namespace streamsim::tests
