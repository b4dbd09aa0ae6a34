// What a verdict rests on: the books of a run, what its computer said meanwhile, and what was measured when it
// had failed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "streamsim/run_result.h"
#include "streamsim/system_history.h"

namespace streamsim::judge {

/// A slot that was not on time, or a time in which play stood still. Instants are of the loops' clock; nullopt:
/// it did not come to that.
struct MissedFrame {
    std::uint32_t stream = 0;  // of Evidence::streams
    std::uint32_t clip = 0;    // clips that are the same have the same number
    std::uint64_t slot = 0;
    std::uint64_t clip_frame = 0;
    bool stall = false;
    bool startup = false;      // does not count against the verdict
    bool injected = false;     // streamsim delayed, failed or shortened an operation of this slot by itself
    bool no_answer = false;    // failed as its server, or the way there, was gone: not for the file's sake
    bool unreachable = false;  // of those: this computer said that there is no way to the server
    bool refused = false;      // of those: the server's host said that it does not want the connection
    bool gone = false;         // failed after its directory had vanished: see Evidence::vanished
    int shortage = 0;          // errno of what this computer lacked: EMFILE, ENOMEM, ...; 0: nothing
    FrameKind kind = FrameKind::dropped;
    DropReason reason = DropReason::late;
    std::int64_t due_ns = 0;
    std::optional<std::int64_t> submitted_ns;
    std::optional<std::int64_t> delivered_ns;
    std::int64_t open_ns = 0;  // the open of its file; 0: none was needed
    std::int64_t read_ns = 0;  // from when it was submitted and open to when it was there; 0: it never was
};

/// A time in which injected faults held operations of a stream back.
struct FaultInterval {
    std::int64_t from_ns = 0, to_ns = 0;
};

struct StreamEvidence {
    std::int64_t play_start_ns = 0;
    std::int64_t period_ns = 0;
    std::uint32_t readahead = 1;
    std::uint64_t slots = 0;                 // that were scheduled
    std::uint64_t pass_slots = 1;            // of one pass through the clip
    std::vector<FaultInterval> faults = {};  // by time, apart from one another
};

/// A time in which no stream was given a frame although all were playing.
struct Silence {
    std::int64_t from_ns = 0, to_ns = 0;
    bool to_the_end = false;  // nothing came afterwards, although it had been asked for
};

/// A directory that was played from and was not there any more.
struct VanishedPlace {
    std::string directory;      // of the media
    std::string path;           // what vanished: that directory, or one above it
    std::string how;            // "it is not there any more"
    std::int64_t there_ns = 0;  // it was last seen then,
    std::int64_t gone_ns = 0;   // and missed
};

/// After play that failed: a frame that was read once more, alone.
struct Reread {
    std::uint32_t clip = 0;
    std::uint64_t clip_frame = 0;
    bool missed = false;  // in play; else it was on time and stands for what is usual
    bool failed = false;  // now
    std::int64_t took_ns = 0;
};

/// A part of a model, as busy as it was around the frames that were not there in time.
struct BusyPart {
    PartKind kind = PartKind::seat_cpu;
    std::string name;        // "node 2 front end"
    double utilisation = 0;  // 0 to 1
    double queue_mean = 0;   // over play
    std::uint64_t lost = 0;  // switch port: segments, sent again later
    double lost_share = 0;   // of the missed frames, those in whose second some were lost
};

struct Evidence {
    FrameCounts totals;
    ReasonCounts reasons;  // start-up drops left out
    std::uint64_t client_stalls =
        0;              // of totals.stalls, those whose frame was late because the client did not run
    bool paced = true;  // false: --fps max
    bool interrupted = false;

    // Where either is true, nothing that was measured says anything about a storage.
    bool faults_injected = false;  // by streamsim, over the storage or inside a model
    bool null_storage = false;     // every operation completed at once
    bool judges_storage() const { return !faults_injected && !null_storage; }

    bool require_cold = false;
    bool server_cache_may_be_warm = false;

    // The client.
    std::int64_t longest_play_ns = 0;     // the last deadline of any stream, from its play start
    std::int64_t decode_cpu_ns = 0;       // burnt for each frame; 0: delivery only
    std::int64_t shortest_period_ns = 0;  // of the streams' frame periods; 0: no deadlines
    std::int64_t loop_lateness_p50_ns = 0;
    std::int64_t loop_stalled_ns = 0;  // time in which the player's loop did not run although it had to
    double cpu_percent = 0;            // of one processor, over the run
    double helpers_cpu_percent = 0;    // of that: processes that the player has started, none of its threads
    std::uint32_t loops = 1;           // player threads
    std::uint32_t cpus = 1;
    SystemHistory system;
    std::optional<double> own_memory_share;  // of the bytes that were read, from this computer's page cache

    // What was missed, where and when.
    std::vector<MissedFrame> missed;
    std::vector<StreamEvidence> streams;
    std::vector<Silence> silences;
    std::vector<VanishedPlace> vanished;
    double required_bytes_per_s = 0;
    double delivered_bytes_per_s = 0;
    std::uint64_t bytes_read = 0;
    bool remote = false;  // the file system is that of another computer

    // How it was read, how an editing system would read, and what came of that after play.
    std::uint64_t io_size = 0;  // 0: a frame in one read
    std::uint64_t usual_io_size = 0;
    std::optional<ProbeResult> as_played, usual, more_in_flight, larger_reads;
    std::vector<Reread> rereads;

    // A model: its parts, without those of seats that missed nothing.
    bool modelled = false;
    std::vector<BusyPart> parts;
    /// Of the stream that missed frames because of what its frames typically took, and is the farthest from its
    /// storage: that, and how much of it is the way there and back. 0: none is.
    std::int64_t service_p50_ns = 0;
    std::int64_t way_ns = 0;
};

}  // namespace streamsim::judge
