#include "worlds/storage_log.h"

#include <fmt/format.h>

#include <unordered_map>

namespace streamsim::worlds {
namespace {

class LoggedStorage final : public StorageDecorator {
public:
    LoggedStorage(std::unique_ptr<Storage> inner, StorageLog& log)
        : StorageDecorator(std::move(inner)), log_(log) {
        ++log_.storages;
    }

    void open(OpenOp& op) override {
        watch(op, OpKind::open);
        StorageDecorator::open(op);
    }
    void read(ReadOp& op) override {
        if (!log_.open_files.contains(op.file))
            log_.violated(fmt::format("read of file {}, which is not open", op.file));
        StorageLog::Slot& slot = slot_of(op);
        ++slot.reads;
        if (slot.outstanding++ == 0) {
            StorageLog::Stream& stream = log_.streams[{op.tag.seat, op.tag.stream}];
            stream.slots_in_flight_max = std::max(stream.slots_in_flight_max, ++stream.slots_in_flight);
        }
        slot.asked_bytes += op.buffer.size();
        watch(op, OpKind::read);
        StorageDecorator::read(op);
    }
    void write(WriteOp& op) override {
        if (!log_.open_files.contains(op.file))
            log_.violated(fmt::format("write to file {}, which is not open", op.file));
        watch(op, OpKind::write);
        StorageDecorator::write(op);
    }
    void sync(SyncOp& op) override {
        watch(op, OpKind::sync);
        StorageDecorator::sync(op);
    }
    void perform(PathOp& op) override {
        watch(op, OpKind::path);
        StorageDecorator::perform(op);
    }
    void close(FileId file) override {
        if (log_.open_files.erase(file) == 0)
            log_.violated(fmt::format("close of file {}, which is not open", file));
        StorageDecorator::close(file);
    }
    void cancel(Op& op) override {
        // The operation still has this decorator's callback: the storage below knows it by its address.
        StorageDecorator::cancel(op);
    }
    void shutdown(Callback done) override {
        done_ = done;
        if (is_closing_) log_.violated("shutdown was called twice");
        is_closing_ = true;
        StorageDecorator::shutdown(Callback::of<&LoggedStorage::closed>(this));
    }

private:
    struct Watched {
        LoggedStorage* storage = nullptr;
        Op* op = nullptr;
        Callback done;
        OpKind kind = OpKind::path;

        void finished() { storage->finished(*this); }
    };

    StorageLog::Slot& slot_of(const Op& op) { return log_.slots[{op.tag.seat, op.tag.stream, op.tag.slot}]; }

    void watch(Op& op, OpKind kind) {
        ++log_.operations;
        if (is_closing_) log_.violated("an operation after shutdown");
        Watched& watched = watched_[&op];
        if (watched.op != nullptr) log_.violated("an operation that is outstanding was submitted again");
        watched = {this, &op, op.done, kind};
        ++log_.outstanding;
        op.done = Callback::of<&Watched::finished>(&watched);
    }

    void finished(Watched& watched) {
        Op& op = *watched.op;
        if (watched.op == nullptr) return log_.violated("an operation completed twice");
        --log_.outstanding;
        op.done = watched.done;
        watched.op = nullptr;
        if (op.completed_at < op.submitted_at) log_.violated("an operation completed before it was submitted");
        if (op.not_before > op.completed_at) log_.violated("an operation completed before it was polled");
        if (watched.kind == OpKind::read) note_read(static_cast<const ReadOp&>(op));
        if (watched.kind == OpKind::open) note_open(static_cast<const OpenOp&>(op));
        if (watched.kind == OpKind::write && op.error == 0)
            slot_of(op).written_bytes += static_cast<const WriteOp&>(op).bytes;
        ++log_.completions;
        if (log_.on_completion) log_.on_completion(log_.completions);
        watched.done();
    }

    void note_read(const ReadOp& op) {
        StorageLog::Slot& slot = slot_of(op);
        if (--slot.outstanding == 0) --log_.streams[{op.tag.seat, op.tag.stream}].slots_in_flight;
        if (op.error == 0 && op.bytes > op.buffer.size()) log_.violated("a read gave more than was asked for");
        if (op.error == 0) slot.given_bytes += op.bytes;
        if (op.error == 0) log_.given_bytes += op.bytes;
        slot.failed |= op.error != 0 || op.bytes < op.buffer.size();
        slot.first_submitted = std::min(slot.first_submitted, op.submitted_at);
        slot.last_completed = std::max(slot.last_completed, op.completed_at);
    }

    void note_open(const OpenOp& op) {
        if (op.error != 0) return;
        ++log_.opened;
        if (!log_.open_files.insert(op.file).second)
            log_.violated(fmt::format("file {} was opened while open", op.file));
    }

    void closed() {
        if (log_.outstanding > 0)
            log_.violated(
                fmt::format("{} operations were outstanding when the storage was down", log_.outstanding));
        log_.is_shut_down = true;
        done_();
    }

    StorageLog& log_;
    std::unordered_map<const Op*, Watched> watched_;  // whose members stay where they are
    Callback done_;
    bool is_closing_ = false;
};

}  // namespace

run::StorageWrapper StorageLog::wrapper() {
    return [this](std::unique_ptr<Storage> inner) {
        return std::make_unique<LoggedStorage>(std::move(inner), *this);
    };
}

}  // namespace streamsim::worlds
