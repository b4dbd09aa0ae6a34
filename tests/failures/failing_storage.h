// A Storage that fails at its k-th operation.
#pragma once

#include <cerrno>
#include <memory>
#include <optional>
#include <utility>

#include "streamsim/event_loop.h"
#include "streamsim/storage.h"

namespace streamsim::testing {

enum class OpFailure {
    error,     // ends with EIO at once
    missing,   // ends with ENOENT at once
    cut,       // ends at once with half of its bytes; a write reports ENOSPC
    hang,      // ends when it is cancelled
    deaf,      // ends a second after it is cancelled, with ECANCELED
    recovers,  // ends a second after it is cancelled, with its full result
    never,     // does not end
};
inline constexpr OpFailure kOpFailures[] = {OpFailure::error, OpFailure::missing, OpFailure::cut,
                                            OpFailure::hang,  OpFailure::deaf,    OpFailure::recovers};

class FailingStorage final : public StorageDecorator {
public:
    FailingStorage(EventLoop& loop, std::unique_ptr<Storage> inner, OpFailure failure, std::uint64_t at)
        : StorageDecorator(std::move(inner)), loop_(loop), failure_(failure), at_(at) {}

    void open(OpenOp& op) override {
        if (!takes(op, OpKind::open)) StorageDecorator::open(op);
    }
    void read(ReadOp& op) override {
        if (!takes(op, OpKind::read)) StorageDecorator::read(op);
    }
    void write(WriteOp& op) override {
        if (!takes(op, OpKind::write)) StorageDecorator::write(op);
    }
    void sync(SyncOp& op) override {
        if (!takes(op, OpKind::sync)) StorageDecorator::sync(op);
    }
    void perform(PathOp& op) override {
        if (!takes(op, OpKind::path)) StorageDecorator::perform(op);
    }
    void cancel(Op& op) override {
        if (&op != held_) {
            StorageDecorator::cancel(op);
        } else if (failure_ != OpFailure::never && !std::exchange(cancelled_, true)) {
            const Duration after = failure_ == OpFailure::hang ? Duration{} : seconds(1);
            loop_.at(loop_.now() + after, Callback::of<&FailingStorage::end>(this));
        }
    }

    bool has_failed() const { return failed_.has_value(); }
    /// The operation that failed.
    const IoTag& failed() const { return *failed_; }
    OpKind failed_kind() const { return kind_; }
    /// The failed operation has not ended.
    bool outstanding() const { return held_ != nullptr; }

private:
    bool takes(Op& op, OpKind kind) {
        if (calls_++ != at_) return false;
        failed_ = op.tag;
        kind_ = kind;
        held_ = &op;
        op.submitted_at = loop_.now();
        loop_.hold();
        if (failure_ <= OpFailure::cut) loop_.at(loop_.now(), Callback::of<&FailingStorage::end>(this));
        return true;
    }

    void end() {
        Op& op = *std::exchange(held_, nullptr);
        loop_.release();
        op.completed_at = op.not_before = loop_.now();
        switch (failure_) {
            case OpFailure::error: op.error = EIO; break;
            case OpFailure::missing: op.error = ENOENT; break;
            case OpFailure::cut: op.error = kind_ == OpKind::read ? 0 : ENOSPC; break;
            case OpFailure::hang:
            case OpFailure::deaf: op.error = ECANCELED; break;
            case OpFailure::recovers:
            case OpFailure::never: op.error = 0; break;
        }
        const std::uint64_t parts = failure_ == OpFailure::cut ? 2 : 1;
        if (kind_ == OpKind::read && op.error == 0)
            static_cast<ReadOp&>(op).bytes = static_cast<ReadOp&>(op).buffer.size() / parts;
        if (kind_ == OpKind::write && (op.error == 0 || op.error == ENOSPC))
            static_cast<WriteOp&>(op).bytes = static_cast<WriteOp&>(op).buffer.size() / parts;
        if (kind_ == OpKind::open && op.error == 0) static_cast<OpenOp&>(op).file = kNewFile;
        op.done();
    }

    static constexpr FileId kNewFile = 1'000'000;  // that the null storage does not know, nor need

    EventLoop& loop_;
    OpFailure failure_;
    std::uint64_t at_;
    std::uint64_t calls_ = 0;
    std::optional<IoTag> failed_;
    OpKind kind_ = OpKind::read;
    Op* held_ = nullptr;
    bool cancelled_ = false;
};

}  // namespace streamsim::testing
