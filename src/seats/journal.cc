#include "seats/journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "base/prng.h"
#include "base/system/whole_file.h"
#include "base/units.h"
#include "result/json_report.h"

namespace streamsim::seats {
namespace {

constexpr Duration kPeriod = seconds(1);
/// A journal takes a tenth of one processor's time at most.
constexpr std::int64_t kPauseFactor = 10;

Instant now() {
    timespec clock{};
    clock_gettime(CLOCK_MONOTONIC, &clock);
    return Instant{clock.tv_sec * 1'000'000'000 + clock.tv_nsec};
}

class FileJournal final : public Journal {
public:
    FileJournal(std::string path, Notice notice)
        : path_(std::move(path)),
          temporary_(fmt::format("{}.{:016x}.partial", path_, entropy64())),
          notice_(std::move(notice)) {}

    ~FileJournal() override { stop(); }

    /// Empty: the file is written.
    std::string write(const RunResult& result) {
        return write_whole(temporary_, path_, result::json_report(result));
    }

    void follow(Snapshot snapshot) override {
        stop();
        ending_ = false;
        thread_ = std::thread([this, snapshot = std::move(snapshot)] { keep(snapshot); });
    }

    void stop() override {
        {
            const std::lock_guard lock(mutex_);
            ending_ = true;
        }
        wake_.notify_all();
        if (thread_.joinable()) thread_.join();
    }

    void finish(const RunResult& result) override {
        stop();
        report(write(result));
    }

    const std::string& path() const override { return path_; }

private:
    void keep(const Snapshot& snapshot) {
        std::int64_t pause_ns = kPeriod.ns;
        std::unique_lock lock(mutex_);
        while (!wake_.wait_for(lock, std::chrono::nanoseconds(pause_ns), [this] { return ending_; })) {
            lock.unlock();
            const Instant begin = now();
            if (std::optional<RunResult> result = snapshot()) {
                mark_partial(*result);
                report(write(*result));
            }
            pause_ns = std::max(kPeriod.ns, kPauseFactor * (now() - begin).ns);
            lock.lock();
        }
    }

    static void mark_partial(RunResult& result) {
        SeatResult& own = result.seats.front();
        own.state = SeatResult::State::partial;
        own.why = fmt::format("its journal ends after {} of play", show_duration({own.played_ns}));
    }

    /// Reports a problem when it begins, not every second.
    void report(const std::string& problem) {
        if (!problem.empty() && problem != reported_)
            notice_(fmt::format("{}: the journal cannot be written: {}", path_, problem));
        reported_ = problem;
    }

    const std::string path_;
    const std::string temporary_;
    const Notice notice_;
    std::string reported_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool ending_ = false;  // protected by mutex_
    std::thread thread_;
};

/// A file that is no journal may be the user's, and stays.
Result<void> check_replaceable(const std::string& path) {
    std::error_code error;
    const auto there = std::filesystem::symlink_status(path, error);
    if (!std::filesystem::exists(there)) return {};
    if (!std::filesystem::is_regular_file(there) || std::filesystem::hard_link_count(path, error) > 1)
        return bad_input(
            fmt::format("{}: found a link or no file, expected an earlier journal: not overwritten", path));
    std::string head(result::kJsonReportBegins.size(), '\0');
    std::ifstream(path, std::ios::binary).read(head.data(), static_cast<std::streamsize>(head.size()));
    if (head == result::kJsonReportBegins) return {};
    return bad_input(fmt::format("{}: is there and is no journal: not overwritten", path));
}

}  // namespace

std::string Journal::file_name(std::uint32_t rank, const std::string& run_id) {
    return fmt::format("seat-{}-{}.json", rank, run_id);
}

Result<std::unique_ptr<Journal>> Journal::open(const std::string& path,
                                               const RunResult& before_play,
                                               Notice notice) {
    if (auto mine = check_replaceable(path); !mine) return mine.error();
    std::error_code error;
    const auto directory = std::filesystem::path(path).parent_path();
    if (!directory.empty()) std::filesystem::create_directories(directory, error);
    if (error)
        return environment_error(fmt::format("{}: cannot be made: {}", directory.string(), error.message()));
    auto journal = std::make_unique<FileJournal>(path, std::move(notice));
    RunResult begun = before_play;
    SeatResult& own = begun.seats.front();
    own.state = SeatResult::State::missing;
    own.why = "it had not begun to play";
    if (const std::string problem = journal->write(begun); !problem.empty())
        return environment_error(fmt::format("{}: the journal cannot be written: {}", path, problem));
    return std::unique_ptr<Journal>(std::move(journal));
}

}  // namespace streamsim::seats
