// Calibrates and predicts on random storages of another structure than the models' (tests/sim/truth/), in
// virtual time, and compares with what they play.
//
//     prediction_truths [COUNT] [SEATS] [FIRST] [FAMILY]
//
// COUNT truths of each of the six families (default 20), calibrated from SEATS seats (default 2), with seeds
// from FIRST on.
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
#include "run/calibration/held_back.h"
#include "run/calibration/model_fit.h"
#include "run/calibration/virtual_target.h"
#include "truth/truth_most.h"
#include "truth/truth_storage.h"

namespace streamsim::test {
namespace {

constexpr const char* kFormats[] = {"prores-uhd", "prores-hd", "dpx10"};

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
    bool at_least = false;
    std::string error;

    bool near() const {
        const double off = std::abs(static_cast<double>(predicted) - static_cast<double>(truth));
        return off <= std::max(1.0, 0.1 * static_cast<double>(truth));
    }
    bool covered() const { return low <= truth && truth <= high; }
};

std::vector<Answer> answers_for(TruthFamily family,
                                std::uint64_t seed,
                                std::uint32_t seats,
                                const media::Catalogue& catalogue) {
    const TruthSpec spec = random_truth(family, seed);
    std::vector<Answer> answers;
    const auto measured = run::measure_virtual(request_on_truth(spec, 1), seats, {});
    run::FitOptions options;
    options.name = "truth";
    const auto fitted = measured ? run::fit_model(*measured, options) : Result<Calibration>(measured.error());
    if (!fitted) {
        Answer failed{.family = family, .seed = seed};
        failed.error = fitted.error().problems.front();
        return {failed};
    }
    std::string fitted_text;
    for (const CalibratedNumber& each : fitted->values) {
        if (each.free || each.pointer.find("other_load") != std::string::npos)
            fitted_text += fmt::format("; {} {:.4g}", each.name, each.value);
    }
    fmt::print("{} {}: {}\n    model error {:.1f} %{}\n", to_string(family), seed, describe(spec),
               100 * fitted->model_error, fitted_text);
    std::vector<Question> questions;
    for (const char* format : kFormats) {
        questions.push_back({"same seats", format, seats});
        questions.push_back({"twice the seats", format, 2 * seats});
        questions.push_back({"four times the seats", format, 4 * seats});
    }
    const bool full =
        std::any_of(fitted->values.begin(), fitted->values.end(), [](const CalibratedNumber& each) {
            return each.pointer == "/node/front_end/bits_per_s" && each.high.has_value();
        });
    for (const Question& question : questions) {
        Answer answer{.family = family, .seed = seed, .question = question};
        const MediaFormat& format = *catalogue.find(question.format);
        const auto streams = run::streams_of_model(*fitted, format, question.seats, {});
        if (!streams) {
            answer.error = streams.error().problems.front();
            answers.push_back(answer);
            continue;
        }
        answer.predicted = streams->streams;
        answer.low = streams->low;
        answer.high = streams->high;
        answer.at_least = question.seats > seats && !full;
        const auto truth = truth_most(spec, format, question.seats, 2);
        if (!truth) {
            answer.error = truth.error().problems.front();
        } else {
            answer.truth = *truth;
        }
        answers.push_back(answer);
    }
    return answers;
}

void print_sums(const std::vector<Answer>& all) {
    struct Sum {
        int count = 0, near = 0, covered = 0, refused = 0, above = 0;
        double error = 0;
    };
    std::map<std::string, Sum> sums;
    for (const Answer& answer : all) {
        if (!answer.error.empty()) continue;
        for (const std::string& key : {std::string("all"), std::string("family ") + to_string(answer.family),
                                       answer.question.distance, answer.question.format}) {
            Sum& sum = sums[key];
            if (answer.at_least) {
                ++sum.refused;
                sum.above += answer.truth + 1 >= answer.low ? 1 : 0;
                continue;
            }
            ++sum.count;
            sum.near += answer.near() ? 1 : 0;
            sum.covered += answer.covered() ? 1 : 0;
            if (answer.truth > 0)
                sum.error +=
                    std::abs(static_cast<double>(answer.predicted) / static_cast<double>(answer.truth) - 1);
        }
    }
    fmt::print("\n{:<22} {:>6} {:>14} {:>9} {:>11} {:>9} {:>12}\n", "", "count", "1 or 10 %", "covered",
               "mean error", "at least", "truth above");
    for (const auto& [key, sum] : sums) {
        const double count = std::max(sum.count, 1);
        fmt::print("{:<22} {:>6} {:>12.1f} % {:>7.1f} % {:>9.1f} % {:>9} {:>12}\n", key, sum.count,
                   100 * sum.near / count, 100 * sum.covered / count, 100 * sum.error / count, sum.refused,
                   sum.above);
    }
}

int run_all(int argc, char** argv) {
    const auto argument = [&](int i, std::uint64_t standard) {
        return argc > i ? static_cast<std::uint64_t>(std::strtoull(argv[i], nullptr, 10)) : standard;
    };
    const std::uint64_t count = argument(1, 20);
    const auto seats = static_cast<std::uint32_t>(argument(2, 2));
    const std::uint64_t first = argument(3, 1);
    std::vector<TruthFamily> families;
    for (const TruthFamily family : kTruthFamilies) {
        if (argc <= 4 || std::string(argv[4]) == to_string(family)) families.push_back(family);
    }
    const auto catalogue = media::Catalogue::load(STREAMSIM_SOURCE_FORMATS "/media");
    if (!catalogue) return 2;
    std::vector<std::vector<Answer>> answers(count * families.size());
    std::atomic<std::size_t> done{0};
    parallel_for(
        answers.size(),
        [&](std::size_t i) {
            const TruthFamily family = families[i % families.size()];
            answers[i] = answers_for(family, first + i / families.size(), seats, *catalogue);
            fmt::print(stderr, "\r{} of {}", ++done, answers.size());
        },
        computing_threads());
    std::vector<Answer> all;
    fmt::print("\n{:<9} {:>5} {:<22} {:<11} {:>5} {:>9} {:>11} {:>6}\n", "family", "seed", "question", "format",
               "seats", "predicted", "90 %", "truth");
    for (const auto& each : answers) {
        for (const Answer& answer : each) {
            all.push_back(answer);
            if (!answer.error.empty()) {
                fmt::print("{:<9} {:>5} {}\n", to_string(answer.family), answer.seed, answer.error);
                continue;
            }
            fmt::print("{:<9} {:>5} {:<22} {:<11} {:>5} {:>9} {:>4} to {:>3} {:>6} {}{}\n",
                       to_string(answer.family), answer.seed, answer.question.distance, answer.question.format,
                       answer.question.seats, answer.predicted, answer.low, answer.high, answer.truth,
                       answer.at_least ? "at least"
                       : answer.near() ? ""
                                       : "MISSED",
                       answer.at_least || answer.covered() ? "" : " outside");
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
