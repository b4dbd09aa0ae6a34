// FrameRead reads one frame at a time into a fixed buffer: it opens the frame's file where the frame is a
// file, reads the frame's extent in pieces of --io-size, --io-depth at a time, and says once what became of it.
// A frame is complete when the last byte of its expected length is there; anything less is a failure with a
// reason.
//
// Streaming. A container that is read front to back is read in pieces on the file's own grid, each piece once,
// so that the last piece of a frame usually holds the beginning of the next. That piece (the tail) belongs to
// the frame that asked for it first; a later frame that needs it waits for it and reads only what is its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "streamsim/decoder.h"
#include "streamsim/media.h"
#include "streamsim/outcome.h"
#include "streamsim/storage.h"

namespace streamsim {

struct ReadSettings {
    std::uint64_t io_size = 1 << 20;  // bytes of one piece, a multiple of the alignment; 0: a frame in one read
    std::uint32_t io_depth = 8;       // pieces of one frame in flight
    std::uint32_t alignment = 1;      // StorageCapabilities::alignment
    bool streaming = false;           // pieces on the file's grid, each read once; needs io_size > 0
};

/// Bytes of buffer that the longest frame of a clip needs, a multiple of 4096.
std::uint64_t frame_buffer_bytes(const FrameIndex& index, const ReadSettings& settings);

class FrameRead;

/// Is told, on the loop's thread, that a read has ended. The read may be used again at once.
class FrameReadOwner {
public:
    virtual void frame_read_ended(FrameRead& read) = 0;
    /// A read that was given to a decoder is settled now.
    virtual void frame_decoded(FrameRead& read) = 0;
    /// A read that was abandoned while its file was being opened is idle now.
    virtual void frame_read_let_go() = 0;

protected:
    ~FrameReadOwner() = default;
};

/// The last piece that a streaming reader asked for, shared by the frames it holds bytes of.
struct StreamTail {
    static constexpr std::uint64_t kNone = UINT64_MAX;
    std::uint64_t piece = kNone;  // on the file's grid
    bool pending = false;
    FrameRead* owner = nullptr;  // who reads it, while pending
    std::uint64_t bytes = 0;     // the rest: once it is read
    int error = 0;
    Instant completed_at;
    Instant not_before;
};

/// Pinned: operations point into it. One loop's thread. Life: idle -> taken (its file may be opened ahead) ->
/// reading -> ended -> idle. An ended read may be with a decoder before it is complete for its owner.
class FrameRead {
public:
    FrameRead(Storage& storage, const FrameIndex& index, const ReadSettings& settings, FrameReadOwner& owner);
    FrameRead(const FrameRead&) = delete;
    FrameRead& operator=(const FrameRead&) = delete;

    /// Takes the frame. REQUIRES: idle.
    void take(IoTag tag, Instant scheduled);
    /// Opens the frame's file before its read has a place, and hints its range. REQUIRES: taken; a file per
    /// frame.
    void open_ahead();
    /// The frame has its place: reads it. `container` is how the one file of a clip that is not a sequence was
    /// opened. `tail` is where a streaming reader keeps its last piece. May end at once (a file that is known
    /// to be missing), but never calls the owner before it returns: the owner asks ended().
    /// `buffer` holds frame_buffer_bytes() and is this read's until it is idle again.
    void start(Instant now, std::span<std::byte> buffer, const OpenOp& container, StreamTail& tail);
    /// What start() was given; empty before.
    std::span<std::byte> buffer() const { return buffer_; }
    /// The frame was passed over before its read had a place: lets go of its file. Idle again as soon as that
    /// is done.
    void abandon();
    /// Asks the storage to end what is outstanding, also an open that was abandoned.
    void cancel();
    /// The owner has booked it: idle again.
    void release();

    bool idle() const { return state_ == State::idle; }
    bool reading() const { return state_ == State::reading; }
    bool ended() const { return state_ == State::ended; }
    /// Operations that the storage or a decoder still has.
    bool outstanding() const { return opening_ || reads_out_ > 0 || decoding_; }
    /// Ended, and with no decoder: what is known of it is all there will be.
    bool settled() const { return state_ == State::ended && !decoding_; }

    /// Hands the frame, which has been read, to a decoder, which skips it when its turn comes after
    /// `needed_by`; the owner hears frame_decoded(). REQUIRES: ended().
    void decode(Decoder& decoder, Instant needed_by);
    /// When the bytes were there; outcome().completed is later by the decoding.
    Instant delivered() const { return completed_; }

    const IoTag& tag() const { return tag_; }
    /// What is known of the frame so far: times, bytes, reason of a failure; kind and deadline are the owner's.
    FrameOutcome& outcome() { return outcome_; }
    const FrameOutcome& outcome() const { return outcome_; }
    bool failed() const { return outcome_.reason != DropReason::none; }
    /// The last instant at which the storage was known not to have completed it.
    Instant not_before() const { return not_before_; }
    /// When the last piece was handed to the storage: the client has no part in what took time afterwards.
    Instant last_submitted() const { return last_submitted_; }

private:
    enum class State { idle, taken, reading, ended };
    struct Piece : ReadOp {
        FrameRead* read = nullptr;
        bool busy = false;
        void finished() { read->piece_finished(*this); }
    };

    void opened();
    void decoded();
    void open_failed(int error);
    void plan_pieces(StreamTail& tail);
    void share_tail(StreamTail& tail);
    void submit_more();
    void piece_finished(Piece& piece);
    void tail_finished(const StreamTail& tail);
    void check_tail(const StreamTail& tail);
    void note_completion(Instant completed_at, Instant not_before);
    void fail(DropReason reason, int error);
    void maybe_end();
    void close_file();

    Storage& storage_;
    const FrameIndex& index_;
    const ReadSettings& settings_;
    std::span<std::byte> buffer_;
    FrameReadOwner& owner_;
    std::unique_ptr<char[]> path_;
    std::vector<Piece> pieces_;

    State state_ = State::idle;
    bool abandoned_ = false;
    bool opening_ = false;
    bool decoding_ = false;
    DecodeOp decode_;
    bool starting_ = false;  // inside start(): the owner is not called
    OpenOp open_;
    IoTag tag_;
    FrameOutcome outcome_;
    Extent extent_;
    FileId file_ = kNoFile;
    bool own_file_ = false;
    std::uint64_t begin_ = 0;  // of the first own piece, in the file
    std::uint64_t next_ = 0;   // of the next piece to submit
    std::uint64_t end_ = 0;    // of the last own piece
    std::uint64_t step_ = 0;   // bytes of a piece
    std::uint32_t reads_out_ = 0;
    Instant completed_;
    Instant not_before_;
    Instant last_submitted_;
    // streaming
    StreamTail* tail_ = nullptr;        // the stream's, while this read owns its pending piece
    bool waiting_ = false;              // for a piece that an earlier frame reads
    FrameRead* waits_on_me_ = nullptr;  // intrusive list of later frames
    FrameRead* next_waiter_ = nullptr;
};

}  // namespace streamsim
