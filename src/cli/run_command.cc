#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <fstream>
#include <sstream>

#include "base/utf8_path.h"
#include "cli/commands.h"
#include "cli/formats_directory.h"
#include "cli/indexing.h"
#include "cli/media_run.h"
#include "run/scenario_run.h"

namespace streamsim {
namespace {

/// One scenario.
class ScenarioCommand final : private MediaRun {
public:
    /// `models`: where streamsim's own are.
    ScenarioCommand(
        CliContext& context, Control& control, CliOptions& options, Scenario scenario, std::string models)
        : MediaRun(context, control, options, make_byte_store(*parse_target(scenario.seats.front().target))),
          scenario_(std::move(scenario)),
          models_(std::move(models)),
          request_(common_request(scenario_)) {
        request_.keep_frames = options.files.need_frames();
    }

    int run();

private:
    Result<std::vector<PlayPart>> find();
    void complete(RunResult& result) override;

    const Scenario scenario_;
    const std::string models_;
    PlayRequest request_;
};

Result<std::vector<PlayPart>> ScenarioCommand::find() {
    std::vector<PlayPart> parts = parts_of(scenario_);
    if (auto opened = open_model(request_, parts, models_); !opened) return opened.error();
    if (auto enough = memory_suffices(parts); !enough) return enough.error();
    if (store_ != nullptr) {
        const auto plans =
            in_background<std::vector<PreparePlan>>([this, parts] { return missing_media(*store_, parts); });
        if (!plans) return plans.error();
        if (auto written = write_media(*plans); !written) return written.error();
    }
    return index_with_bar<std::vector<PlayPart>>(
        control_, options_.quiet, left_behind_,
        [this, parts](IndexProgress& progress) { return find_media(store_.get(), parts, &progress); });
}

void ScenarioCommand::complete(RunResult& result) {
    ScenarioFacts facts{scenario_.source, scenario_.description, "", std::nullopt, {}};
    if (scenario_.expect) {
        facts.expected = scenario_.expect->effect;
        if (!result.interrupted) facts.surprises = surprises(*scenario_.expect, result);
        if (!result.interrupted) facts.as_expected = facts.surprises.empty();
    }
    result.scenario = std::move(facts);
}

int ScenarioCommand::run() {
    if (auto opened = open_outputs(); !opened) return report_error(context_, opened.error());
    auto parts = find();
    if (!parts && parts.error().kind == ErrorKind::interrupted) return interrupted_before_play(request_);
    if (!parts) return report_error(context_, parts.error());
    Session session(request_, std::move(*parts), scenario_.faults, context_.program,
                    [this](const std::string& notice) { say_notice(notice); });
    return play_session(session, request_, scenario_.source);
}

Result<Scenario> open_scenario(const CliOptions& options, const std::string& formats) {
    std::ifstream in(utf8_path(options.name), std::ios::binary);
    std::ostringstream text;
    if (in.peek() != std::ifstream::traits_type::eof()) text << in.rdbuf();  // nothing to copy is no success
    if (in.bad() || !in.is_open()) return bad_input(fmt::format("'{}' cannot be read", options.name));
    const auto catalogue = Catalogue::load(formats + "/media");
    if (!catalogue) return catalogue.error();
    auto scenario = read_scenario(text.str(), options.name, scenario_words(*catalogue, formats + "/storage"));
    if (scenario && options.seed) scenario->seed = *options.seed;
    return scenario;
}

}  // namespace

int run_command(CliContext& context, Control& control, CliOptions& options) {
    const auto formats = formats_directory();
    if (!formats) return report_error(context, formats.error());
    auto scenario = open_scenario(options, *formats);
    if (!scenario) return report_error(context, scenario.error());
    return ScenarioCommand(context, control, options, std::move(*scenario), *formats + "/storage").run();
}

}  // namespace streamsim
