#include "worlds/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace streamsim::worlds {
namespace {

constexpr std::size_t kTextsMax = 3;  // of one invariant

/// A row for each frame, of a small run.
std::string rows_of(const RunResult& result) {
    constexpr std::size_t kRowsMax = 400;
    std::string text;
    if (result.frames.size() > kRowsMax) return text;
    const auto shown = [](Instant at) {
        return at == Instant::never() ? std::string("-") : fmt::format("{}", at.ns);
    };
    for (const FrameRow& row : result.frames) {
        const FrameOutcome& of = row.outcome;
        text += fmt::format(
            "  seat {} stream {} slot {} frame {}: {} {}, scheduled {}, submitted {}, opened {}, due {}, "
            "completed {}, {} bytes{}\n",
            row.seat, row.stream, of.slot, of.clip_frame, to_string(of.kind), to_string(of.reason),
            shown(of.scheduled), shown(of.submitted), shown(of.opened), shown(of.deadline), shown(of.completed),
            of.bytes, of.sought ? ", a jump" : "");
    }
    return text;
}

/// Play that has no result: too slow a preroll is an answer, anything else is not.
std::vector<std::string> check_error(const Played& played) {
    const Error& error = played.result.error();
    if (error.kind == ErrorKind::environment && played.preroll_took_too_long) return {};
    return {fmt::format("a-world-plays: no result: {}", fmt::join(error.problems, "; "))};
}

}  // namespace

std::string say(std::string_view pattern, Words words) {
    std::string text;
    for (const Word& word : words) {
        const std::size_t gap = pattern.find("{}");
        text += pattern.substr(0, gap);
        pattern.remove_prefix(std::min(gap == std::string_view::npos ? gap : gap + 2, pattern.size()));
        if (word.text) text += *word.text;
        if (word.number) text += fmt::format("{}", *word.number);
        if (word.whole) text += *word.whole == Instant::never().ns ? "never" : std::to_string(*word.whole);
        if (word.count) text += std::to_string(*word.count);
    }
    text += pattern;
    return text;
}

void Findings::add(std::string_view pattern, Words words) {
    if (texts_.size() >= kTextsMax) return;
    std::string text = say(pattern, words);
    if (stream_ != nullptr) text = say("stream {} of seat {}: {}", {stream_->stream, stream_->seat, text});
    texts_.push_back(say("{}: {}", {invariant_, text}));
}

std::vector<Invariant> invariants() {
    std::vector<Invariant> all;
    for (const auto& part : {count_invariants(), frame_invariants(), storage_invariants(),
                             document_invariants(), whole_run_invariants()})
        all.insert(all.end(), part.begin(), part.end());
    return all;
}

std::vector<std::string> check_world(const RandomWorld& world, std::string* account) {
    static const std::vector<Invariant> all = invariants();
    const auto played = std::make_unique<Played>();
    play(world, *played);
    if (!played->result) {
        if (account != nullptr)
            *account = fmt::format("no result: {}\n", fmt::join(played->result.error().problems, "; "));
        return check_error(*played);
    }
    const Seen seen{world, *played, *played->result};
    if (account != nullptr) {
        const FrameCounts& totals = seen.result.totals;
        *account = fmt::format(
            "{} streams: {} scheduled, {} on time, {} late, {} dropped ({} in the first second), {} failed, {} "
            "cancelled, {} stalls\n"
            "{} bytes read, {} operations of the storage; {}\ndigest {}, timing digest {}\n",
            seen.result.streams.size(), totals.scheduled, totals.on_time, totals.late, totals.dropped,
            totals.startup_drops, totals.failed, totals.cancelled, totals.stalls, totals.bytes_read,
            played->log.operations, seen.result.verdict.reason, seen.result.digest,
            seen.result.timing_digest.value_or("none"));
        *account += rows_of(seen.result);
    }
    std::vector<std::string> wrong;
    for (const Invariant& each : all) {
        Findings findings(each.name);
        each.check(seen, findings);
        wrong.insert(wrong.end(), findings.texts().begin(), findings.texts().end());
    }
    return wrong;
}

}  // namespace streamsim::worlds
