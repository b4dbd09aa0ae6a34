// A journal keeps the result of a run in a file while it plays, so that the measurements survive the process
// and its computer.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/system/whole_file.h"
#include "base/time.h"
#include "streamsim/run_result.h"

namespace streamsim::seats {

/// The file always has one whole "streamsim.result" of one rank (become_part), which the next one replaces
/// atomically: a reader, or a computer that starts again, finds the one or the other. A disk that is full or
/// lost later is reported once and delays no stream. A disk that does not answer keeps the journal's thread,
/// which is left behind in its call, and not the result.
class Journal {
public:
    using Snapshot = std::function<std::optional<RunResult>()>;
    using Notice = std::function<void(const std::string& text)>;  // any thread
    /// As write_whole().
    using Write = std::function<std::string(
        const std::string& temporary, const std::string& path, const TextSource& source)>;

    /// A disk that has taken nothing for so long does not answer. Slow ones sync many MB within it.
    static constexpr Duration kDiskTimeout = seconds(5);

    /// "seat-2-1f0c.json"
    static std::string file_name(std::uint32_t rank, const std::string& run_id);

    /// Writes `before_play`, its seat's state missing, and creates the directory where it does not exist.
    /// Errors: bad input: the file exists and is no journal; environment: it cannot be written.
    static Result<std::unique_ptr<Journal>> open(const std::string& path,
                                                 const RunResult& before_play,
                                                 Notice notice,
                                                 Write write = write_whole);
    ~Journal() { stop(); }
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    /// Calls `snapshot` every second from now on, or after ten times the time that the last one took with its
    /// writing, on the journal's thread; its seat's state is partial.
    void follow(Snapshot snapshot);
    /// Calls `snapshot` no more, and waits for a call that has begun. The file stays as it is; a write that has
    /// begun is waited for until the disk has taken nothing for `timeout`. Does nothing after finish().
    void stop(Duration timeout = kDiskTimeout);
    /// As stop(), and writes `result` within the same limit. Returns every problem that was reported, now or
    /// before. REQUIRES: the journal was not stopped.
    std::vector<std::string> finish(const RunResult& result, Duration timeout = kDiskTimeout);

    /// The disk did not answer in time to stop() or finish().
    bool left_behind() const { return left_behind_; }
    const std::string& path() const;

private:
    struct Writer;
    explicit Journal(std::shared_ptr<Writer> writer);
    void end(std::optional<std::string> last, Duration timeout);

    const std::shared_ptr<Writer> writer_;  // the thread's, too: it may be left behind
    bool left_behind_ = false;
    std::thread thread_;
};

}  // namespace streamsim::seats
