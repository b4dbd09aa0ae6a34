// A journal keeps the result of a run in a file while it plays, so that the measurements survive the process
// and its computer.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/system/repeating_thread.h"
#include "streamsim/run_result.h"

namespace streamsim::seats {

/// The file always has one whole "streamsim.result" of one rank (become_part), which the next one replaces
/// atomically: a reader, or a computer that starts again, finds the one or the other. A disk that is full or
/// lost later is reported once and delays no stream.
class Journal {
public:
    using Snapshot = std::function<std::optional<RunResult>()>;
    using Notice = std::function<void(const std::string& text)>;  // any thread

    /// "seat-2-1f0c.json"
    static std::string file_name(std::uint32_t rank, const std::string& run_id);

    /// Writes `before_play`, its seat's state missing, and creates the directory where it does not exist.
    /// Errors: bad input: the file exists and is no journal; environment: it cannot be written.
    static Result<std::unique_ptr<Journal>> open(const std::string& path,
                                                 const RunResult& before_play,
                                                 Notice notice);
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    /// Calls `snapshot` every second from now on, or after ten times the time that the last one took with its
    /// writing, on the journal's thread; its seat's state is partial.
    void follow(Snapshot snapshot);
    /// Calls `snapshot` no more; the file stays as it is.
    void stop();
    /// stop(), and writes `result`. Returns every problem that was reported, now or before.
    std::vector<std::string> finish(const RunResult& result);

    const std::string& path() const { return path_; }

private:
    Journal(std::string path, Notice notice);
    std::string write(const RunResult& result);
    void keep(const Snapshot& snapshot);
    void report(const std::string& problem);

    const std::string path_;
    const std::string temporary_;
    const Notice notice_;
    std::string problem_;                // the last one; empty: the file is written
    std::vector<std::string> reported_;  // the thread's own until it has ended
    RepeatingThread thread_;             // last: it uses the others
};

}  // namespace streamsim::seats
