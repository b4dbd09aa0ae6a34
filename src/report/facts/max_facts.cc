#include "report/facts/max_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "base/utf8.h"
#include "report/facts/headline.h"
#include "report/facts/prediction_facts.h"

namespace streamsim::report {
namespace {

/// "7 streams", "3 streams a seat", "5 seats"
std::string count_text(const MaxResult& result, std::uint64_t count) {
    switch (result.counts) {
        case MaxCounts::streams: return counted(count, "stream");
        case MaxCounts::streams_per_seat: return counted(count, "stream") + " a seat";
        case MaxCounts::seats: return counted(count, "seat");
    }
    return "?";
}

/// "1 stream plays", "6 streams play"
std::string verb_text(const MaxResult& result, std::uint64_t streams, const char* one, const char* many) {
    return fmt::format("{} {}", count_text(result, streams), streams == 1 ? one : many);
}

/// "6 streams gave different results: ..."
std::string step_noise(const MaxResult& result, const MaxStep& step) {
    const auto failed = std::ranges::count_if(step.runs, [](const MaxRun& run) { return !run.pass; });
    return fmt::format("{} gave different results: {} of {} runs failed, so that they count as {}",
                       count_text(result, step.streams), failed, step.runs.size(),
                       step.pass ? "playing" : "not playing");
}

std::string emptied_text(const MaxResult& result, const MaxStep& step, const MaxRun& run) {
    const std::string empty_after = show_duration({*run.empty_after_ns});
    // A run may go on from frame to frame with empty buffers.
    return fmt::format("{}: no frame was missed in {}, but the buffers {}; played again for longer, {}",
                       count_text(result, step.streams), show_duration({run.duration_ns}),
                       *run.empty_after_ns <= run.duration_ns
                           ? "were empty after about " + empty_after
                           : "emptied: they would have lasted " + empty_after,
                       step.pass ? "it lasts" : "it does not last");
}

/// The proof that the counters of the server give for the run that decided, and whether another run was less
/// cold.
void add_counter_remarks(const MaxResult& result, const MaxFormat& format, std::vector<std::string>& out) {
    const MaxRun* const run = format.decided(format.streams);
    if (run != nullptr && run->counters && !run->counters->summary.empty())
        out.push_back(
            fmt::format("{}: {}", count_text(result, format.streams), printable(run->counters->summary)));
    std::uint64_t runs = 0, not_cold = 0;
    for (const MaxStep& step : format.steps) {
        for (const MaxRun& each : step.runs) {
            ++runs;
            if (each.counters && each.counters->reads == ColdReads::not_cold) ++not_cold;
        }
    }
    if (not_cold > 0)
        out.push_back(fmt::format("not all reads were cold in {} of {}, as the counters of the server say",
                                  not_cold, counted(runs, "run")));
}

/// Why one more does not play, and how sure the number is, a sentence each.
std::vector<std::string> remarks_of(const MaxResult& result, const MaxFormat& format) {
    std::vector<std::string> out;
    if (const MaxRun* run = format.one_more()) {
        out.push_back(fmt::format("{}: {}", count_text(result, *format.fails_at), printable(run->reason)));
    }
    if (!format.at_least.empty()) {
        out.push_back(format.streams > 0 ? fmt::format("at least {}: {}", show_count(format.streams),
                                                       printable(format.at_least))
                                         : printable(format.at_least));
    }
    for (const MaxStep& step : format.steps) {
        const bool confirming = step.purpose == MaxStep::Purpose::confirm;
        const std::string length = show_duration({step.runs.back().duration_ns});
        if (confirming && step.pass)
            out.push_back(fmt::format("confirmed: {} in a run of {}, too",
                                      verb_text(result, step.streams, "plays", "play"), length));
        if (confirming && !step.pass && !format.interrupted)
            out.push_back(fmt::format("not confirmed: {} not play in a run of {}, so that one less was tried",
                                      verb_text(result, step.streams, "does", "do"), length));
        if (step.noisy()) out.push_back(step_noise(result, step));
        for (const MaxRun& run : step.runs) {
            if (run.undecided) out.push_back(emptied_text(result, step, run));
        }
    }
    if (format.prediction) {
        for (const std::string& sentence : prediction_sentences(*format.prediction))
            out.push_back("predicted: " + sentence);
    }
    add_counter_remarks(result, format, out);
    if (format.streams > 0 && !format.confirmed) out.emplace_back("not confirmed by a longer run");
    return out;
}

}  // namespace

std::string max_plays_text(const MaxFormat& format, const MaxResult& result) {
    std::string out = format.at_least.empty() ? "plays " : "plays at least ";
    out += format.streams == 0 && format.at_least.empty() ? "none" : show_count(format.streams);
    if (format.streams == 0) return out;
    const std::uint64_t all = format.streams * result.streams_of_one();
    if (result.counts == MaxCounts::streams_per_seat)
        return out + fmt::format(" a seat, {} in all", show_count(all));
    if (result.counts == MaxCounts::seats) {
        return out + fmt::format(" {}, {}", format.streams == 1 ? "seat" : "seats", counted(all, "stream"));
    }
    if (result.seats == 1) return out;
    const std::uint64_t each = format.streams / result.seats;
    const bool even = format.streams % result.seats == 0;
    return out + (even ? fmt::format(", {} a seat", show_count(each))
                       : fmt::format(", {} or {} a seat", show_count(each), show_count(each + 1)));
}

std::string max_margin_text(const MaxFormat& format) {
    const MaxRun* run = format.decided(format.streams);
    if (run == nullptr || !run->margin_p1_ns) return "";
    std::string margin = show_duration({*run->margin_p1_ns});
    if (!run->margin_p1_percent) return margin;
    return fmt::format("{} ({:.1f} frames)", margin, *run->margin_p1_percent / 100);
}

std::string max_claim_text(const MaxFormat& format) {
    if (format.interrupted) return "interrupted";
    if (format.streams == 0) return "not one plays";
    if (!format.confirmed) return "not confirmed";
    return "confirmed by a run of " + show_duration({format.confirm_ns});
}

std::string max_title(const MaxResult& result) {
    std::string what = "The most streams that play";
    if (result.counts == MaxCounts::streams_per_seat) what = "The most streams a seat that play";
    if (result.counts == MaxCounts::seats)
        what = fmt::format("The most seats of {} that play", counted(result.streams_of_seat, "stream"));
    const bool says_seats = result.seats > 1 && result.counts != MaxCounts::seats;
    const std::string banner =
        result.common.faults_injected ? "FAULTS INJECTED, no statement about storage: " : "";
    return fmt::format("{}{} without a drop from {}{}{}", banner, what, printable(result.common.url),
                       says_seats ? fmt::format(", over {} seats", result.seats) : "",
                       result.interrupted ? " (interrupted: as far as it is known)" : "");
}

std::vector<std::string> max_disclaimers(const RunResult& common) {
    std::vector<std::string> out;
    if (const std::string text = disclaimer_text(common); !text.empty()) out.push_back(text);
    if (common.model)
        out.push_back(fmt::format("This is no measurement: {} is a model ({})", printable(common.model->name),
                                  printable(common.model->title)));
    return out;
}

std::vector<std::string> max_remarks(const MaxResult& result) {
    std::vector<std::string> out;
    for (const MaxFormat& format : result.formats) {
        for (const std::string& remark : remarks_of(result, format))
            out.push_back(fmt::format("{}: {}", printable(format.format), remark));
    }
    if (result.common.model) {
        for (const std::string& sentence : result.common.model->trust) {
            if (sentence.starts_with("held back: ")) out.push_back(printable(sentence));
        }
    }
    if (result.headroom_percent > 0)
        out.push_back(fmt::format("Headroom: the p1 margin of each stream had to be {:g} % of a frame period",
                                  result.headroom_percent));
    for (const std::string& text : result.notices) {
        if (text.starts_with("not played: ")) out.push_back(printable(text));
    }
    if (result.server_cache_may_be_warm)
        out.emplace_back(
            "Caches: the media may have come from the server's memory: they are new, or were read several "
            "times");
    return out;
}

std::string max_closing(const MaxResult& result) {
    std::string out = result.common.faults_injected ? "FAULTS INJECTED: " : "";
    for (const MaxFormat& format : result.formats) {
        out += fmt::format("{}{} {}", &format == result.formats.data() ? "" : "; ", printable(format.format),
                           max_plays_text(format, result));
    }
    return out;
}

}  // namespace streamsim::report
