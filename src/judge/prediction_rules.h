// The answer that draws of a calibrated model give: an interval, what the question lies outside of, and when
// there is no answer. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "streamsim/cluster_model.h"
#include "streamsim/media.h"
#include "streamsim/prediction.h"
#include "streamsim/run_result.h"

namespace streamsim::judge {

/// A question to a calibrated model.
struct PredictionQuestion {
    std::vector<std::string> formats;  // that play
    std::uint32_t seats = 1;
    bool own_links = false;  // seats have other links than those that were measured
};

/// How the question lies outside what was measured.
struct OutsideMeasured {
    std::vector<std::string> sentences;
    std::vector<std::string> next;    // what to measure instead
    double model_error_factor = 1;    // of the draws: doubled for each step outside
    bool server_may_be_full = false;  // more seats than were measured, or other links, and parts of the server
                                      // that never were full
};
OutsideMeasured outside_measured(const ClusterModel& model, const PredictionQuestion& question);

/// The streams of the held-back run by those that were predicted, where it gave fewer than their interval
/// allows; else 1. A run that gave none has half of one.
double held_back_share(const ClusterModel& model);

/// The reason why these streams do not play on so many seats, where more of them are no easier than the
/// held-back run gave; empty: that run does not say so.
std::string more_than_held_back(const ClusterModel& model, std::uint64_t seats, std::uint64_t no_easier);

/// The part of a model that a play which failed found full: "server", "server network", "drives", "seat link",
/// "seat CPU"; "response time" where none was.
std::string full_part(const RunResult& result);

/// The result of one draw.
struct DrawAnswer {
    std::uint64_t streams = 0;  // most: that play; plays: not used
    bool plays = false;         // plays
    std::string full;           // the part that was full with one stream more, or when the play failed
};

/// The reason that no stream plays: its rate and the rate of a seat, which is lower; empty: it is not.
std::string too_fast_for_a_seat(const ClusterModel& model,
                                const MediaFormat& format,
                                double stream_bytes_per_s);

/// Fewer draws give an interval of 90 % no meaning.
inline constexpr std::uint32_t kDrawsMin = 20;

/// Says that an answer is from fewer draws than were asked for, where it is.
void mark_interrupted(std::uint64_t asked_draws, Prediction& prediction);

/// Fills in the interval, the distribution, shares and the verdict with its sentences. The interval holds the
/// number of the held-back run if the question is that of this run, and is wider by the error of a held-back
/// run outside its own interval. A calibration that could not tell a seat from the server has neither link
/// named. `at_most`: the largest number that was tried; draws that play as many, and if_never_full, are
/// unbounded. Given streams of which more are no easier than the held-back run gave, on its seats, are refused.
/// REQUIRES: prediction has question, what, seats, as_held_back or no_easier, streams, nominal and
/// if_never_full.
void conclude(const ClusterModel& model,
              const OutsideMeasured& outside,
              const std::vector<DrawAnswer>& answers,
              std::optional<std::uint64_t> at_most,
              Prediction& prediction);

/// Play is predicted to go well: the whole interval is above 0, or given streams play in 95 % of the draws.
bool predicts_play(const Prediction& prediction);
/// Play is predicted to fail: the whole interval is 0, or given streams play in 5 % of the draws or fewer.
bool predicts_failure(const Prediction& prediction);

}  // namespace streamsim::judge
