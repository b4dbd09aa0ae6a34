// How the io_uring backend works
// ==============================
//
// One ring for one loop. An operation becomes one request or several in a row (a short read is repeated for the
// rest; an open may be followed by a statx, or repeated without O_DIRECT), and holds a Node while it is in the
// kernel. There are as many nodes as reads and opens may be in flight; operations over that wait in line. Reads
// and opens have nodes and lines of their own: a directory that hangs must not hold up files that are open
// already.
//
// Submission. Entries are handed over together at the end of the turn, one system call for all of them, or as
// soon as kBatch are waiting, so that the disk has work while a long batch of callbacks goes on. submitted_at
// is stamped when the operation arrives here: that little wait is part of the service latency.
//
// Never block the loop. A buffered read is a copy in the submitting thread, and an open or a read on a network
// or FUSE file system may wait for a server; such requests carry IOSQE_ASYNC and run in the kernel's workers,
// of which there may be as many as requests: one that hangs blocks itself alone. Direct reads on a local disk
// are queued to it inline, which costs less.
//
// Completion and its stamps. The kernel signals an eventfd, which libuv polls; that wakes the loop, whose turn
// begins with reap(). It takes the whole batch, stamps it with one now(), and runs callbacks only then. The
// time a request really completed is not known: it is at most that stamp, and later than the last time we
// looked and it was not there, which is read before that look. So not_before is always the previous look that
// proves something (looks.h), or the submission if that was later. In a loop that runs well nobody can tell the
// two apart: each deadline has a timer, whose turn looks at the queue. After a SIGSTOP they lie on both sides
// of the stop, and a deadline between them is the client's.
//
// Cancelling asks the kernel to; a file read that has reached the disk cannot be stopped and completes as it
// will.
#include "storage/uring_storage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <uv.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/check.h"
#include "base/errno_name.h"
#include "base/units.h"
#include "storage/looks.h"
#include "storage/op_list.h"
#include "storage/ring.h"
#include "storage/statx.h"

namespace streamsim {
namespace {

constexpr std::uint32_t kBatch = 16;
constexpr std::size_t kRequestBytes = std::size_t{1} << 30;  // of one read request; the kernel's limit is 2 GiB

enum class Step : std::uint8_t { open, check, reopen, read };

// What an operation needs while the kernel has it.
struct Node {
    Op* op = nullptr;
    Node* next = nullptr;  // free, or in the batch
    Step step = Step::read;
    bool direct = false;
    bool local = false;
    bool check = false;
    bool cancelled = false;
    int file = kNoFile;
    std::int32_t result = 0;
    std::size_t asked_bytes = 0;
    struct statx answer {};
};

// The kernel was interrupted before it had an answer. 512 to 516 are its own words for that, which a system
// call would never let out; an open that is cancelled in a worker does.
bool is_transient(int error) {
    return error == EAGAIN || error == EINTR || (error >= 512 && error <= 516);
}

// A fixed number of nodes and the operations that wait for one.
struct Line {
    std::vector<Node> nodes;
    Node* free = nullptr;
    OpList waiting;

    explicit Line(std::uint32_t count) : nodes(std::max<std::uint32_t>(count, 1)) {
        for (Node& node : nodes) give_back(node);
    }
    Node* take(Op& op) {
        Node* node = free;
        if (node == nullptr) return nullptr;
        free = node->next;
        node->op = &op;
        node->cancelled = false;
        node->next = nullptr;
        op.backend = node;
        return node;
    }
    void give_back(Node& node) {
        node.op = nullptr;
        node.next = free;
        free = &node;
    }
};

struct OpenFile {
    bool open = false;
    bool direct = false;
    bool local = false;
};

class UringStorage final : public Storage, public Reaper {
public:
    UringStorage(EventLoop& loop, const LocalOptions& options, std::unique_ptr<Ring> ring)
        : loop_(loop),
          ring_(std::move(ring)),
          policy_(options),
          notice_(options.notice),
          workers_(options.parallel_reads + options.parallel_opens + 8),
          reads_(options.parallel_reads),
          opens_(options.parallel_opens),
          looks_(loop) {}
    ~UringStorage() override { STREAMSIM_CHECK(poll_ == nullptr, "shutdown() comes before destruction"); }

    Result<void> watch(uv_loop_t* uv);

    void open(OpenOp& op) override;
    void read(ReadOp& op) override;
    void hint(FileId file, std::uint64_t offset, std::uint64_t bytes) override;
    void close(FileId file) override;
    void cancel(Op& op) override;
    StorageCapabilities capabilities() const override;
    void use_memory(std::span<std::byte> memory) override;
    void shutdown(Callback done) override;
    void reap() override;

private:
    void accept(Op& op);
    io_uring_sqe& entry();
    void request_open(Node& node);
    void request_check(Node& node);
    void request_read(Node& node);
    void request_close(int file);
    void start_open(Node& node);
    void flush();
    void take(void* data, std::int32_t result);
    bool advance(Node& node);
    bool advance_open(Node& node);
    bool advance_read(Node& node);
    bool opened(Node& node, int file);
    void settle(Node& node, Instant seen);
    void deliver(OpList ops);
    void deliver_cancelled();
    void advance_shutdown();
    void stop_watching();

    EventLoop& loop_;
    std::unique_ptr<Ring> ring_;
    DirectPolicy policy_;
    NoticeSink notice_;
    const std::uint32_t workers_;
    Line reads_;
    Line opens_;
    std::vector<OpenFile> files_;  // by file descriptor, which is the FileId
    uv_poll_t* poll_ = nullptr;    // libuv frees it, by our callback
    Looks looks_;
    Node* batch_ = nullptr;  // completions taken in this look, in their order
    Node** batch_end_ = &batch_;
    OpList cancelled_;             // while they were waiting in line
    std::size_t outstanding_ = 0;  // operations whose callback has not run
    std::size_t nameless_ = 0;     // requests of ours that no operation waits for: close, hint, cancel
    bool flush_set_ = false;
    Callback shutdown_;
};

Result<void> UringStorage::watch(uv_loop_t* uv) {
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

void UringStorage::accept(Op& op) {
    STREAMSIM_CHECK(!shutdown_, "no operation comes after shutdown()");
    op.error = 0;
    op.submitted_at = loop_.now();
    op.backend = nullptr;
    ++outstanding_;
    loop_.hold();
}

void UringStorage::open(OpenOp& op) {
    accept(op);
    op.file = kNoFile;
    if (Node* node = opens_.take(op)) {
        start_open(*node);
    } else {
        opens_.waiting.push(op);
    }
}

void UringStorage::read(ReadOp& op) {
    accept(op);
    op.bytes = 0;
    if (Node* node = reads_.take(op)) {
        request_read(*node);
    } else {
        reads_.waiting.push(op);
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

void UringStorage::start_open(Node& node) {
    const auto plan = policy_.plan(static_cast<OpenOp&>(*node.op).path);
    node.step = Step::open;
    node.direct = plan.direct;
    node.check = plan.check;
    node.local = plan.local;
    request_open(node);
}

void UringStorage::request_open(Node& node) {
    io_uring_sqe& sqe = entry();
    const int flags = O_RDONLY | O_CLOEXEC | (node.direct ? O_DIRECT : 0);
    io_uring_prep_openat(&sqe, AT_FDCWD, static_cast<OpenOp&>(*node.op).path, flags, 0);
    if (!node.local) sqe.flags |= IOSQE_ASYNC;
    io_uring_sqe_set_data(&sqe, &node);
}

void UringStorage::request_check(Node& node) {
    io_uring_sqe& sqe = entry();
    node.step = Step::check;
    node.answer = {};
    io_uring_prep_statx(&sqe, node.file, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_DIOALIGN, &node.answer);
    io_uring_sqe_set_data(&sqe, &node);
}

void UringStorage::request_read(Node& node) {
    auto& op = static_cast<ReadOp&>(*node.op);
    const auto known = static_cast<std::size_t>(op.file) < files_.size();
    const OpenFile file = known ? files_[static_cast<std::size_t>(op.file)] : OpenFile{};
    const auto rest = op.buffer.subspan(op.bytes);
    const auto part = rest.first(std::min(rest.size(), kRequestBytes));
    node.step = Step::read;
    node.direct = file.direct;
    node.asked_bytes = part.size();
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

void UringStorage::hint(FileId file, std::uint64_t offset, std::uint64_t bytes) {
    const auto index = static_cast<std::size_t>(file);
    // Direct reads do not look into the page cache. More hints than reads would only be in their way.
    if (index >= files_.size() || !files_[index].open || files_[index].direct) return;
    if (nameless_ >= reads_.nodes.size()) return;
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
        if (!reads_.waiting.remove(op) && !opens_.waiting.remove(op)) return;  // its callback is on the way
        op.error = ECANCELED;
        op.completed_at = op.not_before = loop_.now();
        if (cancelled_.empty()) loop_.defer(Callback::of<&UringStorage::deliver_cancelled>(this));
        cancelled_.push(op);
        return;
    }
    auto& node = *static_cast<Node*>(op.backend);
    if (node.cancelled) return;
    node.cancelled = true;
    io_uring_sqe& sqe = entry();
    io_uring_prep_cancel(&sqe, &node, 0);
    io_uring_sqe_set_data(&sqe, nullptr);
    ++nameless_;
}

void UringStorage::deliver_cancelled() {
    deliver(cancelled_.take());
}

StorageCapabilities UringStorage::capabilities() const {
    return {"uring", policy_.direct(), policy_.alignment(), true};
}

void UringStorage::use_memory(std::span<std::byte> memory) {
    if (memory.empty()) return;
    const int error = ring_->register_memory(memory);
    if (error == 0 || !notice_) return;
    const std::string bytes = show_bytes(memory.size());
    if (error == ENOMEM || error == EPERM) {
        notice_(fmt::format(
            "the kernel did not let {} of buffers be registered with io_uring: this user may not lock "
            "that much memory (see `ulimit -l`; root may): reads cost more CPU",
            bytes));
    } else {
        notice_(fmt::format("the kernel did not register {} of buffers with io_uring ({}): reads cost more CPU",
                            bytes, errno_description(error)));
    }
}

void UringStorage::reap() {
    const Instant look = loop_.now();
    ring_->drain([this](void* data, std::int32_t result) { take(data, result); });
    OpList done;
    if (batch_ != nullptr) {
        const Instant seen = loop_.now();
        Node* node = batch_;
        batch_ = nullptr;
        batch_end_ = &batch_;
        while (node != nullptr) {
            Node* const next = node->next;
            Op* const op = node->op;
            if (advance(*node)) {
                settle(*node, seen);
                done.push(*op);
            }
            node = next;
        }
    }
    looks_.looked(look);
    deliver(done);
    if (shutdown_) advance_shutdown();
}

void UringStorage::take(void* data, std::int32_t result) {
    if (data == nullptr) {  // close, hint, cancel
        --nameless_;
        return;
    }
    auto* node = static_cast<Node*>(data);
    node->result = result;
    node->next = nullptr;
    *batch_end_ = node;
    batch_end_ = &node->next;
}

// True when the operation is complete; otherwise its next request is on the way.
bool UringStorage::advance(Node& node) {
    const bool again = is_transient(-node.result);
    if (again && node.cancelled) node.result = -ECANCELED;
    if (node.step == Step::read) {
        if (again && !node.cancelled) return request_read(node), false;
        return advance_read(node);
    }
    if (again && !node.cancelled && node.step != Step::check) return request_open(node), false;
    return advance_open(node);
}

bool UringStorage::advance_read(Node& node) {
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

bool UringStorage::advance_open(Node& node) {
    auto& op = static_cast<OpenOp&>(*node.op);
    const bool may_reopen = node.direct && !node.cancelled;
    if (node.step == Step::check) {
        // An answer that cannot be had (a kernel without statx for this) is no objection.
        const char* why = node.result < 0 ? nullptr : policy_.objection(direct_answer(node.answer));
        if (why == nullptr || !may_reopen) {
            if (why == nullptr) policy_.checked(op.path, direct_answer(node.answer));
            node.local = node.local || (node.answer.stx_mask & STATX_DIOALIGN) != 0;
            return opened(node, node.file);
        }
        policy_.refused(op.path, why);
        request_close(node.file);
    } else if (node.result == -EINVAL && may_reopen) {
        policy_.refused(op.path, "the file system does not support it (EINVAL)");
    } else if (node.result < 0) {
        op.error = -node.result;
        return true;
    } else if (node.check && node.step == Step::open) {
        node.file = node.result;
        request_check(node);
        return false;
    } else {
        return opened(node, node.result);
    }
    node.step = Step::reopen;
    node.direct = false;
    request_open(node);
    return false;
}

bool UringStorage::opened(Node& node, int file) {
    const auto index = static_cast<std::size_t>(file);
    if (index >= files_.size()) files_.resize(index + 16);
    files_[index] = {true, node.direct, node.local};
    static_cast<OpenOp&>(*node.op).file = file;
    return true;
}

// Stamps a complete operation and lets the next one in line have its node.
void UringStorage::settle(Node& node, Instant seen) {
    Op& op = *node.op;
    op.completed_at = seen;
    op.not_before = std::max(op.submitted_at, looks_.last());
    op.backend = nullptr;
    const bool is_read = node.step == Step::read;
    Line& line = is_read ? reads_ : opens_;
    line.give_back(node);
    if (line.waiting.empty()) return;
    Node* const next = line.take(line.waiting.pop());
    if (is_read) {
        request_read(*next);
    } else {
        start_open(*next);
    }
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

}  // namespace

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

}  // namespace streamsim
