// The writing operations of the two local backends (open, create, rename, remove): below one directory, by
// Beneath, so that no link leads a write elsewhere. Reads use open(2): a user's media may be reached through
// links.
#pragma once

#include <string>

#include "storage/local/beneath.h"
#include "storage/local/local_file.h"
#include "storage/local/local_options.h"
#include "streamsim/storage.h"

namespace streamsim::storage {

class LocalWrites {
public:
    /// `directory`: as LocalOptions::writes_below. If it cannot be opened, every writing operation fails with
    /// that error.
    explicit LocalWrites(const std::string& directory);

    /// True when an open goes through the directory's descriptor.
    bool confines(const OpenOp& op) const { return confined_ && op.access != Access::read; }
    bool confines(const PathOp& op) const {
        return confined_ && op.kind != PathOp::Kind::stat && op.kind != PathOp::Kind::list;
    }
    /// For openat2(2) by a ring: the part of `path` below the directory, as a suffix of `path`. nullptr: the
    /// path is not below, or the kernel has no openat2.
    const char* relative(const char* path) const;
    int descriptor() const { return root_.descriptor(); }

    /// As open_local() and perform_local(). Thread-safe.
    OpenedFile open(const OpenOp& op, Access access, bool direct) const;
    void perform(PathOp& op) const;

private:
    std::string below(const char* path) const;
    int change(const PathOp& op) const;

    std::string directory_;
    bool confined_;
    Beneath root_;
    int error_ = 0;
};

/// The result of opening a file and checking it for direct I/O.
struct PlannedOpen {
    OpenedFile opened;
    const char* objection = nullptr;  // to direct I/O: the file was reopened without it
    bool checked = false;
    DirectAnswer answer;
};

/// Opens as DirectPolicy::plan() says. Blocks; for a pool's thread.
PlannedOpen open_as_planned(
    const LocalWrites& writes, const DirectPolicy& policy, const OpenOp& op, bool direct, bool check);

}  // namespace streamsim::storage
