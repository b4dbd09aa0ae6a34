#include "real/meeting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

namespace streamsim::tests {
namespace {

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return at;
}

/// Binds to a free port, and returns it.
std::uint16_t bind_somewhere(int fd) {
    sockaddr_in at = loopback(0);
    socklen_t size = sizeof at;
    EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&at), size), 0);
    getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size);
    return ntohs(at.sin_port);
}

}  // namespace

std::uint16_t free_port() {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    const std::uint16_t port = bind_somewhere(fd);
    close(fd);
    return port;
}

int connection_to(std::uint16_t port) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in at = loopback(port);
    if (connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0) return fd;
    close(fd);
    return -1;
}

bool says(Process& process, const std::string& text) {
    for (int i = 0; i < 600; ++i) {
        if ((process.out_so_far() + process.err_so_far()).find(text) != std::string::npos) return true;
        sleep_ms(50);
    }
    return false;
}

Json meeting_scenario(int seats, const std::string& target, const std::string& duration, int streams) {
    return {{"schema", "streamsim.scenario"},
            {"version", 1},
            {"description", "a meeting"},
            {"seed", 1},
            {"duration", duration},
            {"seats",
             {{{"count", seats},
               {"target", target},
               {"streams", {{{"format", "prores-hd"}, {"count", streams}, {"clip_duration", "1s"}}}}}}}};
}

Json meeting_workload(const std::string& name) {
    return {{"schema", "streamsim.workload"},
            {"version", 1},
            {"name", name},
            {"duration", "1s"},
            {"meters",
             {{{"name", "m"},
               {"operations", {{"read", 1}}},
               {"blocks", "64KiB"},
               {"files", {{"count", 1}, {"bytes", "1MiB"}}}}}}};
}

Meeting::Meeting(const Json& scenario) : seats_(scenario["seats"][0]["count"]) {
    const std::string target = scenario["seats"][0].value("target", "");
    allowed_ = target.starts_with("/") ? target : file("allowed");
    write_text(document(), scenario.dump());
}

Spawn Meeting::host_of(const std::vector<std::string>& words) const {
    Spawn spawn;
    spawn.args = {"host",
                  "--seats",
                  std::to_string(seats_),
                  "--key",
                  key(),
                  "--listen",
                  "0.0.0.0:" + std::to_string(port_)};
    spawn.args.insert(spawn.args.end(), words.begin(), words.end());
    spawn.directory = dir_.path().string();
    return spawn;
}

Spawn Meeting::host_line(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {document(), "--json", result_file(), "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    return host_of(words);
}

Spawn Meeting::seat_line(const std::string& name, const std::string& address) const {
    Spawn spawn;
    spawn.args = {"join", address + ":" + std::to_string(port_), "--key", key(), "--allow", allowed_, "--name",
                  name};
    return spawn;
}

std::unique_ptr<Process> Meeting::begun(const Spawn& host) {
    auto process = std::make_unique<Process>(streamsim_binary(), host);
    EXPECT_TRUE(says(*process, "streamsim join"));
    return process;
}

std::unique_ptr<Process> Meeting::host(const std::vector<std::string>& more) const {
    return begun(host_line(more));
}

std::unique_ptr<Process> Meeting::seat(const std::string& name) const {
    return std::make_unique<Process>(streamsim_binary(), seat_line(name));
}

std::vector<std::unique_ptr<Process>> Meeting::all_seats() const {
    std::vector<std::unique_ptr<Process>> all;
    for (int i = 0; i < seats_; ++i) all.push_back(seat("edit" + std::to_string(i)));
    return all;
}

Json Meeting::alone(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"run", document(), "--quiet", "--json", file("one.json")};
    words.insert(words.end(), more.begin(), more.end());
    const Finished one = streamsim(words);
    EXPECT_LE(one.exit_code, 1) << one.text();
    return read_json(file("one.json"));
}

void expect_common_start(const Json& all, bool one_clock) {
    struct Start {
        std::int64_t ns, error_ns;
    };
    std::vector<Start> starts;
    for (const Json& seat : all["seats"]) {
        EXPECT_EQ(seat["state"], "complete") << seat;
        if (seat["seats"].empty()) continue;  // the host
        starts.push_back({seat["start_ns"], seat["clock_bound_ns"]});
        if (!one_clock) continue;  // else the true offset is 0
        EXPECT_LE(std::abs(seat["clock_offset_ns"].get<std::int64_t>()), starts.back().error_ns) << seat;
    }
    for (const Start& one : starts) {
        for (const Start& other : starts)
            EXPECT_LE(std::abs(one.ns - other.ns), kStartsAgreeNs + one.error_ns + other.error_ns);
    }
}

void expect_percentiles_of_streams(const Json& result) {
    constexpr double kBucket = 0.01;  // of a value: more than a histogram rounds it
    const std::pair<const char*, double> kPercentiles[] = {{"p0_1", 0.001}, {"p1", 0.01}, {"p10", 0.1},
                                                           {"p50", 0.5},    {"p90", 0.9}, {"p99", 0.99},
                                                           {"p99_9", 0.999}};
    for (const char* name : {"service_ns", "response_ns", "margin_ns"}) {
        std::map<std::int64_t, std::uint64_t> all;
        std::uint64_t count = 0;
        for (const Json& stream : result["streams"]) {
            const Json& histogram = stream["histograms"][name];
            for (std::size_t i = 0; i < histogram["times"].size(); ++i) {
                const std::uint64_t times = histogram["times"][i];
                all[histogram["values"][i]] += times;
                count += times;
            }
        }
        const Json& total = result["totals"][name];
        std::uint64_t counted = 0;
        for (const Json& times : result["totals"]["histograms"][name]["times"])
            counted += times.get<std::uint64_t>();
        EXPECT_EQ(counted, count) << name;
        EXPECT_GT(count, 0u) << name;
        for (const auto& [key, share] : kPercentiles) {
            if (!total.contains(key)) continue;
            std::uint64_t below = 0;
            auto at = all.begin();
            const double rank = std::ceil(share * static_cast<double>(count));
            while (static_cast<double>(below += at->second) < rank) ++at;
            const auto expected = static_cast<double>(at->first);
            EXPECT_NEAR(total[key].get<double>(), expected, std::abs(expected) * kBucket + 1) << name << key;
        }
    }
}

void expect_what_one_process_plays(const Json& all, const Json& one, bool one_clock) {
    EXPECT_THAT(result_problems(all), ::testing::IsEmpty());
    EXPECT_EQ(one["verdict"]["pass"], true) << one["verdict"];
    EXPECT_EQ(all["verdict"]["pass"], true) << all["verdict"];
    EXPECT_EQ(all["digest"], one["digest"]);
    EXPECT_EQ(all["streams"].size(), one["streams"].size());
    for (const char* count : {"frames_scheduled", "frames_on_time", "frames_dropped", "bytes_read"})
        EXPECT_EQ(all["totals"][count], one["totals"][count]) << count;
    expect_percentiles_of_streams(all);
    expect_common_start(all, one_clock);
}

Wire::Wire(std::uint16_t to) : to_(to), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    port_ = bind_somewhere(listener_);
    EXPECT_EQ(listen(listener_, 4), 0);
    thread_ = std::thread([this] { carry(); });
}

Wire::~Wire() {
    stopped_ = true;
    if (thread_.joinable()) thread_.join();
    close(listener_);
}

Wire::Kept Wire::finish() {
    stopped_ = true;
    thread_.join();
    return kept();
}

Wire::Kept Wire::kept() const {
    const std::lock_guard lock(mutex_);
    return kept_;
}

/// False: this direction has ended.
bool Wire::pass(int from, int to, bool keeps_parts, bool keeps_answers) {
    std::array<char, 65536> some{};
    const ssize_t got = recv(from, some.data(), some.size(), 0);
    if (got <= 0) return false;
    const std::string part(some.data(), static_cast<std::size_t>(got));
    const std::lock_guard lock(mutex_);
    kept_.both += part;
    if (keeps_parts) kept_.parts.push_back(part);
    if (keeps_answers) kept_.answers += part;
    return send(to, part.data(), part.size(), MSG_NOSIGNAL) == got;
}

void Wire::carry() {
    std::vector<Pair> pairs;
    while (!stopped_) {
        std::vector<pollfd> all = {{listener_, POLLIN, 0}};
        for (const Pair& pair : pairs) {
            all.push_back({pair.from, POLLIN, 0});
            all.push_back({pair.to, POLLIN, 0});
        }
        if (poll(all.data(), all.size(), 100) <= 0) continue;
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            Pair& pair = pairs[i];
            bool passes = pair.from >= 0;
            if (passes && all[1 + 2 * i].revents != 0) passes = pass(pair.from, pair.to, i == 0, false);
            if (passes && all[2 + 2 * i].revents != 0) passes = pass(pair.to, pair.from, false, i == 0);
            if (passes || pair.from < 0) continue;
            close(std::exchange(pair.from, -1));
            close(std::exchange(pair.to, -1));
        }
        if (all[0].revents != 0) {
            const int from = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            pairs.push_back({from, connection_to(to_)});
        }
    }
    for (const Pair& pair : pairs) {
        close(pair.from);
        close(pair.to);
    }
}

}  // namespace streamsim::tests
