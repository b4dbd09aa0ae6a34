// PlaybackPlan: everything that is decided before play. The request, its parts and their media become streams
// and meters, with the storage that they play from, their memory and the directory of recordings.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/growing_list.h"
#include "base/result.h"
#include "base/system/mutex.h"
#include "base/system/pages.h"
#include "load/meter_plan.h"
#include "run/backends/backends.h"
#include "run/plan/media_plan.h"
#include "run/plan/play_request.h"
#include "run/plan/recordings.h"
#include "run/plan/stream_plan.h"
#include "storage/buffer_arena.h"
#include "streamsim/progress.h"
#include "streamsim/run_result.h"

namespace streamsim::run {

/// Reads that a backend is asked for at once, at most: no storage answers faster for being asked more.
inline constexpr std::uint64_t kParallelReadsMax = 1024;

/// Allows one loop's storage so many reads and opens at once, up to kParallelReadsMax.
void set_parallel_operations(StorageSpec& storage, std::uint64_t reads, std::uint64_t opens);

/// The notices of a run, each passed on once and kept for the result. Any thread.
class NoticeLog {
public:
    explicit NoticeLog(NoticeSink sink) : sink_(std::move(sink)) {}

    void add(const std::string& text) {
        const MutexLock lock(mutex_);
        if (std::find(texts_.begin(), texts_.end(), text) != texts_.end()) return;
        texts_.push_back(text);
        sink_(text);
    }
    /// The log outlives the sink.
    NoticeSink sink() {
        return [this](const std::string& text) { add(text); };
    }
    std::vector<std::string> texts() const {
        const MutexLock lock(mutex_);
        return texts_;
    }

private:
    const NoticeSink sink_;
    mutable Mutex mutex_;
    std::vector<std::string> texts_ GUARDED_BY(mutex_);
};

/// The memory of a run's frames and blocks: pages, or only addresses for a storage that never touches its
/// buffers: there all streams share one buffer.
class RunMemory {
public:
    /// Pages that threads touch until finish(). Errors: environment: there are not `bytes` left.
    Result<void> reserve_pages(std::uint64_t bytes);
    /// Before anybody uses the memory.
    void finish(const NoticeSink& notice);
    /// Addresses for the largest stream or meter.
    void reserve_addresses(std::uint64_t bytes);

    bool is_shared() const { return !arena_.has_value(); }
    std::span<std::byte> all() const { return all_; }
    /// The memory of a stream that is added during play. Any thread. Errors: as of reserve_pages().
    Result<std::span<std::byte>> add(std::uint64_t bytes, const NoticeSink& notice);
    /// Bytes of pages, with those that were added. Any thread.
    std::uint64_t page_bytes() const;

private:
    struct Unmap {
        std::uint64_t bytes;
        void operator()(void* addresses) const { unmap_pages(addresses, bytes); }
    };

    std::optional<storage::BufferArena> arena_;
    std::unique_ptr<void, Unmap> addresses_;
    std::span<std::byte> all_;
    mutable Mutex mutex_;
    std::vector<storage::BufferArena> added_ GUARDED_BY(mutex_);  // one for each stream that was added
};

class PlaybackPlan {
public:
    /// `request` says what all parts have in common: target, seed, how it is read; its own streams do not
    /// count. `faults` are the faults of a scenario that hit the frames of a span of time. `log` outlives the
    /// plan.
    PlaybackPlan(PlayRequest request,
                 std::vector<PlayPart> parts,
                 std::vector<ScenarioFault> faults,
                 NoticeLog& log);

    /// Plans the streams and meters and reserves their memory. Blocks. Errors: bad input; environment, for
    /// memory, the storage's server, or the directory of recordings.
    Result<void> make();
    /// make() has succeeded. Any thread.
    bool is_made() const { return is_made_.load(std::memory_order_acquire); }
    bool is_empty() const { return streams_.empty() && meters_.empty(); }

    const PlayRequest& request() const { return request_; }
    const std::vector<PlayPart>& parts() const { return parts_; }
    const std::vector<ScenarioFault>& faults() const { return faults_; }
    const StorageSpec& storage() const { return storage_; }
    const std::vector<load::MeterPlan>& meters() const { return meters_; }
    const GrowingList<StreamPlan>& streams() const { return streams_; }
    const GrowingList<StreamProgress>& progress() const { return progress_; }
    const RunMemory& memory() const { return memory_; }
    NoticeLog& log() const { return log_; }

    bool faults_injected() const { return storage_.faults || !request_.model_faults.empty(); }
    /// The streams come and go at times of their own, as a scenario says.
    bool is_in_phases() const { return !parts_.empty() && parts_.front().schedule.has_value(); }
    /// How long the meters play: as long as the longest stream of any seat, in phases at least as long as the
    /// scenario, without streams as long as the request says. The same on all computers of a run.
    Duration play_time() const;
    /// The clips of all parts, also of those that no stream plays yet.
    std::vector<const Clip*> clips() const;
    /// Direct reads of the clips may be answered from this computer's page cache, from which they are evicted
    /// before play.
    bool direct_uses_page_cache() const { return direct_uses_page_cache_; }
    /// The file systems of local clips and recordings, by directory.
    const std::map<std::string, MountFacts>& mounts() const { return mounts_; }
    const CutList* cuts() const;
    /// A file or directory that is played from and exists.
    std::string first_file() const;
    /// Removes the files of the clips from this computer's page cache, where nobody asked for it those that are
    /// played alone. Returns a sentence about the files that may still be
    /// there; empty: none. Blocks.
    std::string evict_clips() const;

    /// Waits for the memory, before anybody uses it.
    void finish_memory() { memory_.finish(log_.sink()); }

    // While streams play.
    /// The memory of one stream more. Any thread. Errors: environment.
    Result<std::span<std::byte>> memory_for(const StreamPlan& plan) {
        return memory_.add(plan.memory_bytes(), log_.sink());
    }
    /// Adds a stream behind the others. One thread at a time.
    LoopStream add_stream(StreamPlan plan);
    StreamProgress& progress_of(std::size_t stream) { return progress_[stream]; }

    // After play.
    bool has_recordings() const { return recordings_ != nullptr; }
    /// Removes the recordings, unless they are to be kept or the storage does not answer, until `stopped`
    /// returns true. Returns the files that vanished while they were recorded. Blocks.
    std::vector<std::string> close_recordings(bool storage_answers, const std::function<bool()>& stopped);

private:
    void describe_storage();
    Result<void> make_recordings(std::uint32_t& alignment);
    std::uint32_t alignment_of_files();
    void add_mount_of_recordings();
    std::set<std::pair<const FrameIndex*, std::uint64_t>> files_to_evict() const;
    void describe_model();
    void warn_about_pattern(const StreamPlan& plan);
    Result<void> reserve_memory();

    PlayRequest request_;
    std::vector<PlayPart> parts_;
    const std::vector<ScenarioFault> faults_;
    NoticeLog& log_;
    StorageSpec storage_;
    std::vector<load::MeterPlan> meters_;
    Duration play_time_of_all_;  // streams of all seats, also of those that other computers play
    GrowingList<StreamPlan> streams_;
    GrowingList<StreamProgress> progress_;
    RunMemory memory_;
    std::unique_ptr<Recordings> recordings_;  // null: no file is recorded
    std::map<std::string, MountFacts> mounts_;
    bool direct_uses_page_cache_ = false;
    std::atomic<bool> is_made_{false};
};

}  // namespace streamsim::run
