// Output files: none is written over a file that has appeared meanwhile. Messages: no name commands a terminal.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <functional>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

class Outputs : public CliTest {
protected:
    /// Starts a run that writes to json_path(), does `meanwhile`, and gives what came of it.
    Finished play_while(const std::function<void()>& meanwhile) {
        Process process(streamsim_binary(), {.args = {"--quiet", "--prores-hd", "--duration", "1500ms",
                                                      "--json", json_path(), "null:"}});
        process.wait_until_it_hears(SIGINT);
        for (int i = 0; i < 2000 && partials() == 0; ++i) sleep_ms(5);  // it has looked at what is there
        meanwhile();
        return process.wait();
    }
    int partials() const {
        int count = 0;
        for (const auto& entry : std::filesystem::directory_iterator(dir_.path()))
            count += entry.path().extension() == ".partial" ? 1 : 0;
        return count;
    }
    std::string beside() const { return dir_ / "result.2.json"; }
};

TEST_F(Outputs, AFileThatAppearsMeanwhileStays) {
    const Finished done = play_while([this] { write_text(json_path(), "mine"); });
    EXPECT_EQ(done.exit_code, 0) << done.text();
    EXPECT_EQ(read_text(json_path()), "mine");
    EXPECT_EQ(read_json(beside())["schema"], "streamsim.result");
    EXPECT_THAT(done.err, HasSubstr(beside()));
    EXPECT_EQ(partials(), 0);
}

TEST_F(Outputs, FilesAndLinksBesideItStayToo) {
    const Finished done = play_while([this] {
        std::filesystem::create_symlink("nowhere", json_path());
        write_text(beside(), "mine");
    });
    EXPECT_EQ(done.exit_code, 0) << done.text();
    EXPECT_TRUE(std::filesystem::is_symlink(json_path()));
    EXPECT_EQ(read_text(beside()), "mine");
    EXPECT_EQ(read_json(dir_ / "result.3.json")["schema"], "streamsim.result");
}

/// Each search writes the page of all so far.
TEST_F(Outputs, AFileThatAppearsHasOneResultBesideIt) {
    const std::string page = dir_ / "sheet.html";
    Process process(streamsim_binary(),
                    {.args = {"max", "--quiet", "--prores-hd", "--streams", "1", "--duration", "1500ms",
                              "--confirm", "0s", "null:", "sim:null", "--html", page}});
    process.wait_until_it_hears(SIGINT);
    for (int i = 0; i < 2000 && partials() == 0; ++i) sleep_ms(5);
    write_text(page, "mine");
    const Finished done = process.wait();
    EXPECT_EQ(done.exit_code, 0) << done.text();
    EXPECT_EQ(read_text(page), "mine");
    EXPECT_THAT(read_text(dir_ / "sheet.2.html"), HasSubstr("2 searches compared"));
    EXPECT_FALSE(std::filesystem::exists(dir_ / "sheet.3.html"));
    EXPECT_EQ(partials(), 0);
}

TEST_F(Outputs, AnEarlierResultThatIsChangedMeanwhileStays) {
    ASSERT_EQ(play_while([] {}).exit_code, 0);
    const std::string first = read_text(json_path());
    const Finished done = play_while([&] { write_text(json_path(), first + "\n"); });
    EXPECT_EQ(done.exit_code, 0) << done.text();
    EXPECT_EQ(read_text(json_path()), first + "\n");
    EXPECT_EQ(read_json(beside())["schema"], "streamsim.result");
    EXPECT_THAT(done.err, HasSubstr(beside()));
}

TEST_F(Outputs, AnEarlierResultIsReplaced) {
    ASSERT_EQ(play_while([] {}).exit_code, 0);
    const std::string first = read_text(json_path());
    const Finished done = play_while([] {});
    EXPECT_EQ(done.exit_code, 0) << done.text();
    EXPECT_NE(read_text(json_path()), first);
    EXPECT_FALSE(std::filesystem::exists(beside()));
    EXPECT_EQ(done.err, "");
}

/// Runs streamsim, and again as another user, who may not replace the results of the first in this folder.
Finished as_two_users(const std::string& folder, std::vector<std::string> args) {
    std::filesystem::create_directory(folder);
    std::filesystem::permissions(folder, std::filesystem::perms::all | std::filesystem::perms::sticky_bit);
    Spawn spawn{.args = std::move(args)};
    EXPECT_EQ(streamsim(spawn).exit_code, 0);
    spawn.user = 65534;
    return streamsim(spawn);
}

TEST_F(Outputs, AResultThatMayNotBeReplacedHasTheNewOneBesideIt) {
    if (!is_root()) GTEST_SKIP() << "needs root, to become another user";
    const std::string folder = dir_ / "sticky";  // as /tmp
    const Finished done = as_two_users(folder, {"--quiet", "--prores-hd", "--duration", "1s", "--json",
                                                folder + "/r.json", "--html", folder + "/r.html", "sim:null"});
    EXPECT_EQ(done.exit_code, 3) << done.text();
    EXPECT_NE(read_text(folder + "/r.json"), read_text(folder + "/r.2.json"));
    EXPECT_EQ(read_json(folder + "/r.2.json")["schema"], "streamsim.result");
    for (const char* name : {"/r.2.json", "/r.2.html"}) {
        EXPECT_THAT(done.err,
                    HasSubstr("cannot be written: Operation not permitted: the result is in " + folder + name));
    }
}

TEST_F(Outputs, AResultThatGrowsHasOneFileBesideTheOneThatMayNotBeReplaced) {
    if (!is_root()) GTEST_SKIP() << "needs root, to become another user";
    const std::string folder = dir_ / "sticky";
    const std::string page = folder + "/sheet.html";
    const Finished done =
        as_two_users(folder, {"max", "--quiet", "--prores-hd", "--streams", "1", "--duration", "1500ms",
                              "--confirm", "0s", "null:", "sim:null", "--html", page});
    EXPECT_EQ(done.exit_code, 3) << done.text();
    EXPECT_THAT(read_text(folder + "/sheet.2.html"), HasSubstr("2 searches compared"));
    EXPECT_FALSE(std::filesystem::exists(folder + "/sheet.3.html"));
    const std::string told =
        page + ": cannot be written: Operation not permitted: the result is in " + folder + "/sheet.2.html";
    EXPECT_LT(done.err.find(told), done.err.rfind(told)) << done.err;  // at once, and at the end
}

TEST_F(Outputs, AWholeResultStaysWhereNoNameIsFree) {
    const Finished done = play_while([this] {
        write_text(json_path(), "mine");
        for (int i = 2; i <= 99; ++i) write_text(dir_ / ("result." + std::to_string(i) + ".json"), "mine");
    });
    EXPECT_EQ(done.exit_code, 3) << done.text();
    EXPECT_EQ(partials(), 1);
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
        if (entry.path().extension() != ".partial") continue;
        EXPECT_EQ(read_json(entry.path())["schema"], "streamsim.result");
        EXPECT_THAT(done.err, HasSubstr("the result is in " + entry.path().string()));
    }
}

TEST_F(Outputs, ALinkStaysAndItsFileIsReplaced) {
    const auto play_to = [](const std::string& file) {
        const Finished done =
            streamsim({"--quiet", "--prores-hd", "--duration", "1s", "--json", file, "sim:null"});
        EXPECT_TRUE(std::filesystem::is_symlink(file)) << file;
        return done;
    };
    const std::string real = dir_ / "real.json";
    std::filesystem::create_symlink("real.json", json_path());
    std::filesystem::create_symlink(json_path(), dir_ / "second.json");
    for (const char* when : {"not there yet", "there"}) {
        const Finished done = play_to(dir_ / "second.json");
        EXPECT_EQ(done.exit_code, 0) << when << done.text();
        EXPECT_TRUE(std::filesystem::is_symlink(json_path())) << when;
        EXPECT_EQ(read_json(real)["schema"], "streamsim.result") << when;
    }
    write_text(real, "mine");
    EXPECT_EQ(play_to(json_path()).exit_code, 2);
    EXPECT_EQ(read_text(real), "mine");
    std::filesystem::create_symlink("round.json", dir_ / "round.json");
    EXPECT_EQ(play_to(dir_ / "round.json").exit_code, 3);
    std::filesystem::create_symlink("/dev/null", dir_ / "null.json");
    EXPECT_EQ(play_to(dir_ / "null.json").exit_code, 0);
    std::filesystem::create_symlink("/proc/self/fd/1", dir_ / "out.json");
    const Finished printed = play_to(dir_ / "out.json");  // which is a file without a name here
    EXPECT_EQ(printed.exit_code, 0) << printed.text();
    EXPECT_EQ(Json::parse(printed.out)["schema"], "streamsim.result");
    EXPECT_EQ(partials(), 0);
}

TEST_F(Outputs, DescriptorsAreWrittenBehindWhatTheyHave) {
    const char* const script = R"(file="$1"
        play() { "$0" --quiet --prores-hd --duration 1s --json "$1" sim:null; }
        play /dev/stdout >> "$file" && play /dev/stdout >> "$file" &&
        play /dev/stderr 2>> "$file" && play /dev/fd/3 3>> "$file")";
    const Finished done = run("sh", {.args = {"-c", script, streamsim_binary(), json_path()}});
    ASSERT_EQ(done.exit_code, 0) << done.text();
    const std::string text = read_text(json_path());
    int results = 0;
    for (std::size_t at = 0; (at = text.find("\"streamsim.result\"", at)) != std::string::npos; ++at) ++results;
    EXPECT_EQ(results, 4);
    const Finished printed =
        streamsim({"--prores-hd", "--duration", "1s", "--json", "/dev/stdout", "sim:null"});
    EXPECT_EQ(Json::parse(printed.out)["schema"], "streamsim.result") << "the text is elsewhere, as with -";
    EXPECT_EQ(partials(), 0);
}

TEST_F(Outputs, ADocumentHasStandardOutputForItselfWhateverItsName) {
    ASSERT_EQ(
        streamsim({"--quiet", "--prores-hd", "--duration", "1s", "--json", json_path(), "sim:null"}).exit_code,
        0);
    const Finished reported = streamsim({"report", json_path(), "--json", "/dev/stdout"});
    EXPECT_EQ(Json::parse(reported.out)["schema"], "streamsim.result");
    const Finished both = streamsim({"--json", "-", "--csv", "/dev/stdout", "null:"});
    EXPECT_EQ(both.exit_code, 2);
    EXPECT_THAT(both.err, HasSubstr("--csv: '/dev/stdout' is where --json goes already: name another file"));
}

TEST_F(Outputs, APageIsReplacedByItsOwnKindOnly) {
    const std::string page = dir_ / "page.html";
    const std::vector<std::string> to_page{"--quiet", "--prores-hd", "--streams", "1",       "--duration",
                                           "2s",      "--html",      page,        "sim:null"};
    std::vector<std::string> search{"max", "--confirm", "0"};
    search.insert(search.end(), to_page.begin(), to_page.end());
    ASSERT_EQ(streamsim(search).exit_code, 0);
    const std::string sheet = read_text(page);
    const Finished refused = streamsim(to_page);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr(page + ": the file exists and is not an earlier result of this kind"));
    EXPECT_EQ(read_text(page), sheet);
    EXPECT_EQ(streamsim(search).exit_code, 0);
    write_text(page, "<!DOCTYPE html>\n<!-- streamsim report --> of an earlier version");
    EXPECT_EQ(streamsim(search).exit_code, 2);
    EXPECT_EQ(streamsim(to_page).exit_code, 0);
}

/// As in a container, where each run may be process 1.
TEST_F(Outputs, WhatAKilledRunOfTheSameProcessNumberLeftStopsNoOther) {
    const char* const script =
        R"(for left in "$1.$$.partial" "$1.$$.now.partial"; do printf mine > "$left"; done; )"
        R"(exec "$0" --quiet --prores-hd --duration 300ms --json "$1" null:)";
    const Finished done = run("sh", {.args = {"-c", script, streamsim_binary(), json_path()}});
    EXPECT_EQ(done.exit_code, 0) << done.text();
    EXPECT_EQ(read_json(json_path())["schema"], "streamsim.result");
    EXPECT_EQ(partials(), 2) << "both are somebody else's";
}

/// The first byte or character that a terminal may obey, or that hides another; empty: there is none.
std::string obeyed(const std::string& text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte == '\n') continue;
        if (byte < 0x20 || byte == 0x7f || byte == 0xff) return "a control byte at " + std::to_string(i);
        if (byte == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0)
            return "a C1 at " + std::to_string(i);
        if (text.compare(i, 3, "\xe2\x80\xae") == 0) return "a turn of direction at " + std::to_string(i);
    }
    return "";
}

TEST_F(Outputs, NoNameCommandsATerminal) {
    const std::string name = "a\x1b[2J\x1b]0;t\x07\x7f\xc2\x9b\xff\xe2\x80\xae\r\nFORGED: b";
    const std::string place = target() + "/" + name;
    const std::string missing = place + "/none";
    std::filesystem::create_directory(place);
    const std::string result = place + "/" + name + ".json";
    const std::string format = place + "/" + name + "-format.json";
    std::filesystem::copy(small(), format);
    write_text(place + "/scenario", R"({"schema": "streamsim.scenario", "\u001b[2J\u009b\u202e": 1})");
    write_text(place + "/other", R"({"schema": "\u001b[2J\u009b\u202e\nFORGED"})");
    const std::vector<std::vector<std::string>> commands{
        {"prepare", "--format", format, "--streams", "2", "--clip-duration", "1s", place},
        {"--format", format, "--duration", "300ms", "--json", result, place},
        {"-vv", "--format", format, "--duration", "300ms", place},
        {"--duration", "300ms", place + "/streamsim-media/small"},
        {"inspect", place + "/streamsim-media/small/clip-0001"},
        {"inspect", "--frames", place + "/streamsim-media/small/clip-0001"},
        {"max", "--format", format, "--streams", "1", "--duration", "1100ms", "--confirm", "1100ms", place},
        {"report", result},
        {"report", result, result},
        {"report", "--merge", result},
        {"report", missing},
        {"report", place + "/other"},
        {"run", place + "/scenario"},
        {"run", place + "/other"},
        {"run", missing},
        {"formats", name},
        {"formats", format},
        {"inspect", missing},
        {"profile", missing},
        {"--journal", place, "--prores-hd", "--duration", "300ms", "null:"},
        {"--json", missing + "/r.json", "null:"},
        {"--" + name, "null:"},
        {"--format", name, "null:"},
        {"sim:" + name},
        {"nfs://127.0.0.1/" + name},
        {missing},
        {"clean", missing},
        {"clean", place},
    };
    for (const auto& command : commands) {
        const Finished done = streamsim(command);
        EXPECT_THAT(done.exit_code, AnyOf(0, 1, 2, 3)) << done.text();
        EXPECT_EQ(obeyed(done.out), "") << testing::PrintToString(command) << done.out;
        EXPECT_EQ(obeyed(done.err), "") << testing::PrintToString(command) << done.err;
        EXPECT_EQ(("\n" + done.out + done.err).find("\nFORGED"), std::string::npos) << done.text();
    }
}

TEST_F(Outputs, TheProjectStandsInEveryDocument) {
    const std::string logo = dir_ / "logo.svg";
    write_text(logo, "<svg xmlns='http://www.w3.org/2000/svg'/>");
    const std::string page = dir_ / "page.html";
    const Finished done =
        streamsim({"--quiet", "--prores-hd", "--duration", "1s", "--title", "Stage 4", "--client", "ACME",
                   "--note", "again", "--logo", logo, "--json", json_path(), "--html", page, "sim:null"});
    ASSERT_EQ(done.exit_code, 0) << done.text();
    const Json project = read_json(json_path())["project"];
    EXPECT_EQ(project["title"], "Stage 4");
    EXPECT_EQ(project["client"], "ACME");
    EXPECT_EQ(project["logo"],
              "data:image/svg+xml;base64,PHN2ZyB4bWxucz0naHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmcnLz4=");
    EXPECT_THAT(read_text(page), HasSubstr("alt=\"Logo of ACME\""));
    const Finished again = streamsim({"report", "--quiet", "--title", "Stage 5", json_path(), "--html", page});
    ASSERT_EQ(again.exit_code, 0) << again.text();
    EXPECT_THAT(read_text(page), HasSubstr("Stage 5"));
}

TEST_F(Outputs, ALogoThatIsNoImageIsRefused) {
    const std::string text = dir_ / "logo.txt";
    write_text(text, "hello");
    const std::string large = dir_ / "large.png";
    write_text(large, std::string(600'000, 'x'));
    for (const auto& [file, sentence] : {std::pair(text, ": expected a PNG, JPEG or SVG image"),
                                         {large, ": expected an image of at most 512 KiB, found 600000 bytes"},
                                         {dir_ / "missing.png", ": expected an image file"}}) {
        const Finished done = streamsim({"--logo", file, "--duration", "1s", "sim:null"});
        EXPECT_EQ(done.exit_code, 2);
        EXPECT_THAT(done.err, HasSubstr("--logo: " + file + sentence));
    }
}

}  // namespace
}  // namespace streamsim::tests
