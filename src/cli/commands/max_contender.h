// One row of the table of `max`: what all streams of a search play.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/output/cli_context.h"
#include "judge/search/max_search.h"
#include "run/plan/media_plan.h"
#include "run/plan/play_request.h"
#include "streamsim/max_result.h"
#include "target/target_locations.h"

namespace streamsim::cli {

/// A format, or the clips of others.
struct Contender {
    run::PlayRequest request;  // has one format at most
    std::string name;
    int width = 0;
    int height = 0;
    FrameRate rate;
    run::FoundMedia media;  // found so far
    bool ready = false;     // media holds all that there is: clips that others made, or a cut list
    bool played = false;    // a step has read its media
    std::shared_ptr<const target::TargetLocations>
        places;  // directories of the media, as they were found; null: not local
};

/// The lengths of the runs of a search, which may try any number. `confirm`: as the user asks for it.
judge::MaxSearchOptions lengths(const Contender& contender, std::optional<Duration> confirm);
/// In every rank. Errors: of any of them: those of `all`; bad input where a run of a search would be no longer
/// than its read-ahead, in which no frame is missed, or a rank sees fewer clips than the first one.
Result<void> agree_on_contenders(CommandContext& context,
                                 const Result<std::vector<Contender>>& all,
                                 std::optional<Duration> confirm);
/// No run of the search has ended.
bool ended_no_run(const MaxResult& result);
/// Notes which directories hold the media, once. Blocks.
void remember_places(Contender& contender);
/// The result of a run that failed, or could not begin, because its media had vanished; nullopt: they are
/// there.
std::optional<MaxRun> run_without_storage(const Contender& contender, Duration length);
Contender of_format(run::PlayRequest request, const MediaFormat& format);
/// The clips of others, format by format.
std::vector<Contender> by_format(const run::PlayRequest& request, std::vector<Clip> clips);
/// The clips that this many streams play.
run::FoundMedia first_of(const Contender& contender, const run::PlayRequest& request);

}  // namespace streamsim::cli
