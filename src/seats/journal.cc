#include "seats/journal.h"

#include <fmt/format.h>
#include <uv.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/prng.h"
#include "base/system/whole_file.h"
#include "base/units.h"
#include "result/json_report.h"

namespace streamsim::seats {
namespace {

constexpr std::uint64_t kPeriodNs = 1'000'000'000;
/// A journal takes a tenth of one processor's time at most.
constexpr std::uint64_t kPauseFactor = 10;

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

Journal::Journal(std::string path, Notice notice)
    : path_(std::move(path)),
      temporary_(fmt::format("{}.{:016x}.partial", path_, entropy64())),
      notice_(std::move(notice)) {}

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
    std::unique_ptr<Journal> journal(new Journal(path, std::move(notice)));
    RunResult begun = before_play;
    SeatResult& own = begun.seats.front();
    own.state = SeatResult::State::missing;
    own.why = "it had not begun to play";
    if (const std::string problem = journal->write(begun); !problem.empty())
        return environment_error(fmt::format("{}: the journal cannot be written: {}", path, problem));
    return journal;
}

/// Empty: the file is written.
std::string Journal::write(const RunResult& result) {
    return write_whole(temporary_, path_,
                       [&result](const TextSink& out) { result::write_json_report(result, out); });
}

void Journal::follow(Snapshot snapshot) {
    thread_.start(std::chrono::nanoseconds(kPeriodNs), [this, snapshot = std::move(snapshot)] {
        const std::uint64_t begin_ns = uv_hrtime();
        keep(snapshot);
        return std::chrono::nanoseconds(std::max(kPeriodNs, kPauseFactor * (uv_hrtime() - begin_ns)));
    });
}

void Journal::stop() {
    thread_.stop();
}

std::vector<std::string> Journal::finish(const RunResult& result) {
    stop();
    report(write(result));
    return std::move(reported_);
}

void Journal::keep(const Snapshot& snapshot) {
    std::optional<RunResult> result = snapshot();
    if (!result) return;
    SeatResult& own = result->seats.front();
    own.state = SeatResult::State::partial;
    own.why = fmt::format("its journal ends after {} of play", show_duration({own.played_ns}));
    report(write(*result));
}

/// Reports a problem when it begins, not every second.
void Journal::report(const std::string& problem) {
    if (!problem.empty() && problem != problem_) {
        reported_.push_back(fmt::format("{}: the journal cannot be written: {}", path_, problem));
        notice_(reported_.back());
    }
    problem_ = problem;
}

}  // namespace streamsim::seats
