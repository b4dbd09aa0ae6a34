// The reading half of the NFS backend: reads, the pieces they are cut into, and what becomes of those.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "storage/nfs_work.h"

namespace streamsim {
namespace {

constexpr Duration kPatience = milliseconds(100);  // that a server asks for
constexpr Duration kAfterLoss = milliseconds(20);
constexpr std::uint32_t kTriesOfStale = 2;

}  // namespace

void NfsStorage::read(ReadOp& op) {
    accept(op);
    op.bytes = 0;
    if (free_reads_ != nullptr) {
        NfsRead& work = *std::exchange(free_reads_, free_reads_->next);
        start_read(op, work);
        deliver_later();  // what is submitted together goes out together, at the end of the turn
    } else {
        waiting_reads_.push(op);
    }
}

void NfsStorage::start_read(ReadOp& op, NfsRead& work) {
    const auto index = static_cast<std::size_t>(op.file);
    const bool open = op.file >= 0 && index < files_.size() && files_[index].open;
    work.op = &op;
    work.cut = 0;
    work.pieces = 0;
    work.end = std::numeric_limits<std::uint64_t>::max();
    op.backend = &work;
    if (!open || op.buffer.empty()) return end_read(work, open ? 0 : EBADF);
    work.desk = files_[index].desk;
    work.in_line = true;
    work.desk->uncut.push(work);
}

/// Sends what can be sent.
void NfsStorage::pump(NfsDesk& desk) {
    if (!desk.node->ready()) return;
    const Instant now = loop_.now();
    NfsFifo<NfsPiece> waiting = desk.pending.take();
    for (NfsPiece* piece = waiting.first(); piece != nullptr;) {
        NfsPiece* const next = piece->next;
        if (piece->read == nullptr) {
            piece->next = std::exchange(free_pieces_, piece);
        } else if (now < piece->not_before ||
                   files_[static_cast<std::size_t>(piece->read->op->file)].opening_again || !send(*piece)) {
            desk.pending.push(*piece);
        }
        piece = next;
    }
    while (desk.uncut.first() != nullptr && free_pieces_ != nullptr) {
        NfsRead& work = *desk.uncut.first();
        if (files_[static_cast<std::size_t>(work.op->file)].opening_again) return;
        const std::uint64_t left = work.op->buffer.size() - work.cut;
        NfsPiece& piece = *std::exchange(free_pieces_, free_pieces_->next);
        piece.read = &work;
        piece.desk = &desk;
        piece.offset = work.op->offset + work.cut;
        piece.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, desk.node->read_bytes()));
        piece.stale = 0;
        piece.not_before = {};
        ++work.pieces;
        work.cut += piece.bytes;
        if (work.cut == work.op->buffer.size()) {
            desk.uncut.pop();
            work.in_line = false;
        }
        if (!send(piece)) desk.pending.push(piece);
    }
}

bool NfsStorage::send(NfsPiece& piece) {
    if (!piece.desk->node->ready()) return false;
    const NfsFile& file = files_[static_cast<std::size_t>(piece.read->op->file)];
    piece.generation = file.generation;
    piece.call = {on_piece, &piece};
    NfsNode& node = *piece.desk->node;
    if (!node.requests().read(node.pick(), piece.call, file.file, piece.offset, piece.bytes, loop_.now()))
        return false;
    node.count_request();
    return true;
}

void NfsStorage::on_piece(void* of, NfsCall&, const NfsReply& reply) {
    auto& piece = *static_cast<NfsPiece*>(of);
    NfsStorage& self = *piece.storage;
    piece.desk->node->received_bytes += reply.data.size();
    if (piece.read == nullptr) {
        piece.next = std::exchange(self.free_pieces_, &piece);
        return;
    }
    switch (reply.outcome) {
        case NfsOutcome::done: return self.take_data(piece, reply);
        case NfsOutcome::failed:
        case NfsOutcome::is_link: {
            NfsRead& work = *piece.read;
            piece.read = nullptr;
            piece.next = std::exchange(self.free_pieces_, &piece);
            return self.end_read(work, reply.error == 0 ? EIO : reply.error);
        }
        case NfsOutcome::later: return self.wait_again(piece, kPatience);
        case NfsOutcome::lost: return self.wait_again(piece, kAfterLoss);
        case NfsOutcome::stale: return self.open_again(piece, ESTALE);
        case NfsOutcome::expired: return self.open_again(piece, EIO);
    }
}

void NfsStorage::take_data(NfsPiece& piece, const NfsReply& reply) {
    NfsRead& work = *piece.read;
    ReadOp& op = *work.op;
    std::memcpy(op.buffer.data() + (piece.offset - op.offset), reply.data.data(), reply.data.size());
    piece.offset += reply.data.size();
    piece.bytes -= static_cast<std::uint32_t>(reply.data.size());
    if (reply.end_of_file) {
        work.end = std::min(work.end, piece.offset);
    } else if (piece.bytes > 0) {
        return wait_again(piece, {});
    }
    piece_done(piece);
}

void NfsStorage::wait_again(NfsPiece& piece, Duration pause) {
    piece.not_before = loop_.now() + pause;
    piece.desk->pending.push(piece);
}

/// The server does not know the file any more: it is opened again, once for all pieces that find out.
void NfsStorage::open_again(NfsPiece& piece, int error) {
    NfsFile& file = files_[static_cast<std::size_t>(piece.read->op->file)];
    const bool known = file.opening_again || file.generation != piece.generation;
    wait_again(piece, {});
    if (known) return;
    if (++piece.stale > kTriesOfStale) return end_read(*piece.read, error);
    file.opening_again = true;
    if (file.again == nullptr) file.again = std::make_unique<NfsOpening>();
    file.again->begin(*file.desk->node, file.path, on_opened_again, &file);
}

void NfsStorage::on_opened_again(void* of, NfsOpening& opening) {
    auto& file = *static_cast<NfsFile*>(of);
    NfsStorage& self = *file.storage;
    file.opening_again = false;
    if (!file.open) {  // closed meanwhile
        if (opening.error() == 0) self.close_on_server(*file.desk, opening.file());
        for (std::size_t i = 0; i < self.files_.size(); ++i) {
            if (&self.files_[i] == &file) self.free_files_.push_back(static_cast<FileId>(i));
        }
        return;
    }
    ++file.generation;
    if (opening.error() == 0) {
        file.file = opening.file();
        return;
    }
    for (NfsRead& work : self.reads_) {
        if (work.op != nullptr && &self.files_[static_cast<std::size_t>(work.op->file)] == &file)
            self.end_read(work, opening.error());
    }
}

void NfsStorage::piece_done(NfsPiece& piece) {
    NfsRead& work = *piece.read;
    piece.read = nullptr;
    piece.next = std::exchange(free_pieces_, &piece);
    if (--work.pieces == 0 && !work.in_line) end_read(work, 0);
}

/// The operation ends, whatever its pieces do.
void NfsStorage::end_read(NfsRead& work, int error) {
    ReadOp& op = *std::exchange(work.op, nullptr);
    const std::uint64_t end = std::clamp(work.end, op.offset, op.offset + op.buffer.size());
    op.bytes = error == 0 ? end - op.offset : 0;
    if (work.pieces > 0) {
        for (NfsPiece& piece : pieces_) {
            if (piece.read == &work) piece.read = nullptr;
        }
    }
    if (std::exchange(work.in_line, false)) {
        NfsFifo<NfsRead> all = work.desk->uncut.take();
        while (NfsRead* each = all.pop()) {
            if (each != &work) work.desk->uncut.push(*each);
        }
    }
    settle(op, error);
    work.next = std::exchange(free_reads_, &work);
    if (!waiting_reads_.empty()) {
        NfsRead& next = *std::exchange(free_reads_, free_reads_->next);
        start_read(static_cast<ReadOp&>(waiting_reads_.pop()), next);
    }
}

}  // namespace streamsim
