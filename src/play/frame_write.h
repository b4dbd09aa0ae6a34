// FrameWrite writes one captured frame: creates its file where it has one of its own, writes it in pieces of
// --io-size, --io-depth at a time, has it synced where the recording is durable, and says once what became of
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "play/held_up.h"
#include "streamsim/media.h"
#include "streamsim/outcome.h"
#include "streamsim/storage.h"

namespace streamsim::play {

struct WriteSettings {
    std::uint64_t io_size =
        1 << 20;                 // bytes of one piece, a multiple of the alignment; 0: a frame in one write
    std::uint32_t io_depth = 8;  // pieces of one frame in flight
    std::uint32_t alignment = 1;
    bool durable = false;
};

class FrameWrite;

/// Is told on the loop's thread.
class FrameWriteOwner {
public:
    /// It is complete or has failed, and nothing of it is outstanding.
    virtual void frame_write_ended(FrameWrite& write) = 0;
    /// All of it is in the shared file, which is to be synced: synced() is the answer.
    virtual void frame_write_to_sync(FrameWrite& write) = 0;

protected:
    ~FrameWriteOwner() = default;
};

/// The file that all frames of a container are written to; the recorder opens it.
struct SharedFile {
    FileId file = kNoFile;
    int error = 0;  // why it could not be made
};

/// Pinned: operations point into it. One loop's thread. Life: idle -> taken -> writing -> ended -> idle.
class FrameWrite {
public:
    FrameWrite(Storage& storage,
               const FrameIndex& index,
               const WriteSettings& settings,
               FrameWriteOwner& owner);
    FrameWrite(const FrameWrite&) = delete;
    FrameWrite& operator=(const FrameWrite&) = delete;

    /// A frame that was captured at `captured`, and is `frame` of the index. REQUIRES: idle.
    void take(IoTag tag, Instant captured);
    /// It has its place: is written. `bytes` are the frame's, rounded up to the alignment. May end at once
    /// (into a shared file that could not be made), but never calls the owner before it returns: the owner asks
    /// ended(). REQUIRES: taken.
    void start(Instant now,
               const FreePlace& place,
               std::span<const std::byte> bytes,
               Instant needed,
               const SharedFile& shared);
    /// The shared file was synced.
    void synced(const SyncOp& op);
    /// Asks the storage to end what is outstanding; begins nothing more.
    void cancel();
    /// The owner has booked it: idle again. REQUIRES: !outstanding().
    void release();

    bool idle() const { return state_ == State::idle; }
    bool ended() const { return state_ == State::ended; }
    bool waits_for_sync() const { return state_ == State::to_sync; }
    /// Operations of its own that the storage has.
    bool outstanding() const { return out_ > 0; }

    const IoTag& tag() const { return tag_; }
    /// What is known of the frame so far: times, bytes, reason of a failure; kind and deadline are the owner's.
    FrameOutcome& outcome() { return outcome_; }
    bool failed() const { return outcome_.reason != DropReason::none; }
    /// When its place in the buffer was free: with the last answer to it.
    Instant freed() const { return freed_; }
    /// The last instant at which the storage was known not to have given that answer.
    Instant not_before() const { return not_before_; }
    const HeldUp& held_up() const { return held_up_; }
    bool writing() const { return state_ == State::writing || state_ == State::to_sync; }
    /// The clock has made up for `by` of the client delay up to `at`.
    void absorb(Duration by, Instant at, const EventLoop& loop) {
        held_up_.absorb(by, std::min(at, last_submitted_), loop);
    }
    /// When its last operation was handed to the storage.
    Instant last_submitted() const { return last_submitted_; }

private:
    enum class State { idle, taken, writing, to_sync, ended };
    struct Piece : WriteOp {
        FrameWrite* write = nullptr;
        bool busy = false;
        void finished() { write->piece_finished(*this); }
    };

    void opened();
    void submit_more();
    void piece_finished(Piece& piece);
    void own_synced();
    void note(const Op& op);
    void fail(int error);
    void go_on();
    void end();

    Storage& storage_;
    const FrameIndex& index_;
    const WriteSettings& settings_;
    FrameWriteOwner& owner_;
    std::vector<char> name_;
    OpenOp open_;
    SyncOp sync_;
    std::vector<Piece> pieces_;

    State state_ = State::idle;
    bool starting_ = false;  // inside start(): the owner is not called
    bool opening_ = false, syncing_ = false, cancelled_ = false;
    IoTag tag_;
    FrameOutcome outcome_;
    FileId file_ = kNoFile;
    std::span<const std::byte> bytes_;
    std::uint64_t offset_ = 0;  // of the frame in its file
    std::uint64_t next_ = 0;    // byte of the frame to be submitted
    std::uint32_t out_ = 0;
    Instant needed_;
    Instant freed_;
    Instant not_before_;
    HeldUp held_up_;
    Instant last_submitted_;
};

}  // namespace streamsim::play
