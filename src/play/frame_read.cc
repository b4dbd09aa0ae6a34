#include "play/frame_read.h"

#include <algorithm>
#include <cerrno>

#include "base/check.h"
#include "base/memory.h"

namespace streamsim::play {
namespace {

/// No slot has more pieces than this in flight; most have far fewer than --io-depth.
std::size_t pieces_at_once(const SlotNeeds& needs, const PlayerOptions& options) {
    const std::uint64_t extents = std::max<std::uint64_t>(needs.extents, 1);
    // An extent that is widened at both ends touches two pieces more than fit into it.
    const std::uint64_t pieces = options.io_size == 0 ? 1 : needs.bytes / options.io_size + 2;
    return static_cast<std::size_t>(std::min<std::uint64_t>(options.io_depth, extents * pieces));
}

}  // namespace

std::uint64_t frame_buffer_bytes(const SlotNeeds& needs, const PlayerOptions& options) {
    const bool groups = needs.groups && !options.verify;
    const std::uint64_t needed = options.verify ? needs.whole_bytes : needs.bytes;
    // A streamed frame holds whole pieces of the grid at both ends; any other is widened to the alignment.
    const std::uint64_t slack =
        2 * (options.pattern == AccessPattern::streaming ? options.io_size : options.alignment);
    const std::uint64_t extents = groups ? 1 : std::max<std::uint64_t>(needs.extents, 1);
    const std::uint64_t bytes = needed + extents * slack;
    // Pieces of a group lie beside each other as long as they are in flight.
    const std::uint64_t piece = options.io_size == 0 ? needs.bytes + slack : options.io_size + slack;
    return align_up(groups ? std::max(bytes, piece * (options.io_depth + 1)) : bytes,
                    std::max<std::uint64_t>(options.alignment, kPageBytes));
}

FrameRead::FrameRead(Storage& storage,
                     const PlayPath& path,
                     const SlotNeeds& needs,
                     const PlayerOptions& options,
                     FrameReadOwner& owner)
    : storage_(storage),
      path_(path),
      options_(options),
      owner_(owner),
      streaming_(options.pattern == AccessPattern::streaming),
      pieces_(pieces_at_once(needs, options)),
      files_(needs.files) {
    extents_.reserve(needs.extents);
    ranges_.reserve(needs.extents);
    std::size_t name_bytes = 1;
    for (const auto& source : path.sources()) name_bytes = std::max(name_bytes, source->path_capacity());
    for (OwnFile& file : files_) {
        file.read = this;
        file.name.resize(name_bytes);
        file.done = Callback::of<&OwnFile::finished>(&file);
    }
    for (Piece& piece : pieces_) {
        piece.read = this;
        piece.done = Callback::of<&Piece::finished>(&piece);
    }
    verify_.done = Callback::of<&FrameRead::verified>(this);
    decode_.done = Callback::of<&FrameRead::decoded>(this);
}

void FrameRead::take(IoTag tag, Instant scheduled, SlotReads& reads) {
    STREAMSIM_CHECK(state_ == State::idle && !outstanding(), "only an idle read takes a frame");
    state_ = State::taken;
    const ShownFrame named = reads.plan_ahead(tag.slot, extents_);
    tag.clip_frame = named.frame;
    reset(tag, scheduled);
    outcome().source = named.source;
}

void FrameRead::open_ahead() {
    if (files_.empty()) return;
    for (std::size_t i = 0; i < extents_.size(); ++i) {
        const FrameIndex& index = *path_.sources()[extents_[i].source];
        if (!index.file_per_frame()) continue;
        OwnFile& file = files_[files_used_++];
        index.write_path(extents_[i].frame, file.name.data());
        file.path = file.name.data();
        file.tag = tag();
        file.tag.clip_frame = extents_[i].frame;
        file.extent = i;
        file.error = 0;
        file.file = kNoFile;
        file.opening = true;
        ++opens_out_;
        storage_.open(file);
    }
}

void FrameRead::opened(OwnFile& file) {
    file.opening = false;
    --opens_out_;
    if (file.error == 0) {
        outcome().opened = outcome().opened == Instant::never() ? file.completed_at
                                                                : std::max(outcome().opened, file.completed_at);
        outcome().open_time = std::max(outcome().open_time, file.completed_at - file.submitted_at);
    } else {
        file.file = kNoFile;
    }
    if (abandoned_) {
        if (opens_out_ > 0) return;
        release();
        owner_.frame_read_released(*this);
        return;
    }
    const SlotExtent& of = extents_[file.extent];
    if (file.error != 0) open_failed(of.source, file.error);
    if (state_ == State::reading) {
        ranges_[file.extent].file = file.file;
        submit_more();
        maybe_end();
    } else if (file.file != kNoFile) {
        storage_.hint(file.file, of.extent.offset, of.extent.bytes);
    }
}

void FrameRead::open_failed(std::uint32_t source, int error) {
    fail(source, error == ENOENT || error == ENOTDIR ? DropReason::missing : DropReason::error, error);
}

void FrameRead::start(Instant now,
                      const ClientDelay& delay,
                      std::span<std::byte> buffer,
                      SlotReads& reads,
                      std::span<const SourceFile> containers,
                      StreamTail& tail) {
    STREAMSIM_CHECK(state_ == State::taken, "a read that starts has a frame");
    state_ = State::reading;
    starting_ = true;
    buffer_ = buffer;
    fill_ = 0;
    fragments_.clear();
    begin(now, delay);
    plan(reads);
    if (extents_.empty()) note_answer(now, now);
    plan_ranges(containers, tail, reads.independent());
    if (files_used_ == 0) open_ahead();
    submit_more();
    maybe_end();
    starting_ = false;
}

void FrameRead::plan(SlotReads& reads) {
    if (!reads.independent()) {
        reads.plan(tag().slot, extents_);
        // The files that are open already come in the same order.
        std::size_t extent = 0;
        for (std::size_t i = 0; i < files_used_; ++i, ++extent) {
            while (!path_.sources()[extents_[extent].source]->file_per_frame()) ++extent;
            files_[i].extent = extent;
        }
    }
    bytes_ = 0;
    for (const SlotExtent& each : extents_) bytes_ += each.extent.bytes;
}

void FrameRead::plan_ranges(std::span<const SourceFile> containers, StreamTail& tail, bool independent) {
    const std::uint64_t unit = streaming_ ? options_.io_size : options_.alignment;
    ranges_.clear();
    for (const SlotExtent& each : extents_) {
        Range range;
        range.of = each;
        range.begin = align_down(each.extent.offset, unit);
        range.wanted_end = each.extent.offset + each.extent.bytes;
        range.end = align_up(range.wanted_end, unit);
        range.next = range.begin;
        if (containers[each.source].is_container()) {
            const OpenOp& container = containers[each.source].op;
            if (container.error != 0) open_failed(each.source, container.error);
            range.file = container.error == 0 ? container.file : kNoFile;
        }
        const bool meets = streaming_ && !ranges_.empty() && range.begin <= ranges_.back().end;
        if (meets) {
            ranges_.back().end = std::max(ranges_.back().end, range.end);
            ranges_.back().wanted_end = std::max(ranges_.back().wanted_end, range.wanted_end);
        } else {
            ranges_.push_back(range);
        }
    }
    // A storage may name the file before the open has ended, which says nothing yet.
    for (std::size_t i = 0; i < files_used_; ++i)
        ranges_[files_[i].extent].file = files_[i].opening ? kNoFile : files_[i].file;
    if (streaming_ && !failed()) share_tail(tail, independent);
}

/// The first piece may be the last one of an earlier frame; the last piece of this frame is the tail for later
/// ones.
void FrameRead::share_tail(StreamTail& tail, bool independent) {
    if (ranges_.empty()) return;
    const std::uint64_t unit = options_.io_size;
    Range& first = ranges_.front();
    if (tail.piece == first.begin / unit) {
        wanted_of_tail_ = std::min(first.begin + unit, first.wanted_end);
        first.begin += unit;
        first.next = first.begin;
        if (tail.pending) {
            waiting_ = true;
            next_waiter_ = tail.owner->waits_on_me_;
            tail.owner->waits_on_me_ = this;
        } else {
            check_tail(tail);
        }
    }
    // Audio may lie far behind the frame; what follows is the next frame.
    const Extent frame =
        independent ? extents_.front().extent : path_.sources().front()->extent(tag().clip_frame);
    for (const Range& range : ranges_) {
        if (range.wanted_end < frame.offset + frame.bytes || range.begin == range.end) continue;
        tail.forget();
        tail.piece = range.end / unit - 1;
        tail.pending = true;
        tail.owner = this;
        tail_ = &tail;
        tail_end_ = range.end;
        return;
    }
}

FrameRead::Range* FrameRead::next_range() {
    for (Range& range : ranges_) {
        if (range.next < range.end && range.file != kNoFile) return &range;
    }
    return nullptr;
}

void FrameRead::submit_more() {
    for (Piece& piece : pieces_) {
        // A failed frame reads on only where a later frame needs its tail.
        if (failed() && tail_ == nullptr) return;
        Range* const range = next_range();
        if (range == nullptr) return;
        if (!piece.busy) submit(piece, *range);
    }
}

void FrameRead::submit(Piece& piece, Range& range) {
    const std::uint64_t left = range.end - range.next;
    const std::uint64_t bytes = options_.io_size == 0 ? left : std::min(options_.io_size, left);
    if (fill_ + bytes > buffer_.size() && !options_.verify) fill_ = 0;
    STREAMSIM_CHECK(fill_ + bytes <= buffer_.size(), "a piece fits its buffer");
    piece.busy = true;
    piece.range = static_cast<std::size_t>(&range - ranges_.data());
    piece.tag = tag();
    piece.tag.clip_frame = range.of.frame;
    piece.error = 0;
    piece.bytes = 0;
    piece.file = range.file;
    piece.offset = range.next;
    piece.deadline = outcome().deadline;
    piece.buffer = buffer_.subspan(fill_, bytes);
    if (options_.verify) fragments_.push_back({piece.range, {piece.offset, piece.buffer}});
    fill_ += bytes;
    range.next += bytes;
    ++reads_out_;
    storage_.read(piece);
}

void FrameRead::piece_finished(Piece& piece) {
    piece.busy = false;
    --reads_out_;
    const Range& range = ranges_[piece.range];
    note_submitted(piece.submitted_at);
    const std::uint64_t end = piece.offset + piece.buffer.size();
    if (tail_ != nullptr && end == tail_end_) {
        TailPiece result;
        result.piece = tail_end_ / options_.io_size - 1;
        result.bytes = piece.bytes;
        result.error = piece.error;
        result.completed_at = piece.completed_at;
        result.not_before = piece.not_before;
        if (options_.verify) result.data = piece.buffer.first(piece.bytes);
        tail_finished(result);
    }
    if (piece.error != 0) {
        fail(range.of.source, piece.error == ENOENT ? DropReason::missing : DropReason::error, piece.error);
    } else if (piece.offset + piece.bytes < std::min(end, range.wanted_end)) {
        fail(range.of.source, DropReason::short_read, 0);
    } else {
        note_answer(piece.completed_at, piece.not_before);
    }
    submit_more();
    maybe_end();
}

void FrameRead::tail_finished(const TailPiece& result) {
    if (tail_->owner == this) {  // else a later frame has moved it on
        tail_->forget();
        static_cast<TailPiece&>(*tail_) = result;
        if (options_.verify) {
            tail_->kept.assign(result.data.begin(), result.data.end());
            tail_->data = tail_->kept;
        }
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

void FrameRead::check_tail(const TailPiece& tail) {
    if (tail.error != 0) {
        fail(0, DropReason::error, tail.error);
    } else if (tail.piece * options_.io_size + tail.bytes < wanted_of_tail_) {
        fail(0, DropReason::short_read, 0);
    } else {
        if (options_.verify) {
            head_.assign(tail.data.begin(), tail.data.end());
            fragments_.push_back({0, {tail.piece * options_.io_size, head_}});
        }
        // A piece that was read before this frame got its in-flight slot costs the frame no time, and was no
        // answer for it before.
        note_answer(std::max(tail.completed_at, outcome().submitted),
                    std::max(tail.not_before, outcome().submitted));
    }
}

void FrameRead::fail(std::uint32_t source, DropReason reason, int error) {
    if (failed()) return;
    outcome().reason = reason;
    outcome().error = error;
    outcome().source = source;
    for (const SlotExtent& each : extents_) {
        if (each.source == source) outcome().clip_frame = each.frame;
    }
}

void FrameRead::maybe_end() {
    if (state_ != State::reading || outstanding() || waiting_) return;
    if ((!failed() || tail_ != nullptr) && next_range() != nullptr) return;
    if (!failed()) {
        outcome().delivered = outcome().completed = answered();
        outcome().bytes = bytes_;
    }
    close_files();
    state_ = State::ended;
    if (!starting_) owner_.frame_read_ended(*this);
}

void FrameRead::verify(Verifier& verifier) {
    STREAMSIM_CHECK(state_ == State::ended && !failed() && options_.verify,
                    "a frame that was read is verified");
    verify_.frames.clear();
    verify_.pieces.clear();
    verify_.difference.reset();
    std::sort(fragments_.begin(), fragments_.end(),
              [](const Fragment& a, const Fragment& b) { return a.piece.offset < b.piece.offset; });
    for (std::size_t i = 0; i < extents_.size(); ++i) {
        const SlotExtent& each = extents_[i];
        const FrameIndex& index = *path_.sources()[each.source];
        const bool audio = index.extent(each.frame).offset != each.extent.offset;
        if (audio || index.content() == nullptr) continue;
        const std::uint64_t end = each.extent.offset + each.extent.bytes;
        for (const Fragment& fragment : fragments_) {
            const ContentPiece& piece = fragment.piece;
            const std::uint64_t from = std::max(piece.offset, each.extent.offset);
            const std::uint64_t to = std::min(piece.offset + piece.bytes.size(), end);
            if ((!streaming_ && fragment.range != i) || from >= to) continue;
            verify_.pieces.push_back({from, piece.bytes.subspan(from - piece.offset, to - from)});
        }
        verify_.frames.push_back({each.source, each.frame, index.content(), verify_.pieces.size()});
    }
    verifying_ = true;
    verifier.verify(verify_);
}

void FrameRead::verified() {
    verifying_ = false;
    if (verify_.difference) {
        fail(verify_.difference->source, DropReason::corrupt, 0);
        outcome().clip_frame = verify_.difference->frame;
        outcome().corrupt_at = verify_.difference->offset;
        outcome().delivered = outcome().completed = Instant::never();
        outcome().bytes = 0;
    }
    owner_.frame_verified(*this);
}

void FrameRead::decode(Decoder& decoder, Instant needed_by, const std::atomic<std::int64_t>& later_ns) {
    STREAMSIM_CHECK(state_ == State::ended && !failed(), "only a frame that was read is decoded");
    decoding_ = true;
    decode_.needed_by = needed_by;
    decode_.later_ns = &later_ns;
    decoder.decode(decode_);
}

void FrameRead::decoded() {
    decoding_ = false;
    outcome().completed = decode_.skipped ? Instant::never() : decode_.completed_at;
    owner_.frame_decoded(*this);
}

void FrameRead::abandon() {
    STREAMSIM_CHECK(state_ == State::taken, "only a read without an in-flight slot is passed over");
    if (opens_out_ > 0) {
        abandoned_ = true;
    } else {
        release();
    }
}

void FrameRead::cancel() {
    // Only the tail is still submitted, if it is not in flight yet: later frames wait for it.
    for (Range& range : ranges_) {
        const bool tail = tail_ != nullptr && range.end == tail_end_;
        range.next = tail ? std::max(range.next, tail_end_ - options_.io_size) : range.end;
    }
    for (OwnFile& file : files_) {
        if (file.opening) storage_.cancel(file);
    }
    for (Piece& piece : pieces_) {
        if (piece.busy) storage_.cancel(piece);
    }
}

void FrameRead::release() {
    close_files();
    abandoned_ = false;
    extents_.clear();
    ranges_.clear();
    buffer_ = {};
    state_ = State::idle;
}

void FrameRead::close_files() {
    for (std::size_t i = 0; i < files_used_; ++i) {
        if (files_[i].file != kNoFile) storage_.close(files_[i].file);
        files_[i].file = kNoFile;
    }
    files_used_ = 0;
}

}  // namespace streamsim::play
