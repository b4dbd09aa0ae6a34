// The half of the NFS backend that moves data: reads and writes, the pieces they are cut into, and what becomes
// of those.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "storage/nfs/nfs_work.h"

namespace streamsim::storage {
namespace {

constexpr Duration kPatience = milliseconds(100);  // that a server asks for
constexpr Duration kAfterLoss = milliseconds(20);
constexpr std::uint32_t kTriesOfStale = 2;

}  // namespace

void NfsStorage::start_transfer(Op& op) {
    NfsTransfer& work = *std::exchange(free_transfers_, free_transfers_->next);
    work.op = &op;
    work.cut = 0;
    work.pieces = 0;
    work.end = std::numeric_limits<std::uint64_t>::max();
    work.writes = op.operation == OpKind::write;
    if (work.writes) {
        const auto& write = static_cast<WriteOp&>(op);
        work.file = write.file;
        work.offset = write.offset;
        work.bytes = write.buffer.size();
        work.memory = const_cast<std::byte*>(write.buffer.data());  // nothing is written to it
    } else {
        const auto& read = static_cast<ReadOp&>(op);
        work.file = read.file;
        work.offset = read.offset;
        work.bytes = read.buffer.size();
        work.memory = read.buffer.data();
    }
    op.backend = &work;
    const NfsFile* const file = file_of(work.file);
    if (file == nullptr || work.bytes == 0) return end_transfer(work, file != nullptr ? 0 : EBADF);
    work.desk = file->desk;
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
        if (piece->transfer == nullptr) {
            piece->next = std::exchange(free_pieces_, piece);
        } else if (now < piece->not_before ||
                   files_[static_cast<std::size_t>(piece->transfer->file)].opening_again || !send(*piece)) {
            desk.pending.push(*piece);
        }
        piece = next;
    }
    while (desk.uncut.first() != nullptr && free_pieces_ != nullptr) {
        NfsTransfer& work = *desk.uncut.first();
        if (files_[static_cast<std::size_t>(work.file)].opening_again) return;
        const std::uint64_t left = work.bytes - work.cut;
        const std::uint32_t most = work.writes ? desk.node->write_bytes() : desk.node->read_bytes();
        NfsPiece& piece = *std::exchange(free_pieces_, free_pieces_->next);
        piece.transfer = &work;
        piece.desk = &desk;
        piece.offset = work.offset + work.cut;
        piece.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, most));
        piece.stale = 0;
        piece.not_before = {};
        ++work.pieces;
        work.cut += piece.bytes;
        if (work.cut == work.bytes) {
            desk.uncut.pop();
            work.in_line = false;
        }
        if (!send(piece)) desk.pending.push(piece);
    }
}

bool NfsStorage::send(NfsPiece& piece) {
    if (!piece.desk->node->ready()) return false;
    const NfsTransfer& work = *piece.transfer;
    const NfsFile& file = files_[static_cast<std::size_t>(work.file)];
    piece.generation = file.generation;
    piece.call = {on_piece, &piece};
    NfsNode& node = *piece.desk->node;
    const Instant now = loop_.now();
    const std::span<const std::byte> bytes(work.memory + (piece.offset - work.offset), piece.bytes);
    const bool sent =
        work.writes ? NfsRequests::write(node.pick(), piece.call, file.file.handle, piece.offset, bytes, now)
                    : node.requests().read(node.pick(), piece.call, file.file, piece.offset, piece.bytes, now);
    if (sent) node.count_request();
    return sent;
}

void NfsStorage::on_piece(void* of, NfsCall&, const NfsReply& reply) {
    auto& piece = *static_cast<NfsPiece*>(of);
    NfsStorage& self = *piece.storage;
    piece.desk->node->received_bytes += reply.data.size();
    if (piece.transfer == nullptr) {
        piece.next = std::exchange(self.free_pieces_, &piece);
        return;
    }
    switch (reply.outcome) {
        case NfsOutcome::done:
            return piece.transfer->writes ? self.take_written(piece, reply) : self.take_data(piece, reply);
        case NfsOutcome::failed:
        case NfsOutcome::is_link: {
            self.end_transfer(*piece.transfer, reply.error == 0 ? EIO : reply.error);
            piece.next = std::exchange(self.free_pieces_, &piece);
            return;
        }
        case NfsOutcome::later: return self.wait_again(piece, kPatience);
        case NfsOutcome::lost: return self.wait_again(piece, kAfterLoss);
        case NfsOutcome::stale: return self.open_again(piece, ESTALE);
        case NfsOutcome::expired: return self.open_again(piece, EIO);
    }
}

void NfsStorage::take_data(NfsPiece& piece, const NfsReply& reply) {
    NfsTransfer& work = *piece.transfer;
    std::memcpy(work.memory + (piece.offset - work.offset), reply.data.data(), reply.data.size());
    piece.offset += reply.data.size();
    piece.bytes -= static_cast<std::uint32_t>(reply.data.size());
    if (reply.end_of_file) {
        work.end = std::min(work.end, piece.offset);
    } else if (piece.bytes > 0) {
        return wait_again(piece, {});
    }
    piece_done(piece);
}

void NfsStorage::take_written(NfsPiece& piece, const NfsReply& reply) {
    NfsFile& file = files_[static_cast<std::size_t>(piece.transfer->file)];
    if (!reply.stable) {
        file.lost = file.lost || (file.unstable && file.verifier != reply.verifier);
        file.unstable = true;
        file.verifier = reply.verifier;
    }
    piece.offset += reply.number;
    piece.bytes -= reply.number;
    if (piece.bytes > 0) return wait_again(piece, {});
    piece_done(piece);
}

void NfsStorage::wait_again(NfsPiece& piece, Duration pause) {
    piece.not_before = loop_.now() + pause;
    piece.desk->pending.push(piece);
}

/// The server does not know the file any more: it is opened again, once for all pieces that find out.
void NfsStorage::open_again(NfsPiece& piece, int error) {
    NfsFile& file = files_[static_cast<std::size_t>(piece.transfer->file)];
    const bool known = file.opening_again || file.generation != piece.generation;
    wait_again(piece, {});
    if (known) return;
    if (++piece.stale > kTriesOfStale) return end_transfer(*piece.transfer, error);
    file.opening_again = true;
    if (file.again == nullptr) file.again = std::make_unique<NfsOpening>();
    file.lost = file.unstable;  // the handle is of no file any more
    file.again->begin(*file.desk->node, {.path = file.path}, on_opened_again, &file);
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
    for (NfsTransfer& work : self.transfers_) {
        if (work.op != nullptr && &self.files_[static_cast<std::size_t>(work.file)] == &file)
            self.end_transfer(work, opening.error());
    }
}

void NfsStorage::piece_done(NfsPiece& piece) {
    NfsTransfer& work = *piece.transfer;
    piece.transfer = nullptr;
    piece.next = std::exchange(free_pieces_, &piece);
    if (--work.pieces == 0 && !work.in_line) end_transfer(work, 0);
}

/// The operation ends, whatever its pieces do.
void NfsStorage::end_transfer(NfsTransfer& work, int error) {
    Op& op = *std::exchange(work.op, nullptr);
    std::uint64_t written = error == 0 ? work.bytes : work.cut;  // from the beginning, without a gap
    if (work.pieces > 0) {
        for (NfsPiece& piece : pieces_) {
            if (piece.transfer != &work) continue;
            written = std::min(written, piece.offset - work.offset);
            piece.transfer = nullptr;
        }
    }
    if (work.writes) {
        static_cast<WriteOp&>(op).bytes = written;
    } else {
        const std::uint64_t end = std::clamp(work.end, work.offset, work.offset + work.bytes);
        static_cast<ReadOp&>(op).bytes = error == 0 ? end - work.offset : 0;
    }
    if (std::exchange(work.in_line, false)) {
        NfsFifo<NfsTransfer> all = work.desk->uncut.take();
        while (NfsTransfer* each = all.pop()) {
            if (each != &work) work.desk->uncut.push(*each);
        }
    }
    settle(op, error);
    work.next = std::exchange(free_transfers_, &work);
    if (!waiting_transfers_.empty()) start_transfer(waiting_transfers_.pop());
}

}  // namespace streamsim::storage
