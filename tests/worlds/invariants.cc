#include "worlds/invariants.h"

#include <fmt/format.h>

#include <memory>

namespace streamsim::worlds {
namespace {

constexpr std::size_t kTextsMax = 3;  // of one invariant

/// Play that has no result: too slow a preroll is an answer, anything else is not.
std::vector<std::string> check_error(const Played& played) {
    const Error& error = played.result.error();
    if (error.kind == ErrorKind::environment && played.preroll_took_too_long) return {};
    return {fmt::format("a-world-plays: no result: {}", fmt::join(error.problems, "; "))};
}

}  // namespace

void Findings::add(const std::string& text) {
    if (texts_.size() < kTextsMax) texts_.push_back(fmt::format("{}: {}", invariant_, text));
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
