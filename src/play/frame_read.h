// FrameRead reads the data of one slot into a fixed buffer: it opens the files of images, reads each extent in
// pieces of --io-size, --io-depth at a time, and reports the outcome once. The slot's frame is complete when
// the last byte of its expected length is in memory; anything less is a failure with a reason.
//
// Streaming: a container that is read front to back is read in pieces on the file's own grid, each piece once,
// so that the last piece of a frame usually holds the beginning of the next. That piece (the tail) belongs to
// the frame that asked for it first; a later frame that needs the tail waits for it and reads only the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "play/client_delay.h"
#include "play/player_options.h"
#include "play/slot_reads.h"
#include "streamsim/decoder.h"
#include "streamsim/outcome.h"
#include "streamsim/storage.h"
#include "streamsim/verifier.h"

namespace streamsim::play {

/// Bytes of buffer that the largest slot needs, a multiple of 4096 and of the alignment; with fitted() options.
/// A longer group of pictures is read through the buffer piece by piece, unless somebody looks at the data.
std::uint64_t frame_buffer_bytes(const SlotNeeds& needs, const PlayerOptions& options);

class FrameRead;
struct SourceFile;

/// Hears of events on the loop's thread.
class FrameReadOwner {
public:
    /// The read may be used again at once.
    virtual void frame_read_ended(FrameRead& read) = 0;
    /// The verifier has ended with the frame, which has failed where its bytes differ.
    virtual void frame_verified(FrameRead& read) = 0;
    /// The decoder has ended with the frame: the read is settled.
    virtual void frame_decoded(FrameRead& read) = 0;
    /// A read that was abandoned while its file was being opened is idle.
    virtual void frame_read_released(FrameRead& read) = 0;
    /// The storage has answered the open of the file.
    virtual void container_opened(SourceFile& file) = 0;

protected:
    ~FrameReadOwner() = default;
};

/// A piece on the file's grid, as it was read.
struct TailPiece {
    static constexpr std::uint64_t kNone = UINT64_MAX;
    std::uint64_t piece = kNone;  // its number
    std::uint64_t bytes = 0;
    int error = 0;
    Instant completed_at;
    Instant not_before;
    std::span<const std::byte> data;  // where contents are verified
};

/// The last piece that a streaming reader asked for, shared by the frames whose bytes it holds. Its TailPiece
/// counts once it is no longer pending.
struct StreamTail : TailPiece {
    bool pending = false;
    FrameRead* owner = nullptr;   // the frame that reads it, while pending
    std::vector<std::byte> kept;  // where contents are verified: `data`; a new piece uses its memory again

    /// No piece: as after the constructor, but for the memory.
    void forget() {
        static_cast<TailPiece&>(*this) = {};
        pending = false;
        owner = nullptr;
    }
};

/// The file of a container; the player opens it.
struct SourceFile {
    OpenOp op;
    std::vector<char> path;
    bool wanted = false;   // the open was submitted
    bool opening = false;  // and is not answered yet
    FrameReadOwner* owner = nullptr;

    /// False: the entry of a sequence, whose frames have files of their own.
    bool is_container() const { return !path.empty(); }
    void finished() { owner->container_opened(*this); }
};

/// Pinned: operations point into it. One loop's thread. Life: idle -> taken (its files may be opened ahead) ->
/// reading -> ended -> idle. A verifier, then a decoder may have an ended read before it is complete for its
/// owner.
class FrameRead : public FrameOperation {
public:
    FrameRead(Storage& storage,
              const PlayPath& path,
              const SlotNeeds& needs,
              const PlayerOptions& options,
              FrameReadOwner& owner);
    FrameRead(const FrameRead&) = delete;
    FrameRead& operator=(const FrameRead&) = delete;

    /// Takes the slot; `reads` names its frame, and plans what start() does not. REQUIRES: idle.
    void take(IoTag tag, Instant scheduled, SlotReads& reads);
    /// Opens the files of the slot's images before its read has an in-flight slot, and hints their ranges.
    /// REQUIRES: taken.
    void open_ahead();
    /// Reads: the frame has got an in-flight slot. `reads` plans the extents that depend on the slots before.
    /// `containers` has the open files of the containers, by source. `tail` is where a streaming reader keeps
    /// its last piece. The read may end at once (a file that is known to be missing), but never calls the owner
    /// before start() returns: the owner asks ended(). `buffer` holds frame_buffer_bytes() and belongs to this
    /// read until it is idle again.
    void start(Instant now,
               const ClientDelay& delay,
               std::span<std::byte> buffer,
               SlotReads& reads,
               std::span<const SourceFile> containers,
               StreamTail& tail);
    /// The buffer that start() was given; empty before.
    std::span<std::byte> buffer() const { return buffer_; }
    /// The slot was passed over before its read had an in-flight slot: closes its files. The read is idle again
    /// as soon as that is done.
    void abandon();
    /// Asks the storage to end all outstanding operations, also abandoned opens.
    void cancel();
    /// The owner has settled the slot: idle again.
    void release();

    /// The owner will settle the slot soon.
    void prefetch() const { prefetch_between(this, &files_); }
    /// And then read another one by it: the second step, when the first has come.
    void prefetch_plans() const {
        streamsim::prefetch(extents_.data(), sizeof(SlotExtent));
        streamsim::prefetch(ranges_.data(), sizeof(Range));
        streamsim::prefetch(pieces_.data(), sizeof(Piece));
    }

    bool idle() const { return state_ == State::idle; }
    bool reading() const { return state_ == State::reading; }
    bool ended() const { return state_ == State::ended; }
    /// Operations that the storage, a verifier or a decoder still has.
    bool outstanding() const { return opens_out_ > 0 || reads_out_ > 0 || verifying_ || decoding_; }
    /// Ended, and neither a verifier nor a decoder has the frame: the outcome is final.
    bool settled() const { return state_ == State::ended && !verifying_ && !decoding_; }
    bool verifying() const { return verifying_; }
    /// REQUIRES: not idle.
    std::span<const SlotExtent> extents() const { return extents_; }

    /// Hands the bytes of the frame to a verifier; the owner hears frame_verified(). REQUIRES: ended(), not
    /// failed(), and options.verify.
    void verify(Verifier& verifier);
    /// Hands the frame to a decoder, which skips a frame that would be complete after `needed_by` and the value
    /// of `later_ns` by then; the owner hears frame_decoded(). answered() stays the time of the last byte;
    /// outcome().completed is the time of the decoded frame. REQUIRES: ended().
    void decode(Decoder& decoder, Instant needed_by, const std::atomic<std::int64_t>& later_ns);

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
        std::uint64_t wanted_end = 0;  // behind the last byte that the slot needs
    };

    /// A piece that was read, where contents are verified.
    struct Fragment {
        std::size_t range = 0;
        ContentPiece piece;
    };

    void opened(OwnFile& file);
    void verified();
    void decoded();
    void open_failed(std::uint32_t source, int error);
    void plan(SlotReads& reads);
    /// `independent`: no frame needs other extents than its own.
    void plan_ranges(std::span<const SourceFile> containers, StreamTail& tail, bool independent);
    void share_tail(StreamTail& tail, bool independent);
    void submit_more();
    Range* next_range();
    void submit(Piece& piece, Range& range);
    void piece_finished(Piece& piece);
    void tail_finished(const TailPiece& result);
    void check_tail(const TailPiece& tail);
    void fail(std::uint32_t source, DropReason reason, int error);
    void maybe_end();
    void close_files();

    // Members that each frame touches lie together: with thousands of streams, a frame costs cache lines.
    Storage& storage_;
    const PlayPath& path_;
    const PlayerOptions& options_;
    FrameReadOwner& owner_;
    State state_ = State::idle;
    const bool streaming_;  // pieces on the file's grid, each read once
    bool abandoned_ = false;
    bool verifying_ = false;
    bool decoding_ = false;
    bool starting_ = false;  // inside start(): the owner is not called
    bool waiting_ = false;   // streaming: for a piece that an earlier frame reads
    std::uint32_t opens_out_ = 0;
    std::uint32_t reads_out_ = 0;
    std::span<std::byte> buffer_;
    std::uint64_t fill_ = 0;   // of the buffer: the offset of the next piece
    std::uint64_t bytes_ = 0;  // that the slot needs
    std::size_t files_used_ = 0;
    // streaming
    StreamTail* tail_ = nullptr;        // the stream's, while this read owns its pending piece
    std::uint64_t tail_end_ = 0;        // of that piece
    std::uint64_t wanted_of_tail_ = 0;  // behind the last byte that this slot needs of the tail
    FrameRead* waits_on_me_ = nullptr;  // intrusive list of later frames
    FrameRead* next_waiter_ = nullptr;

    std::vector<SlotExtent> extents_;
    std::vector<Range> ranges_;
    std::vector<Piece> pieces_;
    std::vector<OwnFile> files_;
    std::vector<Fragment> fragments_;
    std::vector<std::byte> head_;  // where contents are verified: what this slot needs of the tail
    VerifyOp verify_;
    DecodeOp decode_;
};

}  // namespace streamsim::play
