#include "judge/prediction_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/units.h"

namespace streamsim::judge {
namespace {

constexpr double kFullShare = 0.9;    // of a part's servers
constexpr double kFarSeats = 8;       // times the seats that were measured: far outside
constexpr double kWidestShare = 0.4;  // of the answer: +-20 %
constexpr std::uint64_t kNarrow = 2;  // streams: an interval that is never too wide
constexpr double kTail = 0.05;        // of the draws, on each side of the interval
constexpr double kSure = 0.95;
constexpr const char* kSeatLink = "seat link";
constexpr const char* kSeatCpu = "seat CPU";
constexpr const char* kServerNetwork = "server network";
constexpr const char* kNotToldApart = "seat or server, not told apart";

bool of_seat(const UncertainNumber& number) {
    return number.pointer.starts_with("/client/");
}

const char* group_of(PartKind kind) {
    switch (kind) {
        case PartKind::seat_cpu:
        case PartKind::seat_display: return kSeatCpu;
        case PartKind::seat_link:
        case PartKind::switch_port: return kSeatLink;
        case PartKind::front_end:
        case PartKind::front_end_in: return kServerNetwork;
        case PartKind::drive: return "drives";
        default: return "server";
    }
}

/// The number of the quantile: of 200 draws the 11th lowest, the 11th highest.
std::size_t rank_of_tail(std::size_t draws) {
    return std::min(static_cast<std::size_t>(kTail * static_cast<double>(draws)), draws - 1);
}

std::string percent(std::uint64_t part, std::uint64_t all) {
    return fmt::format("{:.0f} %", 100 * static_cast<double>(part) / static_cast<double>(all));
}

/// The part as an answer names it: a calibration that could not tell the link of a seat from that of the server
/// names neither.
std::string named_part(const ClusterModel& model, const std::string& full) {
    const bool link = full == kSeatLink || full == kServerNetwork;
    return link && model.calibration && !model.calibration->told_apart ? kNotToldApart : full;
}

/// The draw fails, and not for a part of a seat: with a faster server it may play.
bool may_fail_for_the_server(const ClusterModel& model, const DrawAnswer& answer) {
    const std::string part = named_part(model, answer.full);
    return !answer.plays && part != kSeatLink && part != kSeatCpu;
}

void count_full(const ClusterModel& model, const std::vector<DrawAnswer>& answers, Prediction& prediction) {
    std::map<std::string, std::uint64_t> parts;
    for (const DrawAnswer& answer : answers) {
        if (!answer.full.empty()) ++parts[named_part(model, answer.full)];
    }
    for (const auto& [part, draws] : parts) prediction.full_first.push_back({part, draws});
    std::stable_sort(prediction.full_first.begin(), prediction.full_first.end(),
                     [](const FullFirst& a, const FullFirst& b) { return a.draws > b.draws; });
}

/// "; full first: server network 80 %, drives 20 %", of the draws that found a part full.
std::string full_text(const Prediction& prediction) {
    std::uint64_t all = 0;
    for (const FullFirst& each : prediction.full_first) all += each.draws;
    std::string text;
    for (const FullFirst& each : prediction.full_first)
        text +=
            fmt::format("{}{} {}", text.empty() ? "; full first: " : ", ", each.part, percent(each.draws, all));
    return text;
}

std::string interval_text(std::uint64_t low, std::uint64_t high) {
    return low == high ? fmt::format("{}, 90 %", low) : fmt::format("{} to {}, 90 %", low, high);
}

/// The held-back run, where its measured number lies outside the numbers that were predicted; null: none does.
const HeldBackRun* contradiction(const ClusterModel& model) {
    if (!model.calibration || !model.calibration->held_back) return nullptr;
    const HeldBackRun& run = *model.calibration->held_back;
    return run.streams_measured < run.low || run.streams_measured > run.high ? &run : nullptr;
}

/// The held-back run, where the question is that of this run; null: it is another.
const HeldBackRun* run_of_question(const ClusterModel& model, const Prediction& prediction) {
    if (!prediction.as_held_back || !model.calibration || !model.calibration->held_back) return nullptr;
    const HeldBackRun& run = *model.calibration->held_back;
    return run.format == prediction.what && run.seats == prediction.seats ? &run : nullptr;
}

/// Widens the interval by the error of the held-back run, and until it holds the number that was measured and
/// that of the values themselves.
void widen(const ClusterModel& model, Prediction& prediction) {
    std::uint64_t& low = *prediction.low;
    std::uint64_t& high = *prediction.high;
    if (const HeldBackRun* run = contradiction(model)) {
        const std::uint64_t predicted = std::max(run->predicted, 1U);
        const bool fewer = run->streams_measured < run->low;
        if (fewer) low = std::min(low, low * run->streams_measured / predicted);
        if (!fewer) high = std::max(high, (high * run->streams_measured + predicted - 1) / predicted);
        prediction.outside.push_back(
            fmt::format("the held-back run gave {}, and {} to {} were predicted: the {} end of the interval is "
                        "{} by the same factor",
                        counted(run->streams_measured, "stream"), run->low, run->high, fewer ? "low" : "high",
                        fewer ? "lowered" : "raised"));
    }
    const auto hold = [&low, &high](std::uint64_t streams) {
        low = std::min(low, streams);
        high = std::max(high, streams);
    };
    if (const HeldBackRun* run = run_of_question(model, prediction)) hold(run->streams_measured);
    if (prediction.nominal) hold(*prediction.nominal);
}

bool too_wide(std::uint64_t low, std::uint64_t high, std::uint64_t nominal) {
    const double allowed = std::max<double>(kNarrow, kWidestShare * static_cast<double>(nominal));
    return static_cast<double>(high) - static_cast<double>(low) > allowed;
}

/// "/node/front_end/bits_per_s": the number whose interval is the widest for its value; null: there is none.
const UncertainNumber* widest(const ClusterModel& model) {
    const UncertainNumber* found = nullptr;
    double most = 0;
    for (const UncertainNumber& number : model.uncertain) {
        if (number.at_least() || number.value <= 0) continue;
        const double width = (*number.high - *number.low) / number.value;
        if (found == nullptr || width > most) found = &number;
        most = std::max(most, width);
    }
    return found;
}

/// Adds the measurements that would narrow the interval.
void advise(const ClusterModel& model, const OutsideMeasured& outside, Prediction& prediction) {
    std::vector<std::string>& next = prediction.next;
    next = outside.next;
    const auto& facts = model.calibration;
    if (facts && !facts->told_apart) {
        const std::string advice =
            facts->seats == 1
                ? "calibrate with two seats: one seat cannot tell its own limit from the server's"
                : "calibrate with more seats: these could not tell their own limit from the server's";
        if (std::find(next.begin(), next.end(), advice) == next.end()) next.push_back(advice);
    }
    if (facts && facts->other_load) next.emplace_back("calibrate while no other load is there");
    if (const UncertainNumber* number = widest(model); number != nullptr && next.empty()) {
        next.push_back(
            fmt::format("calibrate for longer: the widest interval is that of {}, {:.0f} % of its value",
                        number->pointer, 100 * (*number->high - *number->low) / number->value));
    }
}

void refuse_rejected(const ClusterModel& model, Prediction& prediction) {
    if (!model.calibration || !model.calibration->held_back || !model.calibration->held_back->rejected) return;
    prediction.refused.push_back("the model does not hold: " +
                                 held_back_sentence(*model.calibration->held_back));
    prediction.next.emplace_back("calibrate again: the storage has changed, or the model does not describe it");
}

/// "20 seats: 17 streams of dpx12 (15 to 19, 90 %); full first: drives 100 %"
std::string most_sentence(const ClusterModel& model, const Prediction& prediction, bool at_least) {
    const std::uint64_t low = *prediction.low;
    const std::uint64_t nominal = prediction.nominal.value_or(low);
    const std::uint64_t named = at_least ? low : nominal;
    const std::string seats = counted(prediction.seats, "seat");
    const std::string streams = fmt::format("{} of {}", named == 1 ? "stream" : "streams", prediction.what);
    const HeldBackRun* const run = run_of_question(model, prediction);
    const std::string seen = run == nullptr ? ""
                                            : fmt::format("measured: {}{}", run->is_bound() ? "at least " : "",
                                                          run->streams_measured);
    if (!at_least)
        return fmt::format("{}: {} {} ({}{}{}){}", seats, nominal, streams,
                           interval_text(low, *prediction.high), seen.empty() ? "" : "; ", seen,
                           full_text(prediction));
    return fmt::format("{}: at least {} {}{}; {}{} if the server were never full{}", seats, low, streams,
                       seen.empty() ? "" : " (" + seen + ")", prediction.high ? "" : "more than ",
                       *prediction.if_never_full, full_text(prediction));
}

void conclude_most(const ClusterModel& model,
                   const OutsideMeasured& outside,
                   std::vector<std::uint64_t> counts,
                   std::optional<std::uint64_t> at_most,
                   Prediction& prediction) {
    std::sort(counts.begin(), counts.end());
    const std::size_t tail = rank_of_tail(counts.size());
    prediction.low = counts[tail];
    prediction.high = counts[counts.size() - 1 - tail];
    std::map<std::uint64_t, std::uint64_t> distribution;
    for (const std::uint64_t count : counts) ++distribution[count];
    for (const auto& [streams, draws] : distribution) prediction.distribution.push_back({streams, draws});

    widen(model, prediction);
    const std::uint64_t low = *prediction.low;
    const std::uint64_t nominal = prediction.nominal.value_or(low);
    const bool capped_draws = at_most && *prediction.high >= *at_most;
    const bool at_least = prediction.if_never_full && *prediction.if_never_full > *prediction.high;
    const bool unbounded = at_least && at_most && *prediction.if_never_full >= *at_most;
    if (at_least) prediction.high = prediction.if_never_full;
    if (unbounded) prediction.high.reset();
    prediction.sentence = most_sentence(model, prediction, at_least);
    if (capped_draws) {
        prediction.refused.push_back(
            fmt::format("no part is full with {} streams, and no more were tried", *at_most));
    } else if (unbounded) {
        prediction.refused.push_back(
            fmt::format("{} to more than {} streams are wider than +-20 %", low, *at_most));
    } else if (too_wide(low, *prediction.high, nominal)) {
        prediction.refused.push_back(
            fmt::format("{} to {} streams are wider than +-20 %", low, *prediction.high));
    }
    if (!prediction.refused.empty()) advise(model, outside, prediction);
}

void conclude_plays(const ClusterModel& model,
                    const OutsideMeasured& outside,
                    const std::vector<DrawAnswer>& answers,
                    Prediction& prediction) {
    const auto plays = static_cast<std::uint64_t>(
        std::count_if(answers.begin(), answers.end(), [](const DrawAnswer& answer) { return answer.plays; }));
    prediction.draws_that_play = plays;
    const std::uint64_t streams = prediction.streams.value_or(0);
    prediction.sentence =
        fmt::format("{}, {} of {}: {} in {} of {} draws ({}){}", counted(prediction.seats, "seat"),
                    counted(streams, "stream"), prediction.what, streams == 1 ? "plays" : "play", plays,
                    answers.size(), percent(plays, answers.size()), full_text(prediction));
    if (const HeldBackRun* run = contradiction(model)) {
        prediction.outside.push_back(fmt::format(
            "the held-back run gave {}, and {} to {} were predicted: {} draws would play than these",
            counted(run->streams_measured, "stream"), run->low, run->high,
            run->streams_measured < run->low ? "fewer" : "more"));
    }
    const std::string more = more_than_held_back(model, prediction.seats, prediction.no_easier);
    if (!more.empty()) prediction.refused.push_back(more);
    if (outside.server_may_be_full && std::ranges::any_of(answers, [&](const DrawAnswer& each) {
            return may_fail_for_the_server(model, each);
        }))
        prediction.refused.emplace_back(
            "the parts of the server that fail were never full when it was measured: they may give more");
    if (!prediction.refused.empty()) advise(model, outside, prediction);
}

}  // namespace

OutsideMeasured outside_measured(const ClusterModel& model, const PredictionQuestion& question) {
    OutsideMeasured out;
    if (!model.calibration) return out;
    const CalibrationFacts& facts = *model.calibration;
    const bool more_seats = question.seats > facts.seats;
    if (more_seats)
        out.sentences.push_back(
            fmt::format("{} are more than the {} measured", counted(question.seats, "seat"),
                        facts.seats == 1 ? "one that was" : fmt::format("{} that were", facts.seats)));
    if (question.own_links) {
        out.sentences.emplace_back(
            "seats have links of their own, which were not measured: the error of the model is doubled");
        out.next.emplace_back("calibrate with seats that have these links");
        out.model_error_factor *= 2;
    }
    if (more_seats || question.own_links) {
        out.server_may_be_full =
            std::any_of(model.uncertain.begin(), model.uncertain.end(),
                        [](const UncertainNumber& number) { return number.at_least() && !of_seat(number); });
        if (out.server_may_be_full) {
            out.sentences.emplace_back(
                "parts of the server were never full when it was measured: their limits are at least these");
            out.next.emplace_back(
                facts.seats == 1
                    ? "calibrate with two seats: one seat cannot tell its own limit from the server's"
                    : "calibrate with more seats, until the server is full");
        }
        if (question.seats > kFarSeats * facts.seats) {
            out.sentences.push_back(
                fmt::format("{} are more than {:.0f} times those measured: the error of the model "
                            "is doubled",
                            counted(question.seats, "seat"), kFarSeats));
            out.model_error_factor *= 2;
        }
    }
    if (!facts.held_back) {
        out.sentences.emplace_back("no held-back run checked the model: the error of the model is doubled");
        out.model_error_factor *= 2;
    }
    std::string unmeasured;
    for (const std::string& format : question.formats) {
        if (std::find(facts.formats.begin(), facts.formats.end(), format) != facts.formats.end()) continue;
        unmeasured += (unmeasured.empty() ? "" : ", ") + format;
    }
    if (unmeasured.empty()) return out;
    out.sentences.push_back(fmt::format("not measured: {}; the error of the model is doubled", unmeasured));
    out.next.push_back("calibrate with " + unmeasured);
    out.model_error_factor *= 2;
    return out;
}

double held_back_share(const ClusterModel& model) {
    constexpr double kNone = 0.5;
    const HeldBackRun* const run = contradiction(model);
    if (run == nullptr || run->is_bound() || run->streams_measured >= run->low) return 1;
    return std::min(1.0, std::max<double>(run->streams_measured, kNone) / std::max(run->predicted, 1U));
}

std::string more_than_held_back(const ClusterModel& model, std::uint64_t seats, std::uint64_t no_easier) {
    if (!model.calibration || !model.calibration->held_back) return "";
    const HeldBackRun& run = *model.calibration->held_back;
    if (run.is_bound() || run.seats != seats || no_easier <= run.streams_measured) return "";
    return fmt::format("the held-back run gave {}, and one more did not play",
                       counted(run.streams_measured, "stream"));
}

std::string full_part(const RunResult& result) {
    const PartResult* fullest = nullptr;
    const auto share = [](const PartResult& part) {
        return part.utilisation_missed.value_or(part.utilisation);
    };
    for (const PartResult& part : result.parts) {
        if (fullest == nullptr || share(part) > share(*fullest)) fullest = &part;
    }
    if (fullest == nullptr || share(*fullest) < kFullShare) return "response time";
    return group_of(fullest->stats.kind);
}

std::string too_fast_for_a_seat(const ClusterModel& model,
                                const MediaFormat& format,
                                double stream_bytes_per_s) {
    double seat = 0;
    const auto limit = [&seat](double rate) {
        if (rate > 0 && (seat == 0 || rate < seat)) seat = rate;
    };
    limit(model.client.link.bytes_per_s());
    limit(model.client.connection_bytes_per_s * model.client.connections);
    limit(model.node.connection_bytes_per_s * model.client.connections);
    limit(model.node.front_end.bytes_per_s());
    // Several files of a sequence are read at a time.
    if (format.container != MediaFormat::Container::sequence) limit(model.file_bytes_per_s);
    if (seat == 0 || seat >= stream_bytes_per_s) return "";
    return fmt::format("one stream of {} needs {}, more than a seat was seen to get ({})", format.name,
                       show_rate(stream_bytes_per_s), show_rate(seat));
}

void mark_interrupted(std::uint64_t asked_draws, Prediction& prediction) {
    if (prediction.draws >= asked_draws) return;
    if (prediction.verdict == Prediction::Verdict::answered)
        prediction.verdict = Prediction::Verdict::interrupted;
    prediction.sentence += fmt::format("; from {} of {} draws", prediction.draws, asked_draws);
}

void conclude(const ClusterModel& model,
              const OutsideMeasured& outside,
              const std::vector<DrawAnswer>& answers,
              std::optional<std::uint64_t> at_most,
              Prediction& prediction) {
    prediction.draws = answers.size();
    prediction.outside = outside.sentences;
    if (answers.empty()) {
        prediction.verdict = Prediction::Verdict::interrupted;
        prediction.sentence = "interrupted before the first draw";
        return;
    }
    count_full(model, answers, prediction);
    if (prediction.question == Prediction::Question::most) {
        std::vector<std::uint64_t> counts;
        counts.reserve(answers.size());
        for (const DrawAnswer& answer : answers) counts.push_back(answer.streams);
        conclude_most(model, outside, std::move(counts), at_most, prediction);
    } else {
        conclude_plays(model, outside, answers, prediction);
    }
    refuse_rejected(model, prediction);
    if (!prediction.refused.empty()) prediction.verdict = Prediction::Verdict::refused;
}

bool predicts_play(const Prediction& prediction) {
    if (prediction.verdict != Prediction::Verdict::answered) return false;
    if (prediction.question == Prediction::Question::most) return prediction.low.value_or(0) > 0;
    return prediction.draws > 0 && static_cast<double>(prediction.draws_that_play.value_or(0)) >=
                                       kSure * static_cast<double>(prediction.draws);
}

bool predicts_failure(const Prediction& prediction) {
    if (prediction.verdict != Prediction::Verdict::answered) return false;
    if (prediction.question == Prediction::Question::most) return prediction.high == 0U;
    return static_cast<double>(prediction.draws_that_play.value_or(0)) <=
           kTail * static_cast<double>(prediction.draws);
}

}  // namespace streamsim::judge
