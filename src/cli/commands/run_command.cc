#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "base/document/document.h"
#include "base/document/json.h"
#include "base/similar_names.h"
#include "base/system/utf8_path.h"
#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/media/media_run.h"
#include "cli/options/command_line.h"
#include "cli/options/document_commands.h"
#include "cli/options/documents.h"
#include "cli/play/ranks_run.h"
#include "cli/process/system.h"
#include "judge/run_verdicts.h"
#include "run/plan/meters.h"
#include "run/plan/needs.h"
#include "run/scenario_run.h"
#include "scenario/workload_document.h"
#include "target/credentials.h"
#include "target/named_documents.h"
#include "target/target_locations.h"

namespace streamsim::cli {
namespace {

/// REQUIRES: the scenario was read, which checks its targets.
target::Target target_of(const Scenario& scenario) {
    return *target::parse_target(scenario.seats.front().target);
}

/// The formats that all parts play together.
std::vector<MediaFormat> formats_of(const std::vector<run::PlayPart>& parts) {
    std::vector<MediaFormat> formats;
    for (const run::PlayPart& part : parts)
        formats.insert(formats.end(), part.request.formats.begin(), part.request.formats.end());
    return formats;
}

/// Media are made on the first target alone, whose set is locked and whose free space is asked for. Errors: bad
/// input where a plan of another target is to write.
Result<void> check_only_first_target_lacks(const std::vector<media::PreparePlan>& plans,
                                           const target::Target& first,
                                           const std::vector<run::PlayPart>& parts) {
    std::set<std::string> names;  // one directory may be named in several ways
    for (const run::PlayPart& part : parts) {
        const target::Target& target = part.request.target;
        if (target::location_of(target) == target::location_of(first)) names.insert(target.name());
    }
    Error error{ErrorKind::bad_input, {}};
    for (const media::PreparePlan& plan : plans) {
        const std::string& target = plan.request.target;
        if (plan.nothing_to_do() || names.contains(target)) continue;
        error.problems.push_back(
            fmt::format("{}: of {} clips of {} {} are missing, and a scenario makes media on its first target "
                        "alone: make these with `streamsim prepare` first",
                        target, plan.request.clips, plan.request.format.name, plan.missing.size()));
    }
    if (!error.problems.empty()) return error;
    return {};
}

/// Errors: bad input: so many computers have not a seat each.
Result<void> check_enough_seats(const Scenario& scenario, std::uint32_t computers) {
    std::uint32_t seats = 0;
    for (const ScenarioSeats& each : scenario.seats) seats += each.count;
    if (computers <= seats) return {};
    return bad_input(fmt::format("{}: has {}, and {} were to play: start one for each of them, or fewer",
                                 scenario.source, counted(seats, "seat"), counted(computers, "computer")));
}

/// One scenario.
class ScenarioCommand final : private MediaRun {
public:
    /// `models`: the directory of streamsim's own models.
    ScenarioCommand(CommandContext& context, Scenario scenario, std::string models)
        : MediaRun(context, run::make_byte_store(target_of(scenario), context.options.play.credentials)),
          scenario_(std::move(scenario)),
          models_(std::move(models)),
          request_(run::common_request(scenario_)) {
        request_.keep_frames = options_.play.keep_frames || options_.files.need_frames();
        request_.credentials = options_.play.credentials;
        request_.caches_emptied = options_.play.caches_emptied;
        request_.keep_histograms = !options_.journal.empty();
        for (const ScenarioSeats& seats : scenario_.seats) {
            for (const ScenarioMeter& meter : seats.meters)
                add_commands_without_effect(meter.workload, request_.remarks);
        }
        add_options_of_workloads();
        CliOptions on_target = options_;
        on_target.play.target = target_of(scenario_);
        for (std::string& remark : remarks_on_options(on_target)) request_.remarks.push_back(std::move(remark));
    }

    int run();

private:
    void add_options_of_workloads();
    Result<void> take_own_seats();
    Result<void> prepare_missing(const std::vector<run::PlayPart>& parts);
    Result<void> hold(const std::vector<run::PlayPart>& parts);
    Result<std::vector<run::PlayPart>> find();
    void complete(RunResult& result) override;

    const Scenario scenario_;
    const std::string models_;
    run::PlayRequest request_;
    std::optional<run::PartsToPlay> played_;  // on a model
};

/// Assigns the seats of the document to the computers of the run.
Result<void> ScenarioCommand::take_own_seats() {
    if (context_.ranks == nullptr) return {};
    seats::Ranks& ranks = *context_.ranks;
    if (request_.target.kind == target::Target::Kind::model) return bad_input(kModelIsForOne);
    if (auto enough = check_enough_seats(scenario_, ranks.players()); !enough) return enough;
    ranks.assign_seats(request_.seats);
    request_.first_seat = ranks.first_seat();
    request_.own_seats = ranks.own_seats();
    request_.only_leads = ranks.only_leads();
    request_.keep_histograms = true;
    return {};
}

Result<void> ScenarioCommand::prepare_missing(const std::vector<run::PlayPart>& parts) {
    if (store_ == nullptr) return {};
    run::PlayRequest all = request_;
    all.formats = formats_of(parts);
    const auto media = [this, parts]() -> Result<std::vector<media::PreparePlan>> {
        auto plans = run::missing_media(*store_, parts);
        if (!plans) return plans;
        const auto checked = check_only_first_target_lacks(*plans, request_.target, parts);
        if (!checked) return checked.error();
        return plans;
    };
    return media_.write_missing(all, media, run::record_bytes_of(parts));
}

Result<void> ScenarioCommand::hold(const std::vector<run::PlayPart>& parts) {
    run::PlayRequest all = request_;
    all.formats = formats_of(parts);
    const bool records = std::any_of(parts.begin(), parts.end(),
                                     [](const run::PlayPart& part) { return part.request.record.streams > 0; });
    if (auto held = media_.hold(all, records); !held) return held;
    for (const run::PlayPart& part : parts) {  // on other targets, too
        if (auto held = media_.hold(part.request, false); !held) return held;
    }
    return {};
}

Result<std::vector<run::PlayPart>> ScenarioCommand::find() {
    std::vector<run::PlayPart> parts = run::parts_of(scenario_);
    for (run::PlayPart& part : parts) {
        part.request.first_seat = request_.first_seat;
        part.request.own_seats = request_.own_seats;
        part.request.only_leads = request_.only_leads;
    }
    auto done = run::open_model(request_, parts, models_);
    if (done) done = run::check_meters(request_);
    if (done) done = run::check_memory(parts, request_.keep_frames);
    done = together(done);
    if (done) done = together(makes_media() ? prepare_missing(parts) : Result<void>());
    if (!done) return done.error();
    if (done = together(hold(parts)); !done) return done.error();
    auto found = work_.index([this, parts](IndexProgress& progress) {
        return run::find_media(store_of(request_), parts, &progress);
    });
    if (done = together(found); !done) return done.error();
    return found;
}

void ScenarioCommand::complete(RunResult& result) {
    ScenarioFacts facts{scenario_.source, scenario_.description, "", std::nullopt, {}};
    if (scenario_.expect) {
        facts.expected = scenario_.expect->effect;
        if (!result.interrupted) facts.surprises = judge::surprises(*scenario_.expect, result);
        if (!result.interrupted) facts.as_expected = facts.surprises.empty();
    }
    result.scenario = std::move(facts);
    if (!played_ || result.interrupted || result.playing) return;
    result.prediction = predict_whether_it_plays(context_, work_, *std::exchange(played_, std::nullopt));
}

/// A remark on those that are for workloads: a scenario has times, loads and streams of its own.
void ScenarioCommand::add_options_of_workloads() {
    std::string given;
    std::size_t count = 0;
    for (const char* option : {"--duration", "--io", "--scale", "--clients", "--users"}) {
        if (options_.given(option)) given += (count++ == 0 ? "" : ", ") + std::string(option);
    }
    if (count == 0) return;
    request_.remarks.push_back(fmt::format("{} {} no effect: {} is a scenario, and says it itself", given,
                                           count == 1 ? "has" : "have", scenario_.source));
}

int ScenarioCommand::run() {
    auto done = take_own_seats();
    if (done) done = open_outputs();
    if (done = together(done); !done) return report_error(context_, done.error());
    auto parts = find();
    if (!parts) return end_before_play(parts.error(), request_);
    steps_.expect(plays_alone(request_, true) + 1);
    const auto alone = measure_alone(request_, true, [&](const run::PlayRequest& request) {
        return std::make_unique<run::Session>(request, *parts, scenario_.faults, context_.program, notices());
    });
    if (!alone) return end_before_play(alone.error(), request_);
    std::uint64_t streams = 0;
    for (const run::PlayPart& part : *parts) streams += run::streams_of(part.request);
    if (auto ready = prepare_step(request_, std::to_string(streams)); !ready)
        return end_before_play(ready.error(), request_);
    if (request_.target.model != nullptr) played_ = run::PartsToPlay{request_, *parts, scenario_.faults};
    run::Session session(request_, std::move(*parts), scenario_.faults, context_.program, notices());
    return play_session(session, request_, scenario_.source);
}

Result<Scenario> open_scenario(const std::string& text, const CliOptions& options, const std::string& formats) {
    const auto catalogue = media::Catalogue::load(formats + "/media");
    if (!catalogue) return catalogue.error();
    scenario::ScenarioWords words = run::scenario_words(*catalogue, formats);
    words.target_of_command = options.target;
    auto scenario = scenario::read_scenario(text, options.name, words);
    if (!scenario) return scenario;
    if (options.given("--seed")) scenario->seed = options.play.seed;
    const bool uses_it = std::ranges::any_of(
        scenario->seats, [&options](const ScenarioSeats& seats) { return seats.target == options.target; });
    if (!options.target.empty() && !uses_it)
        return bad_input(fmt::format(
            "'{}': the seats of this scenario name targets of their own: give no TARGET", options.target));
    return scenario;
}

/// The member "schema" of a document, where it has one.
std::optional<Json> schema_of(const std::string& name, const std::string& text) {
    const auto document = parse_json(text, name);
    if (!document || !document->is_object() || !document->contains("schema")) return std::nullopt;
    return (*document)["schema"];
}

/// The file of a workload or a scenario that comes with streamsim. Errors: bad input that lists them.
Result<std::string> named_file(const std::string& name, const std::string& formats) {
    std::vector<std::string> all = {"published"};
    std::string lists;
    for (const char* kind : {"workload", "scenario"}) {
        const std::string directory = fmt::format("{}/{}", formats, kind);
        const std::vector<std::string> names = target::document_names(directory);
        if (std::ranges::find(names, name) != names.end()) return fmt::format("{}/{}.json", directory, name);
        lists += fmt::format("; {}s: {}", kind, fmt::join(names, ", "));
        all.insert(all.end(), names.begin(), names.end());
    }
    if (const std::string meant = did_you_mean(name, all); !meant.empty())
        return bad_input(fmt::format("there is no workload and no scenario '{}'{}", name, meant));
    return bad_input(fmt::format(
        "there is no workload and no scenario '{}': expected a FILE.json, or one of these{}", name, lists));
}

/// The document that is run.
struct RunDocument {
    std::string file;
    std::string text;
};

Result<RunDocument> find_document(const std::string& name, const std::string& formats) {
    RunDocument document{name, {}};
    auto text = read_document(name);
    if (!text && !target::names_a_file(name)) {  // one of streamsim's own
        const auto file = named_file(name, formats);
        if (!file) return file.error();
        document.file = *file;
        text = read_document(*file);
    }
    if (!text) return text.error();
    document.text = std::move(*text);
    return document;
}

/// Over several computers rank 0 reads the document for all: it needs to be there only, and all run the same.
Result<RunDocument> document_for_all(CommandContext& context, const std::string& formats) {
    constexpr std::size_t kSharedBytesMax = seats::kSeatMessageBytesMax / 4;  // JSON may escape each character
    seats::Ranks* const ranks = context.ranks;
    const bool leads = ranks == nullptr || ranks->first();
    Result<RunDocument> document = leads ? find_document(context.options.name, formats) : RunDocument{};
    if (ranks == nullptr) return document;
    if (document && document->text.size() > kSharedBytesMax)
        document = bad_input(fmt::format("{}: is larger than {}, which all computers of a run can be sent",
                                         context.options.name, show_bytes(kSharedBytesMax)));
    const auto found = together(context, document ? Result<void>() : Result<void>(document.error()));
    if (!found) return found.error();
    wait_for_ranks(context.control, *ranks, [&] {
        const auto shared = ranks->share({{"file", document->file}, {"text", document->text}});
        if (shared) {
            document = RunDocument{shared->at("file"), shared->at("text")};
        } else {
            document = shared.error();
        }
    });
    return document;
}

/// A pipe gives its text once.
bool is_read_once(const std::string& file) {
    std::error_code error;
    return file == "-" || std::filesystem::is_fifo(system_path(file), error) ||
           std::filesystem::is_character_file(system_path(file), error);
}

/// As targets_of(), of the document of `run`.
Result<std::vector<std::string>> targets_of_document(CommandContext& context, std::uint32_t computers) {
    CliOptions& options = context.options;
    const auto formats = formats_directory();
    if (!formats) return formats.error();
    const auto document = find_document(options.name, *formats);
    if (!document) return document.error();
    const auto schema = schema_of(document->file, document->text);
    if (schema && *schema == "streamsim.workload") {
        const auto workload = scenario::read_workload(document->text, document->file);
        if (!workload) return workload.error();
        if (auto checked = check_workload(context, *workload); !checked) return checked.error();
        if (options.target.empty() && workload->target) return std::vector{*workload->target};
        return std::vector{options.target};
    }
    const auto scenario = open_scenario(document->text, options, *formats);
    if (!scenario) return scenario.error();
    auto checked = check_enough_seats(*scenario, computers);
    if (checked) checked = check_result_files(options.files);
    if (checked)
        checked = take_commands(scenario->source, scenario->before_step, target_of(*scenario), options);
    if (!checked) return checked.error();
    std::vector<std::string> targets;
    for (const ScenarioSeats& seats : scenario->seats) targets.push_back(seats.target);
    return targets;
}

}  // namespace

Result<std::vector<std::string>> targets_of(CommandContext& context, std::uint32_t computers) {
    const CliOptions& options = context.options;
    std::vector<std::string> named = options.targets;
    if (options.command != Command::run) {
        const bool max = options.command == Command::max;
        if (auto checked = max ? check_max(options) : check_calibration(context); !checked)
            return checked.error();
        if (named.empty()) named = {options.target};
    } else if (is_read_once(options.name)) {
        return named;
    } else {
        const auto found = targets_of_document(context, computers);
        if (!found) return found.error();
        named = *found;
    }
    std::vector<std::string> targets;
    for (const std::string& each : named) {
        const auto target = target::parse_target(each);
        if (target && target->kind == target::Target::Kind::model) return bad_input(kModelIsForOne);
        if (target && target->has_files() && std::ranges::count(targets, each) == 0) targets.push_back(each);
    }
    return targets;
}

int run_command(CommandContext& context) {
    CliOptions& options = context.options;
    if (options.name == "published") return published_command(context);
    if (!options.play.target.is_virtual_time()) use_one_heap();
    const auto formats = formats_directory();
    const auto found = together(context, formats ? Result<void>() : Result<void>(formats.error()));
    if (!found) return report_error(context, found.error());
    const auto document = document_for_all(context, *formats);
    if (!document) return report_error(context, document.error());
    options.name = document->file;
    const auto schema = schema_of(options.name, document->text);
    const bool has_workload = schema && *schema == "streamsim.workload";
    if (schema && !has_workload && *schema != "streamsim.scenario")
        return report_error(context, bad_input(fmt::format("{}: /schema: expected \"streamsim.workload\" or "
                                                           "\"streamsim.scenario\", found {}",
                                                           options.name, json_text(*schema))));
    if (has_workload) {
        // A pipe gives its text once.
        auto workload = scenario::read_workload(document->text, options.name);
        if (!workload) return report_error(context, workload.error());
        return workload_command(context, std::move(*workload));
    }
    auto scenario = open_scenario(document->text, options, *formats);
    auto read = scenario ? Result<void>() : Result<void>(scenario.error());
    if (read) read = take_commands(scenario->source, scenario->before_step, target_of(*scenario), options);
    if (read) {
        auto credentials = target::find_credentials(target_of(*scenario), options.credentials);
        if (credentials)
            options.play.credentials = std::move(*credentials);
        else
            read = credentials.error();
    }
    if (const auto agreed = together(context, read); !agreed) return report_error(context, agreed.error());
    return ScenarioCommand(context, std::move(*scenario), *formats + "/storage").run();
}

}  // namespace streamsim::cli
