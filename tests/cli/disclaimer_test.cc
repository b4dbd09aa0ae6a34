// Runs with injected faults and on the null storage, read as a program reads them: whatever is written, nothing
// is said about a storage but the banner. And targets of which not everything is played.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kNoStatement = "no statement about storage";

std::string lower(std::string text) {
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return text;
}

std::string without(std::string text, const std::string& what) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what))
        text.erase(at, what.size());
    return text;
}

/// The text of a page, without its style, its scripts and its tags.
std::string words_of_page(std::string page) {
    for (const auto& [begin, end] :
         {std::pair{"<style", "</style>"}, std::pair{"<script", "</script>"}, std::pair{"<", ">"}}) {
        for (std::size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at)) {
            const std::size_t to = page.find(end, at);
            if (to == std::string::npos) break;
            page.replace(at, to + std::string(end).size() - at, " ");
        }
    }
    return page;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

class Disclaimer : public CliTest {
protected:
    struct Written {
        std::string text, html, junit, csv;
        Json json;
    };
    Written write(std::vector<std::string> options, const std::string& where) {
        const std::string html = dir_ / "r.html", junit = dir_ / "r.xml", csv = dir_ / "r.csv";
        options.insert(options.end(), {"--html", html, "--junit", junit, "--csv", csv});
        Json json = play_with_text(std::move(options), where);
        return {finished().out, read_text(html), read_text(junit), read_text(csv), std::move(json)};
    }

    /// Names of files and command lines may hold anything; sentences may not.
    static void expect_nothing_said(const Written& written) {
        for (const std::string& text : {written.text, words_of_page(written.html), written.junit, written.csv})
            EXPECT_THAT(lower(without(text, kNoStatement)), Not(HasSubstr("storage")));
        EXPECT_NE(written.json["verdict"]["limit"], "storage");
        for (const char* key : {"reason", "detail", "next"})
            EXPECT_THAT(written.json["verdict"][key].get<std::string>(), Not(HasSubstr("storage")));
        for (const Json& cause : written.json["causes"]) {
            EXPECT_NE(cause["limit"], "storage");
            EXPECT_THAT(cause.dump(), Not(HasSubstr("storage")));
        }
        for (const Json& drop : written.json["drops"])
            EXPECT_THAT(drop["cause"].get<std::string>(), Not(HasSubstr("storage")));
        EXPECT_THAT(written.html, HasSubstr(kNoStatement));
        EXPECT_THAT(written.junit, HasSubstr(kNoStatement));
    }

    void expect_faults(const Written& written, bool pass) {
        SCOPED_TRACE(written.text);
        EXPECT_THAT(written.text, StartsWith("FAULTS INJECTED"));
        EXPECT_THAT(words_of_page(written.html), HasSubstr("FAULTS INJECTED"));
        EXPECT_THAT(written.junit, HasSubstr("FAULTS INJECTED"));
        EXPECT_TRUE(written.json["faults_injected"].is_object());
        EXPECT_EQ(written.json["verdict"]["pass"], pass);
        EXPECT_EQ(written.json["verdict"]["limit"], pass ? "none" : "unknown");
        if (!pass) EXPECT_THAT(written.junit, HasSubstr("<failure message=\"FAULTS INJECTED: "));
        expect_nothing_said(written);
    }

    std::string faults(const std::string& name) const {
        return std::string(STREAMSIM_SOURCE_FORMATS) + "/faults/" + name + ".json";
    }
};

TEST_F(Disclaimer, FaultsOnTheNullStorageAreTheFaults) {
    for (const char* where : {"null:", "sim:null"}) {
        const Written stalled =
            write({"--dpx12", "--duration", "9s", "--faults", faults("stall-500ms")}, where);
        expect_faults(stalled, false);
        EXPECT_EQ(stalled.json["throughput_gaps"].size(), 2u) << stalled.json["throughput_gaps"];
        // In real time this computer may miss one of its own.
        std::size_t ours = 0;
        for (const Json& drop : stalled.json["drops"]) ours += drop["cause"] == "client-scheduling" ? 1U : 0U;
        EXPECT_LE(ours, where == std::string("sim:null") ? 0u : 2u);
        EXPECT_EQ(stalled.json["faults_injected"]["frames_met"], stalled.json["drops"].size() - ours);
    }
    for (const char* on_miss : {"hold", "stall"}) {
        expect_faults(write({"--dpx12", "--duration", "5s", "--readahead", "2", "--on-miss", on_miss,
                             "--faults", faults("stall-500ms")},
                            "sim:null"),
                      false);
    }
    const std::string errors =
        write_faults(Json::array({Json{{"slots", {{"first", 30}, {"last", 31}}}, {"error", "EIO"}},
                                  Json{{"slots", {{"first", 40}, {"last", 41}}}, {"missing", true}},
                                  Json{{"slots", {{"first", 50}, {"last", 51}}}, {"short", 10}}}));
    const Written failed = write({"--dpx12", "--duration", "3s", "--faults", errors}, "sim:null");
    expect_faults(failed, false);
    EXPECT_EQ(failed.json["causes"][0]["cause"], "injected-fault");
    EXPECT_EQ(failed.json["causes"].size(), 1u);
    expect_faults(write({"--dpx12", "--duration", "1s", "--faults", faults("stall-500ms")}, "sim:null"), true);
    expect_faults(
        write({"--dpx12", "--record", "1", "--duration", "9s", "--faults", faults("stall-500ms")}, "sim:null"),
        false);
}

TEST_F(Disclaimer, FaultsOnFilesAndModelsAreTheFaults) {
    prepare(1);
    const Json rule{{"slots", {{"first", 30}, {"last", 33}}}, {"operation", "read"}, {"delay", "600ms"}};
    const Written written = write({"--format", small(), "--media", "same", "--duration", "2s", "--faults",
                                   write_faults(Json::array({rule}))},
                                  target());
    EXPECT_THAT(written.text, StartsWith("FAULTS INJECTED"));
    EXPECT_NE(written.json["verdict"]["limit"], "storage");
    EXPECT_GT(written.json["faults_injected"]["frames_met"], 0);
    EXPECT_THAT(written.json["probes"], IsEmpty()) << "there is nothing to find out about a storage";
    const Written modelled =
        write({"--dpx12", "--duration", "9s", "--faults", faults("stall-500ms")}, "sim:h500");
    EXPECT_THAT(modelled.text, StartsWith("FAULTS INJECTED"));
    EXPECT_EQ(modelled.json["verdict"]["limit"], "unknown");
}

TEST_F(Disclaimer, TheNullStorageSaysNothing) {
    for (const char* where : {"null:", "sim:null"}) {
        const Written written = write({"--dpx12", "--duration", "2s"}, where);
        const std::vector<std::string> lines = lines_of(written.text);
        EXPECT_THAT(std::vector(lines.begin(), lines.begin() + 4), Contains(HasSubstr(kNoStatement)));
        EXPECT_THAT(written.text, StartsWith("PLAYS: "));
        EXPECT_TRUE(written.json["faults_injected"].is_null());
        expect_nothing_said(written);
        for (const std::vector<std::string>& more :
             {std::vector<std::string>{}, {"--faults", faults("stall-500ms")}}) {
            std::vector<std::string> options{"max",       "--dpx12",   "--duration", "2s",
                                             "--confirm", "0",         "--streams",  "2",
                                             "--json",    json_path(), where};
            options.insert(options.end(), more.begin(), more.end());
            fs::remove(json_path());  // of a result of another kind
            const Finished max = streamsim(options);
            EXPECT_EQ(max.exit_code, 0) << max.text();
            const std::vector<std::string> out = lines_of(max.out);
            EXPECT_THAT(std::vector(out.begin(), out.begin() + 4), Contains(HasSubstr(kNoStatement)));
            if (!more.empty()) EXPECT_THAT(out.front(), HasSubstr("FAULTS INJECTED"));
            EXPECT_EQ(read_json(json_path())["faults_injected"], !more.empty());
        }
    }
    const std::string a = dir_ / "a.json", b = dir_ / "b.json";
    EXPECT_EQ(streamsim({"--dpx12", "--duration", "2s", "-q", "--json", a, "sim:null"}).exit_code, 0);
    EXPECT_EQ(streamsim({"--dpx12", "--duration", "9s", "-q", "--json", b, "--faults", faults("stall-500ms"),
                         "sim:h500"})
                  .exit_code,
              1);
    const Finished compared = streamsim({"report", a, b});
    EXPECT_EQ(compared.exit_code, 0) << compared.text();
    const std::vector<std::string> lines = lines_of(compared.out);
    EXPECT_THAT(lines[0], HasSubstr("FAULTS INJECTED"));
    EXPECT_THAT(lines[1], HasSubstr(kNoStatement));
    EXPECT_THAT(compared.out, Not(HasSubstr("changed: ")));
}

TEST_F(Disclaimer, MaxCountsTheFaultsOfAllItsRuns) {
    const std::string one_of_a_stream = write_faults(
        Json::array({Json{{"operation", "read"}, {"slots", {{"first", 24}, {"last", 24}}}, {"delay", "1ms"}}}));
    const Finished max = streamsim({"max", "--dpx12", "--duration", "2s", "--confirm", "0", "--streams", "2",
                                    "--faults", one_of_a_stream, "--json", json_path(), "sim:null"});
    ASSERT_EQ(max.exit_code, 0) << max.text();
    std::size_t delayed = 0;
    const Json document = read_json(json_path());
    for (const Json& step : document["formats"][0]["steps"])
        delayed += step["streams"].get<std::size_t>() * step["runs"].size();
    EXPECT_GT(delayed, 1u);
    EXPECT_THAT(max.out, HasSubstr("storage: " + std::to_string(delayed) +
                                   " operations delayed, 0 failed, 0 cut short"));
    const Finished read = streamsim({"report", json_path()});
    EXPECT_THAT(read.out, HasSubstr("no statement about storage: faults were injected\n"));
}

TEST_F(Disclaimer, AScenarioWithFaultsSaysSo) {
    for (const char* name : {"throughput-gap-null", "errors-null", "fault-throughput-gap"}) {
        const Finished done =
            streamsim({"run", std::string(STREAMSIM_SOURCE_FORMATS) + "/scenario/" + name + ".json", "--json",
                       json_path()});
        EXPECT_EQ(done.exit_code, 1) << done.text();
        EXPECT_THAT(done.out, StartsWith("FAULTS INJECTED: DOES NOT PLAY"));
        EXPECT_THAT(done.out, HasSubstr("as expected"));
        EXPECT_EQ(read_json(json_path())["verdict"]["limit"], "unknown");
    }
}

TEST_F(Disclaimer, OneStillPictureIsNothingToPlay) {
    const std::string photo = target() + "/photo.jpg";
    std::ofstream(photo) << "not much of a picture";
    for (const std::string& where : {photo, target()}) {
        for (const char* command : {"", "max"}) {
            std::vector<std::string> options{where};
            if (*command != '\0') options.insert(options.begin(), command);
            const Finished played = streamsim(options);
            EXPECT_EQ(played.exit_code, 2) << played.text();
            EXPECT_THAT(played.err, HasSubstr("still picture"));
            EXPECT_THAT(played.err, HasSubstr("expected a clip"));
            EXPECT_EQ(played.out, "");
        }
    }
    // A frame of a sequence stands for it.
    for (int i = 1; i <= 30; ++i)
        std::ofstream(target() + "/shot." + std::to_string(1000 + i) + ".jpg") << "frame";
    EXPECT_EQ(play({"--frames", "24"}, target() + "/shot.1001.jpg")["totals"]["frames_on_time"], 24);
}

TEST_F(Disclaimer, WhatAFolderHoldsAndIsNotPlayedIsNamed) {
    prepare(1);
    fs::rename(clip_directories().front(), target() + "/shot");
    fs::remove_all(target() + "/streamsim-media");
    std::ofstream(target() + "/broken.mov") << "no movie";
    std::ofstream(target() + "/poster.png") << "no sequence";
    const Json result = play_with_text({"-v", "--frames", "24"}, target());
    EXPECT_THAT(result["media"]["skipped"].dump(), HasSubstr("broken.mov"));
    EXPECT_THAT(finished().out, HasSubstr("Not played"));
    EXPECT_THAT(finished().out, HasSubstr("broken.mov"));
    fs::remove_all(target() + "/shot");
    const Finished nothing = streamsim({target()});
    EXPECT_EQ(nothing.exit_code, 2) << nothing.text();
    EXPECT_THAT(nothing.err, HasSubstr("broken.mov"));
}

}  // namespace
}  // namespace streamsim::tests
