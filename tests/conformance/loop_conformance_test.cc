// The contract of streamsim/event_loop.h, tested against the virtual and the real loop; and the timer queue
// against a sorted list.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "loop/timer_queue.h"
#include "loop/uv_loop.h"
#include "loop/virtual_loop.h"

namespace streamsim {
namespace {

enum class Kind { virtual_time, real_time };

std::unique_ptr<EventLoop> make_loop(Kind kind) {
    if (kind == Kind::virtual_time) return std::make_unique<loop::VirtualLoop>();
    return std::make_unique<loop::UvLoop>();
}

/// Notes a number when it runs.
struct Note {
    std::vector<int>* log;
    int number;
    EventLoop* loop = nullptr;
    Instant ran_at = Instant::never();
    void run() {
        log->push_back(number);
        if (loop != nullptr) ran_at = loop->now();
    }
    Callback callback() { return Callback::of<&Note::run>(this); }
};

class LoopConformance : public testing::TestWithParam<Kind> {
protected:
    std::unique_ptr<EventLoop> loop_ = make_loop(GetParam());
    std::vector<int> log_;
};

TEST_P(LoopConformance, TimersRunByTimeThenInTheOrderTheyWereSet) {
    const Instant begin = loop_->now();
    Note notes[] = {{&log_, 0}, {&log_, 1}, {&log_, 2}, {&log_, 3}};
    loop_->at(begin + milliseconds(2), notes[3].callback());
    loop_->at(begin + milliseconds(1), notes[0].callback());
    loop_->at(begin + milliseconds(1), notes[1].callback());
    loop_->at(begin + milliseconds(1), notes[2].callback());
    EXPECT_EQ(loop_->run(), StopReason::idle);
    EXPECT_EQ(log_, (std::vector<int>{0, 1, 2, 3}));
}

TEST_P(LoopConformance, ATimerNeverRunsEarly) {
    Note note{&log_, 0, loop_.get()};
    const Instant due = loop_->now() + microseconds(700);
    loop_->at(due, note.callback());
    loop_->run();
    EXPECT_GE(note.ran_at, due);
}

TEST_P(LoopConformance, ATimeInThePastMeansTheNextTurnAndNotNow) {
    struct Setter {
        EventLoop& loop;
        Note& late;
        std::vector<int>& log;
        void run() {
            loop.at(loop.now() - seconds(1), late.callback());
            loop.defer(late.callback());
            log.push_back(1);
        }
    };
    Note late{&log_, 2};
    Setter setter{*loop_, late, log_};
    loop_->at(loop_->now(), Callback::of<&Setter::run>(&setter));
    loop_->run();
    EXPECT_EQ(log_, (std::vector<int>{1, 2, 2}));
}

TEST_P(LoopConformance, ACancelledTimerDoesNotRunAndCancelSaysSoOnce) {
    Note notes[] = {{&log_, 0}, {&log_, 1}};
    const TimerId gone = loop_->at(loop_->now() + milliseconds(1), notes[0].callback());
    loop_->at(loop_->now() + milliseconds(2), notes[1].callback());
    EXPECT_TRUE(loop_->cancel(gone));
    EXPECT_FALSE(loop_->cancel(gone));
    EXPECT_FALSE(loop_->cancel(0));
    loop_->run();
    EXPECT_EQ(log_, (std::vector<int>{1}));
}

TEST_P(LoopConformance, ATimerThatHasRunCannotBeCancelledNorItsSuccessorByItsName) {
    Note notes[] = {{&log_, 0}, {&log_, 1}};
    const TimerId first = loop_->at(loop_->now(), notes[0].callback());
    loop_->run();
    EXPECT_FALSE(loop_->cancel(first));
    loop_->at(loop_->now(), notes[1].callback());  // takes the slot of the first timer
    EXPECT_FALSE(loop_->cancel(first));
    loop_->run();
    EXPECT_EQ(log_, (std::vector<int>{0, 1}));
}

TEST_P(LoopConformance, PostWorksFromOtherThreadsAndLosesNothing) {
    constexpr int kThreads = 4;
    constexpr int kPosts = 500;
    int seen = 0;
    loop_->hold();
    std::vector<std::thread> threads;
    struct Starter {
        std::vector<std::thread>& threads;
        EventLoop& loop;
        int& seen;
        void run() {
            for (int t = 0; t < kThreads; ++t) {
                threads.emplace_back([this] {
                    for (int i = 0; i < kPosts; ++i) {
                        loop.post([this] {
                            if (++seen == kThreads * kPosts) loop.stop();
                        });
                    }
                });
            }
        }
        void tick() { loop.at(loop.now() + milliseconds(1), Callback::of<&Starter::tick>(this)); }
    } starter{threads, *loop_, seen};
    loop_->defer(Callback::of<&Starter::run>(&starter));
    starter.tick();  // virtual time needs something to happen while it waits for threads
    EXPECT_EQ(loop_->run(), StopReason::stopped);
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(seen, kThreads * kPosts);
    loop_->release();
}

TEST_P(LoopConformance, WhatATimerDefersFirstRunsBeforeTheNextTimer) {
    struct Deferring {
        EventLoop& loop;
        Note own, behind;
        void run() {
            loop.defer_first(behind.callback());
            own.run();
        }
    } deferring{*loop_, {&log_, 0}, {&log_, 1}};
    Note next{&log_, 2};
    const Instant due = loop_->now();
    loop_->at(due, Callback::of<&Deferring::run>(&deferring));
    loop_->at(due, next.callback());
    loop_->run();
    EXPECT_EQ(log_, (std::vector<int>{0, 1, 2}));
}

TEST_P(LoopConformance, CompletionsAreReapedBeforeATimerThatIsDue) {
    struct Queue : Reaper {
        std::vector<int>& log;
        explicit Queue(std::vector<int>& l) : log(l) {}
        void reap() override {
            if (log.empty()) log.push_back(1);
        }
    } queue(log_);
    loop_->add_reaper(&queue);
    Note note{&log_, 2};
    loop_->at(loop_->now(), note.callback());
    loop_->run();
    loop_->remove_reaper(&queue);
    EXPECT_EQ(log_, (std::vector<int>{1, 2}));
}

INSTANTIATE_TEST_SUITE_P(All,
                         LoopConformance,
                         testing::Values(Kind::virtual_time, Kind::real_time),
                         [](const auto& each) {
                             return each.param == Kind::virtual_time ? "VirtualLoop" : "UvLoop";
                         });

/// In virtual time such a chain would stay at one instant for ever.
TEST(UvLoop, DeferredCallbacksThatDeferAgainDoNotStarveTimers) {
    loop::UvLoop loop;
    struct Again {
        EventLoop& loop;
        int count = 0;
        void run() {
            if (++count == 2) loop.at(loop.now() + milliseconds(3), Callback::of<&Again::stop>(this));
            loop.defer(Callback::of<&Again::run>(this));
        }
        void stop() { loop.stop(); }
    } again{loop};
    loop.defer(Callback::of<&Again::run>(&again));
    EXPECT_EQ(loop.run(), StopReason::stopped) << "else it never ends";
}

TEST(UvLoop, CallbacksThatDeferAgainBehindATimerDoNotStarveTimers) {
    loop::UvLoop loop;
    struct Again {
        EventLoop& loop;
        void run() { loop.defer_first(Callback::of<&Again::run>(this)); }
        void stop() { loop.stop(); }
    } again{loop};
    loop.at(loop.now(), Callback::of<&Again::run>(&again));
    loop.at(loop.now() + milliseconds(3), Callback::of<&Again::stop>(&again));
    EXPECT_EQ(loop.run(), StopReason::stopped) << "else it never ends";
}

/// A turn that leaves a deferred callback does not wait; one that leaves a timer does, but the first of run().
TEST(UvLoop, TurnsEndInTheWaiter) {
    struct Waits final : Waiter {
        std::vector<bool> waits;
        bool end_turn(bool wait) override {
            waits.push_back(wait);
            return true;
        }
    } waiter;
    loop::UvLoop loop;
    struct Steps {
        EventLoop& loop;
        const std::vector<bool>& waits;
        std::size_t deferred_at = 0;
        bool waited_in_vain = true;
        void defer() {
            deferred_at = waits.size();
            loop.defer(Callback::of<&Steps::defer_again>(this));
        }
        void defer_again() { loop.defer(Callback::of<&Steps::end>(this)); }
        void end() {
            waited_in_vain = std::find(waits.begin() + static_cast<std::ptrdiff_t>(deferred_at), waits.end(),
                                       true) != waits.end();
            loop.stop();
        }
    } steps{loop, waiter.waits};
    loop.set_waiter(&waiter);
    loop.at(loop.now() + milliseconds(3), Callback::of<&Steps::defer>(&steps));
    EXPECT_EQ(loop.run(), StopReason::stopped);
    ASSERT_GT(steps.deferred_at, 1u);
    EXPECT_FALSE(waiter.waits.front()) << "libuv had polled nothing yet";
    EXPECT_TRUE(waiter.waits[1]) << "a timer was all that was left";
    EXPECT_FALSE(steps.waited_in_vain);
    loop.set_waiter(nullptr);
    const std::size_t turns = waiter.waits.size();
    loop.at(loop.now(), Callback::of<&Steps::end>(&steps));
    loop.run();
    EXPECT_EQ(waiter.waits.size(), turns);
}

TEST(VirtualLoop, JumpsToTheNextEvent) {
    loop::VirtualLoop loop;
    std::vector<int> log;
    Note note{&log, 1, &loop};
    loop.at(Instant{} + seconds(86400), note.callback());
    loop.run();
    EXPECT_EQ(note.ran_at, Instant{} + seconds(86400));
}

TEST(VirtualLoop, NothingLeftToHappenWhileSomethingIsOutstandingIsABug) {
    loop::VirtualLoop loop;
    loop.hold();
    EXPECT_DEATH(loop.run(), "an operation is outstanding");
}

/// A callback that keeps its loop busy for 30 ms.
struct Busy {
    loop::UvLoop& loop;
    Instant from, to;
    void run() {
        from = loop.now();
        while (loop.now() - from < milliseconds(30)) {
        }
        to = loop.now();
    }
    void nothing() {}
    void stop() { loop.stop(); }
};

TEST(UvLoop, ACallbackThatTakesTooLongIsNotedAsAStall) {
    loop::UvLoop loop;
    Busy busy{loop, {}, {}};
    loop.at(loop.now() + milliseconds(7), Callback::of<&Busy::run>(&busy));
    loop.at(loop.now() + milliseconds(60), Callback::of<&Busy::stop>(&busy));
    loop.run();
    EXPECT_GE(loop.stalled_within(busy.from, busy.to).ns, 20'000'000);
    EXPECT_EQ(loop.stalled_within(busy.from - seconds(1), busy.from - milliseconds(20)).ns, 0);
    EXPECT_GE(loop.lateness().max_ns, 10'000'000);
    EXPECT_GT(loop.lateness().timers, 2u) << "besides these two, the heartbeat";
}

/// Else the stalls of a burst would push the earlier ones out of the loop's memory, which holds some hundred.
TEST(UvLoop, ManyTimersThatAreLateTogetherAreOneStall) {
    loop::UvLoop loop;
    Busy first{loop, {}, {}};
    Busy second{loop, {}, {}};
    const Instant begin = loop.now();
    loop.at(begin + milliseconds(7), Callback::of<&Busy::run>(&first));
    loop.at(begin + milliseconds(60), Callback::of<&Busy::run>(&second));
    for (int i = 0; i < 1000; ++i) loop.at(begin + milliseconds(60), Callback::of<&Busy::nothing>(&second));
    loop.at(begin + milliseconds(100), Callback::of<&Busy::stop>(&second));
    loop.run();
    EXPECT_GE(loop.stalled_within(first.from, first.to).ns, 20'000'000);
    EXPECT_GE(loop.stalled_within(second.from, second.to).ns, 20'000'000);
    EXPECT_LE(loop.stalled_within(begin, loop.now()), loop.now() - begin);
}

/// Compares the queue with a list that is sorted anew each time.
TEST(TimerQueue, AgreesWithASortedListOverRandomOperations) {
    struct Entry {
        Instant when;
        std::uint64_t order;
        TimerId id;
        std::size_t number;
    };
    Prng prng(11);
    loop::TimerQueue queue;
    std::vector<Entry> list;
    std::vector<TimerId> dead;
    static std::size_t ran;
    std::vector<std::size_t> numbers(20'000);
    Instant when;  // several timers in turn have it
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = i;
        const std::uint64_t what = prng.below(10);
        if (what < 5) {
            if (prng.below(3) == 0) when = Instant{static_cast<std::int64_t>(prng.below(50))};
            const Callback callback{[](void* number) { ran = *static_cast<std::size_t*>(number); },
                                    &numbers[i]};
            const std::uint64_t order = queue.order();
            list.push_back({when, order, queue.set(when, callback), i});
        } else if (what < 7 && !list.empty()) {
            const std::size_t victim = prng.below(list.size());
            EXPECT_TRUE(queue.cancel(list[victim].id));
            dead.push_back(list[victim].id);
            list.erase(list.begin() + static_cast<std::ptrdiff_t>(victim));
        } else if (what < 8 && !dead.empty()) {
            EXPECT_FALSE(queue.cancel(dead[prng.below(dead.size())]));
        } else if (!list.empty()) {
            const auto first = std::min_element(list.begin(), list.end(), [](const Entry& a, const Entry& b) {
                return a.when != b.when ? a.when < b.when : a.order < b.order;
            });
            EXPECT_TRUE(queue.due(first->when, first->order + 1));
            EXPECT_FALSE(queue.due(first->when, first->order));
            Instant popped;
            queue.pop(popped)();
            ASSERT_EQ(ran, first->number);
            ASSERT_EQ(popped, first->when);
            dead.push_back(first->id);
            list.erase(first);
        }
        ASSERT_EQ(queue.size(), list.size());
    }
}

}  // namespace
}  // namespace streamsim
