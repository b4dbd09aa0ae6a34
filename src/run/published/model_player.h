// Plays streams on a model, again and again, as `max` and play do: for printed rows, fits and sensitivities.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "judge/search/max_search.h"
#include "media/catalogue/catalogue.h"
#include "run/session/session.h"
#include "streamsim/cluster_model.h"
#include "streamsim/published.h"

namespace streamsim::run {

/// Any thread, several at once.
class ModelPlayer {
public:
    /// `catalogue` outlives it.
    ModelPlayer(const media::Catalogue& catalogue, ProgramFacts program)
        : catalogue_(catalogue), program_(std::move(program)) {}

    /// Plays `streams` of the row on its seats for `length`. Errors: bad input for an unknown format.
    Result<MaxRun> play(const std::shared_ptr<const ClusterModel>& model,
                        const PublishedRow& row,
                        std::uint32_t streams,
                        Duration length) const;
    /// True: no frame is missed.
    bool plays(const std::shared_ptr<const ClusterModel>& model,
               const PublishedRow& row,
               std::uint32_t streams,
               Duration length) const;
    /// The most that plays, as `max` finds it: in equal numbers a seat where the row has these. The steps of
    /// the result count streams, or streams a seat.
    Result<MaxFormat> most(const std::shared_ptr<const ClusterModel>& model,
                           const PublishedRow& row,
                           const judge::MaxSearchOptions& options) const;
    /// Bytes a second that the model delivers at most to the row's seats, without deadlines.
    Result<double> most_rate(const std::shared_ptr<const ClusterModel>& model, const PublishedRow& row) const;
    /// Bytes a second that one stream of a format requires. Errors: bad input.
    Result<double> rate_of(const std::string& format) const;

private:
    Result<PlayRequest> request_of(const std::shared_ptr<const ClusterModel>& model,
                                   const PublishedRow& row,
                                   std::uint32_t streams) const;

    const media::Catalogue& catalogue_;
    const ProgramFacts program_;
};

/// "sim:h500?nodes=1"
std::string url_of(const PublishedRow& row);
/// Streams that one step more of the row stands for.
inline std::uint32_t step_of(const PublishedRow& row) {
    return row.equal ? row.seats : 1;
}

}  // namespace streamsim::run
