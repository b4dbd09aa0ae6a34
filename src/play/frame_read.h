// FrameRead reads what one slot needs into a fixed buffer: it opens the files of images, reads each extent in
// pieces of --io-size, --io-depth at a time, and says once what became of it. The slot's frame is complete when
// the last byte of its expected length is there; anything less is a failure with a reason.
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

#include "play/held_up.h"
#include "play/play_path.h"
#include "play/slot_reads.h"
#include "streamsim/decoder.h"
#include "streamsim/outcome.h"
#include "streamsim/storage.h"

namespace streamsim::play {

struct ReadSettings {
    std::uint64_t io_size = 1 << 20;  // bytes of one piece, a multiple of the alignment; 0: a frame in one read
    std::uint32_t io_depth = 8;       // pieces of one slot in flight
    std::uint32_t alignment = 1;      // StorageCapabilities::alignment
    bool streaming = false;           // pieces on the file's grid, each read once; needs io_size > 0
};

/// Bytes of buffer that the largest slot needs, a multiple of 4096. A group of pictures that is longer is read
/// through the buffer piece by piece: nobody looks at what is in it.
std::uint64_t frame_buffer_bytes(const SlotNeeds& needs, const ReadSettings& settings);

class FrameRead;
struct SourceFile;

/// Is told, on the loop's thread, that a read has ended. The read may be used again at once.
class FrameReadOwner {
public:
    virtual void frame_read_ended(FrameRead& read) = 0;
    /// A read that was given to a decoder is settled now.
    virtual void frame_decoded(FrameRead& read) = 0;
    /// A read that was abandoned while its file was being opened is idle now.
    virtual void frame_read_let_go(FrameRead& read) = 0;
    /// The file's open has an answer.
    virtual void container_opened(SourceFile& file) = 0;

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

/// The one file of a source that is not a sequence; the player opens it.
struct SourceFile {
    OpenOp op;
    std::vector<char> path;
    bool wanted = false;   // the open was asked for
    bool opening = false;  // and has not been answered
    FrameReadOwner* owner = nullptr;

    void finished() { owner->container_opened(*this); }
};

/// Pinned: operations point into it. One loop's thread. Life: idle -> taken (its files may be opened ahead) ->
/// reading -> ended -> idle. An ended read may be with a decoder before it is complete for its owner.
class FrameRead {
public:
    FrameRead(Storage& storage,
              const PlayPath& path,
              const SlotNeeds& needs,
              const ReadSettings& settings,
              FrameReadOwner& owner);
    FrameRead(const FrameRead&) = delete;
    FrameRead& operator=(const FrameRead&) = delete;

    /// Takes the slot; what it needs is planned by `reads`. REQUIRES: idle.
    void take(IoTag tag, Instant scheduled, SlotReads& reads);
    /// Opens the files of the slot's images before its read has a place, and hints their ranges. REQUIRES:
    /// taken.
    void open_ahead();
    /// The slot has its place: reads. `containers` is how the files of sources that are no sequences were
    /// opened, by source. `tail` is where a streaming reader keeps its last piece. May end at once (a file that
    /// is known to be missing), but never calls the owner before it returns: the owner asks ended(). `buffer`
    /// holds frame_buffer_bytes() and is this read's until it is idle again.
    void start(Instant now,
               const FreePlace& place,
               std::span<std::byte> buffer,
               std::span<const SourceFile> containers,
               StreamTail& tail);
    /// What start() was given; empty before.
    std::span<std::byte> buffer() const { return buffer_; }
    /// The slot was passed over before its read had a place: lets go of its files. Idle again as soon as that
    /// is done.
    void abandon();
    /// Asks the storage to end what is outstanding, also opens that were abandoned.
    void cancel();
    /// The owner has booked it: idle again.
    void release();

    bool idle() const { return state_ == State::idle; }
    bool reading() const { return state_ == State::reading; }
    bool ended() const { return state_ == State::ended; }
    /// Operations that the storage or a decoder still has.
    bool outstanding() const { return opens_out_ > 0 || reads_out_ > 0 || decoding_; }
    /// Ended, and with no decoder: what is known of it is all there will be.
    bool settled() const { return state_ == State::ended && !decoding_; }
    /// What is read. REQUIRES: not idle.
    std::span<const SlotExtent> extents() const { return extents_; }

    /// Hands the frame, which has been read, to a decoder, which skips it when it would be complete after
    /// `needed_by` and what `later_ns` holds by then; the owner hears frame_decoded(). REQUIRES: ended().
    void decode(Decoder& decoder, Instant needed_by, const std::atomic<std::int64_t>& later_ns);
    /// When the bytes were there; outcome().completed is later by the decoding.
    Instant delivered() const { return completed_; }

    const IoTag& tag() const { return tag_; }
    /// What is known of the frame so far: times, bytes, reason of a failure; kind and deadline are the owner's.
    FrameOutcome& outcome() { return outcome_; }
    const FrameOutcome& outcome() const { return outcome_; }
    bool failed() const { return outcome_.reason != DropReason::none; }
    /// The last instant at which the storage was known not to have completed it.
    Instant not_before() const { return not_before_; }
    const HeldUp& held_up() const { return held_up_; }
    /// Play has made up for `by` of the client delay up to `at`.
    void absorb(Duration by, Instant at, const EventLoop& loop) {
        held_up_.absorb(by, std::min(at, last_submitted_), loop);
    }
    /// When the last piece was handed to the storage: the client has no part in what took time afterwards.
    Instant last_submitted() const { return last_submitted_; }

private:
    enum class State { idle, taken, reading, ended };
    struct Piece : ReadOp {
        FrameRead* read = nullptr;
        std::size_t range = 0;
        bool busy = false;
        void finished() { read->piece_finished(*this); }
    };
    /// A file that is opened for this slot alone.
    struct OwnFile : OpenOp {
        FrameRead* read = nullptr;
        std::vector<char> name;
        std::size_t extent = 0;  // of extents_
        bool opening = false;
        void finished() { read->opened(*this); }
    };
    /// Aligned bytes of one file, read from front to back.
    struct Range {
        SlotExtent of;
        FileId file = kNoFile;
        std::uint64_t begin = 0;
        std::uint64_t next = 0;  // of the next piece to submit
        std::uint64_t end = 0;
        std::uint64_t wanted_end = 0;  // the last byte that the slot needs, and one
    };

    void opened(OwnFile& file);
    void decoded();
    void open_failed(std::uint32_t source, int error);
    void plan_ranges(std::span<const SourceFile> containers, StreamTail& tail);
    void share_tail(StreamTail& tail);
    void submit_more();
    Range* next_range();
    void submit(Piece& piece, Range& range);
    void piece_finished(Piece& piece);
    void tail_finished(const StreamTail& tail);
    void check_tail(const StreamTail& tail);
    void note_completion(Instant completed_at, Instant not_before);
    void fail(std::uint32_t source, DropReason reason, int error);
    void maybe_end();
    void close_files();

    Storage& storage_;
    const PlayPath& path_;
    const ReadSettings& settings_;
    std::span<std::byte> buffer_;
    FrameReadOwner& owner_;
    std::vector<SlotExtent> extents_;
    std::vector<Range> ranges_;
    std::vector<OwnFile> files_;
    std::vector<Piece> pieces_;

    State state_ = State::idle;
    bool abandoned_ = false;
    bool decoding_ = false;
    DecodeOp decode_;
    bool starting_ = false;  // inside start(): the owner is not called
    IoTag tag_;
    FrameOutcome outcome_;
    std::size_t files_used_ = 0;
    std::uint32_t opens_out_ = 0;
    std::uint32_t reads_out_ = 0;
    std::uint64_t fill_ = 0;   // where in the buffer the next piece goes
    std::uint64_t bytes_ = 0;  // that the slot needs
    Instant completed_;
    Instant not_before_;
    HeldUp held_up_;
    Instant last_submitted_;
    // streaming
    StreamTail* tail_ = nullptr;        // the stream's, while this read owns its pending piece
    std::uint64_t tail_end_ = 0;        // of that piece
    std::uint64_t wanted_of_tail_ = 0;  // the end of what this slot needs of it
    bool waiting_ = false;              // for a piece that an earlier frame reads
    FrameRead* waits_on_me_ = nullptr;  // intrusive list of later frames
    FrameRead* next_waiter_ = nullptr;
};

}  // namespace streamsim::play
