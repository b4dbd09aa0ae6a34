#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/utf8.h"
#include "cli/commands/commands.h"
#include "cli/media/media_run.h"
#include "media/own_files/own_names.h"
#include "run/plan/memory_need.h"

namespace streamsim::cli {
namespace {

/// One play or prepare.
class MediaCommand final : private MediaRun {
public:
    MediaCommand(CliContext& context, run::Control& control, CliOptions& options)
        : MediaRun(
              context, control, options, run::make_byte_store(options.play.target, options.play.credentials)) {}

    int prepare_only();
    int play();

private:
    Result<void> prepare_missing();
    Result<run::FoundMedia> find();
    int play_media(run::FoundMedia media);
};

Result<void> MediaCommand::prepare_missing() {
    if (store_ == nullptr) return {};
    const auto media = [this] { return run::missing_media(*store_, options_.play); };
    return media_.write_missing(options_.play, media, run::record_bytes_of(options_.play));
}

int MediaCommand::prepare_only() {
    if (store_ == nullptr)
        return report_error(context_,
                            bad_input(options_.play.target.url + ": prepare needs a directory: give a path"));
    auto done = choose_formats_together();
    if (done && leads()) done = prepare_missing();
    done = together(done);
    if (done && !options_.quiet) {
        for (const MediaFormat& format : options_.play.formats) {
            print_text(stdout,
                       fmt::format("{} {} of {} ready below {}/{}\n", run::clips_needed(options_.play),
                                   run::clips_needed(options_.play) == 1 ? "clip" : "clips", format.name,
                                   printable(options_.play.target.name()), media::kMediaDirectory));
        }
    }
    const int code = done ? kExitPass : report_error(context_, done.error());
    if (left_behind()) leave(code);
    return code;
}

int MediaCommand::play() {
    const bool alone = context_.ranks == nullptr;
    if (alone && !options_.quiet && LivePlay::keys_possible())
        options_.play.spare_streams = LivePlay::kSpareStreams;
    auto done = together(open_outputs());
    if (!done) return report_error(context_, done.error());
    done = choose_formats_together();
    if (done) done = together(run::check_memory(options_.play));
    if (done) done = together(leads() ? prepare_missing() : Result<void>());
    if (done) {
        auto media = find();
        done = together(media ? Result<void>() : Result<void>(media.error()));
        if (done) return play_media(std::move(*media));
    }
    if (done.error().kind == ErrorKind::interrupted) return interrupted_before_play(options_.play);
    return report_error(context_, done.error());
}

Result<run::FoundMedia> MediaCommand::find() {
    if (auto held = media_.hold(options_.play, options_.play.record.streams > 0); !held) return held.error();
    return work_.index<run::FoundMedia>(
        [this](IndexProgress& progress) { return run::find_media(store_.get(), options_.play, &progress); });
}

int MediaCommand::play_media(run::FoundMedia media) {
    for (const auto& list : media.clips) {
        for (const Clip& clip : list) {
            context_.log.debug("clip {}: {}, {} frames", clip.name, clip.format, clip.index->count());
        }
    }
    const auto say = [this](const std::string& notice) { play_.say_notice(notice); };
    auto alone = measure_alone(options_.play, options_.play.streams > 0, [&](const run::PlayRequest& request) {
        return std::make_unique<run::Session>(request, media, context_.program, say);
    });
    if (!alone && alone.error().kind == ErrorKind::interrupted) return interrupted_before_play(options_.play);
    if (!alone) return report_error(context_, alone.error());
    alone_ = std::move(*alone);
    run::Session session(options_.play, std::move(media), context_.program, say);
    return play_session(session, options_.play, options_.play.target.url);
}

}  // namespace

int play_command(CliContext& context, run::Control& control, CliOptions& options) {
    return MediaCommand(context, control, options).play();
}

int prepare_command(CliContext& context, run::Control& control, CliOptions& options) {
    return MediaCommand(context, control, options).prepare_only();
}

}  // namespace streamsim::cli
