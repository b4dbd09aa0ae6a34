// The directory that a run's recordings are in, on real storage: made before play, gone after it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/growing_list.h"
#include "base/result.h"
#include "run/playback/backends.h"
#include "run/session/stream_plan.h"
#include "streamsim/byte_store.h"

namespace streamsim::run {

class Recordings {
public:
    /// Blocks. Errors: as make_recordings. `keep`: they stay after the run.
    static Result<std::unique_ptr<Recordings>> make(const target::Target& target,
                                                    const Credentials& credentials,
                                                    bool keep,
                                                    const NoticeSink& notice);
    /// Removes them. Blocks; says what it could not remove.
    ~Recordings();
    Recordings(const Recordings&) = delete;
    Recordings& operator=(const Recordings&) = delete;

    const std::string& directory() const { return directory_; }
    /// What direct writes want here (local_options.h), asked of a file that is made for it. Blocks.
    std::uint32_t alignment();
    /// Writes down which files these streams will make, so that they and nothing else are removed. Blocks.
    /// Errors: environment.
    Result<void> record(const GrowingList<StreamPlan>& streams);
    /// After play: containers that are not there any more. One that is removed while it is open is written on,
    /// so that no write of it fails. Blocks.
    std::vector<std::string> vanished(const GrowingList<StreamPlan>& streams);
    /// They stay, with a notice: the storage may not answer.
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
