// A journal keeps the result of a run in a file while it plays, so that the measurements survive the process
// and its computer.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
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
    virtual ~Journal() = default;

    /// Calls `snapshot` every second from now on, or after ten times the time that the last one took with its
    /// writing, on the journal's thread; its seat's state is partial.
    virtual void follow(Snapshot snapshot) = 0;
    /// Calls `snapshot` no more; the file stays as it is.
    virtual void stop() = 0;
    /// stop(), and writes `result`.
    virtual void finish(const RunResult& result) = 0;

    virtual const std::string& path() const = 0;
};

}  // namespace streamsim::seats
