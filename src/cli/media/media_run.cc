#include "cli/media/media_run.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/media/consent.h"
#include "cli/media/indexing.h"
#include "cli/play/metrics_feed.h"
#include "cli/play/ranks_run.h"
#include "report/text/text_report.h"
#include "view/progress_bar.h"

namespace streamsim::cli {
Result<void> MediaRun::open_outputs() {
    auto outputs = ResultOutputs::prepare(options_.files);
    if (!outputs) return outputs.error();
    outputs_ = std::move(*outputs);
    if (options_.metrics.empty()) return {};
    auto metrics = open_metrics_feed(options_.metrics, context_.program.version);
    if (!metrics) return metrics.error();
    metrics_ = std::move(*metrics);
    if (!options_.quiet) context_.log.info("metrics: {}", metrics_->url());
    return {};
}

Result<void> MediaRun::choose_formats() {
    if (!options_.play.formats.empty() || options_.play.cuts) return {};
    bool wanted = store_ == nullptr || options_.command == CliOptions::Command::prepare;
    if (!wanted) {
        auto empty = in_background<bool>(
            [this] { return run::is_empty_directory(*store_, options_.play.target.name()); });
        if (!empty) return empty.error();
        wanted = *empty;
    }
    if (!wanted) return {};
    options_.play.formats.push_back(options_.default_format);
    return {};
}

void MediaRun::say_when_it_takes_long() {
    const std::int64_t now_ns = control_.now_ns();
    if (look_begun_ns_ == 0) look_begun_ns_ = now_ns;
    if (store_ == nullptr || options_.quiet || now_ns - look_begun_ns_ < kSilentFor.ns) return;
    if (!std::exchange(said_look_, true))
        context_.log.info("looking for media and who uses them in {}", options_.play.target.name());
}

void MediaRun::say_plan(const media::PreparePlan& plan) {
    for (const std::string& note : plan.notes) context_.log.warn("{}", note);
    if (options_.quiet || plan.nothing_to_do()) return;
    const std::size_t clips = plan.missing.size();
    context_.log.info("writing {} of media: {} clip{} of {}, {} frames each, to {} ({} free)",
                      show_bytes(plan.bytes_to_write), clips, clips == 1 ? "" : "s", plan.request.format.name,
                      show_count(plan.frames), plan.directory, show_bytes(plan.bytes_free));
}

/// Writes on a thread of its own, which may have to be left behind.
Result<void> MediaRun::write_with_bar(const char* what,
                                      std::uint64_t bytes,
                                      std::function<Result<void>(media::PrepareProgress&)> write) {
    struct Shared {  // lives as long as the thread that writes
        std::function<Result<void>(media::PrepareProgress&)> write;
        media::PrepareProgress progress;
        std::optional<Result<void>> result;
    };
    const auto shared = std::make_shared<Shared>();
    shared->write = std::move(write);
    view::ProgressBar bar(STDERR_FILENO, view::LiveView::possible(STDERR_FILENO), what, bytes);
    const std::int64_t begin_ns = control_.now_ns();
    run::Control::Work work;
    work.run = [shared] { shared->result.emplace(shared->write(shared->progress)); };
    work.on_interrupt = [shared] { shared->progress.cancel = true; };
    std::function<void()> bar_tick;
    if (!options_.quiet) {
        bar_tick = [&] { bar.update(shared->progress.bytes_done, control_.now_ns() - begin_ns); };
    }
    work.on_tick = [&] {
        if (bar_tick) bar_tick();
        if (locks_.lost()) shared->progress.cancel = true;
    };
    if (!control_.run(std::move(work))) {
        left_behind_ = true;
        return interrupted_error();
    }
    const Result<void>& result = *shared->result;
    if (locks_.lost()) {
        return environment_error(
            "another process has taken over the lock of the media set, as this one did not renew it in time: "
            "nothing more is written");
    }
    if (result && !options_.quiet) bar.finish(shared->progress.bytes_done, control_.now_ns() - begin_ns);
    return result;
}

Result<void> MediaRun::write_media(const media::PreparePlan& plan) {
    return write_with_bar("writing media", plan.bytes_to_write, [this, plan](media::PrepareProgress& progress) {
        return media::prepare(*store_, plan, progress);
    });
}

Result<void> MediaRun::write_load(const media::LoadSetPlan& plan) {
    if (plan.nothing_to_do()) return {};
    if (!options_.quiet && plan.bytes_to_write > 0) {
        context_.log.info("writing {} for meters: {} files, to {} ({} free)", show_bytes(plan.bytes_to_write),
                          show_count(plan.missing.files.size()), media::load_root(plan.missing.target),
                          show_bytes(plan.bytes_free));
    }
    const std::uint64_t seed = options_.play.seed;
    return write_with_bar("writing files", plan.bytes_to_write,
                          [this, plan, seed](media::PrepareProgress& progress) {
                              return media::write_load_set(*store_, plan, seed, progress);
                          });
}

Result<void> MediaRun::consent(const run::SpaceNeed& need) {
    if (!need.needs_consent()) return {};
    const std::string what = need.sentence();
    if (options_.yes) {
        if (!options_.quiet) context_.log.info("{} (--yes)", what);
        return {};
    }
    if (context_.ranks != nullptr || !can_ask())
        return environment_error(what + ": nothing was written; --yes allows it");
    said_look_ = true;  // nothing is said beside the question
    const auto answer =
        in_background<bool>([what]() -> Result<bool> { return ask("streamsim: " + what + ". Write it?"); });
    if (!answer) return answer.error();
    if (!*answer) return environment_error("nothing was written: the answer was not yes");
    return {};
}

Result<void> MediaRun::write_media(const std::vector<media::PreparePlan>& plans) {
    for (const media::PreparePlan& plan : plans) say_plan(plan);
    for (const media::PreparePlan& plan : plans) {
        if (plan.nothing_to_do()) continue;
        if (auto written = write_media(plan); !written) return written;
    }
    return {};
}

void MediaRun::remove_created(const run::PlayRequest& request) {
    if (store_ == nullptr || left_behind() || request.meters.empty()) return;
    // Also after an interruption, which has been heard; storage that does not answer is left behind then.
    const auto removed = std::make_shared<std::optional<Result<void>>>();
    run::Control::Work work;
    work.run = [store = store_.get(), removed, request] {
        removed->emplace(run::remove_created_files(*store, request));
    };
    work.on_interrupt = [] {};
    if (!control_.run(std::move(work))) {
        left_behind_ = true;
        return;
    }
    if (!**removed) say_notice((**removed).error().problems.front());
}

int MediaRun::interrupted_before_play(const run::PlayRequest& request) {
    context_.log.warn("interrupted before anything was played");
    const int code = write_results(run::Session::not_played(request, context_.program));
    if (left_behind()) leave(code);
    return code;
}

std::optional<Result<RunResult>> MediaRun::watch_session(run::Session& session,
                                                         const run::PlayRequest& request,
                                                         const std::string& about,
                                                         bool streams_may_change) {
    std::optional<LivePlay> live;
    if (!options_.quiet) live_ = &live.emplace(context_, control_, session, about, streams_may_change);
    const auto result = std::make_shared<std::optional<Result<RunResult>>>();  // as long as the thread lives
    run::Control::Work work;
    seats::Ranks* const ranks = context_.ranks;
    AllRanks all_ranks(ranks, session);
    if (live && ranks != nullptr) live->say_also([&] { return all_ranks.text(control_.now_ns()); });
    work.run = [this, result, &session, &request, ranks] {
        result->emplace(ranks != nullptr ? play_with_others(session, request) : session.execute());
    };
    work.on_interrupt = [&] {
        session.interrupt();
        if (ranks != nullptr) ranks->stop();
    };
    work.on_tick = [&] {
        if (ranks != nullptr) watch_ranks(session);
        if (live) live->tick();
        if (metrics_)
            feed_metrics(*metrics_, session.watch(), about, context_.program.version, control_.now_ns());
    };
    work.about_to_end = [&session] { return session.storage_is_over(); };
    if (ranks != nullptr) work.timeout.reset();  // the others are waited for, as ranks.stop() does
    const bool ended = control_.run(std::move(work));
    if (live) live->end();
    live_ = nullptr;
    if (!ended) return std::nullopt;
    return std::move(*result);
}

/// A run whose result is a part of another's.
Result<RunResult> MediaRun::play_aside(std::unique_ptr<run::Session> session,
                                       const run::PlayRequest& request,
                                       const std::string& about) {
    if (!options_.quiet) context_.log.info("{}", about);
    auto result = watch_session(*session, request, about);
    if (!result || session->stuck()) {
        left_behind_ = true;
        (void)session.release();  // threads or the kernel still use it
        return interrupted_error();
    }
    if (*result && (**result).interrupted) return interrupted_error();
    return std::move(*result);
}

Result<std::optional<AloneResult>> MediaRun::measure_alone(
    const run::PlayRequest& request,
    bool has_streams,
    const std::function<std::unique_ptr<run::Session>(const run::PlayRequest&)>& streams) {
    if (request.meters.empty() || !has_streams || !options_.alone || context_.ranks != nullptr)
        return std::optional<AloneResult>();
    run::PlayRequest alone = request;
    alone.spare_streams = 0;
    alone.find_cause = false;
    alone.meters.clear();
    const auto played =
        play_aside(streams(alone), alone, "first the streams without the meters (--not-alone leaves that out)");
    if (!played) return played.error();
    alone.meters = request.meters;
    alone.streams = 0;
    alone.record = {};
    alone.formats.clear();
    const auto loaded = play_aside(
        std::make_unique<run::Session>(alone, std::vector<run::PlayPart>(), std::vector<ScenarioFault>(),
                                       context_.program, [this](const std::string& text) { say_notice(text); }),
        alone, "then the meters without the streams");
    if (store_ != nullptr && !left_behind()) {  // the same files once more
        if (auto written = write_load_sets(request); !written) return written.error();
    }
    if (!loaded) return loaded.error();
    return std::optional(AloneResult{played->totals, played->margin_ns, loaded->meters});
}

/// Of several computers each keeps one, also where nobody asked for it.
Result<void> MediaRun::open_journal(const run::PlayRequest& request) {
    seats::Ranks* const ranks = context_.ranks;
    if (options_.journal.empty() && ranks == nullptr) return {};
    const auto notice = [this](const std::string& text) { say_always(text); };
    RunPart part = ranks != nullptr ? part_of_ranks(*ranks) : part_alone(request);
    auto opened = journal_.open(journal_directory(options_), std::move(part),
                                run::Session::not_played(request, context_.program), notice);
    if (opened || !options_.journal.empty()) return opened;
    notice("no journal is kept: " + opened.error().problems.front());
    return {};
}

int MediaRun::play_session(run::Session& session, const run::PlayRequest& request, const std::string& about) {
    // A rank that stopped here alone would leave the others waiting for it.
    if (auto opened = together(open_journal(request)); !opened) {
        if (opened.error().kind == ErrorKind::interrupted) return interrupted_before_play(request);
        return report_error(context_, opened.error());
    }
    journal_.follow(session);
    auto result = watch_session(session, request, about, request.spare_streams > 0);
    if (result) remove_created(request);
    if (!result || !*result) journal_.stop();  // what it holds is the last that is known
    if (!result) {
        context_.log.warn("left without waiting for the storage: what was played is not known");
        leave(write_results(run::Session::not_played(request, context_.program)));
    }
    if (!*result && result->error().kind == ErrorKind::interrupted) return interrupted_before_play(request);
    if (locks_.lost()) {
        say_notice(
            "another process has taken over the lock of the media set while this one played: media may "
            "have been removed or changed");
    }
    const int code = *result ? write_results(**result) : report_error(context_, result->error());
    if (session.stuck()) context_.log.warn("the storage has not completed all operations that it was given");
    if (session.stuck() || left_behind_) leave(code);
    return code;
}

/// Ends the process while something of it is still in a call that does not return.
void MediaRun::leave(int code) {
    if (context_.ranks != nullptr) code = context_.ranks->finish(code);
    code = final_code(code);
    locks_.leave();
    std::fflush(nullptr);
    _exit(code);
}

void MediaRun::say_notice(const std::string& notice) {
    if (live_ != nullptr || !options_.quiet) say_always(notice);
}

void MediaRun::say_always(const std::string& notice) {
    if (live_ != nullptr) return live_->say(notice);
    context_.log.warn("{}", notice);
}

/// What is known so far, where more is to come and may not: the files that can be written again.
void MediaRun::write_files(RunResult result) {
    complete(result);
    (void)outputs_.write_for_now(result);
}

int MediaRun::write_results(RunResult result) {
    complete(result);
    result.alone = alone_;
    control_.saving(kFilesTimeout);
    journal_.finish(result);
    const auto limit_wait = [this] { control_.saving(run::kInterruptTimeout); };
    const auto say = [&] {
        limit_wait();
        if (options_.quiet) return;
        const bool stdout_taken = outputs_.standard_output();
        const int fd = stdout_taken ? STDERR_FILENO : STDOUT_FILENO;
        print_text(stdout_taken ? stderr : stdout,
                   report::text_report(result, view::LiveView::colours_wanted(fd)));
    };
    bool said = false;
    const auto written = outputs_.write(
        result,
        [&] {
            said = true;
            say();
        },
        limit_wait);
    if (!said) say();
    if (!written) return report_error(context_, written.error());
    if (result.interrupted) return kExitInterrupted;
    return result.verdict.pass ? kExitPass : kExitMissed;
}

}  // namespace streamsim::cli
