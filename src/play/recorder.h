// Recorder: writes one stream of frames on one absolute frame clock, as a camera's ingest does, or a render to
// disk. It never looks at frame data: a few frames that were made before are written over and over.
//
// The clock. Frame i is captured at D(i) = play_start + held_up + path.due(i), as in player.h; `held_up` is
// always 0 except under OnMiss::stall.
//
// The buffer. R = readahead places. A frame has one from its capture until it is complete or has failed. P =
// min(inflight, R) frames are written at once, in order; the others wait in the buffer.
//
// Complete. A frame is complete when all of its bytes are written and, where the recording is durable, its
// fsync is done; where each frame is a file of its own, its create is part of it. A durable container is synced
// when no write of it is under way: all frames that were written by then share that fsync, and no other frame
// is begun before. What is synced is the file, never a directory.
//
// A frame that is captured while the buffer is full (R frames that were captured before it are not complete at
// D(i), by the storage's stamps):
//   drop   the camera has nowhere to put it: this slot is dropped, due at D(i), and never written. The frames
//          that kept the buffer full are not lost by that; they are written, and on time. So what is booked
//          as dropped is what is missing in the recording.
//   stall  a renderer waits: its clock stops at D(i) until a place is free.
// (hold means nothing here: there is nothing to be shown instead.)
//
// Deadlines. The deadline of a captured frame is the instant at which its place is needed: with every
// completion a place becomes free, and that is needed by the first frame that would not find one without it. As
// long as frames complete in order and none is dropped that is D(i + R) for frame i. The margin of a frame
// counts from there. Where a completion comes after frames were dropped for want of it, its deadline is the
// next capture, which finds its place: what came too late is in the dropped slots.
//
// Failures. A frame whose create, write or fsync ends with an error is failed, with the reason `error`; its
// place is free, and the next frame is tried as if nothing had happened: a full disk may have room again. A
// container that could not be made fails every frame.
//
// A drop is this client's (`client`) and not the storage's where the completion that was waited for may have
// come in time but nobody looked (not_before <= D), or would have but for the time in which this loop could
// not run while there was something to submit, as in player.h.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "play/frame_stream.h"
#include "play/frame_write.h"
#include "play/ledger.h"
#include "play/play_path.h"
#include "play/player.h"
#include "play/progress_writer.h"
#include "streamsim/event_loop.h"
#include "streamsim/storage.h"

namespace streamsim::play {

/// Beside PlayerOptions, of which pattern, decoder and clock say nothing here.
struct RecordOptions {
    bool durable = false;
    std::uint32_t distinct = 1;            // frames in memory: frame i has the bytes of i % distinct
    std::vector<std::string> directories;  // to be made in this order, if they are not there
};

/// Nothing is allocated after the constructor.
class Recorder final : public FrameStream, private FrameWriteOwner {
public:
    /// Bytes from one frame in memory to the next.
    static std::uint64_t frame_stride(const PlayPath& path, const PlayerOptions& options);
    /// Bytes of memory that hold the distinct frames, each at a multiple of frame_stride().
    static std::uint64_t memory_bytes(const PlayPath& path,
                                      const PlayerOptions& options,
                                      const RecordOptions& record);

    /// `path` goes forward over one source, whose frames have the sizes of the distinct ones over and over, and
    /// whose offsets are multiples of options.alignment. A frame is written in whole units of that: what is
    /// behind its end in memory may be written behind its end in the file. `memory` has memory_bytes(), holds
    /// the frames, and is only read. `changed` runs when ready() or finished() becomes true. REQUIRES: the
    /// storage writes; options.on_miss is not hold.
    Recorder(EventLoop& loop,
             Storage& storage,
             const PlayPath& path,
             const PlayerOptions& options,
             RecordOptions record,
             DeadlineLedger& ledger,
             std::span<const std::byte> memory,
             StreamProgress& progress,
             Callback changed);
    ~Recorder() override;
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    /// Makes the directories and, for a container, the file.
    void preroll() override;
    bool ready() const override { return state_ == State::ready; }
    void play(Instant play_start, Instant series_zero) override;
    void stop_submitting() override;
    void interrupt() override;
    bool finished() const override { return state_ == State::finished; }

private:
    enum class State { idle, prerolling, ready, playing, interrupted, finished };

    Instant due(std::uint64_t slot) const { return play_start_ + held_up_ + path_.due(slot); }
    void make_next();
    void directory_made();
    void container_opened();
    void sync_container();
    void container_synced();
    void on_timer();
    void on_retry();
    void arm();
    void fire_next();
    void capture(Instant at, std::uint32_t free_places);
    void pump();
    void start_waiting();
    bool may_start() const;
    bool start_next();
    void frame_write_ended(FrameWrite& write) override;
    void frame_write_to_sync(FrameWrite& write) override;
    void ended(FrameWrite& write);
    Instant give_place(const FrameWrite& write, Instant freed);
    Instant end_stall(const FrameWrite& write, Instant freed);
    void book_unwritten(FrameKind kind, DropReason reason);
    void release(FrameWrite& write);
    DropReason blame(const FrameWrite& write, Instant freed, Instant needed) const;
    void absorb(Duration by, Instant at);
    /// How much earlier the frame had been submitted by a loop that always ran.
    Duration held_up(const FrameWrite& write) const {
        return write.held_up().until(write.last_submitted(), loop_);
    }
    void settle(const FrameOutcome& outcome);
    void check_finished();

    EventLoop& loop_;
    Storage& storage_;
    const PlayPath& path_;
    const FrameIndex& index_;
    const PlayerOptions options_;
    const RecordOptions record_;
    const std::uint64_t stride_;
    DeadlineLedger& ledger_;
    const std::span<const std::byte> memory_;
    ProgressWriter progress_;
    const Callback changed_;
    const std::uint32_t places_;

    const WriteSettings settings_;

    // Of a container.
    std::vector<char> path_of_container_;
    OpenOp open_;
    SharedFile shared_;
    SyncOp sync_;
    bool opening_ = false, syncing_ = false;
    std::uint32_t to_sync_ = 0;  // frames that wait for the next fsync

    std::vector<std::unique_ptr<FrameWrite>> writes_;
    std::vector<FrameWrite*> idle_;
    std::vector<FrameWrite*> synced_;                    // scratch
    std::vector<FrameWrite*> waiting_;                   // in the buffer, without a place in flight: a ring
    std::uint64_t first_waiting_ = 0, end_waiting_ = 0;  // of it, counted on

    State state_ = State::idle;
    PathOp make_;
    std::size_t made_ = 0;  // directories
    bool making_ = false;
    Instant preroll_began_;
    Instant play_start_;
    Duration held_up_;
    TimerId timer_ = 0;
    TimerId retry_ = 0;
    std::uint64_t fired_ = 0;    // slots below have been due
    std::uint64_t decided_ = 0;  // and these have been captured or dropped; those between wait for a place
    std::uint64_t settled_ = 0;
    std::uint32_t buffered_ = 0;  // frames that have a place in the buffer
    std::uint32_t in_flight_ = 0;
    FreePlace place_;
    InflightTime inflight_time_;
    bool stands_ = false;  // the clock, for a place
    bool submitting_ = true;
};

}  // namespace streamsim::play
