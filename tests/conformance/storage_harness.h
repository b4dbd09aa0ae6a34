// The harness of most backends: a loop and a storage on it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "conformance/storage_backends.h"

namespace streamsim {

inline void shut_down_and_wait(EventLoop& loop, Storage& storage, Callback at_done) {
    struct Answer {
        Callback then;
        int times = 0;
        void take() {
            ++times;
            if (then) then();
        }
    } answer{at_done};
    storage.shutdown(Callback::of<&Answer::take>(&answer));
    EXPECT_EQ(answer.times, 0) << "the callback runs outside of shutdown()";
    loop.run();
    EXPECT_EQ(answer.times, 1) << "the callback runs once";
}

template <typename Loop>
class Harness final : public StorageHarness {
public:
    EventLoop& loop() override { return loop_; }
    Storage& storage() override { return *storage_; }
    Loop& own_loop() { return loop_; }
    void use(std::unique_ptr<Storage> storage) { storage_ = std::move(storage); }
    void shut_down(Callback at_done) override {
        shut_down_and_wait(loop_, *storage_, at_done);
        storage_.reset();
    }

private:
    Loop loop_;
    std::unique_ptr<Storage> storage_;
};

}  // namespace streamsim
