#include "play/frame_read.h"

#include <algorithm>
#include <cerrno>

#include "base/check.h"

namespace streamsim {
namespace {

constexpr std::uint64_t kPage = 4096;

std::uint64_t align_down(std::uint64_t value, std::uint64_t to) {
    return value / to * to;
}
std::uint64_t align_up(std::uint64_t value, std::uint64_t to) {
    return (value + to - 1) / to * to;
}

}  // namespace

std::uint64_t frame_buffer_bytes(const FrameIndex& index, const ReadSettings& settings) {
    // A streamed frame holds whole pieces of the grid at both ends; any other is widened to the alignment.
    const std::uint64_t slack = settings.streaming ? settings.io_size : settings.alignment;
    return align_up(index.largest_frame_bytes() + 2 * slack, kPage);
}

FrameRead::FrameRead(Storage& storage,
                     const FrameIndex& index,
                     const ReadSettings& settings,
                     FrameReadOwner& owner)
    : storage_(storage),
      index_(index),
      settings_(settings),
      owner_(owner),
      path_(index.file_per_frame() ? std::make_unique<char[]>(index.path_capacity()) : nullptr),
      pieces_(settings.io_size == 0 ? 1 : settings.io_depth) {
    for (Piece& piece : pieces_) {
        piece.read = this;
        piece.done = Callback::of<&Piece::finished>(&piece);
    }
    open_.done = Callback::of<&FrameRead::opened>(this);
    decode_.done = Callback::of<&FrameRead::decoded>(this);
}

void FrameRead::take(IoTag tag, Instant scheduled) {
    STREAMSIM_CHECK(state_ == State::idle && !outstanding(), "only an idle read takes a frame");
    state_ = State::taken;
    tag_ = tag;
    outcome_ = FrameOutcome{};
    outcome_.slot = tag.slot;
    outcome_.clip_frame = tag.clip_frame;
    outcome_.scheduled = scheduled;
    extent_ = index_.extent(tag.clip_frame);
    completed_ = not_before_ = last_submitted_ = {};
}

void FrameRead::open_ahead() {
    index_.write_path(tag_.clip_frame, path_.get());
    open_.path = path_.get();
    open_.tag = tag_;
    open_.error = 0;
    open_.file = kNoFile;
    opening_ = true;
    own_file_ = true;
    storage_.open(open_);
}

void FrameRead::opened() {
    opening_ = false;
    if (open_.error == 0) {
        file_ = open_.file;
        outcome_.opened = open_.completed_at;
        outcome_.open_time = open_.completed_at - open_.submitted_at;
    }
    if (abandoned_) {
        release();
        owner_.frame_read_let_go();
        return;
    }
    if (open_.error != 0) open_failed(open_.error);
    if (state_ == State::reading) {
        submit_more();
        maybe_end();
    } else if (file_ != kNoFile) {
        storage_.hint(file_, extent_.offset, extent_.bytes);
    }
}

void FrameRead::open_failed(int error) {
    fail(error == ENOENT || error == ENOTDIR ? DropReason::missing : DropReason::error, error);
}

void FrameRead::start(Instant now, std::span<std::byte> buffer, const OpenOp& container, StreamTail& tail) {
    STREAMSIM_CHECK(state_ == State::taken, "a read that starts has a frame");
    state_ = State::reading;
    starting_ = true;
    buffer_ = buffer;
    outcome_.submitted = now;
    last_submitted_ = now;
    if (index_.file_per_frame()) {
        plan_pieces(tail);
        if (!own_file_) open_ahead();
    } else if (container.error != 0) {
        open_failed(container.error);
    } else {
        plan_pieces(tail);
        file_ = container.file;
    }
    if (file_ != kNoFile) submit_more();
    maybe_end();
    starting_ = false;
}

void FrameRead::plan_pieces(StreamTail& tail) {
    const std::uint64_t unit = settings_.streaming ? settings_.io_size : settings_.alignment;
    begin_ = align_down(extent_.offset, unit);
    end_ = align_up(extent_.offset + extent_.bytes, unit);
    step_ = settings_.io_size == 0 ? end_ - begin_ : settings_.io_size;
    if (settings_.streaming) share_tail(tail);
    next_ = begin_;
    STREAMSIM_CHECK(end_ - begin_ <= buffer_.size(), "a frame fits its buffer");
}

/// The first piece may be the last one of an earlier frame; the last own piece is the tail for later frames.
void FrameRead::share_tail(StreamTail& tail) {
    const std::uint64_t unit = settings_.io_size;
    if (tail.piece == begin_ / unit) {
        begin_ += unit;
        if (tail.pending) {
            waiting_ = true;
            next_waiter_ = tail.owner->waits_on_me_;
            tail.owner->waits_on_me_ = this;
        } else {
            check_tail(tail);
        }
    }
    if (begin_ == end_) return;
    tail = StreamTail{};
    tail.piece = end_ / unit - 1;
    tail.pending = true;
    tail.owner = this;
    tail_ = &tail;
}

void FrameRead::submit_more() {
    for (Piece& piece : pieces_) {
        // A failed frame reads on only where a later frame needs its tail.
        if (next_ >= end_ || (failed() && tail_ == nullptr)) return;
        if (piece.busy) continue;
        piece.busy = true;
        piece.tag = tag_;
        piece.error = 0;
        piece.bytes = 0;
        piece.file = file_;
        piece.offset = next_;
        piece.deadline = outcome_.deadline;
        piece.buffer = {buffer_.data() + (next_ - begin_), std::min(step_, end_ - next_)};
        next_ += piece.buffer.size();
        ++reads_out_;
        storage_.read(piece);
    }
}

void FrameRead::piece_finished(Piece& piece) {
    piece.busy = false;
    --reads_out_;
    last_submitted_ = std::max(last_submitted_, piece.submitted_at);
    const std::uint64_t wanted = std::min(piece.offset + piece.buffer.size(), extent_.offset + extent_.bytes);
    if (tail_ != nullptr && piece.offset + piece.buffer.size() == end_) {
        StreamTail result = *tail_;
        result.bytes = piece.bytes;
        result.error = piece.error;
        result.completed_at = piece.completed_at;
        result.not_before = piece.not_before;
        tail_finished(result);
    }
    if (piece.error != 0) {
        fail(piece.error == ENOENT ? DropReason::missing : DropReason::error, piece.error);
    } else if (piece.offset + piece.bytes < wanted) {
        fail(DropReason::short_read, 0);
    } else {
        note_completion(piece.completed_at, piece.not_before);
    }
    submit_more();
    maybe_end();
}

void FrameRead::tail_finished(const StreamTail& result) {
    if (tail_->owner == this) {  // else a later frame has moved it on
        *tail_ = result;
        tail_->pending = false;
        tail_->owner = nullptr;
    }
    tail_ = nullptr;
    FrameRead* waiter = waits_on_me_;
    waits_on_me_ = nullptr;
    while (waiter != nullptr) {
        FrameRead* next = waiter->next_waiter_;
        waiter->next_waiter_ = nullptr;
        waiter->waiting_ = false;
        waiter->check_tail(result);
        waiter->maybe_end();
        waiter = next;
    }
}

void FrameRead::check_tail(const StreamTail& tail) {
    const std::uint64_t offset = tail.piece * settings_.io_size;
    const std::uint64_t wanted = std::min(offset + settings_.io_size, extent_.offset + extent_.bytes);
    if (tail.error != 0) {
        fail(DropReason::error, tail.error);
    } else if (offset + tail.bytes < wanted) {
        fail(DropReason::short_read, 0);
    } else {
        // A piece that was read before this frame took its place costs it no time.
        note_completion(std::max(tail.completed_at, outcome_.submitted), tail.not_before);
    }
}

void FrameRead::note_completion(Instant completed_at, Instant not_before) {
    completed_ = std::max(completed_, completed_at);
    not_before_ = std::max(not_before_, not_before);
}

void FrameRead::fail(DropReason reason, int error) {
    if (failed()) return;
    outcome_.reason = reason;
    outcome_.error = error;
}

void FrameRead::maybe_end() {
    if (state_ != State::reading || outstanding() || waiting_) return;
    if (next_ < end_ && (!failed() || tail_ != nullptr)) return;
    if (!failed()) {
        outcome_.completed = completed_;
        outcome_.bytes = extent_.bytes;
    }
    close_file();
    state_ = State::ended;
    if (!starting_) owner_.frame_read_ended(*this);
}

void FrameRead::decode(Decoder& decoder, Instant needed_by) {
    STREAMSIM_CHECK(state_ == State::ended && !failed(), "only a frame that was read is decoded");
    decoding_ = true;
    decode_.needed_by = needed_by;
    decoder.decode(decode_);
}

void FrameRead::decoded() {
    decoding_ = false;
    outcome_.completed = decode_.skipped ? Instant::never() : decode_.completed_at;
    owner_.frame_decoded(*this);
}

void FrameRead::abandon() {
    STREAMSIM_CHECK(state_ == State::taken, "only a read without a place is passed over");
    if (opening_) {
        abandoned_ = true;
    } else {
        release();
    }
}

void FrameRead::cancel() {
    next_ = end_;  // nothing more of it is asked for
    if (opening_) storage_.cancel(open_);
    for (Piece& piece : pieces_) {
        if (piece.busy) storage_.cancel(piece);
    }
}

void FrameRead::release() {
    close_file();
    own_file_ = false;
    abandoned_ = false;
    begin_ = next_ = end_ = 0;
    buffer_ = {};
    state_ = State::idle;
}

void FrameRead::close_file() {
    if (own_file_ && file_ != kNoFile) storage_.close(file_);
    file_ = kNoFile;
}

}  // namespace streamsim
