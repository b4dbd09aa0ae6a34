// The part of the NFS backend that moves data: reads and writes, and the pieces they are cut into.
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/system/errno_values.h"
#include "storage/nfs/nfs_storage.h"

namespace streamsim::storage {
namespace {

constexpr std::uint32_t kStaleRepliesMax = 2;

}  // namespace

void NfsStorage::start_transfer(Op& op) {
    NfsTransfer& transfer = transfers_.take();
    transfer.op = &op;
    transfer.cut = 0;
    transfer.pieces = 0;
    transfer.end = std::numeric_limits<std::uint64_t>::max();
    transfer.writes = op.operation == OpKind::write;
    if (transfer.writes) {
        const auto& write = static_cast<WriteOp&>(op);
        transfer.file = write.file;
        transfer.offset = write.offset;
        transfer.bytes = write.buffer.size();
        transfer.memory = const_cast<std::byte*>(write.buffer.data());  // only read
    } else {
        const auto& read = static_cast<ReadOp&>(op);
        transfer.file = read.file;
        transfer.offset = read.offset;
        transfer.bytes = read.buffer.size();
        transfer.memory = read.buffer.data();
    }
    op.backend = &transfer;
    const NfsFile* const file = files_.find(transfer.file);
    if (file == nullptr || transfer.bytes == 0) return end_transfer(transfer, file != nullptr ? 0 : EBADF);
    transfer.queue = file->queue;
    transfer.queued = true;
    transfer.queue->uncut.push(transfer);
}

/// Sends the pieces that wait, as far as connections and free pieces allow.
void NfsStorage::pump(NfsNodeQueue& queue) {
    if (!queue.node->ready()) return;
    const Instant now = loop().now();
    for (LinkedQueue<NfsPiece> waiting = queue.pending.take(); !waiting.empty();) {
        NfsPiece& piece = waiting.pop();
        if (piece.transfer == nullptr) {
            pieces_.give_back(piece);
        } else if (now < piece.not_before || files_[piece.transfer->file].opening_again || !send(piece)) {
            queue.pending.push(piece);
        }
    }
    while (!queue.uncut.empty() && pieces_.has_free() && !files_[queue.uncut.first()->file].opening_again)
        cut(queue);
}

/// Cuts the next piece from the first transfer, and sends it.
void NfsStorage::cut(NfsNodeQueue& queue) {
    NfsTransfer& transfer = *queue.uncut.first();
    const std::uint64_t left = transfer.bytes - transfer.cut;
    const std::uint32_t bytes_max = transfer.writes ? queue.node->write_bytes() : queue.node->read_bytes();
    NfsPiece& piece = pieces_.take();
    piece.transfer = &transfer;
    piece.queue = &queue;
    piece.offset = transfer.offset + transfer.cut;
    piece.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, bytes_max));
    piece.stale = 0;
    piece.not_before = {};
    ++transfer.pieces;
    transfer.cut += piece.bytes;
    if (transfer.cut == transfer.bytes) {
        queue.uncut.pop();
        transfer.queued = false;
    }
    if (!send(piece)) queue.pending.push(piece);
}

bool NfsStorage::send(NfsPiece& piece) {
    if (!piece.queue->node->ready()) return false;
    const NfsTransfer& transfer = *piece.transfer;
    const NfsFile& file = files_[transfer.file];
    piece.generation = file.generation;
    piece.call = {on_piece, &piece};
    const NfsRequests requests = piece.queue->node->requests(now());
    const std::span<const std::byte> bytes(transfer.memory + (piece.offset - transfer.offset), piece.bytes);
    return transfer.writes ? requests.write(piece.call, file.file.handle, piece.offset, bytes)
                           : requests.read(piece.call, file.file, piece.offset, piece.bytes);
}

void NfsStorage::on_piece(void* of, NfsCall&, const NfsReply& reply) {
    auto& piece = *static_cast<NfsPiece*>(of);
    NfsStorage& self = *piece.storage;
    piece.queue->node->received_bytes += reply.data.size();
    if (piece.transfer == nullptr) {
        self.pieces_.give_back(piece);
        return;
    }
    switch (reply.outcome) {
        case NfsOutcome::done:
            return piece.transfer->writes ? self.take_written(piece, reply) : self.take_data(piece, reply);
        case NfsOutcome::failed:
        case NfsOutcome::is_link: {
            self.end_transfer(*piece.transfer, reply.error == 0 ? EIO : reply.error);
            self.pieces_.give_back(piece);
            return;
        }
        case NfsOutcome::later: return self.wait_again(piece, kRetryPause);
        case NfsOutcome::lost: return self.wait_again(piece, kLossPause);
        case NfsOutcome::stale: return self.open_again(piece, ESTALE);
        case NfsOutcome::expired: return self.open_again(piece, EIO);
    }
}

void NfsStorage::take_data(NfsPiece& piece, const NfsReply& reply) {
    NfsTransfer& transfer = *piece.transfer;
    std::memcpy(transfer.memory + (piece.offset - transfer.offset), reply.data.data(), reply.data.size());
    piece.offset += reply.data.size();
    piece.bytes -= static_cast<std::uint32_t>(reply.data.size());
    if (reply.end_of_file) {
        transfer.end = std::min(transfer.end, piece.offset);
    } else if (piece.bytes > 0) {
        return wait_again(piece, {});
    }
    piece_done(piece);
}

void NfsStorage::take_written(NfsPiece& piece, const NfsReply& reply) {
    NfsFile& file = files_[piece.transfer->file];
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
    piece.not_before = loop().now() + pause;
    piece.queue->pending.push(piece);
}

/// The server has forgotten the file: it is opened again, once for all pieces that hear of it.
void NfsStorage::open_again(NfsPiece& piece, int error) {
    NfsFile& file = files_[piece.transfer->file];
    const bool known = file.opening_again || file.generation != piece.generation;
    wait_again(piece, {});
    if (known) return;
    if (++piece.stale > kStaleRepliesMax) return end_transfer(*piece.transfer, error);
    file.opening_again = true;
    if (file.again == nullptr) file.again = std::make_unique<NfsPathWalk>();
    file.lost = file.unstable;  // no commit can reach the old handle
    file.again->begin(*file.queue->node, {.path = file.path}, on_opened_again, &file);
}

void NfsStorage::on_opened_again(void* of, NfsPathWalk& walk) {
    auto& file = *static_cast<NfsFile*>(of);
    NfsStorage& self = *file.storage;
    file.opening_again = false;
    if (!file.open) {  // close() was called meanwhile
        if (walk.error() == 0) self.close_on_server(*file.queue, walk.file());
        self.files_.give_back(file.id);
        return;
    }
    ++file.generation;
    if (walk.error() == 0) {
        file.file = walk.file();
        return;
    }
    for (NfsTransfer& transfer : self.transfers_) {
        if (transfer.op != nullptr && &self.files_[transfer.file] == &file)
            self.end_transfer(transfer, walk.error());
    }
}

void NfsStorage::piece_done(NfsPiece& piece) {
    NfsTransfer& transfer = *piece.transfer;
    piece.transfer = nullptr;
    pieces_.give_back(piece);
    if (--transfer.pieces == 0 && !transfer.queued) end_transfer(transfer, 0);
}

/// Ends the operation; the replies to its pieces are ignored.
void NfsStorage::end_transfer(NfsTransfer& transfer, int error) {
    Op& op = *std::exchange(transfer.op, nullptr);
    std::uint64_t written = error == 0 ? transfer.bytes : transfer.cut;  // from the beginning, without a gap
    if (transfer.pieces > 0) {
        for (NfsPiece& piece : pieces_) {
            if (piece.transfer != &transfer) continue;
            written = std::min(written, piece.offset - transfer.offset);
            piece.transfer = nullptr;
        }
    }
    if (transfer.writes) {
        static_cast<WriteOp&>(op).bytes = written;
    } else {
        const std::uint64_t end = std::clamp(transfer.end, transfer.offset, transfer.offset + transfer.bytes);
        static_cast<ReadOp&>(op).bytes = error == 0 ? end - transfer.offset : 0;
    }
    if (std::exchange(transfer.queued, false)) transfer.queue->uncut.remove(transfer);
    settle_seen(op, error, now());
    transfers_.give_back(transfer);
    leave(true);
}

}  // namespace streamsim::storage
