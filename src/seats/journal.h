// A journal keeps the result of a run in a file while it plays, so that what was measured is there whatever
// happens to the process or its computer.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "streamsim/run_result.h"

namespace streamsim::seats {

/// Each document in the file is a whole "streamsim.result" of one rank (become_part), which takes the place of
/// the one before at once: a reader, or a computer that starts again, finds the one or the other. A disk that
/// is full or gone later is said once and holds up nobody.
class Journal {
public:
    using Snapshot = std::function<std::optional<RunResult>()>;
    using Notice = std::function<void(const std::string& text)>;  // any thread

    /// "seat-2-1f0c.json"
    static std::string file_name(std::uint32_t rank, const std::string& run_id);

    /// The file holds `before_play`, its seat's state missing, when this returns; the directory is made where
    /// it is not there. Errors: bad input: a file is there that is no result; environment: it cannot be
    /// written.
    static Result<std::unique_ptr<Journal>> open(const std::string& path,
                                                 const RunResult& before_play,
                                                 Notice notice);
    virtual ~Journal() = default;

    /// From now on `snapshot` is asked every second, or ten times as long as the last one took with its
    /// writing, on a thread of the journal's; its seat's state is partial.
    virtual void follow(Snapshot snapshot) = 0;
    /// `snapshot` is not asked any more; the file stays as it is.
    virtual void stop() = 0;
    /// stop(), and this is what the file holds.
    virtual void finish(const RunResult& result) = 0;

    virtual const std::string& path() const = 0;
};

}  // namespace streamsim::seats
