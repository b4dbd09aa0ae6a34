// The copies of a ledger, which have what is overdue beside what was settled.
#include "play/ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace streamsim::play {
namespace {

/// Slot n is due n milliseconds after the start of play, and dropped.
FrameOutcome missed(std::uint64_t slot) {
    FrameOutcome outcome;
    outcome.slot = slot;
    outcome.kind = FrameKind::dropped;
    outcome.reason = DropReason::late;
    outcome.deadline = Instant{} + milliseconds(static_cast<std::int64_t>(slot));
    return outcome;
}

std::vector<std::uint64_t> slots_of(const std::vector<FrameOutcome>& rows) {
    std::vector<std::uint64_t> slots;
    for (const FrameOutcome& row : rows) slots.push_back(row.slot);
    std::sort(slots.begin(), slots.end());
    return slots;
}

struct PlayedLedger {
    metrics::TimeSeries series;
    metrics::TimeSeries series_of_copies;
    DeadlineLedger ledger;

    explicit PlayedLedger(std::uint64_t drops_kept)
        : ledger({.slots = 100, .drops_kept = drops_kept, .readahead = 1}, series) {
        ledger.play_started(Instant{}, Instant{}, Instant{});
    }
    void settle(std::uint64_t slot) {
        ledger.scheduled();
        ledger.settle(missed(slot));
    }
    std::unique_ptr<DeadlineLedger> new_copy() { return ledger.empty_copy(series_of_copies); }
};

TEST(LedgerCopy, ThatWasNotClosedForgetsWhatWasOverdue) {
    PlayedLedger played(100);
    for (std::uint64_t slot = 0; slot < 20; ++slot) played.settle(slot);
    const auto bring_up = [&played](DeadlineLedger& copy, std::uint64_t end) {
        played.ledger.catch_up(copy);
        for (std::uint64_t slot = 20; slot < end; ++slot) copy.overdue(missed(slot));
    };
    const auto copy = played.new_copy();
    for (const std::uint64_t end : {23U, 31U, 39U, 47U}) bring_up(*copy, end);
    const auto fresh = played.new_copy();
    for (DeadlineLedger* const each : {copy.get(), fresh.get()}) {
        bring_up(*each, 60);
        each->close();
    }
    EXPECT_EQ(copy->digest().hex(), fresh->digest().hex());
    EXPECT_EQ(copy->timing_digest().hex(), fresh->timing_digest().hex());
    EXPECT_EQ(copy->counts().dropped, 60u);
    EXPECT_EQ(slots_of(copy->drops()), slots_of(fresh->drops()));
}

void check_rows_taken_back(std::uint64_t drops_kept, bool closed) {
    PlayedLedger played(drops_kept);
    DeadlineLedger& ledger = played.ledger;
    for (std::uint64_t slot = 10; slot > 5; --slot) played.settle(slot);
    for (std::uint64_t slot = 5; slot-- > 0;) played.settle(slot);
    ledger.stalled(missed(0), Instant{}, Instant{} + milliseconds(1500), false);
    const auto copy = played.new_copy();
    ledger.catch_up(*copy);
    for (const std::uint64_t slot : {11U, 5U, 12U}) copy->overdue(missed(slot));
    copy->overdue_stall(missed(5), Instant{} + seconds(2), Instant{} + seconds(5), false);
    EXPECT_EQ(copy->drops().size(), std::min<std::uint64_t>(drops_kept, 13));
    if (closed) copy->close();
    ledger.catch_up(*copy);
    EXPECT_EQ(slots_of(copy->drops()), slots_of(ledger.drops()));
    EXPECT_EQ(copy->stalls().size(), 1u);
    EXPECT_EQ(copy->stalled_seconds(), ledger.stalled_seconds());
    if (closed) {
        EXPECT_EQ(copy->drops().front().slot, slots_of(ledger.drops()).front())
            << "rows that the copy had, in slot order, are not copied again";
    }
    played.settle(5);
    ledger.catch_up(*copy);
    EXPECT_EQ(slots_of(copy->drops()), slots_of(ledger.drops()));
}

TEST(LedgerCopy, TakesBackTheRowsOfWhatWasOverdueAlone) {
    for (const std::uint64_t drops_kept : {100U, 11U, 10U, 3U}) {
        for (const bool closed : {true, false}) {
            SCOPED_TRACE(testing::Message() << drops_kept << (closed ? " rows, closed" : " rows"));
            check_rows_taken_back(drops_kept, closed);
        }
    }
}

}  // namespace
}  // namespace streamsim::play
