#include "cli/media/media_run.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "report/csv/csv_report.h"
#include "report/html/html_report.h"
#include "report/junit/junit_report.h"
#include "report/text/text_report.h"
#include "report/trace/trace_report.h"
#include "result/json_report.h"
#include "view/live_view.h"

namespace streamsim::cli {
namespace {

/// Loops of a run that was left have to answer this soon: the process is about to end.
constexpr Duration kSnapshotTimeout{300'000'000};

std::vector<OutputDocuments<RunResult>::Kind> result_kinds() {
    return {{&ResultFiles::json, result::kJsonReportBegins, result::write_json_report},
            {&ResultFiles::csv, report::csv_header(), report::csv_report},
            {&ResultFiles::html, report::kHtmlReportBegins, report::html_report},
            {&ResultFiles::trace, report::kTraceBegins, report::trace_report},
            {&ResultFiles::junit, report::kJunitReportBegins, report::junit_report}};
}

}  // namespace

bool measured_nothing(const RunResult& result) {
    const FrameCounts& totals = result.totals;
    const auto did_anything = [](const MeterResult& meter) {
        return meter.all.done + meter.all.failed + meter.blocks_done + meter.blocks_failed > 0;
    };
    return totals.on_time + totals.late + totals.dropped + totals.failed == 0 &&
           std::ranges::none_of(result.meters, did_anything);
}

Result<void> check_result_files(const ResultFiles& files) {
    const auto outputs = OutputDocuments<RunResult>::prepare(files, result_kinds());
    return outputs ? Result<void>() : outputs.error();
}

MediaRun::MediaRun(CommandContext& context)
    : MediaRun(context, run::make_byte_store(context.options.play.target, context.options.play.credentials)) {}

MediaRun::MediaRun(CommandContext& context, std::unique_ptr<ByteStore> store)
    : context_(context),
      control_(context.control),
      options_(context.options),
      store_(std::move(store)),
      work_(context, store_ == nullptr ? "" : options_.play.target.name()),
      media_(context, work_, store_),
      play_(context),
      steps_(context) {
    options_.play.caches_emptied = steps_.has_command();
}

Result<void> MediaRun::open_outputs() {
    auto outputs = OutputDocuments<RunResult>::prepare(options_.files, result_kinds());
    if (!outputs) return outputs.error();
    outputs_ = std::move(*outputs);
    if (auto tried = play_.try_journal(); !tried) return tried;
    return play_.open_servers();
}

Result<void> MediaRun::choose_formats_together() {
    Result<void> done;
    if (leads()) done = media_.choose_formats();
    done = together(done);
    if (!done || context_.ranks == nullptr) return done;
    bool chosen = !options_.play.formats.empty();
    wait_for_ranks(control_, *context_.ranks, [&] {
        const auto shared = context_.ranks->share(chosen);
        if (!shared) {
            done = shared.error();
        } else {
            chosen = shared->get<bool>();
        }
    });
    if (done && chosen && options_.play.formats.empty())
        options_.play.formats.push_back(options_.default_format);
    return done;
}

Result<void> MediaRun::run_before_step(const run::PlayRequest& request, const std::string& value) {
    if (options_.step.empty()) return {};
    steps_.begin({request.target.name(), value});
    if (!steps_.has_command()) return {};
    // All ranks release their locks first: some may be on this computer, where the command remounts.
    media_.locks().suspend();
    auto done = together(Result<void>());
    if (done && leads()) done = steps_.run_before();
    done = together(done);
    if (done) done = media_.locks().resume();
    return together(done);
}

Result<void> MediaRun::count_before_step() {
    if (options_.step.empty()) return {};
    return together(leads() ? steps_.count_before() : Result<void>());
}

Result<void> MediaRun::prepare_step(const run::PlayRequest& request, const std::string& value) {
    auto done = run_before_step(request, value);
    return done ? count_before_step() : done;
}

int MediaRun::end_before_play(const Error& error, const run::PlayRequest& request) {
    return error.kind == ErrorKind::interrupted ? interrupted_before_play(request)
                                                : report_error(context_, error);
}

int MediaRun::interrupted_before_play(const run::PlayRequest& request) {
    context_.log.warn("interrupted before anything was played");
    const int code = write_results(run::not_played(request, context_.program));
    if (left_behind()) leave(code);
    return code;
}

std::optional<Result<RunResult>> MediaRun::watch_session(run::Session& session,
                                                         const run::PlayRequest& request,
                                                         const std::string& about,
                                                         bool streams_may_change) {
    steps_.count_after(session);
    {
        const MutexLock lock(for_now_mutex_);
        for_now_.reset();
    }
    auto result = play_.play(session, request, about, streams_may_change,
                             [this](const RunResult& known) { keep_for_now(known); });
    if (!result) stop_keeping();
    return result;
}

/// The result so far goes to the files that can be written again: the rest is to come, and may not.
void MediaRun::keep_for_now(const RunResult& known) {
    const MutexLock lock(for_now_mutex_);
    if (play_left_) return;
    for_now_ = known;
    write_for_now(known);
}

/// From now on the files are written by this thread alone. Waits until those that are being written are whole.
void MediaRun::stop_keeping() {
    control_.saving(kFilesTimeout);
    {
        const MutexLock lock(for_now_mutex_);
        play_left_ = true;
    }
    control_.saving(run::kInterruptTimeout);
}

std::optional<RunResult> MediaRun::known_for_now() {
    const MutexLock lock(for_now_mutex_);
    return for_now_;
}

void MediaRun::write_for_now(RunResult known) {
    steps_.record(known);
    complete(known);
    (void)outputs_.write_for_now(known);
}

Result<RunResult> MediaRun::play_aside(std::unique_ptr<run::Session>& session,
                                       const run::PlayRequest& request,
                                       const std::string& about) {
    auto result = watch_session(*session, request, about, false);
    if (!result) play_.stop_journal();  // it keeps the last that is known
    if (!result || session->stuck()) {
        work_.leave_behind();
        if (!result && context_.ranks == nullptr) {
            if (auto known = session->snapshot(kSnapshotTimeout)) result = std::move(*known);
        }
        (void)session.release();  // threads or the kernel still use it
        context_.log.warn("the storage has not completed all operations that it was given: the run ends here");
        if (!result || !*result) return interrupted_error();
    }
    if (*result) steps_.record(**result);
    return std::move(*result);
}

std::size_t MediaRun::plays_alone(const run::PlayRequest& request, bool has_streams) const {
    const bool both = !request.meters.empty() && has_streams;
    return both && options_.alone ? 2 : 0;
}

Result<void> MediaRun::measure_alone(
    run::PlayRequest& request,
    bool has_streams,
    const std::function<std::unique_ptr<run::Session>(const run::PlayRequest&)>& streams) {
    if (plays_alone(request, has_streams) == 0) return {};
    run::PlayRequest alone = request;
    alone.spare_streams = 0;
    alone.find_cause = false;
    alone.meters.clear();
    std::optional<Duration> play_time;  // of streams and meters together, too
    const auto play = [&](std::unique_ptr<run::Session> session, const char* about) -> Result<RunResult> {
        if (auto ready = prepare_step(alone, std::to_string(run::streams_of(alone))); !ready)
            return ready.error();
        if (!options_.quiet) context_.log.info(about);
        auto result = play_aside(session, alone, about);
        if (session != nullptr) play_time = session->watch().play_time;
        const auto all = together(left_behind() ? Result<RunResult>(interrupted_error()) : result);
        if (!all) return all.error();
        if (result->interrupted) return interrupted_error();
        return result;
    };
    const auto played =
        play(streams(alone), "first the streams without the meters (--not-alone leaves that out)");
    if (!played) return played.error();
    alone.meters = request.meters;
    alone.duration = play_time;
    alone.streams = 0;
    alone.record = {};
    alone.formats.clear();
    const auto loaded = play(meters_session(alone), "then the meters without the streams");
    Result<void> written;
    if (store_ != nullptr && !left_behind() && makes_media())
        written = media_.write_load_sets(request);  // once more
    if (written = together(written); !written) return written;
    if (!loaded) return loaded.error();
    alone_ = {played->totals, played->margin_ns, loaded->meters};
    request.media_read_before = !steps_.has_command();
    return {};
}

std::unique_ptr<run::Session> MediaRun::meters_session(const run::PlayRequest& request) {
    return std::make_unique<run::Session>(request, std::vector<run::PlayPart>(), std::vector<ScenarioFault>(),
                                          context_.program, notices());
}

int MediaRun::play_session(run::Session& session, const run::PlayRequest& request, const std::string& about) {
    // A rank that stopped here alone would leave the others waiting for it.
    if (auto opened = together(play_.open_journal(request)); !opened)
        return end_before_play(opened.error(), request);
    play_.follow_in_journal(session);
    auto result = watch_session(session, request, about, request.spare_streams > 0);
    if (result && makes_media()) media_.remove_created(request);  // no rank plays any more
    // Over several computers the error of one is that of all.
    const bool cut_short = result && !*result && session.until_error() && context_.ranks == nullptr;
    if (!cut_short && (!result || !*result)) play_.stop_journal();  // it keeps the last that is known
    if (!result) {
        work_.leave_behind();
        const bool alone = context_.ranks == nullptr;
        const std::optional<RunResult> known = alone ? session.snapshot(kSnapshotTimeout) : known_for_now();
        context_.log.warn("left without waiting for the storage{}",
                          known ? "" : ": what was played is not known");
        if (!known && !alone) leave(kExitInterrupted);  // an earlier result says more than an empty one
        leave(write_results(known ? *known : run::not_played(request, context_.program)));
    }
    if (!*result && result->error().kind == ErrorKind::interrupted) return interrupted_before_play(request);
    if (media_.locks().lost()) {
        play_.say_notice(
            "another process has taken over the lock of the media set while this one played: media may "
            "have been removed or changed");
    }
    if (cut_short) (void)write_results(*session.until_error());
    const int code = *result ? write_results(**result) : report_error(context_, result->error());
    if (session.stuck()) context_.log.warn("the storage has not completed all operations that it was given");
    if (session.stuck() || work_.left_behind()) leave(code);
    if (*result && !control_.interrupted()) {
        (void)media_.locks().release();
        play_.keep_page();
    }
    return code;
}

void MediaRun::leave(int code) {
    if (context_.ranks != nullptr) code = context_.ranks->finish(code);
    media_.locks().leave();
    leave_process(code);
}

int MediaRun::write_results(RunResult result) {
    steps_.record(result);
    complete(result);
    result.alone = alone_;
    if (result.interrupted && !alone_ && measured_nothing(result)) outputs_.keep_earlier(context_.log);
    control_.saving(kFilesTimeout, kDueTimeout);
    play_.finish_journal(result);
    play_.finish_page(result);
    const auto written = write_and_say(outputs_, result, [&] {
        if (options_.quiet) return;
        std::FILE* const out = outputs_.standard_output() ? stderr : stdout;
        print_text(out, report::text_report(result, options_.text_detail(),
                                            view::LiveView::colours_wanted(fileno(out))));
    });
    if (!written) return report_error(context_, written.error());
    if (context_.ranks != nullptr) context_.ranks->note_written(result);
    if (result.interrupted) return kExitInterrupted;
    if (options_.play.prove_per_day) {  // too little play makes no claim
        const bool stands =
            result.claims && result.claims->prove && result.claims->prove->decided == ProveDecision::stands;
        return stands ? kExitPass : kExitMissed;
    }
    return result.verdict.pass ? kExitPass : kExitMissed;
}

}  // namespace streamsim::cli
