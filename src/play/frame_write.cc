#include "play/frame_write.h"

#include <algorithm>

#include "base/check.h"

namespace streamsim::play {
namespace {

std::size_t pieces_of_frame(const FrameIndex& index, const PlayerOptions& options) {
    if (options.io_size == 0) return 1;
    const std::uint64_t pieces = index.largest_frame_bytes() / options.io_size + 1;
    return static_cast<std::size_t>(std::min<std::uint64_t>(options.io_depth, pieces));
}

}  // namespace

FrameWrite::FrameWrite(Storage& storage,
                       const FrameIndex& index,
                       const PlayerOptions& options,
                       bool durable,
                       FrameWriteOwner& owner)
    : storage_(storage),
      index_(index),
      options_(options),
      durable_(durable),
      owner_(owner),
      name_(index.path_capacity()),
      pieces_(pieces_of_frame(index, options)) {
    open_.path = name_.data();
    open_.access = Access::create_new;
    open_.done = Callback::of<&FrameWrite::opened>(this);
    sync_.done = Callback::of<&FrameWrite::own_synced>(this);
    for (Piece& piece : pieces_) {
        piece.write = this;
        piece.done = Callback::of<&Piece::finished>(&piece);
    }
}

void FrameWrite::take(IoTag tag, Instant captured) {
    STREAMSIM_CHECK(idle() && !outstanding(), "only an idle write takes a frame");
    state_ = State::taken;
    reset(tag, captured);
    cancelled_ = false;
}

void FrameWrite::start(Instant now,
                       const ClientDelay& delay,
                       std::span<const std::byte> bytes,
                       Instant needed,
                       const SharedFile& shared) {
    STREAMSIM_CHECK(state_ == State::taken, "a write that starts has a frame");
    state_ = State::writing;
    starting_ = true;
    begin(now, delay);
    note_answer(now, {});
    bytes_ = bytes;
    needed_ = needed;
    next_ = 0;
    if (index_.file_per_frame()) {
        index_.write_path(tag().clip_frame, name_.data());
        offset_ = 0;
        open_.tag = tag();
        open_.error = 0;
        open_.file = kNoFile;
        opening_ = true;
        ++out_;
        storage_.open(open_);
    } else {
        offset_ = index_.extent(tag().clip_frame).offset;
        file_ = shared.file;
        if (shared.error != 0) fail(shared.error);
        go_on();
    }
    starting_ = false;
}

void FrameWrite::note(const Op& op) {
    note_answer(op.completed_at, op.not_before);
    note_submitted(op.submitted_at);
    if (op.error != 0) fail(op.error);
}

void FrameWrite::fail(int error) {
    if (failed()) return;
    outcome().reason = DropReason::error;
    outcome().error = error;
}

void FrameWrite::opened() {
    opening_ = false;
    --out_;
    note(open_);
    if (open_.error == 0) {
        file_ = open_.file;
        outcome().opened = open_.completed_at;
        outcome().open_time = open_.completed_at - open_.submitted_at;
    }
    go_on();
}

void FrameWrite::submit_more() {
    for (Piece& piece : pieces_) {
        if (next_ >= bytes_.size()) return;
        if (piece.busy) continue;
        const std::uint64_t left = bytes_.size() - next_;
        const std::uint64_t length = options_.io_size == 0 ? left : std::min(left, options_.io_size);
        piece.busy = true;
        piece.tag = tag();
        piece.error = 0;
        piece.bytes = 0;
        piece.file = file_;
        piece.offset = offset_ + next_;
        piece.buffer = bytes_.subspan(next_, length);
        piece.deadline = needed_;
        next_ += length;
        ++out_;
        storage_.write(piece);
    }
}

void FrameWrite::piece_finished(Piece& piece) {
    piece.busy = false;
    --out_;
    note(piece);
    go_on();
}

void FrameWrite::own_synced() {
    syncing_ = false;
    --out_;
    note(sync_);
    outcome().sync_time = sync_.completed_at - sync_.submitted_at;
    end();
}

void FrameWrite::synced(const SyncOp& op) {
    note(op);
    outcome().sync_time = op.completed_at - op.submitted_at;
    end();
}

/// After each answer: the next pieces, then the fsync, then the end.
void FrameWrite::go_on() {
    const bool stops = failed() || cancelled_;
    if (!stops) submit_more();
    if (out_ > 0) return;
    if (stops || !durable_) return end();
    if (!index_.file_per_frame()) {
        state_ = State::to_sync;
        owner_.frame_write_to_sync(*this);
        return;
    }
    sync_.tag = tag();
    sync_.error = 0;
    sync_.file = file_;
    syncing_ = true;
    ++out_;
    storage_.sync(sync_);
}

void FrameWrite::end() {
    if (!failed() && !cancelled_) {
        outcome().delivered = outcome().completed = answered();
        outcome().bytes = index_.extent(tag().clip_frame).bytes;
    }
    if (index_.file_per_frame() && file_ != kNoFile) storage_.close(file_);
    file_ = kNoFile;
    state_ = State::ended;
    if (!starting_) owner_.frame_write_ended(*this);
}

void FrameWrite::cancel() {
    cancelled_ = true;
    if (opening_) storage_.cancel(open_);
    if (syncing_) storage_.cancel(sync_);
    for (Piece& piece : pieces_) {
        if (piece.busy) storage_.cancel(piece);
    }
}

void FrameWrite::release() {
    STREAMSIM_CHECK(!outstanding(), "a write is released when the storage has no operation of it");
    state_ = State::idle;
}

}  // namespace streamsim::play
