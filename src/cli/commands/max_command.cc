#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include "base/system/parallel_for.h"
#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/commands/max_contender.h"
#include "cli/media/media_run.h"
#include "cli/media/steps_ahead.h"
#include "cli/output/output_documents.h"
#include "cli/play/ranks_run.h"
#include "judge/search/max_search.h"
#include "report/html/html_report.h"
#include "report/text/text_report.h"
#include "result/json_report.h"
#include "run/plan/needs.h"
#include "run/playback/loop_options.h"
#include "streamsim/load_result.h"
#include "target/target_locations.h"

namespace streamsim::cli {
namespace {

/// More streams are tried only where the user asks for them.
constexpr std::uint64_t kStreamsMax = 10'000;
/// The limit on storage that cannot fail.
constexpr std::uint64_t kStreamsMaxOfNull = 1'000;

/// "4 play, 8 fail; trying 6 for 20 s; at most 3 m 00 s of play left"; a part that is not known yet is left
/// out.
std::string max_progress(const judge::MaxNext& next, MaxCounts counts, bool virtual_time) {
    std::string known = next.plays > 0 ? fmt::format("{} play", next.plays) : "";
    if (next.fails) known += fmt::format("{}{} fail", known.empty() ? "" : ", ", *next.fails);
    const char* doing = next.purpose == MaxStep::Purpose::confirm ? "confirming" : "trying";
    std::string unit;
    if (counts == MaxCounts::streams_per_seat) unit = " a seat";
    if (counts == MaxCounts::seats) unit = next.streams == 1 ? " seat" : " seats";
    std::string out = fmt::format("{}{}{} {}{} for {}", known, known.empty() ? "" : "; ", doing, next.streams,
                                  unit, show_duration(next.length));
    if (!virtual_time) out += fmt::format("; at most {} of play left", show_duration(next.at_most));
    return out;
}

constexpr const char* kOneTarget = "max on several computers: one TARGET is expected";

using MaxDocuments = OutputDocuments<MaxResult>;

std::string sheet_of(const MaxResult& result) {
    return report::max_html_report({result});
}

Result<MaxDocuments> max_documents(const CliOptions& options) {
    return MaxDocuments::prepare(options.files,
                                 {{&ResultFiles::json, result::kMaxReportBegins, result::max_json_report},
                                  {&ResultFiles::html, report::kMaxHtmlBegins, sheet_of}});
}

class MaxCommand final : private MediaRun {
public:
    /// `text`: where the result goes that a person reads, unless a document takes it; null: nowhere.
    explicit MaxCommand(CommandContext& context, std::FILE* text = stdout)
        : MediaRun(context), text_(text), ahead_(context.program, computing_threads() - 1) {}

    int run();
    const MaxResult& result() const { return result_; }
    /// The seat that was lost or interrupted, which ended the search, and why; empty: none.
    const std::string& lost_seat() const { return lost_seat_; }

private:
    Result<std::vector<Contender>> contenders();
    Result<std::vector<Contender>> of_target();
    Result<judge::MaxSearchOptions> limits(const Contender& contender);
    Result<std::uint64_t> clips_unasked(const run::PlayRequest& request);
    std::optional<std::uint64_t> most_asked() const;
    run::PlayRequest step_of(const Contender& contender, std::uint64_t count, Duration length) const;
    Result<void> search(std::size_t which);
    Result<void> follow();
    Result<MaxRun> play(std::size_t which, const judge::MaxNext& next);
    bool plays_ahead(const Contender& contender) const;
    Result<RunResult> play_ahead(const judge::MaxNext& next, const std::string& progress);
    Result<RunResult> play_step(Contender& contender,
                                const run::PlayRequest& request,
                                const std::string& progress);
    Result<void> all_storage_is_free();
    Result<void> find_media_for(Contender& contender, const run::PlayRequest& request);
    std::optional<Prediction> predicted(const Contender& contender, const MaxFormat& found);
    Result<void> say_media(const Contender& contender, const judge::MaxSearchOptions& limits);
    void notice(const std::string& text);
    void keep_common(const RunResult& result);
    int finish(MaxDocuments documents, const std::optional<Error>& error);

    bool alone() const { return context_.ranks == nullptr; }
    bool virtual_time() const { return options_.play.target.is_virtual_time(); }

    void say_meters(const std::string& format, std::uint64_t streams);

    std::FILE* const text_;
    MaxResult result_;
    std::vector<Contender> contenders_;
    bool preroll_took_too_long_ = false;  // in the last step
    StepsAhead ahead_;
    std::optional<Error> ended_by_;  // the error of a step that ends the search
    std::string lost_seat_;
    /// The meters' results in the last run with each number of streams, by format.
    std::map<std::string, std::map<std::uint32_t, std::vector<MeterResult>>> beside_;
};

Result<std::vector<Contender>> MaxCommand::of_target() {
    const run::PlayRequest& request = options_.play;
    if (auto held = media_.hold(request, false); !held) return held.error();
    if (request.cuts) {
        auto media = work_.index([this](IndexProgress& progress) {
            return run::find_media(store_.get(), options_.play, &progress);
        });
        if (!media) return media.error();
        Contender contender{.request = request, .name = media->cuts->name, .ready = true};
        contender.rate = request.rate.value_or(media->cuts->rate);
        contender.media = std::move(*media);
        return std::vector{std::move(contender)};
    }
    auto clips = work_.index(
        [this](IndexProgress& progress) { return run::clips_of_target(*store_, options_.play, &progress); });
    if (!clips) return clips.error();
    for (const Clip& clip : *clips) {
        for (const std::string& text : clip.skipped) notice("not played: " + text);
    }
    return by_format(request, std::move(*clips));
}

Result<std::vector<Contender>> MaxCommand::contenders() {
    if (auto chosen = choose_formats_together(); !chosen) return chosen.error();
    if (options_.play.formats.empty()) return of_target();
    std::vector<Contender> all;
    for (const MediaFormat& format : options_.play.formats) all.push_back(of_format(options_.play, format));
    return all;
}

/// Tells what the search may write, before it writes anything.
Result<void> MaxCommand::say_media(const Contender& contender, const judge::MaxSearchOptions& limits) {
    const run::PlayRequest& request = contender.request;
    media::PrepareRequest wanted{request.target.name(), request.formats.front(), 1, request.clip_duration,
                                 request.seed};
    auto one = work_.run([this, wanted] { return media::plan_prepare(*store_, wanted); });
    if (!one) return one.error();
    if (!request.same_media)
        wanted.clips = static_cast<std::uint32_t>(limits.most * result_.streams_of_one() * request.layers);
    auto all = work_.run([this, wanted] { return media::plan_prepare(*store_, wanted); });
    if (!all && all.error().kind == ErrorKind::interrupted) return all.error();
    if (options_.quiet || (all && all->nothing_to_do())) return {};
    const double clip = wanted.format.mean_frame_bytes * static_cast<double>(one->frames);
    context_.log.info(fmt::format(
        "{}: missing clips, of {}, are made as the search needs them: {} per clip, at most {}, to {} "
        "({} free)",
        contender.name, show_count(wanted.clips), show_bytes(nearest_whole(clip)),
        show_bytes(all ? all->bytes_to_write : one->bytes_free), one->directory, show_bytes(one->bytes_free)));
    return {};
}

/// Clips that a search may have on the storage without --yes: those that are there, and new ones in half of the
/// free space.
Result<std::uint64_t> MaxCommand::clips_unasked(const run::PlayRequest& request) {
    const media::PrepareRequest wanted{request.target.name(), request.formats.front(), 1, request.clip_duration,
                                       request.seed};
    return work_.run([this, wanted]() -> Result<std::uint64_t> {
        const auto one = media::plan_prepare(*store_, wanted);
        if (!one) return one.error();
        const auto there = media::complete_clips(*store_, wanted.target, wanted.format, wanted.clip_duration);
        if (!there) return there.error();
        const auto free = store_->free_bytes(wanted.target);
        if (!free) return free.error();
        const double clip = wanted.format.mean_frame_bytes * static_cast<double>(one->frames);
        const double fit = run::kMediaShareUnasked * static_cast<double>(*free) / std::max(clip, 1.0);
        return there->size() + static_cast<std::uint64_t>(std::min(fit, 1e9));
    });
}

/// Finds how many streams may be tried, before anything is played or written.
Result<judge::MaxSearchOptions> MaxCommand::limits(const Contender& contender) {
    judge::MaxSearchOptions limits = lengths(contender, options_.confirm);
    const run::PlayRequest& request = contender.request;
    const bool null = store_ == nullptr && request.target.kind != target::Target::Kind::model;
    const bool total = result_.counts == MaxCounts::streams;
    const std::uint64_t of_one = result_.streams_of_one();
    const std::uint64_t unasked = (null ? kStreamsMaxOfNull : kStreamsMax) / of_one;
    limits.most = most_asked().value_or(std::max<std::uint64_t>(unasked, 1));
    limits.why_most = most_asked() ? "not asked for more"
                      : total      ? "more are tried with --total-streams only"
                                   : "more are tried with --streams only";
    if (result_.counts == MaxCounts::seats) limits.why_most = "there are no more seats";
    const auto cap = [&limits](std::uint64_t most, std::string why) {
        if (most >= limits.most) return;
        limits.most = std::max<std::uint64_t>(most, 1);
        limits.why_most = std::move(why);
    };
    if (contender.ready && !request.cuts && !request.same_media) {
        const std::uint64_t clips = contender.media.clips.front().size();
        if (clips < request.layers * of_one) {
            return bad_input(
                fmt::format("{}: {} of {} need{} {} clips and there {} {}: give more clips, fewer --seats, "
                            "--streams or --layers, or --media same",
                            request.target.name(), counted(of_one, "stream"), contender.name,
                            of_one == 1 ? "s" : "", request.layers * of_one, clips == 1 ? "is" : "are", clips));
        }
        cap(clips / request.layers / of_one,
            fmt::format("there are no more clips of this format than {}", clips));
    }
    run::PlayRequest one = request;
    one.total_streams = 1;
    one.seats = 1;
    if (!contender.ready && store_of(request) != nullptr && !request.same_media && !options_.yes) {
        const auto clips = clips_unasked(request);
        if (!clips) return clips.error();
        cap(*clips / request.layers / of_one,
            "the media for more streams would take more than half of the free space: --yes allows that");
    }
    const auto times = run::times_in_memory(one, first_of(contender, one));
    if (!times) return times.error();
    // This is the memory of this computer; others check theirs when they play.
    const std::uint64_t here = total ? 1
                               : result_.counts == MaxCounts::seats
                                   ? of_one
                                   : options_.play.own_seats.value_or(request.seats);
    const bool plays_here = here > 0;  // a host of seats that join plays nothing
    if (*times && plays_here && (alone() || result_.counts == MaxCounts::streams_per_seat))
        cap(**times / here, "there is no memory for the frames of more");
    return limits;
}

/// The media that a step needs; what is missing is written first, and meters find their files as they did in
/// the first step. Recordings must have room for the longest run, so that the search asks for them once and
/// does not end at its confirmation. In every rank.
Result<void> MaxCommand::find_media_for(Contender& contender, const run::PlayRequest& request) {
    const bool planned = store_ == nullptr;
    const bool enough = contender.ready || (!contender.media.clips.empty() &&
                                            contender.media.clips.front().size() >= run::clips_needed(request));
    const bool records = request.record.streams > 0;
    if (!planned && enough && request.meters.empty() && !records) return {};
    Result<void> written;
    if (!planned && !alone() && !enough) {  // the first rank may have to be alone on the set
        (void)media_.locks().release();
        if (written = together(written); !written) return written;
    }
    if (!planned && makes_media()) {
        const auto media = [this, request, enough] {
            return enough ? std::vector<media::PreparePlan>() : run::missing_media(*store_, request);
        };
        run::PlayRequest longest = request;
        longest.duration = judge::longest_run(lengths(contender, options_.confirm));
        written = media_.write_missing(request, media, run::record_bytes_of(longest));
    }
    if (written = together(written); !written) return written;
    if (!planned) written = media_.hold(request, records);
    if (written = together(written); !written) return written;
    if (!planned && enough) return {};
    auto found = work_.index([this, request](IndexProgress& progress) {
        return run::find_media(store_of(request), request, &progress);
    });
    auto done = together(found);
    if (done) contender.media = std::move(*found);
    return done;
}

void MaxCommand::notice(const std::string& text) {
    auto& notices = result_.notices;
    if (std::find(notices.begin(), notices.end(), text) != notices.end()) return;
    notices.push_back(text);
    if (!options_.quiet) context_.log.warn(text);
}

/// Keeps the facts about the target that every run finds, and the sums of its injected faults.
void MaxCommand::keep_common(const RunResult& result) {
    result_.common.backend = result.backend;
    result_.common.io = result.io;
    result_.common.direct = result.direct;
    result_.common.model = result.model;
    result_.common.mount = result.mount;
    if (result.faults_injected) *result_.common.faults_injected += *result.faults_injected;
    result_.server_cache_may_be_warm |= result.media.server_cache_may_be_warm;
    if (!alone()) {  // what was noticed on other computers comes with the result
        for (const std::string& text : result.notices) notice(text);
    }
}

/// The request of a step that plays `count` streams, or seats.
run::PlayRequest MaxCommand::step_of(const Contender& contender, std::uint64_t count, Duration length) const {
    run::PlayRequest request = contender.request;
    const auto number = static_cast<std::uint32_t>(count);
    request.total_streams.reset();
    switch (result_.counts) {
        case MaxCounts::streams: run::set_total_streams(request, number); break;
        case MaxCounts::streams_per_seat: request.streams = number; break;
        case MaxCounts::seats: request.seats = number; break;
    }
    request.duration = length;
    request.evict = true;
    request.media_read_before = contender.played && !steps_.has_command();
    request.find_cause &= !virtual_time();  // the search itself finds what a model delivers at most
    // The largest number of streams that plays needs one read-ahead's time for its preroll.
    request.preroll_timeout =
        std::max(request.preroll_timeout, contender.rate.due(std::uint64_t{2} * request.readahead));
    return request;
}

/// One run of one step, in every rank; of all of them in rank 0.
Result<RunResult> MaxCommand::play_step(Contender& contender,
                                        const run::PlayRequest& request,
                                        const std::string& progress) {
    preroll_took_too_long_ = false;
    if (auto found = find_media_for(contender, request); !found) return found.error();
    if (auto ready = prepare_step(request, std::to_string(run::streams_of(request))); !ready) {
        if (ready.error().kind != ErrorKind::interrupted) ended_by_ = ready.error();
        return interrupted_error();  // the search ends, and keeps its steps so far
    }
    if (steps_.has_command()) contender.places.reset();  // it may have mounted the storage again
    remember_places(contender);
    if (!options_.quiet) context_.log.info(progress);
    auto session = std::make_unique<run::Session>(request, first_of(contender, request), context_.program,
                                                  [this](const std::string& text) { notice(text); });
    auto result = play_aside(session, request, fmt::format("{}; {}", request.target.url, progress));
    contender.played = true;
    if (auto free = all_storage_is_free(); !free) return free.error();
    if (makes_media()) media_.remove_created(request);
    if (result) beside_[contender.name][run::streams_of_format(request)] = result->meters;
    if (result && result->interrupted) return interrupted_error();
    preroll_took_too_long_ =
        alone() ? session->preroll_took_too_long() : context_.ranks->preroll_took_too_long();
    return result;
}

/// After a step, in every rank. A rank whose storage keeps operations plays no further step, for which the
/// others would wait. Errors: interrupted; the search ends.
Result<void> MaxCommand::all_storage_is_free() {
    Result<void> own;
    if (left_behind() && !alone() && !control_.interrupted())
        own = environment_error("the storage has not completed all operations: the search ends here");
    const auto all = together(own);
    if (!all && all.error().kind != ErrorKind::interrupted) ended_by_ = all.error();
    return all && !left_behind() ? Result<void>() : interrupted_error();
}

/// A step may be played before it is asked for: it is in virtual time, and nothing happens between two steps.
bool MaxCommand::plays_ahead(const Contender& contender) const {
    return virtual_time() && alone() && !contender.ready && options_.step.empty() &&
           contender.request.meters.empty() && ahead_.at_once() > 0;
}

/// The result of a step that was played ahead.
Result<RunResult> MaxCommand::play_ahead(const judge::MaxNext& next, const std::string& progress) {
    preroll_took_too_long_ = false;
    if (!options_.quiet) context_.log.info(progress);
    auto ended = work_.run_until_stopped(
        [this, next]() -> Result<void> {
            ahead_.wait_for(next);
            return {};
        },
        [this] { ahead_.stop(); });
    if (!ended) return ended.error();
    StepsAhead::Played played = ahead_.take(next);
    if (played.result && played.result->interrupted) return interrupted_error();
    for (const std::string& text : played.notices) notice(text);
    preroll_took_too_long_ = played.preroll_took_too_long;
    return std::move(played.result);
}

Result<MaxRun> MaxCommand::play(std::size_t which, const judge::MaxNext& next) {
    Contender& contender = contenders_[which];
    const run::PlayRequest request = step_of(contender, next.streams, next.length);
    if (!alone()) {
        auto shared = context_.ranks->share(
            {{"contender", which}, {"count", next.streams}, {"length_ns", next.length.ns}});
        if (!shared) return shared.error();
    }
    const std::string progress =
        fmt::format("{}: {}", contender.name, max_progress(next, result_.counts, virtual_time()));
    const auto result = ahead_.has(next) ? play_ahead(next, progress) : play_step(contender, request, progress);
    if (lost_seat_ = result ? incomplete_seat(*result) : ""; !lost_seat_.empty()) {
        notice("the search ends, since the seats of further runs would be incomplete: " + lost_seat_);
        return interrupted_error();
    }
    if (!result || !result->verdict.pass) {
        if (auto gone = run_without_storage(contender, next.length)) return std::move(*gone);
    }
    if (result) {
        keep_common(*result);
        return judge::max_run(*result, next.length, options_.headroom_percent);
    }
    if (!preroll_took_too_long_) return result.error();
    RunResult prepared;
    steps_.record(prepared);
    MaxRun run;
    run.duration_ns = next.length.ns;
    run.reason = result.error().problems.front();
    run.before_step = std::move(prepared.before_step);
    return run;
}

/// Every rank but the first plays what that one says, until it says no more.
Result<void> MaxCommand::follow() {
    for (;;) {
        Result<Json> command = interrupted_error();
        wait_for_ranks(control_, *context_.ranks, [&] { command = context_.ranks->share(nullptr); });
        if (!command || command->is_null()) return {};
        Contender& contender = contenders_.at(command->at("contender"));
        const run::PlayRequest request = step_of(contender, command->at("count"), {command->at("length_ns")});
        (void)play_step(contender, request, "");  // rank 0 says what came of it
        if (left_behind()) return interrupted_error();
    }
}

Result<void> MaxCommand::search(std::size_t which) {
    const Contender& contender = contenders_[which];
    const auto options = limits(contender);
    if (!options) return options.error();
    result_.step_ns = options->step.ns;
    result_.confirm_ns = options->confirm.ns;
    if (!contender.ready && store_of(contender.request) != nullptr) {
        if (auto said = say_media(contender, *options); !said) return said.error();
    }
    std::vector<Result<MaxRun>> so_far;
    ahead_.forget();
    const auto play_next = [&](const judge::MaxNext& next) {
        if (plays_ahead(contender)) {
            ahead_.want(
                next, judge::runs_ahead(*options, so_far, ahead_.at_once()),
                [&](const judge::MaxNext& each) { return step_of(contender, each.streams, each.length); });
        }
        so_far.push_back(play(which, next));
        return so_far.back();
    };
    auto found = judge::find_max(*options, play_next, &ended_by_);
    ahead_.forget();
    if (!found) return found.error();
    if (ended_by_ && found->steps.empty()) return *ended_by_;
    if (ended_by_) found->at_least = ended_by_->problems.front();
    if (!options_.play.meters.empty()) say_meters(contender.name, found->streams * result_.streams_of_one());
    found->format = contender.name;
    found->width = contender.width;
    found->height = contender.height;
    found->rate = contender.rate;
    if (!found->interrupted) found->prediction = predicted(contender, *found);
    result_.interrupted |= found->interrupted;
    result_.formats.push_back(std::move(*found));
    return ended_by_ ? Result<void>(*ended_by_) : Result<void>();
}

/// The interval of the number that was found, on a model that was calibrated. A bound is not that number.
std::optional<Prediction> MaxCommand::predicted(const Contender& contender, const MaxFormat& found) {
    if (result_.counts != MaxCounts::streams || contender.request.formats.size() != 1) return std::nullopt;
    const auto nominal = found.at_least.empty() ? std::optional(found.streams) : std::nullopt;
    return predict_most_streams(context_, work_, contender.request, nominal);
}

/// Tells what the meters did beside the number of streams that was found.
void MaxCommand::say_meters(const std::string& format, std::uint64_t streams) {
    const auto& runs = beside_[format];
    const auto found = runs.find(static_cast<std::uint32_t>(streams));
    if (found == runs.end()) return notice(fmt::format("{}: nothing plays beside the meters", format));
    std::vector<const MeterResult*> all;
    for (const MeterResult& meter : found->second) all.push_back(&meter);
    const LoadFigures figures = load_figures("", all);
    notice(fmt::format(
        "{}: beside {} streams the meters did {} operations a second, {} read and {} written, {} on "
        "average; {} failed",
        format, show_count(streams), show_count(nearest_whole(figures.operations_per_s)),
        show_rate(figures.read_bytes_per_s), show_rate(figures.write_bytes_per_s),
        show_duration({std::llround(figures.latency_mean_ns)}), show_count(figures.failed)));
}

int MaxCommand::finish(MaxDocuments documents, const std::optional<Error>& error) {
    const auto print = [&] {
        if (options_.quiet || text_ == nullptr || result_.formats.empty()) return;
        print_text(documents.standard_output() ? stderr : text_,
                   report::max_text_report(result_, options_.text_detail()));
    };
    Result<void> written;
    if (result_.interrupted && ended_no_run(result_)) documents.keep_earlier(context_.log);
    if (!result_.formats.empty() || !error) written = write_and_say(documents, result_, print);
    if (error) return report_error(context_, *error);
    if (!written) return report_error(context_, written.error());
    if (result_.interrupted) return kExitInterrupted;
    const bool plays = std::any_of(result_.formats.begin(), result_.formats.end(),
                                   [](const MaxFormat& format) { return format.streams > 0; });
    return plays ? kExitPass : kExitMissed;
}

/// The largest number that the user asked for.
std::optional<std::uint64_t> MaxCommand::most_asked() const {
    const run::PlayRequest& play = options_.play;
    if (result_.counts == MaxCounts::seats) return play.seats;
    if (!options_.given("--streams") && !options_.given("--total-streams")) return std::nullopt;
    if (result_.counts == MaxCounts::streams_per_seat) return play.streams;
    return play.total_streams.value_or(play.streams * play.seats);
}

int MaxCommand::run() {
    MaxDocuments outputs;
    Result<void> opened;
    auto documents = max_documents(options_);
    if (documents) outputs = std::move(*documents);
    if (!documents) opened = documents.error();
    const bool each = !alone() && !options_.play.total_streams;
    result_.counts = options_.find.value_or(each ? MaxCounts::streams_per_seat : MaxCounts::streams);
    if (result_.counts == MaxCounts::seats && options_.play.seats == 1)
        opened = bad_input(
            "--find seats: give --seats N, the most that are tried, or start it on several with mpirun");
    if (opened = together(opened); !opened) return report_error(context_, opened.error());
    result_.common = run::not_played(options_.play, context_.program);
    result_.seats = options_.play.seats;
    result_.streams_of_seat = options_.play.streams;
    result_.headroom_percent = options_.headroom_percent;
    run::reserve_io_threads(options_.play, most_asked().value_or(kStreamsMax) * result_.streams_of_one());
    std::optional<Error> error;
    auto all = contenders();
    const auto agreed = agree_on_contenders(context_, all, options_.confirm);
    if (!agreed) error = agreed.error();
    if (!error) contenders_ = std::move(*all);
    if (!leads()) {
        if (!error) (void)follow();
        if (left_behind()) leave(kExitPass);
        return kExitPass;
    }
    for (std::size_t i = 0; !error && i < contenders_.size() && !result_.interrupted; ++i) {
        if (auto searched = search(i); !searched) error = searched.error();
    }
    if (!alone() && !contenders_.empty()) (void)context_.ranks->share(nullptr);
    if (error && error->kind == ErrorKind::interrupted) {
        result_.interrupted = true;
        error.reset();
    }
    const int code = finish(std::move(outputs), error);
    if (left_behind()) leave(code);
    return code;
}

/// One search after the other, and a sheet of all. The exit code is that of the worst.
int compare_targets(CommandContext& context) {
    if (context.ranks != nullptr) return report_error(context, bad_input(kOneTarget));
    using Sheet = OutputDocuments<std::vector<MaxResult>>;
    auto sheet = Sheet::prepare(context.options.files,
                                {{&ResultFiles::html, report::kMaxHtmlBegins, report::max_html_report}});
    if (!sheet) return report_error(context, sheet.error());
    const ResultFiles files = std::exchange(context.options.files, {});
    std::vector<CliOptions*> all = {&context.options};
    for (CliOptions& other : context.options.others) all.push_back(&other);
    std::vector<MaxResult> results;
    int worst = kExitPass;
    for (CliOptions* const options : all) {
        CommandContext of_target = context.with(*options);
        MaxCommand command(of_target, files.take_standard_output() ? stderr : stdout);
        const int code = command.run();
        worst = std::max(worst, code);
        if (!command.result().formats.empty()) results.push_back(command.result());
        if (code == kExitInterrupted && std::ranges::all_of(results, ended_no_run))
            sheet->keep_earlier(context.log);
        if (!results.empty()) (void)sheet->write_for_now(results);  // the next storage may never answer
        if (code == kExitInterrupted) break;
    }
    context.options.files = files;
    if (results.empty()) return worst;
    if (auto written = sheet->write(results); !written) return report_error(context, written.error());
    return worst;
}

}  // namespace

Result<MaxResult> search_most(CommandContext& context) {
    MaxCommand command(context, nullptr);
    const int code = command.run();
    if (const std::string& seat = command.lost_seat(); !seat.empty())
        return environment_error("the held-back run is not of all seats: " + seat);
    if (code == kExitInterrupted) return interrupted_error();
    const bool follows = context.ranks != nullptr && !context.ranks->first();
    if (!follows && (code > kExitMissed || command.result().formats.empty()))
        return environment_error("the search for the held-back run gave no result");
    return command.result();
}

Result<void> check_max(const CliOptions& options) {
    if (!options.others.empty()) return bad_input(kOneTarget);
    const auto documents = max_documents(options);
    return documents ? Result<void>() : documents.error();
}

int max_command(CommandContext& context) {
    return context.options.others.empty() ? MaxCommand(context).run() : compare_targets(context);
}

}  // namespace streamsim::cli
