// FrameWrite writes one captured frame: it creates the frame's file where each frame has one, writes the frame
// in pieces of --io-size, --io-depth at a time, syncs it where the recording is durable, and reports the
// outcome once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "play/client_delay.h"
#include "play/player_options.h"
#include "streamsim/media.h"
#include "streamsim/storage.h"

namespace streamsim::play {

class FrameWrite;

/// Hears of events on the loop's thread.
class FrameWriteOwner {
public:
    /// The frame is complete or has failed, and no operation of it is outstanding.
    virtual void frame_write_ended(FrameWrite& write) = 0;
    /// The whole frame is in the shared file, which the owner has to sync: synced() is the answer.
    virtual void frame_write_to_sync(FrameWrite& write) = 0;

protected:
    ~FrameWriteOwner() = default;
};

/// The file that all frames of a container are written to; the recorder opens it.
struct SharedFile {
    FileId file = kNoFile;
    int error = 0;  // of its creation
};

/// Pinned: operations point into it. One loop's thread. Life: idle -> taken -> writing -> ended -> idle.
class FrameWrite : public FrameOperation {
public:
    FrameWrite(Storage& storage,
               const FrameIndex& index,
               const PlayerOptions& options,
               bool durable,
               FrameWriteOwner& owner);
    FrameWrite(const FrameWrite&) = delete;
    FrameWrite& operator=(const FrameWrite&) = delete;

    /// A frame was captured at `captured`. REQUIRES: idle.
    void take(IoTag tag, Instant captured);
    /// Writes: the frame has got an in-flight slot. `bytes` are the frame's, rounded up to the alignment. The
    /// write may end at once (into a shared file that could not be created), but never calls the owner before
    /// start() returns: the owner asks ended(). REQUIRES: taken.
    void start(Instant now,
               const ClientDelay& delay,
               std::span<const std::byte> bytes,
               Instant needed,
               const SharedFile& shared);
    /// The shared file was synced.
    void synced(const SyncOp& op);
    /// Asks the storage to end all outstanding operations; submits no more.
    void cancel();
    /// The owner has settled the frame: idle again. REQUIRES: !outstanding().
    void release();

    bool idle() const { return state_ == State::idle; }
    bool ended() const { return state_ == State::ended; }
    bool waits_for_sync() const { return state_ == State::to_sync; }
    /// The storage has operations of this frame alone.
    bool outstanding() const { return out_ > 0; }
    bool writing() const { return state_ == State::writing || state_ == State::to_sync; }

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
    const PlayerOptions& options_;
    const bool durable_;
    FrameWriteOwner& owner_;
    std::vector<char> name_;
    OpenOp open_;
    SyncOp sync_;
    std::vector<Piece> pieces_;

    State state_ = State::idle;
    bool starting_ = false;  // inside start(): the owner is not called
    bool opening_ = false, syncing_ = false, cancelled_ = false;
    FileId file_ = kNoFile;
    std::span<const std::byte> bytes_;
    std::uint64_t offset_ = 0;  // of the frame in its file
    std::uint64_t next_ = 0;    // byte of the frame to be submitted
    std::uint32_t out_ = 0;
    Instant needed_;
};

}  // namespace streamsim::play
