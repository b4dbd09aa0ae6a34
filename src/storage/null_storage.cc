#include "storage/null_storage.h"

namespace streamsim::storage {

void NullStorage::begin(Op& op) {
    if (op.operation == OpKind::open) {
        static_cast<OpenOp&>(op).file = next_file_;
        next_file_ = (next_file_ + 1) & INT32_MAX;
    } else if (op.operation == OpKind::read) {
        auto& read = static_cast<ReadOp&>(op);
        read.bytes = read.buffer.size();
    } else if (op.operation == OpKind::write) {
        auto& write = static_cast<WriteOp&>(op);
        write.bytes = write.buffer.size();
    }
    settle(op, 0, op.submitted_at, op.submitted_at);
    deliver_later();
}

}  // namespace streamsim::storage
