#include "loop/burning_decoder.h"

#include <ctime>

namespace streamsim::loop {
namespace {

std::int64_t thread_cpu_ns() {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return used.tv_sec * 1'000'000'000 + used.tv_nsec;
}

}  // namespace

BurningDecoder::BurningDecoder(EventLoop& loop, Duration cpu)
    : loop_(loop), cpu_(cpu), thread_([this] { work(); }) {}

BurningDecoder::~BurningDecoder() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

void BurningDecoder::decode(DecodeOp& op) {
    {
        const std::lock_guard lock(mutex_);
        queue_.push_back(&op);
    }
    changed_.notify_one();
}

void BurningDecoder::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return ending_ || !queue_.empty(); });
        if (queue_.empty()) return;
        DecodeOp* op = queue_.front();
        queue_.pop_front();
        lock.unlock();
        op->skipped = op->too_late(loop_.now() + cpu_);
        const std::int64_t end_ns = thread_cpu_ns() + (op->skipped ? 0 : cpu_.ns);
        while (thread_cpu_ns() < end_ns) {
        }
        op->completed_at = loop_.now();  // the clock of real loops is the same on every thread
        loop_.post([op] { op->done(); });
        lock.lock();
    }
}

}  // namespace streamsim::loop
