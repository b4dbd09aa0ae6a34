#include "worlds/trial.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "base/check.h"
#include "worlds/invariants.h"

namespace streamsim::worlds {
namespace {

/// A world that takes longer hangs: of a processor, and of time, which a busy machine may need.
constexpr int kWorldProcessorSecondsMax = 60;
constexpr unsigned kWorldSecondsMax = 900;
constexpr std::uint32_t kJobsMax = 64;
constexpr std::size_t kCaughtMax = 50;

/// The news of a worker for its parent, in memory that both share.
struct Desk {
    std::atomic<std::uint64_t> played{0};
    std::atomic<std::uint64_t> seed{0};  // that is being played
    char what[400] = "";                 // the first finding of the last world

    void tell(const std::string& text) {
        const std::size_t size = std::min(text.size(), sizeof what - 1);
        std::memcpy(what, text.data(), size);
        what[size] = '\0';
    }
};

/// Desks for workers.
class Office {
public:
    explicit Office(std::uint32_t desks) : desks_(desks) {
        memory_ = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        STREAMSIM_CHECK(memory_ != MAP_FAILED, "there is memory for the workers");
        for (std::uint32_t i = 0; i < desks; ++i) new (&desk(i)) Desk;
    }
    ~Office() { munmap(memory_, bytes()); }
    Office(const Office&) = delete;
    Office& operator=(const Office&) = delete;

    Desk& desk(std::uint32_t i) { return static_cast<Desk*>(memory_)[i]; }

private:
    std::size_t bytes() const { return desks_ * sizeof(Desk); }

    const std::uint32_t desks_;
    void* memory_ = nullptr;
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Ends this process by a signal when its world hangs.
void watch_for_hang() {
    alarm(kWorldSecondsMax);
    itimerval limit{};
    limit.it_value.tv_sec = kWorldProcessorSecondsMax;
    setitimer(ITIMER_PROF, &limit, nullptr);
}

/// Runs `work` in a process of its own, whose exit code is its result.
template <typename Work>
pid_t start(Work&& work) {
    std::fflush(nullptr);
    const pid_t child = fork();
    STREAMSIM_CHECK(child >= 0, "the system gives another process");
    if (child > 0) return child;
    const int code = work();
    std::fflush(nullptr);
    _exit(code);
}

/// Tells how a process ended that did not say what failed.
std::string death_of(int status) {
    if (!WIFSIGNALED(status)) return fmt::format("aborts: exit code {}", WEXITSTATUS(status));
    const int signal_number = WTERMSIG(status);
    if (signal_number == SIGALRM) return fmt::format("hangs: no end within {} s", kWorldSecondsMax);
    if (signal_number == SIGPROF)
        return fmt::format("hangs: no end within {} s of a processor", kWorldProcessorSecondsMax);
    return fmt::format("aborts: signal {} ({})", signal_number, strsignal(signal_number));
}

/// Standard error of a worker, in memory: what a CHECK says of its failure is the finding.
class LastWords {
public:
    LastWords() : file_(memfd_create("last-words", 0)) {}
    ~LastWords() { close(file_); }
    LastWords(const LastWords&) = delete;
    LastWords& operator=(const LastWords&) = delete;

    void become_standard_error() const { dup2(file_, STDERR_FILENO); }
    /// The first lines that the worker wrote.
    std::string text() const {
        std::string text(2000, '\0');
        const ssize_t bytes = pread(file_, text.data(), text.size(), 0);
        text.resize(static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
        return text;
    }

private:
    const int file_;
};

/// "aborts: ... CHECK failed: ..."
std::string death_of(int status, const LastWords& words) {
    const std::string text = words.text();
    const std::size_t check = text.find("CHECK failed");
    if (check == std::string::npos) return death_of(status) + (text.empty() ? "" : "; " + text);
    const std::size_t line = text.rfind('\n', check) + 1;
    return "aborts: " + text.substr(line, text.find('\n', check) - line);
}

/// "verdict-follows" of "verdict-follows: the verdict passes ...".
std::string name_of(const std::string& finding) {
    return finding.substr(0, finding.find(':'));
}

class Hunter {
public:
    Hunter(const Library& library, const Hunt& what)
        : library_(library),
          what_(what),
          jobs_(std::clamp<std::uint32_t>(what.jobs, 1, kJobsMax)),
          office_(jobs_) {}

    HuntResult run() {
        std::vector<pid_t> workers(jobs_, 0);
        for (std::uint32_t i = 0; i < jobs_; ++i) workers[i] = start_worker(i, what_.from + i);
        std::uint32_t left = jobs_;
        while (left > 0) {
            int status = 0;
            const pid_t ended = wait(&status);
            if (ended < 0) break;
            const auto at = std::find(workers.begin(), workers.end(), ended);
            if (at == workers.end()) continue;
            const auto i = static_cast<std::uint32_t>(at - workers.begin());
            if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
                --left;
                continue;
            }
            const std::uint64_t next = note(i, status);
            if (what_.keep_going && result_.caught.size() < kCaughtMax && next < end()) {
                workers[i] = start_worker(i, next);
                continue;
            }
            for (const pid_t worker : workers) {
                if (worker != ended && worker > 0) kill(worker, SIGTERM);
            }
            while (wait(nullptr) > 0) {
            }
            break;
        }
        for (std::uint32_t i = 0; i < jobs_; ++i) result_.played += office_.desk(i).played;
        result_.seconds = seconds_since(begin_);
        std::ranges::sort(result_.caught, {}, &Caught::seed);
        return result_;
    }

private:
    std::uint64_t end() const { return what_.from + what_.seeds; }

    pid_t start_worker(std::uint32_t i, std::uint64_t first) {
        words_[i] = std::make_unique<LastWords>();
        return start([this, i, first] {
            words_[i]->become_standard_error();
            Desk& desk = office_.desk(i);
            for (std::uint64_t seed = first; seed < end(); seed += jobs_) {
                if (what_.seconds_max > 0 && seconds_since(begin_) >= what_.seconds_max) return 0;
                desk.seed = seed;
                desk.what[0] = '\0';
                watch_for_hang();
                const std::vector<std::string> wrong = check_world(draw_world(library_, seed));
                ++desk.played;
                if (wrong.empty()) continue;
                desk.tell(wrong.front());
                return 1;
            }
            return 0;
        });
    }

    /// Returns the seed that the worker would have played next.
    std::uint64_t note(std::uint32_t i, int status) {
        Desk& desk = office_.desk(i);
        const std::string told = desk.what;
        result_.caught.push_back({desk.seed, told.empty() ? death_of(status, *words_[i]) : told});
        if (what_.keep_going) {
            fmt::print("seed {}: {}\n", result_.caught.back().seed, result_.caught.back().what);
            std::fflush(stdout);
        }
        return desk.seed + jobs_;
    }

    const Library& library_;
    const Hunt what_;
    const std::uint32_t jobs_;
    Office office_;
    std::vector<std::unique_ptr<LastWords>> words_ = std::vector<std::unique_ptr<LastWords>>(jobs_);
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    HuntResult result_;
};

}  // namespace

RandomWorld reduced(const Library& library, std::uint64_t seed, const Reduction& steps) {
    RandomWorld world = draw_world(library, seed);
    for (const std::size_t step : steps) {
        std::vector<RandomWorld> next = smaller(world);
        if (step < next.size()) world = std::move(next[step]);
    }
    return world;
}

std::string verdict_of(const RandomWorld& world) {
    Office office(1);
    Desk& desk = office.desk(0);
    const LastWords words;
    const pid_t child = start([&] {
        words.become_standard_error();
        watch_for_hang();
        const std::vector<std::string> wrong = check_world(world);
        if (!wrong.empty()) desk.tell(wrong.front());
        return 0;
    });
    int status = 0;
    waitpid(child, &status, 0);
    const std::string told = desk.what;
    if (!told.empty()) return name_of(told);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
    const std::string death = death_of(status, words);
    return death.find("CHECK failed") != std::string::npos ? death : name_of(death);
}

Reduction reduce(const Library& library, std::uint64_t seed, double seconds_max) {
    const auto begin = std::chrono::steady_clock::now();
    Reduction steps;
    RandomWorld world = draw_world(library, seed);
    const std::string name = verdict_of(world);
    bool smaller_fails = !name.empty();
    while (smaller_fails) {
        smaller_fails = false;
        std::vector<RandomWorld> next = smaller(world);
        for (std::size_t i = 0; i < next.size(); ++i) {
            if (seconds_since(begin) > seconds_max) return steps;
            if (verdict_of(next[i]) != name) continue;
            steps.push_back(i);
            world = std::move(next[i]);
            smaller_fails = true;
            break;
        }
    }
    return steps;
}

HuntResult hunt(const Library& library, const Hunt& what) {
    return Hunter(library, what).run();
}

}  // namespace streamsim::worlds
