// `calibrate`: measures a storage with probes, fits a model to what they found, and checks it with a run that
// was held back.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <tuple>
#include <utility>

#include "base/document/document.h"
#include "base/document/json.h"
#include "base/system/utf8_path.h"
#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/media/load_run.h"
#include "cli/options/documents.h"
#include "cli/output/output_documents.h"
#include "cli/output/output_file.h"
#include "cli/process/question.h"
#include "media/catalogue/catalogue.h"
#include "report/calibration/calibration_report.h"
#include "result/json_report.h"
#include "result/measurement_reader.h"
#include "run/calibration/calibrated_document.h"
#include "run/calibration/held_back.h"
#include "run/calibration/model_fit.h"
#include "run/calibration/probes.h"
#include "run/plan/meters.h"
#include "run/playback/loop_options.h"

namespace streamsim::cli {
namespace {

constexpr std::string_view kModelBegins = "{\n  \"schema\": \"streamsim.storage-model\"";
/// The formats of which the held-back run takes one, where none is asked for.
constexpr const char* kHeldBackFormats[] = {"dpx12", "dpx10", "prores-uhd", "prores-hd"};
constexpr std::uint64_t kSetBytesMin = 256 << 20;
constexpr std::uint64_t kSetBytesMax = std::uint64_t{2} << 30;
/// A target without files has room for files that no cache holds.
constexpr std::uint64_t kSetBytesOfModel = std::uint64_t{1} << 40;
constexpr std::uint64_t kShareOfFreeSpace = 16;
/// The held-back search plays for less time than `max` does, and with brief probes briefly.
constexpr Duration kSearchStepMax = seconds(10);
constexpr Duration kSearchStepMin = seconds(2);
constexpr std::int64_t kConfirmSteps = 3;  // long
constexpr std::uint64_t kSearchStreamsMax = 10'000;
/// Its clips: those of `max` would take more than the files of all probes.
constexpr Duration kHeldBackClip = seconds(2);

/// Does the probes, in every rank.
class ProbeRun final : private LoadRun {
public:
    explicit ProbeRun(CommandContext& context) : LoadRun(context) {}

    /// Bytes for the files of the probes, where the user names none. Errors: of the storage.
    Result<std::uint64_t> set_bytes() {
        if (store_ == nullptr) return kSetBytesOfModel;
        const std::string target = options_.play.target.name();
        const auto free = work_.run([store = store_, target] { return store->free_bytes(target); });
        if (!free && options_.play.only_leads) return kSetBytesMin;
        if (!free) return free.error();
        return std::clamp(*free / kShareOfFreeSpace, kSetBytesMin, kSetBytesMax);
    }

    /// The result of all ranks in rank 0; `number`: of the run, the same in all ranks. Errors: of the storage;
    /// interrupted.
    Result<RunResult> play(const Probe& probe, const Measurement& measured, std::uint64_t number) {
        run::PlayRequest request = run::load_request(run::workload_of(probe, measured), options_.play);
        request.keep_frames = true;
        request.find_cause = false;
        take_own_clients(request, number);
        if (auto ready = prepare_files(request); !ready) return ready.error();
        if (probe.kind == ProbeKind::cold && store_ != nullptr) {
            auto why = work_.run([store = store_, request] { return run::why_not_evicted(*store, request); });
            if (auto done = together(why); !done) return done.error();
            if (!why->empty()) request.remarks.push_back(std::string(run::kNotEvicted) + *why);
        }
        auto result = play_all(request, probe.id);
        if (!result) return result.error();
        if (ended_by()) return *ended_by();
        if (result->interrupted) return interrupted_error();
        return result;
    }

    /// True: a person at the terminal says so. Errors: interrupted.
    Result<bool> allows(const std::string& question) {
        if (!can_ask()) return false;
        return work_.run([question]() -> Result<bool> { return ask("streamsim: " + question); });
    }

    using LoadRun::left_behind;
};

class CalibrateCommand {
public:
    explicit CalibrateCommand(CommandContext& context) : context_(context), options_(context.options) {}

    int run();
    Result<void> open_files();

private:
    using Documents = OutputDocuments<Calibration>;

    Result<Measurement> read_rows(const std::string& file) const;
    Result<void> take_earlier_rows();
    Result<void> load_catalogue();
    Result<void> measure();
    Result<void> begin_measurement(ProbeRun& probes);
    Result<void> measure_probe(ProbeRun& probes, const Probe& probe);
    std::optional<Probe> next_probe() const;
    Result<bool> share_next(std::optional<Probe>& probe);
    std::string too_much_load(const Probe& probe) const;
    void note_computer(const RunResult& result);
    Result<bool> may_play_held_back();
    Result<void> play_held_back();
    Result<void> fit();
    Result<void> check_document();
    Result<void> compare_with_held_back();
    Result<void> save();
    int finish();
    int end(const Error& error);
    void say(const std::string& text) const {
        if (!options_.quiet && leads()) context_.log.info(text);
    }
    bool leads() const { return context_.ranks == nullptr || context_.ranks->first(); }
    bool of_model() const { return options_.play.target.kind == target::Target::Kind::model; }
    std::uint32_t measuring_seats() const {
        return of_model() || context_.ranks != nullptr ? options_.play.seats : 1;
    }
    std::vector<MediaFormat> formats() const;
    run::ProbeOptions probe_options() const;

    CommandContext& context_;
    CliOptions& options_;
    std::string rows_file_;  // of the raw rows
    std::string saved_to_;   // while they are measured; with --again another file: those that are there stay
    Measurement measured_;
    Calibration result_;
    std::optional<media::Catalogue> catalogue_;
    Documents documents_;
    // Held while it measures: a file that appears under such a name meanwhile is kept.
    OutputFile model_output_;
    OutputFile saved_output_;
    OutputFile rows_output_;            // with --again
    std::vector<std::string> skipped_;  // ids of probes that are not done
    std::uint64_t runs_ = 0;            // in this call
    bool left_behind_ = false;
};

Result<void> CalibrateCommand::open_files() {
    Error problems{ErrorKind::bad_input, {}};
    if (options_.output.empty())
        problems.problems.emplace_back("--output: name the file of the model: -o MODEL.json");
    const target::Target& target = options_.play.target;
    if (target.kind == target::Target::Kind::null || target.kind == target::Target::Kind::null_virtual)
        problems.problems.push_back(fmt::format("{}: has no time that a model could be fitted to", target.url));
    rows_file_ = run::with_ending(options_.output, ".measured.json");
    saved_to_ = options_.again ? run::with_ending(options_.output, ".again.json") : rows_file_;
    std::error_code error;
    const bool there = std::filesystem::exists(system_path(options_.output), error);
    if (there && !options_.again && !options_.refit && !options_.check)
        problems.problems.push_back(
            fmt::format("{}: is there already: --refit fits it again from {}, --again measures anew and "
                        "replaces both, --check compares it with a new run",
                        options_.output, rows_file_));
    // Another kind of file is found before the storage is measured.
    const std::string_view model_begins = options_.check ? "{" : kModelBegins;
    for (const auto& [file, begins, held] : {std::tuple{options_.output, model_begins, &model_output_},
                                             std::tuple{saved_to_, std::string_view("{"), &saved_output_},
                                             std::tuple{rows_file_, std::string_view("{"), &rows_output_}}) {
        if (options_.output.empty() || (held == &rows_output_ && !options_.again)) continue;
        auto usable = OutputFile::prepare(file, begins);
        if (usable) {
            *held = std::move(*usable);
            continue;
        }
        problems.kind = usable.error().kind;
        for (const std::string& text : usable.error().problems) problems.problems.push_back(text);
    }
    auto documents = Documents::prepare(
        options_.files,
        {{&ResultFiles::json, result::kCalibrationReportBegins, result::calibration_json_report},
         {&ResultFiles::html, report::kCalibrationHtmlBegins, report::calibration_html_report}});
    if (documents) {
        documents_ = std::move(*documents);
    } else {
        for (const std::string& text : documents.error().problems) problems.problems.push_back(text);
        problems.kind = documents.error().kind;
    }
    if (!problems.problems.empty()) return problems;
    return {};
}

/// Reads rows that are there. Errors: bad input, also where they are of another target.
Result<Measurement> CalibrateCommand::read_rows(const std::string& file) const {
    const auto text = read_document(file);
    if (!text) return text.error();
    auto rows = result::read_measurement(*text, file);
    if (rows && rows->target != options_.play.target.url)
        return bad_input(
            fmt::format("{}: is of {}, and TARGET is {}", file, rows->target, options_.play.target.url));
    return rows;
}

/// The rows of an earlier call, which go on from there. Errors: bad input, also where the seats of a storage
/// are others now, whose rows would name seats that did not measure, or the files have another size.
Result<void> CalibrateCommand::take_earlier_rows() {
    std::error_code error;
    const bool needed = options_.refit || options_.check;
    if (options_.again && std::filesystem::exists(system_path(rows_file_), error)) {
        const auto text = read_document(rows_file_);
        if (!text) return text.error();
        if (!text->empty() && !result::read_measurement(*text, rows_file_))
            return bad_input(
                fmt::format("{}: the file exists and is not an earlier measurement, which --again "
                            "replaces: name another file with -o or remove it",
                            rows_file_));
    }
    if (!std::filesystem::exists(system_path(saved_to_), error))
        return needed ? bad_input(fmt::format("{}: there are no raw rows of a calibration", rows_file_))
                      : Result<void>();
    auto earlier = read_rows(saved_to_);
    if (!earlier) return earlier.error();
    if (needed && !earlier->complete)
        return bad_input(
            fmt::format("{}: is not complete: the same command without --refit and --check goes on "
                        "from it",
                        rows_file_));
    if (!needed && earlier->complete)
        return bad_input(
            fmt::format("{}: is complete: --refit fits a model to it, --again measures anew", rows_file_));
    if (!needed && !of_model() && earlier->seats != measuring_seats())
        return bad_input(fmt::format("{}: was begun with {}, and {} would go on: start as many, or remove it",
                                     saved_to_, counted(earlier->seats, "seat"),
                                     counted(measuring_seats(), "seat")));
    if (!needed && options_.set_bytes > 0 && options_.set_bytes != earlier->set_bytes)
        return bad_input(
            fmt::format("{}: was begun with files of {}, and --set-size is {}: give that size, or remove it",
                        saved_to_, show_bytes(earlier->set_bytes), show_bytes(options_.set_bytes)));
    measured_ = std::move(*earlier);
    if (needed) return {};
    measured_.left_out.clear();  // each such probe is asked for again
    say(fmt::format("goes on from the {} probes of {}", measured_.rows.size(), saved_to_));
    return {};
}

Result<void> CalibrateCommand::load_catalogue() {
    const auto directory = formats_directory();
    if (!directory) return directory.error();
    auto catalogue = media::Catalogue::load(*directory + "/media");
    if (!catalogue) return catalogue.error();
    catalogue_ = std::move(*catalogue);
    return {};
}

std::vector<MediaFormat> CalibrateCommand::formats() const {
    if (!options_.play.formats.empty()) return options_.play.formats;
    std::vector<MediaFormat> all;
    for (const char* name : kHeldBackFormats) {
        if (const MediaFormat* format = catalogue_->find(name)) all.push_back(*format);
    }
    return all;
}

run::ProbeOptions CalibrateCommand::probe_options() const {
    run::ProbeOptions options;
    options.length = options_.play.duration.value_or(options.length);
    return options;
}

Result<void> CalibrateCommand::begin_measurement(ProbeRun& probes) {
    if (measured_.started_at.empty()) {
        measured_.target = options_.play.target.url;
        measured_.seed = options_.play.seed;
        measured_.started_at = run::not_played(options_.play, context_.program).started_at;
        measured_.seats = measuring_seats();
        if (measured_.seats != options_.play.seats)
            say("--seats: seats of one computer share its limit and tell nothing about the server: one seat is "
                "measured (start it on several computers with mpirun)");
        measured_.set_bytes = options_.set_bytes;
        if (measured_.set_bytes == 0) {
            const auto bytes = probes.set_bytes();
            if (!bytes) return bytes.error();
            measured_.set_bytes = *bytes;
        }
    }
    return {};
}

std::optional<Probe> CalibrateCommand::next_probe() const {
    for (const Probe& probe : run::probes_of(measured_, probe_options())) {
        const bool skipped = std::ranges::count(skipped_, probe.id) > 0;
        if (!skipped && run::find_row(measured_, probe.id) == nullptr) return probe;
    }
    return std::nullopt;
}

/// Rank 0 names the probe to all. Errors: of the network.
Result<bool> CalibrateCommand::share_next(std::optional<Probe>& probe) {
    if (context_.ranks == nullptr) return probe.has_value();
    Result<Json> shared = interrupted_error();
    Json own = nullptr;
    if (probe) {
        Measurement next = measured_;
        next.held_back.reset();
        next.rows = {{.probe = *probe}};
        own = result::measurement_document(next);
    }
    wait_for_ranks(context_.control, *context_.ranks, [&] { shared = context_.ranks->share(own); });
    if (!shared) return shared.error();
    if (shared->is_null()) return false;
    if (leads()) return true;
    auto next = result::read_measurement(shared->get<std::string>(), "rank 0");
    if (!next) return next.error();
    probe = next->rows.front().probe;
    measured_.set_bytes = next->set_bytes;
    measured_.seed = next->seed;
    return true;
}

void CalibrateCommand::note_computer(const RunResult& result) {
    measured_.os = result.host.os;
    measured_.computer = result.host.name;
    const target::Target::Kind kind = options_.play.target.kind;
    const bool network =
        kind == target::Target::Kind::remote || (result.mount && !result.mount->server.empty());
    if (!network) return;
    constexpr std::uint32_t kEthernet = 1500;
    measured_.mtu = kEthernet;
    run::note_port(result.links, measured_);
}

/// Why a probe would load the storage more than --max-load allows; empty: it does not.
std::string CalibrateCommand::too_much_load(const Probe& probe) const {
    if (!options_.max_load_percent || options_.yes) return "";
    if (probe.kind == ProbeKind::opens) return "";  // moves no bytes
    const double port = measured_.link_bits_per_s / 8;
    double highest = 0;
    double one = 0;  // of one operation in flight, in proportion to its bytes
    for (const ProbeRow& row : measured_.rows) {
        highest = std::max(highest, row.bytes_per_s);
        if (row.probe.operations_per_s > 0 || row.probe.kind == ProbeKind::opens) continue;
        const double share =
            static_cast<double>(probe.block_bytes) / static_cast<double>(row.probe.block_bytes);
        one = std::max(one, std::max(share, 1.0) * row.bytes_per_s / row.probe.all_inflight());
    }
    const double bandwidth = port > 0 ? port : highest;
    // Single reads tell the scale where the port does not.
    const bool single = probe.all_inflight() == 1 && probe.kind != ProbeKind::writes;
    if (bandwidth <= 0 || (port <= 0 && single)) return "";
    const double limit = *options_.max_load_percent / 100 * bandwidth;
    // So many reads in flight get at most so many times the rate of one.
    double expected = probe.operations_per_s * probe.users * static_cast<double>(probe.block_bytes);
    if (expected <= 0) expected = one * probe.all_inflight();
    if (expected <= limit) return "";
    return fmt::format("{}: may load the storage with {}, above {:.0f} % of {}", probe.id, show_rate(expected),
                       *options_.max_load_percent, show_rate(bandwidth));
}

Result<void> CalibrateCommand::measure_probe(ProbeRun& probes, const Probe& probe) {
    auto result = probes.play(probe, measured_, ++runs_);
    left_behind_ = probes.left_behind();
    if (!result) return result.error();
    if (!leads()) return {};
    if (const std::string seat = incomplete_seat(*result); !seat.empty())
        return environment_error(fmt::format("{}: not measured from all seats: {}", probe.id, seat));
    note_computer(*result);
    measured_.rows.push_back(run::row_of(probe, *result));
    const std::size_t all = run::probes_of(measured_, probe_options()).size();
    say(fmt::format("{} of {}: {}: {}", measured_.rows.size(), all, probe.id,
                    report::probe_finding(measured_.rows.back())));
    return save();
}

Result<void> CalibrateCommand::measure() {
    ProbeRun probes(context_);
    if (leads()) {
        if (auto begun = begin_measurement(probes); !begun) return begun;
    }
    for (;;) {
        std::optional<Probe> probe;
        while (leads() && (probe = next_probe())) {
            const std::string why = too_much_load(*probe);
            if (why.empty()) break;
            const auto allowed = probes.allows(why + ". Do it?");
            if (!allowed) return allowed.error();
            if (*allowed) break;
            skipped_.push_back(probe->id);
            measured_.left_out.push_back(why + ": left out (--yes does it)");
            say(measured_.left_out.back());
        }
        const auto more = share_next(probe);
        if (auto all = together(context_, more ? Result<void>() : Result<void>(more.error())); !all) return all;
        if (!*more) return {};
        if (auto done = measure_probe(probes, *probe); !done) return done;
    }
}

/// The search fills the storage: --max-load asks before it. Without the run the measurement is complete, too; a
/// check is an error.
Result<bool> CalibrateCommand::may_play_held_back() {
    constexpr double kAll = 100;
    if (options_.yes || options_.max_load_percent.value_or(kAll) >= kAll) return true;
    const char* const what = "the held-back run loads the storage to its limit";
    if (can_ask()) {
        BackgroundWork work(context_);
        work.suppress_messages();
        auto answer =
            work.run([what]() -> Result<bool> { return ask(fmt::format("streamsim: {}. Do it?", what)); });
        if (!answer || *answer) return answer;
    }
    if (options_.check)
        return environment_error(
            fmt::format("{}: it is not played, and nothing is checked (--yes does it)", what));
    measured_.left_out.push_back(fmt::format("{}: left out (--yes does it); nothing checks the model", what));
    measured_.complete = true;
    say(measured_.left_out.back());
    if (auto saved = save(); !saved) return saved.error();
    return false;
}

Result<void> CalibrateCommand::play_held_back() {
    CliOptions options = options_;
    options.command = Command::max;
    options.files = {};
    options.play.find_cause = false;  // the limit is in the rates
    if (!options.play.clip_duration) options.play.clip_duration = kHeldBackClip;
    const Duration length =
        std::clamp(Duration{probe_options().length.ns * 5 / 3}, kSearchStepMin, kSearchStepMax);
    const bool waits = !options.play.target.is_virtual_time();  // in real time, so it plays for less
    options.play.duration.reset();
    if (waits) options.play.duration = length;
    if (waits && !options.confirm) options.confirm = Duration{kConfirmSteps * length.ns};
    std::string name;
    if (leads()) {
        const auto may_play = may_play_held_back();
        if (!may_play) return may_play.error();
        if (*may_play) name = run::held_back_format(formats(), measured_).name;
    }
    if (context_.ranks != nullptr) {
        Result<Json> shared = interrupted_error();
        wait_for_ranks(context_.control, *context_.ranks, [&] { shared = context_.ranks->share(name); });
        if (!shared) return shared.error();
        name = shared->get<std::string>();
        context_.ranks->assign_seats(options.play.seats);  // after those of the last probe
        options.find = MaxCounts::streams;
    }
    if (name.empty()) return {};
    const auto all = formats();
    const auto format = std::ranges::find(all, name, &MediaFormat::name);
    options.play.formats = {*format};
    options.play.seats = context_.ranks != nullptr || !waits ? options_.play.seats : 1;
    say(fmt::format("held-back run: how many streams of {} play", name));
    CommandContext of_search = context_.with(options);
    const auto found = search_most(of_search);
    if (!found) return found.error();
    if (!leads()) return {};
    const MaxFormat& most = found->formats.front();
    if (most.streams == 0 && !most.at_least.empty())
        return environment_error("the held-back run gave no number: " + most.at_least);
    HeldBackSearch held_back;
    held_back.format = name;
    held_back.seats = options.play.seats;
    held_back.streams = most.streams * found->streams_of_one();
    held_back.at_least = most.at_least;
    for (const MaxStep& step : most.steps) {
        if (!step.pass && !step.runs.empty()) held_back.limit = step.runs.back().reason;
    }
    measured_.held_back = std::move(held_back);
    measured_.complete = true;
    say(fmt::format("held-back run: {}{} streams of {} play", most.at_least.empty() ? "" : "at least ",
                    measured_.held_back->streams, name));
    return options_.check ? Result<void>() : save();
}

Result<void> CalibrateCommand::fit() {
    run::FitOptions fit;
    fit.name = run::model_name_of(options_.output);
    fit.program = context_.program;
    fit.progress = [this](const std::string& text) { say(text); };
    BackgroundWork work(context_);
    work.suppress_messages();
    auto fitted = work.run([measured = measured_, fit] { return run::fit_model(measured, fit); });
    left_behind_ = work.left_behind();
    if (!fitted) return fitted.error();
    result_ = std::move(*fitted);
    if (!measured_.held_back) return {};
    if (auto checked = compare_with_held_back(); !checked) return checked;
    result_.document = run::calibrated_document(result_);
    return {};
}

/// The raw rows so far; complete ones take their own place.
Result<void> CalibrateCommand::save() {
    const std::string text = result::measurement_document(measured_);
    OutputFile& output = measured_.complete && options_.again ? rows_output_ : saved_output_;
    const auto write = [&text](const TextSink& sink) { sink(text); };
    if (auto written = output.write_for_now(write); !written || &output == &saved_output_) return written;
    std::error_code error;
    std::filesystem::remove(system_path(saved_output_.path()), error);
    return {};
}

/// Compares the model as it is with the new run; only that is written into its document and its rows.
Result<void> CalibrateCommand::check_document() {
    auto text = read_document(options_.output);
    if (!text) return text.error();
    auto calibration = run::calibration_of_document(*text, options_.output, measured_);
    if (!calibration) return calibration.error();
    result_ = std::move(*calibration);
    if (auto checked = compare_with_held_back(); !checked) return checked;
    if (!result_.held_back->tells()) {
        return environment_error(fmt::format("at least {} streams of {} play, too few to check the model: {}",
                                             result_.held_back->measured.streams,
                                             result_.held_back->measured.format,
                                             result_.held_back->measured.at_least));
    }
    if (auto saved = save(); !saved) return saved;
    result_.document = run::with_held_back(*text, *result_.held_back);
    return {};
}

Result<void> CalibrateCommand::compare_with_held_back() {
    if (!measured_.held_back) return environment_error("there is no held-back run to compare the model with");
    const MediaFormat* const known = catalogue_->find(measured_.held_back->format);
    const auto given =
        std::ranges::find(options_.play.formats, measured_.held_back->format, &MediaFormat::name);
    if (known == nullptr && given == options_.play.formats.end())
        return bad_input(fmt::format("{}: its held-back run is of {}: name that format", rows_file_,
                                     measured_.held_back->format));
    const MediaFormat format = known != nullptr ? *known : *given;
    say("comparing the model with the held-back run");
    BackgroundWork work(context_);
    work.suppress_messages();
    auto check =
        work.run([result = result_, held_back = *measured_.held_back, format, program = context_.program] {
            return run::check_held_back(result, held_back, format, program);
        });
    left_behind_ = work.left_behind();
    if (!check) return check.error();
    result_.held_back = std::move(*check);
    return {};
}

int CalibrateCommand::end(const Error& error) {
    if (leads() && !measured_.rows.empty() && !options_.refit && !options_.check) {
        std::error_code ignored;
        const bool goes_on =
            std::filesystem::equivalent(system_path(saved_output_.path()), system_path(saved_to_), ignored);
        context_.log.info(fmt::format("what was measured so far is in {}{}", saved_output_.path(),
                                      goes_on ? ": the same command goes on from there" : ""));
    }
    if (error.kind == ErrorKind::interrupted) return kExitInterrupted;
    return report_error(context_, error);
}

int CalibrateCommand::finish() {
    model_output_.write(result_.document);
    const auto model = model_output_.finish();
    const auto written = documents_.write(result_);
    if (!options_.quiet)
        print_text(documents_.standard_output() ? stderr : stdout, report::calibration_text_report(result_));
    if (!model) return report_error(context_, model.error());
    if (!written) return report_error(context_, written.error());
    const OutputFile& rows = options_.again ? rows_output_ : saved_output_;
    if (auto there = rows.in_its_place(); !there) return report_error(context_, there.error());
    say(fmt::format("the model is in {}, its raw rows in {}", model_output_.path(), rows.path()));
    return result_.held_back && result_.held_back->rejected ? kExitMissed : kExitPass;
}

int CalibrateCommand::run() {
    if (auto opened = together(context_, leads() ? open_files() : Result<void>()); !opened)
        return report_error(context_, opened.error());
    auto ready = load_catalogue();
    if (ready && leads()) ready = take_earlier_rows();
    if (auto all = together(context_, ready); !all) return report_error(context_, all.error());
    Result<void> done;
    if (!options_.refit) run::reserve_io_threads(options_.play, kSearchStreamsMax);
    if (!options_.refit && !options_.check) done = measure();
    if (done && !options_.refit && !left_behind_) done = play_held_back();
    if (!leads()) return kExitPass;
    if (done) done = options_.check ? check_document() : fit();
    const int code = done ? finish() : end(done.error());
    if (left_behind_) leave_process(code);
    return code;
}

}  // namespace

Result<void> check_calibration(CommandContext& context) {
    return CalibrateCommand(context).open_files();
}

int calibrate_command(CommandContext& context) {
    return CalibrateCommand(context).run();
}

}  // namespace streamsim::cli
