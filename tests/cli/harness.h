// Helpers of the black-box tests: folders that go away, programs that are run and watched from outside, and the
// rules of counting that every result must obey.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace streamsim::tests {

using Json = nlohmann::json;

constexpr std::int64_t kMs = 1'000'000;

/// The program under test: what was built, or $STREAMSIM_BINARY.
std::string streamsim_binary();

/// An empty folder that anyone may enter; removed with everything in it.
class TempDir {
public:
    TempDir();
    ~TempDir();
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::string operator/(const std::string& name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

struct Spawn {
    std::vector<std::string> args;
    std::vector<std::pair<std::string, std::string>> env;  // besides the caller's
    std::string input;                                     // standard input
    std::optional<int> error;                              // standard error; nothing: memory
    std::string directory;                                 // "": the caller's
    std::optional<uid_t> user;                             // and its group, no others; needs root
    std::optional<std::uint64_t> memlock_bytes;
    double timeout_s = 120;
};

struct Finished {
    int exit_code = -1;  // -1: ended by a signal
    int signal = 0;
    bool timed_out = false;
    double wall_s = 0;
    std::string out;
    std::string err;

    /// Everything, for the message of a failed expectation.
    std::string text() const;
};

/// A program that runs. Standard output and error go to memory. Destroying it kills what still runs.
class Process {
public:
    Process(const std::string& program, const Spawn& spawn);
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    pid_t pid() const { return pid_; }
    void send(int signal) const;
    bool running();
    /// Waits until the program itself handles `signal` (before main it would only die of it).
    void wait_until_it_hears(int signal);
    std::string out_so_far() const;
    std::string err_so_far() const;
    /// Waits for its end; kills it when that takes longer than the timeout.
    Finished wait();

private:
    void reap(int status);

    pid_t pid_ = -1;
    int out_ = -1;
    int err_ = -1;
    double timeout_s_ = 0;
    std::int64_t started_ns_ = 0;
    bool ended_ = false;
    Finished finished_;
};

Finished run(const std::string& program, const Spawn& spawn);

/// While there is one, the clock of the programs that are run is a day later, and their media are a day old.
class LaterClock {
public:
    /// False: sanitizers are on, which take no library before theirs.
    static bool works();
    LaterClock();  // REQUIRES: works()
    ~LaterClock();
    LaterClock(const LaterClock&) = delete;
    LaterClock& operator=(const LaterClock&) = delete;
};

/// Runs streamsim.
Finished streamsim(const std::vector<std::string>& args);
Finished streamsim(const Spawn& spawn);

std::string read_text(const std::string& path);
void write_text(const std::string& path, const std::string& text);

/// The JSON document in a file; throws when it is not there or not JSON.
Json read_json(const std::string& path);

/// The contradictions within a result, a sentence each: counts that do not add up, totals that are not the sum
/// of the streams, a drop table that is not what the counts say, a verdict that does not follow from them, a
/// required key that is missing. Empty: none.
std::vector<std::string> result_problems(const Json& result);

/// The exit code that belongs to a result that was not interrupted.
int exit_code_of(const Json& result);

/// Frames whose bytes were read in full, by the drop table. REQUIRES: drops_omitted is 0.
std::uint64_t frames_read(const Json& result);

bool is_root();
void sleep_ms(std::int64_t ms);
std::int64_t monotonic_ns();

}  // namespace streamsim::tests
