#include "run/playback/content_verifier.h"

#include <span>

#include "base/time.h"

namespace streamsim::run {

ContentVerifier::ContentVerifier(EventLoop& loop, unsigned threads) : loop_(loop) {
    while (threads_.size() < threads && threads_.add([this] { work(); })) {
    }
}

ContentVerifier::~ContentVerifier() {
    {
        const MutexLock lock(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
}

void ContentVerifier::verify(VerifyOp& op) {
    if (threads_.size() == 0) return compare(op);
    {
        const MutexLock lock(mutex_);
        queue_.push_back(&op);
    }
    changed_.notify_one();
}

ContentCheck ContentVerifier::check() const {
    const MutexLock lock(mutex_);
    return check_;
}

void ContentVerifier::work() {
    MutexLock lock(mutex_);
    for (;;) {
        while (!ending_ && queue_.empty()) lock.wait(changed_);
        if (queue_.empty()) return;
        VerifyOp* op = queue_.front();
        queue_.pop_front();
        lock.unlock();
        compare(*op);
        lock.lock();
    }
}

void ContentVerifier::compare(VerifyOp& op) {
    const std::int64_t began_ns = thread_cpu_ns();
    ContentCheck done;
    std::size_t begin = 0;
    for (const VerifyOp::Frame& frame : op.frames) {
        const auto pieces = std::span<const ContentPiece>(op.pieces).subspan(begin, frame.pieces_end - begin);
        begin = frame.pieces_end;
        ++done.frames;
        for (const ContentPiece& piece : pieces) done.bytes += piece.bytes.size();
        const auto offset = frame.content->first_difference(frame.frame, pieces);
        if (!offset) continue;
        ++done.corrupt;
        if (!op.difference) op.difference = {frame.source, frame.frame, *offset};
    }
    done.cpu_ns = thread_cpu_ns() - began_ns;
    {
        const MutexLock lock(mutex_);
        check_ += done;
    }
    loop_.post([&op] { op.done(); });
}

}  // namespace streamsim::run
