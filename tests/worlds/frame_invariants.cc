// Invariants of single frames: each slot is settled once, on its grid, by its timestamps.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "worlds/invariants.h"

namespace streamsim::worlds {
namespace {

using Rows = std::vector<const FrameRow*>;

/// One stream with its plan and its rows, by slot.
struct StreamRows {
    const StreamResult* result = nullptr;
    const run::StreamPlan* plan = nullptr;
    Rows rows;
    bool sought = false;  // a slot of it was a jump

    bool records() const { return plan->record != nullptr; }
};

/// Empty where the streams of the result are not those of the plan.
std::vector<StreamRows> rows_of(const Seen& seen) {
    std::vector<StreamRows> all;
    const auto& plans = seen.played.plans;
    if (plans.size() != seen.result.streams.size()) return all;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> numbers;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const StreamResult& stream = seen.result.streams[i];
        all.push_back({&stream, &plans[i], {}, false});
        numbers[{plans[i].options.seat, plans[i].options.stream}] = i;
    }
    for (const FrameRow& row : seen.result.frames) {
        const auto found = numbers.find({row.seat, row.stream});
        if (found == numbers.end()) continue;
        all[found->second].rows.push_back(&row);
        all[found->second].sought |= row.outcome.sought;
    }
    return all;
}

void check_rows(const Seen& seen, Findings& findings) {
    findings.equal(seen.played.plans.size(), seen.result.streams.size(),
                   "streams of the plan and of the result");
    std::size_t rows = 0;
    for (const StreamRows& stream : rows_of(seen)) {
        findings.about(*stream.result);
        rows += stream.rows.size();
        FrameCounts sum;
        std::uint64_t bytes = 0;
        for (std::size_t i = 0; i < stream.rows.size(); ++i) {
            const FrameOutcome& row = stream.rows[i]->outcome;
            if (!findings.equal(row.slot, i, "a slot, and the number of its row")) break;
            if (row.kind == FrameKind::on_time) ++sum.on_time;
            if (row.kind == FrameKind::late) ++sum.late;
            if (row.kind == FrameKind::dropped) ++sum.dropped;
            if (row.kind == FrameKind::failed) ++sum.failed;
            if (row.kind == FrameKind::cancelled) ++sum.cancelled;
            bytes += row.bytes;
        }
        const FrameCounts& counts = stream.result->counts;
        findings.equal(stream.rows.size(), counts.scheduled, "rows, and slots scheduled");
        findings.equal(sum.on_time, counts.on_time, "on time, by rows and counted");
        findings.equal(sum.late, counts.late, "late, by rows and counted");
        findings.equal(sum.dropped, counts.dropped, "dropped, by rows and counted");
        findings.equal(sum.failed, counts.failed, "failed, by rows and counted");
        findings.equal(sum.cancelled, counts.cancelled, "cancelled, by rows and counted");
        findings.equal(bytes, counts.bytes_read + counts.bytes_written, "bytes, by rows and counted");
    }
    findings.about_run();
    findings.equal(rows, seen.result.frames.size(), "rows of streams, and of all");
}

void check_all_slots(const Seen& seen, Findings& findings) {
    for (const StreamRows& stream : rows_of(seen)) {
        findings.about(*stream.result);
        const std::uint64_t scheduled = stream.result->counts.scheduled;
        const std::uint64_t planned = stream.plan->options.slots;
        if (seen.result.interrupted || !stream.plan->options.paced) {
            findings.expect(scheduled <= planned, "{} of {} slots scheduled", {scheduled, planned});
            continue;
        }
        findings.equal(scheduled, planned, "slots scheduled and planned");
        findings.equal(stream.result->counts.cancelled, 0u, "cancelled without an interruption");
    }
}

/// The clock of a stream stands for jumps, and under stall; streams on one clock stand together.
bool clock_may_stand(const Seen& seen, const StreamRows& stream) {
    return stream.sought || stream.plan->options.on_miss == play::OnMiss::stall || seen.world.sync;
}

void check_grid(const Seen& seen, Findings& findings) {
    for (const StreamRows& stream : rows_of(seen)) {
        findings.about(*stream.result);
        if (!stream.plan->options.paced || stream.result->counts.scheduled == 0) continue;
        const bool may_stand = clock_may_stand(seen, stream);
        std::int64_t shift_ns = 0;
        for (const FrameRow* each : stream.rows) {
            const FrameOutcome& row = each->outcome;
            if (row.kind == FrameKind::cancelled || row.deadline == Instant::never()) continue;
            // A recorder's frame is due when its place is needed; a frame that it drops, when it is captured.
            if (stream.records() && row.kind != FrameKind::dropped) continue;
            const std::int64_t now_ns = row.deadline.ns - stream.plan->path->due(row.slot).ns;
            findings.expect(may_stand ? now_ns >= shift_ns : now_ns == 0,
                            "slot {} is due {} ns behind its grid, and the clock was at {}",
                            {row.slot, now_ns, shift_ns});
            if (!seen.world.sync) shift_ns = std::max(shift_ns, now_ns);
        }
    }
}

/// Names the mistake in the stamps of a frame; null: there is none.
const char* wrong_stamps(const Seen& seen, const FrameOutcome& row) {
    const Instant never = Instant::never();
    const bool due = row.deadline != never;
    if (row.kind == FrameKind::on_time) {
        if (row.completed == never) return "on time and not complete";
        if (due && row.completed > row.deadline) return "on time after its deadline";
        if (row.error != 0 || row.reason != DropReason::none) return "on time with an error";
    }
    if (row.kind == FrameKind::dropped || row.kind == FrameKind::late) {
        if (!due || row.completed <= row.deadline) return "missed, and it was there";
        const bool client_may = seen.world.decode_cpu.ns > 0 || seen.world.storage != StorageKind::null;
        if (row.reason == DropReason::client && !client_may) return "the client was late in virtual time";
    }
    if (row.kind == FrameKind::failed && row.bytes > 0) return "failed with bytes";
    if (row.kind == FrameKind::cancelled && row.reason != DropReason::none) return "cancelled with a reason";
    if (row.submitted == never) return nullptr;
    if (row.submitted < row.scheduled) return "submitted before it was in the window";
    if (row.completed < row.submitted) return "complete before it was submitted";
    return nullptr;
}

void check_stamps(const Seen& seen, Findings& findings) {
    for (const StreamRows& stream : rows_of(seen)) {
        findings.about(*stream.result);
        for (const FrameRow* each : stream.rows) {
            const FrameOutcome& row = each->outcome;
            const char* const wrong = wrong_stamps(seen, row);
            if (wrong == nullptr) continue;
            findings.add("slot {} ({}): {}; scheduled {}, submitted {}, due {}, completed {}",
                         {row.slot, to_string(row.kind), wrong, row.scheduled, row.submitted, row.deadline,
                          row.completed});
        }
    }
}

void check_window(const Seen& seen, Findings& findings) {
    for (const StreamRows& stream : rows_of(seen)) {
        findings.about(*stream.result);
        if (!stream.plan->options.paced || stream.sought || seen.world.sync || stream.records()) continue;
        const std::uint64_t readahead = stream.plan->options.readahead;
        for (std::size_t i = readahead; i < stream.rows.size(); ++i) {
            const FrameOutcome& row = stream.rows[i]->outcome;
            const FrameOutcome& opens = stream.rows[i - readahead]->outcome;
            if (row.kind == FrameKind::cancelled || opens.kind == FrameKind::cancelled) break;
            findings.expect(row.scheduled == opens.deadline,
                            "slot {} entered the window at {}, and slot {} was due at {}",
                            {i, row.scheduled.ns, i - readahead, opens.deadline.ns});
        }
    }
}

void check_frames_shown(const Seen& seen, Findings& findings) {
    for (const StreamRows& stream : rows_of(seen)) {
        findings.about(*stream.result);
        for (const FrameRow* each : stream.rows) {
            const FrameOutcome& row = each->outcome;
            findings.expect(row.sought == (stream.plan->path->sought(row.slot) && !stream.records() &&
                                           stream.plan->options.paced) ||
                                row.kind == FrameKind::cancelled,
                            "slot {} is no jump of its path, or is one", {row.slot});
            if (row.kind == FrameKind::failed) continue;
            const play::ShownFrame named = stream.plan->path->named(row.slot);
            if (stream.records()) continue;
            findings.expect(named.frame == row.clip_frame && named.source == row.source,
                            "slot {} shows frame {} of clip {}, and its path frame {} of clip {}",
                            {row.slot, row.clip_frame, row.source, named.frame, named.source});
        }
    }
}

void check_runs(const Seen& seen, Findings& findings) {
    for (const StreamRows& stream : rows_of(seen)) {
        findings.about(*stream.result);
        std::uint64_t run = 0;
        std::uint64_t longest = 0;
        std::uint64_t sought = 0;
        for (const FrameRow* each : stream.rows) {
            run = each->outcome.kind == FrameKind::dropped ? run + 1 : 0;
            longest = std::max(longest, run);
            sought += each->outcome.sought && each->outcome.kind != FrameKind::cancelled ? 1 : 0;
        }
        findings.equal(longest, stream.result->longest_drop_run, "longest run of drops, by rows and told");
        const std::uint64_t pass = stream.plan->path->pass_slots();
        findings.equal((stream.result->counts.scheduled + pass - 1) / pass, stream.result->counts.passes,
                       "passes by slots, and told");
        findings.equal(sought, stream.result->counts.seeks, "jumps by rows, and seeks");
    }
    findings.about_run();
    findings.equal(seen.result.seeks.size(), seen.result.totals.seeks, "rows of seeks, and seeks");
}

/// The least and the largest of some margins.
struct Margins {
    std::int64_t least_ns = INT64_MAX, most_ns = INT64_MIN;

    void add(std::int64_t ns) {
        least_ns = std::min(least_ns, ns);
        most_ns = std::max(most_ns, ns);
    }
    bool empty() const { return least_ns == INT64_MAX; }
};

/// The margins of frames that were scheduled during play; where there are none, those of preroll and jumps.
Margins margins_of(const StreamRows& stream) {
    Margins playing;
    Margins waited;
    for (const FrameRow* each : stream.rows) {
        const FrameOutcome& row = each->outcome;
        if (row.kind == FrameKind::cancelled || row.kind == FrameKind::failed) continue;
        if (row.completed == Instant::never() || row.deadline == Instant::never()) continue;
        const bool was_waited_for =
            row.sought || (row.slot < stream.plan->options.readahead && !stream.records());
        (was_waited_for ? waited : playing).add((row.deadline - row.completed).ns);
    }
    return playing.empty() ? waited : playing;
}

void check_margins(const Seen& seen, Findings& findings) {
    for (const StreamRows& stream : rows_of(seen)) {
        findings.about(*stream.result);
        const Margins margins = margins_of(stream);
        const auto& told = stream.result->margin_ns;
        if (told.has_value() == margins.empty())
            findings.add("margins in rows or in the result, and not in both");
        if (!told || margins.empty()) continue;
        findings.equal_ns(told->min, margins.least_ns, "least margin, told and by rows");
        findings.equal_ns(told->max, margins.most_ns, "largest margin, told and by rows");
        findings.expect(told->min <= told->p0_1 && told->p0_1 <= told->p1 && told->p1 <= told->p10 &&
                            told->p10 <= told->p50 && told->p50 <= told->max,
                        "percentiles of margins do not ascend");
    }
}

constexpr Invariant kInvariants[] = {
    {"one-row-a-slot", "each scheduled slot is settled once, and rows, counts and bytes agree", "ledger.h",
     check_rows},
    {"every-slot-planned", "a run that is not interrupted schedules every slot, and cancels none", "contract",
     check_all_slots},
    {"due-on-the-grid", "slot i is due at play_start + clock shift + floor(i x den x 10^9 / num)",
     "structure.md, law 2", check_grid},
    {"stamps-judge", "on time when, and only when, completed <= deadline; no frame with an error is on time",
     "structure.md, law 3", check_stamps},
    {"window-opens-on-the-clock", "frame k enters the window when frame k - R is due", "player.h",
     check_window},
    {"path-is-shown", "each slot shows the frame of its path, and jumps are those of its path", "play_path.h",
     check_frames_shown},
    {"runs-are-counted", "drop runs, passes and seeks are those of the rows", "contract", check_runs},
    {"margins-are-those-of-frames", "the least and largest margin are exact", "trust.md; stream_result.h",
     check_margins},
};

}  // namespace

std::span<const Invariant> frame_invariants() {
    return kInvariants;
}

}  // namespace streamsim::worlds
