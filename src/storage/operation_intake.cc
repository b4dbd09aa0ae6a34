#include "storage/operation_intake.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"

namespace streamsim::storage {

OperationIntake::~OperationIntake() {
    STREAMSIM_CHECK(outstanding_ == 0, "shutdown() comes before destruction");
}

void OperationIntake::accept(Op& op, OpKind kind, bool writes) {
    STREAMSIM_CHECK(!writes || capabilities().writes, "this storage writes");
    STREAMSIM_CHECK(!shutting_down_, "no operation comes after shutdown()");
    op.operation = kind;
    op.error = 0;
    op.submitted_at = loop_.now();
    op.backend = nullptr;
    ++outstanding_;
    loop_.hold();
    begin(op);
}

void OperationIntake::open(OpenOp& op) {
    op.file = kNoFile;
    accept(op, OpKind::open, op.access != Access::read);
}

void OperationIntake::read(ReadOp& op) {
    op.bytes = 0;
    accept(op, OpKind::read, false);
}

void OperationIntake::write(WriteOp& op) {
    op.bytes = 0;
    accept(op, OpKind::write, true);
}

void OperationIntake::sync(SyncOp& op) {
    accept(op, OpKind::sync, true);
}

void OperationIntake::perform(PathOp& op) {
    op.bytes = op.entries = 0;
    accept(op, OpKind::path, true);
}

void OperationIntake::settle(Op& op, int error, Instant completed_at, Instant not_before) {
    op.error = error;
    op.completed_at = completed_at;
    op.not_before = not_before;
    op.backend = nullptr;
    settled_.push(op);
}

void OperationIntake::settle_now(Op& op, int error) {
    const Instant now = loop_.now();
    settle(op, error, now, now);
    deliver_later();
}

void OperationIntake::run_callback(Op& op) {
    --outstanding_;
    loop_.release();
    op.done();
}

void OperationIntake::deliver() {
    before_delivery();
    if (!settled_.empty()) {
        OpQueue ops = settled_.take();
        while (!ops.empty()) run_callback(ops.pop());
        after_delivery();
    }
    advance_shutdown();
}

void OperationIntake::deliver_later() {
    if (std::exchange(delivery_set_, true)) return;
    loop_.defer(Callback::of<&OperationIntake::deliver_deferred>(this));
}

void OperationIntake::deliver_soon() {
    if (std::exchange(delivery_set_, true)) return;
    loop_.defer_first(Callback::of<&OperationIntake::deliver_deferred>(this));
}

void OperationIntake::deliver_deferred() {
    delivery_set_ = false;
    deliver();
}

void OperationIntake::shutdown(Callback done) {
    shutting_down_ = true;
    shutdown_ = done;
    loop_.hold();
    deliver_later();
}

void OperationIntake::advance_shutdown() {
    if (!shutdown_ || outstanding_ > 0 || delivery_set_ || !close_all()) return;
    loop_.release();
    loop_.defer(std::exchange(shutdown_, {}));  // outside of reap(): the callback may destroy this storage
}

void PolledIntake::reap() {
    const Instant polled_at = loop().now();
    take_completions();
    poll_times_.note(polled_at);
    deliver();
}

void PolledIntake::settle_seen(Op& op, int error, Instant seen) {
    settle(op, error, seen, std::clamp(poll_times_.last(), op.submitted_at, seen));
}

void PolledIntake::settle_stamped(Op& op, int error, Instant completed_at) {
    settle(op, error, completed_at, poll_times_.not_before(op.submitted_at, completed_at));
}

LimitedIntake::LimitedIntake(EventLoop& loop, std::uint32_t transfers_max, std::uint32_t others_max)
    : PolledIntake(loop), transfers_{std::max(transfers_max, 1u)}, others_{std::max(others_max, 1u)} {}

bool LimitedIntake::start_or_wait(Op& op) {
    Line& line = line_of(is_transfer(op));
    if (line.inflight == line.inflight_max) {
        line.waiting.push(op);
        return false;
    }
    ++line.inflight;
    start(op);
    return true;
}

void LimitedIntake::leave(bool transfer) {
    Line& line = line_of(transfer);
    --line.inflight;
    if (!line.waiting.empty()) start_or_wait(line.waiting.pop());
}

bool LimitedIntake::cancel_waiting(Op& op) {
    if (!line_of(is_transfer(op)).waiting.remove(op)) return false;
    settle_now(op, ECANCELED);
    return true;
}

}  // namespace streamsim::storage
