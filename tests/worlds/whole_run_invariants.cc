// Invariants that take more runs than one, or another way to the same answer: the same seed gives the same run,
// parts of a run merge to the whole, and arithmetic says the same of each frame.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "result/json_report.h"
#include "result/merge.h"
#include "result/result_reader.h"
#include "worlds/invariants.h"
#include "worlds/world_prediction.h"

namespace streamsim::worlds {
namespace {

/// Without what is of each moment and of this computer.
std::string comparable(RunResult result) {
    result.started_at.clear();
    const auto clear = [](ClientEvidence& client) {
        client.cpu_ns = client.helpers_cpu_ns = 0;
        client.cpu_percent = 0;
    };
    clear(result.client);
    for (SeatResult& seat : result.seats) {
        seat.started_at.clear();
        clear(seat.client);
    }
    return result::json_report(result);
}

/// The place at which two texts differ, with some of both.
std::string difference(const std::string& a, const std::string& b) {
    const auto differs = std::ranges::mismatch(a, b);
    const auto at = static_cast<std::size_t>(differs.in1 - a.begin());
    const std::size_t from = at - std::min<std::size_t>(at, 80);
    return fmt::format("at byte {}: '{}' and '{}'", at, a.substr(from, 160), b.substr(from, 160));
}

void check_repeats(const Seen& seen, Findings& findings) {
    if (seen.world.seed % 5 != 0) return;
    const auto again = std::make_unique<Played>();
    play(seen.world, *again);
    if (!findings.expect(again->result.has_value(), "the second time there is no result")) return;
    findings.expect(again->result->digest == seen.result.digest, "another digest the second time");
    findings.expect(again->result->timing_digest == seen.result.timing_digest,
                    "another timing digest the second time");
    const std::string one = comparable(seen.result);
    const std::string other = comparable(*again->result);
    if (one != other) findings.add("another result the second time, {}", {difference(one, other)});
}

/// The parts that ranks play, as rank 0 receives them; empty where one has no result.
std::vector<RunResult> parts_of(const RandomWorld& world, std::uint32_t ranks) {
    std::vector<RunResult> parts;
    const std::uint32_t seats = world.seats();
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const std::uint32_t first = rank * seats / ranks;
        const std::uint32_t end = (rank + 1) * seats / ranks;
        const auto played = std::make_unique<Played>();
        play(world, *played, first, end - first);
        if (!played->result) return {};
        RunResult part = *played->result;
        part.host.name = fmt::format("h{}", rank);
        SeatResult own;
        own.rank = rank;
        for (std::uint32_t seat = first; seat < end; ++seat) own.seats.push_back(seat);
        own.start_ns = 0;
        result::become_part("world", ranks, own, part);
        auto received = result::read_result(result::json_report(part), "part.json");
        if (!received) return {};
        parts.push_back(std::move(*received));
    }
    return parts;
}

void shuffle(Prng& prng, std::vector<RunResult>& parts) {
    for (std::size_t i = parts.size(); i > 1; --i) std::swap(parts[i - 1], parts[prng.below(i)]);
}

void check_merged_counts(const RunResult& whole, const std::vector<RunResult>& parts, Findings& findings) {
    FrameCounts sum;
    std::size_t streams = 0;
    std::size_t drops = 0;
    for (const RunResult& part : parts) {
        sum += part.totals;
        streams += part.streams.size();
        drops += part.drops.size();
    }
    FrameCounts of_streams;
    for (const StreamResult& stream : whole.streams) of_streams += stream.counts;
    findings.equal(whole.streams.size(), streams, "streams, merged and in parts");
    findings.equal(whole.drops.size(), drops, "drops, merged and in parts");
    for (const FrameCounts* other : {&sum, &of_streams}) {
        findings.equal(whole.totals.scheduled, other->scheduled, "scheduled, merged and in parts");
        findings.equal(whole.totals.on_time, other->on_time, "on time, merged and in parts");
        findings.equal(whole.totals.late, other->late, "late, merged and in parts");
        findings.equal(whole.totals.dropped, other->dropped, "dropped, merged and in parts");
        findings.equal(whole.totals.failed, other->failed, "failed, merged and in parts");
        findings.equal(whole.totals.bytes_read, other->bytes_read, "bytes read, merged and in parts");
    }
    std::uint64_t frames = 0;
    for (const MissEvent& event : whole.events) frames += event.frames;
    findings.equal(frames, drops, "frames of merged events, and drops");
}

/// In virtual time no rank waits for another until its read-ahead is full, and each has a model of its own:
/// only a storage without a memory of others, and without faults at some time of the run, gives the same in
/// parts.
bool is_the_same_in_parts(const RandomWorld& world) {
    using Kind = ScenarioFault::Kind;
    for (const ScenarioSeats& seats : world.scenario.seats) {
        for (const ScenarioStreams& streams : seats.streams)
            if (!streams.paced) return false;  // it ends at some time of the run
    }
    const auto at_a_time = [](const ScenarioFault& fault) { return fault.kind == Kind::throughput_gap; };
    return world.storage == StorageKind::null && !world.interrupt_after && world.stagger.ns == 0 &&
           world.faults.stalls.empty() && std::ranges::none_of(world.scenario.faults, at_a_time);
}

void check_merged_whole(const Seen& seen, const RunResult& whole, Findings& findings) {
    if (!is_the_same_in_parts(seen.world)) return;
    findings.expect(whole.digest == seen.result.digest,
                    "the digest of merged parts is not that of one process");
    findings.expect(whole.verdict.pass == seen.result.verdict.pass,
                    "the verdict of merged parts is not that of one process");
    findings.equal(whole.totals.dropped, seen.result.totals.dropped, "dropped, in parts and by one process");
    findings.equal(whole.totals.startup_drops, seen.result.totals.startup_drops,
                   "start-up drops, in parts and by one process");
    findings.equal_ns(whole.totals.stall_ns, seen.result.totals.stall_ns,
                      "stall time, in parts and by one process");
}

/// The journal of a rank as it is until the rank plays.
RunResult journal_before_play(const Seen& seen, const SeatResult& of) {
    RunResult journal = run::not_played(seen.played.staged.request, {});
    journal.host = of.host;
    SeatResult own;
    own.rank = of.rank;
    own.seats = of.seats;
    result::become_part("world", seen.world.ranks, own, journal);
    journal.seats.front().state = SeatResult::State::missing;
    journal.seats.front().why = "it had not begun to play";
    return journal;
}

void check_merging(const Seen& seen, Findings& findings) {
    if (seen.world.ranks < 2 || seen.world.ranks > seen.world.seats()) return;
    std::vector<RunResult> parts = parts_of(seen.world, seen.world.ranks);
    if (parts.empty()) return;
    const auto whole = result::merge_results(parts);
    if (!findings.expect(whole.has_value(), "parts do not merge: {}", {problem_of(whole)})) return;
    check_merged_counts(*whole, parts, findings);
    check_merged_whole(seen, *whole, findings);
    const std::string text = comparable(*whole);
    Prng prng(derive_seed(seen.world.seed, 0x6d));
    // In another order, with a part that came twice and a journal that a rank began.
    std::vector<RunResult> others = parts;
    others.push_back(parts[prng.below(parts.size())]);
    others.push_back(journal_before_play(seen, parts[prng.below(parts.size())].seats.front()));
    shuffle(prng, others);
    const auto again = result::merge_results(others);
    if (findings.expect(again.has_value(), "parts do not merge in another order: {}", {problem_of(again)})) {
        const std::string other = comparable(*again);
        if (other != text)
            findings.add("another order of parts gives another result, {}", {difference(text, other)});
    }
    // A part that was lost.
    if (parts.size() < 2) return;
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(prng.below(parts.size())));
    const auto without = result::merge_results(parts);
    if (!findings.expect(without.has_value(), "parts do not merge without one of them")) return;
    findings.expect(!without->verdict.pass, "the verdict passes without one of the parts");
    findings.equal(without->seats.size(), seen.world.ranks, "computers told of, and of the run");
}

void check_predicted(const Seen& seen, Findings& findings) {
    for (const std::string& text : compare_with_prediction(seen)) findings.add("{}", {text});
}

constexpr Invariant kInvariants[] = {
    {"as-arithmetic-says",
     "each frame of a storage of known times has the fate and the instants of an independent prediction",
     "player.h; on-miss.md", check_predicted},
    {"same-seed-same-run", "the same world gives the same result, digests included", "contract", check_repeats},
    {"parts-merge",
     "parts of a run merge in any order, also doubled, to their sum, and a lost one fails the verdict",
     "merge.h", check_merging},
};

}  // namespace

std::span<const Invariant> whole_run_invariants() {
    return kInvariants;
}

}  // namespace streamsim::worlds
