// A command before each step, and counters before and after it: what is run when, what the result has of it,
// what is refused, and what ends a run.
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// The processes of a group that run; one that has ended may wait for its parent.
std::vector<std::string> living_of_group(pid_t group) {
    std::vector<std::string> living;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        std::ifstream in(entry.path() / "stat");
        std::string number, name, state;
        pid_t parent = 0, of = 0;
        if (in >> number >> name >> state >> parent >> of && of == group && state != "Z")
            living.push_back(name);
    }
    return living;
}

class BeforeStep : public CliTest {
protected:
    std::string log_path() const { return dir_ / "steps.log"; }
    /// Notes each step and its value in log_path().
    std::string note_step() const { return "echo $STREAMSIM_STEP $STREAMSIM_VALUE >> " + log_path(); }
    std::vector<std::string> noted() const {
        std::ifstream in(log_path());
        std::vector<std::string> lines;
        for (std::string line; std::getline(in, line);) lines.push_back(line);
        return lines;
    }
    std::string write(const char* name, const Json& document) const {
        const std::string path = dir_ / name;
        write_text(path, document.dump());
        return path;
    }
    Json scenario() const {
        return {{"schema", "streamsim.scenario"},
                {"version", 1},
                {"duration", "1s"},
                {"seats", {{{"streams", {{{"format", small()}, {"count", 2}, {"clip_duration", "1s"}}}}}}}};
    }
    static Json workload() {
        return {{"schema", "streamsim.workload"},
                {"version", 1},
                {"name", "tested"},
                {"duration", "200ms"},
                {"sweep", {{"over", "users"}, {"values", {1, 3}}}},
                {"meters",
                 {{{"name", "m"},
                   {"operations", {{"read", 1}}},
                   {"blocks", "4KiB"},
                   {"files", {{"bytes", "1MiB"}}}}}}};
    }
    /// Bytes that the kernel says block devices delivered to the process that ran it, as a counter of drives.
    static std::string own_drive_reads() { return "sed -n 's/^read_bytes:/disk_read_bytes:/p' /proc/$PPID/io"; }
    /// Files below the target that streamsim has open, as its child sees them.
    static std::string open_below_target() {
        return "ls -l /proc/$PPID/fd | grep -c -e \"-> $STREAMSIM_TARGET\"; true";
    }
};

TEST_F(BeforeStep, OfPlayIsRunOnceAndItsOutputIsKept) {
    prepare(2);
    const Json result = play_small({"--streams", "2", "--duration", "1s", "--before-step",
                                    "echo flushed $STREAMSIM_TARGET; " + note_step() + "; echo loudly >&2"});
    EXPECT_THAT(noted(), ElementsAre("1 2"));
    const Json& before = result["before_step"];
    EXPECT_EQ(before["output"], "flushed " + target() + "\nloudly\n");
    EXPECT_EQ(before["output_omitted_bytes"], 0);
    EXPECT_EQ(before["exit_code"], 0);
    EXPECT_GT(before["duration_ns"], 0);
    EXPECT_THAT(before["command"].get<std::string>(), HasSubstr("echo flushed"));
    EXPECT_FALSE(result.contains("counters"));
}

TEST_F(BeforeStep, ResultWithoutCommandsHasNoSuchMembers) {
    prepare(1);
    const Json result = play_small({"--duration", "1s"});
    EXPECT_FALSE(result.contains("before_step"));
    EXPECT_FALSE(result.contains("counters"));
}

TEST_F(BeforeStep, NoFileOfTheTargetIsOpenMeanwhile) {
    prepare(1);
    const Json result = play_small({"--duration", "1s", "--before-step", open_below_target()});
    EXPECT_EQ(result["before_step"]["output"], "0\n");
    // The locks of working sets, one of them exclusive, are released, too.
    Json document = workload();
    document["meters"][0]["operations"] = {{"read", 1}, {"write", 1}};
    const Finished done = streamsim({"run", write("w.json", document), target(), "--quiet", "--before-step",
                                     open_below_target(), "--json", dir_ / "load.json"});
    ASSERT_EQ(done.exit_code, 0) << done.text();
    const Json load = read_json(dir_ / "load.json");
    for (const Json& step : load["steps"]) EXPECT_EQ(step["result"]["before_step"]["output"], "0\n");
}

TEST_F(BeforeStep, TargetMayBeMovedAwayAndBack) {
    prepare(1);
    const Json result = play_small({"--duration", "1s", "--before-step",
                                    "mv $STREAMSIM_TARGET $STREAMSIM_TARGET.off && "
                                    "cp -r $STREAMSIM_TARGET.off $STREAMSIM_TARGET"});
    EXPECT_EQ(result["verdict"]["pass"], true);
}

TEST_F(BeforeStep, StorageThatIsNotMountedAgainEndsTheRun) {
    prepare(1);
    const Finished done =
        streamsim({"--format", small(), "--duration", "1s", "--quiet", "--before-step",
                   "mv $STREAMSIM_TARGET/streamsim-media $STREAMSIM_TARGET/../off", target()});
    EXPECT_EQ(done.exit_code, 3) << done.text();
    EXPECT_THAT(done.err, HasSubstr("is the storage mounted again?"));
    EXPECT_FALSE(std::filesystem::exists(target() + "/streamsim-media")) << "nothing is written below it";
}

TEST_F(BeforeStep, LockOfTheMediaSetIsTakenAgain) {
    prepare(1);
    const std::string clean = streamsim_binary() + " clean " + target() + " > /dev/null 2>&1; echo $?";
    // During the command others may use the media set; the counters are read while it is locked again.
    const Json result =
        play_small({"--duration", "1s", "--before-step",
                    "cp -r $STREAMSIM_TARGET $STREAMSIM_TARGET.kept; " + clean +
                        "; rm -rf $STREAMSIM_TARGET; mv $STREAMSIM_TARGET.kept $STREAMSIM_TARGET",
                    "--counters", "echo code $(" + clean + ")"});
    EXPECT_EQ(result["before_step"]["output"], "0\n");
    EXPECT_EQ(result["counters"]["values"][0]["before"], 3);
}

TEST_F(BeforeStep, NothingOfStreamsimLeaksIntoTheCommand) {
    prepare(1);
    const Json result = play_small({"--duration", "1s", "--before-step", "ls -l /proc/self/fd"});
    const auto output = result["before_step"]["output"].get<std::string>();
    // 0 to 2, the directory that ls reads, and the heading; or what the caller of this test has left open.
    EXPECT_THAT(output,
                AllOf(HasSubstr(" 0 -> /dev/null"), Not(HasSubstr("anon_inode")), Not(HasSubstr("socket:")),
                      Not(HasSubstr("timerfd")), Not(HasSubstr(dir_.path().string()))))
        << output;
}

TEST_F(BeforeStep, FailureEndsTheRunAndShowsTheLastLines) {
    prepare(1);
    const Finished done =
        streamsim({"--format", small(), "--duration", "1s", "--before-step",
                   "for i in 1 2 3 4 5 6 7; do echo line $i; done; echo no such cache >&2; exit 4", "--json",
                   json_path(), target()});
    EXPECT_EQ(done.exit_code, 3) << done.text();
    EXPECT_THAT(done.err, AllOf(HasSubstr("before step 1 of 1: the command ended with exit code 4, so that the "
                                          "step is not measured"),
                                HasSubstr("no such cache"), HasSubstr("line 7"), Not(HasSubstr("line 3\n"))));
    EXPECT_FALSE(std::filesystem::exists(json_path()));
}

TEST_F(BeforeStep, TimeoutEndsTheRun) {
    prepare(1);
    const Finished done = streamsim({"--format", small(), "--duration", "1s", "--before-step", "sleep 60",
                                     "--command-timeout", "300ms", target()});
    EXPECT_EQ(done.exit_code, 3) << done.text();
    EXPECT_LT(done.wall_s, 20);
    EXPECT_THAT(done.err, HasSubstr("did not end within 300.0 ms, and was ended"));
}

TEST_F(BeforeStep, InterruptionEndsTheCommand) {
    prepare(1);
    const std::string pid_file = dir_ / "pid";
    Spawn spawn;
    spawn.args = {"--format",
                  small(),
                  "--duration",
                  "1s",
                  "--json",
                  json_path(),
                  "--before-step",
                  "echo $$ > " + pid_file + ".new; mv " + pid_file + ".new " + pid_file + "; sleep 60; true",
                  target()};
    Process process(streamsim_binary(), spawn);
    while (process.running() && !std::filesystem::exists(pid_file)) sleep_ms(10);
    EXPECT_THAT(process.err_so_far(), HasSubstr("before step 1 of 1: echo"));
    const std::int64_t sent_ns = monotonic_ns();
    process.send(SIGINT);
    const Finished done = process.wait();
    EXPECT_LT(monotonic_ns() - sent_ns, 3'000 * kMs);
    expect_interrupted(done, json_path());
    const pid_t shell = std::stoi(read_text(pid_file));
    EXPECT_THAT(living_of_group(shell), IsEmpty());
}

TEST_F(BeforeStep, CountersProveThatReadsWereCold) {
    prepare(2);
    const std::string evict =
        "find $STREAMSIM_TARGET -name '*.dpx' -exec dd of={} oflag=nocache conv=notrunc,fdatasync count=0 "
        "status=none \\;";
    const std::vector<std::string> options = {"--streams",  "2",          "--duration",      "1s",
                                              "--buffered", "--counters", own_drive_reads(), "--before-step"};
    const auto with = [&options](const std::string& command) {
        std::vector<std::string> all = options;
        all.push_back(command);
        return all;
    };
    const Json cold = play_small(with(evict));
    const Json& counters = cold["counters"];
    ASSERT_EQ(counters["values"].size(), 1U) << counters;
    EXPECT_EQ(counters["values"][0]["name"], "disk_read_bytes");
    EXPECT_EQ(counters["bytes_read"], cold["totals"]["bytes_read"]);
    if (counters["values"][0]["difference"] == 0) GTEST_SKIP() << "the files here are in memory";
    EXPECT_EQ(counters["reads"], "cold") << counters;
    const Json warm = play_small(with("cat $(find $STREAMSIM_TARGET -name '*.dpx') > /dev/null"));
    EXPECT_EQ(warm["counters"]["reads"], "not-cold") << warm["counters"];
}

TEST_F(BeforeStep, CountersOfAFileAreReadBeforeAndAfter) {
    prepare(1);
    const std::string file = dir_ / "counter";
    write_text(file, "7");
    // Each call gives the next number: the first is before the step, the second after it.
    const std::string next = "n=$(cat " + file + "); echo calls: $n; echo $((n + 5)) > " + file +
                             "; i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done";
    const Json result = play_small({"--duration", "1s", "--counters", next});
    const Json& calls = result["counters"]["values"][0];
    EXPECT_EQ(calls["name"], "calls");
    EXPECT_EQ(calls["before"], 7);
    EXPECT_EQ(calls["after"], 12);
    EXPECT_EQ(calls["difference"], 5);
    EXPECT_EQ(result["counters"]["reads"], "not-known");
    EXPECT_EQ(result["counters"]["summary"], "");
    EXPECT_EQ(read_text(file), "17\n");
    EXPECT_EQ(result["client"]["helpers_cpu_ns"], 0) << "the time of the user's commands is not the player's";
    EXPECT_FALSE(result.contains("before_step"));
}

TEST_F(BeforeStep, TextReportHasThem) {
    prepare(1);
    const std::string file = dir_ / "counter";
    write_text(file, "0");
    const std::string next = "n=$(cat " + file + "); echo disk_read_bytes $n; echo 1 > " + file;
    play_with_text({"-v", "--format", small(), "--duration", "1s", "--counters", next, "--before-step", "true"},
                   target());
    EXPECT_THAT(finished().out,
                AllOf(HasSubstr("Before      true: exit code 0"),
                      HasSubstr("disk_read_bytes +1 B of 1.8 MB read: not all reads were cold")));
    write_text(file, "0");
    play_with_text({"--format", small(), "--duration", "1s", "--counters", next}, target());
    EXPECT_THAT(finished().out, HasSubstr("not all reads were cold")) << "on one screen, too";
}

TEST_F(BeforeStep, CountersThatCannotBeReadEndTheRunBeforeItPlays) {
    prepare(1);
    for (const auto& [command, why] : {std::pair{"echo nothing", "it printed no counter"},
                                       std::pair{"echo a 1; exit 2", "ended with exit code 2"}}) {
        const Finished done =
            streamsim({"--format", small(), "--duration", "1s", "--quiet", "--counters", command, target()});
        EXPECT_EQ(done.exit_code, 3) << done.text();
        EXPECT_THAT(done.err, HasSubstr(why));
    }
}

TEST_F(BeforeStep, CountersThatFailAfterPlayAreANotice) {
    prepare(1);
    const std::string once = dir_ / "once";
    const Json result = play_small(
        {"--duration", "1s", "--counters", "test ! -e " + once + " && touch " + once + " && echo a 1"});
    EXPECT_FALSE(result.contains("counters"));
    EXPECT_THAT(result["notices"].dump(), HasSubstr("no counters after the step: "));
}

TEST_F(BeforeStep, CountersThatAreInterruptedAfterPlayAreANotice) {
    prepare(1);
    const std::string first = dir_ / "first", second = dir_ / "second";
    Spawn spawn;
    spawn.args = {"--format",
                  small(),
                  "--duration",
                  "1s",
                  "--quiet",
                  "--json",
                  json_path(),
                  "--counters",
                  "echo a 1; test -e " + first + " && touch " + second + " && sleep 60; touch " + first,
                  target()};
    Process process(streamsim_binary(), spawn);
    while (process.running() && !std::filesystem::exists(second)) sleep_ms(10);
    process.send(SIGINT);
    const Finished done = process.wait();
    EXPECT_FALSE(done.timed_out);
    const Json result = read_json(json_path());
    EXPECT_FALSE(result.contains("counters"));
    EXPECT_THAT(result["notices"].dump(), HasSubstr("no counters after the step: it was interrupted"));
}

TEST_F(BeforeStep, MetersBesideStreamsAreThreeSteps) {
    prepare(1);
    const std::string meter = write("w.json", workload());
    play_small({"--duration", "1s", "--meter", meter, "--before-step", note_step()});
    EXPECT_THAT(noted(), ElementsAre("1 1", "2 0", "3 1"));
}

TEST_F(BeforeStep, KeepsMediaColdThatTheCommandHasPlayedBefore) {
    if (!LaterClock::works()) GTEST_SKIP() << "no library is loaded before those of sanitizers";
    prepare(2, "3s");
    const LaterClock a_day_later;
    const std::string meter = write("w.json", workload());
    const auto may_be_warm = [&](std::vector<std::string> options) {
        options.insert(options.end(), {"--duration", "1s", "--meter", meter});
        return play_small(options)["media"]["server_cache_may_be_warm"].get<bool>();
    };
    EXPECT_TRUE(may_be_warm({})) << "the streams were played alone first";
    EXPECT_FALSE(may_be_warm({"--not-alone"}));
    EXPECT_FALSE(may_be_warm({"--before-step", "true"}));
    const auto max = [&](std::vector<std::string> options) {
        options.insert(options.begin(), {"max", "--format", small(), "--duration", "1200ms", "--confirm", "0",
                                         "--quiet", "--json", json_path()});
        options.push_back(target());
        std::filesystem::remove(json_path());  // a result of play is not overwritten by one of `max`
        const Finished done = streamsim(options);
        EXPECT_EQ(done.exit_code, 0) << done.text();
        return read_json(json_path());
    };
    EXPECT_EQ(max({"--streams", "2"})["server_cache_may_be_warm"], true);
    EXPECT_EQ(max({"--streams", "2", "--before-step", "true"})["server_cache_may_be_warm"], false);
    const Json one = max({"--streams", "1"});
    const bool repeated = one["formats"][0]["steps"][0]["runs"].size() > 1;  // this computer was busy
    EXPECT_EQ(one["server_cache_may_be_warm"], repeated);
}

TEST_F(BeforeStep, KeepsMediaColdThatWereReadForTheirIndex) {
    if (!LaterClock::works()) GTEST_SKIP() << "no library is loaded before those of sanitizers";
    if (std::system("ffmpeg -version > /dev/null 2>&1") != 0) GTEST_SKIP() << "needs ffmpeg";
    const std::string clip = target() + "/a.mkv";
    const std::string make = "ffmpeg -v error -f lavfi -i testsrc2=s=64x36:r=25 -t 1 -c:v mpeg4 " + clip;
    ASSERT_EQ(std::system(make.c_str()), 0);
    const LaterClock a_day_later;
    const auto may_be_warm = [&](std::vector<std::string> options) {
        options.insert(options.end(), {"--duration", "500ms"});
        return play(options, clip)["media"]["server_cache_may_be_warm"].get<bool>();
    };
    EXPECT_TRUE(may_be_warm({}));
    EXPECT_FALSE(may_be_warm({"--before-step", "true"}));
    EXPECT_TRUE(may_be_warm({"--keep-index"})) << "it was made just now";
    EXPECT_FALSE(may_be_warm({"--keep-index"}));
}

// --- max

TEST_F(BeforeStep, OfMaxIsRunBeforeEachPlay) {
    const Finished done = streamsim({"max", "--format", small(), "--streams", "2", "--clip-duration", "1s",
                                     "--duration", "2s", "--confirm", "3s", "--quiet", "--before-step",
                                     note_step(), "--counters", "echo a 1", "--json", json_path(), target()});
    ASSERT_EQ(done.exit_code, 0) << done.text();
    const Json result = read_json(json_path());
    std::vector<std::string> expected;
    for (const Json& step : result["formats"][0]["steps"]) {
        EXPECT_FALSE(step.contains("before_step")) << "its runs have it";
        for (const Json& run : step["runs"]) {
            expected.push_back(std::to_string(expected.size() + 1) + " " + step["streams"].dump());
            ASSERT_TRUE(run.contains("before_step") && run.contains("counters")) << run;
            EXPECT_EQ(run["before_step"]["exit_code"], 0);
            EXPECT_EQ(run["counters"]["values"][0]["difference"], 0);
            EXPECT_GT(run["counters"]["bytes_read"], 0);
        }
    }
    EXPECT_GE(expected.size(), 3U) << "1, 2, and the confirmation";
    EXPECT_EQ(noted(), expected);
}

TEST_F(BeforeStep, FailureInMaxKeepsTheStepsBefore) {
    const Finished done = streamsim({"max", "--format", small(), "--streams", "2", "--clip-duration", "1s",
                                     "--duration", "2s", "--confirm", "0", "--before-step",
                                     "test $STREAMSIM_STEP -lt 2", "--json", json_path(), target()});
    EXPECT_EQ(done.exit_code, 3) << done.text();
    EXPECT_THAT(done.err, HasSubstr("before step 2: the command ended with exit code 1"));
    const Json result = read_json(json_path());
    EXPECT_EQ(result["interrupted"], true);
    EXPECT_EQ(result["formats"][0]["steps"].size(), 1U);
    EXPECT_THAT(result["formats"][0]["at_least_because"].get<std::string>(), HasSubstr("before step 2"));
}

// --- documents

TEST_F(BeforeStep, OfAScenarioIsRefusedUnlessItIsAllowed) {
    Json document = scenario();
    document["before_step"] = {{"command", note_step()}, {"counters", "echo a 1"}};
    const std::string path = write("s.json", document);
    const std::vector<std::string> line = {"run", path, target(), "--quiet", "--json", json_path()};
    Finished done = streamsim(line);
    EXPECT_EQ(done.exit_code, 2) << done.text();
    EXPECT_THAT(done.err, AllOf(HasSubstr(path + ": /before_step/command: "), HasSubstr(note_step()),
                                HasSubstr("--allow-commands"), HasSubstr("/before_step/counters: ")));
    EXPECT_THAT(noted(), IsEmpty());
    EXPECT_TRUE(std::filesystem::is_empty(target())) << "nothing was written";
    EXPECT_FALSE(std::filesystem::exists(json_path()));

    auto with = [&line](std::vector<std::string> more) {
        more.insert(more.begin(), line.begin(), line.end());
        return streamsim(more);
    };
    done = with({"--allow-commands"});
    ASSERT_EQ(done.exit_code, 0) << done.text();
    EXPECT_THAT(noted(), ElementsAre("1 2"));
    EXPECT_EQ(read_json(json_path())["before_step"]["command"], note_step());
    EXPECT_EQ(read_json(json_path())["counters"]["values"][0]["name"], "a");

    // A typed command replaces that of the document, and needs no permission.
    done = with({"--before-step", "echo typed", "--counters", ""});
    ASSERT_EQ(done.exit_code, 0) << done.text();
    EXPECT_EQ(read_json(json_path())["before_step"]["output"], "typed\n");
    EXPECT_FALSE(read_json(json_path()).contains("counters"));
    done = with({"--before-step", "echo typed"});
    EXPECT_EQ(done.exit_code, 2) << "the counters are still the document's: " << done.text();
    EXPECT_THAT(noted(), ElementsAre("1 2")) << "the document's command was run once, when it was allowed";
}

TEST_F(BeforeStep, OfAWorkloadIsRunBeforeEachValueOfItsSweep) {
    Json document = workload();
    document["before_step"] = note_step();
    const std::string path = write("w.json", document);
    Finished done = streamsim({"run", path, target(), "--quiet"});
    EXPECT_EQ(done.exit_code, 2) << done.text();
    EXPECT_THAT(done.err, HasSubstr(path + ": /before_step: "));
    EXPECT_THAT(noted(), IsEmpty());
    done = streamsim({"run", path, target(), "-v", "--allow-commands", "--json", json_path()});
    ASSERT_EQ(done.exit_code, 0) << done.text();
    EXPECT_THAT(noted(), ElementsAre("1 1", "2 3"));
    EXPECT_THAT(done.err, HasSubstr("before step 2 of 2: "));
    const Json result = read_json(json_path());
    for (const Json& step : result["steps"]) EXPECT_EQ(step["result"]["before_step"]["command"], note_step());
}

TEST_F(BeforeStep, FailureInASweepKeepsTheStepsBefore) {
    const Finished done =
        streamsim({"run", write("w.json", workload()), target(), "--before-step", "test $STREAMSIM_STEP -lt 2",
                   "--counters", "echo disk_read_bytes 1", "--json", json_path()});
    EXPECT_EQ(done.exit_code, 3) << done.text();
    EXPECT_THAT(done.err, HasSubstr("before step 2 of 2"));
    EXPECT_THAT(done.out, AllOf(HasSubstr("INTERRUPTED: 1 step, "), Not(HasSubstr("DONE"))));
    const Json result = read_json(json_path());
    EXPECT_EQ(result["interrupted"], true);
    EXPECT_EQ(result["steps"].size(), 1U);
    EXPECT_EQ(result["steps"][0]["result"]["counters"]["reads"], "not-cold");
}

TEST_F(BeforeStep, AKillInASweepLeavesTheStepsBefore) {
    const std::string csv = dir_ / "rows.csv";
    const Finished done =
        streamsim({"run", write("w.json", workload()), target(), "--before-step",
                   "test $STREAMSIM_STEP -lt 2 || kill -9 $PPID", "--json", json_path(), "--csv", csv});
    EXPECT_EQ(done.signal, SIGKILL) << done.text();
    const Json result = read_json(json_path());
    EXPECT_EQ(result["interrupted"], true);
    EXPECT_EQ(result["steps"].size(), 1U);
    EXPECT_GT(std::filesystem::file_size(csv), 1000U);
}

TEST_F(BeforeStep, OfAWorkloadBesideStreamsHasNoEffect) {
    prepare(1);
    Json document = workload();
    document["before_step"] = note_step();
    const Json result = play_small({"--duration", "1s", "--not-alone", "--meter", write("w.json", document)});
    EXPECT_THAT(noted(), IsEmpty());
    EXPECT_THAT(result["notices"].dump(), HasSubstr("before_step has no effect"));
}

TEST_F(BeforeStep, CommandThatLooksLikeAnotherIsRefused) {
    Json document = scenario();
    document["before_step"] = "echo harmless \xe2\x80\xae; rm";
    const Finished done = streamsim({"run", write("s.json", document), target(), "--allow-commands"});
    EXPECT_EQ(done.exit_code, 2) << done.text();
    EXPECT_THAT(done.err, HasSubstr("/before_step: expected a command without control characters"));
}

TEST_F(BeforeStep, ModelsAndNullHaveNothingToFlush) {
    for (const char* where : {"sim:h500", "null:", "sim:null"}) {
        const Finished done = streamsim({"--before-step", note_step(), where});
        EXPECT_EQ(done.exit_code, 2) << done.text();
        EXPECT_THAT(done.err, HasSubstr("--before-step: is for storage"));
    }
    const Finished counters = streamsim({"max", "--counters", note_step(), "sim:h500"});
    EXPECT_EQ(counters.exit_code, 2) << counters.text();
    Json document = workload();
    document["before_step"] = note_step();
    const Finished load = streamsim({"run", write("w.json", document), "sim:f800", "--allow-commands"});
    EXPECT_EQ(load.exit_code, 2) << load.text();
    EXPECT_THAT(load.err, HasSubstr("/before_step: is for storage: sim:f800"));
    EXPECT_THAT(noted(), IsEmpty());
}

TEST_F(BeforeStep, TimeoutAloneIsAMistake) {
    const Finished done = streamsim({"--command-timeout", "1s", target()});
    EXPECT_EQ(done.exit_code, 2) << done.text();
    EXPECT_THAT(done.err, HasSubstr("--command-timeout: is for --before-step and --counters"));
}

TEST_F(BeforeStep, AnInterruptionInItKeepsAnEarlierResult) {
    for (const auto& [kind, command] : {std::pair<std::string, std::vector<std::string>>{"result", {}},
                                        {"max", {"max", "--streams", "1"}},
                                        {"load", {"run", write("workload.json", workload())}}}) {
        for (const bool earlier : {true, false}) {
            const std::string text = "{\n  \"schema\": \"streamsim." + kind + "\"} of hours";
            std::filesystem::remove(json_path());
            std::filesystem::remove(log_path());
            if (earlier) write_text(json_path(), text);
            Spawn spawn;
            spawn.args = command;
            if (kind != "load")
                spawn.args.insert(spawn.args.end(), {"--format", small(), "--clip-duration", "1s"});
            spawn.args.insert(spawn.args.end(),
                              {"--before-step", note_step() + "; sleep 60", "--json", json_path(), target()});
            Process process(streamsim_binary(), spawn);
            while (process.running() && noted().empty()) sleep_ms(10);
            process.send(SIGINT);
            const Finished done = process.wait();
            EXPECT_EQ(done.exit_code, 130) << kind << done.text();
            const std::string now = read_text(json_path());
            EXPECT_EQ(now == text, earlier) << kind << now;
            EXPECT_EQ(done.err.find("the earlier result stays: " + json_path()) != std::string::npos, earlier)
                << kind << done.err;
            if (!earlier) {
                EXPECT_EQ(read_json(json_path())["interrupted"], true) << kind;
            }
        }
    }
}

}  // namespace
}  // namespace streamsim::tests
