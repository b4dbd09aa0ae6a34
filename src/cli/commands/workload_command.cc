// `run` with a workload document: plays its steps one after the other, then prints its tables.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/media/load_run.h"
#include "cli/options/command_line.h"
#include "cli/options/document_commands.h"
#include "cli/options/documents.h"
#include "cli/output/output_documents.h"
#include "media/own_files/own_names.h"
#include "report/csv/csv_report.h"
#include "report/html/html_report.h"
#include "report/tables/load_tables.h"
#include "report/text/text_report.h"
#include "result/json_report.h"
#include "run/load_steps.h"
#include "run/plan/meters.h"
#include "run/playback/loop_options.h"
#include "scenario/workload_steps.h"
#include "target/credentials.h"
#include "target/named_documents.h"

namespace streamsim::cli {
namespace {

/// The folder of the files that fill a volume, in the load of its media set.
constexpr const char* kFillDirectory = "fill";

using LoadDocuments = OutputDocuments<LoadResult>;

/// Errors: every problem, also of options that are not for a workload.
Result<LoadDocuments> load_documents(const CliOptions& options) {
    Error problems{ErrorKind::bad_input, {}};
    for (const auto& [option, given] :
         {std::pair{"--trace", !options.files.trace.empty()},
          std::pair{"--junit", !options.files.junit.empty()}, std::pair{"--metrics", !options.metrics.empty()},
          std::pair{"--web", !options.web.empty()}}) {
        if (given) problems.problems.push_back(fmt::format("{}: is not for a workload: leave it out", option));
    }
    auto documents = LoadDocuments::prepare(
        options.files, {{&ResultFiles::json, result::kLoadReportBegins, result::load_json_report},
                        {&ResultFiles::csv, report::kLoadCsvBegins, report::load_csv_report},
                        {&ResultFiles::html, report::kLoadHtmlBegins, report::load_html_report}});
    if (!documents) {
        for (const std::string& text : documents.error().problems) problems.problems.push_back(text);
        problems.kind = documents.error().kind;
    }
    if (!problems.problems.empty()) return problems;
    return documents;
}

class WorkloadCommand final : private LoadRun {
public:
    WorkloadCommand(CommandContext& context,
                    Workload workload,
                    std::vector<LoadResult::ScaledFiles> scaled_files)
        : LoadRun(context) {
        result_.workload = std::move(workload);
        result_.scale = options_.scale;
        result_.scaled_files = std::move(scaled_files);
    }

    int run();

private:
    Result<void> open_files();
    Result<void> allow();
    Result<void> play_steps();
    Result<void> play_step(double at);
    Result<bool> lost_a_rank();
    void write_for_now(RunResult known) override;
    void write_finished_steps();
    Result<void> fill_to(double percent);
    media::LoadSet fill_set() const;
    void empty_again();
    Result<void> arrange_cache(run::PlayRequest& request, bool warm);
    Result<void> arrange(run::PlayRequest& request, double at, const std::string& shown);
    int finish(const std::optional<Error>& error);
    std::vector<double> step_values() const;

    LoadResult result_;
    std::optional<std::pair<double, Workload>> playing_;  // the value of the sweep, and the step
    std::vector<std::string> about_step_;                 // notices on the coming step, for its result
    bool filled_ = false;                                 // files that fill the volume were begun
    LoadDocuments documents_;
};

Result<void> WorkloadCommand::open_files() {
    auto documents = load_documents(options_);
    if (!documents) return documents.error();
    documents_ = std::move(*documents);
    return play_.try_journal();
}

/// Writes files that are never read until the file system is as full as this step needs it.
Result<void> WorkloadCommand::fill_to(double percent) {
    if (store_ == nullptr)
        return bad_input("a sweep over fill_percent needs files: give a directory as TARGET");
    const std::string target = options_.play.target.name();
    auto held = media_.locks().hold_load(media::media_root(target), {kFillDirectory}, LockMode::exclusive);
    if (!held) return held;
    const auto bytes = work_.run([=, this] { return run::bytes_to_fill(*store_, target, percent); });
    if (!bytes) return bytes.error();
    if (*bytes == 0) {
        about_step_.push_back(fmt::format("{} is {:g} % full already: measured as it is", target, percent));
        play_.say_notice(about_step_.back());
        return {};
    }
    const auto free = work_.run([=, this] { return store_->free_bytes(target); });
    if (!free) return free.error();
    media::LoadSetPlan plan;
    plan.missing = fill_set();
    plan.missing.files.push_back(
        {fmt::format("{}/to-{:g}.load", plan.missing.directories.back(), percent), *bytes});
    plan.bytes_to_write = *bytes;
    plan.bytes_free = *free;
    filled_ = true;
    return media_.write_load(plan);
}

media::LoadSet WorkloadCommand::fill_set() const {
    const std::string root = media::load_root(options_.play.target.name());
    return {options_.play.target.name(), {root, root + "/" + kFillDirectory}, {}};
}

/// Empties this computer's cache of the working set, or fills it by reading the set once.
Result<void> WorkloadCommand::arrange_cache(run::PlayRequest& request, bool warm) {
    if (request.target.kind == target::Target::Kind::model) request.target.warm = warm;
    if (store_of(request) == nullptr) return {};
    if (!warm && request.target.kind == target::Target::Kind::remote) {
        play_.say_notice(
            "the caches of a server cannot be emptied from here: a cold step runs with the caches as they are");
        return {};
    }
    return work_.run([this, request, warm] {
        return warm ? run::read_load_set(*store_, request) : run::evict_load_set(*store_, request);
    });
}

/// The command before the step comes between the two: files that fill the volume are in the server's caches
/// when they were just written, and a cache that is to be warm is filled after the caches were flushed. In
/// every rank; each computer has a cache of its own.
Result<void> WorkloadCommand::arrange(run::PlayRequest& request, double at, const std::string& shown) {
    const Sweep::Over over = result_.workload.sweep.over;
    Result<void> done;
    if (over == Sweep::Over::fill_percent) done = together(makes_media() ? fill_to(at) : Result<void>());
    if (done) done = run_before_step(request, shown);
    if (done && over == Sweep::Over::cache) done = together(arrange_cache(request, at > 0));
    return done ? count_before_step() : done;
}

/// True: a seat did not play to the end, and the clients of later steps would not be those that were asked for.
/// The same in every rank.
Result<bool> WorkloadCommand::lost_a_rank() {
    if (context_.ranks == nullptr || result_.steps.empty()) return false;
    Result<bool> lost = !incomplete_seat(result_.steps.back().result).empty();
    wait_for_ranks(control_, *context_.ranks, [&] {
        const auto shared = context_.ranks->share(*lost);
        lost = shared ? Result<bool>(shared->get<bool>()) : Result<bool>(shared.error());
    });
    return lost;
}

Result<void> WorkloadCommand::play_step(double at) {
    playing_ = {at, scenario::at_step(result_.workload, at)};
    const Workload& step = playing_->second;
    run::PlayRequest request = run::load_request(step, options_.play);
    take_own_clients(request, result_.steps.size() + 1);
    if (!result_.steps.empty()) request.remarks.clear();  // they are of the document, and were said
    if (auto ready = prepare_files(request); !ready) return ready;
    const std::string shown = report::show_step(result_.workload, at);
    if (auto ready = arrange(request, at, shown); !ready) return ready;
    const std::string about =
        fmt::format("{}{}{} for {}", result_.workload.name, shown.empty() ? "" : ", ",
                    shown.empty() ? "" : report::sweep_word(result_.workload.sweep.over) + (" " + shown),
                    show_duration(step.duration));
    if (!options_.quiet) context_.log.info(about);
    auto result = play_all(request, about);
    if (!result) return result.error();
    result_.interrupted |= result->interrupted;
    for (std::string& text : about_step_) result->notices.push_back(std::move(text));
    about_step_.clear();
    result_.common = *result;
    result_.steps.push_back(run::load_step(at, step, std::move(*result)));
    playing_.reset();
    return {};
}

void WorkloadCommand::write_for_now(RunResult known) {
    LoadResult so_far = result_;
    so_far.interrupted = true;
    if (playing_) so_far.steps.push_back(run::load_step(playing_->first, playing_->second, std::move(known)));
    (void)documents_.write_for_now(so_far);
}

/// This process may be killed in a later step.
void WorkloadCommand::write_finished_steps() {
    if (result_.steps.empty()) return;
    control_.saving(kFilesTimeout);
    result_.interrupted = true;  // until the last step has ended
    (void)documents_.write_for_now(result_);
    result_.interrupted = false;
    control_.saving(run::kInterruptTimeout);
}

/// The value of each step; 0 without a sweep.
std::vector<double> WorkloadCommand::step_values() const {
    const Sweep& sweep = result_.workload.sweep;
    return sweep.over == Sweep::Over::none ? std::vector<double>{0} : sweep.values;
}

Result<void> WorkloadCommand::play_steps() {
    const std::vector<double> values = step_values();
    steps_.expect(values.size());
    std::uint64_t threads = 0;  // of the largest step
    for (const double at : values) {
        const Workload step = scenario::at_step(result_.workload, at);
        threads = std::max(threads, run::io_threads_of(run::load_request(step, options_.play), {}).needed);
    }
    run::reserve_io_threads({.needed = threads});
    for (const double at : values) {
        if (result_.interrupted || left_behind()) break;
        const auto lost = lost_a_rank();
        if (!lost) return lost.error();
        if (*lost) {
            play_.say_always(
                fmt::format("the workload ends after {} of {} steps: a computer was lost or interrupted, and "
                            "the clients of the other steps would be incomplete",
                            result_.steps.size(), values.size()));
            break;
        }
        write_finished_steps();
        if (auto played = play_step(at); !played) return played;
        if (ended_by()) return *ended_by();
    }
    return {};
}

/// Removes the files that filled the volume.
void WorkloadCommand::empty_again() {
    const auto removed = std::make_shared<std::optional<Result<void>>>();
    run::Control::Work work;
    work.run = [store = store_.get(), set = fill_set(), removed] {
        removed->emplace(media::remove_recorded(*store, set));
    };
    // Also after an interruption, which has been heard; storage that does not answer is left behind then.
    work.on_interrupt = [] {};
    if (!left_behind() && !control_.run(std::move(work))) work_.leave_behind();
    if (left_behind() || !**removed)
        play_.say_notice("the files that filled the volume could not be removed: streamsim clean removes them");
}

int WorkloadCommand::finish(const std::optional<Error>& error) {
    result_.printed = run::compare_with_printed(result_.workload, result_.steps);
    const bool interrupted = result_.interrupted || (error && error->kind == ErrorKind::interrupted);
    Result<void> written;
    if (!result_.steps.empty() || interrupted) {
        result_.interrupted = interrupted || error || result_.steps.size() < step_values().size();
        const auto nothing = [](const LoadStep& step) { return measured_nothing(step.result); };
        if (interrupted && std::ranges::all_of(result_.steps, nothing)) documents_.keep_earlier(context_.log);
        written = write_and_say(documents_, result_, [this] {
            if (options_.quiet || result_.steps.empty()) return;
            print_text(documents_.standard_output() ? stderr : stdout,
                       report::load_text_report(result_, options_.text_detail()));
        });
    }
    if (context_.ranks != nullptr && !result_.steps.empty())
        context_.ranks->note_written(result_.steps.back().result);
    control_.saving(run::kInterruptTimeout);
    if (filled_) empty_again();  // after the result, which its length must not endanger
    if (error && error->kind != ErrorKind::interrupted) return report_error(context_, *error);
    if (!written) return report_error(context_, written.error());
    if (interrupted) return kExitInterrupted;
    const bool pass = std::all_of(result_.steps.begin(), result_.steps.end(),
                                  [](const LoadStep& step) { return step.result.verdict.pass; });
    return pass ? kExitPass : kExitMissed;
}

/// Asks whether all steps together may write what they write, before anything is written.
Result<void> WorkloadCommand::allow() {
    if (store_ == nullptr) return {};
    const auto need = work_.run([this, workload = result_.workload, base = options_.play] {
        return run::need_of_workload(*store_, workload, base);
    });
    return need ? media_.consent(*need) : Result<void>(need.error());
}

int WorkloadCommand::run() {
    if (auto opened = together(open_files()); !opened) return report_error(context_, opened.error());
    result_.common = run::not_played(options_.play, context_.program);
    const auto allowed = together(makes_media() ? allow() : Result<void>());
    const auto played = allowed ? play_steps() : allowed;
    const int code = finish(played ? std::nullopt : std::optional(played.error()));
    if (left_behind()) leave(code);
    return code;
}

/// The target: as typed, else the default target of the document.
Result<target::Target> target_for(const CliOptions& options,
                                  const Workload& workload,
                                  const std::string& formats) {
    std::string typed = options.target;
    if (typed.empty() && !workload.target)
        return bad_input(fmt::format("TARGET is missing: {} has no default target (streamsim run {} TARGET)",
                                     workload.name, options.name));
    if (typed.empty()) typed = *workload.target;
    auto target = target::parse_target(typed);
    if (!target) return target;
    if (target->kind == target::Target::Kind::model) {
        if (auto opened = target::open_model(*target, formats + "/storage"); !opened) return opened.error();
    }
    return target;
}

std::vector<LoadResult::ScaledFiles> scaled_files_of(const Workload& source, const Workload& played) {
    std::vector<LoadResult::ScaledFiles> out;
    for (std::size_t i = 0; i < source.meters.size(); ++i) {
        const std::uint64_t bytes = played.meters[i].set.file_bytes;
        const std::uint64_t source_bytes = source.meters[i].set.file_bytes;
        if (bytes != source_bytes) out.push_back({source.meters[i].name, bytes, source_bytes});
    }
    return out;
}

/// Sets the numbers of clients and of users that the options give.
Result<void> resize(const CliOptions& options, Workload& workload) {
    const Sweep::Over over = workload.sweep.over;
    if (options.clients) {
        if (over != Sweep::Over::clients && *options.clients != workload.clients)
            workload.printed.clear();  // they are of another load
        workload.clients = *options.clients;
        if (const std::string problem = scenario::too_large(workload); !problem.empty())
            return bad_input("--clients: " + problem);
        if (over == Sweep::Over::clients) {
            std::erase_if(workload.printed, [&](const PrintedFigure& figure) {
                return figure.peak || figure.at != workload.clients;
            });
            workload.sweep = {};
        }
    }
    if (options.users) {
        for (MeterSpec& meter : workload.meters) meter.users = *options.users;
        if (over == Sweep::Over::users) workload.sweep = {};
        if (const std::string problem = scenario::too_large(workload); !problem.empty())
            return bad_input("--users: " + problem);
        workload.printed.clear();  // they are of another load
    }
    return {};
}

/// The options have changed the workload that the document's reader has checked. Errors: bad input.
Result<void> check_begins(const CliOptions& options, const Workload& workload) {
    std::vector<std::string> given;
    for (const char* option : {"--duration", "--scale", "--clients", "--users"}) {
        if (options.given(option)) given.emplace_back(option);
    }
    const std::string problem = given.empty() ? "" : scenario::never_begins(workload);
    if (problem.empty()) return {};
    return bad_input(
        fmt::format("{}: {}: give a longer --duration, or fewer users", fmt::join(given, ", "), problem));
}

/// A workload as it is played, and what of its files was scaled.
struct PlayedWorkload {
    Workload workload;
    std::vector<LoadResult::ScaledFiles> scaled_files;
};

/// The workload as the options change it; the options become those of its plays. Errors: bad input;
/// environment, for documents and credentials.
Result<PlayedWorkload> workload_to_play(CommandContext& context, Workload workload) {
    CliOptions& options = context.options;
    const auto formats = formats_directory();
    if (!formats) return formats.error();
    auto target = target_for(options, workload, *formats);
    if (!target) return target.error();
    if (context.ranks != nullptr && target->kind == target::Target::Kind::model)
        return bad_input(fmt::format("{}: {}", target->url, kModelIsForOne));
    if (auto taken = take_commands(workload.source, workload.before_step, *target, options); !taken)
        return taken.error();
    options.play.target = std::move(*target);
    auto credentials = target::find_credentials(options.play.target, options.credentials);
    if (!credentials) return credentials.error();
    options.play.credentials = std::move(*credentials);
    if (context.ranks == nullptr) options.play.keep_frames = options.files.need_frames();
    options.play.remarks = target::without_effect(workload);
    for (std::string& remark : remarks_on_options(options)) options.play.remarks.push_back(std::move(remark));
    if (options.scale != 1 && workload.sweep.over == Sweep::Over::fill_percent) {
        return bad_input(
            fmt::format("--scale: {} fills the volume to given percentages, and those cannot be "
                        "scaled: copy the document and give lower values of fill_percent",
                        workload.name));
    }
    PlayedWorkload played;
    played.workload = options.scale == 1 ? workload : scenario::scaled(workload, options.scale);
    played.scaled_files = scaled_files_of(workload, played.workload);
    if (auto resized = resize(options, played.workload); !resized) return resized.error();
    if (options.play.duration) played.workload.duration = *options.play.duration;
    if (auto begins = check_begins(options, played.workload); !begins) return begins.error();
    return played;
}

}  // namespace

Result<void> check_workload(CommandContext& context, Workload workload) {
    const auto documents = load_documents(context.options);
    if (!documents) return documents.error();
    const auto played = workload_to_play(context, std::move(workload));
    return played ? Result<void>() : played.error();
}

int workload_command(CommandContext& context, Workload workload) {
    auto played = workload_to_play(context, std::move(workload));
    const auto agreed = together(context, played ? Result<void>() : Result<void>(played.error()));
    if (!agreed) return report_error(context, agreed.error());
    return WorkloadCommand(context, std::move(played->workload), std::move(played->scaled_files)).run();
}

}  // namespace streamsim::cli
