#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>

#include "base/units.h"
#include "base/utf8.h"
#include "cli/commands/commands.h"
#include "cli/media/background_work.h"
#include "cli/media/media_locks.h"
#include "media/own_files/own_names.h"
#include "media/write/media_lock.h"
#include "media/write/media_set.h"

namespace streamsim::cli {
namespace {

/// Cleans while nobody else uses the media set.
Result<media::CleanReport> clean_alone(BackgroundWork& work,
                                       MediaLocks& locks,
                                       const std::shared_ptr<ByteStore>& store,
                                       const std::string& target) {
    const std::string root = media::media_root(target);
    const auto there = work.run([store, root]() -> Result<bool> {
        const auto found = media::media_set_is_there(*store, root);
        if (!found && found.error().kind == ErrorKind::environment) return found.error();
        return found && (*found || media::media_set_is_begun(*store, root));
    });
    if (!there) return there.error();
    // Nothing is locked where there is no media set of streamsim: clean() reports what is there instead.
    if (*there) {
        if (auto held = locks.hold_set(store, root, LockMode::exclusive); !held) return held.error();
    }
    const auto stop = std::make_shared<std::atomic<bool>>(false);
    auto cleaned = work.run([store, target, stop] { return media::clean(*store, target, stop.get()); },
                            [&locks, stop] { *stop = locks.lost(); });
    if (locks.lost()) return MediaLocks::lost_error("removed");
    return cleaned;
}

}  // namespace

int clean_command(CommandContext& context) {
    const CliOptions& options = context.options;
    const std::string target = options.play.target.name();
    const std::shared_ptr<ByteStore> store =
        run::make_byte_store(options.play.target, options.play.credentials);
    if (store == nullptr)
        return report_error(context,
                            bad_input(options.play.target.url + ": clean needs a directory: give a path"));
    BackgroundWork work(context);
    MediaLocks locks(context);
    const auto cleaned = clean_alone(work, locks, store, target);
    if (!cleaned) {
        const int code = report_error(context, cleaned.error());
        if (work.left_behind()) locks.leave();
        if (work.left_behind() || locks.left_behind()) leave_process(code);
        return code;
    }
    // The directory of the set goes with the lock.
    if (auto released = locks.release(); !released) return report_error(context, released.error());
    for (const std::string& kept : cleaned->kept) context.log.warn(kept + ": not made by prepare, kept");
    if (!options.quiet) {
        print_text(stdout,
                   fmt::format("removed {} files, {}, from {}/{}\n", show_count(cleaned->files_removed),
                               show_bytes(cleaned->bytes_removed), printable(target), media::kMediaDirectory));
    }
    return kExitPass;
}

}  // namespace streamsim::cli
