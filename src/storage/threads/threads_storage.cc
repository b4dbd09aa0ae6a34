// How the thread pool backend works
// =================================
//
// Each operation is one piece of work for libuv's pool: a blocking open, or a loop of reads or of writes. Work
// is described by a Node, made at start-up, because the caller may reuse an operation as soon as its callback
// ran, and libuv's uv_work_t lives a little longer. There are two lines, for what moves data (reads, writes)
// and for everything else (opens, syncs, what is done by name): what is over its limit waits here and not in
// libuv's queue, so that opens that hang leave threads for reads.
//
// Stamps. The pool's thread stamps completed_at right after the system call, by the clock of the loop
// (uv_hrtime is CLOCK_MONOTONIC), and puts the node on a list that reap() takes at the beginning of a turn. The
// stamp itself can only be late when the thread could not run: the process was stopped, or the machine was too
// busy. Then the loop could not run either and has noted a stall, so: where the loop notes a stall between its
// previous look at the list that proves something (looks.h) and the stamp, not_before is that look; otherwise
// the stamp is the truth and the two are equal.
//
// Cancelling takes work back that no thread has begun; a call that runs completes as it will.
#include "storage/threads/threads_storage.h"

#include <uv.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/check.h"
#include "storage/completion_poll_times.h"
#include "storage/local/local_file.h"
#include "storage/local/local_writes.h"
#include "storage/op_list.h"

namespace streamsim::storage {
namespace {

class ThreadsStorage;

enum class Work : std::uint8_t { operation, hint, close };

struct Node {
    uv_work_t work{};
    ThreadsStorage* storage = nullptr;
    Node* next = nullptr;  // free or done
    Work kind = Work::operation;
    Op* op = nullptr;
    int file = kNoFile;
    bool direct = false;
    bool check = false;
    std::uint64_t offset = 0;  // hint
    std::uint64_t bytes = 0;   // hint
    // What the pool's thread found out.
    const char* objection = nullptr;  // to direct I/O
    bool checked = false;
    DirectAnswer answer;
};

struct Limit {
    std::uint32_t most;
    std::uint32_t now = 0;
    OpList waiting;
};

class ThreadsStorage final : public Storage, public Reaper {
public:
    ThreadsStorage(EventLoop& loop, uv_loop_t* uv, const LocalOptions& options);
    ~ThreadsStorage() override;

    void open(OpenOp& op) override;
    void read(ReadOp& op) override;
    void write(WriteOp& op) override;
    void sync(SyncOp& op) override;
    void perform(PathOp& op) override;
    void hint(FileId file, std::uint64_t offset, std::uint64_t bytes) override;
    void close(FileId file) override;
    void cancel(Op& op) override;
    StorageCapabilities capabilities() const override {
        return {"threads", policy_.direct(), policy_.alignment(), true, true};
    }
    void use_memory(std::span<std::byte>) override {}
    void shutdown(Callback done) override;
    void reap() override;

private:
    struct OpenFile {
        bool open = false;
        bool direct = false;
    };

    static void in_pool(uv_work_t* work);
    static void after_pool(uv_work_t* work, int status);

    Limit& limit_of(const Op& op) {
        return op.operation == OpKind::read || op.operation == OpKind::write ? transfers_ : others_;
    }
    void accept(Op& op, OpKind kind);
    Node& take_node(Work kind);
    void queue(Node& node);
    void start(Op& op);
    void start_open(Node& node);
    void start_on_file(Node& node, FileId file);
    void start_close(int file);
    void do_operation(Node& node);
    void do_open(Node& node);
    void do_read(Node& node) const;
    void do_write(Node& node) const;
    void note_open(Node& node);
    void settle(Node& node);
    void leave(Limit& limit);
    void deliver(OpList ops);
    void deliver_cancelled();
    void advance_shutdown();

    EventLoop& loop_;
    uv_loop_t* const uv_;
    DirectPolicy policy_;
    const LocalWrites writes_;
    Limit transfers_;
    Limit others_;
    std::vector<OpenFile> files_;  // by file descriptor, which is the FileId
    std::deque<Node> nodes_;       // grows when closes and hints pile up
    Node* free_ = nullptr;
    std::size_t busy_ = 0;         // nodes that libuv has
    std::size_t outstanding_ = 0;  // operations whose callback has not run
    CompletionPollTimes poll_times_;
    OpList cancelled_;
    Callback shutdown_;
    bool shutting_ = false;
    std::mutex mutex_;
    Node* done_ = nullptr;  // protected by mutex_, as is the next line; linked by next
    Node** done_end_ = &done_;
};

ThreadsStorage::ThreadsStorage(EventLoop& loop, uv_loop_t* uv, const LocalOptions& options)
    : loop_(loop),
      uv_(uv),
      policy_(options),
      writes_(options.writes_below),
      transfers_{std::max(options.parallel_reads, 1u), 0, {}},
      others_{std::max(options.parallel_opens, 1u), 0, {}},
      poll_times_(loop) {
    // A node is free again after the callback of its operation ran: twice as many never run out.
    nodes_.resize(std::size_t{2} * (transfers_.most + others_.most));
    for (Node& node : nodes_) {
        node.next = free_;
        free_ = &node;
    }
    loop_.add_reaper(this);
}

ThreadsStorage::~ThreadsStorage() {
    STREAMSIM_CHECK(busy_ == 0 && outstanding_ == 0, "shutdown() comes before destruction");
    loop_.remove_reaper(this);
}

void ThreadsStorage::accept(Op& op, OpKind kind) {
    STREAMSIM_CHECK(!shutting_, "no operation comes after shutdown()");
    op.operation = kind;
    op.error = 0;
    op.submitted_at = loop_.now();
    op.backend = nullptr;
    ++outstanding_;
    loop_.hold();
    Limit& limit = limit_of(op);
    if (limit.now < limit.most) {
        start(op);
    } else {
        limit.waiting.push(op);
    }
}

void ThreadsStorage::open(OpenOp& op) {
    op.file = kNoFile;
    accept(op, OpKind::open);
}

void ThreadsStorage::read(ReadOp& op) {
    op.bytes = 0;
    accept(op, OpKind::read);
}

void ThreadsStorage::write(WriteOp& op) {
    op.bytes = 0;
    accept(op, OpKind::write);
}

void ThreadsStorage::sync(SyncOp& op) {
    accept(op, OpKind::sync);
}

void ThreadsStorage::perform(PathOp& op) {
    accept(op, OpKind::path);
}

Node& ThreadsStorage::take_node(Work kind) {
    if (free_ == nullptr) free_ = &nodes_.emplace_back();
    Node& node = *free_;
    free_ = node.next;
    node.next = nullptr;
    node.work.data = &node;
    node.storage = this;
    node.kind = kind;
    node.op = nullptr;
    node.objection = nullptr;
    node.checked = false;
    return node;
}

void ThreadsStorage::queue(Node& node) {
    ++busy_;
    loop_.hold();
    const int result = uv_queue_work(uv_, &node.work, in_pool, after_pool);
    STREAMSIM_CHECK(result == 0, "libuv's pool takes work");
}

void ThreadsStorage::start(Op& op) {
    ++limit_of(op).now;
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

void ThreadsStorage::start_open(Node& node) {
    const auto& op = static_cast<OpenOp&>(*node.op);
    const auto plan = policy_.plan(op.path);
    node.direct = plan.direct && !op.through_cache;
    node.check = plan.check && node.direct;
}

void ThreadsStorage::start_on_file(Node& node, FileId file) {
    const auto index = static_cast<std::size_t>(file);
    node.file = file;
    node.direct = index < files_.size() && files_[index].direct;
}

void ThreadsStorage::hint(FileId file, std::uint64_t offset, std::uint64_t bytes) {
    const auto index = static_cast<std::size_t>(file);
    // Direct reads do not look into the page cache. More hints than reads would only be in their way.
    if (index >= files_.size() || !files_[index].open || files_[index].direct) return;
    if (busy_ >= nodes_.size() / 2) return;
    Node& node = take_node(Work::hint);
    node.file = file;
    node.offset = offset;
    node.bytes = bytes;
    queue(node);
}

void ThreadsStorage::close(FileId file) {
    const auto index = static_cast<std::size_t>(file);
    STREAMSIM_CHECK(index < files_.size() && files_[index].open, "a file that is closed was open");
    files_[index] = {};
    start_close(file);
}

void ThreadsStorage::start_close(int file) {
    Node& node = take_node(Work::close);
    node.file = file;
    queue(node);
}

void ThreadsStorage::cancel(Op& op) {
    if (op.backend != nullptr) {
        uv_cancel(
            reinterpret_cast<uv_req_t*>(&static_cast<Node*>(op.backend)->work));  // after_pool says if it did
        return;
    }
    if (!limit_of(op).waiting.remove(op)) return;  // its callback is on the way
    op.error = ECANCELED;
    op.completed_at = op.not_before = loop_.now();
    if (cancelled_.empty()) loop_.defer(Callback::of<&ThreadsStorage::deliver_cancelled>(this));
    cancelled_.push(op);
}

void ThreadsStorage::deliver_cancelled() {
    deliver(cancelled_.take());
}

// In the pool: everything up to the lock is the node's own.
void ThreadsStorage::in_pool(uv_work_t* work) {
    auto& node = *static_cast<Node*>(work->data);
    ThreadsStorage& storage = *node.storage;
    switch (node.kind) {
        case Work::operation: storage.do_operation(node); break;
        case Work::hint: read_ahead_local(node.file, node.offset, node.bytes); return;
        case Work::close: close_local(node.file); return;
    }
    node.op->completed_at = {static_cast<std::int64_t>(uv_hrtime())};
    const std::lock_guard lock(storage.mutex_);
    *storage.done_end_ = &node;
    storage.done_end_ = &node.next;
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

void ThreadsStorage::do_open(Node& node) {
    auto& op = static_cast<OpenOp&>(*node.op);
    const PlannedOpen planned = open_as_planned(writes_, policy_, op, node.direct, node.check);
    node.objection = planned.objection;
    node.checked = planned.checked;
    node.answer = planned.answer;
    op.error = planned.opened.error;
    op.file = planned.opened.file;
}

void ThreadsStorage::do_read(Node& node) const {
    auto& op = static_cast<ReadOp&>(*node.op);
    while (op.bytes < op.buffer.size()) {
        const auto rest = op.buffer.subspan(op.bytes);
        const LocalPiece got = read_local(node.file, op.offset + op.bytes, rest);
        op.error = got.error;
        if (got.bytes == 0) return;
        op.bytes += got.bytes;
        // A direct read that stops between two blocks has met the end of the file, and could not go on there.
        if (node.direct && got.bytes % policy_.alignment() != 0) return;
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

// On the loop, in the turn's poll, before reap(): libuv is done with the work.
void ThreadsStorage::after_pool(uv_work_t* work, int status) {
    auto& node = *static_cast<Node*>(work->data);
    ThreadsStorage& self = *node.storage;
    --self.busy_;
    self.loop_.release();
    if (status == UV_ECANCELED) {
        Op& op = *node.op;
        op.error = ECANCELED;
        op.completed_at = op.not_before = self.loop_.now();
        op.backend = nullptr;
        if (self.cancelled_.empty()) self.loop_.defer(Callback::of<&ThreadsStorage::deliver_cancelled>(&self));
        self.cancelled_.push(op);
        self.leave(self.limit_of(op));
    }
    if (status == 0 && node.kind == Work::operation) {
        // On the list of completions, or taken from it in an earlier turn already; the second to come frees it.
        if (node.op != nullptr) {
            node.storage = nullptr;
            return;
        }
    }
    node.next = self.free_;
    self.free_ = &node;
    if (self.shutting_) self.advance_shutdown();
}

void ThreadsStorage::reap() {
    const Instant look = loop_.now();
    Node* node = nullptr;
    {
        const std::lock_guard lock(mutex_);
        node = done_;
        done_ = nullptr;
        done_end_ = &done_;
    }
    OpList done;
    while (node != nullptr) {
        Node* const next = node->next;
        done.push(*node->op);
        settle(*node);
        node = next;
    }
    poll_times_.looked(look);
    deliver(done);
    if (shutting_) advance_shutdown();
}

// Accounts for a completion, and lets the next operation in line begin.
void ThreadsStorage::settle(Node& node) {
    Op& op = *node.op;
    op.not_before = poll_times_.not_before(op.submitted_at, op.completed_at);
    if (op.operation == OpKind::open) note_open(node);
    op.backend = nullptr;
    node.op = nullptr;
    if (node.storage == nullptr) {  // after_pool was here before us
        node.next = free_;
        free_ = &node;
    }
    leave(limit_of(op));
}

void ThreadsStorage::note_open(Node& node) {
    auto& op = static_cast<OpenOp&>(*node.op);
    if (op.file < 0) return;  // whatever the objection was: it fails without direct I/O as well
    if (node.objection != nullptr) {
        policy_.refused(op.path, op.access, node.objection);
        node.direct = false;
    } else if (node.checked) {
        policy_.checked(op.path, node.answer);
    }
    const auto index = static_cast<std::size_t>(op.file);
    if (index >= files_.size()) files_.resize(index + 16);
    files_[index] = {true, node.direct};
}

/// One operation of those is over, and the next in line begins.
void ThreadsStorage::leave(Limit& limit) {
    --limit.now;
    if (!limit.waiting.empty()) start(limit.waiting.pop());
}

void ThreadsStorage::deliver(OpList ops) {
    while (!ops.empty()) {
        Op& op = ops.pop();
        --outstanding_;
        loop_.release();
        op.done();  // the operation may be gone or submitted again afterwards
    }
}

void ThreadsStorage::shutdown(Callback done) {
    shutdown_ = done;
    shutting_ = true;
    loop_.hold();
    loop_.defer(Callback::of<&ThreadsStorage::advance_shutdown>(this));
}

void ThreadsStorage::advance_shutdown() {
    if (!shutdown_ || outstanding_ > 0) return;
    for (std::size_t i = 0; i < files_.size(); ++i) {
        if (!files_[i].open) continue;
        files_[i] = {};
        start_close(static_cast<int>(i));
    }
    if (busy_ > 0) return;
    loop_.release();
    loop_.defer(std::exchange(shutdown_, {}));  // from outside reap(): it may destroy us
}

}  // namespace

namespace {

/// How many of so many threads the system gives, with some to spare: libuv ends the process by a signal where
/// it does not get those of its pool.
std::uint32_t threads_given(std::uint32_t wanted) {
    constexpr std::uint32_t kSpare = 4;
    struct Gate {
        std::mutex mutex;
        std::condition_variable opened;
        bool open = false;
    } gate;
    const auto wait = [](void* at) {
        auto& waited = *static_cast<Gate*>(at);
        std::unique_lock lock(waited.mutex);
        waited.opened.wait(lock, [&waited] { return waited.open; });
    };
    uv_thread_options_t options{};
    options.flags = UV_THREAD_HAS_STACK_SIZE;
    options.stack_size = std::size_t{8} << 20;  // that of the pool's
    std::vector<uv_thread_t> threads;
    threads.reserve(wanted + kSpare);
    while (threads.size() < wanted + kSpare) {
        uv_thread_t thread{};
        if (uv_thread_create_ex(&thread, &options, wait, &gate) != 0) break;
        threads.push_back(thread);
    }
    {
        const std::lock_guard lock(gate.mutex);
        gate.open = true;
    }
    gate.opened.notify_all();
    for (uv_thread_t& thread : threads) uv_thread_join(&thread);
    const auto given = static_cast<std::uint32_t>(threads.size());
    return given > kSpare ? given - kSpare : 0;
}

}  // namespace

std::uint32_t size_thread_pool(std::uint64_t threads) {
    constexpr std::uint64_t kMost = 1024;  // libuv's
    const char* const name = "UV_THREADPOOL_SIZE";
    static bool known = false;  // libuv makes its pool once
    const char* const set = std::getenv(name);
    const auto wanted = set != nullptr ? static_cast<std::uint64_t>(std::max(std::strtol(set, nullptr, 10), 1L))
                                       : std::max<std::uint64_t>(threads, 4);
    auto size = static_cast<std::uint32_t>(std::min(wanted, kMost));
    if (std::exchange(known, true)) return size;
    const std::uint32_t given = threads_given(size);
    if (given == 0) throw std::system_error(EAGAIN, std::generic_category(), "no thread for a pool");
    size = std::min(size, given);
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
