// Recorder: writes one stream of frames on one absolute frame clock, as a camera's ingest or a render to disk
// does. It never looks at frame data: a few prepared frames are written over and over.
//
// The clock. Frame i is captured at D(i) = play_start + clock shift + path.due(i), as in player.h; the clock
// shift is always 0 except under OnMiss::stall.
//
// The buffer holds R = readahead frames. A frame has a buffer slot from its capture until it is complete or has
// failed. P = min(inflight, R) in-flight slots: so many frames are written at once, in order; the others wait
// in the buffer.
//
// Complete. A frame is complete when all of its bytes are written and, where the recording is durable, its
// fsync is done; where each frame is a file of its own, its create is part of it. A durable container is synced
// when no write of it is in flight: all frames that were written by then share that fsync, and no other frame
// starts before. Files are synced, directories never.
//
// A frame that is captured while the buffer is full (R frames that were captured before it are not complete at
// D(i), by the storage's stamps):
//   drop   the camera cannot keep the frame: this slot is dropped, due at D(i), and never written. The frames
//   that
//          kept the buffer full are not lost by that; they are written, and on time. So the dropped slots are
//          the frames that the recording lacks.
//   stall  a renderer waits: its clock stops at D(i) until a buffer slot is free.
// (hold has no meaning here: a recorder shows nothing.)
//
// Deadlines. The deadline of a captured frame is the instant at which its buffer slot is needed: each
// completion frees a buffer slot, and the first frame that would not find one without it needs that slot. As
// long as frames complete in order and none is dropped that is D(i + R) for frame i. The margin of a frame
// counts from there. If frames were dropped for want of a completion, its deadline is the
// next capture, which finds the slot: the lateness is in the dropped slots.
//
// Failures. A frame whose create, write or fsync ends with an error is failed, with the reason `error`; its
// buffer slot is free, and the next frame is tried as if nothing had happened: a full disk may have room again.
// A container that could not be created fails every frame.
//
// A drop is this client's (`client`) and not the storage's where the completion that was waited for may have
// come in time but nobody looked (not_before <= D), or would have but for the client delay of its frame, as in
// player.h.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "play/frame_stream.h"
#include "play/frame_write.h"

namespace streamsim::play {

/// Beside PlayerOptions, whose pattern, decoder and clock a recorder ignores.
struct RecordOptions {
    bool durable = false;
    std::uint32_t distinct = 1;            // frames in memory: frame i has the bytes of i % distinct
    std::vector<std::string> directories;  // to be created in this order, if they do not exist
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
    /// whose offsets are multiples of options.alignment. A frame is written in whole units of the alignment:
    /// bytes behind its end in memory may be written behind its end in the file. `memory` has memory_bytes(),
    /// holds the frames, and is only read. REQUIRES: the storage writes; options.on_miss is drop or stall.
    Recorder(const StreamParts& parts, RecordOptions record, std::span<const std::byte> memory);

    /// Creates the directories and, for a container, the file.
    void preroll() override;
    void play(Instant play_start, Instant series_zero) override;
    void stop_submitting() override;
    void interrupt() override;
    /// Slots are dropped in order, none before the deadline of one that is settled.
    Instant overdue_since() const override;
    void copy_overdue(DeadlineLedger& copy) override;

private:
    Instant due(std::uint64_t slot) const { return play_start_ + clock_shift_ + path_.due(slot); }
    std::uint32_t free_buffers() const { return options_.readahead - buffered_; }
    void prepare_next();
    void directory_made();
    void container_opened();
    void sync_container();
    void container_synced();
    void on_timer();
    void on_stall_timer();
    void on_retry();
    void arm();
    void fire_next();
    void fire_until(Instant end);
    void capture(Instant at, std::uint32_t free_buffers);
    void start_writes();
    void start_waiting();
    bool may_start() const { return to_sync_ == 0 && !syncing_; }
    bool start_next();
    void frame_write_ended(FrameWrite& write) override;
    void frame_write_to_sync(FrameWrite& write) override;
    void write_ended(FrameWrite& write);
    Instant give_buffer(const FrameWrite& write);
    Instant end_stall(const FrameWrite& write);
    FrameOutcome unwritten(std::uint64_t slot, FrameKind kind, DropReason reason) const;
    void settle_unwritten(FrameKind kind, DropReason reason);
    void release(FrameWrite& write);
    void absorb(Duration by, Instant at);
    void stop_clock(Instant now);
    bool stalls(Instant now) const { return stands_ && due(decided_) < now; }
    DropReason reason_by(Instant now, Instant deadline) const;
    void cancel_write(FrameWrite& write);
    void check_finished();

    const FrameIndex& index_;
    const RecordOptions record_;
    const std::uint64_t stride_;
    const std::span<const std::byte> memory_;

    // The container.
    std::vector<char> path_of_container_;
    OpenOp open_;
    SharedFile shared_;
    SyncOp sync_;
    bool opening_ = false, syncing_ = false;
    std::uint32_t to_sync_ = 0;  // frames that wait for the next fsync

    std::vector<std::unique_ptr<FrameWrite>> writes_;
    std::vector<FrameWrite*> idle_;
    std::vector<FrameWrite*> synced_;                    // scratch
    std::vector<FrameWrite*> waiting_;                   // in the buffer, without an in-flight slot: a ring
    std::uint64_t first_waiting_ = 0, end_waiting_ = 0;  // of the ring, counted on

    PathOp make_;
    std::size_t made_ = 0;  // directories
    bool making_ = false;
    Duration clock_shift_;
    std::uint64_t fired_ = 0;  // slots below have been due
    std::uint64_t decided_ =
        0;  // slots below were captured or dropped; up to fired_ they wait for a buffer slot
    std::uint32_t buffered_ = 0;  // frames in the buffer
    bool stands_ = false;         // the clock waits for a buffer slot
};

}  // namespace streamsim::play
