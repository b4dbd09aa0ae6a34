#include "loop/decoders.h"

#include "base/time.h"

namespace streamsim::loop {

BurningDecoder::BurningDecoder(EventLoop& loop, Duration cpu)
    : loop_(loop), cpu_(cpu), thread_([this] { work(); }) {}

BurningDecoder::~BurningDecoder() {
    {
        const MutexLock lock(mutex_);
        ending_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

void BurningDecoder::decode(DecodeOp& op) {
    {
        const MutexLock lock(mutex_);
        queue_.push_back(&op);
    }
    changed_.notify_one();
}

void BurningDecoder::work() {
    MutexLock lock(mutex_);
    for (;;) {
        while (!ending_ && queue_.empty()) lock.wait(changed_);
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

void TimedDecoder::decode(DecodeOp& op) {
    queue_.push_back(&op);
    if (queue_.size() == 1) begin();
}

void TimedDecoder::begin() {
    DecodeOp& op = *queue_.front();
    const Instant complete = loop_.now() + cpu_;
    op.skipped = op.too_late(complete);
    op.completed_at = op.skipped ? loop_.now() : complete;
    loop_.at(op.completed_at, Callback::of<&TimedDecoder::finished>(this));
}

void TimedDecoder::finished() {
    DecodeOp* op = queue_.front();
    queue_.pop_front();
    if (!queue_.empty()) begin();
    op->done();
}

}  // namespace streamsim::loop
