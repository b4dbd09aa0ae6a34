// How the io_uring backend works
// ==============================
//
// One ring for one loop. An operation becomes one request or several in a row (a short read or write is
// repeated for the rest; an open may be followed by a statx, or repeated without O_DIRECT), and holds an
// in-flight slot while the kernel has it. Operations above the limit of their line wait (operation_intake.h).
// libuv's pool performs the operations that the ring does not support (uring_names.cc).
//
// Submission. The first entry of a turn is handed over when the second comes, then two together, four, up to
// kBatchMax, and the rest at the end of the turn: the disk has work while the callbacks go on, and many entries
// still cost few system calls. Measured with random reads of 4 KiB, 8 in flight, against all entries at the end
// of the turn: 1.2 times the operations a second. submitted_at is the instant of read() or open(): the short
// wait for the submission is part of the service latency.
//
// Never block the loop. A buffered read or write is a copy in the submitting thread, a sync waits for the disk,
// and an open or a read on a network or FUSE file system may wait for a server; such requests carry IOSQE_ASYNC
// and run in the kernel's workers. There may be as many workers as requests, so that one that hangs delays no
// other. Direct reads and writes on a local disk are queued to it inline, which costs less.
//
// Waiting. The loop's thread waits in the ring, in the system call that submits; a request that polls libuv's
// descriptor ends the wait when the loop has another event. Against an eventfd that libuv polls: two system
// calls a turn instead of four, 0.85 times the CPU of random reads and writes, 1 in flight.
//
// Completion and its stamps. Each turn begins with reap(), which takes the whole batch, stamps it with one
// now(), and only then runs callbacks. A request completed at that stamp or before, but after the previous
// conclusive poll, which did not find it (operation_intake.h). So not_before is always that poll, or the
// submission if that was later. In a loop that runs well the two are close: each deadline has a timer, and each
// turn polls. After a SIGSTOP they lie on both sides of the stop, and a deadline between them is attributed to
// the client.
//
// Cancelling asks the kernel to cancel; a read or write that has reached the disk cannot be stopped, and
// completes.
#include "storage/uring/uring_storage.h"

#include <fmt/format.h>
#include <poll.h>
#include <uv.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "base/system/errno_name.h"
#include "base/units.h"
#include "storage/backends.h"

namespace streamsim::storage {
namespace {

constexpr std::uint32_t kBatchMax = 16;
/// Limit of one read or write; the kernel allows 2 GiB.
constexpr std::size_t kRequestBytesMax = std::size_t{1} << 30;

// The request was interrupted. 512 to 516 are error codes within the kernel, which no system call returns; an
// open that is cancelled in a worker does.
bool is_transient(int error) {
    return error == EAGAIN || error == EINTR || (error >= 512 && error <= 516);
}

}  // namespace

UringStorage::UringStorage(EventLoop& loop,
                           uv_loop_t* uv,
                           const LocalOptions& options,
                           std::unique_ptr<Ring> ring)
    : LimitedIntake(loop, options.parallel_reads, options.parallel_opens),
      uv_(uv),
      ring_(std::move(ring)),
      policy_(options),
      writes_(options.writes_below),
      notice_(options.notice),
      workers_(options.parallel_reads + options.parallel_opens + 8),
      hints_max_(std::max(options.parallel_reads, 1u)),
      slots_(std::size_t{options.parallel_reads} + options.parallel_opens) {
    loop.set_waiter(this);
}

UringStorage::~UringStorage() {
    STREAMSIM_CHECK(closed_, "shutdown() comes before destruction");
}

bool UringStorage::end_turn(bool wait) {
    if (wait && !polls_loop_) {
        polls_loop_ = true;
        io_uring_sqe& sqe = entry();
        io_uring_prep_poll_add(&sqe, uv_backend_fd(uv_), POLLIN);
        io_uring_sqe_set_data(&sqe, this);
    }
    if (wait || ring_->entries_waiting() > 0) ring_->submit(wait);
    batch_max_ = 1;
    if (wait) drain();
    return !polls_loop_;
}

void UringStorage::start(Op& op) {
    UringSlot& slot = slots_.take();
    slot.storage = this;
    slot.work.data = &slot;
    slot.op = &op;
    slot.cancelled = false;
    op.backend = &slot;
    switch (op.operation) {
        case OpKind::open: return start_open(slot);
        case OpKind::read:
        case OpKind::write: slot.step = UringStep::transfer; break;
        case OpKind::sync: slot.step = UringStep::sync; break;
        case OpKind::path: return start_name(slot);
    }
    request(slot);
}

/// Submits the request of the slot's step, for the first time or again.
void UringStorage::request(UringSlot& slot) {
    switch (slot.step) {
        case UringStep::open:
        case UringStep::reopen: return request_open(slot);
        case UringStep::check: return request_check(slot);
        case UringStep::transfer:
            return slot.op->operation == OpKind::read ? request_read(slot) : request_write(slot);
        case UringStep::sync: return request_sync(slot);
        case UringStep::name:
        case UringStep::remove_directory: return request_name(slot);
        case UringStep::pool: return request_of_pool(slot);
    }
}

// Returns an entry for one io_uring_prep function, which clears the whole entry; issue() comes afterwards.
io_uring_sqe& UringStorage::entry() {
    if (!ring_->enabled()) ring_->enable(workers_);
    if (ring_->entries_waiting() >= batch_max_) {
        ring_->submit();
        batch_max_ = std::min(batch_max_ * 2, kBatchMax);
    }
    return ring_->entry();
}

/// `slot`: null when no operation waits for the request. `async`: a worker of the kernel performs it.
void UringStorage::issue(io_uring_sqe& sqe, UringSlot* slot, bool async) {
    if (async) sqe.flags |= IOSQE_ASYNC;
    if (slot == nullptr) ++without_operation_;
    io_uring_sqe_set_data(&sqe, slot);
}

void UringStorage::request_transfer(UringSlot& slot,
                                    FileId id,
                                    std::uint64_t offset,
                                    std::span<std::byte> rest) {
    const UringFile* const open = files_.find(id);
    const UringFile file = open != nullptr ? *open : UringFile{};
    const auto part = rest.first(std::min(rest.size(), kRequestBytesMax));
    const auto bytes = static_cast<unsigned>(part.size());
    const int buffer = ring_->registered(part);
    const bool writes = slot.op->operation == OpKind::write;
    slot.direct = file.direct;
    slot.asked_bytes = part.size();
    io_uring_sqe& sqe = entry();
    if (writes && buffer >= 0) {
        io_uring_prep_write_fixed(&sqe, id, part.data(), bytes, offset, buffer);
    } else if (writes) {
        io_uring_prep_write(&sqe, id, part.data(), bytes, offset);
    } else if (buffer >= 0) {
        io_uring_prep_read_fixed(&sqe, id, part.data(), bytes, offset, buffer);
    } else {
        io_uring_prep_read(&sqe, id, part.data(), bytes, offset);
    }
    issue(sqe, &slot, !file.direct || !file.local);
}

void UringStorage::request_read(UringSlot& slot) {
    const auto& op = static_cast<ReadOp&>(*slot.op);
    request_transfer(slot, op.file, op.offset + op.bytes, op.buffer.subspan(op.bytes));
}

void UringStorage::request_write(UringSlot& slot) {
    const auto& op = static_cast<WriteOp&>(*slot.op);
    // The kernel does not change the bytes.
    const std::span<std::byte> buffer(const_cast<std::byte*>(op.buffer.data()), op.buffer.size());
    request_transfer(slot, op.file, op.offset + op.bytes, buffer.subspan(op.bytes));
}

void UringStorage::request_sync(UringSlot& slot) {
    io_uring_sqe& sqe = entry();
    io_uring_prep_fsync(&sqe, static_cast<SyncOp&>(*slot.op).file, 0);
    issue(sqe, &slot, true);
}

void UringStorage::hint(FileId file, std::uint64_t offset, std::uint64_t bytes) {
    const UringFile* const open = files_.find(file);
    // Direct reads bypass the page cache. More hints than reads would only be in the reads' way.
    if (open == nullptr || open->direct || without_operation_ >= hints_max_) return;
    constexpr std::uint64_t kHintBytesMax = std::uint64_t{1} << 30;
    io_uring_sqe& sqe = entry();
    const auto hinted = static_cast<off_t>(std::min(bytes, kHintBytesMax));
    io_uring_prep_fadvise(&sqe, file, offset, hinted, POSIX_FADV_WILLNEED);
    issue(sqe, nullptr, true);
}

void UringStorage::close(FileId file) {
    const UringFile closed = std::exchange(files_.get(file), {});
    request_close(file, closed.local);
}

void UringStorage::request_close(int file, bool local) {
    io_uring_sqe& sqe = entry();
    io_uring_prep_close(&sqe, file);
    issue(sqe, nullptr, !local);
}

void UringStorage::cancel(Op& op) {
    if (op.backend == nullptr) {
        cancel_waiting(op);
        return;
    }
    auto& slot = *static_cast<UringSlot*>(op.backend);
    if (std::exchange(slot.cancelled, true)) return;
    if (slot.step == UringStep::pool) {
        uv_cancel(reinterpret_cast<uv_req_t*>(&slot.work));  // its callback is told whether that succeeded
        return;
    }
    io_uring_sqe& sqe = entry();
    io_uring_prep_cancel(&sqe, &slot, 0);
    issue(sqe, nullptr, false);
}

StorageCapabilities UringStorage::capabilities() const {
    return {"uring", policy_.direct(), policy_.alignment(), true, true};
}

void UringStorage::use_memory(std::span<std::byte> memory) {
    if (memory.empty()) return;
    const int error = ring_->register_memory(memory);
    if (error == 0 || !notice_) return;
    const std::string bytes = show_bytes(memory.size());
    if (error == ENOMEM || error == EPERM) {
        notice_(fmt::format(
            "the kernel did not let {} of buffers be registered with io_uring: this user may not lock "
            "that much memory (see `ulimit -l`; root may): reads and writes cost more CPU",
            bytes));
    } else {
        notice_(fmt::format(
            "the kernel did not register {} of buffers with io_uring ({}): reads and writes cost more CPU",
            bytes, errno_description(error)));
    }
}

/// Takes the completions out of the ring; take_completions() follows and stamps them.
void UringStorage::drain() {
    ring_->drain([this](void* data, std::int32_t result) {
        if (data == nullptr) {
            --without_operation_;
            return;
        }
        if (data == this) {
            polls_loop_ = false;
            return;
        }
        auto& slot = *static_cast<UringSlot*>(data);
        slot.result = result;
        batch_.push(slot);
    });
}

void UringStorage::take_completions() {
    drain();
    if (batch_.empty()) return;
    const Instant seen = now();
    for (LinkedQueue<UringSlot> batch = batch_.take(); !batch.empty();) {
        UringSlot& slot = batch.pop();
        if (advance(slot)) complete(slot, seen);
    }
}

// True when the operation is complete; otherwise its next request is on the way.
bool UringStorage::advance(UringSlot& slot) {
    if (slot.step == UringStep::pool)
        return slot.op->operation == OpKind::open ? advance_pool_open(slot) : true;
    if (is_transient(-slot.result)) {
        if (slot.cancelled) {
            slot.result = -ECANCELED;
        } else if (slot.step != UringStep::check) {
            return request(slot), false;
        }
    }
    if (slot.result < 0 && is_transfer(*slot.op)) {
        slot.op->error = -slot.result;
        return true;
    }
    switch (slot.op->operation) {
        case OpKind::open: return advance_open(slot);
        case OpKind::read: return advance_read(slot);
        case OpKind::write: return advance_write(slot);
        case OpKind::sync: slot.op->error = std::max(-slot.result, 0); return true;
        case OpKind::path: return advance_name(slot);
    }
    return true;
}

bool UringStorage::advance_read(UringSlot& slot) {
    auto& op = static_cast<ReadOp&>(*slot.op);
    const auto got = static_cast<std::size_t>(slot.result);
    op.bytes += got;
    if (got == 0 || op.bytes == op.buffer.size()) return true;
    // A direct read that stops between two blocks has met the end of the file, and could not go on there.
    if (slot.direct && got % policy_.alignment() != 0) return true;
    if (slot.cancelled) {
        op.error = ECANCELED;
        return true;
    }
    request_read(slot);
    return false;
}

bool UringStorage::advance_write(UringSlot& slot) {
    auto& op = static_cast<WriteOp&>(*slot.op);
    auto put = static_cast<std::size_t>(slot.result);
    if (put < slot.asked_bytes) put = written_for_good(put, slot.direct, policy_.alignment());
    op.bytes += put;
    if (op.bytes == op.buffer.size()) return true;
    if (put == 0 || slot.cancelled) {
        op.error = put == 0 ? EIO : ECANCELED;
        return true;
    }
    request_write(slot);
    return false;
}

// Settles a completed operation and lets the next one in line have its slot.
void UringStorage::complete(UringSlot& slot, Instant seen) {
    Op& op = *slot.op;
    if (slot.step == UringStep::pool) {
        settle_stamped(op, op.error, op.completed_at);
    } else {
        settle_seen(op, op.error, seen);
    }
    slots_.give_back(slot);
    leave(is_transfer(op));
}

bool UringStorage::close_all() {
    for (FileId file = 0; file < files_.id_end(); ++file) {
        if (files_[file].open) close(file);
    }
    if (without_operation_ > 0) return false;
    loop().set_waiter(nullptr);
    closed_ = true;
    return true;
}

Result<std::unique_ptr<Storage>> make_uring_storage(EventLoop& loop,
                                                    uv_loop_t* uv,
                                                    const LocalOptions& options) {
    raise_open_file_limit();
    auto ring = Ring::make(options.parallel_reads + options.parallel_opens);
    if (!ring) return ring.error();
    return std::unique_ptr<Storage>(std::make_unique<UringStorage>(loop, uv, options, std::move(*ring)));
}

bool uring_is_available() {
    return Ring::make(1).has_value();
}

}  // namespace streamsim::storage
