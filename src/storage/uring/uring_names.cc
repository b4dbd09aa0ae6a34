// The half of the io_uring backend that deals with names: opens, and what is done by name alone. What this
// kernel's ring cannot do (list; on older ones rename, remove, make_directory) is done by libuv's pool, which
// stamps it as the pool's backend does (threads_storage.cc).
#include <fcntl.h>
#include <sys/stat.h>
#include <uv.h>

#include <algorithm>
#include <cerrno>

#include "base/check.h"
#include "storage/local/local_file.h"
#include "storage/open_flags.h"
#include "storage/statx.h"
#include "storage/uring/uring_work.h"

namespace streamsim::storage {

// ---- opens

void UringStorage::start_open(UringNode& node) {
    const auto& op = static_cast<OpenOp&>(*node.op);
    const auto plan = policy_.plan(op.path);
    node.confined = writes_.confines(op);
    const bool by_ring =
        !node.confined || (ring_->has(IORING_OP_OPENAT2) && writes_.relative(op.path) != nullptr);
    node.step = by_ring ? UringStep::open : UringStep::pool;
    node.direct = plan.direct && !op.through_cache;
    node.check = plan.check && !op.through_cache;
    node.local = plan.local;
    node.objection = nullptr;
    request(node);
}

void UringStorage::request_open(UringNode& node) {
    const auto& op = static_cast<OpenOp&>(*node.op);
    const Access access = node.step == UringStep::reopen ? opened_before(op.access) : op.access;
    io_uring_sqe& sqe = entry();
    const int flags = open_flags(access, node.direct);
    if (node.confined) {
        node.how = {};
        node.how.flags = static_cast<unsigned>(flags | O_NOFOLLOW);
        node.how.mode = static_cast<unsigned>((flags & O_CREAT) != 0 ? kNewFileMode : 0);
        node.how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
        io_uring_prep_openat2(&sqe, writes_.descriptor(), writes_.relative(op.path), &node.how);
    } else {
        io_uring_prep_openat(&sqe, AT_FDCWD, op.path, flags, kNewFileMode);
    }
    if (!node.local) sqe.flags |= IOSQE_ASYNC;
    io_uring_sqe_set_data(&sqe, &node);
}

void UringStorage::request_check(UringNode& node) {
    io_uring_sqe& sqe = entry();
    node.answer = {};
    const unsigned mask = STATX_DIOALIGN | (node.confined ? STATX_TYPE | STATX_NLINK : 0U);
    io_uring_prep_statx(&sqe, node.file, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, mask, &node.answer);
    io_uring_sqe_set_data(&sqe, &node);
}

bool UringStorage::advance_open(UringNode& node) {
    auto& op = static_cast<OpenOp&>(*node.op);
    const bool may_reopen = node.direct && !node.cancelled;
    if (node.step == UringStep::check) return advance_check(node);
    if (node.result == -EINVAL && may_reopen)
        return open_again(node, "the file system does not support it (EINVAL)");
    if (node.result < 0) {  // also when it is opened again: whatever the objection was, it is not that
        op.error = -node.result;
        return true;
    }
    const bool is_new = op.access == Access::create_new && node.step == UringStep::open;
    if (!node.check && (!node.confined || is_new)) return opened(node, node.result);
    node.file = node.result;
    node.step = UringStep::check;
    request(node);
    return false;
}

bool UringStorage::advance_check(UringNode& node) {
    auto& op = static_cast<OpenOp&>(*node.op);
    if (node.confined) {  // nothing is written into a file that has another name somewhere else
        op.error = std::max(-node.result, 0);
        if (op.error == 0 && !S_ISREG(node.answer.stx_mode)) op.error = EOPNOTSUPP;
        if (op.error == 0 && node.answer.stx_nlink != 1) op.error = EMLINK;
        if (op.error != 0) {
            request_close(node.file);
            return true;
        }
    }
    if (!node.check) return opened(node, node.file);
    // An answer that is not available (a kernel without statx for this) is no objection.
    const char* why = node.result < 0 ? nullptr : policy_.objection(direct_answer(node.answer));
    if (why == nullptr || !node.direct || node.cancelled) {
        if (why == nullptr) policy_.checked(op.path, direct_answer(node.answer));
        node.local = node.local || (node.answer.stx_mask & STATX_DIOALIGN) != 0;
        return opened(node, node.file);
    }
    request_close(node.file);
    return open_again(node, why);
}

/// What a kernel whose ring cannot open below a directory leaves to the pool.
bool UringStorage::advance_pool_open(UringNode& node) {
    auto& op = static_cast<OpenOp&>(*node.op);
    if (op.error == ECANCELED) return true;
    op.error = node.planned.opened.error;
    if (node.planned.opened.file < 0) return true;
    node.objection = node.planned.objection;
    if (node.objection != nullptr) {
        node.direct = false;
    } else if (node.planned.checked) {
        policy_.checked(op.path, node.planned.answer);
    }
    return opened(node, node.planned.opened.file);
}

/// Through the page cache, because of `why`.
bool UringStorage::open_again(UringNode& node, const char* why) {
    node.step = UringStep::reopen;
    node.direct = false;
    node.check = false;
    node.objection = why;
    request(node);
    return false;
}

bool UringStorage::opened(UringNode& node, int file) {
    auto& op = static_cast<OpenOp&>(*node.op);
    if (node.objection != nullptr) policy_.refused(op.path, op.access, node.objection);
    const auto index = static_cast<std::size_t>(file);
    if (index >= files_.size()) files_.resize(index + 16);
    files_[index] = {true, node.direct, node.local};
    op.file = file;
    return true;
}

// ---- by name alone

void UringStorage::start_name(UringNode& node) {
    const auto& op = static_cast<PathOp&>(*node.op);
    // What changes names below a directory takes a descriptor of the parent first: the pool does both.
    node.step = ring_has(op.kind) && !writes_.confines(op) ? UringStep::name : UringStep::pool;
    request(node);
}

bool UringStorage::ring_has(PathOp::Kind kind) const {
    switch (kind) {
        case PathOp::Kind::stat: return ring_->has(IORING_OP_STATX);
        case PathOp::Kind::list: return false;
        case PathOp::Kind::make_directory: return ring_->has(IORING_OP_MKDIRAT);
        case PathOp::Kind::remove: return ring_->has(IORING_OP_UNLINKAT);
        case PathOp::Kind::rename: return ring_->has(IORING_OP_RENAMEAT);
    }
    return false;
}

// All of them may wait for a disk: the kernel's workers do.
void UringStorage::request_name(UringNode& node) {
    const auto& op = static_cast<PathOp&>(*node.op);
    io_uring_sqe& sqe = entry();
    switch (op.kind) {
        case PathOp::Kind::list: break;
        case PathOp::Kind::stat:
            node.answer = {};
            io_uring_prep_statx(&sqe, AT_FDCWD, op.path, 0, STATX_TYPE | STATX_SIZE, &node.answer);
            break;
        case PathOp::Kind::make_directory:
            io_uring_prep_mkdirat(&sqe, AT_FDCWD, op.path, kNewDirectoryMode);
            break;
        case PathOp::Kind::remove: {
            const bool directory = node.step == UringStep::remove_directory;
            io_uring_prep_unlinkat(&sqe, AT_FDCWD, op.path, directory ? AT_REMOVEDIR : 0);
            break;
        }
        case PathOp::Kind::rename: io_uring_prep_renameat(&sqe, AT_FDCWD, op.path, AT_FDCWD, op.to, 0); break;
    }
    sqe.flags |= IOSQE_ASYNC;
    io_uring_sqe_set_data(&sqe, &node);
}

bool UringStorage::advance_name(UringNode& node) {
    auto& op = static_cast<PathOp&>(*node.op);
    const int error = std::max(-node.result, 0);
    const bool first = node.step == UringStep::name;
    if (op.kind == PathOp::Kind::remove && first && (error == EISDIR || error == EPERM) && !node.cancelled) {
        node.step = UringStep::remove_directory;
        request(node);
        return false;
    }
    op.error = error;
    if (!first && error == ENOTDIR) op.error = EPERM;  // it was a file, and may not be removed
    const bool of_file = op.kind == PathOp::Kind::stat && error == 0 && S_ISREG(node.answer.stx_mode);
    if (of_file) op.bytes = node.answer.stx_size;
    return true;
}

void UringStorage::request_of_pool(UringNode& node) {
    const auto in_pool = [](uv_work_t* work) {
        auto& asked = *static_cast<UringNode*>(work->data);
        const UringStorage& self = *asked.storage;
        if (asked.op->operation == OpKind::open) {
            asked.planned = open_as_planned(self.writes_, self.policy_, static_cast<OpenOp&>(*asked.op),
                                            asked.direct, asked.check && asked.direct);
        } else {
            self.writes_.perform(static_cast<PathOp&>(*asked.op));
        }
        asked.op->completed_at = {static_cast<std::int64_t>(uv_hrtime())};
    };
    // On the loop, in the turn's poll, before reap().
    const auto after = [](uv_work_t* work, int status) {
        auto& done = *static_cast<UringNode*>(work->data);
        UringStorage& self = *done.storage;
        self.loop_.release();
        if (status == UV_ECANCELED) {
            done.op->error = ECANCELED;
            done.op->completed_at = self.loop_.now();
        }
        self.add_to_batch(done);
    };
    loop_.hold();
    const int result = uv_queue_work(uv_, &node.work, in_pool, after);
    STREAMSIM_CHECK(result == 0, "libuv's pool takes work");
}

}  // namespace streamsim::storage
