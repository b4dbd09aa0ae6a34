#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <optional>
#include <string>
#include <utility>

#include "base/units.h"
#include "base/utf8.h"
#include "cli/commands/commands.h"
#include "cli/media/media_run.h"
#include "cli/process/system.h"
#include "judge/claims/prove.h"
#include "media/own_files/own_names.h"
#include "run/plan/meters.h"
#include "run/plan/needs.h"
#include "run/playback/loop_options.h"

namespace streamsim::cli {
namespace {

/// One play or prepare.
class MediaCommand final : private MediaRun {
public:
    explicit MediaCommand(CommandContext& context) : MediaRun(context) {}

    int prepare_only();
    int play();

private:
    Result<void> prepare_missing();
    Result<std::string> ready_media();
    Result<run::FoundMedia> look();
    Result<run::FoundMedia> find();
    int play_media(run::FoundMedia media);
    Result<void> plan_proof();
    void complete(RunResult& result) override;

    std::optional<run::FoundMedia> found_;    // by look(), before what is missing is written
    std::optional<run::PartsToPlay> played_;  // on a model
};

Result<void> MediaCommand::prepare_missing() {
    if (store_ == nullptr) return {};
    const run::PlayRequest& request = options_.play;
    if (request.cuts && request.record.streams > 0 && !request.duration && !request.frames) {
        if (auto held = media_.hold(request, false); !held) return held;
        auto list = look();  // its length is that of the recordings
        if (!list) return list.error();
        found_ = std::move(*list);
    }
    const auto media = [this] { return run::missing_media(*store_, options_.play); };
    return media_.write_missing(request, media,
                                run::record_bytes_of(request, found_.value_or(run::FoundMedia{})));
}

Result<run::FoundMedia> MediaCommand::look() {
    if (found_) return *std::exchange(found_, std::nullopt);
    return work_.index(
        [this](IndexProgress& progress) { return run::find_media(store_.get(), options_.play, &progress); });
}

/// A line for each kind of media of the play. Errors: of the clips of a cut list, which nothing makes.
Result<std::string> MediaCommand::ready_media() {
    const run::PlayRequest& request = options_.play;
    const std::string place = printable(request.target.name());
    const auto line = [](std::size_t clips, const std::string& what, const std::string& below) {
        return fmt::format("{} of {} ready below {}\n", counted(clips, "clip"), printable(what), below);
    };
    if (run::streams_of_format(request) == 0) return std::string("recorders alone need no clips\n");
    std::string ready;
    if (request.cuts) {
        const auto media = look();
        if (!media) return media.error();
        ready += line(media->cuts->clips.size(), media->cuts->name, place);
    }
    for (const MediaFormat& format : request.formats)
        ready += line(run::clips_needed(request), format.name, place + "/" + media::kMediaDirectory);
    return ready;
}

int MediaCommand::prepare_only() {
    if (store_ == nullptr)
        return report_error(context_,
                            bad_input(options_.play.target.url + ": prepare needs a directory: give a path"));
    auto done = choose_formats_together();
    if (done && leads()) done = prepare_missing();
    auto ready = done && leads() ? ready_media() : Result<std::string>(std::string());
    if (done && !ready) done = ready.error();
    done = together(done);
    if (done && !options_.quiet) print_text(stdout, *ready);
    const int code = done ? kExitPass : report_error(context_, done.error());
    if (left_behind()) leave(code);
    return code;
}

int MediaCommand::play() {
    const bool alone = context_.ranks == nullptr;
    if (alone && !options_.quiet && LivePlay::keys_possible())
        options_.play.spare_streams = LivePlay::kSpareStreams;
    auto done = together(plan_proof());
    if (done) done = together(open_outputs());
    if (!done) return report_error(context_, done.error());
    done = choose_formats_together();
    if (done) done = together(run::check_meters(options_.play));
    if (done) done = together(run::check_memory(run::one_part(options_.play, {}), options_.play.keep_frames));
    if (done) done = together(leads() ? prepare_missing() : Result<void>());
    if (done) {
        auto media = find();
        done = together(media);
        if (done) done = together(run::check_meters(options_.play, *media));
        if (done) return play_media(std::move(*media));
    }
    return end_before_play(done.error(), options_.play);
}

/// Says how long the proof of --prove takes; without another limit it plays as long.
Result<void> MediaCommand::plan_proof() {
    run::PlayRequest& request = options_.play;
    if (!request.prove_per_day) return {};
    if (context_.ranks != nullptr)
        return bad_input(
            "--prove: is not for runs over several computers, which cannot end together on a decision: give "
            "--duration");
    const judge::ProveTest test(*request.prove_per_day);
    if (!options_.quiet) context_.log.info(judge::prove_beginning(test));
    const Duration least = test.needed(0);
    if (request.duration && *request.duration < least)
        play_.say_notice(fmt::format("--duration {}: the claim can fail in that time, and not stand",
                                     options_.typed.at("--duration")));
    if (!request.duration && !request.frames) request.duration = test.longest();
    return {};
}

Result<run::FoundMedia> MediaCommand::find() {
    if (auto held = media_.hold(options_.play, options_.play.record.streams > 0); !held) return held.error();
    return look();
}

int MediaCommand::play_media(run::FoundMedia media) {
    for (const auto& list : media.clips) {
        for (const Clip& clip : list) {
            context_.log.debug(
                fmt::format("clip {}: {}, {} frames", clip.name, clip.format, clip.index->count()));
        }
    }
    const bool has_streams = options_.play.streams > 0;
    steps_.expect(plays_alone(options_.play, has_streams) + 1);
    if (plays_alone(options_.play, has_streams) > 0)  // streams and meters together need most
        run::reserve_io_threads(run::io_threads_of(options_.play, media));
    const auto alone = measure_alone(options_.play, has_streams, [&](const run::PlayRequest& request) {
        return std::make_unique<run::Session>(request, media, context_.program, notices());
    });
    if (!alone) return end_before_play(alone.error(), options_.play);
    if (auto ready = prepare_step(options_.play, std::to_string(run::streams_of(options_.play))); !ready)
        return end_before_play(ready.error(), options_.play);
    if (options_.play.target.model != nullptr)
        played_ = run::PartsToPlay{options_.play, run::one_part(options_.play, media), {}};
    run::Session session(options_.play, std::move(media), context_.program, notices());
    return play_session(session, options_.play, options_.play.target.url);
}

void MediaCommand::complete(RunResult& result) {
    if (!played_ || result.interrupted || result.playing) return;
    result.prediction = predict_whether_it_plays(context_, work_, *std::exchange(played_, std::nullopt));
}

}  // namespace

int play_command(CommandContext& context) {
    if (!context.options.play.target.is_virtual_time()) use_one_heap();
    return MediaCommand(context).play();
}

int prepare_command(CommandContext& context) {
    return MediaCommand(context).prepare_only();
}

}  // namespace streamsim::cli
