// The storage of a modelled cluster: see sim/cluster.h for the way that its operations take.
//
// Every path is there until it is removed (sim/files.h). Operations wait in the parts that are full, never
// here. A cancelled one comes back at once with ECANCELED, and what is under way for it goes on and keeps the
// parts busy. Closing is free.
#pragma once

#include "sim/cluster/core.h"
#include "streamsim/storage.h"

namespace streamsim::sim {

class SimStorage final : public Storage {
public:
    explicit SimStorage(ClusterCore& core) : core_(core) {}
    /// REQUIRES: no operation outstanding.
    ~SimStorage() override;

    void open(OpenOp& op) override;
    void read(ReadOp& op) override;
    void write(WriteOp& op) override;
    void sync(SyncOp& op) override;
    void perform(PathOp& op) override;
    void hint(FileId, std::uint64_t, std::uint64_t) override {}  // no such message goes to a server
    void close(FileId file) override { core_.close(file); }
    void cancel(Op& op) override { core_.cancel(op); }
    StorageCapabilities capabilities() const override;
    void use_memory(std::span<std::byte>) override {}
    void shutdown(Callback done) override;

    /// The callback of an operation has run.
    void delivered();

private:
    void say_done();

    ClusterCore& core_;
    std::uint64_t outstanding_ = 0;
    Callback shutdown_;
};

}  // namespace streamsim::sim
