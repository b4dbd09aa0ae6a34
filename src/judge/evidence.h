// The evidence of a verdict: the statistics of a run, the history of its computer meanwhile, and the diagnosis
// where it failed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "streamsim/run_result.h"
#include "streamsim/system_history.h"

namespace streamsim::judge {

/// A slot that was not on time, or a stall of play. Instants are of the loops' clock; nullopt: the frame did
/// not get that far.
struct MissedFrame {
    std::uint32_t stream = 0;  // of Evidence::streams
    std::uint32_t clip = 0;    // the number of its clip; streams may share one
    std::uint64_t slot = 0;
    std::uint64_t clip_frame = 0;
    bool stall = false;
    bool startup = false;      // does not count against the verdict
    bool injected = false;     // streamsim delayed, failed or shortened an operation of this slot by itself
    bool no_answer = false;    // its connection failed: the server or the path to it was gone, not the file
    bool unreachable = false;  // no_answer, and this computer has no route to the server
    bool refused = false;      // no_answer, and the server's host refused the connection
    bool vanished = false;     // it failed after its directory had vanished: see Evidence::vanished
    int shortage = 0;          // errno of a resource that this computer lacked: EMFILE, ENOMEM, ...; 0: none
    FrameKind kind = FrameKind::dropped;
    DropReason reason = DropReason::late;
    std::uint64_t corrupt_at = 0;  // of a corrupt frame: offset in its file of the first wrong byte
    std::int64_t due_ns = 0;
    std::optional<std::int64_t> submitted_ns;
    std::optional<std::int64_t> delivered_ns;
    std::int64_t open_ns = 0;  // the open of its file; 0: none was needed
    std::int64_t read_ns = 0;  // from its submission, or its open file, to its delivery; 0: never delivered

    /// The time that its open and its read took, without a time between them; nullopt: never delivered.
    std::optional<std::int64_t> took_ns() const {
        if (!submitted_ns || !delivered_ns) return std::nullopt;
        return open_ns + read_ns;
    }
};

/// A time in which injected faults delayed operations of a stream.
struct FaultInterval {
    std::int64_t from_ns = 0, to_ns = 0;
};

struct StreamEvidence {
    std::int64_t play_start_ns = 0;
    std::int64_t period_ns = 0;
    std::uint32_t readahead = 1;
    std::uint64_t slots = 0;                 // that were scheduled
    std::uint64_t pass_slots = 1;            // of one pass through the clip
    std::vector<std::uint32_t> clips = {};   // the numbers of its clips
    std::vector<FaultInterval> faults = {};  // by time, apart from one another
};

/// A time in which no stream received a frame although some were playing.
struct DeliveryGap {
    std::int64_t from_ns = 0, to_ns = 0;
    bool to_the_end = false;  // no frame came afterwards, although frames were required
};

/// A frame that the diagnosis re-read alone, several times: one of the readings.
struct Reread {
    std::uint32_t clip = 0;
    std::uint64_t clip_frame = 0;
    bool missed = false;  // in play; else it was on time and shows the usual time
    bool failed = false;  // when it was re-read
    std::int64_t took_ns = 0;
    std::int64_t open_ns = 0;  // in took_ns: the open of its file; 0: none was needed
};

/// A part of a model, and how busy it was while frames were missed.
struct BusyPart {
    PartKind kind = PartKind::seat_cpu;
    std::string name;        // "node 2 front end"
    double utilisation = 0;  // 0 to 1
    double queue_mean = 0;   // over play
    std::uint64_t lost = 0;  // switch port: segments, sent again later
    double lost_share = 0;   // share of missed frames that were due in a second with lost segments
};

struct Evidence {
    FrameCounts totals;
    ReasonCounts reasons;             // start-up drops left out
    std::uint64_t client_stalls = 0;  // stalls whose frame was late because the client did not run
    bool paced = true;                // false: --fps max
    bool interrupted = false;
    bool preroll_took_too_long = false;  // which is what interrupted it
    bool within_readahead = false;       // no stream with deadlines had more frames than its read-ahead holds

    // With either of these the run says nothing about a storage.
    bool faults_injected = false;  // over the storage or inside a model
    bool null_storage = false;     // every operation completed at once
    bool judges_storage() const { return !faults_injected && !null_storage; }

    bool require_cold = false;
    bool server_cache_may_be_warm = false;

    // The client.
    bool virtual_time = false;         // this computer delays nothing, however busy it is: decoding alone does
    std::int64_t longest_play_ns = 0;  // the last deadline of any stream, from its play start
    std::int64_t decode_cpu_ns = 0;    // burnt for each frame; 0: delivery only
    std::int64_t shortest_period_ns = 0;  // of the streams' frame periods; 0: no deadlines
    std::int64_t loop_lateness_p50_ns = 0;
    std::int64_t loop_lateness_max_ns = 0;
    std::int64_t loop_stalled_ns = 0;  // scheduling stalls of the player's loop, in all
    double cpu_percent = 0;            // of one processor, over the run
    double helpers_cpu_percent = 0;    // the part of cpu_percent of helper processes
    std::uint32_t loops = 1;           // player threads
    std::uint32_t cpus = 1;
    SystemHistory system;
    std::optional<double> own_memory_share;  // share of bytes that came from this computer's page cache
    bool own_memory_unknown = false;         // some may have come from there, and nobody can say how many

    // The missed frames.
    std::vector<MissedFrame> missed;
    /// Time code and file name of missed frames, by clip and frame of the clip; not of all where there are
    /// many.
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::string> frame_names;
    std::vector<StreamEvidence> streams;
    std::vector<DeliveryGap> delivery_gaps;
    std::vector<VanishedLocation> vanished;
    double required_bytes_per_s = 0;
    double delivered_bytes_per_s = 0;
    std::uint64_t bytes_read = 0;
    std::uint64_t bytes_written = 0;
    bool writes_more() const { return bytes_written > bytes_read; }
    bool remote = false;      // another computer serves the file system
    bool local_disk = false;  // it is on a disk, or in the memory, of this computer; false: not known
    /// The clips are on storages that differ: nothing above is known of them, and rates and the network are
    /// those of all together.
    bool several_storages = false;
    std::set<std::uint32_t> local_clips;       // with several: those on disks of this computer
    std::optional<std::uint64_t> connections;  // to each server; nullopt: not known
    std::string more_connections;              // how to ask for more of them: "nconnect=4 to 8"

    // The diagnosis: rates as the streams were played, as an editing system reads, and in other ways.
    bool find_cause = true;     // false: none was wanted (--no-probes)
    bool any_player = true;     // false: all streams record, and it only reads
    std::uint64_t io_size = 0;  // the smallest of the streams; 0: a frame in one read
    std::optional<ProbeResult> as_played, usual, more_in_flight, larger_reads;
    /// Reads that this computer carries out at once, however many it is asked for: its thread pool is small;
    /// nullopt: it is not.
    std::optional<std::uint64_t> reads_at_once_max;
    std::vector<Reread> rereads;

    // A model: its parts, without those of seats that missed nothing.
    bool modelled = false;
    bool links_told_apart = true;  // false: the calibration could not tell the link of a seat from the server's
    std::vector<BusyPart> parts;
    /// The median service time of the stream that missed frames through it and has the longest path to its
    /// storage, and the round trips in that time. 0: there is no such stream.
    std::int64_t service_p50_ns = 0;
    std::int64_t path_rtt_ns = 0;
};

}  // namespace streamsim::judge
