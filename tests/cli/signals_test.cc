// Ctrl-C at any moment: exit code 130, the result is there, its counts are right. A stopped process: nobody
// else is blamed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <random>
#include <thread>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Interrupted : public CliTest {
protected:
    // Starts streamsim, sends a signal `ms` after it hears it, and gives what came of it.
    Finished interrupt_after(std::vector<std::string> options, std::int64_t ms, int signal = SIGINT) {
        options.insert(options.end(), {"--quiet", "--json", json_path(), target()});
        std::filesystem::remove(json_path());
        Spawn spawn;
        spawn.args = std::move(options);
        Process process(streamsim_binary(), spawn);
        process.wait_until_it_hears(signal);
        sleep_ms(ms);
        EXPECT_TRUE(process.running()) << "it ended before it could be interrupted: " << process.wait().text();
        const std::int64_t sent_ns = monotonic_ns();
        process.send(signal);
        Finished done = process.wait();
        EXPECT_LT(monotonic_ns() - sent_ns, 3'000'000'000) << "it took too long to end";
        return done;
    }

    std::int64_t moment(std::int64_t from_ms, std::int64_t to_ms) {
        const std::int64_t ms =
            from_ms + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(to_ms - from_ms));
        std::printf("  interrupted after %lld ms\n", static_cast<long long>(ms));
        return ms;
    }

    std::mt19937_64 random_{std::random_device{}()};
};

TEST_F(Interrupted, WhilePreparing) {
    const std::string large = write_format("large", 2048, 1080);  // 8.9 MB a frame
    for (int i = 0; i < 6; i++) {
        const Finished done = interrupt_after(
            {"--format", large, "--clip-duration", "2s", "--duration", "5s", "--buffered"}, moment(0, 400));
        expect_interrupted(done, json_path());
        std::vector<std::string> clips;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(target())) {
            if (entry.path().filename().string().starts_with("clip-") &&
                entry.path().extension() != ".partial") {
                clips.push_back(entry.path());
            }
        }
        // A clip that has its final name is whole.
        for (const std::string& clip : clips) EXPECT_EQ(frames_in(clip).size(), 48U) << clip;
        if (i % 2 == 0) continue;
        const Finished next =
            streamsim({"prepare", "--quiet", "--format", large, "--clip-duration", "2s", target()});
        EXPECT_EQ(next.exit_code, 0) << next.text();
        EXPECT_EQ(frames_in(clip_directories().at(0)).size(), 48U);
        std::filesystem::remove_all(target() + "/streamsim-media");
    }
}

TEST_F(Interrupted, WhilePrerolling) {
    prepare(2);
    const Json rule{{"slots", {{"first", 0}, {"last", 3}}}, {"delay", "5s"}};
    const std::string faults = write_faults(Json::array({rule}));
    for (int i = 0; i < 4; i++) {
        const Finished done =
            interrupt_after({"--format", small(), "--streams", "2", "--faults", faults}, moment(0, 1500));
        const Json result = expect_interrupted(done, json_path());
        if (result.is_null()) continue;
        EXPECT_EQ(result["totals"]["frames_on_time"], 0) << "nothing was played yet";
        EXPECT_EQ(result["totals"]["frames_dropped"], 0) << "preroll drops nothing";
    }
}

TEST_F(Interrupted, WhilePlaying) {
    prepare(2);
    const Json rule{{"probability", 0.2}, {"delay", "150ms"}};
    const std::string faults = write_faults(Json::array({rule}));
    const char* policies[] = {"drop", "hold", "stall", "skip"};
    for (int i = 0; i < 8; i++) {
        std::vector<std::string> options{"--format", small(),       "--streams", "2",         "--duration",
                                         "20s",      "--readahead", "4",         "--on-miss", policies[i % 4]};
        if (i % 2 == 0) options.insert(options.end(), {"--faults", faults});
        if (i % 4 >= 2) options.insert(options.end(), {"--io", "threads"});
        const std::int64_t ms = moment(0, 2500);
        const Json result = expect_interrupted(interrupt_after(options, ms), json_path());
        if (result.is_null()) continue;
        const auto scheduled = result["totals"]["frames_scheduled"].get<std::int64_t>();
        EXPECT_LE(scheduled, 2 * (ms * 24 / 1000 + 4 + 4)) << "more slots than were due or in the window";
        EXPECT_GE(scheduled, 2 * ((ms - 1500) * 24 / 1000)) << "it had 1.5 s to start";
    }
}

TEST_F(Interrupted, TwiceAndAsFastAsItGoes) {
    prepare(1);
    const Finished done = interrupt_after({"--format", small(), "--fps", "max", "--duration", "20s"}, 700);
    const Json result = expect_interrupted(done, json_path());
    EXPECT_GT(result["totals"]["frames_on_time"], 0);
}

/// A second signal ends the large files.
TEST_F(Interrupted, TwiceKeepsTheTextAndTheResult) {
    const std::string csv = dir_ / "frames.csv";
    for (const std::string& json : {json_path(), std::string("-")}) {
        std::filesystem::remove(csv);
        Process process(streamsim_binary(),
                        {.args = {"--prores-hd", "--streams", "120", "--fps", "240", "--json", json, "--csv",
                                  csv, "--trace", dir_ / "trace.json", "null:"}});
        process.wait_until_it_hears(SIGINT);
        sleep_ms(3000);
        process.send(SIGINT);
        sleep_ms(260);  // those that come sooner are one
        while (process.running() && !std::filesystem::exists(csv)) sleep_ms(1);
        process.send(SIGINT);
        const Finished done = process.wait();
        if (json == "-") write_text(json_path(), done.out);
        EXPECT_THAT(json == "-" ? done.err : done.out, HasSubstr("INTERRUPTED"));
        expect_interrupted(done, json_path());
        for (const auto& entry : std::filesystem::directory_iterator(dir_.path()))
            EXPECT_NE(entry.path().extension(), ".partial") << entry.path();
    }
}

TEST_F(Interrupted, ByATerminalThatIsClosed) {
    prepare(1);
    const Json result = expect_interrupted(
        interrupt_after({"--format", small(), "--duration", "20s"}, 2500, SIGHUP), json_path());
    EXPECT_GT(result["totals"]["frames_on_time"], 0);
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path()))
        EXPECT_NE(entry.path().extension(), ".partial") << entry.path();
}

TEST_F(Interrupted, NotByATerminalThatIsClosedUnderNohup) {
    prepare(1);
    Process process("nohup", {.args = {streamsim_binary(), "--quiet", "--format", small(), "--duration", "1s",
                                       "--json", json_path(), target()}});
    process.wait_until_it_hears(SIGINT);
    sleep_ms(300);
    process.send(SIGHUP);
    const Finished done = process.wait();
    EXPECT_THAT(done.exit_code, AnyOf(0, 1)) << done.text();
    EXPECT_EQ(read_json(json_path())["interrupted"], false);
}

// Waits of every kind end with a signal, also where nobody ever answers.
class Waiting : public CliTest {
protected:
    std::string fifo(const std::string& name) const {
        const std::string path = dir_ / name;
        EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
        return path;
    }

    /// Starts streamsim, and sends each signal `ms` after it hears it.
    void expect_an_end(const std::vector<std::string>& args, std::int64_t ms = 300) {
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
            Spawn spawn;
            spawn.args = args;
            Process process(streamsim_binary(), spawn);
            process.wait_until_it_hears(signal);
            sleep_ms(ms);
            ASSERT_TRUE(process.running()) << args.back() << process.wait().text();
            const std::int64_t sent_ns = monotonic_ns();
            process.send(signal);
            const Finished done = process.wait();
            EXPECT_LT(monotonic_ns() - sent_ns, 3'000'000'000) << args.back();
            EXPECT_EQ(done.exit_code, 130) << args.back() << done.text();
            EXPECT_THAT(done.err, HasSubstr("interrupted")) << args.back();
        }
    }
};

TEST_F(Waiting, ForAReaderOfTheResult) {
    expect_an_end({"--quiet", "--json", fifo("result"), "null:"});
    expect_an_end({"max", "--quiet", "--json", fifo("max"), "null:"});
    expect_an_end({"formats", "--json", fifo("formats")});
}

TEST_F(Waiting, ForADocument) {
    const std::string pipe = fifo("document");
    expect_an_end({"run", pipe});
    expect_an_end({"report", pipe});
    expect_an_end({"--quiet", "--faults", pipe, "null:"});
    expect_an_end({"profile", pipe, "-o", dir_ / "workload.json"});
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path()))
        EXPECT_NE(entry.path().extension(), ".partial") << entry.path();
}

TEST_F(Waiting, ForAReaderOfTheResultThatHasStopped) {
    const std::string pipe = fifo("result");
    const int reader = open(pipe.c_str(), O_RDWR | O_CLOEXEC);  // never reads
    ASSERT_GE(reader, 0);
    expect_an_end({"--quiet", "--prores-hd", "--duration", "1s", "--streams", "200", "--csv", pipe, "--json",
                   json_path(), "null:"},
                  4000);
    close(reader);
    const Json result = read_json(json_path());
    EXPECT_EQ(result["schema"], "streamsim.result") << "what went to a disk is there";
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path()))
        EXPECT_NE(entry.path().extension(), ".partial") << entry.path();
}

TEST_F(Waiting, ForAReaderOfMessagesThatHasStopped) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    const std::string page(4096, 'x');
    while (write(ends[1], page.data(), page.size()) > 0) {
    }
    ASSERT_EQ(fcntl(ends[1], F_SETFL, 0), 0);  // a writer waits for room
    Spawn spawn;
    spawn.args = {"--prores-hd", "--duration", "60s", "--json", json_path(), "null:"};
    spawn.error = ends[1];
    Process process(streamsim_binary(), spawn);
    process.wait_until_it_hears(SIGTERM);
    sleep_ms(6000);  // a line of progress every 5 s
    ASSERT_TRUE(process.running());
    const std::int64_t sent_ns = monotonic_ns();
    process.send(SIGTERM);
    const Finished done = process.wait();
    EXPECT_LT(monotonic_ns() - sent_ns, 3'000'000'000);
    EXPECT_EQ(done.exit_code, 130) << done.text();
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path()))
        EXPECT_NE(entry.path().extension(), ".partial") << entry.path();
    close(ends[0]);
    close(ends[1]);
}

TEST_F(Waiting, ForBuffersThatTakeTheirTime) {
    prepare(1);
    Spawn spawn;
    spawn.args = {"--quiet",    "--format", small(),  "--readahead", "10000",
                  "--duration", "60s",      "--json", json_path(),   target()};
    for (const std::int64_t ms : {0, 50, 150, 400}) {
        Process process(streamsim_binary(), spawn);
        process.wait_until_it_hears(SIGTERM);
        sleep_ms(ms);
        const std::int64_t sent_ns = monotonic_ns();
        process.send(SIGTERM);
        const Finished done = process.wait();
        EXPECT_LT(monotonic_ns() - sent_ns, 3'000'000'000) << ms;
        expect_interrupted(done, json_path());
    }
}

TEST_F(Waiting, ForTheCauseOfAFailure) {
    prepare(1);
    // Reads take longer than anybody waits after a signal; what was played is known by then.
    const Json rule{{"operation", "read"}, {"delay", "3s"}, {"slots", {{"first", 30}, {"last", 100000}}}};
    Spawn spawn;
    spawn.args = {"--quiet",    "--format",  small(),
                  "--duration", "3s",        "--readahead",
                  "4",          "--faults",  write_faults(Json::array({rule})),
                  "--json",     json_path(), target()};
    for (const std::int64_t ms : {3500, 5000, 6500}) {
        Process process(streamsim_binary(), spawn);
        process.wait_until_it_hears(SIGINT);
        sleep_ms(ms);
        if (!process.running()) continue;
        const std::int64_t sent_ns = monotonic_ns();
        process.send(SIGINT);
        const Finished done = process.wait();
        EXPECT_LT(monotonic_ns() - sent_ns, 3'000'000'000) << ms;
        const Json result = read_json(json_path());
        EXPECT_GT(result["totals"]["frames_on_time"], 0) << ms << ": what was played is lost\n" << done.text();
    }
}

TEST_F(Waiting, ASecondSignalLeavesAtOnce) {
    const std::string pipe = fifo("document");
    Process process(streamsim_binary(), {.args = {"run", pipe}});
    process.wait_until_it_hears(SIGINT);
    process.send(SIGINT);
    sleep_ms(400);
    const std::int64_t sent_ns = monotonic_ns();
    process.send(SIGINT);
    EXPECT_EQ(process.wait().exit_code, 130);
    EXPECT_LT(monotonic_ns() - sent_ns, 600'000'000);
}

TEST_F(Waiting, ForItsOwnEnd) {
    for (std::int64_t ms = 0; ms < 12; ++ms) {
        Process process(streamsim_binary(), {.args = {"max", dir_ / "none"}});
        process.wait_until_it_hears(SIGTERM);
        while (process.err_so_far().empty() && process.running()) std::this_thread::yield();
        sleep_ms(ms % 6);
        process.send(SIGTERM);
        const Finished done = process.wait();
        EXPECT_EQ(done.signal, 0) << ms % 6 << " ms after its last word";
        EXPECT_THAT(done.exit_code, AnyOf(3, 130)) << done.text();
    }
}

class Killed : public Interrupted {};

TEST_F(Killed, PrepareLeavesNothingThatPlaysAsWholeAndIsCompletedByTheNext) {
    const std::string large = write_format("large", 1024, 540);  // 2.2 MB a frame
    const std::vector<std::string> args{"prepare", "--quiet",         "--format", large,   "--streams",
                                        "3",       "--clip-duration", "2s",       target()};
    Spawn spawn;
    spawn.args = args;
    for (int i = 0; i < 5; i++) {
        Process process(streamsim_binary(), spawn);
        sleep_ms(moment(30, 250));
        process.send(SIGKILL);
        process.wait();
        for (const std::string& clip : clip_directories()) {
            if (!clip.ends_with(".partial")) {
                EXPECT_EQ(frames_in(clip).size(), 48U) << clip;
            }
        }
    }
    const Finished done = streamsim(args);
    ASSERT_EQ(done.exit_code, 0) << done.text();
    ASSERT_EQ(clip_directories().size(), 3U);
    std::set<std::uint64_t> sizes;
    std::set<std::string> contents;
    for (const std::string& clip : clip_directories()) {
        EXPECT_EQ(frames_in(clip).size(), 48U);
        for (const std::string& frame : frames_in(clip)) {
            sizes.insert(file_bytes(frame));
            contents.insert(read_text(frame).substr(1'000'000, 64));
        }
    }
    EXPECT_EQ(sizes.size(), 1U);
    EXPECT_EQ(contents.size(), 144U) << "holes, or a frame twice";
}

class Stopped : public CliTest {
protected:
    // Plays for 4 s and stands still for 300 ms in the middle.
    Json play_with_a_stop(std::vector<std::string> options) {
        options.insert(options.end(), {"--quiet", "--format", small(), "--duration", "4s", "--readahead", "2",
                                       "--json", json_path(), target()});
        Spawn spawn;
        spawn.args = std::move(options);
        Process process(streamsim_binary(), spawn);
        sleep_ms(2200);
        process.send(SIGSTOP);
        sleep_ms(300);
        process.send(SIGCONT);
        const Finished done = process.wait();
        EXPECT_EQ(done.exit_code, 1) << done.text();
        Json result = read_json(json_path());
        EXPECT_THAT(result_problems(result), IsEmpty());
        EXPECT_EQ(result["verdict"]["limit"], "client-scheduling") << result["verdict"];
        EXPECT_GE(result["client"]["loop_lateness_ns"]["max"].get<std::int64_t>(), 200'000'000);
        return result;
    }
};

TEST_F(Stopped, DropsAreThisClientsAndNotTheStorages) {
    prepare(2);
    for (const char* io : {"uring", "threads"}) {
        const Json result = play_with_a_stop({"--streams", "2", "--io", io});
        std::map<int, int> dropped;  // by stream; a loaded disk may drop some of the first second
        for (const Json& drop : result["drops"]) {
            if (drop["due_ns"] < 1'000'000'000) continue;
            EXPECT_EQ(drop["reason"], "client") << io << " " << drop;
            ++dropped[drop["stream"].get<int>()];
        }
        EXPECT_EQ(dropped.size(), 2U) << io;
        for (const auto& [stream, frames] : dropped) {
            // 300 ms are 7.2 slots, of which 2 were in the buffer.
            EXPECT_GE(frames, 4) << io;
            EXPECT_LE(frames, 9) << io;
        }
    }
}

TEST_F(Stopped, AStalledClockIsThisClientsToo) {
    prepare(1);
    const Json result = play_with_a_stop({"--on-miss", "stall"});
    EXPECT_EQ(result["totals"]["frames_dropped"], 0);
    EXPECT_GE(result["totals"]["stalls"], 1);
}

}  // namespace
}  // namespace streamsim::tests
