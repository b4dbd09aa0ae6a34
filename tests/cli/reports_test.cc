// The outputs of a run besides its result (a trace, a JUnit report), and `streamsim report`.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kPython = "/usr/bin/python3";  // whose modules tools/setup installs

class Reports : public CliTest {
protected:
    /// Runs a script of this folder. Skips the test where there is no Python.
    static Finished python(const std::string& script, std::vector<std::string> args) {
        args.insert(args.begin(), STREAMSIM_SOURCE_DIR "/tests/cli/" + script);
        return run(kPython, {.args = std::move(args)});
    }
    static bool no_python() { return run(kPython, {.args = {"-c", ""}}).exit_code != 0; }

    /// Plays with a trace and its rows, and holds one against the other.
    void expect_trace_agrees(std::vector<std::string> options, const std::string& where) {
        if (no_python()) GTEST_SKIP() << "needs python3";
        const std::string trace = dir_ / "run.trace", csv = dir_ / "run.csv";
        options.insert(options.end(), {"--trace", trace, "--csv", csv});
        const Json result = play(options, where);
        const Finished checked = python("trace_agreement.py", {trace, csv, json_path()});
        EXPECT_EQ(checked.exit_code, 0) << checked.text();
        EXPECT_THAT(checked.out, HasSubstr(" slices, ")) << checked.text();
        EXPECT_THAT(checked.out, Not(HasSubstr("\n0 slices"))) << checked.text();
    }

    Json junit_summary(const std::string& path) {
        const Finished read = python("junit_summary.py", {path});
        EXPECT_EQ(read.exit_code, 0) << read.text() << read_text(path);
        return read.exit_code == 0 ? Json::parse(read.out) : Json::object();
    }

    /// A result in a file of its own.
    std::string result_of(const std::string& name, std::vector<std::string> options, const std::string& where) {
        std::string path = dir_ / name;
        options.insert(options.end(), {"--quiet", "--json", path, where});
        const Finished done = streamsim(options);
        EXPECT_TRUE(done.exit_code == 0 || done.exit_code == 1) << done.text();
        return path;
    }
    std::string modelled(const std::string& name, const std::string& streams) {
        return result_of(name, {"--dpx12", "--streams", streams, "--duration", "3s"}, "sim:h500");
    }
};

TEST_F(Reports, TheTraceSaysWhatTheRowsSay) {
    prepare(2);
    const Json slow = {{"clip_frames", {{"first", 3}, {"every", 7}}}, {"delay", "600ms"}};
    const Json unreadable = {{"clip_frames", {{"first", 5}, {"last", 5}}}, {"error", "EIO"}};
    const std::string faults = write_faults(Json::array({slow, unreadable}));
    expect_trace_agrees({"--format", small(), "--streams", "2", "--seats", "2", "--media", "same", "--duration",
                         "1500ms", "--inflight", "4", "--stagger", "100ms", "--faults", faults},
                        target());
}

TEST_F(Reports, TheTraceOfAModelSaysWhatItsRowsSay) {
    expect_trace_agrees({"--dpx12", "--streams", "4", "--duration", "3s", "--on-miss", "hold"}, "sim:h500");
    expect_trace_agrees({"--dpx12", "--streams", "3", "--frames", "40"}, "sim:null");
}

TEST_F(Reports, TheTraceOfARunThatNeverBeganIsNoLongerThanIt) {
    prepare(1);
    const std::string trace = dir_ / "run.trace", csv = dir_ / "run.csv";
    const std::string faults = write_faults(Json::array({Json{{"delay", "20s"}}}));
    Process player(streamsim_binary(), {.args = {"--quiet", "--format", small(), "--faults", faults, "--json",
                                                 json_path(), "--trace", trace, "--csv", csv, target()}});
    player.wait_until_it_hears(SIGINT);
    sleep_ms(300);
    player.send(SIGINT);
    EXPECT_EQ(player.wait().exit_code, 130);
    const Json written = read_json(trace);
    for (const Json& event : written["traceEvents"]) EXPECT_LT(event.value("ts", 0.0), 60e6);
    if (no_python()) GTEST_SKIP() << "needs python3";
    const Finished checked = python("trace_agreement.py", {trace, csv, json_path()});
    EXPECT_EQ(checked.exit_code, 0) << checked.text();
}

TEST_F(Reports, JunitIsTakenByItsReaders) {
    if (no_python()) GTEST_SKIP() << "needs python3";
    const std::string path = dir_ / "junit.xml";
    Json result = play({"--dpx12", "--streams", "4", "--duration", "3s", "--junit", path}, "sim:h500");
    Json summary = junit_summary(path);
    EXPECT_EQ(summary["cases"].size(), 4U);
    EXPECT_EQ(summary["failure"], 4);
    EXPECT_EQ(summary["properties"]["digest"], result["digest"]);
    EXPECT_THAT(summary["texts"][0].get<std::string>(),
                StartsWith(result["verdict"]["reason"].get<std::string>() + "|72 frames scheduled: "));
    result = play({"--dpx12", "--streams", "2", "--frames", "40", "--junit", path}, "null:");
    summary = junit_summary(path);
    EXPECT_EQ(summary["failure"].get<int>() + summary["error"].get<int>(), 0);
}

TEST_F(Reports, JunitStaysXmlWhateverTheNames) {
    if (no_python()) GTEST_SKIP() << "needs python3";
    const std::string odd = target() + "/a \x01\x1b <\"&'> ]]>\n\xff";
    std::filesystem::create_directory(odd);
    const std::string path = dir_ / "junit.xml";
    const Finished done = streamsim(
        {"--quiet", "--format", small(), "--clip-duration", "1s", "--frames", "10", "--junit", path, odd});
    EXPECT_EQ(done.exit_code, 0) << done.text();
    const std::string shown = junit_summary(path)["properties"]["target"];
    EXPECT_THAT(shown, EndsWith("/a \xef\xbf\xbd\xef\xbf\xbd <\"&'> ]]>\n\xef\xbf\xbd"));
}

TEST_F(Reports, AResultIsReadBackAndSaysTheSame) {
    prepare(1);
    const std::string real = dir_ / "real.json", junit = dir_ / "a.xml", again = dir_ / "b.xml";
    const Finished played =
        streamsim({"--format", small(), "--duration", "1s", "--json", real, "--junit", junit, target()});
    for (const std::string& path : {real, modelled("model.json", "4")}) {
        const Finished told = streamsim({"report", path, "--json", "-"});
        EXPECT_EQ(told.exit_code, 0) << told.text();
        EXPECT_EQ(told.out, read_text(path));
    }
    const Finished told = streamsim({"report", real, "--junit", again});
    EXPECT_EQ(told.out, played.out);
    EXPECT_EQ(read_text(again), read_text(junit));
}

TEST_F(Reports, ADocumentFromAPipeIsReadOnce) {
    const std::string search = dir_ / "max.json";
    const Finished searched = streamsim(
        {"max", "--quiet", "--dpx12", "--duration", "3s", "--confirm", "0", "--json", search, "sim:h500"});
    ASSERT_EQ(searched.exit_code, 0) << searched.text();
    for (const std::string& path : {modelled("a.json", "2"), search}) {
        const Finished piped =
            run("/bin/sh",
                {.args = {"-c", R"(cat "$1" | "$2" report /dev/stdin)", "sh", path, streamsim_binary()}});
        EXPECT_EQ(piped.exit_code, 0) << piped.text();
        EXPECT_EQ(piped.out, streamsim({"report", path}).out);
    }
}

TEST_F(Reports, ASingleResultIsRendered) {
    const std::string path = modelled("a.json", "4"), csv = dir_ / "streams.csv", html = dir_ / "a.html";
    const Finished told = streamsim({"report", path, "--csv", csv, "--html", html, "--quiet"});
    EXPECT_EQ(told.exit_code, 0) << "that it does not play is no failure of the report" << told.text();
    EXPECT_EQ(told.out + told.err, "");
    EXPECT_THAT(read_text(csv), StartsWith("seat,stream,format,"));
    const std::string rows = read_text(csv);
    EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 5);
    EXPECT_THAT(read_text(html), StartsWith("<!DOCTYPE html>"));
    // A file that is not such a table is not overwritten.
    write_text(csv, "mine\n");
    EXPECT_EQ(streamsim({"report", path, "--csv", csv}).exit_code, 2);
    EXPECT_EQ(read_text(csv), "mine\n");
}

TEST_F(Reports, SeveralResultsAreCompared) {
    const std::string a = modelled("a.json", "1"), b = modelled("b.json", "4"), json = dir_ / "c.json";
    const std::string csv = dir_ / "c.csv", html = dir_ / "c.html";
    const Finished told = streamsim({"report", a, b, "--json", json, "--csv", csv, "--html", html});
    EXPECT_EQ(told.exit_code, 0) << told.text();
    EXPECT_THAT(told.out, HasSubstr("changed: worse"));
    EXPECT_THAT(told.out, HasSubstr("1 of dpx12 at 24 fps"));
    const Json comparison = read_json(json);
    EXPECT_EQ(comparison["schema"], "streamsim.comparison");
    for (const Json& figure : comparison["figures"]) {
        if (figure["figure"] != "frames_missed_share") continue;
        EXPECT_EQ(figure["values"][0]["value"], 0.0);
        EXPECT_EQ(figure["values"][1]["judgement"], "changed");
        EXPECT_EQ(figure["values"][1]["direction"], "worse");
    }
    EXPECT_THAT(read_text(csv), HasSubstr("\nverdict,words,plays,does not play,changed: worse\r\n"));
    EXPECT_THAT(read_text(html), StartsWith("<!DOCTYPE html>\n<!-- streamsim comparison -->"));
    EXPECT_THAT(streamsim({"report", json, a}).err, HasSubstr("c.json: /schema: this is a comparison"));
}

TEST_F(Reports, SaysEveryProblemOfEveryDocument) {
    const std::string a = modelled("a.json", "1"), b = dir_ / "b.json", c = dir_ / "c.json";
    Json broken = read_json(a);
    broken["totals"].erase("stalls");
    broken["streams"][0]["rate"] = 24;
    write_text(b, broken.dump());
    write_text(c, R"({"schema": "streamsim.max", "version": 1})");
    const Finished told = streamsim({"report", a, b, c, dir_ / "none.json"});
    EXPECT_EQ(told.exit_code, 2) << told.text();
    for (const char* problem :
         {"b.json: /totals/stalls: missing", "b.json: /streams/0/rate: expected a frame rate",
          "c.json: /schema: this is what streamsim max found", "none.json: there is no such file"}) {
        EXPECT_THAT(told.err, HasSubstr(problem));
    }
    EXPECT_EQ(told.out, "");
}

TEST_F(Reports, TakesWhatItCanRenderOnly) {
    const Finished nothing = streamsim({"report"});
    EXPECT_EQ(nothing.exit_code, 2);
    EXPECT_THAT(nothing.err, HasSubstr("RESULT is missing"));
    const std::string a = modelled("a.json", "1");
    const Finished junit = streamsim({"report", a, a, "--junit", dir_ / "j.xml"});
    EXPECT_EQ(junit.exit_code, 2);
    EXPECT_THAT(junit.err, HasSubstr("--junit: is the verdict of one result"));
    EXPECT_EQ(streamsim({"report", a, "--trace", dir_ / "t"}).exit_code, 2);
    EXPECT_EQ(streamsim({"report", target()}).exit_code, 2);
}

/// Waits for "streamsim: metrics: http://127.0.0.1:PORT/metrics" and returns the URL.
std::string url_said(Process& player) {
    std::string said;
    while (player.running() && said.find("/metrics\n") == std::string::npos) {
        sleep_ms(5);
        said = player.err_so_far();
    }
    const std::size_t at = said.find("http://");
    return at == std::string::npos ? "" : said.substr(at, said.find('\n', at) - at);
}

TEST_F(Reports, MetricsAreReadWhileItPlays) {
    prepare(2);
    Process player(streamsim_binary(), {.args = {"--format", small(), "--streams", "2", "--duration", "60s",
                                                 "--metrics", "127.0.0.1:0", "--json", json_path(), target()}});
    const std::string url = url_said(player);
    ASSERT_THAT(url, StartsWith("http://127.0.0.1:")) << player.err_so_far();
    Json read;
    double on_time = 0;
    while (on_time == 0 && player.running()) {
        const Finished asked = python("open_metrics_reader.py", {url});
        if (asked.exit_code == 77) GTEST_SKIP() << asked.out;
        ASSERT_EQ(asked.exit_code, 0) << asked.text();
        read = Json::parse(asked.out);
        for (const Json& sample : read["samples"]) {
            if (sample[0] == "streamsim_frames_on_time_total") on_time += sample[2].get<double>();
        }
    }
    EXPECT_EQ(read["type"], "application/openmetrics-text; version=1.0.0; charset=utf-8");
    EXPECT_EQ(read["families"]["streamsim_read_bytes"], Json::array({"counter", "bytes"}));
    EXPECT_EQ(read["families"]["streamsim_margin_min_seconds"], Json::array({"gauge", "seconds"}));
    std::size_t streams = 0;
    for (const Json& sample : read["samples"]) {
        if (sample[0] != "streamsim_required_bytes_per_second") continue;
        EXPECT_EQ(sample[1], Json({{"seat", "0"}, {"stream", std::to_string(streams++)}, {"format", "small"}}));
        EXPECT_GT(sample[2], 0);
    }
    EXPECT_EQ(streams, 2U);
    player.send(SIGINT);
    EXPECT_EQ(player.wait().exit_code, 130);
}

TEST_F(Reports, MetricsThatCannotBeSaidAreAnErrorBeforePlay) {
    const Finished wrong = streamsim({"--dpx12", "--frames", "2", "--metrics", "everywhere:1", "null:"});
    EXPECT_EQ(wrong.exit_code, 2);
    EXPECT_THAT(wrong.err, HasSubstr("--metrics: 'everywhere:1': expected ADDR:PORT"));
    const Finished nowhere = streamsim(
        {"--dpx12", "--frames", "2", "--metrics", "203.0.113.1:9464", "--json", json_path(), "null:"});
    EXPECT_EQ(nowhere.exit_code, 3);
    EXPECT_THAT(nowhere.err, HasSubstr("--metrics 203.0.113.1:9464: cannot be listened on"));
    EXPECT_FALSE(std::filesystem::exists(json_path()));
}

}  // namespace
}  // namespace streamsim::tests
