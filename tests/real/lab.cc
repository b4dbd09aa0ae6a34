#include "real/lab.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace streamsim::tests {
namespace {

const std::string kScript = std::string(STREAMSIM_SOURCE_DIR) + "/tests/real/lab/lab";
constexpr int kSkipped = 77;

/// Ends once each stream has shown some frames.
constexpr const char* kUntilItPlays = R"(
import re, sys, time, urllib.request
for attempt in range(1000):
    try:
        text = urllib.request.urlopen('http://127.0.0.1:9311/metrics').read().decode()
    except OSError:
        text = ''
    shown = [float(n) for n in re.findall(r'^streamsim_frames_on_time_total\{.*?\} (\S+)', text, re.M)]
    if len(shown) == int(sys.argv[1]) and min(shown) >= 5:
        break
    time.sleep(0.02)
else:
    raise SystemExit('it does not play: ' + text)
)";

std::string with(const std::string& start, const std::string& path, const std::string& query) {
    return start + (path.empty() ? "" : "/" + path) + (query.empty() ? "" : "?" + query);
}

}  // namespace

Lab::Lab(const std::vector<std::string>& options) {
    const std::string pid = std::to_string(getpid());
    Spawn up;
    up.args = {"up", "--dir", dir_.path(), "--name", "streamsim-" + pid, "--owner", pid};
    up.args.insert(up.args.end(), options.begin(), options.end());
    const Finished done = run(kScript, up);
    if (done.exit_code == 0) {
        facts_ = Json::parse(done.out);
    } else if (done.exit_code == kSkipped) {
        skipped_because_ = done.err;
    } else {
        problem_ = done.text();
    }
}

Lab::~Lab() {
    Spawn down;
    down.args = {"down", "--dir", dir_.path()};
    run(kScript, down);
}

std::string Lab::nfs(const std::string& path, const std::string& query) const {
    return with("nfs://" + server()["address"].get<std::string>() + server()["nfs_export"].get<std::string>(),
                path, query);
}

std::string Lab::smb(const std::string& path, const std::string& query) const {
    return with("smb://" + server()["user"].get<std::string>() + "@" + server()["address"].get<std::string>() +
                    "/" + server()["smb_share"].get<std::string>(),
                path, query);
}

std::unique_ptr<Process> Lab::begin(const std::string& program, const Spawn& spawn, unsigned seat) const {
    const Json& seats = facts_["seats"];
    const Json& where = seats.empty() ? server() : seats.at(seat);
    Spawn there = spawn;
    there.args = {"netns", "exec", where["namespace"], program};
    there.args.insert(there.args.end(), spawn.args.begin(), spawn.args.end());
    there.env.emplace_back("STREAMSIM_SMB_PASSWORD", server()["password"]);  // of two the first one counts
    return std::make_unique<Process>("ip", there);
}

std::unique_ptr<Process> Lab::streamsim(const Spawn& spawn, unsigned seat) const {
    return begin(streamsim_binary(), spawn, seat);
}

Finished Lab::play(const std::vector<std::string>& arguments, unsigned seat) const {
    Spawn spawn;
    spawn.args = arguments;
    return streamsim(spawn, seat)->wait();
}

std::string Lab::wait_until_playing(unsigned streams, unsigned seat) const {
    Spawn wait;
    wait.args = {"-c", kUntilItPlays, std::to_string(streams)};
    const Finished done = begin("python3", wait, seat)->wait();
    return done.exit_code == 0 ? "" : done.text();
}

void Lab::lab(std::vector<std::string> words) const {
    Spawn spawn;
    spawn.args = std::move(words);
    spawn.args.insert(spawn.args.end(), {"--dir", dir_.path()});
    const Finished done = run(kScript, spawn);
    if (done.exit_code != 0) throw std::runtime_error(done.text());
}

int run_tests_in_lab(int count, char** arguments, const std::vector<std::string>& options, Lab*& here) {
    testing::InitGoogleTest(&count, arguments);
    if (GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();
    Lab lab(options);
    if (lab.skipped_because()) {
        std::printf("skipped: %s\n", lab.skipped_because()->c_str());
        return 0;
    }
    if (!lab.problem().empty()) {
        std::fprintf(stderr, "the lab did not come up: %s\n", lab.problem().c_str());
        return 1;
    }
    here = &lab;
    setenv("TEST_TMPDIR", lab.local().c_str(), 1);
    const auto name = lab.facts()["server"]["namespace"].get<std::string>();
    const int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    const int space = open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC);
    if (own < 0 || space < 0 || setns(space, CLONE_NEWNET) != 0) {
        std::perror("the lab's network cannot be joined");
        return 1;
    }
    close(space);
    const int result = RUN_ALL_TESTS();
    setns(own, CLONE_NEWNET);  // the lab ends whatever is in its own
    close(own);
    return result;
}

}  // namespace streamsim::tests
