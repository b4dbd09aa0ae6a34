// The storage of a modelled cluster. Each operation becomes a job that travels through the cluster (cluster.h
// draws its path).
//
// A path exists until it is removed (FileTable). Operations wait in the parts that are full, never here. A
// cancelled operation ends at once with ECANCELED; its job travels on and keeps the parts busy. Closing takes
// no time.
#pragma once

#include "sim/cluster/open_files.h"
#include "sim/cluster/parts.h"
#include "sim/cluster/request_path.h"
#include "streamsim/storage.h"

namespace streamsim::sim {

class SimStorage final : public Storage {
public:
    SimStorage(ClusterParts& parts, OpenFiles& open_files, RequestPath& path)
        : parts_(parts), open_files_(open_files), path_(path) {}
    /// REQUIRES: no operation outstanding.
    ~SimStorage() override;

    void open(OpenOp& op) override;
    void read(ReadOp& op) override;
    void write(WriteOp& op) override;
    void sync(SyncOp& op) override;
    void perform(PathOp& op) override;
    void hint(FileId, std::uint64_t, std::uint64_t) override {}  // no such message goes to a server
    void close(FileId file) override { open_files_.close(file); }
    void cancel(Op& op) override;
    StorageCapabilities capabilities() const override;
    void use_memory(std::span<std::byte>) override {}
    void shutdown(Callback done) override;

    /// The callback of an operation has run.
    void delivered();

private:
    Job& start_job(Op& op, Job::Kind kind, std::uint64_t seed);
    bool attach(Job& job, FileId file);
    void finish_shutdown();

    ClusterParts& parts_;
    OpenFiles& open_files_;
    RequestPath& path_;
    std::uint64_t outstanding_ = 0;
    Callback shutdown_;
};

}  // namespace streamsim::sim
