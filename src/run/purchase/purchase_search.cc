#include "run/purchase/purchase_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "base/amount.h"
#include "base/document/problems.h"
#include "base/system/parallel_for.h"
#include "base/units.h"
#include "judge/claims/prove.h"
#include "judge/prediction_rules.h"
#include "judge/search/plan_search.h"
#include "run/plan/meters.h"
#include "run/published/published_run.h"
#include "run/purchase/purchase_player.h"
#include "run/scenario_run.h"
#include "scenario/need_document.h"
#include "sim/model/model_document.h"
#include "sim/model/model_numbers.h"
#include "target/named_documents.h"

namespace streamsim::run {
namespace {

using judge::PlanCost;
using judge::PlanLevels;
using Length = PurchaseQuestion::Length;

/// Configurations that are played between two lines of progress.
constexpr std::size_t kProgressEvery = 40;

double count_of(const PurchaseOffer& offer, const PurchaseChoice& choice, const PlanLevels& levels) {
    if (!choice.per_choice) return choice.per;
    return offer.choices[*choice.per_choice].levels[levels[*choice.per_choice]].count;
}

PlanCost cost_of(const PurchaseOffer& offer, const PlanLevels& levels) {
    PlanCost cost{offer.price, offer.watts};
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const double count = count_of(offer, offer.choices[i], levels);
        cost.price += offer.choices[i].levels[levels[i]].price * count;
        cost.watts += offer.choices[i].levels[levels[i]].watts * count;
    }
    return cost;
}

/// "nodes 5, drives 15, link 10 Gb/s"
std::string text_of(const PurchaseOffer& offer, const PlanLevels& levels) {
    std::string out;
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const PurchaseChoice& choice = offer.choices[i];
        out += fmt::format("{}{} {}", i == 0 ? "" : ", ", choice.what, choice.levels[levels[i]].text);
    }
    return out.empty() ? "as it is" : out;
}

class PurchaseSearch {
public:
    PurchaseSearch(const PurchaseNeed& need,
                   const std::vector<PurchasePlayer::ModelDocument>& documents,
                   const PurchaseOptions& options)
        : need_(need), options_(options), player_(need, documents, options.program) {}

    Result<PurchaseResult> run() {
        if (auto checked = check_levels(); !checked) return checked.error();
        begin();
        for (std::size_t offer = 0; offer < need_.offers.size(); ++offer) {
            if (auto done = search(offer); !done) return done.error();
        }
        std::stable_sort(plans_.begin(), plans_.end(), [this](const Plan& a, const Plan& b) {
            const PlanCost x = cost(a), y = cost(b);
            return std::pair(x.price, x.watts) < std::pair(y.price, y.watts);
        });
        if (plans_.size() > need_.plans) plans_.resize(need_.plans);
        if (plans_.empty()) {
            if (auto done = find_nearest(); !done) return done.error();
        }
        tell_plans();
        result_.played = player_.played();
        return std::move(result_);
    }

private:
    struct Plan {
        std::size_t offer = 0;
        PlanLevels levels;
    };

    /// The run that decides a configuration, and the most seats that such runs play.
    struct Outcome {
        PurchaseRun run;
        std::uint64_t seats_play = 0;
    };

    PlanCost cost(const Plan& plan) const { return cost_of(need_.offers[plan.offer], plan.levels); }
    std::string money(double price) const {
        return (need_.currency.empty() ? "" : need_.currency + " ") + show_amount(price);
    }
    PurchaseQuestion question(std::size_t offer, const PlanLevels& levels, Length length) const {
        return {offer, levels, need_.seats(), length};
    }
    PlanLevels most_of(std::size_t offer) const {
        PlanLevels most;
        for (const PurchaseChoice& choice : need_.offers[offer].choices)
            most.push_back(static_cast<std::uint32_t>(choice.levels.size() - 1));
        return most;
    }

    Result<void> check_levels() const;
    void begin();
    Result<judge::PlansFound> find(std::size_t offer, std::size_t plans, PlanCost most);
    std::vector<bool> verified(std::size_t offer, const std::vector<PlanLevels>& all);
    Result<void> search(std::size_t offer);
    Result<void> find_nearest();
    void tell_plans();
    Outcome outcome(std::size_t offer, const PlanLevels& levels, bool count_seats = true);
    PurchaseLess less(const Plan& plan, std::size_t choice);

    const PurchaseNeed& need_;
    const PurchaseOptions& options_;
    PurchasePlayer player_;
    PurchaseResult result_;
    std::vector<Plan> plans_;
    std::set<std::pair<std::size_t, PlanLevels>> verified_;  // by offer: told and counted
};

/// A level with which the offer is no model, whether the other choices have their least or their most.
Result<void> PurchaseSearch::check_levels() const {
    ProblemList problems(need_.source);
    for (std::size_t offer = 0; offer < need_.offers.size(); ++offer) {
        const PlanLevels most = most_of(offer);
        const PlanLevels least(most.size(), 0);
        for (std::size_t choice = 0; choice < most.size(); ++choice) {
            const PurchaseChoice& each = need_.offers[offer].choices[choice];
            for (std::uint32_t level = 0; level <= most[choice]; ++level) {
                PlanLevels low = least, high = most;
                low[choice] = high[choice] = level;
                const auto checked = player_.check(offer, high);
                if (checked || player_.check(offer, low)) continue;
                problems.add(fmt::format("{}: {}: with {} {} it is no model: {}", need_.source, each.pointer,
                                         each.what, each.levels[level].text, checked.error().problems.front()));
            }
        }
    }
    if (!problems.empty()) return problems.error();
    return {};
}

void PurchaseSearch::begin() {
    result_.need = need_.source;
    result_.description = need_.description;
    result_.currency = need_.currency;
    result_.seats = need_.seats();
    result_.streams = need_.streams();
    result_.headroom_percent = need_.headroom_percent;
    result_.hours_together = need_.hours_together;
    result_.claim = need_.claim;
    if (need_.claim_drops_per_day > 0)
        result_.prove_hours = judge::ProveTest(need_.claim_drops_per_day).result().needed_hours;
    result_.price_max = need_.price_max;
    result_.watts_max = need_.watts_max;
    result_.verify_ns = player_.verify_length().ns;
    result_.screen_ns = player_.screen_length().ns;
    for (const PurchaseOffer& offer : need_.offers) {
        double all = 1;
        for (const PurchaseChoice& choice : offer.choices) all *= static_cast<double>(choice.levels.size());
        result_.configurations += all;
    }
}

Result<judge::PlansFound> PurchaseSearch::find(std::size_t offer, std::size_t plans, PlanCost most) {
    const PurchaseOffer& its = need_.offers[offer];
    judge::PlanSpace space;
    for (const PurchaseChoice& choice : its.choices)
        space.sizes.push_back(static_cast<std::uint32_t>(choice.levels.size()));
    space.cost = [&its](const PlanLevels& levels) { return cost_of(its, levels); };
    judge::PlanSearchOptions options;
    options.plans = plans;
    options.most = most;
    options.at_once = computing_threads();
    options.checks = options_.checks;
    std::size_t played = 0, told = 0;
    return judge::find_plans(
        space, options,
        [&](const std::vector<PlanLevels>& all) -> Result<std::vector<bool>> {
            std::vector<char> pass(all.size());
            parallel_for(
                all.size(),
                [&](std::size_t i) { pass[i] = player_.play(question(offer, all[i], Length::screen)).pass; },
                computing_threads());
            played += all.size();
            if (played >= told + kProgressEvery) {
                told = played;
                options_.progress(fmt::format("{}: {} played", its.name, counted(played, "configuration")));
            }
            return std::vector<bool>(pass.begin(), pass.end());
        },
        [&](const std::vector<PlanLevels>& all) -> Result<std::vector<bool>> { return verified(offer, all); });
}

std::vector<bool> PurchaseSearch::verified(std::size_t offer, const std::vector<PlanLevels>& all) {
    const PurchaseOffer& its = need_.offers[offer];
    std::vector<PurchaseRun> runs(all.size());
    parallel_for(
        all.size(), [&](std::size_t i) { runs[i] = player_.play(question(offer, all[i], Length::verify)); },
        computing_threads());
    std::vector<bool> answers;
    for (std::size_t i = 0; i < all.size(); ++i) {
        answers.push_back(runs[i].pass);
        if (!verified_.insert({offer, all[i]}).second) continue;  // find_nearest() asks again
        options_.progress(fmt::format(
            "{}: {}: {}: {}", its.name, text_of(its, all[i]), money(cost_of(its, all[i]).price),
            runs[i].pass ? "the verification run plays" : "the verification run fails: " + runs[i].reason));
        ++result_.verified;
        if (!runs[i].pass) ++result_.verified_failed;
    }
    return answers;
}

Result<void> PurchaseSearch::search(std::size_t offer) {
    const double unlimited = std::numeric_limits<double>::infinity();
    PlanCost most{need_.price_max.value_or(unlimited), need_.watts_max.value_or(unlimited)};
    if (plans_.size() >= need_.plans) {
        std::vector<double> prices;
        for (const Plan& plan : plans_) prices.push_back(cost(plan).price);
        std::sort(prices.begin(), prices.end());
        most.price = std::min(most.price, prices[need_.plans - 1]);
    }
    options_.progress(fmt::format("{}: searching", need_.offers[offer].name));
    const auto found = find(offer, need_.plans, most);
    if (!found) return found.error();
    result_.checked += found->checked;
    const PurchaseOffer& its = need_.offers[offer];
    for (const judge::PlanContradiction& each : found->contradictions) {
        const PurchaseRun run = outcome(offer, each.fails, false).run;
        result_.worse.push_back({its.name, its.choices[each.choice].what, text_of(its, each.plays),
                                 text_of(its, each.fails), run.reason});
    }
    for (const PlanLevels& levels : found->plans) plans_.push_back({offer, levels});
    return {};
}

/// For each offer: the cheapest that plays beyond the limits, else what it has the most of.
Result<void> PurchaseSearch::find_nearest() {
    const double unlimited = std::numeric_limits<double>::infinity();
    for (std::size_t offer = 0; offer < need_.offers.size(); ++offer) {
        const auto found = find(offer, 1, {unlimited, unlimited});
        if (!found) return found.error();
        const PurchaseOffer& its = need_.offers[offer];
        const PlanLevels levels = found->plans.empty() ? most_of(offer) : found->plans.front();
        const PlanCost its_cost = cost_of(its, levels);
        PurchaseNearest nearest{its.name, text_of(its, levels), its_cost.price, its_cost.watts};
        nearest.plays = !found->plans.empty();
        if (nearest.plays) {
            nearest.seats_play = need_.seats();
            if (need_.price_max && its_cost.price > *need_.price_max)
                nearest.why =
                    fmt::format("the price {} is above {}", money(its_cost.price), money(*need_.price_max));
            if (need_.watts_max && its_cost.watts > *need_.watts_max)
                nearest.why += fmt::format("{}the power {} W is above {} W", nearest.why.empty() ? "" : "; ",
                                           show_amount(its_cost.watts), show_amount(*need_.watts_max));
        } else {
            const Outcome all = outcome(offer, levels);
            nearest.seats_play = all.seats_play;
            nearest.limit = all.run.limit;
            nearest.why = all.run.reason;
        }
        nearest.streams_play = player_.streams_of(nearest.seats_play);
        result_.nearest.push_back(std::move(nearest));
    }
    std::stable_sort(result_.nearest.begin(), result_.nearest.end(), [](const auto& a, const auto& b) {
        return std::tuple(!a.plays, -static_cast<double>(a.seats_play), a.price) <
               std::tuple(!b.plays, -static_cast<double>(b.seats_play), b.price);
    });
    return {};
}

PurchaseSearch::Outcome PurchaseSearch::outcome(std::size_t offer, const PlanLevels& levels, bool count_seats) {
    PurchaseQuestion asked = question(offer, levels, Length::screen);
    Outcome out{player_.play(asked), need_.seats()};
    if (out.run.pass) {
        asked.length = Length::verify;
        out.run = player_.play(asked);
    }
    if (!out.run.pass) out.seats_play = count_seats ? player_.seats_that_play(asked) : 0;
    return out;
}

PurchaseLess PurchaseSearch::less(const Plan& plan, std::size_t choice) {
    PlanLevels levels = plan.levels;
    --levels[choice];
    const Outcome all = outcome(plan.offer, levels);
    PurchaseLess out;
    out.value = need_.offers[plan.offer].choices[choice].levels[levels[choice]].text;
    out.plays = all.run.pass;
    out.seats_play = all.seats_play;
    out.streams_play = player_.streams_of(out.seats_play);
    out.limit = all.run.limit;
    out.reason = all.run.reason;
    return out;
}

void PurchaseSearch::tell_plans() {
    struct Task {
        std::size_t plan, choice;
    };
    std::vector<Task> tasks;
    for (std::size_t i = 0; i < plans_.size(); ++i) {
        const Plan& plan = plans_[i];
        const PurchaseOffer& offer = need_.offers[plan.offer];
        const PurchaseRun run = player_.play(question(plan.offer, plan.levels, Length::verify));
        PurchasePlan& out = result_.plans.emplace_back();
        out.offer = offer.name;
        out.model = offer.model;
        out.price = cost(plan).price;
        out.watts = cost(plan).watts;
        out.parts = run.parts;
        out.frames = run.frames;
        out.margin_min_ns = run.margin_min_ns;
        out.margin_p1_percent = run.margin_p1_percent;
        for (std::size_t choice = 0; choice < plan.levels.size(); ++choice) {
            const PurchaseLevel& level = offer.choices[choice].levels[plan.levels[choice]];
            const double count = count_of(offer, offer.choices[choice], plan.levels);
            out.choices.push_back(
                {offer.choices[choice].what, level.text, level.price * count, level.watts * count, {}});
            if (plan.levels[choice] > 0) tasks.push_back({i, choice});
        }
    }
    if (!tasks.empty()) options_.progress(counted(plans_.size(), "plan") + ": one step less of each choice");
    parallel_for(
        tasks.size(),
        [&](std::size_t i) {
            const auto [plan, choice] = tasks[i];
            result_.plans[plan].choices[choice].less = less(plans_[plan], choice);
        },
        computing_threads());
}

Result<std::vector<PurchasePlayer::ModelDocument>> documents_of(const PurchaseNeed& need,
                                                                const std::string& formats) {
    std::vector<PurchasePlayer::ModelDocument> all;
    for (const PurchaseOffer& offer : need.offers) {
        auto text = read_model_text(offer.model, formats);
        if (!text) return text.error();
        all.push_back({std::move(text->path), std::move(text->text)});
    }
    return all;
}

/// The formats that the seats play and record, how many seats there are, and whether they have links.
judge::PredictionQuestion question_of(const PurchaseNeed& need) {
    judge::PredictionQuestion question{{}, static_cast<std::uint32_t>(need.seats())};
    question.own_links =
        std::ranges::any_of(common_request(need.scenario).seat_settings, &SeatSetting::has_link);
    for (const ScenarioSeats& seats : need.scenario.seats) {
        for (const ScenarioStreams& streams : seats.streams) {
            if (streams.format && std::ranges::count(question.formats, streams.format->name) == 0)
                question.formats.push_back(streams.format->name);
        }
    }
    return question;
}

/// The held-back run of each calibrated model, and how the need lies outside what was measured, for which the
/// error of the model grows.
Result<std::vector<std::string>> trust_in(const PurchaseNeed& need,
                                          std::vector<PurchasePlayer::ModelDocument>& documents) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < documents.size(); ++i) {
        const auto model = sim::read_model_document(documents[i].text, documents[i].path);
        if (!model) return model.error();
        const std::string name = need.offers[i].name + ": ";
        if (model->calibration && model->calibration->held_back)
            all.push_back(name + held_back_sentence(*model->calibration->held_back));
        const judge::OutsideMeasured outside = judge::outside_measured(*model, question_of(need));
        for (const std::string& sentence : outside.sentences) all.push_back(name + sentence);
        documents[i].model_error_factor = outside.model_error_factor;
    }
    return all;
}

Result<void> refuse_rejected(const ClusterModel& model) {
    if (!model.calibration || !model.calibration->held_back || !model.calibration->held_back->rejected)
        return {};
    return bad_input("the model does not hold: " + held_back_sentence(*model.calibration->held_back) +
                     ": calibrate again");
}

/// By RFC 6901: it begins with '/', and '~' only in "~0" and "~1".
bool is_pointer(const std::string& text) {
    if (!text.starts_with('/')) return false;
    for (std::size_t at = text.find('~'); at != std::string::npos; at = text.find('~', at + 1)) {
        if (at + 1 == text.size() || (text[at + 1] != '0' && text[at + 1] != '1')) return false;
    }
    return true;
}

}  // namespace

Result<PurchaseNeed> read_purchase_need(std::string_view text,
                                        const std::string& source,
                                        const std::string& formats) {
    const auto catalogue = media::Catalogue::load(formats + "/media");
    if (!catalogue) return catalogue.error();
    scenario::NeedWords words;
    words.scenario = scenario_words(*catalogue, formats);
    words.model = [&formats](const std::string& model) -> Result<void> {
        auto target = target::parse_target("sim:" + model);
        if (!target) return target.error();
        if (target->kind != target::Target::Kind::model || model.find('?') != std::string::npos)
            return bad_input(fmt::format("expected a model: a NAME or a FILE, found '{}'", model));
        if (auto opened = target::open_model(*target, formats + "/storage"); !opened) return opened;
        return refuse_rejected(*target->model);
    };
    words.number = [&formats](const std::string& model, const std::string& pointer) -> Result<double> {
        if (!is_pointer(pointer))
            return bad_input(
                fmt::format("expected a JSON pointer such as \"/node/drives\", found '{}'", pointer));
        const auto document = read_model_text(model, formats);
        if (!document) return document.error();
        return sim::number_at(document->text, document->path, pointer);
    };
    words.whole = [&formats](const std::string& model, const std::string& pointer) {
        const auto document = read_model_text(model, formats);
        return is_pointer(pointer) && document && sim::is_whole_at(document->text, document->path, pointer);
    };
    words.time = [&formats](const std::string& model, const std::string& pointer) {
        const auto document = read_model_text(model, formats);
        return document && sim::is_time_at(document->text, document->path, pointer);
    };
    words.size = [&formats](const std::string& model, const std::string& pointer) {
        const auto document = read_model_text(model, formats);
        return document && sim::is_size_at(document->text, document->path, pointer);
    };
    words.claim = judge::parse_prove;
    auto need = scenario::read_need(text, source, words);
    if (!need) return need;
    if (auto checked = check_meters(common_request(need->scenario)); !checked) {
        Error error = checked.error();
        for (std::string& problem : error.problems) problem = fmt::format("{}: /seats: {}", source, problem);
        return error;
    }
    return need;
}

Result<PurchaseResult> plan_purchase(const PurchaseNeed& need, const PurchaseOptions& options) {
    auto documents = documents_of(need, options.formats);
    if (!documents) return documents.error();
    auto trust = trust_in(need, *documents);
    if (!trust) return trust.error();
    auto result = PurchaseSearch(need, *documents, options).run();
    if (result) result->trust = std::move(*trust);
    return result;
}

}  // namespace streamsim::run
