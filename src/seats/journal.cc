#include "seats/journal.h"

#include <fmt/format.h>
#include <uv.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/prng.h"
#include "base/system/mutex.h"
#include "base/system/utf8_path.h"
#include "base/units.h"
#include "result/json_report.h"

namespace streamsim::seats {
namespace {

constexpr std::uint64_t kPeriodNs = 1'000'000'000;
/// A journal takes a tenth of one processor's time at most.
constexpr std::uint64_t kPauseFactor = 10;
/// A whole result is written in pieces, so that a slow disk is seen to go on.
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
constexpr std::chrono::milliseconds kProgressInterval{50};

/// A file that is no journal may be the user's, and stays.
Result<void> check_replaceable(const std::string& path) {
    std::error_code error;
    const std::filesystem::path file = system_path(path);
    const auto there = std::filesystem::symlink_status(file, error);
    if (!std::filesystem::exists(there)) return {};
    if (!std::filesystem::is_regular_file(there) || std::filesystem::hard_link_count(file, error) > 1)
        return bad_input(
            fmt::format("{}: found a link or no file, expected an earlier journal: not overwritten", path));
    std::string head(result::kJsonReportBegins.size(), '\0');
    std::ifstream(file, std::ios::binary).read(head.data(), static_cast<std::streamsize>(head.size()));
    if (head == result::kJsonReportBegins) return {};
    return bad_input(fmt::format("{}: is there and is no journal: not overwritten", path));
}

}  // namespace

/// All that the journal's thread uses.
struct Journal::Writer {
    Writer(std::string to, Notice says, Write writes)
        : path(std::move(to)),
          temporary(fmt::format("{}.{:016x}.partial", path, entropy64())),
          notice(std::move(says)),
          write_file(std::move(writes)) {}

    void run() EXCLUDES(mutex);
    std::chrono::nanoseconds keep(const Snapshot& next) EXCLUDES(mutex);
    std::string write(const TextSource& source);
    void report(const std::string& problem_now) EXCLUDES(mutex);
    void add(const std::string& problem_now) REQUIRES(mutex);

    const std::string path;
    const std::string temporary;
    const Notice notice;
    const Write write_file;
    std::atomic<std::uint64_t> pieces{0};  // that the disk has taken
    Mutex mutex;
    std::condition_variable changed;
    Snapshot snapshot GUARDED_BY(mutex);
    bool in_snapshot GUARDED_BY(mutex) = false;
    bool ending GUARDED_BY(mutex) = false;
    std::optional<std::string> last GUARDED_BY(mutex);  // is written at the end; nullopt: nothing is
    bool ended GUARDED_BY(mutex) = false;
    bool left GUARDED_BY(mutex) = false;    // by its journal: nothing is reported any more
    std::string problem GUARDED_BY(mutex);  // the last one; empty: the file is written
    std::vector<std::string> reported GUARDED_BY(mutex);
};

Journal::Journal(std::shared_ptr<Writer> writer)
    : writer_(std::move(writer)), thread_([shared = writer_] { shared->run(); }) {}

const std::string& Journal::path() const {
    return writer_->path;
}

std::string Journal::file_name(std::uint32_t rank, const std::string& run_id) {
    return fmt::format("seat-{}-{}.json", rank, run_id);
}

Result<std::unique_ptr<Journal>> Journal::open(const std::string& path,
                                               const RunResult& before_play,
                                               Notice notice,
                                               Write write) {
    if (auto mine = check_replaceable(path); !mine) return mine.error();
    std::error_code error;
    const std::string directory = utf8_text(utf8_path(path).parent_path());
    if (!directory.empty()) std::filesystem::create_directories(system_path(directory), error);
    if (error) return environment_error(fmt::format("{}: cannot be made: {}", directory, error.message()));
    RunResult begun = before_play;
    SeatResult& own = begun.seats.front();
    own.state = SeatResult::State::missing;
    own.why = "it had not begun to play";
    auto writer = std::make_shared<Writer>(path, std::move(notice), std::move(write));
    const std::string problem =
        writer->write([&begun](const TextSink& out) { result::write_json_report(begun, out); });
    if (!problem.empty())
        return environment_error(fmt::format("{}: the journal cannot be written: {}", path, problem));
    return std::unique_ptr<Journal>(new Journal(std::move(writer)));
}

void Journal::follow(Snapshot snapshot) {
    const MutexLock lock(writer_->mutex);
    writer_->snapshot = std::move(snapshot);
    writer_->changed.notify_all();
}

void Journal::stop(Duration timeout) {
    end(std::nullopt, timeout);
}

std::vector<std::string> Journal::finish(const RunResult& result, Duration timeout) {
    end(result::json_report(result), timeout);
    const MutexLock lock(writer_->mutex);
    return std::move(writer_->reported);
}

void Journal::end(std::optional<std::string> last, Duration timeout) {
    if (!thread_.joinable()) return;
    Writer& writer = *writer_;
    const bool writes = last.has_value();
    MutexLock lock(writer.mutex);
    writer.last = std::move(last);
    writer.ending = true;
    writer.changed.notify_all();
    while (writer.in_snapshot) lock.wait(writer.changed);
    std::uint64_t pieces = writer.pieces;
    std::uint64_t since_ns = uv_hrtime();
    while (!writer.ended && !left_behind_) {
        lock.wait_for(writer.changed, kProgressInterval);
        const std::uint64_t now = writer.pieces;
        if (std::exchange(pieces, now) != now) since_ns = uv_hrtime();
        left_behind_ = !writer.ended && uv_hrtime() - since_ns >= static_cast<std::uint64_t>(timeout.ns);
    }
    writer.left = left_behind_;
    if (left_behind_ && writes) writer.add("its disk does not answer");
    lock.unlock();
    left_behind_ ? thread_.detach() : thread_.join();
}

/// The journal's thread.
void Journal::Writer::run() {
    std::chrono::nanoseconds pause(kPeriodNs);
    MutexLock lock(mutex);
    while (!ending) {
        if (lock.wait_for(changed, pause) || ending || !snapshot) continue;
        in_snapshot = true;
        const Snapshot next = snapshot;
        lock.unlock();
        pause = keep(next);
        lock.lock();
    }
    const std::optional<std::string> text = std::exchange(last, std::nullopt);
    lock.unlock();
    if (text) {
        report(write([&text](const TextSink& out) {
            for (std::size_t at = 0; at < text->size(); at += kPieceBytes)
                out(std::string_view(*text).substr(at, kPieceBytes));
        }));
    }
    lock.lock();
    ended = true;
    changed.notify_all();
}

/// Returns the pause until the next one.
std::chrono::nanoseconds Journal::Writer::keep(const Snapshot& next) {
    const std::uint64_t begin_ns = uv_hrtime();
    std::optional<RunResult> result = next();
    {
        const MutexLock lock(mutex);
        in_snapshot = false;
    }
    changed.notify_all();
    if (result) {
        SeatResult& own = result->seats.front();
        own.state = SeatResult::State::partial;
        own.why = fmt::format("its journal ends after {} of play", show_duration({own.played_ns}));
        report(write([&result](const TextSink& out) { result::write_json_report(*result, out); }));
    }
    return std::chrono::nanoseconds(std::max(kPeriodNs, kPauseFactor * (uv_hrtime() - begin_ns)));
}

/// Empty: the file is written.
std::string Journal::Writer::write(const TextSource& source) {
    std::string error = write_file(temporary, path, [&](const TextSink& out) {
        source([&](std::string_view piece) {
            out(piece);
            ++pieces;
        });
    });
    ++pieces;
    return error;
}

void Journal::Writer::report(const std::string& problem_now) {
    const MutexLock lock(mutex);
    if (!left) add(problem_now);
}

/// Reports a problem when it begins, not every second.
void Journal::Writer::add(const std::string& problem_now) {
    if (!problem_now.empty() && problem_now != problem) {
        reported.push_back(fmt::format("{}: the journal cannot be written: {}", path, problem_now));
        notice(reported.back());
    }
    problem = problem_now;
}

}  // namespace streamsim::seats
