#include "run/purchase/purchase_player.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "judge/prediction_rules.h"
#include "judge/search/max_search.h"
#include "run/plan/media_plan.h"
#include "run/plan/needs.h"
#include "run/prediction/prediction.h"
#include "run/published/published_run.h"
#include "run/purchase/purchase_models.h"
#include "run/scenario_run.h"

namespace streamsim::run {
namespace {

/// A run whose buffers empty is followed by one that is so many times as long.
constexpr std::int64_t kLongerFactor = 3;
/// Kinds of parts that a plan names.
constexpr std::size_t kPartsMax = 5;

/// Seats begin and end together, so a shorter run asks the same.
bool is_simple(const Scenario& scenario) {
    return std::all_of(scenario.seats.begin(), scenario.seats.end(), [&](const ScenarioSeats& seats) {
        const auto whole = [](const ScenarioStreams& each) {
            return each.start.ns == 0 && each.one_more_every.ns == 0 && !each.end;
        };
        return seats.start.ns == 0 && seats.one_more_every.ns == 0 && seats.end == scenario.duration &&
               seats.meters.empty() && std::all_of(seats.streams.begin(), seats.streams.end(), whole);
    });
}

/// The seats that remain of each group if only so many are kept: each group loses its last seats at the same
/// pace, and a seat that is kept stays when more are.
std::vector<std::uint32_t> kept(const Scenario& scenario, std::uint64_t seats) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t group = 0; group < scenario.seats.size(); ++group) {
        for (std::uint32_t i = 0; i < scenario.seats[group].count; ++i)
            order.emplace_back((i + 0.5) / scenario.seats[group].count, group);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::uint32_t> counts(scenario.seats.size());
    for (std::size_t i = 0; i < std::min<std::size_t>(order.size(), seats); ++i) ++counts[order[i].second];
    return counts;
}

bool has_streams(const Scenario& scenario) {
    return std::any_of(scenario.seats.begin(), scenario.seats.end(),
                       [](const ScenarioSeats& seats) { return !seats.streams.empty(); });
}

std::vector<PurchasePart> fullest(const std::vector<PartResult>& parts) {
    std::map<PartKind, PurchasePart> by_kind;
    for (const PartResult& part : parts) {
        PurchasePart& most = by_kind[part.stats.kind];
        if (!most.name.empty() && part.utilisation <= most.utilisation) continue;
        most = {part.stats.kind, part.stats.name, part.utilisation};
    }
    std::vector<PurchasePart> out;
    for (auto& [kind, part] : by_kind) {
        if (part.utilisation >= 0.005) out.push_back(std::move(part));
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const auto& a, const auto& b) { return a.utilisation > b.utilisation; });
    if (out.size() > kPartsMax) out.resize(kPartsMax);
    return out;
}

}  // namespace

PurchasePlayer::PurchasePlayer(const PurchaseNeed& need,
                               const std::vector<ModelDocument>& documents,
                               ProgramFacts program)
    : need_(need), documents_(documents), program_(std::move(program)), screen_(need.scenario.duration) {
    if (is_simple(need.scenario)) screen_ = std::min(screen_, kFitPlay);
}

std::uint64_t PurchasePlayer::played() const {
    const MutexLock lock(mutex_);
    return played_;
}

std::vector<sim::ModelChange> PurchasePlayer::changes(std::size_t offer,
                                                      const judge::PlanLevels& levels) const {
    std::vector<sim::ModelChange> out;
    for (std::size_t choice = 0; choice < levels.size(); ++choice) {
        for (const PurchaseNumber& number : need_.offers[offer].choices[choice].levels[levels[choice]].numbers)
            out.push_back({number.pointer, false, number.value});
    }
    return out;
}

/// Equal for equal models, whichever offer they are of.
std::string PurchasePlayer::key(const PurchaseQuestion& question) const {
    std::map<std::string, double> numbers;
    for (const sim::ModelChange& each : changes(question.offer, question.levels))
        numbers[each.pointer] = each.by;
    std::string out = documents_[question.offer].path;
    for (const auto& [pointer, value] : numbers) out += fmt::format("|{}={:.17g}", pointer, value);
    const bool screens = question.length == PurchaseQuestion::Length::screen;
    return out + fmt::format("|{} seats|{}", question.seats, screens ? "screen" : "verify");
}

Scenario PurchasePlayer::scenario_for(std::size_t offer, std::uint64_t seats, Duration length) const {
    Scenario scenario = need_.scenario;
    const auto counts = kept(scenario, seats);
    for (std::size_t group = 0; group < counts.size(); ++group) {
        ScenarioSeats& each = scenario.seats[group];
        each.count = counts[group];
        each.target = "sim:" + need_.offers[offer].model;
        each.end = each.end == scenario.duration ? length : each.end;
    }
    std::erase_if(scenario.seats, [](const ScenarioSeats& each) { return each.count == 0; });
    scenario.duration = length;
    return scenario;
}

std::uint64_t PurchasePlayer::streams_of(std::uint64_t seats) const {
    const auto counts = kept(need_.scenario, seats);
    std::uint64_t all = 0;
    for (std::size_t group = 0; group < counts.size(); ++group) {
        for (const ScenarioStreams& each : need_.scenario.seats[group].streams)
            all += std::uint64_t{counts[group]} * each.count;
    }
    return all;
}

Result<void> PurchasePlayer::check(std::size_t offer, const judge::PlanLevels& levels) const {
    const ModelDocument& document = documents_[offer];
    const auto model = sim::changed_model(document.text, document.path, changes(offer, levels));
    return model ? Result<void>() : Result<void>(model.error());
}

PurchaseRun PurchasePlayer::once(const PurchaseQuestion& question,
                                 const ClusterModel& model,
                                 Duration length,
                                 bool& empties) {
    {
        const MutexLock lock(mutex_);
        ++played_;
    }
    PurchaseRun out;
    const Scenario scenario = scenario_for(question.offer, question.seats, length);
    if (!has_streams(scenario)) {
        out.pass = true;  // nothing has a deadline
        return out;
    }
    PlayRequest request = common_request(scenario);
    request.target.model = std::make_shared<const ClusterModel>(model);
    request.find_cause = false;
    std::vector<PlayPart> parts = parts_of(scenario);
    for (PlayPart& part : parts) part.request.target = request.target;
    auto media = find_media(nullptr, std::move(parts), nullptr);
    if (!media) {
        out.limit = Limit::media;
        out.reason = media.error().problems.front();
        return out;
    }
    Session session(request, std::move(*media), {}, program_, [](const std::string&) {});
    const auto result = session.execute();
    if (!result) {
        out.limit = session.preroll_took_too_long() ? Limit::storage : Limit::unknown;
        out.reason = result.error().problems.front();
        return out;
    }
    const MaxRun run = judge::max_run(*result, length, need_.headroom_percent);
    out.pass = run.pass && run.startup_drops == 0;
    out.limit = run.limit;
    out.reason = run.reason;
    if (run.pass && !out.pass)
        out.reason = fmt::format("{} frames are missed in the first second", run.startup_drops);
    out.frames = result->totals.scheduled;
    out.margin_min_ns = run.margin_min_ns;
    out.margin_p1_percent = run.margin_p1_percent;
    out.parts = fullest(result->parts);
    empties = run.empty_after_ns.has_value();
    return out;
}

PurchaseRun PurchasePlayer::long_enough(const PurchaseQuestion& question,
                                        const ClusterModel& model,
                                        Duration length) {
    bool empties = false;
    PurchaseRun run = once(question, model, length, empties);
    if (!run.pass || !empties) return run;
    bool still = false;
    return once(question, model, Duration{length.ns * kLongerFactor}, still);
}

/// Each number is that of the document, or worse.
bool PurchasePlayer::is_no_better(const PurchaseQuestion& question) const {
    const ModelDocument& document = documents_[question.offer];
    return std::ranges::all_of(
        changes(question.offer, question.levels), [&document](const sim::ModelChange& each) {
            const auto measured = sim::number_at(document.text, document.path, each.pointer);
            return measured && (more_is_worse(each.pointer) ? each.by >= *measured : each.by <= *measured);
        });
}

/// The reason why the storage that was measured, or less of it, does not play this; empty: none is known.
std::string PurchasePlayer::more_than_measured(const PurchaseQuestion& question,
                                               const ClusterModel& model) const {
    if (!model.calibration || !model.calibration->held_back || !is_no_better(question)) return "";
    const Scenario scenario = scenario_for(question.offer, question.seats, verify_length());
    if (!has_streams(scenario)) return "";
    PartsToPlay what{common_request(scenario), parts_of(scenario), {}};
    what.request.target.model = std::make_shared<const ClusterModel>(model);
    return judge::more_than_held_back(model, what.request.seats, no_easier_streams(what));
}

PurchaseRun PurchasePlayer::decided(const PurchaseQuestion& question) {
    const ModelDocument& document = documents_[question.offer];
    const auto models = models_to_verify(document.text, document.path, changes(question.offer, question.levels),
                                         document.model_error_factor);
    if (!models) {
        PurchaseRun none;
        none.limit = Limit::unknown;
        none.reason = "it is no model: " + models.error().problems.front();
        return none;
    }
    if (std::string reason = more_than_measured(question, models->front()); !reason.empty()) {
        PurchaseRun refused;
        refused.limit = Limit::storage;
        refused.reason = std::move(reason);
        return refused;
    }
    const bool screens = question.length == PurchaseQuestion::Length::screen;
    if (screens) return long_enough(question, models->front(), screen_);
    PurchaseQuestion screen = question;
    screen.length = PurchaseQuestion::Length::screen;
    // A screen of the same length has played the first model.
    PurchaseRun first =
        screen_ == verify_length() ? play(screen) : long_enough(question, models->front(), verify_length());
    for (std::size_t i = 1; i < models->size() && first.pass; ++i) {
        PurchaseRun run = long_enough(question, (*models)[i], verify_length());
        if (!run.pass) return run;
    }
    return first;
}

PurchaseRun PurchasePlayer::play(const PurchaseQuestion& question) {
    const std::string wanted = key(question);
    {
        const MutexLock lock(mutex_);
        if (const auto known = answers_.find(wanted); known != answers_.end()) return known->second;
    }
    PurchaseRun run = decided(question);
    const MutexLock lock(mutex_);
    return answers_[wanted] = std::move(run);
}

std::uint64_t PurchasePlayer::seats_that_play(const PurchaseQuestion& question) {
    std::uint64_t low = 0, high = question.seats;  // low plays, high does not
    while (high - low > 1) {
        PurchaseQuestion fewer = question;
        fewer.seats = low + (high - low) / 2;
        (play(fewer).pass ? low : high) = fewer.seats;
    }
    return low;
}

}  // namespace streamsim::run
