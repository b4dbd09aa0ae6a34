#include "run/process/control.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <stdexcept>
#include <thread>
#include <utility>

namespace streamsim::run {
namespace {

/// Sent by the main thread from its loop: TSan loses a signal that comes while a thread is being made, and
/// one that a thread gets which waits on a std::future.
std::function<void()> interrupt_once() {
    return [sent = false]() mutable {
        if (!std::exchange(sent, true)) kill(getpid(), SIGINT);
    };
}

TEST(Control, WorkThatIsStuckIsLeftAfterItsTime) {
    static Control* const control = new Control();  // stays: the thread that is left behind speaks to it
    std::promise<void> answer;
    int asked = 0;
    Control::Work work;
    work.run = [answered = answer.get_future().share()] { answered.wait(); };
    work.on_tick = interrupt_once();
    work.on_interrupt = [&asked] { ++asked; };
    work.timeout = milliseconds(150);
    const std::int64_t begin_ns = control->now_ns();
    EXPECT_FALSE(control->run(std::move(work)));
    EXPECT_GE(control->now_ns() - begin_ns, 150'000'000);
    EXPECT_TRUE(control->interrupted());
    EXPECT_EQ(asked, 1);
    answer.set_value();
}

/// Ended by a signal of its own; how often it was asked to leave.
struct Left {
    std::promise<void> first;
    std::atomic<int> times = 0;

    ControlOptions options(Duration timeout) {
        ControlOptions options;
        options.timeout = timeout;
        options.leave = [this] {
            if (times++ == 0) first.set_value();
        };
        return options;
    }
    bool within(std::chrono::milliseconds time) {
        return first.get_future().wait_for(time) == std::future_status::ready;
    }
};

TEST(Control, LeavesAtOnceWhereNothingIsToBeSaved) {
    Left left;
    const Control control(left.options({}));
    kill(getpid(), SIGTERM);
    EXPECT_TRUE(left.within(std::chrono::seconds(20)));
    EXPECT_TRUE(control.interrupted());
}

TEST(Control, LeavesAMainThreadThatDoesNotReact) {
    Left left;
    Control control(left.options(milliseconds(150)));
    const std::int64_t begin_ns = control.now_ns();
    kill(getpid(), SIGINT);
    EXPECT_TRUE(left.within(std::chrono::seconds(20)));  // this is the main thread, and it waits
    EXPECT_GE(control.now_ns() - begin_ns, 150'000'000);
}

TEST(Control, LeavesAMainThreadThatIsBlockedWhileAWorkGoesOn) {
    Left left;
    Control control(left.options(seconds(60)));
    std::promise<void> end;
    bool was_left = false;
    Control::Work work;
    work.run = [ended = end.get_future().share()] { ended.wait(); };
    work.on_interrupt = [] {};
    work.on_tick = [&, first = true]() mutable {
        if (!std::exchange(first, false)) return;
        kill(getpid(), SIGINT);
        was_left = left.within(std::chrono::seconds(20));  // as a terminal that takes nothing would hold it up
        end.set_value();
    };
    control.run(std::move(work));
    EXPECT_TRUE(was_left);
}

TEST(Control, ASecondSignalLeavesAtOnce) {
    Left left;
    Control control(left.options(seconds(60)));
    kill(getpid(), SIGINT);
    while (!control.interrupted()) std::this_thread::yield();
    kill(getpid(), SIGINT);  // as timeout(1) sends it, to the process and to its group
    EXPECT_FALSE(left.within(std::chrono::milliseconds(400)));
    EXPECT_EQ(left.times, 0);
    kill(getpid(), SIGINT);
    while (left.times == 0) std::this_thread::yield();
}

TEST(Control, ASecondSignalLeavesTheTimeForWhatIsDue) {
    Left left;
    Control control(left.options(seconds(60)));
    control.saving(seconds(60), milliseconds(200));
    kill(getpid(), SIGINT);
    EXPECT_FALSE(left.within(std::chrono::milliseconds(400)));
    const std::int64_t begin_ns = control.now_ns();
    kill(getpid(), SIGINT);
    while (left.times == 0) std::this_thread::yield();
    EXPECT_GE(control.now_ns() - begin_ns, 200'000'000);
}

TEST(Control, ASecondSignalLeavesOnceNothingIsDue) {
    Left left;
    Control control(left.options(seconds(60)));
    control.saving(seconds(60), seconds(60));
    kill(getpid(), SIGINT);
    EXPECT_FALSE(left.within(std::chrono::milliseconds(400)));
    kill(getpid(), SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // it has been heard
    EXPECT_EQ(left.times, 0);
    control.saving(seconds(60));
    while (left.times == 0) std::this_thread::yield();
}

TEST(Control, AWorkThatIsAboutToEndIsNotLeft) {
    Control control;
    Control::Work work;
    std::promise<void> asked;
    work.run = [&asked] { asked.get_future().wait(); };
    work.on_tick = interrupt_once();
    work.on_interrupt = [] {};
    work.timeout = milliseconds(100);
    int times = 0;
    work.about_to_end = [&] {
        if (++times == 3) asked.set_value();
        return true;
    };
    EXPECT_TRUE(control.run(std::move(work)));
    EXPECT_GE(times, 3);
}

TEST(Control, TicksTenTimesASecondHoweverManyWorksThereWere) {
    Control control;
    for (int i = 0; i < 20; ++i) control.run({[] {}, {}, {}});
    std::promise<void> end;
    Control::Work work;
    work.run = [ended = end.get_future().share()] { ended.wait(); };
    work.on_tick = [&end, times = 0]() mutable {
        if (++times == 4) end.set_value();
    };
    const std::int64_t begin_ns = control.now_ns();
    EXPECT_TRUE(control.run(std::move(work)));
    EXPECT_GE(control.now_ns() - begin_ns, 400'000'000);
}

TEST(Control, WhatAWorkThrowsIsToldBeforeAnythingOfItGoes) {
    bool told = false;
    ControlOptions options;
    options.failed = [&told](const std::exception_ptr& failure) { told = failure != nullptr; };
    Control control(options);
    EXPECT_THROW(control.run({[] { throw std::runtime_error("no"); }, {}, {}}), std::runtime_error);
    EXPECT_TRUE(told);
}

}  // namespace
}  // namespace streamsim::run
