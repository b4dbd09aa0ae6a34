#include "run/prediction/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "base/system/parallel_for.h"
#include "base/units.h"
#include "judge/prediction_rules.h"
#include "judge/search/max_search.h"
#include "sim/model/model_document.h"
#include "sim/model/model_draws.h"

namespace streamsim::run {
namespace {

constexpr Duration kStep = seconds(20);
/// As long as `max` plays a number that it has found on a model.
constexpr Duration kDecisive = seconds(60);
constexpr std::uint64_t kStreamsMax = 10'000;
/// Thousands of streams may play on a server that is never full.
constexpr Duration kNeverFullStep = seconds(5);
constexpr std::uint64_t kDrawSeed = 0x64726177;

using Model = std::shared_ptr<const ClusterModel>;

/// The number of nodes is drawn, too: it has an interval, and the target's URL does not set it.
bool draws_nodes(const target::Target& target) {
    return !target.cluster && std::ranges::any_of(target.model->uncertain, [](const UncertainNumber& number) {
        return number.pointer == "/nodes" && !number.at_least();
    });
}

/// As many nodes as the request names by number.
std::uint32_t nodes_named(const PlayRequest& request) {
    std::uint32_t nodes = request.target.nodes.value_or(1);
    for (const SeatSetting& seat : request.seat_settings) nodes = std::max(nodes, seat.node.value_or(0) + 1);
    for (const ScenarioFault& fault : request.model_faults) nodes = std::max(nodes, fault.node.value_or(0) + 1);
    return nodes;
}

/// As many drives of a node as the faults name.
std::uint32_t drives_named(const PlayRequest& request) {
    std::uint32_t drives = 1;
    for (const ScenarioFault& fault : request.model_faults)
        drives = std::max(drives, fault.drive.value_or(0) + 1);
    return drives;
}

/// The draws, as the target's URL sets up the cluster.
Result<std::vector<Model>> draws_of(const ModelText& text,
                                    const PlayRequest& request,
                                    std::uint32_t count,
                                    double model_error_factor) {
    auto draws =
        sim::model_draws(text.text, text.path, count, derive_seed(request.seed, kDrawSeed), model_error_factor);
    if (!draws) return draws.error();
    const bool drawn_nodes = draws_nodes(request.target);
    std::vector<Model> models;
    for (ClusterModel& draw : *draws) {
        draw.nodes = drawn_nodes ? std::max(draw.nodes, nodes_named(request)) : request.target.model->nodes;
        draw.node.drives = std::max(draw.node.drives, drives_named(request));
        draw.sources.clear();
        models.push_back(std::make_shared<const ClusterModel>(std::move(draw)));
    }
    return models;
}

bool has_own_links(const PlayRequest& request) {
    return std::ranges::any_of(request.seat_settings, &SeatSetting::has_link);
}

/// The document that a question is asked of. As many seats as were measured did not fill the parts that were
/// never full: these limit nothing then, but beside other load, which filled them, and for other links than
/// were measured. Errors: of the document.
Result<ModelText> text_for(const ModelText& text, const PlayRequest& request) {
    const ClusterModel& model = *request.target.model;
    if (!model.calibration || request.seats > model.calibration->seats) return text;
    if (model.node.other_load.share > 0 || has_own_links(request)) return text;
    auto document = sim::document_without_bounds(text.text, text.path);
    if (!document) return document.error();
    return ModelText{text.path, std::move(*document)};
}

/// The model of a document, in a cluster of as many nodes as `like`.
Result<Model> model_of(const ModelText& text, const ClusterModel& like) {
    auto model = sim::read_model_document(text.text, text.path);
    if (!model) return model.error();
    model->nodes = like.nodes;
    return std::make_shared<const ClusterModel>(std::move(*model));
}

/// Streams of one format are read as those of a held-back run are.
bool reads_as_held_back(const PlayRequest& request) {
    if (request.formats.size() != 1) return false;
    const bool own_rate = !request.rate || *request.rate == request.formats.front().rate;
    const play::ReadSettings& reading = request;
    return own_rate && reading == play::ReadSettings{} && request.layers == 1 && !request.audio &&
           !request.same_media && !request.cuts && request.order.kind == play::PlayOrder::Kind::forward &&
           request.multicam == MultiCam::none && !request.frames && request.stagger.ns == 0 &&
           request.decode_cpu.ns == 0;
}

/// The storage is as it was measured, whatever loads it.
bool is_as_measured(const PlayRequest& request) {
    const target::Target& target = request.target;
    return !target.nodes && !target.cluster && !target.warm && target.strategy == AccessStrategy::as_media &&
           std::ranges::count(request.seat_settings, SeatSetting{}) == std::ssize(request.seat_settings);
}

/// Nothing else loads the storage than streams that play.
bool plays_alone(const PlayRequest& request) {
    return !request.faults && request.model_faults.empty() && request.meters.empty() &&
           request.record.streams == 0;
}

/// Streams of the format are as hard for the storage as those of a held-back run, or harder.
bool reads_no_easier(const PlayRequest& request, const MediaFormat& format) {
    const play::ReadSettings usual;
    const bool at_rate =
        request.paced && request.rate.value_or(format.rate).per_second() >= format.rate.per_second();
    const bool no_more_ahead = request.readahead <= usual.readahead && request.inflight <= usual.inflight &&
                               request.io_depth <= usual.io_depth;
    const bool waits_for_seeks =
        request.order.kind == play::PlayOrder::Kind::scrub || request.multicam == MultiCam::active;
    return at_rate && no_more_ahead && !waits_for_seeks && request.io_size == usual.io_size &&
           request.pattern == usual.pattern && !request.same_media && !request.cuts;
}

/// All streams of the format begin together and play for the whole run.
bool plays_throughout(const PlayPart& part, const MediaFormat& format, Duration length) {
    const std::uint64_t slots = part.request.rate.value_or(format.rate).slots_in(length);
    if (part.request.stagger.ns > 0 || part.request.frames.value_or(slots) < slots) return false;
    if (!part.schedule) return true;
    for (std::uint32_t seat = 0; seat < part.request.seats; ++seat) {
        if (part.schedule->end(seat) < length) return false;
        for (std::uint32_t stream = 0; stream < part.request.streams; ++stream) {
            if (part.schedule->start(seat, stream).ns > 0) return false;
        }
    }
    return true;
}

std::uint64_t seed_of(std::uint64_t seed, std::size_t draw) {
    return derive_seed(seed, draw + 1);
}

bool is_stopped(const PredictionOptions& options) {
    return options.stop && *options.stop;
}

/// Plays numbers of streams of one request.
class CountPlayer {
public:
    CountPlayer(PlayRequest request, const PredictionOptions& options)
        : request_(std::move(request)), options_(options) {
        const MediaFormat& format = request_.formats.front();
        request_.find_cause = request_.find_capacity = request_.keep_frames = request_.keep_histograms = false;
        request_.spare_streams = 0;
        request_.preroll_timeout = preroll_timeout_of(request_, request_.rate.value_or(format.rate));
        by_chance_ = request_.target.model->node.other_load.share > 0;
        // Other load may stay away for a short time.
        step_ = request_.duration.value_or(by_chance_ ? kDecisive : kStep);
    }

    Duration step() const { return step_; }
    /// Each run has chances of its own, as on a storage that others work on.
    bool by_chance() const { return by_chance_; }

    /// Errors: of the request; interrupted.
    Result<ModelPlay> play(const Model& model,
                           std::uint64_t seed,
                           std::uint64_t streams,
                           Duration length) const {
        if (is_stopped(options_)) return interrupted_error();
        PlayRequest request = request_;
        request.target.model = model;
        request.seed = seed;
        set_total_streams(request, static_cast<std::uint32_t>(streams));
        request.duration = length;
        return play_on_model(request, options_.program, options_.headroom_percent);
    }
    /// Plays that miss no frame, but empty their buffers within the time that decides, fail.
    Result<ModelPlay> decide(const Model& model, std::uint64_t seed, std::uint64_t streams) const {
        auto played = play(model, by_chance_ ? derive_seed(seed, streams) : seed, streams, step_);
        if (played && played->run.empty_after_ns.value_or(INT64_MAX) < kDecisive.ns) played->run.pass = false;
        return played;
    }

    /// `step`: no longer than step().
    Result<std::uint64_t> most(const Model& model, Duration step, Duration confirm) const {
        judge::MaxSearchOptions search;
        search.step = std::min(step, step_);
        search.confirm = confirm;
        search.most = kStreamsMax;
        search.repeatable = false;
        const auto found = judge::find_max(search, [&](const judge::MaxNext& next) -> Result<MaxRun> {
            auto played = play(model, request_.seed, next.streams, next.length);
            if (!played) return played.error();
            return std::move(played->run);
        });
        if (!found) return found.error();
        if (found->interrupted) return interrupted_error();
        return found->streams;
    }

private:
    PlayRequest request_;
    const PredictionOptions& options_;
    bool by_chance_ = false;
    Duration step_;
};

/// The largest number that one draw plays.
class DrawSearch {
public:
    DrawSearch(const CountPlayer& player, const Model& model, std::uint64_t seed)
        : player_(player), model_(model), seed_(seed) {}

    Result<judge::DrawAnswer> run(std::uint64_t begin) {
        const auto most =
            judge::most_near(begin, kStreamsMax, [this](std::uint64_t streams) { return try_it(streams); });
        if (!most) return most.error();
        return judge::DrawAnswer{*most, *most > 0, full_[*most + 1]};
    }

private:
    Result<bool> try_it(std::uint64_t streams) {
        const auto played = player_.decide(model_, seed_, streams);
        if (!played) return played.error();
        full_[streams] = played->full;
        return played->run.pass;
    }

    const CountPlayer& player_;
    const Model& model_;
    const std::uint64_t seed_;
    std::map<std::uint64_t, std::string> full_;
};

/// The rate of the part that is full first with the nominal numbers; 0: there is no single one.
double rate_of(const ClusterModel& model, const std::string& full) {
    if (full == "server network") return model.node.front_end.bytes_per_s();
    if (full == "seat link") return model.client.link.bytes_per_s();
    if (full == "drives") return model.drive.outer_bytes_per_s;
    return 0;
}

/// The number that a draw probably plays, to begin its search there.
std::uint64_t guess(const ClusterModel& model,
                    const ClusterModel& draw,
                    const std::string& full,
                    std::uint64_t nominal) {
    const double rate = rate_of(model, full);
    if (rate <= 0) return nominal;
    return static_cast<std::uint64_t>((static_cast<double>(nominal) + 0.5) * rate_of(draw, full) / rate);
}

/// Answers of all draws, on all processors; once options.stop is set, of those that are done. Errors: of the
/// first draw that has one; interrupted where too few are done.
template <typename Answer>
Result<std::vector<judge::DrawAnswer>> answers_of(std::size_t draws,
                                                  const PredictionOptions& options,
                                                  Answer answer) {
    std::vector<std::optional<Result<judge::DrawAnswer>>> outcomes(draws);
    std::atomic<std::size_t> done{0};
    const std::size_t tenth = std::max<std::size_t>(draws / 10, 1);
    parallel_for(
        draws,
        [&](std::size_t i) {
            if (is_stopped(options)) return;
            outcomes[i] = answer(i);
            if (!*outcomes[i]) return;
            const std::size_t now = ++done;
            if (options.progress && now % tenth == 0)
                options.progress(fmt::format("{} of {} draws", now, draws));
        },
        computing_threads());
    std::vector<judge::DrawAnswer> answers;
    for (auto& outcome : outcomes) {
        if (!outcome) continue;
        if (*outcome)
            answers.push_back(std::move(**outcome));
        else if (outcome->error().kind != ErrorKind::interrupted)
            return outcome->error();
    }
    if (answers.size() < draws && answers.size() < judge::kDrawsMin) return interrupted_error();
    return answers;
}

std::uint64_t median(const std::vector<judge::DrawAnswer>& answers) {
    std::vector<std::uint64_t> counts;
    counts.reserve(answers.size());
    for (const judge::DrawAnswer& answer : answers) counts.push_back(answer.streams);
    const auto middle = counts.begin() + static_cast<std::ptrdiff_t>((counts.size() - 1) / 2);
    std::nth_element(counts.begin(), middle, counts.end());
    return *middle;
}

}  // namespace

std::uint64_t no_easier_streams(const PartsToPlay& what) {
    const auto& calibration = what.request.target.model->calibration;
    if (!calibration || !calibration->held_back || !is_as_measured(what.request)) return 0;
    const Duration length = what.request.duration.value_or(kDefaultDuration);
    std::uint64_t streams = 0;
    for (const PlayPart& part : what.parts) {
        for (const MediaFormat& format : part.request.formats) {
            if (format.name == calibration->held_back->format && reads_no_easier(part.request, format) &&
                plays_throughout(part, format, length))
                streams += streams_of_format(part.request);
        }
    }
    return streams;
}

bool is_uncertain(const ClusterModel& model) {
    return !model.uncertain.empty();
}

Result<Prediction> predict_most(const ModelText& whole,
                                const PlayRequest& request,
                                std::optional<std::uint64_t> nominal,
                                const PredictionOptions& options) {
    const auto asked = text_for(whole, request);
    if (!asked) return asked.error();
    const ModelText& text = *asked;
    const auto of_question = model_of(text, *request.target.model);
    if (!of_question) return of_question.error();
    const Model& model = *of_question;
    const CountPlayer player(request, options);
    Prediction prediction;
    prediction.what = request.formats.front().name;
    prediction.seats = request.seats;
    prediction.as_held_back = reads_as_held_back(request) && is_as_measured(request) && plays_alone(request) &&
                              options.headroom_percent == 0;
    const judge::OutsideMeasured outside =
        judge::outside_measured(*model, {{prediction.what}, request.seats, has_own_links(request)});
    const bool searched_by_caller = nominal.has_value();
    if (!nominal) {
        const auto found = player.most(model, player.step(), kDecisive);
        if (!found) return found.error();
        nominal = *found;
        if (options.progress)
            options.progress(fmt::format("{}: {} with each number at its value", prediction.what,
                                         counted(*nominal, "stream")));
    }
    prediction.nominal = nominal;
    if (outside.server_may_be_full) {
        auto never_full = sim::without_bounds(text.text, text.path);
        if (!never_full) return never_full.error();
        never_full->nodes = model->nodes;
        if (options.progress)
            options.progress(prediction.what + ": searching with a server that is never full");
        const auto most =
            player.most(std::make_shared<const ClusterModel>(std::move(*never_full)), kNeverFullStep, {});
        if (!most) return most.error();
        prediction.if_never_full = *most;
    }
    const auto draws = draws_of(text, request, options.draws, outside.model_error_factor);
    if (!draws) return draws.error();
    const auto one_more = player.play(model, request.seed, *nominal + 1, player.step());
    if (!one_more) return one_more.error();
    const auto answers = answers_of(draws->size(), options, [&](std::size_t i) {
        const std::uint64_t begin = guess(*model, *(*draws)[i], one_more->full, *nominal);
        return DrawSearch(player, (*draws)[i], seed_of(request.seed, i)).run(begin);
    });
    if (!answers) return answers.error();
    // One run by chance says less than the middle of many.
    if (player.by_chance() && !searched_by_caller && !answers->empty()) prediction.nominal = median(*answers);
    judge::conclude(*model, outside, *answers, kStreamsMax, prediction);
    if (*nominal == 0) {
        const MediaFormat& format = request.formats.front();
        const FrameRate rate = request.rate.value_or(format.rate);
        const std::string why =
            judge::too_fast_for_a_seat(*model, format, format.mean_frame_bytes * rate.per_second());
        if (!why.empty()) prediction.sentence += "; " + why;
    }
    judge::mark_interrupted(draws->size(), prediction);
    return prediction;
}

Result<Prediction> predict_plays(const ModelText& whole,
                                 const PartsToPlay& what,
                                 const PredictionOptions& options) {
    const auto asked = text_for(whole, what.request);
    if (!asked) return asked.error();
    const ModelText& text = *asked;
    const Model& model = what.request.target.model;
    Prediction prediction;
    prediction.question = Prediction::Question::plays;
    judge::PredictionQuestion question{{}, 0};
    std::uint64_t streams = 0;
    for (const PlayPart& part : what.parts) {
        for (const auto* formats : {&part.request.formats, &part.request.record.formats}) {
            for (const MediaFormat& format : *formats) {
                if (std::find(question.formats.begin(), question.formats.end(), format.name) ==
                    question.formats.end())
                    question.formats.push_back(format.name);
            }
        }
        streams += streams_of(part.request);
    }
    question.seats = what.request.seats;
    question.own_links = has_own_links(what.request);
    prediction.what = fmt::format("{}", fmt::join(question.formats, ", "));
    prediction.seats = question.seats;
    prediction.no_easier = no_easier_streams(what);
    prediction.streams = streams;
    const judge::OutsideMeasured outside = judge::outside_measured(*model, question);
    const std::uint64_t seed = what.request.seed;
    const auto draws = draws_of(text, what.request, options.draws, outside.model_error_factor);
    if (!draws) return draws.error();
    const auto answers = answers_of(draws->size(), options, [&](std::size_t i) -> Result<judge::DrawAnswer> {
        const auto played = play_on_model(what, (*draws)[i], seed_of(seed, i), options.program);
        if (!played) return played.error();
        return judge::DrawAnswer{0, played->run.pass, played->run.pass ? "" : played->full};
    });
    if (!answers) return answers.error();
    judge::conclude(*model, outside, *answers, std::nullopt, prediction);
    judge::mark_interrupted(draws->size(), prediction);
    return prediction;
}

}  // namespace streamsim::run
