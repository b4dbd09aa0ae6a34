#include "play/progress_writer.h"

#include <algorithm>

namespace streamsim::play {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr auto kOrder = std::memory_order_relaxed;

}  // namespace

void ProgressWriter::play_started(Instant play_start, Instant zero) {
    zero_ = zero;
    to_.play_start_ns.store((play_start - zero).ns, kOrder);
    state(StreamState::playing);
}

void ProgressWriter::settled(const FrameOutcome& outcome, const DeadlineLedger& ledger) {
    const FrameCounts& counts = ledger.counts();
    to_.bytes.store(counts.bytes_read + counts.bytes_written, kOrder);
    to_.on_time.store(counts.on_time, kOrder);
    to_.bad.store(counts.dropped + counts.late + counts.failed, kOrder);
    const metrics::SignedHistogram& margins = ledger.times().margin;
    if (margins.count() > 0) to_.margin_min_ns.store(margins.min(), kOrder);
    if (outcome.kind == FrameKind::cancelled) return;
    const bool prerolled = outcome.slot < ledger.options().readahead && !ledger.options().records;
    const bool waited_for = prerolled || outcome.sought;
    if (!waited_for) note_margin(outcome);
    if (outcome.kind == FrameKind::on_time) return;
    const std::int64_t at_ns = outcome.deadline == Instant::never() ? 0 : (outcome.deadline - zero_).ns;
    to_.misses.add({at_ns, outcome.slot, outcome.kind, outcome.reason, false});
}

void ProgressWriter::note_margin(const FrameOutcome& outcome) {
    const Instant came = outcome.came();
    if (outcome.deadline == Instant::never() || came == Instant::never()) return;
    const std::int64_t second = outcome.deadline.ns / kSecond;
    if (second > second_) {
        margin_before_ = second == second_ + 1 ? margin_now_ : INT64_MAX;
        margin_now_ = INT64_MAX;
        second_ = second;
    }
    margin_now_ = std::min(margin_now_, (outcome.deadline - came).ns);
    to_.margin_lately_ns.store(std::min(margin_now_, margin_before_), kOrder);
}

void ProgressWriter::stalled(std::uint64_t slot, Instant due, bool client, const DeadlineLedger& ledger) {
    to_.stalls.store(ledger.counts().stalls, kOrder);
    const DropReason reason = client ? DropReason::client : DropReason::late;
    to_.misses.add({(due - zero_).ns, slot, FrameKind::dropped, reason, true});
}

}  // namespace streamsim::play
