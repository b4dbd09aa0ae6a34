// Calibrates and predicts on random storages of another structure than the models' (tests/sim/truth/), in
// virtual time, and compares with what they play.
//
//     prediction_truths [COUNT] [SEATS] [FIRST] [FAMILY] [DRAWS]
//
// COUNT truths of each of the six families (default 20), calibrated from SEATS seats (default 2), with seeds
// from FIRST on. One truth of one family is shown with the fit.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/system/parallel_for.h"
#include "media/catalogue/catalogue.h"
#include "run/calibration/calibrated_document.h"
#include "run/calibration/held_back.h"
#include "run/calibration/model_fit.h"
#include "run/calibration/virtual_target.h"
#include "run/prediction/prediction.h"
#include "sim/model/model_document.h"
#include "truth/truth_most.h"
#include "truth/truth_storage.h"

namespace streamsim::test {
namespace {

constexpr const char* kFormat = "prores-uhd";

struct Question {
    std::string distance;  // from what was measured
    std::string format;
    std::uint32_t seats = 1;
};

struct Answer {
    TruthFamily family = TruthFamily::priority;
    std::uint64_t seed = 0;
    Question question;
    std::uint64_t predicted = 0, low = 0, high = 0, truth = 0;
    std::uint64_t if_never_full = 0;
    bool at_least = false;  // the server was never full
    bool refused = false, rejected = false;
    std::string error;

    bool near() const {
        const double off = std::abs(static_cast<double>(predicted) - static_cast<double>(truth));
        return off <= std::max(1.0, 0.1 * static_cast<double>(truth));
    }
    bool covered() const { return low <= truth && truth <= high; }
};

Result<Calibration> calibrate(const TruthSpec& spec, std::uint32_t seats, const media::Catalogue& catalogue) {
    auto measured = run::measure_virtual(request_on_truth(spec, 1), seats, {});
    if (!measured) return measured.error();
    run::FitOptions options;
    options.name = "truth";
    auto fitted = run::fit_model(*measured, options);
    if (!fitted) return fitted.error();
    const MediaFormat& format = *catalogue.find(kFormat);
    // One seat, which no question is about.
    const auto truth = truth_most(spec, format, 1, 3);
    if (!truth) return truth.error();
    auto check = run::check_held_back(*fitted, {format.name, 1, *truth, ""}, format, {});
    if (!check) return check.error();
    fitted->held_back = std::move(*check);
    fitted->document = run::calibrated_document(*fitted);
    return fitted;
}

Result<void> answer(const Calibration& calibration,
                    const TruthSpec& spec,
                    const media::Catalogue& catalogue,
                    std::uint32_t draws,
                    Answer& into) {
    auto model = sim::read_model_document(calibration.document, calibration.name);
    if (!model) return model.error();
    run::PlayRequest request = run::request_on(std::make_shared<const ClusterModel>(std::move(*model)));
    request.formats = {*catalogue.find(kFormat)};
    request.seats = into.question.seats;
    run::PredictionOptions options;
    options.draws = draws;
    const auto predicted =
        run::predict_most({calibration.name, calibration.document}, request, std::nullopt, options);
    if (!predicted) return predicted.error();
    into.predicted = predicted->nominal.value_or(0);
    into.low = predicted->low.value_or(0);
    into.high = predicted->high.value_or(0);
    into.at_least = predicted->if_never_full.has_value();
    into.if_never_full = predicted->if_never_full.value_or(0);
    into.refused = predicted->verdict == Prediction::Verdict::refused;
    const auto truth = truth_most(spec, request.formats.front(), into.question.seats, 2);
    if (!truth) return truth.error();
    into.truth = *truth;
    return {};
}

std::vector<Answer> answers_for(TruthFamily family,
                                std::uint64_t seed,
                                std::uint32_t seats,
                                std::uint32_t draws,
                                const media::Catalogue& catalogue) {
    const TruthSpec spec = random_truth(family, seed);
    std::vector<Answer> answers;
    const auto calibration = calibrate(spec, seats, catalogue);
    for (const auto& [distance, times] :
         {std::pair{"the measured seats", 1U}, std::pair{"twice the seats", 2U}, std::pair{"four times", 4U}}) {
        Answer& each = answers.emplace_back();
        each.family = family;
        each.seed = seed;
        each.question = {distance, kFormat, times * seats};
        const auto answered = calibration ? answer(*calibration, spec, catalogue, draws, each)
                                          : Result<void>(calibration.error());
        if (!answered) each.error = answered.error().problems.front();
        if (calibration) each.rejected = calibration->held_back->rejected;
    }
    return answers;
}

struct Sum {
    int questions = 0, near_of_all = 0, covered_of_all = 0, answered = 0, near = 0, covered = 0;
    int refused = 0, rejected = 0, failed = 0, at_least = 0, above = 0;
    double error = 0;

    void add(const Answer& answer) {
        if (!answer.error.empty()) {
            ++failed;
        } else if (answer.at_least) {
            ++at_least;
            above += answer.truth >= answer.low ? 1 : 0;
        } else {
            add_interval(answer);
        }
    }
    void add_interval(const Answer& answer) {
        ++questions;
        near_of_all += answer.near() ? 1 : 0;
        covered_of_all += answer.covered() ? 1 : 0;
        rejected += answer.rejected ? 1 : 0;
        refused += answer.refused && !answer.rejected ? 1 : 0;
        if (answer.refused || answer.rejected) return;
        ++answered;
        near += answer.near() ? 1 : 0;
        covered += answer.covered() ? 1 : 0;
        if (answer.truth > 0)
            error += std::abs(static_cast<double>(answer.predicted) / static_cast<double>(answer.truth) - 1);
    }
};

void print_sums(const std::vector<Answer>& all) {
    std::map<std::string, Sum> sums;
    for (const Answer& answer : all) {
        for (const std::string& key :
             {std::string("all"), std::string("family ") + to_string(answer.family), answer.question.distance})
            sums[key].add(answer);
    }
    const auto share = [](int part, int of) { return 100.0 * part / std::max(of, 1); };
    fmt::print("\n{:<20} {:>9} {:>12} {:>9} {:>9} {:>12} {:>9} {:>10} {:>8} {:>8} {:>8} {:>11} {:>6}\n", "",
               "questions", "1 or 10 %", "covered", "answered", "1 or 10 %", "covered", "mean error",
               "too wide", "rejected", "at least", "truth above", "failed");
    for (const auto& [key, sum] : sums) {
        fmt::print(
            "{:<20} {:>9} {:>10.1f} % {:>7.1f} % {:>9} {:>10.1f} % {:>7.1f} % {:>8.1f} % {:>8} {:>8} {:>8} "
            "{:>11} "
            "{:>6}\n",
            key, sum.questions, share(sum.near_of_all, sum.questions), share(sum.covered_of_all, sum.questions),
            sum.answered, share(sum.near, sum.answered), share(sum.covered, sum.answered),
            100 * sum.error / std::max(sum.answered, 1), sum.refused, sum.rejected, sum.at_least, sum.above,
            sum.failed);
    }
}

void print_answer(const Answer& answer) {
    if (!answer.error.empty()) {
        fmt::print("{:<9} {:>5} {}\n", to_string(answer.family), answer.seed, answer.error);
        return;
    }
    std::string remark = answer.near() ? "" : "MISSED";
    if (!answer.covered()) remark += " outside";
    if (answer.refused) remark += " refused";
    if (answer.rejected) remark += " rejected";
    if (answer.at_least)
        remark = fmt::format("at least; {} if the server were never full", answer.if_never_full);
    fmt::print("{:<9} {:>5} {:<20} {:>5} {:>9} {:>4} to {:>3} {:>6} {}\n", to_string(answer.family),
               answer.seed, answer.question.distance, answer.question.seats, answer.predicted, answer.low,
               answer.high, answer.truth, remark);
}

/// Shows a truth, and how near the fit came to its probes.
void explain(TruthFamily family, std::uint64_t seed, std::uint32_t seats, const media::Catalogue& catalogue) {
    const TruthSpec spec = random_truth(family, seed);
    fmt::print("{} {}: {}\n", to_string(family), seed, describe(spec));
    const auto calibration = calibrate(spec, seats, catalogue);
    if (!calibration) return;
    for (const CalibratedNumber& value : calibration->values)
        fmt::print("{:<40} {:>14.6g} {:>14.6g} {:>14} {}\n", value.pointer, value.value, value.low,
                   value.high ? fmt::format("{:.6g}", *value.high) : "", value.free ? "fitted" : "");
    for (const FitResidual& each : calibration->residuals)
        fmt::print("{:<16} {:<16} {:<12} {:>14.6g} {:>14.6g} {:>+7.1f} % {}\n", each.probe, each.quantity,
                   each.unit, each.measured, each.fitted, 100 * (each.fitted / each.measured - 1),
                   each.used ? "fitted" : "");
    fmt::print("model error {:.3f}; held back: measured {}, predicted {} ({} to {})\n",
               calibration->model_error, calibration->held_back->measured.streams,
               calibration->held_back->predicted, calibration->held_back->low, calibration->held_back->high);
}

int run_all(int argc, char** argv) {
    const auto argument = [&](int i, std::uint64_t standard) {
        return argc > i ? static_cast<std::uint64_t>(std::strtoull(argv[i], nullptr, 10)) : standard;
    };
    const std::uint64_t count = argument(1, 20);
    const auto seats = static_cast<std::uint32_t>(argument(2, 2));
    const std::uint64_t first = argument(3, 1);
    const auto draws = static_cast<std::uint32_t>(argument(5, 20));
    std::vector<TruthFamily> families;
    for (const TruthFamily family : kTruthFamilies) {
        if (argc <= 4 || std::string(argv[4]) == "all" || std::string(argv[4]) == to_string(family))
            families.push_back(family);
    }
    const auto catalogue = media::Catalogue::load(STREAMSIM_SOURCE_FORMATS "/media");
    if (!catalogue) return 2;
    if (families.size() == 1 && count == 1) explain(families.front(), first, seats, *catalogue);
    std::vector<std::vector<Answer>> answers(count * families.size());
    std::atomic<std::size_t> done{0};
    parallel_for(
        answers.size(),
        [&](std::size_t i) {
            const TruthFamily family = families[i % families.size()];
            answers[i] = answers_for(family, first + i / families.size(), seats, draws, *catalogue);
            fmt::print(stderr, "\r{} of {}", ++done, answers.size());
        },
        computing_threads());
    std::vector<Answer> all;
    fmt::print("\n{:<9} {:>5} {:<20} {:>5} {:>9} {:>11} {:>6}\n", "family", "seed", "question", "seats",
               "predicted", "90 %", "truth");
    for (const auto& each : answers) {
        for (const Answer& answer : each) {
            all.push_back(answer);
            print_answer(answer);
        }
    }
    print_sums(all);
    return 0;
}

}  // namespace
}  // namespace streamsim::test

int main(int argc, char** argv) {
    return streamsim::test::run_all(argc, argv);
}
