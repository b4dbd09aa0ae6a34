// The storage that completes at once and touches nothing: what is left is the cost of streamsim itself.
#pragma once

#include "storage/op_list.h"
#include "streamsim/event_loop.h"
#include "streamsim/storage.h"

namespace streamsim::storage {

/// Every operation succeeds in full, stamped with the instant of its submission; the callbacks run together, by
/// one defer() of the loop for all that was submitted meanwhile. Never allocates. Nothing is kept: whatever is
/// asked for by name is there (and create_new makes it all the same), a file of no bytes, a directory of no
/// entries.
class NullStorage final : public Storage {
public:
    /// `io` is the name in capabilities(), "null" in real time and "sim" in virtual time; a literal.
    NullStorage(EventLoop& loop, const char* io) : loop_(loop), io_(io) {}
    /// REQUIRES: no operation outstanding.
    ~NullStorage() override;

    void open(OpenOp& op) override;
    void read(ReadOp& op) override;
    void write(WriteOp& op) override;
    void sync(SyncOp& op) override { complete(op); }
    void perform(PathOp& op) override;
    void hint(FileId, std::uint64_t, std::uint64_t) override {}
    void close(FileId) override {}
    void cancel(Op&) override {}
    StorageCapabilities capabilities() const override;
    void use_memory(std::span<std::byte>) override {}
    void shutdown(Callback done) override;

private:
    void complete(Op& op);
    void run_batch();
    void schedule();

    EventLoop& loop_;
    const char* io_;
    OpList complete_;
    bool scheduled_ = false;
    FileId next_file_ = 0;
    Callback shutdown_;
};

}  // namespace streamsim::storage
