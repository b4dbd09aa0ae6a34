// Recordings: the directory of a run's recordings on real storage, made before play and removed after it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/growing_list.h"
#include "base/result.h"
#include "run/backends/backends.h"
#include "run/plan/stream_plan.h"
#include "streamsim/byte_store.h"

namespace streamsim::run {

class Recordings {
public:
    /// Blocks. Errors: as make_recordings. `keep`: they stay after the run.
    static Result<std::unique_ptr<Recordings>> make(const target::Target& target,
                                                    const Credentials& credentials,
                                                    bool keep,
                                                    const NoticeSink& notice);
    /// remove(), without an end before the last file.
    ~Recordings();

    const std::string& directory() const { return directory_; }
    /// The alignment of direct writes here (local_options.h), from a file that is made for this. Blocks.
    std::uint32_t alignment();
    /// Stores the list of files that these streams will make, so that only these are removed. Blocks. Errors:
    /// environment.
    Result<void> record(const GrowingList<StreamPlan>& streams);
    /// After play: the containers that have vanished. Writes to a container that is removed while it is open do
    /// not fail. Blocks.
    std::vector<std::string> vanished(const GrowingList<StreamPlan>& streams);
    /// Removes the recordings, unless they are kept or were removed before. Blocks, until `stopped`, which is
    /// asked before each file, returns true; with a notice for each file that stays.
    void remove(const std::function<bool()>& stopped);
    /// Keeps the recordings, with a notice: the storage may not answer.
    void leave();

private:
    Recordings(std::unique_ptr<ByteStore> store, std::string target, bool keep, NoticeSink notice);

    std::unique_ptr<ByteStore> store_;
    const std::string target_;
    const NoticeSink notice_;
    std::string directory_;
    bool keep_;
};

}  // namespace streamsim::run
