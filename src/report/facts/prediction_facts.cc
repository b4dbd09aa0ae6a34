#include "report/facts/prediction_facts.h"

#include <fmt/format.h>

#include "base/units.h"
#include "base/utf8.h"

namespace streamsim::report {

std::string prediction_headline(const Prediction& prediction) {
    std::string sentence = printable(prediction.sentence);
    switch (prediction.verdict) {
        case Prediction::Verdict::answered: return sentence;
        case Prediction::Verdict::refused: return "REFUSED: " + sentence;
        case Prediction::Verdict::interrupted: return "INTERRUPTED: " + sentence;
    }
    return sentence;
}

std::vector<std::string> prediction_sentences(const Prediction& prediction) {
    std::vector<std::string> out = {prediction_headline(prediction)};
    for (const std::string& text : prediction.refused) out.push_back("refused: " + printable(text));
    for (const std::string& text : prediction.next) out.push_back("next: " + printable(text));
    for (const std::string& text : prediction.outside)
        out.push_back("outside what was measured: " + printable(text));
    return out;
}

std::string prediction_title(const PredictionResult& result) {
    return fmt::format("Predicted from {}, over {} of its numbers{}", printable(result.common.url),
                       counted(result.draws, "draw"),
                       result.interrupted ? " (interrupted: as far as it is known)" : "");
}

double percent_of(std::uint64_t part, std::uint64_t all) {
    const std::uint64_t tenths = all == 0 ? 0 : (part * 1000 + all / 2) / all;
    return static_cast<double>(tenths) / 10;
}

std::string prediction_closing(const PredictionResult& result) {
    std::string out;
    for (const Prediction& prediction : result.predictions)
        out += (out.empty() ? "" : "; ") + prediction_headline(prediction);
    return out.empty() ? "INTERRUPTED before the first answer" : out;
}

}  // namespace streamsim::report
