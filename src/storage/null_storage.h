// The storage that completes at once and touches nothing: what is left is the cost of streamsim itself.
#pragma once

#include <vector>

#include "storage/operation_intake.h"

namespace streamsim::storage {

/// Every operation succeeds in full, stamped with the instant of its submission; the callbacks run together, by
/// one defer_first() of the loop for all operations that were submitted meanwhile. Allocates only when more
/// files are closed at once than ever before. Nothing is kept: every name exists (and create_new succeeds all
/// the same), as a file of no bytes or a directory of no entries.
class NullStorage final : public OperationIntake {
public:
    /// `io` is the name in capabilities(), "null" in real time and "sim" in virtual time; a literal.
    NullStorage(EventLoop& loop, const char* io) : OperationIntake(loop), io_(io) {}

    void close(FileId file) override { closed_.push_back(file); }
    void cancel(Op&) override {}
    StorageCapabilities capabilities() const override { return {io_, false, 1, false, true}; }

private:
    void begin(Op& op) override {
        if (op.operation == OpKind::open) {
            static_cast<OpenOp&>(op).file = new_file();
        } else if (op.operation == OpKind::read) {
            auto& read = static_cast<ReadOp&>(op);
            read.bytes = read.buffer.size();
        } else if (op.operation == OpKind::write) {
            auto& write = static_cast<WriteOp&>(op);
            write.bytes = write.buffer.size();
        }
        settle(op, 0, op.submitted_at, op.submitted_at);
        deliver_soon();
    }

    /// Those of closed files first: the layers above keep a record for each.
    FileId new_file() {
        if (closed_.empty()) return files_++;
        const FileId file = closed_.back();
        closed_.pop_back();
        return file;
    }

    const char* io_;
    FileId files_ = 0;
    std::vector<FileId> closed_;
};

}  // namespace streamsim::storage
