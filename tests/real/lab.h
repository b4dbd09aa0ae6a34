// A file server and edit seats in a network of their own, for the length of a test: real/lab/lab has the words.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/harness.h"

namespace streamsim::tests {

class Lab {
public:
    /// Options of `lab up` besides --dir, --name and --owner.
    explicit Lab(const std::vector<std::string>& options = {});
    ~Lab();
    Lab(const Lab&) = delete;
    Lab& operator=(const Lab&) = delete;

    /// Why there can be no lab on this computer; nullopt: there is one, or problem() says what went wrong.
    const std::optional<std::string>& skipped_because() const { return skipped_because_; }
    /// Empty: it is up.
    const std::string& problem() const { return problem_; }

    /// The document that `lab up` printed.
    const Json& facts() const { return facts_; }
    /// A path in the directory that the server exports, on this computer.
    std::string local(const std::string& path = "") const { return dir_ / ("export/" + path); }
    /// The same by URL: nfs://10.77.0.10/export/PATH?QUERY, smb://editor@10.77.0.10/media/PATH?QUERY.
    std::string nfs(const std::string& path = "", const std::string& query = "") const;
    std::string smb(const std::string& path = "", const std::string& query = "") const;

    /// A program on a seat, with the SMB user's password in its environment.
    std::unique_ptr<Process> begin(const std::string& program, const Spawn& spawn, unsigned seat = 0) const;
    std::unique_ptr<Process> streamsim(const Spawn& spawn, unsigned seat = 0) const;
    /// streamsim from beginning to end.
    Finished play(const std::vector<std::string>& arguments, unsigned seat = 0) const;

    /// Waits until each stream of a program on a seat, started with --metrics 127.0.0.1:9311, has shown some
    /// frames. Returns the problem; empty: it plays.
    std::string wait_until_playing(unsigned streams, unsigned seat = 0) const;

    /// "nfs" or "smb": kills the server at once; starts it and waits until it serves.
    void kill(const std::string& protocol) const { lab({"kill", protocol}); }
    void start(const std::string& protocol) const { lab({"start", protocol}); }
    /// Whatever `lab` is asked for: {"stop", "nfs"}, {"wire", "0", "loss 1"}, ...
    void lab(std::vector<std::string> words) const;

private:
    const Json& server() const { return facts_["server"]; }

    TempDir dir_;
    Json facts_;
    std::optional<std::string> skipped_because_;
    std::string problem_;
};

/// main() of a program whose cases are all run inside the network of one lab, with files for them in the
/// directory that the server exports: the lab is there, as `here`, while they run.
int run_tests_in_lab(int count, char** arguments, const std::vector<std::string>& options, Lab*& here);

}  // namespace streamsim::tests
