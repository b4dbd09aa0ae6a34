#include "run/control.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <future>

namespace streamsim {
namespace {

TEST(Control, WorkThatIsStuckIsLeftAfterItsTime) {
    static Control* const control = new Control();  // stays: the thread that is left behind speaks to it
    std::promise<void> answer;
    int asked = 0;
    Control::Work work;
    work.run = [answered = answer.get_future().share()] {
        kill(getpid(), SIGINT);
        answered.wait();
    };
    work.on_interrupt = [&asked] { ++asked; };
    work.patience = milliseconds(150);
    const std::int64_t begin_ns = control->now_ns();
    EXPECT_FALSE(control->run(std::move(work)));
    EXPECT_GE(control->now_ns() - begin_ns, 150'000'000);
    EXPECT_TRUE(control->interrupted());
    EXPECT_EQ(asked, 1);
    answer.set_value();
}

}  // namespace
}  // namespace streamsim
