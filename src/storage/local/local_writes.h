// What the two local backends open to write, make, rename and remove: below one directory, by way of Beneath,
// so that no link that lies or is put there leads a write elsewhere. Reading stays as open(2) does it: a user's
// media may be reached through links.
#pragma once

#include <string>

#include "storage/local/beneath.h"
#include "storage/local/local_file.h"
#include "storage/local/local_options.h"
#include "streamsim/storage.h"

namespace streamsim::storage {

class LocalWrites {
public:
    /// `directory` as LocalOptions::writes_below. One that cannot be opened is the error of everything that is
    /// to be written.
    explicit LocalWrites(const std::string& directory);

    /// Whether an open goes through the directory's descriptor.
    bool confines(const OpenOp& op) const { return confined_ && op.access != Access::read; }
    bool confines(const PathOp& op) const {
        return confined_ && op.kind != PathOp::Kind::stat && op.kind != PathOp::Kind::list;
    }
    /// For openat2(2) by a ring: the part of `path` below the directory, which ends as `path` does. nullptr: it
    /// is not below it, or the kernel does not resolve so.
    const char* relative(const char* path) const;
    int descriptor() const { return root_.descriptor(); }

    /// As open_local and perform_local. Block; any number of threads at once.
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

/// What came of opening a file and asking what direct I/O is on it.
struct PlannedOpen {
    OpenedFile opened;
    const char* objection = nullptr;  // to direct I/O; it was opened again without
    bool checked = false;
    DirectAnswer answer;
};

/// Opens as DirectPolicy::plan says. Blocks; in a pool's thread.
PlannedOpen open_as_planned(
    const LocalWrites& writes, const DirectPolicy& policy, const OpenOp& op, bool direct, bool check);

}  // namespace streamsim::storage
