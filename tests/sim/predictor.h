// The outcome of one stream, by arithmetic. The tests compare the player with this predictor, so the two share
// nothing: no header of the project, no type, no loop. The predictor knows the meaning of the words and how
// long each read takes, and works out the rest.
//
// The meaning of the words, in full:
//   - Slot i is due at D(i) = play_start + stalled so far + floor(i * den * 10^9 / num).
//   - Frames 0..R-1 enter the window when preroll begins, frame k >= R when slot k - R goes on display.
//   - A frame that is in the window is read as soon as one of min(inflight, R) in-flight slots is free, in
//   order.
//   - Play starts when the first min(R, slots) frames are complete or have failed, not before
//     `start_not_before_ns` (the streams of a seat start together).
//   - drop: an in-flight slot that is free takes the first unread frame that is not overdue (D >= now); the
//     frames before it are never read.
//   - skip: as drop, but of the frames in the window that are unread and not overdue, the free in-flight slot
//     takes the first one with D >= now + E, and the last one if there is none; the frames before it are never
//     read. E is the smallest time that at least three of every four frames did not exceed, among the last
//     max(16, 4 * in-flight slots) frames that were read without failure (among all while they are fewer); the
//     time of a frame is from its submission to its completion. Before the first, E is 0.
//   - hold: no frame is passed over; one that comes after its deadline is late.
//   - stall: a slot that is not complete when it is due stops the clock until it is; it is then on time.
//   - A read that is over its deadline keeps its in-flight slot until it completes.
// Equal instants: completions come first, then their in-flight slots are filled (a read of no length completes
// at once, and may free its slot again), then slots are judged, then frames enter the window. Several
// completions come in the order of their submissions, and each in-flight slot is filled before the next comes.
//
// Left open by those words, and decided here: a read that fails after its deadline makes the slot failed, not
// dropped; under stall, waiting for a read that then fails is a stall.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace predictor {

enum class Policy { drop, skip, hold, stall };
enum class Kind { on_time, late, dropped, failed };

const char* to_string(Kind kind);

/// The fate of one read: how long from its submission to its end, and whether it ends in failure.
struct ReadFate {
    std::int64_t service_ns = 0;  // >= 0
    bool fails = false;
};

struct Plan {
    std::int64_t rate_num = 24;
    std::int64_t rate_den = 1;
    std::uint64_t slots = 0;
    std::uint64_t readahead = 1;  // R >= 1
    std::uint64_t inflight = 1;   // >= 1; there are min(inflight, R) in-flight slots
    Policy policy = Policy::drop;
    std::int64_t begin_ns = 0;                     // preroll begins
    std::int64_t start_not_before_ns = INT64_MIN;  // play does not start earlier than this
    /// Asked once for each read, in the order of their submission.
    std::function<ReadFate(std::uint64_t slot, std::int64_t submitted_ns)> read;
};

/// Instants are on the clock of Plan::begin_ns.
struct Slot {
    Kind kind = Kind::on_time;
    std::int64_t scheduled_ns = 0;             // entered the window
    std::optional<std::int64_t> submitted_ns;  // nullopt: never read
    std::optional<std::int64_t> completed_ns;  // nullopt: never read, or failed
    std::int64_t deadline_ns = 0;              // under stall: when it went on display
    std::int64_t stalled_ns = 0;               // how long the clock stood for it
    /// How far this slot is from the other outcome: margin before any stall, negative when it missed. For a
    /// frame that was passed over: how much earlier an in-flight slot would have had to be free. INT64_MAX
    /// where no deadline decided (failed).
    std::int64_t edge_ns = 0;
    /// skip: how far the decision that took the frame was from another one; INT64_MAX where there was none.
    std::int64_t choice_ns = INT64_MAX;
};

struct Prediction {
    std::int64_t play_start_ns = 0;
    std::vector<Slot> slots;
    std::uint64_t stalls = 0;
    std::int64_t stall_ns = 0;

    std::uint64_t count(Kind kind) const;
    /// Slots that were dropped or late.
    std::vector<std::uint64_t> missed() const;
};

/// When slot `index` is due, counted from play_start, without stalls.
std::int64_t due_ns(std::uint64_t index, std::int64_t rate_num, std::int64_t rate_den);

Prediction predict(const Plan& plan);

}  // namespace predictor
