// The media of a run: its locks, what is missing of it, and whether that may be written.
//
//     set, shared       from the search for clips to the end of the command; also while recorders and meters
//                       write files of their own
//     set, exclusive    while clips are made; then shared without a gap in which others could clean
//     load, exclusive   while a working set is made, and to the end where its meters write
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "cli/media/background_work.h"
#include "cli/media/media_locks.h"
#include "media/write/media_set.h"
#include "run/plan/needs.h"

namespace streamsim::cli {

class MediaPreparation {
public:
    using PlanMedia = std::function<Result<std::vector<media::PreparePlan>>()>;

    /// `store`: null where there are no files. All of them outlive this.
    MediaPreparation(CommandContext& context, BackgroundWork& work, std::shared_ptr<ByteStore> store)
        : context_(context), work_(work), store_(std::move(store)), locks_(context) {}

    /// A target without media of its own gets the default format where none was asked for; a cut list brings
    /// its own.
    Result<void> choose_formats();
    /// Success where little is needed, --yes was given, or a person on the terminal says yes. As many bytes of
    /// recordings as were allowed before count no more: the earlier ones are removed by then, unless they are
    /// kept. Errors: environment, nobody has allowed it; interrupted.
    Result<void> consent(const run::SpaceNeed& need);
    /// Holds the media sets that clips of a request may lie in until the command ends. `writes`: recorders or
    /// meters write into that of the target, which is made where it is not there. Errors: as
    /// MediaLocks::hold_set.
    Result<void> hold(const run::PlayRequest& request, bool writes);
    /// Holds the set as hold(), and writes what is missing before play: the clips that `media` plans, while
    /// nobody else uses the set, and the files of the meters of `request`. Asks first where that, together with
    /// the `record_bytes` that recorders will write, is much.
    Result<void> write_missing(const run::PlayRequest& request,
                               const PlanMedia& media,
                               std::uint64_t record_bytes);
    /// Writes the missing files of the working sets of a request's meters; removes those that an earlier run
    /// created.
    Result<void> write_load_sets(const run::PlayRequest& request);
    Result<void> write_load(const media::LoadSetPlan& plan);
    /// The same over several computers, each of which writes the files of its own seats, and rank 0 also those
    /// that seats share. First rank 0 alone locks the sets and records their names; then every rank writes;
    /// then rank 0 shares the locks. Errors: as write_load_sets. REQUIRES: rank 0 plays the first seat.
    Result<void> record_load_sets(const run::PlayRequest& request);
    Result<void> write_own_load_sets(const run::PlayRequest& request);
    void share_load_sets(const run::PlayRequest& request);
    /// Removes the files that the meters of a request have created; warns where that fails.
    void remove_created(const run::PlayRequest& request);

    MediaLocks& locks() { return locks_; }
    const MediaLocks& locks() const { return locks_; }

private:
    /// The files that play needs and that are not there.
    struct Missing {
        std::vector<media::PreparePlan> media;
        run::SpaceNeed need;
    };
    Result<void> ask_for(const run::SpaceNeed& need);
    Result<media::LoadSetPlan> lock_load_sets(const run::PlayRequest& request);
    void say_load(const media::LoadSetPlan& plan);
    Result<Missing> find_missing(const run::PlayRequest& request,
                                 const PlanMedia& media,
                                 std::uint64_t record_bytes);
    void say_plan(const media::PreparePlan& plan);
    Result<void> write_media(const std::vector<media::PreparePlan>& plans);
    Result<void> write_with_bar(const char* what,
                                std::uint64_t bytes,
                                std::function<Result<void>(media::PrepareProgress&)> write);

    CommandContext& context_;
    BackgroundWork& work_;
    std::shared_ptr<ByteStore> store_;
    MediaLocks locks_;
    std::uint64_t allowed_record_bytes_ = 0;  // of recordings that are removed after each run
};

}  // namespace streamsim::cli
