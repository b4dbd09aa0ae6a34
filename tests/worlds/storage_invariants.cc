// Invariants between a run and its storage: everything that was opened is closed, and bytes that were read are
// bytes that the storage gave.
#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "play/slot_reads.h"
#include "worlds/invariants.h"

namespace streamsim::worlds {
namespace {

void check_contract(const Seen& seen, Findings& findings) {
    for (const std::string& text : seen.played.log.violations) findings.add("{}", {text});
}

void check_closed(const Seen& seen, Findings& findings) {
    const StorageLog& log = seen.played.log;
    if (seen.played.stuck) return;
    findings.expect(log.storages == 0 || log.is_shut_down, "the storage was not shut down");
    findings.equal(log.outstanding, 0u, "operations outstanding after the run");
    findings.equal(log.open_files.size(), 0u, "files open after the run");
}

void check_bytes(const Seen& seen, Findings& findings) {
    const StorageLog& log = seen.played.log;
    findings.expect(seen.result.totals.bytes_read <= log.given_bytes || !seen.result.meters.empty(),
                    "{} bytes read, and the storage gave {}", {seen.result.totals.bytes_read, log.given_bytes});
    std::map<std::pair<std::uint32_t, std::uint32_t>, const run::StreamPlan*> plans;
    for (const run::StreamPlan& plan : seen.played.plans)
        plans[{plan.options.seat, plan.options.stream}] = &plan;
    for (const FrameRow& row : seen.result.frames) {
        const auto plan = plans.find({row.seat, row.stream});
        if (plan == plans.end() || plan->second->record != nullptr) continue;
        // A piece of a streamed container belongs to several frames.
        if (plan->second->options.pattern == play::AccessPattern::streaming) continue;
        if (play::slot_needs(*plan->second->path).groups) continue;
        const auto found = log.slots.find({row.seat, row.stream, row.outcome.slot});
        const std::uint64_t given = found != log.slots.end() ? found->second.given_bytes : 0;
        const bool complete = row.outcome.bytes > 0;
        findings.expect(complete ? given == row.outcome.bytes : true,
                        "slot {} of stream {} of seat {} has {} bytes, and the storage gave {}",
                        {row.outcome.slot, row.stream, row.seat, row.outcome.bytes, given});
        if (row.outcome.submitted == Instant::never())
            findings.expect(given == 0, "slot {} of stream {} of seat {} was never read, and has bytes",
                            {row.outcome.slot, row.stream, row.seat});
    }
}

void check_inflight(const Seen& seen, Findings& findings) {
    for (const run::StreamPlan& plan : seen.played.plans) {
        if (plan.record != nullptr || plan.options.pattern == play::AccessPattern::streaming) continue;
        const auto found = seen.played.log.streams.find({plan.options.seat, plan.options.stream});
        if (found == seen.played.log.streams.end()) continue;
        findings.expect(found->second.slots_in_flight_max <= plan.options.inflight_slots(),
                        "stream {} of seat {} had {} frames in flight, and {} are allowed",
                        {plan.options.stream, plan.options.seat, found->second.slots_in_flight_max,
                         plan.options.inflight_slots()});
    }
}

void check_meters(const Seen& seen, Findings& findings) {
    std::uint64_t read_bytes = 0;
    bool failed = false;
    for (const MeterResult& meter : seen.result.meters) {
        OperationResult sum;
        for (const OperationResult& each : meter.operations) {
            sum.done += each.done;
            sum.failed += each.failed;
            sum.bytes += each.bytes;
        }
        findings.equal(sum.done, meter.all.done, "operations of a meter, by kind and in all");
        findings.equal(sum.failed, meter.all.failed, "failed operations of a meter, by kind and in all");
        findings.equal(sum.bytes, meter.all.bytes, "bytes of a meter, by kind and in all");
        std::uint64_t errors = 0;
        for (const MeterResult::Error& error : meter.errors) errors += error.times;
        // The failure of an fsync at the end is an error, and no operation.
        findings.expect(errors >= meter.all.failed, "{} errors of a meter with {} failed operations",
                        {errors, meter.all.failed});
        read_bytes += meter.operations[static_cast<std::size_t>(LoadOperation::read)].bytes;
        failed = failed || errors > 0;
    }
    findings.expect(read_bytes + seen.result.totals.bytes_read <= seen.played.log.given_bytes,
                    "meters read {} bytes and streams {}, and the storage gave {}",
                    {read_bytes, seen.result.totals.bytes_read, seen.played.log.given_bytes});
    findings.expect(!failed || !seen.result.verdict.pass, "a meter has errors, and the verdict passes");
}

constexpr Invariant kInvariants[] = {
    {"storage-contract", "operations are submitted on open files, once, and complete once, before the end",
     "storage.h", check_contract},
    {"nothing-stays-open", "a run closes every file and ends every operation", "storage.h", check_closed},
    {"bytes-were-given", "the bytes of a complete frame are those that the storage gave for it", "contract",
     check_bytes},
    {"in-flight-is-limited", "no more than min(inflight, readahead) frames of a stream are read at once",
     "playback.md", check_inflight},
    {"meters-add-up", "the operations, bytes and errors of a meter add up, and the storage gave the bytes",
     "meter_result.h", check_meters},
};

}  // namespace

std::span<const Invariant> storage_invariants() {
    return kInvariants;
}

}  // namespace streamsim::worlds
