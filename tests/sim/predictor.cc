#include "sim/predictor.h"

#include <algorithm>
#include <cstdlib>

namespace predictor {
namespace {

__extension__ typedef unsigned __int128 Wide;

constexpr std::int64_t kNever = INT64_MAX;

struct Flight {
    std::uint64_t slot = 0;
    std::int64_t ends_ns = 0;
    bool fails = false;
};

// One stream, from event to event. `shown_` is how many slots have been judged; because frame k enters when
// slot k - R is judged, the window is always [shown_, shown_ + R), which is all the state that the window has.
class Stream {
public:
    explicit Stream(const Plan& plan)
        : plan_(plan), inflight_slots_(std::min(plan.inflight, plan.readahead)), slots_(plan.slots) {
        const std::uint64_t first = std::min(plan.readahead, plan.slots);
        for (std::uint64_t i = 0; i < first; i++) slots_[i].slot.scheduled_ns = plan.begin_ns;
        entered_ = first;
    }

    Prediction play() {
        if (plan_.slots == 0) return {};
        for (std::int64_t now = plan_.begin_ns; now != kNever; now = next_event()) at(now);
        if (shown_ != plan_.slots || !flights_.empty()) std::abort();  // an event was lost
        return stats();
    }

private:
    struct Frame {
        Slot slot;
        bool done = false;  // complete or failed
        bool failed = false;
    };

    std::int64_t due(std::uint64_t slot) const {
        return play_start_ + stalled_ + due_ns(slot, plan_.rate_num, plan_.rate_den);
    }
    bool started() const { return play_start_ != kNever; }

    std::int64_t next_event() const {
        std::int64_t next = kNever;
        for (const Flight& flight : flights_) next = std::min(next, flight.ends_ns);
        if (started() && !stopped_since_ && shown_ < plan_.slots) next = std::min(next, due(shown_));
        return next;
    }

    // Everything that happens at one instant. Judging a slot lets a frame in, which may be read and complete at
    // once, which may be what the next slot waits for: hence the loop.
    void at(std::int64_t now) {
        for (bool more = true; more;) {
            settle_reads(now);
            start(now);
            more = judge(now);
        }
    }

    void settle_reads(std::int64_t now) {
        fill_inflight_slots(now);
        for (std::size_t i = 0; i < flights_.size();) {
            if (flights_[i].ends_ns > now) {
                i++;
                continue;
            }
            end_read(flights_[i], now);
            flights_.erase(flights_.begin() + static_cast<std::ptrdiff_t>(i));
            fill_inflight_slots(now);
        }
    }

    void end_read(const Flight& flight, std::int64_t now) {
        Frame& frame = slots_[flight.slot];
        frame.done = true;
        frame.failed = flight.fails;
        if (flight.fails) return;
        frame.slot.completed_ns = now;
        took_ns_.push_back(now - *frame.slot.submitted_ns);
    }

    // E: the smallest of the last times that has three quarters of them at or below it.
    std::int64_t expected_ns() const {
        const std::size_t counted =
            std::min<std::size_t>(took_ns_.size(), std::max<std::uint64_t>(16, 4 * inflight_slots_));
        if (counted == 0) return 0;
        std::vector<std::int64_t> last(took_ns_.end() - static_cast<std::ptrdiff_t>(counted), took_ns_.end());
        std::sort(last.begin(), last.end());
        std::size_t at = 0;
        while ((at + 1) * 4 < counted * 3) at++;
        return last[at];
    }

    // The frames before `end` are never read: an in-flight slot would have had to be free at start_by_ns.
    void pass_over(std::uint64_t end, std::int64_t start_by_ns) {
        for (; next_unread_ < end; next_unread_++)
            slots_[next_unread_].slot.edge_ns = due(next_unread_) - start_by_ns;
    }

    // skip: the frame of the window that an in-flight slot takes now.
    std::uint64_t choice(std::int64_t now) {
        const std::int64_t in_time_ns = now + expected_ns();
        std::uint64_t chosen = entered_ - 1;
        for (std::uint64_t slot = entered_; slot-- > next_unread_;) {
            if (due(slot) >= in_time_ns) chosen = slot;
        }
        Slot& slot = slots_[chosen].slot;
        slot.choice_ns = std::abs(due(chosen) - in_time_ns);
        if (chosen > next_unread_) {
            slot.choice_ns = std::min(slot.choice_ns, std::abs(due(chosen - 1) - in_time_ns));
        }
        // Without a frame that can be in time, the choice depends on which one entered last.
        if (due(chosen) < in_time_ns && now > slot.scheduled_ns) {
            slot.choice_ns = std::min({slot.choice_ns, now - slot.scheduled_ns, due(shown_) - now});
        }
        if (entered_ - next_unread_ == 1 && now == slot.scheduled_ns) slot.choice_ns = kNever;
        pass_over(chosen, in_time_ns);
        return chosen;
    }

    void fill_inflight_slots(std::int64_t now) {
        const bool drops = plan_.policy == Policy::drop || plan_.policy == Policy::skip;
        while (flights_.size() < inflight_slots_ && next_unread_ < entered_) {
            std::uint64_t in_time = next_unread_;
            while (drops && started() && in_time < entered_ && due(in_time) < now) in_time++;
            pass_over(in_time, now);
            if (next_unread_ == entered_) return;
            const std::uint64_t slot = plan_.policy == Policy::skip && started() ? choice(now) : next_unread_;
            const ReadFate fate = plan_.read(slot, now);
            slots_[slot].slot.submitted_ns = now;
            flights_.push_back({slot, now + fate.service_ns, fate.fails});
            next_unread_ = slot + 1;
        }
    }

    void start(std::int64_t now) {
        if (started()) return;
        const std::uint64_t first = std::min(plan_.readahead, plan_.slots);
        for (std::uint64_t i = 0; i < first; i++) {
            if (!slots_[i].done) return;
        }
        play_start_ = std::max(now, plan_.start_not_before_ns);
    }

    // One slot, if it is its turn; true when there was one.
    bool judge(std::int64_t now) {
        if (!started() || shown_ == plan_.slots) return false;
        Frame& frame = slots_[shown_];
        if (stopped_since_) {
            if (!frame.done) return false;
            frame.slot.stalled_ns = now - *stopped_since_;
            stalled_ += frame.slot.stalled_ns;
            stalls_++;
            stopped_since_.reset();
        } else if (due(shown_) > now) {
            return false;
        } else if (plan_.policy == Policy::stall && !frame.done) {
            stopped_since_ = now;
            return false;
        }
        frame.slot.deadline_ns = due(shown_);
        if (shown_ + plan_.readahead < plan_.slots) {
            slots_[shown_ + plan_.readahead].slot.scheduled_ns = now;
            entered_ = shown_ + plan_.readahead + 1;
        }
        shown_++;
        return true;
    }

    Prediction stats() {
        Prediction result;
        result.play_start_ns = play_start_;
        result.stalls = stalls_;
        result.stall_ns = stalled_;
        for (Frame& frame : slots_) {
            Slot& slot = frame.slot;
            if (frame.failed) {
                slot.kind = Kind::failed;
                slot.edge_ns = kNever;
            } else if (slot.completed_ns) {
                const std::int64_t margin = slot.deadline_ns - *slot.completed_ns;
                slot.edge_ns = slot.stalled_ns > 0 ? -slot.stalled_ns : margin;
                slot.kind = margin >= 0                    ? Kind::on_time
                            : plan_.policy == Policy::hold ? Kind::late
                                                           : Kind::dropped;
            } else {
                slot.kind = Kind::dropped;
            }
            result.slots.push_back(slot);
        }
        return result;
    }

    const Plan& plan_;
    const std::uint64_t inflight_slots_;
    std::vector<Frame> slots_;
    std::vector<Flight> flights_;
    std::uint64_t entered_ = 0;      // frames [0, entered_) have entered the window
    std::uint64_t next_unread_ = 0;  // frames [0, next_unread_) were read or passed over
    std::uint64_t shown_ = 0;        // slots [0, shown_) have been judged
    std::int64_t play_start_ = kNever;
    std::int64_t stalled_ = 0;
    std::uint64_t stalls_ = 0;
    std::vector<std::int64_t> took_ns_;  // of the frames that were read, by completion
    std::optional<std::int64_t> stopped_since_;
};

}  // namespace

const char* to_string(Kind kind) {
    switch (kind) {
        case Kind::on_time: return "on time";
        case Kind::late: return "late";
        case Kind::dropped: return "dropped";
        case Kind::failed: return "failed";
    }
    return "?";
}

std::uint64_t Prediction::count(Kind kind) const {
    return static_cast<std::uint64_t>(
        std::count_if(slots.begin(), slots.end(), [kind](const Slot& slot) { return slot.kind == kind; }));
}

std::vector<std::uint64_t> Prediction::missed() const {
    std::vector<std::uint64_t> result;
    for (std::uint64_t i = 0; i < slots.size(); i++) {
        if (slots[i].kind == Kind::late || slots[i].kind == Kind::dropped) result.push_back(i);
    }
    return result;
}

std::int64_t due_ns(std::uint64_t index, std::int64_t rate_num, std::int64_t rate_den) {
    const Wide ticks = Wide{index} * static_cast<std::uint64_t>(rate_den) * 1'000'000'000U;
    return static_cast<std::int64_t>(ticks / static_cast<std::uint64_t>(rate_num));
}

Prediction predict(const Plan& plan) {
    if (plan.readahead == 0 || plan.inflight == 0 || !plan.read) std::abort();
    return Stream(plan).play();
}

}  // namespace predictor
