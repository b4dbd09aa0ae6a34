// Meetings of `host` and `join`: a host and its seats, and what their result has to be.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cli/harness.h"

namespace streamsim::tests {

/// Starts agree within this, after the errors of the clocks are taken off.
inline constexpr std::int64_t kStartsAgreeNs = 2'000'000;

/// A port of this computer that nobody has at the moment.
std::uint16_t free_port();

/// A connection to this port of this computer; -1: nobody listens there.
int connection_to(std::uint16_t port);

/// Waits for a text of a program; false: it does not come within half a minute.
bool says(Process& process, const std::string& text);

/// A scenario of so many seats, which all play the same.
Json meeting_scenario(int seats, const std::string& target, const std::string& duration, int streams = 2);
/// A workload of one meter, which reads one small file for a second.
Json meeting_workload(const std::string& name);

/// A host and its seats on this computer, or on those of a lab.
class Meeting {
public:
    Meeting(int seats, const std::string& target, const std::string& duration = "3s")
        : Meeting(meeting_scenario(seats, target, duration)) {}
    explicit Meeting(const Json& scenario);

    std::string document() const { return dir_ / "day.json"; }
    std::string key() const { return dir_ / "day.key"; }
    std::string result_file() const { return dir_ / "all.json"; }
    Json result() const { return read_json(result_file()); }
    std::string file(const std::string& name) const { return dir_ / name; }

    /// The host of this run: `words` are a document, or a command with its options.
    Spawn host_of(const std::vector<std::string>& words) const;
    Spawn host_line(const std::vector<std::string>& more = {}) const;
    Spawn seat_line(const std::string& name, const std::string& address = "127.0.0.1") const;
    /// Returns once the host listens.
    std::unique_ptr<Process> host(const std::vector<std::string>& more = {}) const;
    static std::unique_ptr<Process> begun(const Spawn& host);
    std::unique_ptr<Process> seat(const std::string& name) const;
    std::vector<std::unique_ptr<Process>> all_seats() const;
    /// The result of one process that plays the same document.
    Json alone(const std::vector<std::string>& more = {}) const;

    void use_port(std::uint16_t port) { port_ = port; }
    std::uint16_t port() const { return port_; }
    /// The directory that the seats allow, instead of the target of the first seat.
    void allow(const std::string& directory) { allowed_ = directory; }

private:
    const TempDir dir_;
    const int seats_;
    std::string allowed_;
    std::uint16_t port_ = free_port();
};

/// The rules for the result of a meeting in which nothing was missed. `one_clock`: all seats and the host read
/// the same one.
void expect_what_one_process_plays(const Json& all, const Json& one, bool one_clock = true);

/// The percentiles of all frames are those of the streams' histograms together.
void expect_percentiles_of_streams(const Json& result);

/// Every seat of the result is complete, and has begun when the others did.
void expect_common_start(const Json& all, bool one_clock);

/// Passes bytes on between a port and another, and keeps them.
class Wire {
public:
    explicit Wire(std::uint16_t to);
    ~Wire();
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;
    std::uint16_t port() const { return port_; }
    struct Kept {
        std::string both;                // in the order in which they came
        std::vector<std::string> parts;  // of whoever connected first, as they were read
        std::string answers;             // to these
    };
    /// All that has passed so far. Any time.
    Kept kept() const;
    /// Nothing passes any more. REQUIRES: it is called once.
    Kept finish();

private:
    struct Pair {
        int from = -1;
        int to = -1;
    };
    void carry();
    bool pass(int from, int to, bool keeps_parts, bool keeps_answers);

    const std::uint16_t to_;
    const int listener_;
    std::uint16_t port_ = 0;
    std::atomic<bool> stopped_ = false;
    mutable std::mutex mutex_;
    Kept kept_;  // protected by the mutex
    std::thread thread_;
};

}  // namespace streamsim::tests
