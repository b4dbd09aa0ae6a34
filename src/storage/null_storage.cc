#include "storage/null_storage.h"

#include "base/check.h"

namespace streamsim::storage {

NullStorage::~NullStorage() {
    STREAMSIM_CHECK(complete_.empty(), "a storage outlives its operations");
}

void NullStorage::open(OpenOp& op) {
    op.file = next_file_;
    next_file_ = (next_file_ + 1) & INT32_MAX;
    complete(op);
}

void NullStorage::read(ReadOp& op) {
    op.bytes = op.buffer.size();
    complete(op);
}

void NullStorage::write(WriteOp& op) {
    op.bytes = op.buffer.size();
    complete(op);
}

void NullStorage::perform(PathOp& op) {
    op.bytes = 0;
    op.entries = 0;
    complete(op);
}

void NullStorage::complete(Op& op) {
    op.error = 0;
    op.submitted_at = op.completed_at = op.not_before = loop_.now();
    complete_.push(op);
    schedule();
}

void NullStorage::schedule() {
    if (scheduled_) return;
    scheduled_ = true;
    loop_.defer(Callback::of<&NullStorage::run_batch>(this));
}

void NullStorage::run_batch() {
    scheduled_ = false;
    OpList batch = complete_.take();
    while (!batch.empty()) batch.pop().done();  // each may submit more: those are the next batch
    if (shutdown_ && !scheduled_) {
        const Callback done = shutdown_;
        shutdown_ = {};
        done();
    }
}

StorageCapabilities NullStorage::capabilities() const {
    StorageCapabilities capabilities;
    capabilities.io = io_;
    capabilities.fills_buffers = false;
    capabilities.writes = true;
    return capabilities;
}

void NullStorage::shutdown(Callback done) {
    shutdown_ = done;
    schedule();
}

}  // namespace streamsim::storage
