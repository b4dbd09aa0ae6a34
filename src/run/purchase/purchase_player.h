// Plays the seats of a need on configurations of its offers, and keeps the outcomes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/system/mutex.h"
#include "judge/search/plan_search.h"
#include "run/session/session.h"
#include "sim/model/model_numbers.h"
#include "streamsim/purchase_need.h"
#include "streamsim/purchase_plan.h"

namespace streamsim::run {

struct PurchaseRun {
    bool pass = false;
    Limit limit = Limit::none;
    std::string reason;
    std::uint64_t frames = 0;
    std::optional<std::int64_t> margin_min_ns;
    std::optional<double> margin_p1_percent;
    std::vector<PurchasePart> parts;  // the fullest of each kind, the fullest first
};

/// A configuration of an offer, and a question: whether the first `seats` seats play. Seats are kept in equal
/// shares of each group.
struct PurchaseQuestion {
    std::size_t offer = 0;
    judge::PlanLevels levels;
    std::uint64_t seats = 0;
    enum class Length { screen, verify } length = Length::screen;
};

/// Any thread, several at once.
class PurchasePlayer {
public:
    /// `texts`: the document of each offer's model. `need` and `texts` outlive it.
    struct ModelDocument {
        std::string path, text;
        double model_error_factor = 1;  // as the need lies outside what was measured
    };
    PurchasePlayer(const PurchaseNeed& need, const std::vector<ModelDocument>& documents, ProgramFacts program);

    /// Plays, unless an equal question was answered: by a model with the same numbers. A run whose buffers
    /// empty steadily is followed by a longer one, which decides. A verification run plays all models of
    /// models_to_verify(), also where a screen is as long.
    PurchaseRun play(const PurchaseQuestion& question);
    /// The most seats below all of them that play, by runs of this length.
    std::uint64_t seats_that_play(const PurchaseQuestion& question);
    /// Streams of the first `seats` seats.
    std::uint64_t streams_of(std::uint64_t seats) const;

    Duration screen_length() const { return screen_; }
    Duration verify_length() const { return need_.scenario.duration; }
    std::uint64_t played() const;
    /// Errors: bad input: the configuration is no model.
    Result<void> check(std::size_t offer, const judge::PlanLevels& levels) const;

private:
    std::vector<sim::ModelChange> changes(std::size_t offer, const judge::PlanLevels& levels) const;
    std::string key(const PurchaseQuestion& question) const;
    Scenario scenario_for(std::size_t offer, std::uint64_t seats, Duration length) const;
    bool is_no_better(const PurchaseQuestion& question) const;
    std::string more_than_measured(const PurchaseQuestion& question, const ClusterModel& model) const;
    PurchaseRun decided(const PurchaseQuestion& question);
    PurchaseRun long_enough(const PurchaseQuestion& question, const ClusterModel& model, Duration length);
    PurchaseRun once(const PurchaseQuestion& question,
                     const ClusterModel& model,
                     Duration length,
                     bool& empties);

    const PurchaseNeed& need_;
    const std::vector<ModelDocument>& documents_;
    const ProgramFacts program_;
    Duration screen_;
    mutable Mutex mutex_;
    std::map<std::string, PurchaseRun> answers_ GUARDED_BY(mutex_);
    std::uint64_t played_ GUARDED_BY(mutex_) = 0;
};

}  // namespace streamsim::run
