// `run` with a workload: its steps one after the other, then its tables.
#include "cli/commands/workload_command.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/units.h"
#include "cli/media/formats_directory.h"
#include "cli/media/media_run.h"
#include "report/csv/load_csv.h"
#include "report/html/html_report.h"
#include "report/html/load_html.h"
#include "report/json/load_json.h"
#include "report/tables/load_tables.h"
#include "report/text/load_text.h"
#include "run/load_steps.h"
#include "run/session/workloads.h"
#include "scenario/workload_steps.h"
#include "target/credentials.h"
#include "target/models.h"

namespace streamsim::cli {
namespace {

/// Of the files that fill a storage, below the load of its media set.
constexpr const char* kFillDirectory = "fill";

class WorkloadCommand final : private MediaRun {
public:
    WorkloadCommand(CliContext& context, run::Control& control, CliOptions& options, Workload workload)
        : MediaRun(
              context, control, options, run::make_byte_store(options.play.target, options.play.credentials)) {
        result_.workload = std::move(workload);
        result_.scale = options.scale;
    }

    int run();

private:
    Result<void> open_files();
    Result<void> allow();
    Result<void> play_steps();
    Result<void> play_step(double at);
    Result<void> aside(const std::function<Result<void>()>& function);
    Result<void> fill_to(double percent);
    media::LoadSet fill_set() const;
    void empty_again();
    Result<void> arrange_cache(run::PlayRequest& request, bool warm);
    Result<void> arrange(run::PlayRequest& request, double at);
    Result<RunResult> play_session_of(const run::PlayRequest& request, const std::string& about);
    int finish(const std::optional<Error>& error);

    LoadResult result_;
    std::vector<std::string> about_step_;  // the one to come: for its result
    bool filled_ = false;                  // files that fill the volume were begun
    OutputFile json_, csv_, html_;
};

Result<void> WorkloadCommand::open_files() {
    const struct {
        const std::string& path;
        std::string_view begins;
        OutputFile& file;
    } all[] = {{options_.files.json, report::kLoadReportBegins, json_},
               {options_.files.csv, report::kLoadCsvBegins, csv_},
               {options_.files.html, report::kHtmlReportBegins, html_}};
    Error problems{ErrorKind::bad_input, {}};
    for (const auto& [option, given] : {std::pair{"--trace", !options_.files.trace.empty()},
                                        std::pair{"--junit", !options_.files.junit.empty()},
                                        std::pair{"--journal", !options_.journal.empty()},
                                        std::pair{"--metrics", !options_.metrics.empty()}}) {
        if (given) problems.problems.push_back(fmt::format("{}: is not for a workload", option));
    }
    for (const auto& each : all) {
        if (each.path.empty()) continue;
        auto file = OutputFile::prepare(each.path, each.begins);
        if (file) {
            each.file = std::move(*file);
        } else {
            for (const std::string& text : file.error().problems) problems.problems.push_back(text);
            if (file.error().kind == ErrorKind::environment) problems.kind = ErrorKind::environment;
        }
    }
    if (!problems.problems.empty()) return problems;
    return {};
}

Result<RunResult> WorkloadCommand::play_session_of(const run::PlayRequest& request, const std::string& about) {
    auto session =
        std::make_unique<run::Session>(request, std::vector<run::PlayPart>(), std::vector<ScenarioFault>(),
                                       context_.program, [this](const std::string& text) { say_notice(text); });
    auto result = watch_session(*session, request, about);
    if (!result || session->stuck()) {
        left_behind_ = true;
        (void)session.release();  // threads or the kernel still use it
        context_.log.warn("the storage has not given back everything that was asked of it: this ends here");
        if (!result || !*result) return interrupted_error();
    }
    return std::move(*result);
}

/// Something that blocks, off this thread.
Result<void> WorkloadCommand::aside(const std::function<Result<void>()>& function) {
    const auto done = in_background<bool>([function]() -> Result<bool> {
        if (auto result = function(); !result) return result.error();
        return true;
    });
    return done ? Result<void>() : Result<void>(done.error());
}

/// Files that nobody reads, until the file system is as full as this step wants it.
Result<void> WorkloadCommand::fill_to(double percent) {
    if (store_ == nullptr) return bad_input("a sweep over fill_percent needs files: expected a directory");
    if (auto held = locks_.hold_load({kFillDirectory}, LockMode::exclusive); !held) return held;
    const std::string target = options_.play.target.name();
    const auto bytes =
        in_background<std::uint64_t>([=, this] { return run::bytes_to_fill(*store_, target, percent); });
    if (!bytes) return bytes.error();
    if (*bytes == 0) {
        about_step_.push_back(fmt::format("{} is {:g} % full already: measured as it is", target, percent));
        say_notice(about_step_.back());
        return {};
    }
    const auto free = in_background<std::uint64_t>([=, this] { return store_->free_bytes(target); });
    if (!free) return free.error();
    media::LoadSetPlan plan;
    plan.missing = fill_set();
    plan.missing.files.push_back(
        {fmt::format("{}/to-{:g}.load", plan.missing.directories.back(), percent), *bytes});
    plan.bytes_to_write = *bytes;
    plan.bytes_free = *free;
    filled_ = true;
    return write_load(plan);
}

media::

    LoadSet
    WorkloadCommand::fill_set() const {
    const std::string root = media::load_root(options_.play.target.name());
    return {options_.play.target.name(), {root, root + "/" + kFillDirectory}, {}};
}

/// What this computer keeps of the working set is dropped, or read once before.
Result<void> WorkloadCommand::arrange_cache(run::PlayRequest& request, bool warm) {
    if (request.target.kind == target::Target::Kind::model) request.target.warm = warm;
    if (store_ == nullptr) return {};
    if (!warm && request.target.kind == target::Target::Kind::remote) {
        say_notice("the caches of a server cannot be emptied from here: cold is as it is found");
        return {};
    }
    return aside([this, request, warm] {
        return warm ? run::read_load_set(*store_, request) : run::evict_load_set(*store_, request);
    });
}

Result<void> WorkloadCommand::arrange(run::PlayRequest& request, double at) {
    switch (result_.workload.sweep.over) {
        case Sweep::Over::fill_percent: return fill_to(at);
        case Sweep::Over::cache: return arrange_cache(request, at > 0);
        default: return {};
    }
}

Result<void> WorkloadCommand::play_step(double at) {
    const Workload step = scenario::at_step(result_.workload, at);
    run::PlayRequest request = run::load_request(step, options_.play);
    if (!result_.steps.empty()) request.remarks.clear();  // they are of the document, and were said
    if (store_ != nullptr) {
        if (auto written = write_load_sets(request); !written) return written;
    }
    if (auto ready = arrange(request, at); !ready) return ready;
    const std::string shown = report::show_step(result_.workload, at);
    const std::string about =
        fmt::format("{}{}{} for {}", result_.workload.name, shown.empty() ? "" : ", ",
                    shown.empty() ? "" : report::sweep_word(result_.workload.sweep.over) + (" " + shown),
                    show_duration(step.duration));
    if (!options_.quiet) context_.log.info("{}", about);
    auto result = play_session_of(request, fmt::format("{}; {}", request.target.url, about));
    remove_created(request);
    if (!result) return result.error();
    result_.interrupted |= result->interrupted;
    for (std::string& text : about_step_) result->notices.push_back(std::move(text));
    about_step_.clear();
    result_.common = *result;
    result_.steps.push_back(run::load_step(at, step, std::move(*result)));
    return {};
}

Result<void> WorkloadCommand::play_steps() {
    std::vector<double> values = result_.workload.sweep.values;
    if (result_.workload.sweep.over == Sweep::Over::none) values = {0};
    for (const double at : values) {
        if (result_.interrupted || left_behind()) break;
        if (auto played = play_step(at); !played) return played;
    }
    return {};
}

/// What filled the storage goes.
void WorkloadCommand::empty_again() {
    const auto remove = [this] { return media::remove_recorded(*store_, fill_set()); };
    Result<void> removed = interrupted_error();
    // Also after an interruption, which has been heard: not as something that could be interrupted.
    if (!left_behind()) removed = control_.interrupted() ? remove() : aside(remove);
    if (!removed) say_notice("what filled the storage is still there (streamsim clean removes it)");
}

int WorkloadCommand::finish(const std::optional<Error>& error) {
    if (filled_) empty_again();
    result_.printed = run::compare_with_printed(result_.workload, result_.steps);
    const bool reader_may_block = (json_.wanted() && json_.in_place()) || (csv_.wanted() && csv_.in_place()) ||
                                  (html_.wanted() && html_.in_place());
    control_.saving(reader_may_block ? run::kInterruptTimeout : kFilesTimeout);
    Result<void> written;
    const auto write = [&written](OutputFile& file, const std::string& text) {
        file.write(text);
        if (auto done = file.finish(); !done) written = done;
    };
    const bool interrupted = result_.interrupted || (error && error->kind == ErrorKind::interrupted);
    if (!result_.steps.empty() || interrupted) {
        result_.interrupted |= interrupted;
        if (json_.wanted()) write(json_, report::load_json_report(result_));
        if (csv_.wanted()) write(csv_, report::load_csv_report(result_));
        if (html_.wanted()) write(html_, report::load_html_report(result_));
    }
    control_.saving(run::kInterruptTimeout);
    if (!options_.quiet && !result_.steps.empty()) {
        const bool taken = json_.standard_output() || csv_.standard_output() || html_.standard_output();
        print_text(taken ? stderr : stdout,
                   report::load_text_report(
                       result_, options_.verbose ? report::TextDetail::full : report::TextDetail::screen));
    }
    if (error && error->kind != ErrorKind::interrupted) return report_error(context_, *error);
    if (!written) return report_error(context_, written.error());
    if (error || result_.interrupted) return kExitInterrupted;
    const bool pass = std::all_of(result_.steps.begin(), result_.steps.end(),
                                  [](const LoadStep& step) { return step.result.verdict.pass; });
    return pass ? kExitPass : kExitMissed;
}

/// Before anything is written: what all steps together write, and whether that may be.
Result<void> WorkloadCommand::allow() {
    if (store_ == nullptr) return {};
    const auto need = in_background<run::SpaceNeed>([this, workload = result_.workload, base = options_.play] {
        return run::need_of_workload(*store_, workload, base);
    });
    return need ? consent(*need) : Result<void>(need.error());
}

int WorkloadCommand::run() {
    if (auto opened = open_files(); !opened) return report_error(context_, opened.error());
    result_.common = run::Session::not_played(options_.play, context_.program);
    const auto allowed = allow();
    const auto played = allowed ? play_steps() : allowed;
    const int code = finish(played ? std::nullopt : std::optional(played.error()));
    if (left_behind()) leave(code);
    return code;
}

/// Where it is played: as typed, else where the document is at home.
Result<target::Target> target_for(const CliOptions& options,
                                  const Workload& workload,
                                  const std::string& formats) {
    std::string typed = options.where;
    if (typed.empty() && !workload.target)
        return bad_input(fmt::format("TARGET is missing: {} is at home nowhere (streamsim run {} TARGET)",
                                     workload.name, options.name));
    if (typed.empty()) typed = *workload.target;
    auto target = target::parse_target(typed);
    if (!target) return target;
    if (target->kind == target::Target::Kind::model) {
        if (auto opened = target::open_model(*target, formats + "/storage"); !opened) return opened.error();
    }
    return target;
}

}  // namespace

int workload_command(CliContext& context, run::Control& control, CliOptions& options, Workload workload) {
    if (context.ranks != nullptr)
        return report_error(context,
                            bad_input("a workload is for one computer: its clients are seats of one process"));
    const auto formats = formats_directory();
    if (!formats) return report_error(context, formats.error());
    auto target = target_for(options, workload, *formats);
    if (!target) return report_error(context, target.error());
    options.play.target = std::move(*target);
    auto credentials = target::find_credentials(options.play.target, options.credentials);
    if (!credentials) return report_error(context, credentials.error());
    options.play.credentials = std::move(*credentials);
    options.play.seed = options.seed.value_or(1);
    options.play.keep_frames = !options.files.csv.empty();
    options.play.remarks = run::without_effect(workload);
    if (options.scale != 1 && workload.sweep.over == Sweep::Over::fill_percent) {
        return report_error(
            context,
            bad_input(fmt::format("--scale: {} fills the volume to given percentages, and those cannot be "
                                  "scaled: copy the document and give lower values of fill_percent",
                                  workload.name)));
    }
    Workload scaled_workload =
        options.scale == 1 ? std::move(workload) : scenario::scaled(workload, options.scale);
    if (options.clients) {
        scaled_workload.clients = *options.clients;
        if (const std::string problem = scenario::too_large(scaled_workload); !problem.empty())
            return report_error(context, bad_input("--clients: " + problem));
        if (scaled_workload.sweep.over == Sweep::Over::clients) scaled_workload.sweep = {};
    }
    if (options.play.duration) scaled_workload.duration = *options.play.duration;
    return WorkloadCommand(context, control, options, std::move(scaled_workload)).run();
}

}  // namespace streamsim::cli
