#include "cli/media/media_run.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "cli/play/ranks_run.h"
#include "report/csv/csv_report.h"
#include "report/html/html_report.h"
#include "report/junit/junit_report.h"
#include "report/text/run_text.h"
#include "report/trace/trace_report.h"
#include "result/json_report.h"
#include "view/live_view.h"

namespace streamsim::cli {
namespace {

std::vector<OutputDocuments<RunResult>::Kind> result_kinds() {
    using Documents = OutputDocuments<RunResult>;
    return {Documents::kind(&ResultFiles::json, result::kJsonReportBegins, result::json_report),
            {&ResultFiles::csv, report::csv_header(), report::csv_report},
            Documents::kind(&ResultFiles::html, report::kHtmlReportBegins, report::html_report),
            {&ResultFiles::trace, std::string(report::kTraceBegins), report::trace_report},
            Documents::kind(&ResultFiles::junit, report::kJunitReportBegins, report::junit_report)};
}

}  // namespace

MediaRun::MediaRun(CliContext& context,
                   run::Control& control,
                   CliOptions& options,
                   std::unique_ptr<ByteStore> store)
    : context_(context),
      control_(control),
      options_(options),
      store_(std::move(store)),
      work_(context, control, options, store_ == nullptr ? "" : options.play.target.name()),
      media_(context, control, options, work_, store_),
      play_(context, control, options) {}

Result<void> MediaRun::open_outputs() {
    auto outputs = OutputDocuments<RunResult>::prepare(options_.files, result_kinds());
    if (!outputs) return outputs.error();
    outputs_ = std::move(*outputs);
    return play_.open_metrics();
}

Result<void> MediaRun::together(const Result<void>& own) {
    return cli::together(context_, control_, own);
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
    return play_.play(session, request, about, streams_may_change,
                      [this](const RunResult& known) { write_files_for_now(known); });
}

Result<RunResult> MediaRun::play_aside(std::unique_ptr<run::Session>& session,
                                       const run::PlayRequest& request,
                                       const std::string& about) {
    auto result = watch_session(*session, request, about);
    if (!result || session->stuck()) {
        work_.leave_behind();
        (void)session.release();  // threads or the kernel still use it
        context_.log.warn("the storage has not completed all operations that it was given: the run ends here");
        if (!result || !*result) return interrupted_error();
    }
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
    const auto play = [&](std::unique_ptr<run::Session> session, const char* about) -> Result<RunResult> {
        if (!options_.quiet) context_.log.info("{}", about);
        auto result = play_aside(session, alone, about);
        if (left_behind() || (result && result->interrupted)) return interrupted_error();
        return result;
    };
    const auto played =
        play(streams(alone), "first the streams without the meters (--not-alone leaves that out)");
    if (!played) return played.error();
    alone.meters = request.meters;
    alone.streams = 0;
    alone.record = {};
    alone.formats.clear();
    const auto loaded = play(std::make_unique<run::Session>(
                                 alone, std::vector<run::PlayPart>(), std::vector<ScenarioFault>(),
                                 context_.program, [this](const std::string& text) { play_.say_notice(text); }),
                             "then the meters without the streams");
    if (store_ != nullptr && !left_behind()) {  // the same files once more
        if (auto written = media_.write_load_sets(request); !written) return written.error();
    }
    if (!loaded) return loaded.error();
    return std::optional(AloneResult{played->totals, played->margin_ns, loaded->meters});
}

int MediaRun::play_session(run::Session& session, const run::PlayRequest& request, const std::string& about) {
    // A rank that stopped here alone would leave the others waiting for it.
    if (auto opened = together(play_.open_journal(request)); !opened) {
        if (opened.error().kind == ErrorKind::interrupted) return interrupted_before_play(request);
        return report_error(context_, opened.error());
    }
    play_.journal().follow(session);
    auto result = watch_session(session, request, about, request.spare_streams > 0);
    if (result) media_.remove_created(request);
    if (!result || !*result) play_.journal().stop();  // it keeps the last that is known
    if (!result) {
        work_.leave_behind();
        context_.log.warn("left without waiting for the storage: what was played is not known");
        leave(write_results(run::not_played(request, context_.program)));
    }
    if (!*result && result->error().kind == ErrorKind::interrupted) return interrupted_before_play(request);
    if (media_.locks().lost()) {
        play_.say_notice(
            "another process has taken over the lock of the media set while this one played: media may "
            "have been removed or changed");
    }
    const int code = *result ? write_results(**result) : report_error(context_, result->error());
    if (session.stuck()) context_.log.warn("the storage has not completed all operations that it was given");
    if (session.stuck() || work_.left_behind()) leave(code);
    return code;
}

void MediaRun::leave(int code) {
    if (context_.ranks != nullptr) code = context_.ranks->finish(code);
    media_.locks().leave();
    leave_process(code);
}

/// Writes what is known so far, where more is to come and may not, to the files that can be written again.
void MediaRun::write_files_for_now(RunResult result) {
    complete(result);
    (void)outputs_.write_for_now(result);
}

int MediaRun::write_results(RunResult result) {
    complete(result);
    result.alone = alone_;
    control_.saving(kFilesTimeout);
    play_.journal().finish(result);
    const auto limit_wait = [this] { control_.saving(run::kInterruptTimeout); };
    const auto say = [&] {
        limit_wait();
        if (options_.quiet) return;
        const bool stdout_taken = outputs_.standard_output();
        const int fd = stdout_taken ? STDERR_FILENO : STDOUT_FILENO;
        print_text(stdout_taken ? stderr : stdout,
                   report::text_report(
                       result, options_.whole_report() ? report::TextDetail::full : report::TextDetail::screen,
                       view::LiveView::colours_wanted(fd)));
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
