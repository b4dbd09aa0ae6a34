// The journal of what this process plays, as the command line keeps it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "run/plan/play_request.h"
#include "run/session/session.h"
#include "seats/journal.h"

namespace streamsim::cli {

/// The part of a run that this process plays.
struct RunPart {
    std::string run_id;
    std::uint32_t rank = 0;
    /// Makes a result that of this part (become_part), its journal's path included; any thread.
    std::function<void(RunResult& result, const std::string& journal)> become;
};

/// A run of this process alone, with a name of its own.
RunPart part_alone(const run::PlayRequest& request);

class RunJournal {
public:
    /// Begins "seat-<rank>-<run id>.json" in the directory, which is made where it is not there. Errors: as
    /// Journal::open.
    Result<void> open(const std::string& directory,
                      RunPart part,
                      RunResult before_play,
                      seats::Journal::Notice notice);
    bool kept() const { return journal_ != nullptr; }

    /// Keeps what the session plays, until stop() or finish(), which have to come before the session goes.
    void follow(run::Session& session);
    /// The file stays as it is; nothing is kept any more.
    void stop();
    /// The result becomes that of this part, and is what the file holds. If the journal could not be
    /// written, now or before, the result's notices say so.
    void finish(RunResult& result);

private:
    struct Problems {  // told by any thread; the result gets them
        std::mutex mutex;
        std::vector<std::string> texts;
    };

    const std::shared_ptr<Problems> problems_ = std::make_shared<Problems>();
    RunPart part_;
    std::unique_ptr<seats::Journal> journal_;
};

}  // namespace streamsim::cli
