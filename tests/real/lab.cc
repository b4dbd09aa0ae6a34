#include "real/lab.h"

#include <unistd.h>

#include <stdexcept>

namespace streamsim::tests {
namespace {

const std::string kScript = std::string(STREAMSIM_SOURCE_DIR) + "/tests/real/lab/lab";
constexpr int kSkipped = 77;

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

void Lab::lab(const std::string& verb, const std::string& protocol) const {
    Spawn spawn;
    spawn.args = {verb, protocol, "--dir", dir_.path()};
    const Finished done = run(kScript, spawn);
    if (done.exit_code != 0) throw std::runtime_error(done.text());
}

}  // namespace streamsim::tests
