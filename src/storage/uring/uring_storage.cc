// How the io_uring backend works
// ==============================
//
// One ring for one loop. An operation becomes one request or several in a row (a short read or write is
// repeated for the rest; an open may be followed by a statx, or repeated without O_DIRECT), and holds a node
// while it is in the kernel. There are two lines, with nodes of their own, for what moves data (reads, writes)
// and for everything else (opens, syncs, what is done by name): a directory that hangs must not hold up files
// that are open already. What is over the number of nodes waits in its line. What the ring cannot do is libuv's
// pool's (uring_names.cc).
//
// Submission. Entries are handed over together at the end of the turn, one system call for all of them, or as
// soon as kBatch are waiting, so that the disk has work while a long batch of callbacks goes on. submitted_at
// is stamped when the operation arrives here: that little wait is part of the service latency.
//
// Never block the loop. A buffered read or write is a copy in the submitting thread, a sync waits for the disk,
// and an open or a read on a network or FUSE file system may wait for a server; such requests carry IOSQE_ASYNC
// and run in the kernel's workers, of which there may be as many as requests: one that hangs blocks itself
// alone. Direct reads and writes on a local disk are queued to it inline, which costs less.
//
// Completion and its stamps. The kernel signals an eventfd, which libuv polls; that wakes the loop, whose turn
// begins with reap(). It takes the whole batch, stamps it with one now(), and runs callbacks only then. The
// time a request really completed is not known: it is at most that stamp, and later than the last time we
// looked and it was not there, which is read before that look. So not_before is always the previous look that
// proves something (looks.h), or the submission if that was later. In a loop that runs well nobody can tell the
// two apart: each deadline has a timer, whose turn looks at the queue. After a SIGSTOP they lie on both sides
// of the stop, and a deadline between them is the client's.
//
// Cancelling asks the kernel to; a read or write that has reached the disk cannot be stopped and completes
// as it will.
#include "storage/uring/uring_storage.h"

#include <fmt/format.h>
#include <uv.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "base/system/errno_name.h"
#include "base/units.h"
#include "storage/uring/uring_work.h"

namespace streamsim::storage {
namespace {

constexpr std::uint32_t kBatch = 16;
constexpr std::size_t kRequestBytes = std::size_t{1} << 30;  // of one read request; the kernel's limit is 2 GiB

// The kernel was interrupted before it had an answer. 512 to 516 are its own words for that, which a system
// call would never let out; an open that is cancelled in a worker does.
bool is_transient(int error) {
    return error == EAGAIN || error == EINTR || (error >= 512 && error <= 516);
}

}  // namespace

UringStorage::UringStorage(EventLoop& loop, const LocalOptions& options, std::unique_ptr<Ring> ring)
    : loop_(loop),
      ring_(std::move(ring)),
      policy_(options),
      writes_(options.writes_below),
      notice_(options.notice),
      workers_(options.parallel_reads + options.parallel_opens + 8),
      transfers_(*this, options.parallel_reads),
      others_(*this, options.parallel_opens),
      poll_times_(loop) {}

UringStorage::~UringStorage() {
    STREAMSIM_CHECK(poll_ == nullptr, "shutdown() comes before destruction");
}

Result<void> UringStorage::watch(uv_loop_t* uv) {
    uv_ = uv;
    poll_ = new uv_poll_t{};
    if (const int result = uv_poll_init(uv, poll_, ring_->eventfd()); result != 0) {
        delete poll_;
        poll_ = nullptr;
        return environment_error(fmt::format("the loop cannot poll an eventfd: {}", uv_strerror(result)));
    }
    poll_->data = this;
    // It only wakes the loop: the turn that follows calls reap().
    uv_poll_start(poll_, UV_READABLE, [](uv_poll_t* poll, int, int) {
        static_cast<UringStorage*>(poll->data)->ring_->clear_eventfd();
    });
    uv_unref(reinterpret_cast<uv_handle_t*>(poll_));
    loop_.add_reaper(this);
    return {};
}

void UringStorage::accept(Op& op, OpKind kind) {
    STREAMSIM_CHECK(!shutdown_, "no operation comes after shutdown()");
    op.operation = kind;
    op.error = 0;
    op.submitted_at = loop_.now();
    op.backend = nullptr;
    ++outstanding_;
    loop_.hold();
    UringLine& line = line_of(op);
    if (UringNode* node = line.take(op)) {
        start(*node);
    } else {
        line.waiting.push(op);
    }
}

void UringStorage::open(OpenOp& op) {
    op.file = kNoFile;
    accept(op, OpKind::open);
}

void UringStorage::read(ReadOp& op) {
    op.bytes = 0;
    accept(op, OpKind::read);
}

void UringStorage::write(WriteOp& op) {
    op.bytes = 0;
    accept(op, OpKind::write);
}

void UringStorage::sync(SyncOp& op) {
    accept(op, OpKind::sync);
}

void UringStorage::perform(PathOp& op) {
    op.bytes = 0;
    op.entries = 0;
    accept(op, OpKind::path);
}

void UringStorage::start(UringNode& node) {
    switch (node.op->operation) {
        case OpKind::open: return start_open(node);
        case OpKind::read:
        case OpKind::write: node.step = UringStep::transfer; break;
        case OpKind::sync: node.step = UringStep::sync; break;
        case OpKind::path: return start_name(node);
    }
    request(node);
}

/// What the node's step asks of the kernel, for the first time or again.
void UringStorage::request(UringNode& node) {
    switch (node.step) {
        case UringStep::open:
        case UringStep::reopen: return request_open(node);
        case UringStep::check: return request_check(node);
        case UringStep::transfer:
            return node.op->operation == OpKind::read ? request_read(node) : request_write(node);
        case UringStep::sync: return request_sync(node);
        case UringStep::name:
        case UringStep::remove_directory: return request_name(node);
        case UringStep::pool: return request_of_pool(node);
    }
}

// An entry for one io_uring_prep function, which clears all of it: flags and data (the node, or null) come
// afterwards.
io_uring_sqe& UringStorage::entry() {
    if (!ring_->enabled()) ring_->enable(workers_);
    if (ring_->entries_waiting() >= kBatch) ring_->submit();
    if (!flush_set_) {
        flush_set_ = true;
        loop_.defer(Callback::of<&UringStorage::flush>(this));
    }
    return ring_->entry();
}

void UringStorage::flush() {
    flush_set_ = false;
    if (ring_->submit()) return;
    flush_set_ = true;
    loop_.defer(Callback::of<&UringStorage::flush>(this));
}

UringFile UringStorage::file_of(FileId file) const {
    const auto index = static_cast<std::size_t>(file);
    return index < files_.size() ? files_[index] : UringFile{};
}

void UringStorage::request_read(UringNode& node) {
    auto& op = static_cast<ReadOp&>(*node.op);
    const UringFile file = file_of(op.file);
    const auto rest = op.buffer.subspan(op.bytes);
    const auto part = rest.first(std::min(rest.size(), kRequestBytes));
    node.direct = file.direct;
    io_uring_sqe& sqe = entry();
    const auto bytes = static_cast<unsigned>(part.size());
    const int buffer = ring_->registered(part);
    if (buffer >= 0) {
        io_uring_prep_read_fixed(&sqe, op.file, part.data(), bytes, op.offset + op.bytes, buffer);
    } else {
        io_uring_prep_read(&sqe, op.file, part.data(), bytes, op.offset + op.bytes);
    }
    if (!file.direct || !file.local) sqe.flags |= IOSQE_ASYNC;
    io_uring_sqe_set_data(&sqe, &node);
}

void UringStorage::request_write(UringNode& node) {
    auto& op = static_cast<WriteOp&>(*node.op);
    const UringFile file = file_of(op.file);
    const auto rest = op.buffer.subspan(op.bytes);
    const auto part = rest.first(std::min(rest.size(), kRequestBytes));
    node.direct = file.direct;
    node.asked_bytes = part.size();
    io_uring_sqe& sqe = entry();
    const auto bytes = static_cast<unsigned>(part.size());
    const int buffer = ring_->registered(part);
    if (buffer >= 0) {
        io_uring_prep_write_fixed(&sqe, op.file, part.data(), bytes, op.offset + op.bytes, buffer);
    } else {
        io_uring_prep_write(&sqe, op.file, part.data(), bytes, op.offset + op.bytes);
    }
    if (!file.direct || !file.local) sqe.flags |= IOSQE_ASYNC;
    io_uring_sqe_set_data(&sqe, &node);
}

void UringStorage::request_sync(UringNode& node) {
    io_uring_sqe& sqe = entry();
    io_uring_prep_fsync(&sqe, static_cast<SyncOp&>(*node.op).file, 0);
    sqe.flags |= IOSQE_ASYNC;
    io_uring_sqe_set_data(&sqe, &node);
}

void UringStorage::hint(FileId file, std::uint64_t offset, std::uint64_t bytes) {
    const auto index = static_cast<std::size_t>(file);
    // Direct reads do not look into the page cache. More hints than reads would only be in their way.
    if (index >= files_.size() || !files_[index].open || files_[index].direct) return;
    if (nameless_ >= transfers_.nodes.size()) return;
    constexpr std::uint64_t kMost = std::uint64_t{1} << 30;
    io_uring_sqe& sqe = entry();
    io_uring_prep_fadvise(&sqe, file, offset, static_cast<off_t>(std::min(bytes, kMost)), POSIX_FADV_WILLNEED);
    sqe.flags |= IOSQE_ASYNC;
    io_uring_sqe_set_data(&sqe, nullptr);
    ++nameless_;
}

void UringStorage::close(FileId file) {
    const auto index = static_cast<std::size_t>(file);
    STREAMSIM_CHECK(index < files_.size() && files_[index].open, "a file that is closed was open");
    request_close(file);
    files_[index] = {};
}

void UringStorage::request_close(int file) {
    const auto index = static_cast<std::size_t>(file);
    const bool local = index < files_.size() && files_[index].local;
    io_uring_sqe& sqe = entry();
    io_uring_prep_close(&sqe, file);
    if (!local) sqe.flags |= IOSQE_ASYNC;
    io_uring_sqe_set_data(&sqe, nullptr);
    ++nameless_;
}

void UringStorage::cancel(Op& op) {
    if (op.backend == nullptr) {
        if (!line_of(op).waiting.remove(op)) return;  // its callback is on the way
        op.error = ECANCELED;
        op.completed_at = op.not_before = loop_.now();
        if (cancelled_.empty()) loop_.defer(Callback::of<&UringStorage::deliver_cancelled>(this));
        cancelled_.push(op);
        return;
    }
    auto& node = *static_cast<UringNode*>(op.backend);
    if (node.cancelled) return;
    node.cancelled = true;
    if (node.step == UringStep::pool) {
        uv_cancel(reinterpret_cast<uv_req_t*>(&node.work));  // what it calls afterwards says if it did
        return;
    }
    io_uring_sqe& sqe = entry();
    io_uring_prep_cancel(&sqe, &node, 0);
    io_uring_sqe_set_data(&sqe, nullptr);
    ++nameless_;
}

void UringStorage::deliver_cancelled() {
    deliver(cancelled_.take());
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

void UringStorage::reap() {
    const Instant look = loop_.now();
    ring_->drain([this](void* data, std::int32_t result) { take(data, result); });
    OpList done;
    if (batch_ != nullptr) {
        const Instant seen = loop_.now();
        UringNode* node = batch_;
        batch_ = nullptr;
        batch_end_ = &batch_;
        while (node != nullptr) {
            UringNode* const next = node->next;
            Op* const op = node->op;
            if (advance(*node)) {
                settle(*node, seen);
                done.push(*op);
            }
            node = next;
        }
    }
    poll_times_.looked(look);
    deliver(done);
    if (shutdown_) advance_shutdown();
}

void UringStorage::take(void* data, std::int32_t result) {
    if (data == nullptr) {  // close, hint, cancel
        --nameless_;
        return;
    }
    auto& node = *static_cast<UringNode*>(data);
    node.result = result;
    add_to_batch(node);
}

void UringStorage::add_to_batch(UringNode& node) {
    node.next = nullptr;
    *batch_end_ = &node;
    batch_end_ = &node.next;
}

// True when the operation is complete; otherwise its next request is on the way.
bool UringStorage::advance(UringNode& node) {
    if (node.step == UringStep::pool)
        return node.op->operation == OpKind::open ? advance_pool_open(node) : true;
    if (is_transient(-node.result)) {
        if (node.cancelled) {
            node.result = -ECANCELED;
        } else if (node.step != UringStep::check) {
            return request(node), false;
        }
    }
    switch (node.op->operation) {
        case OpKind::open: return advance_open(node);
        case OpKind::read: return advance_read(node);
        case OpKind::write: return advance_write(node);
        case OpKind::sync: node.op->error = std::max(-node.result, 0); return true;
        case OpKind::path: return advance_name(node);
    }
    return true;
}

bool UringStorage::advance_read(UringNode& node) {
    auto& op = static_cast<ReadOp&>(*node.op);
    if (node.result < 0) {
        op.error = -node.result;
        return true;
    }
    const auto got = static_cast<std::size_t>(node.result);
    op.bytes += got;
    if (got == 0 || op.bytes == op.buffer.size()) return true;
    // A direct read that stops between two blocks has met the end of the file, and could not go on there.
    if (node.direct && got % policy_.alignment() != 0) return true;
    if (node.cancelled) {
        op.error = ECANCELED;
        return true;
    }
    request_read(node);
    return false;
}

bool UringStorage::advance_write(UringNode& node) {
    auto& op = static_cast<WriteOp&>(*node.op);
    if (node.result < 0) {
        op.error = -node.result;
        return true;
    }
    auto put = static_cast<std::size_t>(node.result);
    if (put < node.asked_bytes) put = written_for_good(put, node.direct, policy_.alignment());
    op.bytes += put;
    if (op.bytes == op.buffer.size()) return true;
    if (put == 0 || node.cancelled) {
        op.error = put == 0 ? EIO : ECANCELED;
        return true;
    }
    request_write(node);
    return false;
}

// Stamps a complete operation and lets the next one in line have its node.
void UringStorage::settle(UringNode& node, Instant seen) {
    Op& op = *node.op;
    if (node.step == UringStep::pool) {
        op.not_before = poll_times_.not_before(op.submitted_at, op.completed_at);
    } else {
        op.completed_at = seen;
        op.not_before = std::max(op.submitted_at, poll_times_.last());
    }
    op.backend = nullptr;
    UringLine& line = line_of(op);
    line.give_back(node);
    if (!line.waiting.empty()) start(*line.take(line.waiting.pop()));
}

void UringStorage::deliver(OpList ops) {
    while (!ops.empty()) {
        Op& op = ops.pop();
        --outstanding_;
        loop_.release();
        op.done();  // the operation may be gone or submitted again afterwards
    }
}

void UringStorage::shutdown(Callback done) {
    shutdown_ = done;
    loop_.hold();
    loop_.defer(Callback::of<&UringStorage::advance_shutdown>(this));
}

void UringStorage::advance_shutdown() {
    if (outstanding_ > 0 || poll_ == nullptr || uv_is_closing(reinterpret_cast<uv_handle_t*>(poll_)) != 0)
        return;
    for (std::size_t i = 0; i < files_.size(); ++i) {
        if (files_[i].open) close(static_cast<FileId>(i));
    }
    if (nameless_ == 0) stop_watching();
}

void UringStorage::stop_watching() {
    uv_close(reinterpret_cast<uv_handle_t*>(poll_), [](uv_handle_t* handle) {
        auto* self = static_cast<UringStorage*>(handle->data);
        delete reinterpret_cast<uv_poll_t*>(handle);
        self->poll_ = nullptr;
        self->loop_.remove_reaper(self);
        self->loop_.release();
        self->shutdown_();  // may destroy us
    });
}

Result<std::unique_ptr<Storage>> make_uring_storage(EventLoop& loop,
                                                    uv_loop_t* uv,
                                                    const LocalOptions& options) {
    raise_open_file_limit();
    auto ring = Ring::make(options.parallel_reads + options.parallel_opens);
    if (!ring) return ring.error();
    auto storage = std::make_unique<UringStorage>(loop, options, std::move(*ring));
    if (auto watched = storage->watch(uv); !watched) return watched.error();
    return std::unique_ptr<Storage>(std::move(storage));
}

}  // namespace streamsim::storage
