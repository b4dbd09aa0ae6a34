// `run` with a workload: its steps one after the other, then its tables.
#include "cli/workload_command.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cmath>

#include "base/units.h"
#include "cli/formats_directory.h"
#include "cli/media_run.h"
#include "cli/storage_state.h"
#include "report/load_html.h"
#include "report/load_report.h"
#include "run/load_steps.h"
#include "run/models.h"
#include "run/workloads.h"
#include "scenario/workload_steps.h"

namespace streamsim {
namespace {

class WorkloadCommand final : private MediaRun {
public:
    WorkloadCommand(CliContext& context, Control& control, CliOptions& options, Workload workload)
        : MediaRun(context, control, options, make_byte_store(options.play.target, options.play.credentials)) {
        result_.workload = std::move(workload);
        result_.scale = options.scale;
    }

    int run();

private:
    Result<void> open_files();
    Result<void> play_steps();
    Result<void> play_step(double at, std::size_t number);
    Result<RunResult> play_session_of(const PlayRequest& request, const std::string& about);
    int finish(const std::optional<Error>& error);

    LoadResult result_;
    OutputFile json_, csv_, html_;
};

Result<void> WorkloadCommand::open_files() {
    const struct {
        const std::string& path;
        std::string_view begins;
        OutputFile& file;
    } all[] = {{options_.files.json, kLoadReportBegins, json_},
               {options_.files.csv, kLoadCsvBegins, csv_},
               {options_.files.html, kHtmlReportBegins, html_}};
    Error problems{ErrorKind::bad_input, {}};
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

Result<RunResult> WorkloadCommand::play_session_of(const PlayRequest& request, const std::string& about) {
    auto session = std::make_unique<Session>(request, std::vector<PlayPart>(), std::vector<ScenarioFault>(),
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

Result<void> WorkloadCommand::play_step(double at, std::size_t number) {
    const Workload step = at_step(result_.workload, at);
    PlayRequest request = load_request(step, options_.play);
    const std::string about = step_about(result_.workload, at, number);
    if (store_ != nullptr) {
        if (auto written = write_load_sets(request); !written) return written;
    }
    StorageState state(*this, store_.get(), result_.workload.sweep.over, at);
    if (auto ready = state.arrange(request); !ready) return ready;
    if (!options_.quiet) context_.log.info("{}", about);
    auto result = play_session_of(request, fmt::format("{}; {}", request.target.url, about));
    if (store_ != nullptr && !left_behind_) {
        const auto removed = in_background<bool>([this, request]() -> Result<bool> {
            if (auto done = remove_created_files(*store_, request); !done) return done.error();
            return true;
        });
        if (!removed && removed.error().kind != ErrorKind::interrupted) say_notice(removed.error().problems.front());
    }
    if (!result) return result.error();
    result_.interrupted |= result->interrupted;
    result_.common = *result;
    result_.steps.push_back(load_step(at, std::move(*result)));
    return {};
}

Result<void> WorkloadCommand::play_steps() {
    std::vector<double> values = result_.workload.sweep.values;
    if (result_.workload.sweep.over == Sweep::Over::none) values = {0};
    for (std::size_t i = 0; i < values.size() && !result_.interrupted && !left_behind_; ++i) {
        if (auto played = play_step(values[i], i); !played) return played;
    }
    return {};
}
