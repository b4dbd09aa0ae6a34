// How the thread pool backend works
// =================================
//
// Each operation is one piece of work for libuv's pool: a blocking open, or a loop of reads or of writes. A
// Node describes the work. Nodes are made at start-up and belong to the backend, because the caller may reuse
// an operation as soon as its callback ran, and libuv's uv_work_t lives a little longer. Operations above the
// limit of their line wait in the intake and not in libuv's queue, so that opens that hang leave threads for
// reads.
//
// Stamps. The pool's thread stamps completed_at right after the system call, by the clock of the loop, and puts
// the node on a queue that the loop takes at the beginning of a turn. CompletionPollTimes (operation_intake.h)
// says when that stamp could be late.
//
// Cancelling takes work back that no thread has begun; a call that runs completes as it will.
#include "storage/threads/threads_storage.h"

#include <uv.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/check.h"
#include "storage/backends.h"
#include "storage/clock_now.h"

namespace streamsim::storage {

// A node is free again after the callback of its operation ran: twice as many never run out.
ThreadsStorage::ThreadsStorage(EventLoop& loop, uv_loop_t* uv, const LocalOptions& options)
    : LimitedIntake(loop, options.parallel_reads, options.parallel_opens),
      uv_(uv),
      policy_(options),
      writes_(options.writes_below),
      nodes_(std::size_t{2} * (std::max(options.parallel_reads, 1u) + std::max(options.parallel_opens, 1u))),
      hints_max_(nodes_.size() / 2) {}

ThreadsStorage::~ThreadsStorage() {
    STREAMSIM_CHECK(busy_ == 0, "shutdown() comes before destruction");
}

void ThreadsStorage::hint(FileId file, std::uint64_t offset, std::uint64_t bytes) {
    const OpenFile* const open = files_.find(file);
    // Direct reads bypass the page cache. More hints than reads would only be in the reads' way.
    if (open == nullptr || open->direct || busy_ >= hints_max_) return;
    Node& node = take_node(Work::hint);
    node.file = file;
    node.offset = offset;
    node.bytes = bytes;
    queue(node);
}

void ThreadsStorage::close(FileId file) {
    files_.get(file) = {};
    Node& node = take_node(Work::close);
    node.file = file;
    queue(node);
}

void ThreadsStorage::cancel(Op& op) {
    if (op.backend != nullptr) {
        auto& node = *static_cast<Node*>(op.backend);
        uv_cancel(reinterpret_cast<uv_req_t*>(&node.work));  // after_pool is told whether that succeeded
    } else {
        cancel_waiting(op);
    }
}

StorageCapabilities ThreadsStorage::capabilities() const {
    return {"threads", policy_.direct(), policy_.alignment(), true, true};
}

// In the pool: everything up to the lock touches the node alone.
void ThreadsStorage::in_pool(uv_work_t* work) {
    auto& node = *static_cast<Node*>(work->data);
    ThreadsStorage& storage = *node.storage;
    switch (node.kind) {
        case Work::operation: storage.do_operation(node); break;
        case Work::hint: read_ahead_local(node.file, node.offset, node.bytes); return;
        case Work::close: close_local(node.file); return;
    }
    node.op->completed_at = clock_now();
    const MutexLock lock(storage.mutex_);
    storage.done_.push(node);
}

// On the loop, in the turn's poll, before reap(): libuv is done with the work.
void ThreadsStorage::after_pool(uv_work_t* work, int status) {
    auto& node = *static_cast<Node*>(work->data);
    ThreadsStorage& self = *node.storage;
    --self.busy_;
    self.loop().release();
    if (status == UV_ECANCELED) {
        const bool transfer = is_transfer(*node.op);
        self.settle_now(*node.op, ECANCELED);
        self.leave(transfer);
    } else if (node.op != nullptr) {
        // complete() has not taken the node from the queue of completions yet, and frees it.
        node.storage = nullptr;
        return;
    }
    self.nodes_.give_back(node);
}

void ThreadsStorage::start(Op& op) {
    Node& node = take_node(Work::operation);
    node.op = &op;
    op.backend = &node;
    switch (op.operation) {
        case OpKind::open: start_open(node); break;
        case OpKind::read: start_on_file(node, static_cast<ReadOp&>(op).file); break;
        case OpKind::write: start_on_file(node, static_cast<WriteOp&>(op).file); break;
        case OpKind::sync: start_on_file(node, static_cast<SyncOp&>(op).file); break;
        case OpKind::path: break;
    }
    queue(node);
}

void ThreadsStorage::take_completions() {
    for (LinkedQueue<Node> done = take_done(); !done.empty();) complete(done.pop());
}

LinkedQueue<ThreadsStorage::Node> ThreadsStorage::take_done() {
    const MutexLock lock(mutex_);
    return done_.take();
}

bool ThreadsStorage::close_all() {
    for (FileId file = 0; file < files_.id_end(); ++file) {
        if (files_[file].open) close(file);
    }
    return busy_ == 0;
}

ThreadsStorage::Node& ThreadsStorage::take_node(Work kind) {
    Node& node = nodes_.take();
    node.work.data = &node;
    node.storage = this;
    node.kind = kind;
    node.op = nullptr;
    return node;
}

void ThreadsStorage::queue(Node& node) {
    ++busy_;
    loop().hold();
    const int result = uv_queue_work(uv_, &node.work, in_pool, after_pool);
    STREAMSIM_CHECK(result == 0, "libuv's pool takes work");
}

void ThreadsStorage::start_open(Node& node) {
    const auto& op = static_cast<OpenOp&>(*node.op);
    const auto plan = policy_.plan(op.path);
    node.direct = plan.direct && !op.through_cache;
    node.check = plan.check && node.direct;
}

void ThreadsStorage::start_on_file(Node& node, FileId file) {
    const OpenFile* const open = files_.find(file);
    node.file = file;
    node.direct = open != nullptr && open->direct;
}

void ThreadsStorage::do_operation(Node& node) {
    switch (node.op->operation) {
        case OpKind::open: return do_open(node);
        case OpKind::read: return do_read(node);
        case OpKind::write: return do_write(node);
        case OpKind::sync: node.op->error = sync_local(node.file); return;
        case OpKind::path: return writes_.perform(static_cast<PathOp&>(*node.op));
    }
}

void ThreadsStorage::do_open(Node& node) const {
    auto& op = static_cast<OpenOp&>(*node.op);
    node.planned = open_as_planned(writes_, policy_, op, node.direct, node.check);
    op.error = node.planned.opened.error;
    op.file = node.planned.opened.file;
}

void ThreadsStorage::do_read(Node& node) const {
    auto& op = static_cast<ReadOp&>(*node.op);
    while (op.bytes < op.buffer.size()) {
        const auto rest = op.buffer.subspan(op.bytes);
        const LocalPiece got = read_local(node.file, op.offset + op.bytes, rest);
        op.error = got.error;
        op.bytes += got.bytes;
        if (ends_file(got.bytes, node.direct)) return;
    }
}

void ThreadsStorage::do_write(Node& node) const {
    auto& op = static_cast<WriteOp&>(*node.op);
    while (op.bytes < op.buffer.size() && op.error == 0) {
        const auto rest = op.buffer.subspan(op.bytes);
        const LocalPiece put = write_local(node.file, op.offset + op.bytes, rest);
        const std::size_t kept =
            put.bytes < rest.size() ? written_for_good(put.bytes, node.direct, policy_.alignment()) : put.bytes;
        op.bytes += kept;
        op.error = put.error == 0 && kept == 0 ? EIO : put.error;
    }
}

void ThreadsStorage::note_open(const Node& node, const OpenOp& op) {
    if (op.file < 0) return;  // an objection to direct I/O is not why: the open fails without it as well
    const PlannedOpen& planned = node.planned;
    if (planned.objection != nullptr) {
        policy_.refused(op.path, op.access, planned.objection);
    } else if (planned.checked) {
        policy_.checked(op.path, planned.answer);
    }
    const bool direct = node.direct && planned.objection == nullptr;
    files_.put(op.file) = {true, direct};
    opened(op.file, direct);
}

// Settles a completed operation, and lets the next one in line begin.
void ThreadsStorage::complete(Node& node) {
    Op& op = *std::exchange(node.op, nullptr);
    if (op.operation == OpKind::open) note_open(node, static_cast<OpenOp&>(op));
    settle_stamped(op, op.error, op.completed_at);
    if (node.storage == nullptr) nodes_.give_back(node);  // after_pool came first
    leave(is_transfer(op));
}

namespace {

/// Returns how many of the wanted threads the system can start, with a few to spare: libuv aborts the process
/// when it cannot start the threads of its pool.
std::uint32_t threads_given(std::uint32_t wanted) {
    constexpr std::uint32_t kSpare = 4;
    // Not a std::latch: without futexes, GCC 12 loses wake-ups of threads that wait for one.
    Mutex counting;
    const auto wait = [](void* mutex) { const MutexLock counted(*static_cast<Mutex*>(mutex)); };
    uv_thread_options_t options{};
    options.flags = UV_THREAD_HAS_STACK_SIZE;
    options.stack_size = std::size_t{8} << 20;  // as for the pool's threads
    std::vector<uv_thread_t> threads;
    threads.reserve(wanted + kSpare);
    {
        const MutexLock lock(counting);
        while (threads.size() < wanted + kSpare) {
            uv_thread_t thread{};
            if (uv_thread_create_ex(&thread, &options, wait, &counting) != 0) break;
            threads.push_back(thread);
        }
    }
    for (uv_thread_t& thread : threads) uv_thread_join(&thread);
    const auto given = static_cast<std::uint32_t>(threads.size());
    return given > kSpare ? given - kSpare : 0;
}

}  // namespace

std::uint32_t size_thread_pool(std::uint64_t threads, std::uint64_t better) {
    constexpr std::uint64_t kThreadsMax = 1024;  // libuv's limit
    const char* const name = "UV_THREADPOOL_SIZE";
    static bool sized = false;  // libuv makes its pool once
    const char* const set = std::getenv(name);
    const auto wanted = set != nullptr ? static_cast<std::uint64_t>(std::max(std::strtol(set, nullptr, 10), 1L))
                                       : std::max<std::uint64_t>(threads, 4);
    auto size = static_cast<std::uint32_t>(std::min(wanted, kThreadsMax));
    if (std::exchange(sized, true)) return size;
    const auto best =
        set != nullptr ? size : static_cast<std::uint32_t>(std::min(std::max(better, wanted), kThreadsMax));
    std::uint32_t given = threads_given(best);
    if (given < size && size < best) given = threads_given(size);  // fewer leave some to other processes
    if (given == 0) throw std::system_error(EAGAIN, std::generic_category(), "no thread for a pool");
    size = given == best ? best : std::min(size, given);
    set_environment(name, std::to_string(size));
    return size;
}

Result<std::unique_ptr<Storage>> make_threads_storage(EventLoop& loop,
                                                      uv_loop_t* uv,
                                                      const LocalOptions& options) {
    raise_open_file_limit();
    return std::unique_ptr<Storage>(std::make_unique<ThreadsStorage>(loop, uv, options));
}

}  // namespace streamsim::storage
