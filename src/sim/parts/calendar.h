// The future events of the cluster. The events of an instant run before the loop's timers of the same instant
// (the cluster reaps, as a storage does), so that a read which completes at its deadline is complete when the
// deadline's timer runs. Equal times run in the order they were set. Allocates only when there are more events
// than ever before.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "base/callback.h"
#include "base/time.h"
#include "streamsim/event_loop.h"

namespace streamsim::sim {

/// Events of a clock that never runs backwards, the earliest first: a radix heap (Ahuja, Mehlhorn, Orlin and
/// Tarjan, "Faster algorithms for the shortest path problem", 1990) with digits of six bits. An event is at the
/// level of the highest digit in which its time differs from that of the last one that ran, in the bucket of
/// that digit; so equal times are in one bucket, in order. An event moves to a lower level a few times at most,
/// whatever the number of events.
class EventQueue {
public:
    bool empty() const { return now_.first == nullptr && levels_used_ == 0; }
    /// REQUIRES: !empty().
    Instant next() const { return {now_.first != nullptr ? last_ : lowest().least_ns}; }
    /// REQUIRES: no earlier than the last event that ran.
    void push(Instant when, Callback callback) {
        Event* event = free_;
        if (event == nullptr) {
            event = &events_.emplace_back();
        } else {
            free_ = event->next;
        }
        event->when_ns = when.ns;
        event->callback = callback;
        place(*event);
    }
    /// REQUIRES: !empty().
    Callback pop() {
        Event* event = now_.first;
        if (event == nullptr) {
            event = advance();
        } else {
            now_.first = event->next;
        }
        event->next = free_;
        free_ = event;
        return event->callback;
    }

private:
    static constexpr unsigned kDigitBits = 6;
    static constexpr unsigned kLevels = (63 + kDigitBits - 1) / kDigitBits;  // times are not negative
    struct Event {
        std::int64_t when_ns = 0;
        Callback callback;
        Event* next = nullptr;
    };
    struct Bucket {
        Event* first = nullptr;  // null: empty
        Event* last = nullptr;
        std::int64_t least_ns = 0;

        void push(Event& event) {
            event.next = nullptr;
            (first == nullptr ? first : last->next) = &event;
            last = &event;
        }
    };
    struct Level {
        std::uint64_t used = 0;  // bit i: bucket i has events
        std::array<Bucket, std::size_t{1} << kDigitBits> buckets;
    };

    const Bucket& lowest() const {
        const Level& level = levels_[static_cast<unsigned>(std::countr_zero(levels_used_))];
        return level.buckets[static_cast<unsigned>(std::countr_zero(level.used))];
    }
    void place(Event& event) {
        const auto differs = static_cast<std::uint64_t>(event.when_ns ^ last_);
        if (differs == 0) return now_.push(event);
        const unsigned number = (static_cast<unsigned>(std::bit_width(differs)) - 1) / kDigitBits;
        const auto digit = static_cast<unsigned>(event.when_ns >> (number * kDigitBits)) & 63U;
        Level& level = levels_[number];
        Bucket& bucket = level.buckets[digit];
        if (bucket.first == nullptr || event.when_ns < bucket.least_ns) bucket.least_ns = event.when_ns;
        bucket.push(event);
        level.used |= std::uint64_t{1} << digit;
        levels_used_ |= 1U << number;
    }
    /// The clock goes on to the earliest events: returns the first, the others become those of now.
    /// REQUIRES: there are none now.
    Event* advance() {
        Level& level = levels_[static_cast<unsigned>(std::countr_zero(levels_used_))];
        Bucket& bucket = level.buckets[static_cast<unsigned>(std::countr_zero(level.used))];
        level.used &= level.used - 1;
        if (level.used == 0) levels_used_ &= levels_used_ - 1;
        last_ = bucket.least_ns;
        Event* event = bucket.first;
        bucket.first = nullptr;
        if (event->next == nullptr) return event;
        while (event != nullptr) {
            Event& moved = *event;
            event = event->next;
            place(moved);
        }
        Event* const first = now_.first;
        now_.first = first->next;
        return first;
    }

    std::array<Level, kLevels> levels_;
    std::uint32_t levels_used_ = 0;  // bit i: level i has events
    Bucket now_;                     // at last_, in order
    std::int64_t last_ = 0;
    std::deque<Event> events_;
    Event* free_ = nullptr;
};

class Calendar {
public:
    explicit Calendar(EventLoop& loop) : loop_(loop), now_(loop.now()) {}
    Calendar(const Calendar&) = delete;
    Calendar& operator=(const Calendar&) = delete;

    /// A virtual loop reaps first at each of its instants: this is always its time.
    Instant now() const { return now_; }
    /// REQUIRES: when >= now().
    void at(Instant when, Callback callback) { events_.push(when, callback); }
    /// The time of the next event; never: there is none. For the cluster's Reaper::next().
    Instant next() const { return events_.empty() ? Instant::never() : events_.next(); }
    /// Runs all events that are due, also those that become due meanwhile, and goes on to the next ones until
    /// `stop` says true or something else happens in the loop. For the cluster's reap().
    template <typename Stop>
    void run_due(Stop&& stop) {
        now_ = loop_.now();
        for (Instant at = next();;) {
            for (; at <= now_; at = next()) events_.pop()();
            if (stop() || !loop_.skip_to(at)) return;
            now_ = at;
        }
    }

private:
    EventLoop& loop_;
    Instant now_;
    EventQueue events_;
};

}  // namespace streamsim::sim
