#include "real/mpirun.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace streamsim::tests {

bool mpirun_is_here() {
    Spawn asked;
    asked.args = {"-c", "command -v mpirun"};
    return run("/bin/sh", asked).exit_code == 0 &&
           streamsim({"--version"}).out.find("\nMPI: ") != std::string::npos;
}

Spawn over_ranks(int ranks,
                 const std::vector<std::string>& mpirun_options,
                 const std::vector<std::string>& args) {
    Spawn spawn;
    spawn.args = {"--allow-run-as-root", "--oversubscribe", "-q"};
    spawn.args.insert(spawn.args.end(), mpirun_options.begin(), mpirun_options.end());
    spawn.args.insert(spawn.args.end(), {"-np", std::to_string(ranks), streamsim_binary()});
    spawn.args.insert(spawn.args.end(), args.begin(), args.end());
    spawn.timeout_s = 60;
    return spawn;
}

std::string text_of(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

pid_t process_of(int rank, const std::string& word) {
    const std::string wanted = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank) + '\0';
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const pid_t pid = std::atoi(entry.path().filename().c_str());
        if (pid <= 0 || text_of(entry.path() / "cmdline").find(word) == std::string::npos) continue;
        if (text_of(entry.path() / "environ").find(wanted) != std::string::npos) return pid;
    }
    return 0;
}

}  // namespace streamsim::tests
