// Prediction: what a calibrated model says of a question, over many draws of its uncertain numbers. Each draw
// is a model that could be the storage which was measured; shares of draws are probabilities as far as the
// calibration holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "streamsim/fields.h"

namespace streamsim {

/// Draws with the same answer.
struct PredictedCount {
    std::uint64_t streams = 0;
    std::uint64_t draws = 0;
};
void fields(ConstOr<PredictedCount> auto& count, auto& visit) {
    visit("streams", count.streams);
    visit("draws", count.draws);
}

/// Draws in which the same part was full first, with one stream more than plays.
struct FullFirst {
    /// "server", "server network", "drives", "seat link", "seat CPU", "response time"; of a calibration that
    /// could not tell the two links apart "seat or server, not told apart"
    std::string part;
    std::uint64_t draws = 0;
};
void fields(ConstOr<FullFirst> auto& full, auto& visit) {
    visit("part", full.part);
    visit("draws", full.draws);
}

struct Prediction {
    enum class Question {
        most,   // how many streams play?
        plays,  // do these play?
    };
    enum class Verdict {
        answered,
        refused,      // the interval is too wide, or the model does not hold
        interrupted,  // from fewer draws than were asked for
    };

    Question question = Question::most;
    Verdict verdict = Verdict::answered;
    std::string what;                      // "dpx12"; of several kinds of streams "these streams"
    std::uint32_t seats = 1;               // that play it
    std::uint64_t draws = 0;               // that were played
    std::optional<std::uint64_t> streams;  // plays: that were asked for, of all seats
    std::optional<std::uint64_t> draws_that_play;
    /// The streams of the held-back run's format that are as hard for the storage as those of that run, or
    /// harder, whatever else loads it; in no document.
    std::uint64_t no_easier = 0;

    // most: of all seats together
    bool as_held_back = false;  // they are read as those of a held-back run, and play alone; in no document
    std::optional<std::uint64_t> nominal;  // with each number at its value
    std::optional<std::uint64_t> low;      // 5 % of the draws play fewer
    /// 5 % of the draws play more; of an answer "at least" if_never_full; nullopt: that is no bound.
    std::optional<std::uint64_t> high;
    /// As many play if the parts of the server that were never full never are, and more where there is no
    /// `high`; nullopt: such parts do not matter.
    std::optional<std::uint64_t> if_never_full;
    std::vector<PredictedCount> distribution;  // ascending

    std::vector<FullFirst> full_first;  // the most frequent first
    std::vector<std::string> outside;   // sentences: how the question lies beyond what was measured
    std::vector<std::string> refused;   // sentences: why there is no answer
    std::vector<std::string> next;      // sentences: what to measure
    std::string sentence;               // the answer
};

constexpr const char* to_string(Prediction::Question question) {
    switch (question) {
        case Prediction::Question::most: return "most";
        case Prediction::Question::plays: return "plays";
    }
    return "?";
}
constexpr const char* to_string(Prediction::Verdict verdict) {
    switch (verdict) {
        case Prediction::Verdict::answered: return "answered";
        case Prediction::Verdict::refused: return "refused";
        case Prediction::Verdict::interrupted: return "interrupted";
    }
    return "?";
}

void fields(ConstOr<Prediction> auto& prediction, auto& visit) {
    visit("question", prediction.question);
    visit("verdict", prediction.verdict);
    visit("what", prediction.what);
    visit("seats", prediction.seats);
    visit("draws", prediction.draws);
    visit("streams", prediction.streams);
    visit("draws_that_play", prediction.draws_that_play);
    visit("nominal", prediction.nominal);
    visit("low", prediction.low);
    visit("high", prediction.high);
    visit("if_never_full", prediction.if_never_full);
    visit("distribution", prediction.distribution);
    visit("full_first", prediction.full_first);
    visit("outside", prediction.outside);
    visit("refused", prediction.refused);
    visit("next", prediction.next);
    visit("sentence", prediction.sentence);
}

}  // namespace streamsim
