// How the thread pool backend works
// =================================
//
// Each operation is one piece of work for libuv's pool: a blocking open, or a loop of reads. Work is described
// by a Node, made at start-up, because the caller may reuse an operation as soon as its callback ran, and
// libuv's uv_work_t lives a little longer. Reads and opens that are over their limits wait in line here and not
// in libuv's queue, so that opens that hang leave threads for reads.
//
// Stamps. The pool's thread stamps completed_at right after the system call, by the clock of the loop
// (uv_hrtime is CLOCK_MONOTONIC), and puts the node on a list that reap() takes at the beginning of a turn. The
// stamp itself can only be late when the thread could not run: the process was stopped, or the machine was too
// busy. Then the loop could not run either and has noted a stall, so: where the loop notes a stall between its
// previous look at the list that proves something (looks.h) and the stamp, not_before is that look; otherwise
// the stamp is the truth and the two are equal.
//
// Cancelling takes work back that no thread has begun; a pread that runs completes as it will.
#include "storage/threads_storage.h"

#include <uv.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "storage/local_file.h"
#include "storage/looks.h"
#include "storage/op_list.h"

namespace streamsim {
namespace {

class ThreadsStorage;

enum class Work : std::uint8_t { open, read, hint, close };

struct Node {
    uv_work_t work{};
    ThreadsStorage* storage = nullptr;
    Node* next = nullptr;  // free or done
    Work kind = Work::read;
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
    void hint(FileId file, std::uint64_t offset, std::uint64_t bytes) override;
    void close(FileId file) override;
    void cancel(Op& op) override;
    StorageCapabilities capabilities() const override {
        return {"threads", policy_.direct(), policy_.alignment(), true};
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

    void accept(Op& op);
    Node& take_node(Work kind);
    void queue(Node& node);
    void start_open(OpenOp& op);
    void start_read(ReadOp& op);
    void start_close(int file);
    void perform_open(Node& node);
    void perform_read(Node& node) const;
    void note_open(Node& node);
    void settle(Node& node);
    void next_in_line(Work kind);
    void deliver(OpList ops);
    void deliver_cancelled();
    void advance_shutdown();

    EventLoop& loop_;
    uv_loop_t* const uv_;
    DirectPolicy policy_;
    Limit reads_;
    Limit opens_;
    std::vector<OpenFile> files_;  // by file descriptor, which is the FileId
    std::deque<Node> nodes_;       // grows when closes and hints pile up
    Node* free_ = nullptr;
    std::size_t busy_ = 0;         // nodes that libuv has
    std::size_t outstanding_ = 0;  // operations whose callback has not run
    Looks looks_;
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
      reads_{std::max(options.parallel_reads, 1u), 0, {}},
      opens_{std::max(options.parallel_opens, 1u), 0, {}},
      looks_(loop) {
    // A node is free again after the callback of its operation ran: twice as many never run out.
    nodes_.resize(std::size_t{2} * (reads_.most + opens_.most));
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

void ThreadsStorage::accept(Op& op) {
    STREAMSIM_CHECK(!shutting_, "no operation comes after shutdown()");
    op.error = 0;
    op.submitted_at = loop_.now();
    op.backend = nullptr;
    ++outstanding_;
    loop_.hold();
}

void ThreadsStorage::open(OpenOp& op) {
    accept(op);
    op.file = kNoFile;
    if (opens_.now < opens_.most) {
        start_open(op);
    } else {
        opens_.waiting.push(op);
    }
}

void ThreadsStorage::read(ReadOp& op) {
    accept(op);
    op.bytes = 0;
    if (reads_.now < reads_.most) {
        start_read(op);
    } else {
        reads_.waiting.push(op);
    }
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

void ThreadsStorage::start_open(OpenOp& op) {
    ++opens_.now;
    Node& node = take_node(Work::open);
    const auto plan = policy_.plan(op.path);
    node.op = &op;
    node.direct = plan.direct;
    node.check = plan.check && plan.direct;
    op.backend = &node;
    queue(node);
}

void ThreadsStorage::start_read(ReadOp& op) {
    ++reads_.now;
    Node& node = take_node(Work::read);
    const auto index = static_cast<std::size_t>(op.file);
    node.op = &op;
    node.file = op.file;
    node.direct = index < files_.size() && files_[index].direct;
    op.backend = &node;
    queue(node);
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
    if (!reads_.waiting.remove(op) && !opens_.waiting.remove(op)) return;  // its callback is on the way
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
        case Work::open: storage.perform_open(node); break;
        case Work::read: storage.perform_read(node); break;
        case Work::hint: read_ahead_local(node.file, node.offset, node.bytes); return;
        case Work::close: close_local(node.file); return;
    }
    node.op->completed_at = {static_cast<std::int64_t>(uv_hrtime())};
    const std::lock_guard lock(storage.mutex_);
    *storage.done_end_ = &node;
    storage.done_end_ = &node.next;
}

void ThreadsStorage::perform_open(Node& node) {
    auto& op = static_cast<OpenOp&>(*node.op);
    OpenedFile opened = open_local(op.path, node.direct);
    if (opened.error == EINVAL && node.direct) {
        node.objection = "the file system does not support it (EINVAL)";
        opened = open_local(op.path, false);
    } else if (opened.file >= 0 && node.check) {
        node.checked = true;
        node.answer = direct_answer(opened.file);
        node.objection = policy_.objection(node.answer);
        if (node.objection != nullptr) {
            close_local(opened.file);
            opened = open_local(op.path, false);
        }
    }
    op.error = opened.error;
    op.file = opened.file;
}

void ThreadsStorage::perform_read(Node& node) const {
    auto& op = static_cast<ReadOp&>(*node.op);
    while (op.bytes < op.buffer.size()) {
        const auto rest = op.buffer.subspan(op.bytes);
        const ReadPiece got = read_local(node.file, op.offset + op.bytes, rest);
        op.error = got.error;
        if (got.bytes == 0) return;
        op.bytes += got.bytes;
        // A direct read that stops between two blocks has met the end of the file, and could not go on there.
        if (node.direct && got.bytes % policy_.alignment() != 0) return;
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
        --(node.kind == Work::open ? self.opens_ : self.reads_).now;
        if (self.cancelled_.empty()) self.loop_.defer(Callback::of<&ThreadsStorage::deliver_cancelled>(&self));
        self.cancelled_.push(op);
        self.next_in_line(node.kind);
    }
    const bool operation = status == 0 && (node.kind == Work::open || node.kind == Work::read);
    if (operation) {
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
    looks_.looked(look);
    deliver(done);
    if (shutting_) advance_shutdown();
}

// Accounts for a completion, and lets the next operation in line begin.
void ThreadsStorage::settle(Node& node) {
    Op& op = *node.op;
    const Work kind = node.kind;
    op.not_before = op.completed_at;
    const Instant look = std::clamp(looks_.last(), op.submitted_at, op.completed_at);
    if (loop_.stalled_within(look, op.completed_at) > Duration{}) op.not_before = look;
    if (kind == Work::open) note_open(node);
    op.backend = nullptr;
    node.op = nullptr;
    if (node.storage == nullptr) {  // after_pool was here before us
        node.next = free_;
        free_ = &node;
    }
    --(kind == Work::open ? opens_ : reads_).now;
    next_in_line(kind);
}

void ThreadsStorage::note_open(Node& node) {
    auto& op = static_cast<OpenOp&>(*node.op);
    if (node.objection != nullptr) {
        policy_.refused(op.path, node.objection);
        node.direct = false;
    } else if (node.checked) {
        policy_.checked(op.path, node.answer);
    }
    if (op.file < 0) return;
    const auto index = static_cast<std::size_t>(op.file);
    if (index >= files_.size()) files_.resize(index + 16);
    files_[index] = {true, node.direct};
}

void ThreadsStorage::next_in_line(Work kind) {
    if (kind == Work::open && !opens_.waiting.empty()) start_open(static_cast<OpenOp&>(opens_.waiting.pop()));
    if (kind == Work::read && !reads_.waiting.empty()) start_read(static_cast<ReadOp&>(reads_.waiting.pop()));
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

std::uint32_t size_thread_pool(std::uint64_t threads) {
    constexpr std::uint64_t kMost = 1024;  // libuv's
    const char* const name = "UV_THREADPOOL_SIZE";
    if (const char* set = std::getenv(name)) {
        return static_cast<std::uint32_t>(std::clamp<long>(std::strtol(set, nullptr, 10), 1, long{kMost}));
    }
    const auto size = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(threads, 4, kMost));
    set_environment(name, std::to_string(size));
    return size;
}

Result<std::unique_ptr<Storage>> make_threads_storage(EventLoop& loop,
                                                      uv_loop_t* uv,
                                                      const LocalOptions& options) {
    raise_open_file_limit();
    return std::unique_ptr<Storage>(std::make_unique<ThreadsStorage>(loop, uv, options));
}

}  // namespace streamsim
