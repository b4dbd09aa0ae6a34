// The part of the io_uring backend that handles names: opens and operations by name. libuv's pool performs
// the operations that this kernel's ring does not support (list; on older kernels rename, remove,
// make_directory), and stamps them as the thread pool backend does (threads_storage.cc).
#include <fcntl.h>
#include <sys/stat.h>
#include <uv.h>

#include <algorithm>
#include <cerrno>

#include "base/check.h"
#include "storage/clock_now.h"
#include "storage/local/linux_calls.h"
#include "storage/local/local_file.h"
#include "storage/uring/uring_storage.h"

namespace streamsim::storage {

// ---- opens

void UringStorage::start_open(UringSlot& slot) {
    const auto& op = static_cast<OpenOp&>(*slot.op);
    const auto plan = policy_.plan(op.path);
    slot.confined = writes_.confines(op);
    const bool by_ring =
        !slot.confined || (ring_->has(IORING_OP_OPENAT2) && writes_.relative(op.path) != nullptr);
    slot.step = by_ring ? UringStep::open : UringStep::pool;
    slot.direct = plan.direct && !op.through_cache;
    slot.check = plan.check && !op.through_cache;
    slot.local = plan.local;
    slot.objection = nullptr;
    request(slot);
}

void UringStorage::request_open(UringSlot& slot) {
    const auto& op = static_cast<OpenOp&>(*slot.op);
    const Access access = slot.step == UringStep::reopen ? opened_before(op.access) : op.access;
    io_uring_sqe& sqe = entry();
    const int flags = open_flags(access, slot.direct);
    if (slot.confined) {
        slot.how = {};
        slot.how.flags = static_cast<unsigned>(flags | O_NOFOLLOW);
        slot.how.mode = static_cast<unsigned>((flags & O_CREAT) != 0 ? kNewFileMode : 0);
        slot.how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
        io_uring_prep_openat2(&sqe, writes_.descriptor(), writes_.relative(op.path), &slot.how);
    } else {
        io_uring_prep_openat(&sqe, AT_FDCWD, op.path, flags, kNewFileMode);
    }
    issue(sqe, &slot, !slot.local);
}

void UringStorage::request_check(UringSlot& slot) {
    io_uring_sqe& sqe = entry();
    slot.answer = {};
    const unsigned mask = STATX_DIOALIGN | (slot.confined ? STATX_TYPE | STATX_NLINK : 0U);
    io_uring_prep_statx(&sqe, slot.file, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, mask, &slot.answer);
    issue(sqe, &slot, false);
}

bool UringStorage::advance_open(UringSlot& slot) {
    auto& op = static_cast<OpenOp&>(*slot.op);
    const bool may_reopen = slot.direct && !slot.cancelled;
    if (slot.step == UringStep::check) return advance_check(slot);
    if (slot.result == -EINVAL && may_reopen)
        return open_again(slot, "the file system does not support it (EINVAL)");
    if (slot.result < 0) {  // also at a reopen: an objection to direct I/O is not why
        op.error = -slot.result;
        return true;
    }
    const bool is_new = op.access == Access::create_new && slot.step == UringStep::open;
    if (!slot.check && (!slot.confined || is_new)) return opened(slot, slot.result);
    slot.file = slot.result;
    slot.step = UringStep::check;
    request(slot);
    return false;
}

bool UringStorage::advance_check(UringSlot& slot) {
    auto& op = static_cast<OpenOp&>(*slot.op);
    if (slot.confined) {  // a file that has a second name elsewhere must not be written
        op.error = std::max(-slot.result, 0);
        if (op.error == 0 && !S_ISREG(slot.answer.stx_mode)) op.error = EOPNOTSUPP;
        if (op.error == 0 && slot.answer.stx_nlink != 1) op.error = EMLINK;
        if (op.error != 0) {
            request_close(slot.file, false);
            return true;
        }
    }
    if (!slot.check) return opened(slot, slot.file);
    const DirectAnswer answer = direct_answer(slot.answer, slot.file);
    const char* why = policy_.objection(answer);  // none where statx(2) told nothing, as an older kernel does
    if (why == nullptr || !slot.direct || slot.cancelled) {
        if (why == nullptr) policy_.checked(op.path, answer);
        slot.local = slot.local || (slot.answer.stx_mask & STATX_DIOALIGN) != 0;
        return opened(slot, slot.file);
    }
    request_close(slot.file, false);
    return open_again(slot, why);
}

/// An open below a directory by the pool, for a ring without openat2.
bool UringStorage::advance_pool_open(UringSlot& slot) {
    auto& op = static_cast<OpenOp&>(*slot.op);
    if (op.error == ECANCELED) return true;
    op.error = slot.planned.opened.error;
    if (slot.planned.opened.file < 0) return true;
    slot.objection = slot.planned.objection;
    if (slot.objection != nullptr) {
        slot.direct = false;
    } else if (slot.planned.checked) {
        policy_.checked(op.path, slot.planned.answer);
    }
    return opened(slot, slot.planned.opened.file);
}

/// Opens the file again through the page cache; `why` is the objection to direct I/O.
bool UringStorage::open_again(UringSlot& slot, const char* why) {
    slot.step = UringStep::reopen;
    slot.direct = false;
    slot.check = false;
    slot.objection = why;
    request(slot);
    return false;
}

bool UringStorage::opened(UringSlot& slot, int file) {
    auto& op = static_cast<OpenOp&>(*slot.op);
    if (slot.objection != nullptr) policy_.refused(op.path, op.access, slot.objection);
    files_.put(file) = {true, slot.direct, slot.local};
    op.file = file;
    return true;
}

// ---- by name alone

void UringStorage::start_name(UringSlot& slot) {
    const auto& op = static_cast<PathOp&>(*slot.op);
    // Changing a name below a directory takes a descriptor of the parent first: the pool does both.
    slot.step = ring_has(op.kind) && !writes_.confines(op) ? UringStep::name : UringStep::pool;
    request(slot);
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

// All of these requests may wait for a disk, so the kernel's workers perform them.
void UringStorage::request_name(UringSlot& slot) {
    const auto& op = static_cast<PathOp&>(*slot.op);
    io_uring_sqe& sqe = entry();
    switch (op.kind) {
        case PathOp::Kind::list: break;
        case PathOp::Kind::stat:
            slot.answer = {};
            io_uring_prep_statx(&sqe, AT_FDCWD, op.path, 0, STATX_TYPE | STATX_SIZE, &slot.answer);
            break;
        case PathOp::Kind::make_directory:
            io_uring_prep_mkdirat(&sqe, AT_FDCWD, op.path, kNewDirectoryMode);
            break;
        case PathOp::Kind::remove: {
            const bool directory = slot.step == UringStep::remove_directory;
            io_uring_prep_unlinkat(&sqe, AT_FDCWD, op.path, directory ? AT_REMOVEDIR : 0);
            break;
        }
        case PathOp::Kind::rename: io_uring_prep_renameat(&sqe, AT_FDCWD, op.path, AT_FDCWD, op.to, 0); break;
    }
    issue(sqe, &slot, true);
}

bool UringStorage::advance_name(UringSlot& slot) {
    auto& op = static_cast<PathOp&>(*slot.op);
    const int error = std::max(-slot.result, 0);
    const bool first = slot.step == UringStep::name;
    if (op.kind == PathOp::Kind::remove && first && (error == EISDIR || error == EPERM) && !slot.cancelled) {
        slot.step = UringStep::remove_directory;
        request(slot);
        return false;
    }
    op.error = error;
    if (!first && error == ENOTDIR) op.error = EPERM;  // the name is a file that may not be removed
    const bool of_file = op.kind == PathOp::Kind::stat && error == 0 && S_ISREG(slot.answer.stx_mode);
    if (of_file) op.bytes = slot.answer.stx_size;
    return true;
}

void UringStorage::request_of_pool(UringSlot& slot) {
    const auto in_pool = [](uv_work_t* work) {
        auto& asked = *static_cast<UringSlot*>(work->data);
        const UringStorage& self = *asked.storage;
        if (asked.op->operation == OpKind::open) {
            asked.planned = open_as_planned(self.writes_, self.policy_, static_cast<OpenOp&>(*asked.op),
                                            asked.direct, asked.check && asked.direct);
        } else {
            self.writes_.perform(static_cast<PathOp&>(*asked.op));
        }
        asked.op->completed_at = clock_now();
    };
    // On the loop, in the turn's poll, before reap().
    const auto after = [](uv_work_t* work, int status) {
        auto& done = *static_cast<UringSlot*>(work->data);
        UringStorage& self = *done.storage;
        self.loop().release();
        if (status == UV_ECANCELED) {
            done.op->error = ECANCELED;
            done.op->completed_at = self.loop().now();
        }
        self.batch_.push(done);
    };
    loop().hold();
    const int result = uv_queue_work(uv_, &slot.work, in_pool, after);
    STREAMSIM_CHECK(result == 0, "libuv's pool takes work");
}

}  // namespace streamsim::storage
