#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>

#include "base/units.h"
#include "cli/commands.h"
#include "cli/indexing.h"
#include "cli/media_run.h"
#include "report/max_report.h"
#include "run/max_search.h"

namespace streamsim {
namespace {

constexpr Duration kStep = seconds(20);
/// A step is at least so many read-aheads long: in one of them nothing can be missed that prerolled.
constexpr std::uint64_t kReadaheadsPerStep = 5;
constexpr Duration kConfirm = seconds(300);
constexpr Duration kConfirmVirtual = seconds(60);
/// More are not tried unless they are asked for.
constexpr std::uint64_t kMostStreams = 10'000;
/// Of storage that cannot fail.
constexpr std::uint64_t kMostStreamsOfNull = 1'000;

/// One row of the table: what all of its streams play.
struct Contender {
    PlayRequest request;  // of one format at most
    std::string name;
    int width = 0;
    int height = 0;
    FrameRate rate;
    FoundMedia media;    // that was found so far
    bool ready = false;  // media holds all that there is: of others, or a cut list
};

Contender of_format(const PlayRequest& request, const MediaFormat& format) {
    Contender contender;
    contender.request = request;
    contender.request.formats = {format};
    contender.name = format.name;
    contender.width = format.width;
    contender.height = format.height;
    contender.rate = request.rate.value_or(format.rate);
    return contender;
}

/// The clips of others, format by format.
std::vector<Contender> by_format(const PlayRequest& request, std::vector<Clip> clips) {
    std::vector<Contender> all;
    for (Clip& clip : clips) {
        auto same = std::find_if(all.begin(), all.end(), [&clip](const Contender& each) {
            return each.name == clip.format &&
                   each.media.clips.front().front().index->rate() == clip.index->rate();
        });
        if (same == all.end()) {
            same = all.insert(all.end(), Contender{});
            same->request = request;
            same->name = clip.format;
            same->rate = request.rate.value_or(clip.index->rate());
            same->media.clips.emplace_back();
            same->ready = true;
        }
        same->media.clips.front().push_back(std::move(clip));
    }
    return all;
}

/// The clips that this many streams play.
FoundMedia first_of(const Contender& contender, const PlayRequest& request) {
    FoundMedia media = contender.media;
    if (!media.clips.empty()) media.clips.front().resize(clips_needed(request));
    return media;
}

/// "4 play, 8 fail; trying 6 for 20 s; at most 3 m 00 s of play left": without what is not known yet.
std::string progress_of(const MaxNext& next, bool virtual_time) {
    std::string known = next.plays > 0 ? fmt::format("{} play", next.plays) : "";
    if (next.fails) known += fmt::format("{}{} fail", known.empty() ? "" : ", ", *next.fails);
    const char* doing = next.purpose == MaxStep::Purpose::confirm ? "confirming" : "trying";
    std::string out = fmt::format("{}{}{} {} for {}", known, known.empty() ? "" : "; ", doing, next.streams,
                                  show_duration(next.length));
    if (!virtual_time) out += fmt::format("; at most {} of play left", show_duration(next.at_most));
    return out;
}

class MaxCommand final : private MediaRun {
public:
    MaxCommand(CliContext& context, Control& control, CliOptions& options)
        : MediaRun(context, control, options, make_byte_store(options.play.target)) {}

    int run();

private:
    Result<std::vector<Contender>> contenders();
    Result<std::vector<Contender>> of_target();
    Result<MaxSearchOptions> limits(const Contender& contender);
    Result<void> search(Contender& contender);
    Result<MaxRun> play(Contender& contender, const MaxNext& next);
    Result<FoundMedia> media_for(Contender& contender, const PlayRequest& request);
    Result<void> say_media(const Contender& contender, const MaxSearchOptions& limits);
    void notice(const std::string& text);
    void keep_common(const RunResult& result);
    int finish(OutputFile json, const std::optional<Error>& error);

    bool virtual_time() const { return options_.play.target.is_virtual_time(); }

    MaxResult result_;
};

Result<std::vector<Contender>> MaxCommand::of_target() {
    const PlayRequest& request = options_.play;
    if (request.cuts) {
        auto media = index_with_bar<FoundMedia>(
            control_, options_.quiet, left_behind_,
            [this](IndexProgress& progress) { return find_media(store_.get(), options_.play, &progress); });
        if (!media) return media.error();
        Contender contender;
        contender.request = request;
        contender.name = media->cuts->name;
        contender.rate = request.rate.value_or(media->cuts->rate);
        contender.media = std::move(*media);
        contender.ready = true;
        return std::vector{std::move(contender)};
    }
    auto clips = index_with_bar<std::vector<Clip>>(
        control_, options_.quiet, left_behind_,
        [this](IndexProgress& progress) { return clips_of_target(*store_, options_.play, &progress); });
    if (!clips) return clips.error();
    return by_format(request, std::move(*clips));
}

Result<std::vector<Contender>> MaxCommand::contenders() {
    if (auto chosen = choose_formats(); !chosen) return chosen.error();
    if (options_.play.formats.empty()) return of_target();
    std::vector<Contender> all;
    for (const MediaFormat& format : options_.play.formats) all.push_back(of_format(options_.play, format));
    return all;
}

/// What the search may write, before it writes anything.
Result<void> MaxCommand::say_media(const Contender& contender, const MaxSearchOptions& limits) {
    const PlayRequest& request = contender.request;
    PrepareRequest wanted{request.target.path, request.formats.front(), 1, request.clip_duration, request.seed};
    auto one = in_background<PreparePlan>([this, wanted] { return plan_prepare(*store_, wanted); });
    if (!one) return one.error();
    if (!request.same_media) wanted.clips = static_cast<std::uint32_t>(limits.most * request.layers);
    auto all = in_background<PreparePlan>([this, wanted] { return plan_prepare(*store_, wanted); });
    if (!all && all.error().kind == ErrorKind::interrupted) return all.error();
    if (options_.quiet || (all && all->nothing_to_do())) return {};
    const double clip = wanted.format.mean_frame_bytes * static_cast<double>(one->frames);
    context_.log.info(
        "{}: what is missing of {} clips is made as the search needs it: {} a clip, at most {}, to {} "
        "({} free)",
        contender.name, show_count(wanted.clips), show_bytes(nearest_whole(clip)),
        show_bytes(all ? all->bytes_to_write : one->bytes_free), one->directory, show_bytes(one->bytes_free));
    return {};
}

/// How many may be tried, before anything is played or written.
Result<MaxSearchOptions> MaxCommand::limits(const Contender& contender) {
    MaxSearchOptions limits;
    const PlayRequest& request = contender.request;
    limits.step =
        request.duration.value_or(std::max(kStep, contender.rate.due(kReadaheadsPerStep * request.readahead)));
    limits.confirm = options_.confirm.value_or(virtual_time() ? kConfirmVirtual : kConfirm);
    limits.repeatable = !virtual_time();
    const bool null = store_ == nullptr && request.target.kind != Target::Kind::model;
    limits.most = options_.most_streams.value_or(null ? kMostStreamsOfNull : kMostStreams);
    limits.why_most = options_.most_streams ? "not asked for more" : "more are tried with --total-streams only";
    const auto cap = [&limits](std::uint64_t most, std::string why) {
        if (most >= limits.most) return;
        limits.most = std::max<std::uint64_t>(most, 1);
        limits.why_most = std::move(why);
    };
    if (contender.ready && !request.cuts && !request.same_media) {
        const std::uint64_t clips = contender.media.clips.front().size();
        if (clips < request.layers) {
            return bad_input(fmt::format("--layers: {} clips of {} are there, and a stream has {}", clips,
                                         contender.name, request.layers));
        }
        cap(clips / request.layers, fmt::format("there are no more clips of this format than {}", clips));
    }
    PlayRequest one = request;
    one.total_streams = 1;
    one.seats = 1;
    const auto times = times_in_memory(one, first_of(contender, one));
    if (!times) return times.error();
    if (*times) cap(**times, "there is no memory for the frames of more");
    return limits;
}

/// The media that a step needs; what is missing is written first.
Result<FoundMedia> MaxCommand::media_for(Contender& contender, const PlayRequest& request) {
    const bool planned = store_ == nullptr;
    const bool enough =
        !contender.media.clips.empty() && contender.media.clips.front().size() >= clips_needed(request);
    if (planned || (!contender.ready && !enough)) {
        if (!planned) {
            auto plans = in_background<std::vector<PreparePlan>>(
                [this, request] { return missing_media(*store_, request); });
            if (!plans) return plans.error();
            if (auto written = write_media(*plans); !written) return written.error();
        }
        auto found = index_with_bar<FoundMedia>(
            control_, options_.quiet, left_behind_,
            [this, request](IndexProgress& progress) { return find_media(store_.get(), request, &progress); });
        if (!found) return found.error();
        contender.media = std::move(*found);
    }
    return first_of(contender, request);
}

void MaxCommand::notice(const std::string& text) {
    auto& notices = result_.notices;
    if (std::find(notices.begin(), notices.end(), text) != notices.end()) return;
    notices.push_back(text);
    if (!options_.quiet) context_.log.warn("{}", text);
}

/// What a run says about the target that holds for all.
void MaxCommand::keep_common(const RunResult& result) {
    result_.common.backend = result.backend;
    result_.common.io = result.io;
    result_.common.direct = result.direct;
    result_.common.model = result.model;
    result_.common.mount = result.mount;
    result_.server_cache_may_be_warm |= result.media.server_cache_may_be_warm;
}

Result<MaxRun> MaxCommand::play(Contender& contender, const MaxNext& next) {
    PlayRequest request = contender.request;
    request.total_streams = static_cast<std::uint32_t>(next.streams);
    request.seats = std::min(request.seats, *request.total_streams);
    request.duration = next.length;
    request.cold = true;
    // So many streams as play need one read-ahead's time for their preroll.
    request.preroll_timeout =
        std::max(request.preroll_timeout, contender.rate.due(std::uint64_t{2} * request.readahead));
    auto media = media_for(contender, request);
    if (!media) return media.error();
    const std::string progress = fmt::format("{}: {}", contender.name, progress_of(next, virtual_time()));
    if (!options_.quiet) context_.log.info("{}", progress);
    auto session = std::make_unique<Session>(request, std::move(*media), context_.program,
                                             [this](const std::string& text) { notice(text); });
    auto result = watch_session(*session, request, fmt::format("{}; {}", request.target.url, progress));
    if (!result || session->stuck()) {
        left_behind_ = true;
        (void)session.release();  // threads or the kernel still use it
        context_.log.warn(
            "the storage has not given back everything that was asked of it: the search ends here");
        return interrupted_error();
    }
    if (*result && (**result).interrupted) return interrupted_error();
    if (*result) {
        keep_common(**result);
        return max_run(**result, next.length, options_.headroom_percent);
    }
    if (!session->preroll_took_too_long()) return (*result).error();
    MaxRun run;
    run.duration_ns = next.length.ns;
    run.reason = (*result).error().problems.front();
    return run;
}

Result<void> MaxCommand::search(Contender& contender) {
    const auto options = limits(contender);
    if (!options) return options.error();
    result_.step_ns = options->step.ns;
    result_.confirm_ns = options->confirm.ns;
    if (!contender.ready && store_ != nullptr) {
        if (auto said = say_media(contender, *options); !said) return said.error();
    }
    auto found = find_max(*options, [&](const MaxNext& next) { return play(contender, next); });
    if (!found) return found.error();
    found->format = contender.name;
    found->width = contender.width;
    found->height = contender.height;
    found->rate = contender.rate;
    result_.interrupted |= found->interrupted;
    result_.formats.push_back(std::move(*found));
    return {};
}

int MaxCommand::finish(OutputFile json, const std::optional<Error>& error) {
    const bool stdout_taken = json.standard_output();
    if (!options_.quiet && !result_.formats.empty()) {
        const std::string text = max_text_report(result_);
        std::FILE* out = stdout_taken ? stderr : stdout;
        std::fwrite(text.data(), 1, text.size(), out);
        std::fflush(out);
    }
    Result<void> written;
    if (json.wanted() && (!error || !result_.formats.empty())) {
        json.write(max_json_report(result_));
        written = json.finish();
    }
    if (error) return report_error(context_, *error);
    if (!written) return report_error(context_, written.error());
    if (result_.interrupted) return kExitInterrupted;
    const bool plays = std::any_of(result_.formats.begin(), result_.formats.end(),
                                   [](const MaxFormat& format) { return format.streams > 0; });
    return plays ? kExitPass : kExitMissed;
}

int MaxCommand::run() {
    OutputFile json;
    if (!options_.files.json.empty()) {
        auto file = OutputFile::prepare(options_.files.json, kMaxReportBegins);
        if (!file) return report_error(context_, file.error());
        json = std::move(*file);
    }
    result_.common = Session::not_played(options_.play, context_.program);
    result_.seats = options_.play.seats;
    result_.headroom_percent = options_.headroom_percent;
    reserve_threads(options_.play, options_.most_streams.value_or(kMostStreams));
    std::optional<Error> error;
    auto all = contenders();
    if (!all) error = all.error();
    for (std::size_t i = 0; !error && all && i < all->size() && !result_.interrupted; ++i) {
        if (auto searched = search((*all)[i]); !searched) error = searched.error();
    }
    if (error && error->kind == ErrorKind::interrupted) {
        result_.interrupted = true;
        error.reset();
    }
    const int code = finish(std::move(json), error);
    if (left_behind_) leave(code);
    return code;
}

}  // namespace

int max_command(CliContext& context, Control& control, CliOptions& options) {
    return MaxCommand(context, control, options).run();
}

}  // namespace streamsim
